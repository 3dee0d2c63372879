"""The texts of pages and charts that belong to no conclusion: titles, hints and why a node is not open."""

from __future__ import annotations

TITLES = {
    "SkewReport": ("show", "How Pods are spread"),
    "PendingReport": ("why-pending", "Why Pods are Pending"),
    "CheckReport": ("check", "Manifest check"),
    "SimulateReport": ("simulate", "What happens to Pods, step by step"),
    "RebalanceReport": ("rebalance", "Evictions that restore the spread"),
}
"""Kind of a report → the command that makes it, and what its page is called."""
RULES_FROM = {
    "flag": "from --kube-version",
    "server": "the API server's release",
    "nodes": "the newest kubelet's release, or newer",
    "default": "assumed: the release is not known",
}
"""What the release is known from → the same in words."""

NOT_DRAWN = "The nodes are not drawn, because the page would be too large. Open a page for this item alone to see them."
NOT_ALL_KNOWN = "The answer is incomplete"
NOTHING_FOUND = "Nothing was found."
SCHEDULERS_WORDS = "Messages of kube-scheduler"
WOULD_REFUSE = "The API server would refuse"
WOULD_WARN = "The API server would warn"
PASSED_OVER = "the constraint does not count them"
ELSEWHERE = "by something other than this constraint"
REJECTED = "no: other filters reject its nodes"
JAMMED = "{}: replica {} of {} cannot be scheduled"
LEFT_OUT = "Not drawn: {} that change less or not at all."

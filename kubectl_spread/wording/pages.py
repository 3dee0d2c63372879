"""The texts of pages and charts that belong to no conclusion: titles, hints and why a node is not open."""

from collections.abc import Sequence

from kubectl_spread.wording.words import enumerated

# Kind of a report → the command that makes it, and what its page is called.
TITLES = {
    "SkewReport": ("show", "How Pods are spread"),
    "PendingReport": ("why-pending", "Why Pods are Pending"),
    "CheckReport": ("check", "Manifest check"),
    "SimulateReport": ("simulate", "What happens to Pods, step by step"),
    "AuditReport": ("audit", "What an outage would take"),
    "RebalanceReport": ("rebalance", "Evictions that restore the spread"),
}
# What the release is known from → the same in words.
RULES_FROM = {
    "flag": "from --kube-version",
    "server": "the API server's release",
    "nodes": "the newest kubelet's release, or newer",
    "default": "assumed: the release is not known",
    "clusters": "of each cluster",
}

NOT_DRAWN = "The nodes are not drawn, because the page would be too large. Open a page for this item alone to see them."
NOT_ALL_KNOWN = "The answer is incomplete"
NOTHING_FOUND = "Nothing was found."
SCHEDULERS_WORDS = "Messages of kube-scheduler"
WOULD_REFUSE = "The API server would refuse"
WOULD_WARN = "When it is applied"
PASSED_OVER = "the constraint does not count them"
ELSEWHERE = "by something other than this constraint"
REJECTED = "no: other filters reject its nodes"
JAMMED = "{}: replica {} of {} cannot be scheduled"


def read_from(context: str, cluster: str, server: str) -> str:
    """Return which cluster was read, where kubectl without flags asks another one; empty names are left out."""
    named = [f"{what} {name}" for what, name in (("context", context), ("cluster", cluster)) if name]
    return f"Read from {', '.join((*named, server))}, which is not the current context."


def taken_from(taken_at: str, context: str, cluster: str, server: str) -> str:
    """Return when and where the snapshot was taken that was read; each is empty where its file does not say it."""
    named = [f"{what} {name}" for what, name in (("context", context), ("cluster", cluster)) if name]
    place = ", ".join(filter(None, (*named, server)))
    return " ".join(("Snapshot", *(("of", taken_at) if taken_at else ()), *(("from", place) if place else ()))) + "."


FILES_NAME_NO_CLUSTER = "Add --context NAME to the commands below: the file does not name its cluster."


def left_out(flags: Sequence[str], *, snapshot: bool) -> str:
    """Return which flags commands need that are not printed: they are secret, or a snapshot does not hold them."""
    why = "the snapshot was taken with them" if snapshot else "secrets are not printed"
    return f"Add {enumerated(flags)} to each kubectl command: {why}."

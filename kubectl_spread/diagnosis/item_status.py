"""The status of an item of any report, in a word: what pages mark, and totals count."""

from enum import StrEnum


class ItemStatus(StrEnum):
    """The statuses of all reports, worst first; all values of SpreadStatus, Verdict, RebalanceVerdict and Risk."""

    NO_DOMAINS = "NoDomains"
    BLOCKED = "Blocked"
    FAILED_CREATE = "FailedCreate"
    UNSCHEDULABLE = "Unschedulable"
    INVALID = "Invalid"
    NOT_SAFE = "Not safe"  # a simulated step: see StepVerdict
    STUCK = "Stuck"  # some of a manifest's Pods find no node
    VIOLATED = "Violated"
    OUTAGE = "Outage"
    BELOW_BUDGET = "BelowBudget"
    MAJORITY = "Majority"
    NO_EFFECT = "NoEffect"
    INCOMPLETE = "Incomplete"
    GATED = "Gated"  # a scheduling gate holds the Pods back
    IMPOSSIBLE = "Impossible"
    PARTIAL = "Partial"
    PLANNED = "Planned"
    UNEVEN = "Uneven"
    UNAVOIDABLE = "Unavoidable"
    UNPROTECTED = "Unprotected"
    BALANCED = "Balanced"
    OK = "OK"
    SCHEDULABLE = "Schedulable"
    SAFE = "Safe"

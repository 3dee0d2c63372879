"""Why constraints do not hold after a plan, in words."""

from __future__ import annotations

from functools import partial
from typing import assert_never

from kubectl_spread.diagnosis.remaining_skew import (
    BreaksAnother,
    ByConstraint,
    ByFilter,
    DomainShut,
    NotBegun,
    PodsStay,
    RemainingCause,
    RemainingSkew,
    ScoredHigher,
    TooFewDomains,
    TooFewEvictions,
    UnknownScheduler,
    Unsure,
)
from kubectl_spread.wording.evictions import stay_text
from kubectl_spread.wording.incomplete import consequence
from kubectl_spread.wording.reasons import reason_text
from kubectl_spread.wording.words import enumerated

_named = partial(enumerated, most=2)


def remaining_text(remaining: RemainingSkew) -> str:
    """Return why a constraint does not hold after the plan."""
    return f"{_cause(remaining.cause)}{'' if remaining.tried_all else '; not everything was tried'}"


def _cause(cause: RemainingCause) -> str:
    match cause:
        case TooFewEvictions():
            return "it would take more evictions than --max allows"
        case TooFewDomains(domains, min_domains):
            return f"there are {domains} of {min_domains} domains that minDomains asks for"
        case PodsStay():
            return _staying(cause)
        case DomainShut(domain, by):
            return f"{domain} takes no Pod: {' and '.join(map(_shut_by, by))}"
        case ScoredHigher(fullest, lands):
            return f"a Pod evicted in {_named(fullest)} goes to {_named(lands)}, which the scheduler scores higher"
        case BreaksAnother():
            return "what would help here breaks another constraint, or leaves a Pod without a node"
        case _:
            assert_never(cause)


def _staying(cause: PodsStay) -> str:
    """Return which Pod stays and why, and how many more."""
    first = f"{'/'.join(cause.pod)} in {_named(cause.fullest)} stays: {stay_text(cause.reason).rstrip('.')}"
    if not cause.others:
        return first
    if cause.alike:
        return f"{first}; the same keeps {cause.others} more"
    return f"{first}; {cause.others} more stay, for other reasons too"


def _shut_by(by: ByConstraint | ByFilter) -> str:
    if isinstance(by, ByConstraint):
        return f"the constraint on {by.topology_key} allows none there"
    return reason_text(by.reason) or by.plugin


def unsure_text(unsure: Unsure) -> str:
    """Return what is not known of where a workload's Pods go."""
    match unsure:
        case UnknownScheduler(name):
            return f"{name} decides about these Pods, and its rules are not known"
        case NotBegun():
            return "it was not looked at, for the plan is long as it is: follow it, then ask again"
        case _:
            return consequence(unsure)

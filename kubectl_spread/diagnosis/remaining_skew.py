"""Why evictions cannot satisfy a constraint, and what would have to change first."""

from collections.abc import Collection
from enum import StrEnum
from typing import TypeAlias

import msgspec

from kubectl_spread.controllers.templates import renamed
from kubectl_spread.controllers.workloads import WorkloadRef, owner_of
from kubectl_spread.diagnosis import domains
from kubectl_spread.diagnosis.fixes.conclusion import NO_FIXES, FixSearch
from kubectl_spread.diagnosis.fixes.search import search_openings
from kubectl_spread.diagnosis.fixes.situation import Destination, Situation, Spent
from kubectl_spread.diagnosis.incomplete import incomplete, unread_cluster
from kubectl_spread.diagnosis.reasons import AnyReason
from kubectl_spread.diagnosis.requirements import conflict_cores
from kubectl_spread.gaps import Gap, OtherScheduler
from kubectl_spread.rebalance.arrangements import seen_best
from kubectl_spread.rebalance.movable import Movable, StayReason, Undecided
from kubectl_spread.rebalance.plan import CUT_SHORT, Outcome
from kubectl_spread.rebalance.search import Ended
from kubectl_spread.scheduler import cycle


class RebalanceVerdict(StrEnum):
    """Whether a constraint is satisfied, or evictions can satisfy it."""

    IMPOSSIBLE = "Impossible"
    PARTIAL = "Partial"
    INCOMPLETE = "Incomplete"
    PLANNED = "Planned"
    BALANCED = "Balanced"


class TooFewEvictions(msgspec.Struct, frozen=True):
    """The plan needs more evictions than may be made."""


class TooFewDomains(msgspec.Struct, frozen=True):
    """There are fewer domains than minDomains (counts)."""

    domains: int
    min_domains: int


class PodsStay(msgspec.Struct, frozen=True):
    """Too many Pods may not be evicted: the first, by namespace and name, and how many more (count).

    ``alike``: they stay for the same reason.
    """

    pod: tuple[str, str]
    domain: str
    reason: StayReason
    others: int
    alike: bool


class DomainShut(msgspec.Struct, frozen=True):
    """One of the emptiest domains takes no Pod; ``by``: the fewest requirements that together reject its nodes.

    ``of``: the workload of that Pod, if it is another than the constraint's; None otherwise.
    """

    domain: str
    by: tuple[AnyReason, ...]
    of: WorkloadRef | None = None


class GoesElsewhere(msgspec.Struct, frozen=True):
    """A Pod evicted in the fullest domains goes elsewhere than to the emptiest: the scheduler scores that higher.

    ``by_chance``: some of the domains to which it may go are the emptiest.
    """

    fullest: tuple[str, ...]
    lands: tuple[str, ...]
    by_chance: bool


class BreaksAnother(msgspec.Struct, frozen=True):
    """Every helpful eviction breaks another constraint, or leaves a Pod without a node."""


RemainingCause: TypeAlias = TooFewEvictions | TooFewDomains | PodsStay | DomainShut | GoesElsewhere | BreaksAnother


class RemainingSkew(msgspec.Struct, frozen=True):
    """Why a constraint is not satisfied in the end, and why the search for a better plan ended."""

    cause: RemainingCause
    ended: Ended = Ended.FOUND_ALL


class NotBegun(msgspec.Struct, frozen=True):
    """The search for other workloads used up the time for all."""


Unsure: TypeAlias = NotBegun | Gap  # Why it is unknown where the workload's Pods go


def is_left(outcome: Outcome) -> bool:
    """Whether the constraint is not satisfied in the end."""
    return outcome.skew > outcome.goal.constraint.max_skew


def verdict_of(outcome: Outcome) -> RebalanceVerdict:
    """Return the verdict on the constraint, if all it depends on is known."""
    if not is_left(outcome):
        return RebalanceVerdict.PLANNED if outcome.goal.is_violated else RebalanceVerdict.BALANCED
    if outcome.improves or outcome.ended is Ended.EVICTIONS:
        return RebalanceVerdict.PARTIAL
    return RebalanceVerdict.INCOMPLETE if outcome.ended in CUT_SHORT else RebalanceVerdict.IMPOSSIBLE


def unsure_of(outcome: Outcome) -> Unsure | None:
    """Return why it is unknown where the workload's Pods go; None if that does not matter."""
    pod, handle = outcome.goal.pod, outcome.arrangement.handles.of(outcome.goal.pod)
    if unread := next(unread_cluster(handle.snapshot.inventory), None):
        return unread
    if not outcome.goal.is_violated:
        return None
    if not handle.profile.serves(pod):
        return OtherScheduler(scheduler_name=pod.spec.scheduler_name)
    if outcome.ended is Ended.NOT_BEGUN:
        return NotBegun()
    if outcome.improves:
        return next(iter(incomplete(pod, handle, cycle.evaluate(pod, handle))), None)
    return next((reason.gap for _, reason in outcome.stay if isinstance(reason, Undecided)), None)


def remaining_skew(outcome: Outcome) -> RemainingSkew | None:
    """Return why the constraint is not satisfied in the end; None if it is."""
    if not is_left(outcome):
        return None
    cause = _known_from_counts(outcome) or _kept_from_emptiest(outcome)
    return RemainingSkew(cause or BreaksAnother(), outcome.ended)


def _known_from_counts(outcome: Outcome) -> TooFewDomains | PodsStay | TooFewEvictions | None:
    """Return why no plan is enough, wherever the Pods may go; None if one may be."""
    domains, constraint = outcome.goal.domains, outcome.goal.constraint
    if len(domains) < constraint.min_domains and sum(outcome.after) > constraint.max_skew * len(domains):
        return TooFewDomains(len(domains), constraint.min_domains)
    if stays := _staying_pods(outcome, {*outcome.goal.stuck(outcome.reach)}):
        return stays
    if outcome.ended is Ended.EVICTIONS and not outcome.goal.overfills(outcome.reach):
        return TooFewEvictions()
    return None if _first_movable(outcome) else _staying_pods(outcome, outcome.fullest)


def _staying_pods(outcome: Outcome, domains: Collection[str]) -> PodsStay | None:
    """Return why Pods of these domains may not be evicted; None if all may."""
    staying = [
        (pod, domain, reason)
        for pod, reason in outcome.stay
        if (domain := outcome.goal.domain_of(pod)) is not None and domain in domains
    ]
    if not staying:
        return None
    (pod, domain, reason), *others = staying
    alike = all(each == reason for *_, each in others)
    return PodsStay(pod.key, domain, reason, len(others), alike)


def _first_movable(outcome: Outcome) -> Movable | None:
    """Return the first Pod that may be evicted and counts in a domain with the most Pods in the end."""
    goal = outcome.goal
    found = (each for each in outcome.left if goal.domain_of(each.pod) in outcome.fullest and goal.matches(each.pod))
    return next(found, None)


def _kept_from_emptiest(outcome: Outcome) -> DomainShut | GoesElsewhere | None:
    """Return what keeps a Pod evicted there from the emptiest domains, or attracts it elsewhere."""
    situation = _once_evicted(outcome)
    if situation is None:
        return None
    pod, handle = situation.pod, situation.handle
    spread = domains.diagnose(situation.evaluation, handle)
    for domain, nodes in outcome.emptiest.items():
        for core in conflict_cores(spread.rejected, nodes)[:1]:
            owner = owner_of(pod, handle.snapshot)
            others = owner if owner != outcome.goal.workload.ref else None
            why = (spread.reason_of(each, spread.rejected[each].intersection(nodes)) for each in core)
            return DomainShut(domain, tuple(why), others)
    place, values = outcome.goal.place, outcome.goal.domains
    lands = {values[place[name]] for name in seen_best(pod, handle) if name in place}
    if lands.issubset(outcome.emptiest):
        return None
    return GoesElsewhere(outcome.fullest, tuple(sorted(lands)), by_chance=not lands.isdisjoint(outcome.emptiest))


def _once_evicted(outcome: Outcome) -> Situation | None:
    """Return the Pod that replaces one of the fullest domains, with the emptiest as destination; None if none may go.

    It keeps the name of the evicted Pod, which the reader knows.
    """
    movable = _first_movable(outcome)
    if movable is None:
        return None
    gone, pod = outcome.arrangement.without(movable), renamed(movable.again.pod, movable.pod.metadata.name)
    key = outcome.goal.constraint.topology_key
    bound_for = Destination(key, frozenset(outcome.emptiest), outcome.before.of(pod))
    return Situation(pod, gone.handles.of(pod), bound_for=bound_for)


def fixes_first(outcome: Outcome, spent: Spent) -> FixSearch:
    """Return what opens the emptiest domains to a Pod of the fullest, which the scheduler then places there."""
    if not is_left(outcome) or isinstance(_known_from_counts(outcome), PodsStay | TooFewEvictions):
        return NO_FIXES
    situation = _once_evicted(outcome)
    return search_openings(situation, spent) if situation is not None and not situation.feasible else NO_FIXES

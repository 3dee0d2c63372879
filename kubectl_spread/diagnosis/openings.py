"""Why a constraint does not hold however Pods are evicted: in the words in which why-pending tells of a Pod."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.contract.fixes import Fix
from kubectl_spread.controllers.templates import renamed
from kubectl_spread.diagnosis import domains
from kubectl_spread.diagnosis.causes import named
from kubectl_spread.diagnosis.domains import SpreadDiagnosis
from kubectl_spread.diagnosis.fixes.search import Spent, search_openings
from kubectl_spread.diagnosis.fixes.situation import Destination, Situation
from kubectl_spread.diagnosis.requirements import FilterRequirement, Requirement, conflict_core
from kubectl_spread.rebalance.movable import Movable
from kubectl_spread.rebalance.plan import Outcome
from kubectl_spread.rebalance.search import Ended
from kubectl_spread.scheduler import cycle

BREAKS_ANOTHER = "what would help here breaks another constraint, or leaves a Pod without a node"


def why_no_more(outcome: Outcome) -> str:
    """Return why the constraint does not hold in the end; empty where it does."""
    goal = outcome.goal
    if outcome.skew <= goal.constraint.max_skew:
        return ""
    if outcome.ended is Ended.EVICTIONS:
        return "it would take more evictions than --max allows"
    if len(goal.domains) < goal.constraint.min_domains:
        return f"there are {len(goal.domains)} of {goal.constraint.min_domains} domains that minDomains asks for"
    why = _held_back(outcome) or _shut_out(outcome) or BREAKS_ANOTHER
    return f"{why}; not everything was tried" if outcome.ended is Ended.PLACEMENTS else why


def _held_back(outcome: Outcome) -> str:
    """Return why no Pod of the fullest domains may go; empty where one may."""
    staying = [(pod, why) for pod, why in outcome.stay if outcome.counted_in_fullest(pod)]
    if _first_to_go(outcome) is not None or not staying:
        return ""
    (pod, why), *others = staying
    first = f"{'/'.join(pod.key)} in {named(outcome.fullest)} stays: {why.rstrip('.')}"
    if not others:
        return first
    if all(each == why for _, each in others):
        return f"{first}; the same keeps {len(others)} more"
    return f"{first}; {len(others)} more stay, for other reasons too"


def _first_to_go(outcome: Outcome) -> Movable | None:
    """Return a Pod of the fullest domains that may go; None where none may."""
    return next((each for each in outcome.left if outcome.counted_in_fullest(each.pod)), None)


def _shut_out(outcome: Outcome) -> str:
    """Return what keeps a Pod that is evicted there from the emptiest domains, or draws it elsewhere."""
    situation = _once_evicted(outcome)
    if situation is None:
        return ""
    pod, handle = situation.pod, situation.handle
    spread = domains.diagnose(pod, handle, situation.evaluation)
    for domain, nodes in outcome.emptiest.items():
        core = conflict_core(spread.rejected, nodes)
        if core:
            return f"{domain} takes no Pod: {' and '.join(_said(each, nodes, spread) for each in core)}"
    place, values = outcome.goal.place, outcome.goal.domains
    lands = {values[place[name]] for name in cycle.best_nodes(pod, handle) if name in place}
    if not lands or not lands.isdisjoint(outcome.emptiest):
        return ""
    return (
        f"a Pod evicted in {named(outcome.fullest)} goes to {named(sorted(lands))}, which the scheduler scores higher"
    )


def _once_evicted(outcome: Outcome) -> Situation | None:
    """Return a Pod of the fullest domains that has gone and comes again, bound for the emptiest; None where none may.

    It has the name of the one that goes, for that is there to be spoken of.
    """
    movable = _first_to_go(outcome)
    if movable is None:
        return None
    gone, pod = outcome.arrangement.without(movable), renamed(movable.again.pod, movable.pod.metadata.name)
    key = outcome.goal.constraint.topology_key
    return Situation(pod, gone.handles.of(pod), bound_for=Destination(key, frozenset(outcome.emptiest)))


def fixes_first(outcome: Outcome, spent: Spent) -> tuple[Fix, ...]:
    """Return what opens the emptiest domains to a Pod of the fullest, which the scheduler then puts there.

    Args:
        outcome: what becomes of the constraint.
        spent: whether the time is over.
    """
    if outcome.skew <= outcome.goal.constraint.max_skew or outcome.ended is Ended.EVICTIONS or _held_back(outcome):
        return ()
    situation = _once_evicted(outcome)
    return search_openings(situation, spent) if situation is not None and not situation.feasible else ()


def _said(requirement: Requirement, nodes: Sequence[str], spread: SpreadDiagnosis) -> str:
    """Return what a requirement says of the nodes of a domain."""
    if not isinstance(requirement, FilterRequirement):
        return f"the constraint on {spread.topology_key(requirement)} allows none there"
    rejected = [name for name in nodes if name in spread.rejected[requirement]]
    gists = spread.explainer.gists(requirement.plugin, rejected)
    return next((gist.text for gist in gists if gist.text), requirement.plugin)

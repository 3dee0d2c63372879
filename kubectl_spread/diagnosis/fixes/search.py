"""Every change worth trying, tried: single ones first, pairs where no single one helps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import islice
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers.next_pod import replacement
from kubectl_spread.controllers.workloads import PodsByOwner, owner_of
from kubectl_spread.diagnosis.findings import Severity
from kubectl_spread.diagnosis.fixes import constraints, demands, moves, nodes
from kubectl_spread.diagnosis.fixes.candidate import (
    Candidate,
    DeletePod,
    EditPod,
    RecreatePod,
    change_of,
    edited,
    edited_where_it_fits,
    edits_of,
    target_of,
)
from kubectl_spread.diagnosis.fixes.change import Change
from kubectl_spread.diagnosis.fixes.conclusion import (
    LETS_IN_AT_MOST,
    NO_FIXES,
    FixSearch,
    Route,
    VerifiedFix,
    WouldWarn,
)
from kubectl_spread.diagnosis.fixes.not_offered import not_offered
from kubectl_spread.diagnosis.fixes.owner import new_revision_pod
from kubectl_spread.diagnosis.fixes.proposals import Proposal
from kubectl_spread.diagnosis.fixes.renewal import renewal_jams
from kubectl_spread.diagnosis.fixes.route import routes_of
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.diagnosis.fixes.waits import waits_of
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.simulation.placement import count_placed, with_placed
from kubectl_spread.snapshot import Snapshot

Spent: TypeAlias = Callable[[], bool]
"""Whether the time for the search is over; the engine itself has no clock."""

MOST_ALIKE = 8
"""Changes of one group (count) that are tried and named."""
MOST_ALIKE_IN_PAIRS = 2
"""The same for each half of a pair."""
MOST_WARNED = 3
"""Changes (count) of which it is said that they would help and are not offered."""
MOST_WAITS = 3
"""Things to wait for (count) that are named."""
MOST_SIBLINGS = 100
"""Pending Pods of the same workload (count) that are placed, and reported as its siblings."""


class WorkingFix(msgspec.Struct, frozen=True):
    """A set of changes that works.

    Attributes:
        parts: the changes, in the order they are made.
        after: the Pod and the cluster with all of them made.
        errors: ids of the findings that are errors and that it would bring.
        warnings: those of the other findings.
    """

    parts: tuple[Candidate, ...]
    after: Situation
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The other objects that are changed."""
        return tuple(part.name for part in self.parts if not isinstance(part, EditPod))

    @property
    def likeness(self) -> Hashable:
        """What is the same for changes that are alike: their kind, and what they open besides the changed nodes."""
        opened = frozenset(self.after.feasible).difference(self.names)
        return frozenset(part.likeness for part in self.parts), opened

    @property
    def values(self) -> dict[Hashable, int]:
        """What each part changes → how far it moves the value, 0 for other changes than of values."""
        return {
            _value_of(part) or part.proposal: part.amount if isinstance(part, EditPod) else 0 for part in self.parts
        }

    def is_exceeded_by(self, other: WorkingFix) -> bool:
        """Whether the other changes the same values, one of them further and none less far."""
        mine, theirs = self.values, other.values
        return mine != theirs and mine.keys() == theirs.keys() and all(mine[key] <= theirs[key] for key in mine)


def search_fixes(situation: Situation, siblings: Sequence[Pod], spent: Spent) -> FixSearch:
    """Return every change that lets the Pod in, each tried on the snapshot; pairs where no single one does.

    Args:
        situation: the Pod that finds no node, and the cluster.
        siblings: the Pending Pods of the same workload, this one first.
        spent: whether the time is over.
    """
    if situation.evaluation.feasible or not situation.handle.node_infos:
        return NO_FIXES
    renewed = _harmless(_tried(moves.stale(situation), situation, spent))
    if renewed:
        return FixSearch(fixes=_verified(renewed, situation, siblings), complete=not spent())
    candidates = (_candidates(situation), moves.candidates(situation))
    singles = [fix for each in candidates for fix in _tried(each, situation, spent)]
    working = _harmless(singles)
    if not working:
        pairs = _harmless(_pairs(situation, spent))
        # Without what goes further than another pair that works.
        working = [each for each in pairs if not any(other.is_exceeded_by(each) for other in pairs)]
    new_nodes = _harmless(_tried(nodes.additions(situation), situation, spent))
    warned = (
        WouldWarn(proposals=tuple(part.proposal for part in each.parts), findings=each.errors)
        for each in singles
        if each.errors
    )
    alone = (*not_offered(situation, spent), *islice(warned, MOST_WARNED))
    waits = tuple(islice(waits_of(situation, spent), MOST_WAITS))
    complete = not spent()
    return FixSearch(
        fixes=_verified(working, situation, siblings),
        new_nodes=_verified(new_nodes, situation, siblings),
        not_offered=alone,
        waits=waits,
        complete=complete,
    )


def search_openings(situation: Situation, spent: Spent) -> tuple[VerifiedFix, ...]:
    """Return the changes after which the Pod goes where it is bound for, the safest first; new nodes where none does.

    None that lets the constraint by which it is bound there ask for less.

    Args:
        situation: a Pod that is to come in place of another, where it is bound for, and the cluster.
        spent: whether the time is over.
    """
    asked = _asked_there(situation)
    changed = _harmless(_tried(_candidates(situation), situation, spent))
    working = [each for each in changed if _asked_there(each.after) == asked]
    working = working or _harmless(_tried(nodes.additions(situation), situation, spent))
    return _verified(working, situation, (situation.pod,))


def _asked_there(situation: Situation) -> list[tuple[int, int]]:
    """Return maxSkew (Pods) and minDomains of the hard constraint by which the Pod is bound for somewhere."""
    key = situation.bound_for and situation.bound_for.topology_key
    constraints = (counts.constraint for counts in situation.counts)
    return [(each.max_skew, each.min_domains) for each in constraints if each.topology_key == key]


def nodes_to_read(situation: Situation, spent: Spent, *, most: int) -> frozenset[str]:
    """Return nodes, no more than so many, whose Pods decide whether a change helps, where not all Pods were read.

    Args:
        situation: the Pod that finds no node, and the cluster.
        spent: whether the time is over.
        most: nodes (count).
    """
    found = set(demands.nodes_short(situation)[:MOST_ALIKE])
    for candidate in _some_of_each((*_candidates(situation), *moves.candidates(situation)), MOST_ALIKE_IN_PAIRS):
        if spent() or len(found) >= most:
            break
        after = _try(candidate, situation)
        found.update(cycle.not_read(after.pod, after.handle, most=MOST_ALIKE) if after else ())
    return frozenset(sorted(found & situation.handle.snapshot.inventory.not_read)[:most])


def siblings_of(pod: Pod, pending: PodsByOwner, snapshot: Snapshot) -> tuple[Pod, ...]:
    """Return the Pending Pods of the same workload: this one first, the others by name."""
    own = pending[pod.metadata.namespace, owner_of(pod, snapshot)]
    return (pod, *sorted((other for other in own if other.key != pod.key), key=lambda other: other.key))


def fix_for(fix: VerifiedFix, pod: Pod, twin: Pod) -> VerifiedFix:
    """Return the fix for another Pod.

    Args:
        fix: what was verified.
        pod: the Pod it was verified for.
        twin: a Pod that differs from it in nothing but the name.
    """
    target, name = target_of(pod), twin.metadata.name
    changes = tuple(
        replace(each, target=replace(target, name=name)) if each.target == target and each.json_patch else each
        for each in fix.changes
    )
    return replace(fix, changes=changes, routes=tuple(_route_for(route, pod, name) for route in fix.routes))


def _route_for(route: Route, pod: Pod, name: str) -> Route:
    """Return the route with another name in place of the Pod's."""
    commands = tuple(
        replace(each, name=name, others=tuple(pod.metadata.name if other == name else other for other in each.others))
        if (each.kind, each.namespace, each.name) == ("pod", *pod.key)
        else each
        for each in route.commands
    )
    written = route.fragment
    if written is not None and (written.kind, written.namespace, written.name) == ("Pod", *pod.key):
        written = replace(written, name=name)
    return replace(route, commands=commands, fragment=written)


def _candidates(situation: Situation, *, others: int = 0) -> Iterator[Candidate]:
    """Yield the changes worth trying; ``others``: how many requirements another change could overcome besides."""
    yield from constraints.candidates(situation, others=others)
    yield from nodes.candidates(situation, others=others)
    yield from demands.candidates(situation, others=others)


def _tried(candidates: Iterable[Candidate], situation: Situation, spent: Spent) -> Iterator[WorkingFix]:
    """Yield the changes that work alone."""
    if spent():  # to find the first that is worth trying takes time too
        return
    for candidate in _some_of_each(candidates, MOST_ALIKE):
        if spent():
            return
        found = _works((candidate,), _try(candidate, situation), situation)
        if found is not None:
            yield found


def _pairs(situation: Situation, spent: Spent) -> Iterator[WorkingFix]:
    """Yield every two changes that work together, each pair once."""
    seen: set[frozenset[Proposal]] = set()
    for first in _some_of_each(_candidates(situation, others=1), 1):
        halfway = None if spent() else _try(first, situation)
        if halfway is None:
            continue
        seconds = (*_candidates(halfway), *moves.candidates(halfway))
        for second in _some_of_each(seconds, MOST_ALIKE_IN_PAIRS):
            if spent():
                return
            pair = frozenset((first.proposal, second.proposal))
            if pair in seen or _value_of(first) == _value_of(second) != ():
                continue
            seen.add(pair)
            found = _works((first, second), _try(second, halfway), situation)
            if found is not None:
                yield found


def _value_of(candidate: Candidate) -> tuple[str | int, ...]:
    """Return what the candidate gives another value; empty for other changes."""
    return candidate.subject if isinstance(candidate, EditPod) else ()


def _some_of_each(candidates: Iterable[Candidate], most: int) -> Iterator[Candidate]:
    """Yield no more than so many candidates that are alike."""
    seen: Counter[Hashable] = Counter()
    for candidate in candidates:
        seen[candidate.likeness] += 1
        if seen[candidate.likeness] <= most:
            yield candidate


def _try(candidate: Candidate, situation: Situation) -> Situation | None:
    """Return the situation with the change made; None where it leaves a Pod that the API server would refuse."""
    after = candidate.apply(situation)
    return None if isinstance(candidate, EditPod | RecreatePod) and after.errors - situation.errors else after


def _works(parts: tuple[Candidate, ...], after: Situation | None, before: Situation) -> WorkingFix | None:
    """Return what was found: the Pod has a node then, and no Pod that was moved stays Pending for it."""
    if after is None or not after.feasible:
        return None
    made = [moves.settled(part, after) if isinstance(part, DeletePod) else part for part in parts]
    if any(part is None for part in made) or renewal_jams(parts, after, before) or _earlier_jam(parts, after):
        return None
    brought = sorted({(severity is Severity.ERROR, found) for severity, found, _ in after.warnings - before.warnings})
    errors, warnings = (tuple(found for grave, found in brought if grave is error) for error in (True, False))
    return WorkingFix(tuple(filter(None, made)), after, errors, warnings)


def _earlier_jam(parts: Sequence[Candidate], after: Situation) -> bool:
    """Whether Pods of the same file that had a node have none with the edits made, or the Pod in question then."""
    earlier, edits = after.written.earlier if after.written else (), edits_of(parts)
    if not earlier or not edits or len(earlier) > MOST_SIBLINGS:
        return False
    handle = reduce(Handle.without_pod, earlier, after.handle)
    unbound = (replace(pod, spec=replace(pod.spec, node_name="")) for pod in earlier)
    return count_placed([*(edited_where_it_fits(pod, edits) for pod in unbound), after.pod], handle) <= len(earlier)


def _harmless(found: Iterable[WorkingFix]) -> list[WorkingFix]:
    """Return what was found without what we would call an error ourselves, and did not before."""
    return [each for each in found if not each.errors]


def _verified(working: Iterable[WorkingFix], situation: Situation, siblings: Sequence[Pod]) -> tuple[VerifiedFix, ...]:
    """Return what works as it is concluded: one of each that are alike, by rank."""
    grouped: dict[Hashable, list[WorkingFix]] = {}
    for each in working:
        grouped.setdefault(each.likeness, []).append(each)
    fixes = [
        _verified_fix(first, tuple(other.names for other in others), situation, siblings)
        for first, *others in grouped.values()
    ]
    return tuple(sorted(fixes, key=lambda fix: fix.rank))


def _verified_fix(
    fix: WorkingFix, alike: tuple[tuple[str, ...], ...], situation: Situation, siblings: Sequence[Pod]
) -> VerifiedFix:
    feasible = fix.after.feasible
    upcoming = new_revision_pod(fix.parts, situation)
    renewed = cycle.feasible_nodes(upcoming, fix.after.handle) if upcoming is not None else feasible
    considered = siblings[:MOST_SIBLINGS]
    routes = tuple(routes_of(fix.parts, situation, considered))
    limits = [LETS_IN_AT_MOST.get(route.effect, len(considered)) for route in routes if route.effect is not None]
    return VerifiedFix(
        proposals=tuple(part.proposal for part in fix.parts),
        after_deletion=next((part.after for part in fix.parts if isinstance(part, DeletePod)), None),
        mends=any(isinstance(part, EditPod) and part.mends for part in fix.parts),
        feasible=feasible,
        admits=min(1 + _placed_after(fix, considered[1:]), max(limits, default=len(considered))),
        siblings=len(considered),
        alike=alike,
        changes=_changes(fix.parts, situation.pod),
        routes=routes,
        new_revision=None if set(renewed) == set(feasible) else renewed,
        on_read_pods=bool(situation.handle.snapshot.inventory.not_read),
        warnings=fix.warnings,
    )


def _placed_after(found: WorkingFix, siblings: Sequence[Pod]) -> int:
    """Return how many siblings find a node once the Pod has its own, all of them changed (count)."""
    if not siblings:
        return 0
    after, edits = found.after, edits_of(found.parts)
    handle = with_placed(after.pod, after.feasible[0], after.handle)
    if any(isinstance(part, RecreatePod) for part in found.parts):
        again = (replacement(each, handle.snapshot, handle.profile).pod for each in siblings)
        return count_placed(again, handle)
    return count_placed((edited_where_it_fits(each, edits) for each in siblings), handle)


def _changes(parts: Sequence[Candidate], pod: Pod) -> tuple[Change, ...]:
    """Return the changes, those of one object as one patch and each made on what the ones before left."""
    changes: list[Change] = []
    for part in parts:
        change = change_of(part, pod)
        if isinstance(part, EditPod):
            pod = edited(pod, [part.edit])
        same = next((i for i, other in enumerate(changes) if other.target == change.target and other.json_patch), None)
        if same is None:
            changes.append(change)
        else:
            patch = (*(changes[same].json_patch or ()), *(change.json_patch or ()))
            changes[same] = replace(changes[same], json_patch=patch)
    return tuple(changes)

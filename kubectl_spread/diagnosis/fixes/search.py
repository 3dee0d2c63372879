"""Every change worth trying, tried: single ones first, pairs where no single one helps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.contract.fixes import Fix
from kubectl_spread.controllers.workloads import PodsByOwner, owner_of
from kubectl_spread.diagnosis.fixes import constraints, demands, moves, nodes
from kubectl_spread.diagnosis.fixes.candidate import (
    Candidate,
    DeletePod,
    EditPod,
    change_of,
    edited,
    edited_where_it_fits,
    edits_of,
)
from kubectl_spread.diagnosis.fixes.change import Change
from kubectl_spread.diagnosis.fixes.commands import commands_for
from kubectl_spread.diagnosis.fixes.left_alone import left_alone
from kubectl_spread.diagnosis.fixes.renewal import renewal_jams
from kubectl_spread.diagnosis.fixes.revision import new_revision_pod
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import cycle
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
MOST_SIBLINGS = 100
"""Pending Pods of the same workload (count) that are placed, and reported as its siblings."""


class WorkingFix(msgspec.Struct, frozen=True):
    """A set of changes that works.

    Attributes:
        parts: the changes, in the order they are made.
        after: the Pod and the cluster with all of them made.
        alike: objects for which the same change does the same.
        warnings: ids of the findings that it would bring.
    """

    parts: tuple[Candidate, ...]
    after: Situation
    alike: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The changes in words."""
        return " and ".join(part.summary for part in self.parts)

    @property
    def names(self) -> tuple[str, ...]:
        """The other objects that are changed."""
        return tuple(part.name for part in self.parts if not isinstance(part, EditPod))

    @property
    def likeness(self) -> tuple[frozenset[tuple[str, ...]], frozenset[str]]:
        """What is the same for changes that are alike: their kind, and what they open besides the changed nodes."""
        opened = frozenset(self.after.feasible).difference(self.names)
        return frozenset(part.likeness for part in self.parts), opened

    @property
    def values(self) -> dict[tuple[str, str], int]:
        """(Class, subject) of each part → how far it moves its value."""
        return dict(map(_value, self.parts))

    def is_exceeded_by(self, other: WorkingFix) -> bool:
        """Whether the other changes the same values, one of them further and none less far."""
        mine, theirs = self.values, other.values
        return mine != theirs and mine.keys() == theirs.keys() and all(mine[key] <= theirs[key] for key in mine)


def _value(part: Candidate) -> tuple[tuple[str, str], int]:
    """Return (class, subject) of a change, and how far it moves the value; other changes than of values only are."""
    if isinstance(part, EditPod) and part.subject:
        return (part.id, part.subject), part.amount
    return (part.id, part.summary), 0


class FixSearch(msgspec.Struct, frozen=True):
    """What the search found.

    Attributes:
        fixes: those that disturb least first, then cheapest, then those that open more nodes, then by text.
        new_nodes: nodes that would let the Pod in if somebody added them, in the same order.
        left_alone: what would let the Pod in too, and why it is not offered.
        complete: whether every change was tried.
    """

    fixes: tuple[Fix, ...]
    new_nodes: tuple[Fix, ...]
    left_alone: tuple[str, ...]
    complete: bool


NO_FIXES = FixSearch((), (), (), complete=True)
"""What there is to find for a Pod that needs nothing, or of which nothing can be proved."""


def search_fixes(situation: Situation, siblings: Sequence[Pod], spent: Spent) -> FixSearch:
    """Return every change that lets the Pod in, each tried on the snapshot; pairs where no single one does.

    Args:
        situation: the Pod that finds no node, and the cluster.
        siblings: the Pending Pods of the same workload, this one first.
        spent: whether the time is over.
    """
    if situation.evaluation.feasible or not situation.handle.node_infos:
        return NO_FIXES
    singles = list(_singles(situation, spent))
    found = _harmless(singles) or _smallest(_harmless(_pairs(situation, spent)))
    added = _harmless(_tried(nodes.additions(situation), situation, spent))
    warned = [f"{each.summary}: it would bring {', '.join(each.warnings)}" for each in singles if each.warnings]
    alone = (*left_alone(situation, spent), *warned[:MOST_WARNED])
    complete = not spent()
    return FixSearch(
        fixes=_reported(found, situation, siblings),
        new_nodes=_reported(added, situation, siblings),
        left_alone=alone,
        complete=complete,
    )


def search_openings(situation: Situation, spent: Spent) -> tuple[Fix, ...]:
    """Return the changes after which the Pod goes where it is bound for, the safest first; new nodes where none does.

    None that lets the constraint by which it is bound there ask for less.

    Args:
        situation: a Pod that is to come in place of another, where it is bound for, and the cluster.
        spent: whether the time is over.
    """
    asked = _asked_there(situation)
    changed = _harmless(_tried(_candidates(situation), situation, spent))
    found = [each for each in changed if _asked_there(each.after) == asked]
    return _reported(
        found or _harmless(_tried(nodes.additions(situation), situation, spent)), situation, (situation.pod,)
    )


def _asked_there(situation: Situation) -> list[int]:
    """Return the maxSkew of the hard constraint by which the Pod is bound for somewhere (Pods), if it has one."""
    key = situation.bound_for and situation.bound_for.topology_key
    return [counts.constraint.max_skew for counts in situation.counts if counts.constraint.topology_key == key]


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


def fix_for(fix: Fix, name: str, other: str) -> Fix:
    """Return the fix for another Pod, which differs from the one it was found for in nothing but the name.

    Args:
        fix: what was found.
        name: of the Pod it was found for.
        other: the name of the other Pod.
    """
    own = [change for change in fix.changes if change.target.kind == "Pod" and change.json_patch]
    if not own:
        return fix
    namespace = own[0].target.namespace
    renamed = [
        replace(change, target=replace(change.target, name=other)) if change in own else change
        for change in fix.changes
    ]
    named, anew = f" pod {name} -n {namespace} ", f" pod {other} -n {namespace} "
    commands = tuple(f"{command} ".replace(named, anew)[:-1] for command in fix.commands)
    head = "\nkind: Pod\nmetadata:\n  name: "
    written = fix.yaml.replace(f"{head}{name}\n", f"{head}{other}\n")
    return replace(fix, changes=tuple(renamed), commands=commands, yaml=written)


def _candidates(situation: Situation, *, others: int = 0) -> Iterator[Candidate]:
    """Yield the changes worth trying.

    Args:
        situation: the Pod and the cluster.
        others: how many requirements another change could overcome besides.
    """
    yield from constraints.candidates(situation, others=others)
    yield from nodes.candidates(situation, others=others)
    yield from demands.candidates(situation, others=others)


def _singles(situation: Situation, spent: Spent) -> Iterator[WorkingFix]:
    """Yield every single change of what there is that works."""
    yield from _tried(_candidates(situation), situation, spent)
    yield from _tried(moves.candidates(situation), situation, spent)


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
    seen: set[frozenset[str]] = set()
    for first in _some_of_each(_candidates(situation, others=1), 1):
        halfway = None if spent() else _try(first, situation)
        if halfway is None:
            continue
        seconds = (*_candidates(halfway), *moves.candidates(halfway))
        for second in _some_of_each(seconds, MOST_ALIKE_IN_PAIRS):
            if spent():
                return
            pair = frozenset((first.summary, second.summary))
            if pair in seen or _is_same_value(first, second):
                continue
            seen.add(pair)
            found = _works((first, second), _try(second, halfway), situation)
            if found is not None:
                yield found


def _is_same_value(first: Candidate, second: Candidate) -> bool:
    """Whether both give one thing another value."""
    if not isinstance(first, EditPod) or not isinstance(second, EditPod):
        return False
    return bool(first.subject) and first.subject == second.subject


def _some_of_each(candidates: Iterable[Candidate], most: int) -> Iterator[Candidate]:
    """Yield no more than so many candidates that are alike."""
    seen: Counter[tuple[str, ...]] = Counter()
    for candidate in candidates:
        seen[candidate.likeness] += 1
        if seen[candidate.likeness] <= most:
            yield candidate


def _try(candidate: Candidate, situation: Situation) -> Situation | None:
    """Return the situation with the change made; None where it leaves a Pod that the API server would refuse."""
    after = candidate.apply(situation)
    return None if isinstance(candidate, EditPod) and after.errors - situation.errors else after


def _works(parts: tuple[Candidate, ...], after: Situation | None, before: Situation) -> WorkingFix | None:
    """Return what was found: the Pod has a node then, and no Pod that was moved stays Pending for it."""
    if after is None or not after.feasible:
        return None
    made = [moves.settled(part, after) if isinstance(part, DeletePod) else part for part in parts]
    if any(part is None for part in made) or renewal_jams(parts, after, before) or _earlier_jam(parts, after):
        return None
    brought = sorted({finding for finding, _ in after.warnings - before.warnings})
    return WorkingFix(tuple(filter(None, made)), after, warnings=tuple(brought))


def _earlier_jam(parts: Sequence[Candidate], after: Situation) -> bool:
    """Whether Pods of the same file that had a node have none with the edits made, or the Pod in question then."""
    earlier, edits = after.written.earlier if after.written else (), edits_of(parts)
    if not earlier or not edits or len(earlier) > MOST_SIBLINGS:
        return False
    handle = after.handle
    for pod in earlier:
        handle = handle.without_pod(pod)
    unbound = (replace(pod, spec=replace(pod.spec, node_name="")) for pod in earlier)
    return count_placed([*(edited_where_it_fits(pod, edits) for pod in unbound), after.pod], handle) <= len(earlier)


def _harmless(found: Iterable[WorkingFix]) -> list[WorkingFix]:
    """Return what was found without what we would warn of ourselves, and did not before."""
    return [each for each in found if not each.warnings]


def _smallest(found: Iterable[WorkingFix]) -> list[WorkingFix]:
    """Return what was found, without what goes further than another that works."""
    all_found = list(found)
    return [each for each in all_found if not any(other.is_exceeded_by(each) for other in all_found)]


def _reported(found: Iterable[WorkingFix], situation: Situation, siblings: Sequence[Pod]) -> tuple[Fix, ...]:
    """Return what was found as it is reported, the safest first."""
    reported = [(each, _fix(each, situation, siblings)) for each in _together(found)]
    return tuple(fix for _, fix in sorted(reported, key=_order))


def _order(reported: tuple[WorkingFix, Fix]) -> tuple[object, ...]:
    """Return what fixes are sorted by: what makes a constraint mean its own Pod, and then what a fix may break."""
    found, fix = reported
    mends = any(part.mends for part in found.parts)
    return not mends, fix.disturbs.rank, fix.cost, -len(fix.feasible), fix.summary


def _together(found: Iterable[WorkingFix]) -> list[WorkingFix]:
    """Return the first of those that are alike, with the names of the others."""
    grouped: dict[object, list[WorkingFix]] = {}
    for each in found:
        grouped.setdefault(each.likeness, []).append(each)
    return [
        replace(first, alike=tuple(" and ".join(other.names) for other in others))
        for first, *others in grouped.values()
    ]


def _fix(found: WorkingFix, situation: Situation, siblings: Sequence[Pod]) -> Fix:
    """Return what works, as it is reported."""
    commands = commands_for(found.parts, situation)
    feasible = found.after.feasible
    upcoming = new_revision_pod(found.parts, situation)
    renewed = cycle.feasible_nodes(upcoming, found.after.handle) if upcoming is not None else feasible
    considered = siblings[:MOST_SIBLINGS]
    return Fix(
        id="+".join(part.id for part in found.parts),
        summary=found.summary,
        cost=sum(part.cost for part in found.parts),
        feasible=feasible,
        admits=1 + _placed_after(found, considered[1:]),
        siblings=len(considered),
        alike=found.alike,
        changes=_changes(found.parts, situation.pod),
        commands=commands.lines,
        starts=commands.starts,
        disturbs=commands.disturbs,
        yaml=commands.yaml,
        source=commands.source,
        edits=commands.edits,
        new_revision=msgspec.UNSET if set(renewed) == set(feasible) else renewed,
        proved_on="read" if situation.handle.snapshot.inventory.not_read else msgspec.UNSET,
    )


def _placed_after(found: WorkingFix, siblings: Sequence[Pod]) -> int:
    """Return how many siblings find a node once the Pod has its own, all of them changed (count)."""
    if not siblings:
        return 0
    after, edits = found.after, edits_of(found.parts)
    handle = with_placed(after.pod, after.feasible[0], after.handle)
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

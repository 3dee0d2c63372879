"""Every change worth trying, tried: single ones first, pairs where no single one helps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from kubectl_spread.diagnosis.fixes import constraints, demands, moves, nodes
from kubectl_spread.diagnosis.fixes.candidate import Candidate, edited
from kubectl_spread.diagnosis.fixes.commands import commands_for, new_revision_pod
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.diagnosis.workloads import owner_of
from kubectl_spread.objects.core import Pod
from kubectl_spread.report import Change, Fix
from kubectl_spread.scheduler import cycle
from kubectl_spread.validation import validate

Spent: TypeAlias = Callable[[], bool]
"""Whether the time for the search is over; the engine itself has no clock."""

MOST_SIBLINGS = 100


@dataclass(frozen=True, slots=True)
class Found:
    """A set of changes that works.

    Attributes:
        parts: the changes, in the order they are made.
        after: the Pod and the cluster with all of them made.
        alike: objects for which the same change does the same.
    """

    parts: tuple[Candidate, ...]
    after: Situation
    alike: tuple[str, ...] = ()

    @property
    def cost(self) -> int:
        """What the changes cost together."""
        return sum(part.cost for part in self.parts)


@dataclass(frozen=True, slots=True)
class FixSearch:
    """What the search found.

    Attributes:
        fixes: cheapest first, then those that open more nodes, then by text.
        new_nodes: nodes that would let the Pod in if somebody added them, in the same order.
        complete: whether every change was tried.
    """

    fixes: tuple[Fix, ...]
    new_nodes: tuple[Fix, ...]
    complete: bool


def search_fixes(situation: Situation, siblings: Sequence[Pod], spent: Spent) -> FixSearch:
    """Return every change of DESIGN that lets the Pod in, each tried on the snapshot.

    Args:
        situation: the Pod that finds no node, and the cluster.
        siblings: the Pending Pods of the same workload, this one included.
        spent: whether the time is over.
    """
    if situation.evaluation.feasible or not situation.handle.node_infos:
        return FixSearch((), (), complete=True)
    found, complete = _collect(_singles(situation, spent), spent)
    if not found and complete:
        found, complete = _collect(_pairs(situation, spent), spent)
    added, complete_added = _collect(_tried(nodes.additions(situation), situation, spent), spent)
    return FixSearch(
        fixes=_ordered(found, situation, siblings),
        new_nodes=_ordered(added, situation, siblings),
        complete=complete and complete_added,
    )


def _ordered(found: Iterable[Found], situation: Situation, siblings: Sequence[Pod]) -> tuple[Fix, ...]:
    """Return what was found as the report tells it: cheapest first, then what opens more nodes, then by text."""
    fixes = (_fix(each, situation, siblings) for each in found)
    return tuple(sorted(fixes, key=lambda fix: (fix.cost, -len(fix.feasible), fix.summary)))


def _collect(found: Iterator[Found], spent: Spent) -> tuple[list[Found], bool]:
    """Return what was found, alike changes together, and whether the search came to its end."""
    grouped: dict[tuple[object, ...], list[Found]] = {}
    for number, each in enumerate(found):
        groups = tuple(part.group for part in each.parts)
        key = (*groups, *(part.id for part in each.parts), *_edits(each)) if any(groups) else (number,)
        grouped.setdefault(key, []).append(each)
    merged = [
        Found(first.parts, first.after, tuple(other.parts[-1].name or other.parts[0].name for other in others))
        for first, *others in grouped.values()
    ]
    return merged, not spent()


def _edits(found: Found) -> tuple[str, ...]:
    """Return the changes of the Pod itself among the parts, which tell otherwise alike pairs apart."""
    return tuple(part.summary for part in found.parts if part.edit is not None)


def _singles(situation: Situation, spent: Spent) -> Iterator[Found]:
    """Yield every single change of what there is that works."""
    yield from _tried(_candidates(situation, others=0, moving=True), situation, spent)


def _tried(candidates: Iterable[Candidate], situation: Situation, spent: Spent) -> Iterator[Found]:
    """Yield the changes that work alone."""
    for candidate in candidates:
        if spent():
            return
        after = _try(candidate, situation)
        if after is not None and after.evaluation.feasible and _harmless((candidate,), after):
            yield Found((candidate,), after)


def _pairs(situation: Situation, spent: Spent) -> Iterator[Found]:
    """Yield every two changes that work together, each pair once."""
    seen: set[frozenset[tuple[str, str]]] = set()
    for first in _candidates(situation, others=1, moving=False):
        halfway = _try(first, situation)
        if halfway is None or halfway.evaluation.feasible:
            continue
        for second in _candidates(halfway, others=0, moving=False):
            if spent():
                return
            pair = frozenset(((first.id, first.summary), (second.id, second.summary)))
            if pair in seen or _undoes(first, second):
                continue
            seen.add(pair)
            after = _try(second, halfway)
            if after is not None and after.evaluation.feasible and _harmless((first, second), after):
                yield Found((first, second), after)


def _undoes(first: Candidate, second: Candidate) -> bool:
    """Whether the second change speaks of the same thing as the first, so that both are one change of another value."""
    if first.node is not None or second.node is not None:
        return False
    return first.id == second.id and first.summary.rpartition(" in ")[2] == second.summary.rpartition(" in ")[2]


def _candidates(situation: Situation, *, others: int, moving: bool) -> Iterator[Candidate]:
    """Yield the changes worth trying.

    Args:
        situation: the Pod and the cluster.
        others: how many requirements another change could overcome besides.
        moving: whether Pods may be moved.
    """
    yield from constraints.candidates(situation, others=others)
    yield from nodes.candidates(situation, others=others)
    yield from demands.candidates(situation, others=others)
    if moving:
        yield from moves.candidates(situation)


def _try(candidate: Candidate, situation: Situation) -> Situation | None:
    """Return the situation with the change made; None where it leaves a Pod that the API server would refuse."""
    after, minor = candidate.apply(situation), situation.handle.profile.minor
    if candidate.edit is not None and not set(validate(after.pod, minor=minor)) <= set(
        validate(situation.pod, minor=minor)
    ):
        return None
    return after


def _harmless(parts: Sequence[Candidate], after: Situation) -> bool:
    """Whether no Pod that is moved stays Pending in the end."""
    return all(part.delete is None or moves.leaves_fewer_pending(part.delete, after) for part in parts)


def _fix(found: Found, situation: Situation, siblings: Sequence[Pod]) -> Fix:
    """Return what works, as the report tells it."""
    commands = commands_for(found.parts, situation)
    feasible = found.after.evaluation.feasible
    upcoming = new_revision_pod(found.parts, situation)
    renewed = cycle.evaluate(upcoming, found.after.handle).feasible if upcoming is not None else feasible
    return Fix(
        id="+".join(part.id for part in found.parts),
        summary=" and ".join(part.summary for part in found.parts),
        cost=found.cost,
        feasible=feasible,
        admits=_admitted(found, siblings),
        siblings=len(siblings),
        alike=found.alike,
        changes=_changes(found.parts, situation.pod),
        commands=commands.lines,
        starts=commands.starts,
        new_revision=msgspec.UNSET if set(renewed) == set(feasible) else renewed,
    )


def _changes(parts: Sequence[Candidate], pod: Pod) -> tuple[Change, ...]:
    """Return the changes, those of the Pod as one patch and each made on what the ones before left."""
    changes: list[Change] = []
    for part in parts:
        change = part.change(pod)
        if part.edit is not None:
            pod = edited(pod, part.edit)
        same = next((i for i, other in enumerate(changes) if other.target == change.target and other.json_patch), None)
        if same is None:
            changes.append(change)
        else:
            patch = (*(changes[same].json_patch or ()), *(change.json_patch or ()))
            changes[same] = msgspec.structs.replace(changes[same], json_patch=patch)
    return tuple(changes)


def _admitted(found: Found, siblings: Sequence[Pod]) -> int:
    """Return how many of the siblings find a node with the changes made on each (count)."""
    edits = [part.edit for part in found.parts if part.edit is not None]
    pods = []
    for sibling in siblings[:MOST_SIBLINGS]:
        pod = sibling
        for edit in edits:
            pod = edited(pod, edit)
        pods.append(pod)
    return moves.placed(tuple(pods), found.after.handle)


def siblings_of(pod: Pod, pending: Sequence[Pod], situation: Situation) -> tuple[Pod, ...]:
    """Return the Pending Pods of the same workload, this one first."""
    snapshot = situation.handle.snapshot
    owner = owner_of(pod, snapshot)
    others = (p for p in pending if p.key != pod.key and p.metadata.namespace == pod.metadata.namespace)
    return (pod, *(other for other in others if owner_of(other, snapshot) == owner))

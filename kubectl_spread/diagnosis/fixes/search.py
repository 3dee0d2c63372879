"""The search for fixes: single changes first, pairs if no single change helps and keeps what somebody decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers.next_pod import replacement
from kubectl_spread.controllers.workloads import PodsByOwner, owner_of
from kubectl_spread.diagnosis.findings import RolloutMixesRevisions, Severity
from kubectl_spread.diagnosis.fixes import conclusion, constraints, demands, moves, nodes, strategy
from kubectl_spread.diagnosis.fixes.candidate import (
    Candidate,
    ChangeNode,
    DeletePod,
    EditPod,
    NewNode,
    ReplacePod,
    changes_of,
    edited,
    edited_where_it_fits,
    edits_of,
    new_revision_pod,
    target_of,
)
from kubectl_spread.diagnosis.fixes.change import Change, Disturbance, Override
from kubectl_spread.diagnosis.fixes.choice import offered_first, ranked
from kubectl_spread.diagnosis.fixes.company import Company, Key
from kubectl_spread.diagnosis.fixes.conclusion import Obstructed
from kubectl_spread.diagnosis.fixes.constraints import LowerMinDomains, MakeSoft, RaiseMaxSkew
from kubectl_spread.diagnosis.fixes.moves import RollBack
from kubectl_spread.diagnosis.fixes.proposals import Proposal
from kubectl_spread.diagnosis.fixes.rollout import NOT_FOLLOWED, rollout_end, sample_jams, steps_of
from kubectl_spread.diagnosis.fixes.route import keeps_all_pods, routes_of
from kubectl_spread.diagnosis.fixes.situation import Situation, Spent
from kubectl_spread.diagnosis.fixes.waits import not_offered, removal, waits_of
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.meta import grouped, name_order
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.simulation.placement import count_placed, with_placed
from kubectl_spread.snapshot import Snapshot

MOST_ALIKE = 8  # Changes of one group (count) that are tried and named
MOST_ALIKE_IN_PAIRS = 2  # The same for each half of a pair
MOST_WARNED = 3  # Changes (count) that are reported as helpful but not offered


class Asked(msgspec.Struct, frozen=True):
    """What the search is about."""

    situation: Situation  # the Pod that finds no node
    start: Handle  # the cluster before any eviction, and before any manifest is applied
    siblings: Sequence[Pod]  # the Pending Pods of the workload, this one first
    spent: Spent  # whether the time is over
    company: Company | None = None  # the whole cluster; None if only the workload's own Pods are simulated


class WorkingFix(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A set of changes that lets the Pod in."""

    parts: tuple[Candidate, ...]
    after: Situation  # the situation with them
    siblings: Sequence[Pod]  # the Pending Pods of the workload, this one first
    routes: tuple[conclusion.Route, ...]  # how to make the changes
    # how the rollout ends that this triggers; None if there is none, or it was not followed
    end: conclusion.RolloutEnd | None = None
    errors: tuple[str, ...] = ()  # the ids of the findings that they add and that are errors
    warnings: tuple[str, ...] = ()  # the ids of the others

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the other objects that it changes, and the values that have alternatives."""
        return tuple(part.name for part in self.parts if part.name)

    @property
    def likeness(self) -> Hashable:
        """What alike changes have in common: their kind, and the nodes they open besides the changed ones."""
        opened = frozenset(self.after.feasible).difference(self.names)
        return frozenset(part.likeness for part in self.parts), opened

    @property
    def values(self) -> dict[Hashable, int]:
        """What each part changes → how far it moves that value, 0 if it moves none."""
        return {part.subject or part.proposal: part.amount for part in self.parts}

    @property
    def keeps_decisions(self) -> bool:
        """Whether it sets aside nothing that somebody decided on purpose."""
        return all(map(_keeps_decisions, self.parts))

    @cached_property
    def admits(self) -> int:
        """How many of the Pending Pods it lets in (count)."""
        considered = len(self.siblings[: conclusion.MOST_SIBLINGS])
        if self.end is not None:
            placed = max(len(self.siblings) - self.end.most, 0)
        else:
            placed = 1 + _placed_after(self, self.siblings[1:considered])
        limits = (
            placed if route.effect.lets_in is None else route.effect.lets_in for route in self.routes if route.effect
        )
        return min(placed, considered, max(limits, default=placed))

    def is_exceeded_by(self, other: WorkingFix) -> bool:
        """Whether the other changes the same values, at least one of them further and none less far."""
        mine, theirs = self.values, other.values
        return mine != theirs and mine.keys() == theirs.keys() and all(mine[key] <= theirs[key] for key in mine)

    def does_no_less_than(self, other: WorkingFix) -> bool:
        """Whether its changes are a part of the other's, and let in as many Pods."""
        mine, theirs = ({part.proposal for part in fix.parts} for fix in (self, other))
        return mine < theirs and self.admits >= other.admits


def search_fixes(
    situation: Situation, siblings: Sequence[Pod], spent: Spent, company: Company | None = None
) -> conclusion.FixSearch:
    """Return every change that lets the Pod in, verified by simulation; pairs if no single change does.

    Pairs are also tried if each single change leaves as many Pods waiting, and pairs that keep what somebody decided if
    each overrides it. ``siblings``: the Pending Pods of the workload, this one first. ``company``: the whole cluster,
    in which those that are offered first are simulated.
    """
    if situation.evaluation.feasible or not situation.handle.node_infos:
        return conclusion.NO_FIXES
    if leaves := removal(situation):
        return conclusion.FixSearch(waits=(leaves,))
    written, handle = situation.written, situation.handle
    start = Handle.build(written.before, handle.profile) if written else handle
    asked = Asked(situation, start, siblings, spent, company)
    renewed = _harmless(_working_alone(moves.stale(situation), asked))
    if any(isinstance(part, ReplacePod) and not part.lacks for each in renewed for part in each.parts):
        return _in_company(
            conclusion.FixSearch(fixes=_ranked(renewed[:1], asked), complete=not spent()), renewed, asked
        )
    candidates = (_candidates(situation), moves.candidates(situation))
    singles = [fix for each in candidates for fix in _working_alone(each, asked)]
    working = [*renewed, *_harmless(singles)]
    helping = [each for each in working if each.end is None or each.end.most < len(each.siblings)]
    if not any(each.keeps_decisions for each in helping):
        pairs = _harmless(_working_pairs(asked, keeping=bool(helping)))
        # Leave out pairs that go further than another pair, or than one of their parts alone.
        working += [
            each
            for each in pairs
            if not any(other.is_exceeded_by(each) for other in pairs)
            and not any(alone.does_no_less_than(each) for alone in working)
        ]
    new_nodes = _new_nodes(asked)
    warned = (
        conclusion.WouldWarn(proposals=tuple(part.proposal for part in each.parts), findings=each.errors)
        for each in singles
        if each.errors
    )
    alone = (*not_offered(situation, spent), *islice(warned, MOST_WARNED))
    waits = waits_of(situation, spent)
    if not any(isinstance(each, conclusion.RolloutGoesOn) for each in waits):
        back = _harmless(_working_alone(moves.rollbacks(situation), asked))
        working += (each for each in back if each.end and each.end.most < len(siblings))
        working += filter(None, [_least(strategy.candidates(situation), asked)])
    fixes, complete = _ranked(working, asked), not spent()
    if renewed or any(isinstance(each, conclusion.RolloutGoesOn) and each.replaces for each in waits):
        fixes = tuple(each for each in fixes if any(route.commands or route.paused for route in each.routes))
    found = conclusion.FixSearch(
        fixes=fixes,
        new_nodes=_ranked(new_nodes, asked),
        left_alone=alone,
        waits=waits,
        complete=complete,
    )
    return _in_company(found, (*working, *new_nodes), asked)


def _in_company(found: conclusion.FixSearch, working: Sequence[WorkingFix], asked: Asked) -> conclusion.FixSearch:
    """Return the fixes with what those that are offered first do in the whole cluster; these may be others then."""
    company, situation = asked.company, asked.situation
    own = situation.pod.metadata.namespace, owner_of(situation.pod, situation.handle.snapshot)
    if company is None:
        return found
    waits = [company.awaited(own, wait) for wait in found.waits]
    worth, vain = (tuple(wait for wait in waits if wait.in_vain is each) for each in (False, True))
    found = replace(found, waits=worth, left_alone=(*found.left_alone, *vain))
    if not company.is_small:
        lone = company.others_wait(own)
        return replace(found, fixes=tuple(replace(fix, alone=lone) for fix in found.fixes)) if lone else found
    made = {tuple(part.proposal for part in each.parts): each for each in reversed(working)}
    done: set[tuple[Proposal, ...]] = set()
    while todo := [fix for fix in (*offered_first(found), *found.new_nodes[:1]) if fix.proposals not in done]:
        if asked.spent():
            found = replace(found, complete=False)
            break
        known = {fix.proposals: _with_future(fix, made[fix.proposals], company, own, asked) for fix in todo}
        done |= known.keys()
        fixes, nodes_ = ([known.get(fix.proposals, fix) for fix in each] for each in (found.fixes, found.new_nodes))
        found = replace(found, fixes=ranked(fixes), new_nodes=ranked(nodes_))
    return replace(found, fixes=ranked(found.fixes, final=True))


def _with_future(fix: conclusion.Fix, made: WorkingFix, company: Company, own: Key, asked: Asked) -> conclusion.Fix:
    steps = steps_of(made.parts, made.routes, asked.situation)
    of_nodes = all(isinstance(part, ChangeNode | NewNode) for part in made.parts)
    change = (fix.proposals, made.names, None if of_nodes else asked.situation.pod.key)
    future = company.future(own, change, steps) if steps is not None else None
    if future is None:
        return replace(fix, alone=company.others_wait(own))
    rolls = fix.rollout_end is not None or future.replaced > 0
    return replace(
        fix,
        future=future,
        admits=max(future.admits, 0),
        rollout_end=future.end if rolls else None,
    )


def search_openings(situation: Situation, spent: Spent) -> conclusion.FixSearch:
    """Return the changes after which the Pod goes to its destination, the safest first, and what opens it by itself.

    No change may lower what the constraint of the destination requires. If each sets aside what somebody decided, the
    changes are added after which the constraint no longer counts the destination, else new nodes.
    """
    required, bound_for = _required_at_destination(situation), situation.bound_for
    asked = Asked(situation, bound_for.before if bound_for else situation.handle, (situation.pod,), spent)
    changed = _harmless(_working_alone(_candidates(situation), asked))
    working = [each for each in changed if _required_at_destination(each.after) == required]
    if working and bound_for and bound_for.domains and not any(each.keeps_decisions for each in working):
        anywhere = replace(asked, situation=replace(situation, bound_for=replace(bound_for, domains=None)))
        found = _harmless(_working_alone(constraints.candidates(anywhere.situation, others=0), anywhere))
        working += (
            each
            for each in found
            if each.keeps_decisions and not _counts(bound_for.topology_key, bound_for.domains, each.after)
        )
    if not any(each.keeps_decisions for each in working):
        working += _new_nodes(asked)
    return conclusion.FixSearch(fixes=_ranked(working, asked), waits=waits_of(situation, spent), complete=not spent())


def _new_nodes(asked: Asked) -> list[WorkingFix]:
    """Return the additions of a node that let the Pod in; in another domain than the nodes like it if need be."""
    found = (each(asked.situation) for each in (nodes.additions, nodes.additions_elsewhere))
    return next(filter(None, (_harmless(_working_alone(each, asked)) for each in found)), [])


def _counts(topology_key: str, domains: frozenset[str], situation: Situation) -> bool:
    """Whether a hard constraint on the key counts one of the domains, or there is no such constraint."""
    own = [each for each in situation.counts if each.constraint.topology_key == topology_key]
    return not own or any(domains & each.match_num.keys() for each in own)


def _required_at_destination(situation: Situation) -> list[tuple[int, int]]:
    """Return maxSkew (Pods) and minDomains of the hard constraint on the destination's topology key."""
    key = situation.bound_for and situation.bound_for.topology_key
    constraints = (counts.constraint for counts in situation.counts)
    return [(each.max_skew, each.min_domains) for each in constraints if each.topology_key == key]


def nodes_to_read(situation: Situation, spent: Spent, *, most: int) -> frozenset[str]:
    """Return at most ``most`` nodes whose Pods decide whether a change helps, if not all Pods were read."""
    found = set(demands.nodes_short(situation)[:MOST_ALIKE])
    for candidate in _at_most_of_each((*_candidates(situation), *moves.candidates(situation)), MOST_ALIKE_IN_PAIRS):
        if spent() or len(found) >= most:
            break
        after = _situation_after(candidate, situation)
        found.update(cycle.not_read(after.pod, after.handle, most=MOST_ALIKE) if after else ())
    return frozenset(sorted(found & situation.handle.snapshot.inventory.not_read)[:most])


def siblings_of(pod: Pod, pending: PodsByOwner, snapshot: Snapshot) -> tuple[Pod, ...]:
    """Return the Pending Pods of the workload: this one first, the others by name."""
    own = pending[pod.metadata.namespace, owner_of(pod, snapshot)]
    return (pod, *sorted((other for other in own if other.key != pod.key), key=name_order))


def fix_for(fix: conclusion.Fix, pod: Pod, twin: Pod) -> conclusion.Fix:
    """Return the fix of this Pod for its twin, a Pod that differs only in its name."""
    target, name = target_of(pod), twin.metadata.name
    changes = tuple(
        replace(each, target=replace(target, name=name)) if each.target == target and each.json_patch else each
        for each in fix.changes
    )
    return replace(fix, changes=changes, routes=tuple(_route_for(route, pod, name) for route in fix.routes))


def _route_for(route: conclusion.Route, pod: Pod, name: str) -> conclusion.Route:
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
    """Yield the changes worth trying; ``others``: how many more requirements a second change could overcome.

    Those of nodes come first, as no rollout has to be followed: a search that is cut short has tried them.
    """
    yield from nodes.candidates(situation, others=others)
    yield from constraints.candidates(situation, others=others)
    yield from demands.candidates(situation, others=others)


def _working_alone(candidates: Iterable[Candidate], asked: Asked) -> Iterator[WorkingFix]:
    if asked.spent():  # finding the first candidate takes time too
        return
    for candidate in _at_most_of_each(candidates, MOST_ALIKE):
        if asked.spent():
            return
        after = _situation_after(candidate, asked.situation)
        found = _as_fix((candidate,), after, asked)
        if after and after.feasible and isinstance(candidate.proposal, RaiseMaxSkew):
            found = _raised_further(candidate.proposal, found, asked)
        if found is not None:
            yield found


def _least(candidates: Sequence[Candidate], asked: Asked) -> WorkingFix | None:
    """Return the first of the changes after whose rollout all Pods have a node; each further one does as much."""

    def ends_well(candidate: Candidate) -> WorkingFix | None:
        fix = None if asked.spent() else _as_fix((candidate,), _situation_after(candidate, asked.situation), asked)
        return fix if fix and fix.end and not fix.end.most else None

    best = ends_well(candidates[-1]) if candidates else None
    while best and len(candidates) > 1:
        middle = (len(candidates) - 1) // 2
        better = ends_well(candidates[middle])
        best, candidates = (better, candidates[: middle + 1]) if better else (best, candidates[middle + 1 :])
    return best


def _raised_further(least: RaiseMaxSkew, found: WorkingFix | None, asked: Asked) -> WorkingFix | None:
    """Return the least maxSkew after whose rollout all Pods have a node; ``found``, for the least, if none has."""
    situation = asked.situation
    if found and (found.errors or not (found.end and found.end.most)):
        return found
    counts = next(each for each in situation.counts if each.constraint.topology_key == least.topology_key)
    # In a rollout there are at most twice the Pods of the workload, and a domain may get all of them.
    enough = max(counts.match_num.values(), default=0) + len(situation.running) + len(asked.siblings)
    skews = range(least.max_skew + 1, enough + 1)
    return _least([constraints.raise_max_skew(counts.constraint, skew) for skew in skews], asked) or found


def _keeps_decisions(candidate: Candidate) -> bool:
    return candidate.proposal.overrides is Override.NOTHING


def _working_pairs(asked: Asked, *, keeping: bool) -> Iterator[WorkingFix]:
    """Yield every two changes that let the Pod in together, each pair once; ``keeping``: that keep decisions."""
    seen: set[frozenset[Proposal]] = set()
    wanted, situation = _keeps_decisions if keeping else None, asked.situation
    for first in _at_most_of_each(filter(wanted, _candidates(situation, others=1)), 1):
        halfway = None if asked.spent() else _situation_after(first, situation)
        if halfway is None:
            continue
        seconds = (*_candidates(halfway), *moves.candidates(halfway))
        for second in _at_most_of_each(filter(wanted, seconds), MOST_ALIKE_IN_PAIRS):
            if asked.spent():
                return
            pair = frozenset((first.proposal, second.proposal))
            if pair in seen or first.subject == second.subject != ():
                continue
            seen.add(pair)
            found = _as_fix((first, second), _situation_after(second, halfway), asked)
            if found is not None:
                yield found


def _at_most_of_each(candidates: Iterable[Candidate], most: int) -> Iterator[Candidate]:
    seen: Counter[Hashable] = Counter()
    for candidate in candidates:
        seen[candidate.likeness] += 1
        if seen[candidate.likeness] <= most:
            yield candidate


def _situation_after(candidate: Candidate, situation: Situation) -> Situation | None:
    """Return the situation with the change; None if the API server would refuse the changed Pod."""
    after = candidate.apply(situation)
    return None if isinstance(candidate, EditPod | ReplacePod) and after.errors - situation.errors else after


def _as_fix(parts: tuple[Candidate, ...], after: Situation | None, asked: Asked) -> WorkingFix | None:
    """Return the changes as a fix; None if the Pod has no node then, or if other Pods lose theirs."""
    if after is None or not after.feasible:
        return None
    before, siblings = asked.situation, asked.siblings
    made = [moves.settled(part, after) if isinstance(part, DeletePod) else part for part in parts]
    routes = tuple(routes_of(parts, before, siblings[: conclusion.MOST_SIBLINGS]))
    # A change that the template needs no more does not help: the Pod that replaces this one was tried.
    old = conclusion.Obstacle.TEMPLATE_NEEDS_NONE
    if None in made or any(isinstance(each.effect, Obstructed) and each.effect.why is old for each in routes):
        return None
    brought = sorted({(severity is Severity.ERROR, found) for severity, found, _ in after.warnings - before.warnings})
    errors, warnings = (tuple(found for grave, found in brought if grave is error) for error in (True, False))
    end = None if errors else rollout_end(parts, routes, before, asked.start)
    disturbs = before.written or any(route.disturbs is not Disturbance.NOTHING for route in routes)
    # A change that makes a constraint select its own Pod comes first, whatever its rollout does.
    if disturbs and not any(part.mends for part in parts):
        if end is NOT_FOLLOWED and sample_jams(parts, after, before):
            return None
        if end is not None and not end.worth:
            return None
    return WorkingFix(
        parts=tuple(filter(None, made)),
        after=after,
        siblings=siblings,
        routes=routes,
        end=None if end is NOT_FOLLOWED or before.handle.snapshot.inventory.not_read else end,
        errors=errors,
        warnings=warnings,
    )


def _harmless(found: Iterable[WorkingFix]) -> list[WorkingFix]:
    return [each for each in found if not each.errors]


def _ranked(working: Iterable[WorkingFix], asked: Asked) -> tuple[conclusion.Fix, ...]:
    fixes = [
        _verified_fix(first, tuple(other.names for other in others), asked.situation)
        for first, *others in grouped(working, lambda each: each.likeness).values()
    ]
    return ranked(fixes)


def _verified_fix(fix: WorkingFix, alike: tuple[tuple[str, ...], ...], situation: Situation) -> conclusion.Fix:
    feasible, routes = fix.after.feasible, fix.routes
    upcoming = new_revision_pod(fix.parts, situation)
    renewed = cycle.feasible_nodes(upcoming, fix.after.handle) if upcoming is not None else feasible
    mixes = RolloutMixesRevisions.__name__
    claims = situation.handle.snapshot.claims_of(situation.pod)
    goes_back = isinstance(fix.parts[0].proposal, RollBack)
    one_revision = mixes in fix.warnings and (goes_back or keeps_all_pods(fix.parts, situation))
    weakens = any(isinstance(part.proposal, RaiseMaxSkew | MakeSoft | LowerMinDomains) for part in fix.parts)
    return conclusion.Fix(
        proposals=tuple(part.proposal for part in fix.parts),
        after_deletion=next((part.after for part in fix.parts if isinstance(part, DeletePod)), None),
        mends=any(part.mends for part in fix.parts),
        feasible=feasible,
        admits=fix.admits,
        siblings=len(fix.siblings[: conclusion.MOST_SIBLINGS]),
        alike=alike,
        changes=merge_changes(fix.parts, situation.pod),
        routes=routes,
        new_revision=None if set(renewed) == set(feasible) else renewed,
        rollout_end=fix.end,
        on_read_pods=bool(situation.handle.snapshot.inventory.not_read),
        for_good=weakens and any(claim and not claim.spec.volume_name for claim in claims),
        warnings=tuple(each for each in fix.warnings if not (one_revision and each == mixes)),
    )


def _placed_after(found: WorkingFix, siblings: Sequence[Pod]) -> int:
    """Return how many siblings find a node once the Pod has its own, all of them changed (count)."""
    if not siblings:
        return 0
    after, edits = found.after, edits_of(found.parts)
    handle = with_placed(after.pod, after.feasible[0], after.handle)
    for part in found.parts:
        if isinstance(part, ReplacePod):
            plain = bool(part.lacks)
            by = part.released
            again = (replacement(each, handle.snapshot, handle.profile, plain=plain, by=by).pod for each in siblings)
            return count_placed(again, handle)
    # No scheduler tries a Pod with a gate that this one does not have.
    tried = (each for each in siblings if set(each.spec.gates) <= set(after.pod.spec.gates))
    return count_placed((edited_where_it_fits(each, edits) for each in tried), handle)


def merge_changes(parts: Sequence[Candidate], pod: Pod) -> tuple[Change, ...]:
    """Return the changes; those of one object are one patch, each made on the result of those before it."""
    changes: list[Change] = []
    for part, change in ((each, change) for each in parts for change in changes_of(each, pod)):
        if isinstance(part, EditPod):
            pod = edited(pod, [part.edit])
        same = next((i for i, other in enumerate(changes) if other.target == change.target and other.json_patch), None)
        if same is None:
            changes.append(change)
        else:
            patch = (*(changes[same].json_patch or ()), *(change.json_patch or ()))
            changes[same] = replace(changes[same], json_patch=patch)
    return tuple(changes)

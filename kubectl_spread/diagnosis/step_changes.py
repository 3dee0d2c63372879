"""What a simulation changes: how Pods are spread before and after each step, which are Pending, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from math import inf
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.apiserver.eviction import budgets_of
from kubectl_spread.controllers.next_pod import is_of_newest_revision
from kubectl_spread.controllers.replicaset import active
from kubectl_spread.controllers.templates import REVISION_LABELS
from kubectl_spread.controllers.workloads import WorkloadRef, owner_of, revision_of, wanted_by
from kubectl_spread.diagnosis import skew
from kubectl_spread.diagnosis.constraint_state import ChangedConstraint, ConstraintState, SimulatedItem
from kubectl_spread.diagnosis.counted_together import spread_together
from kubectl_spread.diagnosis.evaluation import Conclusion, Decision, decide, judge
from kubectl_spread.diagnosis.fixes.future import WorseConstraint
from kubectl_spread.diagnosis.observer import Key, Observation, states_of
from kubectl_spread.diagnosis.statuses import SEVERE, SpreadStatus
from kubectl_spread.gaps import Gap, MayBreakQuota
from kubectl_spread.manifest_problem import ManifestProblem
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import POD_DISRUPTION_BUDGET
from kubectl_spread.objects.meta import ControllerKey, grouped
from kubectl_spread.objects.storage import PersistentVolume
from kubectl_spread.objects.workloads import ON_DELETE, DaemonSet, StatefulSet
from kubectl_spread.rebalance.plan import UpgradedPods, upgraded_pods
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import Constraint, WhenUnsatisfiable
from kubectl_spread.scheduler.volumezone import volume_topologies
from kubectl_spread.simulation.outcomes import After, StepOutcomes
from kubectl_spread.simulation.steps import Blocked, BoundByName, Done, NotReplaced, Step, StepNote, Verb
from kubectl_spread.snapshot import PodKey, Snapshot

if TYPE_CHECKING:  # Most clusters have no autoscaler.
    from kubectl_spread.diagnosis.autoscaler_answer import AutoscalerAnswer


class CreateRefused(msgspec.Struct, frozen=True):
    """The API server refuses the Pods of an object, with this message.

    ``before``: it also did so without the step. ``by_chance``: it does so in some orders only.
    """

    key: Key
    message: str
    before: bool = False
    by_chance: bool = False


class MixedRevisions(msgspec.Struct, frozen=True):
    """A rollout may end above maxSkew: Pods of the old revision count until they are gone.

    ``label``: the label with the revision, for matchLabelKeys; empty where that would no longer count other workloads
    that count this one.
    """

    key: Key
    topology_key: str
    label: str


class RolloutEnds(msgspec.Struct, frozen=True):
    """A rollout that was stuck ends."""

    key: Key


class ReplacedByHand(msgspec.Struct, frozen=True):
    """With OnDelete, a new template changes no Pod until somebody deletes it."""

    key: Key


class WasChanging(msgspec.Struct, frozen=True):
    """The Pods of the workload were still changing: the spread changes without the step too.

    ``rolls``: whether a rollout was in progress. ``same``: whether it ends the same without the step.
    """

    key: Key
    rolls: bool
    same: bool


class WorkloadPods(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Some Pods of a workload."""

    namespace: str
    workload: WorkloadRef
    count: int  # how many


class BlockedByChance(msgspec.Struct, frozen=True):
    """In other orders these Pods are not evicted either: the first, and namespace and name of each."""

    first: Blocked
    pods: tuple[tuple[str, str], ...]


class PreemptedByChance(msgspec.Struct, frozen=True):
    """In other orders these Pods are preempted, by namespace and name."""

    pods: tuple[tuple[str, str], ...]


class OneOrder(msgspec.Struct, frozen=True):
    """Something is left to chance, and the cluster is too large to try more than the order of names."""


class SomeScored(msgspec.Struct, frozen=True):
    """The scheduler scores only some of the nodes; this was tried in several orders (count)."""

    orders: int


class Unsettled(msgspec.Struct, frozen=True):
    """Controllers and scheduler would never stop changing the cluster."""


OutcomeNote: TypeAlias = (
    CreateRefused
    | MixedRevisions
    | RolloutEnds
    | ReplacedByHand
    | UpgradedPods
    | WasChanging
    | BlockedByChance
    | PreemptedByChance
    | OneOrder
    | SomeScored
    | Unsettled
)


class WaitingReason(msgspec.Struct, frozen=True):
    """Why Pending Pods of a workload wait."""

    conclusion: Conclusion  # what leaves them no node
    number: int  # how many wait for it (count)
    old: bool | None = None  # whether they are of an older revision; None if all that wait are of one
    # the scheduling gates that hold them back, and ``pod`` the first of them; empty for none
    gates: tuple[str, ...] = ()
    pod: str = ""


class PendingPods(msgspec.Struct, frozen=True, kw_only=True):
    """The Pending Pods of a workload."""

    namespace: str
    workload: WorkloadRef
    count: int  # how many, in the reported outcome
    before: int = 0  # how many would be Pending without the step; the most in any order
    range: tuple[int, int]  # the fewest and the most seen in any order
    message: str = ""  # the scheduler's message; empty if none is Pending in this outcome
    reasons: tuple[WaitingReason, ...] = ()  # why they wait; empty if none is Pending in this outcome
    incomplete: tuple[Gap, ...] = ()  # what that could not take into account
    judged: tuple[tuple[Pod, Handle], ...] = ()  # the first Pod of each reason and revision, and the cluster then
    # what the cluster's autoscaler decides about the first one; absent if that was not asked
    autoscaler: AutoscalerAnswer | UnsetType = UNSET

    @property
    def new(self) -> tuple[int, int]:
        """The fewest and the most of them that are not Pending without the step (count)."""
        return max(self.range[0] - self.before, 0), max(self.range[1] - self.before, 0)


class EvictedPod(msgspec.Struct, frozen=True, kw_only=True):
    """A Pod that was evicted or deleted, its workload, and its node; empty for none."""

    namespace: str
    workload: WorkloadRef
    pod: str
    node: str


class StepVerdict(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Whether a step is safe: nothing that it moves or creates is left without a node, and no constraint is broken."""

    kind: Verb  # what the step does
    # whether, in every order, no more Pods of a workload are Pending, refused or blocked than without the step, no
    # controller waits to create Pods, and no hard constraint is newly violated; absent if that is not known
    safe: bool | UnsetType = UNSET
    evicted: int = 0  # the Pods that it evicts or deletes (count)
    created: int = 0  # the Pods that controllers create, for these or otherwise, in the first order (count)
    created_pending: int = 0  # how many of these are Pending (count)
    # the fewest and the most Pods that are Pending in any order, and not without the step (count)
    without_node: tuple[int, int] = (0, 0)
    # the fewest and the most Pods of the cluster that are Pending in an order, and were without the step (count)
    pending_before: tuple[int, int] = (0, 0)
    as_before: tuple[WorkloadPods, ...] = ()  # these, by workload; the most in any order
    # the workloads of several Pods that it takes all at once; a PodDisruptionBudget would take turns
    emptied: tuple[WorkloadPods, ...] = ()
    # the workloads with fewer running Pods, whose controller creates none before those that stay Terminating end; the
    # Pods that they lack, and not without the step (count). A StatefulSet's Pods that are not replaced are apart
    held_up: tuple[WorkloadPods, ...] = ()
    violated: tuple[WorseConstraint, ...] = ()  # the hard constraints that it breaks


class SimulatedStep(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one step."""

    step: Step
    verdict: StepVerdict  # whether it is safe, in numbers
    # why the API server or kubectl refuses manifests; absent if all are applied
    refused: tuple[ManifestProblem, ...] | UnsetType = UNSET
    evicted: tuple[EvictedPod, ...] = ()  # the Pods that the step removes; their owners create others
    blocked: tuple[Blocked, ...] = ()  # the Pods that it should remove but does not
    lost: tuple[EvictedPod, ...] = ()  # the Pods that it removes and that nothing recreates
    preempted: tuple[EvictedPod, ...] = ()  # the Pods that the scheduler evicts for new ones
    pdb_violations: int | UnsetType = UNSET  # how many of these a PodDisruptionBudget protects; absent if none
    deleted: tuple[WorkloadPods, ...] = ()  # the workloads that have fewer Pods after an apply or a scaling
    # the Pending Pods after it; of workloads that are not in question, only if more are Pending than without any step
    pending: tuple[PendingPods, ...] = ()
    # whether more Pods of some workload are Pending or refused than without the step. Pending Pods count only if the
    # rules of their scheduler are known
    newly_pending: bool = False
    # whether a hard constraint is violated that without the step is not, and keeps no Pod Pending
    newly_violated: bool = False
    never_run: int | UnsetType = UNSET  # how many new Pods name a node that does not exist; absent if none does
    # how many Pending Pods were not tried on any node, because too many had been tried before; absent if all were
    # tried
    untried: int | UnsetType = UNSET
    # whose Pods the API server refuses only in some orders, where it refuses none in others
    may_be_refused: tuple[MayBreakQuota, ...] = ()
    items: tuple[SimulatedItem, ...] = ()  # the constraints, changed or not
    orders: int = 1  # in how many orders chance was tried
    done: tuple[StepNote, ...] = ()  # what else the step reports
    of_manifests: tuple[str, ...] = ()  # what else is to be said of the manifests that it applies
    outcome: tuple[OutcomeNote, ...] = ()  # what else matters

    @property
    def not_replaced(self) -> int:
        """How many Pods stay Terminating on nodes that do not answer, and are not replaced before."""
        return sum(len(note.pods) for note in self.done if isinstance(note, NotReplaced))

    def concluded(self, *, known: bool) -> SimulatedStep:
        """Return the step with its verdict; ``known``: whether everything was read that may decide it."""
        new = [pending for pending in self.pending if pending.new[1]]
        # Pods that were not tried, or not fully, may find nodes.
        undecided = self.untried is not UNSET or (bool(new) and all(pending.incomplete for pending in new))
        stays = self.blocked or self.not_replaced or self.verdict.held_up
        worse = stays or self.never_run or self.refused or self.newly_violated
        seen = {status for item in self.items if item.changed for status in item.status_range}
        known = known and SpreadStatus.INCOMPLETE not in seen and not any(each.incomplete for each in self.pending)
        safe: bool | UnsetType = True if known else UNSET
        safe = False if worse or (self.newly_pending and not undecided) else safe
        return replace(self, verdict=replace(self.verdict, safe=safe))


def step_changes(steps: Sequence[Step], outcomes: StepOutcomes[Observation]) -> Iterator[SimulatedStep]:
    """Yield what each step changes."""
    start = before = _State(lambda: [outcomes.before])
    alone = without = _State(outcomes.left_alone, start, start)
    ended: Sequence[After[Observation]] = ()
    for number, step in enumerate(steps):
        earlier, ended = ended, outcomes.after(number)
        after = _State(partial(lambda orders: [each.seen for each in orders], ended), start, before)
        yield _Change(step, before, after, alone, without).simulated(ended, earlier)
        before = without = after


class _State:
    """The cluster at one time, in each order, with the status of each constraint in the first order.

    ``end`` returns what is seen of it. It is called for the end without any step if Pods are Pending or refused after a
    step, if a constraint is violated, or if Pods were still changing. ``earlier``: the state that it comes from.
    """

    def __init__(
        self, end: Callable[[], Sequence[Observation]], start: _State | None = None, earlier: _State | None = None
    ) -> None:
        self._end, self._start, self._earlier = end, start, earlier
        self._decisions: dict[tuple[str, str], Decision] = {}

    @cached_property
    def orders(self) -> Sequence[Observation]:
        return self._end()

    @property
    def first(self) -> Observation:
        return self.orders[0]

    @cached_property
    def statuses(self) -> Statuses:
        """The statuses now: those of before for workloads that have not changed."""
        if self._earlier is None or self._start is None:
            return self._computed(frozenset())
        before, were = self._earlier.first, self._earlier.statuses
        same = frozenset(_unchanged_workloads(before, self.first, were))
        found = {key: status for key, status in were.items() if key[:2] in same} | self._computed(same)
        return found | dict.fromkeys(_uncertain(found, were, self._start.first, self.first), SpreadStatus.INCOMPLETE)

    def _computed(self, known: frozenset[Key]) -> dict[StatusKey, SpreadStatus]:
        seen, found = self.first, dict[StatusKey, SpreadStatus]()
        for key, revisions in seen.revisions.items():
            states = revisions[seen.newest(key)].states
            if states and key not in known:
                rows = skew.rows(
                    seen.workload(key),
                    seen.handles.of(seen.upcoming[key].pod),
                    defaults=seen.defaults,
                    detail=skew.Detail.BRIEF,
                    upcoming=seen.upcoming[key],
                    states=states,
                    decide_on=self._decided,
                )
                for row in rows:
                    # The newest stands for all that are counted alike, also if a Pod of an older one waits.
                    revision = seen.newest(key) if row.judged.revision.newest else row.revision
                    found.setdefault((*key, revision, row.state.constraint.index), row.current)
        return found

    def _decided(self, pod: Pod, handle: Handle) -> Decision:
        """Return the decision about a Pending Pod, which is made once."""
        if pod.key not in self._decisions:
            self._decisions[pod.key] = decide(pod, handle)
        return self._decisions[pod.key]

    def judged(self, pod: Pod) -> Decision:
        """Return the decision with the diagnosis, also if a node takes the Pod."""
        known = self._decisions.get(pod.key)
        return known if known and known.blame else judge(pod, self.first.handles.of(pod))

    def pending(self, key: Key) -> tuple[int, int]:
        """Return the fewest and the most Pods of a workload that are Pending in any order (counts)."""
        numbers = [len(each.pending.get(key, ())) for each in self.orders]
        return min(numbers), max(numbers)

    def ends(self, key: Key, pod: Pod, index: int) -> Sequence[ConstraintState]:
        """Return the state of a constraint of this Pod, in each order."""
        found = (state for each in self.orders for state in states_of(key, pod, each.handles))
        return [each for each in found if each.constraint.index == index]

    def refused(self, key: Key) -> float:
        """Return how many Pods of a workload are missing if some are refused (count); else minus infinity."""
        refused = {_workload_of(each, self.first.snapshot) for each, message in self.first.refused.items() if message}
        return _missing_pods(key, self.first) if key in refused else -inf

    def is_broken(self, item: SimulatedItem) -> bool:
        """Whether in any order a hard constraint is violated, or its workload has Pending Pods that find no node."""
        return any(self._is_broken(item, end) for end in self.orders)

    def _is_broken(self, item: SimulatedItem, end: Observation) -> bool:
        key = item.namespace, item.workload
        if key not in end.upcoming:
            return False
        revision = item.revision if end.counted(key, item.revision) else end.newest(key)
        for state in end.revisions[key][revision].states:
            constraint = state.constraint
            if constraint.hard and constraint.topology_key == item.constraint.topology_key:
                status = self.statuses.get((*key, revision, constraint.index))
                return state.uneven or (key in end.pending and status in SEVERE)
        return False


WORST_FIRST = tuple(SpreadStatus)
IN_TROUBLE = frozenset((SpreadStatus.BLOCKED, SpreadStatus.FAILED_CREATE, SpreadStatus.UNSCHEDULABLE))


class _Change:
    """A step with the states before and after it, ``alone`` without any step, and ``without`` this one."""

    def __init__(self, step: Step, before: _State, after: _State, alone: _State, without: _State) -> None:
        self._step = step
        self._before, self._after, self._alone, self._without = before, after, alone, without
        self._was, self._now = before.first, after.first

    def simulated(self, ended: Sequence[After[Observation]], earlier: Sequence[After[Observation]]) -> SimulatedStep:
        """Return what it changes; ``ended``: what it did in each order, ``earlier``: what the step before it did."""
        before, now, done, refused = self._was, self._now, ended[0].done, dict(self._refused_controllers())
        new = {key: note for key, note in refused.items() if not note.before}
        some_in_each = bool(new) and all(any(map(each.refused.get, new)) for each in self._after.orders)
        items, pending = tuple(self._items()), tuple(self._pending_pods())
        verdict = self._verdict(done, pending, items)
        by_chance = () if some_in_each else [("/".join(map(str, it.key)), it.message) for it in new.values()]
        absent = sum(note.number for note in done.notes if isinstance(note, BoundByName) and note.absent)
        return SimulatedStep(
            step=self._step,
            verdict=verdict,
            evicted=_evicted_pods(done.evicted, before.snapshot),
            blocked=done.blocked,
            lost=_evicted_pods(done.lost, before.snapshot),
            preempted=_evicted_pods(now.preempted[len(before.preempted) :], before.snapshot),
            pdb_violations=now.pdb_violations - before.pdb_violations or UNSET,
            deleted=tuple(self._deleted(done)),
            pending=pending,
            newly_pending=self._more_are_pending() or some_in_each,
            newly_violated=bool(verdict.violated),
            never_run=absent or UNSET,
            untried=max(each.done.untried for each in ended) or UNSET,
            may_be_refused=tuple(MayBreakQuota(workload=whose, why=why, by_chance=True) for whose, why in by_chance),
            items=items,
            orders=len(ended),
            done=done.notes,
            outcome=(
                *dict.fromkeys(note for note in refused.values() if note.before or some_in_each),
                *upgraded_pods(done.evicted, before.snapshot),
                *self._rollouts(),
                *self._mixed_revisions(items),
                *(self._was_changing(items) if self._without is self._alone else ()),
                *_chance_notes(ended, earlier),
            ),
        )

    def _verdict(self, done: Done, pending: Sequence[PendingPods], items: Iterable[SimulatedItem]) -> StepVerdict:
        """Return the verdict without whether it is safe."""
        kept = {each.pod.key for each in done.blocked}
        evicted = [pod.key for pod in done.evicted if pod.key not in kept]
        were = {pod.key: pod.metadata.uid for pods in self._was.living.values() for pod in pods}
        gone = {*evicted, *(pod.key for pod in (*done.lost, *self._now.preempted))}
        are = [pod for pods in self._now.living.values() for pod in active(pods)]
        created = [pod for pod in are if pod.key in gone or were.get(pod.key) != pod.metadata.uid]
        return StepVerdict(
            kind=self._step.verb,
            evicted=len(evicted),
            created=len(created),
            created_pending=sum(pod.waits for pod in created),
            without_node=(sum(each.new[0] for each in pending), sum(each.new[1] for each in pending)),
            pending_before=self._still_pending(),
            as_before=tuple(self._as_before()),
            emptied=tuple(self._emptied(frozenset((*evicted, *(pod.key for pod in done.lost))))),
            held_up=tuple(self._held_up(done)),
            violated=tuple(
                WorseConstraint(
                    namespace=item.namespace,
                    workload=item.workload,
                    topology_key=item.constraint.topology_key,
                    skew=item.skew_after[1],
                    max_skew=item.constraint.max_skew,
                )
                for item in items
                if self._is_newly_violated(item)
            ),
        )

    def _still_pending(self) -> tuple[int, int]:
        """Return the fewest and the most Pods that are Pending in an order as they were without the step (counts)."""
        found = list[int]()
        for number, end in enumerate(self._after.orders):
            as_before = sum(min(len(pods), self._without.pending(key)[1]) for key, pods in end.pending.items())
            if as_before:  # Chance may have left others without a node.
                earlier = self._without.orders
                as_before = min(as_before, sum(map(len, earlier[number % len(earlier)].pending.values())))
            found.append(as_before)
        return min(found), max(found)

    def _as_before(self) -> Iterator[WorkloadPods]:
        for key in sorted(
            {key for end in self._after.orders for key in end.pending}, key=lambda key: (key[0], str(key[1]))
        ):
            if count := min(self._after.pending(key)[1], self._without.pending(key)[1]):
                yield WorkloadPods(namespace=key[0], workload=key[1], count=count)

    def _emptied(self, gone: Collection[PodKey]) -> Iterator[WorkloadPods]:
        snapshot, at_once = self._was.snapshot, self._step.verb is not Verb.DRAIN
        if not at_once and snapshot.inventory.lacks(POD_DISRUPTION_BUDGET):
            return
        for key, pods in self._was.living.items():
            ran = [pod for pod in pods if pod.at_work]
            emptied = len(ran) > 1 and all(pod.key in gone for pod in ran)
            if emptied and (at_once or not any(budgets_of(pod, snapshot) for pod in ran)):
                yield WorkloadPods(namespace=key[0], workload=key[1], count=len(ran))

    def _held_up(self, done: Done) -> Iterator[WorkloadPods]:
        apart = {(note.pods[0][0], note.ref) for note in done.notes if isinstance(note, NotReplaced)}
        apart |= {_workload_of(each, self._now.snapshot) for each, why in self._now.refused.items() if why}
        for key, pods in self._now.living.items():
            lacks = _missing_pods(key, self._now) if any(pod.terminating for pod in pods) else 0
            if lacks > 0 and key not in apart:
                ran, run = (sum(pod.at_work for pod in seen.living.get(key, ())) for seen in (self._was, self._now))
                lacks = min(lacks - max(_missing_pods(key, self._without.first), 0), ran - run)
                if lacks > 0:
                    yield WorkloadPods(namespace=key[0], workload=key[1], count=lacks)

    def _refused_controllers(self) -> Iterator[tuple[ControllerKey, CreateRefused]]:
        """Yield the controllers whose Pods the API server refuses now, unless that was said before, of as many Pods."""
        refused = [item for each in self._after.orders for item in each.refused.items() if item[1]]
        for key, message in (dict(refused) | dict(refused[::-1])).items():
            workload = _workload_of(key, self._now.snapshot)
            as_before = _missing_pods(workload, self._now) <= self._without.refused(workload)
            if not (as_before and self._was.refused.get(key) == message):
                by_chance = not all(each.refused.get(key) for each in self._after.orders)
                yield key, CreateRefused(workload, message, as_before, by_chance)

    def _rollouts(self) -> Iterator[RolloutEnds | ReplacedByHand]:
        """Yield the rollouts that only the step ends, and those that replace no Pod."""
        before, now, end = self._was, self._now, self._without
        for key in filter(before.upcoming.__contains__, now.upcoming):
            owner = now.owner(key)
            if before.rolls(key) and not now.rolls(key) and key in end.first.upcoming and end.first.rolls(key):
                yield RolloutEnds(key)
            if isinstance(owner, StatefulSet | DaemonSet) and owner.spec.update_strategy.type == ON_DELETE:
                restarted = self._step.verb is Verb.RESTART and key == (self._step.namespace, self._step.ref)
                if now.living[key] and (restarted or now.newest(key) != before.newest(key)):
                    yield ReplacedByHand(key)

    def _mixed_revisions(self, items: Sequence[SimulatedItem]) -> Iterator[MixedRevisions]:
        """Yield the constraints that a rollout may break because they count the Pods of the old revision too.

        Pods of the new revision, counted alone, are each placed within maxSkew, and the minimum never falls.
        """
        before, now = self._was, self._now
        for item in items:
            key = item.namespace, item.workload
            if item.revision not in {"", now.newest(key)}:
                continue
            pod, was, index = now.upcoming[key].pod, before.upcoming.get(key), item.constraint.index
            labels = [label for label in REVISION_LABELS if label in pod.metadata.labels]
            state = next(each for each in now.revisions[key][now.newest(key)].states if each.constraint.index == index)
            if item.status_range[1] is not SpreadStatus.VIOLATED or not (labels and was and state.counts.self_match):
                continue
            if all(revision_of(each) != revision_of(pod) for each in now.living[key]):
                continue
            if state.constraint.default or revision_of(pod) == revision_of(was.pod):
                continue
            if labels[0] not in pod.spec.topology_spread_constraints[index].match_label_keys:
                together = spread_together(pod, state.constraint, now.handles.of(pod))
                yield MixedRevisions(key, item.constraint.topology_key, "" if together else labels[0])

    def _deleted(self, done: Done) -> Iterator[WorkloadPods]:
        """Yield the workloads that an apply or a scaling leaves fewer Pods, as far as nothing else explains it.

        Who has adopted a Pod before it ended has one Pod fewer. Of a namespace with refused Pods nothing is said.
        """
        if self._step.verb not in {Verb.APPLY, Verb.SCALE}:
            return
        before, now = self._was, self._now
        were, are = (
            {pod.key: key for key, pods in seen.living.items() for pod in active(pods)} for seen in (before, now)
        )
        stays = {pod.key for pod in (*done.evicted, *done.lost, *now.preempted)} | are.keys()
        last = {pod.key: pod for pod in reversed(now.touched)}
        ended = (last[pod] for pod in were if pod in last and pod not in stays)
        gone = Counter((pod.metadata.namespace, owner_of(pod, now.snapshot)) for pod in ended)
        came = Counter(key for pod, key in are.items() if pod not in were)
        refused = {key[0] for key, message in now.refused.items() if message}
        for key, number in sorted(gone.items(), key=lambda item: (item[0][0], str(item[0][1]))):
            if (
                number > came[key]
                and key[0] not in refused
                and (fewer := number - came[key] - self._gone_anyway(key)) > 0
            ):
                yield WorkloadPods(namespace=key[0], workload=key[1], count=fewer)

    def _gone_anyway(self, key: Key) -> int:
        """Return how many Pods fewer a workload that is changing would have, or wants in the end (count)."""
        before = self._was
        if key not in before.upcoming or not before.is_changing(key):
            return 0
        there, left = len(active(before.living[key])), len(active(self._without.first.living.get(key, ())))
        wanted = wanted_by(before.owner(key), there)
        return there - min(left, there if wanted is None else wanted, there)

    def _was_changing(self, items: Sequence[SimulatedItem]) -> Iterator[WasChanging]:
        """Yield the workloads that were changing before the first step, and whether that ends the same without it."""
        before, orders, alone = self._was, self._after.orders, self._alone
        changed = grouped((item for item in items if item.changed), lambda item: (item.namespace, item.workload))
        for key, rows in changed.items():
            if key not in before.upcoming or not before.is_changing(key):
                continue
            were = (before.counted(key, item.revision or orders[0].newest(key)) for item in rows)
            found = zip(rows, were, strict=True)
            ends = [(item, alone.ends(key, was.pod, item.constraint.index)) for item, was in found if was]
            if any(each.matching != item.before for item, states in ends for each in states):
                same = all(_ranges(states) == item.ranges for item, states in ends if states)
                same = same and alone.pending(key) == self._after.pending(key)
                yield WasChanging(key, before.rolls(key), same)

    def _pending_pods(self) -> Iterator[PendingPods]:
        """Yield the Pending Pods after the step, with their number in each order.

        A workload that is not in question is reported if more of its Pods are Pending than if all were left ``alone``.
        """
        seen, after = self._now, self._after
        for key in sorted(
            {key for each in after.orders for key in each.pending}, key=lambda key: (key[0], str(key[1]))
        ):
            fewest, most = after.pending(key)
            if key in seen.asked or most > min(each.pending(key)[1] for each in (self._alone, self._without)):
                waiting = seen.pending.get(key, ())
                alike = grouped(waiting, lambda pod: (revision_of(pod), _reach_of_volumes(pod, seen.snapshot)))
                decided = [(pods, after.judged(pods[0])) for pods in alike.values()]
                reasons = dict(_reasons(decided, seen.snapshot))
                yield PendingPods(
                    namespace=key[0],
                    workload=key[1],
                    count=len(waiting),
                    before=self._without.pending(key)[1],
                    range=(fewest, most),
                    message=next((decision.message or "" for decision in reasons.values()), ""),
                    reasons=tuple(reasons),
                    incomplete=tuple(dict.fromkeys(gap for decision in reasons.values() for gap in decision.gaps)),
                    judged=tuple((pods[0], decision.handle) for pods, decision in decided),
                )

    def _more_are_pending(self) -> bool:
        """Whether more Pods of a workload are Pending than without the step, for a scheduler with known rules."""
        return any(
            each.handles.of(pods[0]).profile.serves(pods[0]) and len(pods) > self._without.pending(key)[1]
            for each in self._after.orders
            for key, pods in each.pending.items()
        )

    def _is_newly_violated(self, item: SimulatedItem) -> bool:
        """Whether a hard constraint is violated in any order, and would be broken in none without the step.

        A violation by Pods that no scheduler places is not certain.
        """
        limit = item.constraint.max_skew
        if item.constraint.when_unsatisfiable != WhenUnsatisfiable.DO_NOT_SCHEDULE or item.skew_after[1] <= limit:
            return False
        return item.status_range[1] is not SpreadStatus.INCOMPLETE and not self._without.is_broken(item)

    def _statuses_before(self) -> Statuses:
        """Return the statuses before; those of now, where as many Pods would be Pending without the step."""
        then, end = self._after.statuses, self._without.first.pending
        would_be = {
            key
            for key, pods in self._now.pending.items()
            if len(self._was.pending.get(key, ())) < len(pods) <= len(end.get(key, ()))
        }
        return {key: then.get(key, was) if key[:2] in would_be else was for key, was in self._before.statuses.items()}

    def _items(self) -> Iterator[SimulatedItem]:
        before, first, were, then = self._was, self._now, self._statuses_before(), self._after.statuses
        for key, revision, earlier in _revisions_compared(before, first):
            orders = [each.revisions[key][revision].states for each in self._after.orders]
            several = any(len(each.revisions.get(key, ())) > 1 for each in (first, before))
            counted = before.counted(key, earlier)
            known, row = counted and counted.states, earlier
            if created := counted is None and key in before.revisions:
                known = states_of(key, first.revisions[key][revision].pod, before.handles)
                if any(revision_of(pod) == revision for pod in before.living[key]):
                    created, row = False, before.newest(key)  # It was counted as the newest was, in one row.
            for now in orders[0]:
                index, was = now.constraint.index, _state_before(now.constraint, known or ())
                others = [each for states in orders for each in states if each.constraint.index == index]
                status = then.get((*key, revision, index), SpreadStatus.OK)
                seen_statuses = sorted((_status_for_counts(status, each) for each in others), key=WORST_FIRST.index)
                if status is SpreadStatus.INCOMPLETE and now.constraint.hard and now.uneven:
                    seen_statuses = [status]  # A violation that is not certain.
                yield SimulatedItem(
                    namespace=key[0],
                    workload=key[1],
                    revision=revision if several else "",
                    old=several and revision != first.newest(key),
                    constraint=ChangedConstraint.of(now.constraint),
                    before=dict(sorted(was.matching.items())) if was else {},
                    after=dict(sorted(now.matching.items())),
                    ranges=_ranges(others),
                    skew_before=was.skew if was else 0,
                    skew_after=(min(each.skew for each in others), max(each.skew for each in others)),
                    status_before=were.get((*key, row, was.constraint.index), None if created else SpreadStatus.OK)
                    if was
                    else None,
                    status_after=status,
                    status_range=(seen_statuses[-1], seen_statuses[0]),
                )


def _workload_of(key: ControllerKey, snapshot: Snapshot) -> Key:
    owner = snapshot.workload(*key)
    return key[0], owner_of(owner, snapshot) if owner else WorkloadRef(kind=key[1], name=key[2])


def _missing_pods(key: Key, seen: Observation) -> int:
    """Return how many Pods a workload lacks (count); if it wants no fixed number, minus the number it has."""
    return getattr(getattr(seen.owner(key), "spec", None), "replicas_wanted", 0) - len(active(seen.living.get(key, ())))


def _chance_notes(after: Sequence[After[Observation]], earlier: Sequence[After[Observation]]) -> Iterator[OutcomeNote]:
    first = after[0]
    reported = {each.pod.key for each in first.done.blocked}
    others = {each.pod.key: each for order in after for each in order.done.blocked if each.pod.key not in reported}
    if others:
        yield BlockedByChance(others[min(others)], tuple(sorted(others)))
    were = [each.seen.preempted for each in earlier] or [()] * len(after)
    spared = earlier[0].seen.spared if earlier else ()
    evicted, *otherwise = (
        {pod.key for pod in each.seen.preempted[len(before) :]} for each, before in zip(after, were, strict=True)
    )
    equal = {pod.key for pod in first.seen.spared[len(spared) :]}
    if instead := sorted(equal.union(*otherwise) - evicted):
        yield PreemptedByChance(tuple(instead))
    if any(each.seen.sampled for each in after):
        yield SomeScored(len(after))
    elif first.seen.free and len(after) == 1:
        yield OneOrder()
    if not all(each.done.settled for each in after):
        yield Unsettled()


StatusKey: TypeAlias = tuple[str, WorkloadRef, str, int]  # Namespace, workload, revision and index of a constraint
Statuses: TypeAlias = Mapping[StatusKey, SpreadStatus]


def _unchanged_workloads(before: Observation, now: Observation, were: Statuses) -> Iterator[Key]:
    """Yield the workloads with the status of before: the same counts, none Pending, and a node takes the next Pod."""
    in_trouble = {key[:2] for key, status in were.items() if status in IN_TROUBLE} | before.pending.keys()
    in_trouble |= now.pending.keys()
    for key, upcoming in now.upcoming.items():
        counted_alike = key not in in_trouble and before.revisions.get(key) == now.revisions[key]
        same_owner = before.owner(key) is now.owner(key)  # A Job may have failed.
        unchanged = counted_alike and same_owner and not upcoming.refusals
        there = upcoming.place(now.handles.of(upcoming.pod)) if unchanged else None
        if there is not None and (not upcoming.comes or cycle.feasible_node(upcoming.pod, there)):
            yield key


def _uncertain(statuses: Statuses, were: Statuses, start: Observation, now: Observation) -> Iterator[StatusKey]:
    """Yield what is not certain: where Pending Pods went of which that was not evaluated, and some violations.

    These are of workloads with new Pods whose template names their node: its kubelet may reject them.
    """
    for key, status in statuses.items():
        if status is SpreadStatus.OK and were.get(key) is SpreadStatus.INCOMPLETE and start.pending.get(key[:2]):
            yield key
        elif status is SpreadStatus.VIOLATED and now.upcoming[key[:2]].pod.spec.node_name:
            known = {pod.key for pod in start.living.get(key[:2], ())}
            if any(pod.key not in known for pod in now.living[key[:2]]):
                yield key


def _evicted_pods(pods: Iterable[Pod], before: Snapshot) -> tuple[EvictedPod, ...]:
    return tuple(
        EvictedPod(
            namespace=pod.metadata.namespace,
            workload=owner_of(pod, before),
            pod=pod.metadata.name,
            node=pod.spec.node_name,
        )
        for pod in pods
    )


def _reasons(
    decided: Sequence[tuple[Sequence[Pod], Decision]], snapshot: Snapshot
) -> Iterator[tuple[WaitingReason, Decision]]:
    """Yield why Pods wait; revisions that wait for the same are counted together."""
    old = [is_of_newest_revision(pods[0], snapshot) is False for pods, _ in decided]
    several = len({*old}) > 1
    alike = grouped(
        zip(decided, old, strict=True),
        lambda it: (it[0][0][0].key, it[0][0][0].spec.gates) if it[0][0][0].spec.gates else it[0][1].conclusion,
    )
    for same in alike.values():
        ((first, *_), decision), of_older = same[0]
        yield (
            WaitingReason(
                decision.conclusion,
                sum(len(pods) for (pods, _), _ in same),
                of_older if several and len(alike) > 1 else None,
                first.spec.gates,
                "/".join(first.key),
            ),
            decision,
        )


def _reach_of_volumes(pod: Pod, snapshot: Snapshot) -> tuple[object, ...]:
    """Return where the volume of each of the Pod's claims can be used; None for a claim that is not bound."""
    bound = (claim and snapshot.get(PersistentVolume, "", claim.spec.volume_name) for claim in snapshot.claims_of(pod))
    return tuple(volume and (volume.spec.node_affinity, *volume_topologies(volume)) for volume in bound)


def _revisions_compared(before: Observation, now: Observation) -> Iterator[tuple[Key, str, str]]:
    """Yield (workload, revision, the revision before the step: the same, or the one that it has replaced)."""
    for key in sorted(now.revisions, key=lambda key: (key[0], str(key[1]))):
        _, *older = now.revisions[key]
        for revision in now.revisions[key]:
            known = key not in before.upcoming or before.counted(key, revision) is not None
            replaced = revision if known else before.newest(key)
            yield key, revision, revision if replaced in older else replaced


def _state_before(constraint: Constraint, states: Sequence[ConstraintState]) -> ConstraintState | None:
    """Return the earlier state of the constraint on this key, of the same ``whenUnsatisfiable`` or else any; or None.

    Constraints may change their order in the manifest.
    """
    found = [each for each in states if each.constraint.topology_key == constraint.topology_key]
    return next((each for each in found if each.constraint.hard == constraint.hard), found[0] if found else None)


def _status_for_counts(status: SpreadStatus, state: ConstraintState) -> SpreadStatus:
    """Return the status in another order if only the counts decide; else the status of the first order."""
    broken = SpreadStatus.VIOLATED if state.constraint.hard else SpreadStatus.UNEVEN
    if WORST_FIRST.index(status) < WORST_FIRST.index(broken):
        return status
    if state.uneven:
        return broken
    return SpreadStatus.OK if status is broken else status


def _ranges(seen: Sequence[ConstraintState]) -> dict[str, tuple[int, int]]:
    if len({id(each.matching) for each in seen}) == 1:  # most, and all if nothing is left to chance
        same = {number: (number, number) for number in set(seen[0].matching.values())}
        return {domain: same[number] for domain, number in sorted(seen[0].matching.items())}
    domains = sorted({domain for each in seen for domain in each.matching})
    numbers = ([each.matching.get(domain, 0) for each in seen] for domain in domains)
    return {domain: (min(found), max(found)) for domain, found in zip(domains, numbers, strict=True)}

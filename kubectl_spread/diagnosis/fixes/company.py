"""What a fix does in company: the Pending Pods of all workloads compete for the room that it makes.

The control loop runs the whole cluster, with and without the change, in the same orders of chance.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.controllers.nodelifecycle import sibling
from kubectl_spread.controllers.workloads import WorkloadRef, living_pods, wanted_by
from kubectl_spread.diagnosis.constraint_state import idle
from kubectl_spread.diagnosis.fixes import conclusion
from kubectl_spread.diagnosis.fixes.conclusion import RolloutEnd, Wait
from kubectl_spread.diagnosis.fixes.future import Future, OtherWorkload, WorseConstraint
from kubectl_spread.diagnosis.fixes.rollout import MOST_WORK
from kubectl_spread.diagnosis.observer import states_of
from kubectl_spread.objects.core import Node, Pod
from kubectl_spread.objects.kinds import POD
from kubectl_spread.objects.meta import grouped, name_order
from kubectl_spread.scheduler.framework import Handles
from kubectl_spread.scheduler.podtopologyspread import constraints_of
from kubectl_spread.scheduler.prefilter_extensions import priority_of
from kubectl_spread.simulation.placement import place_each
from kubectl_spread.snapshot import PodKey

if TYPE_CHECKING:
    from kubectl_spread.simulation.cluster_state import ClusterState
    from kubectl_spread.simulation.steps import Step

Key: TypeAlias = tuple[str, WorkloadRef]  # Namespace and topmost owner

# In a cluster with more Pods or Pending Pods, or whose Pending Pods are tried on more nodes (counts), no change is
# simulated; with more Pending Pods only, what happens by itself is.
MOST_PODS, MOST_PENDING, MOST_VERDICTS = 2_000, 60, 200_000
# The Pods of all simulated clusters together (count) after which no further change is simulated.
MOST_SIMULATED = 40_000


class _End(msgspec.Struct, frozen=True):
    """The cluster once nothing changes: its Pods, and workload → its Pods that are Pending or missing (count)."""

    living: Mapping[Key, Sequence[Pod]]
    waiting: Mapping[Key, int]
    pods: Mapping[PodKey, Pod]
    handles: Handles


def _look(cluster: ClusterState, _: int) -> _End:
    living = cluster.living()
    waiting: dict[Key, int] = {}
    for key, pods in living.items():
        wanted = wanted_by(cluster.snapshot.workload(key[0], key[1].kind, key[1].name), len(pods))
        waiting[key] = sum(pod.waits for pod in pods) + max((wanted or 0) - len(pods), 0)
    return _End(living, waiting, dict(cluster.pods), cluster.handles)


class Company:
    """The whole cluster, of which each change starts one future; those of one change are simulated once.

    Args:
        handles: the cluster as each profile of the scheduler sees it.
    """

    def __init__(self, handles: Handles) -> None:
        self._handles = handles
        there = [pod for pod in handles.snapshot.all(Pod) if not pod.finished]
        self._waiting = living_pods((pod for pod in there if pod.waits), handles.snapshot)
        self._pending = {key: len(pods) for key, pods in self._waiting.items()}
        self._ends: dict[Hashable, tuple[_End, ...]] = {}
        self._simulated = 0
        read, tries = handles.snapshot.inventory, sum(self._pending.values()) * len(handles.snapshot.nodes)
        whole = read.pods_read is None and POD.name not in read.within
        self._is_placed = whole and tries <= MOST_VERDICTS  # whether all Pods that wait are tried on all nodes
        self._is_settled = self._is_placed and len(there) <= MOST_PODS  # and controllers run

    @property
    def is_small(self) -> bool:
        """Whether changes are simulated in the whole cluster."""
        return self._is_settled and sum(self._pending.values()) <= MOST_PENDING and self._simulated < MOST_SIMULATED

    def others_wait(self, own: Key) -> bool:
        """Whether another workload has Pending Pods too."""
        return any(key != own for key in self._pending)

    def left(self, own: Key) -> tuple[int, int] | None:
        """Return the fewest and the most Pods of the workload that stay Pending in an order, because others come first.

        None if that is not known. A large cluster's Pods are placed in one order, without its controllers.
        """
        if not self.others_wait(own):
            return 0, 0
        ends = self._ends_of("nothing", ()) if self._is_settled else ()
        left = [sum(pod.waits for pod in end.living.get(own, ())) for end in ends]
        if not left and self._is_placed:
            left = [sum(pod.key in self._left for pod in self._waiting.get(own, ()))]
        return (min(left), max(left)) if left else None

    @cached_property
    def _left(self) -> Container[PodKey]:
        """Return the Pods that find no node, all placed one after another."""
        assumed = self._handles.snapshot.assumed
        waiting = (pod for pods in self._waiting.values() for pod in pods if pod.key not in assumed)
        tried = [pod for pod in waiting if self._handles.of(pod).profile.serves(pod) and not pod.spec.gates]
        in_turn = sorted(tried, key=lambda pod: (-priority_of(pod), name_order(pod)))
        return {pod.key for pod in place_each(in_turn, self._handles).left}

    def future(self, own: Key, change: Hashable, steps: Sequence[Step]) -> Future | None:
        """Return what these steps do for the workload and for all others; None if that is not known.

        ``change`` identifies the steps: what is simulated once is known for other workloads too.
        """
        before, after = self._ends_of("nothing", ()), self._ends_of(change, steps)
        if not before or not after:
            return None
        pairs = [(before[min(at, len(before) - 1)], end) for at, end in enumerate(after)]
        admits = self._admitted(own, pairs)
        in_all = [sum(self._admitted(key, [pair])[0] for key in self._pending) for pair in pairs]
        waiting = [end.waiting.get(own, 0) for _, end in pairs]
        replaced = [_replaced(*pair) for pair in pairs]
        return Future(
            admits=min(admits),
            admits_at_most=max(admits),
            in_all=(min(in_all), max(in_all)),
            pending=sum(self._pending.values()),
            others=tuple(self._others(own, pairs)),
            worse=tuple(_worse_in_any(pairs)),
            replaced=max(replaced),
            end=RolloutEnd(least=min(waiting), most=max(waiting), worth=True, gains=max(admits) > 0),
        )

    def awaited(self, own: Key, wait: Wait) -> Wait:
        """Return the wait with how many of the workload's Pending Pods it lets in; as it is if that is not known."""
        steps = _steps_until(wait, self._handles.snapshot.nodes)
        if steps is None or not (self.is_small if steps else self._is_settled):
            return wait
        if steps:
            future = self.future(own, wait, steps)
            gained = [future.admits, future.admits_at_most] if future else []
        else:
            gained = [self._pending[own] - self._still_waiting(own, end) for end in self._ends_of("nothing", ())]
        admits = (max(min(gained), 0), max(*gained, 0)) if gained else UNSET
        return replace(wait, admits=admits, siblings=self._pending[own] if gained else UNSET)

    def _still_waiting(self, own: Key, end: _End) -> int:
        """Return how many of the workload's Pending Pods have no node, and no Pod has one in their place (count)."""
        waited = (end.pods.get(pod.key) for pod in self._waiting[own])
        return min(sum(pod is None or pod.waits for pod in waited), end.waiting.get(own, 0))

    def _ends_of(self, change: Hashable, steps: Sequence[Step]) -> tuple[_End, ...]:
        """Return how each order ends; nothing if one does not end."""
        if change not in self._ends:
            from kubectl_spread.simulation.outcomes import simulate
            from kubectl_spread.simulation.steps import Step, Verb

            steps = steps or (Step(Verb.APPLY, ""),)
            orders = simulate(self._handles, steps, _look, most_verdicts=MOST_VERDICTS, most_work=MOST_WORK).after(-1)
            complete = all(each.done.settled and not each.done.untried for each in orders)
            self._ends[change] = tuple(each.seen for each in orders) if complete else ()
            self._simulated += sum(len(each.seen.pods) for each in orders)
        return self._ends[change]

    def _admitted(self, key: Key, pairs: Sequence[tuple[_End, _End]]) -> list[int]:
        """Return how many Pending Pods of the workload have a node in each order that have none without the change."""
        most = self._pending.get(key, 0)
        return [min(was.waiting.get(key, 0) - end.waiting.get(key, 0), most) for was, end in pairs]

    def _others(self, own: Key, pairs: Sequence[tuple[_End, _End]]) -> Iterator[OtherWorkload]:
        """Yield the other workloads that gain or lose, those that gain most first."""
        changes = {key: self._admitted(key, pairs) for was, end in pairs[:1] for key in (*was.waiting, *end.waiting)}
        gains = {key: (min(each), max(each)) for key, each in changes.items() if key != own and any(each)}
        for key, (least, most) in sorted(gains.items(), key=lambda item: (-item[1][0], item[0][0], str(item[0][1]))):
            yield OtherWorkload(
                namespace=key[0],
                workload=key[1],
                admits=least,
                admits_at_most=most,
                pending=self._pending.get(key, 0),
            )


def _steps_until(wait: Wait, nodes: Mapping[str, Node]) -> Sequence[Step] | None:
    """Return the steps after which the wait is over, none for what comes by itself; None if they are not known."""
    from kubectl_spread.simulation.steps import Step, Verb

    match wait:
        case conclusion.PodPreemption() | conclusion.PodEnding(ending=conclusion.Ending(finalizers=())):
            return ()
        case conclusion.NodeRecovery():
            well = tuple(sibling(nodes[name], name) for name in wait.nodes)
            return Step(Verb.RETURN, "", nodes=wait.nodes), Step(Verb.APPLY, "", merged=well)
        case _:
            return None


def _replaced(was: _End, end: _End) -> int:
    """Return how many Pods run without the change and are gone with it (count)."""
    there = {key: _identity(pod) for key, pod in end.pods.items() if not pod.terminating}
    return sum(pod.at_work and there.get(key) != _identity(pod) for key, pod in was.pods.items())


def _identity(pod: Pod) -> tuple[str, str | None]:
    return pod.metadata.uid, pod.metadata.creation_timestamp


def _worse_in_any(pairs: Sequence[tuple[_End, _End]]) -> Iterator[WorseConstraint]:
    """Yield the constraints that the change breaks in any order, with their largest skew."""
    found = (each for pair in pairs for each in _worse(*pair))
    for alike in grouped(found, lambda each: replace(each, skew=0)).values():
        yield replace(max(alike, key=lambda each: each.skew), by_chance=len(alike) < len(pairs))


def _worse(was: _End, end: _End) -> Iterator[WorseConstraint]:
    """Yield the hard constraints, as they are in the end, whose skew exceeds maxSkew with the change only."""
    moved = [pod for key, pod in was.pods.items() if _node(end.pods.get(key)) != pod.spec.node_name]
    moved += [pod for key, pod in end.pods.items() if _node(was.pods.get(key)) != pod.spec.node_name]
    near = grouped(moved, lambda pod: pod.metadata.namespace)
    nodes, others = (each.handles.snapshot.nodes for each in (was, end))
    for key, pods in end.living.items():
        spread = [pod for pod in pods if pod.spec.topology_spread_constraints]
        constraints = constraints_of(spread[-1], end.handles.of(spread[-1])) if spread else ()
        counted = any(
            each.selector.matches(pod.metadata.labels) for pod in near.get(key[0], ()) for each in constraints
        )
        opened = nodes is not others and (
            nodes.keys() != others.keys() or any(each.honors_taints for each in constraints)
        )
        if not (constraints and (counted or opened)):
            continue
        states = (states_of(key, spread[-1], each.handles) for each in (was, end))
        for before, after in zip(*states, strict=True):
            broken = after.uneven and not before.uneven and after.constraint.hard
            if broken and idle(after, end.handles.of(spread[-1]).profile) is None:
                yield WorseConstraint(
                    namespace=key[0],
                    workload=key[1],
                    topology_key=after.constraint.topology_key,
                    skew=after.skew,
                    max_skew=after.constraint.max_skew,
                )


def _node(pod: Pod | None) -> str:
    return pod.spec.node_name if pod else ""

"""Replicas placed one after another, as the scheduler would place them.

Where nodes score the same the scheduler takes any of them, so what becomes of later replicas may depend on luck. Ties
are broken by name and then in further orders, made from seeds: the same for the same cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.controllers.daemonset import nodes_with_pod, pinned_to
from kubectl_spread.controllers.next_pod import claims_of
from kubectl_spread.controllers.persistent_volumes import Storage, bound_on, created
from kubectl_spread.controllers.replicas import replica
from kubectl_spread.controllers.rollout_plan import RolloutPlan
from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.workloads import DaemonSet
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import count_all, parsable_constraints
from kubectl_spread.scheduler.prefilter_extensions import outranks_any

if TYPE_CHECKING:
    from kubectl_spread.scheduler.preemption import Preemption

SEEDS = 7
"""Orders (count) that are tried besides the one by name."""
SAMPLED_NODES = 100
"""Nodes (count) from which on the scheduler may look at some of them only.

Source: kube-scheduler schedule_one.go minFeasibleNodesToFind (v1.36).
"""
MOST_VERDICTS = 200_000
"""Verdicts on single nodes (count) after which no further order is begun: two or three seconds."""

Evaluate: TypeAlias = Callable[[Pod, Handle], Evaluation]
BestNodes: TypeAlias = Callable[[Pod, Handle], tuple[str, ...]]

Order: TypeAlias = Callable[[str], str]
"""Node's name → what is compared among nodes of the same score; the least is taken.

One order holds for all replicas: that favours nodes more steadily than chance does, and so finds the extremes.
"""


def by_name(node_name: str) -> str:
    """Break ties by name."""
    return node_name


def seeded(seed: int) -> Order:
    """Return an order that looks random, and is the same each time."""
    from hashlib import blake2b  # Many a cluster leaves nothing to chance.

    def order(node_name: str) -> str:
        return blake2b(f"{seed}/{node_name}".encode(), digest_size=8).hexdigest()

    return order


class Binding(msgspec.Struct, frozen=True):
    """Where the scheduler puts one Pod.

    Attributes:
        node: the node's name.
        handle: the cluster with the Pod there, and without the Pods that were evicted for it.
        ties: the other nodes that it might have taken, by name.
        victims: the Pods that were evicted for it.
    """

    node: str
    handle: Handle
    ties: tuple[str, ...] = ()
    victims: tuple[Pod, ...] = ()


def place(
    pod: Pod, handle: Handle, *, order: Order = by_name, best_nodes: BestNodes = cycle.best_nodes
) -> Binding | None:
    """Return where the scheduler puts the Pod, None where no node takes it as things are.

    Args:
        pod: the Pod.
        handle: the cluster before.
        order: how ties are broken.
        best_nodes: returns the nodes of which the scheduler takes one.
    """
    node, *ties = sorted(best_nodes(pod, handle), key=order) or [""]
    return Binding(node, with_placed(pod, node, handle), tuple(sorted(ties))) if node else None


def count_placed(pods: Iterable[Pod], handle: Handle) -> int:
    """Return how many of the Pods find a node, placed one after another (count)."""
    count = 0
    refused: set[bytes] = set()
    for pod in pods:
        kind = msgspec.json.encode((pod.metadata.namespace, pod.metadata.labels, pod.spec))
        binding = None if kind in refused else place(pod, handle)
        if binding is None:
            refused.add(kind)
        else:
            handle = binding.handle
            count += 1
            refused.clear()
    return count


def room_for(pod: Pod, handle: Handle) -> Preemption | None:
    """Return where the scheduler makes room for a Pod that finds no node, and whom it evicts; None for nowhere."""
    if not outranks_any(pod, handle) or not handle.profile.serves(pod):
        return None
    from kubectl_spread.scheduler.preemption import preempt

    return preempt(cycle.evaluate(pod, handle), handle)


class Placement(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where one replica goes.

    Attributes:
        replica: which, counted from 1.
        node: where.
        ties: the other nodes of the same total score.
        preempts: the Pods that the scheduler evicts from the node to make room; unset where it evicts none.
    """

    replica: int
    node: str
    ties: tuple[str, ...] = ()
    preempts: tuple[PodName, ...] | UnsetType = UNSET


class DomainRange(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many Pods a domain may hold once all replicas are placed, where that depends on ties.

    Attributes:
        constraint: the constraint's index.
        value: the domain.
        minimum: the fewest matching Pods that were found.
        maximum: the most.
    """

    constraint: int
    value: str
    minimum: int
    maximum: int


class Jam(msgspec.Struct, frozen=True, kw_only=True):
    """The first replica that finds no node.

    Attributes:
        replica: which; where it depends on ties, the earliest.
        replica_max: the latest, where it depends on ties; None where with some luck all replicas find a node.
        message: the scheduler's wording; None where not all Pods were read and it is not known.
        nodes: of a DaemonSet, the nodes that have no room for their Pod.
    """

    replica: int
    replica_max: int | UnsetType | None = UNSET
    message: str | None
    nodes: tuple[str, ...] = ()


class Placed(msgspec.Struct, frozen=True):
    """Where replicas went.

    Attributes:
        placements: one a replica, in order.
        jam: the first replica that found no node; None when all did.
        handle: the cluster with the replicas in it, and without the Pods that went for them.
        waiting: the replicas without a node, from the first that found none on.
        bound: where one found none, those before it.
    """

    placements: tuple[Placement, ...]
    jam: Jam | None
    handle: Handle
    waiting: tuple[Pod, ...] = ()
    bound: tuple[Pod, ...] = ()

    @property
    def tied(self) -> bool:
        """Whether another order may have had another outcome."""
        return any(placement.ties for placement in self.placements)


class PlacementOutcomes(msgspec.Struct, frozen=True):
    """Where replicas went in each order of breaking ties.

    Attributes:
        first: with ties broken by name.
        others: in the other orders that were tried.
    """

    first: Placed
    others: tuple[Placed, ...] = ()

    @property
    def all(self) -> tuple[Placed, ...]:
        """Every outcome."""
        return (self.first, *self.others)

    @property
    def jammed(self) -> Placed | None:
        """The outcome with the earliest jam, None where there is none in any order."""
        return min(
            (placed for placed in self.all if placed.jam), key=lambda placed: len(placed.placements), default=None
        )

    @property
    def jam(self) -> Jam | None:
        """The earliest jam, with how late it may be instead; None where there is none in any order."""
        jams = sorted((placed.jam for placed in self.all if placed.jam), key=lambda jam: jam.replica)
        if not jams:
            return None
        latest: int | UnsetType | None = UNSET
        if len(jams) < len(self.all):
            latest = None
        elif jams[-1].replica > jams[0].replica:
            latest = jams[-1].replica
        return replace(jams[0], replica_max=latest)

    def ranges(self, pod: Pod) -> tuple[DomainRange, ...]:
        """Return the domains whose counts differ between the orders.

        Args:
            pod: whose constraints count.
        """
        if not self.others:
            return ()
        found = [dict(_counts(pod, placed.handle)) for placed in self.all]
        numbers = {domain: {counts[domain] for counts in found} for domain in found[0]}
        return tuple(
            DomainRange(constraint=index, value=value, minimum=min(seen), maximum=max(seen))
            for (index, value), seen in numbers.items()
            if len(seen) > 1
        )


def _counts(pod: Pod, handle: Handle) -> Iterator[tuple[tuple[int, str], int]]:
    """Yield ((constraint's index, domain), matching Pods)."""
    for counts in count_all(parsable_constraints(pod, handle), pod, handle):
        for value, number in sorted(counts.match_num.items()):
            yield (counts.constraint.index, value), number


def place_in_all_orders(
    plan: RolloutPlan, handle: Handle, *, most_verdicts: int = MOST_VERDICTS, best: BestNodes = cycle.best_nodes
) -> PlacementOutcomes:
    """Return where the plan's Pods go, each counted before the next is placed; ties broken in every order.

    Args:
        plan: what is placed.
        handle: the cluster as it is.
        most_verdicts: verdicts on single nodes (count) after which no further order is begun.
        best: tells the nodes of which the scheduler takes one.
    """
    memory = _Memory(plan, best)
    first = _place(plan, handle, by_name, memory)
    others: list[Placed] = []
    if first.tied:
        for seed in range(1, SEEDS + 1):
            if memory.asked * len(handle.node_infos) > most_verdicts:
                break
            others.append(_place(plan, handle, seeded(seed), memory))
    return PlacementOutcomes(first, tuple(others))


@dataclass(slots=True)
class _Memory:
    """The best nodes by what they depend on: replicas that are alike on the same nodes, in whatever order they came.

    Attributes:
        plan: what is placed.
        of_pod: tells the nodes of which the scheduler takes one.
        alike: whether all its Pods are, but for their names.
        found: state → these nodes for the next Pod.
    """

    plan: RolloutPlan
    of_pod: BestNodes
    alike: bool = field(init=False)
    found: dict[object, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.alike = _alike([step.pod for step in self.plan.steps])

    @property
    def asked(self) -> int:
        """How often nodes were looked at."""
        return len(self.found)

    def best(self, pod: Pod, handle: Handle, *, on: Sequence[str], gone: tuple[int, int]) -> tuple[str, ...]:
        """Return the nodes of which the scheduler takes one; none where the Pod finds none.

        Args:
            pod: the next.
            handle: the cluster as it is then.
            on: the nodes that earlier Pods went to.
            gone: how many old Pods have gone, and how many Pods were evicted (counts).
        """
        state = (frozenset(Counter(on).items()) if self.alike else tuple(on), gone)
        if state not in self.found:
            self.found[state] = self.of_pod(pod, handle)
        return self.found[state]


def _alike(pods: Sequence[Pod]) -> bool:
    """Whether it makes no difference which of the Pods is where; claims make one."""
    if any(volume.claims for pod in pods[:1] for volume in pod.spec.volumes):
        return False
    return all(pod.spec == pods[0].spec and pod.metadata.labels == pods[0].metadata.labels for pod in pods[1:])


def _place(plan: RolloutPlan, handle: Handle, order: Order, memory: _Memory) -> Placed:
    """Return where the plan's Pods go with ties broken in this order, up to the first that finds no node."""
    placements: list[Placement] = []
    on: list[str] = []
    gone, evicted, before = 0, 0, sum(bool(pod.spec.node_name) for pod in plan.staying)
    for number, step in enumerate(plan.steps, start=before + 1):
        handle, gone = without(plan.old[gone : step.gone], handle), max(gone, step.gone)
        best_nodes = partial(memory.best, on=on, gone=(gone, evicted))
        binding = place(step.pod, handle, order=order, best_nodes=best_nodes) or _preempting(step.pod, handle, order)
        if binding is None:
            jam = Jam(replica=number, message=cycle.evaluate(step.pod, handle).message)
            placed = zip((each.pod for each in plan.steps), on, strict=False)
            bound = tuple(replace(pod, spec=replace(pod.spec, node_name=name)) for pod, name in placed)
            waiting = tuple(each.pod for each in plan.steps[len(placements) :])
            return Placed(tuple(placements), jam, handle, waiting, bound)
        placements.append(placement(number, binding.node, binding.ties, binding.victims))
        on.append(binding.node)
        handle, evicted = binding.handle, evicted + len(binding.victims)
    return Placed(tuple(placements), None, without(plan.old[gone:], handle))


def placement(number: int, node: str, best: Iterable[str], victims: Iterable[Pod]) -> Placement:
    """Return where the replica of that number went, of which nodes, and which Pods were evicted for it."""
    ties, preempts = tuple(name for name in best if name != node), tuple(map(PodName.of, victims))
    return Placement(replica=number, node=node, ties=ties, preempts=preempts or UNSET)


def _preempting(pod: Pod, handle: Handle, order: Order) -> Binding | None:
    """Return where the Pod goes once others were evicted for it; None where the scheduler evicts nobody."""
    found = room_for(pod, handle)
    if found is None:
        return None
    chosen = min(found.best, key=lambda each: order(each.node_name))
    after = with_placed(pod, chosen.node_name, without(chosen.victims, handle))
    return Binding(chosen.node_name, after, victims=chosen.victims)


def with_claims(pods: Iterable[Pod], owner: Workload | None, handle: Handle) -> Handle:
    """Return the cluster with the claims that are made along with the Pods."""
    made = created((claim for pod in pods for claim in claims_of(owner, pod)), handle.snapshot, handle.profile)
    return handle.with_others(made) if made else handle


def with_placed(pod: Pod, node_name: str, handle: Handle) -> Handle:
    """Return the cluster with the Pod on the node, and its claims bound to what they get there."""
    storage = storage_bound_on(pod, node_name, handle)
    handle = handle.with_assigned(pod, node_name)
    return handle.with_others(storage) if storage else handle


def storage_bound_on(pod: Pod, node_name: str, handle: Handle) -> tuple[Storage, ...]:
    """Return the Pod's claims that wait for it, bound to what they get on the node, with their volumes."""
    return bound_on(pod, node_name, handle) if any(volume.claims for volume in pod.spec.volumes) else ()


def without(pods: Iterable[Pod], handle: Handle) -> Handle:
    """Return the cluster without these Pods, some of which may be on no node, or evicted already."""
    for pod in pods:
        info = handle.node_infos.get(pod.spec.node_name)
        if info is not None and any(other.key == pod.key for other in info.pods):
            handle = handle.without_pod(pod)
    return handle


def place_daemon(
    owner: DaemonSet, pod: Pod, plan: RolloutPlan, handle: Handle, *, evaluate: Evaluate = cycle.evaluate
) -> Placed:
    """Return where a DaemonSet's Pods go: one without room keeps no other from its node, and the jam names all."""
    handle = without(plan.old, handle)
    evaluation = evaluate(pod, handle)
    served = {staying.spec.node_name for staying in plan.staying}
    wanted = nodes_with_pod(evaluation) - served
    wanting = [name for name in evaluation.nodes if name in wanted]
    pods = {name: pinned_to(replica(owner, pod, number), name) for number, name in enumerate(wanting, start=1)}
    if _is_independent(pod, handle):
        taken = {name: each for name, each in pods.items() if not evaluation.nodes[name].rejections}
        after = handle.with_all_assigned(taken)
    else:
        taken, after = _place_each(pods, with_claims(pods.values(), owner, handle))
    numbers = {name: number for number, name in enumerate(wanting, start=1)}
    full = tuple(name for name in wanting if name not in taken)
    message = evaluate(pods[full[0]], after).message if full else ""
    jam = Jam(replica=numbers[full[0]], message=message, nodes=full) if full else None
    placements = tuple(Placement(replica=numbers[name], node=name) for name in taken)
    return Placed(placements, jam, after, tuple(pods[name] for name in full))


def _is_independent(pod: Pod, handle: Handle) -> bool:
    """Whether a replica of the Pod on one node changes nothing for a replica on another."""
    affinity = pod.spec.affinity
    near = affinity is not None and (affinity.pod_affinity or affinity.pod_anti_affinity)
    spread = any(constraint.hard for constraint in parsable_constraints(pod, handle))
    return not (near or spread or any(volume.claims for volume in pod.spec.volumes))


def _place_each(pods: dict[str, Pod], handle: Handle) -> tuple[dict[str, Pod], Handle]:
    """Return (node's name → Pod) of those that find room on their nodes, one after another, and the cluster then.

    A Pod that finds none is tried again when others have come: those may have raised the minimum.
    """
    taken: dict[str, Pod] = {}
    before = -1
    while before < len(taken):
        before = len(taken)
        for name, pod in pods.items():
            binding = None if name in taken else place(pod, handle)
            if binding is not None:
                taken[name], handle = pod, binding.handle
    return taken, handle

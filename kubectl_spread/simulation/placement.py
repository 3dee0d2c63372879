"""Replicas placed one after another, as the scheduler would place them.

Where nodes score the same the scheduler takes any of them, so what becomes of later replicas may depend on luck. It is
tried in several orders of chance, the first of which goes by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.controllers.next_pod import claims_of
from kubectl_spread.controllers.persistent_volumes import Storage, bound_on, created
from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import count_all, parsable_constraints
from kubectl_spread.scheduler.prefilter_extensions import outranks_any
from kubectl_spread.simulation.chance import Chance

if TYPE_CHECKING:
    from kubectl_spread.scheduler.preemption import Preemption

Evaluate: TypeAlias = Callable[[Pod, Handle], Evaluation]
BestNodes: TypeAlias = Callable[[Pod, Handle], tuple[str, ...]]
BestOfSample: TypeAlias = Callable[[Pod, Handle, cycle.Sample], tuple[str, ...]]


class Binding(msgspec.Struct, frozen=True):
    """Where the scheduler puts one Pod.

    Attributes:
        node: the node's name.
        handle: the cluster with the Pod there, and without the Pods that were evicted for it.
        ties: the other nodes that it might have taken, by name.
        victims: the Pods that were evicted for it.
        instead: those that might have been, on the other nodes.
    """

    node: str
    handle: Handle
    ties: tuple[str, ...] = ()
    victims: tuple[Pod, ...] = ()
    instead: tuple[Pod, ...] = ()


def place(
    pod: Pod, handle: Handle, *, chance: Chance | None = None, best_nodes: BestNodes = cycle.best_nodes
) -> Binding | None:
    """Return where the scheduler puts the Pod, None where no node takes it as things are.

    Args:
        pod: the Pod.
        handle: the cluster before.
        chance: which of equal nodes is taken; None for the first by name.
        best_nodes: returns the nodes of which the scheduler takes one.
    """
    best = best_nodes(pod, handle)
    if not best:
        return None
    node = chance.choose(best, handle.snapshot.nodes) if chance else best[0]
    return Binding(node, with_placed(pod, node, handle), tuple(name for name in best if name != node))


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
        ties: the other nodes of the same total score, or as good to make room on.
        preempts: the Pods that the scheduler evicts from the node to make room; unset where it evicts none.
        preempts_instead: those that it may evict from one of the ties instead.
    """

    replica: int
    node: str
    ties: tuple[str, ...] = ()
    preempts: tuple[PodName, ...] | UnsetType = UNSET
    preempts_instead: tuple[PodName, ...] | UnsetType = UNSET


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


class Jam(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
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
        sampled: whether the scheduler scored only some of the nodes that one of them fits on.
    """

    placements: tuple[Placement, ...]
    jam: Jam | None
    handle: Handle
    waiting: tuple[Pod, ...] = ()
    bound: tuple[Pod, ...] = ()
    sampled: bool = False


class PlacementOutcomes(msgspec.Struct, frozen=True):
    """Where replicas went in each order of chance.

    Attributes:
        first: in the order of names.
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


def placement(
    number: int, node: str, best: Iterable[str], victims: Iterable[Pod], instead: Iterable[Pod] = ()
) -> Placement:
    """Return where the replica of that number went, of which nodes, and which Pods were or might have been evicted."""
    return Placement(
        replica=number,
        node=node,
        ties=tuple(name for name in best if name != node),
        preempts=tuple(map(PodName.of, victims)) or UNSET,
        preempts_instead=tuple(map(PodName.of, instead)) or UNSET,
    )


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

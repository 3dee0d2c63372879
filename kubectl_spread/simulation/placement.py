"""Where Pods go that are placed one after another, and the types that describe it.

If nodes have equal scores, the scheduler takes any of them, so simulation tries several orders of chance. The first
order takes the first node by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.controllers.next_pod import claims_of
from kubectl_spread.controllers.persistent_volumes import Storage, bound_on, created
from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle, Handles
from kubectl_spread.scheduler.podtopologyspread import count_all, parsable_constraints
from kubectl_spread.scheduler.prefilter_extensions import outranks_any

if TYPE_CHECKING:
    from kubectl_spread.scheduler.preemption import Preemption


def place(pod: Pod, handle: Handle) -> tuple[str, Handle] | None:
    """Return (the Pod's node, the cluster with the Pod on it); None if no node takes it. The first by name is taken."""
    best = cycle.best_nodes(pod, handle)
    return (best[0], with_placed(pod, best[0], handle)) if best else None


class PlacedInTurn(msgspec.Struct, frozen=True):
    """Pods placed one after another.

    Attributes:
        nodes: each Pod that finds a node, and the first of its best nodes by name; in order.
        left: the Pods that find no node.
        handles: the cluster then.
        certain: whether there was one best node for each.
    """

    nodes: tuple[tuple[Pod, str], ...]
    left: tuple[Pod, ...]
    handles: Handles
    certain: bool


def place_each(pods: Iterable[Pod], handles: Handles) -> PlacedInTurn:
    """Return where the Pods go, placed one after another."""
    nodes: list[tuple[Pod, str]] = []
    left: list[Pod] = []
    refused: set[bytes] = set()
    certain = True
    for pod in pods:
        template = msgspec.json.encode((pod.metadata.namespace, pod.metadata.labels, pod.spec))
        best = () if template in refused else cycle.best_nodes(pod, handles.of(pod))
        if not best:
            refused.add(template)
            left.append(pod)
            continue
        handles = handles.each(partial(with_placed, pod, best[0]))
        nodes.append((pod, best[0]))
        certain = certain and len(best) == 1
        refused.clear()
    return PlacedInTurn(tuple(nodes), tuple(left), handles, certain)


def count_placed(pods: Iterable[Pod], handle: Handle) -> int:
    """Return how many of the Pods find a node, placed one after another (count)."""
    return len(place_each(pods, Handles(handle)).nodes)


def room_for(pod: Pod, handle: Handle) -> Preemption | None:
    """Return the preemption for a Pod that finds no node; None if preemption does not help."""
    if not outranks_any(pod, handle) or not handle.profile.serves(pod):
        return None
    from kubectl_spread.scheduler.preemption import preempt

    return preempt(cycle.evaluate(pod, handle), handle)


class Placement(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The node of one replica.

    Attributes:
        replica: its number, counted from 1.
        node: the node's name.
        ties: the other nodes with the same total score, or as good for preemption.
        preempts: the Pods that are preempted on the node; unset if none are.
        pdb_violations: how many of them a PodDisruptionBudget protects; unset if none.
        preempts_instead: the Pods that may be preempted on one of the ties instead.
        once_gone: the Pods that were being deleted on the node and have to end first; unset if it has room beside them.
    """

    replica: int
    node: str
    ties: tuple[str, ...] = ()
    preempts: tuple[PodName, ...] | UnsetType = UNSET
    pdb_violations: int | UnsetType = UNSET
    preempts_instead: tuple[PodName, ...] | UnsetType = UNSET
    once_gone: tuple[PodName, ...] | UnsetType = UNSET


class DomainRange(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many matching Pods a domain may have once all replicas are placed, if that depends on ties.

    Attributes:
        constraint: the constraint's index.
        value: the domain.
        minimum: the fewest in any order (count).
        maximum: the most (count).
    """

    constraint: int
    value: str
    minimum: int
    maximum: int


class Violation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A hard constraint that is violated once nothing changes any more.

    Attributes:
        constraint: the constraint's index.
        skew: the greatest skew in any order (Pods).
        by_chance: whether it is met in some orders.
    """

    constraint: int
    skew: int
    by_chance: bool


class Jam(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The first replica that finds no node.

    Attributes:
        replica: its number; the earliest, if it depends on ties.
        replica_max: the latest, if it depends on ties; None if in some order all replicas find a node.
        message: the scheduler's message; None if not all Pods were read.
        nodes: for a DaemonSet, the nodes without room for their Pod.
    """

    replica: int
    replica_max: int | UnsetType | None = UNSET
    message: str | None
    nodes: tuple[str, ...] = ()


class Placed(msgspec.Struct, frozen=True):
    """The nodes of a workload's replicas.

    Attributes:
        placements: one for each replica with a node, in order.
        jam: the first replica that found no node; None if all did.
        handle: the cluster with the replicas, and without the preempted Pods.
        waiting: the replicas without a node.
        sampled: whether the scheduler scored only some of the feasible nodes for one of them.
    """

    placements: tuple[Placement, ...]
    jam: Jam | None
    handle: Handle
    waiting: tuple[Pod, ...] = ()
    sampled: bool = False


class PlacementOutcomes(msgspec.Struct, frozen=True):
    """The nodes of a workload's replicas in each order of chance; the first order goes by name."""

    all: tuple[Placed, ...]

    @property
    def first(self) -> Placed:
        """The nodes in the first order."""
        return self.all[0]

    @property
    def jammed(self) -> Placed | None:
        """The outcome with the earliest jam; None if all replicas find a node in every order."""
        return min(
            (placed for placed in self.all if placed.jam), key=lambda placed: len(placed.placements), default=None
        )

    @property
    def jam(self) -> Jam | None:
        """The earliest jam, with the latest replica that it may be; None if there is none in any order."""
        jams = sorted((placed.jam for placed in self.all if placed.jam), key=lambda jam: jam.replica)
        if not jams:
            return None
        latest: int | UnsetType | None = UNSET
        if len(jams) < len(self.all):
            latest = None
        elif jams[-1].replica > jams[0].replica:
            latest = jams[-1].replica
        return replace(jams[0], replica_max=latest)

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """The nodes that replicas get in other orders only, and not because nodes tie in the first."""
        known = {name for each in self.first.placements for name in (each.node, *each.ties)}
        return tuple(sorted({each.node for placed in self.all for each in placed.placements} - known))

    def ranges(self, pod: Pod) -> tuple[DomainRange, ...]:
        """Return the domains of the Pod's constraints whose counts differ between the orders."""
        if len(self.all) == 1:
            return ()
        found = [dict(_counts(pod, placed.handle)) for placed in self.all]
        # A ReplicaSet that one order deletes gives its Pods no default constraints there.
        numbers = {domain: {counts[domain] for counts in found if domain in counts} for domain in found[0]}
        return tuple(
            DomainRange(constraint=index, value=value, minimum=min(seen), maximum=max(seen))
            for (index, value), seen in numbers.items()
            if len(seen) > 1
        )


def violations_of(pod: Pod, outcomes: PlacementOutcomes) -> Iterator[Violation]:
    """Yield the Pod's hard constraints whose skew exceeds maxSkew in some order."""
    counted = [count_all(parsable_constraints(pod, placed.handle), pod, placed.handle) for placed in outcomes.all]
    for states in zip(*counted, strict=False):
        constraint = states[0].constraint
        skews = [max(each.match_num.values(), default=0) - each.global_minimum for each in states]
        if constraint.hard and max(skews) > constraint.max_skew:
            by_chance = min(skews) <= constraint.max_skew
            yield Violation(constraint=constraint.index, skew=max(skews), by_chance=by_chance)


def _counts(pod: Pod, handle: Handle) -> Iterator[tuple[tuple[int, str], int]]:
    for counts in count_all(parsable_constraints(pod, handle), pod, handle):
        for value, number in sorted(counts.match_num.items()):
            yield (counts.constraint.index, value), number


def with_claims(pods: Iterable[Pod], owner: Workload | None, handle: Handle) -> Handle:
    """Return the cluster with the claims that are created with the Pods."""
    claims = (claim for pod in pods for claim in claims_of(owner, pod))
    return handle.with_others(created(claims, handle.snapshot, handle.profile))


def with_placed(pod: Pod, node_name: str, handle: Handle) -> Handle:
    """Return the cluster with the Pod on the node, and its claims bound to their volumes there."""
    storage = storage_bound_on(pod, node_name, handle)
    return handle.with_assigned(pod, node_name).with_others(storage)


def storage_bound_on(pod: Pod, node_name: str, handle: Handle) -> tuple[Storage, ...]:
    """Return the Pod's claims that are bound once it is on the node, with their volumes."""
    return bound_on(pod, node_name, handle) if any(volume.claims for volume in pod.spec.volumes) else ()

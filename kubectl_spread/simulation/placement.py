"""Where Pods go that are placed one after another, and the types that describe it.

If nodes have equal scores, the scheduler takes any of them, so simulation tries several orders of chance. The first
order takes the first node by name.
"""

from collections.abc import Iterable
from functools import partial

import msgspec
from msgspec import UNSET, UnsetType

from kubectl_spread.controllers.next_pod import claims_of
from kubectl_spread.controllers.persistent_volumes import Storage, bound_on, created
from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle, Handles


class PlacedInTurn(msgspec.Struct, frozen=True):
    """Pods placed one after another."""

    nodes: tuple[tuple[Pod, str], ...]  # each Pod that finds a node, and the first of its best nodes by name; in order
    left: tuple[Pod, ...]  # the Pods that find no node
    handles: Handles  # the cluster then
    certain: bool  # whether there was one best node for each


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


class Placement(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The node of one replica."""

    replica: int  # its number, counted from 1
    node: str  # the node's name
    ties: tuple[str, ...] = ()  # the other nodes with the same total score, or as good for preemption
    preempts: tuple[PodName, ...] | UnsetType = UNSET  # the Pods that are preempted on the node; unset if none are
    pdb_violations: int | UnsetType = UNSET  # how many of them a PodDisruptionBudget protects; unset if none
    # the Pods that may be preempted on one of the ties instead
    preempts_instead: tuple[PodName, ...] | UnsetType = UNSET
    # the Pods that were being deleted on the node and have to end first; unset if it has room beside them
    once_gone: tuple[PodName, ...] | UnsetType = UNSET


class DomainRange(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many matching Pods a domain may have once all replicas are placed, if that depends on ties."""

    constraint: int  # the constraint's index
    value: str  # the domain
    minimum: int  # the fewest in any order (count)
    maximum: int  # the most (count)


class Violation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A hard constraint that is violated once nothing changes any more."""

    constraint: int  # the constraint's index
    skew: int  # the greatest skew in any order (Pods)
    by_chance: bool  # whether it is met in some orders


class Jam(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The first replica that finds no node."""

    replica: int  # its number; the earliest, if it depends on ties
    # the latest, if it depends on ties; None if in some order all replicas find a node
    replica_max: int | UnsetType | None = UNSET
    message: str | None  # the scheduler's message; None if not all Pods were read
    nodes: tuple[str, ...] = ()  # for a DaemonSet, the nodes without room for their Pod


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

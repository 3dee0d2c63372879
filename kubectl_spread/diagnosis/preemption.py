"""Whether evictions would help a Pod, and what the scheduler waits for after it has chosen a node for the Pod."""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.storage import StorageClass
from kubectl_spread.scheduler.claims import claims_of
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle

# Of a user's PriorityClass. Source: pkg/apis/scheduling/types.go HighestUserDefinablePriority (v1.36).
HIGHEST_PRIORITY = 1_000_000_000


class Preemption(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the scheduler would evict for the Pod at its next attempt."""

    node: str = ""  # the node; the first by name if several are equally good
    victims: tuple[PodName, ...] = ()  # the Pods to evict, the most important first
    # how many of them a PodDisruptionBudget protects; None if budgets could not be read
    pdb_violations: int | None = None
    ties: tuple[str, ...] = ()  # the other equally good nodes, any of which the scheduler may choose
    other_nodes: tuple[str, ...] = ()  # nodes that evictions would open too, at a higher price
    sampled: bool = False  # whether the scheduler tries only some of the many nodes, and may choose another one
    read: Literal[False] | UnsetType = UNSET  # false if too few Pods were read to know; absent otherwise


class Nomination(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The node on which the scheduler makes room for the Pod."""

    node: str
    leaving: tuple[PodName, ...]  # the Pods that are being deleted there, and without which it has room
    has_room: bool = True  # whether it takes the Pod now


class AwaitedVolumes(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes that the scheduler has written into a Pod's claims, the claims, and what provisions their volumes."""

    nodes: tuple[str, ...]
    claims: tuple[str, ...]
    provisioners: tuple[str, ...]


def preemption_report(evaluation: Evaluation, handle: Handle) -> Preemption | None:
    """Return what the scheduler would evict, None for nothing; ValueError if a quantity of a Pod cannot be parsed.

    Nothing is evicted where all that is in the way is being deleted already.
    """
    from kubectl_spread.scheduler.preemption import preempt  # Most Pods find a node.

    found = preempt(evaluation, handle)
    if found is None:
        return None
    first, *ties = sorted((each.deletions for each in found.best), key=lambda candidate: not candidate.victims)
    if not first.victims:
        return None
    return Preemption(
        node=first.node_name,
        victims=tuple(map(PodName.of, first.victims)),
        pdb_violations=first.violations if handle.snapshot.inventory.has(kinds.POD_DISRUPTION_BUDGET) else None,
        ties=tuple(candidate.node_name for candidate in ties),
        other_nodes=tuple(candidate.node_name for candidate in found.others),
        sampled=found.sampled,
    )


def may_preempt(evaluation: Evaluation, handle: Handle) -> bool:
    """Whether evictions would help the Pod if its PriorityClass, which was not read, had the highest value."""
    spec, unknown = evaluation.pod.spec, evaluation.pod.spec.priority is None
    if evaluation.feasible or not (spec.priority_class_name and unknown and handle.decides(evaluation.pod)):
        return False
    highest = replace(evaluation.pod, spec=replace(spec, priority=HIGHEST_PRIORITY))
    return preemption_report(replace(evaluation, pod=highest), handle) is not None


def nomination_report(evaluation: Evaluation, handle: Handle) -> Nomination | None:
    """Return what the Pod waits for on its nominated node, None if it has none."""
    pod, infos = evaluation.pod, handle.node_infos
    node_name = pod.status.nominated_node_name
    if not node_name:
        return None
    from kubectl_spread.scheduler.preemption import leaving

    has_room = node_name in evaluation.feasible
    going = leaving(pod, infos)
    if not (going or has_room) and node_name in infos:
        going = tuple(each for each in infos[node_name].pods if each.terminating)
    return Nomination(node=node_name, leaving=tuple(map(PodName.of, going)), has_room=has_room)


def awaited(pod: Pod, handle: Handle) -> AwaitedVolumes | None:
    """Return which volumes the scheduler waits for; None if it has chosen no node for the Pod.

    It writes the node into the claims, and binds the Pod only after their provisioner has created the volumes.

    Source: volumebinding/binder.go BindPodVolumes, checkBindings (v1.36).
    """
    assumed = handle.snapshot.assumed.get(pod.key)
    if assumed is None:
        return None
    selected = [claim for claim in claims_of(pod, handle.snapshot) if not claim.fully_bound]
    classes = (handle.snapshot.get(StorageClass, "", claim.class_name) for claim in selected)
    return AwaitedVolumes(
        nodes=(assumed.spec.node_name,),
        claims=tuple(claim.metadata.name for claim in selected),
        provisioners=tuple(sorted({each.provisioner for each in classes if each is not None})),
    )

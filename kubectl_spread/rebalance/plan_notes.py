"""Notes on a plan: unknown owners, Pods that also get a newer template, and constraints that it ignores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import msgspec

from kubectl_spread.controllers.next_pod import is_upgraded
from kubectl_spread.controllers.workloads import WorkloadRef, controller_of, owner_of
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.meta import grouped
from kubectl_spread.rebalance.plan import EvictionPlan
from kubectl_spread.simulation.cluster_state import PodKey
from kubectl_spread.snapshot import Snapshot


class UnknownOwner(msgspec.Struct, frozen=True):
    """The owner that recreates these Pods was not read, or its rules are unknown."""

    ref: WorkloadRef
    pods: tuple[PodKey, ...]


class UpgradedPods(msgspec.Struct, frozen=True):
    """The replacements of these Pods have a newer template of their owner, such as a StatefulSet with OnDelete."""

    ref: WorkloadRef
    pods: tuple[PodKey, ...]


class SoftLeftOut(msgspec.Struct, frozen=True):
    """So many ScheduleAnyway constraints (count) are above maxSkew, and the plan ignores them."""

    number: int


PlanNote: TypeAlias = UnknownOwner | UpgradedPods | SoftLeftOut


def plan_notes(plan: EvictionPlan, snapshot: Snapshot) -> Iterator[PlanNote]:
    """Yield the notes on the plan; ``snapshot`` is the cluster before."""
    pods = [each.movable.pod for each in plan.evictions]
    unknown = (pod for pod in pods if controller_of(pod, snapshot) is None)
    yield from (UnknownOwner(ref, keys) for ref, keys in _by_owner(unknown, snapshot))
    yield from upgraded_pods(pods, snapshot)
    if plan.left_out:
        yield SoftLeftOut(plan.left_out)


def upgraded_pods(evicted: Iterable[Pod], snapshot: Snapshot) -> Iterator[UpgradedPods]:
    """Yield which of these Pods their eviction also upgrades; ``snapshot`` is the cluster before."""
    upgraded = (pod for pod in evicted if is_upgraded(pod, snapshot))
    yield from (UpgradedPods(ref, keys) for ref, keys in _by_owner(upgraded, snapshot))


def _by_owner(pods: Iterable[Pod], snapshot: Snapshot) -> Iterator[tuple[WorkloadRef, tuple[PodKey, ...]]]:
    found = grouped(pods, lambda pod: (pod.metadata.namespace, owner_of(pod, snapshot)))
    return ((ref, tuple(pod.key for pod in own)) for (_, ref), own in found.items())

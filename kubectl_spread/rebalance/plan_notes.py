"""Notes on the evictions of a plan: unknown owners, and Pods that also get a newer template."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from kubectl_spread.controllers.next_pod import is_of_template
from kubectl_spread.controllers.workloads import WorkloadRef, controller_of, owner_of
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


PlanNote: TypeAlias = UnknownOwner | UpgradedPods


def plan_notes(plan: EvictionPlan, snapshot: Snapshot) -> Iterator[PlanNote]:
    """Yield the notes on the evictions; ``snapshot`` is the cluster before."""
    found: dict[tuple[type[PlanNote], str, WorkloadRef], list[PodKey]] = {}
    for each in plan.evictions:
        pod, owner = each.movable.pod, controller_of(each.movable.pod, snapshot)
        if owner is None or not is_of_template(pod, each.movable.again.pod, owner):
            note = UnknownOwner if owner is None else UpgradedPods
            key = note, pod.metadata.namespace, owner_of(pod, snapshot)
            found.setdefault(key, []).append(pod.key)
    for (note, _, ref), pods in found.items():
        yield note(ref, tuple(pods))

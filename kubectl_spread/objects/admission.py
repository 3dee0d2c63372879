"""LimitRange, PriorityClass and RuntimeClass: what an API server writes into Pods as they are created.

Source: api core/v1, scheduling/v1 and node/v1 types.go (v1.36).
"""

from __future__ import annotations

from kubectl_spread.objects.core import Quantity, Toleration
from kubectl_spread.objects.meta import ObjectMeta, Struct


class LimitRangeItem(Struct, frozen=True):
    """Bounds and defaults for objects of a type: Pod, Container or PersistentVolumeClaim."""

    type: str = ""
    max: dict[str, Quantity] = {}
    min: dict[str, Quantity] = {}
    default: dict[str, Quantity] = {}
    default_request: dict[str, Quantity] = {}


class LimitRangeSpec(Struct, frozen=True):
    """What holds for each type."""

    limits: tuple[LimitRangeItem, ...] = ()


class LimitRange(Struct, frozen=True):
    """What containers of a namespace request where they say nothing."""

    metadata: ObjectMeta = ObjectMeta()
    spec: LimitRangeSpec = LimitRangeSpec()


class PriorityClass(Struct, frozen=True):
    """A name for a priority; the global default is that of Pods that name none."""

    metadata: ObjectMeta = ObjectMeta()
    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = None


class Overhead(Struct, frozen=True):
    """What running a Pod takes besides its containers."""

    pod_fixed: dict[str, Quantity] = {}


class RuntimeScheduling(Struct, frozen=True):
    """The nodes that support a runtime."""

    node_selector: dict[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()


class RuntimeClass(Struct, frozen=True):
    """A container runtime."""

    metadata: ObjectMeta = ObjectMeta()
    overhead: Overhead | None = None
    scheduling: RuntimeScheduling | None = None

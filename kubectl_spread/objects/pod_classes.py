"""PriorityClass and RuntimeClass: what a Pod may name, for the API server to write more into it.

Source: api scheduling/v1 and node/v1 types.go (v1.36).
"""

from __future__ import annotations

from kubectl_spread.objects.core import Quantity, Toleration
from kubectl_spread.objects.meta import ObjectMeta, Struct


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

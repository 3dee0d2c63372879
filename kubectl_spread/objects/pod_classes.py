"""PriorityClass and RuntimeClass: classes that a Pod names, from which the API server sets fields of the Pod.

Source: api scheduling/v1 and node/v1 types.go (v1.36).
"""

from __future__ import annotations

from kubectl_spread.objects.core import Quantity, Toleration
from kubectl_spread.objects.meta import KubernetesObject, Struct


class PriorityClass(KubernetesObject, frozen=True):
    """A name for a priority; Pods that name no class get the global default."""

    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = None


class Overhead(Struct, frozen=True):
    """The resources that a Pod needs in addition to its containers."""

    pod_fixed: dict[str, Quantity] = {}


class RuntimeScheduling(Struct, frozen=True):
    """The nodes that support a runtime."""

    node_selector: dict[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()


class RuntimeClass(KubernetesObject, frozen=True):
    """A container runtime."""

    overhead: Overhead | None = None
    scheduling: RuntimeScheduling | None = None

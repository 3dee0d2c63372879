"""Which Pods nobody should delete to make room, whether or not a budget would let them go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from kubectl_spread.objects import meta
from kubectl_spread.objects.core import Pod

KEEPING_CONTROLLERS = frozenset(("Job", "DaemonSet", "Node"))
"""Kinds of controllers whose Pods are left alone.

Source: job_controller.go: a Pod that is deleted before it has ended counts as failed. daemon_controller.go: the same
node lacks its daemon Pod then. kubelet pkg/kubelet/types/pod_update.go: the API server has only a mirror of it.
"""

KEEPING_MARKS: Mapping[str, frozenset[str] | None] = {
    meta.DO_NOT_DISRUPT: frozenset(("true",)),
    meta.DO_NOT_EVICT: frozenset(("true",)),
    meta.SAFE_TO_EVICT: frozenset(("false",)),
    # its mere presence counts, whatever the value
    meta.PREFER_NO_EVICTION: None,
}
"""Annotation → the values by which it asks that the Pod be left alone, None for any.

Source: karpenter pkg/apis/v1/labels.go, cluster-autoscaler utils/drain/drain.go, descheduler pkg/descheduler/evictions.
"""


class KeptByController(msgspec.Struct, frozen=True):
    """What the Pod's controller would do; ``Node`` for a static Pod."""

    kind: str


class KeptByMark(msgspec.Struct, frozen=True):
    """An annotation asks that the Pod be left alone."""

    annotation: str
    value: str


Kept: TypeAlias = KeptByController | KeptByMark


def kept_because(pod: Pod) -> Kept | None:
    """Return why the Pod is to be left alone; None where nothing says so, and it may be deleted."""
    controller = pod.metadata.controller
    if controller is not None and controller.kind in KEEPING_CONTROLLERS:
        return KeptByController(controller.kind)
    annotations = pod.metadata.annotations
    if meta.CONFIG_MIRROR in annotations or any(owner.kind == "Node" for owner in pod.metadata.owner_references):
        return KeptByController("Node")
    for mark, values in KEEPING_MARKS.items():
        if mark in annotations and (values is None or annotations[mark] in values):
            return KeptByMark(mark, annotations[mark])
    return None

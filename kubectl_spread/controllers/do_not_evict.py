"""Pods that should not be evicted to make room, even if their budgets allow it."""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from kubectl_spread.objects import meta
from kubectl_spread.objects.core import Pod

# Kinds of controllers whose Pods are not evicted.
#
# A Pod of a Job that is deleted before it ends counts as failed (job_controller.go). A DaemonSet creates its Pod again
# on the same node (daemon_controller.go). A static Pod has only a mirror in the API (kubelet pkg/kubelet/types).
KEEPING_CONTROLLERS = frozenset(("Job", "DaemonSet", "Node"))

# Annotation → the values that ask not to evict the Pod; None for any value.
#
# Source: karpenter pkg/apis/v1/labels.go, cluster-autoscaler utils/drain/drain.go, descheduler
# pkg/descheduler/evictions.
KEEPING_MARKS: Mapping[str, frozenset[str] | None] = {
    meta.DO_NOT_DISRUPT: frozenset(("true",)),
    meta.DO_NOT_EVICT: frozenset(("true",)),
    meta.SAFE_TO_EVICT: frozenset(("false",)),
    meta.PREFER_NO_EVICTION: None,
}


class KeptByController(msgspec.Struct, frozen=True):
    """The kind of the Pod's controller forbids it; ``Node`` for a static Pod."""

    kind: str


class KeptByMark(msgspec.Struct, frozen=True):
    """An annotation asks not to evict the Pod."""

    annotation: str
    value: str


Kept: TypeAlias = KeptByController | KeptByMark


def kept_because(pod: Pod) -> Kept | None:
    """Return why the Pod should not be evicted; None if it may be."""
    kind = pod.metadata.controller_kind
    if kind in KEEPING_CONTROLLERS:
        return KeptByController(kind)
    annotations = pod.metadata.annotations
    if meta.CONFIG_MIRROR in annotations or any(owner.kind == "Node" for owner in pod.metadata.owner_references):
        return KeptByController("Node")
    for mark, values in KEEPING_MARKS.items():
        if mark in annotations and (values is None or annotations[mark] in values):
            return KeptByMark(mark, annotations[mark])
    return None

"""Which Pods nobody should delete to make room, whether or not a budget would let them go."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.meta import (
    CONFIG_MIRROR,
    DO_NOT_DISRUPT,
    DO_NOT_EVICT,
    PREFER_NO_EVICTION,
    SAFE_TO_EVICT,
)

KEEPING_CONTROLLERS: Mapping[str, str] = {
    # job_controller.go: a Pod that is deleted before it has ended counts as failed
    "Job": "its Job would count it as failed",
    # daemon_controller.go: the same node lacks its daemon Pod then
    "DaemonSet": "its DaemonSet would make it again on the same node",
    # kubelet pkg/kubelet/types/pod_update.go: the API server has a mirror of it alone
    "Node": "it is a static Pod, which the kubelet keeps",
}
"""Kind of a controller → why its Pods are left alone."""

KEEPING_MARKS: Mapping[str, frozenset[str] | None] = {
    DO_NOT_DISRUPT: frozenset(("true",)),
    DO_NOT_EVICT: frozenset(("true",)),
    SAFE_TO_EVICT: frozenset(("false",)),
    # its mere presence counts, whatever the value
    PREFER_NO_EVICTION: None,
}
"""Annotation → the values by which it asks that the Pod be left alone, None for any.

Source: karpenter pkg/apis/v1/labels.go, cluster-autoscaler utils/drain/drain.go, descheduler pkg/descheduler/evictions.
"""


def kept_because(pod: Pod) -> str:
    """Return why the Pod is to be left alone, empty where nothing says so: it may be deleted then."""
    controller = pod.metadata.controller
    if controller is not None and controller.kind in KEEPING_CONTROLLERS:
        return KEEPING_CONTROLLERS[controller.kind]
    annotations = pod.metadata.annotations
    if CONFIG_MIRROR in annotations or any(owner.kind == "Node" for owner in pod.metadata.owner_references):
        return KEEPING_CONTROLLERS["Node"]
    for mark, values in KEEPING_MARKS.items():
        if mark in annotations and (values is None or annotations[mark] in values):
            return f"it is marked {mark}: {annotations[mark]}"
    return ""

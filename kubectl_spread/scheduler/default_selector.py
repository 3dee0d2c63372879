"""Which Pods the cluster's default constraints count: those of a Pod's Services and of its owner.

Source: kube-scheduler helper/spread.go DefaultSelector (v1.36).
"""

from __future__ import annotations

from contextlib import suppress

from kubectl_spread.labels import Selector, from_set
from kubectl_spread.objects.core import Pod, ReplicationController, Service
from kubectl_spread.objects.meta import parse_label_selector
from kubectl_spread.objects.workloads import ReplicaSet, StatefulSet
from kubectl_spread.scheduler.framework import Handle

_OWNERS: dict[tuple[str, str], type[ReplicaSet | StatefulSet]] = {
    ("apps/v1", "ReplicaSet"): ReplicaSet,
    ("apps/v1", "StatefulSet"): StatefulSet,
}


def default_selector(pod: Pod, handle: Handle) -> Selector:
    """Return the labels that the Pod's Services select and the selector of its owner; empty where it has neither."""
    merged: dict[str, str] = {}
    for service in handle.snapshot.all(Service):
        selector = service.spec.selector
        if selector is None or service.metadata.namespace != pod.metadata.namespace:
            continue
        # All of them select the Pod, so no two can want different values of a label.
        if from_set(selector).matches(pod.metadata.labels):
            merged |= selector
    owner = pod.metadata.controller
    if owner is None:
        return from_set(merged)
    kind = (owner.api_version, owner.kind)
    if kind == ("v1", "ReplicationController"):
        controller = handle.snapshot.get(ReplicationController, pod.metadata.namespace, owner.name)
        return from_set(merged | (controller.spec.selector if controller else {}))
    if kind in _OWNERS and (workload := handle.snapshot.get(_OWNERS[kind], pod.metadata.namespace, owner.name)):
        with suppress(ValueError):
            return from_set(merged).and_also(parse_label_selector(workload.spec.selector).requirements)
    return from_set(merged)

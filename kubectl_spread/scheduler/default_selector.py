"""Which Pods the cluster's default constraints count: those of a Pod's Services and of its owner.

Source: kube-scheduler helper/spread.go DefaultSelector (v1.36).
"""

from __future__ import annotations

from kubectl_spread.labels import Selector, from_set
from kubectl_spread.objects.core import Pod, ReplicationController, Service
from kubectl_spread.objects.meta import parse_label_selector
from kubectl_spread.objects.workloads import ReplicaSet, StatefulSet
from kubectl_spread.scheduler.framework import Handle


def default_selector(pod: Pod, handle: Handle) -> Selector:
    """Return which Pods the default constraints count: those of the Pod's Services and of its owner; empty for none.

    Source: kube-scheduler helper/spread.go DefaultSelector (v1.36).
    """
    merged: dict[str, str] = {}
    for service in handle.snapshot.all(Service):
        selector = service.spec.selector
        if selector is None or service.metadata.namespace != pod.metadata.namespace:
            continue
        # Both select the Pod, so no two Services can differ about a label.
        if from_set(selector).matches(pod.metadata.labels):
            merged |= selector
    return _with_owner(merged, pod, handle)


def _with_owner(merged: dict[str, str], pod: Pod, handle: Handle) -> Selector:
    """Return the Services' labels and the selector of the Pod's controller, where it is of a kind that counts."""
    owner = pod.metadata.controller
    if owner is None:
        return from_set(merged)
    namespace, name = pod.metadata.namespace, owner.name
    if (owner.api_version, owner.kind) == ("v1", "ReplicationController"):
        controller = handle.snapshot.get(ReplicationController, namespace, name)
        return from_set(merged | (controller.spec.selector if controller else {}))
    workload: ReplicaSet | StatefulSet | None = None
    if (owner.api_version, owner.kind) == ("apps/v1", "ReplicaSet"):
        workload = handle.snapshot.get(ReplicaSet, namespace, name)
    elif (owner.api_version, owner.kind) == ("apps/v1", "StatefulSet"):
        workload = handle.snapshot.get(StatefulSet, namespace, name)
    return _and_selector_of(workload, from_set(merged))


def _and_selector_of(workload: ReplicaSet | StatefulSet | None, selector: Selector) -> Selector:
    if workload is None:
        return selector
    try:
        own = parse_label_selector(workload.spec.selector)
    except ValueError:
        return selector
    return selector.and_also(own.requirements)

"""Adoption: a workload takes over the objects without a controller that its selector matches.

Source: kube-controller-manager pkg/controller/controller_ref_manager.go ClaimObject, statefulset/stateful_set_utils.go
isMemberOf (v1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from msgspec.structs import replace

from kubectl_spread.controllers.templates import reference_to
from kubectl_spread.labels import NOTHING, Selector
from kubectl_spread.objects.core import Pod, ReplicationController
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.meta import LabelSelector, ObjectMeta, parse_label_selector
from kubectl_spread.objects.workloads import CronJob, ReplicaSet, StatefulSet

OwnedT = TypeVar("OwnedT", bound=Pod | ReplicaSet)


def adopted(owner: Workload, orphans: Iterable[OwnedT]) -> Iterator[OwnedT]:
    """Yield the objects without a controller that the workload adopts, with their new owner reference."""
    selector = selector_of(owner)
    if owner.metadata.deletion_timestamp or selector.empty:
        return
    for each in orphans:
        metadata: ObjectMeta = each.metadata
        named = not isinstance(owner, StatefulSet) or metadata.name.rpartition("-")[0] == owner.metadata.name
        if named and metadata.deletion_timestamp is None and selector.matches(metadata.labels):
            owners = (*metadata.owner_references, reference_to(owner))
            yield replace(each, metadata=replace(metadata, owner_references=owners))


def released(owner: Workload | None, pod: Pod) -> Pod:
    """Return the Pod, released by its controller if its labels no longer match. An unread controller keeps it."""
    if owner is None or selector_of(owner).matches(pod.metadata.labels):
        return pod
    others = tuple(each for each in pod.metadata.owner_references if not each.controller)
    return replace(pod, metadata=replace(pod.metadata, owner_references=others))


def selector_of(owner: Workload) -> Selector:
    """Return the selector of the workload's Pods; it matches nothing for a CronJob or an invalid selector."""
    if isinstance(owner, CronJob):
        return NOTHING
    selector = owner.spec.selector
    if isinstance(owner, ReplicationController):
        selector = LabelSelector(match_labels=owner.spec.selector or owner.spec.template.metadata.labels)
    try:
        return parse_label_selector(selector if isinstance(selector, LabelSelector) else None)
    except ValueError:
        return NOTHING

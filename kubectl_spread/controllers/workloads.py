"""Which workload a Pod belongs to, which Pods and ReplicaSets it adopts, and which revisions of it are alive.

Source: apimachinery pkg/apis/meta/v1/controller_ref.go GetControllerOf, kube-controller-manager
pkg/controller/controller_ref_manager.go ClaimObject, statefulset/stateful_set_utils.go isMemberOf (v1.36).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, TypeVar, cast

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.controllers.templates import HASH_LABEL, REVISION_LABELS, reference_to, template_of
from kubectl_spread.labels import NOTHING, Selector
from kubectl_spread.objects import meta
from kubectl_spread.objects.core import Pod, ReplicationController
from kubectl_spread.objects.kinds import BY_API, DEPLOYMENT, REPLICA_SET, WORKLOADS, Scaled, Workload
from kubectl_spread.objects.workloads import CronJob, DaemonSet, Deployment, ReplicaSet, StatefulSet
from kubectl_spread.snapshot import Snapshot

MIRRORED = "Node"  # The kind that controls the mirror of a static Pod, which its kubelet runs without a scheduler


class WorkloadRef(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The owner of Pods; kind ``Pod`` for a Pod without an owner."""

    kind: str
    name: str

    def __str__(self) -> str:
        """Return it as kubectl accepts it: ``deployment/web``."""
        return f"{self.kind.lower()}/{self.name}"


class PodName(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A Pod by its name."""

    namespace: str
    name: str

    def __str__(self) -> str:
        """Return it as ``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    @classmethod
    def of(cls, pod: Pod) -> PodName:
        """Return the Pod's name."""
        return cls(namespace=pod.metadata.namespace, name=pod.metadata.name)


class OwnedPods(msgspec.Struct, frozen=True):
    """A workload with its Pods."""

    namespace: str
    ref: WorkloadRef
    owner: Workload | None  # the workload itself; None if it was not read
    pods: tuple[Pod, ...]  # its Pods that have not finished, bound or not, by name

    @property
    def static(self) -> bool:
        """Whether it is a static Pod, which only its kubelet runs."""
        return self.ref.kind == "Pod" and any(is_mirror(pod) for pod in self.pods)


class Replicas(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many Pods of a workload run."""

    wanted: int  # the Pods that it wants (count)
    running: int  # its Pods that run and are not reported as not ready (count)
    # present where a rollout is not finished: its Pods are of several revisions
    rolling_out: Literal[True] | UnsetType = UNSET


def wanted_by(owner: Workload | None, there: int) -> int | None:
    """Return how many Pods the owner wants (count); None if it creates no Pod again, or was not read.

    ``there``: its Pods (count); this is the answer for a DaemonSet, whose nodes decide the number.
    """
    if isinstance(owner, Scaled):
        return owner.spec.replicas_wanted
    return there if isinstance(owner, DaemonSet) else None


def workloads(snapshot: Snapshot, within: str = "") -> Iterator[OwnedPods]:
    """Yield every topmost workload, and every other owner of Pods, by namespace, kind and name.

    ``within``: the only namespace of interest; empty for all.
    """
    pods = living_pods((pod for pod in snapshot.all(Pod) if within in {"", pod.metadata.namespace}), snapshot)
    for struct in WORKLOADS.values():
        for owner in snapshot.all(struct):
            if owner.metadata.controller is None and within in {"", owner.metadata.namespace}:
                pods.setdefault((owner.metadata.namespace, _ref(owner)), [])
    for namespace, ref in sorted(pods, key=lambda key: (key[0], key[1].kind, key[1].name)):
        found = snapshot.workload(namespace, ref.kind, ref.name)
        yield OwnedPods(namespace, ref, found, tuple(sorted(pods[namespace, ref], key=meta.name_order)))


PodsByOwner: TypeAlias = Mapping[tuple[str, WorkloadRef], Sequence[Pod]]  # Namespace and topmost owner → its Pods


def living_pods(pods: Iterable[Pod], snapshot: Snapshot) -> defaultdict[tuple[str, WorkloadRef], list[Pod]]:
    """Return namespace and topmost owner → its Pods that have not finished, in the order given."""
    # Most Pods share their controller with others.
    owners: dict[meta.ControllerKey, WorkloadRef] = {}

    def owner(pod: Pod) -> tuple[str, WorkloadRef]:
        key = pod.metadata.controller_key
        if key[1] in {"", MIRRORED}:
            return key[0], _ref(pod)
        if key not in owners:
            owners[key] = owner_of(pod, snapshot)
        return key[0], owners[key]

    return defaultdict(list, meta.grouped((pod for pod in pods if not pod.finished), owner))


def matching_by_owner(
    namespace: str, selector: Selector, snapshot: Snapshot
) -> Iterator[tuple[WorkloadRef, Sequence[Pod]]]:
    """Yield (topmost owner, assigned Pods with the same labels) of those that match and are not terminating."""
    for key, pods in snapshot.by_labels.get(namespace, {}).items():
        if selector.matches(pods[0].metadata.labels):
            if (namespace, key) not in snapshot.owned:
                there = (pod for pod in pods if not pod.terminating)
                snapshot.owned[namespace, key] = living_pods(there, snapshot)
            found = cast("PodsByOwner", snapshot.owned[namespace, key])
            yield from ((owner, alike) for (_, owner), alike in found.items())


def is_mirror(pod: Pod) -> bool:
    """Whether the Pod is the mirror of a static Pod."""
    return meta.CONFIG_MIRROR in pod.metadata.annotations or pod.metadata.controller_kind == MIRRORED


def owner_of(owned: Pod | Workload, snapshot: Snapshot) -> WorkloadRef:
    """Return the topmost known owner; the Pod or workload itself if nothing controls it."""
    return [_ref(owned), *(ref for ref, _ in owners_of(owned, snapshot))][-1]


def belongs_to(owned: Pod | Workload, ref: WorkloadRef, snapshot: Snapshot) -> bool:
    """Whether it is that object, or that object is one of its owners."""
    return ref == _ref(owned) or any(ref == each for each, _ in owners_of(owned, snapshot))


def owners_of(owned: Pod | Workload, snapshot: Snapshot) -> Iterator[tuple[WorkloadRef, Workload | None]]:
    """Yield (reference, the owner; None if it was not read) for each owner, the nearest first."""
    passed = {_ref(owned)}
    controller: meta.OwnerReference | None = owned.metadata.controller
    while controller is not None and controller.kind != MIRRORED:
        ref = WorkloadRef(kind=controller.kind, name=controller.name)
        owner = snapshot.workload(owned.metadata.namespace, controller.kind, controller.name)
        yield ref, owner
        if ref in passed:  # In a file two objects may own each other.
            return
        passed.add(ref)
        controller = owner.metadata.controller if owner else _named_after(owned, controller, snapshot)


def _named_after(owned: Pod | Workload, unread: meta.OwnerReference, snapshot: Snapshot) -> meta.OwnerReference | None:
    """Return the Deployment of a ReplicaSet that could not be read: its name without the Pod's hash.

    Source: kube-controller-manager deployment/sync.go getNewReplicaSet (v1.36).
    """
    name, dash, revision = unread.name.rpartition("-")
    if not (dash and unread.kind == ReplicaSet.__name__ and snapshot.inventory.refused(REPLICA_SET)):
        return None
    of_deployment = owned.metadata.labels.get(HASH_LABEL) == revision
    return (
        replace(unread, api_version=DEPLOYMENT.api_version, kind=DEPLOYMENT.name, name=name) if of_deployment else None
    )


def controller_of(pod: Pod, snapshot: Snapshot) -> Workload | None:
    """Return the controller of the Pod; None if it has none, or it was not read."""
    return snapshot.workload(*pod.metadata.controller_key)


def is_absent(ref: meta.OwnerReference, namespace: str, snapshot: Snapshot) -> bool:
    """Whether the owner is known not to exist: its kind was read in its namespace.

    A file without any object of the kind proves nothing.
    """
    kind = BY_API.get((ref.api_version, ref.kind))
    if kind is None or snapshot.get(kind.struct, namespace, ref.name) is not None:
        return False
    of_a_server = bool(snapshot.inventory.resource_versions)
    return snapshot.inventory.has_in(kind, namespace) and (of_a_server or any(snapshot.all(kind.struct)))


def _ref(obj: Pod | Workload) -> WorkloadRef:
    return WorkloadRef(kind=type(obj).__name__, name=obj.metadata.name)


def scheduler_of(workload: OwnedPods) -> str:
    """Return the name of the scheduler of the workload's Pods; empty if it is not known."""
    if workload.owner is not None:
        return template_of(workload.owner).spec.scheduler_name
    return workload.pods[0].spec.scheduler_name if workload.pods else ""


def topmost_owner(pod: Pod, snapshot: Snapshot) -> Workload | None:
    """Return the topmost owner of the Pod; None if there is none, or it cannot be read."""
    return next((last for _, last in reversed(tuple(owners_of(pod, snapshot)))), None)


def revision_of(pod: Pod) -> str:
    """Return the revision label of the Pod; empty if it has none."""
    return next((pod.metadata.labels[label] for label in REVISION_LABELS if label in pod.metadata.labels), "")


def of_revision(pods: Iterable[Pod], revision: str) -> tuple[Pod, ...]:
    """Return the Pods of the revision."""
    return tuple(pod for pod in pods if revision_of(pod) == revision)


OwnedT = TypeVar("OwnedT", bound=Pod | ReplicaSet)


def adopted(owner: Workload, orphans: Iterable[OwnedT]) -> Iterator[OwnedT]:
    """Yield the objects without a controller that the workload adopts, with their new owner reference."""
    selector = selector_of(owner)
    if owner.metadata.deletion_timestamp or selector.empty:
        return
    for each in orphans:
        metadata: meta.ObjectMeta = each.metadata
        parent, _, ordinal = metadata.name.rpartition("-")
        named = not isinstance(owner, StatefulSet) or (parent == owner.metadata.name and ordinal.isdecimal())
        if named and metadata.deletion_timestamp is None and selector.matches(metadata.labels):
            owners = (*metadata.owner_references, reference_to(owner))
            yield replace(each, metadata=replace(metadata, owner_references=owners))


def adopted_sets(owner: Deployment, snapshot: Snapshot) -> tuple[ReplicaSet, ...]:
    """Return the ReplicaSets without a controller that the Deployment adopts, with their new owner reference."""
    sets = snapshot.within(ReplicaSet, owner.metadata.namespace)
    return tuple(adopted(owner, (each for each in sets if each.metadata.controller is None)))


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
        selector = meta.LabelSelector(match_labels=owner.spec.selector or owner.spec.template.metadata.labels)
    return meta.readable_selector(selector if isinstance(selector, meta.LabelSelector) else None)

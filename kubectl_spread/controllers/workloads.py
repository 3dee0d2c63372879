"""Which workload a Pod belongs to, which revisions of it are alive, and what its next Pod would be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from kubectl_spread.objects.core import Pod, PodTemplateSpec, ReplicationController
from kubectl_spread.objects.kinds import WORKLOADS, Workload
from kubectl_spread.objects.meta import ObjectMeta, OwnerReference
from kubectl_spread.objects.workloads import CronJob, DaemonSet, Deployment, Job, ReplicaSet, StatefulSet
from kubectl_spread.report import WorkloadRef
from kubectl_spread.snapshot import Snapshot

REVISION_LABELS = ("pod-template-hash", "controller-revision-hash")
REVISION_ANNOTATION = "deployment.kubernetes.io/revision"


@dataclass(frozen=True, slots=True)
class OwnedPods:
    """A workload with its Pods.

    Attributes:
        namespace: where it lives.
        ref: its kind and name.
        owner: the workload itself; None where it cannot be read.
        pods: its Pods that have not finished, bound or not, by name.
    """

    namespace: str
    ref: WorkloadRef
    owner: Workload | None
    pods: tuple[Pod, ...]


def workloads(snapshot: Snapshot) -> Iterator[OwnedPods]:
    """Yield every workload that nothing else owns, and what owns Pods without being readable, by namespace and name."""
    pods: dict[tuple[str, WorkloadRef], list[Pod]] = defaultdict(list)
    for struct in WORKLOADS.values():
        for owner in snapshot.all(struct):
            if owner.metadata.controller is None:
                pods[owner.metadata.namespace, _ref(owner)] = []
    for pod in snapshot.all(Pod):
        if not pod.finished:
            pods[pod.metadata.namespace, owner_of(pod, snapshot)].append(pod)
    for namespace, ref in sorted(pods, key=lambda key: (key[0], key[1].kind, key[1].name)):
        found = snapshot.get(WORKLOADS[ref.kind], namespace, ref.name) if ref.kind in WORKLOADS else None
        yield OwnedPods(namespace, ref, found, tuple(sorted(pods[namespace, ref], key=lambda pod: pod.metadata.name)))


def owner_of(owned: Pod | Workload, snapshot: Snapshot) -> WorkloadRef:
    """Return the topmost owner that has a name here; the Pod or workload itself where nothing manages it."""
    ref, passed = _ref(owned), set[WorkloadRef]()
    controller: OwnerReference | None = owned.metadata.controller
    while controller is not None and ref not in passed:  # a file may say that two own each other
        passed.add(ref)
        ref = WorkloadRef(kind=controller.kind, name=controller.name)
        struct = WORKLOADS.get(controller.kind)
        owner = snapshot.get(struct, owned.metadata.namespace, controller.name) if struct else None
        controller = owner.metadata.controller if owner else None
    return ref


def _ref(obj: Pod | Workload) -> WorkloadRef:
    """Return the object's kind and name."""
    return WorkloadRef(kind=type(obj).__name__, name=obj.metadata.name)


def template_of(owner: Workload) -> PodTemplateSpec:
    """Return the template of the Pods the workload makes."""
    if isinstance(owner, CronJob):
        return owner.spec.job_template.spec.template
    return owner.spec.template


def scheduler_of(workload: OwnedPods) -> str:
    """Return the name of the scheduler that places the workload's Pods; empty where there is nothing to go by."""
    if workload.owner is not None:
        return template_of(workload.owner).spec.scheduler_name
    return workload.pods[0].spec.scheduler_name if workload.pods else ""


def revision_of(pod: Pod) -> str:
    """Return the revision the Pod was made by; empty for owners without revisions."""
    return next((pod.metadata.labels[label] for label in REVISION_LABELS if label in pod.metadata.labels), "")


def makes_next_pod(workload: OwnedPods) -> bool:
    """Whether the workload would make one more Pod: DaemonSets, finished Jobs and bare Pods would not."""
    match workload.owner:
        case DaemonSet():
            return False
        case Job():
            return not workload.owner.finished
        case None:
            return workload.ref.kind != "Pod"
        case _:
            return True


def next_pod(workload: OwnedPods, snapshot: Snapshot) -> Pod | None:
    """Return the Pod the workload would make next, of its newest revision; None where there is nothing to go by.

    Without a readable owner the newest Pod is the template. The name is the workload's: the real one is made up later.
    """
    if workload.owner is None:
        newest = max(
            workload.pods, key=lambda pod: (pod.metadata.creation_timestamp or "", pod.metadata.name), default=None
        )
        return _copy(newest) if newest else None
    template = template_of(workload.owner)
    labels, controller = dict(template.metadata.labels), reference_to(workload.owner)
    if isinstance(workload.owner, Deployment):
        replica_set = newest_replica_set(workload.owner, snapshot)
        if replica_set is not None:
            labels |= replica_set.spec.template.metadata.labels
            controller = reference_to(replica_set)
    elif isinstance(workload.owner, StatefulSet) and workload.owner.status.update_revision:
        labels["controller-revision-hash"] = workload.owner.status.update_revision
    metadata = ObjectMeta(
        name=workload.ref.name, namespace=workload.namespace, labels=labels, owner_references=(controller,)
    )
    return Pod(metadata=metadata, spec=template.spec)


def newest_replica_set(deployment: Deployment, snapshot: Snapshot) -> ReplicaSet | None:
    """Return the ReplicaSet of the Deployment's newest revision, None where none was read.

    Source: kube-controller-manager deployment/util FindNewReplicaSet compares templates; the revision annotation it
    keeps says the same.
    """
    own = [
        replica_set
        for replica_set in snapshot.all(ReplicaSet)
        if replica_set.metadata.namespace == deployment.metadata.namespace
        and (controller := replica_set.metadata.controller) is not None
        and (controller.kind, controller.name) == ("Deployment", deployment.metadata.name)
    ]
    return max(own, key=revision_number, default=None)


def revision_number(replica_set: ReplicaSet) -> int:
    """Return the revision the Deployment gave it; 0 where it says none."""
    text = replica_set.metadata.annotations.get(REVISION_ANNOTATION, "")
    return int(text) if text.isdecimal() else 0


def reference_to(owner: Workload) -> OwnerReference:
    """Return the reference a Pod of this owner carries."""
    api_version = {ReplicationController: "v1", Job: "batch/v1", CronJob: "batch/v1"}.get(type(owner), "apps/v1")
    return OwnerReference(api_version=api_version, kind=type(owner).__name__, name=owner.metadata.name, controller=True)


def _copy(pod: Pod) -> Pod:
    """Return the Pod as it was before it was bound."""
    return Pod(metadata=pod.metadata, spec=msgspec.structs.replace(pod.spec, node_name=""))


def of_revision(pods: Iterable[Pod], revision: str) -> tuple[Pod, ...]:
    """Return the Pods of the revision."""
    return tuple(pod for pod in pods if revision_of(pod) == revision)

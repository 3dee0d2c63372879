"""What the controllers would make of a manifest: its first Pod, how many, and what else would then exist.

Source: kube-controller-manager pkg/controller/deployment, daemon/util/daemonset_util.go (v1.36).
"""

from __future__ import annotations

import zlib

import msgspec

from kubectl_spread.diagnosis.workloads import (
    REVISION_ANNOTATION,
    OwnedPods,
    newest_replica_set,
    next_pod,
    reference_to,
    revision_number,
)
from kubectl_spread.objects.core import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodTemplateSpec,
    Toleration,
)
from kubectl_spread.objects.kinds import KubernetesObject, Workload
from kubectl_spread.objects.meta import AnnotatedMeta
from kubectl_spread.objects.workloads import CronJob, DaemonSet, Deployment, Job, JobSpec, ReplicaSet, StatefulSet
from kubectl_spread.report import WorkloadRef
from kubectl_spread.snapshot import Snapshot

HASH_LABEL = "pod-template-hash"

_DAEMON_TAINTS = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_HOST_NETWORK_TAINT = ("node.kubernetes.io/network-unavailable", "NoSchedule")


def as_created(owner: KubernetesObject, snapshot: Snapshot) -> tuple[KubernetesObject, ...]:
    """Return the objects that would exist once this one is applied: a Deployment brings a ReplicaSet of its revision.

    A template that is already running keeps its revision; any other is a new one, whose Pods nobody counts yet.
    """
    if isinstance(owner, Deployment):
        return owner, _replica_set(owner, snapshot)
    if isinstance(owner, StatefulSet):
        revision = f"{owner.metadata.name}-{_hash(owner.spec.template)}"
        return (msgspec.structs.replace(owner, status=msgspec.structs.replace(owner.status, update_revision=revision)),)
    return (owner,)


def first_pod(owner: Workload, snapshot: Snapshot) -> Pod:
    """Return the Pod the workload would make, in the snapshot that holds what ``as_created`` says."""
    ref = WorkloadRef(kind=type(owner).__name__, name=owner.metadata.name)
    pod = next_pod(OwnedPods(owner.metadata.namespace, ref, owner, ()), snapshot)
    assert pod is not None  # noqa: S101 - a workload that can be read has a template
    return _with_daemon_tolerations(pod) if isinstance(owner, DaemonSet) else pod


def replicas_of(owner: Workload) -> int:
    """Return how many Pods the workload asks for (count); 1 for a DaemonSet, whose number the nodes decide."""
    match owner:
        case Job():
            return _parallel(owner.spec)
        case CronJob():
            return _parallel(owner.spec.job_template.spec)
        case DaemonSet():
            return 1
        case _:
            return 1 if owner.spec.replicas is None else owner.spec.replicas


def pinned_to(pod: Pod, node_name: str) -> Pod:
    """Return the Pod a DaemonSet makes for one node.

    Source: daemon/util/daemonset_util.go ReplaceDaemonSetPodNodeNameNodeAffinity (v1.36).
    """
    field = NodeSelectorRequirement(key="metadata.name", operator="In", values=(node_name,))
    selector = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(field,)),))
    affinity = pod.spec.affinity or Affinity()
    node_affinity = msgspec.structs.replace(
        affinity.node_affinity or NodeAffinity(), required_during_scheduling_ignored_during_execution=selector
    )
    affinity = msgspec.structs.replace(affinity, node_affinity=node_affinity)
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, affinity=affinity))


def _parallel(spec: JobSpec) -> int:
    """Return how many Pods of a Job run at once (count)."""
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    return parallelism if spec.completions is None else min(parallelism, spec.completions)


def _replica_set(deployment: Deployment, snapshot: Snapshot) -> ReplicaSet:
    """Return the ReplicaSet of the Deployment's template: the running one where the template is the same."""
    current = newest_replica_set(deployment, snapshot)
    template = deployment.spec.template
    if current is not None and _hash(current.spec.template) == _hash(template):
        return current
    revision = _hash(template)
    labels = {**template.metadata.labels, HASH_LABEL: revision}
    selector = deployment.spec.selector
    if selector is not None:
        selector = msgspec.structs.replace(selector, match_labels={**selector.match_labels, HASH_LABEL: revision})
    metadata = AnnotatedMeta(
        name=f"{deployment.metadata.name}-{revision}",
        namespace=deployment.metadata.namespace,
        labels=labels,
        annotations={REVISION_ANNOTATION: str(_revision_after(current))},
        owner_references=(reference_to(deployment),),
    )
    template = msgspec.structs.replace(template, metadata=msgspec.structs.replace(template.metadata, labels=labels))
    spec = msgspec.structs.replace(deployment.spec, selector=selector, template=template)
    return ReplicaSet(metadata=metadata, spec=spec)


def _revision_after(replica_set: ReplicaSet | None) -> int:
    """Return the number of the revision that follows."""
    return revision_number(replica_set) + 1 if replica_set else 1


def _hash(template: PodTemplateSpec) -> str:
    """Return a name for the template, the same for the same Pods; the real one is another."""
    labels = {key: value for key, value in sorted(template.metadata.labels.items()) if key != HASH_LABEL}
    return format(zlib.crc32(msgspec.json.encode((labels, template.spec), order="sorted")), "08x")


def _with_daemon_tolerations(pod: Pod) -> Pod:
    """Return the Pod with what the DaemonSet controller makes its Pods tolerate.

    Source: daemon/util/daemonset_util.go AddOrUpdateDaemonPodTolerations (v1.36).
    """
    taints = (*_DAEMON_TAINTS, *((_HOST_NETWORK_TAINT,) if pod.spec.host_network else ()))
    added = tuple(Toleration(key=key, operator="Exists", effect=effect) for key, effect in taints)
    spec = msgspec.structs.replace(pod.spec, tolerations=(*pod.spec.tolerations, *added))
    return msgspec.structs.replace(pod, spec=spec)

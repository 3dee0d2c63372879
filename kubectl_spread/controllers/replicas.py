"""What the controllers would make of a manifest: Pods by name, and what else would then exist.

Names that a real cluster makes up (hashes, random endings) are made up here too: equal for equal templates.

Source: kube-controller-manager pkg/controller/{deployment,statefulset,job,cronjob}, daemon/util/daemonset_util.go
(v1.36).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping

import msgspec
from msgspec.structs import replace

from kubectl_spread import quantity
from kubectl_spread.apiserver.creation import job_as_created
from kubectl_spread.controllers.persistent_volumes import ephemeral_claims
from kubectl_spread.controllers.workloads import (
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
    PersistentVolumeClaimVolumeSource,
    Pod,
    PodTemplateSpec,
    Toleration,
    Volume,
)
from kubectl_spread.objects.decoding import Plain
from kubectl_spread.objects.kinds import KubernetesObject, Workload
from kubectl_spread.objects.meta import AnnotatedMeta, ObjectMeta
from kubectl_spread.objects.storage import PersistentVolumeClaim
from kubectl_spread.objects.workloads import (
    JOB_UID_LABELS,
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    JobSpec,
    ReplicaSet,
    StatefulSet,
)
from kubectl_spread.report import WorkloadRef
from kubectl_spread.snapshot import Snapshot

HASH_LABEL = "pod-template-hash"
REVISION_HASH_LABEL = "controller-revision-hash"
POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"
COMPLETION_INDEX_LABEL = "batch.kubernetes.io/job-completion-index"

_INDEXED = "Indexed"
_LONGEST_BASE = 58
"""Characters that are left of a name to which five are added. Source: apiserver names/generate.go (v1.36)."""
_QUANTITIES = ("requests", "limits", "overhead")
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
    """Return the objects that would exist once this one is applied, without Pods and their claims.

    A Deployment brings a ReplicaSet of its revision, a CronJob a Job. A template that is already running keeps its
    revision; any other is a new one, whose Pods nobody counts yet.
    """
    match owner:
        case Deployment():
            return owner, _replica_set(owner, snapshot)
        case StatefulSet():
            status = replace(owner.status, update_revision=_revision(owner, snapshot))
            return (replace(owner, status=status),)
        case Job():
            return (_job(owner),)
        case CronJob():
            return owner, _next_job(owner)
        case _:
            return (owner,)


def first_pod(owner: Workload, snapshot: Snapshot) -> Pod:
    """Return the Pod of which the workload makes replicas, in the snapshot that holds what ``as_created`` says."""
    applied = snapshot.get(type(owner), owner.metadata.namespace, owner.metadata.name) or owner
    maker: Workload = _next_job(applied) if isinstance(applied, CronJob) else applied
    ref = WorkloadRef(kind=type(maker).__name__, name=maker.metadata.name)
    pod = next_pod(OwnedPods(maker.metadata.namespace, ref, maker, ()), snapshot)
    assert pod is not None  # noqa: S101 - a workload that can be read has a template
    return _of_daemon_set(owner, pod) if isinstance(owner, DaemonSet) else pod


def replica(owner: Workload | None, pod: Pod, number: int) -> Pod:
    """Return one replica under the name, the labels and with the volumes that its controller gives it.

    Args:
        owner: the workload; None for a kind of another API.
        pod: what ``first_pod`` returned.
        number: counted from 1.
    """
    if isinstance(owner, StatefulSet):
        return ordinal_pod(owner, pod, owner.spec.ordinals.start + number - 1)
    if isinstance(owner, Job | CronJob) and _job_spec(owner).completion_mode == _INDEXED:
        named = renamed(pod, f"{_base(pod)}-{number - 1}-{number:05d}")
        return _labelled(named, {COMPLETION_INDEX_LABEL: str(number - 1)})
    return renamed(pod, f"{_base(pod)}-{number:05d}")


def ordinal_pod(owner: StatefulSet, pod: Pod, ordinal: int) -> Pod:
    """Return the StatefulSet's Pod of that ordinal; its own claims replace volumes of the same name.

    Source: statefulset/stateful_set_utils.go newStatefulSetPod, updateStorage (v1.36).
    """
    name = f"{owner.metadata.name}-{ordinal}"
    templates = [claim.metadata.name for claim in owner.spec.volume_claim_templates]
    claimed = (
        Volume(name=t, persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=f"{t}-{name}"))
        for t in templates
    )
    others = (volume for volume in pod.spec.volumes if volume.name not in templates)
    named = renamed(pod, name)
    named = replace(named, spec=replace(pod.spec, volumes=(*claimed, *others)))
    return _labelled(named, {POD_NAME_LABEL: name, POD_INDEX_LABEL: str(ordinal)})


def claims_of(owner: Workload | None, pod: Pod) -> Iterator[PersistentVolumeClaim]:
    """Yield the claims that are made with this Pod: for its ephemeral volumes, and by a StatefulSet for itself.

    Source: statefulset/stateful_set_utils.go getPersistentVolumeClaims (v1.36).
    """
    yield from ephemeral_claims(pod)
    for template in owner.spec.volume_claim_templates if isinstance(owner, StatefulSet) else ():
        name = f"{template.metadata.name}-{pod.metadata.name}"
        yield replace(
            template, metadata=replace(template.metadata, name=name, namespace=pod.metadata.namespace, uid="")
        )


def renamed(pod: Pod, name: str) -> Pod:
    """Return the Pod under this name, and with an identity of its own."""
    return replace(pod, metadata=replace(pod.metadata, name=name, uid=f"{pod.metadata.namespace}/{name}"))


def same_template(first: PodTemplateSpec, second: PodTemplateSpec) -> bool:
    """Whether both make the same Pods, as far as scheduling reads them; a release's own hash label does not count."""
    return template_hash(first) == template_hash(second)


def template_hash(template: PodTemplateSpec) -> str:
    """Return a name for the template, the same for the same Pods; the real one is another."""
    labels = {key: value for key, value in sorted(template.metadata.labels.items()) if key != HASH_LABEL}
    spec = _canonical(msgspec.json.decode(msgspec.json.encode(template.spec)))
    return format(zlib.crc32(msgspec.json.encode((labels, spec), order="sorted")), "08x")


def _canonical(values: Plain) -> Plain:
    """Return the values with every quantity in one spelling; an API server stores another than was written."""
    if isinstance(values, list):
        return [_canonical(value) for value in values]
    if not isinstance(values, dict):
        return values
    return {
        key: _amounts(value) if key in _QUANTITIES and isinstance(value, dict) else _canonical(value)
        for key, value in values.items()
    }


def _amounts(quantities: Mapping[str, Plain]) -> Plain:
    """Return the quantities in one spelling; one that cannot be read stays as it is."""
    found: dict[str, Plain] = {}
    for name, value in quantities.items():
        try:
            found[name] = str(quantity.parse(value)) if isinstance(value, str | int | float) else value
        except ValueError:
            found[name] = value
    return found


def _base(pod: Pod) -> str:
    """Return what the names of the Pods of a controller begin with: its own name, or the Pod's where it has none."""
    controller = pod.metadata.controller
    return (controller.name if controller else pod.metadata.name)[:_LONGEST_BASE]


def _labelled(pod: Pod, labels: Mapping[str, str]) -> Pod:
    """Return the Pod with further labels."""
    return replace(pod, metadata=replace(pod.metadata, labels={**pod.metadata.labels, **labels}))


def replicas_of(owner: Workload) -> int:
    """Return how many Pods the workload asks for (count); 1 for a DaemonSet, whose number the nodes decide."""
    match owner:
        case Job() | CronJob():
            return _parallel(_job_spec(owner))
        case DaemonSet():
            return 1
        case _:
            return 1 if owner.spec.replicas is None else owner.spec.replicas


def _job_spec(owner: Job | CronJob) -> JobSpec:
    """Return what a Job runs, or the next Job of a CronJob."""
    return owner.spec.job_template.spec if isinstance(owner, CronJob) else owner.spec


def pinned_to(pod: Pod, node_name: str) -> Pod:
    """Return the Pod a DaemonSet makes for one node.

    Source: daemon/util/daemonset_util.go ReplaceDaemonSetPodNodeNameNodeAffinity (v1.36).
    """
    field = NodeSelectorRequirement(key="metadata.name", operator="In", values=(node_name,))
    selector = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(field,)),))
    affinity = pod.spec.affinity or Affinity()
    node_affinity = replace(
        affinity.node_affinity or NodeAffinity(), required_during_scheduling_ignored_during_execution=selector
    )
    affinity = replace(affinity, node_affinity=node_affinity)
    return replace(pod, spec=replace(pod.spec, affinity=affinity))


def _parallel(spec: JobSpec) -> int:
    """Return how many Pods of a Job run at once (count)."""
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    return parallelism if spec.completions is None else min(parallelism, spec.completions)


def _replica_set(deployment: Deployment, snapshot: Snapshot) -> ReplicaSet:
    """Return the ReplicaSet of the Deployment's template: the running one where the template is the same."""
    current = newest_replica_set(deployment, snapshot)
    template = deployment.spec.template
    if current is not None and same_template(current.spec.template, template):
        return current
    revision = template_hash(template)
    labels = {**template.metadata.labels, HASH_LABEL: revision}
    selector = deployment.spec.selector
    if selector is not None:
        selector = replace(selector, match_labels={**selector.match_labels, HASH_LABEL: revision})
    metadata = AnnotatedMeta(
        name=f"{deployment.metadata.name}-{revision}",
        namespace=deployment.metadata.namespace,
        labels=labels,
        annotations={REVISION_ANNOTATION: str(_revision_after(current))},
        owner_references=(reference_to(deployment),),
    )
    template = replace(template, metadata=replace(template.metadata, labels=labels))
    spec = replace(deployment.spec, selector=selector, template=template)
    return ReplicaSet(metadata=metadata, spec=spec)


def _revision_after(replica_set: ReplicaSet | None) -> int:
    """Return the number of the revision that follows."""
    return revision_number(replica_set) + 1 if replica_set else 1


def _revision(owner: StatefulSet, snapshot: Snapshot) -> str:
    """Return the name of the StatefulSet's newest revision: the running one where the template is the same."""
    live = snapshot.get(StatefulSet, owner.metadata.namespace, owner.metadata.name)
    if live is not None and live.status.update_revision and same_template(live.spec.template, owner.spec.template):
        return live.status.update_revision
    return f"{owner.metadata.name}-{template_hash(owner.spec.template)}"


def _job(job: Job) -> Job:
    """Return the Job whose Pods carry its name and its UID, unless it selects them otherwise.

    Source: pkg/registry/batch/job/strategy.go generateSelector (v1.36).
    """
    if job.spec.selector is not None:
        return job
    created = job_as_created(job)
    metadata = created.spec.template.metadata
    uid = format(zlib.crc32(f"{job.metadata.namespace}/{job.metadata.name}".encode()), "08x")
    identity = dict.fromkeys(JOB_UID_LABELS, uid)
    template = replace(created.spec.template, metadata=replace(metadata, labels={**identity, **metadata.labels}))
    return replace(created, spec=replace(created.spec, template=template))


def _next_job(owner: CronJob) -> Job:
    """Return the CronJob's next Job; the real one is named for the minute in which it starts."""
    metadata = ObjectMeta(
        name=f"{owner.metadata.name}-00000000",
        namespace=owner.metadata.namespace,
        owner_references=(reference_to(owner),),
    )
    return _job(Job(metadata=metadata, spec=owner.spec.job_template.spec))


def _of_daemon_set(owner: DaemonSet, pod: Pod) -> Pod:
    """Return the Pod with the label of its revision, and with what the controller makes all Pods of the kind tolerate.

    Source: daemon/util/daemonset_util.go AddOrUpdateDaemonPodTolerations (v1.36).
    """
    taints = (*_DAEMON_TAINTS, *((_HOST_NETWORK_TAINT,) if pod.spec.host_network else ()))
    added = tuple(Toleration(key=key, operator="Exists", effect=effect) for key, effect in taints)
    spec = replace(pod.spec, tolerations=(*pod.spec.tolerations, *added))
    return _labelled(replace(pod, spec=spec), {REVISION_HASH_LABEL: template_hash(owner.spec.template)})

"""What the controllers would make of a manifest: Pods by name, and what else would then exist.

Names that a real cluster makes up (hashes, random endings) are made up here too: equal for equal templates.

Source: kube-controller-manager pkg/controller/{deployment,statefulset,job,cronjob} (v1.36).
"""

from __future__ import annotations

from msgspec.structs import replace

from kubectl_spread.apiserver.creation import job_as_stored
from kubectl_spread.controllers import deployment, job, next_pod, statefulset
from kubectl_spread.controllers.templates import renamed, same_template, template_hash
from kubectl_spread.objects.core import Node, Pod, ReplicationController
from kubectl_spread.objects.decoding import DecodeError, Plain, plain
from kubectl_spread.objects.kinds import KubernetesObject, Workload
from kubectl_spread.objects.meta import ScaledMeta
from kubectl_spread.objects.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_spread.objects.workloads import CronJob, DaemonSet, Deployment, Job, JobSpec, ReplicaSet, StatefulSet
from kubectl_spread.snapshot import Snapshot

_LONGEST_BASE = 58
"""Characters that are left of a name to which five are added. Source: apiserver names/generate.go (v1.36)."""

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def as_created(owner: KubernetesObject, snapshot: Snapshot) -> tuple[KubernetesObject, ...]:
    """Return the objects that would exist once this one is applied, without Pods and their claims.

    A Deployment brings a ReplicaSet of its revision, a CronJob a Job. A template that is already running keeps its
    revision; any other is a new one, whose Pods nobody counts yet.
    """
    match owner:
        case Deployment() if not owner.spec.paused:
            return owner, deployment.replica_set_of(owner, snapshot)
        case StatefulSet():
            status = replace(owner.status, update_revision=statefulset.revision_of(owner, snapshot))
            return (replace(owner, status=status),)
        case Job():
            return (job_as_stored(owner),)
        case CronJob():
            return owner, job.next_run(owner)
        case _:
            return (owner,)


def as_applied(obj: KubernetesObject, snapshot: Snapshot) -> KubernetesObject:
    """Return the object as it is once it is applied: what it does not say and no manifest can stays as it lives."""
    live = snapshot.get(type(obj), obj.metadata.namespace, obj.metadata.name)
    if isinstance(obj, PersistentVolume | PersistentVolumeClaim) and live is not None:
        return live
    if isinstance(obj, Node) and isinstance(live, Node):
        # What lives and the manifest does not say: labels, taints as a whole, and whether it is cordoned.
        labels = {**live.metadata.labels, **obj.metadata.labels}
        taints = obj.spec.taints or live.spec.taints
        spec = replace(obj.spec, taints=taints, unschedulable=obj.spec.unschedulable or live.spec.unschedulable)
        obj = replace(obj, metadata=replace(obj.metadata, labels=labels), spec=spec)
    status = getattr(live, "status", None)
    if status is not None:
        obj = replace(obj, status=status)
    if isinstance(obj, Deployment | ReplicaSet | StatefulSet | ReplicationController):
        obj = replace(obj, spec=replace(obj.spec, replicas=replicas_applied(obj, snapshot)))
    if isinstance(obj, StatefulSet) and isinstance(live, StatefulSet):
        unchanged = same_template(obj.spec.template, live.spec.template)
        return obj if unchanged else as_created(obj, snapshot)[0]
    return as_created(obj, snapshot)[0]


def first_pod(owner: Workload, snapshot: Snapshot) -> Pod:
    """Return the Pod of which the workload makes replicas, in the snapshot that holds what ``as_created`` says."""
    applied = snapshot.get(type(owner), owner.metadata.namespace, owner.metadata.name) or owner
    revision = template_hash(owner.spec.template) if isinstance(owner, DaemonSet) else ""
    return next_pod.pod_of(applied, snapshot, revision=revision)


def replica(owner: Workload | None, pod: Pod, number: int) -> Pod:
    """Return one replica under the name, the labels and with the volumes that its controller gives it.

    The Pod is what ``first_pod`` returned; the number counts from 1.
    """
    if isinstance(owner, StatefulSet):
        return statefulset.ordinal_pod(owner, pod, owner.spec.ordinals.start + number - 1)
    if isinstance(owner, Job | CronJob) and job.is_indexed(_job_spec(owner)):
        return job.indexed(pod, number - 1, base=_base(pod))
    return renamed(pod, f"{_base(pod)}-{number:05d}")


def _base(pod: Pod) -> str:
    """Return what the names of the Pods of a controller begin with: its own name, or the Pod's where it has none."""
    controller = pod.metadata.controller
    return (controller.name if controller else pod.metadata.name)[:_LONGEST_BASE]


def replicas_of(owner: Workload) -> int:
    """Return how many Pods the workload asks for (count); 1 for a DaemonSet, whose number the nodes decide."""
    match owner:
        case Job() | CronJob():
            return job.at_once(_job_spec(owner))
        case DaemonSet():
            return 1
        case _:
            return owner.spec.replicas_wanted


def replicas_applied(owner: Workload, before: Snapshot) -> int:
    """Return how many Pods the workload asks for once it is applied to the cluster, which may not say so (count).

    ``kubectl apply`` leaves alone what neither the manifest nor the last one that was applied says: the number that an
    autoscaler has set. What the last one said and this one does not is taken back, to what the API defaults it to.
    Of a Job that runs already, what is done is not run again.

    Source: kubectl pkg/cmd/apply/patcher.go, apimachinery pkg/util/strategicpatch CreateThreeWayMergePatch; for
    server-side apply structured-merge-diff merge/update.go prune (v1.36).
    """
    if isinstance(owner, Job):
        running = before.get(Job, owner.metadata.namespace, owner.metadata.name)
        return replicas_of(owner) if running is None else job.wanted_now(replace(owner, status=running.status))
    live = _kept(owner, before)
    return replicas_of(owner if live is None or _is_taken_back(live) else live)


def replicas_taken_back(owner: Workload, before: Snapshot) -> int | None:
    """Return how many replicas (count) live that applying resets to one, None where it resets none."""
    live = _kept(owner, before)
    if live is None or not _is_taken_back(live):
        return None
    return replicas_of(live) if replicas_of(live) != replicas_of(owner) else None


def _kept(owner: Workload, before: Snapshot) -> Workload | None:
    if not isinstance(owner.metadata, ScaledMeta) or getattr(owner.spec, "replicas", None) is not None:
        return None
    return before.get(type(owner), owner.metadata.namespace, owner.metadata.name)


def _is_taken_back(live: Workload) -> bool:
    """Whether whoever applied it last had said how many replicas there are."""
    metadata = live.metadata
    if not isinstance(metadata, ScaledMeta):
        return False
    if LAST_APPLIED in metadata.annotations:
        return says_replicas(metadata.annotations[LAST_APPLIED])
    holders = [entry for entry in metadata.managed_fields if entry.fields_v1.spec.replicas is not None]
    # Another manager that holds it too, as an autoscaler does, keeps it.
    return bool(holders) and all(entry.operation == "Apply" for entry in holders)


def says_replicas(text: str) -> bool:
    """Whether a manifest says how many replicas there are."""
    try:
        values = plain(text.encode())
    except DecodeError:
        return False
    return _field(_field(values, "spec"), "replicas") is not None


def _field(values: Plain, name: str) -> Plain:
    return values.get(name) if isinstance(values, dict) else None


def _job_spec(owner: Job | CronJob) -> JobSpec:
    return owner.spec.job_template.spec if isinstance(owner, CronJob) else owner.spec

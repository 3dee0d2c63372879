"""What controllers create for the object of a manifest: Pods by name, and other objects.

Source: kube-controller-manager pkg/controller/{deployment,statefulset,job,cronjob} (v1.36).
"""

from collections.abc import Iterator

from msgspec.structs import replace

from kubectl_spread.apiserver.admission import admitted_claim
from kubectl_spread.apiserver.apply import last_applied, mapping
from kubectl_spread.apiserver.creation import job_as_stored
from kubectl_spread.controllers import deployment, job, next_pod, statefulset
from kubectl_spread.controllers.revisions import with_revision
from kubectl_spread.controllers.templates import renamed, same_template, template_hash, template_of
from kubectl_spread.controllers.workloads import adopted, adopted_sets
from kubectl_spread.objects import workloads
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Scaled, Workload
from kubectl_spread.objects.meta import KubernetesObject, ObjectMeta
from kubectl_spread.objects.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_spread.snapshot import Snapshot

_LONGEST_BASE = 58  # The length of a name before five random characters. Source: apiserver names/generate.go (v1.36).


def as_created(owner: KubernetesObject, snapshot: Snapshot) -> tuple[KubernetesObject, ...]:
    """Return the objects that exist once this one is applied, without Pods and their claims.

    A Deployment adopts ReplicaSets and creates that of its revision; a CronJob creates a Job. A template that exists
    already keeps its revision, any other one is a new revision.
    """
    match owner:
        case workloads.Deployment():
            taken = adopted_sets(owner, snapshot)
            after = snapshot.with_objects(taken) if taken else snapshot
            return (owner, *taken) if owner.spec.paused else (owner, *taken, deployment.replica_set_of(owner, after))
        case workloads.StatefulSet():
            return (with_revision(owner, snapshot),)
        case workloads.Job():
            return (job_as_stored(owner),)
        case workloads.CronJob():
            return owner, job.next_run(owner)
        case _:
            return (owner,)


def adopted_pods(owner: Workload, snapshot: Snapshot) -> tuple[Pod, ...]:
    """Return the Pods that the workload adopts; for a Deployment those of ReplicaSets that it adopts or creates."""
    pods = [pod for pod in snapshot.within(Pod, owner.metadata.namespace) if not pod.finished]
    orphans = [pod for pod in pods if pod.metadata.controller is None]
    if not isinstance(owner, workloads.Deployment):
        return tuple(adopted(owner, orphans))
    sets = [each for each in as_created(owner, snapshot) if isinstance(each, workloads.ReplicaSet)]
    keys = {each.as_controller for each in sets}
    there = [pod for pod in pods if not pod.terminating and pod.metadata.controller_key in keys]
    return (*there, *(pod for each in sets for pod in adopted(each, orphans)))


def made_for(owner: Workload, snapshot: Snapshot) -> Iterator[KubernetesObject]:
    """Yield the objects that its controller creates before its Pods, or with them, and that do not exist yet.

    Source: history/controller_history.go CreateControllerRevision (v1.36).
    """
    metadata = owner.metadata
    live = snapshot.get(type(owner), metadata.namespace, metadata.name)
    if not isinstance(owner, workloads.Job) and not (isinstance(owner, workloads.CronJob) and owner.spec.suspend):
        made = as_created(owner, snapshot)[1:]
        yield from (each for each in made if snapshot.get(type(each), *each.key) is None)
    revised = live is None or not same_template(template_of(live), template_of(owner))
    if isinstance(owner, workloads.StatefulSet | workloads.DaemonSet) and revised:
        yield workloads.ControllerRevision(metadata=ObjectMeta(name=metadata.name, namespace=metadata.namespace))
    if isinstance(owner, workloads.StatefulSet) and owner.spec.volume_claim_templates:
        pod = statefulset.pod_of(owner)
        for number in range(owner.spec.replicas_wanted):
            ordinal = statefulset.ordinal_pod(owner, pod, owner.spec.ordinals.start + number)
            claims = (admitted_claim(each, snapshot) for each in statefulset.claims_of(owner, ordinal))
            yield from (each for each in claims if snapshot.get(PersistentVolumeClaim, *each.key) is None)


def as_applied(obj: KubernetesObject, snapshot: Snapshot) -> KubernetesObject:
    """Return the merged object as its controller sees it; volumes and claims stay as they are in the cluster."""
    live = snapshot.get(type(obj), obj.metadata.namespace, obj.metadata.name)
    if isinstance(obj, PersistentVolume | PersistentVolumeClaim) and live is not None:
        return live
    if (
        isinstance(obj, workloads.StatefulSet)
        and isinstance(live, workloads.StatefulSet)
        and same_template(obj.spec.template, live.spec.template)
    ):
        return obj
    return as_created(obj, snapshot)[0]


def first_pod(owner: Workload, snapshot: Snapshot) -> Pod:
    """Return the Pod that the workload's replicas are like. The snapshot has the objects of ``as_created``."""
    applied = snapshot.get(type(owner), owner.metadata.namespace, owner.metadata.name) or owner
    revision = template_hash(owner.spec.template) if isinstance(owner, workloads.DaemonSet) else ""
    return next_pod.pod_of(applied, snapshot, revision=revision)


def replica(owner: Workload | None, pod: Pod, number: int) -> Pod:
    """Return a replica with the name, labels and volumes that its controller gives it.

    ``pod`` is the result of ``first_pod``; ``number`` counts from 1.
    """
    if isinstance(owner, workloads.StatefulSet):
        return statefulset.ordinal_pod(owner, pod, owner.spec.ordinals.start + number - 1)
    if isinstance(owner, workloads.Job | workloads.CronJob) and job.is_indexed(job.spec_of(owner)):
        return job.indexed(pod, number - 1, base=_base(pod))
    return renamed(pod, f"{_base(pod)}-{number:05d}")


def _base(pod: Pod) -> str:
    controller = pod.metadata.controller
    return (controller.name if controller else pod.metadata.name)[:_LONGEST_BASE]


def replicas_of(owner: Workload) -> int:
    """Return how many Pods the workload wants (count); 1 for a DaemonSet, whose nodes decide the number."""
    match owner:
        case workloads.Job() | workloads.CronJob():
            return job.at_once(job.spec_of(owner))
        case workloads.DaemonSet():
            return 1
        case _:
            return owner.spec.replicas_wanted


def with_replicas(owner: Workload, number: int) -> Workload:
    """Return the workload with so many replicas (count); a DaemonSet stays as it is."""
    match owner:
        case workloads.Job():
            return replace(owner, spec=_with_pods(owner.spec, number))
        case workloads.CronJob():
            inner = owner.spec.job_template
            inner = replace(inner, spec=_with_pods(inner.spec, number))
            return replace(owner, spec=replace(owner.spec, job_template=inner))
        case workloads.DaemonSet():
            return owner
        case _:
            return replace(owner, spec=replace(owner.spec, replicas=number))


def _with_pods(spec: workloads.JobSpec, number: int) -> workloads.JobSpec:
    completions = None if spec.completions is None else max(spec.completions, number)
    return replace(spec, parallelism=number, completions=completions)


def replicas_applied(owner: Workload, before: Snapshot) -> int:
    """Return how many Pods the merged workload wants (count); finished Pods of a running Job are not run again."""
    if isinstance(owner, workloads.Job):
        running = before.get(workloads.Job, owner.metadata.namespace, owner.metadata.name)
        return replicas_of(owner) if running is None else job.wanted_now(replace(owner, status=running.status))
    return replicas_of(owner)


def replicas_taken_back(owner: KubernetesObject | None, live: KubernetesObject | None) -> int | None:
    """Return the live number of replicas if applying the merged ``owner`` resets it to 1; otherwise None (count)."""
    if not (isinstance(owner, Scaled) and isinstance(live, Scaled)):
        return None
    resets = owner.spec.replicas is None and replicas_of(live) != replicas_of(owner)
    return replicas_of(live) if resets else None


def replicas_scaled(owner: KubernetesObject | None, live: KubernetesObject | None) -> tuple[int, int] | None:
    """Return the live number of replicas and that of the merged ``owner``, if neither apply nor this one set the live.

    None if the numbers are equal, or it is not known what was applied last (counts).
    """
    if not (isinstance(owner, Scaled) and isinstance(live, Scaled)):
        return None
    now, applied = replicas_of(live), mapping(last_applied(live).get("spec")).get("replicas")
    return (now, replicas_of(owner)) if applied is not None and now not in {applied, replicas_of(owner)} else None

"""The next Pod of a workload, with its claims.

Its controller creates it, the API server completes or refuses it, and the living Pods of its revision show the fields
that webhooks inject; if it has none yet, those of the revision before.

Source: pkg/controller/controller_utils.go GetPodFromTemplate (v1.36); the modules that this one uses name others.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.admission import Refusal, mutated, refusals_of
from kubectl_spread.apiserver.creation import job_as_stored, prepared
from kubectl_spread.apiserver.denials import denials
from kubectl_spread.controllers import daemonset, deployment, job, revisions, statefulset
from kubectl_spread.controllers.former_template import as_of
from kubectl_spread.controllers.injected_fields import corrected, like, newest, with_own_claims
from kubectl_spread.controllers.persistent_volumes import created, ephemeral_claims
from kubectl_spread.controllers.templates import (
    may_be_of,
    pod_from_template,
    renamed,
    same_template,
    template_hash,
    template_of,
)
from kubectl_spread.controllers.workloads import (
    OwnedPods,
    adopted,
    controller_of,
    of_revision,
    owner_of,
    revision_of,
    topmost_owner,
)
from kubectl_spread.gaps import Gap
from kubectl_spread.objects.core import Pod, ReplicationController, ResourceQuota
from kubectl_spread.objects.kinds import DAEMON_SET, REPLICA_SET, Workload
from kubectl_spread.objects.storage import PersistentVolumeClaim
from kubectl_spread.objects.workloads import RECREATE, CronJob, DaemonSet, Deployment, Job, ReplicaSet, StatefulSet
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import Constraint, count_all, parsable_constraints
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.snapshot import Snapshot

NAME_TAKEN = 'pods "{}" already exists'  # Source: apimachinery api/errors NewAlreadyExists (v1.36)
Claims: TypeAlias = tuple[PersistentVolumeClaim, ...]


class NextPod(msgspec.Struct, frozen=True, kw_only=True):
    """A Pod as the scheduler gets it."""

    pod: Pod  # the Pod; a model of the existing ones if no other Pod comes
    comes: bool  # whether the workload creates another Pod, by itself or once it is scaled up
    claims: Claims = ()  # the claims that are created with it
    refusals: tuple[Refusal, ...] = ()  # why the API server refuses it; empty if it accepts it
    # the paths of fields that were taken from living Pods, because the template does not have them
    from_living: tuple[str, ...] = ()
    unread: tuple[Gap, ...] = ()  # what is not known about it

    def place(self, handle: Handle) -> Handle:
        """Return the cluster with the Pod's claims."""
        return handle.with_others(created(self.claims, handle.snapshot, handle.profile))


def next_pod(
    workload: OwnedPods,
    snapshot: Snapshot,
    profile: Profile,
    *,
    ordinal: int | None = None,
    former: Sequence[Pod] = (),
) -> NextPod | None:
    """Return the workload's next Pod, of its newest revision; None if it has neither an owner nor Pods.

    ``ordinal`` selects a Pod of a StatefulSet; None is the next one. ``former``: further Pods, which it had before.
    """
    comes = why_none_comes(workload, snapshot) is None
    if workload.owner is None:
        model = newest(workload.pods)
        return _like(model, workload, snapshot, comes=comes) if model else None
    made = _made(workload.owner, workload, snapshot, ordinal)
    living = siblings(made, workload, snapshot) or carried_over(made, (*workload.pods, *former), snapshot, profile)
    found = completed(made, living, snapshot, profile)
    may_come = comes or isinstance(workload.owner, DaemonSet)
    refused = (*found.refusals, *over_quota(found.pod, (), snapshot, profile)) if may_come else ()
    owner, there = workload.owner, snapshot.get(Pod, *found.pod.key)
    if there is not None and (owner_of(there, snapshot) == workload.ref or any(adopted(owner, [there]))):
        refused = ()  # It was created, and waits for a node.
    elif there is not None and isinstance(owner, StatefulSet):
        refused = (Refusal("", NAME_TAKEN.format(there.metadata.name), reason="AlreadyExists"),)
    unread = statefulset.guessed(owner, found.pod, workload.pods, snapshot) if isinstance(owner, StatefulSet) else ()
    claims = tuple(claims_of(owner, found.pod))
    return replace(found, comes=comes, claims=claims, refusals=refused, unread=unread)


def older_revisions(workload: OwnedPods, upcoming: Pod, handle: Handle) -> dict[str, tuple[Pod, tuple[Pod, ...]]]:
    """Return revision → (a model of its Pods, its Pods) for revisions that want Pods and are counted differently.

    They have other constraints, or Pods on nodes for which other nodes count. ``upcoming``: the next Pod, which
    represents its own revision and all that are counted alike.
    """
    newest = revision_of(upcoming)
    found: dict[str, tuple[Pod, tuple[Pod, ...]]] = {}
    alive: dict[str, Pod] = {}
    # A Pod on a node represents its revision, if there is one.
    living = (each for each in workload.pods if not each.terminating)
    for pod in sorted(living, key=lambda pod: bool(pod.spec.node_name)):
        owner = controller_of(pod, handle.snapshot)
        if not isinstance(owner, ReplicaSet) or owner.spec.replicas_wanted > 0:
            alive[revision_of(pod)] = pod
    for name, pod in sorted(alive.items()):
        counts = _counted_nodes if pod.spec.node_name else parsable_constraints
        if name != newest and counts(pod, handle) != counts(upcoming, handle):
            found[name] = like(pod, pod.metadata.name), of_revision(workload.pods, name)
    return found


def _counted_nodes(pod: Pod, handle: Handle) -> list[tuple[Constraint, frozenset[str]]]:
    """Return each constraint with the nodes that it counts."""
    pod = daemonset.unpinned(pod)
    found = count_all(parsable_constraints(pod, handle), pod, handle)
    return [(each.constraint, each.counted_nodes) for each in found]


def completed(made: Pod, living: Sequence[Pod], snapshot: Snapshot, profile: Profile) -> NextPod:
    """Return the Pod as the API server completes or refuses it, with the injected fields of living Pods."""
    pod, from_living = corrected(mutated(made, snapshot, profile), made, living)
    refused = (*refusals_of(pod, made, snapshot, profile.release), *denials(pod, snapshot, profile.release))
    stored = prepared(pod, profile.release)
    return NextPod(pod=stored, comes=True, refusals=refused, from_living=from_living)


def carried_over(made: Pod, pods: Iterable[Pod], snapshot: Snapshot, profile: Profile) -> tuple[Pod, ...]:
    """Return the Pods of the newest other revision whose template is known, as they would be of this Pod's template."""
    revision, there = revision_of(made), tuple(pods)
    for pod in sorted(there, key=lambda pod: pod.metadata.creation_timestamp or "", reverse=True):
        name = revision_of(pod)
        # Without a revision, Pods do not show their template.
        if name and name != revision and (old := _from_its_template(pod, snapshot)):
            was, new = mutated(old, snapshot, profile), mutated(made, snapshot, profile)
            return tuple(as_of(each, was, new) for each in of_revision(there, name))
    return ()


def _from_its_template(pod: Pod, snapshot: Snapshot) -> Pod | None:
    """Return what the Pod's controller sent to the API server, apart from a name; None if it is not known."""
    owner, revision = controller_of(pod, snapshot), revision_of(pod)
    if isinstance(owner, StatefulSet | DaemonSet):
        held = revisions.template_of(owner, revision, snapshot)
        if held is not None:
            owner = replace(owner, spec=replace(owner.spec, template=held))
        elif not revisions.is_of_newest_revision(pod, owner):
            return None
    return pod_of(owner, snapshot, revision=revision) if owner else None


def over_quota(pod: Pod, others: Iterable[tuple[Pod, int]], snapshot: Snapshot, profile: Profile) -> Iterator[Refusal]:
    """Yield why the quotas of its namespace refuse the Pod.

    ``others``: (Pod, how many are like it) for Pods that are created before it and are not in the snapshot.
    """
    if any(snapshot.within(ResourceQuota, pod.metadata.namespace)):
        from kubectl_spread.apiserver.resourcequotas import quota_fault

        if fault := quota_fault(pod, others, snapshot, profile.release):
            yield Refusal("", fault, by_policy=True)


def replacement(
    pod: Pod, snapshot: Snapshot, profile: Profile, *, plain: bool = False, by: Workload | None = None
) -> NextPod:
    """Return the Pod that the controller creates in place of this one once it is deleted.

    ``plain``: without the fields that living Pods have and the template lacks. ``by``: the owner that does so instead.
    """
    owner = by or controller_of(pod, snapshot)
    made = _made_again(pod, owner, snapshot)
    if made is None:
        copied = like(pod, f"{pod.metadata.name}-again")
        if pod.metadata.controller_kind == DAEMON_SET.name:
            copied = daemonset.pinned_to(copied, daemonset.place_of(pod))
        return NextPod(pod=copied, comes=True, claims=tuple(ephemeral_claims(copied)))
    own = (each for each in snapshot.alike(pod) if each.metadata.controller == pod.metadata.controller)
    living: tuple[Pod, ...] = ()
    if not plain:
        living = (pod, *own)
        if not is_of_template(pod, made, owner):
            newer = of_revision(snapshot.controlled_by(made.metadata.controller_key, Pod), revision_of(made))
            living = newer or carried_over(made, living, snapshot, profile)
    found = completed(made, living, snapshot, profile)
    return replace(found, claims=tuple(claims_of(owner, found.pod)))


def _made_again(pod: Pod, owner: Workload | None, snapshot: Snapshot) -> Pod | None:
    """Return what the controller sends to the API server; None if its kind is not known."""
    again = f"{pod.metadata.name}-again"
    match owner:
        case StatefulSet():
            return statefulset.made_again(owner, pod, snapshot)
        case DaemonSet():
            old = revisions.is_outdated(pod, owner, snapshot)
            there = snapshot.controlled_by(owner.as_controller, Pod) if old else ()
            made = _of_newest_template(owner, (pod, *there), snapshot)
            return daemonset.pinned_to(renamed(made, again), daemonset.place_of(pod))
        case Deployment() if pod.metadata.controller_kind == REPLICA_SET.name:
            return renamed(deployment.pod_of(owner, snapshot), again)
        case ReplicaSet() | ReplicationController():
            return renamed(pod_from_template(owner), again)
        case _:
            return None


def is_of_newest_revision(pod: Pod, snapshot: Snapshot) -> bool | None:
    """Whether the Pod is of the newest revision of its topmost owner; None if no revision shows it."""
    owner, controller = topmost_owner(pod, snapshot), pod.metadata.controller
    if isinstance(owner, Deployment) and controller is not None and controller.kind == REPLICA_SET.name:
        return controller.name == deployment.replica_set_of(owner, snapshot).metadata.name
    if isinstance(owner, StatefulSet | DaemonSet) and revision_of(pod):
        return revisions.is_of_newest_revision(pod, owner)
    return None


def older_pods(pod: Pod, snapshot: Snapshot) -> tuple[Pod, ...]:
    """Return the Pods on nodes that the rollout that creates this Pod replaces.

    Empty if the Pod's Deployment replaces no Pods now, or all at once.
    """
    owner = topmost_owner(pod, snapshot)
    rolls = isinstance(owner, Deployment) and not owner.spec.paused and owner.spec.strategy.type != RECREATE
    if not (rolls and isinstance(owner, Deployment) and is_of_newest_revision(pod, snapshot)):
        return ()
    own = (
        each for each in deployment.replica_sets(owner, snapshot) if each.as_controller != pod.metadata.controller_key
    )
    pods = (each for older in own for each in snapshot.controlled_by(older.as_controller, Pod))
    return tuple(each for each in pods if each.spec.node_name and not (each.finished or each.terminating))


def releasing_owner(pod: Pod, snapshot: Snapshot) -> Deployment | StatefulSet | None:
    """Return the owner with the least change after which it replaces this Pod of an older revision.

    A Deployment is resumed, a partition is lowered to the Pod's ordinal. None if it needs no change.
    """
    owner = topmost_owner(pod, snapshot)
    if is_of_newest_revision(pod, snapshot) is not False:
        return None
    if isinstance(owner, Deployment) and owner.spec.paused:
        return replace(owner, spec=replace(owner.spec, paused=False))
    if isinstance(owner, StatefulSet) and statefulset.ordinal_of(pod) < statefulset.first_updated_ordinal(owner):
        return statefulset.with_partition(owner, statefulset.ordinal_of(pod))
    return None


def is_upgraded(pod: Pod, snapshot: Snapshot) -> bool:
    """Whether the controller replaces the Pod, once it is deleted, with one of a newer template."""
    owner = controller_of(pod, snapshot)
    made = _made_again(pod, owner, snapshot)
    unknown = made is not None and isinstance(owner, StatefulSet | DaemonSet) and not revision_of(made)
    return made is not None and not unknown and not is_of_template(pod, made, owner)


def is_of_template(pod: Pod, made: Pod, owner: Workload | None) -> bool:
    """Whether the Pod has the same template as its replacement."""
    # Admission may have completed ``made``, and Pods of these kinds may have no revision.
    template = pod_from_template(owner) if isinstance(owner, ReplicaSet | ReplicationController) else made
    is_known = isinstance(owner, StatefulSet | DaemonSet) or revision_of(pod) or may_be_of(template, pod)
    return bool(is_known) and revision_of(made) == revision_of(pod)


class NoneComes(StrEnum):
    """Why a workload creates no other Pod."""

    DELETED = "Deleted"
    UNMANAGED = "Unmanaged"
    ON_EACH_NODE = "OnEachNode"
    PAUSED = "Paused"
    SUSPENDED = "Suspended"
    SCALED_TO_0 = "ScaledTo0"
    COMPLETE = "Complete"
    FAILED = "Failed"
    ALL_RUN = "AllRun"
    OTHER_CONTROLLER = "OtherController"
    REFUSED = "Refused"


def why_none_comes(workload: OwnedPods, snapshot: Snapshot) -> NoneComes | None:
    """Return why there is no next Pod; None if there is one.

    A paused Deployment does not roll out, but creates missing Pods.

    Source: kube-controller-manager deployment_controller.go syncDeployment, replica_set.go syncReplicaSet,
    stateful_set_control.go updateStatefulSet, cronjob_controllerv2.go syncCronJob (v1.36).
    """
    found: NoneComes | None = None
    match workload.owner:
        case None if workload.ref.kind == "Pod":
            found = NoneComes.UNMANAGED
        case None:
            found = NoneComes.ON_EACH_NODE if any(map(daemonset.is_pinned, workload.pods)) else None
        case owner if owner.metadata.deletion_timestamp:
            found = NoneComes.DELETED
        case DaemonSet():
            found = NoneComes.ON_EACH_NODE
        case Job():
            found = _why_no_more(workload.owner, workload.pods)
        case CronJob():
            found = _why_no_run(workload.owner)
        case owner if owner.spec.replicas == 0:
            found = NoneComes.SCALED_TO_0
        case Deployment() if workload.owner.spec.paused:
            # Its ReplicaSets are scaled, and no new one is created. Source: deployment/sync.go sync, scale (v1.36).
            living = sum(not pod.terminating for pod in workload.pods)
            lacks = living < workload.owner.spec.replicas_wanted and deployment.replica_sets(workload.owner, snapshot)
            found = None if lacks else NoneComes.PAUSED
    return found


def _why_no_run(owner: Job | CronJob) -> NoneComes | None:
    if job.foreign_manager(owner):
        return NoneComes.OTHER_CONTROLLER
    if owner.spec.suspend:
        return NoneComes.SUSPENDED
    return None if job.at_once(job.spec_of(owner)) else NoneComes.SCALED_TO_0


def _why_no_more(owner: Job, pods: Sequence[Pod]) -> NoneComes | None:
    if job.wants_more(owner, pods):
        return None
    if owner.failed:
        return NoneComes.FAILED
    if owner.finished:
        return NoneComes.COMPLETE
    # One Pod that succeeded ends a work queue once the others have ended.
    runs = job.wanted_now(owner) or any(not pod.finished for pod in pods)
    return _why_no_run(owner) or (NoneComes.ALL_RUN if runs else NoneComes.COMPLETE)


def pod_of(owner: Workload, snapshot: Snapshot, *, revision: str = "") -> Pod:
    """Return the Pod of the workload's newest revision as its controller creates it, without ordinal, index or node.

    ``revision`` is the name of a DaemonSet's revision, which is not in its status.
    """
    match owner:
        case Deployment():
            return deployment.pod_of(owner, snapshot)
        case StatefulSet():
            return statefulset.pod_of(owner)
        case DaemonSet():
            return daemonset.pod_of(owner, revision)
        case CronJob():
            return pod_from_template(job.next_run(owner))
        case Job():
            return pod_from_template(job_as_stored(owner))
        case _:
            return pod_from_template(owner)


def claims_of(owner: Workload | None, pod: Pod) -> Iterator[PersistentVolumeClaim]:
    """Yield the claims that are created with this Pod: for ephemeral volumes, and from a StatefulSet's templates."""
    yield from ephemeral_claims(pod)
    if isinstance(owner, StatefulSet):
        yield from statefulset.claims_of(owner, pod)


def _made(owner: Workload, workload: OwnedPods, snapshot: Snapshot, ordinal: int | None) -> Pod:
    if isinstance(owner, DaemonSet):
        return _of_newest_template(owner, workload.pods, snapshot)
    pod = pod_of(owner, snapshot)
    if isinstance(owner, StatefulSet):
        ordinal = statefulset.next_ordinal(owner, workload.pods) if ordinal is None else ordinal
        made = statefulset.of_its_revision(owner, pod, ordinal, workload.pods, snapshot)
        return statefulset.ordinal_pod(owner, made, ordinal)
    if isinstance(owner, Job) and job.is_indexed(owner.spec):
        return job.indexed(pod, next(job.free_indexes(owner, workload.pods), 0), base=owner.metadata.name)
    if isinstance(owner, CronJob) and job.is_indexed(owner.spec.job_template.spec):
        return job.indexed(pod, 0, base=pod.metadata.name)
    return pod


def _of_newest_template(owner: DaemonSet, pods: Sequence[Pod], snapshot: Snapshot) -> Pod:
    """Return its Pod, not yet pinned, with the revision of its newest Pod that is up to date."""
    model = newest(pod for pod in pods if not revisions.is_outdated(pod, owner, snapshot))
    unlike = template_hash(owner.spec.template) if pods else ""
    return daemonset.pod_of(owner, revision_of(model) if model else unlike)


def siblings(made: Pod, workload: OwnedPods, snapshot: Snapshot) -> tuple[Pod, ...]:
    """Return the living Pods of the workload that have the same template."""
    match workload.owner:
        case Deployment() | StatefulSet() | DaemonSet():
            return of_revision(workload.pods, revision_of(made))
        case Job():
            return workload.pods
        case CronJob(spec=spec):
            template = spec.job_template.spec.template.spec
            runs = ((pod, controller_of(pod, snapshot)) for pod in workload.pods)
            return tuple(pod for pod, run in runs if isinstance(run, Job) and run.spec.template.spec == template)
        case _:
            # Pods of these kinds have no revision, so they are compared with the template.
            owner = workload.owner
            live = snapshot.get(type(owner), owner.metadata.namespace, owner.metadata.name) if owner else None
            changes = owner and live and not same_template(template_of(live), template_of(owner))
            return () if changes else tuple(pod for pod in workload.pods if may_be_of(made, pod))


def _like(model: Pod, workload: OwnedPods, snapshot: Snapshot, *, comes: bool) -> NextPod:
    """Return the next Pod of an owner that was not read: a copy of its newest one."""
    if not comes:
        return NextPod(pod=like(model, model.metadata.name), comes=False)
    pod = like(model, workload.ref.name)
    pod, claims = with_own_claims(pod, workload.pods, snapshot)
    return NextPod(pod=pod, comes=True, claims=(*claims, *ephemeral_claims(pod)))

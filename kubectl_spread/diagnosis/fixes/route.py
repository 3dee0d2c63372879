"""How to make a change permanent, and what that triggers.

A change of a Pod belongs in its owner, or the next Pod lacks it. A running Pod accepts only more labels and tolerations
(pkg/apis/core/validation/validation.go ValidatePodUpdate).
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.apiserver.updates import update_errors
from kubectl_spread.apiserver.validation import validate
from kubectl_spread.controllers import revisions
from kubectl_spread.controllers.deployment import replica_set_of
from kubectl_spread.controllers.next_pod import is_of_newest_revision
from kubectl_spread.controllers.statefulset import comes_after, first_updated_ordinal, ordinal_of, with_partition
from kubectl_spread.controllers.templates import reference_to, template_of
from kubectl_spread.controllers.workloads import controller_of, owner_of, revision_of
from kubectl_spread.diagnosis.fixes import conclusion
from kubectl_spread.diagnosis.fixes.candidate import (
    Candidate,
    ChangeNode,
    ChangeOwner,
    DeletePod,
    EditPod,
    NewNode,
    PodEdit,
    ReplacePod,
    as_template,
    edited,
    edits_of,
    operations_of,
    with_edits,
)
from kubectl_spread.diagnosis.fixes.change import Disturbance, ManifestEdit, Operations, PatchOperation
from kubectl_spread.diagnosis.fixes.conclusion import (
    Command,
    Effect,
    Fragment,
    Keeper,
    Obstacle,
    Obstructed,
    Rollout,
    Route,
    Verb,
)
from kubectl_spread.diagnosis.fixes.constraints import AddPodLabel
from kubectl_spread.diagnosis.fixes.demands import AddToleration
from kubectl_spread.diagnosis.fixes.fragment import difference, removed, yaml_lines
from kubectl_spread.diagnosis.fixes.moves import MovePod, RollBack
from kubectl_spread.diagnosis.fixes.patch import field_of, pointer, remove, set_to, steps_of, value_at
from kubectl_spread.diagnosis.fixes.situation import Situation, Written
from kubectl_spread.objects import workloads
from kubectl_spread.objects.core import Pod, PodTemplateSpec, ReplicationController
from kubectl_spread.objects.decoding import plain
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.meta import ARGO_TRACKING_ID, HELM_RELEASE, KubernetesObject, Plain
from kubectl_spread.release import Release

TEMPLATE = "/spec/template"
PARTITION = "/spec/updateStrategy/rollingUpdate/partition"
PAUSED = "/spec/paused"
JOB_TEMPLATE = "/spec/jobTemplate/spec/template"
INSTANCE = "app.kubernetes.io/instance"
ARGO_INSTANCE = "argocd.argoproj.io/instance"
MANAGED_BY = "app.kubernetes.io/managed-by"
# Flux's kind → the label prefix with which its controller marks the objects that it keeps.
FLUX = {"Kustomization": "kustomize.toolkit.fluxcd.io", "HelmRelease": "helm.toolkit.fluxcd.io"}


def routes_of(parts: Sequence[Candidate], situation: Situation, waiting: Sequence[Pod] = ()) -> Iterator[Route]:
    """Yield how to make the changes permanent: in nodes, in other Pods, and in the owner of the Pod.

    ``waiting``: the Pending Pods of the workload, this one first; empty for this one alone.
    """
    waiting = waiting or (situation.pod,)
    for part in parts:
        if isinstance(part, ReplacePod):
            yield _in_order(_recreate(part, situation, waiting), situation)
        elif isinstance(part, ChangeOwner):
            yield _change_owner_itself(part, situation)
        elif not isinstance(part, EditPod):
            yield _change_object(part)
    changed = [part for part in parts if isinstance(part, EditPod)]
    if changed:
        yield from (_in_order(route, situation) for route in _change_pod(changed, situation, waiting))


def _in_order(route: Route, situation: Situation) -> Route:
    """Return the route with the Pod that has to be Ready before the owner recreates those that are deleted."""
    owner, deletes = situation.topmost_owner, any(each.verb == "delete" for each in route.commands)
    if not deletes or not isinstance(owner, workloads.StatefulSet):
        return route
    before = (pod for pod in comes_after(owner, situation.pod, situation.running) if not pod.ready)
    return replace(route, after=next((pod.metadata.name for pod in before), ""))


def _recreate(part: ReplacePod, situation: Situation, waiting: Sequence[Pod]) -> Route:
    """Return how the Pending Pods get the current template: by their deletion, once their owner lets them have it."""
    before, released = situation.topmost_owner, part.released
    snapshot = situation.handle.snapshot
    waiting = [pod for pod in waiting if not is_of_newest_revision(pod, snapshot)] or [situation.pod]
    if isinstance(before, workloads.StatefulSet) and released is not None:
        return _lower_partition(before, situation, waiting)
    if before is None or released is None:
        owner = str(owner_of(part.obj, snapshot))
        return Route(
            commands=_deletions(waiting),
            effect=conclusion.TemplateApplied(owner=owner, lacks=part.lacks, waiting=len(waiting)),
            disturbs=Disturbance.REPLACED if _lets_rollout_go_on(before, situation) else Disturbance.NOTHING,
        )
    if not isinstance(part.proposal, RollBack):
        route = _roll_back(_resumed(Route(), released, situation), released, situation)
        return _with_source(route, before, released, situation)
    to = 0 if part.proposal.previous else part.proposal.revision
    undo = Route(
        commands=(replace(_command("rollout undo", released), revision=to),),
        effect=Rollout(owner=_type_and_name(released)),
        disturbs=Disturbance.REPLACED,
    )
    # The source has more fields of the template than are known.
    return replace(_with_source(_roll_back(undo, released, situation), before, released, situation), fragment=None)


def _change_owner_itself(part: ChangeOwner, situation: Situation) -> Route:
    """Return how to change the owner in the middle of its rollout, which then replaces the older Pods."""
    before = situation.patchable_owner or part.changed
    older = sum(pod.metadata.controller_key != part.obj.metadata.controller_key for pod in situation.running)
    route = Route(
        commands=(_command("patch", before, part.operations),),
        effect=Rollout(owner=_type_and_name(before), pods=older),
        disturbs=Disturbance.REPLACED,
    )
    return _with_source(route, before, part.changed, situation)


def _resumed(change: Route, owner: Workload, situation: Situation) -> Route:
    """Return the change of a paused Deployment, resumed after it; in its manifest, if that pauses it again."""
    rollout = replace(
        change,
        effect=Rollout(owner=_type_and_name(owner), pods=situation.living),
        disturbs=Disturbance.REPLACED,
        paused=True,
    )
    if situation.written is not None and value_at(PAUSED, situation.written.values):
        edit = _manifest_edit(PAUSED, set_to(PAUSED, value=False), situation.written.values)
        return replace(rollout, edits=(*change.edits, edit))
    return replace(rollout, commands=(*change.commands, _command("rollout resume", owner)))


def _lets_rollout_go_on(owner: Workload | None, situation: Situation) -> bool:
    """Whether running Pods are replaced once the Pending one is deleted: a rollout waits for it."""
    if not isinstance(owner, workloads.StatefulSet) or owner.spec.update_strategy.type == workloads.ON_DELETE:
        return False
    first = first_updated_ordinal(owner)
    renewed = (pod for pod in situation.running if ordinal_of(pod) >= first)
    return any(not revisions.is_of_newest_revision(pod, owner) for pod in renewed)


def _lower_partition(before: workloads.StatefulSet, situation: Situation, waiting: Sequence[Pod]) -> Route:
    """Return how the Pending Pods get the newest template: the partition is lowered to the first of them."""
    first = first_updated_ordinal(before) - before.spec.ordinals.start
    lowest = min(map(ordinal_of, waiting))
    between = [pod for pod in situation.running if lowest <= ordinal_of(pod) < first_updated_ordinal(before)]
    replaced = sum(not revisions.is_of_newest_revision(pod, before) for pod in between)
    lower = set_to(PARTITION, max(lowest - before.spec.ordinals.start, 0))
    route = Route(
        commands=(_command("patch", before, (lower,)), *_deletions(waiting)),
        effect=conclusion.PartitionLowered(
            owner=_type_and_name(before), partition=first, pods=replaced, waiting=len(waiting)
        ),
        disturbs=Disturbance.REPLACED if replaced else Disturbance.NOTHING,
    )
    return _with_source(route, before, with_partition(before, lowest), situation)


def _deletions(pods: Sequence[Pod]) -> tuple[Command, ...]:
    """Return the command that deletes the Pods of one namespace; none for none."""
    if not pods:
        return ()
    first, *others = (pod.metadata.name for pod in pods)
    return (replace(_command("delete", pods[0]), name=first, others=tuple(others)),)


def _change_object(part: ChangeNode | NewNode | DeletePod) -> Route:
    """Return how to change an object. A Pod that is being deleted is deleted by force, unless it has finalizers."""
    if not isinstance(part, DeletePod):
        return Route(commands=(part.command,) if isinstance(part, ChangeNode) else ())
    pod = part.obj
    if pod.terminating and pod.metadata.finalizers:
        return Route()
    disturbs = Disturbance.REPLACED if pod.metadata.controller else Disturbance.LOST
    verb: Verb = "evict" if isinstance(part.proposal, MovePod) and part.proposal.evicted else "delete"
    return Route(commands=(replace(_command(verb, pod), force=pod.terminating),), disturbs=disturbs)


def _command(verb: Verb, obj: Pod | Workload, operations: Operations = ()) -> Command:
    """Return the command on an object: a patch in place, or a replacement with a patched copy."""
    metadata, kind = obj.metadata, type(obj).__name__.lower()
    return Command(verb=verb, kind=kind, namespace=metadata.namespace, name=metadata.name, operations=operations)


def _change_pod(parts: Sequence[EditPod], situation: Situation, waiting: Sequence[Pod]) -> Iterator[Route]:
    """Yield how to change the Pod itself, if that is possible while it exists, then how to change its owner."""
    pod, edits = situation.pod, edits_of(parts)
    if situation.written is not None:
        yield _change_manifest(edits, situation.written, situation, waiting)
        return
    live = all(isinstance(part.proposal, AddToleration | AddPodLabel) for part in parts)
    if situation.bound_for is None and live:
        command = _command("patch", pod, operations_of(edits, as_template(pod)))
        if pod.metadata.controller is None:
            yield Route(commands=(command,), fragment=_fragment_of(pod, edited(pod, edits)))
            return
        if isinstance(situation.topmost_owner, workloads.Job):
            yield _patch_pods_of_job(command, edits, situation.topmost_owner, waiting)
            return
        yield Route(commands=(command,), effect=conclusion.ThisPodOnly())
    yield change_owner(edits, situation, waiting)


def _patch_pods_of_job(command: Command, edits: Sequence[PodEdit], job: workloads.Job, waiting: Sequence[Pod]) -> Route:
    """Return how to patch the Pending Pods of a Job, whose template cannot be changed while it exists."""
    same = [pod for pod in waiting[1:] if operations_of(edits, as_template(pod)) == command.operations]
    patch = replace(command, others=tuple(pod.metadata.name for pod in same))
    effect = conclusion.PendingPodsOnly(owner=_type_and_name(job), waiting=len(patch.others) + 1)
    return Route(commands=(patch,), effect=effect)


def change_owner(edits: Sequence[PodEdit], situation: Situation, waiting: Sequence[Pod]) -> Route:
    """Return how to edit the template of the Pod's owner; ``waiting``: its Pending Pods, which may be deleted."""
    pod, snapshot = situation.pod, situation.handle.snapshot
    if pod.metadata.controller is None:
        # It has no owner, and its constraints cannot be changed.
        command = _command("replace", pod, operations_of(edits, as_template(pod)))
        return Route(commands=(command,), effect=conclusion.PodRecreated())
    owner = situation.patchable_owner
    if owner is None:
        fields = dict.fromkeys(field_of(each.path) for each in operations_of(edits, as_template(pod)))
        return Route(
            effect=conclusion.TemplateUnreadable(owner=str(owner_of(pod, snapshot)), fields=tuple(fields)),
            # Which other Pods come from that template is not known.
            disturbs=Disturbance.REPLACED,
            fragment=_fragment_of(as_template(pod), as_template(edited(pod, edits))),
        )
    try:
        if not _stays_valid(owner, edits, situation.handle.profile.release):
            return Route(effect=Obstructed(owner=_type_and_name(owner), why=Obstacle.TEMPLATE_INVALID))
        return _with_source(_patch_owner(owner, edits, situation, waiting), owner, with_edits(owner, edits), situation)
    except LookupError:
        return _where_template_differs(owner, edits, situation)


def _where_template_differs(owner: Workload, edits: Sequence[PodEdit], situation: Situation) -> Route:
    """Return how to make the change where the owner's template lacks the field: it may have changed since."""
    job = controller_of(situation.pod, situation.handle.snapshot)
    if isinstance(owner, workloads.CronJob) and isinstance(job, workloads.Job):
        with suppress(LookupError):
            return _with_source(_recreate_job(job, edits), job, with_edits(job, edits), situation)
    why = _why_different(situation) or Obstacle.TEMPLATE_DIFFERS
    return Route(effect=Obstructed(owner=_type_and_name(owner), why=why))


def _why_different(situation: Situation) -> Obstacle | None:
    """Return why the template lacks a field of the Pod, or needs no change; None if no revision shows it."""
    newest = situation.is_of_newest_revision
    return None if newest is None else Obstacle.WEBHOOK_DIFFERS if newest else Obstacle.TEMPLATE_NEEDS_NONE


def _with_source(route: Route, owner: Workload, changed: Workload, situation: Situation) -> Route:
    """Return the route with how many of the owner's Pods run, what keeps the owner, and what to write in its source."""
    keeper = keeper_of(owner)
    return replace(
        route,
        # A keeper that reverts patches makes them useless.
        commands=() if keeper is not None and keeper.reverts else route.commands,
        effect=_with_running(route, owner, situation),
        disturbs=_disturbance_of(route.disturbs, situation),
        fragment=_fragment_of(owner, changed),
        keeper=keeper,
    )


def _with_running(route: Route, owner: Workload, situation: Situation) -> Effect | None:
    """Return the effect with how many of the replaced Pods run."""
    effect = route.effect
    if not isinstance(effect, conclusion.Replacing) or route.disturbs is Disturbance.NOTHING:
        return effect
    if not situation.running:
        effect = replace(effect, nothing_runs=True)
    elif not isinstance(effect, conclusion.BehindPartition):
        replaced = effect.pods if isinstance(effect, Rollout) and not effect.waiting else None
        most = replaced or getattr(owner.spec, "replicas_wanted", None) or 0
        effect = replace(effect, at_work=situation.at_work if situation.at_work < most else None)
    if isinstance(effect, Rollout) and isinstance(owner, workloads.Deployment):
        effect = replace(effect, all_at_once=owner.spec.strategy.type == workloads.RECREATE)
    return effect


def keeper_of(owner: Workload) -> Keeper | None:
    """Return what keeps the workload as its source describes it; None if nothing shows it.

    Source: Argo CD util/argo/resource_tracking.go, Flux pkg/ssa and kustomize-controller (owner labels), Helm 3
    pkg/action/validate.go.
    """
    annotations, labels = owner.metadata.annotations, owner.metadata.labels
    # Objects of a chart may name Helm too; the tool that applies them comes first.
    if ARGO_TRACKING_ID in annotations or ARGO_INSTANCE in labels:
        tracked = annotations.get(ARGO_TRACKING_ID, "").partition(":")[0]
        return Keeper(
            f"Argo CD application {tracked or labels.get(ARGO_INSTANCE) or labels.get(INSTANCE, '')}".rstrip()
        )
    for kind, prefix in FLUX.items():
        if f"{prefix}/name" in labels:
            names = filter(None, (labels.get(f"{prefix}/namespace"), labels[f"{prefix}/name"]))
            return Keeper(f"Flux {kind} {'/'.join(names)}")
    if HELM_RELEASE in annotations or labels.get(MANAGED_BY) == "Helm":
        return Keeper(
            f"Helm release {annotations.get(HELM_RELEASE) or labels.get(INSTANCE, '')}".rstrip(), reverts=False
        )
    return None


def _stays_valid(owner: Workload, edits: Sequence[PodEdit], release: Release) -> bool:
    """Whether the API server accepts the edited owner as far as the owner now; LookupError if an edit does not fit."""
    return set(validate(with_edits(owner, edits), release)) <= set(validate(owner, release))


def _change_manifest(edits: Sequence[PodEdit], written: Written, situation: Situation, waiting: Sequence[Pod]) -> Route:
    """Return how to make the edits in the manifest, and whether the API server refuses them for the existing object."""
    pod, release = situation.pod, situation.handle.profile.release
    owner = written.obj
    named = str(owner_of(pod, situation.handle.snapshot)) if owner is None else _type_and_name(owner)
    try:
        operations = operations_of(edits, written.template)
        changed = tuple(_manifest_edit(written.path + each.path, each, written.values) for each in operations)
        if owner is None:
            return Route(edits=changed, fragment=_fragment_of(as_template(pod), as_template(edited(pod, edits))))
        if not isinstance(owner, Pod) and not _stays_valid(owner, edits, release):
            return Route(effect=Obstructed(owner=named, why=Obstacle.TEMPLATE_INVALID))
    except LookupError:
        why = _why_different(situation) or Obstacle.MANIFEST_DIFFERS
        return _change_live(edits, written.live) or Route(effect=Obstructed(owner=named, why=why))
    after, live = with_edits(owner, edits), written.live
    route = Route(edits=changed, fragment=_fragment_of(owner, after))
    if live is None or {*update_errors(after, live, release)} <= {*update_errors(owner, live, release)}:
        return _replace_old(route, written, situation, waiting)
    disturbs = _disturbance_of(Disturbance.LOST, situation)
    return replace(route, effect=Obstructed(owner=named, why=Obstacle.UPDATE_REFUSED), disturbs=disturbs)


def _replace_old(route: Route, written: Written, situation: Situation, waiting: Sequence[Pod]) -> Route:
    """Return the change of a manifest, with what replaces the Pending Pods that exist, if the owner does not."""
    owner, old = situation.topmost_owner, [pod for pod in waiting if written.before.get(Pod, *pod.key)]
    paused = isinstance(owner, workloads.Deployment) and owner.spec.paused
    if owner is None or not old or not (paused or _keeps_pods(owner)):
        return route
    rollout = _roll_out(route, owner, old, situation)
    return replace(rollout, disturbs=_disturbance_of(rollout.disturbs, situation))


def _keeps_pods(owner: Workload) -> bool:
    """Whether the owner does not replace Pods that wait for a node after a change of its template."""
    on_delete = isinstance(owner, workloads.DaemonSet) and owner.spec.update_strategy.type == workloads.ON_DELETE
    return on_delete or isinstance(owner, workloads.StatefulSet | workloads.ReplicaSet | ReplicationController)


def _change_live(edits: Sequence[PodEdit], live: KubernetesObject | None) -> Route | None:
    """Return how to change a field of the existing object that its manifest lacks; None if it lacks the field too."""
    if not isinstance(live, Workload) or isinstance(live, workloads.Job):
        return None
    with suppress(LookupError):
        patch = _command("patch", live, _template_operations(live, edits))
        return Route(commands=(patch,), effect=Obstructed(owner=_type_and_name(live), why=Obstacle.LIVE_DIFFERS))
    return None


def _manifest_edit(path: str, operation: PatchOperation, values: Plain) -> ManifestEdit:
    """Return an operation as the values of its field before and after it, in YAML; ``values`` is the file's object."""
    last = steps_of(path)[-1]
    before = value_at(path, values)
    after = None if operation.value is UNSET else plain(msgspec.json.encode(operation.value))
    return ManifestEdit(path=field_of(path), before=_item_yaml(last, before), after=_item_yaml(last, after))


def _item_yaml(step: str, value: Plain) -> str:
    if value is None:
        return ""
    is_item = step == "-" or step.isdecimal()
    return "\n".join(yaml_lines([value] if is_item else {step: value}))


def _fragment_of(before: Pod | Workload | PodTemplateSpec, after: object) -> Fragment:
    old, new = (plain(msgspec.json.encode(each)) for each in (before, after))
    fragment = Fragment(removed=tuple(removed(old, new)), fields=difference(old, new), former=difference(new, old))
    if isinstance(before, PodTemplateSpec):
        return fragment
    (namespace, name), api_version = before.key, "v1" if isinstance(before, Pod) else reference_to(before).api_version
    return replace(fragment, api_version=api_version, kind=type(before).__name__, namespace=namespace, name=name)


def _disturbance_of(disturbs: Disturbance, situation: Situation) -> Disturbance:
    return disturbs if situation.running else Disturbance.NOTHING


def _type_and_name(owner: Workload | Pod) -> str:
    return f"{type(owner).__name__.lower()}/{owner.metadata.name}"


def _template_operations(owner: Workload, edits: Sequence[PodEdit]) -> Operations:
    prefix = JOB_TEMPLATE if isinstance(owner, workloads.CronJob) else TEMPLATE
    return tuple(replace(each, path=prefix + each.path) for each in operations_of(edits, template_of(owner)))


def _patch_owner(owner: Workload, edits: Sequence[PodEdit], situation: Situation, waiting: Sequence[Pod]) -> Route:
    if isinstance(owner, workloads.Job):
        return _recreate_job(owner, edits)
    patch = Route(commands=(_command("patch", owner, _template_operations(owner, edits)),))
    if isinstance(owner, workloads.CronJob):
        return replace(patch, effect=conclusion.NextRun(owner=_type_and_name(owner)))
    # A Pod that is evicted later is recreated with the change.
    pending = waiting if situation.bound_for is None else ()
    return _roll_back(_roll_out(patch, owner, pending, situation), with_edits(owner, edits), situation)


def _roll_out(change: Route, owner: Workload, waiting: Sequence[Pod], situation: Situation) -> Route:
    """Return the change of an owner's template, with what makes the owner replace its Pods."""
    if _keeps_pods(owner):
        return _patch_and_delete(owner, waiting, change, situation.running)
    if isinstance(owner, workloads.Deployment) and owner.spec.paused:
        return _resumed(change, owner, situation)
    pods = situation.living if isinstance(owner, workloads.Deployment) else None
    return replace(change, effect=Rollout(owner=_type_and_name(owner), pods=pods), disturbs=Disturbance.REPLACED)


def _roll_back(route: Route, changed: Workload, situation: Situation) -> Route:
    """Return the route where the Pods stay that an older revision with the changed template has."""
    staying = _staying_pods(changed, situation)
    if not isinstance(route.effect, Rollout) or not staying:
        return route
    controller = staying[0].metadata.controller
    by_set = controller is not None and controller.kind == workloads.ReplicaSet.__name__
    reused = f"replicaset/{controller.name}" if controller and by_set else f"revision {revision_of(staying[0])}"
    effect = conclusion.Rollback(owner=route.effect.owner, reused=reused, pods=len(staying))
    if by_set and isinstance(changed, workloads.Deployment):
        created = max(changed.spec.replicas_wanted - len(staying), 0)
        others = sum(pod.at_work for pod in situation.running if pod not in staying)
        effect = replace(effect, created=created, others=others)
    disturbs = Disturbance.NOTHING if len(staying) == len(situation.running) else route.disturbs
    return replace(route, effect=effect, disturbs=disturbs)


def _staying_pods(changed: Workload, situation: Situation) -> Sequence[Pod]:
    """Return the running Pods that stay because their revision has the changed template."""
    snapshot, running = situation.handle.snapshot, situation.running
    if isinstance(changed, workloads.Deployment):
        reused = replica_set_of(changed, snapshot).metadata.name
        return [pod for pod in running if pod.metadata.controller and pod.metadata.controller.name == reused]
    if not isinstance(changed, workloads.StatefulSet | workloads.DaemonSet):
        return ()
    known = [pod for pod in running if revisions.template_of(changed, revision_of(pod), snapshot)]
    return [pod for pod, _ in revisions.of_older_revision(changed, snapshot, known)]


def keeps_all_pods(parts: Sequence[Candidate], situation: Situation) -> bool:
    """Whether all running Pods have the template that the changes make, so that no other revision is left."""
    owner = situation.written.obj if situation.written else situation.patchable_owner
    if not isinstance(owner, Workload):
        return False
    try:
        changed = with_edits(owner, edits_of(parts))
    except LookupError:
        return False
    return 0 < len(_staying_pods(changed, situation)) == len(situation.running)


def _patch_and_delete(owner: Workload, waiting: Sequence[Pod], change: Route, running: Sequence[Pod]) -> Route:
    """Return the patch of an owner that keeps its Pods until they are deleted, and the deletion of the Pending ones."""
    named = _type_and_name(owner)
    if not isinstance(owner, workloads.StatefulSet) or owner.spec.update_strategy.type == workloads.ON_DELETE:
        effect = conclusion.PodsRecreated(owner=named, waiting=len(waiting)) if waiting else None
        return replace(change, commands=(*change.commands, *_deletions(waiting)), effect=effect)
    first = first_updated_ordinal(owner)
    updated = [pod for pod in waiting if ordinal_of(pod) >= first]
    # Ordinals that do not exist yet are not replaced.
    pods = sum(ordinal_of(pod) >= first for pod in (*running, *updated))
    route = replace(change, commands=(*change.commands, *_deletions(updated)), disturbs=Disturbance.REPLACED)
    if not waiting or waiting[0] in updated:
        # The rollout waits for the Pending Pod forever, unless that is deleted.
        return replace(route, effect=Rollout(owner=named, pods=pods, waiting=len(updated)))
    partition = first - owner.spec.ordinals.start
    behind = conclusion.BehindPartition(owner=named, partition=partition, pods=pods, waiting=len(updated))
    return replace(route, effect=behind, disturbs=Disturbance.REPLACED if pods else Disturbance.NOTHING)


def _recreate_job(job: workloads.Job, edits: Sequence[PodEdit]) -> Route:
    """Return how to recreate a Job, whose template cannot be changed, without what the API server added to it."""
    operations = [*_template_operations(job, edits)]
    if job.spec.selector is not None and any(
        label in job.spec.selector.match_labels for label in workloads.JOB_UID_LABELS
    ):
        operations.append(remove("/spec/selector"))
        operations += [
            remove(TEMPLATE + pointer("metadata", "labels", label))
            for label in (*workloads.JOB_UID_LABELS, *workloads.JOB_NAME_LABELS)
            if label in job.spec.template.metadata.labels
        ]
    return Route(
        commands=(_command("replace", job, tuple(operations)),),
        effect=conclusion.OwnerRecreated(owner=_type_and_name(job)),
        disturbs=Disturbance.LOST,
    )

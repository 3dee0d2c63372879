"""What a person runs to make a change, and what that sets off.

A change of a Pod has to be made in its owner, or the next Pod is like the last one. Only labels and tolerations can be
added to a Pod that lives (pkg/apis/core/validation/validation.go ValidatePodUpdate).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, assert_never

import msgspec

from kubectl_spread.controllers.statefulset import first_updated_ordinal
from kubectl_spread.controllers.templates import reference_to, template_of
from kubectl_spread.controllers.workloads import owner_of
from kubectl_spread.diagnosis.fixes.candidate import (
    AddNode,
    Candidate,
    ChangeNode,
    DeletePod,
    EditPod,
    PodEdit,
    as_template,
    edited,
    edits_of,
    operations_of,
)
from kubectl_spread.diagnosis.fixes.change import Disturbance, ManifestEdit, PatchOperation
from kubectl_spread.diagnosis.fixes.fragment import difference, merged, removed, yaml_lines
from kubectl_spread.diagnosis.fixes.gitops import keeper_of
from kubectl_spread.diagnosis.fixes.manifest import manifest_edits, may_not_change
from kubectl_spread.diagnosis.fixes.patch import field_of, pointer, remove
from kubectl_spread.diagnosis.fixes.revision import patchable_owner, stays_valid, with_edits
from kubectl_spread.diagnosis.fixes.shell import kubectl, patch_text
from kubectl_spread.diagnosis.fixes.situation import Situation, Written
from kubectl_spread.objects.core import Pod, ReplicationController
from kubectl_spread.objects.decoding import Plain, plain
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.workloads import (
    JOB_NAME_LABELS,
    JOB_UID_LABELS,
    ON_DELETE,
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    StatefulSet,
)

LIVE_CHANGES = frozenset(("AddToleration", "AddPodLabel"))
TEMPLATE = "/spec/template"
JOB_TEMPLATE = "/spec/jobTemplate/spec/template"
_OF_ONE_JOB = (*JOB_UID_LABELS, *JOB_NAME_LABELS)
"""What the API server writes into a Job's template, and refuses in the template of another."""


class Commands(msgspec.Struct, frozen=True):
    """What to run.

    Attributes:
        lines: one command each, in order; empty where no command makes the change.
        starts: what running them sets off, or what to do where there is no command.
        disturbs: what that does to Pods that run.
        yaml: what to write where the Pod comes from, for whoever keeps that elsewhere; empty for other changes.
        source: what keeps the owner as it is; empty where nothing says so.
        edits: what to change in the manifest that is checked; empty for other changes.
    """

    lines: tuple[str, ...] = ()
    starts: str = ""
    disturbs: Disturbance = Disturbance.NOTHING
    yaml: str = ""
    source: str = ""
    edits: tuple[ManifestEdit, ...] = ()


def commands_for(parts: Sequence[Candidate], situation: Situation) -> Commands:
    """Return how to make the changes for good: in nodes, in other Pods, and in the owner of the Pod."""
    beside = [_of_object(part) for part in parts if not isinstance(part, EditPod)]
    changed = [part for part in parts if isinstance(part, EditPod)]
    all_commands = [*beside, *(_of_pod(changed, situation) if changed else ())]
    said = (*(commands.starts for commands in all_commands), *(part.caution for part in parts))
    return Commands(
        lines=tuple(line for commands in all_commands for line in commands.lines),
        starts="; ".join(dict.fromkeys(filter(None, said))),
        disturbs=max((commands.disturbs for commands in all_commands), key=lambda each: each.rank),
        yaml=next(filter(None, (commands.yaml for commands in all_commands)), ""),
        source=next(filter(None, (commands.source for commands in all_commands)), ""),
        edits=tuple(edit for commands in all_commands for edit in commands.edits),
    )


def _of_object(part: ChangeNode | AddNode | DeletePod) -> Commands:
    """Return how to change a node, or to delete a Pod."""
    match part:
        case ChangeNode():
            return Commands((part.command,))
        case AddNode():
            return Commands(starts="nothing here adds a node: scale the node group, or let the autoscaler")
        case DeletePod():
            return _deletion(part.pod)
        case _:
            assert_never(part)


def _deletion(pod: Pod) -> Commands:
    """Return how to delete a Pod; one that is being deleted is forced, unless finalizers keep it."""
    disturbs = Disturbance.REPLACED if pod.metadata.controller else Disturbance.LOST
    if not pod.terminating:
        return Commands((_delete_command(pod),), disturbs=disturbs)
    if pod.metadata.finalizers:
        return Commands(disturbs=disturbs)
    return Commands((_delete_command(pod, "--grace-period=0", "--force"),), disturbs=disturbs)


def _delete_command(pod: Pod, *flags: str) -> str:
    """Return the command that deletes a Pod."""
    return kubectl("delete pod", pod.metadata.name, flags=("-n", pod.metadata.namespace, *flags))


def _of_pod(parts: Sequence[EditPod], situation: Situation) -> Iterable[Commands]:
    """Yield how to change the Pod itself where that can be done while it lives, then how to change its owner."""
    pod, edits = situation.pod, edits_of(parts)
    if situation.written is not None:
        yield _of_manifest(edits, situation.written, situation)
        return
    if situation.bound_for is None and all(part.id in LIVE_CHANGES for part in parts):
        line = _patch_command("pod", pod.metadata.name, pod, operations_of(edits, as_template(pod)))
        owned = pod.metadata.controller is not None
        if not owned:
            yield Commands((line,), yaml=_yaml(pod, edited(pod, edits), "v1"))
            return
        yield Commands((line,), "the first command helps this Pod only")
    yield _of_owner(edits, situation)


def _of_owner(edits: Sequence[PodEdit], situation: Situation) -> Commands:
    """Return how to make the edits where the Pod comes from."""
    pod, snapshot = situation.pod, situation.handle.snapshot
    if pod.metadata.controller is None:
        return _recreated(pod, edits)
    owner = patchable_owner(pod, snapshot)
    if owner is None:
        fields = ", ".join(dict.fromkeys(field_of(each.path) for each in operations_of(edits, as_template(pod))))
        starts = f"change {fields} in the template of {owner_of(pod, snapshot)}, which makes these Pods"
        disturbs = _if_any(Disturbance.REPLACED, situation)
        return Commands(starts=starts, disturbs=disturbs, yaml=_template_yaml(pod, edits))
    try:
        if not stays_valid(owner, edits, situation.handle.profile.release):
            return Commands(starts=f"the template of {_named(owner)} would not be valid with it")
        made = _OWNED[type(owner)](owner, pod, edits)
        if situation.bound_for is not None and made.lines:
            # The Pod in question is to be evicted yet: what comes in its place has the change.
            made = Commands(made.lines[:1], made.starts if len(made.lines) == 1 else "", made.disturbs)
        disturbs = _if_any(made.disturbs, situation)
        made = msgspec.structs.replace(
            made,
            starts=made.starts + _running(made, owner, situation),
            disturbs=disturbs,
            yaml=_yaml(owner, with_edits(owner, edits), reference_to(owner).api_version),
        )
        return _kept(made, owner)
    except LookupError:
        return Commands(starts=f"the template of {_named(owner)} differs from its Pod: make the change there by hand")


def _of_manifest(edits: Sequence[PodEdit], written: Written, situation: Situation) -> Commands:
    """Return how to make the edits in the manifest, and what the API server says to that where its object lives."""
    pod, release = situation.pod, situation.handle.profile.release
    owner, named = written.obj, str(owner_of(pod, situation.handle.snapshot))
    try:
        changed = manifest_edits(operations_of(edits, written.template), written)
        if owner is None:
            return Commands(edits=changed, yaml=_template_yaml(pod, edits))
        if not isinstance(owner, Pod) and not stays_valid(owner, edits, release):
            return Commands(starts=f"the template of {named} would not be valid with it")
    except LookupError:
        return Commands(starts=f"the template of {named} differs from its Pod: make the change there by hand")
    after = edited(owner, edits) if isinstance(owner, Pod) else with_edits(owner, edits)
    api_version = "v1" if isinstance(owner, Pod) else reference_to(owner).api_version
    made = Commands(edits=changed, yaml=_yaml(owner, after, api_version))
    if written.live is None or not may_not_change(written.live, owner, after, release):
        return made
    starts = f"the API server takes no such change of {named}: delete it before the manifest is applied"
    return msgspec.structs.replace(made, starts=starts, disturbs=_if_any(Disturbance.LOST, situation))


def _kept(made: Commands, owner: Workload) -> Commands:
    """Return how to make the edits where the owner's source may be elsewhere: what undoes patches makes them vain."""
    keeper = keeper_of(owner)
    if keeper is None:
        return made
    return msgspec.structs.replace(
        made,
        lines=() if keeper.reverts else made.lines,
        starts=f"{keeper.advice}; {made.starts}",
        source=keeper.name,
    )


def _yaml(before: Pod | Workload, after: Pod | Workload, api_version: str) -> str:
    """Return the fields in which an object changes, as they have to read, below its identity."""
    metadata = {"name": before.metadata.name, "namespace": before.metadata.namespace}
    identity: Plain = {"apiVersion": api_version, "kind": type(before).__name__, "metadata": dict(metadata)}
    return _changed_yaml(before, after, identity)


def _template_yaml(pod: Pod, edits: Sequence[PodEdit]) -> str:
    """Return the same of a template that cannot be read, as its Pod tells of it."""
    return _changed_yaml(as_template(pod), as_template(edited(pod, edits)), {})


def _changed_yaml(before: object, after: object, identity: Plain) -> str:
    """Return the changed fields as YAML; those to be removed are comments."""
    old, new = (plain(msgspec.json.encode(each)) for each in (before, after))
    gone = (f"# remove {path}" for path in removed(old, new))
    return "\n".join((*gone, *yaml_lines(merged(identity, difference(old, new)))))


def _if_any(disturbs: Disturbance, situation: Situation) -> Disturbance:
    """Return what is done to the Pods of the owner, if any of them has a node."""
    return disturbs if situation.owner_runs else Disturbance.NOTHING


def _running(commands: Commands, owner: Workload, situation: Situation) -> str:
    """Return how many of the Pods that are replaced run, where that is not all of them."""
    if commands.disturbs is Disturbance.NOTHING:
        return ""
    if not situation.owner_runs:
        return "; nothing of it runs yet"
    running, wanted = situation.at_work, getattr(owner.spec, "replicas_wanted", 0)
    return f"; {running or 'none'} of them {'runs' if running <= 1 else 'run'}" if running < wanted else ""


def _named(owner: Workload) -> str:
    """Return the owner as kubectl takes it."""
    return f"{type(owner).__name__.lower()}/{owner.metadata.name}"


def _patch_command(kind: str, name: str, pod: Pod, operations: Iterable[PatchOperation]) -> str:
    """Return the command that patches an object of the Pod's namespace."""
    flags = ("-n", pod.metadata.namespace, "--type=json", "-p", patch_text(operations))
    return kubectl(f"patch {kind}", name, flags=flags)


def _template_operations(owner: Workload, edits: Sequence[PodEdit]) -> list[PatchOperation]:
    """Return the operations that make the edits in the owner's template."""
    prefix = JOB_TEMPLATE if isinstance(owner, CronJob) else TEMPLATE
    operations = operations_of(edits, template_of(owner))
    return [msgspec.structs.replace(operation, path=prefix + operation.path) for operation in operations]


def _template_patch(owner: Workload, pod: Pod, edits: Sequence[PodEdit]) -> str:
    """Return the command that makes the edits in the owner's template."""
    return _patch_command(type(owner).__name__.lower(), owner.metadata.name, pod, _template_operations(owner, edits))


def _rolled(owner: Workload, pod: Pod, edits: Sequence[PodEdit]) -> Commands:
    """Return the patch of an owner that replaces its Pods by itself."""
    whom = (
        _pods_of(owner, owner.spec.replicas_wanted) if isinstance(owner, Deployment) else f"each Pod of {_named(owner)}"
    )
    return Commands((_template_patch(owner, pod, edits),), f"replaces {whom}", Disturbance.REPLACED)


def _pods_of(owner: Workload, number: int) -> str:
    """Return that many Pods of the owner."""
    return f"{'the Pod' if number == 1 else f'{number} Pods'} of {_named(owner)}"


def _patched_and_deleted(owner: Workload, pod: Pod, edits: Sequence[PodEdit]) -> Commands:
    """Return the patch of an owner whose Pods stay as they are until they are deleted, and the deletion of this one."""
    lines = (_template_patch(owner, pod, edits), _delete_command(pod))
    return Commands(lines, f"makes this Pod anew; other Pods of {_named(owner)} stay")


def _stateful_set(owner: Workload, pod: Pod, edits: Sequence[PodEdit]) -> Commands:
    """Return the patch of a StatefulSet, which waits for the Pending Pod for ever unless that is deleted."""
    made = _patched_and_deleted(owner, pod, edits)
    if not isinstance(owner, StatefulSet) or owner.spec.update_strategy.type == ON_DELETE:
        return made
    ordinal, first = pod.metadata.name.rpartition("-")[2], first_updated_ordinal(owner)
    if ordinal.isdecimal() and int(ordinal) < first:
        partition = first - owner.spec.ordinals.start
        field = f"spec.updateStrategy.rollingUpdate.partition of {_named(owner)}"
        return Commands(made.lines, f"{field} is {partition} and keeps this Pod on the old template: lower it first")
    whom = _pods_of(owner, owner.spec.replicas_wanted - (first - owner.spec.ordinals.start))
    starts = f"replaces {whom} one after another; deleting this one lets that begin"
    return Commands(made.lines, starts, Disturbance.REPLACED)


def _daemon_set(owner: Workload, pod: Pod, edits: Sequence[PodEdit]) -> Commands:
    """Return the patch of a DaemonSet, which replaces its Pods unless it is told not to."""
    on_delete = isinstance(owner, DaemonSet) and owner.spec.update_strategy.type == ON_DELETE
    return (_patched_and_deleted if on_delete else _rolled)(owner, pod, edits)


def _next_run(owner: Workload, pod: Pod, edits: Sequence[PodEdit]) -> Commands:
    """Return the patch of a CronJob, which leaves its running Jobs alone."""
    return Commands((_template_patch(owner, pod, edits),), f"{_named(owner)} makes such Pods from the next run on")


def _job(owner: Workload, pod: Pod, edits: Sequence[PodEdit]) -> Commands:
    """Return how to make a Job anew: its template cannot be changed. What the API server wrote into it is left out."""
    operations = _template_operations(owner, edits)
    selector = owner.spec.selector if isinstance(owner, Job) else None
    if selector is not None and any(label in selector.match_labels for label in JOB_UID_LABELS):
        labels = template_of(owner).metadata.labels
        operations.append(remove("/spec/selector"))
        operations += [
            remove(TEMPLATE + pointer("metadata", "labels", label)) for label in _OF_ONE_JOB if label in labels
        ]
    return Commands(
        (_replace("job", owner.metadata.name, pod, operations),),
        f"makes {_named(owner)} anew: its Pods and what they have done so far are lost",
        Disturbance.LOST,
    )


def _recreated(pod: Pod, edits: Sequence[PodEdit]) -> Commands:
    """Return how to make a Pod anew that nothing owns: its constraints cannot be changed."""
    line = _replace("pod", pod.metadata.name, pod, operations_of(edits, as_template(pod)))
    return Commands((line,), "deletes the Pod and makes it anew; nothing of it runs yet")


def _replace(kind: str, name: str, pod: Pod, operations: Iterable[PatchOperation]) -> str:
    """Return the command that fetches an object, patches the copy and puts it in the object's place."""
    namespace = pod.metadata.namespace
    steps = (
        kubectl(f"get {kind}", name, flags=("-n", namespace, "-o", "json")),
        kubectl("patch", flags=("--local", "-f", "-", "--type=json", "-p", patch_text(operations), "-o", "json")),
        kubectl("replace", flags=("--force", "-n", namespace, "-f", "-")),
    )
    return " | ".join(steps)


OwnerCommands: TypeAlias = Callable[[Workload, Pod, Sequence[PodEdit]], Commands]
_OWNED: Mapping[type, OwnerCommands] = {
    Deployment: _rolled,
    ReplicaSet: _patched_and_deleted,
    ReplicationController: _patched_and_deleted,
    StatefulSet: _stateful_set,
    DaemonSet: _daemon_set,
    Job: _job,
    CronJob: _next_run,
}

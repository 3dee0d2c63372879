"""What a person runs to make a change, and what that sets off.

A change of a Pod has to be made in its owner, or the next Pod is like the last one. Only labels and tolerations can be
added to a Pod that lives (pkg/apis/core/validation/validation.go ValidatePodUpdate).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from kubectl_spread.diagnosis.fixes.candidate import Candidate, PodEdit, as_template
from kubectl_spread.diagnosis.fixes.patch import patched, remove
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.objects.core import Pod, PodTemplateSpec, ReplicationController
from kubectl_spread.objects.decoding import DecodeError
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.workloads import CronJob, DaemonSet, Deployment, Job, ReplicaSet, StatefulSet
from kubectl_spread.report import PatchOperation
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.validation import validate

HASH_LABEL = "pod-template-hash"
LIVE_CHANGES = frozenset(("AddToleration", "AddPodLabel"))
TEMPLATE = "/spec/template"
JOB_TEMPLATE = "/spec/jobTemplate/spec/template"
JOB_LABELS = ("batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name")

_OWNERS: Mapping[str, type[Workload]] = {
    "Deployment": Deployment,
    "ReplicaSet": ReplicaSet,
    "ReplicationController": ReplicationController,
    "StatefulSet": StatefulSet,
    "DaemonSet": DaemonSet,
    "Job": Job,
    "CronJob": CronJob,
}


@dataclass(frozen=True, slots=True)
class Commands:
    """What to run.

    Attributes:
        lines: one command each, in order; empty where no command makes the change.
        starts: what running them sets off, or what to do where there is no command.
    """

    lines: tuple[str, ...]
    starts: str


def commands_for(parts: Sequence[Candidate], situation: Situation) -> Commands:
    """Return how to make the changes for good: in nodes, other Pods, and the owner of the Pod."""
    beside = [_of_object(part) for part in parts if part.edit is None]
    edits = [part for part in parts if part.edit is not None]
    owned = _of_owner(edits, situation) if edits else Commands((), "")
    cautions = [part.caution for part in parts if part.caution]
    starts = "; ".join(dict.fromkeys(text for text in (*(c.starts for c in beside), owned.starts, *cautions) if text))
    return Commands((*(line for commands in beside for line in commands.lines), *owned.lines), starts)


def new_revision_pod(parts: Sequence[Candidate], situation: Situation) -> Pod | None:
    """Return the Pod that the changed template would make, where it differs from the changed Pod; else None.

    It carries a hash nobody else has: with matchLabelKeys a new revision starts at zero.
    """
    pod = situation.pod
    deployment = _owner(pod, situation.handle.snapshot)
    edits = [part.edit for part in parts if part.edit is not None]
    if not isinstance(deployment, Deployment) or not edits or HASH_LABEL not in pod.metadata.labels:
        return None
    changed, template = as_template(pod), deployment.spec.template
    try:
        for edit in edits:
            changed, template = patched(changed, edit(changed)), patched(template, edit(template))
    except (LookupError, DecodeError):
        return None
    labels = {**changed.metadata.labels, HASH_LABEL: f"{pod.metadata.labels[HASH_LABEL]}-next"}
    metadata = msgspec.structs.replace(pod.metadata, labels=labels)
    constraints = template.spec.topology_spread_constraints
    return Pod(metadata=metadata, spec=msgspec.structs.replace(changed.spec, topology_spread_constraints=constraints))


def _of_object(part: Candidate) -> Commands:
    """Return how to change a node, or to delete a Pod."""
    if part.delete is not None:
        force = " --grace-period=0 --force" if part.delete.terminating else ""
        return Commands((f"kubectl delete pod {part.name} -n {part.delete.metadata.namespace}{force}",), "")
    if part.command:
        return Commands((part.command,), "")
    return Commands((), "nothing here adds a node: scale the node group, or let the autoscaler")


def _of_owner(parts: Sequence[Candidate], situation: Situation) -> Commands:
    """Return how to change the Pod's owner, and before it the Pod itself where that can be done."""
    pod = situation.pod
    edits = [part.edit for part in parts if part.edit is not None]
    live = []
    if all(part.id in LIVE_CHANGES for part in parts):
        live.append(
            f"{_patch_command('pod', pod.metadata.name, pod, _operations(edits, as_template(pod)))}  # this Pod only"
        )
    owner = _owner(pod, situation.handle.snapshot)
    if owner is None and pod.metadata.controller is not None:
        kind, name = pod.metadata.controller.kind, pod.metadata.controller.name
        return Commands(tuple(live), f"change the template of {kind.lower()}/{name}, which makes these Pods")
    try:
        made = _recreated(pod, edits) if owner is None else _OWNED[type(owner)](owner, pod, edits)
    except (LookupError, DecodeError):
        return Commands(
            tuple(live), f"the template of {_named(owner)} differs from its Pod: make the change there by hand"
        )
    if owner is not None and not _stays_valid(owner, edits, situation):
        return Commands(tuple(live), f"the template of {_named(owner)} would not be valid with it")
    return Commands((*live, *made.lines), made.starts)


def _stays_valid(owner: Workload, edits: Iterable[PodEdit], situation: Situation) -> bool:
    """Whether the API server would accept the owner with the edits made, as far as it accepts it now."""
    minor = situation.handle.profile.minor
    changed = _with_template(owner, edits)
    return set(validate(changed, minor=minor)) <= set(validate(owner, minor=minor))


def _with_template(owner: Workload, edits: Iterable[PodEdit]) -> Workload:
    """Return the owner with the edits made in its template."""
    if isinstance(owner, CronJob):
        job = owner.spec.job_template
        spec = msgspec.structs.replace(job.spec, template=_edited(job.spec.template, edits))
        job = msgspec.structs.replace(job, spec=spec)
        return msgspec.structs.replace(owner, spec=msgspec.structs.replace(owner.spec, job_template=job))
    spec_with = msgspec.structs.replace(owner.spec, template=_edited(owner.spec.template, edits))
    return msgspec.structs.replace(owner, spec=spec_with)


def _edited(template: PodTemplateSpec, edits: Iterable[PodEdit]) -> PodTemplateSpec:
    """Return the template with the edits made, one after another."""
    for edit in edits:
        template = patched(template, edit(template))
    return template


def _operations(edits: Iterable[PodEdit], template: PodTemplateSpec) -> tuple[PatchOperation, ...]:
    """Return the operations of all edits, each made on what the ones before left."""
    operations: list[PatchOperation] = []
    for edit in edits:
        made = edit(template)
        operations += made
        template = patched(template, made)
    return tuple(operations)


def _owner(pod: Pod, snapshot: Snapshot) -> Workload | None:
    """Return the topmost owner of the Pod that can be read and patched; None for none."""
    owner, controller = None, pod.metadata.controller
    while controller is not None and controller.kind in _OWNERS:
        found = snapshot.get(_OWNERS[controller.kind], pod.metadata.namespace, controller.name)
        if found is None:
            return None
        owner, controller = found, found.metadata.controller
    return None if controller is not None else owner


def _named(owner: Workload | None) -> str:
    """Return the owner as kubectl takes it."""
    return "the Pod" if owner is None else f"{type(owner).__name__.lower()}/{owner.metadata.name}"


def _quoted(operations: Iterable[PatchOperation]) -> str:
    """Return a patch as one word of a shell."""
    return shlex.quote(msgspec.json.encode(tuple(operations)).decode())


def _prefixed(operations: Iterable[PatchOperation], prefix: str) -> tuple[PatchOperation, ...]:
    """Return the operations below a path."""
    return tuple(msgspec.structs.replace(operation, path=prefix + operation.path) for operation in operations)


def _patch_command(kind: str, name: str, pod: Pod, operations: Iterable[PatchOperation]) -> str:
    """Return the command that patches an object of the Pod's namespace."""
    return f"kubectl patch {kind} {name} -n {pod.metadata.namespace} --type=json -p {_quoted(operations)}"


def _template_patch(owner: Workload, pod: Pod, edits: Sequence[PodEdit]) -> str:
    """Return the command that makes the edits in the owner's template."""
    prefix = JOB_TEMPLATE if isinstance(owner, CronJob) else TEMPLATE
    operations = _prefixed(_operations(edits, _template(owner)), prefix)
    return _patch_command(type(owner).__name__.lower(), owner.metadata.name, pod, operations)


def _template(owner: Workload) -> PodTemplateSpec:
    """Return the template of the Pods the owner makes."""
    return owner.spec.job_template.spec.template if isinstance(owner, CronJob) else owner.spec.template


def _rolled(owner: Workload, pod: Pod, edits: Sequence[PodEdit]) -> Commands:
    """Return the patch of an owner that replaces its Pods by itself."""
    replicas = owner.spec.replicas if isinstance(owner, Deployment) else None
    starts = f"replaces the {replicas} Pods of {_named(owner)}" if replicas else f"replaces the Pods of {_named(owner)}"
    return Commands((_template_patch(owner, pod, edits),), starts)


def _patched_and_deleted(owner: Workload, pod: Pod, edits: Sequence[PodEdit]) -> Commands:
    """Return the patch of an owner whose Pods stay as they are until they are deleted."""
    rolls = isinstance(owner, StatefulSet) and owner.spec.update_strategy.type != "OnDelete"
    starts = (
        f"replaces the Pods of {_named(owner)} one after another" if rolls else f"other Pods of {_named(owner)} stay"
    )
    delete = f"kubectl delete pod {pod.metadata.name} -n {pod.metadata.namespace}"
    return Commands((_template_patch(owner, pod, edits), delete), starts)


def _daemon(owner: Workload, pod: Pod, edits: Sequence[PodEdit]) -> Commands:
    """Return the patch of a DaemonSet, which replaces its Pods unless it is told not to."""
    on_delete = isinstance(owner, DaemonSet) and owner.spec.update_strategy.type == "OnDelete"
    return (_patched_and_deleted if on_delete else _rolled)(owner, pod, edits)


def _next_run(owner: Workload, pod: Pod, edits: Sequence[PodEdit]) -> Commands:
    """Return the patch of a CronJob, which leaves its running Jobs alone."""
    return Commands((_template_patch(owner, pod, edits),), f"{_named(owner)} makes such Pods from the next run on")


def _replaced_job(owner: Workload, pod: Pod, edits: Sequence[PodEdit]) -> Commands:
    """Return how to make a Job anew: its template cannot be changed."""
    template = _template(owner)
    operations = [*_prefixed(_operations(edits, template), TEMPLATE), remove("/spec/selector")]
    operations += [
        remove(f"{TEMPLATE}/metadata/labels/{label.replace('/', '~1')}")
        for label in JOB_LABELS
        if label in template.metadata.labels
    ]
    lines = (_replace("job", owner.metadata.name, pod, operations),)
    return Commands(lines, f"makes {_named(owner)} anew: its Pods and what they have done so far are lost")


def _recreated(pod: Pod, edits: Sequence[PodEdit]) -> Commands:
    """Return how to make a Pod anew that nothing owns: its constraints cannot be changed."""
    operations = _operations(edits, as_template(pod))
    return Commands(
        (_replace("pod", pod.metadata.name, pod, operations),), "makes the Pod anew; nothing of it runs yet"
    )


def _replace(kind: str, name: str, pod: Pod, operations: Iterable[PatchOperation]) -> str:
    """Return the command that fetches an object, patches the copy and puts it in the object's place."""
    namespace = pod.metadata.namespace
    return (
        f"kubectl get {kind} {name} -n {namespace} -o json"
        f" | kubectl patch --local -f - --type=json -p {_quoted(operations)} -o json"
        f" | kubectl replace --force -n {namespace} -f -"
    )


OwnerCommands: TypeAlias = Callable[[Workload, Pod, Sequence[PodEdit]], Commands]
_OWNED: Mapping[type, OwnerCommands] = {
    Deployment: _rolled,
    ReplicaSet: _patched_and_deleted,
    ReplicationController: _patched_and_deleted,
    StatefulSet: _patched_and_deleted,
    DaemonSet: _daemon,
    Job: _replaced_job,
    CronJob: _next_run,
}

"""A change worth trying, and the situation with the change made."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import reduce
from typing import TypeAlias, TypeVar, assert_never

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.creation import prepared, unmerged
from kubectl_spread.controllers.next_pod import NextPod
from kubectl_spread.controllers.templates import REVISION_LABELS, template_of
from kubectl_spread.diagnosis.fixes.change import Change, Operations, PatchOperation, Target
from kubectl_spread.diagnosis.fixes.conclusion import AfterDeletion, Command
from kubectl_spread.diagnosis.fixes.patch import patched, set_to
from kubectl_spread.diagnosis.fixes.proposals import Proposal
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.objects.core import Affinity, Node, Pod, PodTemplateSpec
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.meta import KubernetesObject
from kubectl_spread.objects.template_rest import with_template
from kubectl_spread.scheduler.framework import Handle

EditedT = TypeVar("EditedT", bound=Pod | PodTemplateSpec)
ObjectT = TypeVar("ObjectT", bound=KubernetesObject)
# Pod or template → the operations that make the change there; empty if no change is needed there.
#
# The two may differ in what admission added. It raises LookupError if the Pod or template lacks the field to change.
PodEdit: TypeAlias = Callable[[PodTemplateSpec], Operations]


class ProposedChange(msgspec.Struct, frozen=True, kw_only=True):
    """The base of all changes worth trying."""

    proposal: Proposal
    # the value that it moves; two changes of one subject make no pair. Empty for other changes.
    subject: tuple[str | int, ...] = ()
    amount: int = 0  # how far it moves that value; of two that help, the smaller is enough
    # whether it makes a constraint select its own Pod, which it does not yet. Such a change comes first.
    mends: bool = False


class EditPod(ProposedChange, frozen=True, kw_only=True):
    """Edits the Pod itself; ``alternative``: the value that it has instead of others, which are alike; or empty."""

    edit: PodEdit
    alternative: str = ""

    @property
    def likeness(self) -> Hashable:
        """What only alternatives have in common."""
        return self.subject if self.alternative else self.proposal

    @property
    def name(self) -> str:
        """What tells it from its alternatives; empty if there are none."""
        return self.alternative

    def apply(self, situation: Situation) -> Situation:
        """Return the situation with the Pod edited; LookupError if the edit does not fit the Pod."""
        return replace(situation, pod=edited(situation.pod, [self.edit]))


class ChangeObject(ProposedChange, frozen=True, kw_only=True):
    """The base of changes of another object, or of the Pod as a whole.

    Changes of one class and ``group`` are alike: they are reported once, with the names of their objects.
    """

    obj: Node | Pod
    group: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the object."""
        return self.obj.metadata.name

    @property
    def likeness(self) -> Hashable:
        """What alike changes have in common."""
        return (self.proposal.id, *self.group)


class ChangeNode(ChangeObject, frozen=True, kw_only=True):
    """Patches a node; only when the change is tried: of many nodes alike, few are."""

    obj: Node
    operations: Operations
    command: Command

    def apply(self, situation: Situation) -> Situation:
        """Return the situation with the node patched."""
        return replace(situation, handle=situation.handle.with_nodes((patched(self.obj, self.operations),)))


class NewNode(ChangeObject, frozen=True, kw_only=True):
    """Adds a node."""

    obj: Node

    def apply(self, situation: Situation) -> Situation:
        """Return the situation with the node added."""
        return replace(situation, handle=situation.handle.with_nodes((self.obj,)))


class DeletePod(ChangeObject, frozen=True, kw_only=True):
    """Deletes another Pod; ``after`` is what happens to it, None until the change is tried."""

    obj: Pod
    after: AfterDeletion | None = None

    def apply(self, situation: Situation) -> Situation:
        """Return the situation without the Pod."""
        return replace(situation, handle=situation.handle.without_pod(self.obj))


class ReplacePod(ChangeObject, frozen=True, kw_only=True):
    """Deletes the Pod itself, which its owner creates ``again`` from the current template."""

    obj: Pod
    again: NextPod
    # the paths of the Pod's fields that this template lacks, if a webhook may have added them; empty if not
    lacks: tuple[str, ...] = ()
    released: Workload | None = None  # the owner with what it needs before it does that; None if it needs no change

    def apply(self, situation: Situation) -> Situation:
        """Return the situation with the new Pod."""
        return replace(situation, pod=self.again.pod, handle=self.again.place(situation.handle))


class ChangeOwner(ChangeObject, frozen=True, kw_only=True):
    """Changes the Pod's owner, but not its template; ``gone`` are the Pods that its controller then deletes first."""

    obj: Pod
    changed: Workload
    operations: Operations
    gone: tuple[Pod, ...]

    def apply(self, situation: Situation) -> Situation:
        """Return the situation without these Pods."""
        return replace(situation, handle=reduce(Handle.without_pod, self.gone, situation.handle))


Candidate: TypeAlias = EditPod | ChangeNode | NewNode | DeletePod | ReplacePod | ChangeOwner


def changes_of(candidate: Candidate, pod: Pod) -> Iterator[Change]:
    """Yield the changes for the report, of this Pod or of the candidate's object; LookupError if one does not fit."""
    match candidate:
        case EditPod():
            yield Change(target=target_of(pod), json_patch=candidate.edit(as_template(pod)))
        case ChangeNode():
            yield Change(target=Target(kind="Node", name=candidate.name), json_patch=candidate.operations)
        case NewNode():
            added = {"apiVersion": "v1", "kind": "Node", **msgspec.to_builtins(candidate.obj)}
            yield Change(target=Target(kind="Node", name=candidate.name), op="create", object=added)
        case DeletePod():
            yield Change(target=target_of(candidate.obj), op="delete")
        case ChangeOwner():
            yield from (Change(target=target_of(gone), op="delete") for gone in candidate.gone)
        case ReplacePod():
            again = candidate.again.pod
            labels = set_to("/metadata/labels", again.metadata.labels)
            spec = set_to("/spec", msgspec.to_builtins(again.spec))
            yield Change(target=target_of(candidate.obj), json_patch=(labels, spec))
        case _:
            assert_never(candidate)


def target_of(pod: Pod) -> Target:
    """Return the Pod as the target of a change."""
    return Target(kind="Pod", namespace=pod.metadata.namespace, name=pod.metadata.name)


def as_template(obj: Pod | PodTemplateSpec) -> PodTemplateSpec:
    """Return the part of a Pod that a template has too."""
    return PodTemplateSpec(metadata=obj.metadata, spec=obj.spec)


def edited(obj: EditedT, edits: Sequence[PodEdit]) -> EditedT:
    """Return the Pod or template after the edits, made in order; LookupError as for ``operations_of``."""
    return patched(obj, operations_of(edits, as_template(obj)))


def edited_where_it_fits(pod: Pod, edits: Sequence[PodEdit]) -> Pod:
    """Return the Pod after the edits. A Pod of another revision stays unchanged if they do not fit it."""
    try:
        return edited(pod, edits)
    except LookupError:
        return pod


def operations_of(edits: Sequence[PodEdit], template: PodTemplateSpec) -> Operations:
    """Return the operations of the edits, each made on the result of the one before.

    LookupError if they do not fit, or if none of them changes anything.
    """
    operations: list[PatchOperation] = []
    for edit in edits:
        made = edit(template)
        before, template = template, patched(template, made)
        operations += made if template != before else ()
    if edits and not operations:
        raise LookupError("nothing to change")
    return tuple(operations)


def edits_of(parts: Iterable[Candidate]) -> list[PodEdit]:
    """Return the edits of the Pod itself, in order."""
    return [part.edit for part in parts if isinstance(part, EditPod)]


def with_edits(obj: ObjectT, edits: Sequence[PodEdit]) -> ObjectT:
    """Return the Pod after the edits, or the owner with the edits in its template."""
    return edited(obj, edits) if isinstance(obj, Pod) else with_template(obj, lambda template: edited(template, edits))


def new_revision_pod(parts: Sequence[Candidate], situation: Situation) -> Pod | None:
    """Return the Pod that the changed template would create; None if the changed Pod can stand for it.

    Its revision hash is unique, so constraints and affinity with matchLabelKeys start counting at zero.
    """
    pod, edits = situation.pod, edits_of(parts)
    # A manifest is changed before its Pods are created.
    owner = None if situation.written else situation.patchable_owner
    hashes = {label: f"{pod.metadata.labels[label]}-next" for label in REVISION_LABELS if label in pod.metadata.labels}
    if owner is None or not edits or not hashes:
        return None
    try:
        template = edited(template_of(owner), edits)
    except LookupError:
        return None
    affinity = template.spec.affinity or Affinity()
    terms = [term for each in (affinity.pod_affinity, affinity.pod_anti_affinity) if each for term in each.required]
    # The labels whose values a constraint or a required affinity term takes from the Pod itself.
    taken = {key for each in template.spec.topology_spread_constraints for key in each.match_label_keys}
    taken |= {key for term in terms for key in (*term.match_label_keys, *term.mismatch_label_keys)}
    if taken.isdisjoint(hashes):
        return None
    changed = edited(pod, edits)
    metadata = replace(changed.metadata, labels={**changed.metadata.labels, **hashes})
    # The API server has merged the old hash into the Pod's own selectors.
    upcoming = replace(changed, metadata=metadata, spec=unmerged(changed.spec))
    return prepared(upcoming, situation.handle.profile.release)

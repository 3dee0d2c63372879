"""A change worth trying, and what becomes of the situation with it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeAlias, TypeVar, assert_never

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers.next_pod import NextPod
from kubectl_spread.diagnosis.fixes.change import Change, PatchOperation, Target
from kubectl_spread.diagnosis.fixes.conclusion import AfterDeletion, Command
from kubectl_spread.diagnosis.fixes.patch import patched, set_to
from kubectl_spread.diagnosis.fixes.proposals import Proposal
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.objects.core import Node, Pod, PodTemplateSpec

EditedT = TypeVar("EditedT", Pod, PodTemplateSpec)
PodEdit: TypeAlias = Callable[[PodTemplateSpec], tuple[PatchOperation, ...]]
"""Pod or template → the operations that make the change there; the two may differ in what admission added.

It raises LookupError where the Pod or template lacks what is to be changed.
"""


class EditPod(msgspec.Struct, frozen=True, kw_only=True):
    """The Pod itself changed.

    Attributes:
        proposal: the change.
        edit: makes it.
        subject: what it gives another value; two changes of one subject make no pair. Empty for no value.
        amount: how far the value moves; of two that help, the smaller is enough.
        mends: whether it makes a constraint that misses its own Pod select it: that comes before all else.
    """

    proposal: Proposal
    edit: PodEdit
    subject: tuple[str | int, ...] = ()
    amount: int = 0
    mends: bool = False

    @property
    def likeness(self) -> Hashable:
        """What no other change has."""
        return self.proposal

    def apply(self, situation: Situation) -> Situation:
        """Return the situation with the change made.

        Raises:
            LookupError: it does not fit the Pod.
        """
        return replace(situation, pod=edited(situation.pod, [self.edit]))


class OfObject(msgspec.Struct, frozen=True, kw_only=True):
    """An object changed other than the Pod.

    Attributes:
        proposal: the change.
        group: changes of one class and group are alike: they are reported once, with the names of the objects.
    """

    proposal: Proposal
    group: tuple[str, ...]

    @property
    def likeness(self) -> Hashable:
        """What is the same for changes that are alike."""
        return (self.proposal.id, *self.group)


class ChangeNode(OfObject, frozen=True, kw_only=True):
    """A node patched.

    Attributes:
        node: as it is.
        operations: the patch; made only where the change is tried: of many nodes alike, few are.
        command: what a person runs.
    """

    node: Node
    operations: tuple[PatchOperation, ...]
    command: Command

    @property
    def name(self) -> str:
        """The node that is changed."""
        return self.node.metadata.name

    def apply(self, situation: Situation) -> Situation:
        """Return the situation with the change made."""
        return replace(situation, handle=situation.handle.with_node(patched(self.node, self.operations)))


class NewNode(OfObject, frozen=True, kw_only=True):
    """A node added."""

    node: Node

    @property
    def name(self) -> str:
        """The node that is added."""
        return self.node.metadata.name

    def apply(self, situation: Situation) -> Situation:
        """Return the situation with the node added."""
        return replace(situation, handle=situation.handle.with_node(self.node))


class DeletePod(OfObject, frozen=True, kw_only=True):
    """Another Pod deleted.

    Attributes:
        pod: which.
        after: what becomes of it; None until the change was tried.
    """

    pod: Pod
    after: AfterDeletion | None = None

    @property
    def name(self) -> str:
        """The Pod that is deleted."""
        return self.pod.metadata.name

    def apply(self, situation: Situation) -> Situation:
        """Return the situation without the Pod."""
        return replace(situation, handle=situation.handle.without_pod(self.pod))


class RecreatePod(OfObject, frozen=True, kw_only=True):
    """The Pod itself deleted, which comes again as its template has it by now.

    Attributes:
        pod: as it is.
        again: as it comes.
    """

    pod: Pod
    again: NextPod

    @property
    def name(self) -> str:
        """The Pod that is deleted."""
        return self.pod.metadata.name

    def apply(self, situation: Situation) -> Situation:
        """Return the situation with the Pod that comes."""
        return replace(situation, pod=self.again.pod, handle=self.again.place(situation.handle))


Candidate: TypeAlias = EditPod | ChangeNode | NewNode | DeletePod | RecreatePod


def change_of(candidate: Candidate, pod: Pod) -> Change:
    """Return the change as it is reported, made on this Pod or on the object it names.

    Raises:
        LookupError: it does not fit the Pod.
    """
    match candidate:
        case EditPod():
            return Change(target=target_of(pod), json_patch=candidate.edit(as_template(pod)))
        case ChangeNode():
            return Change(target=Target(kind="Node", name=candidate.name), json_patch=candidate.operations)
        case NewNode():
            added = {"apiVersion": "v1", "kind": "Node", **msgspec.to_builtins(candidate.node)}
            return Change(target=Target(kind="Node", name=candidate.name), op="create", object=added)
        case DeletePod():
            return Change(target=target_of(candidate.pod), op="delete")
        case RecreatePod():
            spec = set_to("/spec", msgspec.to_builtins(candidate.again.pod.spec))
            return Change(target=target_of(candidate.pod), json_patch=(spec,))
        case _:
            assert_never(candidate)


def target_of(pod: Pod) -> Target:
    """Return the Pod as what is changed."""
    return Target(kind="Pod", namespace=pod.metadata.namespace, name=pod.metadata.name)


def as_template(obj: Pod | PodTemplateSpec) -> PodTemplateSpec:
    """Return what a Pod has in common with a template."""
    return PodTemplateSpec(metadata=obj.metadata, spec=obj.spec)


def edited(obj: EditedT, edits: Iterable[PodEdit]) -> EditedT:
    """Return the Pod or template with the edits made, one after another.

    Raises:
        LookupError: one does not fit it.
    """
    for edit in edits:
        obj = patched(obj, edit(as_template(obj)))
    return obj


def edited_where_it_fits(pod: Pod, edits: Iterable[PodEdit]) -> Pod:
    """Return the Pod with the edits made; one of another revision stays as it is where they do not fit it."""
    try:
        return edited(pod, edits)
    except LookupError:
        return pod


def operations_of(edits: Iterable[PodEdit], template: PodTemplateSpec) -> tuple[PatchOperation, ...]:
    """Return the operations of all edits, each made on what the ones before left.

    Raises:
        LookupError: one does not fit the Pod or template.
    """
    operations: list[PatchOperation] = []
    for edit in edits:
        made = edit(template)
        operations += made
        template = patched(template, made)
    return tuple(operations)


def edits_of(parts: Iterable[Candidate]) -> list[PodEdit]:
    """Return the changes of the Pod itself, in the order they are made."""
    return [part.edit for part in parts if isinstance(part, EditPod)]

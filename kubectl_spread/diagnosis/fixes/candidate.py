"""A change worth trying, and what becomes of the situation with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

import msgspec

from kubectl_spread.diagnosis.fixes.patch import patched
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.objects.core import Node, Pod, PodTemplateSpec
from kubectl_spread.report import Change, PatchOperation, Target

PodEdit: TypeAlias = Callable[[PodTemplateSpec], tuple[PatchOperation, ...]]
"""Pod or template → the operations that make the change there; the two may differ in what admission added.

It raises LookupError where the Pod or template lacks what is to be changed.
"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One change of one object.

    Attributes:
        id: the class of the change.
        cost: how much it weakens or reaches beyond the Pod.
        summary: the change in words.
        edit: the change, where the Pod itself is changed.
        node: the node as it would be, where one is changed or added.
        operations: how the node is patched; empty for a node that is added.
        command: what a person runs to change the node.
        delete: the Pod to delete.
        group: changes of one group are alike and told once; empty for one that stands alone.
        subject: what the change gives another value; two changes of one subject make no pair. Empty for no value.
        amount: how far the value moves; of two that help, the smaller is enough.
        caution: what to say beside it.
    """

    id: str
    cost: int
    summary: str
    edit: PodEdit | None = None
    node: Node | None = None
    operations: tuple[PatchOperation, ...] = ()
    command: str = ""
    delete: Pod | None = None
    group: tuple[str, ...] = ()
    subject: str = ""
    amount: int = 0
    caution: str = ""

    @property
    def name(self) -> str:
        """The object that is changed; empty for the Pod itself."""
        if self.node is not None:
            return self.node.metadata.name
        return self.delete.metadata.name if self.delete else ""

    @property
    def likeness(self) -> tuple[str, ...]:
        """What is the same for changes that are alike; no other change has it where it stands alone."""
        return (self.id, *(self.group or (self.summary,)))

    def apply(self, situation: Situation) -> Situation:
        """Return the situation with the change made.

        Raises:
            LookupError: it does not fit the objects.
        """
        if self.edit is not None:
            return replace(situation, pod=edited(situation.pod, [self.edit]))
        if self.node is not None:
            return replace(situation, handle=situation.handle.with_node(self.node))
        assert self.delete is not None  # noqa: S101 - a change is of the Pod, of a node, or of another Pod
        return replace(situation, handle=situation.handle.without_pod(self.delete))

    def change(self, pod: Pod) -> Change:
        """Return the change as the report tells it, made on this Pod or on the object it names."""
        if self.edit is not None:
            target = Target(kind="Pod", namespace=pod.metadata.namespace, name=pod.metadata.name)
            return Change(target=target, json_patch=self.edit(as_template(pod)))
        if self.delete is not None:
            metadata = self.delete.metadata
            return Change(target=Target(kind="Pod", namespace=metadata.namespace, name=metadata.name), op="delete")
        target = Target(kind="Node", name=self.name)
        if self.operations:
            return Change(target=target, json_patch=self.operations)
        added = {"apiVersion": "v1", "kind": "Node", **msgspec.to_builtins(self.node)}
        return Change(target=target, op="create", object=added)


def as_template(pod: Pod) -> PodTemplateSpec:
    """Return what a Pod has in common with a template."""
    return PodTemplateSpec(metadata=pod.metadata, spec=pod.spec)


def edited(pod: Pod, edits: Iterable[PodEdit]) -> Pod:
    """Return the Pod with the edits made, one after another.

    Raises:
        LookupError: one does not fit the Pod.
    """
    for edit in edits:
        pod = patched(pod, edit(as_template(pod)))
    return pod


def edited_template(template: PodTemplateSpec, edits: Iterable[PodEdit]) -> PodTemplateSpec:
    """Return the template with the edits made, one after another.

    Raises:
        LookupError: one does not fit the template.
    """
    for edit in edits:
        template = patched(template, edit(template))
    return template


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
    return [part.edit for part in parts if part.edit is not None]

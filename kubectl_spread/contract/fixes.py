"""The changes that let a Pod in."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from kubectl_spread.contract.report import Report

JsonValue: TypeAlias = Any  # msgspec knows no recursive type


class PatchOperation(Report, frozen=True, kw_only=True):
    """One operation of a JSON patch (RFC 6902)."""

    op: Literal["add", "replace", "remove"]
    path: str
    value: JsonValue | UnsetType = UNSET


class Target(Report, frozen=True, kw_only=True):
    """The object that is changed; nodes have no namespace."""

    kind: Literal["Pod", "Node"]
    namespace: str | UnsetType = UNSET
    name: str


class Change(Report, frozen=True, kw_only=True):
    """A what-if on one object: patched, deleted (a Pod) or created (a Node)."""

    target: Target
    json_patch: tuple[PatchOperation, ...] | UnsetType = UNSET
    op: Literal["delete", "create"] | UnsetType = UNSET
    object: dict[str, JsonValue] | UnsetType = UNSET


class Disturbance(StrEnum):
    """What a fix does to Pods that run, the least first."""

    NOTHING = "Nothing"
    REPLACED = "PodsReplaced"
    LOST = "PodLost"

    @property
    def rank(self) -> int:
        """Its place among them, from 0."""
        return tuple(Disturbance).index(self)


class ManifestEdit(Report, frozen=True, kw_only=True):
    """A change of one field of a manifest.

    Attributes:
        file: the file; empty where it comes from none, as for ``origin``.
        document: which of the source, counted from 1.
        line: of the field, or of what it would stand in, counted from 1; 0 where it is not known.
        path: the field.
        before: the field as YAML; empty where it is to be added.
        after: the field as it has to read; empty where it is to be removed.
    """

    file: str = ""
    document: int = 1
    line: int = 0
    path: str
    before: str
    after: str


class Fix(Report, frozen=True, kw_only=True):
    """A set of changes that lets the Pod in, tried on the snapshot.

    Attributes:
        id: the class of the change; joined by ``+`` where there are two.
        summary: the change in words.
        disturbs: what making it does to Pods that run.
        cost: how much it weakens or reaches beyond the Pod.
        feasible: the nodes it opens, best first.
        admits: how many of the Pending Pods of the same workload it lets in, placed one after another; at least that
            many where it was tried with the Pods that were read.
        siblings: how many of them there are, this Pod included.
        alike: objects for which the same change does the same.
        changes: what was tried, so that it can be tried again.
        commands: what a person runs, in order; empty where no command changes the owner.
        starts: what running them sets off.
        yaml: what to write where the Pod comes from, below the identity of that object; empty where nothing is.
        source: what keeps the owner as it is, so that the YAML belongs there; empty where nothing says so.
        new_revision: the nodes a Pod of the owner's new revision may go to, where they differ from ``feasible``.
        edits: what to change in the manifest that is checked; empty where the change is made elsewhere.
        proved_on: ``read`` where it was tried on the Pods that were read, which are not all.
    """

    id: str
    summary: str
    cost: int
    feasible: tuple[str, ...]
    admits: int
    siblings: int
    alike: tuple[str, ...]
    changes: tuple[Change, ...]
    commands: tuple[str, ...] = ()
    starts: str = ""
    disturbs: Disturbance = Disturbance.NOTHING
    yaml: str = ""
    source: str = ""
    new_revision: tuple[str, ...] | UnsetType = UNSET
    edits: tuple[ManifestEdit, ...] = ()
    proved_on: Literal["read"] | UnsetType = UNSET

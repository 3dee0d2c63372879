"""What a fix changes, and what that does: facts that the JSON report carries as they are."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

JsonValue: TypeAlias = Any  # msgspec knows no recursive type


class PatchOperation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One operation of a JSON patch (RFC 6902)."""

    op: Literal["add", "replace", "remove"]
    path: str
    value: JsonValue | UnsetType = UNSET


class Target(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The object that is changed; nodes have no namespace."""

    kind: Literal["Pod", "Node"]
    namespace: str | UnsetType = UNSET
    name: str


class Change(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
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


class Override(StrEnum):
    """What a fix sets aside that somebody decided on purpose."""

    NOTHING = "Nothing"
    DECISION = "Decision"
    """A taint, a node or Pod affinity, a request, or a cordon while maintenance goes on."""
    NODE_POOL = "NodePool"
    """The group of nodes that the Pod asks for."""

    @property
    def rank(self) -> int:
        """Its place among them, from 0."""
        return tuple(Override).index(self)


class ManifestEdit(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
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

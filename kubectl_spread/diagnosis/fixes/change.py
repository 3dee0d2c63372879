"""What a fix changes and what that causes: facts that the JSON report carries unchanged."""

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


Operations: TypeAlias = tuple[PatchOperation, ...]


class Target(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The object to change; a node has no namespace."""

    kind: Literal["Pod", "Node"]
    namespace: str | UnsetType = UNSET
    name: str


class Change(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A simulated change of one object: patched, deleted (a Pod) or created (a Node)."""

    target: Target
    json_patch: Operations | UnsetType = UNSET
    op: Literal["delete", "create"] | UnsetType = UNSET
    object: dict[str, JsonValue] | UnsetType = UNSET


class Ranked(StrEnum):
    """The base of what is listed by rank, the least first."""

    @property
    def rank(self) -> int:
        """Its place in the list, from 0."""
        return tuple(type(self)).index(self)


class Disturbance(Ranked):
    """What a fix does to running Pods, the least first."""

    NOTHING = "Nothing"
    REPLACED = "PodsReplaced"
    LOST = "PodLost"


class Override(Ranked):
    """What a fix overrides that somebody decided on purpose."""

    NOTHING = "Nothing"
    DECISION = "Decision"  # A taint, a node or Pod affinity, a request, or a cordon during maintenance
    NODE_POOL = "NodePool"  # The group of nodes that the Pod requests


class ManifestEdit(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A change of one field of a manifest."""

    file: str = ""  # the file; empty if the manifest comes from no file, as for `origin`
    document: int = 1  # the document of the source, counted from 1
    line: int = 0  # the line of the field, or of the object that lacks it, counted from 1; 0 if unknown
    path: str
    before: str  # the field as YAML; empty if it is added
    after: str  # the new YAML of the field; empty if it is removed

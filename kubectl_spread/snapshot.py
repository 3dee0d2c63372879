"""The cluster as it was read, and indexed for the scheduler's questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kubectl_spread.objects.kinds import Kind, KubernetesObject


@dataclass(frozen=True, slots=True)
class Unread:
    """A list that was wanted and could not be had.

    Attributes:
        kind: what was to be read.
        why: the reason in a word or two, such as ``forbidden``.
        namespace: the namespace that was asked; empty for all.
    """

    kind: Kind
    why: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Inventory:
    """What was read of a cluster, before it is indexed.

    Attributes:
        objects: kind's name → its objects; a kind that was not asked for is absent.
        resource_versions: kind's plural → the version its list was read at; empty for files.
        unread: lists that could not be had.
    """

    objects: Mapping[str, tuple[KubernetesObject, ...]]
    resource_versions: Mapping[str, str] = field(default_factory=dict)
    unread: tuple[Unread, ...] = ()

"""What may be asked of a cluster: apart from how it is asked, so that files are read without a transport."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from kubectl_spread.objects.kinds import KINDS, Kind
from kubectl_spread.snapshot import NEWER, Inventory, oldest


class Read(msgspec.Struct, frozen=True):
    """One list, or one object, that is wanted.

    Attributes:
        name: the one object to get; empty to list.
        label_selector: as ``kubectl -l`` takes it; empty for all.
        field_selector: as ``kubectl --field-selector`` takes it; empty for all.
        required: whether not to be allowed to read it is an error, or leaves it unread.
        first_page_only: whether the first 500 objects are enough.
        fallback: the namespace to list where all namespaces are forbidden; the list counts as unread then.
        resource_version: the version to list at; empty for the newest.
        not_older: whether a list of that version or any newer one will do: the server has an index of Pods by
            ``spec.nodeName`` for such lists alone, and walks all Pods for any other.
        on_nodes: the nodes whose Pods are wanted, a list each, such as ``not_older`` means; empty for one list.
    """

    kind: Kind
    namespace: str = ""
    name: str = ""
    label_selector: str = ""
    field_selector: str = ""
    required: bool = True
    first_page_only: bool = False
    fallback: str = ""
    resource_version: str = ""
    not_older: bool = False
    on_nodes: tuple[str, ...] = ()


def counted(inventory: Inventory) -> str:
    """Return what was read in one line: how many objects of each kind, and what could not be had."""
    found = [f"{len(objects):,} {kind.plural}" for kind in KINDS if (objects := inventory.objects.get(kind.name))]
    missing = [f"no {unread.kind.plural} ({unread.why})" for unread in inventory.unread]
    return ", ".join((*found, *missing)) or "nothing"


def age(resource_version: str) -> tuple[int, str]:
    """Return what versions are sorted by, the oldest first: they are numbers.

    Source: KEP-5504, comparable resource versions.
    """
    return len(resource_version), resource_version


def up_to(resource_versions: str, newest: str) -> str:
    """Return the versions of a list, as ``V`` or ``V..W``, once parts of it may be as new as that one."""
    first, last = oldest(resource_versions), resource_versions.rpartition(NEWER)[2]
    newest = max(last, newest, key=age)
    return f"{first}{NEWER}{newest}" if first and newest != first else newest


def narrowed(reads: Iterable[Read]) -> Mapping[str, frozenset[str]]:
    """Return kind's name → the namespaces that are read whole; a kind that is read of all is absent."""
    found: dict[str, set[str]] = {}
    for read in reads:
        namespaces = found.setdefault(read.kind.name, set())
        if not (read.name or read.label_selector or read.field_selector):
            namespaces.add(read.namespace)
    return {kind: frozenset(namespaces) for kind, namespaces in found.items() if "" not in namespaces}

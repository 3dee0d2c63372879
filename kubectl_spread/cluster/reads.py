"""The requests for lists and objects. They are apart from the transport, which files do not need."""

from collections.abc import Iterable, Mapping

import msgspec

from kubectl_spread.objects.kinds import KINDS, Kind
from kubectl_spread.snapshot import NEWER, Inventory, oldest


class Read(msgspec.Struct, frozen=True):
    """A request for one list or one object."""

    kind: Kind
    namespace: str = ""
    name: str = ""  # the object to get; empty to list
    label_selector: str = ""  # as for ``kubectl -l``; empty for all
    field_selector: str = ""  # as for ``kubectl --field-selector``; empty for all
    required: bool = True  # whether a missing permission is an error; else the list is unread
    fallback: str = ""  # the namespace to list where all namespaces are forbidden; the list is unread then
    resource_version: str = ""  # the version to list at; empty for the newest
    # whether a newer version will do too. Only for such lists the server uses its index of Pods by ``spec.nodeName``;
    # for others it walks all Pods.
    not_older: bool = False
    # the nodes whose Pods are wanted, in one ``not_older`` list each; empty for one list
    on_nodes: tuple[str, ...] = ()


def describe_counts(inventory: Inventory) -> str:
    """Return one line with the number of objects of each kind, and the kinds that could not be read."""
    found = [
        f"{len(objects):,} {kind.name.lower() if len(objects) == 1 else kind.plural}"
        for kind in KINDS
        if (objects := inventory.objects.get(kind.name))
    ]
    missing = [f"no {unread.kind.plural} ({unread.why})" for unread in inventory.unread]
    return ", ".join((*found, *missing)) or "nothing"


def version_order(resource_version: str) -> tuple[int, str]:
    """Return the sort key of a version, the oldest first: versions are decimal numbers.

    Source: KEP-5504, comparable resource versions.
    """
    return len(resource_version), resource_version


def widen_versions(resource_versions: str, newest: str) -> str:
    """Return the versions of a list, as ``V`` or ``V..W``, of which parts may be as new as ``newest``."""
    first, last = oldest(resource_versions), resource_versions.rpartition(NEWER)[2]
    newest = max(last, newest, key=version_order)
    return f"{first}{NEWER}{newest}" if first and newest != first else newest


def whole_namespaces(reads: Iterable[Read]) -> Mapping[str, frozenset[str]]:
    """Return kind's name → the namespaces that are read whole; a kind of which all are read is absent."""
    found: dict[str, set[str]] = {}
    for read in reads:
        namespaces = found.setdefault(read.kind.name, set())
        if not (read.name or read.label_selector or read.field_selector):
            namespaces.add(read.namespace)
    return {kind: frozenset(namespaces) for kind, namespaces in found.items() if "" not in namespaces}

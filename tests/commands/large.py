"""A large cluster in memory: it gives what is asked for and no more, and counts what that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from kubectl_spread.cluster.reads import Read, widen_versions
from kubectl_spread.commands.read_sets import WHOLE_CLUSTER_PODS
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.meta import KubernetesObject
from kubectl_spread.snapshot import Inventory
from tests.build import snapshot
from tests.commands.memory import Memory

UNBOUND = "spec.nodeName="


@dataclass
class Large(Memory):
    """An API server with many Pods, of which it gives those that are selected, at version 7; of nodes, at 9."""

    pods: int = WHOLE_CLUSTER_PODS + 1
    server: str = "https://api.example"
    said_version: str = "v1.36.0"
    given: int = 0  # Pods (count) that it gave, all reads together
    inventory: Inventory = field(init=False)

    def __post_init__(self) -> None:
        """Decode the objects once."""
        self.inventory = snapshot(self.objects).inventory

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return what was asked for."""
        self.asked += reads
        found: dict[str, dict[tuple[str, str], KubernetesObject]] = {}
        versions: dict[str, str] = {}
        for read in reads:
            held = found.setdefault(read.kind.name, {})
            held.update({(each.metadata.namespace, each.metadata.name): each for each in self._selected(read)})
            plural, version = read.kind.plural, "9" if read.not_older or read.on_nodes else "7"
            versions[plural] = widen_versions(versions.get(plural, ""), version) if version == "9" else version
        self.given += len(found.get(kinds.POD.name, ()))
        return Inventory({kind: tuple(held.values()) for kind, held in found.items()}, versions)

    def _selected(self, read: Read) -> Iterator[KubernetesObject]:
        for each in self.inventory.objects.get(read.kind.name, ()):
            elsewhere = read.namespace not in {"", each.metadata.namespace}
            if not elsewhere and (read.kind != kinds.POD or _is_meant(cast("Pod", each), read)):
                yield each

    @property
    def nodes_asked(self) -> set[str]:
        """The nodes whose Pods were asked for."""
        return {name for read in self.asked for name in read.on_nodes}

    @property
    def whole_asked(self) -> bool:
        """Whether all Pods were asked for."""
        return any(_is_whole(read) for read in self.asked)


def _is_meant(pod: Pod, read: Read) -> bool:
    if read.on_nodes:
        return pod.spec.node_name in read.on_nodes
    assert read.field_selector in {"", UNBOUND}
    return not (read.field_selector and pod.spec.node_name)


def _is_whole(read: Read) -> bool:
    return read.kind == kinds.POD and not (read.namespace or read.on_nodes or read.field_selector)

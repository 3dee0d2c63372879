"""A source that holds its objects in memory, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from kubectl_spread.cluster.log import SILENT, Log
from kubectl_spread.cluster.reads import Read
from kubectl_spread.snapshot import Inventory, Unread
from tests.build import Object, snapshot


@dataclass
class Memory:
    """A cluster, or files, in memory.

    Attributes:
        objects: what it holds.
        namespace: the one that is meant when none is named.
        server: its URL; empty for files.
        name: its name.
        said_version: what the server says of itself.
        pods: how many Pods it says it has.
        unread: lists that cannot be had.
        asked: every read it was asked for.
        log: whom it tells what is read.
    """

    objects: Iterable[Object] = ()
    namespace: str = "default"
    server: str = ""
    name: str = "memory"
    said_version: str = ""
    pods: int = 0
    unread: tuple[Unread, ...] = ()
    asked: list[Read] = field(default_factory=list)
    log: Log = SILENT

    def version(self) -> str:
        """Return what the server says of itself."""
        return self.said_version

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return all objects, whatever is asked for, as files do."""
        self.asked += reads
        inventory = snapshot(self.objects).inventory
        return replace(inventory, unread=self.unread, resource_versions={"pods": "7"} if self.server else {})

    def count_pods(self) -> int:
        """Return how many Pods it says it has."""
        return self.pods

"""A source that holds its objects in memory, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.cluster.api.discovery import Discovered
from kubectl_spread.cluster.log import SILENT, Log
from kubectl_spread.cluster.reads import Read
from kubectl_spread.contract.report import ClusterAccess
from kubectl_spread.snapshot import Inventory, Unread
from tests.build import Object, snapshot


class TheEndError(Exception):
    """Nothing changes any more."""


@dataclass
class Memory:
    """A cluster, or files, in memory."""

    objects: Iterable[Object] = ()  # what it holds
    namespace: str = "default"  # the one that is meant when none is named
    server: str = ""  # its URL; empty for files
    name: str = "memory"  # its name
    access: ClusterAccess | UnsetType = UNSET  # how commands reach it; absent for files
    said_version: str = ""  # what the server says of itself
    pods: int = 0  # how many Pods it says it has
    # apiVersion → what it serves of it; all others may not be read
    discovered: Mapping[str, Discovered] = field(default_factory=dict)
    unread: tuple[Unread, ...] = ()  # lists that cannot be had
    asked: list[Read] = field(default_factory=list)  # every read it was asked for
    log: Log = SILENT  # whom it tells what is read
    later: Sequence[Iterable[Object]] = ()  # what it holds later, one after another

    def version(self) -> str:
        """Return what the server says of itself."""
        return self.said_version

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return all objects, whatever is asked for, as files do."""
        self.asked += reads
        inventory = snapshot(self.objects).inventory
        return replace(inventory, unread=self.unread, resource_versions={"pods": "7"} if self.server else {})

    def watch(self, reads: Sequence[Read], _: Callable[[str], object]) -> Story:
        """Return what it holds now and later."""
        return Story(self, reads, [*self.later])

    def count_pods(self, namespace: str = "") -> int:
        """Return how many Pods it says it has, or how many it has in the namespace."""
        named = (each for each in self.objects if each["kind"] == "Pod" and each["metadata"]["namespace"] == namespace)
        return sum(1 for _ in named) if namespace else self.pods

    def discover(self, api_version: str) -> Discovered | None:
        """Return what it serves of an apiVersion."""
        return self.discovered.get(api_version)


@dataclass
class Story:
    """What a source holds, and what becomes of it."""

    source: Memory
    reads: Sequence[Read]
    chapters: list[Iterable[Object]]

    def inventory(self) -> Inventory:
        """Return what there is now."""
        return self.source.read(self.reads)

    def wait(self) -> None:
        """Let the next thing happen.

        Raises:
            TheEndError: there is no more.
        """
        if not self.chapters:
            raise TheEndError
        self.source.objects = self.chapters.pop(0)

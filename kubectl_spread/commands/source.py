"""Where the cluster is read from: an API server, or files."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from kubectl_spread.cluster.log import SILENT, Log
from kubectl_spread.contract.report import ClusterAccess
from kubectl_spread.errors import UsageError
from kubectl_spread.objects.kinds import NODE, POD
from kubectl_spread.snapshot import Inventory, Origin, Snapshot

if TYPE_CHECKING:
    from kubectl_spread.cluster.api.discovery import Discovered
    from kubectl_spread.cluster.api.informer import Informer
    from kubectl_spread.cluster.log import Progress
    from kubectl_spread.cluster.net.connection import Connection
    from kubectl_spread.cluster.reads import Read

# How much of a large cluster is read: enough to be certain, everything, or the least that gives an answer.
ReadMode = Literal["auto", "all", "needed", "watched"]
ReadLists: TypeAlias = Callable[[Sequence["Read"]], Inventory]  # Reads → what they return

_FLAG_NAME = re.compile("--[a-z-]{1,40}")  # The flag names that a file may give: none of them carries a value
MOST_NODES = 500  # Nodes (count) whose Pods are read one by one; the whole list costs less than more of them


class ReadLimits(msgspec.Struct, frozen=True):
    """How a large cluster is read."""

    nodes: int = MOST_NODES  # the most nodes (count) that are read one by one
    confirm: bool = True  # whether all Pods are read to confirm that a Pod finds a node
    # whether a few nodes are read before the others, because one of them is likely to take the Pod
    few_first: bool = False

    def left(self, snapshot: Snapshot) -> int:
        """Return of how many more nodes (count) the Pods may be read one by one."""
        return max(self.nodes - (len(snapshot.nodes) - len(snapshot.inventory.not_read)), 0)


class Followed(Protocol):
    """A cluster's objects, kept up to date."""

    def inventory(self) -> Inventory:
        """Return what there is now."""

    def wait(self) -> None:
        """Return when something has changed."""


class Source(Protocol):
    """Where a cluster is read from."""

    namespace: str  # the one that is meant when none is named
    server: str  # the API server's URL; empty for files
    name: str  # the context's name, or the files
    access: ClusterAccess | UnsetType  # which cluster it is, and how commands reach it; UNSET for files that do not say
    log: Log

    def version(self) -> str:
        """Return the server's version, such as ``v1.36.2``; empty when there is no server to ask."""
        return ""

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return what was asked for; files return all they hold."""

    def watch(self, reads: Sequence[Read], say: Callable[[str], object]) -> Followed:
        """Return what was asked for, kept up to date from now on."""

    def count_pods(self, namespace: str = "") -> int:  # noqa: ARG002 - files are read whole
        """Return how many Pods the namespace has (empty: the cluster); 0 for files, which are read whole anyway."""
        return 0

    def discover(self, api_version: str) -> Discovered | None:  # noqa: ARG002 - files do not say what a cluster serves
        """Return which kinds of an apiVersion the server serves; None where that cannot be known."""
        return None


class FileSource(Source):
    """Files, directories or standard input, as ``--from`` names them; all commands carry the given connection flags."""

    namespace = "default"
    server = ""

    def __init__(
        self, paths: Sequence[str], *, stdin: BinaryIO | None, log: Log = SILENT, flags: tuple[str, ...] = ()
    ) -> None:
        from kubectl_spread.cluster.files.sources import as_text

        self.name = ", ".join(map(as_text, paths))
        self.access: ClusterAccess | UnsetType = UNSET
        self.log = log
        self._flags = flags
        self._paths = paths
        self._stdin = stdin

    def read(self, reads: Sequence[Read]) -> Inventory:  # noqa: ARG002 - files are read whole
        """Return everything the files hold; ManifestError if one cannot be read."""
        from kubectl_spread.cluster.files.manifests import read_inventory

        inventory = read_inventory(self._paths, stdin=self._stdin, log=self.log)
        if inventory.origin:
            self.access = _access_of(inventory.origin, self._flags)
        elif self._flags:
            self.access = ClusterAccess(current=False, flags=self._flags)
        return inventory

    def watch(self, reads: Sequence[Read], say: Callable[[str], object]) -> Followed:  # noqa: ARG002 - files stay as is
        """Refuse to watch files: raise UsageError."""
        raise UsageError("--watch and --from cannot be used together", hint="files do not change")


def _access_of(origin: Origin, given: Sequence[str]) -> ClusterAccess:
    """Return how commands reach the cluster of a snapshot: by names that the reader's kubeconfig must have.

    A given context replaces every name that the snapshot has; any other flag replaces its own.
    """
    named = (("--context", origin.context), ("--cluster", origin.cluster_flag), ("--user", origin.user_flag))
    return ClusterAccess(
        context=origin.context,
        cluster=origin.cluster,
        current=False,
        flags=(
            *(word for flag, name in named if name and not {flag, "--context"} & {*given} for word in (flag, name)),
            *given,
        ),
        secret_flags=tuple(flag for flag in origin.other_flags if _FLAG_NAME.fullmatch(flag) and flag not in given),
        server=origin.server,
        taken_at=origin.taken_at,
    )


class ClusterSource:
    """An API server."""

    def __init__(self, connection: Connection, *, progress: Progress | None) -> None:
        self.namespace = connection.namespace
        self.server = connection.server
        self.name = connection.context
        self.access: ClusterAccess | UnsetType = ClusterAccess(
            context=connection.context,
            cluster=connection.cluster,
            current=connection.current,
            flags=connection.flags,
            secret_flags=connection.secret_flags,
        )
        self.log = connection.log
        self.connection = connection
        self._progress = progress
        self._read_at = ""

    def version(self) -> str:
        """Return the server's version, such as ``v1.36.2``; ClusterError if it does not answer."""
        from kubectl_spread.cluster.api.reader import server_version

        return server_version(self.connection)

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return what was asked for, at the version of the first read; ClusterError if a needed list cannot be had."""
        from kubectl_spread.cluster.api.reader import read

        inventory = read(self.connection, reads, resource_version=self._read_at, progress=self._progress)
        self._read_at = inventory.resource_versions.get(NODE.plural, self._read_at)
        return inventory

    def watch(self, reads: Sequence[Read], say: Callable[[str], object]) -> Informer:
        """Return what was asked for, no two lists of one kind, kept up to date; ``say`` as for ``WatchedSource``.

        ClusterError if a list that is needed cannot be had, or may not be watched.
        """
        from kubectl_spread.cluster.api.informer import Informer

        return Informer(self.connection, reads, self.read(reads), say=say)

    def count_pods(self, namespace: str = "") -> int:
        """Return how many Pods the namespace has, empty for the cluster; ClusterError if the server does not answer."""
        from kubectl_spread.cluster.api.reader import count

        counted, self._read_at = count(self.connection, POD, namespace=namespace)
        return counted

    def discover(self, api_version: str) -> Discovered | None:
        """Return which kinds of an apiVersion the server serves, None if not known; ClusterError without an answer."""
        from kubectl_spread.cluster.api.discovery import discover

        return discover(self.connection, api_version)

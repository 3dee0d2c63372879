"""Where the cluster is read from: an API server, or files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol

import msgspec
from msgspec import UNSET, UnsetType

from kubectl_spread.cluster.log import SILENT, Log
from kubectl_spread.contract.report import ClusterAccess
from kubectl_spread.errors import UsageError
from kubectl_spread.objects.kinds import NODE
from kubectl_spread.snapshot import Inventory, Origin, Snapshot

if TYPE_CHECKING:
    from kubectl_spread.cluster.api.dry_run import DryRun, Patch
    from kubectl_spread.cluster.api.informer import Informer
    from kubectl_spread.cluster.net.connection import Connection
    from kubectl_spread.cluster.progress import Progress
    from kubectl_spread.cluster.reads import Read
    from kubectl_spread.objects.decoding import Plain
    from kubectl_spread.objects.kinds import Kind


ReadMode = Literal["auto", "all", "needed"]
"""How much of a large cluster is read: what it takes to be sure, everything, or as little as an answer takes."""


_FLAG_NAME = re.compile("--[a-z-]{1,40}")
"""What a file may call a flag: nothing that carries a value."""
MOST_NODES = 500
"""Nodes (count) whose Pods are read one by one; the whole list costs less than more of them."""


class ReadLimits(msgspec.Struct, frozen=True):
    """How a large cluster is read.

    Attributes:
        nodes: so many (count) are read one by one at most.
        confirm: whether all Pods are read before it is said that one finds a node.
        few_first: whether a few nodes are read before the rest of them: where one is likely to take the Pod.
    """

    nodes: int = MOST_NODES
    confirm: bool = True
    few_first: bool = False

    def left(self, snapshot: Snapshot) -> int:
        """Return of how many more nodes (count) the Pods may be read one by one."""
        return max(self.nodes - (len(snapshot.nodes) - len(snapshot.inventory.not_read)), 0)


class Followed(Protocol):
    """A cluster's objects, kept as they are."""

    def inventory(self) -> Inventory:
        """Return what there is now."""

    def wait(self) -> None:
        """Return when something has changed."""


class Source(Protocol):
    """Something that holds a cluster's objects."""

    @property
    def namespace(self) -> str:
        """The namespace that is meant when none is named."""

    @property
    def server(self) -> str:
        """The API server's URL; empty for files."""

    @property
    def name(self) -> str:
        """The context's name, or the files."""

    @property
    def access(self) -> ClusterAccess | UnsetType:
        """Which cluster that is, and how commands reach it; UNSET for files."""

    @property
    def log(self) -> Log:
        """Whom to tell what is read."""

    def version(self) -> str:
        """Return the server's version, such as ``v1.36.2``; empty when there is no server to ask."""

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return what was asked for; files return all they hold."""

    def watch(self, reads: Sequence[Read], say: Callable[[str], object]) -> Followed:
        """Return what was asked for, kept as it is from now on."""

    def count_pods(self, namespace: str = "") -> int:
        """Return how many Pods the namespace has (empty: the cluster); 0 for files, which are read whole anyway."""


class SourceWithin:
    """What is the same whether a source is asked itself or through another one: all but what is read, and errors too.

    Args:
        source: the one that is asked.
    """

    def __init__(self, source: Source) -> None:
        self._source = source

    @property
    def namespace(self) -> str:
        """The namespace that is meant when none is named."""
        return self._source.namespace

    @property
    def server(self) -> str:
        """The API server's URL."""
        return self._source.server

    @property
    def name(self) -> str:
        """The context's name."""
        return self._source.name

    @property
    def access(self) -> ClusterAccess | UnsetType:
        """Which cluster that is, and how commands reach it."""
        return self._source.access

    @property
    def log(self) -> Log:
        """Whom to tell what is read."""
        return self._source.log

    def version(self) -> str:
        """Return what the server says of itself."""
        return self._source.version()

    def watch(self, reads: Sequence[Read], say: Callable[[str], object]) -> Followed:
        """Return what was asked for, kept as it is from now on."""
        return self._source.watch(reads, say)

    def count_pods(self, namespace: str = "") -> int:
        """Return how many Pods the namespace has; empty for the cluster."""
        return self._source.count_pods(namespace)


class FileSource:
    """Files, directories or standard input, as ``--from`` names them.

    Args:
        paths: their names.
        stdin: standard input; None where it is closed.
        log: whom to tell what is read.
        flags: kubectl's connection flags that were given, each word by itself: all commands carry them.
    """

    namespace = "default"
    server = ""

    def __init__(
        self, paths: Sequence[str], *, stdin: BinaryIO | None, log: Log = SILENT, flags: tuple[str, ...] = ()
    ) -> None:
        self.access: ClusterAccess | UnsetType = UNSET
        self._flags = flags
        self._paths = tuple(paths)
        self._stdin = stdin
        self.log = log

    @property
    def name(self) -> str:
        """The files."""
        from kubectl_spread.cluster.files.sources import as_text

        return ", ".join(map(as_text, self._paths))

    def version(self) -> str:
        """Return nothing: files have no server."""
        return ""

    def read(self, reads: Sequence[Read]) -> Inventory:  # noqa: ARG002 - files are read whole
        """Return everything the files hold.

        Raises:
            ManifestError: a file cannot be read.
        """
        from kubectl_spread.cluster.files.manifests import read_inventory

        inventory = read_inventory(self._paths, stdin=self._stdin, log=self.log)
        if inventory.origin:
            self.access = _as_recorded(inventory.origin, self._flags)
        elif self._flags:
            self.access = ClusterAccess(current=False, flags=self._flags)
        return inventory

    def watch(self, reads: Sequence[Read], say: Callable[[str], object]) -> Followed:  # noqa: ARG002 - a file stays
        """Refuse to follow what does not change.

        Raises:
            UsageError: always.
        """
        raise UsageError("--watch and --from cannot be used together", hint="files do not change")

    def count_pods(self, namespace: str = "") -> int:  # noqa: ARG002 - as for every namespace
        """Return 0: files are read whole anyway."""
        return 0


def _as_recorded(origin: Origin, given: Sequence[str]) -> ClusterAccess:
    """Return how commands reach the cluster of a snapshot: by names that the reader's kubeconfig has to know.

    A context that is given takes the place of all that the snapshot names, another flag that of its own.
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
        self._connection = connection
        self._progress = progress
        self._read_at = ""

    @property
    def namespace(self) -> str:
        """The context's namespace."""
        return self._connection.namespace

    @property
    def server(self) -> str:
        """The API server's URL."""
        return self._connection.server

    @property
    def name(self) -> str:
        """The context's name."""
        return self._connection.context

    @property
    def access(self) -> ClusterAccess:
        """Which cluster that is, and how commands reach it."""
        connection = self._connection
        return ClusterAccess(
            context=connection.context,
            cluster=connection.cluster,
            current=connection.current,
            flags=connection.flags,
            secret_flags=connection.secret_flags,
        )

    @property
    def log(self) -> Log:
        """Whom to tell what is read."""
        return self._connection.log

    def version(self) -> str:
        """Return what the server says of itself.

        Raises:
            ClusterError: it does not answer.
        """
        from kubectl_spread.cluster.api.reader import server_version

        return server_version(self._connection)

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return what was asked for, as it was when Pods were counted or something was read before.

        Raises:
            ClusterError: a list that is needed cannot be had.
        """
        from kubectl_spread.cluster.api.reader import read

        inventory = read(self._connection, reads, resource_version=self._read_at, progress=self._progress)
        self._read_at = inventory.resource_versions.get(NODE.plural, self._read_at)
        return inventory

    def watch(self, reads: Sequence[Read], say: Callable[[str], object]) -> Informer:
        """Return what was asked for, kept as it is from now on.

        Args:
            reads: lists, no two of one kind.
            say: hears in one line that the server is lost, and that it is back.

        Raises:
            ClusterError: a list that is needed cannot be had, or may not be watched.
        """
        from kubectl_spread.cluster.api.informer import Informer

        return Informer(self._connection, reads, self.read(reads), say=say)

    def create_dry_run(self, kind: Kind, namespace: str, values: Mapping[str, Plain]) -> DryRun:
        """Return what the API server would make of an object.

        Raises:
            ClusterError: the server cannot be reached or understood.
        """
        from kubectl_spread.cluster.api.dry_run import create

        return create(self._connection, kind, namespace, values)

    def patch_dry_run(self, kind: Kind, namespace: str, name: str, change: Patch) -> DryRun:
        """Return what the API server would make of an object that exists.

        Raises:
            ClusterError: the server cannot be reached or understood.
        """
        from kubectl_spread.cluster.api.dry_run import patch

        return patch(self._connection, kind, namespace, name, change)

    def count_pods(self, namespace: str = "") -> int:
        """Return how many Pods the namespace has; empty for the cluster.

        Raises:
            ClusterError: the server does not answer.
        """
        from kubectl_spread.cluster.api.reader import count
        from kubectl_spread.objects.kinds import POD

        counted = count(self._connection, POD, namespace=namespace)
        self._read_at = counted.resource_version
        return counted.objects

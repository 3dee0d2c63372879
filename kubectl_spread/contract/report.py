"""What all reports share: the contract of the renderers, of ``-o json`` and of the JSON Schema.

JSON names are camelCase. The contract only grows: a field is never renamed, and never gets another meaning.
"""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

CONTEXT = "--context"
API_VERSION = "spread.kubectl.dev/v1alpha2"


class Report(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The base of everything in a report."""


class ClusterAccess(Report, frozen=True, kw_only=True):
    """Which cluster was read, and how commands reach it.

    Attributes:
        context: the name of the context; empty if there is none.
        cluster: the name of the cluster in the kubeconfig; empty if there is none.
        current: whether kubectl uses the same cluster without flags.
        flags: the connection flags of this call, each word separate; all commands carry them.
        secret_flags: flags that commands leave out: their values are secret, or not in the snapshot.
        server: the API server's URL, of a snapshot.
        taken_at: when a snapshot was taken (RFC 3339); empty if an API server was read.
    """

    context: str = ""
    cluster: str = ""
    current: bool = True
    flags: tuple[str, ...] = ()
    secret_flags: tuple[str, ...] = ()
    server: str = ""
    taken_at: str = ""


class Metadata(Report, frozen=True, kw_only=True):
    """The source of the answer.

    Attributes:
        version: of this program.
        server: the API server's URL; empty for files.
        kube_version: the release whose rules were applied, such as ``v1.36``; empty for several clusters.
        kube_version_from: ``flag``, ``server``, ``nodes`` (the newest kubelet: at least that) or ``default``;
            ``clusters`` for several clusters, which ``clusters`` of the report lists.
        source: the context, several contexts, or the files.
        access: which cluster that is, and how commands reach it; absent for files that do not name it.
        resource_versions: list → the version at which it was read; empty for files.
        as_of: the latest time in the Pods and Events (RFC 3339): the answer is no older; empty if they have none.
    """

    version: str
    server: str = ""
    kube_version: str
    kube_version_from: Literal["flag", "server", "nodes", "default", "clusters"]
    source: str = ""
    access: ClusterAccess | UnsetType = UNSET
    resource_versions: dict[str, str] = {}
    as_of: str = ""

    @property
    def connection_flags(self) -> tuple[str, ...]:
        """The flags with which commands reach the cluster that was read."""
        return self.access.flags if isinstance(self.access, ClusterAccess) else ()

    def flags_for(self, cluster: str | UnsetType) -> tuple[str, ...]:
        """Return the flags with which commands reach an item's cluster: with several, its own context."""
        return self.connection_flags if isinstance(cluster, UnsetType) else (*self.connection_flags, CONTEXT, cluster)

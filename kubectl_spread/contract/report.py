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
    """Which cluster was read, and how commands reach it."""

    context: str = ""  # the name of the context; empty if there is none
    cluster: str = ""  # the name of the cluster in the kubeconfig; empty if there is none
    current: bool = True  # whether kubectl uses the same cluster without flags
    flags: tuple[str, ...] = ()  # the connection flags of this call, each word separate; all commands carry them
    # flags that commands leave out: their values are secret, or not in the snapshot
    secret_flags: tuple[str, ...] = ()
    server: str = ""  # the API server's URL, of a snapshot
    taken_at: str = ""  # when a snapshot was taken (RFC 3339); empty if an API server was read


class Metadata(Report, frozen=True, kw_only=True):
    """The source of the answer."""

    version: str  # of this program
    server: str = ""  # the API server's URL; empty for files
    kube_version: str  # the release whose rules were applied, such as `v1.36`; empty for several clusters
    # `flag`, `server`, `nodes` (the newest kubelet: at least that) or `default`; `clusters` for several clusters, which
    # `clusters` of the report lists
    kube_version_from: Literal["flag", "server", "nodes", "default", "clusters"]
    source: str = ""  # the context, several contexts, or the files
    # which cluster that is, and how commands reach it; absent for files that do not name it
    access: ClusterAccess | UnsetType = UNSET
    resource_versions: dict[str, str] = {}  # list → the version at which it was read; empty for files
    # the latest time in the Pods and Events (RFC 3339): the answer is no older; empty if they have none
    as_of: str = ""

    @property
    def connection_flags(self) -> tuple[str, ...]:
        """The flags with which commands reach the cluster that was read."""
        return self.access.flags if isinstance(self.access, ClusterAccess) else ()

    def flags_for(self, cluster: str | UnsetType) -> tuple[str, ...]:
        """Return the flags with which commands reach an item's cluster: with several, its own context."""
        return self.connection_flags if isinstance(cluster, UnsetType) else (*self.connection_flags, CONTEXT, cluster)

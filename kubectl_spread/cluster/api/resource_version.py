"""The resourceVersion of a reading: one for all lists, so that Nodes and Pods belong together.

An API server answers ``resourceVersionMatch=Exact`` from its watch cache where that keeps snapshots (1.34 and newer),
else from etcd, as for every page but the first.

Source: apimachinery pkg/apis/meta/v1/types.go ListOptions; apiserver pkg/storage/cacher/delegator/interface.go
ShouldDelegateList (v1.36).
"""

import threading
from collections.abc import Sequence
from http import HTTPStatus

from kubectl_spread.cluster.net.failures import StatusError
from kubectl_spread.cluster.reads import Read
from kubectl_spread.objects.kinds import EVENT

# Kinds that large clusters keep in a separate etcd (--etcd-servers-overrides), with other versions.
KEPT_APART = frozenset({EVENT})
# The statuses of servers that do not support resourceVersionMatch.
UNKNOWN_MATCH = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)


class SharedVersion:
    """The version that the lists of one reading share.

    Without a version, the others wait for the first list and use its version. Without reads, there is no common one.
    """

    def __init__(self, reads: Sequence[Read] = (), resource_version: str = "") -> None:
        self._version = resource_version
        self._known = threading.Event()
        self._first = next((wanted for wanted in reads if is_comparable(wanted)), None)
        if resource_version or self._first is None:
            self._known.set()

    def version_for(self, wanted: Read) -> str:
        """Return the version to read at (empty: the newest); wait for the first list where it is not known yet."""
        if not is_comparable(wanted) or (wanted is self._first and not self._known.is_set()):
            return ""
        self._known.wait()
        return self._version

    def publish(self, wanted: Read, resource_version: str) -> None:
        """Set the version from the answer to a list; empty where the first list got no answer."""
        if is_comparable(wanted) and not self._known.is_set():
            self._version = resource_version
            self._known.set()


def is_comparable(wanted: Read) -> bool:
    """Whether the list's version counts for the whole cluster: its kind is not in a separate etcd."""
    return not wanted.name and wanted.kind not in KEPT_APART


def may_be_newer(wanted: Read) -> bool:
    """Whether the list may have a newer version than requested."""
    return wanted.not_older or bool(wanted.on_nodes)


def is_unavailable(error: StatusError) -> bool:
    """Whether the server no longer has the version (410 Gone), or not yet; another version may work."""
    return error.status == HTTPStatus.GONE or error.answer.too_new

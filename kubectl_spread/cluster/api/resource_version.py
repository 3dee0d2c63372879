"""The resourceVersion at which a cluster is read: one for all lists, so that Nodes and Pods belong together.

An API server answers ``resourceVersionMatch=Exact`` from what it answers the newest version from: its watch cache where
that keeps snapshots (1.34 and newer), else etcd, as it does every page but the first.

Source: apimachinery pkg/apis/meta/v1/types.go ListOptions; apiserver pkg/storage/cacher/delegator/interface.go
ShouldDelegateList (v1.36).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from http import HTTPStatus

from kubectl_spread.cluster.net.failures import StatusError
from kubectl_spread.cluster.reads import Read
from kubectl_spread.objects.kinds import EVENT

KEPT_APART = frozenset({EVENT})
"""Kinds that large clusters keep in an etcd of their own (--etcd-servers-overrides), where versions count apart."""
UNKNOWN_MATCH = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
"""What a server answers that knows no resourceVersionMatch, or does not let it be used."""


class SharedVersion:
    """The version that the lists of one reading share.

    An empty version is that of the first list, for which the others wait; lists that share no version read nothing.
    """

    def __init__(self, reads: Sequence[Read] = (), resource_version: str = "") -> None:
        self._version = resource_version
        self._known = threading.Event()
        self._first = next((wanted for wanted in reads if is_comparable(wanted)), None)
        if resource_version or self._first is None:
            self._known.set()

    def version_for(self, wanted: Read) -> str:
        """Return the version to read at; where no list was answered yet, wait for the first. Empty for the newest."""
        if not is_comparable(wanted) or (wanted is self._first and not self._known.is_set()):
            return ""
        self._known.wait()
        return self._version

    def publish(self, wanted: Read, resource_version: str) -> None:
        """Let the version be known that a list was answered at; empty where the first list was not answered at all."""
        if is_comparable(wanted) and not self._known.is_set():
            self._version = resource_version
            self._known.set()


def is_comparable(wanted: Read) -> bool:
    """Whether the version is one of the whole cluster: that of a list whose kind is not kept apart."""
    return not wanted.name and wanted.kind not in KEPT_APART


def is_newer(wanted: Read) -> bool:
    """Whether the list may be of a newer version than it is asked for at."""
    return wanted.not_older or bool(wanted.on_nodes)


def is_over(error: StatusError) -> bool:
    """Whether a list cannot be had at its version any more, or not yet; at another one it may be."""
    return error.status == HTTPStatus.GONE or error.said.too_new

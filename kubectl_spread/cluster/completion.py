"""Names for shell completion: of a kubeconfig, or of a cluster that is given less than a second to tell them.

Whoever presses TAB wants candidates or nothing: whatever fails, fails silently and leaves no names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Literal

from kubectl_spread.cluster.background import Background
from kubectl_spread.errors import SpreadError

if TYPE_CHECKING:
    from kubectl_spread.cluster.options import ConnectionOptions
    from kubectl_spread.objects.kinds import Kind

SECONDS = 0.7
"""What finding the cluster, its credential plugin and its answer may take in all: with the time that this program and
kubectl take to start, less than a second."""
NAMES = 500
UNSCHEDULED = "spec.nodeName=,status.phase=Pending"
"""The field selector of Pods that wait for a node."""


def configured_names(section: Literal["contexts", "clusters", "users"], *, path: str = "") -> tuple[str, ...]:
    """Return the names in a section of the kubeconfig at the path, or of those that KUBECONFIG names; sorted."""
    from kubectl_spread.cluster import kubeconfig

    try:
        return tuple(sorted(getattr(kubeconfig.load(path), section)))
    except SpreadError:
        return ()


def cluster_names(options: ConnectionOptions, kind: Kind, *, field_selector: str = "") -> tuple[str, ...]:
    """Return the names of the kind's objects in the namespace that the flags and the kubeconfig mean; sorted."""
    return _in_time(partial(_list_names, options, kind, field_selector))


def _list_names(options: ConnectionOptions, kind: Kind, field_selector: str) -> tuple[str, ...]:
    """Return the names."""
    from kubectl_spread.cluster.connection import connect
    from kubectl_spread.cluster.reader import list_names

    connection = connect(options)
    namespace = connection.namespace if kind.namespaced else ""
    names = list_names(
        connection, kind, namespace=namespace, field_selector=field_selector, limit=NAMES, timeout=SECONDS
    )
    return tuple(sorted(names))


def _in_time(work: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    """Return what the work returns, nothing when it fails or takes too long; it is not waited for any longer."""
    finished: SimpleQueue[Background[tuple[str, ...]]] = SimpleQueue()
    Background(work, finished)
    try:
        return finished.get(timeout=SECONDS).result()
    except (Empty, SpreadError):
        return ()

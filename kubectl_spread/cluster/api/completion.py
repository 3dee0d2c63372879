"""Names for shell completion: of a kubeconfig, or of a cluster that is given less than a second to tell them.

Whoever presses TAB wants candidates or nothing: whatever fails, fails silently and leaves no names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Literal

from kubectl_spread.cluster.net.background import Background
from kubectl_spread.errors import SpreadError

if TYPE_CHECKING:
    from kubectl_spread.cluster.access.options import ConnectionOptions
    from kubectl_spread.objects.kinds import Kind
    from kubectl_spread.objects.meta import ObjectMeta

SECONDS = 0.6
"""What finding the cluster, its credential plugin and its answer may take in all: with the time that this program and
kubectl take to start, less than a second."""
OBJECTS = 500
UNSCHEDULED = "spec.nodeName=,status.phase=Pending"
"""The field selector of Pods that wait for a node."""


def configured_names(section: Literal["contexts", "clusters", "users"], *, path: str = "") -> tuple[str, ...]:
    """Return the names in a section of the kubeconfig at the path, or of those that KUBECONFIG names; sorted."""
    from kubectl_spread.cluster.access import kubeconfig

    try:
        return tuple(sorted(getattr(kubeconfig.load(path), section)))
    except SpreadError:
        return ()


def cluster_names(options: ConnectionOptions, kind: Kind, *, field_selector: str = "") -> tuple[str, ...]:
    """Return the names of the kind's objects in the namespace that the flags and the kubeconfig mean; sorted."""
    return tuple(sorted(found.name for found in _in_time(partial(_list, options, kind, field_selector))))


def label_keys(options: ConnectionOptions, kind: Kind) -> tuple[str, ...]:
    """Return the keys of the labels that the kind's objects carry; sorted."""
    return tuple(sorted({key for found in _in_time(partial(_list, options, kind, "")) for key in found.labels}))


def _list(options: ConnectionOptions, kind: Kind, field_selector: str) -> tuple[ObjectMeta, ...]:
    from kubectl_spread.cluster.access.client_config import connect
    from kubectl_spread.cluster.api.reader import list_metadata

    connection = connect(options)
    namespace = connection.namespace if kind.namespaced else ""
    return list_metadata(
        connection, kind, namespace=namespace, field_selector=field_selector, limit=OBJECTS, timeout=SECONDS
    )


def _in_time(work: Callable[[], tuple[ObjectMeta, ...]]) -> tuple[ObjectMeta, ...]:
    """Return what the work returns, nothing when it fails or takes too long; it is not waited for any longer."""
    finished: SimpleQueue[Background[tuple[ObjectMeta, ...]]] = SimpleQueue()
    Background(work, finished)
    try:
        return finished.get(timeout=SECONDS).result()
    except (Empty, SpreadError):
        return ()

"""Names for shell completion, from the kubeconfig or within less than a second from the cluster.

Every failure is silent and gives no names.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Literal

from kubectl_spread.cluster.net.background import Background
from kubectl_spread.errors import SpreadError

if TYPE_CHECKING:
    from kubectl_spread.cluster.access.options import ConnectionOptions
    from kubectl_spread.objects.kinds import Kind
    from kubectl_spread.objects.meta import ObjectMeta

# For the kubeconfig, the credential plugin and the answer together. The start of kubectl and of this program takes the
# rest of a second.
SECONDS = 0.6
OBJECTS = 500
UNSCHEDULED = "spec.nodeName=,status.phase=Pending"  # The field selector of Pods without a node


def configured_names(section: Literal["contexts", "clusters", "users"], *, path: str = "") -> tuple[str, ...]:
    """Return the names in a section of the kubeconfig at the path (empty: the default one), sorted."""
    from kubectl_spread.cluster.access import kubeconfig

    try:
        return tuple(sorted(getattr(kubeconfig.load(path), section)))
    except SpreadError:
        return ()


def cluster_names(options: ConnectionOptions, *kinds: Kind, field_selector: str = "") -> tuple[str, ...]:
    """Return the names of the objects of the kinds in the namespace of the flags and the kubeconfig; sorted."""
    return tuple(sorted({found.name for found in _list_in_time(options, kinds, field_selector)}))


def label_keys(options: ConnectionOptions, kind: Kind) -> tuple[str, ...]:
    """Return the keys of the labels of the kind's objects, sorted."""
    return tuple(sorted({key for found in _list_in_time(options, (kind,), "") for key in found.labels}))


def _list(options: ConnectionOptions, kinds: Sequence[Kind], field_selector: str) -> tuple[ObjectMeta, ...]:
    from kubectl_spread.cluster.access.client_config import connect
    from kubectl_spread.cluster.api.reader import list_metadata

    connection = connect(options)
    ask = partial(list_metadata, connection, field_selector=field_selector, limit=OBJECTS, timeout=SECONDS)
    lists = (ask(kind, namespace=connection.namespace if kind.namespaced else "") for kind in kinds)
    return tuple(found for each in lists for found in each)


def _list_in_time(options: ConnectionOptions, kinds: Sequence[Kind], field_selector: str) -> tuple[ObjectMeta, ...]:
    """Return the metadata of the objects; nothing when that fails or takes too long."""
    finished: SimpleQueue[Background[tuple[ObjectMeta, ...]]] = SimpleQueue()
    Background(partial(_list, options, kinds, field_selector), finished)
    try:
        return finished.get(timeout=SECONDS).result()
    except (Empty, SpreadError):
        return ()

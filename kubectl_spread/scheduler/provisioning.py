"""Where a volume could be made for a claim: the nodes its StorageClass allows, and the storage that is left there.

Source: kube-scheduler volumebinding/binder.go checkVolumeProvisions, hasEnoughCapacity (v1.36), KEP-490 (topology),
KEP-1472 (storage capacity).
"""

from __future__ import annotations

import msgspec

from kubectl_spread import quantity
from kubectl_spread.labels import EVERYTHING, NOTHING, Operator, Selector, SelectorRequirement
from kubectl_spread.objects.meta import parse_label_selector
from kubectl_spread.objects.storage import (
    STORAGE,
    CSIDriver,
    CSIStorageCapacity,
    PersistentVolumeClaim,
    StorageClass,
)
from kubectl_spread.snapshot import Snapshot

NOT_SUPPORTED_PROVISIONERS = frozenset(("", "kubernetes.io/no-provisioner"))


class Pool(msgspec.Struct, frozen=True):
    """Storage with enough room for a claim."""

    nodes: Selector
    capacity: CSIStorageCapacity


class Provisioning(msgspec.Struct, frozen=True):
    """Where a volume could be made.

    Attributes:
        topologies: node labels, one of which a node must have; empty where no volume can be made at all.
        pools: storage with enough room; None where the driver does not keep count.
    """

    topologies: tuple[Selector, ...]
    pools: tuple[Pool, ...] | None


ANYWHERE = Provisioning(topologies=(EVERYTHING,), pools=None)


def provisioning(claim: PersistentVolumeClaim, storage_class: StorageClass, snapshot: Snapshot) -> Provisioning:
    """Return where a volume of the class could be made for the claim."""
    return Provisioning(topologies=allowed_topologies(storage_class), pools=pools(claim, storage_class, snapshot))


def allowed_topologies(storage_class: StorageClass) -> tuple[Selector, ...]:
    """Return the node labels, one of which a node must have; empty for a class whose volumes nobody makes.

    Source: pkg/apis/core/v1/helper/helpers.go MatchTopologySelectorTerms (v1.36).
    """
    if storage_class.provisioner in NOT_SUPPORTED_PROVISIONERS:
        return ()
    topologies = []
    for term in storage_class.allowed_topologies:
        # All expressions of a term must hold, and one of the class's terms; an empty term means no node.
        expressions = term.match_label_expressions
        requirements = (SelectorRequirement(e.key, Operator.IN, frozenset(e.values)) for e in expressions)
        topologies.append(Selector(tuple(requirements)) if expressions else NOTHING)
    return tuple(topologies) or (EVERYTHING,)


def pools(claim: PersistentVolumeClaim, storage_class: StorageClass, snapshot: Snapshot) -> tuple[Pool, ...] | None:
    """Return the storage with enough room for the claim, None where the driver does not keep count."""
    driver = snapshot.get(CSIDriver, "", storage_class.provisioner)
    requested = claim.spec.resources.requests.get(STORAGE)
    # Drivers opt in; of one that says nothing of its room, there is always enough.
    if requested is None or driver is None or not driver.spec.storage_capacity:
        return None
    # upstream: each claim is compared for itself: two of them may count on the same room.
    return tuple(
        Pool(_reachable_from(capacity), capacity)
        for capacity in snapshot.all(CSIStorageCapacity)
        if capacity.storage_class_name == storage_class.metadata.name
        and _largest_volume(capacity) >= quantity.value(requested)
    )


def _largest_volume(capacity: CSIStorageCapacity) -> int:
    """Return the size (bytes) of the largest volume there is room for, -1 where that is not known.

    Source: volumebinding/binder.go volumeLimit (v1.36).
    """
    # The whole pool may be larger than any one volume in it can be.
    limit = capacity.capacity if capacity.maximum_volume_size is None else capacity.maximum_volume_size
    return -1 if limit is None else quantity.value(limit)


def _reachable_from(capacity: CSIStorageCapacity) -> Selector:
    """Return the nodes that can use the capacity; none where its topology is absent or cannot be read.

    Source: volumebinding/binder.go nodeHasAccess (v1.36).
    """
    try:
        return parse_label_selector(capacity.node_topology)
    except ValueError:
        return NOTHING

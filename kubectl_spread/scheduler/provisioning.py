"""Where a volume can be provisioned for a claim: the nodes that its StorageClass allows, and the free storage there.

Source: kube-scheduler volumebinding/binder.go checkVolumeProvisions, hasEnoughCapacity (v1.36), KEP-490 (topology),
KEP-1472 (storage capacity).
"""

import msgspec

from kubectl_spread import quantity
from kubectl_spread.labels import EVERYTHING, NOTHING, Operator, Selector, SelectorRequirement
from kubectl_spread.objects.meta import readable_selector
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
    """Storage with enough capacity for a claim, and the nodes that can use it."""

    nodes: Selector
    capacity: CSIStorageCapacity


class Provisioning(msgspec.Struct, frozen=True):
    """Where a volume can be provisioned."""

    topologies: tuple[Selector, ...]  # alternatives of node labels; none if no volume can be provisioned at all
    pools: tuple[Pool, ...] | None  # the storage with enough capacity; None if the driver does not publish its capacity


ANYWHERE = Provisioning(topologies=(EVERYTHING,), pools=None)


def allowed_topologies(storage_class: StorageClass) -> tuple[Selector, ...]:
    """Return the alternatives of node labels; none for a class without provisioner.

    Source: pkg/apis/core/v1/helper/helpers.go MatchTopologySelectorTerms (v1.36).
    """
    if storage_class.provisioner in NOT_SUPPORTED_PROVISIONERS:
        return ()
    topologies = []
    for term in storage_class.allowed_topologies:
        expressions = term.match_label_expressions
        requirements = (SelectorRequirement(e.key, Operator.IN, frozenset(e.values)) for e in expressions)
        # An empty term matches no node.
        topologies.append(Selector(tuple(requirements)) if expressions else NOTHING)
    return tuple(topologies) or (EVERYTHING,)


def pools(claim: PersistentVolumeClaim, storage_class: StorageClass, snapshot: Snapshot) -> tuple[Pool, ...] | None:
    """Return the storage with enough capacity for the claim, None if the driver does not publish its capacity."""
    driver = snapshot.get(CSIDriver, "", storage_class.provisioner)
    requested = claim.spec.resources.requests.get(STORAGE)
    if requested is None or driver is None or not driver.spec.storage_capacity:
        return None
    # upstream: each claim is compared on its own: two claims may count on the same capacity.
    of_class = (c for c in snapshot.all(CSIStorageCapacity) if c.storage_class_name == storage_class.metadata.name)
    large = (capacity for capacity in of_class if _volume_limit(capacity) >= quantity.value(requested))
    # Source: volumebinding/binder.go nodeHasAccess (v1.36).
    return tuple(Pool(readable_selector(capacity.node_topology), capacity) for capacity in large)


def _volume_limit(capacity: CSIStorageCapacity) -> int:
    """Source: volumebinding/binder.go volumeLimit (v1.36)."""
    limit = capacity.capacity if capacity.maximum_volume_size is None else capacity.maximum_volume_size
    return -1 if limit is None else quantity.value(limit)

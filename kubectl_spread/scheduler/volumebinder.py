"""Whether a node satisfies a Pod's claims: with their volumes, with free volumes, or with new ones.

A bound claim needs a node that can use its volume. A claim for which a volume is being provisioned needs the selected
node. Any other claim gets the smallest free volume, or else a new one.

Source: kube-scheduler volumebinding/binder.go (v1.36).
"""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from kubectl_spread.objects.storage import (
    ANN_SELECTED_NODE,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from kubectl_spread.scheduler.claims import class_unknown
from kubectl_spread.scheduler.csitranslation import csi_node_selector, plugin_of
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.scheduler.provisioning import ANYWHERE, Provisioning, allowed_topologies, pools
from kubectl_spread.scheduler.volumematching import (
    AllowedNodes,
    Candidates,
    allowed_nodes,
    allows,
    candidates,
    find_matching_volume,
    storage,
)

REASON_NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
REASON_BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
REASON_NOT_ENOUGH_SPACE = "node(s) did not have enough free storage"
REASON_VOLUME_NOT_EXIST = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
# In upstream's order.
REASONS = (REASON_NODE_CONFLICT, REASON_BIND_CONFLICT, REASON_NOT_ENOUGH_SPACE, REASON_VOLUME_NOT_EXIST)


class BoundVolume(msgspec.Struct, frozen=True):
    """The volume of a bound claim."""

    nodes: AllowedNodes
    plugin: str = ""  # its in-tree plugin; empty for other volumes
    csi_nodes: AllowedNodes = None  # the allowed nodes, among those where the plugin is migrated to CSI
    problem: str = ""  # why the volume cannot be translated to CSI; empty if it can

    def usable(self, labels: Mapping[str, str], csi_node: CSINode | None) -> bool:
        """Whether it can be used on the node with these labels and CSI drivers.

        Raises:
            ValueError: the plugin is migrated on the node, but the volume cannot be translated.
        """
        if not self.plugin or csi_node is None or self.plugin not in csi_node.migrated_plugins:
            return allows(self.nodes, labels)
        if self.problem:
            raise ValueError(f"could not translate pv: {self.problem}")
        return allows(self.csi_nodes, labels)


class WaitingClaim(msgspec.Struct, frozen=True):
    """A claim that is bound when its Pod is scheduled."""

    claim: PersistentVolumeClaim
    selected_node: str | None  # the node for which a volume is already being provisioned, None for none
    candidates: Candidates
    problem: str  # why no candidates can be determined; empty if they can
    provisioning: Provisioning  # where a volume can be provisioned for it

    @property
    def anywhere(self) -> bool:
        """Whether it gets a new volume on any node, as no existing volume fits."""
        return not (self.candidates.ranked or self.problem) and self.provisioning == ANYWHERE


class PodVolumeClaims(msgspec.Struct, frozen=True):
    """The claims of a Pod."""

    bound: tuple[BoundVolume | None, ...] = ()  # the volumes of the bound claims; None for a volume that does not exist
    selected: tuple[WaitingClaim, ...] = ()  # the claims with a selected node, in the Pod's order
    # the other claims that are bound when the Pod is scheduled; they get volumes in this order, by size
    waiting: tuple[WaitingClaim, ...] = ()
    immediate: bool = False  # whether a claim that should have been bound immediately is not bound

    @property
    def anywhere(self) -> bool:
        """Whether all claims get new volumes on any node."""
        return not self.bound and not self.selected and all(claim.anywhere for claim in self.waiting)


class StaticBinding(msgspec.Struct, frozen=True):
    """A claim and the existing volume that it gets."""

    claim: PersistentVolumeClaim
    volume: PersistentVolume


class DynamicProvision(msgspec.Struct, frozen=True):
    """A claim and the storage for its new volume; None if the driver does not publish its capacity."""

    claim: PersistentVolumeClaim
    capacity: CSIStorageCapacity | None


class PodVolumes(msgspec.Struct, frozen=True):
    """The volumes that a Pod's claims get on a node, and why the node is rejected; no reasons if it is not."""

    static_bindings: tuple[StaticBinding, ...] = ()
    dynamic_provisions: tuple[DynamicProvision, ...] = ()
    reasons: tuple[str, ...] = ()


def pod_volume_claims(claims: Iterable[PersistentVolumeClaim], handle: Handle) -> PodVolumeClaims:
    """Return a Pod's claims by how they are bound."""
    bound: list[BoundVolume | None] = []
    waiting: list[WaitingClaim] = []
    immediate = False
    for claim in claims:
        storage_class = handle.snapshot.get(StorageClass, "", claim.class_name)
        if claim.fully_bound:
            bound.append(_bound_volume(handle.snapshot.get(PersistentVolume, "", claim.spec.volume_name)))
        elif storage_class is not None and storage_class.waits_for_consumer and not claim.spec.volume_name:
            waiting.append(_waiting_claim(claim, storage_class, handle))
        # upstream: a claim that names its volume but is not bound waits for the controller, whatever its class is.
        elif not class_unknown(claim, handle.snapshot):
            immediate = True
    selected = tuple(claim for claim in waiting if claim.selected_node is not None)
    left = [claim for claim in waiting if claim.selected_node is None]
    # Small claims first, so that none gets the large volume that another one needs.
    left.sort(key=lambda each: storage(each.claim.spec.resources.requests))
    return PodVolumeClaims(bound=tuple(bound), selected=selected, waiting=tuple(left), immediate=immediate)


def find_pod_volumes(claims: PodVolumeClaims, node_info: NodeInfo, handle: Handle) -> PodVolumes:
    """Return the volumes that the claims get on the node, and why the node is rejected.

    Raises:
        ValueError: a claim or a volume is invalid.
    """
    csi_node = handle.snapshot.get(CSINode, "", node_info.name) if claims.bound else None
    problem = ""
    for volume in claims.bound:
        if volume is None or not volume.usable(node_info.labels, csi_node):
            problem = REASON_VOLUME_NOT_EXIST if volume is None else REASON_NODE_CONFLICT
            break
    # upstream: the other claims are checked too, to report all reasons.
    found = _find_unbound(claims, node_info)
    if not problem:
        return found
    return replace(found, reasons=tuple(reason for reason in REASONS if reason in {problem, *found.reasons}))


def _find_unbound(claims: PodVolumeClaims, node_info: NodeInfo) -> PodVolumes:
    """Source: volumebinding/binder.go findMatchingVolumes, checkVolumeProvisions (v1.36)."""
    if any(claim.selected_node != node_info.name for claim in claims.selected):
        return PodVolumes(reasons=(REASON_BIND_CONFLICT,))
    bindings: dict[str, StaticBinding] = {}
    # A selected claim gets the volume that is being provisioned for it, and no other.
    unmatched = [*claims.selected]
    for claim in claims.waiting:
        # As upstream, the error occurs only when the claim is processed.
        if claim.problem:
            raise ValueError(claim.problem)
        volume = find_matching_volume(claim.candidates, node_info.labels, chosen=bindings)
        if volume is None:
            unmatched.append(claim)
        else:
            bindings[volume.metadata.name] = StaticBinding(claim.claim, volume)
    static_bindings = tuple(bindings.values())
    provisions = []
    for claim in unmatched:
        provision = _provision(claim, node_info.labels)
        if isinstance(provision, str):
            return PodVolumes(static_bindings=static_bindings, reasons=(provision,))
        provisions.append(provision)
    return PodVolumes(static_bindings=static_bindings, dynamic_provisions=tuple(provisions))


def _provision(waiting: WaitingClaim, labels: Mapping[str, str]) -> DynamicProvision | str:
    """Source: volumebinding/binder.go checkVolumeProvisions, hasEnoughCapacity (v1.36)."""
    if not any(topology.matches(labels) for topology in waiting.provisioning.topologies):
        return REASON_BIND_CONFLICT
    if waiting.provisioning.pools is None:
        return DynamicProvision(waiting.claim, None)
    # differs: of several pools with enough capacity upstream takes any, we take the first that was read.
    pool = next((pool for pool in waiting.provisioning.pools if pool.nodes.matches(labels)), None)
    return REASON_NOT_ENOUGH_SPACE if pool is None else DynamicProvision(waiting.claim, pool.capacity)


def _bound_volume(volume: PersistentVolume | None) -> BoundVolume | None:
    if volume is None:
        return None
    affinity = volume.spec.node_affinity
    nodes = allowed_nodes(affinity.required if affinity else None)
    plugin = plugin_of(volume.spec)
    if plugin is None:
        return BoundVolume(nodes)
    try:
        return BoundVolume(nodes, plugin.name, csi_nodes=allowed_nodes(csi_node_selector(volume, plugin)))
    except ValueError as error:
        # Nodes on which the plugin is not migrated do not need the translation.
        return BoundVolume(nodes, plugin.name, problem=str(error))


def _waiting_claim(claim: PersistentVolumeClaim, storage_class: StorageClass, handle: Handle) -> WaitingClaim:
    of_class = (v for v in handle.snapshot.all(PersistentVolume) if v.class_name == claim.class_name)
    found = Candidates()
    problem = ""
    try:
        found = candidates(claim, of_class, attributes_classes=handle.profile.does(Behaviour.VOLUME_ATTRIBUTES_CLASS))
    except ValueError as error:
        problem = str(error)
    return WaitingClaim(
        claim=claim,
        selected_node=claim.metadata.annotations.get(ANN_SELECTED_NODE),
        candidates=found,
        problem=problem,
        provisioning=Provisioning(allowed_topologies(storage_class), pools(claim, storage_class, handle.snapshot)),
    )

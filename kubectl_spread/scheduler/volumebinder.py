"""Where a Pod's claims can be met: volumes they have, volumes they could get, and room for new ones.

Three kinds of claims, and a node must do for all: one that is bound goes where its volume can be used; one for which a
volume is being made goes where that is made; any other takes the smallest free volume, or else has one made.

Source: kube-scheduler volumebinding/binder.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

import msgspec

from kubectl_spread.objects.storage import (
    ANN_SELECTED_NODE,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from kubectl_spread.scheduler.csitranslation import csi_node_selector, plugin_of
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.scheduler.provisioning import ANYWHERE, Provisioning, provisioning
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
REASONS = (REASON_NODE_CONFLICT, REASON_BIND_CONFLICT, REASON_NOT_ENOUGH_SPACE, REASON_VOLUME_NOT_EXIST)
"""In the order in which upstream lists them."""


class BoundVolume(msgspec.Struct, frozen=True):
    """The volume of a bound claim.

    Attributes:
        plugin: the in-tree plugin whose volume it is; empty for any other.
        csi_nodes: where it can be used on the nodes on which a CSI driver has taken over from that plugin.
        problem: why it cannot be used there; empty where it can.
    """

    nodes: AllowedNodes
    plugin: str = ""
    csi_nodes: AllowedNodes = None
    problem: str = ""

    def usable(self, labels: Mapping[str, str], csi_node: CSINode | None) -> bool:
        """Whether it can be used on the node with these labels and CSI drivers.

        Raises:
            ValueError: the CSI driver that has taken over cannot know the volume.
        """
        # The node's own annotation decides: while drivers are rolled out, some nodes still use the in-tree plugin.
        if not self.plugin or csi_node is None or self.plugin not in csi_node.migrated_plugins:
            return allows(self.nodes, labels)
        if self.problem:
            raise ValueError(f"could not translate pv: {self.problem}")
        return allows(self.csi_nodes, labels)


class WaitingClaim(msgspec.Struct, frozen=True):
    """A claim that is bound when its Pod is scheduled.

    Attributes:
        selected_node: the node for which a volume is already being made, None for none.
        problem: why volumes could not be looked for; empty where they could.
        provisioning: where a volume could be made for it.
    """

    claim: PersistentVolumeClaim
    selected_node: str | None
    candidates: Candidates
    problem: str
    provisioning: Provisioning

    @property
    def anywhere(self) -> bool:
        """Whether a volume is made for it wherever the Pod goes, as no volume there is could be its own."""
        return not (self.candidates.ranked or self.problem) and self.provisioning == ANYWHERE

    @property
    def size(self) -> Fraction:
        """The storage it asks for (bytes)."""
        return storage(self.claim.spec.resources.requests)


class PodVolumeClaims(msgspec.Struct, frozen=True):
    """The claims of a Pod.

    Attributes:
        bound: the volumes of those that are bound; None for a volume that does not exist.
        selected: those for which a volume is being made for a node already, in the Pod's order.
        waiting: the others that are bound when the Pod is scheduled; they choose in this order, small ones first.
        immediate: whether another one is not bound, though it should have been at once.
    """

    bound: tuple[BoundVolume | None, ...] = ()
    selected: tuple[WaitingClaim, ...] = ()
    waiting: tuple[WaitingClaim, ...] = ()
    immediate: bool = False

    @property
    def anywhere(self) -> bool:
        """Whether volumes are made for all of them wherever the Pod goes."""
        return not self.bound and not self.selected and all(claim.anywhere for claim in self.waiting)


class StaticBinding(msgspec.Struct, frozen=True):
    """A claim and the volume it would get."""

    claim: PersistentVolumeClaim
    volume: PersistentVolume


class DynamicProvision(msgspec.Struct, frozen=True):
    """A claim and the room there is for its volume, None where nobody keeps count."""

    claim: PersistentVolumeClaim
    capacity: CSIStorageCapacity | None


class PodVolumes(msgspec.Struct, frozen=True):
    """How a Pod's claims would be met on a node.

    Attributes:
        static_bindings: claims that would get a volume there is.
        dynamic_provisions: claims for which a volume would be made.
        reasons: why the node will not do; empty where it will.
    """

    static_bindings: tuple[StaticBinding, ...] = ()
    dynamic_provisions: tuple[DynamicProvision, ...] = ()
    reasons: tuple[str, ...] = ()


def pod_volume_claims(claims: Iterable[PersistentVolumeClaim], handle: Handle) -> PodVolumeClaims:
    """Return a Pod's claims, sorted out.

    Source: volumebinding/binder.go GetPodVolumeClaims (v1.36).
    """
    bound: list[BoundVolume | None] = []
    waiting: list[WaitingClaim] = []
    immediate = False
    for claim in claims:
        storage_class = handle.snapshot.get(StorageClass, "", claim.class_name)
        if claim.fully_bound:
            bound.append(_bound_volume(handle.snapshot.get(PersistentVolume, "", claim.spec.volume_name)))
        elif storage_class is not None and storage_class.waits_for_consumer and not claim.spec.volume_name:
            waiting.append(_waiting_claim(claim, storage_class, handle))
        # upstream: one that names its volume but is not bound yet waits for the controller, whatever its class says.
        else:
            immediate = True
    return PodVolumeClaims(
        bound=tuple(bound),
        selected=tuple(claim for claim in waiting if claim.selected_node is not None),
        # Small ones first, so that none takes the large volume that another one needs.
        waiting=tuple(sorted((c for c in waiting if c.selected_node is None), key=lambda claim: claim.size)),
        immediate=immediate,
    )


def find_pod_volumes(claims: PodVolumeClaims, node_info: NodeInfo, handle: Handle) -> PodVolumes:
    """Return how the claims would be met on the node, or why they cannot be.

    Raises:
        ValueError: a claim or a volume cannot be read.

    Source: volumebinding/binder.go FindPodVolumes (v1.36).
    """
    csi_node = handle.snapshot.get(CSINode, "", node_info.name) if claims.bound else None
    problem = _bound_problem(claims.bound, node_info.labels, csi_node)
    # upstream: the other claims are looked at all the same, so that all reasons are told at once.
    found = _place(claims, node_info)
    if not problem:
        return found
    reasons = {problem, *found.reasons}
    return PodVolumes(
        static_bindings=found.static_bindings,
        dynamic_provisions=found.dynamic_provisions,
        reasons=tuple(reason for reason in REASONS if reason in reasons),
    )


def _bound_problem(bound: Iterable[BoundVolume | None], labels: Mapping[str, str], csi_node: CSINode | None) -> str:
    """Return why the node will not do for the first of the bound volumes that it will not do for, empty for none.

    Source: volumebinding/binder.go checkBoundClaims (v1.36).
    """
    for volume in bound:
        if volume is None:
            return REASON_VOLUME_NOT_EXIST
        if not volume.usable(labels, csi_node):
            return REASON_NODE_CONFLICT
    return ""


def _place(claims: PodVolumeClaims, node_info: NodeInfo) -> PodVolumes:
    # The provisioner has been told of that node already: elsewhere the volume could not be used.
    if any(claim.selected_node != node_info.name for claim in claims.selected):
        return PodVolumes(reasons=(REASON_BIND_CONFLICT,))
    bindings, unmatched = _match(claims.waiting, node_info.labels)
    provisions = []
    # A volume is being made for the selected ones: they take no other, or that one would be left over.
    for claim in (*claims.selected, *unmatched):
        provision = _provision(claim, node_info.labels)
        if isinstance(provision, str):
            return PodVolumes(static_bindings=bindings, reasons=(provision,))
        provisions.append(provision)
    return PodVolumes(static_bindings=bindings, dynamic_provisions=tuple(provisions))


def _match(
    waiting: Iterable[WaitingClaim], labels: Mapping[str, str]
) -> tuple[tuple[StaticBinding, ...], tuple[WaitingClaim, ...]]:
    """Return the claims that get a volume each, in the order in which they choose, and those that get none.

    Source: volumebinding/binder.go findMatchingVolumes (v1.36).
    """
    bindings: dict[str, StaticBinding] = {}
    unmatched = []
    for claim in waiting:
        # Only now, for upstream finds out when the claim's turn comes.
        if claim.problem:
            raise ValueError(claim.problem)
        volume = find_matching_volume(claim.candidates, labels, chosen=bindings)
        if volume is None:
            unmatched.append(claim)
        else:
            bindings[volume.metadata.name] = StaticBinding(claim.claim, volume)
    return tuple(bindings.values()), tuple(unmatched)


def _provision(waiting: WaitingClaim, labels: Mapping[str, str]) -> DynamicProvision | str:
    """Return the room for a new volume on a node with these labels, or why none can be made.

    Source: volumebinding/binder.go checkVolumeProvisions, hasEnoughCapacity (v1.36).
    """
    # The class first: of a pool that its volumes cannot reach the room does not matter.
    if not any(topology.matches(labels) for topology in waiting.provisioning.topologies):
        return REASON_BIND_CONFLICT
    pools = waiting.provisioning.pools
    if pools is None:
        return DynamicProvision(waiting.claim, None)
    # differs: of several pools with enough room upstream takes any; here the first that was read.
    pool = next((pool for pool in pools if pool.nodes.matches(labels)), None)
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
        # Kept for later: on nodes that still use the in-tree plugin it is none.
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
        provisioning=provisioning(claim, storage_class, handle.snapshot),
    )

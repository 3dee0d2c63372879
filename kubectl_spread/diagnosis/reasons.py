"""Why a requirement rejects a node: one type for each reason, with the taint, the label, the number or the other Pod.

The scheduler's own reasons do not name them.
"""

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from kubectl_spread.controllers.workloads import PodName, WorkloadRef
from kubectl_spread.objects.core import NodeSelectorTerm


class Reason(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="kind", gc=False):
    """The base of all reasons."""


class RejectedByPlugin(Reason, frozen=True, kw_only=True):
    """A filter plugin, if no more is known than its name."""

    plugin: str


class RejectedByConstraint(Reason, frozen=True, kw_only=True):
    """Another constraint of the Pod."""

    index: int
    topology_key: str


class KeptForNominated(Reason, frozen=True, kw_only=True):
    """The room is reserved for Pods nominated to the node."""

    pods: tuple[PodName, ...]


class UntoleratedTaints(Reason, frozen=True, kw_only=True):
    """The Pod does not tolerate these taints of the node."""

    taints: tuple[str, ...]  # as kubectl writes them; effects of one key and value follow each other


class Cordoned(Reason, frozen=True, kw_only=True):
    """The node is unschedulable."""


class OtherNodeNamed(Reason, frozen=True, kw_only=True):
    """The Pod names another node."""

    node: str


class MissingLabel(Reason, frozen=True, kw_only=True):
    """A label of the nodeSelector that the node lacks, or has with another value."""

    key: str
    value: str  # the value that the Pod requires
    # the node's value, None if it lacks the label; absent for several nodes, whose values may differ
    has: str | UnsetType | None = UNSET


class UnmetNodeAffinity(Reason, frozen=True, kw_only=True):
    """The node does not meet the Pod's node affinity."""

    terms: tuple[NodeSelectorTerm, ...]  # the Pod's terms, one of which must hold


class UnmetAddedAffinity(Reason, frozen=True, kw_only=True):
    """The node does not meet the node affinity in the scheduler's configuration."""


class ShortResource(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A resource that is short."""

    name: str
    asked: str  # what the Pod requests (quantity)
    free: str  # what is free (quantity); of several nodes, the most on any of them
    at_most: bool = False  # whether less may be free
    # the node's allocatable amount (quantity); empty for several nodes, but 0 where none has any
    allocatable: str = ""
    most: str = ""  # the most that any of the nodes has (quantity), if that is less than what is asked; else empty


class InsufficientResources(Reason, frozen=True, kw_only=True):
    """Resources that are short."""

    full: bool = False  # whether the node takes no more Pods
    pods: int | None = None  # the Pods on such a node (count); None for several nodes
    allocatable_pods: int | None = None  # the Pods that it can take (count); None for several nodes
    resources: tuple[ShortResource, ...] = ()  # the other short resources, by name


class PortHolder(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A Pod that uses host ports."""

    pod: PodName
    owner: WorkloadRef  # its topmost owner
    ports: tuple[str, ...]


class PortsInUse(Reason, frozen=True, kw_only=True):
    """Other Pods on the nodes hold host ports that the Pod needs."""

    holders: tuple[PortHolder, ...]


class RejectedByPod(Reason, frozen=True, kw_only=True):
    """A Pod whose anti-affinity keeps this one out of its domain."""

    pod: PodName
    topology_key: str


class AvoidedPod(Reason, frozen=True, kw_only=True):
    """A Pod in the node's domain that the Pod's own anti-affinity avoids."""

    pod: PodName
    topology_key: str


class MissingTopologyLabel(Reason, frozen=True, kw_only=True):
    """The node lacks the topology key of a Pod affinity term."""

    topology_key: str


class NoPodToBeNear(Reason, frozen=True, kw_only=True):
    """No Pod in the node's domain matches a Pod affinity term."""

    selector: str  # the term's, as `kubectl -l` takes it
    topology_key: str


class UnmetClaim(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Why a claim gets no volume for the node."""

    # its volume is provisioned for another node, its StorageClass has too little storage left for the node, or no free
    # PersistentVolume fits and the StorageClass provisions none for the node
    reason: Literal["MadeElsewhere", "TooLittleStorage", "NoVolume"]
    storage_class: str
    node: str = ""  # the other node; empty for the other reasons
    node_exists: bool = False  # whether that node exists
    makes_elsewhere: bool = False  # whether the StorageClass provisions volumes for other nodes


class ClaimState(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A PersistentVolumeClaim of the Pod."""

    name: str
    volume: str = ""  # the PersistentVolume that it is bound to, or names; empty for none
    # whether it only names the volume and is not bound to it yet: it does not exist, or it does
    awaits: Literal["MissingVolume", "Binding"] | UnsetType = UNSET
    # the values of each expression of the volume's node affinity; empty if it can be used anywhere
    usable_in: tuple[tuple[str, ...], ...] = ()
    message: str = ""  # the message of its events if nothing provisions a volume for it; empty if something may
    # why it gets no volume for the node; None if it alone would, or if the node does not decide
    unmet: UnmetClaim | None = None


class UnusableClaims(Reason, frozen=True, kw_only=True):
    """Some of the Pod's claims get no volume that is usable on the node."""

    claims: tuple[ClaimState, ...]


class ClaimHolder(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A Pod that holds a claim that only one Pod may use."""

    claim: str
    pod: PodName
    node: str
    deleted: bool = False  # whether the Pod is being deleted
    node_silent: bool = False  # whether its node does not answer


class ClaimsInUse(Reason, frozen=True, kw_only=True):
    """Other Pods hold claims that only one Pod may use."""

    holders: tuple[ClaimHolder, ...]


class VolumeLimitReached(Reason, frozen=True, kw_only=True):
    """The driver can attach too few volumes to the node."""

    driver: str  # the CSI driver of the volumes
    attached: int  # volumes that are attached, or are those of its Pods (count)
    requested: int  # those that the Pod adds (count)
    limit: int  # those that may be attached (count)


class MissingDevices(Reason, frozen=True, kw_only=True):
    """Devices that the Pod claims are missing."""

    reasons: tuple[str, ...]  # the scheduler's
    missing_templates: tuple[str, ...] = ()  # ResourceClaimTemplates that do not exist, by name


AnyReason: TypeAlias = (
    RejectedByPlugin
    | RejectedByConstraint
    | KeptForNominated
    | UntoleratedTaints
    | Cordoned
    | OtherNodeNamed
    | MissingLabel
    | UnmetNodeAffinity
    | UnmetAddedAffinity
    | InsufficientResources
    | PortsInUse
    | RejectedByPod
    | AvoidedPod
    | MissingTopologyLabel
    | NoPodToBeNear
    | UnusableClaims
    | ClaimsInUse
    | VolumeLimitReached
    | MissingDevices
)


class SharedReason(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Why several nodes reject a Pod."""

    reason: AnyReason | None  # None if only the plugin's name is known
    nodes: tuple[str, ...]  # the nodes, by name

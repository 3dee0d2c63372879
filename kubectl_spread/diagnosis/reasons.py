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
    """The Pod does not tolerate these taints of the node.

    Attributes:
        taints: as kubectl writes them; effects of one key and value follow each other.
    """

    taints: tuple[str, ...]


class Cordoned(Reason, frozen=True, kw_only=True):
    """The node is unschedulable."""


class OtherNodeNamed(Reason, frozen=True, kw_only=True):
    """The Pod names another node."""

    node: str


class MissingLabel(Reason, frozen=True, kw_only=True):
    """A label of the nodeSelector that the node lacks, or has with another value.

    Attributes:
        value: the value that the Pod requires.
        has: the node's value, None if it lacks the label; absent for several nodes, whose values may differ.
    """

    key: str
    value: str
    has: str | UnsetType | None = UNSET


class UnmetNodeAffinity(Reason, frozen=True, kw_only=True):
    """The node does not meet the Pod's node affinity.

    Attributes:
        terms: the Pod's terms, one of which must hold.
    """

    terms: tuple[NodeSelectorTerm, ...]


class UnmetAddedAffinity(Reason, frozen=True, kw_only=True):
    """The node does not meet the node affinity in the scheduler's configuration."""


class ShortResource(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A resource that is short.

    Attributes:
        asked: what the Pod requests (quantity).
        free: what is free (quantity); of several nodes, the most on any of them.
        at_most: whether less may be free.
        allocatable: the node's allocatable amount (quantity); empty for several nodes, but 0 where none has any.
        most: the most that any of the nodes has (quantity), if that is less than what is asked; else empty.
    """

    name: str
    asked: str
    free: str
    at_most: bool = False
    allocatable: str = ""
    most: str = ""


class InsufficientResources(Reason, frozen=True, kw_only=True):
    """Resources that are short.

    Attributes:
        full: whether the node takes no more Pods.
        pods: the Pods on such a node (count); None for several nodes.
        allocatable_pods: the Pods that it can take (count); None for several nodes.
        resources: the other short resources, by name.
    """

    full: bool = False
    pods: int | None = None
    allocatable_pods: int | None = None
    resources: tuple[ShortResource, ...] = ()


class PortHolder(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A Pod that uses host ports.

    Attributes:
        owner: its topmost owner.
    """

    pod: PodName
    owner: WorkloadRef
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
    """No Pod in the node's domain matches a Pod affinity term.

    Attributes:
        selector: the term's, as ``kubectl -l`` takes it.
    """

    selector: str
    topology_key: str


class UnmetClaim(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Why a claim gets no volume for the node.

    Attributes:
        reason: its volume is provisioned for another node, its StorageClass has too little storage left for the node,
            or no free PersistentVolume fits and the StorageClass provisions none for the node.
        node: the other node; empty for the other reasons.
        node_exists: whether that node exists.
        makes_elsewhere: whether the StorageClass provisions volumes for other nodes.
    """

    reason: Literal["MadeElsewhere", "TooLittleStorage", "NoVolume"]
    storage_class: str
    node: str = ""
    node_exists: bool = False
    makes_elsewhere: bool = False


class ClaimState(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A PersistentVolumeClaim of the Pod.

    Attributes:
        volume: the PersistentVolume that it is bound to, or names; empty for none.
        awaits: whether it only names the volume and is not bound to it yet: it does not exist, or it does.
        usable_in: the values of each expression of the volume's node affinity; empty if it can be used anywhere.
        message: the message of its events if nothing provisions a volume for it; empty if something may.
        unmet: why it gets no volume for the node; None if it alone would, or if the node does not decide.
    """

    name: str
    volume: str = ""
    awaits: Literal["MissingVolume", "Binding"] | UnsetType = UNSET
    usable_in: tuple[tuple[str, ...], ...] = ()
    message: str = ""
    unmet: UnmetClaim | None = None


class UnusableClaims(Reason, frozen=True, kw_only=True):
    """Some of the Pod's claims get no volume that is usable on the node."""

    claims: tuple[ClaimState, ...]


class ClaimHolder(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A Pod that holds a claim that only one Pod may use.

    Attributes:
        deleted: whether the Pod is being deleted.
        node_silent: whether its node does not answer.
    """

    claim: str
    pod: PodName
    node: str
    deleted: bool = False
    node_silent: bool = False


class ClaimsInUse(Reason, frozen=True, kw_only=True):
    """Other Pods hold claims that only one Pod may use."""

    holders: tuple[ClaimHolder, ...]


class VolumeLimitReached(Reason, frozen=True, kw_only=True):
    """The driver can attach too few volumes to the node.

    Attributes:
        driver: the CSI driver of the volumes.
        attached: volumes that are attached, or are those of its Pods (count).
        requested: those that the Pod adds (count).
        limit: those that may be attached (count).
    """

    driver: str
    attached: int
    requested: int
    limit: int


class MissingDevices(Reason, frozen=True, kw_only=True):
    """Devices that the Pod claims are missing.

    Attributes:
        reasons: the scheduler's.
        missing_templates: ResourceClaimTemplates that do not exist, by name.
    """

    reasons: tuple[str, ...]
    missing_templates: tuple[str, ...] = ()


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
    """Why several nodes reject a Pod.

    Attributes:
        reason: None if only the plugin's name is known.
        nodes: the nodes, by name.
    """

    reason: AnyReason | None
    nodes: tuple[str, ...]

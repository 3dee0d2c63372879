"""An autoscaler's decision about one Pod, as types: the decision, each pool's part in it, and the reasons."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal, TypeAlias

import msgspec

from kubectl_spread.autoscalers.counts import CountedConstraint
from kubectl_spread.autoscalers.karpenter.requirements import Conflict
from kubectl_spread.objects.core import Pod, Taint
from kubectl_spread.objects.kinds import Kind
from kubectl_spread.scheduler.podtopologyspread import REASON_MISSING_LABEL, REASON_SKEW

AutoscalerKind: TypeAlias = Literal["karpenter", "cluster-autoscaler"]


class Decision(StrEnum):
    """What the autoscaler does about the Pod."""

    NEW_NODE = "NewNode"
    EXISTING_NODE = "ExistingNode"  # It sees room on a node where the scheduler sees none, and brings no other
    REFUSED = "Refused"
    # It picks a domain at random among equals: with some it brings a node, with others it does not.
    BY_CHANCE = "ByChance"
    UNKNOWN = "Unknown"


class Verdict(StrEnum):
    """What a pool or node group has to do with the decision."""

    CHOSEN = "chosen"
    POSSIBLE = "possible"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class UntoleratedTaint(msgspec.Struct, frozen=True, tag=True):
    """The Pod does not tolerate a taint of the pool."""

    taint: Taint


class LabelConflict(msgspec.Struct, frozen=True, tag=True):
    """The Pod requires a value of a label that the pool does not offer."""

    conflict: Conflict


class NotAsked(msgspec.Struct, frozen=True, tag=True):
    """The autoscaler does not ask the pool, or no pool for this Pod."""

    why: Literal[
        "not ready", "deleted", "fixed size", "unhealthy", "backoff",
        "daemonset", "gates", "nominated", "priority", "devices", "selector", "room",
    ]  # fmt: skip
    detail: str = ""  # the pool's own message, what the Pod selects nodes by, or the node that it is nominated to


class LimitReached(msgspec.Struct, frozen=True, tag=True):
    """No instance type fits into what the pool's limit leaves."""

    resource: str
    limit: str  # as the pool has it
    used: int  # amount of that resource that its nodes have: millicores for cpu, bytes or a count for others


class NoInstanceType(msgspec.Struct, frozen=True, tag=True):
    """No instance type of the pool suits: too small, of another kind, or not sold in the domain."""

    why: Literal["none", "requirements", "resources", "offering", "combination", "minValues"]
    conflict: Conflict | None = None  # the label on which they differ from what is wanted; None where that is not it


class NoDomain(msgspec.Struct, frozen=True, tag=True):
    """A constraint of the Pod, or an affinity, leaves the pool no domain."""

    topology_key: str  # whose domains
    index: int | None = None  # the constraint's place in the Pod; None for an affinity
    anti: bool = False  # whether it is an anti-affinity, of the Pod or of other Pods
    offered: tuple[str, ...] = ()  # the domains that the pool offers, where it names them
    minimum: int = 0  # matching Pods (count) in the domains that hold the minimum
    # how many domains (count) minDomains asks for beyond those that count; then the minimum is 0
    lacking_domains: int = 0
    held_by: tuple[str, ...] = ()  # the domains that hold the minimum
    only_from: tuple[str, ...] = ()  # the other pools from which alone these come


class DomainNotOffered(msgspec.Struct, frozen=True, tag=True):
    """A domain is picked before the pool is asked, and the pool does not offer it."""

    topology_key: str
    domains: tuple[str, ...]


class MaximumReached(msgspec.Struct, frozen=True, tag=True):
    """The node group has as many nodes as it may have (count)."""

    maximum: int


class RejectedByFilters(msgspec.Struct, frozen=True, tag=True):
    """kube-scheduler's filters reject a new node of the group, for these reasons."""

    reasons: tuple[str, ...]


class Unreadable(msgspec.Struct, frozen=True, tag=True):
    """The decision depends on something that is not known, such as the zones of a node class."""

    what: Literal["zones", "domains", "node", "group", "volumes"]
    name: str = ""


Reason: TypeAlias = (
    UntoleratedTaint
    | LabelConflict
    | NotAsked
    | LimitReached
    | NoInstanceType
    | NoDomain
    | DomainNotOffered
    | MaximumReached
    | RejectedByFilters
    | Unreadable
)


class PoolDecision(msgspec.Struct, frozen=True, kw_only=True):
    """One NodePool or node group."""

    name: str
    verdict: Verdict  # whether it adds a node
    # topology key → the domains in which it may add nodes for this Pod, or would if it were not refused
    domains: Mapping[str, tuple[str, ...]] = {}
    elsewhere: bool = False  # whether its next node may also be in another zone, where it does not take the Pod
    reasons: tuple[Reason, ...] = ()  # why it is refused, or unknown; empty else


class AutoscalerDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What one autoscaler decides about one Pod."""

    kind: AutoscalerKind  # which autoscaler
    version: str = ""  # whose rules these are; empty where there is but one
    # the release that runs, where these are not its rules; empty if it is not known; else None
    other_release: str | None = None
    decision: Decision  # what it does about the Pod
    node: str = ""  # the node on which it sees room; empty for none
    pools: tuple[PoolDecision, ...] = ()  # its NodePools or node groups, in the order in which it tries them
    # the Pod's constraints as it counts them; empty if it counts as the scheduler does
    constraints: tuple[CountedConstraint, ...] = ()
    unread: tuple[Kind, ...] = ()  # the kinds that it also depends on, and of which not all could be read
    leaving: tuple[str, ...] = ()  # the nodes that are being deleted, whose Pods it schedules together with this one
    beside: bool = False  # whether the cluster has another autoscaler, which may decide otherwise

    @property
    def by_constraint(self) -> bool:
        """Whether it adds no node, and a constraint of the Pod is why some pool refuses."""
        reasons = (reason for pool in self.pools for reason in pool.reasons)
        return any(map(_is_constraint, reasons)) and self.decision in {Decision.REFUSED, Decision.BY_CHANCE}


def _is_constraint(reason: Reason) -> bool:
    match reason:
        case NoDomain():
            return reason.index is not None
        case RejectedByFilters():
            return REASON_SKEW in reason.reasons or REASON_MISSING_LABEL in reason.reasons
        case _:
            return isinstance(reason, DomainNotOffered)


def left_alone(pod: Pod) -> NotAsked | None:
    """Return why no autoscaler adds a node for a Pod like this one, None where it may.

    Source: karpenter pkg/utils/pod/scheduling.go IsProvisionable (v1.14.1); cluster-autoscaler
    core/podlistprocessor filter_out_daemon_sets.go and filter_out_expendable.go.
    """
    if pod.spec.scheduling_gates:
        return NotAsked("gates")
    if pod.metadata.controller_kind == "DaemonSet":
        return NotAsked("daemonset")
    nominated = pod.status.nominated_node_name
    return NotAsked("nominated", nominated) if nominated else None

"""An autoscaler's decision about one Pod, as types: the decision, each pool's part in it, and the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal, TypeAlias

import msgspec

from kubectl_spread.autoscalers.karpenter.requirements import Conflict
from kubectl_spread.objects.core import Taint
from kubectl_spread.objects.kinds import Kind
from kubectl_spread.scheduler.podtopologyspread import REASON_MISSING_LABEL, REASON_SKEW

AutoscalerKind: TypeAlias = Literal["karpenter", "cluster-autoscaler"]


class Decision(StrEnum):
    """What the autoscaler does about the Pod."""

    NEW_NODE = "NewNode"
    EXISTING_NODE = "ExistingNode"
    """It sees room on a node where the scheduler sees none, and brings no other."""
    REFUSED = "Refused"
    BY_CHANCE = "ByChance"
    """It picks a domain at random among equals: with some it brings a node, with others it does not."""
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


class NotReady(msgspec.Struct, frozen=True, tag=True):
    """The pool is not Ready, and does not count; ``message`` is the pool's own."""

    message: str = ""


class BeingDeleted(msgspec.Struct, frozen=True, tag=True):
    """The pool is being deleted."""


class FixedSize(msgspec.Struct, frozen=True, tag=True):
    """The pool keeps a fixed number of nodes (``spec.replicas``)."""


class LimitReached(msgspec.Struct, frozen=True, tag=True):
    """No instance type fits into what the pool's limit leaves.

    Attributes:
        limit: as the pool has it.
        used: amount of that resource that its nodes have: millicores for cpu, bytes or a count for others.
    """

    resource: str
    limit: str
    used: int


class NoInstanceType(msgspec.Struct, frozen=True, tag=True):
    """No instance type of the pool suits: too small, of another kind, or not sold in the domain.

    Attributes:
        conflict: the label on which they differ from what is wanted; None where that is not it.
    """

    why: Literal["none", "requirements", "resources", "offering", "combination", "minValues"]
    conflict: Conflict | None = None


class NoDomain(msgspec.Struct, frozen=True, tag=True):
    """A constraint of the Pod, or an affinity, leaves the pool no domain.

    Attributes:
        topology_key: whose domains.
        index: the constraint's place in the Pod; None for an affinity.
        offered: the domains that the pool offers, where it names them.
        minimum: matching Pods (count) in the domains that hold the minimum.
        held_by: the domains that hold the minimum.
        only_from: the other pools from which alone these come.
    """

    topology_key: str
    index: int | None = None
    offered: tuple[str, ...] = ()
    minimum: int = 0
    held_by: tuple[str, ...] = ()
    only_from: tuple[str, ...] = ()


class DomainNotOffered(msgspec.Struct, frozen=True, tag=True):
    """A domain is picked before the pool is asked, and the pool does not offer it."""

    topology_key: str
    domains: tuple[str, ...]


class SelectsByUnsupported(msgspec.Struct, frozen=True, tag=True):
    """The autoscaler leaves Pods alone that select nodes by this label, or by fields."""

    label: str


class IgnoresPod(msgspec.Struct, frozen=True, tag=True):
    """The autoscaler leaves the Pod alone, whatever its pools are.

    Attributes:
        node: the node that the Pod is nominated to; empty for other reasons.
    """

    why: Literal["daemonset", "gates", "nominated", "devices", "priority"]
    node: str = ""


class MaximumReached(msgspec.Struct, frozen=True, tag=True):
    """The node group has as many nodes as it may have (count)."""

    maximum: int


class BackedOff(msgspec.Struct, frozen=True, tag=True):
    """The autoscaler waits after a failure before it tries the node group again."""

    message: str = ""


class Unhealthy(msgspec.Struct, frozen=True, tag=True):
    """Too few nodes of the group, or of the cluster, are ready for the autoscaler to add any."""


class RejectedByFilters(msgspec.Struct, frozen=True, tag=True):
    """kube-scheduler's filters reject a new node of the group, for these reasons."""

    reasons: tuple[str, ...]


class Unreadable(msgspec.Struct, frozen=True, tag=True):
    """The decision depends on something that is not known, such as the zones of a node class."""

    what: Literal["zones", "domains", "node", "volumes", "choices"]
    name: str = ""


Reason: TypeAlias = (
    UntoleratedTaint
    | LabelConflict
    | NotReady
    | BeingDeleted
    | FixedSize
    | LimitReached
    | NoInstanceType
    | NoDomain
    | DomainNotOffered
    | SelectsByUnsupported
    | IgnoresPod
    | MaximumReached
    | BackedOff
    | Unhealthy
    | RejectedByFilters
    | Unreadable
)


class PoolDecision(msgspec.Struct, frozen=True, kw_only=True):
    """One NodePool or node group.

    Attributes:
        domains: topology key → the domains in which it may add nodes for this Pod, or would if it were not refused.
        reasons: why it is refused, or unknown; empty else.
    """

    name: str
    verdict: Verdict
    domains: Mapping[str, tuple[str, ...]] = {}
    reasons: tuple[Reason, ...] = ()


class DomainCount(msgspec.Struct, frozen=True):
    """A domain as the autoscaler counts it.

    Attributes:
        matching: Pods that the constraint counts there.
        pools: the pools that can bring nodes in it; empty where only nodes that exist are in it.
    """

    value: str
    matching: int
    pools: tuple[str, ...]


class ConstraintCounts(msgspec.Struct, frozen=True):
    """A constraint as the autoscaler counts it.

    Attributes:
        index: its place in the Pod's constraints.
        minimum: matching Pods (count) in the domain with the fewest; 0 if minDomains requires more domains.
    """

    index: int
    minimum: int
    domains: tuple[DomainCount, ...]


class AutoscalerDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What one autoscaler decides about one Pod.

    Attributes:
        version: whose rules these are; empty where there is but one.
        node: the node on which it sees room; empty for none.
        certain: whether everything was read that the decision depends on: else "nothing read here forbids it".
        unread: the kinds that it also depends on, and of which not all could be read.
        leaving: the nodes that are being deleted, whose Pods it schedules together with this one.
    """

    kind: AutoscalerKind
    version: str = ""
    decision: Decision
    node: str = ""
    pools: tuple[PoolDecision, ...] = ()
    constraints: tuple[ConstraintCounts, ...] = ()
    certain: bool = True
    unread: tuple[Kind, ...] = ()
    leaving: tuple[str, ...] = ()

    @property
    def by_constraint(self) -> bool:
        """Whether it adds no node, and a constraint of the Pod is why some pool refuses."""
        reasons = (reason for pool in self.pools for reason in pool.reasons)
        return any(map(_is_constraint, reasons)) and self.decision in {Decision.REFUSED, Decision.BY_CHANCE}


def _is_constraint(reason: Reason) -> bool:
    """Whether a constraint of the Pod is the reason."""
    match reason:
        case NoDomain():
            return reason.index is not None
        case RejectedByFilters():
            return REASON_SKEW in reason.reasons or REASON_MISSING_LABEL in reason.reasons
        case _:
            return isinstance(reason, DomainNotOffered)

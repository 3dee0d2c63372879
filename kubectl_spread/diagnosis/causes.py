"""Why a Pod finds no node: one type for each root cause, with the names and numbers that prove it.

``root_cause`` finds which one it is.
"""

from typing import Literal, TypeAlias

import msgspec

from kubectl_spread.controllers.workloads import PodName, WorkloadRef
from kubectl_spread.diagnosis.reasons import AnyReason, ClaimState, SharedReason
from kubectl_spread.diagnosis.requirements import Requirement
from kubectl_spread.objects.core import NodeSelectorTerm

Policy: TypeAlias = Literal["nodeAffinityPolicy", "nodeTaintsPolicy"]  # Which nodes a constraint counts


class Facts(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The base of the parts of a cause."""


class OtherPods(Facts, frozen=True, kw_only=True):
    """Pods that a constraint counts although they are not of the Pod's own revision of its workload."""

    owner: WorkloadRef  # their topmost owner
    number: int  # how many they are (count)
    own: bool = False  # whether that is the Pod's own workload, so that they are of other revisions


class BlamedConstraint(Facts, frozen=True, kw_only=True):
    """A constraint that leaves no node, alone or together with other requirements."""

    index: int
    topology_key: str
    selector: str  # as `kubectl -l` takes it
    max_skew: int
    min_domains: int
    global_minimum: int  # the fewest matching Pods in any eligible domain
    domains: int  # the topology values that nodes have, eligible or not (count)
    # the least skew that the Pod would cause in a domain that the constraint closes; None if it closes none
    skew_if_placed: int | None = None
    others: tuple[OtherPods, ...] = ()  # the other Pods without which it would open a domain, the most first
    unlabelled: tuple[str, ...] = ()  # the nodes that nothing rejects but the lack of the topology key, by name


class RejectedNodes(Facts, frozen=True, kw_only=True):
    """The nodes that a constraint rejects."""

    topology_key: str
    nodes: tuple[str, ...]


class RejectingFilter(Facts, frozen=True, kw_only=True):
    """A filter plugin that rejects nodes."""

    plugin: str
    reasons: tuple[SharedReason, ...]  # the reason for the most nodes that no other filter rejects first
    everywhere: bool  # whether the first reason holds on every node of the cluster


class PinnedNodes(Facts, frozen=True, kw_only=True):
    """Nodes that the Pod is kept off, all for the same reasons."""

    nodes: tuple[str, ...]
    reasons: tuple[AnyReason, ...]


class Restriction(Facts, frozen=True, kw_only=True):
    """The Pod's bound volumes or its node affinity leave it some nodes, all of which other filters reject."""

    claims: tuple[ClaimState, ...] = ()  # the claims whose volumes do; empty for the node affinity
    topology_key: str = ""  # the label of exactly the nodes that can use these volumes; empty for the node affinity
    values: tuple[str, ...] = ()  # the values of that label
    labels: tuple[str, ...] = ()  # what nodeSelector requires, as `key=value`
    terms: tuple[NodeSelectorTerm, ...] = ()  # the terms of the required node affinity, one of which must hold
    nodes: tuple[str, ...]  # the nodes that are left, by name
    others: int  # the nodes that are not (count)
    # what keeps the Pod off those that are left, each of them once: those first that may soonest take it
    pins: tuple[PinnedNodes, ...] = ()


class FullDomains(Facts, frozen=True, kw_only=True):
    """Domains that may take no more Pods."""

    matching: int  # the Pods counted in each of them
    domains: tuple[str, ...]


class ConflictingRequirement(Facts, frozen=True, kw_only=True):
    """A requirement that leaves no node together with others."""

    requirement: Requirement
    topology_key: str | None = None  # of a constraint; None for a filter
    leaves: tuple[str, ...]  # the nodes that it does not reject, by name


class OlderPods(Facts, frozen=True, kw_only=True):
    """Pods without which a node would take the Pod: the rollout that creates it replaces them, and keeps them now."""

    owner: WorkloadRef  # the Deployment
    pods: tuple[PodName, ...]  # the Pods, of all nodes that are tried
    max_unavailable: str  # of the Deployment's strategy, as it is written; 25% by default
    unavailable: int  # how many Pods that is (count)
    replicas: int  # how many Pods the Deployment wants (count)


class Cause(Facts, frozen=True, kw_only=True, tag_field="kind"):
    """The base of all causes."""


class NoNodes(Cause, frozen=True, kw_only=True):
    """The cluster has no nodes."""


class RefusedWhole(Cause, frozen=True, kw_only=True):
    """A plugin rejects the Pod before the scheduler evaluates any node, as for a claim that does not exist."""

    plugin: str
    reasons: tuple[str, ...]  # the scheduler's
    reason: AnyReason | None = None  # the same as facts; None if no more is known
    missing: tuple[str, ...] = ()  # the claims that do not exist and that no controller creates, by name


class VolumeWithoutNode(Cause, frozen=True, kw_only=True):
    """The volume of a claim can be used on certain nodes only, and the cluster has none of these."""

    claim: str
    volume: str  # the PersistentVolume that the claim is bound to
    topology_key: str  # a label of all nodes that could use it
    values: tuple[str, ...]  # the values of that label


class WaitsForTerminatingPods(Cause, frozen=True, kw_only=True):
    """A node takes the Pod once Pods that are being deleted are gone."""

    node: str
    pods: tuple[PodName, ...]
    finalizers: tuple[str, ...] = ()  # what keeps these Pods, by name; empty if nothing does


class MisspeltKey(Cause, frozen=True, kw_only=True):
    """Nodes that would take the Pod lack the topology key, but have a label that may be meant."""

    topology_key: str
    similar: str  # the label
    nodes: tuple[str, ...]  # the nodes, by name
    on_no_node: bool  # whether no node at all has the key
    others: bool  # whether more nodes only lack the key


class NoSelector(Cause, frozen=True, kw_only=True):
    """A constraint without a selector rejects nodes only because they lack its topology key."""

    topology_key: str
    nodes: tuple[str, ...]


class ConstraintCause(Cause, frozen=True, kw_only=True):
    """The base of causes that are one constraint."""

    constraint: BlamedConstraint
    also: tuple[str, ...] = ()  # the topology keys of other constraints that each leave no node either


class LeftOut(Facts, frozen=True, kw_only=True):
    """Domains that a policy leaves out."""

    domains: tuple[str, ...]  # their values
    # the taints of their nodes, with nodeTaintsPolicy Honor; empty if node affinity rules the nodes out
    taints: tuple[str, ...] = ()


class MinDomainsUnmet(ConstraintCause, frozen=True, kw_only=True):
    """There are fewer eligible domains than minDomains, so the global minimum counts as 0."""

    eligible: tuple[str, ...]  # the eligible domains
    left_out: LeftOut | None = None  # the other domains, if one policy leaves out all of them


class MissingKey(ConstraintCause, frozen=True, kw_only=True):
    """No node has the topology key."""

    filters: tuple[RejectingFilter, ...] = ()  # what leaves no node either, without any constraint


class NoEligibleDomain(ConstraintCause, frozen=True, kw_only=True):
    """The constraint counts none of the nodes (count), and its maxSkew allows no Pod."""

    nodes: int


class DomainsFull(ConstraintCause, frozen=True, kw_only=True):
    """Every domain where the Pod could go would exceed maxSkew over the minimum, which others hold."""

    minimum_domains: tuple[str, ...]  # the domains that hold the minimum


class DaemonNode(Cause, frozen=True, kw_only=True):
    """Filters, constraints or both reject the only node of a daemon."""

    node: str
    filters: tuple[RejectingFilter, ...]  # in the profile's order
    constraints: tuple[str, ...] = ()  # the topology keys of the constraints that reject it
    lacks: str = ""  # the first of these keys that is no label of the node


class FiltersAlone(Cause, frozen=True, kw_only=True):
    """Filters leave no node, even without constraints."""

    plugins: tuple[str, ...]  # all of these filters, by name
    filters: tuple[RejectingFilter, ...]  # the same with their reasons, without the taints of cordoned nodes
    constraints: tuple[RejectedNodes, ...] = ()  # what constraints reject too
    restriction: Restriction | None = None  # what leaves the Pod few nodes; None if nothing does
    older: OlderPods | None = None  # the Pods of older revisions that hold the room; None if there are none


class PinnedDomain(Cause, frozen=True, kw_only=True):
    """Other requirements keep the Pod from every domain that holds the minimum."""

    constraint: BlamedConstraint  # the constraint with this minimum
    domains: tuple[str, ...]  # the domains
    nodes: int  # the counted nodes in them (count)
    some_uncounted: bool = False  # whether they have other nodes too
    pins: tuple[PinnedNodes, ...]  # what keeps the Pod off them, the most nodes first
    full: tuple[FullDomains, ...] = ()  # the domains that the constraint closes
    only: bool = False  # whether it closes all others
    counted: bool = True  # whether it counts the Pod
    # its policies that are Ignore, if with Honor in them, or in any of them, the domains would not count
    ignoring: tuple[Policy, ...] = ()
    older: OlderPods | None = None  # the Pods of older revisions that hold the room; None if there are none

    @property
    def only_place(self) -> bool:
        """Whether the constraint allows no other domain."""
        return self.only and self.constraint.skew_if_placed is not None


class Conflict(Cause, frozen=True, kw_only=True):
    """Each requirement leaves nodes, but all together leave none."""

    requirements: tuple[ConflictingRequirement, ...]
    older: OlderPods | None = None  # the Pods of older revisions that hold the room; None if there are none


class GhostSelector(Cause, frozen=True, kw_only=True):
    """The constraint counts other Pods and not this one."""

    constraint: BlamedConstraint
    # why it leaves no node; None if it does so only with other requirements
    why: PinnedDomain | MinDomainsUnmet | MissingKey | NoEligibleDomain | DomainsFull | None = None


AloneCause: TypeAlias = MinDomainsUnmet | MissingKey | NoEligibleDomain | DomainsFull
AnyCause: TypeAlias = (
    NoNodes
    | RefusedWhole
    | VolumeWithoutNode
    | WaitsForTerminatingPods
    | MisspeltKey
    | NoSelector
    | GhostSelector
    | MinDomainsUnmet
    | MissingKey
    | NoEligibleDomain
    | DomainsFull
    | DaemonNode
    | FiltersAlone
    | PinnedDomain
    | Conflict
)


# The causes that explain more than a constraint and the nodes that it rejects.
RootCause: TypeAlias = DaemonNode | WaitsForTerminatingPods | MisspeltKey | NoSelector | GhostSelector


def counts_other_revisions(cause: AnyCause) -> bool:
    """Whether a constraint is the cause that counts Pods of other revisions too, and closes domains because of them."""
    constraint = getattr(cause, "constraint", None)
    return constraint is not None and any(others.own for others in constraint.others)

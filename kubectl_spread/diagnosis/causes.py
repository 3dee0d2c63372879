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
    """Pods that a constraint counts although they are not of the Pod's own revision of its workload.

    Attributes:
        owner: their topmost owner.
        number: how many they are (count).
        own: whether that is the Pod's own workload, so that they are of other revisions.
    """

    owner: WorkloadRef
    number: int
    own: bool = False


class BlamedConstraint(Facts, frozen=True, kw_only=True):
    """A constraint that leaves no node, alone or together with other requirements.

    Attributes:
        selector: as ``kubectl -l`` takes it.
        global_minimum: the fewest matching Pods in any eligible domain.
        domains: the topology values that nodes have, eligible or not (count).
        skew_if_placed: the least skew that the Pod would cause in a domain that the constraint closes; None if it
            closes none.
        others: the other Pods without which it would open a domain, the most first.
        unlabelled: the nodes that nothing rejects but the lack of the topology key, by name.
    """

    index: int
    topology_key: str
    selector: str
    max_skew: int
    min_domains: int
    global_minimum: int
    domains: int
    skew_if_placed: int | None = None
    others: tuple[OtherPods, ...] = ()
    unlabelled: tuple[str, ...] = ()


class RejectedNodes(Facts, frozen=True, kw_only=True):
    """The nodes that a constraint rejects."""

    topology_key: str
    nodes: tuple[str, ...]


class RejectingFilter(Facts, frozen=True, kw_only=True):
    """A filter plugin that rejects nodes.

    Attributes:
        reasons: the reason for the most nodes that no other filter rejects first.
        everywhere: whether the first reason holds on every node of the cluster.
    """

    plugin: str
    reasons: tuple[SharedReason, ...]
    everywhere: bool


class PinnedNodes(Facts, frozen=True, kw_only=True):
    """Nodes that the Pod is kept off, all for the same reasons."""

    nodes: tuple[str, ...]
    reasons: tuple[AnyReason, ...]


class Restriction(Facts, frozen=True, kw_only=True):
    """The Pod's bound volumes or its node affinity leave it some nodes, all of which other filters reject.

    Attributes:
        claims: the claims whose volumes do; empty for the node affinity.
        topology_key: the label of exactly the nodes that can use these volumes; empty for the node affinity.
        values: the values of that label.
        labels: what nodeSelector requires, as ``key=value``.
        terms: the terms of the required node affinity, one of which must hold.
        nodes: the nodes that are left, by name.
        others: the nodes that are not (count).
        pins: what keeps the Pod off those that are left, each of them once: those first that may soonest take it.
    """

    claims: tuple[ClaimState, ...] = ()
    topology_key: str = ""
    values: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    terms: tuple[NodeSelectorTerm, ...] = ()
    nodes: tuple[str, ...]
    others: int
    pins: tuple[PinnedNodes, ...] = ()


class FullDomains(Facts, frozen=True, kw_only=True):
    """Domains that may take no more Pods.

    Attributes:
        matching: the Pods counted in each of them.
    """

    matching: int
    domains: tuple[str, ...]


class ConflictingRequirement(Facts, frozen=True, kw_only=True):
    """A requirement that leaves no node together with others.

    Attributes:
        topology_key: of a constraint; None for a filter.
        leaves: the nodes that it does not reject, by name.
    """

    requirement: Requirement
    topology_key: str | None = None
    leaves: tuple[str, ...]


class OlderPods(Facts, frozen=True, kw_only=True):
    """Pods without which a node would take the Pod: the rollout that creates it replaces them, and keeps them now.

    Attributes:
        owner: the Deployment.
        pods: the Pods, of all nodes that are tried.
        max_unavailable: of the Deployment's strategy, as it is written; 25% by default.
        unavailable: how many Pods that is (count).
        replicas: how many Pods the Deployment wants (count).
    """

    owner: WorkloadRef
    pods: tuple[PodName, ...]
    max_unavailable: str
    unavailable: int
    replicas: int


class Cause(Facts, frozen=True, kw_only=True, tag_field="kind"):
    """The base of all causes."""


class NoNodes(Cause, frozen=True, kw_only=True):
    """The cluster has no nodes."""


class RefusedWhole(Cause, frozen=True, kw_only=True):
    """A plugin rejects the Pod before the scheduler evaluates any node, as for a claim that does not exist.

    Attributes:
        reasons: the scheduler's.
        reason: the same as facts; None if no more is known.
        missing: the claims that do not exist and that no controller creates, by name.
    """

    plugin: str
    reasons: tuple[str, ...]
    reason: AnyReason | None = None
    missing: tuple[str, ...] = ()


class VolumeWithoutNode(Cause, frozen=True, kw_only=True):
    """The volume of a claim can be used on certain nodes only, and the cluster has none of these.

    Attributes:
        volume: the PersistentVolume that the claim is bound to.
        topology_key: a label of all nodes that could use it.
        values: the values of that label.
    """

    claim: str
    volume: str
    topology_key: str
    values: tuple[str, ...]


class WaitsForTerminatingPods(Cause, frozen=True, kw_only=True):
    """A node takes the Pod once Pods that are being deleted are gone.

    Attributes:
        finalizers: what keeps these Pods, by name; empty if nothing does.
    """

    node: str
    pods: tuple[PodName, ...]
    finalizers: tuple[str, ...] = ()


class MisspeltKey(Cause, frozen=True, kw_only=True):
    """Nodes that would take the Pod lack the topology key, but have a label that may be meant.

    Attributes:
        similar: the label.
        nodes: the nodes, by name.
        on_no_node: whether no node at all has the key.
        others: whether more nodes only lack the key.
    """

    topology_key: str
    similar: str
    nodes: tuple[str, ...]
    on_no_node: bool
    others: bool


class NoSelector(Cause, frozen=True, kw_only=True):
    """A constraint without a selector rejects nodes only because they lack its topology key."""

    topology_key: str
    nodes: tuple[str, ...]


class ConstraintCause(Cause, frozen=True, kw_only=True):
    """The base of causes that are one constraint.

    Attributes:
        also: the topology keys of other constraints that each leave no node either.
    """

    constraint: BlamedConstraint
    also: tuple[str, ...] = ()


class LeftOut(Facts, frozen=True, kw_only=True):
    """Domains that a policy leaves out.

    Attributes:
        domains: their values.
        taints: the taints of their nodes, with nodeTaintsPolicy Honor; empty if node affinity rules the nodes out.
    """

    domains: tuple[str, ...]
    taints: tuple[str, ...] = ()


class MinDomainsUnmet(ConstraintCause, frozen=True, kw_only=True):
    """There are fewer eligible domains than minDomains, so the global minimum counts as 0.

    Attributes:
        eligible: the eligible domains.
        left_out: the other domains, if one policy leaves out all of them.
    """

    eligible: tuple[str, ...]
    left_out: LeftOut | None = None


class MissingKey(ConstraintCause, frozen=True, kw_only=True):
    """No node has the topology key.

    Attributes:
        filters: what leaves no node either, without any constraint.
    """

    filters: tuple[RejectingFilter, ...] = ()


class NoEligibleDomain(ConstraintCause, frozen=True, kw_only=True):
    """The constraint counts none of the nodes (count), and its maxSkew allows no Pod."""

    nodes: int


class DomainsFull(ConstraintCause, frozen=True, kw_only=True):
    """Every domain where the Pod could go would exceed maxSkew over the minimum, which others hold.

    Attributes:
        minimum_domains: the domains that hold the minimum.
    """

    minimum_domains: tuple[str, ...]


class DaemonNode(Cause, frozen=True, kw_only=True):
    """Filters, constraints or both reject the only node of a daemon.

    Attributes:
        filters: in the profile's order.
        constraints: the topology keys of the constraints that reject it.
        lacks: the first of these keys that is no label of the node.
    """

    node: str
    filters: tuple[RejectingFilter, ...]
    constraints: tuple[str, ...] = ()
    lacks: str = ""


class FiltersAlone(Cause, frozen=True, kw_only=True):
    """Filters leave no node, even without constraints.

    Attributes:
        plugins: all of these filters, by name.
        filters: the same with their reasons, without the taints of cordoned nodes.
        constraints: what constraints reject too.
        restriction: what leaves the Pod few nodes; None if nothing does.
        older: the Pods of older revisions that hold the room; None if there are none.
    """

    plugins: tuple[str, ...]
    filters: tuple[RejectingFilter, ...]
    constraints: tuple[RejectedNodes, ...] = ()
    restriction: Restriction | None = None
    older: OlderPods | None = None


class PinnedDomain(Cause, frozen=True, kw_only=True):
    """Other requirements keep the Pod from every domain that holds the minimum.

    Attributes:
        constraint: the constraint with this minimum.
        domains: the domains.
        nodes: the counted nodes in them (count).
        some_uncounted: whether they have other nodes too.
        pins: what keeps the Pod off them, the most nodes first.
        full: the domains that the constraint closes.
        only: whether it closes all others.
        counted: whether it counts the Pod.
        ignoring: its policies that are Ignore, if with Honor in them, or in any of them, the domains would not count.
        older: the Pods of older revisions that hold the room; None if there are none.
    """

    constraint: BlamedConstraint
    domains: tuple[str, ...]
    nodes: int
    some_uncounted: bool = False
    pins: tuple[PinnedNodes, ...]
    full: tuple[FullDomains, ...] = ()
    only: bool = False
    counted: bool = True
    ignoring: tuple[Policy, ...] = ()
    older: OlderPods | None = None

    @property
    def only_place(self) -> bool:
        """Whether the constraint allows no other domain."""
        return self.only and self.constraint.skew_if_placed is not None


class Conflict(Cause, frozen=True, kw_only=True):
    """Each requirement leaves nodes, but all together leave none.

    Attributes:
        older: the Pods of older revisions that hold the room; None if there are none.
    """

    requirements: tuple[ConflictingRequirement, ...]
    older: OlderPods | None = None


class GhostSelector(Cause, frozen=True, kw_only=True):
    """The constraint counts other Pods and not this one.

    Attributes:
        why: why it leaves no node; None if it does so only with other requirements.
    """

    constraint: BlamedConstraint
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

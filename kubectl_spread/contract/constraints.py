"""A constraint as it applies to a Pod: its domains, and the nodes whose Pods it does not count."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from kubectl_spread.contract.report import Report


class Requirement(Report, frozen=True, kw_only=True):
    """One thing that can reject a node: a constraint by its index, or a filter plugin by its name."""

    kind: Literal["constraint", "filter"]
    index: int | UnsetType = UNSET
    plugin: str | UnsetType = UNSET


class Pin(Report, frozen=True, kw_only=True):
    """Why one node of a domain cannot take the Pod, other than by the constraint in question."""

    node: str
    requirement: Requirement
    detail: str


class Domain(Report, frozen=True, kw_only=True):
    """One topology value of a constraint.

    Attributes:
        value: the label's value.
        nodes: the nodes that are counted, by name.
        eligible: whether any node of it is counted.
        not_counted: its nodes that are not (count); absent where all are.
        matching: the Pods counted.
        by_node: counted node → the Pods counted there.
        skew: matching minus the global minimum.
        skew_if_placed: the same with the Pod placed there.
        allowed: whether the constraint lets the Pod go there.
        pinned: whether it holds the minimum and every node in it is rejected by other requirements.
        pinned_by: by which; empty where it is not pinned.
    """

    value: str
    nodes: tuple[str, ...]
    eligible: bool
    not_counted: int | UnsetType = UNSET
    matching: int
    by_node: dict[str, int] = {}
    skew: int
    skew_if_placed: int
    allowed: bool
    pinned: bool = False
    pinned_by: tuple[Pin, ...] = ()


class BypassedNode(Report, frozen=True, kw_only=True):
    """A node whose Pods a constraint does not count.

    Attributes:
        name: the node's.
        reason: which rule passes it over.
        key: the topology key it lacks; absent for the other reasons.
        similar_keys: labels it has that may be meant instead; absent for the other reasons.
        matching: the matching Pods on it, which nobody counts.
    """

    name: str
    reason: Literal["MissingTopologyKey", "NodeAffinityPolicy", "NodeTaintsPolicy"]
    key: str | UnsetType = UNSET
    similar_keys: tuple[str, ...] | UnsetType = UNSET
    matching: int = 0


class ConstraintReport(Report, frozen=True, kw_only=True):
    """One constraint as it applies to one Pod.

    Attributes:
        index: its place in the Pod's spec, or among the cluster's defaults.
        selector: the effective selector as ``kubectl -l`` takes it; ``<none>`` selects nothing, ``<all>`` everything.
        self_match: whether the Pod is counted itself once it is placed.
        node_affinity_policy: whether nodes that the Pod's node affinity rules out count; absent for Honor, they do not.
        node_taints_policy: whether nodes whose taints the Pod does not tolerate do not; absent for Ignore, they do.
        default: whether it is one of the cluster's default constraints.
        global_minimum: the fewest matching Pods in any eligible domain, 0 while minDomains is not reached.
        minimum_domains: every domain that holds the minimum; empty when none does.
    """

    index: int
    topology_key: str
    max_skew: int
    min_domains: int
    when_unsatisfiable: str
    selector: str
    self_match: bool
    node_affinity_policy: Literal["Ignore"] | UnsetType = UNSET
    node_taints_policy: Literal["Honor"] | UnsetType = UNSET
    default: bool
    global_minimum: int
    minimum_domains: tuple[str, ...]
    domains: tuple[Domain, ...]
    bypassed_nodes: tuple[BypassedNode, ...]

    @property
    def hard(self) -> bool:
        """Whether it keeps a Pod from a node, rather than only making another better."""
        return self.when_unsatisfiable == "DoNotSchedule"

    @property
    def skew(self) -> int:
        """The largest count minus the global minimum over eligible domains (Pods)."""
        return max((domain.skew for domain in self.domains if domain.eligible), default=0)

"""A constraint as it applies to a Pod: its domains, and the nodes whose Pods it does not count."""

from __future__ import annotations

from msgspec.structs import asdict

from kubectl_spread.contract.report import Report
from kubectl_spread.diagnosis import domains
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis, ConstraintFacts, DomainFacts
from kubectl_spread.diagnosis.requirements import Requirement
from kubectl_spread.wording.reasons import reason_text


class Pin(Report, frozen=True, kw_only=True):
    """Why one node of a domain cannot take the Pod, other than by the constraint in question."""

    node: str
    requirement: Requirement
    detail: str


class Domain(DomainFacts, frozen=True, kw_only=True):
    """One topology value of a constraint.

    Attributes:
        value: the label's value.
        nodes: the counted nodes, by name.
        eligible: whether any of its nodes is counted.
        not_counted: its nodes that are not counted (count); absent if all are.
        matching: the counted Pods.
        by_node: counted node → the counted Pods on it.
        skew: matching minus the global minimum.
        skew_if_placed: the same with the Pod placed there.
        allowed: whether the constraint lets the Pod go there.
        pinned: whether it holds the minimum and other requirements reject all its nodes.
        pinned_by: these requirements, or what keeps the Pod off all its nodes if the constraint allows it there.
        next: what decides instead of the filters on each node: preemption makes room there, the Pod's spec.nodeName is
            there or elsewhere, the Pod is refused before any node is evaluated, or the API server does not create it.
    """

    pinned_by: tuple[Pin, ...] = ()


class ConstraintReport(ConstraintFacts, frozen=True, kw_only=True):
    """One constraint as it applies to one Pod.

    Attributes:
        index: its place in the Pod's spec, or among the cluster's defaults.
        selector: the effective selector as ``kubectl -l`` takes it; ``<none>`` selects nothing, ``<all>`` everything.
        self_match: whether the constraint counts the Pod itself once it is placed.
        node_affinity_policy: Ignore if nodes that the Pod's node affinity excludes count; absent for Honor.
        node_taints_policy: Honor if nodes with taints that the Pod does not tolerate do not count; absent for Ignore.
        own_node: whether each Pod, of a DaemonSet, counts only its own node; absent otherwise.
        default: whether it is one of the cluster's default constraints.
        global_minimum: the fewest matching Pods in any eligible domain, 0 while minDomains is not reached.
        minimum_domains: every domain that holds the minimum; may be empty.
    """

    domains: tuple[Domain, ...]


def constraint_report(constraint: ConstraintDiagnosis) -> ConstraintReport:
    """Return the constraint with its pins in words."""
    return ConstraintReport(**{**asdict(constraint), "domains": tuple(map(_domain, constraint.domains))})


def _domain(domain: domains.Domain) -> Domain:
    # Named one by one: there may be one on each of thousands of nodes.
    return Domain(
        value=domain.value,
        nodes=domain.nodes,
        eligible=domain.eligible,
        not_counted=domain.not_counted,
        matching=domain.matching,
        by_node=domain.by_node,
        skew=domain.skew,
        skew_if_placed=domain.skew_if_placed,
        allowed=domain.allowed,
        pinned=domain.pinned,
        next=domain.next,
        pinned_by=tuple(
            Pin(node=pin.node, requirement=pin.requirement, detail=reason_text(pin.reason)) for pin in domain.pins
        ),
    )

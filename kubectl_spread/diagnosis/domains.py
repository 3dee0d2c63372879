"""The domain table of each constraint: which Pods count, which domains hold the minimum, and why none takes the Pod."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.diagnosis import requirements
from kubectl_spread.diagnosis.explainer import Explainer
from kubectl_spread.diagnosis.reasons import AnyReason, RejectedByConstraint, RejectedByPlugin, UntoleratedTaints
from kubectl_spread.diagnosis.topology_keys import keys_meant
from kubectl_spread.scheduler import nodeunschedulable, podtopologyspread
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.nodeaffinity import RequiredNodeAffinity
from kubectl_spread.scheduler.podtopologyspread import Constraint, DomainCounts

CORDON_TAINT = UntoleratedTaints(taints=(str(nodeunschedulable.CORDON),))

Next: TypeAlias = Literal["Preemption", "NodeName", "OtherNodeName", "Refused", "NotCreated"]


class Pin(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Why one node of a domain cannot take the Pod, other than by the constraint in question.

    ``reason``: None if no more is known than the requirement.
    """

    node: str
    requirement: requirements.Requirement
    reason: AnyReason | None


class Domain(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """One topology value of a constraint."""

    value: str  # the label's value
    nodes: tuple[str, ...]  # the counted nodes, by name
    eligible: bool  # whether any of its nodes is counted
    not_counted: int | UnsetType = UNSET  # its nodes that are not counted (count); absent if all are
    matching: int  # the counted Pods
    by_node: dict[str, int] = {}  # counted node → the counted Pods on it
    skew: int  # matching minus the global minimum
    skew_if_placed: int  # the same with the Pod placed there
    allowed: bool  # whether the constraint lets the Pod go there
    pinned: bool = False  # whether it holds the minimum and other requirements reject all its nodes
    # what decides instead of the filters on each node: preemption makes room there, the Pod's spec.nodeName is there or
    # elsewhere, the Pod is refused before any node is evaluated, or the API server does not create it
    next: Next | UnsetType = UNSET
    # these requirements, or what keeps the Pod off all its nodes if the constraint allows it there
    pinned_by: tuple[Pin, ...] = ()


class BypassedNode(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A node whose Pods a constraint does not count."""

    name: str
    reason: Literal["MissingTopologyKey", "NodeAffinityPolicy", "NodeTaintsPolicy"]  # the rule that excludes it
    key: str | UnsetType = UNSET  # the topology key it lacks; absent for the other reasons
    # its labels that may be meant instead; absent for the other reasons
    similar_keys: tuple[str, ...] | UnsetType = UNSET
    matching: int = 0  # the matching Pods on it, which do not count


class ConstraintDiagnosis(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One constraint as it applies to one Pod."""

    index: int  # its place in the Pod's spec, or among the cluster's defaults
    topology_key: str
    max_skew: int
    min_domains: int
    when_unsatisfiable: str
    selector: str  # the effective selector as `kubectl -l` takes it; `<none>` selects nothing, `<all>` everything
    self_match: bool  # whether the constraint counts the Pod itself once it is placed
    # Ignore if nodes that the Pod's node affinity excludes count; absent for Honor
    node_affinity_policy: Literal["Ignore"] | UnsetType = UNSET
    # Honor if nodes with taints that the Pod does not tolerate do not count; absent for Ignore
    node_taints_policy: Literal["Honor"] | UnsetType = UNSET
    # whether each Pod, of a DaemonSet, counts only its own node; absent otherwise
    own_node: Literal[True] | UnsetType = UNSET
    default: bool  # whether it is one of the cluster's default constraints
    global_minimum: int  # the fewest matching Pods in any eligible domain, 0 while minDomains is not reached
    minimum_domains: tuple[str, ...]  # every domain that holds the minimum; may be empty
    domains: tuple[Domain, ...]
    bypassed_nodes: tuple[BypassedNode, ...]

    @property
    def hard(self) -> bool:
        """Whether it rejects nodes, and not only scores them."""
        return self.when_unsatisfiable == "DoNotSchedule"

    @property
    def skew(self) -> int:
        """The largest count minus the global minimum over eligible domains (Pods)."""
        return max((domain.skew for domain in self.domains if domain.eligible), default=0)

    @property
    def eligible(self) -> tuple[str, ...]:
        """The eligible domains."""
        return tuple(domain.value for domain in self.domains if domain.eligible)

    @property
    def held(self) -> list[Domain]:
        """The domains that hold the minimum."""
        minimum = frozenset(self.minimum_domains)
        return [domain for domain in self.domains if domain.value in minimum]

    @property
    def shut(self) -> bool:
        """Whether other requirements keep the Pod from every domain that holds the minimum."""
        return bool(self.held) and all(domain.pinned for domain in self.held)

    @property
    def pinned(self) -> bool:
        """Whether only filters do."""
        by = (pin.requirement for domain in self.held for pin in domain.pinned_by)
        return self.shut and all(isinstance(each, requirements.FilterRequirement) for each in by)


class SpreadDiagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """The constraints of one Pod, hard and soft, in spec order, and what keeps it from nodes that they would allow.

    ``cores``: every smallest set of requirements that together leave no node; empty if a node is left.
    """

    constraints: tuple[ConstraintDiagnosis, ...] = ()
    rejected: requirements.Rejected
    cores: requirements.Cores
    explainer: Explainer

    def topology_key(self, requirement: requirements.ConstraintRequirement) -> str:
        """Return the topology key of the constraint."""
        return next(each.topology_key for each in self.constraints if each.index == requirement.index)

    def reason_of(self, requirement: requirements.Requirement, nodes: Iterable[str]) -> AnyReason:
        """Return why the requirement rejects the most of these nodes, all of which it rejects."""
        if isinstance(requirement, requirements.ConstraintRequirement):
            return RejectedByConstraint(index=requirement.index, topology_key=self.topology_key(requirement))
        known = [shared.reason for shared in self.explainer.shared(requirement.plugin, nodes) if shared.reason]
        return known[0] if known else RejectedByPlugin(plugin=requirement.plugin)

    def pins(self, nodes: Iterable[str], constraint: Constraint) -> Iterator[Pin]:
        """Yield what else keeps the Pod off each of these nodes: filters, but the constraint to blame if none is."""
        this, core = requirements.ConstraintRequirement(constraint.index), next(iter(self.cores), ())
        for info in map(self.explainer.handle.node_infos.__getitem__, nodes):
            against = [each for each, names in self.rejected.items() if each != this and info.name in names]
            filters = [each for each in against if isinstance(each, requirements.FilterRequirement)]
            blamed = [each for each in against if each in core]
            named = blamed[:1] if blamed and not set(filters) & set(blamed) else filters or against[:1]
            cordoned = len(named) > 1 and requirements.FilterRequirement(nodeunschedulable.NAME) in named
            for requirement in named:
                reason = None
                if isinstance(requirement, requirements.FilterRequirement):
                    reason = self.explainer.of_plugin(requirement.plugin, info)
                # A cordon adds a taint too.
                if not (cordoned and reason == CORDON_TAINT):
                    yield Pin(node=info.name, requirement=requirement, reason=reason)


def diagnose(evaluation: Evaluation, handle: Handle) -> SpreadDiagnosis:
    """Return the constraints that apply to the Pod, each with its domains."""
    pod = evaluation.pod
    constraints = podtopologyspread.parsable_constraints(pod, handle)
    counted = podtopologyspread.count_all(constraints, pod, handle)
    hard = [counts for counts in counted if counts.constraint.hard]
    rejected = requirements.rejected_nodes(evaluation, hard, handle)
    cores = requirements.conflict_cores(rejected, evaluation.nodes)
    spread = SpreadDiagnosis(rejected=rejected, cores=cores, explainer=Explainer(handle, evaluation))
    return replace(spread, constraints=tuple(_diagnose_one(counts, constraints, spread) for counts in counted))


def with_preemption(spread: SpreadDiagnosis, nodes: Collection[str], handle: Handle) -> SpreadDiagnosis:
    """Return the constraints with the domains of these nodes, on which the scheduler makes room for the Pod, marked."""

    def opened(constraint: ConstraintDiagnosis) -> ConstraintDiagnosis:
        values = handle.index.values(constraint.topology_key)
        here = {values.get(name) for name in nodes}
        marked = (replace(each, next="Preemption") if each.value in here else each for each in constraint.domains)
        return replace(constraint, domains=tuple(marked))

    return replace(spread, constraints=tuple(map(opened, spread.constraints)))


def _diagnose_one(
    counts: DomainCounts, constraints: Sequence[Constraint], spread: SpreadDiagnosis
) -> ConstraintDiagnosis:
    explainer = spread.explainer
    constraint = counts.constraint
    # While minDomains is not reached, no domain may hold the minimum.
    minimum = tuple(sorted(value for value, number in counts.match_num.items() if number == counts.global_minimum))
    on_node = podtopologyspread.count_matching_pods(constraint, explainer.evaluation.pod, explainer.handle)
    return ConstraintDiagnosis(
        index=constraint.index,
        topology_key=constraint.topology_key,
        max_skew=constraint.max_skew,
        min_domains=constraint.min_domains,
        when_unsatisfiable=constraint.when_unsatisfiable.value,
        selector=str(constraint.selector),
        self_match=bool(counts.self_match),
        node_affinity_policy=UNSET if constraint.honors_affinity else "Ignore",
        node_taints_policy="Honor" if constraint.honors_taints else UNSET,
        default=constraint.default,
        global_minimum=counts.global_minimum,
        minimum_domains=minimum,
        domains=tuple(_domains(counts, on_node, minimum=minimum, spread=spread)),
        bypassed_nodes=tuple(_bypassed_nodes(counts, constraints, on_node, explainer)),
    )


def _domains(
    counts: DomainCounts, on_node: Mapping[str, int], *, minimum: Collection[str], spread: SpreadDiagnosis
) -> Iterable[Domain]:
    """Yield every domain by value: the eligible ones, and those without a counted node."""
    constraint, handle = counts.constraint, spread.explainer.handle
    # A profile without the filter ignores constraints.
    limits = constraint.hard and podtopologyspread.NAME in handle.profile.filters
    holding = frozenset(minimum) if limits else frozenset[str]()
    this = requirements.ConstraintRequirement(constraint.index)
    others = frozenset[str]().union(*(names for each, names in spread.rejected.items() if each != this))
    for value, names in sorted(handle.index.domains(constraint.topology_key).items()):
        counted = tuple(name for name in names if name in counts.counted_nodes)
        shut = bool(counted) and others.issuperset(counted)
        # pinned: it holds the minimum, and every counted node in it is rejected by another requirement
        pinned = shut and value in holding
        matching, placed = counts.match_num.get(value, 0), counts.skew_if_placed(value)
        # allowed: matching + self - global minimum <= maxSkew
        allowed = placed <= constraint.max_skew or not limits
        pinned_by = tuple(spread.pins(counted, constraint)) if pinned or (shut and allowed) else ()
        yield Domain(
            value=value,
            nodes=counted,
            eligible=value in counts.match_num,
            not_counted=len(names) - len(counted) or UNSET,
            matching=matching,
            by_node={name: on_node.get(name, 0) for name in counted},
            skew=matching - counts.global_minimum,
            skew_if_placed=placed,
            allowed=allowed,
            pinned=pinned,
            next=_next(spread.explainer.evaluation, names),
            pinned_by=pinned_by,
        )


def _next(evaluation: Evaluation, names: Collection[str]) -> Next | UnsetType:
    """Return what decides about a domain of these nodes, if the filters do not decide node by node."""
    if named := evaluation.pod.spec.node_name:
        return "NodeName" if named in names else "OtherNodeName"
    return UNSET if evaluation.pre_filter is None else "Refused"


def _bypassed_nodes(
    counts: DomainCounts, constraints: Sequence[Constraint], on_node: Mapping[str, int], explainer: Explainer
) -> Iterable[BypassedNode]:
    constraint, pod, handle = counts.constraint, explainer.evaluation.pod, explainer.handle
    keys = [other.topology_key for other in podtopologyspread.keys_required(constraint, constraints, pod, handle)]
    used = {other.topology_key for other in constraints}
    meant = cache(partial(keys_meant, pod=pod, used=used, handle=handle))
    required = RequiredNodeAffinity.of(pod)
    for name in sorted(handle.index.names - counts.counted_nodes):
        info, matching = handle.node_infos[name], on_node.get(name, 0)
        missing = next((key for key in keys if key not in info.labels), None)
        if missing is not None:
            similar = meant(missing)(info.labels)
            yield BypassedNode(
                name=name, reason="MissingTopologyKey", key=missing, similar_keys=similar, matching=matching
            )
        elif constraint.honors_affinity and not required.matches(info.node):
            yield BypassedNode(name=name, reason="NodeAffinityPolicy", matching=matching)
        else:
            yield BypassedNode(name=name, reason="NodeTaintsPolicy", matching=matching)

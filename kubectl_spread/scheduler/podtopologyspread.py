"""PodTopologySpread: how evenly matching Pods are spread over the domains of a topology key.

The rule of a hard constraint: matching Pods in the node's domain, plus the Pod itself if it matches the selector, minus
the global minimum, must not exceed maxSkew.

Source: kube-scheduler podtopologyspread/{common,filtering,plugin}.go, helper/spread.go DefaultSelector (v1.36); KEP-895
(skew), KEP-3022 (minDomains), KEP-3094 (inclusion policies), KEP-3243 (matchLabelKeys).
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import partial

import msgspec
from msgspec.structs import replace

from kubectl_spread.labels import NOTHING, Selector, equals, from_set
from kubectl_spread.objects.core import Pod, ReplicationController, Service, TopologySpreadConstraint
from kubectl_spread.objects.kinds import BY_API
from kubectl_spread.objects.meta import parse_label_selector
from kubectl_spread.objects.workloads import ReplicaSet, StatefulSet
from kubectl_spread.scheduler.framework import (
    SKIP,
    SUCCESS,
    Handle,
    PreFilterResult,
    Status,
    error,
    unresolvable,
    unschedulable,
)
from kubectl_spread.scheduler.nodeaffinity import RequiredNodeAffinity
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour, Profile
from kubectl_spread.scheduler.tainttoleration import Untolerated


def default_selector(pod: Pod, handle: Handle) -> Selector:
    """Return the labels that the Pod's Services select and the selector of its owner; empty where it has neither."""
    merged: dict[str, str] = {}
    for service in handle.snapshot.all(Service):
        selector = service.spec.selector
        if selector is None or service.metadata.namespace != pod.metadata.namespace:
            continue
        # All of them select the Pod, so no two can want different values of a label.
        if from_set(selector).matches(pod.metadata.labels):
            merged |= selector
    owner = pod.metadata.controller
    known = owner is not None and (owner.api_version, owner.kind) in BY_API
    match handle.snapshot.workload(*pod.metadata.controller_key) if known else None:
        case ReplicationController(spec=spec):
            merged |= spec.selector
        case ReplicaSet(spec=spec) | StatefulSet(spec=spec):
            with suppress(ValueError):
                return from_set(merged).and_also(parse_label_selector(spec.selector).requirements)
    return from_set(merged)


NAME = "PodTopologySpread"
REASON_SKEW = "node(s) didn't match pod topology spread constraints"
REASON_MISSING_LABEL = "node(s) didn't match pod topology spread constraints (missing required label)"
SKEW = unschedulable(REASON_SKEW)
MISSING_LABEL = unresolvable(REASON_MISSING_LABEL)


class WhenUnsatisfiable(StrEnum):
    """What the scheduler does if a constraint cannot be satisfied."""

    DO_NOT_SCHEDULE = "DoNotSchedule"
    SCHEDULE_ANYWAY = "ScheduleAnyway"


# Hard constraints (True), soft ones (False) or both (None) → their whenUnsatisfiable.
_KINDS: Mapping[bool | None, Collection[str]] = {
    True: (WhenUnsatisfiable.DO_NOT_SCHEDULE,),
    False: (WhenUnsatisfiable.SCHEDULE_ANYWAY,),
    None: tuple(WhenUnsatisfiable),
}


class Constraint(msgspec.Struct, frozen=True):
    """A constraint with defaults applied and its selector parsed."""

    index: int  # its index in the Pod's spec, or in the cluster's default constraints
    topology_key: str
    max_skew: int  # how far a domain may exceed the global minimum (Pods)
    min_domains: int  # the global minimum is 0 while there are fewer domains
    when_unsatisfiable: WhenUnsatisfiable
    selector: Selector
    honors_affinity: bool  # whether only nodes that match the Pod's node affinity count
    honors_taints: bool  # whether only nodes whose taints the Pod tolerates count
    default: bool  # whether it is one of the cluster's default constraints

    @property
    def hard(self) -> bool:
        """Whether it rejects nodes."""
        return self.when_unsatisfiable is WhenUnsatisfiable.DO_NOT_SCHEDULE


class DomainCounts(msgspec.Struct, frozen=True):
    """The domains of one constraint, counted for one Pod."""

    constraint: Constraint
    match_num: Mapping[str, int]  # topology value → matching Pods (count), eligible domains only
    counted_nodes: frozenset[str]  # the names of the nodes that count
    self_match: int  # 1 if the Pod matches its own selector, else 0
    global_minimum: int  # the fewest matching Pods in any eligible domain (count), or 0 because of minDomains

    def skew_if_placed(self, topology_value: str) -> int:
        """Return the skew of the domain if the Pod is placed there (Pods)."""
        return self.match_num.get(topology_value, 0) + self.self_match - self.global_minimum

    def is_full(self, topology_value: str) -> bool:
        """Whether the Pod would exceed maxSkew in the domain."""
        # matching Pods in the domain + the Pod itself if it matches - global minimum > maxSkew
        return self.skew_if_placed(topology_value) > self.constraint.max_skew


def global_minimum(match_num: Mapping[str, int], min_domains: int) -> int:
    """Return the fewest matching Pods in any eligible domain.

    ``match_num``: domain → matching Pods (count). With fewer than ``min_domains`` domains (1 when unset), the result
    is 0, as if an empty domain existed.

    Source: podtopologyspread/filtering.go minMatchNum (v1.36), KEP-3022.
    """
    return 0 if len(match_num) < min_domains else min(match_num.values(), default=0)


def constraints_of(pod: Pod, handle: Handle, *, hard: bool | None = None) -> tuple[Constraint, ...]:
    """Return the constraints that apply to the Pod: its own, or else the cluster's defaults.

    ``hard`` selects only hard constraints (True) or only soft ones (False).

    Raises:
        ValueError: the selector of one of these cannot be parsed.

    Source: podtopologyspread/plugin.go getConstraints, common.go buildDefaultConstraints (v1.36).
    """
    # A Pod with any constraint of its own, even a soft one, gets no default constraints.
    # upstream: even one with an unknown whenUnsatisfiable, which is neither hard nor soft and has no effect.
    own = pod.spec.topology_spread_constraints
    chosen = [
        (index, constraint)
        for index, constraint in enumerate(own or handle.profile.default_constraints)
        if constraint.when_unsatisfiable in _KINDS[hard]
    ]
    if own or not chosen:
        return tuple(_parse(constraint, index, pod, handle) for index, constraint in chosen)
    # A Pod without Service and known owner has no other Pods to be spread with.
    selector = default_selector(pod, handle)
    if selector.empty:
        return ()
    return tuple(_parse(constraint, index, pod, handle, selector=selector) for index, constraint in chosen)


def parsable_constraints(pod: Pod, handle: Handle) -> tuple[Constraint, ...]:
    """Return the constraints that apply to the Pod; none if the selector of one cannot be parsed.

    kube-scheduler fails on such a Pod, so no constraint of it is counted.
    """
    try:
        return constraints_of(pod, handle)
    except ValueError:
        return ()


def _parse(
    constraint: TopologySpreadConstraint, index: int, pod: Pod, handle: Handle, *, selector: Selector | None = None
) -> Constraint:
    """Source: podtopologyspread/common.go filterTopologySpreadConstraints (v1.36)."""
    has_policies = handle.profile.does(Behaviour.NODE_INCLUSION_POLICIES)
    has_min_domains = handle.profile.does(Behaviour.MIN_DOMAINS)
    return Constraint(
        index=index,
        topology_key=constraint.topology_key,
        max_skew=constraint.max_skew,
        min_domains=(constraint.min_domains or 1) if has_min_domains else 1,
        when_unsatisfiable=WhenUnsatisfiable(constraint.when_unsatisfiable),
        selector=effective_selector(constraint, pod, handle) if selector is None else selector,
        # The default of nodeAffinityPolicy is Honor, that of nodeTaintsPolicy Ignore.
        honors_affinity=not has_policies or constraint.node_affinity_policy != "Ignore",
        honors_taints=has_policies and constraint.node_taints_policy == "Honor",
        default=selector is not None,
    )


def effective_selector(constraint: TopologySpreadConstraint, pod: Pod, handle: Handle) -> Selector:
    """Return which Pods the constraint counts for this Pod: labelSelector and the Pod's values of matchLabelKeys.

    Raises:
        ValueError: the selector cannot be parsed.
    """
    selector = parse_label_selector(constraint.label_selector)
    if not handle.profile.does(Behaviour.MATCH_LABEL_KEYS):
        return selector
    labels = pod.metadata.labels
    # Keys that the Pod does not have are ignored.
    keyed = (equals(key, labels[key]) for key in constraint.match_label_keys if key in labels)
    # Since 1.34 the API server merges them into the stored selector.
    return selector.and_also(requirement for requirement in keyed if requirement not in selector.requirements)


def eligible_nodes(constraint: Constraint, pod: Pod, handle: Handle) -> frozenset[str]:
    """Return the names of the nodes that the constraint's inclusion policies include.

    Source: podtopologyspread/common.go matchNodeInclusionPolicies (v1.36), KEP-3094.
    """
    eligible = handle.index.names
    if constraint.honors_affinity:
        required = RequiredNodeAffinity.of(pod)
        eligible = eligible if required.empty else handle.index.matching(required)
    if constraint.honors_taints:
        numeric = handle.profile.does(Behaviour.NUMERIC_TOLERATIONS)
        eligible -= handle.index.tainted_against(Untolerated(pod.spec.tolerations, numeric))
    return eligible


def count_all(constraints: Sequence[Constraint], pod: Pod, handle: Handle) -> list[DomainCounts]:
    """Return the domains of each constraint, in spec order, counted as the scheduler's filter and score count them."""
    required = ((each, keys_required(each, constraints, pod, handle)) for each in constraints)
    return [count_domains([each], pod, handle, must_have_keys_of=keys)[0] for each, keys in required]


def keys_required(
    constraint: Constraint, constraints: Sequence[Constraint], pod: Pod, handle: Handle
) -> list[Constraint]:
    """Return the constraints whose keys a node must have to count for this one: all hard ones or all soft ones.

    A built-in default requires only its own key.
    """
    if not requires_all_keys(pod, handle.profile):
        return [constraint]
    return [other for other in constraints if other.hard == constraint.hard]


def requires_all_keys(pod: Pod, profile: Profile) -> bool:
    """Whether a node must have the keys of all of the Pod's constraints; not for the built-in defaults.

    Source: podtopologyspread/scoring.go PreScore, requireAllTopologies (v1.36).
    """
    return bool(pod.spec.topology_spread_constraints) or not profile.system_defaulted


def count_domains(
    constraints: Sequence[Constraint], pod: Pod, handle: Handle, *, must_have_keys_of: Collection[Constraint]
) -> tuple[DomainCounts, ...]:
    """Return the domains of each constraint and how many matching Pods they have.

    A node counts if it has the keys of all of ``must_have_keys_of`` and the constraint's policies include it.

    Source: podtopologyspread/filtering.go calPreFilterState (v1.36).
    """
    carrying = handle.index.carrying(frozenset(constraint.topology_key for constraint in must_have_keys_of))
    found = []
    for constraint in constraints:
        eligible = eligible_nodes(constraint, pod, handle)
        nodes = carrying if eligible is handle.index.names else eligible & carrying
        found.append(_count(constraint, nodes, pod=pod, handle=handle))
    return tuple(found)


def _count(constraint: Constraint, nodes: frozenset[str], *, pod: Pod, handle: Handle) -> DomainCounts:
    values = handle.index.values(constraint.topology_key)
    # A domain exists if one of its nodes counts, even without Pods: it may be the minimum.
    match_num = dict.fromkeys(handle.index.values_on(constraint.topology_key, nodes), 0)
    # upstream: a node without the key counts as one with an empty value; this occurs only for built-in defaults.
    if not nodes.isdisjoint(handle.index.lacking(constraint.topology_key)):
        match_num[""] = 0
    for name, count in count_matching_pods(constraint, pod, handle).items():
        if name in nodes:
            match_num[values.get(name, "")] += count
    return DomainCounts(
        constraint=constraint,
        match_num=match_num,
        counted_nodes=nodes,
        self_match=int(constraint.selector.matches(pod.metadata.labels)),
        # Only hard constraints can have minDomains.
        global_minimum=global_minimum(match_num, constraint.min_domains if constraint.hard else 1),
    )


def count_matching_pods(constraint: Constraint, pod: Pod, handle: Handle) -> Counter[str]:
    """Return node's name → Pods on it (count) that the constraint counts."""
    return Counter(found.spec.node_name for found in counted_pods(constraint, pod, handle))


def counted_pods(constraint: Constraint, pod: Pod, handle: Handle) -> Iterator[Pod]:
    """Yield the Pods that the constraint counts on any node: same namespace, matching, not terminating.

    Source: podtopologyspread/common.go countPodsMatchSelector (v1.36).
    """
    selector = counting_selector(constraint, handle.profile)
    for found in handle.snapshot.matching_pods(pod.metadata.namespace, selector):
        if not found.terminating:
            yield found


def counting_selector(constraint: Constraint, profile: Profile) -> Selector:
    """Return which Pods the constraint counts in this release."""
    # upstream: since 1.27 an empty selector counts no Pods, although it matches all (kubernetes#116607).
    ignored = constraint.selector.empty and not profile.does(Behaviour.EMPTY_SELECTOR_COUNTS)
    return NOTHING if ignored else constraint.selector


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter, or Skip for a Pod without hard constraints."""
    try:
        hard = constraints_of(pod, handle, hard=True)
    except ValueError as wrong:
        return error(f"get constraints from pod: obtaining pod's hard topology spread constraints: {wrong}")
    if not hard:
        return SKIP
    state = count_domains(hard, pod, handle, must_have_keys_of=hard)
    suspects = frozenset[str]().union(*(rejected_nodes(counts, handle) for counts in state))
    return replace(_result(state, pod.metadata.namespace), suspects=suspects, certain=True)


def rejected_nodes(counts: DomainCounts, handle: Handle) -> frozenset[str]:
    """Return the names of the nodes that one constraint rejects: in full domains, or without the key."""
    domains = handle.index.domains(counts.constraint.topology_key)
    full = (names for value, names in domains.items() if counts.is_full(value))
    return handle.index.lacking(counts.constraint.topology_key).union(*full)


def _result(state: tuple[DomainCounts, ...], namespace: str) -> PreFilterResult:
    return PreFilterResult(partial(filter_node, state), updated=partial(_updated, state, namespace))


def _updated(
    state: tuple[DomainCounts, ...], namespace: str, changed: Pod, node_info: NodeInfo, by: int
) -> PreFilterResult:
    """Source: podtopologyspread/filtering.go updateWithPod (v1.36)."""
    updated = []
    for counts in state:
        constraint = counts.constraint
        # upstream: here terminating Pods count, and an empty selector counts all Pods.
        matches = changed.metadata.namespace == namespace and constraint.selector.matches(changed.metadata.labels)
        if matches and node_info.name in counts.counted_nodes:
            value = node_info.labels.get(constraint.topology_key, "")
            match_num = {**counts.match_num, value: counts.match_num[value] + by}
            minimum = global_minimum(match_num, constraint.min_domains)
            updated.append(replace(counts, match_num=match_num, global_minimum=minimum))
        else:
            updated.append(counts)
    return _result(tuple(updated), namespace)


def filter_node(state: tuple[DomainCounts, ...], node_info: NodeInfo) -> Status:
    """Reject a node that lacks a key or whose domain would exceed maxSkew; the first such constraint decides.

    Source: podtopologyspread/filtering.go Filter (v1.36).
    """
    for counts in state:
        # An empty value is a domain too.
        topology_value = node_info.labels.get(counts.constraint.topology_key)
        if topology_value is None:
            return MISSING_LABEL
        if counts.is_full(topology_value):
            return SKEW
    return SUCCESS

"""The domain table of each constraint: who is counted, who holds the minimum, and why nobody can fill it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec
from msgspec import UNSET

from kubectl_spread.contract.constraints import BypassedNode, ConstraintReport, Domain, Pin
from kubectl_spread.diagnosis.reasons import Explainer
from kubectl_spread.diagnosis.requirements import (
    ConstraintRequirement,
    Cores,
    FilterRequirement,
    Rejected,
    Requirement,
    conflict_cores,
    rejected_nodes,
    reported,
)
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import nodeunschedulable, podtopologyspread
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.nodeaffinity import RequiredNodeAffinity
from kubectl_spread.scheduler.podtopologyspread import Constraint, DomainCounts

TYPO_LETTERS = 2
SHORTEST_KEY_WITH_TYPO = 8
KEYS_KEPT = 256
"""Answers on similar keys (count) that are kept: thousands of nodes carry the same few sets of labels."""


class SpreadDiagnosis(msgspec.Struct, frozen=True):
    """The constraints of one Pod and what rejects each node.

    Attributes:
        constraints: one report each, hard and soft, in spec order.
        rejected: requirement → the nodes it rejects alone.
        cores: every smallest set of requirements that together leave no node; none where one is left.
        explainer: says why, in words.
    """

    constraints: tuple[ConstraintReport, ...]
    rejected: Rejected
    cores: Cores
    explainer: Explainer

    def topology_key(self, requirement: ConstraintRequirement) -> str:
        """Return the topology key of the constraint."""
        return next(each.topology_key for each in self.constraints if each.index == requirement.index)


def diagnose(pod: Pod, handle: Handle, evaluation: Evaluation) -> SpreadDiagnosis:
    """Return the constraints that apply to the Pod, each with its domains."""
    constraints = podtopologyspread.parsable_constraints(pod, handle)
    counted = podtopologyspread.count_all(constraints, pod, handle)
    hard = [counts for counts in counted if counts.constraint.hard]
    rejected = rejected_nodes(evaluation, hard, handle)
    explainer = Explainer(pod, handle, evaluation)
    cores = conflict_cores(rejected, evaluation.nodes)
    pinning = Pinning(rejected, cores, explainer)
    reports = tuple(_report(counts, constraints, pinning) for counts in counted)
    return SpreadDiagnosis(constraints=reports, rejected=rejected, cores=cores, explainer=explainer)


class Pinning(msgspec.Struct, frozen=True):
    """What keeps the Pod from nodes where a constraint would let it go.

    Attributes:
        rejected: requirement → the nodes it rejects alone.
        cores: every smallest set of requirements that together leave no node.
        explainer: says why, in words.
    """

    rejected: Rejected
    cores: Cores
    explainer: Explainer

    def by_others(self, constraint: Constraint) -> frozenset[str]:
        """Return the nodes that something else than the constraint rejects."""
        this = ConstraintRequirement(constraint.index)
        return frozenset[str]().union(*(names for each, names in self.rejected.items() if each != this))

    def of(self, nodes: Iterable[str], constraint: Constraint) -> Iterator[Pin]:
        """Yield what else keeps the Pod off each of these nodes, which something else does keep it off."""
        this = ConstraintRequirement(constraint.index)
        for info in map(self.explainer.handle.node_infos.__getitem__, nodes):
            against = [each for each, names in self.rejected.items() if each != this and info.name in names]
            told = [(requirement, self.explainer.of(requirement, info)) for requirement in self._told(against)]
            cordoned = len(told) > 1 and FilterRequirement(nodeunschedulable.NAME) in dict(told)
            for requirement, detail in told:
                # Who cordons a node taints it too.
                if not (cordoned and detail == f"taint {nodeunschedulable.CORDON}"):
                    yield Pin(node=info.name, requirement=reported(requirement), detail=detail)

    def _told(self, against: Sequence[Requirement]) -> Sequence[Requirement]:
        """Return what is named: every filter, but the constraint to blame where none of the filters is."""
        filters = [each for each in against if isinstance(each, FilterRequirement)]
        blamed = [each for each in against if each in next(iter(self.cores), ())]
        if blamed and not any(isinstance(each, FilterRequirement) for each in blamed):
            return blamed[:1]
        return filters or against[:1]


def _report(counts: DomainCounts, constraints: Sequence[Constraint], pinning: Pinning) -> ConstraintReport:
    """Return what there is to say about one constraint."""
    explainer = pinning.explainer
    constraint = counts.constraint
    minimum = _minimum_domains(counts)
    on_node = podtopologyspread.count_matching_pods(constraint, explainer.pod, explainer.handle)
    return ConstraintReport(
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
        domains=tuple(_domains(counts, on_node, minimum=minimum, pinning=pinning)),
        bypassed_nodes=tuple(_bypassed(counts, constraints, on_node, explainer)),
    )


def _minimum_domains(counts: DomainCounts) -> tuple[str, ...]:
    """Return the domains that hold the global minimum; none does while minDomains is not reached."""
    return tuple(sorted(value for value, number in counts.match_num.items() if number == counts.global_minimum))


def _domains(
    counts: DomainCounts, on_node: Mapping[str, int], *, minimum: Collection[str], pinning: Pinning
) -> Iterable[Domain]:
    """Yield every domain: eligible ones and those no node of which is counted, by value."""
    constraint, handle = counts.constraint, pinning.explainer.handle
    # A profile without the filter heeds no constraint.
    limits = constraint.hard and podtopologyspread.NAME in handle.profile.filters
    holding = frozenset(minimum) if limits else frozenset[str]()
    others = pinning.by_others(constraint)
    for value, names in sorted(handle.index.domains(constraint.topology_key).items()):
        counted = tuple(name for name in names if name in counts.counted_nodes)
        # pinned: it holds the minimum, and every counted node in it is rejected by another requirement
        pinned = value in holding and bool(counted) and others.issuperset(counted)
        pins = tuple(pinning.of(counted, constraint)) if pinned else ()
        matching, placed = counts.match_num.get(value, 0), counts.skew_if_placed(value)
        # allowed: matching + self - global minimum <= maxSkew
        yield Domain(
            value=value,
            nodes=counted,
            eligible=value in counts.match_num,
            not_counted=len(names) - len(counted) or UNSET,
            matching=matching,
            by_node={name: on_node.get(name, 0) for name in counted},
            skew=matching - counts.global_minimum,
            skew_if_placed=placed,
            allowed=placed <= constraint.max_skew or not limits,
            pinned=pinned,
            pinned_by=pins,
        )


def _bypassed(
    counts: DomainCounts, constraints: Sequence[Constraint], on_node: Mapping[str, int], explainer: Explainer
) -> Iterable[BypassedNode]:
    """Yield the nodes that are not counted, each with the first rule that passes it over."""
    constraint, pod, handle = counts.constraint, explainer.pod, explainer.handle
    keys = [other.topology_key for other in podtopologyspread.keys_required(constraint, constraints, pod, handle)]
    used = {other.topology_key for other in constraints}
    required = RequiredNodeAffinity.of(pod)
    for name in sorted(handle.index.names - counts.counted_nodes):
        info, matching = handle.node_infos[name], on_node.get(name, 0)
        missing = next((key for key in keys if key not in info.labels), None)
        if missing is not None:
            similar = similar_keys(missing, info.labels, used)
            yield BypassedNode(
                name=name, reason="MissingTopologyKey", key=missing, similar_keys=similar, matching=matching
            )
        elif constraint.honors_affinity and not required.matches(info.node):
            yield BypassedNode(name=name, reason="NodeAffinityPolicy", matching=matching)
        else:
            yield BypassedNode(name=name, reason="NodeTaintsPolicy", matching=matching)


def similar_keys(key: str, labels: Iterable[str], used: Iterable[str]) -> tuple[str, ...]:
    """Return the labels that may be meant instead of the missing key, by name; keys of other constraints are not.

    A label is similar when it ends in the same segment, is at most two letters off (keys of eight letters and more), or
    continues the key after ``-``, ``_`` or ``.``.
    """
    return _similar_keys(key, frozenset(labels).difference(used))


@lru_cache(KEYS_KEPT)
def _similar_keys(key: str, labels: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(label for label in labels if _is_similar(key, label)))


def _is_similar(key: str, label: str) -> bool:
    """Whether the label may be meant instead of the key."""
    if label.rpartition("/")[2] == key.rpartition("/")[2] or label.startswith((key + "-", key + "_", key + ".")):
        return True
    return len(key) >= SHORTEST_KEY_WITH_TYPO and _edit_distance(key, label) <= TYPO_LETTERS


def _edit_distance(one: str, other: str) -> int:
    """Return the insertions, deletions and replacements between the texts; more than two are not counted exactly."""
    if abs(len(one) - len(other)) > TYPO_LETTERS:
        return TYPO_LETTERS + 1
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        diagonal, row[0] = row[0], i
        for j, wanted in enumerate(other, start=1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (letter != wanted))
    return row[-1]

"""Changes of the constraints themselves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import msgspec

from kubectl_spread.diagnosis.domains import similar_keys
from kubectl_spread.diagnosis.findings import REPLACEMENTS
from kubectl_spread.diagnosis.fixes.candidate import Candidate
from kubectl_spread.diagnosis.fixes.guards import newly_selected
from kubectl_spread.diagnosis.fixes.patch import append, pointer, remove, set_to
from kubectl_spread.diagnosis.fixes.situation import Situation, of_constraint
from kubectl_spread.diagnosis.workloads import REVISION_LABELS
from kubectl_spread.labels import Operator
from kubectl_spread.objects.core import Pod, PodTemplateSpec, ReplicationController, TopologySpreadConstraint
from kubectl_spread.objects.meta import LabelSelector, parse_label_selector
from kubectl_spread.objects.workloads import ReplicaSet, StatefulSet
from kubectl_spread.report import JsonValue, PatchOperation
from kubectl_spread.scheduler.podtopologyspread import DomainCounts
from kubectl_spread.scheduler.profile import Behaviour

HONOR, IGNORE = "Honor", "Ignore"
HARD, SOFT = "DoNotSchedule", "ScheduleAnyway"
WELL_KNOWN_KEYS = frozenset(
    (
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        *REPLACEMENTS,
        *REPLACEMENTS.values(),
    )
)


def candidates(situation: Situation, *, others: int) -> Iterator[Candidate]:
    """Yield the changes of the Pod's own hard constraints; defaults belong to the scheduler's configuration.

    Args:
        situation: the Pod and the cluster.
        others: how many requirements another change could overcome besides.
    """
    own = situation.pod.spec.topology_spread_constraints
    for counts in situation.counts:
        if not own or counts.constraint.default:
            continue
        constraint = own[counts.constraint.index]
        yield from _selectors(counts, constraint, situation)
        yield from _topology_keys(counts, situation)
        yield from _revisions(counts, constraint, situation)
        yield from _policies(counts)
        yield from _lower_min_domains(counts)
        yield from _raise_max_skew(counts, situation, others=others)
        yield from _make_soft(counts, constraint, situation.pod)


def _at(index: int, field: str = "") -> str:
    """Return the pointer to a constraint, or to one of its fields."""
    return pointer("spec", "topologySpreadConstraints", index, *([field] if field else []))


def _set(path: str, value: JsonValue, _target: PodTemplateSpec) -> tuple[PatchOperation, ...]:
    """Return the operation that sets a field, whatever it holds now."""
    return (set_to(path, value),)


def _selectors(counts: DomainCounts, constraint: TopologySpreadConstraint, situation: Situation) -> Iterator[Candidate]:
    """Yield selectors that match the Pod, and labels that make it match, where it does not match now."""
    index, key = counts.constraint.index, counts.constraint.topology_key
    if counts.self_match and not counts.constraint.selector.empty:
        return
    for selector in _own_selectors(constraint, situation):
        if parse_label_selector(selector).matches(situation.pod.metadata.labels) and selector != LabelSelector():
            value = msgspec.to_builtins(selector)
            yield Candidate(
                id="FixSelector",
                cost=1,
                summary=f"select the Pod's own kind in the constraint on {key}: {parse_label_selector(selector)}",
                edit=partial(_set, _at(index, "labelSelector"), value),
            )
    yield from _add_labels(counts, situation)


def _own_selectors(constraint: TopologySpreadConstraint, situation: Situation) -> Iterator[LabelSelector]:
    """Yield the constraint's selector with the Pod's own values, and its owner's without revision hashes."""
    labels = situation.pod.metadata.labels
    if constraint.label_selector is not None:
        taken = {key: labels[key] for key in constraint.label_selector.match_labels if key in labels}
        if taken:
            yield msgspec.structs.replace(constraint.label_selector, match_labels=taken)
    owner = _owner_selector(situation)
    if owner is not None:
        left = {key: value for key, value in owner.match_labels.items() if key not in REVISION_LABELS}
        yield msgspec.structs.replace(owner, match_labels=left)


def _owner_selector(situation: Situation) -> LabelSelector | None:
    """Return the selector of the Pod's controller; None where it has none that can be read."""
    controller, snapshot = situation.pod.metadata.controller, situation.handle.snapshot
    if controller is None:
        return None
    namespace = situation.pod.metadata.namespace
    old = snapshot.get(ReplicationController, namespace, controller.name)
    if controller.kind == "ReplicationController" and old is not None:
        return LabelSelector(match_labels=old.spec.selector)
    if controller.kind == "ReplicaSet":
        replica_set = snapshot.get(ReplicaSet, namespace, controller.name)
        return replica_set.spec.selector if replica_set else None
    if controller.kind == "StatefulSet":
        stateful_set = snapshot.get(StatefulSet, namespace, controller.name)
        return stateful_set.spec.selector if stateful_set else None
    return None


def _add_labels(counts: DomainCounts, situation: Situation) -> Iterator[Candidate]:
    """Yield the labels the Pod lacks to match its constraint, where nothing else would then take it for its own."""
    pod = situation.pod
    wanted = [r for r in counts.constraint.selector.requirements if not r.matches(pod.metadata.labels)]
    if not wanted or any(r.operator is not Operator.IN or r.key in pod.metadata.labels for r in wanted):
        return
    added = {requirement.key: min(requirement.values) for requirement in wanted}
    labelled = msgspec.structs.replace(
        pod, metadata=msgspec.structs.replace(pod.metadata, labels={**pod.metadata.labels, **added})
    )
    if newly_selected(pod, labelled, situation.handle.snapshot) is not None:
        return
    words = ", ".join(f"{key}={value}" for key, value in added.items())
    yield Candidate(id="AddPodLabel", cost=1, summary=f"label the Pod {words}", edit=partial(_label, added))


def _label(added: dict[str, str], target: PodTemplateSpec) -> tuple[PatchOperation, ...]:
    """Return the operations that add labels."""
    if not target.metadata.labels:
        return (set_to("/metadata/labels", added),)
    return tuple(set_to(pointer("metadata", "labels", key), value) for key, value in added.items())


def _topology_keys(counts: DomainCounts, situation: Situation) -> Iterator[Candidate]:
    """Yield the well-known keys that may be meant, as nodes carry them."""
    constraint = counts.constraint
    used = {other.constraint.topology_key for other in situation.counts}
    lacking = [info for info in situation.handle.node_infos.values() if constraint.topology_key not in info.labels]
    similar = {key for info in lacking for key in similar_keys(constraint.topology_key, info.labels, used)}
    for key in sorted(similar & WELL_KNOWN_KEYS):
        yield Candidate(
            id="FixTopologyKey",
            cost=1,
            summary=f"use the topologyKey {key}, which nodes carry, instead of {constraint.topology_key}",
            edit=partial(_set, _at(constraint.index, "topologyKey"), key),
        )


def _revisions(counts: DomainCounts, constraint: TopologySpreadConstraint, situation: Situation) -> Iterator[Candidate]:
    """Yield the label that tells revisions apart, where the constraint counts all of them together."""
    if constraint.label_selector is None or not situation.handle.profile.does(Behaviour.MATCH_LABEL_KEYS):
        return
    taken = {requirement.key for requirement in counts.constraint.selector.requirements}
    for label in REVISION_LABELS:
        if label in situation.pod.metadata.labels and label not in taken and label not in constraint.match_label_keys:
            yield Candidate(
                id="AddMatchLabelKeys",
                cost=1,
                summary=f"count each revision alone: matchLabelKeys [{label}] in the constraint on"
                f" {constraint.topology_key}",
                edit=partial(_match_label_key, counts.constraint.index, label),
            )


def _match_label_key(index: int, label: str, target: PodTemplateSpec) -> tuple[PatchOperation, ...]:
    """Return the operation that adds a label to matchLabelKeys."""
    keys = target.spec.topology_spread_constraints[index].match_label_keys
    return (append(_at(index, "matchLabelKeys"), keys, label),)


def _policies(counts: DomainCounts) -> Iterator[Candidate]:
    """Yield the inclusion policies that count other nodes."""
    constraint = counts.constraint
    changes = (
        ("HonorTaints", "nodeTaintsPolicy", HONOR, not constraint.honors_taints),
        ("IgnoreAffinity", "nodeAffinityPolicy", IGNORE, constraint.honors_affinity),
        ("HonorAffinity", "nodeAffinityPolicy", HONOR, not constraint.honors_affinity),
    )
    words = {
        "HonorTaints": "do not count nodes whose taints the Pod does not tolerate",
        "IgnoreAffinity": "count nodes the Pod's node affinity rules out",
        "HonorAffinity": "do not count nodes the Pod's node affinity rules out",
    }
    for name, field, value, applies in changes:
        if applies:
            yield Candidate(
                id=name,
                cost=1,
                summary=f"{words[name]}: {field} {value} in the constraint on {constraint.topology_key}",
                edit=partial(_set, _at(constraint.index, field), value),
            )


def _lower_min_domains(counts: DomainCounts) -> Iterator[Candidate]:
    """Yield the greatest minDomains at which the minimum counts again."""
    constraint, domains = counts.constraint, len(counts.match_num)
    if 0 < domains < constraint.min_domains:
        yield Candidate(
            id="LowerMinDomains",
            cost=3,
            summary=f"lower minDomains to {domains} in the constraint on {constraint.topology_key}: there are no more",
            edit=partial(_set, _at(constraint.index, "minDomains"), domains),
        )


def _raise_max_skew(counts: DomainCounts, situation: Situation, *, others: int) -> Iterator[Candidate]:
    """Yield the least maxSkew that opens a node, alone or together with one other change."""
    constraint = counts.constraint
    nodes = situation.nodes_only_against([of_constraint(constraint.index)], others=others)
    carrying = [info.labels[constraint.topology_key] for info in nodes if constraint.topology_key in info.labels]
    needed = sorted({skew for value in carrying if (skew := counts.skew_if_placed(value)) > constraint.max_skew})
    for skew in needed[: 1 if not others else MOST_SKEWS]:
        yield Candidate(
            id="RaiseMaxSkew",
            cost=3,
            summary=f"raise maxSkew to {skew} in the constraint on {constraint.topology_key}",
            edit=partial(_set, _at(constraint.index, "maxSkew"), skew),
        )


MOST_SKEWS = 3
"""Values of maxSkew (count) tried as half of a pair."""


def _make_soft(counts: DomainCounts, constraint: TopologySpreadConstraint, pod: Pod) -> Iterator[Candidate]:
    """Yield the constraint as a mere preference, where the Pod has no such preference yet."""
    pairs = {(c.topology_key, c.when_unsatisfiable) for c in pod.spec.topology_spread_constraints}
    if (constraint.topology_key, SOFT) in pairs:
        return
    index = counts.constraint.index
    yield Candidate(
        id="MakeSoft",
        cost=4,
        summary=f"only prefer an even spread over {constraint.topology_key}: ScheduleAnyway",
        edit=partial(_soften, index),
    )


def _soften(index: int, target: PodTemplateSpec) -> tuple[PatchOperation, ...]:
    """Return the operations that make a constraint a preference; minDomains would then be refused."""
    soft = set_to(_at(index, "whenUnsatisfiable"), SOFT)
    if target.spec.topology_spread_constraints[index].min_domains is None:
        return (soft,)
    return remove(_at(index, "minDomains")), soft

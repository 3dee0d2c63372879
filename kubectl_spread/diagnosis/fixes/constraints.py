"""Changes of the constraints themselves."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias, TypedDict

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers.templates import REVISION_LABELS
from kubectl_spread.controllers.workloads import controller_of, matching_by_owner
from kubectl_spread.diagnosis.counted_together import spread_together
from kubectl_spread.diagnosis.fixes.candidate import Candidate, EditPod
from kubectl_spread.diagnosis.fixes.change import JsonValue, Operations, Override
from kubectl_spread.diagnosis.fixes.patch import append, pointer, remove, set_to
from kubectl_spread.diagnosis.fixes.proposals import OfConstraint, Proposal
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.diagnosis.requirements import ConstraintRequirement
from kubectl_spread.diagnosis.topology_keys import former_keys, is_absent, keys_meant
from kubectl_spread.labels import Operator, Selector, from_set
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod, PodTemplateSpec, ReplicationController, Service, TopologySpreadConstraint
from kubectl_spread.objects.meta import LabelSelector, parse_label_selector
from kubectl_spread.objects.policy import NetworkPolicy, PodDisruptionBudget
from kubectl_spread.objects.well_known_labels import SUCCESSORS, WELL_KNOWN_KEYS
from kubectl_spread.objects.workloads import DaemonSet, Deployment, Job, ReplicaSet, StatefulSet
from kubectl_spread.scheduler.nodeaffinity import RequiredNodeAffinity
from kubectl_spread.scheduler.podtopologyspread import Constraint, DomainCounts
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.snapshot import Snapshot

HONOR, IGNORE = "Honor", "Ignore"
MOST_COST = 5  # The cost of changes that come last
SOFT = "ScheduleAnyway"
SelectorChange: TypeAlias = Callable[[LabelSelector], LabelSelector]
# Kinds of which some object may select a Pod by its labels.
SELECTING_KINDS = (
    kinds.SERVICE,
    kinds.POD_DISRUPTION_BUDGET,
    kinds.NETWORK_POLICY,
    kinds.REPLICATION_CONTROLLER,
    kinds.DEPLOYMENT,
    kinds.REPLICA_SET,
    kinds.STATEFUL_SET,
    kinds.DAEMON_SET,
    kinds.JOB,
)


class _Rank(TypedDict, total=False):
    cost: int
    overrides: Override


class FixSelector(OfConstraint, frozen=True, kw_only=True):
    """The constraint selects Pods like its own; so many ``others`` (count), of these workloads, count no longer."""

    selector: str
    label: str = ""  # the revision's label that it names in matchLabelKeys, instead of a value of that; empty for none
    others: int = 0
    workloads: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()  # those of the workloads that count this one, and are spread together with it no longer


class AddPodLabel(Proposal, frozen=True, kw_only=True):
    """The Pod gets the labels that its constraint selects."""

    labels: tuple[tuple[str, str], ...]


class FixTopologyKey(OfConstraint, frozen=True, kw_only=True):
    """The constraint uses a key that nodes have; ``former``: an older revision of the workload uses it too."""

    meant: str
    former: bool = False


class AddMatchLabelKeys(OfConstraint, frozen=True, kw_only=True):
    """The constraint counts each revision separately.

    ``apart``: other workloads that count this one, and are spread together with it no longer.
    """

    label: str
    apart: tuple[str, ...] = ()


class HonorTaints(OfConstraint, frozen=True, kw_only=True):
    """Nodes whose taints the Pod does not tolerate are not counted."""


class IgnoreAffinity(OfConstraint, frozen=True, kw_only=True):
    """Nodes that the Pod's node affinity excludes are counted."""


class HonorAffinity(OfConstraint, frozen=True, kw_only=True):
    """Nodes that the Pod's node affinity excludes are not counted."""


class LowerMinDomains(OfConstraint, frozen=True, kw_only=True):
    """minDomains becomes the number of eligible domains."""

    cost: int = 3
    min_domains: int


class RaiseMaxSkew(OfConstraint, frozen=True, kw_only=True):
    """maxSkew becomes larger."""

    cost: int = 3
    max_skew: int


class MakeSoft(OfConstraint, frozen=True, kw_only=True):
    """The constraint becomes a preference."""

    cost: int = 4


def candidates(situation: Situation, *, others: int) -> Iterator[Candidate]:
    """Yield the changes of the Pod's own hard constraints; defaults belong to the scheduler's configuration.

    ``others``: how many more requirements a second change could overcome (count).
    """
    for counts in situation.counts if situation.pod.spec.topology_spread_constraints else ():
        yield from _fix_selectors(counts, situation)
        yield from _add_labels(counts, situation)
        yield from _fix_topology_keys(counts, situation)
        # A better count does not make a constraint effective that misses its own Pod.
        if counts.self_match:
            yield from _separate_revisions(counts, situation)
        yield from _change_policies(counts, situation)
        if 0 < (domains := len(counts.match_num)) < counts.constraint.min_domains:
            yield lower_min_domains(counts.constraint, domains)
        yield from _raise_max_skew(counts, situation, others=others)
        # This is invalid if the Pod already has the same preference.
        soft = MakeSoft(topology_key=counts.constraint.topology_key)
        yield EditPod(proposal=soft, edit=partial(_make_soft, counts.constraint))


def _index_of(target: PodTemplateSpec, constraint: Constraint) -> int:
    """Return the index of the constraint in a Pod or template: its key and action occur once, its place may differ.

    LookupError if the template has no such constraint: admission added it to the Pod.
    """
    wanted = (constraint.topology_key, constraint.when_unsatisfiable.value)
    own = target.spec.topology_spread_constraints
    same = [i for i, each in enumerate(own) if (each.topology_key, each.when_unsatisfiable) == wanted]
    return constraint.index if constraint.index in same else same[0]


def _pointer_to(target: PodTemplateSpec, constraint: Constraint, *steps: str) -> str:
    return pointer("spec", "topologySpreadConstraints", _index_of(target, constraint), *steps)


def change_field(
    constraint: Constraint, field: str, value: JsonValue, proposal: Proposal, *, amount: int = 0
) -> EditPod:
    """Return the change that sets a field of the constraint; ``amount``: how far that moves a number."""
    edit = partial(_set_field, constraint, field, value)
    return EditPod(proposal=proposal, edit=edit, subject=(field, constraint.index) if amount else (), amount=amount)


def honor_taints(constraint: Constraint) -> EditPod:
    """Return the change after which nodes with taints that the Pod does not tolerate do not count."""
    proposal = HonorTaints(topology_key=constraint.topology_key)
    return change_field(constraint, "nodeTaintsPolicy", HONOR, proposal)


def lower_min_domains(constraint: Constraint, domains: int) -> EditPod:
    """Return the change that lowers minDomains to this number of domains."""
    proposal = LowerMinDomains(topology_key=constraint.topology_key, min_domains=domains)
    return change_field(constraint, "minDomains", domains, proposal, amount=constraint.min_domains - domains)


def raise_max_skew(constraint: Constraint, skew: int) -> EditPod:
    """Return the change that raises maxSkew to this number of Pods."""
    proposal = RaiseMaxSkew(topology_key=constraint.topology_key, max_skew=skew)
    return change_field(constraint, "maxSkew", skew, proposal, amount=skew - constraint.max_skew)


def _set_field(constraint: Constraint, field: str, value: JsonValue, target: PodTemplateSpec) -> Operations:
    """Return the operation that sets a field of the constraint; LookupError if there is no such constraint.

    It never lowers maxSkew, or raises minDomains, in a target that differs from the Pod.
    """
    own = target.spec.topology_spread_constraints[_index_of(target, constraint)]
    reached = own.max_skew >= value if field == "maxSkew" else field == "minDomains" and (own.min_domains or 1) <= value
    return () if reached else (set_to(_pointer_to(target, constraint, field), value),)


def _fix_selectors(counts: DomainCounts, situation: Situation) -> Iterator[Candidate]:
    constraint, labels = counts.constraint, situation.pod.metadata.labels
    described = situation.pod.spec.topology_spread_constraints[constraint.index]
    pinned = _is_pinned(described)
    known = set() if pinned else {str(careful_selector(_of_all_revisions(described.label_selector)))}
    revision = next((label for label in REVISION_LABELS if label in labels), "") if pinned else ""
    together = _together(constraint, situation)
    for selector, edit in _own_selectors(described, situation):
        parsed = careful_selector(selector)
        if str(parsed) in known or parsed.empty or not parsed.matches(labels):
            continue
        known.add(str(parsed))
        others = _counted_others(constraint, parsed, situation)
        apart = together if revision else tuple(each for each in together if each in others)
        yield EditPod(
            proposal=FixSelector(
                topology_key=constraint.topology_key,
                selector=str(parsed),
                label=revision,
                others=others.total(),
                workloads=tuple(others),
                apart=apart,
                corrects=bool(others) and not apart,
                **_if_apart(apart),
            ),
            edit=partial(_select, constraint, edit, revision),
            mends=not (counts.self_match or apart),
        )


def _together(constraint: Constraint, situation: Situation) -> tuple[str, ...]:
    return tuple(sorted(map(str, spread_together(situation.pod, constraint, situation.handle))))


def _if_apart(apart: Sequence[str]) -> _Rank:
    """Return the rank of a change after which workloads that count each other no longer do: it comes last."""
    return {"overrides": Override.DECISION, "cost": MOST_COST} if apart else {}


def _is_pinned(constraint: TopologySpreadConstraint) -> bool:
    """Whether the selector has the value of a revision's label; the API server merges matchLabelKeys into it."""
    selector = constraint.label_selector or LabelSelector()
    named = {*selector.match_labels, *(each.key for each in selector.match_expressions)}
    return not named.intersection(REVISION_LABELS) <= {*constraint.match_label_keys}


def _of_all_revisions(selector: LabelSelector | None) -> LabelSelector:
    """Return the selector without labels of revisions."""
    selector = selector or LabelSelector()
    labels = {key: value for key, value in selector.match_labels.items() if key not in REVISION_LABELS}
    expressions = tuple(each for each in selector.match_expressions if each.key not in REVISION_LABELS)
    return replace(selector, match_labels=labels, match_expressions=expressions)


def _counted_others(constraint: Constraint, selector: Selector, situation: Situation) -> Counter[str]:
    """Return workload → its Pods (count) that the constraint counts and the selector does not match."""
    others: Counter[str] = Counter()
    namespace, snapshot = situation.pod.metadata.namespace, situation.handle.snapshot
    for owner, pods in matching_by_owner(namespace, constraint.selector, snapshot):
        if not selector.matches(pods[0].metadata.labels):
            others[str(owner)] += len(pods)
    return others


def _own_selectors(
    described: TopologySpreadConstraint, situation: Situation
) -> Iterator[tuple[LabelSelector, SelectorChange]]:
    """Yield the constraint's selector with the Pod's own values, and its owner's, with the change of a target's."""
    labels = situation.pod.metadata.labels
    if described.label_selector is not None:
        with_own = partial(_with_values, labels)
        yield with_own(described.label_selector), with_own
    controller = controller_of(situation.pod, situation.handle.snapshot)
    owner = controller.spec.selector if isinstance(controller, ReplicaSet | StatefulSet | DaemonSet) else None
    if isinstance(controller, ReplicationController):
        owner = LabelSelector(match_labels=controller.spec.selector)
    if owner is not None:
        selector = _of_all_revisions(owner)
        yield selector, lambda _: selector


def _with_values(labels: Mapping[str, str], selector: LabelSelector) -> LabelSelector:
    """Return the selector of all revisions with these values of its labels, without labels that have none."""
    left = _of_all_revisions(selector)
    return replace(left, match_labels={key: labels[key] for key in left.match_labels if key in labels})


def _select(constraint: Constraint, change: SelectorChange, revision: str, target: PodTemplateSpec) -> Operations:
    """Return the operations that set the selector; ``revision``: a label for matchLabelKeys, or empty."""
    own = target.spec.topology_spread_constraints[_index_of(target, constraint)].label_selector or LabelSelector()
    after = change(own)
    added = _add_match_label_key(constraint, revision, target) if revision else ()
    path = _pointer_to(target, constraint, "labelSelector")
    if own.match_labels and after.match_expressions == own.match_expressions:
        return (set_to(f"{path}/matchLabels", after.match_labels), *added)
    return (set_to(path, msgspec.to_builtins(after)), *added)


def _add_labels(counts: DomainCounts, situation: Situation) -> Iterator[Candidate]:
    """Yield the labels that the Pod lacks to match its constraint, unless something else would then select it."""
    pod = situation.pod
    wanted = [r for r in counts.constraint.selector.requirements if not r.matches(pod.metadata.labels)]
    taken = {*pod.metadata.labels, *REVISION_LABELS}
    if not wanted or any(r.operator is not Operator.IN or r.key in taken for r in wanted):
        return
    added = {requirement.key: min(requirement.values) for requirement in wanted}
    labels = {**pod.metadata.labels, **added}
    labelled = replace(pod, metadata=replace(pod.metadata, labels=labels))
    if _is_newly_selected(pod, labelled, situation.handle.snapshot):
        return
    yield EditPod(proposal=AddPodLabel(labels=tuple(added.items())), edit=partial(_add_pod_labels, added))


def _is_newly_selected(before: Pod, after: Pod, snapshot: Snapshot) -> bool:
    """Whether anything selects the Pod that did not before, or may: some kind with a selector was not listed."""
    if not all(map(snapshot.inventory.has, SELECTING_KINDS)):
        return True
    old, new = before.metadata.labels, after.metadata.labels
    return any(
        selector.matches(new) and not selector.matches(old)
        for selector in _selectors(after.metadata.namespace, snapshot)
    )


def _selectors(namespace: str, snapshot: Snapshot) -> Iterator[Selector]:
    there = (obj for kind in SELECTING_KINDS for obj in snapshot.all(kind.struct))
    for obj in (obj for obj in there if obj.metadata.namespace == namespace):
        match obj:
            case Service() | ReplicationController():
                if obj.spec.selector is not None:
                    yield from_set(obj.spec.selector)
            case NetworkPolicy():
                yield careful_selector(obj.spec.pod_selector)
            case PodDisruptionBudget() | Deployment() | ReplicaSet() | StatefulSet() | DaemonSet() | Job():
                yield careful_selector(obj.spec.selector)


def careful_selector(selector: LabelSelector | None) -> Selector:
    """Return the selector. One that cannot be parsed selects everything, which is the safe assumption."""
    try:
        return parse_label_selector(selector)
    except ValueError:
        return Selector()


def _add_pod_labels(added: Mapping[str, str], target: PodTemplateSpec) -> Operations:
    if not target.metadata.labels:
        return (set_to("/metadata/labels", added),)
    return tuple(set_to(pointer("metadata", "labels", key), value) for key, value in added.items())


def _fix_topology_keys(counts: DomainCounts, situation: Situation) -> Iterator[Candidate]:
    """Yield the keys that may be meant, the likeliest first: if some nodes have the topology key, well-known ones."""
    constraint, missing, handle = counts.constraint, counts.constraint.topology_key, situation.handle
    used = {other.constraint.topology_key for other in situation.counts}
    lacking = [info for info in handle.node_infos.values() if missing not in info.labels]
    meant = keys_meant(missing, situation.pod, used, handle)(label for info in lacking for label in info.labels)
    former = former_keys(situation.pod, handle.snapshot)
    for key in meant:
        if key not in SUCCESSORS and (key in WELL_KNOWN_KEYS or is_absent(missing, handle)):
            proposal = FixTopologyKey(topology_key=missing, meant=key, former=key in former)
            change = change_field(constraint, "topologyKey", key, proposal)
            yield replace(change, subject=("topologyKey", constraint.index), alternative=key)


def _separate_revisions(counts: DomainCounts, situation: Situation) -> Iterator[Candidate]:
    constraint, profile = counts.constraint, situation.handle.profile
    if constraint.selector.nothing or not profile.does(Behaviour.MATCH_LABEL_KEYS):
        return
    taken = {requirement.key for requirement in constraint.selector.requirements}
    for label in REVISION_LABELS:
        if label in situation.pod.metadata.labels and label not in taken:
            apart = _together(constraint, situation)
            yield EditPod(
                proposal=AddMatchLabelKeys(
                    topology_key=constraint.topology_key, label=label, apart=apart, **_if_apart(apart)
                ),
                edit=partial(_add_match_label_key, constraint, label),
            )


def _add_match_label_key(constraint: Constraint, label: str, target: PodTemplateSpec) -> Operations:
    keys = target.spec.topology_spread_constraints[_index_of(target, constraint)].match_label_keys
    return () if label in keys else (append(_pointer_to(target, constraint, "matchLabelKeys"), keys, label),)


def _change_policies(counts: DomainCounts, situation: Situation) -> Iterator[Candidate]:
    """Yield the inclusion policies that may count other nodes; only the default where the constraint misses its Pod."""
    constraint, key = counts.constraint, counts.constraint.topology_key
    if counts.self_match and situation.handle.index.tainted and not constraint.honors_taints:
        yield honor_taints(constraint)
    if RequiredNodeAffinity.of(situation.pod).empty:
        return
    if not constraint.honors_affinity:
        yield change_field(constraint, "nodeAffinityPolicy", HONOR, HonorAffinity(topology_key=key))
    elif counts.self_match:
        yield change_field(constraint, "nodeAffinityPolicy", IGNORE, IgnoreAffinity(topology_key=key))


def _raise_max_skew(counts: DomainCounts, situation: Situation, *, others: int) -> Iterator[Candidate]:
    """Yield the least maxSkew that opens a node; with a second change to come, every maxSkew that opens more."""
    constraint = counts.constraint
    nodes = situation.nodes_only_against([ConstraintRequirement(constraint.index)], others=others)
    carrying = [info.labels[constraint.topology_key] for info in nodes if constraint.topology_key in info.labels]
    needed = sorted({skew for value in carrying if (skew := counts.skew_if_placed(value)) > constraint.max_skew})
    for skew in needed if others else needed[:1]:
        yield raise_max_skew(constraint, skew)


def _make_soft(constraint: Constraint, target: PodTemplateSpec) -> Operations:
    """Return the operations that make a constraint soft; minDomains would then be refused."""
    soft = set_to(_pointer_to(target, constraint, "whenUnsatisfiable"), SOFT)
    if target.spec.topology_spread_constraints[_index_of(target, constraint)].min_domains is None:
        return (soft,)
    return remove(_pointer_to(target, constraint, "minDomains")), soft

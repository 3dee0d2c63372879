"""Finds what matters about a Pod's constraints besides the verdict."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers.daemonset import pinned_node
from kubectl_spread.controllers.templates import REVISION_LABELS
from kubectl_spread.controllers.workloads import matching_by_owner, owner_of, revision_of
from kubectl_spread.diagnosis import findings
from kubectl_spread.diagnosis.constraint_state import is_ghost
from kubectl_spread.diagnosis.counted_together import spread_together
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis, SpreadDiagnosis
from kubectl_spread.diagnosis.findings import Finding, Severity
from kubectl_spread.diagnosis.topology_keys import keys_meant
from kubectl_spread.objects.core import Pod, PodSpec
from kubectl_spread.objects.kinds import DAEMON_SET
from kubectl_spread.objects.meta import grouped, name_order
from kubectl_spread.objects.well_known_labels import SUCCESSORS
from kubectl_spread.scheduler import podtopologyspread
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import Constraint
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.snapshot import Snapshot

DEPRECATED_PREFIXES = ("failure-domain.beta.kubernetes.io/", "beta.kubernetes.io/")


class Subject(msgspec.Struct, frozen=True):
    """A Pod with its parsed constraints, and their domains in the same order; ``now`` is the cluster as it is."""

    pod: Pod
    handle: Handle
    constraints: tuple[Constraint, ...]
    spread: SpreadDiagnosis
    evaluation: Evaluation
    now: Snapshot

    @property
    def own(self) -> bool:
        """Whether the constraints are the Pod's own, not the cluster's defaults."""
        return bool(self.pod.spec.topology_spread_constraints)

    def each(self) -> Iterator[tuple[Constraint, ConstraintDiagnosis]]:
        """Yield each constraint with its diagnosis."""
        yield from zip(self.constraints, self.spread.constraints, strict=True)


Rule: TypeAlias = Callable[[Subject], Iterable[Finding]]


def of_pod(evaluation: Evaluation, spread: SpreadDiagnosis, now: Snapshot | None = None) -> tuple[Finding, ...]:
    """Return the findings about one Pod, worst first; ``now`` is the cluster as it is, if this is a simulation."""
    found = _findings(evaluation, spread, (*WARNING_RULES, *INFORMING_RULES), now)
    return tuple(sorted(found, key=lambda finding: tuple(Severity).index(finding.severity)))


def warnings_of(evaluation: Evaluation, spread: SpreadDiagnosis) -> Iterator[Finding]:
    """Yield the findings that are warnings or errors."""
    found = _findings(evaluation, spread, WARNING_RULES)
    return (each for each in found if each.severity is not Severity.INFO)


def _findings(
    evaluation: Evaluation, spread: SpreadDiagnosis, rules: Iterable[Rule], now: Snapshot | None = None
) -> Iterator[Finding]:
    handle = spread.explainer.handle
    constraints = podtopologyspread.parsable_constraints(evaluation.pod, handle)
    subject = Subject(evaluation.pod, handle, constraints, spread, evaluation, now or handle.snapshot)
    return chain.from_iterable(rule(subject) for rule in rules)


def from_living(fields: Sequence[str]) -> tuple[Finding, ...]:
    """Return the finding about fields that were taken from running Pods; empty without any."""
    return (findings.InjectedFields(fields=tuple(fields)),) if fields else ()


def merged_constraints(written: PodSpec, merged: PodSpec, live: PodSpec | None) -> Iterator[findings.MergedConstraints]:
    """Yield the findings about keys on which a manifest or its existing object has more than one constraint.

    The arguments are the Pod templates of the manifest, of the object after apply, and of the object now.
    """
    specs = [spec.topology_spread_constraints for spec in (written, merged, live or PodSpec())]
    for key in dict.fromkeys(each.topology_key for each in chain.from_iterable(specs)):
        asked, after, before = (tuple(each for each in spec if each.topology_key == key) for spec in specs)
        changed = live is not None and after != asked and (len(asked) > 1 or after != before)
        if len(asked) > 1 or (changed and len(before) > 1):
            yield findings.MergedConstraints(
                severity=Severity.WARNING if changed else Severity.INFO,
                topology_key=key,
                written=tuple(each.when_unsatisfiable for each in asked),
                merged=tuple(each.when_unsatisfiable for each in after) if changed else (),
            )


def _duplicate_constraint(subject: Subject) -> Iterable[Finding]:
    for constraints in grouped(subject.constraints, lambda each: (each.topology_key, each.when_unsatisfiable)).values():
        if len(constraints) > 1:
            yield findings.DuplicateConstraint(constraint=constraints[-1], times=len(constraints))


def _missing_topology_key(subject: Subject) -> Iterable[Finding]:
    for constraint, report in subject.each():
        lacking = tuple(sorted(subject.handle.index.lacking(constraint.topology_key)))
        if constraint.hard and lacking:
            severity = Severity.WARNING if report.domains else Severity.ERROR
            yield findings.MissingTopologyKey(constraint=constraint, severity=severity, nodes=lacking)


def _pinned_minimum(subject: Subject) -> Iterable[Finding]:
    if subject.pod.spec.node_name or subject.evaluation.pre_filter is not None:
        return  # A Pod that names its node is not scheduled, and for one that is refused whole no node is evaluated.
    for constraint, report in subject.each():
        opened = any(domain.next for domain in report.held)  # The scheduler makes room there.
        if report.pinned and not opened and any(each.eligible and not each.allowed for each in report.domains):
            yield findings.PinnedMinimum(
                constraint=constraint,
                global_minimum=report.global_minimum,
                domains=tuple(domain.value for domain in report.held),
                pins=tuple(pin for domain in report.held for pin in domain.pinned_by),
            )


def _selectors(subject: Subject) -> Iterable[Finding]:
    constraints, pod = subject.constraints, subject.pod
    exists = subject.now.get(Pod, *pod.key) is not None
    owner = None if exists or not pod.metadata.controller_kind else owner_of(pod, subject.handle.snapshot)
    ghosts = (each for each in constraints if is_ghost(pod, each))
    yield from (findings.GhostPod(constraint=each, pod=pod.metadata.name, owner=owner) for each in ghosts)
    yield from (findings.NilSelector(constraint=each) for each in constraints if each.selector.nothing)
    counts = subject.handle.profile.does(Behaviour.EMPTY_SELECTOR_COUNTS)
    empty = (each for each in constraints if each.selector.empty)
    yield from (findings.EmptySelector(constraint=each, counts=counts) for each in empty)


def _similar_topology_key(subject: Subject) -> Iterable[Finding]:
    used = {constraint.topology_key for constraint in subject.constraints}
    for constraint in subject.constraints:
        key, meant = constraint.topology_key, dict[str, list[str]]()
        similar_keys = keys_meant(key, subject.pod, used, subject.handle)
        for name in sorted(subject.handle.index.lacking(key)) if constraint.hard else ():
            for similar in similar_keys(subject.handle.node_infos[name].labels):
                meant.setdefault(similar, []).append(name)
        for similar, names in meant.items():
            yield findings.SimilarTopologyKey(constraint=constraint, similar_key=similar, nodes=tuple(names))


def _min_domains_unreachable(subject: Subject) -> Iterable[Finding]:
    if subject.handle.snapshot.inventory.nodes_unread:
        return
    for constraint, report in subject.each():
        if constraint.hard and len(report.eligible) < constraint.min_domains and constraint.min_domains > 1:
            daemon = _counts_its_node(subject, constraint)
            yield findings.MinDomainsUnreachable(constraint=constraint, domains=report.eligible, daemon=daemon)


def _single_domain(subject: Subject) -> Iterable[Finding]:
    if subject.handle.snapshot.inventory.nodes_unread:
        return
    for constraint, report in subject.each():
        if len(report.eligible) == 1 and constraint.min_domains <= 1 and subject.own:
            daemon = _counts_its_node(subject, constraint)
            yield findings.SingleDomain(constraint=constraint, domain=report.eligible[0], daemon=daemon)


def _counts_its_node(subject: Subject, constraint: Constraint) -> bool:
    """Whether the Pod is of a DaemonSet, whose controller gives it an affinity to its node alone."""
    of_daemon = subject.pod.metadata.controller_kind == DAEMON_SET.name
    return of_daemon and constraint.honors_affinity and bool(pinned_node(subject.pod))


def _rollout_mixes_revisions(subject: Subject) -> Iterable[Finding]:
    pod, handle = subject.pod, subject.handle
    revision, found = revision_of(pod), defaultdict[tuple[tuple[str, ...], bool], list[Constraint]](list)
    for constraint, report in subject.each():
        if not revision or not constraint.selector.matches(pod.metadata.labels):
            continue
        if others := _of_other_revisions(subject, constraint, report, handle):
            # A rollout may delete some of them, or all, before it creates this Pod.
            if subject.now is not handle.snapshot:
                at_first = replace(handle, snapshot=subject.now)
                others = _of_other_revisions(subject, constraint, report, at_first) or others
            found[others, constraint.hard].append(constraint)
    for (others, hard), alike in found.items():
        yield from (
            findings.RolloutMixesRevisions(
                severity=Severity.WARNING if hard else Severity.INFO,
                constraint=constraint,
                owner=owner_of(pod, handle.snapshot),
                pods=others,
                label=next(label for label, value in pod.metadata.labels.items() if value == revision),
                among=tuple(alike) if len(subject.constraints) > 1 else (),
                together=tuple(sorted(spread_together(pod, constraint, handle), key=str)),
            )
            for constraint in alike
        )


def _of_other_revisions(
    subject: Subject, constraint: Constraint, report: ConstraintDiagnosis, handle: Handle
) -> tuple[str, ...]:
    """Return the Pods of the Pod's owner that are of other revisions and counted, by name."""
    pod, counted = subject.pod, {name for domain in report.domains for name in domain.nodes}
    owner = owner_of(pod, subject.handle.snapshot)
    selector = podtopologyspread.counting_selector(constraint, handle.profile)
    return tuple(
        other.metadata.name
        for by, alike in matching_by_owner(pod.metadata.namespace, selector, handle.snapshot)
        if by == owner and revision_of(alike[0]) not in {"", revision_of(pod)}
        for other in alike
        if other.spec.node_name in counted
    )


def _match_label_key_absent(subject: Subject) -> Iterable[Finding]:
    for index, constraint in enumerate(subject.pod.spec.topology_spread_constraints):
        absent = tuple(key for key in constraint.match_label_keys if key not in subject.pod.metadata.labels)
        revisions = (key for key in REVISION_LABELS if key in subject.pod.metadata.labels)
        if absent:
            revision = next((key for key in revisions if key not in constraint.match_label_keys), "")
            yield findings.MatchLabelKeyAbsent(index=index, keys=absent, revision=revision)


def _deprecated_topology_key(subject: Subject) -> Iterable[Finding]:
    for constraint in subject.constraints:
        if constraint.topology_key.startswith(DEPRECATED_PREFIXES):
            successor = SUCCESSORS.get(constraint.topology_key, "")
            yield findings.DeprecatedTopologyKey(constraint=constraint, successor=successor)


def _uncounted_nodes(subject: Subject) -> Iterable[Finding]:
    for constraint, report in subject.each():
        bypassed = tuple(node for node in report.bypassed_nodes if node.matching)
        if bypassed:
            pods = sum(node.matching for node in bypassed)
            yield findings.UncountedNodes(constraint=constraint, nodes=bypassed, pods=pods)


def _terminating_pods(subject: Subject) -> Iterable[Finding]:
    namespace = subject.pod.metadata.namespace
    for constraint in subject.constraints:
        matching = subject.now.matching_pods(namespace, constraint.selector)
        going = sorted((pod for pod in matching if pod.terminating), key=name_order)
        if going:
            judged = subject.handle.snapshot.assigned
            in_use = any(pod.key == other.key for pod in going for other in judged.get(pod.spec.node_name, ()))
            names = tuple(pod.metadata.name for pod in going)
            yield findings.TerminatingPods(constraint=constraint, pods=names, in_use=in_use)


def _of_pod(subject: Subject) -> Iterable[Finding]:
    profile = subject.handle.profile
    if not profile.serves(subject.pod):
        yield findings.OtherScheduler(scheduler_name=subject.pod.spec.scheduler_name)
    if not subject.own and subject.constraints:
        yield findings.DefaultConstraints(built_in=profile.system_defaulted, constraints=subject.constraints)


def _uneven_soft(subject: Subject) -> Iterator[tuple[Constraint, ConstraintDiagnosis]]:
    return ((c, report) for c, report in subject.each() if not c.hard and report.skew > c.max_skew)


def _soft_constraint_is_preference(subject: Subject) -> Iterable[Finding]:
    for constraint, report in _uneven_soft(subject):
        yield findings.SoftConstraintIsPreference(constraint=constraint, skew=report.skew)


def _autoscaler_blind(subject: Subject) -> Iterable[Finding]:
    feasible = set(subject.evaluation.feasible)
    # A Pod that no node takes stays Pending, which autoscalers see.
    if not feasible or not subject.own or any(constraint.hard for constraint in subject.constraints):
        return
    for constraint, report in _uneven_soft(subject):
        closed = tuple(d.value for d in report.domains if d.eligible and not feasible & set(d.nodes))
        if closed:
            yield findings.AutoscalerBlind(constraint=constraint, domains=closed)


def _stale_event(subject: Subject) -> Iterable[Finding]:
    condition = next((c for c in subject.pod.status.conditions if c.type == "PodScheduled"), None)
    snapshot = subject.handle.snapshot
    # What a simulation changed, the scheduler has not seen.
    if subject.now is not snapshot or not subject.evaluation.feasible:
        return
    if condition is None or condition.reason != "Unschedulable":
        return
    # If the scheduler has chosen a node since, the Pod waits for volumes.
    if not (subject.pod.key in snapshot.assumed or subject.pod.key in snapshot.undecided):
        yield findings.StaleEvent()


WARNING_RULES: Sequence[Rule] = (
    _duplicate_constraint,
    _missing_topology_key,
    _pinned_minimum,
    _selectors,
    _similar_topology_key,
    _min_domains_unreachable,
    _single_domain,
    _rollout_mixes_revisions,
    _match_label_key_absent,
    _deprecated_topology_key,
)
INFORMING_RULES: Sequence[Rule] = (
    _uncounted_nodes,
    _terminating_pods,
    _of_pod,
    _soft_constraint_is_preference,
    _autoscaler_blind,
    _stale_event,
)

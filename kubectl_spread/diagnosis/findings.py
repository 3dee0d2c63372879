"""What is worth knowing about a Pod's constraints beyond the verdict, each with what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import msgspec

from kubectl_spread.contract.constraints import ConstraintReport
from kubectl_spread.contract.findings import Finding, Severity
from kubectl_spread.controllers.daemonset import pinned_node
from kubectl_spread.controllers.workloads import owner_of, revision_of
from kubectl_spread.diagnosis import reasons
from kubectl_spread.diagnosis.domains import SpreadDiagnosis, similar_keys
from kubectl_spread.diagnosis.ghosts import is_ghost
from kubectl_spread.objects.core import Namespace, Pod
from kubectl_spread.objects.kinds import DAEMON_SET
from kubectl_spread.objects.well_known_labels import SUCCESSORS
from kubectl_spread.scheduler import podtopologyspread
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import Constraint
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.words import count_of, enumerated, listed

_some = partial(listed, most=3)
_pods = partial(count_of, noun="Pod")
_TO_SPREAD = "Set minDomains, or widen the node affinity"
_ENFORCED, _PRIVILEGED = "pod-security.kubernetes.io/enforce", "privileged"
"""The label of a namespace that names a Pod Security Standard, and the standard that allows all."""
DEPRECATED_PREFIXES = ("failure-domain.beta.kubernetes.io/", "beta.kubernetes.io/")


class Subject(msgspec.Struct, frozen=True):
    """A Pod with all that was found out about it.

    Attributes:
        pod: the Pod.
        handle: the cluster.
        constraints: those that apply to it, parsed.
        spread: its constraints' domains, in the same order.
        evaluation: every filter's verdicts.
    """

    pod: Pod
    handle: Handle
    constraints: tuple[Constraint, ...]
    spread: SpreadDiagnosis
    evaluation: Evaluation

    @property
    def own(self) -> bool:
        """Whether the constraints are the Pod's own, not the cluster's defaults."""
        return bool(self.pod.spec.topology_spread_constraints)

    def each(self) -> Iterator[tuple[Constraint, ConstraintReport]]:
        """Yield each constraint with its report."""
        yield from zip(self.constraints, self.spread.constraints, strict=True)


Rule: TypeAlias = Callable[[Subject], Iterable[Finding]]


def of_pod(pod: Pod, handle: Handle, spread: SpreadDiagnosis, evaluation: Evaluation) -> tuple[Finding, ...]:
    """Return the findings of one Pod, worst first."""
    subject = _subject(pod, handle, spread, evaluation)
    found = [finding for rule in (*WARNING_RULES, *INFORMING_RULES) for finding in rule(subject)]
    return tuple(sorted(found, key=lambda finding: tuple(Severity).index(finding.severity)))


def warnings_of(pod: Pod, handle: Handle, spread: SpreadDiagnosis, evaluation: Evaluation) -> Iterator[Finding]:
    """Yield those of the findings that are no mere information."""
    subject = _subject(pod, handle, spread, evaluation)
    for rule in WARNING_RULES:
        yield from rule(subject)


def _subject(pod: Pod, handle: Handle, spread: SpreadDiagnosis, evaluation: Evaluation) -> Subject:
    """Return the Pod with all that was found out about it."""
    return Subject(pod, handle, podtopologyspread.parsable_constraints(pod, handle), spread, evaluation)


def from_living(paths: Sequence[str]) -> tuple[Finding, ...]:
    """Return the finding of a Pod of which so much was taken from living ones; none where nothing was."""
    if not paths:
        return ()
    message = (
        f"its living Pods carry {enumerated(paths)} beyond the template, as a webhook or a policy writes it:"
        " the next Pod is judged with the same."
    )
    return (_info("InjectedFields", paths[0], message),)


def pod_security(namespace: str, snapshot: Snapshot) -> tuple[Finding, ...]:
    """Return the finding of a namespace that enforces a Pod Security Standard; none where it enforces nothing.

    Source: pod-security-admission api/constants.go (v1.36).
    """
    found = snapshot.get(Namespace, "", namespace)
    level = found.metadata.labels.get(_ENFORCED, "") if found else ""
    if level in {"", _PRIVILEGED}:
        return ()
    message = (
        f"the namespace {namespace} enforces the Pod Security Standard {level}, which is not checked: Pods that break"
        " it are not created. --dry-run=server lets the API server judge."
    )
    return (_info("PodSecurityNotChecked", "metadata.namespace", message),)


def path_of(index: int, field: str = "") -> str:
    """Return the path of a constraint, or of one of its fields."""
    return f"spec.topologySpreadConstraints[{index}]" + (f".{field}" if field else "")


def _ghost_pod(subject: Subject) -> Iterable[Finding]:
    for constraint in subject.constraints:
        if is_ghost(subject.pod, constraint):
            yield _warning(
                "GhostPod",
                path_of(constraint.index, "labelSelector"),
                f"the labelSelector {constraint.selector} does not match {subject.pod.metadata.name} itself: Pods"
                " like it are not counted, however many lie in one domain. Make it match the Pod's own labels.",
            )


def _nil_selector(subject: Subject) -> Iterable[Finding]:
    for constraint in subject.constraints:
        if constraint.selector.nothing:
            yield _warning(
                "NilSelector",
                path_of(constraint.index, "labelSelector"),
                "there is no labelSelector, so the constraint counts no Pod and balances nothing; it still keeps"
                f" Pods off nodes without {constraint.topology_key}. Set a labelSelector.",
            )


def _empty_selector(subject: Subject) -> Iterable[Finding]:
    counts = subject.handle.profile.does(Behaviour.EMPTY_SELECTOR_COUNTS)
    effect = (
        "counts every Pod of the namespace, whoever owns it"
        if counts
        else "is documented to count every Pod of the namespace, but counts none in this release (kubernetes#116607)"
    )
    for constraint in subject.constraints:
        if constraint.selector.empty:
            yield _warning(
                "EmptySelector",
                path_of(constraint.index, "labelSelector"),
                f"the empty labelSelector {effect}. Select the Pods that are meant.",
            )


def _duplicate_constraint(subject: Subject) -> Iterable[Finding]:
    pairs = Counter((c.topology_key, c.when_unsatisfiable) for c in subject.constraints)
    for (key, when), times in pairs.items():
        if times > 1:
            repeated = [c.index for c in subject.constraints if (c.topology_key, c.when_unsatisfiable) == (key, when)]
            yield _error(
                "DuplicateConstraint",
                path_of(repeated[-1]),
                f"{key} with {when} stands {times} times; the API server refuses that. Keep one of them.",
            )


def _missing_topology_key(subject: Subject) -> Iterable[Finding]:
    for constraint, report in subject.each():
        lacking = sorted(subject.handle.index.lacking(constraint.topology_key))
        if not constraint.hard or not lacking:
            continue
        if report.domains:
            severity = Severity.WARNING
            message = (
                f"{_some(lacking)} {_lack(lacking)} the label {constraint.topology_key} and can take no Pod with this"
            )
            message += f" constraint. Label {_them(lacking)}, or keep the Pod to labelled nodes."
        else:
            severity = Severity.ERROR
            message = f"no node carries the label {constraint.topology_key}: no Pod with this constraint can be"
            message += " scheduled. Correct the topologyKey, or label the nodes."
        path = path_of(constraint.index, "topologyKey")
        yield Finding(id="MissingTopologyKey", severity=severity, path=path, message=message)


def _similar_topology_key(subject: Subject) -> Iterable[Finding]:
    used = {constraint.topology_key for constraint in subject.constraints}
    for constraint in subject.constraints:
        key, meant = constraint.topology_key, dict[str, list[str]]()
        for name in sorted(subject.handle.index.lacking(key)) if constraint.hard else ():
            for similar in similar_keys(key, subject.handle.node_infos[name].labels, used):
                meant.setdefault(similar, []).append(name)
        for similar, names in meant.items():
            yield _warning(
                "SimilarTopologyKey",
                path_of(constraint.index, "topologyKey"),
                f"{_some(names)} {_lack(names)} {key} but {_has(names)} {similar}. If that is what is meant, correct"
                " the topologyKey or the nodes' labels.",
            )


def _min_domains_unreachable(subject: Subject) -> Iterable[Finding]:
    for constraint, report in subject.each():
        eligible = [domain.value for domain in report.domains if domain.eligible]
        if constraint.hard and len(eligible) < constraint.min_domains and constraint.min_domains > 1:
            yield _warning(
                "MinDomainsUnreachable",
                path_of(constraint.index, "minDomains"),
                f"minDomains asks for {constraint.min_domains} domains of {constraint.topology_key} and there are"
                f" {len(eligible)} ({_some(eligible)}): until there are more, the minimum counts as 0 and no domain may"
                f" hold more than {constraint.max_skew}. Add a node in another domain, or lower minDomains.",
            )


def _pinned_minimum(subject: Subject) -> Iterable[Finding]:
    for report in subject.spread.constraints:
        minimum = frozenset(report.minimum_domains)
        held = [domain for domain in report.domains if domain.eligible and domain.value in minimum]
        rejects = any(domain.eligible and not domain.allowed for domain in report.domains)
        pins = [pin for domain in held for pin in domain.pinned_by]
        pinned = all(domain.pinned for domain in held) and all(pin.requirement.kind == "filter" for pin in pins)
        if held and rejects and pinned:
            shown = _some([f"{pin.node} ({pin.detail or reasons.name_of(pin.requirement)})" for pin in pins])
            yield _error(
                "PinnedMinimum",
                path_of(report.index),
                f"the minimum ({report.global_minimum}) is held by {_some([d.value for d in held])}, where this Pod"
                f" cannot go: {shown}. Until that changes, every other domain stops at"
                f" {report.global_minimum + report.max_skew}.",
            )


def _uncounted_nodes(subject: Subject) -> Iterable[Finding]:
    for report in subject.spread.constraints:
        names = [node.name for node in report.bypassed_nodes if node.matching]
        if names:
            uncounted = sum(node.matching for node in report.bypassed_nodes)
            yield _info(
                "UncountedNodes",
                path_of(report.index),
                f"{_pods(uncounted)} on {_some(names)} would match but {'is' if uncounted == 1 else 'are'} not counted:"
                f" {'the node lacks' if len(names) == 1 else 'the nodes lack'} a topology key, or the constraint's"
                " policies leave them out.",
            )


def _single_domain(subject: Subject) -> Iterable[Finding]:
    for constraint, report in subject.each():
        eligible = [domain.value for domain in report.domains if domain.eligible]
        if len(eligible) == 1 and constraint.min_domains <= 1 and subject.own:
            # A daemon's affinity is its controller's: it names the one node.
            owner = subject.pod.metadata.controller
            of_daemon = owner is not None and owner.kind == DAEMON_SET.name
            node = pinned_node(subject.pod) if of_daemon and constraint.honors_affinity else ""
            remedy = f"It may go to {node} alone: drop the constraint" if node else _TO_SPREAD
            yield _warning(
                "SingleDomain",
                path_of(constraint.index, "topologyKey"),
                f"{constraint.topology_key} has only one domain this Pod counts ({_some(eligible)}), so the skew is"
                f" always 0 and nothing is spread. {remedy}.",
            )


def _rollout_mixes_revisions(subject: Subject) -> Iterable[Finding]:
    pod, snapshot = subject.pod, subject.handle.snapshot
    revision, owner = revision_of(pod), owner_of(pod, snapshot)
    for constraint in subject.constraints:
        if not revision or not constraint.selector.matches(pod.metadata.labels):
            continue
        others = [
            other.metadata.name
            for other in podtopologyspread.counted_pods(constraint, pod, subject.handle)
            if revision_of(other) not in {"", revision} and owner_of(other, snapshot) == owner
        ]
        if others:
            label = next(label for label, value in pod.metadata.labels.items() if value == revision)
            yield _warning(
                "RolloutMixesRevisions",
                path_of(constraint.index, "matchLabelKeys"),
                f"{_pods(len(others))} of other revisions of {owner} {_are(others)} counted ({_some(others)}): during a"
                f" rollout the new Pods must fit around the old ones. matchLabelKeys: [{label}] counts each revision"
                " alone.",
            )


def _match_label_key_absent(subject: Subject) -> Iterable[Finding]:
    for index, constraint in enumerate(subject.pod.spec.topology_spread_constraints):
        absent = [key for key in constraint.match_label_keys if key not in subject.pod.metadata.labels]
        if absent:
            yield _warning(
                "MatchLabelKeyAbsent",
                path_of(index, "matchLabelKeys"),
                f"the Pod has no label {_some(absent)}, so matchLabelKeys does nothing there. Label the Pod, or drop"
                " the key.",
            )


def _terminating_pods(subject: Subject) -> Iterable[Finding]:
    namespace = subject.pod.metadata.namespace
    for constraint in subject.constraints:
        matching = subject.handle.snapshot.matching_pods(namespace, constraint.selector)
        names = sorted(pod.metadata.name for pod in matching if pod.terminating)
        if names:
            yield _info(
                "TerminatingPods",
                path_of(constraint.index),
                f"{_some(names)} {_are(names)} being deleted and no longer counted; until then the room stays taken.",
            )


def _other_scheduler(subject: Subject) -> Iterable[Finding]:
    name = subject.pod.spec.scheduler_name
    if not subject.handle.profile.serves(subject.pod):
        yield _info(
            "OtherScheduler",
            "spec.schedulerName",
            f"{name} decides about this Pod; what is said here is what kube-scheduler's filters would do.",
        )


def _default_constraints(subject: Subject) -> Iterable[Finding]:
    if not subject.own and subject.constraints:
        which = "built-in" if subject.handle.profile.system_defaulted else "configured"
        keys = _some([f"{c.topology_key} ({c.when_unsatisfiable})" for c in subject.constraints])
        yield _info(
            "DefaultConstraints",
            "spec.topologySpreadConstraints",
            f"the Pod has no constraints of its own, so the cluster's {which} defaults apply: {keys}.",
        )


def _uneven_soft(subject: Subject) -> list[ConstraintReport]:
    """Return the soft constraints whose skew exceeds what they prefer."""
    return [report for c, report in subject.each() if not c.hard and report.skew > report.max_skew]


def _soft_constraint_is_preference(subject: Subject) -> Iterable[Finding]:
    for report in _uneven_soft(subject):
        yield _info(
            "SoftConstraintIsPreference",
            path_of(report.index, "whenUnsatisfiable"),
            f"the skew over {report.topology_key} is {report.skew}, maxSkew {report.max_skew}: ScheduleAnyway only"
            " prefers nodes, and maxSkew is no limit there. DoNotSchedule would be one.",
        )


def _autoscaler_blind(subject: Subject) -> Iterable[Finding]:
    if not subject.own or any(constraint.hard for constraint in subject.constraints):
        return
    feasible = set(subject.evaluation.feasible)
    for report in _uneven_soft(subject):
        closed = [d.value for d in report.domains if d.eligible and not feasible & set(d.nodes)]
        if closed:
            yield _info(
                "AutoscalerBlind",
                path_of(report.index, "whenUnsatisfiable"),
                f"no node of {_some(closed)} can take the Pod, and with soft constraints alone it goes elsewhere"
                " instead of staying Pending, so no autoscaler adds a node there.",
            )


def _deprecated_topology_key(subject: Subject) -> Iterable[Finding]:
    for constraint in subject.constraints:
        if constraint.topology_key.startswith(DEPRECATED_PREFIXES):
            yield _warning(
                "DeprecatedTopologyKey",
                path_of(constraint.index, "topologyKey"),
                f"{constraint.topology_key} is deprecated and new nodes may lack it."
                f" Use"
                f" {SUCCESSORS.get(constraint.topology_key, 'the topology.kubernetes.io or kubernetes.io label')}.",
            )


def _stale_event(subject: Subject) -> Iterable[Finding]:
    condition = next((c for c in subject.pod.status.conditions if c.type == "PodScheduled"), None)
    stale = condition is not None and condition.reason == "Unschedulable" and subject.evaluation.feasible
    if stale and not _is_chosen(subject):
        yield _info(
            "StaleEvent",
            "status.conditions",
            "the Pod's condition still says it cannot be scheduled, but now it can: the scheduler has not tried"
            " again since the cluster changed, or is backing off.",
        )


def _is_chosen(subject: Subject) -> bool:
    """Whether the scheduler has chosen a node since, and waits for volumes."""
    from kubectl_spread.diagnosis.preemption import awaited

    return bool(awaited(subject.evaluation, subject.handle))


WARNING_RULES: Sequence[Rule] = (
    _duplicate_constraint,
    _missing_topology_key,
    _pinned_minimum,
    _ghost_pod,
    _nil_selector,
    _empty_selector,
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
    _other_scheduler,
    _default_constraints,
    _soft_constraint_is_preference,
    _autoscaler_blind,
    _stale_event,
)


def _error(finding: str, path: str, message: str) -> Finding:
    return Finding(id=finding, severity=Severity.ERROR, path=path, message=message)


def _warning(finding: str, path: str, message: str) -> Finding:
    return Finding(id=finding, severity=Severity.WARNING, path=path, message=message)


def _info(finding: str, path: str, message: str) -> Finding:
    return Finding(id=finding, severity=Severity.INFO, path=path, message=message)


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _lack(names: Sequence[str]) -> str:
    return "lacks" if len(names) == 1 else "lack"


def _has(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"

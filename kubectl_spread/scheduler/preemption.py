"""Which Pods the scheduler would preempt for a Pod: its dry run of preemption.

On each node where the removal of Pods may help, all Pods of a lower priority are removed. If the Pod then fits, as many
of them as possible are put back: those that a PodDisruptionBudget protects first, then the most important ones. The
others are the victims.

Source: kube-scheduler framework/preemption/preemption.go, defaultpreemption/default_preemption.go (v1.36). Not
modelled: PodGroups (v1.37, alpha), extenders, Pods that wait in Permit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from kubectl_spread.labels import Selector
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.policy import PodDisruptionBudget
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Code, Handle
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.prefilter_extensions import NodeCycleState, nominated_before, priority_of
from kubectl_spread.scheduler.profile import Behaviour

NEVER = "Never"
MIN_CANDIDATE_NODES = 100
# The scheduler picks the best of at least so many candidates. Source: apis/config/v1/defaults.go (v1.36).
MIN_CANDIDATE_NODES_PERCENTAGE = 10
BY_SCHEDULER = "PreemptionByScheduler"
# The condition of an evicted Pod. Source: also pkg/registry/core/pod/storage/eviction.go (v1.36).
DISRUPTION_TARGET = "DisruptionTarget"
NOT_STARTED = "~"  # Sorts after every time (RFC 3339 in UTC): a Pod without a start time counts as starting now


class Candidate(msgspec.Struct, frozen=True):
    """A node on which the Pod fits after preemption."""

    node_name: str
    victims: tuple[Pod, ...]  # the Pods to preempt, the most important first
    protected: tuple[Pod, ...]  # those of them that a PodDisruptionBudget protects

    @property
    def violations(self) -> int:
        """How many victims a PodDisruptionBudget protects (count)."""
        return len(self.protected)

    @property
    def deletions(self) -> Candidate:
        """The same without the victims that are being deleted already: the scheduler deletes the others.

        Source: framework/preemption/executor.go prepareCandidate (v1.36).
        """
        victims, protected = (
            tuple(pod for pod in pods if not pod.terminating) for pods in (self.victims, self.protected)
        )
        return Candidate(self.node_name, victims, protected)


class Preemption(msgspec.Struct, frozen=True):
    """The result of the dry run."""

    best: tuple[Candidate, ...]  # the equally good candidates from which the scheduler picks one, by node's name
    others: tuple[Candidate, ...]  # the other candidates, by node's name
    sampled: bool  # whether the scheduler tries only some of the nodes, from a random start; then others may be chosen


def preempt(evaluation: Evaluation, handle: Handle) -> Preemption | None:
    """Return which Pods the scheduler would preempt for a Pod that fits nowhere, None if it preempts none."""
    pod = evaluation.pod
    if pod.spec.preemption_policy == NEVER or not handle.profile.preempts or _waits_for_victims(evaluation, handle):
        return None
    potential = _potential_nodes(evaluation, handle)
    wanted = max(len(potential) * MIN_CANDIDATE_NODES_PERCENTAGE // 100, MIN_CANDIDATE_NODES)
    budgets, nominated = Budgets.of(handle), nominated_before(pod, handle)
    candidates: list[Candidate] = []
    for info in (each for each in potential if each.lowest_priority < priority_of(pod)):
        search = VictimSearch(pod, nominated.get(info.name, ()), budgets)
        found = search.on(NodeCycleState(info, evaluation.filters))
        candidates += [found] if found else []
        # The scheduler goes on until one violates no budget.
        if len(candidates) >= wanted and any(not each.violations for each in candidates):
            break
    if not candidates:
        return None
    best = _pick_best(candidates)
    chosen = {candidate.node_name for candidate in best}
    others = tuple(candidate for candidate in candidates if candidate.node_name not in chosen)
    return Preemption(tuple(best), others, sampled=len(potential) > wanted)


def _waits_for_victims(evaluation: Evaluation, handle: Handle) -> bool:
    """Source: defaultpreemption/default_preemption.go PodEligibleToPreemptOthers (v1.36)."""
    verdict = evaluation.nodes.get(evaluation.pod.status.nominated_node_name)
    if verdict is None or verdict.first is None:
        return False
    hopeless = verdict.first.status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    return not hopeless and bool(leaving(evaluation.pod, handle.node_infos))


def _potential_nodes(evaluation: Evaluation, handle: Handle) -> list[NodeInfo]:
    """Return the nodes where preemption may help; none if the Pod fits somewhere or the cycle ended with an error."""
    first = {name: verdict.first for name, verdict in evaluation.nodes.items()}
    codes = {rejection.status.code if rejection else Code.SUCCESS for rejection in first.values()}
    if evaluation.pre_filter is not None or codes & {Code.SUCCESS, Code.ERROR}:
        return []
    names = (name for name, rejection in first.items() if rejection and rejection.status.code is Code.UNSCHEDULABLE)
    return [handle.node_infos[name] for name in names]


class VictimSearch(msgspec.Struct, frozen=True):
    """The search for the fewest victims on a node; ``nominated``: the Pods nominated to it that go before the Pod."""

    pod: Pod
    nominated: Sequence[Pod]
    budgets: Budgets

    def on(self, node: NodeCycleState) -> Candidate | None:
        """Return the victims on the node, None if the Pod does not fit even without all lower Pods.

        Source: defaultpreemption/default_preemption.go SelectVictimsOnNode (v1.36).
        """
        lower = [other for other in node.node_info.pods if priority_of(other) < priority_of(self.pod)]
        node = node.changed(lower, -1)
        if not lower or node.verdict(self.nominated).rejected:
            return None
        lower.sort(key=importance)
        violating = self.budgets.violated_by(lower)
        protected = [other for other in lower if other.key in violating]
        node, sacrificed = self._put_back(protected, node)
        node, unprotected = self._put_back([other for other in lower if other.key not in violating], node)
        # The most important victim decides when nodes are compared.
        victims = tuple(sorted((*sacrificed, *unprotected), key=importance))
        return Candidate(node.node_info.name, victims, tuple(sacrificed)) if victims else None

    def _put_back(self, pods: Iterable[Pod], node: NodeCycleState) -> tuple[NodeCycleState, list[Pod]]:
        victims = []
        for pod in pods:
            with_pod = node.changed([pod], 1)
            if with_pod.verdict(self.nominated).rejected:
                victims.append(pod)
            else:
                node = with_pod
        return node, victims


def importance(pod: Pod) -> tuple[int, str]:
    """Return the sort key of Pods, the most important first: a higher priority, an earlier start.

    Source: util/utils.go MoreImportantPod (v1.36).
    """
    return -priority_of(pod), pod.status.start_time or NOT_STARTED


class Budgets(msgspec.Struct, frozen=True):
    """The PodDisruptionBudgets with a selector."""

    selected: tuple[tuple[PodDisruptionBudget, Selector], ...]
    first_decides: bool  # whether a Pod that violates one budget is not counted in further ones

    @classmethod
    def of(cls, handle: Handle) -> Budgets:
        """Return the budgets of the cluster."""
        budgets = ((budget, budget.selector) for budget in handle.snapshot.all(PodDisruptionBudget))
        return cls(
            # upstream: here an empty selector protects no Pods, but for the disruption controller it protects all.
            selected=tuple((budget, selector) for budget, selector in budgets if not selector.empty),
            first_decides=handle.profile.does(Behaviour.FIRST_BUDGET_DECIDES),
        )

    def violated_by(self, evicted: Iterable[Pod]) -> set[tuple[str, str]]:
        """Return the keys of the Pods whose eviction violates a budget, if all are evicted in this order.

        Source: defaultpreemption/default_preemption.go filterPodsWithPDBViolation (v1.36).
        """
        allowed = [budget.status.disruptions_allowed for budget, _ in self.selected]
        violating = set()
        for pod in evicted:
            for index, (budget, selector) in enumerate(self.selected):
                # upstream: a Pod without labels is in no budget, though NotIn and DoesNotExist would match it.
                selects = bool(pod.metadata.labels) and selector.matches(pod.metadata.labels)
                same_namespace = budget.metadata.namespace == pod.metadata.namespace
                if not (selects and same_namespace) or pod.metadata.name in budget.status.disrupted_pods:
                    continue
                # disruptionsAllowed minus the evictions before: below zero the budget is violated.
                allowed[index] -= 1
                if allowed[index] < 0:
                    violating.add(pod.key)
                    if self.first_decides:
                        break
        return violating


def _pick_best(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Source: framework/preemption/preemption.go pickOneNodeForPreemption (v1.36)."""
    left = list(candidates)
    for cost in _COSTS:
        least = min(map(cost, left))
        left = [candidate for candidate in left if cost(candidate) == least]
    latest = max(map(_earliest_start, left))
    return [candidate for candidate in left if _earliest_start(candidate) == latest]


_MAX_INT32 = 2**31 - 1
# What the scheduler minimises, in this order; of equal nodes it picks the one whose important victims started last.
_COSTS: Sequence[Callable[[Candidate], int]] = (
    lambda candidate: candidate.violations,
    # The first victim has the highest priority.
    lambda candidate: priority_of(candidate.victims[0]),
    # Without the offset many Pods of a negative priority would cost less than few.
    lambda candidate: sum(priority_of(victim) + _MAX_INT32 + 1 for victim in candidate.victims),
    lambda candidate: len(candidate.victims),
)


def _earliest_start(candidate: Candidate) -> str:
    """Return when the first of the victims with the highest priority started."""
    return min(importance(victim) for victim in candidate.victims)[1]


def leaving(pod: Pod, nodes: Mapping[str, NodeInfo]) -> tuple[Pod, ...]:
    """Return the victims of the Pod that still terminate on the node that it is nominated to.

    Source: defaultpreemption/default_preemption.go PodEligibleToPreemptOthers, podTerminatingByPreemption (v1.36).
    """
    node = nodes.get(pod.status.nominated_node_name)
    on_node = node.pods if node else ()
    return tuple(other for other in on_node if priority_of(other) < priority_of(pod) and _is_victim(other))


def _is_victim(pod: Pod) -> bool:
    target = next((condition for condition in pod.status.conditions if condition.type == DISRUPTION_TARGET), None)
    return pod.terminating and target is not None and (target.status, target.reason) == ("True", BY_SCHEDULER)

"""Whom the scheduler would evict to make room for a Pod: its dry run of preemption.

A node is looked at when only Pods may be in the way. All Pods of a lower priority are taken off it; where the Pod then
fits, each of them that can stay beside it is put back, those that a PodDisruptionBudget protects and the most important
ones first. What is left are the victims.

Source: kube-scheduler framework/preemption/preemption.go, defaultpreemption/default_preemption.go (v1.36). Not
modelled: PodGroups (v1.37, alpha), extenders, Pods that wait in Permit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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
MIN_CANDIDATE_NODES_PERCENTAGE = 10
"""Of how many candidates the scheduler takes the best. Source: apis/config/v1/defaults.go (v1.36)."""
BY_SCHEDULER = "PreemptionByScheduler"
DISRUPTION_TARGET = "DisruptionTarget"
NOT_STARTED = "~"
"""Sorts behind every time: a Pod without a start time counts as starting now."""


class Candidate(msgspec.Struct, frozen=True):
    """A node that evictions would open.

    Attributes:
        victims: the Pods to evict, the most important first.
        violations: how many of them a PodDisruptionBudget protects.
    """

    node_name: str
    victims: tuple[Pod, ...]
    violations: int


class Preemption(msgspec.Struct, frozen=True):
    """What the scheduler would do.

    Attributes:
        best: the candidates it would choose among, equally good, by node's name.
        others: the candidates it would not choose, by node's name.
        sampled: whether it tries only some of the nodes, starting anywhere; then others may be chosen.
    """

    best: tuple[Candidate, ...]
    others: tuple[Candidate, ...]
    sampled: bool


def preempt(evaluation: Evaluation, handle: Handle) -> Preemption | None:
    """Return whom the scheduler would evict for a Pod that fits nowhere, None where it would evict nobody.

    Source: framework/preemption/preemption.go Preempt, DryRunPreemption (v1.36).
    """
    if evaluation.pod.spec.preemption_policy == NEVER or not handle.profile.preempts:
        return None
    # Room that is being made must not be made twice.
    if _waits(evaluation, handle):
        return None
    potential = _potential_nodes(evaluation, handle)
    # A tenth of the nodes, but at least 100: among so many a good enough one is found.
    wanted = max(len(potential) * MIN_CANDIDATE_NODES_PERCENTAGE // 100, MIN_CANDIDATE_NODES)
    found = _first(wanted, _candidates(evaluation, potential, handle))
    if not found:
        return None
    best = _best(found)
    chosen = {candidate.node_name for candidate in best}
    others = tuple(candidate for candidate in found if candidate.node_name not in chosen)
    return Preemption(tuple(best), others, sampled=len(potential) > wanted)


def _waits(evaluation: Evaluation, handle: Handle) -> bool:
    """Whether Pods are leaving already for this one, on a node that they can open.

    Source: defaultpreemption/default_preemption.go PodEligibleToPreemptOthers (v1.36).
    """
    verdict = evaluation.nodes.get(evaluation.pod.status.nominated_node_name)
    if verdict is None or verdict.first is None:
        return False
    # Where evictions cannot open the nominated node after all, there is nothing to wait for.
    hopeless = verdict.first.status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    return not hopeless and bool(leaving(evaluation.pod, handle.node_infos))


def _potential_nodes(evaluation: Evaluation, handle: Handle) -> list[NodeInfo]:
    """Return the nodes on which only Pods are in the way; none where the Pod fits somewhere or cannot be judged."""
    first = {name: verdict.first for name, verdict in evaluation.nodes.items()}
    # Preemption runs only where the cycle ended with verdicts on nodes, not with an error.
    codes = {rejection.status.code if rejection else Code.SUCCESS for rejection in first.values()}
    if evaluation.pre_filter is not None or codes & {Code.SUCCESS, Code.ERROR}:
        return []
    may_open = (name for name, rejection in first.items() if rejection and rejection.status.code is Code.UNSCHEDULABLE)
    return [handle.node_infos[name] for name in may_open]


def _first(wanted: int, candidates: Iterator[Candidate]) -> list[Candidate]:
    found: list[Candidate] = []
    for candidate in candidates:
        found.append(candidate)
        # One that breaks no budget must be among them, if there is any.
        if len(found) >= wanted and any(not each.violations for each in found):
            break
    return found


def _candidates(evaluation: Evaluation, potential: Iterable[NodeInfo], handle: Handle) -> Iterator[Candidate]:
    pod = evaluation.pod
    budgets, nominated = Budgets.of(handle), nominated_before(pod, handle)
    for info in potential:
        # Only Pods of a lower priority may go.
        if info.lowest_priority < priority_of(pod):
            search = VictimSearch(pod, nominated.get(info.name, ()), budgets)
            candidate = search.on(NodeCycleState(info, evaluation.filters))
            if candidate is not None:
                yield candidate


class VictimSearch(msgspec.Struct, frozen=True):
    """The search for the fewest Pods to evict from a node.

    Attributes:
        nominated: the Pods nominated to the node that go before it.
    """

    pod: Pod
    nominated: Sequence[Pod]
    budgets: Budgets

    def on(self, node: NodeCycleState) -> Candidate | None:
        """Return the victims on the node, None where their eviction does not open it.

        Source: defaultpreemption/default_preemption.go SelectVictimsOnNode (v1.36).
        """
        lower = [other for other in node.node_info.pods if priority_of(other) < priority_of(self.pod)]
        # All lower Pods away first: if the Pod does not fit even then, no choice of victims helps.
        node = node.without_pods(lower)
        if not lower or node.verdict(self.nominated).rejected:
            return None
        lower.sort(key=importance)
        # Put back as many as fit, those that a budget protects first, the most important first.
        violating = self.budgets.violated_by(lower)
        protected = [other for other in lower if other.key in violating]
        node, sacrificed = self._put_back(protected, node)
        node, spent = self._put_back([other for other in lower if other.key not in violating], node)
        # The first of them stands for the node when nodes are compared.
        victims = tuple(sorted((*sacrificed, *spent), key=importance))
        return Candidate(node.node_info.name, victims, len(sacrificed)) if victims else None

    def _put_back(self, pods: Iterable[Pod], node: NodeCycleState) -> tuple[NodeCycleState, list[Pod]]:
        victims = []
        for pod in pods:
            tried = node.with_pods([pod])
            if tried.verdict(self.nominated).rejected:
                victims.append(pod)
            else:
                node = tried
        return node, victims


def importance(pod: Pod) -> tuple[int, str]:
    """Return what Pods sort by, the most important first: a higher priority, an earlier start.

    Source: util/utils.go MoreImportantPod (v1.36).
    """
    return -priority_of(pod), start_of(pod)


def start_of(pod: Pod) -> str:
    """Return when the Pod started: RFC 3339 in UTC, which sorts as text."""
    return pod.status.start_time or NOT_STARTED


class Budgets(msgspec.Struct, frozen=True):
    """The PodDisruptionBudgets that select something.

    Attributes:
        first_decides: whether a Pod that breaks one budget counts against no further one.
    """

    selected: tuple[tuple[PodDisruptionBudget, Selector], ...]
    first_decides: bool

    @classmethod
    def of(cls, handle: Handle) -> Budgets:
        """Return those of the cluster."""
        # A selector that cannot be read selects nobody.
        found = ((budget, budget.selector) for budget in handle.snapshot.all(PodDisruptionBudget))
        return cls(
            # upstream: an empty selector protects nobody here, though the disruption controller takes it for all Pods.
            selected=tuple((budget, selector) for budget, selector in found if not selector.empty),
            first_decides=handle.profile.does(Behaviour.FIRST_BUDGET_DECIDES),
        )

    def violated_by(self, evicted: Iterable[Pod]) -> set[tuple[str, str]]:
        """Return the Pods whose eviction breaks a budget, where these are evicted one after another.

        Source: defaultpreemption/default_preemption.go filterPodsWithPDBViolation (v1.36).
        """
        allowed = [budget.status.disruptions_allowed for budget, _ in self.selected]
        violating = set()
        # The Pods come with the most important first: it is they who use up what a budget allows.
        for pod in evicted:
            for index in self._of(pod):
                # disruptionsAllowed, less those that came before: below zero the budget is broken.
                allowed[index] -= 1
                if allowed[index] < 0:
                    violating.add(pod.key)
                    if self.first_decides:
                        break
        return violating

    def _of(self, pod: Pod) -> Iterator[int]:
        """Yield which budgets the Pod's eviction counts against; one that is going already counts no more."""
        for index, (budget, selector) in enumerate(self.selected):
            # upstream: a Pod without labels is in no budget, though NotIn and DoesNotExist would select it.
            selects = bool(pod.metadata.labels) and selector.matches(pod.metadata.labels)
            going = pod.metadata.name in budget.status.disrupted_pods
            if selects and not going and budget.metadata.namespace == pod.metadata.namespace:
                yield index


def _best(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that no criterion puts behind another one.

    Source: framework/preemption/preemption.go pickOneNodeForPreemption (v1.36).
    """
    left = list(candidates)
    for cost in _COSTS:
        least = min(map(cost, left))
        left = [candidate for candidate in left if cost(candidate) == least]
    # Among nodes that cost the same, the one whose victims have the least to lose.
    latest = max(map(_start, left))
    return [candidate for candidate in left if _start(candidate) == latest]


_MAX_INT32 = 2**31 - 1


_COSTS: Sequence[Callable[[Candidate], int]] = (
    # A budget is broken only where no node can be opened without.
    lambda candidate: candidate.violations,
    # The first is the most important: rather ten unimportant Pods than one that matters.
    lambda candidate: priority_of(candidate.victims[0]),
    # Else many Pods of a negative priority would cost less than few.
    lambda candidate: sum(priority_of(victim) + _MAX_INT32 + 1 for victim in candidate.victims),
    lambda candidate: len(candidate.victims),
)
"""What the scheduler minimises, in this order; among equals it takes the node whose important victims started last."""


def _start(candidate: Candidate) -> str:
    """Return when the first of the most important victims started."""
    # Of the most important victims alone, and the one that has run longest: what it has done would be lost.
    highest = priority_of(candidate.victims[0])
    return min(start_of(victim) for victim in candidate.victims if priority_of(victim) == highest)


def leaving(pod: Pod, nodes: Mapping[str, NodeInfo]) -> tuple[Pod, ...]:
    """Return the Pods that are being evicted for this one from the node it is nominated to.

    Source: defaultpreemption/default_preemption.go PodEligibleToPreemptOthers, podTerminatingByPreemption (v1.36).
    """
    node = nodes.get(pod.status.nominated_node_name)
    on_node = node.pods if node else ()
    return tuple(other for other in on_node if priority_of(other) < priority_of(pod) and _is_evicted(other))


def _is_evicted(pod: Pod) -> bool:
    """Whether it terminates because the scheduler preempted it."""
    target = next((condition for condition in pod.status.conditions if condition.type == DISRUPTION_TARGET), None)
    return pod.terminating and target is not None and (target.status, target.reason) == ("True", BY_SCHEDULER)

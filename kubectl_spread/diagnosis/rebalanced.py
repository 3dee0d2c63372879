"""A plan as it is reported: each eviction with its command, each constraint with what comes of it and why no more."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from urllib.parse import quote

from msgspec.structs import replace

from kubectl_spread.controllers.workloads import owner_of
from kubectl_spread.diagnosis.evaluation import judge
from kubectl_spread.diagnosis.fixes.shell import kubectl
from kubectl_spread.diagnosis.summary import named
from kubectl_spread.objects.core import Pod
from kubectl_spread.rebalance.plan import Outcome, Plan
from kubectl_spread.rebalance.search import Ended
from kubectl_spread.rebalance.waves import waves
from kubectl_spread.report import PlannedEviction, RebalancedConstraint, RebalanceItem, RebalanceVerdict
from kubectl_spread.scheduler import cycle
from kubectl_spread.snapshot import Snapshot


def evictions(plan: Plan, snapshot: Snapshot) -> Iterator[PlannedEviction]:
    """Yield the evictions of a plan, in order.

    Args:
        plan: the plan.
        snapshot: the cluster before.
    """
    numbers = waves((each.movable.pod for each in plan.evictions), snapshot)
    for order, (wave, each) in enumerate(zip(numbers, plan.evictions, strict=True), start=1):
        pod = each.movable.pod
        yield PlannedEviction(
            order=order,
            wave=wave,
            namespace=pod.metadata.namespace,
            pod=pod.metadata.name,
            node=pod.spec.node_name,
            workload=owner_of(pod, snapshot),
            lands=each.lands,
            command=command(pod),
        )


def command(pod: Pod) -> str:
    """Return what evicts the Pod through the Eviction API, so that budgets hold when it is run.

    Source: kubernetes.io/docs/concepts/scheduling-eviction/api-eviction.
    """
    namespace, name = pod.key
    metadata = {"name": name, "namespace": namespace}
    body = json.dumps({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}, separators=(",", ":"))
    path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(name, safe='')}/eviction"
    return f"echo {shlex.quote(body)} | {kubectl('create', flags=('--raw', path, '-f', '-'))}"


def items(plan: Plan) -> Iterator[RebalanceItem]:
    """Yield what becomes of each constraint."""
    for outcome in plan.outcomes:
        goal, constraint = outcome.goal, outcome.goal.constraint
        yield RebalanceItem(
            namespace=goal.workload.namespace,
            workload=goal.workload.ref,
            verdict=_verdict(outcome),
            reason=why_no_more(outcome) if outcome.skew > constraint.max_skew else "",
            constraint=RebalancedConstraint(
                index=constraint.index,
                topology_key=constraint.topology_key,
                max_skew=constraint.max_skew,
                when_unsatisfiable=constraint.when_unsatisfiable.value,
            ),
            before=dict(zip(goal.domains, goal.start, strict=True)),
            after=dict(zip(goal.domains, outcome.after, strict=True)),
            skew_before=goal.skew(goal.start),
            skew_after=outcome.skew,
        )


def _verdict(outcome: Outcome) -> RebalanceVerdict:
    """Return in a word what becomes of a constraint."""
    goal = outcome.goal
    if outcome.skew <= goal.constraint.max_skew:
        return RebalanceVerdict.PLANNED if goal.is_violated else RebalanceVerdict.BALANCED
    return RebalanceVerdict.PARTIAL if outcome.skew < goal.skew(goal.start) else RebalanceVerdict.IMPOSSIBLE


def why_no_more(outcome: Outcome) -> str:
    """Return why a constraint does not hold in the end, in the words in which why-pending tells of a Pod."""
    if outcome.ended is Ended.EVICTIONS:
        return "more evictions than --max allows would be needed"
    why = _held_back(outcome) or _shut_out(outcome) or "what would help here breaks another constraint"
    return f"{why}; not everything was tried" if outcome.ended is Ended.PLACEMENTS else why


def _held_back(outcome: Outcome) -> str:
    """Return why no Pod of the fullest domains may go; empty where one may, or nothing is to go from there."""
    goal = outcome.goal
    if any(outcome.counted_in_fullest(each.pod) for each in outcome.left):
        return ""
    staying = [(pod, why) for pod, why in outcome.stay if outcome.counted_in_fullest(pod)]
    if not staying:
        return ""
    pod, why = staying[0]
    more = f" and {len(staying) - 1} more stay too" if len(staying) > 1 else ""
    return f"{goal.constraint.topology_key} {named(outcome.fullest)}: {'/'.join(pod.key)} stays, {why}{more}"


def _shut_out(outcome: Outcome) -> str:
    """Return what keeps a Pod that is evicted from the emptiest domains."""
    goal = outcome.goal
    movable = next((each for each in outcome.left if outcome.counted_in_fullest(each.pod)), None)
    if movable is None:
        return ""
    gone = outcome.arrangement.without(movable)
    pod = movable.again.pod
    key = goal.constraint.topology_key
    for domain, nodes in outcome.emptiest.items():
        handle = gone.handle_of(pod)
        there = replace(handle, node_infos={name: handle.node_infos[name] for name in nodes})
        judgement = judge(cycle.evaluate(pod, there), there)
        if judgement.blame is not None:
            return f"{key} {domain} takes no Pod: {judgement.blame.reason}"
    lands = {
        goal.domains[goal.place[name]] for name in cycle.best_of(gone.total_scores(pod), pod) if name in goal.place
    }
    if not lands.isdisjoint(outcome.emptiest):
        return ""
    return f"a Pod evicted from {key} {named(outcome.fullest)} goes to {named(sorted(lands))}, which scores higher"

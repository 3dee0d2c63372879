"""A plan as it is reported: each eviction with its command, each constraint with what comes of it and why no more."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from urllib.parse import quote

from kubectl_spread.contract.fixes import Fix
from kubectl_spread.contract.rebalance import PlannedEviction, RebalancedConstraint, RebalanceItem, RebalanceVerdict
from kubectl_spread.controllers.workloads import owner_of
from kubectl_spread.diagnosis.fixes.shell import kubectl
from kubectl_spread.diagnosis.incomplete import incomplete
from kubectl_spread.diagnosis.openings import why_no_more
from kubectl_spread.objects.core import Pod
from kubectl_spread.rebalance.plan import EvictionPlan, Outcome
from kubectl_spread.rebalance.search import Ended
from kubectl_spread.rebalance.waves import waves
from kubectl_spread.scheduler import cycle
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.incomplete import consequence


def evictions(plan: EvictionPlan, snapshot: Snapshot) -> Iterator[PlannedEviction]:
    """Yield the evictions of a plan, in order.

    Args:
        plan: the plan.
        snapshot: the cluster before.
    """
    numbers = waves(((each.movable.pod, each.lands) for each in plan.evictions), snapshot)
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


def is_left(outcome: Outcome) -> bool:
    """Whether the constraint does not hold in the end."""
    return outcome.skew > outcome.goal.constraint.max_skew


def items(plan: EvictionPlan, fixes_of: Callable[[Outcome], tuple[Fix, ...]]) -> Iterator[RebalanceItem]:
    """Yield what becomes of each constraint.

    Args:
        plan: the plan.
        fixes_of: returns what to fix first; asked of each constraint that is left.
    """
    for outcome in plan.outcomes:
        goal, constraint, unsure = outcome.goal, outcome.goal.constraint, _unsure(outcome)
        yield RebalanceItem(
            namespace=goal.workload.namespace,
            workload=goal.workload.ref,
            verdict=RebalanceVerdict.INCOMPLETE if unsure else _verdict(outcome),
            reason=unsure or why_no_more(outcome),
            fixes=fixes_of(outcome) if is_left(outcome) and not unsure else (),
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


def _unsure(outcome: Outcome) -> str:
    """Return what is not known of where the workload's Pods go; empty where nothing hangs on it."""
    pod, handle = outcome.goal.pod, outcome.arrangement.handles.of(outcome.goal.pod)
    if not outcome.goal.is_violated:
        return ""
    if not handle.profile.serves(pod):
        return f"{pod.spec.scheduler_name} decides about these Pods, and its rules are not known"
    if outcome.ended is Ended.NOT_BEGUN:
        return "it was not looked at, for the plan is long as it is: follow it, then ask again"
    gaps = incomplete(pod, handle, cycle.evaluate(pod, handle)) if outcome.improves else ()
    return consequence(gaps[0]) if gaps else ""


def _verdict(outcome: Outcome) -> RebalanceVerdict:
    """Return in a word what becomes of a constraint."""
    goal = outcome.goal
    if not is_left(outcome):
        return RebalanceVerdict.PLANNED if goal.is_violated else RebalanceVerdict.BALANCED
    return RebalanceVerdict.PARTIAL if outcome.improves else RebalanceVerdict.IMPOSSIBLE

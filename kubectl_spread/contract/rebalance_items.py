"""A plan in the JSON contract: each eviction with its command, each constraint with its outcome and why no more."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote

from msgspec import UNSET

from kubectl_spread.contract.fix_search import OpeningFields
from kubectl_spread.contract.rebalance import PlannedEviction, RebalanceItem
from kubectl_spread.controllers.workloads import owner_of
from kubectl_spread.diagnosis.constraint_state import ChangedConstraint, has_one_domain
from kubectl_spread.diagnosis.fixes.shell import kubectl
from kubectl_spread.diagnosis.remaining_skew import RebalanceVerdict, remaining_skew, unsure_of, verdict_of
from kubectl_spread.diagnosis.statuses import Idle, NoEffect
from kubectl_spread.objects.core import Pod
from kubectl_spread.rebalance.checkpoints import waves
from kubectl_spread.rebalance.plan import EvictionPlan, Outcome
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.rebalance import SATISFIED_SOON, remaining_text, unsure_text
from kubectl_spread.wording.statuses import STATUSES


def evictions(
    plan: EvictionPlan, snapshot: Snapshot, connection_flags: Sequence[str] = ()
) -> Iterator[PlannedEviction]:
    """Yield the evictions of a plan, in order; ``snapshot`` is the cluster before, with its connection flags."""
    numbers = waves(((each.movable.pod, each.movable.again.pod, each.lands) for each in plan.evictions), snapshot)
    for order, (wave, each) in enumerate(zip(numbers, plan.evictions, strict=True), start=1):
        pod = each.movable.pod
        yield PlannedEviction(
            order=order,
            wave=wave,
            namespace=pod.metadata.namespace,
            pod=pod.metadata.name,
            uid=pod.metadata.uid,
            node=pod.spec.node_name,
            workload=owner_of(pod, snapshot),
            lands=each.lands,
            command=command(pod, connection_flags),
        )


def command(pod: Pod, connection_flags: Sequence[str] = ()) -> str:
    """Return the command that evicts this Pod, and no later Pod of its name, by the Eviction API, which checks budgets.

    Source: kubernetes.io/docs/concepts/scheduling-eviction/api-eviction.
    """
    namespace, name = pod.key
    flags = ("--raw", eviction_path(namespace, name), "-f", "-", *connection_flags)
    return f"echo {shlex.quote(eviction_of(namespace, name, pod.metadata.uid))} | {kubectl('create', flags=flags)}"


def eviction_path(namespace: str, name: str) -> str:
    """Return the path to create evictions of a Pod."""
    return f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(name, safe='')}/eviction"


def eviction_of(namespace: str, name: str, uid: str) -> str:
    """Return the Eviction of a Pod as JSON; without a UID, of any Pod with the name."""
    values: dict[str, object] = {"metadata": {"name": name, "namespace": namespace}}
    if uid:
        values["deleteOptions"] = {"preconditions": {"uid": uid}}
    return json.dumps({"apiVersion": "policy/v1", "kind": "Eviction", **values}, separators=(",", ":"))


def items(plan: EvictionPlan, openings_of: Callable[[Outcome], OpeningFields]) -> Iterator[RebalanceItem]:
    """Yield the outcome of each constraint; ``openings_of`` returns what to do first if some is left."""
    for outcome in plan.outcomes:
        goal, constraint, unsure = outcome.goal, outcome.goal.constraint, unsure_of(outcome)
        remaining = None if unsure else remaining_skew(outcome)
        reason = unsure_text(unsure) if unsure else remaining_text(remaining) if remaining else ""
        if not reason and has_one_domain(constraint, len(goal.domains)):
            reason = STATUSES.text(NoEffect(why=Idle.ONE_DOMAIN, topology_key=constraint.topology_key))
        if not reason and goal.waits:
            reason = SATISFIED_SOON
        yield RebalanceItem(
            namespace=goal.workload.namespace,
            workload=goal.workload.ref,
            revision=goal.revision,
            verdict=RebalanceVerdict.INCOMPLETE if unsure else verdict_of(outcome),
            reason=reason,
            **(openings_of(outcome) if remaining else OpeningFields(fixes=(), waits=UNSET)),
            constraint=ChangedConstraint(
                index=constraint.index,
                topology_key=constraint.topology_key,
                max_skew=constraint.max_skew,
                when_unsatisfiable=constraint.when_unsatisfiable.value,
            ),
            before=dict(zip(goal.domains, goal.now, strict=True)),
            after=dict(zip(goal.domains, outcome.after, strict=True)),
            skew_before=goal.skew(goal.now),
            skew_after=outcome.skew,
        )

"""Changes of the Pod after which Karpenter may bring a node for it."""

from collections.abc import Iterator, Sequence
from functools import partial

from kubectl_spread.autoscalers.decision import AutoscalerDecision, Decision, DomainNotOffered, NoDomain
from kubectl_spread.autoscalers.karpenter.provisioner import Scheduler
from kubectl_spread.autoscalers.karpenter.scheduler import solve
from kubectl_spread.diagnosis.fixes.candidate import EditPod
from kubectl_spread.diagnosis.fixes.change import Operations
from kubectl_spread.diagnosis.fixes.choice import ranked
from kubectl_spread.diagnosis.fixes.conclusion import Fix
from kubectl_spread.diagnosis.fixes.constraints import honor_taints, lower_min_domains
from kubectl_spread.diagnosis.fixes.demands import RequireZones
from kubectl_spread.diagnosis.fixes.patch import set_to
from kubectl_spread.diagnosis.fixes.route import routes_of
from kubectl_spread.diagnosis.fixes.search import merge_changes
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.objects.core import Pod, PodTemplateSpec
from kubectl_spread.objects.well_known_labels import HOSTNAME, ZONE
from kubectl_spread.scheduler.podtopologyspread import parsable_constraints


def new_node_fixes(
    situation: Situation, siblings: Sequence[Pod], scheduler: Scheduler, decided: AutoscalerDecision
) -> tuple[Fix, ...]:
    """Return the changes after which Karpenter may bring a node, the safest first.

    ``siblings`` are the Pending Pods of the workload, this one first; ``decided`` is its decision as things are.
    """
    fixes = []
    for candidate in _candidates(situation, decided) if decided.by_constraint else ():
        after = candidate.apply(situation)
        if after.feasible:
            continue
        decision = solve(after.pod, scheduler)
        if decision.decision is not Decision.NEW_NODE or after.errors - situation.errors:
            continue
        fix = Fix(
            proposals=(candidate.proposal,),
            feasible=(),
            admits=0,
            siblings=len(siblings),
            changes=merge_changes((candidate,), situation.pod),
            routes=tuple(routes_of((candidate,), situation, siblings)),
            on_read_pods=bool(situation.handle.snapshot.inventory.not_read),
            decision=decision,
        )
        fixes.append(fix)
    return ranked(fixes)


def _candidates(situation: Situation, decided: AutoscalerDecision) -> Iterator[EditPod]:
    reasons = [reason for pool in decided.pools for reason in pool.reasons if isinstance(reason, NoDomain)]
    lacking = {reason.index: reason.lacking_domains for reason in reasons if reason.lacking_domains}
    for constraint in parsable_constraints(situation.pod, situation.handle):
        left = constraint.min_domains - lacking.get(constraint.index, constraint.min_domains)
        if left > 0 and not constraint.default:
            yield lower_min_domains(constraint, left)
        if not (constraint.default or constraint.honors_taints or constraint.topology_key == HOSTNAME):
            yield honor_taints(constraint)
    # Of the NodePools that refuse because of a constraint alone.
    usable = (
        pool
        for pool in decided.pools
        if not pool.reasons or all(isinstance(reason, NoDomain | DomainNotOffered) for reason in pool.reasons)
    )
    zones = tuple(sorted({zone for pool in usable for zone in pool.domains.get(ZONE, ())}))
    if zones and situation.pod.spec.affinity is None:
        yield EditPod(proposal=RequireZones(zones=zones), edit=partial(_require_zones, zones))


def _require_zones(zones: tuple[str, ...], target: PodTemplateSpec) -> Operations:
    if target.spec.affinity is not None:
        raise LookupError("affinity")
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [*zones]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return (set_to("/spec/affinity", {"nodeAffinity": required}),)

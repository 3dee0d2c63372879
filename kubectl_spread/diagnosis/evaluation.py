"""One Pod put to the scheduler: its verdict, node by node, and what its constraints say."""

from __future__ import annotations

from kubectl_spread.controllers.workloads import owner_of
from kubectl_spread.diagnosis import domains, findings, requirements
from kubectl_spread.diagnosis.domains import SpreadDiagnosis
from kubectl_spread.diagnosis.incomplete import headed, incomplete
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, reported
from kubectl_spread.diagnosis.summary import blame
from kubectl_spread.objects.core import Pod
from kubectl_spread.report import EvaluationReport, NodeReport, Rejection, Verdict
from kubectl_spread.scheduler import cycle, podtopologyspread
from kubectl_spread.scheduler.cycle import Evaluation, NodeVerdict
from kubectl_spread.scheduler.framework import Handle, NodeInfo


def evaluation_report(pod: Pod, handle: Handle) -> EvaluationReport:
    """Return what the scheduler decides about the Pod, and why.

    Args:
        pod: as the API server would store it.
        handle: the cluster, as the Pod's scheduler sees it.

    Raises:
        ValueError: a selector or quantity of the Pod cannot be read.
    """
    return evaluated(cycle.evaluate(pod, handle), handle)


def evaluated(evaluation: Evaluation, handle: Handle) -> EvaluationReport:
    """Return the report of what the scheduler has decided.

    Args:
        evaluation: the decision.
        handle: the cluster it was made in.

    Raises:
        ValueError: as for ``evaluation_report``.
    """
    pod = evaluation.pod
    spread = domains.diagnose(pod, handle, evaluation)
    missing = incomplete(pod, handle, evaluation)
    core = requirements.conflict_core(spread.rejected, evaluation.nodes)
    served = handle.profile.serves(pod)
    return EvaluationReport(
        namespace=pod.metadata.namespace,
        name=pod.metadata.name,
        workload=owner_of(pod, handle.snapshot),
        verdict=verdict_of(evaluation, complete=not missing) if served else Verdict.INCOMPLETE,
        summary=headed(handle, evaluation, blame(handle, spread, core)),
        message=evaluation.message if served else "",
        feasible=evaluation.feasible,
        nodes=tuple(_node(verdict, handle, spread) for verdict in evaluation.nodes.values()),
        constraints=spread.constraints,
        conflict=tuple(map(reported, core)),
        findings=findings.of_pod(pod, handle, spread, evaluation),
        incomplete=missing,
    )


def verdict_of(evaluation: Evaluation, *, complete: bool) -> Verdict:
    """Return the verdict: what was not judged can only take nodes away, never add any."""
    if not evaluation.feasible:
        return Verdict.UNSCHEDULABLE
    return Verdict.SCHEDULABLE if complete else Verdict.INCOMPLETE


def _node(verdict: NodeVerdict, handle: Handle, spread: SpreadDiagnosis) -> NodeReport:
    """Return what became of one node."""
    if verdict.first is None:
        return NodeReport(name=verdict.name, feasible=True, scores=dict(verdict.scores))
    return NodeReport(
        name=verdict.name,
        feasible=False,
        plugin=verdict.first.plugin,
        code=verdict.first.status.code.value,
        reasons=verdict.first.status.reasons,
        rejections=tuple(
            Rejection(
                plugin=rejection.plugin,
                code=rejection.status.code.value,
                reasons=rejection.status.reasons,
                detail=_detail(rejection.plugin, handle.node_infos[verdict.name], spread),
            )
            for rejection in verdict.rejections
        ),
    )


def _detail(plugin: str, node_info: NodeInfo, spread: SpreadDiagnosis) -> str:
    """Return what a rejection is about: the first constraint that fails, or what the plugin's filter found."""
    if plugin != podtopologyspread.NAME:
        return spread.explainer.of_plugin(plugin, node_info)
    for constraint in spread.constraints:
        if node_info.name in spread.rejected.get(ConstraintRequirement(constraint.index), ()):
            missing = constraint.topology_key not in node_info.labels
            return f"lacks {constraint.topology_key}" if missing else f"constraint on {constraint.topology_key}"
    return spread.explainer.of_plugin(plugin, node_info)

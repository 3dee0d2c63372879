"""One Pod put to the scheduler: its verdict, node by node, and what its constraints say."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from kubectl_spread.contract.constraints import Requirement
from kubectl_spread.contract.evaluation import EvaluationReport, NodeReport, Rejection, Verdict
from kubectl_spread.contract.findings import Finding
from kubectl_spread.contract.incomplete import incomplete_entries
from kubectl_spread.contract.pending import Preemption
from kubectl_spread.contract.report import Incomplete
from kubectl_spread.controllers.workloads import owner_of
from kubectl_spread.diagnosis import domains, lint
from kubectl_spread.diagnosis.causes import Blame, Case
from kubectl_spread.diagnosis.domains import SpreadDiagnosis
from kubectl_spread.diagnosis.incomplete import incomplete
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, reported
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import cycle, podtopologyspread
from kubectl_spread.scheduler.cycle import Evaluation, NodeVerdict
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.prefilter_extensions import outranks_any
from kubectl_spread.wording.incomplete import headed

if TYPE_CHECKING:
    from kubectl_spread.diagnosis.unread_nodes import Reach

ItemT = TypeVar("ItemT", bound=EvaluationReport)


def evaluation_report(pod: Pod, handle: Handle) -> EvaluationReport:
    """Return what the scheduler decides about the Pod, and why.

    Args:
        pod: as the API server would store it.
        handle: the cluster, as the Pod's scheduler sees it.

    Raises:
        ValueError: a selector or quantity of the Pod cannot be read.
    """
    return evaluated(judge(cycle.evaluate(pod, handle), handle))


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What the scheduler has decided about a Pod, and why it leaves no node.

    Attributes:
        evaluation: the decision.
        handle: the cluster it was made in.
        blame: why no node is left; None where one is.
        preemption: whom the scheduler would evict to make room; None where nobody.
        preempts: the same in a few words; empty where nobody.
        reach: what is known, where not all Pods were read; None where they were.
    """

    evaluation: Evaluation
    handle: Handle
    blame: Blame | None = None
    preemption: Preemption | None = None
    preempts: str = ""
    reach: Reach | None = None

    @property
    def hides_victims(self) -> bool:
        """Whether it may evict Pods that were not read, so that nothing is known of preemption."""
        return self.reach is not None and self.blame is not None and self.reach.hides_victims


class Judgement(Decision, frozen=True, kw_only=True):
    """The same, with what the Pod's constraints say.

    Attributes:
        spread: that.
    """

    spread: SpreadDiagnosis


def judge(evaluation: Evaluation, handle: Handle) -> Judgement:
    """Return why the scheduler decides so; all commands ask here.

    Raises:
        ValueError: as for ``evaluation_report``.
    """
    spread = domains.diagnose(evaluation.pod, handle, evaluation)
    reach = _reach(evaluation, handle) if handle.snapshot.inventory.not_read else None
    if evaluation.feasible or (reach and evaluation.undecided):
        return Judgement(evaluation=evaluation, handle=handle, spread=spread, reach=reach)
    preemption, preempts = None, ""
    hidden = reach is not None and reach.hides_victims
    if handle.decides(evaluation.pod) and not hidden and outranks_any(evaluation.pod, handle):
        from kubectl_spread.diagnosis.preemption import preemption_report, told

        preemption = preemption_report(evaluation, handle)
        preempts = f"preempts {told(preemption)}" if preemption else ""
    lead = f"It {preempts}; until then: " if preempts else ""
    to_blame = Blame(Case(evaluation, handle, spread), lead)
    return Judgement(
        evaluation=evaluation,
        handle=handle,
        spread=spread,
        blame=to_blame,
        preemption=preemption,
        preempts=preempts,
        reach=reach,
    )


def _reach(evaluation: Evaluation, handle: Handle) -> Reach:
    """Return what is known where not all Pods were read, as only of large clusters; loaded then."""
    from kubectl_spread.diagnosis.unread_nodes import Reach

    return Reach(evaluation, handle)


def decide(evaluation: Evaluation, handle: Handle) -> Decision:
    """Return why the scheduler decides so, and of a Pod that some node takes no more than that.

    Raises:
        ValueError: as for ``evaluation_report``.
    """
    return Decision(evaluation=evaluation, handle=handle) if evaluation.feasible else judge(evaluation, handle)


class Said(msgspec.Struct, frozen=True):
    """What is said of a Pod before any node is named.

    Attributes:
        summary: why it has no node; empty where it finds one.
        message: what the scheduler says; empty where it says nothing, None where that is not known.
        incomplete: what this does not rest on.
    """

    summary: str
    message: str | None
    incomplete: tuple[Incomplete, ...]


def said_of(judgement: Decision) -> Said:
    """Return what is said of the Pod."""
    evaluation, handle, reach = judgement.evaluation, judgement.handle, judgement.reach
    pod, to_blame = evaluation.pod, judgement.blame
    return Said(
        summary=headed(handle, evaluation, to_blame),
        message=(reach or evaluation).message if handle.decides(pod) else "",
        incomplete=incomplete_entries((*incomplete(pod, handle, evaluation), *(reach.incomplete if reach else ()))),
    )


def evaluated(judgement: Judgement) -> EvaluationReport:
    """Return the report of what the scheduler has decided."""
    evaluation, handle, spread = judgement.evaluation, judgement.handle, judgement.spread
    pod, to_blame = evaluation.pod, judgement.blame
    reach, said = judgement.reach, said_of(judgement)
    served = handle.decides(pod)
    return EvaluationReport(
        namespace=pod.metadata.namespace,
        name=pod.metadata.name,
        workload=owner_of(pod, handle.snapshot),
        verdict=verdict_of(evaluation, complete=not said.incomplete) if served else Verdict.INCOMPLETE,
        summary=said.summary,
        message=said.message,
        # Scores are relative, and nodes that were not read are none that could be compared.
        feasible=tuple(sorted(evaluation.feasible)) if reach else evaluation.feasible,
        nodes=tuple(_node(verdict, judgement) for verdict in evaluation.nodes.values()),
        constraints=spread.constraints,
        conflict=tuple(map(reported, to_blame.core)) if to_blame else (),
        core_of=_core_of(judgement),
        findings=tuple(map(Finding.of, lint.of_pod(pod, handle, spread, evaluation))),
        incomplete=said.incomplete,
    )


def as_item(struct: type[ItemT], report: EvaluationReport, **more: object) -> ItemT:
    """Return an item of a report that says what the evaluation says, and more."""
    return struct(**{**asdict(report), **more})


def verdict_of(evaluation: Evaluation, *, complete: bool) -> Verdict:
    """Return the verdict: what was not judged can only take nodes away, never add any."""
    if not evaluation.feasible:
        return Verdict.INCOMPLETE if evaluation.undecided else Verdict.UNSCHEDULABLE
    return Verdict.SCHEDULABLE if complete else Verdict.INCOMPLETE


def _core_of(judgement: Judgement) -> tuple[Requirement, ...] | UnsetType:
    """Return the requirements that were judged on every node, where they may not be all."""
    if judgement.reach is None or judgement.blame is None:
        return UNSET
    hard = (each.index for each in judgement.spread.constraints if each.hard)
    return tuple(map(reported, judgement.reach.core_of(hard)))


def _node(verdict: NodeVerdict, judgement: Judgement) -> NodeReport:
    """Return what became of one node."""
    handle, spread, reach = judgement.handle, judgement.spread, judgement.reach
    if verdict.first is None:
        return NodeReport(name=verdict.name, feasible=True, scores=UNSET if reach else dict(verdict.scores))
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
            for rejection in (reach.told(verdict) if reach else verdict.rejections)
        ),
        first=reach.is_first(verdict) if reach else UNSET,
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

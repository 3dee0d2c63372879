"""The scheduler's decision about one Pod, node by node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeVar, overload

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict, replace

from kubectl_spread.contract.report import Report
from kubectl_spread.controllers.workloads import WorkloadRef, owner_of
from kubectl_spread.diagnosis.causes import AnyCause
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis, SpreadDiagnosis
from kubectl_spread.diagnosis.evaluation import NOTHING, Conclusion, Judgement, Verdict, verdict_of
from kubectl_spread.diagnosis.findings import Finding
from kubectl_spread.diagnosis.fixes.conclusion import Fix, FixSearch, NotOffered, Wait
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, Requirement
from kubectl_spread.diagnosis.unlabelled_nodes import UnlabelledNodes, unlabelled_nodes
from kubectl_spread.gaps import Gap
from kubectl_spread.scheduler import cycle, podtopologyspread, unread_nodes
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.wording.causes import shared_text
from kubectl_spread.wording.pending import summary_of
from kubectl_spread.wording.reasons import reason_text

if TYPE_CHECKING:  # Most clusters have no autoscaler.
    from kubectl_spread.diagnosis.autoscaler_answer import AutoscalerAnswer

ItemT = TypeVar("ItemT", bound="EvaluationReport")


class Rejection(Report, frozen=True, kw_only=True):
    """A filter's rejection of a node, and the reason in our words."""

    plugin: str
    code: str
    reasons: tuple[str, ...]
    detail: str = ""
    # the reason of all nodes at which the scheduler stops for it, whose `detail` differs in names or amounts alone;
    # absent if it is the same for all
    shared: str | UnsetType = UNSET


class NodeReport(Report, frozen=True, kw_only=True):
    """The scheduler's verdict on one node."""

    name: str
    feasible: bool
    # the filter at which the scheduler stops, with its code and reasons; absent for a feasible node
    plugin: str | UnsetType = UNSET
    code: str | UnsetType = UNSET
    reasons: tuple[str, ...] | UnsetType = UNSET
    rejections: tuple[Rejection, ...] = ()  # every filter that rejects the node
    # score plugin → weighted score, and `total`; absent for a node that is not feasible
    scores: dict[str, int] | UnsetType = UNSET
    # whether the scheduler surely stops at `plugin`; absent if all Pods were read, because it does then
    first: bool | UnsetType = UNSET


class NodeReports(Sequence[NodeReport]):
    """The reports on all nodes of a judgement, made when they are looked at: most screens of many Pods show none."""

    def __init__(self, judgement: Judgement) -> None:
        self._judgement = judgement

    @property
    def names(self) -> Collection[str]:
        """The names of the nodes."""
        return self._judgement.evaluation.nodes.keys()

    @cached_property
    def _made(self) -> tuple[NodeReport, ...]:
        return tuple(_node_reports(self._judgement))

    def __eq__(self, other: object) -> bool:
        """Whether the reports are the same."""
        return isinstance(other, NodeReports) and self._made == other._made

    def __hash__(self) -> int:
        """Return the hash of the reports."""
        return hash(self._made)

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.names)

    @overload
    def __getitem__(self, number: int) -> NodeReport: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[NodeReport]: ...
    def __getitem__(self, number: int | slice) -> NodeReport | Sequence[NodeReport]:
        """Return the report on the node with this number."""
        return self._made[number]


class EvaluationReport(Report, frozen=True, kw_only=True):
    """The scheduler's decision about one Pod, and the reasons."""

    namespace: str
    name: str
    kind: str = "Pod"
    source: str = ""
    workload: WorkloadRef | UnsetType = UNSET
    verdict: Verdict
    conclusion: Conclusion = NOTHING  # what is to blame
    # the root cause, with the names and numbers that prove it; absent if some node takes the Pod
    cause: AnyCause | UnsetType = UNSET
    # the scheduler's message, without preemption; empty for a schedulable Pod. None if the first rejection of some node
    # is unknown, and there is no event
    message: str | None
    # `event` if the message is that of the event, because not all Pods were read
    message_from: Literal["event"] | UnsetType = UNSET
    feasible: tuple[str, ...]  # the nodes that no filter rejects, best total score first, then by name
    # how many of these nodes the scheduler scores, and which is left to chance; absent if all
    scored: int | UnsetType = UNSET
    nodes: Sequence[NodeReport]
    constraints: tuple[ConstraintDiagnosis, ...]
    conflict: tuple[Requirement, ...] = ()  # the fewest requirements that together leave no node; empty if one is left
    # the requirements that were evaluated on every node; absent for all, if all Pods were read
    core_of: tuple[Requirement, ...] | UnsetType = UNSET
    fixes: tuple[Fix, ...] = ()  # changes that let the Pod in, the least disturbing first, then the cheapest
    # nodes that would let the Pod in if a person, or an autoscaler, added them; in the form of fixes
    new_nodes: tuple[Fix, ...] = ()
    # what would let the Pod in too but is not offered, with the reason: a sentence each
    left_alone: tuple[NotOffered, ...] = ()
    waits: tuple[Wait, ...] = ()  # what lets the Pod in, or removes it, without any action; absent if nothing does
    # nodes that reject it only because they lack a constraint's topology key; absent if there are none
    unlabelled: tuple[UnlabelledNodes, ...] | UnsetType = UNSET
    fix_search: Literal["complete", "bounded"] = "complete"  # `bounded` if time ran out before every change was tried
    findings: tuple[Finding, ...] = ()
    # the decision of the cluster's autoscaler about it, of a manifest about the first replica that finds no node;
    # absent if there is none
    autoscaler: AutoscalerAnswer | UnsetType = UNSET
    incomplete: tuple[Gap, ...] = ()

    @property
    def stuck(self) -> bool:
        """Whether no node takes the Pod, or would take one that the API server refuses."""
        refused = self.verdict in {Verdict.INVALID, Verdict.FAILED_CREATE}
        return self.verdict is Verdict.UNSCHEDULABLE or (refused and not self.feasible)

    @property
    def node_names(self) -> Collection[str]:
        """The names of the nodes."""
        return self.nodes.names if isinstance(self.nodes, NodeReports) else [node.name for node in self.nodes]

    @property
    def needs_fixes(self) -> bool:
        """Whether fixes were looked for."""
        return self.stuck

    @property
    def blamed(self) -> tuple[Requirement, ...]:
        """The fewest requirements that leave no node."""
        return self.conflict

    @property
    def assumed(self) -> bool:
        """Whether the scheduler has already chosen a node and waits to bind the Pod."""
        return self.conclusion.awaited is not None

    @property
    def summary(self) -> str:
        """What is to blame, in a sentence or two; empty for nothing."""
        return summary_of(self.conclusion)


def evaluation_report(judgement: Judgement) -> EvaluationReport:
    """Return the scheduler's decision about a Pod as reports have it."""
    evaluation, handle, spread = judgement.evaluation, judgement.handle, judgement.spread
    pod, to_blame = evaluation.pod, judgement.blame
    reach, on_all = judgement.reach, judgement.judged_on_all_nodes
    missing = judgement.gaps
    verdict = verdict_of(evaluation, complete=not missing)
    if judgement.assumed:
        verdict = Verdict.SCHEDULABLE
    return EvaluationReport(
        namespace=pod.metadata.namespace,
        name=pod.metadata.name,
        workload=owner_of(pod, handle.snapshot),
        verdict=verdict if handle.decides(pod) or handle.is_orphan(pod) else Verdict.INCOMPLETE,
        conclusion=judgement.conclusion,
        cause=to_blame.cause if to_blame else UNSET,
        message=judgement.message,
        # Scores are relative: they say nothing if some nodes were not read.
        feasible=tuple(sorted(evaluation.feasible)) if reach else evaluation.feasible,
        scored=cycle.nodes_scored(evaluation, handle) or UNSET,
        nodes=NodeReports(judgement),
        constraints=spread.constraints,
        conflict=to_blame.core if to_blame else (),
        core_of=UNSET if on_all is None else on_all,
        unlabelled=tuple(unlabelled_nodes(judgement)) or UNSET,
        findings=judgement.findings,
        incomplete=missing,
    )


def as_item(struct: type[ItemT], report: EvaluationReport, **more: object) -> ItemT:
    """Return an item of a report with all fields of the evaluation, and more."""
    return struct(**{**asdict(report), **more})


def _node_reports(judgement: Judgement) -> Iterator[NodeReport]:
    """Yield each node; nodes that are rejected alike share what rejects them, of which there may be thousands."""
    handle, reach = judgement.handle, judgement.reach
    detail, shared = _details(judgement.spread), _shared(judgement)
    alike: dict[tuple[Rejection, ...], tuple[Rejection, ...]] = {}
    for verdict in judgement.evaluation.nodes.values():
        if verdict.first is None:
            yield NodeReport(name=verdict.name, feasible=True, scores=UNSET if reach else dict(verdict.scores))
            continue
        info = handle.node_infos[verdict.name]
        rejections = tuple(
            Rejection(
                plugin=rejection.plugin,
                code=rejection.status.code.value,
                reasons=rejection.status.reasons,
                detail=detail(rejection.plugin, info),
                shared=shared.get((rejection.plugin, verdict.name), UNSET),
            )
            for rejection in verdict.rejections
            if rejection.plugin != unread_nodes.NAME  # That is no filter.
        )
        yield NodeReport(
            name=verdict.name,
            feasible=False,
            plugin=verdict.first.plugin,
            code=verdict.first.status.code.value,
            reasons=verdict.first.status.reasons,
            rejections=alike.setdefault(rejections, rejections),
            first=reach.is_first(verdict) if reach else UNSET,
        )


def _details(spread: SpreadDiagnosis) -> Callable[[str, NodeInfo], str]:
    """Return what gives the first constraint that rejects a node, or what the plugin's filter found."""
    rejecting = [
        (key, spread.rejected.get(ConstraintRequirement(each.index), ()), f"constraint on {key}", f"no label {key}")
        for each in spread.constraints
        for key in [each.topology_key]
    ]

    def detail(plugin: str, node_info: NodeInfo) -> str:
        if plugin == podtopologyspread.NAME:
            for key, rejected, skewed, unlabelled in rejecting:
                if node_info.name in rejected:
                    return skewed if key in node_info.labels else unlabelled
        return reason_text(spread.explainer.of_plugin(plugin, node_info))

    return detail


def _shared(judgement: Judgement) -> Mapping[tuple[str, str], str]:
    """Return plugin and node's name → the reason without what differs; only of reasons that differ so."""
    stopped = defaultdict[str, list[str]](list)
    for verdict in judgement.evaluation.nodes.values():
        if verdict.first is not None:
            stopped[verdict.first.plugin].append(verdict.name)
    found = defaultdict[tuple[str, str], list[str]](list)
    for plugin, names in stopped.items():
        for each in judgement.spread.explainer.shared(plugin, names):
            found[plugin, shared_text(each.reason)].extend(each.nodes)
    explain, infos = judgement.spread.explainer.of_plugin, judgement.handle.node_infos
    return {
        (plugin, name): text
        for (plugin, text), names in found.items()
        if len({explain(plugin, infos[name]) for name in names}) > 1
        for name in names
    }


def searched(item: ItemT, search: FixSearch) -> ItemT:
    """Return the item with what the search for fixes concludes."""
    return replace(
        item,
        fixes=search.fixes,
        new_nodes=search.new_nodes,
        left_alone=search.left_alone,
        waits=search.waits,
        fix_search="complete" if search.complete else "bounded",
    )


def with_missing(report: ItemT, missing: tuple[Gap, ...]) -> ItemT:
    """Return the report with more incomplete entries."""
    if not missing:
        return report
    verdict = Verdict.INCOMPLETE if report.verdict is Verdict.SCHEDULABLE else report.verdict
    return replace(report, verdict=verdict, incomplete=(*report.incomplete, *missing))

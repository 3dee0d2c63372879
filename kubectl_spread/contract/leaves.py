"""What ``-o json`` adds to conclusions, the texts above all, and what it leaves out."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec
from msgspec import UnsetType

from kubectl_spread.autoscalers.decision import PoolDecision
from kubectl_spread.contract.audit import AUDITED, SUGGESTION, AuditReport
from kubectl_spread.contract.autoscaler import ANSWER, POOL
from kubectl_spread.contract.check import CheckItem, CheckReport, Jam
from kubectl_spread.contract.evaluation import EvaluationReport, NodeReport
from kubectl_spread.contract.fixes import FIX, SEARCHED, WAIT, waits
from kubectl_spread.contract.leaf import Leaf
from kubectl_spread.contract.pending import PendingItem, PendingReport, Siblings
from kubectl_spread.contract.rebalance import RebalanceReport
from kubectl_spread.contract.simulate import BLOCKED, PENDING, STEP, SimulateReport
from kubectl_spread.contract.skew import HEADROOM, PROVED, ROW, SkewReport
from kubectl_spread.controllers.rollout_plan import Rollout
from kubectl_spread.diagnosis.audit import AuditedKey, Suggestion
from kubectl_spread.diagnosis.autoscaler_answer import AutoscalerAnswer
from kubectl_spread.diagnosis.domains import Pin
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.events import LastFailure
from kubectl_spread.diagnosis.findings import Finding
from kubectl_spread.diagnosis.fixes.conclusion import ExpectedChange, Fix
from kubectl_spread.diagnosis.planned_evictions import PlannedEviction, RebalanceItem, eviction_command
from kubectl_spread.diagnosis.skew import SkewItem
from kubectl_spread.diagnosis.statuses import Headroom
from kubectl_spread.diagnosis.step_changes import PendingPods, SimulatedStep
from kubectl_spread.gaps import Gap
from kubectl_spread.simulation.steps import Blocked
from kubectl_spread.wording.check import assumption
from kubectl_spread.wording.findings import finding_text
from kubectl_spread.wording.incomplete import Incomplete, entries
from kubectl_spread.wording.pending import DIFFERENCES
from kubectl_spread.wording.reasons import reason_text
from kubectl_spread.wording.rebalance import plan_note_text, reason_of_item


class HasGaps(Protocol):
    """What has gaps."""

    @property
    def incomplete(self) -> tuple[Gap, ...]:
        """The gaps."""


def assumed(rollout: Rollout) -> str:
    """The assumption, as a sentence."""
    return assumption(rollout.assumed)


def detail(pin: Pin) -> str:
    """The reason with its numbers or names."""
    return reason_text(pin.reason)


def incomplete(report: HasGaps) -> tuple[Incomplete, ...]:
    """What was not read or is not modelled, and what is not known without it."""
    return entries(report.incomplete)


def command(eviction: PlannedEviction, flags: Sequence[str]) -> str:
    """The command that evicts it."""
    return eviction_command(eviction, flags)


def reason(item: RebalanceItem) -> str:
    """Why some skew is left, or the constraint has no effect; empty if neither."""
    return reason_of_item(item.reason) if item.reason else ""


def notes(report: RebalanceReport) -> tuple[str, ...]:
    """What else matters about the plan, a sentence each."""
    return tuple(map(plan_note_text, report.notes))


def differs(failure: LastFailure) -> str:
    """Why it differs from the report's message; empty if it does not."""
    return DIFFERENCES[failure.differs] if failure.differs else ""


class HasSummary(Protocol):
    """What has a summary."""

    @property
    def summary(self) -> str:
        """The summary."""


def summary(about: HasSummary) -> str:
    """What is to blame, in a sentence or two; empty if there is nothing, or that is not known."""
    return about.summary


def next_summary(item: CheckItem) -> str:
    """Why a Pod would find no node, if the workload is scaled to 0 and the next Pod would find none."""
    return item.next_summary


def id(finding: Finding) -> str:  # noqa: A001 - the name of the field
    """The name of the finding."""
    return finding.id


def path(finding: Finding) -> str:
    """The path of the field that it is about."""
    return finding.path


def message(finding: Finding) -> str:
    """The finding, and what to do, in a sentence or more."""
    return finding_text(finding)


GAPS = Leaf(added=(incomplete,))
CONCLUDED = Leaf(added=(summary,), left_out=frozenset({"conclusion"}))


def verdict(item: CheckItem) -> Verdict:
    """Whether all replicas can be scheduled now; ``jam`` says which is the first that finds no node."""
    return Verdict.UNSCHEDULABLE if item.jam and item.verdict is Verdict.SCHEDULABLE else item.verdict


def autoscaler(item: SkewItem | EvaluationReport | PendingPods) -> AutoscalerAnswer | UnsetType:
    """The decision of the cluster's autoscaler about it, of a manifest about the first replica that finds no node.

    It is absent if there is none.
    """
    return item.autoscaler


def nodes(item: EvaluationReport) -> tuple[NodeReport, ...]:
    """The scheduler's verdict on each node."""
    return tuple(item.nodes)


BESIDE = Leaf(added=(autoscaler,))
EVALUATED = Leaf(added=(nodes,)) | BESIDE

# Type of conclusions → how its form differs.
LEAVES: Mapping[type[msgspec.Struct], Leaf] = {
    AuditedKey: AUDITED,
    AuditReport: GAPS,
    Suggestion: SUGGESTION,
    CheckItem: EVALUATED | SEARCHED | GAPS | CONCLUDED | Leaf((verdict, next_summary), frozenset({"next_conclusion"})),
    Jam: CONCLUDED,
    Siblings: CONCLUDED,
    CheckReport: GAPS,
    Finding: Leaf(added=(id, path, message)),
    ExpectedChange: WAIT,
    Fix: FIX,
    LastFailure: Leaf(added=(differs,)),
    PendingItem: EVALUATED | SEARCHED | GAPS | CONCLUDED,
    Blocked: BLOCKED,
    PendingPods: GAPS | PENDING | BESIDE,
    SimulatedStep: STEP,
    PendingReport: GAPS,
    RebalanceItem: Leaf(added=(reason, waits)),
    PlannedEviction: Leaf(added=(command,)),
    Pin: Leaf(added=(detail,), left_out=frozenset({"reason"})),
    RebalanceReport: GAPS | Leaf(added=(notes,)),
    SimulateReport: GAPS,
    PoolDecision: POOL,
    AutoscalerAnswer: ANSWER,
    SkewItem: ROW | BESIDE | PROVED,
    Headroom: HEADROOM,
    SkewReport: GAPS,
    Rollout: Leaf(added=(assumed,)),
}

"""The exit code of each report, decided on its types: a no takes precedence over an answer that is incomplete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.statuses import SEVERE, SpreadStatus
from kubectl_spread.exit_code import ExitCode
from kubectl_spread.gaps import UnreadableManifest, is_unread_list, leaves_pods_unknown

if TYPE_CHECKING:  # A command needs the types of its own report alone.
    from kubectl_spread.commands.snapshot import Taken
    from kubectl_spread.contract.audit import AuditReport
    from kubectl_spread.contract.check import CheckItem, CheckReport
    from kubectl_spread.contract.pending import PendingReport
    from kubectl_spread.contract.rebalance import RebalanceReport
    from kubectl_spread.contract.simulate import SimulateReport
    from kubectl_spread.contract.skew import SkewReport
    from kubectl_spread.diagnosis.audit import Risk

PROBLEMS = SEVERE | {SpreadStatus.NO_EFFECT}  # The statuses that ``show --exit-code`` ends with 1 for


def of_show(report: SkewReport, *, one_more: bool) -> ExitCode:
    """Return the exit code for ``--exit-code``: no where something is Violated or worse, or NoEffect.

    It is about the Pods that there are; with ``one_more``, about one more Pod too.
    """
    found = (item.status if one_more else item.current for item in report.items)
    return ExitCode.of_items(no=any(status in PROBLEMS for status in found), incomplete=False)


def of_audit(report: AuditReport, worst: Risk) -> ExitCode:
    """Return the exit code for ``--fail-on``: no where a risk is this one or worse."""
    from kubectl_spread.diagnosis.audit import RISKS

    failed = any(RISKS.index(item.risk) <= RISKS.index(worst) for item in report.items)
    return ExitCode.of_items(no=failed, incomplete=bool(report.incomplete))


def of_snapshot(taken: Taken) -> ExitCode:
    """Return the exit code: undetermined where a list could not be read."""
    return ExitCode.of_items(no=False, incomplete=bool(taken.notes))


def of_why_pending(report: PendingReport) -> ExitCode:
    """Return the exit code: no where a Pod is blocked, gated, never created or left without a node by others."""
    waits = any(item.verdict is Verdict.UNSCHEDULABLE or item.held_by or item.some_left for item in report.items)
    incomplete = any(item.verdict is Verdict.INCOMPLETE or item.alone is True for item in report.items)
    return ExitCode.of_items(
        no=waits or bool(report.not_created), incomplete=incomplete or any(map(is_unread_list, report.incomplete))
    )


def of_check(report: CheckReport, *, warnings: bool = False, autoscaling: bool = False) -> ExitCode:
    """Return the exit code: no where a Pod finds no node or a manifest is invalid, or ``warnings`` mean no too.

    ``autoscaling``: whether a Pod counts as placed where nothing forbids a new node for it.
    """
    from kubectl_spread.diagnosis.findings import Severity

    unread = any(isinstance(gap, UnreadableManifest) for gap in report.incomplete)
    warned = any(
        item.warnings or any(finding.severity is not Severity.INFO for finding in item.findings)
        for item in report.items
    )
    known = [item for item in report.items if not any(map(leaves_pods_unknown, item.incomplete))]
    nowhere = [item for item in known if (item.stuck or item.jam) and not (autoscaling and may_get_a_node(item))]
    failed = bool(nowhere) or any(item.failed_create or item.held_by for item in known)
    failed = failed or any(item.validation for item in report.items)
    return ExitCode.of_items(
        no=failed or (warnings and warned),
        incomplete=unread or any(item.verdict is Verdict.INCOMPLETE for item in report.items),
    )


def may_get_a_node(item: CheckItem) -> bool:
    """Whether nothing that was read forbids a new node for the first replica that finds none, or one starts for it."""
    from kubectl_spread.diagnosis.fixes.conclusion import NodeAddition

    starts = any(isinstance(wait, NodeAddition) for wait in item.waits)
    return starts or (item.autoscaler is not UNSET and item.autoscaler.decision == "NewNode")


def of_simulate(report: SimulateReport) -> ExitCode:
    """Return the exit code: no where a step is refused, or makes something Pending, blocked, violated or not replaced.

    That one more Pod, which nobody asked for, finds no node is no such thing.
    """
    safe = {step.verdict.safe for step in report.steps}
    return ExitCode.of_items(no=False in safe, incomplete=UNSET in safe or bool(report.incomplete))


def of_rebalance(report: RebalanceReport) -> ExitCode:
    """Return the exit code: no where the spread needs evictions or cannot be restored."""
    from kubectl_spread.diagnosis.remaining_skew import RebalanceVerdict

    verdicts = {item.verdict for item in report.items}
    unsure = RebalanceVerdict.INCOMPLETE in verdicts or bool(report.incomplete)
    settled = {RebalanceVerdict.BALANCED, RebalanceVerdict.INCOMPLETE}
    return ExitCode.of_items(no=bool(verdicts - settled), incomplete=unsure)

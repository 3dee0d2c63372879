"""The report of ``check``."""

from typing import Literal

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict, replace

from kubectl_spread.apiserver.validation.field_errors import FieldError, ValidationWarning
from kubectl_spread.contract import evaluation
from kubectl_spread.contract.evaluation import EvaluationReport
from kubectl_spread.contract.report import Metadata, Report
from kubectl_spread.controllers.rollout_plan import FailedCreate, Rollout
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis
from kubectl_spread.diagnosis.evaluation import NOTHING, Conclusion, Verdict
from kubectl_spread.diagnosis.manifest_outcome import ManifestOutcome
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, Requirement
from kubectl_spread.gaps import Gap, is_about_fixes
from kubectl_spread.simulation import placement
from kubectl_spread.simulation.placement import DomainRange, Placement, Violation
from kubectl_spread.wording.check import refused
from kubectl_spread.wording.pending import summary_of
from kubectl_spread.wording.words import capital


class Jam(placement.Jam, frozen=True, kw_only=True):
    """The first replica that finds no node."""

    conclusion: Conclusion = NOTHING  # what is to blame
    conflict: tuple[Requirement, ...] = ()  # the fewest requirements that together leave it no node

    @property
    def summary(self) -> str:
        """What is to blame, in a sentence or two; empty if that is not known."""
        return summary_of(self.conclusion)


class AllCreated(Report, frozen=True, kw_only=True):
    """Where all replicas would go if the API server refused none."""

    placements: tuple[Placement, ...] = ()  # where each would go, in order
    jam: Jam | None = None  # the first that would find no node; None if all would find one


class Origin(Report, frozen=True, kw_only=True):
    """The place of a manifest."""

    file: str  # empty if it comes from no file: standard input, a URL, a build
    document: int  # the document of the source, counted from 1
    line: int = 0  # of the source, counted from 1; 0 if unknown, as in JSON
    # path or field, as findings and validation errors name it → its line, or that of the object that lacks it
    lines: dict[str, int] = {}


class CheckItem(EvaluationReport, frozen=True, kw_only=True):
    """Whether one Pod template of a manifest can be scheduled, and how its replicas will be spread.

    Here ``verdict`` is that of the first Pod; JSON has that of all replicas.
    """

    replicas: int = 1  # how many are requested
    # why a Pod would find no node, if the workload is scaled to 0 and the next Pod would find none
    next_conclusion: Conclusion = NOTHING
    validation: tuple[FieldError, ...] = ()  # why the API server would refuse the manifest
    warnings: tuple[ValidationWarning, ...] = ()  # what applying the manifest also does
    placements: tuple[Placement, ...] = ()  # where each replica goes, in order; ties go to the first name
    jam: Jam | None = None  # the first replica that finds no node; None if all find one
    pending: int = 0  # how many Pods are Pending then (count), with ties going to the first name
    # the first Pod that the API server refuses; None if it accepts all. If it accepts none, `placements` are those that
    # there would be
    failed_create: FailedCreate | None = None
    all_created: AllCreated | None = None  # where all would go if it accepted all; None if it accepts all or none
    held_by: tuple[str, ...] = ()  # the scheduling gates that hold its Pods back
    after: tuple[ConstraintDiagnosis, ...] = ()  # the constraints with all placed replicas counted
    orders: int = 1  # in how many orders ties were broken, by name first
    ranges: tuple[DomainRange, ...] = ()  # the domains of `after` whose counts differ between these orders
    # the hard constraints that are violated then, if the workload has Pods already
    violations: tuple[Violation, ...] = ()
    # nodes that replicas get in other orders, and that the first order does not list as ties
    elsewhere: tuple[str, ...] = ()
    sampled: bool = False  # whether there are so many nodes that the scheduler may try only some of them
    rollout: Rollout | None = None  # what was assumed about the workload's running Pods; None if it has none
    origin: Origin | UnsetType = UNSET  # the place of the manifest

    @property
    def summary(self) -> str:
        """What is to blame, in a sentence or two; who refuses a manifest of which nothing else is known."""
        if self.verdict is Verdict.INVALID and not self.nodes and self.conclusion is NOTHING:
            return capital(refused(each.reason for each in self.validation), ("kubectl",))
        return summary_of(self.conclusion)

    @property
    def next_summary(self) -> str:
        """Why the next Pod would find no node; empty where that is not in question."""
        return summary_of(self.next_conclusion)

    @property
    def refusals(self) -> tuple[FieldError, ...]:
        """Why the API server refuses the manifest, or else all its Pods, by fields of the manifest."""
        return self.validation or (self.failed_create.refusals if self.failed_create else ())

    @property
    def needs_fixes(self) -> bool:
        """Whether fixes were looked for: for a replica that finds no node, and that is not refused."""
        comes = self.failed_create is None or self.failed_create.created
        return self.jam is not None and self.verdict is not Verdict.INVALID and bool(comes)

    @property
    def blamed(self) -> tuple[Requirement, ...]:
        """The fewest requirements that leave no node for the first Pod without a node."""
        return self.conflict or (self.jam.conflict if self.jam else ())

    @property
    def blamed_paths(self) -> tuple[str, ...]:
        """The fields of the Pod with the constraints among them; nothing for those of the cluster."""
        own = {each.index for each in self.constraints if not each.default}
        indexes = (each.index for each in self.blamed if isinstance(each, ConstraintRequirement) and each.index in own)
        return tuple(f"spec.topologySpreadConstraints[{index}]" for index in indexes)


class CheckReport(Report, frozen=True, kw_only=True):
    """The answer of ``check``."""

    api_version: Literal["spread.kubectl.dev/v1alpha2"] = "spread.kubectl.dev/v1alpha2"
    kind: Literal["CheckReport"] = "CheckReport"
    metadata: Metadata
    items: tuple[CheckItem, ...]
    incomplete: tuple[Gap, ...] = ()


def check_item(outcome: ManifestOutcome) -> CheckItem:
    """Return the outcome of a manifest, under the name of its first Pod."""
    report = evaluation.with_missing(evaluation.evaluation_report(outcome.judgement), outcome.unknown)
    next_conclusion = NOTHING
    if outcome.is_cleared:
        if outcome.scaled_to_zero and not outcome.judgement.preemption:
            next_conclusion = report.conclusion
        report = replace(report, verdict=Verdict.SCHEDULABLE, conclusion=NOTHING, cause=UNSET, message="", conflict=())
        # No fix is looked for.
        report = replace(report, incomplete=tuple(gap for gap in report.incomplete if not is_about_fixes(gap)))
    return evaluation.as_item(
        CheckItem,
        evaluation.with_missing(report, outcome.unread_revisions),
        replicas=outcome.replicas,
        next_conclusion=next_conclusion,
        placements=outcome.placements,
        jam=_jam(outcome, report),
        pending=outcome.pending,
        failed_create=outcome.failed_create,
        held_by=outcome.held_by,
        after=outcome.constraints,
        orders=outcome.orders,
        ranges=outcome.ranges,
        violations=outcome.violations,
        elsewhere=outcome.elsewhere,
        sampled=outcome.sampled,
        rollout=outcome.rollout,
    )


def all_created(outcome: ManifestOutcome) -> AllCreated:
    """Return where all replicas would go."""
    return AllCreated(placements=outcome.placements, jam=_jam(outcome, evaluation.evaluation_report(outcome.judgement)))


def _jam(outcome: ManifestOutcome, first: EvaluationReport) -> Jam | None:
    jam, judgement = outcome.jam, outcome.jam_judgement
    if jam is None or judgement is None:
        return None
    if judgement is outcome.judgement:
        return Jam(**asdict(jam), conclusion=first.conclusion, conflict=first.conflict)
    conflict = judgement.blame.core if judgement.blame else ()
    return Jam(**asdict(jam), conclusion=judgement.conclusion, conflict=conflict)

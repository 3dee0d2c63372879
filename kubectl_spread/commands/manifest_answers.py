"""What ``check`` reports about each manifest: the outcome for its Pods, and the API server's errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.validation.field_errors import FieldError, Reason
from kubectl_spread.commands import admission_errors
from kubectl_spread.commands.applying import merged_constraints
from kubectl_spread.commands.asked_manifests import AskedManifest, objects_of, outcomes_of
from kubectl_spread.commands.manifests import Manifest
from kubectl_spread.commands.view import View
from kubectl_spread.contract import check
from kubectl_spread.contract.evaluation import EvaluationReport, as_item, with_missing
from kubectl_spread.contract.findings import Finding, incomplete_entries
from kubectl_spread.controllers.rollout_plan import FailedCreate
from kubectl_spread.controllers.templates import template_of
from kubectl_spread.diagnosis import lint
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.manifest_outcome import ManifestOutcome, outcome_of, undecided_outcome, unplaced_pods
from kubectl_spread.gaps import Gap, MayBreakQuota
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.meta import KubernetesObject
from kubectl_spread.simulation.applied import AppliedOutcomes, AppliedWorkload
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.check import refused
from kubectl_spread.wording.incomplete import MAY_PREEMPT
from kubectl_spread.wording.words import capital

if TYPE_CHECKING:
    from kubectl_spread.diagnosis.fixes.situation import Written
    from kubectl_spread.objects.kinds import Workload


class Answer(msgspec.Struct, frozen=True):
    """The answer about one manifest.

    Attributes:
        jammed: the outcome in which its first Pod finds no node; None where all find one, or another scheduler decides.
        written: the manifest, for changes of it in that outcome.
    """

    item: check.CheckItem
    jammed: AppliedWorkload | None = None
    written: Written | None = None


def answers_of(
    asked: Mapping[int, AskedManifest], others: Mapping[int, KubernetesObject], view: View
) -> Mapping[int, Answer]:
    """Return place among all documents → the answer about the manifest there; ``others`` create no Pods.

    ValueError if an object of the cluster cannot be parsed.
    """
    before = view.snapshot
    came = {place: unplaced_pods(each.wanted, before, each.handle) for place, each in asked.items() if each.is_sound}
    if any(each.undecided for each in came.values()):
        outcomes = {place: undecided_outcome(asked[place].wanted, one) for place, one in came.items()}
        return {place: _answer(each, outcomes.get(place), None) for place, each in asked.items()}
    seen = _seen(asked, others, view)
    answers = {}
    for place, each in asked.items():
        answer = _answer(each, *_outcomes(each, [found.get(place) for found in seen], before))
        if answer.jammed is not None:
            together = {n: other for n, other in asked.items() if other.is_accepted or other is each}
            answer = replace(answer, written=_written(each, objects_of(together, others), before))
        answers[place] = answer
    return answers


def _written(asked: AskedManifest, applied: tuple[KubernetesObject, ...], before: Snapshot) -> Written:
    """Return the manifest, applied together with these objects, as the search for fixes changes it."""
    from kubectl_spread.diagnosis.fixes.candidate import as_template
    from kubectl_spread.diagnosis.fixes.patch import pointer
    from kubectl_spread.diagnosis.fixes.situation import Written

    manifest = asked.manifest
    obj = manifest.written or manifest.obj
    return Written(
        obj=cast("Workload | Pod | None", manifest.obj),
        template=manifest.template
        or (as_template(obj) if isinstance(obj, Pod) else template_of(cast("Workload", obj))),
        path=pointer(*manifest.pod_path.split(".")[:-1]),
        values=manifest.document.values,
        before=before,
        applied=applied,
        own=tuple(asked.objects),
        as_if=asked.is_held,
    )


def _outcomes(
    asked: AskedManifest, seen: Sequence[AppliedOutcomes | None], before: Snapshot
) -> tuple[ManifestOutcome | None, ManifestOutcome | None]:
    """Return the outcome, and the outcome if all Pods were admitted where only some are; None for no outcome."""
    if not asked.is_placed:
        return None, None
    now, as_if = (outcome_of(asked.wanted, before, found) if found else None for found in seen)
    if now is None or as_if is None:
        return now or as_if, None
    if now.failed_create is not None and now.failed_create.created:
        return now, as_if
    if now.refused_by_chance:
        return now, None
    return replace(as_if, failed_create=now.failed_create, refused_by_chance=now.refused_by_chance), None


def _seen(
    asked: Mapping[int, AskedManifest], others: Mapping[int, KubernetesObject], view: View
) -> Sequence[Mapping[int, AppliedOutcomes]]:
    """Return the outcomes by place: of the manifests whose Pods may get a node, and as if nobody refused or held Pods.

    The second are only of manifests whose Pods are refused or held.
    """
    now = outcomes_of({n: each for n, each in asked.items() if each.is_accepted}, others, view)
    short = {n for n, each in now.items() if each.first.refused} | {n for n, each in asked.items() if each.is_held}
    placed = {n: each for n, each in asked.items() if each.is_placed}
    as_if = outcomes_of(placed, others, view, as_if=True) if short.intersection(placed) else {}
    return now, {number: each for number, each in as_if.items() if number in short}


def _answer(asked: AskedManifest, outcome: ManifestOutcome | None, more: ManifestOutcome | None) -> Answer:
    """Return the answer about one manifest; ``more``: the outcome if all Pods were admitted, where only some are."""
    manifest, served = asked.manifest, asked.served
    item = _item(manifest, check.check_item(outcome) if outcome else _nothing(manifest, asked.errors))
    if outcome is None:
        item = replace(item, replicas=asked.wanted.replicas)
    else:
        injected = lint.from_living(asked.from_living)
        of_merge = merged_constraints(manifest)
        found = (*map(Finding.of, of_merge), *item.findings, *map(Finding.of, injected))
        item = replace(item, findings=found)
        item = with_missing(item, served.missing) if served and served.missing else item
    unknown = incomplete_entries(_unknown(manifest, outcome))
    item = with_missing(item, unknown)
    may_fit = any(gap.consequence == MAY_PREEMPT for gap in item.incomplete)
    if (unknown or may_fit) and item.verdict is not Verdict.INVALID:
        item = replace(item, verdict=Verdict.INCOMPLETE)
    of_server = () if asked.errors else asked.review.warnings
    item = replace(item, warnings=(*admission_errors.apply_warnings(manifest), *of_server))
    failed, errors = item.failed_create, asked.errors
    if failed and isinstance(manifest.obj, Pod) and not asked.numbered:
        # The Pod is the object.
        errors = (*errors, FieldError(field="", reason=Reason.FORBIDDEN, message=failed.message))
    if errors:
        return Answer(replace(item, verdict=Verdict.INVALID, validation=errors, failed_create=None))
    if asked.refused:
        first = asked.refused[0]
        missing = tuple(each.missing for each in asked.refusals if each.missing)
        failed = FailedCreate(created=0, message=first.message, refusals=asked.refused, missing=missing)
    if failed is None:
        return Answer(item, outcome.jammed if outcome else None)
    item = replace(item, failed_create=failed, all_created=check.all_created(more) if more else None)
    return Answer(replace(item, verdict=Verdict.FAILED_CREATE), outcome.jammed if outcome and failed.created else None)


def _unknown(manifest: Manifest, outcome: ManifestOutcome | None) -> Iterator[Gap]:
    yield from manifest.unknown
    if outcome is not None and outcome.refused_by_chance:
        workload = f"{manifest.namespace}/{manifest.ref}"
        yield MayBreakQuota(workload=workload, why=outcome.refused_by_chance, by_chance=True)


def refused_item(manifest: Manifest, errors: tuple[FieldError, ...]) -> check.CheckItem:
    """Return the item of a manifest without Pods that the API server refuses."""
    return replace(_item(manifest, _nothing(manifest, errors)), replicas=0, validation=errors)


def _nothing(manifest: Manifest, errors: Sequence[FieldError]) -> EvaluationReport:
    return EvaluationReport(
        namespace=manifest.namespace,
        name=manifest.name,
        verdict=Verdict.INVALID,
        summary=capital(refused(each.reason for each in errors), ("kubectl",)),
        message="",
        feasible=(),
        nodes=(),
        constraints=(),
    )


def _item(manifest: Manifest, report: EvaluationReport) -> check.CheckItem:
    document = manifest.document
    return as_item(
        check.CheckItem,
        report,
        namespace=manifest.namespace,
        name=manifest.name,
        kind=document.kind,
        source=f"{document.source}, document {document.number}",
        workload=manifest.ref,
    )

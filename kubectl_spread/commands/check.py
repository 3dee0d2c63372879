"""``check``: whether manifests schedule, where, and how their replicas lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, TypeAlias, cast

import msgspec
from msgspec.structs import replace

from kubectl_spread.commands import admission_errors, read_sets
from kubectl_spread.commands.bad_objects import naming_the_malformed
from kubectl_spread.commands.manifests import (
    MOST_PODS,
    Manifest,
    ManifestSources,
    in_its_file,
    read_manifests,
    too_many,
)
from kubectl_spread.commands.read_choice import look_for
from kubectl_spread.commands.source import MOST_NODES, ReadLimits, ReadMode, Source
from kubectl_spread.commands.view import Question, SchedulerOptions, View
from kubectl_spread.contract.check import CheckItem, CheckReport, ValidationError, check_item
from kubectl_spread.contract.evaluation import EvaluationReport, as_item, with_missing
from kubectl_spread.contract.findings import Finding
from kubectl_spread.contract.incomplete import incomplete_entries
from kubectl_spread.controllers import persistent_volumes as volumes
from kubectl_spread.controllers.next_pod import completed, siblings
from kubectl_spread.controllers.replicas import as_created, first_pod, replicas_applied
from kubectl_spread.controllers.rollout_plan import DesiredWorkload
from kubectl_spread.controllers.workloads import OwnedPods, owner_of
from kubectl_spread.diagnosis import lint
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.findings import Severity
from kubectl_spread.diagnosis.manifest_outcome import Coming, coming, outcome_of
from kubectl_spread.errors import ExitCode, ManifestError, UsageError
from kubectl_spread.gaps import UnreadableManifest
from kubectl_spread.labels import EVERYTHING, Selector
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.meta import ObjectMeta, OwnerReference
from kubectl_spread.objects.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_spread.objects.workloads import StatefulSet
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.simulation.placement import Placed
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.incomplete import UNREADABLE

if TYPE_CHECKING:
    from kubectl_spread.commands.read_planner import Need
    from kubectl_spread.commands.server_side import Create, Served

ComingIn: TypeAlias = Callable[[View], Iterator[Coming]]
"""The cluster as far as it was read → what comes of each manifest there."""
FEW = 0.05
"""The part of all Pods that is read before them, at most: for most manifests all are read in the end."""


class CheckOptions(ManifestSources, frozen=True, kw_only=True):
    """What ``check`` is asked, beside which manifests are meant.

    Attributes:
        replicas: how many to place; None for as many as each manifest says.
        selector: of which manifests the Pods are placed, by their own labels; the rest is only laid over the cluster.
        fix_budget: seconds in all that the search for fixes may take; None for what suits the cluster.
        read: how much of a large cluster is read.
        most_nodes: of how many nodes (count) the Pods are read one by one there, before all are.
    """

    replicas: int | None = None
    selector: Selector = EVERYTHING
    fix_budget: float | None = None
    read: ReadMode = "auto"
    most_nodes: int = MOST_NODES


class Answer(msgspec.Struct, frozen=True):
    """What becomes of one manifest.

    Attributes:
        item: as the report has it.
        after: the cluster with its replicas.
        jammed: the outcome in which the first of them finds no node; None where all find one, or another scheduler
            decides.
    """

    item: CheckItem
    after: Snapshot
    jammed: Placed | None = None


class CheckAnswer(msgspec.Struct, frozen=True):
    """What ``check`` found."""

    report: CheckReport
    view: View


def check(
    source: Source,
    options: CheckOptions,
    scheduler: SchedulerOptions,
    *,
    stdin: BinaryIO | None,
    create: Create | None = None,
) -> CheckAnswer:
    """Return whether the manifests schedule in this cluster, in file order, each seeing the ones before it.

    Args:
        source: the cluster.
        options: what is asked.
        scheduler: whose rules apply.
        stdin: standard input; None where it is closed.
        create: what asks the API server for a dry run; None to go by what is known of its rules.

    Raises:
        ManifestError: no file that can be read has a Pod template.
        ClusterError: a list that is needed cannot be had.
        UsageError: none that has a Pod template is selected.
    """
    manifests, problems = read_manifests(options, stdin=stdin)
    selected = [each for each in manifests if options.selector.matches(each.labels)]
    asked = [each for each in selected if each.makes_pods]
    if not asked:
        raise UsageError(f'no manifest with a Pod template matches the selector "{options.selector}"')
    coming_in = partial(_coming, manifests, asked, options.replicas)
    read = options.read if create is None else "all"
    view = look_for(source, _question(asked, options, coming_in), scheduler, read=read)
    answered: list[tuple[Manifest, Answer]] = []
    with naming_the_malformed(source.name, view.snapshot):
        snapshot = _laid_over(manifests, view.snapshot, view.handle().profile)
        for manifest in selected:
            if manifest.makes_pods:
                wanted = _wanted(manifest, snapshot, view.snapshot, options.replicas)
                served = _asked(manifest, wanted, create) if create else None
                found = _answer(manifest, wanted, served, view=view, snapshot=snapshot)
                ours = (*admission_errors.given_twice(manifest), *admission_errors.taken_back(manifest, view.snapshot))
                item = replace(found.item, warnings=(*ours, *found.item.warnings))
                answered.append((manifest, replace(found, item=item)))
                snapshot = found.after
                continue
            review = admission_errors.reviewed(manifest, snapshot, view.snapshot, view.handle().profile.release)
            if errors := admission_errors.as_errors((*review.errors, *review.change_errors)):
                item = _invalid(replace(_item(manifest, _refused(manifest)), replicas=0), errors)
                answered.append((manifest, Answer(item, snapshot)))
        items = _with_fixes(answered, view, options.fix_budget)
    built = bool(options.kustomize)
    told = (in_its_file(manifest, item, built=built) for (manifest, _), item in zip(answered, items, strict=True))
    unread = incomplete_entries(UnreadableManifest(place=each.place, why=each.message) for each in problems)
    report = CheckReport(metadata=view.metadata, items=tuple(told), incomplete=(*view.incomplete, *unread))
    return CheckAnswer(report, view)


def _question(asked: Sequence[Manifest], options: CheckOptions, coming_in: ComingIn) -> Question:
    """Return what the cluster is read for: few Pods where no first replica finds a node, and all where one does."""
    namespaces = tuple(dict.fromkeys(manifest.namespace for manifest in asked))
    # Where one of several finds a node, where it is placed decides about the others.
    limits = ReadLimits(nodes=options.most_nodes, confirm=options.read != "needed" or len(asked) > 1, few_first=True)

    def needed(view: View) -> Need:
        from kubectl_spread.commands.read_planner import Need, to_check

        try:
            return to_check(tuple(coming_in(view)), limits)
        except ValueError:
            return Need(whole=True, why="a manifest cannot be judged")

    return Question(
        reads=read_sets.for_manifests(namespaces),
        namespaces=namespaces,
        specs=tuple(each.pod_spec for each in asked),
        needed=needed,
        asked=lambda view: tuple((each.first, each.handle) for each in coming_in(view)),
        limits=limits,
        first_part=FEW if limits.confirm else None,
        fix_budget=options.fix_budget,
    )


def _coming(
    manifests: Sequence[Manifest], asked: Sequence[Manifest], replicas: int | None, view: View
) -> Iterator[Coming]:
    """Yield what comes of each manifest that is asked about, where nothing comes of those before it.

    Raises:
        ValueError: an object of the cluster, or a manifest, cannot be read.
    """
    snapshot = _laid_over(manifests, view.snapshot, view.handle().profile)
    for manifest in asked:
        wanted = _wanted(manifest, snapshot, view.snapshot, replicas)
        handle = _handle(wanted.pod, snapshot, view)
        found = completed(wanted.pod, _siblings(manifest, wanted, view.snapshot), snapshot, handle.profile)
        yield coming(replace(wanted, pod=found.pod, release=handle.profile.release), view.snapshot, handle)


def exit_code(report: CheckReport, *, warnings: bool = False) -> ExitCode:
    """Return the exit code: no where a Pod finds no node or a manifest is invalid.

    Args:
        report: the answer.
        warnings: whether warnings mean no too: those of findings, and the API server's.
    """
    unread = any(gap.why == UNREADABLE for gap in report.incomplete)
    warned = any(
        item.warnings or any(finding.severity is not Severity.INFO for finding in item.findings)
        for item in report.items
    )
    failed = any(
        item.stuck or item.jam or item.failed_create or item.held_by or item.validation for item in report.items
    )
    return ExitCode.of_items(
        no=failed or (warnings and warned),
        incomplete=unread or any(item.verdict is Verdict.INCOMPLETE for item in report.items),
    )


def _laid_over(manifests: Sequence[Manifest], snapshot: Snapshot, profile: Profile) -> Snapshot:
    """Return the cluster as it would be with the documents applied, before any Pod of theirs is scheduled."""
    objects = [manifest.obj for manifest in manifests if manifest.obj is not None]
    claims = [obj for obj in objects if isinstance(obj, PersistentVolumeClaim)]
    # A volume that exists is bound or not, whatever the manifest says.
    volumes_there = {volume.metadata.name for volume in snapshot.all(PersistentVolume)}
    applied = snapshot.with_objects(
        created
        for obj in objects
        if not isinstance(obj, Pod | PersistentVolumeClaim)
        and not (isinstance(obj, PersistentVolume) and obj.metadata.name in volumes_there)
        for created in as_created(obj, snapshot)
    )
    return applied.with_others(volumes.created(claims, applied, profile))


def _answer(
    manifest: Manifest, wanted: DesiredWorkload, served: Served | None, *, view: View, snapshot: Snapshot
) -> Answer:
    """Return what becomes of one manifest; one that is refused has no replicas.

    Args:
        manifest: the manifest.
        wanted: what it asks for, its Pod not yet admitted.
        served: what the API server says of it; None where it was not asked.
        view: the cluster without any manifest.
        snapshot: the cluster with those before.

    Raises:
        ValueError: an object of the cluster cannot be read.
    """
    handle = _handle(wanted.pod, snapshot, view)
    release = handle.profile.release
    answered = served if served and not served.missing else None
    review = admission_errors.reviewed(manifest, snapshot, view.snapshot, release, validated=answered is not None)
    errors = admission_errors.as_errors((*review.namespace_errors, *review.errors))
    errors += answered.errors if answered else ()
    try:
        found = completed(wanted.pod, _siblings(manifest, wanted, view.snapshot), snapshot, handle.profile)
        errors += () if answered else admission_errors.not_created(manifest, found.refusals, errors)
        stored = (served.pod if served else None) or found.pod
        wanted = replace(wanted, pod=stored, release=release)
        if not handle.profile.serves(stored):
            handle = _handle(stored, snapshot, view)
        outcome = outcome_of(wanted, view.snapshot, handle)
        item = _item(manifest, check_item(outcome))
        injected = lint.from_living(found.from_living) if stored is found.pod else ()
        unchecked = () if answered else lint.pod_security(manifest.namespace, snapshot)
        item = replace(item, findings=(*item.findings, *map(Finding.of, (*injected, *unchecked))))
        item = with_missing(item, served.missing) if served and served.missing else item
        errors += admission_errors.as_errors(review.change_errors)
        errors += admission_errors.none_created(manifest, item.failed_create)
    except ValueError:
        if not errors:
            raise
        outcome, item = None, replace(_item(manifest, _refused(manifest)), replicas=wanted.replicas)
    if errors or outcome is None:
        return Answer(_invalid(item, errors), snapshot)
    item = replace(item, warnings=admission_errors.as_warnings(review.warnings))
    return Answer(item, outcome.after, outcome.jammed)


def _handle(pod: Pod, snapshot: Snapshot, view: View) -> Handle:
    return Handle.build(snapshot, view.handle(pod.spec.scheduler_name).profile)


def _with_fixes(
    answered: Sequence[tuple[Manifest, Answer]], view: View, seconds: float | None
) -> tuple[CheckItem, ...]:
    if not any(answer.jammed for _, answer in answered):
        return tuple(answer.item for _, answer in answered)
    from kubectl_spread.commands.check_fixes import with_fixes

    return with_fixes([(manifest, each.item, each.jammed) for manifest, each in answered], view, seconds)


def _siblings(manifest: Manifest, wanted: DesiredWorkload, before: Snapshot) -> tuple[Pod, ...]:
    """Return the Pods that live and were made by the template of the manifest."""
    if wanted.owner is None:
        return ()
    own = (pod for pod in before.all(Pod) if not pod.finished and pod.metadata.namespace == manifest.namespace)
    running = tuple(pod for pod in own if owner_of(pod, before) == manifest.ref)
    return siblings(wanted.pod, OwnedPods(manifest.namespace, manifest.ref, wanted.owner, running), before)


def _invalid(item: CheckItem, errors: tuple[ValidationError, ...]) -> CheckItem:
    return replace(item, verdict=Verdict.INVALID, validation=errors)


def _refused(manifest: Manifest) -> EvaluationReport:
    return EvaluationReport(
        namespace=manifest.namespace,
        name=manifest.name,
        verdict=Verdict.INVALID,
        summary="The API server refuses it.",
        message="",
        feasible=(),
        nodes=(),
        constraints=(),
    )


def _item(manifest: Manifest, report: EvaluationReport) -> CheckItem:
    document = manifest.document
    return as_item(
        CheckItem,
        report,
        namespace=manifest.namespace,
        name=manifest.name,
        kind=document.kind,
        source=f"{document.source}, document {document.number}",
        workload=manifest.ref,
    )


def _wanted(manifest: Manifest, snapshot: Snapshot, before: Snapshot, replicas: int | None) -> DesiredWorkload:
    """Return what the manifest asks for, its Pod as the controller makes it.

    Args:
        manifest: the manifest.
        snapshot: the cluster with all manifests.
        before: the cluster without them.
        replicas: how many are meant; None for as many as there are once it is applied.

    Raises:
        ManifestError: it asks for more Pods than there can be.
    """
    if isinstance(manifest.obj, Pod):
        applied = manifest.obj if replicas is None else None
        return DesiredWorkload(
            manifest.ref, None, manifest.obj, replicas or 1, numbered=replicas is not None, applied=applied
        )
    if manifest.template is not None:
        return DesiredWorkload(
            manifest.ref, None, _custom_pod(manifest), manifest.replicas if replicas is None else replicas
        )
    owner = cast("Workload", manifest.obj)
    asked = replicas_applied(owner, before) if replicas is None else replicas
    if asked > MOST_PODS:
        raise ManifestError([too_many(manifest, asked)])
    return DesiredWorkload(manifest.ref, owner, first_pod(owner, snapshot), asked)


def _asked(manifest: Manifest, wanted: DesiredWorkload, create: Create) -> Served:
    """Return what the API server says of the manifest.

    Raises:
        ClusterError: it cannot be reached or understood.
    """
    from kubectl_spread.commands.server_side import ask

    # The first Pod of a StatefulSet has volumes that the template does not name.
    return ask(manifest, wanted.replica(1) if isinstance(wanted.owner, StatefulSet) else wanted.pod, create)


def _custom_pod(manifest: Manifest) -> Pod:
    document, template = manifest.document, manifest.template
    assert template is not None  # noqa: S101 - the caller looks
    owner = OwnerReference(api_version=document.api_version, kind=document.kind, name=manifest.name, controller=True)
    metadata = ObjectMeta(
        name=owner.name, namespace=manifest.namespace, labels=template.metadata.labels, owner_references=(owner,)
    )
    return Pod(metadata=metadata, spec=template.spec)

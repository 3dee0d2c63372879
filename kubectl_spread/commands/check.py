"""``check``: whether manifests schedule, where, and how their replicas are spread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.commands import manifest_answers, read_sets
from kubectl_spread.commands.applying import CLIENT_SIDE, Applying, merge_all, standard_notes, unreadable
from kubectl_spread.commands.autoscaling import NO_OPTIONS, AutoscalerOptions, autoscaler_findings, beside_autoscaler
from kubectl_spread.commands.bad_objects import reporting_bad_objects
from kubectl_spread.commands.manifest_answers import Answer, AskedManifest, answers_of, objects_of, refused_item
from kubectl_spread.commands.manifests import (
    Manifest,
    ManifestSources,
    in_its_file,
    read_manifests,
    skipped_notes,
    unread_documents,
    with_served_kinds,
)
from kubectl_spread.commands.source import MOST_NODES, ReadLimits, ReadMode, Source
from kubectl_spread.commands.staged import Question, look_for
from kubectl_spread.commands.view import SchedulerOptions, View
from kubectl_spread.contract.check import CheckItem, CheckReport
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.manifest_outcome import UnplacedPods, unplaced_pods
from kubectl_spread.diagnosis.next_rollout import next_rollout
from kubectl_spread.errors import UsageError
from kubectl_spread.labels import EVERYTHING, Selector
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.workloads import Deployment

if TYPE_CHECKING:
    from kubectl_spread.commands.manifest_answers import Create
    from kubectl_spread.commands.read_planner import Need

# The cluster as far as it was read → the first Pods of each manifest there.
UnplacedIn: TypeAlias = Callable[[View], Iterator[UnplacedPods]]
# The largest part of all Pods (0 to 1) that the first stage may read: most manifests need all Pods in the end.
FEW = 0.05


class CheckOptions(ManifestSources, frozen=True, kw_only=True):
    """What ``check`` is asked, with the manifests to read."""

    replicas: int | None = None  # the number of replicas to place; None for that of each manifest
    # selects the manifests whose Pods are placed, by their own labels; the others are only applied
    selector: Selector = EVERYTHING
    autoscalers: AutoscalerOptions = NO_OPTIONS
    # seconds that all searches for fixes may take; None for the default of the cluster's size
    fix_budget: float | None = None
    read: ReadMode = "auto"
    most_nodes: int = MOST_NODES  # the most nodes (count) whose Pods are read one by one before all Pods are read


class CheckAnswer(msgspec.Struct, frozen=True):
    """What ``check`` found, with notes about skipped manifests."""

    report: CheckReport
    view: View
    notes: tuple[str, ...] = ()


def check(
    source: Source,
    options: CheckOptions,
    scheduler: SchedulerOptions,
    *,
    stdin: BinaryIO | None,
    create: Create | None = None,
    how: Applying = CLIENT_SIDE,
) -> CheckAnswer:
    """Return whether the manifests schedule in this cluster, in file order, each seeing the ones before it.

    ``create`` sends a dry run to the API server; None to apply its rules here.

    Raises:
        ManifestError: no sound document has a Pod template.
        ClusterError: a list that is needed cannot be had.
        UsageError: none that has a Pod template is selected.
    """
    manifests, problems = read_manifests(options, stdin=stdin)
    manifests = with_served_kinds(manifests, source)
    selected = [each for each in manifests if options.selector.matches(each.labels)]
    making = [each for each in selected if each.makes_pods]
    if not any(each.is_answered for each in selected):
        raise UsageError(f'no manifest with a Pod template matches the selector "{options.selector}"')
    unplaced_in = partial(_unplaced_pods, manifests, options)
    read = options.read if create is None else "all"
    view = look_for(source, _question(making, options, unplaced_in), scheduler, read=read).settled
    with reporting_bad_objects(source.name, view.snapshot):
        applied = merge_all(manifests, view.snapshot, view.handle().profile, how)
        snapshot = manifest_answers.with_manifests(applied, view)
        asked: dict[int, AskedManifest] = {}
        for number, each in reversed([*enumerate(applied)]):
            if each.makes_pods and not _is_replaced(each, asked.values()) and options.selector.matches(each.labels):
                asked[number] = manifest_answers.asked_manifest(
                    each, applied[:number], view, snapshot, replicas=options.replicas, create=create
                )
        answered = [*_answered(applied, asked, view, options)]
        items = tuple(_with_fixes([answer for _, answer in answered], view, options))
    built = bool(options.kustomize)
    told = (in_its_file(manifest, item, built=built) for (manifest, _), item in zip(answered, items, strict=True))
    unread = tuple(map(unreadable, problems))
    told_of = [manifest.document for manifest, _ in answered]
    unread += tuple(unread_documents(selected, view.snapshot, source))
    report = CheckReport(metadata=view.metadata, items=tuple(told), incomplete=(*view.incomplete, *unread))
    notes = [*skipped_notes(each for each in selected if each.document not in told_of)]
    notes += standard_notes(selected, snapshot) if create is None else ()
    return CheckAnswer(report, view, tuple(f"{note}." for note in notes))


def _is_replaced(manifest: Manifest, later: Collection[AskedManifest]) -> bool:
    """Whether a later document has the same object; of a Pod, the first one counts if the later one is refused."""
    place = manifest.document.problem("").place
    stays = isinstance(manifest.obj, Pod) and any(each.errors for each in later if each.manifest.again == place)
    return manifest.replaced and not stays


def _answered(
    applied: Sequence[Manifest],
    asked: Mapping[int, AskedManifest],
    view: View,
    options: CheckOptions,
) -> Iterator[tuple[Manifest, Answer]]:
    """Yield the answer about each manifest that creates Pods, and about each other one that the API server refuses."""
    others = {
        number: each.obj
        for number, each in enumerate(applied)
        if each.obj is not None and not (each.makes_pods or each.refused)
    }
    answers = answers_of(asked, others, view)
    for number, manifest in enumerate(applied):
        if one := asked.get(number):
            answer = answers[number]
            found = autoscaler_findings(one.wanted.pod, one.handle, options.autoscalers) if one.is_placed else ()
            if one.is_accepted and answer.item.verdict is Verdict.SCHEDULABLE:
                accepted = {place: each for place, each in asked.items() if each.is_accepted}
                own = (obj for obj in one.objects if isinstance(obj, Deployment))
                stuck = (next_rollout(obj, objects_of(accepted, others), view.handles) for obj in own)
                found = (*found, *filter(None, stuck))
            yield manifest, replace(answer, item=replace(answer.item, findings=(*answer.item.findings, *found)))
        elif manifest.is_left_out and options.selector.matches(manifest.labels):
            yield manifest, Answer(refused_item(manifest, manifest.refused))


def _question(asked: Sequence[Manifest], options: CheckOptions, unplaced_in: UnplacedIn) -> Question:
    """Return what to read: few Pods where no first replica finds a node, else all."""
    namespaces = tuple(dict.fromkeys(manifest.namespace for manifest in asked))
    # Of several manifests, the place of one decides about the others.
    limits = ReadLimits(nodes=options.most_nodes, confirm=options.read != "needed" or len(asked) > 1, few_first=True)

    def needed(view: View) -> Need:
        from kubectl_spread.commands.read_planner import Need, to_check

        try:
            return to_check(tuple(unplaced_in(view)), limits)
        except ValueError:
            return Need(whole=True, why="a manifest cannot be checked")

    return Question(
        reads=(*read_sets.for_manifests(namespaces), *read_sets.scalers(namespaces), *read_sets.AUTOSCALERS),
        namespaces=namespaces,
        specs=tuple(each.pod_spec for each in asked),
        needed=needed,
        asked=lambda view: tuple((each.first, each.handle) for each in unplaced_in(view)),
        limits=limits,
        first_part=FEW if limits.confirm else None,
        fix_budget=options.fix_budget,
    )


def _unplaced_pods(manifests: Sequence[Manifest], options: CheckOptions, view: View) -> Iterator[UnplacedPods]:
    """Yield the first Pods of each selected manifest, as if the Pods of those before it did not exist."""
    view = view.settled
    applied = merge_all(manifests, view.snapshot, view.handle().profile)
    snapshot = manifest_answers.with_manifests(applied, view)
    for manifest in applied:
        if not (manifest.makes_pods and options.selector.matches(manifest.labels)):
            continue
        wanted = manifest_answers.desired(manifest, snapshot, view.snapshot, options.replicas)
        handle = manifest_answers.handle_for(wanted.pod, snapshot, view)
        found = manifest_answers.next_of(manifest, wanted, handle, view)
        yield unplaced_pods(replace(wanted, pod=found.pod, release=handle.profile.release), view.snapshot, handle)


def _with_fixes(answers: Sequence[Answer], view: View, options: CheckOptions) -> Iterator[CheckItem]:
    """Yield the items, with fixes where a replica finds no node: changes of the manifest or of the cluster."""
    searches = sum(answer.jammed is not None for answer in answers)
    if not searches:
        yield from (answer.item for answer in answers)
        return
    from kubectl_spread.commands.fix_budget import FixBudget, now, seconds_for
    from kubectl_spread.contract.evaluation import searched
    from kubectl_spread.diagnosis.fixes.choice import with_offered
    from kubectl_spread.diagnosis.fixes.search import search_fixes
    from kubectl_spread.diagnosis.fixes.situation import Situation

    budget = FixBudget(seconds_for(options.fix_budget, len(view.snapshot.nodes)), searches)
    for answer in answers:
        if answer.jammed is None:
            yield answer.item
            continue
        handle, waiting = answer.jammed.handle, answer.jammed.waiting
        situation = Situation(waiting[0], handle, now(view.metadata), answer.written)
        search = budget.within(partial(search_fixes, situation, waiting))
        with_fixes = searched(answer.item, search)
        item = beside_autoscaler(with_fixes, situation, waiting, options.autoscalers)
        yield replace(item, fixes=with_offered(item))

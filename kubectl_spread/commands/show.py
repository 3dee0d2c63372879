"""``show``: how each workload's Pods are spread over the domains of its constraints, once or with ``--watch``."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, repeat
from typing import TYPE_CHECKING, TypeVar, cast

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.commands import read_sets
from kubectl_spread.commands.autoscaling import AutoscalerOptions, autoscaler_findings, autoscaler_of
from kubectl_spread.commands.bad_objects import reporting_bad_objects
from kubectl_spread.commands.scope import TYPES, Scope, absent_workload, kind_of_named, unseen
from kubectl_spread.commands.source import MOST_NODES, Followed, ReadLimits, ReadMode, Source
from kubectl_spread.commands.staged import Question, look_for, pods_of_large
from kubectl_spread.commands.view import SchedulerOptions, View, look, reading_devices
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.controllers.next_pod import next_pod
from kubectl_spread.controllers.workloads import OwnedPods, owner_of, scheduler_of, workloads
from kubectl_spread.diagnosis.incomplete import read_apart, unparsable_constraints, unseen_workloads
from kubectl_spread.diagnosis.skew import Detail, SkewItem, asked_about, rows
from kubectl_spread.diagnosis.statuses import OK, SpreadStatus
from kubectl_spread.gaps import Gap
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.snapshot import Inventory, Snapshot
from kubectl_spread.wording.reasons import brief_key

if TYPE_CHECKING:
    from kubectl_spread.cluster.reads import Read
    from kubectl_spread.commands.read_planner import Need
    from kubectl_spread.commands.why_pending import PendingAnswer

# The filters that need only Nodes and the matching Pods.
COUNTING_FILTERS = ("NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "PodTopologySpread")

COUNTED_ONLY = (
    "The cluster has more than 5,000 Pods: only node name, cordon, taints, node affinity and spread were evaluated for"
    " the next replica. --read=all evaluates every filter."
)
# Verdicts on single nodes (count) that the headroom of all workloads may take: one or two seconds.
HEADROOM_VERDICTS = 100_000
STATUS_ORDER = tuple(SpreadStatus)


class ShowOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What ``show`` is asked beyond its scope."""

    names: tuple[tuple[str, str], ...] = ()  # (kind in lower case, name) of the workloads; empty for all
    defaults: bool = False  # whether workloads without constraints are shown with the cluster's defaults
    read: ReadMode = "auto"
    problems: bool = False  # whether rows that are OK are left out
    one_more: bool = False  # whether a row is no longer OK where one more Pod would not be
    topology_key: str = ""
    sort_by: str = "status"  # ``status``, ``skew`` or ``name``
    most_nodes: int = MOST_NODES  # the most nodes (count) whose Pods are read one by one before all Pods are read
    at_once: bool = False  # whether everything is read in one step, as a watch needs it
    may_be_gone: bool = False  # whether named workloads need not exist
    headroom: bool = False  # whether headroom is shown although no workload is named
    detail: Detail = Detail.REASONS

    @property
    def shows_defaults(self) -> bool:
        """Whether workloads without constraints are shown: where that is asked for, or they are named."""
        return self.defaults or bool(self.names)

    def shows(self, row: SkewItem) -> bool:
        """Whether the row is asked for."""
        key = row.state.constraint.topology_key
        # As it is, or as tables have it.
        on_key = self.topology_key in {"", key, brief_key(key)}
        return on_key and not (self.problems and isinstance(row.worst if self.one_more else row.now, OK))


class ShowAnswer(msgspec.Struct, frozen=True):
    """What ``show`` found; ``counted_only`` if filters were left out because the cluster is large and watched."""

    report: SkewReport
    counted_only: bool
    view: View


def show(source: Source, scope: Scope, options: ShowOptions, scheduler: SchedulerOptions) -> ShowAnswer:
    """Return how the workloads of the scope are spread.

    Raises:
        ClusterError: a named workload does not exist, or a list that is needed cannot be had.
        ManifestError: a file cannot be read.
    """
    autoscalers = AutoscalerOptions()

    def beside_autoscaler(item: SkewItem) -> SkewItem:
        pod, handle = item.judged.revision.pod, item.judged.revision.handle
        decided = autoscaler_of(pod, handle, autoscalers) if item.pending_pod and not item.next else UNSET
        findings = (*item.findings, *autoscaler_findings(pod, handle, autoscalers))
        return replace(item, judged=replace(item.judged, findings=findings, autoscaler=decided))

    answer = overview(source, scope, options, scheduler, autoscalers=True)
    with reporting_bad_objects(source.name, answer.view.snapshot):
        items = tuple(map(beside_autoscaler, answer.report.items))
    return replace(answer, report=replace(answer.report, items=items))


def overview(
    source: Source, scope: Scope, options: ShowOptions, scheduler: SchedulerOptions, *, autoscalers: bool = False
) -> ShowAnswer:
    """Return the same without what autoscalers decide, whose objects are read where asked for; errors as for it."""
    counted_only = options.at_once and bool(pods_of_large(source, (scope.namespace,), options.read))
    if counted_only:
        view = look(source, read_sets.spread_only(scope.namespace), scheduler)
        view = replace(view, handles=view.handles.each(lambda handle: handle.with_filters(COUNTING_FILTERS)))
    elif options.at_once:
        reads = read_sets.everything(scope.namespace)
        view = look(source, reads, scheduler, reading_devices(source, at_once=True))
    else:
        view = look_for(source, _question(scope, options, autoscalers=autoscalers), scheduler, read=options.read)
    inventory, defaults = view.snapshot.inventory, options.shows_defaults
    items = list[SkewItem]()
    with reporting_bad_objects(source.name, view.snapshot):
        wanted = _wanted(view, scope, options)
        # Pods that are only counted, or read in part, say nothing about room.
        whole = not (counted_only or inventory.not_read)
        room = HEADROOM_VERDICTS // max(len(wanted), 1) if whole and (options.headroom or options.names) else 0
        for workload in wanted:
            handle = handle_of_next_pod(workload, view)
            every = rows(workload, handle, defaults=defaults, detail=options.detail, most_verdicts=room)
            items += filter(options.shows, every)
    gaps: tuple[Gap, ...] = (
        *read_apart(inventory),
        *unseen_workloads(inventory, defaults=defaults),
        *(gap for workload in wanted for gap in unparsable_constraints(workload)),
    )
    incomplete = (*view.incomplete, *gaps)
    made = SkewReport(metadata=view.metadata, items=tuple(sort(items, options.sort_by)), incomplete=incomplete)
    return ShowAnswer(made, counted_only, view)


def handle_of_next_pod(workload: OwnedPods, view: View) -> Handle:
    """Return the cluster as the scheduler of the workload's next Pod sees it; a webhook may choose that scheduler."""
    handle = view.handle(scheduler_of(workload))
    if all(handle.profile.serves(pod) for pod in workload.pods):
        return handle
    upcoming = next_pod(workload, handle.snapshot, handle.profile)
    return view.handle(upcoming.pod.spec.scheduler_name) if upcoming else handle


def _wanted(view: View, scope: Scope, options: ShowOptions) -> list[OwnedPods]:
    return list(wanted_workloads(view, scope, names=options.names, may_be_gone=options.may_be_gone))


def _question(scope: Scope, options: ShowOptions, *, autoscalers: bool) -> Question:
    limits = ReadLimits(nodes=options.most_nodes)

    def needed(view: View) -> Need:
        from kubectl_spread.commands.read_planner import to_place

        found = (
            pod
            for each in _wanted(view, scope, options)
            for pod in asked_about(each, view.handle(scheduler_of(each)), defaults=options.shows_defaults)
        )
        return to_place(tuple(found), limits)

    reads = (*read_sets.everything(scope.namespace), *(read_sets.AUTOSCALERS if autoscalers else ()))
    return Question(reads=reads, namespaces=(scope.namespace,), needed=needed, limits=limits)


AnswerT = TypeVar("AnswerT", "ShowAnswer", "PendingAnswer")


class WatchedSource:
    """A cluster that is read once and then kept up to date: each further read returns what is there by then.

    The server's release and the number of Pods decide what is read; they stay as first found. ``say`` takes one line
    when the server is lost, and one when it is back.
    """

    def __init__(self, source: Source, say: Callable[[str], object]) -> None:
        self.namespace, self.server, self.name = source.namespace, source.server, source.name
        self.access, self.log = source.access, source.log
        self.version: Callable[[], str] = cache(source.version)
        self.count_pods, self.watch = cache(source.count_pods), source.watch
        self.discover = source.discover
        self._say = say
        self._followed: Followed | None = None

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return what there is now of the lists that the first call asked for.

        Raises:
            ClusterError: a list that is needed cannot be had, or may not be watched.
            UsageError: files cannot be watched.
        """
        if self._followed is None:
            self._followed = self.watch(reads, self._say)
        return self._followed.inventory()

    def wait(self) -> None:
        """Return when something that was read has changed; ClusterError if a right was withdrawn."""
        gc.collect()  # An answer refers to itself, and the program collects garbage rarely.
        if self._followed is not None:
            self._followed.wait()


def follow(
    source: Source, scope: Scope, options: ShowOptions, scheduler: SchedulerOptions, *, say: Callable[[str], object]
) -> Iterator[ShowAnswer]:
    """Yield the answer now and whenever it changes, without end; ``say`` as for ``WatchedSource``.

    Named workloads must exist now; when they are deleted later, so are their rows.

    Raises:
        ClusterError: as for ``show``, or a list may not be watched.
        UsageError: files cannot be watched.
    """
    first = replace(options, at_once=True)
    asked = chain([first], repeat(replace(first, may_be_gone=True)))
    yield from each_change(WatchedSource(source, say), lambda watched: show(watched, scope, next(asked), scheduler))


def each_change(source: WatchedSource, ask: Callable[[WatchedSource], AnswerT]) -> Iterator[AnswerT]:
    """Yield the answer now and whenever it changes, without end."""
    from kubectl_spread.contract.form import to_form

    answer = ask(source)
    yield answer
    while True:
        source.wait()
        previous, answer = answer, ask(source)
        # The versions that an answer rests on change all the time.
        unchanged = replace(answer.report, metadata=previous.report.metadata)
        if to_form(unchanged) != to_form(previous.report):
            yield answer


def how_read(answer: ShowAnswer) -> Iterator[str]:
    """Yield the note on how a large cluster was read; none where it was read whole."""
    snapshot = answer.view.snapshot
    if answer.counted_only:
        yield COUNTED_ONLY
    elif unread := len(snapshot.inventory.not_read):
        yield (
            "The cluster has more than 5,000 Pods: next replicas were simulated on the"
            f" {len(snapshot.nodes) - unread:,} of {len(snapshot.nodes):,} nodes whose Pods were read."
            " --read=all reads all."
        )


def sort(items: Iterable[SkewItem], by: str) -> list[SkewItem]:
    """Return the rows worst first: by status now, that of one more Pod and then skew, by skew alone, or by name."""
    rows = sorted(items, key=lambda i: (i.namespace, str(i.workload), i.revision, i.state.constraint.index))
    if by == "name":
        return rows
    rows.sort(key=lambda item: -item.state.skew)
    if by == "status":
        rows.sort(key=lambda item: (STATUS_ORDER.index(item.current), STATUS_ORDER.index(item.status)))
    return rows


def wanted_workloads(
    view: View, scope: Scope, *, names: Sequence[tuple[str, str]], may_be_gone: bool = False
) -> Iterator[OwnedPods]:
    """Yield the workloads of the scope, static Pods only if named; ClusterError if one that must exist does not.

    ``names``: (kind, name) of the workloads, the kind empty for any; empty for all.
    """
    found = list(workloads(view.snapshot))
    named = {_owner_of_named(kind, name, scope, view.snapshot) for kind, name in names}
    for ref in sorted(named, key=str):
        namespaces = {workload.namespace for workload in found if str(workload.ref) == ref}
        if scope.namespace not in namespaces and not may_be_gone:
            meant = (kinds.named(ref.partition("/")[0]),) if "/" in ref else TYPES
            raise unseen(ref, meant, view.snapshot) or absent_workload(ref, scope, found)
    for workload in found:
        wanted = str(workload.ref) in named if named else scope.wants(workload.ref.kind) and not workload.static
        if wanted and scope.selects(workload):
            yield workload


def _owner_of_named(kind: str, name: str, scope: Scope, snapshot: Snapshot) -> str:
    """Return the named workload as ``deployment/web``; for a Pod or ReplicaSet, its owner."""
    if not kind and not (kind := kind_of_named(name, scope, snapshot)):
        return name
    known = kinds.named(kind)
    obj = snapshot.get(known.struct, scope.namespace, name) if known else None
    return str(owner_of(cast("Pod | Workload", obj), snapshot)) if obj else f"{kind}/{name}"

"""A large cluster, read in stages: what decides most first, and of the rest no more than what decides.

1. All at one version: Nodes, the Pods of the namespaces that count, and whatever else a question needs. Beside them the
   Pods without a node, from an index and perhaps a little newer.
2. What is known by then rejects nodes for good: Pods that were not read can take nodes away and give none back (see
   ``scheduler.unread_nodes``). What they could give back, counts of spread and Pods that affinity asks for, is of the
   namespaces of the first stage; where that is not so, and where devices are claimed, the whole list is read.
3. The Pods of the nodes that are left, node by node, as long as these are few; else the whole list.

What is needed next is a function of what was read (read_planner.py); it is read and asked again. So the engine never
waits for a list, and a Pod that no node takes is found out with few Pods read. One that finds a node is
confirmed by the whole list, for a Pod anywhere may keep it away: unless no more than what is needed is wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from msgspec.structs import replace

from kubectl_spread.cluster.log import READS
from kubectl_spread.cluster.net.failures import StatusError
from kubectl_spread.cluster.reads import Read, up_to
from kubectl_spread.commands.bad_objects import naming_the_malformed
from kubectl_spread.commands.fix_budget import FixBudget, seconds_for
from kubectl_spread.commands.read_planner import MOST_NAMESPACES, Need, to_change
from kubectl_spread.commands.source import Source, SourceWithin
from kubectl_spread.commands.view import Question, SchedulerOptions, View, claiming, look
from kubectl_spread.objects import kinds
from kubectl_spread.snapshot import Inventory, PodsRead, oldest, together
from kubectl_spread.wording.words import count_of

TO_READ = 0.25
"""The part of the time for fixes that may go into finding out whose Pods they take."""


def look_in_stages(source: Source, question: Question, scheduler: SchedulerOptions, *, all_pods: int) -> View:
    """Return the cluster as far as it has to be read to answer.

    Args:
        source: the cluster.
        question: what it is read for.
        scheduler: whose rules apply.
        all_pods: how many Pods it has (count).

    Raises:
        ClusterError: a list that is needed cannot be had.
        UsageError: the release or the scheduler's configuration makes no sense.
    """

    def is_small(namespaces: Iterable[str]) -> bool:
        part = question.first_part
        return part is None or sum(map(source.count_pods, namespaces)) <= part * all_pods

    def needed(view: View) -> Need:
        need = question.needed(view)
        return need if is_small(need.namespaces) else Need(whole=True, why="affinity asks for many Pods")

    if len(question.namespaces) > MOST_NAMESPACES or not is_small(question.namespaces):
        return look(claiming(source, question.specs), question.reads, scheduler)
    whole = next(read for read in question.reads if read.kind == kinds.POD)
    first = claiming(StagedSource(source, question.namespaces), question.specs)
    view = look(first, question.reads, scheduler)
    with naming_the_malformed(source.name, view.snapshot):
        while view.snapshot.inventory.not_read and (need := needed(view)):
            view = _extended(source, view, whole, need)
        if question.asked is None or not view.snapshot.inventory.not_read:
            return view
        seconds = seconds_for(question.fix_budget, len(view.snapshot.nodes)) * TO_READ
        changing = partial(to_change, question.asked(view), question.limits)
        return _extended(source, view, whole, FixBudget(seconds, 1).within(changing))


class StagedSource(SourceWithin):
    """A source that is asked for Pods of some namespaces, and those without a node, where all Pods are wanted.

    Args:
        source: the whole cluster.
        namespaces: whose Pods are read in any case.
    """

    def __init__(self, source: Source, namespaces: Iterable[str]) -> None:
        super().__init__(source)
        self._namespaces = frozenset(namespaces)

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return what was asked for, of Pods what comes first.

        Raises:
            ClusterError: a list that is needed cannot be had.
        """
        others = [read for read in reads if read.kind != kinds.POD]
        if len(others) == len(reads):
            return self._source.read(reads)
        unbound = Read(kinds.POD, field_selector="spec.nodeName=", not_older=True)
        # Of a Pod that both lists hold, the one of the common version counts.
        of_namespaces = (Read(kinds.POD, namespace) for namespace in sorted(self._namespaces))
        inventory = self._source.read([*others, unbound, *of_namespaces])
        names = frozenset(node.metadata.name for node in inventory.objects.get(kinds.NODE.name, ()))
        return replace(inventory, pods_read=PodsRead(self._namespaces, names))


def _extended(source: Source, view: View, whole: Read, need: Need) -> View:
    """Return the view with what is needed; the same where nothing is."""
    if not need:
        return view
    source.log.say(READS, f"{_told(need, view)}: {need.why}")
    return view.with_inventory(_read_more(source, view.snapshot.inventory, need, whole))


def _told(need: Need, view: View) -> str:
    if need.whole:
        return "reading all Pods"
    nodes, namespaces = len(need.nodes), len(need.namespaces)
    of_nodes = f"{nodes:,} of {len(view.snapshot.nodes):,} nodes"
    parts = [part for part, wanted in ((of_nodes, nodes), (count_of(namespaces, "namespace"), namespaces)) if wanted]
    return f"reading the Pods of {' and '.join(parts)}"


def _read_more(source: Source, before: Inventory, need: Need, whole: Read) -> Inventory:
    """Return what was read before, and what is needed.

    Raises:
        ClusterError: a list that is needed cannot be had.
    """
    if need.whole:
        return _whole(source, before, whole)
    reads = [Read(kinds.POD, name) for name in sorted(need.namespaces)]
    if need.nodes:
        reads.append(Read(kinds.POD, on_nodes=tuple(sorted(need.nodes))))
    try:
        return _with_pods(before, source.read(reads), need)
    except StatusError as error:
        # Who may not list all Pods any more may list those of a namespace: the whole list sees to that.
        source.log.say(READS, f"{error.message}; reading all Pods")
        return _whole(source, before, whole)


def _whole(source: Source, before: Inventory, whole: Read) -> Inventory:
    others = {kind: found for kind, found in before.objects.items() if kind != kinds.POD.name}
    versions = {plural: version for plural, version in before.resource_versions.items() if plural != kinds.POD.plural}
    return together(replace(before, objects=others, resource_versions=versions, pods_read=None), source.read([whole]))


def _with_pods(before: Inventory, more: Inventory, need: Need) -> Inventory:
    """Return what was read before, and the Pods: of namespaces that were read whole none that is newer."""
    read = before.pods_read or PodsRead(frozenset(), frozenset())
    namespaces = read.namespaces | need.namespaces
    pods = {(each.metadata.namespace, each.metadata.name): each for each in before.objects[kinds.POD.name]}
    for each in more.objects.get(kinds.POD.name, ()):
        if each.metadata.namespace not in read.namespaces:
            pods[each.metadata.namespace, each.metadata.name] = each
    plural = kinds.POD.plural
    versions = before.resource_versions
    first, then = versions.get(plural, ""), more.resource_versions.get(plural, "")
    return replace(
        before,
        objects={**before.objects, kinds.POD.name: tuple(pods.values())},
        resource_versions={**versions, plural: up_to(first, then)} if then else versions,
        unread=tuple(dict.fromkeys((*before.unread, *more.unread))),
        apart=before.apart or more.apart or (bool(need.namespaces) and oldest(first) != oldest(then)),
        pods_read=PodsRead(namespaces, read.not_on - need.nodes),
    )

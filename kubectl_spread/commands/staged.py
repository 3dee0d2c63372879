"""A large cluster, read in stages: what decides most first, and of the rest no more than what decides.

1. All at one version: Nodes, the Pods of the namespaces that count, and whatever else a question needs. Beside them the
   Pods without a node, from an index and perhaps a little newer.
2. What is known by then rejects nodes for good: Pods that were not read can take nodes away and give none back (see
   ``scheduler.unread_nodes``). What they could give back, counts of spread and Pods that affinity asks for, is of the
   namespaces of the first stage; where that is not so, and where devices are claimed, the whole list is read.
3. The Pods of the nodes that are left, node by node, as long as these are few; else the whole list.

What is needed next is told by a function of what was read (``needs``); ``settle`` reads it and asks again. So the
engine never waits for a list, and a Pod that no node takes is found out with few Pods read. One that finds a node is
confirmed by the whole list, for a Pod anywhere may keep it away: unless no more than what is needed is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.cluster.log import READS
from kubectl_spread.cluster.net.failures import StatusError
from kubectl_spread.cluster.reads import Read, up_to
from kubectl_spread.commands.bad_objects import naming_the_malformed
from kubectl_spread.commands.fix_budget import FixBudget, seconds_for
from kubectl_spread.commands.read_planner import Asked, Need, to_change
from kubectl_spread.commands.source import ReadLimits, Source, SourceWithin
from kubectl_spread.commands.view import SchedulerOptions, View, claiming, look
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import PodSpec
from kubectl_spread.snapshot import Inventory, PodsRead, oldest, together
from kubectl_spread.wording.words import count_of

Needed: TypeAlias = Callable[[View], Need]

TO_READ = 0.25
"""The part of the time for fixes that may go into finding out whose Pods they take."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What a large cluster is read for: whether Pods find a node, and what would change that.

    Attributes:
        reads: all that it takes, where the cluster is read whole.
        namespaces: whose Pods are read in any case.
        specs: of Pods that are asked about beside those that the cluster has.
        asked: the Pods that are asked about, as far as was read.
        needed: what has to be read next to judge them.
        limits: how much may be read.
        fix_budget: seconds in all that the search for fixes may take; None for what suits the cluster.
    """

    reads: Sequence[Read]
    namespaces: Iterable[str]
    specs: Sequence[PodSpec] = ()
    asked: Callable[[View], Asked]
    needed: Needed
    limits: ReadLimits
    fix_budget: float | None


def look_in_stages(source: Source, question: Question, scheduler: SchedulerOptions) -> View:
    """Return the cluster as far as it has to be read to answer.

    Raises:
        ClusterError: a list that is needed cannot be had.
        UsageError: the release or the scheduler's configuration makes no sense.
    """
    whole = next(read for read in question.reads if read.kind == kinds.POD)
    first = claiming(StagedSource(source, question.namespaces), question.specs)
    view = look(first, question.reads, scheduler)
    with naming_the_malformed(source.name, view.snapshot):
        view = settle(source, view, whole, question.needed)
        if not view.snapshot.inventory.not_read:
            return view
        seconds = seconds_for(question.fix_budget, len(view.snapshot.nodes)) * TO_READ
        changing = partial(to_change, question.asked(view), question.limits)
        return extended(source, view, whole, FixBudget(seconds, 1).within(changing))


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


def settle(source: Source, view: View, whole: Read, needed: Needed) -> View:
    """Return the view once nothing more is needed.

    Args:
        source: the whole cluster.
        view: what was read first.
        whole: the read for all Pods.
        needed: what has to be read next, as far as the view tells.

    Raises:
        ClusterError: a list that is needed cannot be had.
    """
    while view.snapshot.inventory.not_read and (need := needed(view)):
        view = extended(source, view, whole, need)
    return view


def extended(source: Source, view: View, whole: Read, need: Need) -> View:
    """Return the view with what is needed; the same where nothing is.

    Raises:
        ClusterError: a list that is needed cannot be had.
    """
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

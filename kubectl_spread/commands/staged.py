"""Reads a large cluster in stages: what decides most comes first, and what decides nothing is left out.

1. Read at one version: Nodes, the Pods of the namespaces that count, and what else the question needs. Pods without a
   node are read with them, from an index; they may be a little newer.
2. Reject nodes. The rejections are final, because unread Pods can only make fewer nodes feasible (see
   ``scheduler.unread_nodes``). Spread counts and required affinity could make more nodes feasible; their namespaces are
   read in stage 1. Where they are not, and where devices are claimed, all Pods are read.
3. Read the Pods of the nodes that are left, one node at a time while the nodes are few, else all Pods.

``read_planner`` decides what to read next, from what was read so far. A Pod that no node can take is found with few
reads. Where a Pod finds a node, all Pods are read to confirm it, because any Pod may prevent it (not with
``--read=needed``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from kubectl_spread.cluster.reads import Read, widen_versions
from kubectl_spread.commands.bad_objects import reporting_bad_objects
from kubectl_spread.commands.read_sets import WHOLE_CLUSTER_PODS, read_with_devices
from kubectl_spread.commands.source import ReadLimits, ReadLists, ReadMode, Source
from kubectl_spread.commands.view import SchedulerOptions, View, look, reading_devices
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import PodSpec
from kubectl_spread.snapshot import Inventory, PodsRead, oldest, together
from kubectl_spread.wording.words import count_of

if TYPE_CHECKING:
    from kubectl_spread.commands.read_planner import Asked, Need

READ_SHARE = 0.25  # The part of the time for fixes (0 to 1) that may go into planning which Pods they need


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What a cluster is read for, where a large one need not be read whole."""

    reads: Sequence[Read]  # which lists are needed where the cluster is read whole
    namespaces: Sequence[str]  # whose Pods are read in any case
    specs: Sequence[PodSpec] = ()  # of Pods that are asked about and are not in the cluster
    needed: Callable[[View], Need]  # a view → what has to be read next
    # a view → the Pods for which fixes are searched; None where none are searched
    asked: Callable[[View], Asked] | None = None
    limits: ReadLimits
    # the largest part of all Pods (0 to 1) that the first stage may read; None for no limit
    first_part: float | None = None
    # seconds that all searches for fixes may take; None for the default of the cluster's size
    fix_budget: float | None = None


def pods_of_large(source: Source, namespaces: Sequence[str], read: ReadMode) -> int:
    """Return how many Pods the cluster has (count) where it is read in stages; 0 where it is read whole.

    An empty name among the namespaces that are asked about means all, whose Pods are read in any case.
    """
    counted = source.count_pods() if all(namespaces) and read not in {"all", "watched"} else 0
    return counted if counted > WHOLE_CLUSTER_PODS else 0


def look_for(source: Source, question: Question, scheduler: SchedulerOptions, *, read: ReadMode) -> View:
    """Return as much of the cluster as the answer needs; errors as for ``look``."""
    if pods := pods_of_large(source, question.namespaces, read):
        return _look_in_stages(source, question, scheduler, all_pods=pods)
    read_lists = reading_devices(source, question.specs, at_once=read == "watched")
    return look(source, question.reads, scheduler, read_lists)


def _look_in_stages(source: Source, question: Question, scheduler: SchedulerOptions, *, all_pods: int) -> View:
    # Only large clusters need these.
    from kubectl_spread.commands.fix_budget import FixBudget, seconds_for
    from kubectl_spread.commands.read_planner import MOST_NAMESPACES, Need, to_change

    def is_small(namespaces: Iterable[str]) -> bool:
        part = question.first_part
        return part is None or sum(map(source.count_pods, namespaces)) <= part * all_pods

    def needed(view: View) -> Need:
        need = question.needed(view)
        return need if is_small(need.namespaces) else Need(whole=True, why="affinity selects many Pods")

    if len(question.namespaces) > MOST_NAMESPACES or not is_small(question.namespaces):
        return look(source, question.reads, scheduler, reading_devices(source, question.specs))
    whole = next(read for read in question.reads if read.kind == kinds.POD)
    first = partial(_read_first_stage, source.read, frozenset(question.namespaces))
    view = look(source, question.reads, scheduler, partial(read_with_devices, first, specs=question.specs))
    with reporting_bad_objects(source.name, view.snapshot):
        while view.snapshot.inventory.not_read and (need := needed(view)):
            view = _extend(source, view, whole, need)
        if question.asked is None or not view.snapshot.inventory.not_read:
            return view
        seconds = seconds_for(question.fix_budget, len(view.snapshot.nodes)) * READ_SHARE
        changing = partial(to_change, question.asked(view), question.limits)
        return _extend(source, view, whole, FixBudget(seconds, 1).within(changing))


def _read_first_stage(read: ReadLists, namespaces: frozenset[str], reads: Sequence[Read]) -> Inventory:
    """Read the lists; of Pods only those of the namespaces and those without a node."""
    others = [each for each in reads if each.kind != kinds.POD]
    if len(others) == len(reads):
        return read(reads)
    unbound = Read(kinds.POD, field_selector="spec.nodeName=", not_older=True)
    # Where both lists hold a Pod, the later one counts: it is of the common version.
    of_namespaces = (Read(kinds.POD, namespace) for namespace in sorted(namespaces))
    inventory = read([*others, unbound, *of_namespaces])
    names = frozenset(node.metadata.name for node in inventory.objects.get(kinds.NODE.name, ()))
    return replace(inventory, pods_read=PodsRead(namespaces, names))


def _extend(source: Source, view: View, whole: Read, need: Need) -> View:
    if not need:
        return view
    source.log.say(f"{_describe(need, view)}: {need.why}")
    return view.with_inventory(_read_more(source, view.snapshot.inventory, need, whole))


def _describe(need: Need, view: View) -> str:
    if need.whole:
        return "reading all Pods"
    nodes, namespaces = len(need.nodes), len(need.namespaces)
    of_nodes = f"{nodes:,} of {len(view.snapshot.nodes):,} nodes"
    parts = [part for part, wanted in ((of_nodes, nodes), (count_of(namespaces, "namespace"), namespaces)) if wanted]
    return f"reading the Pods of {' and '.join(parts)}"


def _read_more(source: Source, before: Inventory, need: Need, whole: Read) -> Inventory:
    # It brings the HTTP client, which files do not need.
    from kubectl_spread.cluster.net.failures import StatusError

    if need.whole:
        return _read_whole(source, before, whole)
    reads = [Read(kinds.POD, name) for name in sorted(need.namespaces)]
    if need.nodes:
        reads.append(Read(kinds.POD, on_nodes=tuple(sorted(need.nodes))))
    try:
        return _with_pods(before, source.read(reads), need)
    except StatusError as error:
        # Somebody who may no longer list all Pods may list those of a namespace: the whole list falls back to that.
        source.log.say(f"{error.message}; reading all Pods")
        return _read_whole(source, before, whole)


def _read_whole(source: Source, before: Inventory, whole: Read) -> Inventory:
    others = {kind: found for kind, found in before.objects.items() if kind != kinds.POD.name}
    versions = {plural: version for plural, version in before.resource_versions.items() if plural != kinds.POD.plural}
    return together(replace(before, objects=others, resource_versions=versions, pods_read=None), source.read([whole]))


def _with_pods(before: Inventory, more: Inventory, need: Need) -> Inventory:
    """Return both; of namespaces that were read whole before, no newer Pods are taken."""
    read = before.pods_read or PodsRead(frozenset(), frozenset())
    namespaces = read.namespaces | need.namespaces
    pods = {each.key: each for each in before.objects[kinds.POD.name]}
    for each in more.objects.get(kinds.POD.name, ()):
        if each.metadata.namespace not in read.namespaces:
            pods[each.key] = each
    plural = kinds.POD.plural
    versions = before.resource_versions
    first, then = versions.get(plural, ""), more.resource_versions.get(plural, "")
    return replace(
        before,
        objects={**before.objects, kinds.POD.name: tuple(pods.values())},
        resource_versions={**versions, plural: widen_versions(first, then)} if then else versions,
        unread=tuple(dict.fromkeys((*before.unread, *more.unread))),
        apart=before.apart or more.apart or (bool(need.namespaces) and oldest(first) != oldest(then)),
        pods_read=PodsRead(namespaces, read.not_on - need.nodes),
    )

"""One scheduling cycle: every filter on every node, the scheduler's first rejection marked, feasible nodes scored.

Source: kube-scheduler schedule_one.go findNodesThatFitPod, framework/runtime/framework.go RunPreFilterPlugins,
framework/types.go FitError.Error (v1.36). Not modelled: the node that the Pod itself is nominated to (upstream tries it
first), extenders, PodGroups.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import filterfalse
from types import MappingProxyType
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import (
    balanced_allocation,
    deferredpodscheduling,
    dynamicresources,
    imagelocality,
    interpodaffinity,
    nodeaffinity,
    nodedeclaredfeatures,
    nodename,
    nodeports,
    noderesources,
    nodeunschedulable,
    nodevolumelimits,
    podtopologyspread,
    podtopologyspread_scoring,
    tainttoleration,
    unread_nodes,
    volumebinding,
    volumerestrictions,
    volumezone,
)
from kubectl_spread.scheduler.framework import (
    SUCCESS,
    Code,
    Handle,
    PreFilterResult,
    Scores,
    Status,
    unresolvable,
)
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.prefilter_extensions import (
    Filters,
    NodeCycleState,
    nominated_before,
)
from kubectl_spread.scheduler.profile import Behaviour, Profile
from kubectl_spread.scheduler.resource import is_resize_deferred

PRE_FILTER_RESULT = "PreFilterResult"
"""The plugin of a rejection where others had left only some nodes, and not this one."""
OF_DEFERRED_RESIZES = frozenset((nodename.NAME, deferredpodscheduling.NAME, noderesources.NAME))
"""The filters that judge a Pod on its own node, where its resize waits for room."""
NO_NODES = "no nodes available to schedule pods"


PreFilter: TypeAlias = Callable[[Pod, Handle], PreFilterResult | Status]
PreScore: TypeAlias = Callable[[Pod, Handle, Sequence[NodeInfo]], Scores | Status | None]

PRE_FILTERS: Mapping[str, PreFilter] = {
    plugin.NAME: plugin.pre_filter
    for plugin in (
        nodeunschedulable,
        nodename,
        tainttoleration,
        nodeaffinity,
        nodeports,
        deferredpodscheduling,
        noderesources,
        volumerestrictions,
        nodevolumelimits,
        volumebinding,
        volumezone,
        podtopologyspread,
        interpodaffinity,
        dynamicresources,
        nodedeclaredfeatures,
        unread_nodes,
    )
}
"""Filter plugin → its PreFilter; the order of a profile decides which runs first."""

PRE_SCORES: Mapping[str, PreScore] = {
    plugin.NAME: plugin.pre_score
    for plugin in (
        tainttoleration,
        nodeaffinity,
        noderesources,
        volumebinding,
        podtopologyspread_scoring,
        interpodaffinity,
        dynamicresources,
        balanced_allocation,
        imagelocality,
    )
}
"""Score plugin → the function that scores the feasible nodes."""


class Rejection(msgspec.Struct, frozen=True):
    """A plugin that keeps the Pod off a node, or off all nodes.

    Attributes:
        plugin: its name; PreFilterResult where other plugins had narrowed the node away before.
        nominated: the Pods, not on the node yet, without which it would not reject it.
    """

    plugin: str
    status: Status
    nominated: tuple[Pod, ...] = ()


class NodeVerdict(msgspec.Struct, frozen=True):
    """What became of one node.

    Attributes:
        first: the rejection at which kube-scheduler stops; None where the node is feasible.
        rejections: every filter that rejects the node, in the profile's order.
        scores: score plugin → weighted, normalised score, and their ``total``; empty where the node is not feasible.
    """

    name: str
    first: Rejection | None
    rejections: tuple[Rejection, ...]
    scores: Mapping[str, int]


NO_SCORES: Mapping[str, int] = MappingProxyType({})


class Evaluation(msgspec.Struct, frozen=True):
    """What kube-scheduler decides about one Pod.

    Attributes:
        nodes: node's name → what became of it, by name.
        pre_filter: the plugin that rejected the Pod before any node was looked at, None for none.
        narrowed: plugin → the only nodes that it leaves; plugins that leave all of them are absent.
        filters: the filters that judged the Pod, for dry runs.
        broken: the plugin that broke, on whatever node; the scheduler says nothing else then, and the Pod goes nowhere.
    """

    pod: Pod
    nodes: Mapping[str, NodeVerdict]
    pre_filter: Rejection | None = None
    narrowed: Mapping[str, frozenset[str]] = msgspec.field(default_factory=lambda: MappingProxyType({}))
    not_modelled: tuple[str, ...] = ()
    filters: Filters = ()
    broken: Rejection | None = None

    @property
    def feasible(self) -> tuple[str, ...]:
        """The nodes that no filter rejects: best total score first, then by name."""
        fits = (verdict for verdict in self.nodes.values() if verdict.first is None)
        return tuple(v.name for v in sorted(fits, key=lambda v: (-v.scores.get("total", 0), v.name)))

    @property
    def undecided(self) -> bool:
        """Whether Pods that were not read decide about a node."""
        return any(verdict.first and verdict.first.plugin == unread_nodes.NAME for verdict in self.nodes.values())

    @property
    def message(self) -> str:
        """What the scheduler says of a Pod it cannot place, without preemption; empty when it can.

        Source: kube-scheduler framework/types.go FitError.Error (v1.36).
        """
        if not self.nodes:
            return NO_NODES
        if any(verdict.first is None for verdict in self.nodes.values()):
            return ""
        # An error is no verdict on nodes, so they are not counted.
        if self.broken:
            return ", ".join(self.broken.status.reasons)
        # The reasons of a plugin that rejected the whole Pod carry no counts.
        reasons = self.pre_filter.status.reasons if self.pre_filter else ()
        said = ", ".join(reasons or sorted(f"{n} {r}" for r, n in self._reasons().items()))
        return f"0/{len(self.nodes)} nodes are available: {said}."

    def _reasons(self) -> Counter[str]:
        """Return reason → nodes (count) whose first rejection gives it."""
        reasons: Counter[str] = Counter()
        for first in filter(None, (verdict.first for verdict in self.nodes.values())):
            if first.plugin == PRE_FILTER_RESULT:
                reasons[f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(self.narrowed))}]"] += 1
            else:
                # A node counts under each reason of its first filter: the numbers can exceed that of the nodes.
                reasons.update(first.status.reasons)
        return reasons


class _PreFiltered(msgspec.Struct, frozen=True):
    """What the PreFilter pass found.

    Attributes:
        filters: (plugin, its result), in the profile's order; skipped plugins left out.
        rejection: the first plugin that rejected the whole Pod.
        narrowed: plugin → the only nodes that it leaves.
    """

    filters: Filters
    rejection: Rejection | None
    narrowed: Mapping[str, frozenset[str]]

    @property
    def results(self) -> Iterator[PreFilterResult]:
        """What filters found that look at nodes: all of them, where none has rejected the whole Pod."""
        return (result for _, result in self.filters if isinstance(result, PreFilterResult))

    @property
    def left(self) -> frozenset[str]:
        return frozenset.intersection(*self.narrowed.values())

    def names(self, handle: Handle) -> frozenset[str]:
        return self.left & handle.index.names if self.narrowed else handle.index.names


def evaluate(pod: Pod, handle: Handle) -> Evaluation:
    """Return what kube-scheduler decides about the Pod, with every filter's verdict on every node.

    Source: schedule_one.go findNodesThatPassFilters (v1.36).
    """
    found = _pre_filter(pod, handle)
    rejections = _rejections(pod, found, handle)
    first = _first_rejections(found, rejections, handle)
    # upstream: one node on which a filter breaks keeps the Pod off all the others, however well it fits there.
    # differs: of several such nodes upstream tells of any, and among over 100 it may find enough others before it.
    broken = next((each for each in first.values() if each and each.status.code is Code.ERROR), None)
    # Scores are relative: they are given to the feasible nodes alone, and normalised among them.
    feasible = [info for name, info in handle.node_infos.items() if first[name] is None]
    scores = {} if broken else _scores(pod, handle, feasible)
    if isinstance(scores, Rejection):
        broken, scores = scores, {}
    if broken:
        rejections = {**rejections, **{info.name: (broken,) for info in feasible}}
        first = {**first, **{info.name: broken for info in feasible}}
    return Evaluation(
        pod=pod,
        nodes={
            name: NodeVerdict(name, first[name], tuple(rejections.get(name, ())), scores.get(name, NO_SCORES))
            for name in handle.node_infos
        },
        pre_filter=found.rejection,
        narrowed=found.narrowed,
        not_modelled=_not_modelled(handle.profile),
        filters=found.filters,
        broken=broken,
    )


def evaluate_briefly(pod: Pod, handle: Handle) -> Evaluation:
    """Return the same of no more than one node, where that takes the Pod; it is not scored."""
    name = feasible_node(pod, handle)
    # Whether nodes have the devices that it claims is asked of all that are left.
    if not name or dynamicresources.undecided(pod, handle, handle.node_infos.values()):
        return evaluate(pod, handle)
    verdict = NodeVerdict(name, None, (), NO_SCORES)
    return Evaluation(pod=pod, nodes={name: verdict}, not_modelled=_not_modelled(handle.profile))


def feasible_nodes(pod: Pod, handle: Handle) -> tuple[str, ...]:
    """Return ``evaluate(pod, handle).feasible``, in less time: a node is left at the first filter that rejects it."""
    # Best first; among equals upstream draws, we go by name.
    totals = total_scores(pod, handle)
    return tuple(sorted(totals, key=lambda name: (-totals[name], name)))


def feasible_node(pod: Pod, handle: Handle) -> str:
    """Return the first feasible node, empty where there is none, in still less time: none is scored."""
    found = _pre_filter(pod, handle)
    if found.rejection is not None:
        return ""
    # A filter that has to look at each node may break on one, and then no other takes the Pod.
    if nominated_before(pod, handle) or any(result.suspects is None for result in found.results):
        return min(_passing(pod, found, handle), default="")
    doubtful = frozenset[str]().union(*(result.suspects or () for result in found.results))
    names = found.names(handle)
    in_order = sorted(names) if found.narrowed else handle.node_infos
    # On most nodes there is nothing to ask; where the first thousands are full, this is still no loop of Python's own.
    if clear := next(filterfalse(doubtful.__contains__, in_order), ""):
        return clear
    certain = frozenset[str]().union(*(result.suspects or () for result in found.results if result.certain))
    filters = [result.filter_node for result in found.results]
    infos = ((name, handle.node_infos[name]) for name in sorted(names - certain))
    return next((name for name, info in infos if not any(each(info).rejected for each in filters)), "")


def not_read(pod: Pod, handle: Handle, *, most: int) -> tuple[str, ...]:
    """Return nodes, no more than so many, whose Pods decide whether any node is feasible.

    None do where a node that was read is feasible already, or what was read keeps the Pod from all of them.
    """
    found, unread = _pre_filter(pod, handle), handle.snapshot.inventory.not_read
    if found.rejection is not None or not unread:
        return ()
    of_kube_scheduler = tuple((name, result) for name, result in found.filters if name != unread_nodes.NAME)
    left = _passing(pod, replace(found, filters=of_kube_scheduler), handle)
    if not unread.issuperset(left):
        return ()
    return tuple(name for name in handle.node_infos if name in left)[:most]


def rejected_by(plugins: Collection[str], pod: Pod, handle: Handle) -> frozenset[str]:
    """Return the nodes that any of these filters rejects, by name; the profile's others are not asked."""
    filters = tuple(name for name in handle.profile.filters if name in plugins)
    found = _pre_filter(pod, replace(handle, profile=replace(handle.profile, filters=filters)))
    results = (result for name, result in found.filters if name in filters)
    return frozenset(name for result in results for name, _ in _rejected(result, handle.index.names, handle))


Sample: TypeAlias = Callable[[Collection[str], int, Handle], Collection[str]]
"""The nodes that fit, how many are enough, and the cluster → those that the scheduler comes upon."""


def best_nodes(pod: Pod, handle: Handle, sample: Sample | None = None) -> tuple[str, ...]:
    """Return the nodes of which the scheduler takes one, by name: where it has made room, else the highest-scored.

    Args:
        pod: the Pod.
        handle: the cluster.
        sample: the nodes that are scored where there are more than enough; None for all.

    Source: kube-scheduler schedule_one.go evaluateNominatedNode, selectHost (v1.36).
    """
    return best_of(total_scores(pod, handle, sample), pod)


def best_of(totals: Mapping[str, int], pod: Pod) -> tuple[str, ...]:
    """Return the nodes of which the scheduler takes one, by name, from their ``total_scores``."""
    if pod.status.nominated_node_name in totals:
        return (pod.status.nominated_node_name,)
    highest = max(totals.values(), default=0)
    return tuple(sorted(name for name, total in totals.items() if total == highest))


def total_scores(pod: Pod, handle: Handle, sample: Sample | None = None) -> Mapping[str, int]:
    """Return feasible node's name → its score in all, in no order; 0 where it alone is feasible, and taken as it is.

    ``sample`` is that of ``best_nodes``.
    """
    found = _pre_filter(pod, handle)
    if found.rejection is not None:
        return {}
    left = _passing(pod, found, handle)
    if sample is not None:
        left = _sampled(pod, left, sample, handle, of=len(found.names(handle)))
    if len(left) == 1:
        return dict.fromkeys(left, 0)
    names = sorted(left)
    columns = _columns(pod, handle, [handle.node_infos[name] for name in names])
    if isinstance(columns, Rejection):
        return {}
    totals = dict.fromkeys(names, 0)
    for _, weight, scored in columns:
        if any(scored.values()):  # of some plugins no node has any
            for name, score in scored.items():
                totals[name] += weight * score
    return totals


def _sampled(pod: Pod, left: Collection[str], sample: Sample, handle: Handle, *, of: int) -> Collection[str]:
    """Return those of the nodes left that are scored; a Pod's nominated node is looked at before any other."""
    if pod.status.nominated_node_name in left:
        return (pod.status.nominated_node_name,)
    wanted = handle.profile.nodes_to_score(of)
    return sample(left, wanted, handle) if len(left) > wanted else left


def _passing(pod: Pod, found: _PreFiltered, handle: Handle) -> Collection[str]:
    names = found.names(handle)
    nominated = {name: pods for name, pods in nominated_before(pod, handle).items() if name in names}
    said = {
        name: NodeCycleState(handle.node_infos[name], found.filters).verdict(pods) for name, pods in nominated.items()
    }
    left = set(names - nominated.keys())
    for result in found.results:
        if result.certain:
            left.difference_update(result.suspects or ())
            continue
        rejected = dict(_rejected(result, left, handle))
        left.difference_update(rejected)
        said |= rejected
    if any(status.code is Code.ERROR for status in said.values()):
        return ()
    return left.union(name for name in nominated if not said[name].rejected)


def _pre_filter(pod: Pod, handle: Handle) -> _PreFiltered:
    """Run every PreFilter; upstream stops at the first that rejects the Pod, for none of ours leaves hope.

    Source: framework/runtime/framework.go RunPreFilterPlugins (v1.36).
    """
    filters: list[tuple[str, PreFilterResult | Status]] = []
    rejection: Rejection | None = None
    narrowed: dict[str, frozenset[str]] = {}
    for name in _filters_of(pod, handle.profile):
        result = PRE_FILTERS[name](pod, handle)
        # Skip, or a rejection of the Pod on every node.
        if isinstance(result, Status):
            if not result.rejected:
                continue
            rejection = rejection or Rejection(name, _passed_on(f'PreFilter plugin "{name}"', result))
        elif result.node_names is not None:
            narrowed[name] = result.node_names
            # Each leaves some node, but together none.
            if rejection is None and not frozenset.intersection(*narrowed.values()):
                reason = f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(narrowed))}] simultaneously"
                rejection = Rejection(PRE_FILTER_RESULT, unresolvable(reason))
        # A rejection of all nodes stays too: it is a reason on each of them.
        filters.append((name, result))
    return _PreFiltered(tuple(filters), rejection, narrowed)


def _not_modelled(profile: Profile) -> tuple[str, ...]:
    return tuple(name for name in profile.filters if name not in PRE_FILTERS)


def _filters_of(pod: Pod, profile: Profile) -> Iterator[str]:
    """Yield the modelled filters that judge the Pod, in the profile's order.

    Source: the PreFilter of each plugin that skips a deferred resize (v1.37).
    """
    # It runs, so the other filters have let it onto its node long ago.
    resized = profile.does(Behaviour.RESIZE_PREEMPTION) and is_resize_deferred(pod)
    for name in profile.filters:
        if name in PRE_FILTERS and not (resized and name not in OF_DEFERRED_RESIZES):
            yield name
    yield unread_nodes.NAME


def _rejections(pod: Pod, found: _PreFiltered, handle: Handle) -> Mapping[str, Sequence[Rejection]]:
    """Return node's name → every filter that rejects it; nodes that none rejects are absent.

    They are in the profile's order, but those that do not mind the nominated Pods come after those that do.
    """
    rejections: dict[str, list[Rejection]] = defaultdict(list)
    for plugin, result in found.filters:
        for name, status in _rejected(result, handle.node_infos.keys(), handle):
            rejections[name].append(Rejection(plugin, status))
    for name, pods in nominated_before(pod, handle).items():
        if name in handle.node_infos:
            rejections[name] = _rejected_twice(NodeCycleState(handle.node_infos[name], found.filters), pods)
    return {name: rejected for name, rejected in rejections.items() if rejected}


def _rejected(
    result: PreFilterResult | Status, names: AbstractSet[str], handle: Handle
) -> Iterator[tuple[str, Status]]:
    if isinstance(result, Status):
        yield from ((name, result) for name in names)
        return
    for name in names if result.suspects is None else names & result.suspects:
        status = result.filter_node(handle.node_infos[name])
        if status is not SUCCESS and status.rejected:
            yield name, status


def _rejected_twice(run: NodeCycleState, nominated: Sequence[Pod]) -> list[Rejection]:
    """Return what rejects the node with the nominated Pods on it, then what else rejects it without them."""
    # upstream asks without them only where all passed with them; both are told here, for either is in the way.
    without, with_them = dict(run.rejections()), dict(run.with_pods(nominated).rejections())
    return [
        *(Rejection(name, said, () if name in without else tuple(nominated)) for name, said in with_them.items()),
        *(Rejection(name, said) for name, said in without.items() if name not in with_them),
    ]


def _first_rejections(
    found: _PreFiltered, rejections: Mapping[str, Sequence[Rejection]], handle: Handle
) -> Mapping[str, Rejection | None]:
    if found.rejection is not None:
        return dict.fromkeys(handle.node_infos, found.rejection)
    first = {name: _named(rejections[name][0]) if name in rejections else None for name in handle.node_infos}
    if found.narrowed:
        left_out = Rejection(PRE_FILTER_RESULT, unresolvable())
        # No filter ever sees these nodes; ours did, so that every reason can be told.
        first |= dict.fromkeys(handle.index.names.difference(found.left), left_out)
    return first


_Columns: TypeAlias = Sequence[tuple[str, int, Mapping[str, int]]]
"""Score plugin, its weight, and feasible node's name → its normalised score (0..100)."""


def _scores(pod: Pod, handle: Handle, feasible: Sequence[NodeInfo]) -> Mapping[str, Mapping[str, int]] | Rejection:
    """Return feasible node's name → score plugin → weighted, normalised score, and their ``total``."""
    columns = _columns(pod, handle, feasible)
    if isinstance(columns, Rejection):
        return columns
    scores = {}
    for info in feasible:
        name = info.name
        of_node = {plugin: weight * scored[name] for plugin, weight, scored in columns}
        of_node["total"] = sum(of_node.values())
        scores[name] = of_node
    return scores


def _columns(pod: Pod, handle: Handle, feasible: Sequence[NodeInfo]) -> _Columns | Rejection:
    """Return what each plugin scores.

    Where a plugin cannot score, return what it says: the Pod then goes nowhere. But a node that alone is feasible is
    taken without any score.

    Source: schedule_one.go schedulePod, framework/runtime/framework.go RunPreScorePlugins (v1.36).
    """
    if not feasible:
        return ()
    columns = []
    for plugin, weight in handle.profile.weights.items():
        scored = PRE_SCORES[plugin](pod, handle, feasible) if plugin in PRE_SCORES else None
        if isinstance(scored, Status):
            # upstream: one feasible node is taken as it is.
            if len(feasible) > 1:
                return Rejection(plugin, _passed_on(f'PreScore plugin "{plugin}"', scored))
        elif scored is not None:
            columns.append((plugin, weight, scored))
    return columns


def _named(rejection: Rejection) -> Rejection:
    if rejection.status.code is not Code.ERROR:  # as almost always, on each of thousands of nodes
        return rejection
    return replace(rejection, status=_passed_on(f'"{rejection.plugin}" filter plugin', rejection.status))


def _passed_on(plugin: str, status: Status) -> Status:
    """Return the status as the framework passes it on: it says of an error where it happened."""
    if status.code is not Code.ERROR:
        return status
    return Status(status.code, tuple(f"running {plugin}: {why}" for why in status.reasons))

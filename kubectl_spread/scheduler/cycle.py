"""One scheduling cycle: every filter on every node, the rejection that upstream reports, and the scores.

Source: kube-scheduler schedule_one.go findNodesThatFitPod, framework/runtime/framework.go RunPreFilterPlugins,
framework/types.go FitError.Error (v1.36). Not modelled: the node that the Pod itself is nominated to (upstream tries it
first), extenders, PodGroups.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
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
from kubectl_spread.scheduler.framework import SUCCESS, Code, Handle, PreFilterResult, Scores, Status, unresolvable
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.prefilter_extensions import Filters, NodeCycleState, nominated_before
from kubectl_spread.scheduler.profile import Behaviour, Profile
from kubectl_spread.scheduler.resource import is_resize_deferred

PRE_FILTER_RESULT = "PreFilterResult"  # The plugin of a rejection where other plugins' PreFilter excluded the node
# The filters that judge a running Pod whose resize is deferred.
JUDGES_OF_DEFERRED_RESIZES = frozenset(
    (nodename.NAME, deferredpodscheduling.NAME, noderesources.NAME, unread_nodes.NAME)
)
NO_NODES = "no nodes available to schedule pods"


PreFilter: TypeAlias = Callable[[Pod, Handle], PreFilterResult | Status]
PreScore: TypeAlias = Callable[[Pod, Handle, Sequence[NodeInfo]], Scores | Status | None]

# Filter plugin → its PreFilter; the order of a profile decides which runs first.
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

# Score plugin → the function that scores the feasible nodes.
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


class Rejection(msgspec.Struct, frozen=True):
    """A plugin that rejects one node, or all."""

    plugin: str  # its name; PreFilterResult where other plugins' PreFilter excluded the node
    status: Status
    nominated: tuple[Pod, ...] = ()  # the nominated Pods without which it would not reject the node


class NodeVerdict(msgspec.Struct, frozen=True):
    """The result for one node."""

    name: str
    first: Rejection | None  # the rejection that kube-scheduler reports; None where the node is feasible
    rejections: tuple[Rejection, ...]  # every filter that rejects the node, in the profile's order
    # score plugin → weighted, normalised score, and their ``total``; empty where the node is not feasible
    scores: Mapping[str, int]


NO_SCORES: Mapping[str, int] = MappingProxyType({})


class Evaluation(msgspec.Struct, frozen=True):
    """What kube-scheduler decides about one Pod."""

    pod: Pod
    nodes: Mapping[str, NodeVerdict]  # node's name → its result, sorted by name
    pre_filter: Rejection | None = None  # the plugin that rejected the Pod before any node was filtered, None for none
    # plugin → the only nodes that its PreFilter leaves; plugins that leave all nodes are absent
    narrowed: Mapping[str, frozenset[str]] = msgspec.field(default_factory=lambda: MappingProxyType({}))
    not_modelled: tuple[str, ...] = ()
    filters: Filters = ()  # the filters that judged the Pod, for dry runs
    # the plugin that failed on any node; the scheduler reports only this, and the Pod is not scheduled
    broken: Rejection | None = None

    @property
    def feasible(self) -> tuple[str, ...]:
        """The feasible nodes: highest total score first, then by name."""
        fits = (verdict for verdict in self.nodes.values() if verdict.first is None)
        return tuple(v.name for v in sorted(fits, key=lambda v: (-v.scores.get("total", 0), v.name)))

    @property
    def undecided(self) -> bool:
        """Whether Pods that were not read decide about a node."""
        return any(verdict.first and verdict.first.plugin == unread_nodes.NAME for verdict in self.nodes.values())

    @property
    def message(self) -> str:
        """The scheduler's message about a Pod that it cannot place, without preemption; empty if a node is feasible.

        Source: kube-scheduler framework/types.go FitError.Error (v1.36).
        """
        if not self.nodes:
            return NO_NODES
        if any(verdict.first is None for verdict in self.nodes.values()):
            return ""
        # An error is no verdict on nodes, so they are not counted.
        if self.broken:
            return ", ".join(self.broken.status.reasons)
        # The reasons of a plugin that rejected the whole Pod have no counts.
        reasons = self.pre_filter.status.reasons if self.pre_filter else ()
        listed = ", ".join(reasons or sorted(f"{n} {r}" for r, n in self._count_reasons().items()))
        return f"0/{len(self.nodes)} nodes are available: {listed}."

    def _count_reasons(self) -> Counter[str]:
        reasons: Counter[str] = Counter()
        for first in filter(None, (verdict.first for verdict in self.nodes.values())):
            if first.plugin == PRE_FILTER_RESULT:
                reasons[f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(self.narrowed))}]"] += 1
            else:
                # A node counts once for each reason of its first filter: the sum can exceed the number of nodes.
                reasons.update(first.status.reasons)
        return reasons


class _PreFiltered(msgspec.Struct, frozen=True):
    """The results of all PreFilters."""

    filters: Filters
    rejection: Rejection | None  # the first plugin that rejected the whole Pod
    narrowed: Mapping[str, frozenset[str]]  # plugin → the only nodes that it leaves
    names: frozenset[str]  # the nodes that all plugins leave

    @property
    def results(self) -> list[PreFilterResult]:
        return [result for _, result in self.filters]


def evaluate(pod: Pod, handle: Handle) -> Evaluation:
    """Return what kube-scheduler decides about the Pod, with every filter's verdict on every node.

    Source: schedule_one.go findNodesThatPassFilters (v1.36).
    """
    found = _run_pre_filters(pod, handle)
    rejections = _reject_nodes(pod, found, handle)
    first = _first_rejections(found, rejections, handle)
    # upstream: if a filter fails on one node, the Pod is scheduled on no node at all.
    # differs: of several such nodes upstream reports any, and with over 100 nodes it may find enough others first.
    broken = next((each for each in first.values() if each and each.status.code is Code.ERROR), None)
    # Scores are relative: only feasible nodes get them, and they are normalised among these.
    feasible = [info for name, info in handle.node_infos.items() if first[name] is None]
    columns = () if broken else _run_score_plugins(pod, handle, feasible)
    if isinstance(columns, Rejection):
        broken, columns = columns, ()
    if broken:
        first |= dict.fromkeys((info.name for info in feasible), broken)
        rejections |= {info.name: [broken] for info in feasible}
    scores = {} if broken else {info.name: _scores_of(info.name, columns) for info in feasible}
    return Evaluation(
        pod=pod,
        nodes={
            name: NodeVerdict(name, rejection, tuple(rejections.get(name, ())), scores.get(name, NO_SCORES))
            for name, rejection in first.items()
        },
        pre_filter=found.rejection,
        narrowed=found.narrowed,
        not_modelled=not_modelled(handle.profile),
        filters=found.filters,
        broken=broken,
    )


def evaluate_briefly(pod: Pod, handle: Handle, *, every_node: bool = False) -> Evaluation:
    """Return ``evaluate``, but of only one feasible node, or ``every_node`` that is, without scores if there is one."""
    names = unscored_nodes(pod, handle) if every_node else filter(None, (feasible_node(pod, handle),))
    nodes = {name: NodeVerdict(name, None, (), NO_SCORES) for name in names}
    # Whether the nodes have the claimed devices is decided for all feasible nodes together.
    if not nodes or dynamicresources.undecided(pod, handle, handle.node_infos.values()):
        return evaluate(pod, handle)
    return Evaluation(pod=pod, nodes=nodes, not_modelled=not_modelled(handle.profile))


def feasible_nodes(pod: Pod, handle: Handle) -> tuple[str, ...]:
    """Return ``evaluate(pod, handle).feasible`` faster: no filter runs on a node that another one rejected."""
    # Highest first; upstream draws among equal nodes, we sort them by name.
    totals = total_scores(pod, handle)
    return tuple(sorted(totals, key=lambda name: (-totals[name], name)))


def unscored_nodes(pod: Pod, handle: Handle) -> tuple[str, ...]:
    """Return the feasible nodes by name, faster still: no plugin scores them."""
    return feasible_nodes(pod, replace(handle, profile=replace(handle.profile, weights={})))


def nodes_scored(evaluation: Evaluation, handle: Handle) -> int | None:
    """Return how many of the feasible nodes (count) the scheduler scores, from a start left to chance; None if all."""
    most = handle.profile.nodes_to_score(len(handle.node_infos))
    return most if len(evaluation.feasible) > most else None


def feasible_node(pod: Pod, handle: Handle) -> str:
    """Return the first feasible node by name, empty for none; faster than ``feasible_nodes``, as it scores no node."""
    found = _run_pre_filters(pod, handle)
    if found.rejection is not None:
        return ""
    # A filter that must be asked about each node may fail on one, and then no node is feasible.
    if nominated_before(pod, handle) or any(result.suspects is None for result in found.results):
        return min(_feasible_names(pod, found, handle), default="")
    suspects = frozenset[str]().union(*(result.suspects or () for result in found.results))
    in_order = sorted(found.names) if found.narrowed else handle.node_infos
    # Mostly a node that no filter suspects comes early; if thousands are full, this still avoids a loop in Python.
    if name := next(filterfalse(suspects.__contains__, in_order), ""):
        return name
    certain = frozenset[str]().union(*(result.suspects or () for result in found.results if result.certain))
    infos = (handle.node_infos[name] for name in sorted(found.names - certain))
    return next((i.name for i in infos if not any(each.filter_node(i).rejected for each in found.results)), "")


def not_read(pod: Pod, handle: Handle, *, most: int) -> tuple[str, ...]:
    """Return nodes (at most ``most``) whose unread Pods decide whether any node is feasible.

    Returns none if a fully read node is feasible, or if what was read rejects the Pod on all nodes.
    """
    found, unread = _run_pre_filters(pod, handle), handle.snapshot.inventory.not_read
    if found.rejection is not None or not unread:
        return ()
    of_kube_scheduler = tuple((name, result) for name, result in found.filters if name != unread_nodes.NAME)
    left = _feasible_names(pod, replace(found, filters=of_kube_scheduler), handle)
    if not unread.issuperset(left):
        return ()
    return tuple(name for name in handle.node_infos if name in left)[:most]


def rejected_by(plugins: Collection[str], pod: Pod, handle: Handle) -> frozenset[str]:
    """Return the nodes that any of these filters of the profile rejects, by name; no other filter runs."""
    narrowed = handle.with_filters(plugins)
    found = _run_pre_filters(pod, narrowed)
    results = (result for name, result in found.filters if name in narrowed.profile.filters)
    return frozenset(name for result in results for name, _ in _run_filter(result, handle.index.names, handle))


# The feasible nodes, how many the scheduler looks for, and the cluster → the nodes that it finds.
Sample: TypeAlias = Callable[[Collection[str], int, Handle], Collection[str]]


def best_nodes(pod: Pod, handle: Handle, sample: Sample | None = None) -> tuple[str, ...]:
    """Return the nodes from which the scheduler picks one, by name: the nominated node, else those with the best score.

    ``sample`` picks the nodes that are scored if more than enough are feasible; None scores all.

    Source: kube-scheduler schedule_one.go evaluateNominatedNode, selectHost (v1.36).
    """
    return best_of(total_scores(pod, handle, sample), pod)


def best_of(totals: Mapping[str, int], pod: Pod) -> tuple[str, ...]:
    """Return the nodes from which the scheduler picks one, by name, given their ``total_scores``."""
    if pod.status.nominated_node_name in totals:
        return (pod.status.nominated_node_name,)
    highest = max(totals.values(), default=0)
    return tuple(sorted(name for name, total in totals.items() if total == highest))


def total_scores(pod: Pod, handle: Handle, sample: Sample | None = None) -> Mapping[str, int]:
    """Return feasible node's name → total score, in no order; 0 for a single feasible node, which is not scored.

    ``sample`` is as in ``best_nodes``.
    """
    found = _run_pre_filters(pod, handle)
    if found.rejection is not None:
        return {}
    left = _feasible_names(pod, found, handle)
    if sample is not None:
        wanted = handle.profile.nodes_to_score(len(found.names))
        # The node that the Pod is nominated to is tried before all others.
        if pod.status.nominated_node_name in left:
            left = (pod.status.nominated_node_name,)
        elif len(left) > wanted:
            left = sample(left, wanted, handle)
    if len(left) == 1:
        return dict.fromkeys(left, 0)
    names = sorted(left)
    columns = _run_score_plugins(pod, handle, [handle.node_infos[name] for name in names])
    if isinstance(columns, Rejection):
        return {}
    totals = dict.fromkeys(names, 0)
    for _, weight, scores in columns:
        if any(scores.values()):  # many plugins score all nodes 0
            for name, score in scores.items():
                totals[name] += weight * score
    return totals


def _feasible_names(pod: Pod, found: _PreFiltered, handle: Handle) -> Collection[str]:
    nominated = {name: pods for name, pods in nominated_before(pod, handle).items() if name in found.names}
    verdicts = {
        name: NodeCycleState(handle.node_infos[name], found.filters).verdict(pods) for name, pods in nominated.items()
    }
    left = set(found.names - nominated.keys())
    for result in found.results:
        if result.certain:
            left.difference_update(result.suspects or ())
            continue
        rejected = dict(_run_filter(result, left, handle))
        left.difference_update(rejected)
        verdicts |= rejected
    if any(status.code is Code.ERROR for status in verdicts.values()):
        return ()
    return left.union(name for name in nominated if not verdicts[name].rejected)


def _run_pre_filters(pod: Pod, handle: Handle) -> _PreFiltered:
    """Run the PreFilter of every modelled plugin; upstream stops at the first that rejects the Pod.

    Source: framework/runtime/framework.go RunPreFilterPlugins, the PreFilters that skip a deferred resize (v1.37).
    """
    filters: list[tuple[str, PreFilterResult]] = []
    rejection: Rejection | None = None
    narrowed: dict[str, frozenset[str]] = {}
    # Such a Pod runs already: the other filters accepted its node before.
    deferred = handle.profile.does(Behaviour.RESIZE_PREEMPTION) and is_resize_deferred(pod)
    for name in (*handle.profile.filters, unread_nodes.NAME):
        if name not in PRE_FILTERS or (deferred and name not in JUDGES_OF_DEFERRED_RESIZES):
            continue
        result = PRE_FILTERS[name](pod, handle)
        if isinstance(result, Status):
            if not result.rejected:
                continue
            rejection = rejection or Rejection(name, _name_plugin(f'PreFilter plugin "{name}"', result))
            # The rejection is a reason on each node too.
            result = PreFilterResult(partial(_always, result))
        elif result.node_names is not None:
            narrowed[name] = result.node_names
            # Each leaves some node, but no node is left by all.
            if rejection is None and not frozenset.intersection(*narrowed.values()):
                reason = f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(narrowed))}] simultaneously"
                rejection = Rejection(PRE_FILTER_RESULT, unresolvable(reason))
        filters.append((name, result))
    return _PreFiltered(tuple(filters), rejection, narrowed, handle.index.names.intersection(*narrowed.values()))


def _always(status: Status, _node_info: NodeInfo) -> Status:
    return status


def not_modelled(profile: Profile) -> tuple[str, ...]:
    """Return the enabled filter plugins that are not modelled."""
    return tuple(name for name in profile.filters if name not in PRE_FILTERS)


def _reject_nodes(pod: Pod, found: _PreFiltered, handle: Handle) -> dict[str, list[Rejection]]:
    """Return node's name → every filter that rejects it, in the profile's order; other nodes are absent.

    On a node with nominated Pods, filters that reject only without these Pods come last.
    """
    rejections: dict[str, list[Rejection]] = defaultdict(list)
    for plugin, result in found.filters:
        for name, status in _run_filter(result, handle.node_infos.keys(), handle):
            rejections[name].append(Rejection(plugin, status))
    for name, pods in nominated_before(pod, handle).items():
        if name in handle.node_infos:
            state = NodeCycleState(handle.node_infos[name], found.filters)
            # upstream asks without the Pods only where all filters passed with them; here both are reported.
            without, with_pods = dict(state.rejections()), dict(state.changed(pods, 1).rejections())
            rejections[name] = [
                *(Rejection(each, status, () if each in without else pods) for each, status in with_pods.items()),
                *(Rejection(each, status) for each, status in without.items() if each not in with_pods),
            ]
    return {name: rejected for name, rejected in rejections.items() if rejected}


def _run_filter(result: PreFilterResult, names: AbstractSet[str], handle: Handle) -> Iterator[tuple[str, Status]]:
    for name in names if result.suspects is None else names & result.suspects:
        status = result.filter_node(handle.node_infos[name])
        if status is not SUCCESS and status.rejected:
            yield name, status


def _first_rejections(
    found: _PreFiltered, rejections: Mapping[str, Sequence[Rejection]], handle: Handle
) -> dict[str, Rejection | None]:
    if found.rejection is not None:
        return dict.fromkeys(handle.node_infos, found.rejection)
    first: dict[str, Rejection | None] = dict.fromkeys(handle.node_infos)
    for name, rejected in rejections.items():
        first[name] = rejection = rejected[0]
        if rejection.status.code is Code.ERROR:
            status = _name_plugin(f'"{rejection.plugin}" filter plugin', rejection.status)
            first[name] = replace(rejection, status=status)
    # Upstream filters only the nodes that PreFilter left; we filter all, to report every reason.
    excluded = Rejection(PRE_FILTER_RESULT, unresolvable())
    first.update(dict.fromkeys(handle.index.names - found.names, excluded))
    return first


# Score plugin, its weight, and feasible node's name → its normalised score (0..100).
_Columns: TypeAlias = Sequence[tuple[str, int, Scores]]


def _scores_of(name: str, columns: _Columns) -> Mapping[str, int]:
    scores = {plugin: weight * of_nodes[name] for plugin, weight, of_nodes in columns}
    scores["total"] = sum(scores.values())
    return scores


def _run_score_plugins(pod: Pod, handle: Handle, feasible: Sequence[NodeInfo]) -> _Columns | Rejection:
    """Source: schedule_one.go schedulePod, framework/runtime/framework.go RunPreScorePlugins (v1.36)."""
    if not feasible:
        return ()
    columns = []
    for plugin, weight in handle.profile.weights.items():
        scores = PRE_SCORES[plugin](pod, handle, feasible) if plugin in PRE_SCORES else None
        if isinstance(scores, Status):
            # upstream: a single feasible node is taken without scoring, so errors do not occur.
            if len(feasible) > 1:
                return Rejection(plugin, _name_plugin(f'PreScore plugin "{plugin}"', scores))
        elif scores is not None:
            columns.append((plugin, weight, scores))
    return columns


def _name_plugin(plugin: str, status: Status) -> Status:
    """Return the status as the framework reports it: the reasons of an error name the plugin."""
    if status.code is not Code.ERROR:
        return status
    return Status(status.code, tuple(f"running {plugin}: {reason}" for reason in status.reasons))

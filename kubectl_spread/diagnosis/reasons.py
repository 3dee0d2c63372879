"""Why a requirement rejects a node, in words that name the taint, the label or the number.

The scheduler's own reasons say only that there is one; naming it is what this program is for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import msgspec

from kubectl_spread.contract import constraints as report
from kubectl_spread.diagnosis.neighbours import Neighbours
from kubectl_spread.diagnosis.requirements import FilterRequirement, Requirement
from kubectl_spread.objects.core import NodeSelectorRequirement, NodeSelectorTerm, Pod
from kubectl_spread.scheduler import (
    dynamicresources,
    interpodaffinity,
    nodeaffinity,
    nodename,
    nodeports,
    noderesources,
    nodeunschedulable,
    resource,
    tainttoleration,
    volumebinding,
    volumerestrictions,
    volumezone,
)
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.wording.words import enumerated

NODE_HAS = ", has "
AT_MOST = "at most "


def name_of(requirement: report.Requirement) -> str:
    """Return the requirement as text: ``TaintToleration``, ``constraint 1``."""
    return f"constraint {requirement.index}" if requirement.kind == "constraint" else str(requirement.plugin)


class Gist(msgspec.Struct, frozen=True):
    """What keeps a Pod off several nodes.

    Attributes:
        text: empty where there is no more to say than the plugin's name.
        nodes: which, by name.
    """

    text: str
    nodes: tuple[str, ...]


class Explainer(msgspec.Struct, frozen=True, dict=True):
    """Why one Pod is kept off nodes.

    Attributes:
        pod: the Pod.
        handle: the cluster.
        evaluation: every filter's verdicts.
    """

    pod: Pod
    handle: Handle
    evaluation: Evaluation

    def of(self, requirement: Requirement, node_info: NodeInfo) -> str:
        """Return why the requirement rejects the node; empty where there is no more to say than its name."""
        return self.of_plugin(requirement.plugin, node_info) if isinstance(requirement, FilterRequirement) else ""

    def of_plugin(self, plugin: str, node_info: NodeInfo) -> str:
        """Return why the filter plugin rejects the node; empty where there is no more to say than its reasons."""
        asked = (plugin, node_info.name)
        if asked not in self._told:
            self._told[asked] = self._why(plugin, node_info)
        return self._told[asked]

    @cached_property
    def _told(self) -> dict[tuple[str, str], str]:
        """Plugin and node's name → why; of a node it is told beside its domain, and again beside its name."""
        return {}

    def _why(self, plugin: str, node_info: NodeInfo) -> str:
        """Return the same, found out."""
        broken = self.evaluation.broken
        if broken is not None and broken.plugin == plugin:
            return ""
        if nominated := self._nominated(plugin, node_info):
            return f"room is kept for {', '.join('/'.join(pod.key) for pod in nominated)}"
        if plugin in self._around:
            return self._around[plugin](node_info)
        explain = _EXPLAIN.get(plugin)
        return explain(self.pod, node_info) if explain else ""

    def gists(self, plugin: str, node_names: Iterable[str]) -> list[Gist]:
        """Return why the filter plugin rejects these nodes, those with the same reason together, the most first."""
        alike: dict[str, list[str]] = {}
        for name in sorted(node_names):
            info = self.handle.node_infos[name]
            alike.setdefault(self._likeness(plugin, info), []).append(name)
        found = [Gist(self._gist(plugin, text, nodes), tuple(nodes)) for text, nodes in alike.items()]
        return sorted(found, key=lambda gist: -len(gist.nodes))

    def _likeness(self, plugin: str, node_info: NodeInfo) -> str:
        """Return what is the same on nodes that are told together: which resources are short, not how much."""
        if plugin == noderesources.NAME and not self._nominated(plugin, node_info):
            return _names_of_short(self._state, node_info)
        text = self.of_plugin(plugin, node_info)
        return text.partition(NODE_HAS)[0] if plugin == nodeaffinity.NAME else text

    def _gist(self, plugin: str, text: str, node_names: Sequence[str]) -> str:
        """Return what there is to say of nodes that are told together."""
        infos = [self.handle.node_infos[name] for name in node_names]
        if plugin != noderesources.NAME or self._nominated(plugin, infos[0]):
            return text
        return _short_at_most(self._state, infos, sure=self._unread.isdisjoint(node_names))

    def _nominated(self, plugin: str, node_info: NodeInfo) -> tuple[Pod, ...]:
        """Return the Pods without whose nomination to the node the plugin would not reject it."""
        if not self.handle.snapshot.nominated:  # as almost always, on each of thousands of nodes
            return ()
        rejections = self.evaluation.nodes[node_info.name].rejections
        return next((rejection.nominated for rejection in rejections if rejection.plugin == plugin), ())

    @cached_property
    def _state(self) -> noderesources.State:
        """What the Pod asks of a node's resources."""
        return noderesources.state_of(self.pod, self.handle)

    @cached_property
    def _around(self) -> Mapping[str, Callable[[NodeInfo], str]]:
        """The plugins whose verdict rests on more than the Pod and the node: other Pods, volumes, devices."""
        neighbours = Neighbours(self.pod, self.handle)
        return {
            nodeports.NAME: neighbours.port_holders,
            interpodaffinity.NAME: neighbours.affinity,
            volumebinding.NAME: neighbours.volumes,
            volumezone.NAME: neighbours.volumes,
            volumerestrictions.NAME: neighbours.single_users,
            noderesources.NAME: self._resources,
            dynamicresources.NAME: self._devices,
        }

    def _resources(self, node_info: NodeInfo) -> str:
        """Return each resource that is short: what is asked, free and offered at all."""
        bound = AT_MOST if node_info.name in self._unread else ""
        return _resources(self._state, node_info, bound=bound)

    @cached_property
    def _unread(self) -> frozenset[str]:
        """The nodes of which not all Pods were read: they have no more free than is known."""
        return self.handle.snapshot.inventory.not_read

    def _devices(self, node_info: NodeInfo) -> str:
        """Return what DynamicResources says: its reasons name what is missing, but for the template of a claim."""
        rejections = self.evaluation.nodes[node_info.name].rejections
        said = next((", ".join(r.status.reasons) for r in rejections if r.plugin == dynamicresources.NAME), "")
        missing = dynamicresources.missing_templates(self.pod, self.handle.snapshot) if said else ()
        return f"{said}, for there is no ResourceClaimTemplate {enumerated(missing)}" if missing else said


def _taints(pod: Pod, node_info: NodeInfo) -> str:
    """Return the taints that are not tolerated."""
    numeric = node_info.profile.does(Behaviour.NUMERIC_TOLERATIONS)
    taints = tainttoleration.untolerated_taints(node_info.node, pod.spec.tolerations, numeric=numeric)
    effects: dict[str, list[str]] = {}
    for taint in taints:
        named, _, effect = str(taint).rpartition(":")
        effects.setdefault(named, []).append(effect)
    told = (f"{named}:{','.join(found)}" for named, found in effects.items())
    return f"taint {', '.join(told)}"


def _cordon(_pod: Pod, _node_info: NodeInfo) -> str:
    return "cordoned"


def _name(pod: Pod, _node_info: NodeInfo) -> str:
    return f"spec.nodeName is {pod.spec.node_name}"


def _resources(state: noderesources.State, node_info: NodeInfo, *, bound: str) -> str:
    """Return each resource that is short: what is asked, free (after the words of the bound) and offered at all."""
    short = []
    if noderesources.is_full(node_info):
        short.append(f"{len(node_info.pods)} of {node_info.allocatable.get(resource.PODS, 0)} Pods")
    found = noderesources.insufficient(state, node_info)
    for each in sorted(found, key=lambda each: each.name):
        amounts = (each.wanted, max(each.free, 0), each.capacity)
        asked, left, offered = (resource.readable(each.name, amount) for amount in amounts)
        short.append(f"{each.name}: asks {asked}, {bound}{left} free of {offered}")
    return "; ".join(short)


def _names_of_short(state: noderesources.State, node_info: NodeInfo) -> str:
    """Return the resources that are short, by name."""
    names = sorted(each.name for each in noderesources.insufficient(state, node_info))
    return ", ".join([resource.PODS, *names] if noderesources.is_full(node_info) else names)


def _short_at_most(state: noderesources.State, node_infos: Sequence[NodeInfo], *, sure: bool) -> str:
    """Return each resource that all these nodes are short of: what is asked, and the most that is free on any.

    Args:
        state: what the Pod asks of resources.
        node_infos: the nodes.
        sure: whether all their Pods were read.
    """
    told = ["no room for another Pod"] if noderesources.is_full(node_infos[0]) else []
    most: dict[str, tuple[int, int]] = {}
    for info in node_infos:
        for each in noderesources.insufficient(state, info):
            most[each.name] = each.wanted, max(each.free, most.get(each.name, (0, 0))[1])
    at_most = AT_MOST if len(node_infos) > 1 or not sure else ""
    for name, amounts in sorted(most.items()):
        asked, left = (resource.readable(name, amount) for amount in amounts)
        told.append(f"{name}: asks {asked}, {at_most}{left} free")
    return "; ".join(told)


def _affinity(pod: Pod, node_info: NodeInfo) -> str:
    """Return the first condition the node fails: a nodeSelector label, or the terms of which none holds."""
    labels = node_info.labels
    for key, value in sorted(pod.spec.node_selector.items()):
        if labels.get(key) != value:
            return f"wants {key}={value}{NODE_HAS}{_has(key, labels)}"
    required = nodeaffinity.required_terms(pod)
    if required is None or nodeaffinity.RequiredNodeAffinity.of(pod).matches(node_info.node):
        return "the scheduler's configuration adds a node affinity"
    terms = " or ".join(map(_term, required.node_selector_terms))
    return f"wants {terms or 'no node at all'}"


def _has(key: str, labels: Mapping[str, str]) -> str:
    """Return what the node has for the label."""
    return f"{key}={labels[key]}" if key in labels else f"no {key}"


def _term(term: NodeSelectorTerm) -> str:
    """Return one alternative of a node affinity."""
    conditions = (*term.match_expressions, *term.match_fields)
    return " and ".join(map(_condition, conditions)) or "nothing (an empty term matches no node)"


def _condition(condition: NodeSelectorRequirement) -> str:
    """Return one condition as it stands in the Pod."""
    return " ".join(filter(None, (condition.key, condition.operator, ",".join(condition.values))))


_EXPLAIN: Mapping[str, Callable[[Pod, NodeInfo], str]] = {
    tainttoleration.NAME: _taints,
    nodeunschedulable.NAME: _cordon,
    nodename.NAME: _name,
    nodeaffinity.NAME: _affinity,
}

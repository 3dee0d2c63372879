"""Why filters reject a Pod's nodes, for one node and for nodes with the same reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.diagnosis import reasons
from kubectl_spread.diagnosis.neighbours import Neighbours
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.meta import grouped
from kubectl_spread.scheduler import (
    dynamicresources,
    interpodaffinity,
    nodeaffinity,
    nodename,
    nodeports,
    noderesources,
    nodeunschedulable,
    nodevolumelimits,
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


class Explainer(msgspec.Struct, frozen=True, dict=True):
    """Explains why nodes reject one Pod."""

    handle: Handle
    evaluation: Evaluation

    def of_plugin(self, plugin: str, node_info: NodeInfo) -> reasons.AnyReason | None:
        """Return why the filter plugin rejects the node; None if only its own reasons are known."""
        asked = (plugin, node_info.name)
        if asked not in self._known:
            self._known[asked] = self._explain(plugin, node_info)
        return self._known[asked]

    @cached_property
    def _known(self) -> dict[tuple[str, str], reasons.AnyReason | None]:
        """Plugin and node's name → why. Each node is asked for twice: with its domain and with its name."""
        return {}

    def _explain(self, plugin: str, node_info: NodeInfo) -> reasons.AnyReason | None:
        broken = self.evaluation.broken
        if broken is not None and broken.plugin == plugin:
            return None
        if nominated := self._nominated_pods(plugin, node_info):
            return reasons.KeptForNominated(pods=tuple(map(PodName.of, nominated)))
        if plugin in self._with_neighbours:
            return self._with_neighbours[plugin](node_info)
        explain = _EXPLAIN.get(plugin)
        return explain(self.evaluation.pod, node_info) if explain else None

    def shared(self, plugin: str, node_names: Iterable[str]) -> list[reasons.SharedReason]:
        """Return why the filter plugin rejects these nodes, grouped by reason, the largest group first."""
        every = map(self.handle.node_infos.__getitem__, sorted(node_names))
        alike = grouped(every, lambda info: self._grouping_key(plugin, info))
        found = [
            reasons.SharedReason(
                reason=self._short_resources(infos, shared=True) if isinstance(like, tuple) else like,
                nodes=tuple(info.name for info in infos),
            )
            for like, infos in alike.items()
        ]
        return sorted(found, key=lambda each: -len(each.nodes))

    def _grouping_key(self, plugin: str, node_info: NodeInfo) -> reasons.AnyReason | tuple[str, ...] | None:
        """Return what nodes with one reason have in common: of short resources the names, not the amounts."""
        if plugin == noderesources.NAME and not self._nominated_pods(plugin, node_info):
            short = sorted(each.name for each in noderesources.insufficient(self._state, node_info))
            return (resource.PODS, *short) if noderesources.is_full(node_info) else tuple(short)
        reason = self.of_plugin(plugin, node_info)
        if isinstance(reason, reasons.MissingLabel):
            return replace(reason, has=UNSET)
        return reason

    def _nominated_pods(self, plugin: str, node_info: NodeInfo) -> tuple[Pod, ...]:
        """Return the nominated Pods without which the plugin would not reject the node."""
        if not self.handle.snapshot.nominated:  # almost always, on each of thousands of nodes
            return ()
        rejections = self.evaluation.nodes[node_info.name].rejections
        return next((rejection.nominated for rejection in rejections if rejection.plugin == plugin), ())

    @cached_property
    def _state(self) -> noderesources.State:
        return noderesources.state_of(self.evaluation.pod, self.handle)

    @cached_property
    def _with_neighbours(self) -> Mapping[str, Callable[[NodeInfo], reasons.AnyReason | None]]:
        """The plugins whose verdict depends on more than the Pod and the node: other Pods, volumes, devices."""
        neighbours = Neighbours(self.evaluation.pod, self.handle)
        return {
            nodeports.NAME: neighbours.port_holders,
            interpodaffinity.NAME: neighbours.affinity,
            volumebinding.NAME: neighbours.volumes,
            volumezone.NAME: neighbours.volumes,
            volumerestrictions.NAME: lambda _: neighbours.single_users,
            noderesources.NAME: lambda info: self._short_resources([info], shared=False),
            nodevolumelimits.NAME: self._volume_limit,
            dynamicresources.NAME: self._missing_devices,
        }

    def _short_resources(self, infos: Sequence[NodeInfo], *, shared: bool) -> reasons.InsufficientResources | None:
        """Return each resource that all these nodes are short of, with the most that is free on any of them.

        A reason that several nodes share has no amounts of one node.
        """
        first, *others = infos
        most = {each.name: each for each in noderesources.insufficient(self._state, first)}
        for info in others:
            for each in noderesources.insufficient(self._state, info):
                most[each.name] = max(most[each.name], each, key=lambda short: short.free)
        full = noderesources.is_full(first)
        if not (full or most):
            return None
        # Pods that were not read take more of a node.
        at_most = bool(others) or first.name in self.handle.snapshot.inventory.not_read
        short = [
            reasons.ShortResource(
                name=name,
                asked=resource.readable(name, each.wanted),
                free=resource.readable(name, max(each.free, 0)),
                at_most=at_most and each.free > 0,
                allocatable="" if shared else resource.readable(name, each.capacity),
            )
            for name, each in sorted(most.items())
        ]
        return reasons.InsufficientResources(
            full=full,
            pods=len(first.pods) if full and not shared else None,
            allocatable_pods=first.allocatable.get(resource.PODS, 0) if full and not shared else None,
            resources=tuple(short),
        )

    @cached_property
    def _volumes(self) -> nodevolumelimits.State:
        return nodevolumelimits.state_of(self.evaluation.pod, self.handle)

    def _volume_limit(self, node_info: NodeInfo) -> reasons.VolumeLimitReached | None:
        found = nodevolumelimits.exceeded(self._volumes, node_info)
        if not isinstance(found, nodevolumelimits.Exceeded):
            return None
        return reasons.VolumeLimitReached(
            driver=found.driver, attached=found.attached, requested=found.added, limit=found.limit
        )

    def _missing_devices(self, node_info: NodeInfo) -> reasons.MissingDevices | None:
        rejections = self.evaluation.nodes[node_info.name].rejections
        found = next((each.status.reasons for each in rejections if each.plugin == dynamicresources.NAME), ())
        if not any(found):
            return None
        missing = dynamicresources.missing_templates(self.evaluation.pod, self.handle.snapshot)
        return reasons.MissingDevices(reasons=found, missing_templates=missing)


def _untolerated_taints(pod: Pod, node_info: NodeInfo) -> reasons.UntoleratedTaints:
    numeric = node_info.profile.does(Behaviour.NUMERIC_TOLERATIONS)
    found = [*tainttoleration.Untolerated(pod.spec.tolerations, numeric).taints(node_info.node)]
    # Cordoned has its own reason.
    others = [
        each for each in found if not (node_info.node.spec.unschedulable and each.key == nodeunschedulable.CORDON.key)
    ]
    by_key = grouped(others or found, lambda taint: (taint.key, taint.value))
    return reasons.UntoleratedTaints(taints=tuple(str(taint) for taints in by_key.values() for taint in taints))


def _unmet_affinity(pod: Pod, node_info: NodeInfo) -> reasons.AnyReason:
    """Return the first unmet condition: a nodeSelector label, or the terms of which none holds."""
    labels = node_info.labels
    for key, value in sorted(pod.spec.node_selector.items()):
        if labels.get(key) != value:
            return reasons.MissingLabel(key=key, value=value, has=labels.get(key))
    required = pod.spec.required_nodes
    if required is None or nodeaffinity.RequiredNodeAffinity.of(pod).matches(node_info.node):
        return reasons.UnmetAddedAffinity()
    return reasons.UnmetNodeAffinity(terms=required.node_selector_terms)


_EXPLAIN: Mapping[str, Callable[[Pod, NodeInfo], reasons.AnyReason]] = {
    tainttoleration.NAME: _untolerated_taints,
    nodeunschedulable.NAME: lambda _pod, _node_info: reasons.Cordoned(),
    nodename.NAME: lambda pod, _node_info: reasons.OtherNodeNamed(node=pod.spec.node_name),
    nodeaffinity.NAME: _unmet_affinity,
}

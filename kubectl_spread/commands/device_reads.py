"""The lists of dynamic resource allocation, and of autoscalers: read where a Pod or the cluster needs them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_spread.commands import read_sets
from kubectl_spread.commands.source import Source, SourceWithin
from kubectl_spread.controllers.templates import template_of
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod, PodSpec
from kubectl_spread.objects.devices import DeviceClass
from kubectl_spread.scheduler.dynamicresources import CLASS_PREFIX, may_be_devices
from kubectl_spread.snapshot import Inventory, Snapshot, Unread, together

if TYPE_CHECKING:
    from kubectl_spread.cluster.reads import Read


KARPENTERS = "karpenter.sh/nodepool"
"""The label of nodes that Karpenter has brought."""


class ClaimingSource(SourceWithin):
    """A source that is asked for devices too, where a Pod that is to be scheduled may need them.

    Args:
        source: the cluster.
        specs: of Pods beside those that the cluster has, and would make.
        at_once: whether all that is read has to be asked for in one go: what is not, is left unread then.
    """

    def __init__(self, source: Source, specs: Iterable[PodSpec] = (), *, at_once: bool = False) -> None:
        super().__init__(source)
        self._specs = tuple(specs)
        self._at_once = at_once

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return what was asked for, and the devices.

        Raises:
            ClusterError: a list that is needed cannot be had.
        """
        inventory = with_autoscaler(self._source, self._source.read(reads), reads)
        if any(kind.name in inventory.objects for kind in kinds.DEVICE_KINDS):
            return inventory
        asking = (*self._specs, *_to_be_scheduled(Snapshot.build(inventory)))
        claimed = any(spec.resource_claims for spec in asking)
        resources = {
            name
            for spec in asking
            for container in (*spec.containers, *spec.init_containers)
            for name in (*container.resources.limits, *container.resources.requests)
            if may_be_devices(name)
        }
        if self._at_once and (claimed or resources):
            left = (Unread(kind, "not watched") for kind in kinds.DEVICE_KINDS)
            return replace(inventory, unread=(*inventory.unread, *left))
        if resources and not claimed:
            inventory = together(inventory, self._source.read(read_sets.DEVICE_CLASSES))
            claimed = _backed(resources, inventory)
        return together(inventory, self._source.read(read_sets.DEVICES)) if claimed else inventory


def with_autoscaler(source: Source, inventory: Inventory, reads: Sequence[Read]) -> Inventory:
    """Return the inventory with what the cluster's autoscaler decides by, where it was asked for and is there.

    Raises:
        ClusterError: the server does not answer.
    """
    more: tuple[Read, ...] = ()
    nodes = inventory.objects.get(kinds.NODE.name, ())
    if read_sets.AUTOSCALERS[0] not in reads:
        return inventory
    if inventory.objects.get(kinds.NODE_POOL.name) or any(KARPENTERS in node.metadata.labels for node in nodes):
        more = read_sets.OF_KARPENTER
    elif inventory.objects.get(kinds.CONFIG_MAP.name):
        asked = (each.namespace for each in reads if each.kind == kinds.EVENT)
        more = read_sets.of_cluster_autoscaler(next(asked, ""))
    if not more:
        return inventory
    found = source.read(more)
    # What is asked for here of kinds that the answer rests on is not all of them.
    unread = tuple(each for each in found.unread if each.kind in kinds.AUTOSCALER_KINDS)
    return together(inventory, replace(found, unread=unread, resource_versions={}, apart=False))


def _to_be_scheduled(snapshot: Snapshot) -> Iterator[PodSpec]:
    for pod in snapshot.all(Pod):
        controller = pod.metadata.controller
        # Of a workload that cannot be read, the newest Pod is the template.
        if not pod.spec.node_name or (controller is not None and controller.kind not in kinds.WORKLOADS):
            yield pod.spec
    for struct in kinds.WORKLOADS.values():
        for workload in snapshot.all(struct):
            yield template_of(workload).spec


def _backed(resources: Iterable[str], inventory: Inventory) -> bool:
    classes = tuple(Snapshot.build(inventory).all(DeviceClass))
    known = {each.spec.extended_resource_name for each in classes}
    return not known.isdisjoint(resources) or any(CLASS_PREFIX + each.metadata.name in resources for each in classes)

"""NodeVolumeLimits: only a limited number of volumes of a CSI driver can be attached to a node.

Source: kube-scheduler nodevolumelimits/{csi,utils}.go (v1.36). Not modelled: volumes that the scheduler has assumed for
other Pods and not bound yet.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import TypeAlias

import msgspec

from kubectl_spread.objects import storage
from kubectl_spread.objects.core import Pod, Volume
from kubectl_spread.scheduler import csitranslation, framework
from kubectl_spread.scheduler.claims import CLAIM, NO_CLAIM_NAME, claim_named, not_found, ownership_problem
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour

NAME = "NodeVolumeLimits"
REASON = "node(s) exceed max volume count"

# The identity of a volume: (driver, handle), or (driver, namespace, claim's name) before it is provisioned.
Identity: TypeAlias = tuple[str, ...]


class Attachable(msgspec.Struct, frozen=True):
    """A volume of a Pod that counts against a node's limit."""

    identity: Identity = ()
    # its in-tree plugin; it counts only where this plugin may be migrated to CSI
    plugin: csitranslation.InTreePlugin | None = None
    problem: framework.Status | None = None  # why the Pod cannot use the volume, None if it can


class Exceeded(msgspec.Struct, frozen=True):
    """The limit of a driver on a node: volumes that are attached, that the Pod adds, and that may be (counts)."""

    driver: str
    attached: int
    added: int
    limit: int


class State(msgspec.Struct, frozen=True):
    """The Pod's part of the filter."""

    volumes: tuple[Attachable, ...]
    # node's name → the volumes that are attached to it, according to VolumeAttachments
    attached: Mapping[str, frozenset[Identity]]
    must_run: frozenset[str]  # the drivers of the Pod's volumes that a node must have
    handle: framework.Handle
    # the volumes that count, if these are the same on every node; else None
    counted: dict[Identity, None] | framework.Status | None


def pre_filter(pod: Pod, handle: framework.Handle) -> framework.PreFilterResult | framework.Status:
    """Return the filter, or Skip for a Pod without claims and in-tree volumes."""
    if not any(volume.claims or volume.in_tree for volume in pod.spec.volumes):
        return framework.SKIP
    return framework.PreFilterResult(partial(filter_node, state_of(pod, handle)))


def state_of(pod: Pod, handle: framework.Handle) -> State:
    """Return the Pod's part of the filter."""
    volumes = tuple(attachable_volumes(pod, handle, required=True))
    return State(
        volumes=volumes,
        attached=attached_volumes(handle),
        must_run=drivers_that_must_run(volumes, handle),
        handle=handle,
        # Whether in-tree volumes count depends on the node.
        counted=None if any(volume.plugin for volume in volumes) else _counted(volumes, None, handle),
    )


def filter_node(state: State, node_info: NodeInfo) -> framework.Status:
    """Reject a node on which a driver's limit would be exceeded, or that lacks a driver."""
    found = exceeded(state, node_info)
    return framework.unschedulable(REASON) if isinstance(found, Exceeded) else found


def exceeded(state: State, node_info: NodeInfo) -> Exceeded | framework.Status:
    """Return the first limit that would be exceeded, or the status without any."""
    csi_node = state.handle.snapshot.get(storage.CSINode, "", node_info.name)
    volumes = _counted(state.volumes, csi_node, state.handle) if state.counted is None else state.counted
    if isinstance(volumes, framework.Status):
        return volumes
    drivers = csi_node.spec.drivers if csi_node else ()
    if state.must_run:
        # differs: of several missing drivers upstream names any.
        present = {driver.name for driver in drivers}
        if missing := next((d for d, *_ in volumes if d in state.must_run and d not in present), ""):
            return framework.unschedulable(f"{missing} CSI driver is not installed on the node")
    limits = {driver.name: driver.allocatable.count for driver in drivers if driver.allocatable.count is not None}
    if not volumes or not limits:
        return framework.SUCCESS
    there = (attachable_volumes(pod, state.handle, required=False) for pod in node_info.pods_with_volumes)
    in_use = _counted(chain.from_iterable(there), csi_node, state.handle)
    if isinstance(in_use, framework.Status):
        return in_use
    attached = state.attached.get(node_info.name, frozenset())
    if len(volumes) + len(in_use) + len(attached) <= min(limits.values()):
        return framework.SUCCESS  # not exceeded even if all volumes were different ones of a single driver
    # Each volume counts once, whether Pods or VolumeAttachments name it.
    new = [volume for volume in volumes if volume not in in_use]
    # upstream: a driver over its limit rejects no Pod without new volumes of that driver.
    together = _by_driver((*new, *{*in_use, *attached}))
    # attached volumes + new volumes > the driver's limit, for drivers with a new volume.
    found = (
        Exceeded(driver, together[driver] - added, added, limits[driver])
        for driver, added in _by_driver(new).items()
        if together[driver] > limits.get(driver, together[driver])
    )
    return next(found, framework.SUCCESS)


def attachable_volumes(pod: Pod, handle: framework.Handle, *, required: bool) -> Iterator[Attachable]:
    """Yield the Pod's volumes that count; ``required``: a claim that does not exist is a problem.

    Source: nodevolumelimits/csi.go filterAttachableVolumes (v1.36).
    """
    for volume in pod.spec.volumes:
        name = storage.claim_name(pod, volume)
        if name is None:
            found = _inline(volume)
        elif claim := claim_named(pod, name, handle.snapshot):
            problem = ownership_problem(pod, volume, claim)
            # A volume that does not exist is judged by the class, as one that is not provisioned yet.
            bound = handle.snapshot.get(storage.PersistentVolume, "", claim.spec.volume_name)
            found = _existing(bound) if bound else _not_provisioned(claim, handle)
            found = Attachable(problem=framework.error(problem)) if problem else found
        else:
            # upstream: for Pods on the node a missing claim does not count, but a claim without a name is an error.
            lost = framework.unresolvable(f"looking up PVC {pod.metadata.namespace}/{name}: {not_found(CLAIM, name)}")
            why = lost if name else framework.error(NO_CLAIM_NAME)
            found = Attachable(problem=why) if required or not name else None
        if found is not None:
            yield found


def attached_volumes(handle: framework.Handle) -> dict[str, frozenset[Identity]]:
    """Return node's name → the CSI volumes that are attached to it, according to VolumeAttachments.

    Source: nodevolumelimits/csi.go getNodeVolumeAttachmentInfo (v1.36).
    """
    attached: dict[str, set[Identity]] = defaultdict(set)
    for attachment in handle.snapshot.all(storage.VolumeAttachment):
        # Inline volumes have no PersistentVolume, and so no handle here.
        spec = attachment.spec
        volume = handle.snapshot.get(storage.PersistentVolume, "", spec.source.persistent_volume_name)
        if spec.attacher and volume is not None and volume.spec.csi is not None:
            attached[spec.node_name].add((spec.attacher, volume.spec.csi.volume_handle))
    return {node_name: frozenset(volumes) for node_name, volumes in attached.items()}


def _counted(
    volumes: Iterable[Attachable], csi_node: storage.CSINode | None, handle: framework.Handle
) -> dict[Identity, None] | framework.Status:
    """Return the volumes that count on the node, once each and in order, or the first problem."""
    counted: dict[Identity, None] = {}
    for volume in volumes:
        if volume.plugin is not None:
            # Source: nodevolumelimits/utils.go isCSIMigrationOn (v1.36, v1.35).
            portworx = volume.plugin is csitranslation.PORTWORX and handle.profile.does(Behaviour.PORTWORX_ANNOTATED)
            if csi_node is None or (portworx and volume.plugin.name not in csi_node.migrated_plugins):
                continue
        if volume.problem is not None:
            return volume.problem
        counted[volume.identity] = None
    return counted


def drivers_that_must_run(volumes: Iterable[Attachable], handle: framework.Handle) -> frozenset[str]:
    """Return the drivers of the volumes that a node must have: all registered ones, since 1.36 those that opt in.

    Source: nodevolumelimits/csi.go checkCSIDriverOnNode (v1.36, v1.35), KEP-5030.
    """
    if not handle.profile.does(Behaviour.VOLUME_LIMIT_SCALING):
        return frozenset()
    opts_in = handle.profile.does(Behaviour.DRIVER_OPTS_IN)
    found = (handle.snapshot.get(storage.CSIDriver, "", volume.identity[0]) for volume in volumes if volume.identity)
    drivers = (driver for driver in found if driver is not None)
    return frozenset(d.metadata.name for d in drivers if d.spec.prevent_pod_scheduling_if_missing or not opts_in)


def _by_driver(volumes: Iterable[Identity]) -> Counter[str]:
    return Counter(driver for driver, *_ in volumes)


def _inline(volume: Volume) -> Attachable | None:
    """Source: nodevolumelimits/csi.go checkAttachableInlineVolume (v1.36)."""
    plugin = csitranslation.plugin_of(volume)
    if plugin is None:
        return None
    try:
        return Attachable((plugin.driver, csitranslation.inline_handle(volume)), plugin)
    except ValueError as wrong:
        # upstream: here this is an error, but a PersistentVolume that cannot be translated does not count.
        problem = framework.error(f"converting volume({volume.name}) from inline to csi: {wrong}")
        return Attachable(plugin=plugin, problem=problem)


def _existing(volume: storage.PersistentVolume) -> Attachable | None:
    """Source: nodevolumelimits/csi.go getCSIDriverInfo (v1.36)."""
    csi, plugin = volume.spec.csi, csitranslation.plugin_of(volume.spec)
    if csi is not None:
        return Attachable((csi.driver, csi.volume_handle)) if csi.driver and csi.volume_handle else None
    if plugin is None:
        return None
    try:
        handle = csitranslation.volume_handle(volume)
    except ValueError:
        return None
    return Attachable((plugin.driver, handle), plugin) if handle else None


def _not_provisioned(claim: storage.PersistentVolumeClaim, handle: framework.Handle) -> Attachable | None:
    """Source: nodevolumelimits/csi.go getCSIDriverInfoFromSC (v1.36)."""
    # A claim without a class is bound before its Pod is scheduled.
    storage_class = handle.snapshot.get(storage.StorageClass, "", claim.class_name)
    provisioner = storage_class.provisioner if storage_class else ""
    if not provisioner or provisioner in csitranslation.NEVER_MIGRATED:
        return None
    plugin = csitranslation.PLUGINS.get(provisioner)
    driver = plugin.driver if plugin else provisioner
    return Attachable((driver, *claim.key), plugin)

"""NodeVolumeLimits: a node can have only so many volumes of a CSI driver attached.

Source: kube-scheduler nodevolumelimits/{csi,utils}.go (v1.36). Not modelled: volumes that the scheduler has chosen for
other Pods and not yet bound.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import TypeAlias

import msgspec

from kubectl_spread.objects.core import Pod, Volume
from kubectl_spread.objects.storage import (
    CSIDriver,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
    claim_name,
)
from kubectl_spread.scheduler import csitranslation
from kubectl_spread.scheduler.claims import CLAIM, claim_named, not_found, ownership_problem
from kubectl_spread.scheduler.framework import (
    SKIP,
    SUCCESS,
    Code,
    Handle,
    PreFilterResult,
    Status,
    unresolvable,
    unschedulable,
)
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour

NAME = "NodeVolumeLimits"
REASON = "node(s) exceed max volume count"
REASON_NO_CLAIM_NAME = "PersistentVolumeClaim had no name"

Identity: TypeAlias = tuple[str, ...]
"""What tells a volume from all others: (driver, handle), or (driver, namespace, claim's name) until it is made."""


class Attachable(msgspec.Struct, frozen=True):
    """A volume of a Pod that counts against a node's limit.

    Attributes:
        identity: driver first.
        plugin: the in-tree plugin whose volume it is; it counts only where a CSI driver can have taken over from that.
        problem: why the Pod cannot use the volume, None where it can.
    """

    identity: Identity = ()
    plugin: csitranslation.InTreePlugin | None = None
    problem: Status | None = None


class State(msgspec.Struct, frozen=True):
    """What the filter needs.

    Attributes:
        attached: node's name → the volumes that VolumeAttachments say are attached to it.
        must_run: the drivers of the Pod's volumes without which a node will not do.
        counted: which of the volumes count, where that is the same on every node; None where it is not.
    """

    volumes: tuple[Attachable, ...]
    attached: Mapping[str, frozenset[Identity]]
    must_run: frozenset[str]
    handle: Handle
    counted: dict[Identity, None] | Status | None


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter, or Skip for a Pod without claims and in-tree volumes."""
    # Secrets, ConfigMaps and their kind are attached to nothing.
    if not any(volume.claims or volume.in_tree for volume in pod.spec.volumes):
        return SKIP
    volumes = tuple(attachable_volumes(pod, handle, required=True))
    state = State(
        volumes=volumes,
        attached=attached_volumes(handle),
        must_run=drivers_that_must_run(volumes, handle),
        handle=handle,
        # Whether in-tree volumes count is the node's affair.
        counted=None if any(volume.plugin for volume in volumes) else _counted(volumes, None, handle),
    )
    return PreFilterResult(partial(filter_node, state))


def filter_node(state: State, node_info: NodeInfo) -> Status:
    """Reject a node that has as many volumes of a driver attached as it can."""
    csi_node = state.handle.snapshot.get(CSINode, "", node_info.name)
    volumes = _counted(state.volumes, csi_node, state.handle) if state.counted is None else state.counted
    if isinstance(volumes, Status):
        return volumes
    # Before the limits: a node on which the driver does not run has none.
    if state.must_run and (missing := _missing_driver(volumes, csi_node, state.must_run)):
        return unschedulable(f"{missing} CSI driver is not installed on the node")
    limits = volume_limits(csi_node)
    if not volumes or not limits:
        return SUCCESS
    there = (attachable_volumes(pod, state.handle, required=False) for pod in node_info.pods_with_volumes)
    in_use = _counted(chain.from_iterable(there), csi_node, state.handle)
    if isinstance(in_use, Status):
        return in_use
    attached = state.attached.get(node_info.name, frozenset())
    if len(volumes) + len(in_use) + len(attached) <= min(limits.values()):
        return SUCCESS  # not even if all were of one driver, and none of them the same
    # A volume that a Pod on the node has already takes no second place.
    new = [volume for volume in volumes if volume not in in_use]
    # What VolumeAttachments say is counted with what Pods use, each volume once.
    # upstream: drivers that are over their limit already reject nobody who brings no volume of theirs.
    together = _by_driver((*new, *{*in_use, *attached}))
    # volumes attached + new ones > the driver's limit, for a driver that gets a new one.
    exceeded = any(together[driver] > limits.get(driver, together[driver]) for driver in _by_driver(new))
    return unschedulable(REASON) if exceeded else SUCCESS


def attachable_volumes(pod: Pod, handle: Handle, *, required: bool) -> Iterator[Attachable]:
    """Yield the Pod's volumes that count.

    Where it is required, a claim that does not exist is a problem; else its volume does not count.

    Source: nodevolumelimits/csi.go filterAttachableVolumes (v1.36).
    """
    for volume in pod.spec.volumes:
        name = claim_name(pod, volume)
        if name is None:
            found = _inline(volume)
        elif claim := claim_named(pod, name, handle.snapshot):
            found = _claimed(pod, volume, claim, handle)
        else:
            # upstream: of Pods that are on the node a lost claim does not count, but one without a name is an error.
            lost = unresolvable(f"looking up PVC {pod.metadata.namespace}/{name}: {not_found(CLAIM, name)}")
            problem = lost if name else _error(REASON_NO_CLAIM_NAME)
            found = Attachable(problem=problem) if required or not name else None
        if found is not None:
            yield found


def volume_limits(csi_node: CSINode | None) -> dict[str, int]:
    """Return driver → how many of its volumes can be attached at a time; drivers without a limit are absent."""
    drivers = csi_node.spec.drivers if csi_node else ()
    return {driver.name: driver.allocatable.count for driver in drivers if driver.allocatable.count is not None}


def attached_volumes(handle: Handle) -> dict[str, frozenset[Identity]]:
    """Return node's name → the CSI volumes that VolumeAttachments say are attached to it.

    Source: nodevolumelimits/csi.go getNodeVolumeAttachmentInfo (v1.36).
    """
    attached: dict[str, set[Identity]] = defaultdict(set)
    for attachment in handle.snapshot.all(VolumeAttachment):
        # Inline volumes have no PersistentVolume to ask for the handle.
        spec = attachment.spec
        volume = handle.snapshot.get(PersistentVolume, "", spec.source.persistent_volume_name)
        if spec.attacher and volume is not None and volume.spec.csi is not None:
            attached[spec.node_name].add((spec.attacher, volume.spec.csi.volume_handle))
    return {node_name: frozenset(volumes) for node_name, volumes in attached.items()}


def _counted(volumes: Iterable[Attachable], csi_node: CSINode | None, handle: Handle) -> dict[Identity, None] | Status:
    """Return which of the volumes count on the node, once each, in their order; or the first problem."""
    counted: dict[Identity, None] = {}
    for volume in volumes:
        if volume.plugin is not None and not _taken_over(volume.plugin, csi_node, handle):
            continue
        if volume.problem is not None:
            return volume.problem
        counted[volume.identity] = None
    return counted


def _taken_over(plugin: csitranslation.InTreePlugin, csi_node: CSINode | None, handle: Handle) -> bool:
    """Whether the node's CSI drivers count as having taken over from the plugin.

    Source: nodevolumelimits/utils.go isCSIMigrationOn (v1.36, v1.35).
    """
    # Without a CSINode no driver runs there, and in-tree volumes are not counted.
    if csi_node is None:
        return False
    if plugin is csitranslation.PORTWORX and handle.profile.does(Behaviour.PORTWORX_ANNOTATED):
        return plugin.name in csi_node.migrated_plugins
    return True


def drivers_that_must_run(volumes: Iterable[Attachable], handle: Handle) -> frozenset[str]:
    """Return the drivers of the volumes without which a node will not do.

    That is every registered driver, or since 1.36 those that ask for it.

    Source: nodevolumelimits/csi.go checkCSIDriverOnNode (v1.36, v1.35), KEP-5030.
    """
    if not handle.profile.does(Behaviour.VOLUME_LIMIT_SCALING):
        return frozenset()
    asked_for = handle.profile.does(Behaviour.DRIVER_OPTS_IN)
    found = (handle.snapshot.get(CSIDriver, "", volume.identity[0]) for volume in volumes if volume.identity)
    return frozenset(
        driver.metadata.name
        for driver in found
        if driver is not None and (driver.spec.prevent_pod_scheduling_if_missing or not asked_for)
    )


def _missing_driver(volumes: Iterable[Identity], csi_node: CSINode | None, must_run: frozenset[str]) -> str:
    # differs: where several are missing, upstream names any of them.
    present = {driver.name for driver in csi_node.spec.drivers} if csi_node else set()
    return next((driver for driver, *_ in volumes if driver in must_run and driver not in present), "")


def _by_driver(volumes: Iterable[Identity]) -> Counter[str]:
    return Counter(driver for driver, *_ in volumes)


def _inline(volume: Volume) -> Attachable | None:
    """Return what a volume without a claim counts as, None for nothing.

    Source: nodevolumelimits/csi.go checkAttachableInlineVolume (v1.36).
    """
    plugin = csitranslation.plugin_of(volume)
    if plugin is None:
        return None
    try:
        return Attachable((plugin.driver, csitranslation.inline_handle(volume)), plugin)
    except ValueError as error:
        # upstream: here an error, while a PersistentVolume that cannot be translated just does not count.
        problem = _error(f"converting volume({volume.name}) from inline to csi: {error}")
        return Attachable(plugin=plugin, problem=problem)


def _claimed(pod: Pod, volume: Volume, claim: PersistentVolumeClaim, handle: Handle) -> Attachable | None:
    """Return what the volume of a claim counts as, None for nothing."""
    if problem := ownership_problem(pod, volume, claim):
        return Attachable(problem=_error(problem))
    # A volume that is named but does not exist, or not yet, is judged by the class, as if it were still to be made.
    bound = handle.snapshot.get(PersistentVolume, "", claim.spec.volume_name)
    return _to_be_made(claim, handle) if bound is None else _existing(bound)


def _existing(volume: PersistentVolume) -> Attachable | None:
    """Return what a PersistentVolume counts as, None for nothing.

    Source: nodevolumelimits/csi.go getCSIDriverInfo (v1.36).
    """
    csi, plugin = volume.spec.csi, csitranslation.plugin_of(volume.spec)
    if csi is not None:
        # Two Pods with one volume take one place: it is the handle that counts, not the claim.
        return Attachable((csi.driver, csi.volume_handle)) if csi.driver and csi.volume_handle else None
    if plugin is None:
        return None
    try:
        handle = csitranslation.volume_handle(volume)
    except ValueError:
        return None
    return Attachable((plugin.driver, handle), plugin) if handle else None


def _to_be_made(claim: PersistentVolumeClaim, handle: Handle) -> Attachable | None:
    """Return what the volume that a claim will get counts as, None for nothing.

    Source: nodevolumelimits/csi.go getCSIDriverInfoFromSC (v1.36).
    """
    # Without a class the claim is bound before its Pod is scheduled, so there is nothing to be made.
    storage_class = handle.snapshot.get(StorageClass, "", claim.class_name)
    provisioner = storage_class.provisioner if storage_class else ""
    if not provisioner or provisioner in csitranslation.NEVER_MIGRATED:
        return None
    plugin = csitranslation.PLUGINS.get(provisioner)
    driver = plugin.driver if plugin else provisioner
    return Attachable((driver, claim.metadata.namespace, claim.metadata.name), plugin)


def _error(reason: str) -> Status:
    return Status(Code.ERROR, (reason,))

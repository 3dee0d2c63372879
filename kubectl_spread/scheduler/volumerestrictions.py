"""VolumeRestrictions: disks that two Pods on a node cannot share, and claims that only one Pod can use.

Source: kube-scheduler volumerestrictions/volume_restrictions.go (v1.36), KEP-2485 (ReadWriteOncePod).
"""

from collections.abc import Iterator
from functools import partial

import msgspec
from msgspec.structs import replace

from kubectl_spread.objects.core import Pod, Volume
from kubectl_spread.scheduler import framework
from kubectl_spread.scheduler.claims import CLAIM, claim_named, not_found
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour

NAME = "VolumeRestrictions"
REASON_DISK = "node(s) had no available disk"
REASON_IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
REASON_IN_USE_BEFORE = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
READ_WRITE_ONCE_POD = "ReadWriteOncePod"


class State(msgspec.Struct, frozen=True):
    """The Pod's part of the filter."""

    disks: tuple[Volume, ...]  # its volumes that may conflict with those of another Pod on the node
    single_use: frozenset[str]  # the names of its claims that only one Pod can use
    in_use: int  # how many of them other Pods use
    reason: str  # the reason if any is in use


def pre_filter(pod: Pod, handle: framework.Handle) -> framework.PreFilterResult | framework.Status:
    """Return the filter, or Skip if all volumes can be shared; reject a Pod whose claim does not exist."""
    for name in claim_names(pod):
        if claim_named(pod, name, handle.snapshot) is None:
            return framework.unresolvable(not_found(CLAIM, name))
    single_use = single_use_claims(pod, handle)
    disks = tuple(volume for volume in pod.spec.volumes if any(_disks(volume)))
    pods = (other for info in handle.node_infos.values() for other in info.pods) if single_use else ()
    used = {name for other in pods if other.metadata.namespace == pod.metadata.namespace for name in claim_names(other)}
    in_use = len(single_use & used)
    if not disks and not in_use:
        return framework.SKIP
    before = handle.profile.does(Behaviour.SAME_CLAIM_REASON)
    reason = REASON_IN_USE_BEFORE if before else REASON_IN_USE
    return _result(State(disks=disks, single_use=single_use, in_use=in_use, reason=reason))


def single_use_claims(pod: Pod, handle: framework.Handle) -> frozenset[str]:
    """Return the names of the Pod's ReadWriteOncePod claims, which only one Pod in the cluster can use."""
    found = ((name, claim_named(pod, name, handle.snapshot)) for name in claim_names(pod))
    return frozenset(name for name, claim in found if claim and READ_WRITE_ONCE_POD in claim.spec.access_modes)


def _result(state: State) -> framework.PreFilterResult:
    return framework.PreFilterResult(partial(filter_node, state), updated=partial(_updated, state))


def _updated(state: State, changed: Pod, _node_info: NodeInfo, by: int) -> framework.PreFilterResult:
    """Source: volumerestrictions/volume_restrictions.go updateWithPod (v1.36)."""
    # upstream: here a claim of the same name counts in any namespace.
    uses = sum(name in state.single_use for name in claim_names(changed))
    return _result(replace(state, in_use=state.in_use + by * uses))


def filter_node(state: State, node_info: NodeInfo) -> framework.Status:
    """Reject a node on which a disk is in use, and all nodes if a claim is in use."""
    others = (other for pod in node_info.pods for other in pod.spec.volumes)
    if state.disks and any(_in_conflict(disk, other) for other in others for disk in state.disks):
        return framework.unschedulable(REASON_DISK)
    return framework.unschedulable(state.reason) if state.in_use > 0 else framework.SUCCESS


def claim_names(pod: Pod) -> Iterator[str]:
    """Yield the name of the claim of each of the Pod's volumes that name one."""
    return (v.persistent_volume_claim.claim_name for v in pod.spec.volumes if v.persistent_volume_claim)


def _in_conflict(volume: Volume, other: Volume) -> bool:
    """Source: volumerestrictions/volume_restrictions.go isVolumeConflict (v1.36)."""
    existing = dict(_disks(other))
    return any(disk in existing and not (read_only and existing[disk]) for disk, read_only in _disks(volume))


def _disks(volume: Volume) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield (identity of the disk, whether it is read-only); a Ceph image has one identity for each monitor."""
    if volume.gce_persistent_disk:
        yield ("gce", volume.gce_persistent_disk.pd_name), volume.gce_persistent_disk.read_only
    if volume.aws_elastic_block_store:
        yield ("ebs", volume.aws_elastic_block_store.volume_id), False
    if volume.iscsi:
        yield ("iscsi", volume.iscsi.iqn), volume.iscsi.read_only
    if volume.rbd:
        for monitor in volume.rbd.monitors:
            yield ("rbd", monitor, volume.rbd.pool, volume.rbd.image), volume.rbd.read_only

"""VolumeRestrictions: disks that two Pods cannot share, and claims that only one Pod may use.

Source: kube-scheduler volumerestrictions/volume_restrictions.go (v1.36), KEP-2485 (ReadWriteOncePod).
"""

from __future__ import annotations

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
    """What the filter needs of the Pod.

    Attributes:
        disks: its volumes that may be in conflict with another Pod's on the same node.
        single_use: the names of its claims that only one Pod may use.
        in_use: how many of them other Pods use.
        reason: what is said then.
    """

    disks: tuple[Volume, ...]
    single_use: frozenset[str]
    in_use: int
    reason: str


def pre_filter(pod: Pod, handle: framework.Handle) -> framework.PreFilterResult | framework.Status:
    """Return the filter, or Skip for a Pod whose volumes can be shared; reject a Pod whose claim does not exist."""
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
    """Return the names of the Pod's claims that serve one Pod in the whole cluster, not one per node."""
    found = ((name, claim_named(pod, name, handle.snapshot)) for name in claim_names(pod))
    return frozenset(name for name, claim in found if claim and READ_WRITE_ONCE_POD in claim.spec.access_modes)


def _result(state: State) -> framework.PreFilterResult:
    return framework.PreFilterResult(partial(filter_node, state), updated=partial(_updated, state))


def _updated(state: State, changed: Pod, _node_info: NodeInfo, by: int) -> framework.PreFilterResult:
    """Return the filter once that Pod is one more or one less.

    Source: volumerestrictions/volume_restrictions.go updateWithPod (v1.36).
    """
    # upstream: here a claim of the same name counts in whichever namespace it is.
    uses = sum(name in state.single_use for name in claim_names(changed))
    return _result(replace(state, in_use=state.in_use + by * uses))


def filter_node(state: State, node_info: NodeInfo) -> framework.Status:
    """Reject a node on which a disk is taken, and every node where a claim is."""
    others = (other for pod in node_info.pods for other in pod.spec.volumes)
    if state.disks and any(_in_conflict(disk, other) for other in others for disk in state.disks):
        return framework.unschedulable(REASON_DISK)
    return framework.unschedulable(state.reason) if state.in_use > 0 else framework.SUCCESS


def claim_names(pod: Pod) -> Iterator[str]:
    """Yield the name of the claim of each of the Pod's volumes that name one."""
    return (v.persistent_volume_claim.claim_name for v in pod.spec.volumes if v.persistent_volume_claim)


def _in_conflict(volume: Volume, other: Volume) -> bool:
    """Whether a node cannot have both: the same disk, unless both only read it; an EBS disk never.

    Source: volumerestrictions/volume_restrictions.go isVolumeConflict (v1.36).
    """
    existing = dict(_disks(other))
    return any(disk in existing and not (read_only and existing[disk]) for disk, read_only in _disks(volume))


def _disks(volume: Volume) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield (what tells the disk from all others, whether it is only read); a Ceph image under each monitor."""
    if volume.gce_persistent_disk:
        yield ("gce", volume.gce_persistent_disk.pd_name), volume.gce_persistent_disk.read_only
    if volume.aws_elastic_block_store:
        yield ("ebs", volume.aws_elastic_block_store.volume_id), False
    if volume.iscsi:
        yield ("iscsi", volume.iscsi.iqn), volume.iscsi.read_only
    if volume.rbd:
        for monitor in volume.rbd.monitors:
            yield ("rbd", monitor, volume.rbd.pool, volume.rbd.image), volume.rbd.read_only

"""What was not read or is not modelled, where that could change the answer about this Pod.

Something that has nothing to judge about the Pod cannot change its answer, and is not mentioned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers.workloads import owner_of
from kubectl_spread.diagnosis.holders import holders
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Kind
from kubectl_spread.report import Incomplete
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import WhenUnsatisfiable
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.snapshot import Inventory, Snapshot, Unread


class Gap(msgspec.Struct, frozen=True):
    """What follows where something is missing.

    Attributes:
        matters: whether it has anything to judge about the Pod in this cluster.
        consequence: what the answer does not know, as a sentence.
        filters: the filters that would reject wrongly without it, and are left out.
    """

    matters: Callable[[Pod, Handle], bool]
    consequence: str
    filters: tuple[str, ...] = ()


VOLUME_FILTERS = ("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone")


def _has_volumes(pod: Pod, _handle: Handle) -> bool:
    return any(volume.restricts_nodes for volume in pod.spec.volumes)


def _has_resource_claims(pod: Pod, _handle: Handle) -> bool:
    return bool(pod.spec.resource_claims)


def _meets_pod_affinity(pod: Pod, handle: Handle) -> bool:
    """Whether the Pod has inter-pod affinity, or any bound Pod keeps others away."""
    affinity = pod.spec.affinity
    if affinity and (affinity.pod_affinity or affinity.pod_anti_affinity):
        return True
    return any(_keeps_others_away(other) for info in handle.node_infos.values() for other in info.pods)


def _keeps_others_away(pod: Pod) -> bool:
    anti = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity else None
    return anti is not None and bool(anti.required_during_scheduling_ignored_during_execution)


def _takes_defaults(pod: Pod, _handle: Handle) -> bool:
    """Whether default constraints may apply; the profile need not say, for ``without_unread`` drops hard ones."""
    return not pod.spec.topology_spread_constraints


def _never(_pod: Pod, _handle: Handle) -> bool:
    return False


def _always(_pod: Pod, _handle: Handle) -> bool:
    return True


PLUGIN_GAPS: Mapping[str, Gap] = {
    "DynamicResources": Gap(_has_resource_claims, "whether nodes have the devices it claims was not judged"),
}
"""Filter plugin that is not modelled → what follows; one that is not here judges every Pod."""

_OWNER_SELECTS = Gap(
    _takes_defaults, "what the owner adds to the selector of the cluster's default constraints is not known"
)

KIND_GAPS: Mapping[Kind, Gap] = {
    kinds.POD: Gap(
        _always,
        "Pods of other namespaces take room and ports that are not known, and affinity between Pods was not judged",
        ("InterPodAffinity",),
    ),
    kinds.SERVICE: Gap(
        _takes_defaults, "what Services add to the selector of the cluster's default constraints is not known"
    ),
    kinds.REPLICA_SET: _OWNER_SELECTS,
    kinds.STATEFUL_SET: _OWNER_SELECTS,
    kinds.REPLICATION_CONTROLLER: _OWNER_SELECTS,
    kinds.NAMESPACE: Gap(_meets_pod_affinity, "affinity between Pods was not judged", ("InterPodAffinity",)),
    kinds.PERSISTENT_VOLUME_CLAIM: Gap(_has_volumes, "its volumes were not judged", VOLUME_FILTERS),
    kinds.PERSISTENT_VOLUME: Gap(_has_volumes, "its volumes were not judged", VOLUME_FILTERS),
    kinds.STORAGE_CLASS: Gap(_has_volumes, "its volumes were not judged", VOLUME_FILTERS),
    kinds.CSI_NODE: Gap(
        _has_volumes, "where its volumes can be attached was not judged", ("NodeVolumeLimits", "VolumeBinding")
    ),
    kinds.CSI_DRIVER: Gap(
        _has_volumes, "where its volumes could be was not judged", ("NodeVolumeLimits", "VolumeBinding")
    ),
    kinds.CSI_STORAGE_CAPACITY: Gap(_has_volumes, "where its volumes could be was not judged", ("VolumeBinding",)),
    kinds.VOLUME_ATTACHMENT: Gap(
        _has_volumes, "whether nodes can attach more volumes was not judged", ("NodeVolumeLimits",)
    ),
}
"""Kind → what follows where its list could not be read; a kind that is not here changes no verdict."""


DEFAULTS_SELECT_BY = frozenset(kind for kind, gap in KIND_GAPS.items() if gap.matters is _takes_defaults)
"""Kinds that say which Pods the default constraints count: without one of them too many are counted."""

BESIDE_REJECTIONS: Mapping[Kind, str] = {
    kinds.EVENT: "what the scheduler last said is not known",
    kinds.POD_DISRUPTION_BUDGET: "moving Pods was not tried",
    kinds.NETWORK_POLICY: "adding labels to the Pod was not tried",
}
"""Kind that is read for Pending Pods alone → what is not known of one that finds no node; the verdict is."""
UNSEEN = "those without Pods are not shown, and what owns the others is not known"


def without_unread(profile: Profile, snapshot: Snapshot) -> Profile:
    """Return the profile without what lists that could not be had would make reject wrongly."""
    unread = {unread.kind for unread in snapshot.inventory.unread}
    blind = {name for kind in unread for name in _gap(kind).filters}
    filters = tuple(name for name in profile.filters if name not in blind)
    hard = any(c.when_unsatisfiable == WhenUnsatisfiable.DO_NOT_SCHEDULE for c in profile.default_constraints)
    defaults = () if hard and unread & DEFAULTS_SELECT_BY else profile.default_constraints
    return replace(profile, filters=filters, default_constraints=defaults)


def _gap(kind: Kind) -> Gap:
    """Return what follows where the kind could not be read: nothing, for a kind that changes no verdict."""
    return KIND_GAPS.get(kind, Gap(_never, ""))


def incomplete(pod: Pod, handle: Handle, evaluation: Evaluation) -> tuple[Incomplete, ...]:
    """Return what the answer about this Pod does not rest on; empty when it is whole."""
    beside = () if evaluation.feasible else _beside_rejections(pod, handle)
    others = tuple(holder.incomplete for holder in holders(pod, handle.profile))
    return (*others, *_not_modelled(pod, handle, evaluation), *_unread(pod, handle), *_apart(pod, handle), *beside)


def read_apart(inventory: Inventory, decisive: Iterable[Kind] = (kinds.NODE, kinds.POD)) -> tuple[Incomplete, ...]:
    """Return what to say where the lists that decide are of different versions; nothing where they are of one."""
    versions = inventory.resource_versions
    read = {kind.plural: versions[kind.plural] for kind in decisive if kind.plural in versions}
    if not inventory.apart or len({*read.values()}) <= 1:
        return ()
    what = ", ".join(f"{plural} at resourceVersion {version}" for plural, version in read.items())
    consequence = "what changed in between may be missing"
    return (Incomplete(what=what, why="read at different times", consequence=consequence),)


def unseen_workloads(inventory: Inventory, *, defaults: bool) -> tuple[Incomplete, ...]:
    """Return what is not known where workloads are shown and what tells of them could not be listed.

    Args:
        inventory: what was read.
        defaults: whether the cluster's default constraints are shown too, which select by Services.
    """
    consequences = dict.fromkeys(kinds.WORKLOAD_KINDS, UNSEEN)
    if defaults:
        consequences[kinds.SERVICE] = KIND_GAPS[kinds.SERVICE].consequence
    return tuple(_missing(each, consequences[each.kind]) for each in inventory.unread if each.kind in consequences)


def _not_modelled(pod: Pod, handle: Handle, evaluation: Evaluation) -> Iterable[Incomplete]:
    """Yield the filters that were not evaluated."""
    for plugin in evaluation.not_modelled:
        gap = PLUGIN_GAPS.get(plugin, Gap(_always, "what it would say is not known"))
        if gap.matters(pod, handle):
            yield Incomplete(what=plugin, why="not evaluated", consequence=gap.consequence)


def _unread(pod: Pod, handle: Handle) -> Iterable[Incomplete]:
    """Yield the lists that could not be had."""
    for unread in handle.snapshot.inventory.unread:
        gap = _gap(unread.kind)
        if gap.matters(pod, handle):
            yield _missing(unread, gap.consequence)


def _apart(pod: Pod, handle: Handle) -> Iterable[Incomplete]:
    """Return what to say where the lists that decide about this Pod are of different versions."""
    inventory = handle.snapshot.inventory
    if not inventory.apart:
        return ()
    return read_apart(inventory, (kinds.NODE, *(kind for kind, gap in KIND_GAPS.items() if gap.matters(pod, handle))))


def _beside_rejections(pod: Pod, handle: Handle) -> Iterable[Incomplete]:
    """Yield what is not known of a Pod that finds no node."""
    owner = owner_of(pod, handle.snapshot)
    for unread in handle.snapshot.inventory.unread:
        if unread.kind in BESIDE_REJECTIONS:
            yield _missing(unread, BESIDE_REJECTIONS[unread.kind])
        if unread.kind.makes_pods and unread.kind.name == owner.kind:
            yield _missing(unread, "fixes name no command for its owner, whose template is not known")


def _missing(unread: Unread, consequence: str) -> Incomplete:
    """Return what to say of a list that could not be had."""
    return Incomplete(what=f"list {unread.kind.plural}", why=unread.why, consequence=consequence)

"""What was not read or is not modelled, where that could change the answer about this Pod; and who else decides.

Something that has nothing to judge about the Pod cannot change its answer, and is not mentioned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from kubectl_spread import gaps
from kubectl_spread.controllers.templates import template_of
from kubectl_spread.controllers.workloads import OwnedPods, owner_of
from kubectl_spread.objects import kinds
from kubectl_spread.objects.configuration import DEFAULT_SCHEDULER
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Kind
from kubectl_spread.objects.meta import once, parse_label_selector
from kubectl_spread.scheduler import dynamicresources
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.podtopologyspread import WhenUnsatisfiable, constraints_of
from kubectl_spread.scheduler.profile import Behaviour, Profile
from kubectl_spread.snapshot import Inventory, Snapshot


class Relevance(msgspec.Struct, frozen=True):
    """When the list of a kind matters to a Pod.

    Attributes:
        matters: whether it has anything to judge about the Pod in this cluster.
        filters: the filters that would reject wrongly without it, and are left out.
    """

    matters: Callable[[Pod, Handle], bool]
    filters: tuple[str, ...] = ()


VOLUME_FILTERS = ("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone")


def _has_volumes(pod: Pod, _handle: Handle) -> bool:
    return any(volume.restricts_nodes for volume in pod.spec.volumes)


def _claims_devices(pod: Pod, handle: Handle) -> bool:
    return dynamicresources.claims_of(pod, handle) != dynamicresources.Claims()


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


def _always(_pod: Pod, _handle: Handle) -> bool:
    return True


KINDS_THAT_MATTER: Mapping[Kind, Relevance] = {
    kinds.POD: Relevance(_always, ("InterPodAffinity",)),
    kinds.SERVICE: Relevance(_takes_defaults),
    kinds.REPLICA_SET: Relevance(_takes_defaults),
    kinds.STATEFUL_SET: Relevance(_takes_defaults),
    kinds.REPLICATION_CONTROLLER: Relevance(_takes_defaults),
    kinds.NAMESPACE: Relevance(_meets_pod_affinity, ("InterPodAffinity",)),
    kinds.PERSISTENT_VOLUME_CLAIM: Relevance(_has_volumes, VOLUME_FILTERS),
    kinds.PERSISTENT_VOLUME: Relevance(_has_volumes, VOLUME_FILTERS),
    kinds.STORAGE_CLASS: Relevance(_has_volumes, VOLUME_FILTERS),
    kinds.CSI_NODE: Relevance(_has_volumes, ("NodeVolumeLimits", "VolumeBinding")),
    kinds.CSI_DRIVER: Relevance(_has_volumes, ("NodeVolumeLimits", "VolumeBinding")),
    kinds.CSI_STORAGE_CAPACITY: Relevance(_has_volumes, ("VolumeBinding",)),
    **dict.fromkeys(kinds.DEVICE_KINDS, Relevance(_claims_devices, (dynamicresources.NAME,))),
    kinds.VOLUME_ATTACHMENT: Relevance(_has_volumes, ("NodeVolumeLimits",)),
}
"""Kind → when its list matters; a kind that is not here changes no verdict."""


DEFAULTS_SELECT_BY = frozenset(kind for kind, when in KINDS_THAT_MATTER.items() if when.matters is _takes_defaults)
"""Kinds that say which Pods the default constraints count: without one of them too many are counted."""

BESIDE_REJECTIONS = frozenset((kinds.EVENT, kinds.POD_DISRUPTION_BUDGET, kinds.NETWORK_POLICY))
"""Kinds that are read for Pending Pods alone: they change no verdict, but what is known of one that finds no node."""


def without_unread(profile: Profile, snapshot: Snapshot) -> Profile:
    """Return the profile without what lists that could not be had would make reject wrongly."""
    unread = {unread.kind for unread in snapshot.inventory.unread}
    blind = {name for kind in unread & KINDS_THAT_MATTER.keys() for name in KINDS_THAT_MATTER[kind].filters}
    filters = tuple(name for name in profile.filters if name not in blind)
    hard = any(c.when_unsatisfiable == WhenUnsatisfiable.DO_NOT_SCHEDULE for c in profile.default_constraints)
    defaults = () if hard and unread & DEFAULTS_SELECT_BY else profile.default_constraints
    return replace(profile, filters=filters, default_constraints=defaults)


def incomplete(pod: Pod, handle: Handle, evaluation: Evaluation) -> tuple[gaps.Gap, ...]:
    """Return what the answer about this Pod does not rest on; empty when it is whole."""
    not_modelled = (gaps.NotModelled(plugin=plugin) for plugin in evaluation.not_modelled)
    inventory = handle.snapshot.inventory

    def matters(kind: Kind) -> bool:
        return kind in KINDS_THAT_MATTER and KINDS_THAT_MATTER[kind].matters(pod, handle)

    def helps_fixes(kind: Kind) -> bool:
        return kind in BESIDE_REJECTIONS or (kind.makes_pods and kind.name == owner_of(pod, handle.snapshot).kind)

    return (
        *deciders(pod, handle, evaluation),
        *_undecided_choices(evaluation, handle),
        *not_modelled,
        *unread_kinds(inventory, matters, gaps.Purpose.SCHEDULING),
        *(read_apart(inventory, (kinds.NODE, *filter(matters, KINDS_THAT_MATTER))) if inventory.apart else ()),
        *(() if evaluation.feasible else unread_kinds(inventory, helps_fixes, gaps.Purpose.FIXES)),
    )


def _undecided_choices(evaluation: Evaluation, handle: Handle) -> Iterator[gaps.UndecidedChoice]:
    """Yield the Pods that may be on a node already, where that would decide about a Pod that some node takes."""
    pod, snapshot = evaluation.pod, handle.snapshot
    if not (snapshot.undecided and evaluation.feasible) or pod.key in snapshot.assumed:
        return
    counted = [each.selector for each in constraints_of(pod, handle) if each.hard]
    nodes = {choice.node_name for choice in snapshot.undecided.values()}
    found = [
        (f"{namespace}/{name}", choice.node_name)
        for (namespace, name), choice in snapshot.undecided.items()
        if (namespace, name) == pod.key
        or (namespace == pod.metadata.namespace and any(s.matches(choice.pod.metadata.labels) for s in counted))
        or nodes.issuperset(evaluation.feasible)
    ]
    if found:
        yield gaps.UndecidedChoice(pods=tuple(sorted(found)))


def unread_kinds(
    inventory: Inventory, matters: Callable[[Kind], bool], purpose: gaps.Purpose
) -> Iterator[gaps.UnreadKind]:
    """Yield the lists that could not be read, of the kinds that matter for the purpose."""
    for unread in inventory.unread:
        if matters(unread.kind):
            yield gaps.UnreadKind(kind=unread.kind, why=unread.why, purpose=purpose)


def unread_cluster(inventory: Inventory) -> Iterator[gaps.UnreadCluster]:
    """Yield that the Nodes, or some of them, were not read, where that is so."""
    for unread in inventory.unread:
        if unread.kind == kinds.NODE:
            yield gaps.UnreadCluster(why=unread.why)


def unread_pods(inventory: Inventory) -> Iterator[gaps.UnreadKind]:
    """Yield that files do not hold all Pods, where that shows."""
    if not inventory.resource_versions:
        yield from unread_kinds(inventory, kinds.POD.__eq__, gaps.Purpose.WORKLOADS)


def read_apart(inventory: Inventory, decisive: Iterable[Kind] = (kinds.NODE, kinds.POD)) -> tuple[gaps.ReadApart, ...]:
    """Return the lists that decide where they are of different versions; nothing where they are of one."""
    versions = inventory.resource_versions
    read = {kind.plural: versions[kind.plural] for kind in decisive if kind.plural in versions}
    if not inventory.apart or len({*read.values()}) <= 1:
        return ()
    return (gaps.ReadApart(versions=tuple(read.items())),)


def unseen_workloads(inventory: Inventory, *, defaults: bool) -> Iterator[gaps.UnreadKind]:
    """Yield the lists that could not be read and without which some workloads are not shown as they are.

    Args:
        inventory: what was read.
        defaults: whether the cluster's default constraints are shown too, which select by Services.
    """
    for unread in inventory.unread:
        if unread.kind.makes_pods or (defaults and unread.kind == kinds.SERVICE):
            purpose = gaps.Purpose.WORKLOADS if unread.kind.makes_pods else gaps.Purpose.SCHEDULING
            yield gaps.UnreadKind(kind=unread.kind, why=unread.why, purpose=purpose)


def unparsable_constraints(workload: OwnedPods) -> tuple[gaps.UnparsableConstraint, ...]:
    """Return why the workload has no rows where the selector of a constraint cannot be parsed; none where all can.

    No API server stores such a selector, but files may hold one. What it costs is this workload's rows alone.
    """
    templates = [template_of(workload.owner).spec] if workload.owner else []
    specs = (*templates, *(pod.spec for pod in workload.pods))
    for constraints in once(spec.topology_spread_constraints for spec in specs):
        for constraint in constraints:
            try:
                parse_label_selector(constraint.label_selector)
            except ValueError as error:
                found = gaps.UnparsableConstraint(
                    namespace=workload.namespace,
                    workload=str(workload.ref),
                    topology_key=constraint.topology_key,
                    error=str(error),
                )
                return (found,)
    return ()


def deciders(pod: Pod, handle: Handle, evaluation: Evaluation) -> Iterator[gaps.Decider]:
    """Yield who else decides about the Pod, the one that goes first first.

    Source: kube-scheduler gangscheduling/gangscheduling.go PreEnqueue and Permit (v1.35 to v1.37).
    """
    profile, spec, name = handle.profile, pod.spec, "/".join(pod.key)
    unread = tuple(unread_cluster(handle.snapshot.inventory))
    yield from unread
    if not profile.serves(pod):
        yield gaps.OtherScheduler(scheduler_name=spec.scheduler_name or DEFAULT_SCHEDULER)
    elif not unread and not handle.decides(pod):
        yield gaps.NodeNamed(pod=name, node_name=spec.node_name)
    if profile.does(Behaviour.SCHEDULING_GROUPS):
        if spec.scheduling_group is not None:
            yield gaps.SchedulingGroup(pod=name, pod_group=spec.scheduling_group.pod_group_name)
        elif spec.workload_ref is not None:
            yield gaps.SchedulingGroup(pod=name, pod_group=spec.workload_ref.pod_group, workload=spec.workload_ref.name)
    if wanted := dynamicresources.undecided(pod, handle, _not_rejected(handle, evaluation)):
        yield gaps.UndecidedDevices(pod=name, wanted=wanted)


def _not_rejected(handle: Handle, evaluation: Evaluation) -> Iterator[NodeInfo]:
    """Yield the nodes that what is modelled of DynamicResources does not reject."""
    if dynamicresources.NAME in handle.profile.filters:
        for name, verdict in evaluation.nodes.items():
            if all(rejection.plugin != dynamicresources.NAME for rejection in verdict.rejections):
                yield handle.node_infos[name]

"""What was not read or is not modelled, if it could change the answer about this Pod, and who else decides about it.

A gap that cannot change the answer for the Pod is not reported.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

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
from kubectl_spread.scheduler import dynamicresources, volumebinding
from kubectl_spread.scheduler.claims import class_unknown
from kubectl_spread.scheduler.cycle import Evaluation, not_modelled
from kubectl_spread.scheduler.dynamicresources import Claims, claims_of
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.podtopologyspread import WhenUnsatisfiable, constraints_of
from kubectl_spread.scheduler.profile import Behaviour, Profile
from kubectl_spread.snapshot import Inventory, Snapshot


class Relevance(msgspec.Struct, frozen=True):
    """When the list of a kind matters to a Pod, and the filters left out without it: they would reject wrongly."""

    matters: Callable[[Pod, Handle], bool]
    filters: tuple[str, ...] = ()


VOLUME_FILTERS = ("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone")


def _has_volumes(pod: Pod, _handle: Handle) -> bool:
    return any(volume.restricts_nodes for volume in pod.spec.volumes)


def _pod_affinity_matters(pod: Pod, handle: Handle) -> bool:
    """Whether the Pod has inter-pod affinity, or any bound Pod has required anti-affinity."""
    affinity = pod.spec.affinity
    if affinity and (affinity.pod_affinity or affinity.pod_anti_affinity):
        return True
    bound = (other.spec.affinity for info in handle.node_infos.values() for other in info.pods)
    anti_affinities = (each.pod_anti_affinity for each in bound if each)
    return any(each.required for each in anti_affinities if each)


def _may_have_defaults(pod: Pod, _handle: Handle) -> bool:
    """Whether default constraints may apply, in any profile: ``without_unread`` drops hard ones."""
    return not pod.spec.topology_spread_constraints


# Kind → when its list matters; other kinds change no verdict.
KINDS_THAT_MATTER: Mapping[Kind, Relevance] = {
    kinds.POD: Relevance(lambda _pod, _handle: True, ("InterPodAffinity",)),
    kinds.SERVICE: Relevance(_may_have_defaults),
    kinds.REPLICA_SET: Relevance(_may_have_defaults),
    kinds.STATEFUL_SET: Relevance(_may_have_defaults),
    kinds.REPLICATION_CONTROLLER: Relevance(_may_have_defaults),
    kinds.NAMESPACE: Relevance(_pod_affinity_matters, ("InterPodAffinity",)),
    kinds.PERSISTENT_VOLUME_CLAIM: Relevance(_has_volumes, VOLUME_FILTERS),
    kinds.PERSISTENT_VOLUME: Relevance(_has_volumes, VOLUME_FILTERS),
    kinds.STORAGE_CLASS: Relevance(_has_volumes, VOLUME_FILTERS),
    kinds.CSI_NODE: Relevance(_has_volumes, ("NodeVolumeLimits", "VolumeBinding")),
    kinds.CSI_DRIVER: Relevance(_has_volumes, ("NodeVolumeLimits", "VolumeBinding")),
    kinds.CSI_STORAGE_CAPACITY: Relevance(_has_volumes, ("VolumeBinding",)),
    **dict.fromkeys(
        kinds.DEVICE_KINDS,
        Relevance(lambda pod, handle: claims_of(pod, handle) != Claims(), (dynamicresources.NAME,)),
    ),
    kinds.VOLUME_ATTACHMENT: Relevance(_has_volumes, ("NodeVolumeLimits",)),
}

# Kinds whose selectors the default constraints use: without one of them too many Pods are counted.
DEFAULTS_SELECT_BY = frozenset(kind for kind, when in KINDS_THAT_MATTER.items() if when.matters is _may_have_defaults)

# Kinds that are read only for Pending Pods: they change no verdict, but the advice for a Pod without a node.
BESIDE_REJECTIONS = frozenset((kinds.EVENT, kinds.POD_DISRUPTION_BUDGET, kinds.NETWORK_POLICY))


def without_unread(profile: Profile, snapshot: Snapshot) -> Profile:
    """Return the profile without the filters and defaults that would reject wrongly because lists are missing."""
    unread = {unread.kind for unread in snapshot.inventory.unread}
    blind = {name for kind in unread & KINDS_THAT_MATTER.keys() for name in KINDS_THAT_MATTER[kind].filters}
    # Without them VolumeBinding goes only by the claims.
    filters = tuple(name for name in profile.filters if name not in blind or name == volumebinding.NAME)
    hard = any(c.when_unsatisfiable == WhenUnsatisfiable.DO_NOT_SCHEDULE for c in profile.default_constraints)
    defaults = () if hard and unread & DEFAULTS_SELECT_BY else profile.default_constraints
    return replace(profile, filters=filters, default_constraints=defaults)


def incomplete(pod: Pod, handle: Handle, evaluation: Evaluation) -> tuple[gaps.Gap, ...]:
    """Return what the answer about this Pod could not take into account; empty if it is complete."""
    inventory = handle.snapshot.inventory

    def matters(kind: Kind) -> bool:
        return kind in KINDS_THAT_MATTER and KINDS_THAT_MATTER[kind].matters(pod, handle)

    def helps_fixes(kind: Kind) -> bool:
        return kind in BESIDE_REJECTIONS or (kind.makes_pods and kind.name == owner_of(pod, handle.snapshot).kind)

    return (
        # That a Pod never runs is certain.
        *(() if handle.is_orphan(pod) else deciders(pod, handle, evaluation)),
        *_undecided_choices(pod, handle, evaluation.feasible),
        *_not_modelled(handle.profile),
        *unread_kinds(inventory, matters, gaps.Purpose.SCHEDULING),
        *_unread_classes(pod, handle, gaps.Purpose.SCHEDULING),
        *(read_apart(inventory, (kinds.NODE, *filter(matters, KINDS_THAT_MATTER))) if inventory.apart else ()),
        *(() if evaluation.feasible else unread_kinds(inventory, helps_fixes, gaps.Purpose.FIXES)),
        *(() if evaluation.feasible else _unread_controllers(inventory, helps_fixes)),
    )


def _unread_controllers(inventory: Inventory, reported: Callable[[Kind], bool]) -> Iterator[gaps.UnreadKind]:
    """Yield the lists that the server refused of controllers whose Pods belong to the future that fixes promise."""
    found = unread_kinds(inventory, lambda kind: kind in CONTROLLERS and not reported(kind), gaps.Purpose.SIMULATION)
    return (gap for gap in found if gap.why not in gaps.IN_FILES)


def undecided(pod: Pod, handle: Handle) -> Iterator[gaps.Gap]:
    """Yield what is not modelled or not known about where a Pod goes that some node takes, whichever that is."""
    named = handle.names_its_node(pod)
    yield from () if named else _deciders(pod, handle, handle.node_infos.values())
    yield from _undecided_choices(pod, handle, handle.node_infos)
    yield from _not_modelled(handle.profile)


def _not_modelled(profile: Profile) -> Iterator[gaps.NotModelled]:
    return (gaps.NotModelled(plugin=plugin) for plugin in not_modelled(profile))


def _undecided_choices(pod: Pod, handle: Handle, feasible: Collection[str]) -> Iterator[gaps.UndecidedChoice]:
    """Yield the Pods that may already be on a node, if that could change the answer for a Pod that some node takes."""
    snapshot = handle.snapshot
    if not (snapshot.undecided and feasible) or pod.key in snapshot.assumed:
        return
    counted = [each.selector for each in constraints_of(pod, handle) if each.hard]
    nodes = {choice.node_name for choice in snapshot.undecided.values()}
    found = [
        (f"{namespace}/{name}", choice.node_name)
        for (namespace, name), choice in snapshot.undecided.items()
        if (namespace, name) == pod.key
        or (namespace == pod.metadata.namespace and any(s.matches(choice.pod.metadata.labels) for s in counted))
        or nodes.issuperset(feasible)
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


def unread_of_filters(pod: Pod, handle: Handle, purpose: gaps.Purpose) -> Iterator[gaps.UnreadKind]:
    """Yield the lists that could not be read and without which filters that judge this Pod are left out.

    What Pods that were not read take is not meant: ``unread_pods`` yields that once for all.
    """

    def matters(kind: Kind) -> bool:
        found = KINDS_THAT_MATTER.get(kind)
        return found is not None and bool(found.filters) and kind != kinds.POD and found.matters(pod, handle)

    yield from unread_kinds(handle.snapshot.inventory, matters, purpose)
    yield from _unread_classes(pod, handle, purpose)


def _unread_classes(pod: Pod, handle: Handle, purpose: gaps.Purpose) -> Iterator[gaps.UnreadKind]:
    """Yield that files hold no StorageClass, if a claim of the Pod that has no volume names one."""
    snapshot, kind = handle.snapshot, kinds.STORAGE_CLASS
    unknown = any(claim and class_unknown(claim, snapshot) for claim in snapshot.claims_of(pod))
    if unknown and not snapshot.inventory.refused(kind):
        yield gaps.UnreadKind(kind=kind, why=gaps.NONE_IN_FILES, purpose=purpose)


def unread_cluster(inventory: Inventory) -> Iterator[gaps.UnreadCluster]:
    """Yield that the Nodes, or some of them, were not read, if so."""
    for unread in inventory.unread:
        if unread.kind == kinds.NODE:
            yield gaps.UnreadCluster(why=unread.why)


def unread_pods(inventory: Inventory) -> Iterator[gaps.UnreadKind]:
    """Yield that files do not hold all Pods, if that shows."""
    if not inventory.resource_versions:
        yield from unread_kinds(inventory, kinds.POD.__eq__, gaps.Purpose.WORKLOADS)


def read_apart(inventory: Inventory, decisive: Iterable[Kind] = (kinds.NODE, kinds.POD)) -> tuple[gaps.ReadApart, ...]:
    """Return the decisive lists if they were read at different versions; nothing otherwise."""
    versions = inventory.resource_versions
    read = {kind.plural: versions[kind.plural] for kind in decisive if kind.plural in versions}
    if not inventory.apart or len({*read.values()}) <= 1:
        return ()
    return (gaps.ReadApart(versions=tuple(read.items())),)


def unseen_workloads(inventory: Inventory, *, defaults: bool) -> Iterator[gaps.UnreadKind]:
    """Yield the unread lists without which some workloads are missing or shown wrongly.

    ``defaults``: whether the cluster's default constraints are shown too, which select by Services.
    """
    for unread in inventory.unread:
        if unread.kind.makes_pods or (defaults and unread.kind == kinds.SERVICE):
            purpose = gaps.Purpose.WORKLOADS if unread.kind.makes_pods else gaps.Purpose.SCHEDULING
            yield gaps.UnreadKind(kind=unread.kind, why=unread.why, purpose=purpose)


# Kinds that create Pods again, and so decide what a change of the cluster sets going.
CONTROLLERS = frozenset((kinds.REPLICA_SET, kinds.DEPLOYMENT, kinds.STATEFUL_SET, kinds.DAEMON_SET, kinds.JOB))
# Kind of an owner → the kind of what it makes, which owns its Pods.
LINKS: Mapping[Kind, Kind] = {kinds.DEPLOYMENT: kinds.REPLICA_SET, kinds.CRON_JOB: kinds.JOB}


def unread_owners(namespace: str, kind: str, snapshot: Snapshot) -> Iterator[gaps.UnreadKind]:
    """Yield the list without which it is not known which Pods belong to owners of the kind (in lower case).

    Pods whose Deployment follows from their names are known to belong to it. ``namespace``: empty for all.
    """
    for upper, link in LINKS.items():
        if kind == upper.singular and snapshot.inventory.lacks(link):
            found = (pod for pod in snapshot.without_owner if pod.metadata.controller_kind == link.name)
            within = (pod for pod in found if namespace in {"", pod.metadata.namespace})
            if any(owner_of(pod, snapshot).kind == link.name for pod in within):
                yield from unread_kinds(snapshot.inventory, link.__eq__, gaps.Purpose.WORKLOADS)


def unread_owner(workload: OwnedPods, snapshot: Snapshot) -> Iterator[gaps.UnreadKind]:
    """Yield the list that the server refused, if the workload is in it, or what shows which Pods are the workload's."""
    kind = kinds.BY_NAME.get(workload.ref.kind)
    if kind is None or not kind.makes_pods:
        return
    own = unread_kinds(snapshot.inventory, kind.__eq__, gaps.Purpose.WORKLOADS) if workload.owner is None else ()
    links = () if workload.pods else unread_owners(workload.namespace, kind.singular, snapshot)
    yield from (gap for gap in (*own, *links) if gap.why not in gaps.IN_FILES)


def unparsable_constraints(workload: OwnedPods) -> tuple[gaps.UnparsableConstraint, ...]:
    """Return why the workload has no rows if the selector of a constraint cannot be parsed; empty if all can.

    No API server stores such a selector, but files may hold one. Only this workload's rows are missing then.
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
    """Yield what else decides about the Pod, in the order in which they decide.

    Source: kube-scheduler gangscheduling/gangscheduling.go PreEnqueue and Permit (v1.35 to v1.37).
    """
    not_rejected = (
        handle.node_infos[node_name]
        for node_name, verdict in evaluation.nodes.items()
        if all(rejection.plugin != dynamicresources.NAME for rejection in verdict.rejections)
    )
    return _deciders(pod, handle, not_rejected)


def _deciders(pod: Pod, handle: Handle, not_rejected: Iterable[NodeInfo]) -> Iterator[gaps.Decider]:
    """Yield the same, if DynamicResources does not reject these nodes."""
    profile, spec, name = handle.profile, pod.spec, "/".join(pod.key)
    unread = tuple(unread_cluster(handle.snapshot.inventory))
    yield from unread
    if handle.names_its_node(pod):
        if not unread:
            yield gaps.NodeNamed(pod=name, node_name=spec.node_name, absent=handle.is_orphan(pod))
    elif not profile.serves(pod):
        idle = not handle.snapshot.inventory.not_read and spec.scheduler_name in handle.snapshot.idle_schedulers
        yield gaps.OtherScheduler(scheduler_name=spec.scheduler_name or DEFAULT_SCHEDULER, idle=idle)
    if profile.does(Behaviour.SCHEDULING_GROUPS):
        if spec.scheduling_group is not None:
            yield gaps.SchedulingGroup(pod=name, pod_group=spec.scheduling_group.pod_group_name)
        elif spec.workload_ref is not None:
            yield gaps.SchedulingGroup(pod=name, pod_group=spec.workload_ref.pod_group, workload=spec.workload_ref.name)
    filters = dynamicresources.NAME in profile.filters
    if filters and (wanted := dynamicresources.undecided(pod, handle, not_rejected)):
        yield gaps.UndecidedDevices(pod=name, wanted=wanted)

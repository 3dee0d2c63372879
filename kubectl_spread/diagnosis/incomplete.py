"""What was not read or is not modelled, where that could change the answer about this Pod; and who else decides.

Something that has nothing to judge about the Pod cannot change its answer, and is not mentioned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from kubectl_spread.contract.report import Incomplete, Report
from kubectl_spread.controllers.templates import template_of
from kubectl_spread.controllers.workloads import OwnedPods, owner_of
from kubectl_spread.diagnosis.causes import LINE, Blame
from kubectl_spread.objects import kinds
from kubectl_spread.objects.configuration import DEFAULT_SCHEDULER
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Kind
from kubectl_spread.objects.meta import once, parse_label_selector
from kubectl_spread.scheduler import dynamicresources
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.podtopologyspread import WhenUnsatisfiable
from kubectl_spread.scheduler.profile import Behaviour, Profile
from kubectl_spread.snapshot import Inventory, Snapshot, Unread

MOST_NAMES = 2
"""Nodes (count) that a sentence names where there are more."""


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


def _never(_pod: Pod, _handle: Handle) -> bool:
    return False


def _always(_pod: Pod, _handle: Handle) -> bool:
    return True


_DEVICES = Gap(_claims_devices, "whether nodes have the devices it claims was not judged", (dynamicresources.NAME,))
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
    **dict.fromkeys(kinds.DEVICE_KINDS, _DEVICES),
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
    others = tuple(holder.incomplete for holder in holders(pod, handle, evaluation))
    return (*others, *_not_modelled(evaluation), *_unread(pod, handle), *_apart(pod, handle), *beside)


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


def unparsable_constraints(workload: OwnedPods) -> tuple[Incomplete, ...]:
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
                what = (
                    f"the constraint of {workload.ref} in namespace {workload.namespace} on {constraint.topology_key}"
                )
                consequence = "kube-scheduler fails on its Pods, and none of their constraints is shown"
                return (Incomplete(what=what, why=str(error), consequence=consequence),)
    return ()


def _not_modelled(evaluation: Evaluation) -> Iterable[Incomplete]:
    """Yield the filters that were not evaluated."""
    for plugin in evaluation.not_modelled:
        yield Incomplete(what=plugin, why="not evaluated", consequence="what it would say is not known")


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


class Holder(Report, frozen=True, kw_only=True):
    """Somebody whose decision about a Pod is not modelled.

    Attributes:
        lead: what it does, as the first half of a sentence.
        incomplete: what follows for the answer.
    """

    lead: str
    incomplete: Incomplete


def holders(pod: Pod, handle: Handle, evaluation: Evaluation) -> Iterator[Holder]:
    """Yield who else decides about the Pod, the one that goes first first.

    Source: kube-scheduler gangscheduling/gangscheduling.go PreEnqueue and Permit (v1.35 to v1.37).
    """
    profile = handle.profile
    if not profile.serves(pod):
        yield _scheduler(pod.spec.scheduler_name or DEFAULT_SCHEDULER)
    elif not handle.decides(pod):
        yield _nobody(pod)
    if profile.does(Behaviour.SCHEDULING_GROUPS) and (group := _group(pod)):
        yield _scheduling_group(pod, group)
    if wanted := dynamicresources.undecided(pod, handle, _not_rejected(handle, evaluation)):
        yield _devices(pod, wanted)


def headed(handle: Handle, evaluation: Evaluation, blame: Blame | None) -> str:
    """Return the sentence on top: who else decides, then what kube-scheduler's filters say.

    Args:
        handle: the cluster.
        evaluation: what they say.
        blame: why they leave no node; None where they leave one.
    """
    pod, feasible = evaluation.pod, evaluation.feasible
    first = next(holders(pod, handle, evaluation), None)
    if first is None or (blame and handle.decides(pod)):
        return blame.sentence if blame else ""
    name = f"{pod.metadata.namespace}/{pod.metadata.name}"
    if feasible:
        return f"{first.lead}; kube-scheduler's filters would allow {name} on {_named(feasible)}."
    head = f"{first.lead}; kube-scheduler's filters would reject {name}: "
    return head + (blame.in_room(LINE - len(head)) if blame else "")


def _scheduler(name: str) -> Holder:
    """Return the scheduler that no profile describes."""
    return Holder(
        lead=f"{name} decides this Pod",
        incomplete=Incomplete(
            what=f"schedulerName {name}", why="in no known profile", consequence=f"{name} decides, by rules of its own"
        ),
    )


def _nobody(pod: Pod) -> Holder:
    """Return the kubelet of the node that the Pod names, past all schedulers."""
    name, node_name = "/".join(pod.key), pod.spec.node_name
    return Holder(
        lead=f"{name} names its node, {node_name}, so nobody schedules it",
        incomplete=Incomplete(
            what=f"spec.nodeName {node_name}",
            why="nobody schedules the Pod",
            consequence="the node's kubelet decides, which heeds no topology spread",
        ),
    )


def _scheduling_group(pod: Pod, group: str) -> Holder:
    """Return the group of Pods that are scheduled together or not at all."""
    return Holder(
        lead=f"{pod.metadata.namespace}/{pod.metadata.name} is held until its PodGroup is complete ({group})",
        incomplete=Incomplete(
            what=group, why="not evaluated", consequence="the Pod is held until its PodGroup is complete"
        ),
    )


def _devices(pod: Pod, wanted: str) -> Holder:
    """Return the plugin that looks for devices."""
    return Holder(
        lead=f"{pod.metadata.namespace}/{pod.metadata.name} needs devices, and which nodes have them is not modelled",
        incomplete=Incomplete(
            what=dynamicresources.NAME,
            why="not evaluated",
            consequence=f"whether nodes have the devices it claims was not judged ({wanted})",
        ),
    )


def _not_rejected(handle: Handle, evaluation: Evaluation) -> Iterator[NodeInfo]:
    """Yield the nodes that what is modelled of DynamicResources does not reject."""
    if dynamicresources.NAME in handle.profile.filters:
        for name, verdict in evaluation.nodes.items():
            if all(rejection.plugin != dynamicresources.NAME for rejection in verdict.rejections):
                yield handle.node_infos[name]


def _group(pod: Pod) -> str:
    """Return the group that the Pod is scheduled with, in words; empty where it is scheduled alone."""
    if pod.spec.scheduling_group is not None:
        return f"PodGroup {pod.spec.scheduling_group.pod_group_name}"
    if (ref := pod.spec.workload_ref) is not None:
        return f"group {ref.pod_group} of Workload {ref.name}"
    return ""


def _named(names: Sequence[str]) -> str:
    """Return the first names and how many there are besides."""
    if len(names) > MOST_NAMES + 1:
        return f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES} more"
    return ", ".join(names)

"""DynamicResources: the devices that a Pod claims must be there, and within reach of the node.

Modelled is what is certain without choosing devices: claims and classes that do not exist, where an allocated claim
can be reached, and nodes that reach too few devices that are free. Which of them a request takes (selectors,
constraints, taints, counters, capacities) is not, nor binding conditions, which go by the clock: ``undecided`` says
where that matters.

Source: kube-scheduler dynamicresources/{dynamicresources,extendeddynamicresources}.go, dynamic-resource-allocation
resourceclaim/resourceclaim.go and structured/internal (v1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod, PodResourceClaim
from kubectl_spread.objects.devices import (
    ALL_DEVICES,
    DeviceClass,
    DeviceRequest,
    DeviceSubRequest,
    NodeReach,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from kubectl_spread.objects.meta import AnnotatedMeta
from kubectl_spread.scheduler import resource
from kubectl_spread.scheduler.framework import SKIP, SUCCESS, Handle, PreFilterResult, Status, unresolvable
from kubectl_spread.scheduler.nodeaffinity import Term, parse_terms
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour, Profile
from kubectl_spread.snapshot import Snapshot

NAME = "DynamicResources"
NOT_AVAILABLE = "resourceclaim not available on the node"
CANNOT_ALLOCATE = "cannot allocate all claims"
CANNOT_FIT = "cannot fit resource"
CANNOT_SCHEDULE = "cannot schedule extended resource claim"
EXTENDED_RESOURCE_CLAIM = "resource.kubernetes.io/extended-resource-claim"
"""The annotation of a claim that the scheduler made itself, for extended resources."""

CLASS_PREFIX = "deviceclass.resource.kubernetes.io/"
"""What stands before the name of a DeviceClass in the resource that each of them stands for."""

DeviceID = tuple[str, str, str]
"""Driver, pool and device."""


class Claims(msgspec.Struct, frozen=True):
    """What the Pod claims.

    Attributes:
        allocated: the claims that have their devices.
        waiting: those that get them once the Pod is scheduled.
        resources: extended resource that a DeviceClass stands behind, or may → how many are asked for; empty where none
            of them is backed.
        backed: those that a DeviceClass does stand behind.
        stale: whether the scheduler has yet to delete a claim for them, which it made in an earlier turn.
    """

    allocated: tuple[ResourceClaim, ...] = ()
    waiting: tuple[ResourceClaim, ...] = ()
    resources: Mapping[str, int] = {}
    backed: frozenset[str] = frozenset()
    stale: bool = False


class State(msgspec.Struct, frozen=True):
    """What the filter needs.

    Attributes:
        reached: for each claim whose devices some nodes reach: the alternatives those nodes meet.
        least: devices (count) that the claims take at least.
        looks: whether any device at all must be within reach.
        everything: whether all devices of a class are wanted: a pool that is not complete is an error then.
    """

    reached: tuple[tuple[Term, ...], ...]
    least: int
    looks: bool
    everything: bool
    claims: Claims
    devices: Devices


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter; a rejection where a claim or class does not exist, Skip for a Pod that claims nothing."""
    claims = claims_of(pod, handle)
    if isinstance(claims, Status):
        return claims
    if claims == Claims():
        return SKIP
    for claim in claims.waiting:
        if rejection := _unknown_class(claim, handle):
            return rejection
    requests = [request for claim in claims.waiting for request in claim.spec.devices.requests]
    selectors = (claim.status.allocation.node_selector for claim in claims.allocated if claim.status.allocation)
    state = State(
        reached=tuple(parse_terms(selector) for selector in selectors if selector is not None),
        least=sum(map(_least, requests)),
        looks=bool(requests),
        everything=any(part.allocation_mode == ALL_DEVICES for each in requests for _, part in _parts(each)),
        claims=claims,
        devices=Devices(handle.snapshot),
    )
    return PreFilterResult(partial(filter_node, state))


def filter_node(state: State, node_info: NodeInfo) -> Status:
    """Reject a node that reaches too few devices, or not those that the Pod's claims have."""
    if state.claims.stale:
        return unresolvable(CANNOT_SCHEDULE)
    resources, offered = state.claims.resources, node_info.allocatable
    by_devices = delegated(state.claims, node_info)
    if any(name not in offered and name not in by_devices for name in resources):
        return unresolvable(CANNOT_FIT)
    wanted = state.least + sum(resources[name] for name in by_devices)
    if (state.looks or by_devices) and not state.devices.suffice(wanted, node_info, everything=state.everything):
        return unresolvable(CANNOT_ALLOCATE)
    if any(not any(term.matches(node_info.node) for term in terms) for terms in state.reached):
        return unresolvable(NOT_AVAILABLE)
    return SUCCESS


def delegated(claims: Claims, node_info: NodeInfo) -> frozenset[str]:
    """Return the extended resources that devices have to provide on the node, for no device plugin does."""
    return frozenset(name for name in claims.backed if node_info.allocatable.get(name, 0) == 0)


def undecided(pod: Pod, handle: Handle, nodes: Iterable[NodeInfo]) -> str:
    """Return the claims and resources for which these nodes may or may not have the devices; empty for none."""
    claims = claims_of(pod, handle)
    if isinstance(claims, Status) or claims == Claims() or not (left := tuple(nodes)):
        return ""
    open_claims = [claim for claim in claims.waiting if claim.spec.devices.requests]
    if handle.profile.does(Behaviour.BINDING_CONDITIONS):
        # Devices with conditions that must be met before the Pod is bound.
        for claim in claims.allocated:
            allocation = claim.status.allocation
            if allocation and any(result.binding_conditions for result in allocation.devices.results):
                open_claims.append(claim)
    resources = frozenset[str]().union(*(delegated(claims, info) for info in left))
    parts = [f"ResourceClaim {claim.metadata.name}" for claim in open_claims]
    return ", ".join((*parts, *sorted(resources)))


def claims_of(pod: Pod, handle: Handle) -> Claims | Status:
    """Return what the Pod claims, or why that cannot be had.

    Source: dynamicresources.go foreachPodResourceClaim, extendeddynamicresources.go preFilterExtendedResources (v1.36).
    """
    allocated: list[ResourceClaim] = []
    waiting: list[ResourceClaim] = []
    for entry in pod.spec.resource_claims:
        claim = _claim_of(entry, pod, handle)
        if isinstance(claim, Status):
            return claim
        if claim is not None:
            (waiting if claim.status.allocation is None else allocated).append(claim)
    requests = resource.pod_requests(pod, handle.profile, assigned=False)
    asked = {name: count for name, count in requests.items() if count > 0 and may_be_devices(name)}
    backed = backed_by_devices(asked, handle.snapshot, handle.profile)
    if not backed:
        return Claims(tuple(allocated), tuple(waiting))
    stale = any(_is_stale(claim, pod) for claim in handle.snapshot.all(ResourceClaim))
    return Claims(tuple(allocated), tuple(waiting), asked, backed, stale)


def _is_stale(claim: ResourceClaim, pod: Pod) -> bool:
    """Whether the claim was made for the Pod's extended resources in an earlier turn.

    Source: extendeddynamicresources.go findExtendedResourceClaim, filterExtendedResources (v1.36).
    """
    owner = claim.metadata.controller
    made = claim.metadata.annotations.get(EXTENDED_RESOURCE_CLAIM) == "true" and bool(claim.spec.devices.requests)
    return made and owner is not None and (owner.name, owner.uid) == (pod.metadata.name, pod.metadata.uid)


def missing_templates(pod: Pod, snapshot: Snapshot) -> tuple[str, ...]:
    """Return the names of templates from which claims are yet to be made for the Pod, and that were not found."""
    namespace, made = pod.metadata.namespace, {status.name for status in pod.status.resource_claim_statuses}
    entries = (entry for entry in pod.spec.resource_claims if entry.name not in made)
    names = dict.fromkeys(filter(None, (entry.resource_claim_template_name for entry in entries)))
    return tuple(name for name in names if snapshot.get(ResourceClaimTemplate, namespace, name) is None)


def _claim_of(entry: PodResourceClaim, pod: Pod, handle: Handle) -> ResourceClaim | Status | None:
    """Return the claim of one entry; None where its driver needs none.

    Source: resourceclaim.go Name, IsForPod (v1.34 to v1.37).
    """
    name = entry.resource_claim_name
    if not name:
        made = next((status for status in pod.status.resource_claim_statuses if status.name == entry.name), None)
        if made is None:
            return _upcoming(entry, pod, handle.snapshot) or unresolvable(
                f'pod "{"/".join(pod.key)}": ResourceClaim not created yet'
            )
        if made.resource_claim_name is None:
            return None
        name = made.resource_claim_name
    claim = handle.snapshot.get(ResourceClaim, pod.metadata.namespace, name)
    if claim is None:
        return unresolvable(f'could not find ResourceClaim "{pod.metadata.namespace}/{name}"')
    if claim.metadata.deletion_timestamp is not None:
        return unresolvable(f'resourceclaim "{name}" is being deleted')
    owner = claim.metadata.controller
    if not entry.resource_claim_name and (owner is None or owner.uid != pod.metadata.uid):
        who = "Pod" if handle.profile.does(Behaviour.CLAIM_OWNER_REASON) else "pod"
        name = f"{claim.metadata.namespace}/{claim.metadata.name}"
        why = f"ResourceClaim {name} was not created for {who} {'/'.join(pod.key)} ({who} is not owner)"
        return unresolvable(why)
    return claim


def _upcoming(entry: PodResourceClaim, pod: Pod, snapshot: Snapshot) -> ResourceClaim | None:
    """Return the claim that a Pod gets from a template once it exists; None for a Pod that does."""
    stored = snapshot.get(Pod, *pod.key)
    if stored is not None and stored.metadata.uid == pod.metadata.uid:
        return None
    template = snapshot.get(ResourceClaimTemplate, pod.metadata.namespace, entry.resource_claim_template_name)
    if template is None:
        return None
    name = f"{pod.metadata.name}-{entry.name}"
    return ResourceClaim(metadata=AnnotatedMeta(name=name, namespace=pod.metadata.namespace), spec=template.spec.spec)


def _unknown_class(claim: ResourceClaim, handle: Handle) -> Status | None:
    """Return the rejection of a claim that asks for devices of a class that does not exist; None where all do.

    Source: dynamicresources.go PreFilter, validateDeviceClass (v1.36).
    """
    for request in claim.spec.devices.requests:
        if request.first_available and not handle.profile.does(Behaviour.PRIORITIZED_LIST):
            asked = f"resource claim {claim.metadata.namespace}/{claim.metadata.name}, request {request.name}"
            return unresolvable(f"{asked}: has subrequests, but the DRAPrioritizedList feature is disabled")
        for name, part in _parts(request):
            if handle.snapshot.get(DeviceClass, "", part.device_class_name) is None:
                return unresolvable(f"request {name}: device class {part.device_class_name} does not exist")
    return None


def _parts(request: DeviceRequest) -> Iterator[tuple[str, DeviceSubRequest]]:
    """Yield the alternatives of a request under their full names, or the request where it has none."""
    if not request.first_available:
        yield request.name, request.exact
    for each in request.first_available:
        yield f"{request.name}/{each.name}", each


def _least(request: DeviceRequest) -> int:
    """Return how many devices (count) a request takes from others at least."""
    if not request.first_available and request.exact.admin_access:
        return 0
    return min(1 if part.allocation_mode == ALL_DEVICES else part.count for _, part in _parts(request))


class Devices:
    """The devices that nodes reach, and those that are taken.

    More may be counted than can be had, never fewer: that of some pools nothing can be taken is not considered.

    Source: dynamic-resource-allocation structured/internal/incubating/pools_incubating.go GatherPools (v1.36).
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._of_node: dict[str, list[ResourceSlice]] = {}
        self._shared: list[ResourceSlice] = []
        for each in snapshot.all(ResourceSlice):
            (self._of_node.setdefault(each.spec.node_name, []) if each.spec.node_name else self._shared).append(each)
        self._taken = frozenset(_taken(snapshot))

    def suffice(self, wanted: int, node_info: NodeInfo, *, everything: bool) -> bool:
        """Whether the node reaches any device, and so many (count) that are free; or any pool where all are wanted."""
        reached: set[DeviceID] = set()
        for each in (*self._of_node.get(node_info.name, ()), *self._shared):
            spec = each.spec
            if not spec.per_device_node_selection and not _reaches(spec, node_info):
                continue
            if everything:
                return True
            for device in spec.devices:
                if spec.per_device_node_selection and not _reaches(device.basic or device, node_info):
                    continue
                if device.allow_multiple_allocations:
                    return True
                reached.add((spec.driver, spec.pool.name, device.name))
        return bool(reached) and wanted <= len(reached - self._taken)


def _taken(snapshot: Snapshot) -> Iterator[DeviceID]:
    for claim in snapshot.all(ResourceClaim):
        for result in claim.status.allocation.devices.results if claim.status.allocation else ():
            if not result.admin_access and result.share_id is None:
                yield result.driver, result.pool, result.device


def _reaches(reach: NodeReach, node_info: NodeInfo) -> bool:
    """Whether something can be reached from the node.

    Source: structured/internal/incubating/pools_incubating.go NodeMatches (v1.36).
    """
    if reach.node_name:
        return reach.node_name == node_info.name
    if reach.all_nodes or reach.node_selector is None:
        return reach.all_nodes
    return any(term.matches(node_info.node) for term in parse_terms(reach.node_selector))


def pre_score(_pod: Pod, handle: Handle, nodes: Sequence[NodeInfo]) -> dict[str, int] | None:
    """Return 0 for every feasible node, None in the releases that do not score devices."""
    if not handle.profile.does(Behaviour.DEVICES_SCORE):
        return None
    return {info.name: 0 for info in nodes}


def may_be_devices(name: str) -> bool:
    """Whether a DeviceClass may stand behind the resource.

    Source: kube-scheduler util/utils.go IsDRAExtendedResourceName (v1.36).
    """
    return resource.is_extended(name) or name.startswith(CLASS_PREFIX)


def backed_by_devices(names: Iterable[str], snapshot: Snapshot, profile: Profile) -> frozenset[str]:
    """Return the resources behind which a DeviceClass stands; all that may be where the classes could not be read.

    Source: dynamic-resource-allocation deviceclass/extendedresourcecache/extendedresourcecache.go (v1.36).
    """
    asked = frozenset(filter(may_be_devices, names))
    if not asked or not profile.does(Behaviour.EXTENDED_RESOURCES_BY_DEVICES):
        return frozenset()
    if any(unread.kind is kinds.DEVICE_CLASS for unread in snapshot.inventory.unread):
        return asked
    classes = tuple(snapshot.all(DeviceClass))
    implied = {CLASS_PREFIX + each.metadata.name for each in classes}
    return asked & (implied | {each.spec.extended_resource_name for each in classes})

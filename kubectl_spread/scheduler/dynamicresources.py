"""DynamicResources: the devices that a Pod claims must exist and be available to the node.

Only certain outcomes are modelled: claims and classes that do not exist, the nodes of an allocated claim, and nodes
with too few free devices. Not modelled: which devices a request gets (selectors, constraints, taints, counters,
capacities), and binding conditions, which depend on time. ``undecided`` says where that matters.

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
from kubectl_spread.objects.meta import AnnotatedMeta, grouped
from kubectl_spread.scheduler import resource
from kubectl_spread.scheduler.framework import SKIP, SUCCESS, Handle, PreFilterResult, Scores, Status, unresolvable
from kubectl_spread.scheduler.nodeaffinity import Term, parse_terms
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour, Profile
from kubectl_spread.snapshot import Snapshot

NAME = "DynamicResources"
NOT_AVAILABLE = "resourceclaim not available on the node"
CANNOT_ALLOCATE = "cannot allocate all claims"
CANNOT_FIT = "cannot fit resource"
CANNOT_SCHEDULE = "cannot schedule extended resource claim"
# The annotation of a claim that the scheduler created for extended resources.
EXTENDED_RESOURCE_CLAIM = "resource.kubernetes.io/extended-resource-claim"

CLASS_PREFIX = "deviceclass.resource.kubernetes.io/"  # The prefix of the resource name that each DeviceClass implies

DeviceID = tuple[str, str, str]  # Driver, pool and device


class Claims(msgspec.Struct, frozen=True):
    """The claims of a Pod."""

    allocated: tuple[ResourceClaim, ...] = ()  # the claims that have devices
    waiting: tuple[ResourceClaim, ...] = ()  # the claims that get devices when the Pod is scheduled
    # extended resource that devices may provide → the requested amount; empty if ``backed`` is
    resources: Mapping[str, int] = {}
    backed: frozenset[str] = frozenset()  # those of these resources that a DeviceClass provides
    stale: bool = False  # whether a claim for them from an earlier scheduling attempt still exists


class State(msgspec.Struct, frozen=True):
    """The Pod's part of the filter."""

    reached: tuple[tuple[Term, ...], ...]  # the node selector of each allocated claim that has one
    least: int  # the least number of devices that the claims need
    looks: bool  # whether the node needs any device at all
    everything: bool  # whether a claim requests all devices of a class
    claims: Claims
    devices: Devices


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter, or Skip for a Pod without claims; reject a Pod whose claim or class does not exist."""
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
    """Reject a node with too few devices, or that cannot use the allocated ones."""
    if state.claims.stale:
        return unresolvable(CANNOT_SCHEDULE)
    resources, offered = state.claims.resources, node_info.allocatable
    by_devices = delegated(state.claims, node_info)
    if any(name not in offered and name not in by_devices for name in resources):
        return unresolvable(CANNOT_FIT)
    needed = state.least + sum(resources[name] for name in by_devices)
    if (state.looks or by_devices) and not state.devices.suffice(needed, node_info, everything=state.everything):
        return unresolvable(CANNOT_ALLOCATE)
    if any(not any(term.matches(node_info.node) for term in terms) for terms in state.reached):
        return unresolvable(NOT_AVAILABLE)
    return SUCCESS


def delegated(claims: Claims, node_info: NodeInfo) -> frozenset[str]:
    """Return the extended resources that devices must provide on the node, as no device plugin does."""
    return frozenset(name for name in claims.backed if node_info.allocatable.get(name, 0) == 0)


def undecided(pod: Pod, handle: Handle, nodes: Iterable[NodeInfo]) -> str:
    """Return the claims and resources for which it is not known whether these nodes have devices; empty for none."""
    claims = claims_of(pod, handle)
    if isinstance(claims, Status) or claims == Claims() or not (left := tuple(nodes)):
        return ""
    open_claims = [claim for claim in claims.waiting if claim.spec.devices.requests]
    if handle.profile.does(Behaviour.BINDING_CONDITIONS):
        for claim in claims.allocated:
            allocation = claim.status.allocation
            if allocation and any(result.binding_conditions for result in allocation.devices.results):
                open_claims.append(claim)
    resources = frozenset[str]().union(*(delegated(claims, info) for info in left))
    parts = [f"ResourceClaim {claim.metadata.name}" for claim in open_claims]
    return ", ".join((*parts, *sorted(resources)))


def claims_of(pod: Pod, handle: Handle) -> Claims | Status:
    """Return the Pod's claims, or why the Pod is rejected.

    Source: dynamicresources.go foreachPodResourceClaim, extendeddynamicresources.go preFilterExtendedResources (v1.36).
    """
    allocated: list[ResourceClaim] = []
    waiting: list[ResourceClaim] = []
    for entry in pod.spec.resource_claims:
        claim = _find_claim(entry, pod, handle)
        if isinstance(claim, Status):
            return claim
        if claim is not None:
            (waiting if claim.status.allocation is None else allocated).append(claim)
    requests = resource.pod_requests(pod, handle.profile, assigned=False)
    requested = {name: count for name, count in requests.items() if count > 0 and may_be_devices(name)}
    backed = backed_by_devices(requested, handle.snapshot, handle.profile)
    if not backed:
        return Claims(tuple(allocated), tuple(waiting))
    stale = any(_is_stale(claim, pod) for claim in handle.snapshot.all(ResourceClaim))
    return Claims(tuple(allocated), tuple(waiting), requested, backed, stale)


def _is_stale(claim: ResourceClaim, pod: Pod) -> bool:
    """Source: extendeddynamicresources.go findExtendedResourceClaim, filterExtendedResources (v1.36)."""
    owner = claim.metadata.controller
    created = claim.metadata.annotations.get(EXTENDED_RESOURCE_CLAIM) == "true" and bool(claim.spec.devices.requests)
    return created and owner is not None and (owner.name, owner.uid) == (pod.metadata.name, pod.metadata.uid)


def missing_templates(pod: Pod, snapshot: Snapshot) -> tuple[str, ...]:
    """Return the names of the templates that the Pod still needs claims from and that do not exist."""
    namespace, created = pod.metadata.namespace, {status.name for status in pod.status.resource_claim_statuses}
    entries = (entry for entry in pod.spec.resource_claims if entry.name not in created)
    names = dict.fromkeys(filter(None, (entry.resource_claim_template_name for entry in entries)))
    return tuple(name for name in names if snapshot.get(ResourceClaimTemplate, namespace, name) is None)


def _find_claim(entry: PodResourceClaim, pod: Pod, handle: Handle) -> ResourceClaim | Status | None:
    """Source: resourceclaim.go Name, IsForPod (v1.34 to v1.37)."""
    name = entry.resource_claim_name
    if not name:
        created = next((status for status in pod.status.resource_claim_statuses if status.name == entry.name), None)
        if created is None:
            return _future_claim(entry, pod, handle.snapshot) or unresolvable(
                f'pod "{"/".join(pod.key)}": ResourceClaim not created yet'
            )
        if created.resource_claim_name is None:
            return None
        name = created.resource_claim_name
    claim = handle.snapshot.get(ResourceClaim, pod.metadata.namespace, name)
    if claim is None:
        return unresolvable(f'could not find ResourceClaim "{pod.metadata.namespace}/{name}"')
    if claim.metadata.deletion_timestamp is not None:
        return unresolvable(f'resourceclaim "{name}" is being deleted')
    owner = claim.metadata.controller
    if not entry.resource_claim_name and (owner is None or owner.uid != pod.metadata.uid):
        who = "Pod" if handle.profile.does(Behaviour.CLAIM_OWNER_REASON) else "pod"
        named, of_pod = "/".join(claim.key), "/".join(pod.key)
        return unresolvable(f"ResourceClaim {named} was not created for {who} {of_pod} ({who} is not owner)")
    return claim


def _future_claim(entry: PodResourceClaim, pod: Pod, snapshot: Snapshot) -> ResourceClaim | None:
    """Return the claim that a Pod that does not exist yet will get from a template; None for an existing Pod."""
    stored = snapshot.get(Pod, *pod.key)
    if stored is not None and stored.metadata.uid == pod.metadata.uid:
        return None
    template = snapshot.get(ResourceClaimTemplate, pod.metadata.namespace, entry.resource_claim_template_name)
    if template is None:
        return None
    name = f"{pod.metadata.name}-{entry.name}"
    return ResourceClaim(metadata=AnnotatedMeta(name=name, namespace=pod.metadata.namespace), spec=template.spec.spec)


def _unknown_class(claim: ResourceClaim, handle: Handle) -> Status | None:
    """Source: dynamicresources.go PreFilter, validateDeviceClass (v1.36)."""
    for request in claim.spec.devices.requests:
        if request.first_available and not handle.profile.does(Behaviour.PRIORITIZED_LIST):
            where = f"resource claim {'/'.join(claim.key)}, request {request.name}"
            return unresolvable(f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled")
        for name, part in _parts(request):
            if handle.snapshot.get(DeviceClass, "", part.device_class_name) is None:
                return unresolvable(f"request {name}: device class {part.device_class_name} does not exist")
    return None


def _parts(request: DeviceRequest) -> Iterator[tuple[str, DeviceSubRequest]]:
    """Yield the full name and the devices of each alternative, or of the request if it has no alternatives."""
    if not request.first_available:
        yield request.name, request.exact
    for each in request.first_available:
        yield f"{request.name}/{each.name}", each


def _least(request: DeviceRequest) -> int:
    if not request.first_available and request.exact.admin_access:
        return 0
    return min(1 if part.allocation_mode == ALL_DEVICES else part.count for _, part in _parts(request))


class Devices:
    """The devices of nodes, and those that are allocated.

    It never counts too few devices, but may count too many: it does not consider which pools are unusable.

    Source: dynamic-resource-allocation structured/internal/incubating/pools_incubating.go GatherPools (v1.36).
    """

    def __init__(self, snapshot: Snapshot) -> None:
        # Node's name, empty for slices of several nodes → the slices.
        self._slices = grouped((each.spec for each in snapshot.all(ResourceSlice)), lambda spec: spec.node_name)
        allocations = (claim.status.allocation for claim in snapshot.all(ResourceClaim))
        results = (result for each in allocations if each for result in each.devices.results)
        whole = (each for each in results if not each.admin_access and each.share_id is None)
        self._allocated = frozenset((each.driver, each.pool, each.device) for each in whole)

    def suffice(self, needed: int, node_info: NodeInfo, *, everything: bool) -> bool:
        """Whether the node can use enough free devices (count); ``everything``: whether it can use any slice."""
        reached: set[DeviceID] = set()
        for spec in (*self._slices.get(node_info.name, ()), *self._slices.get("", ())):
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
        return bool(reached) and needed <= len(reached - self._allocated)


def _reaches(reach: NodeReach, node_info: NodeInfo) -> bool:
    """Source: structured/internal/incubating/pools_incubating.go NodeMatches (v1.36)."""
    if reach.node_name:
        return reach.node_name == node_info.name
    if reach.all_nodes or reach.node_selector is None:
        return reach.all_nodes
    return any(term.matches(node_info.node) for term in parse_terms(reach.node_selector))


def pre_score(_pod: Pod, handle: Handle, nodes: Sequence[NodeInfo]) -> Scores | None:
    """Return 0 for every feasible node, None in releases that do not score devices."""
    return {info.name: 0 for info in nodes} if handle.profile.does(Behaviour.DEVICES_SCORE) else None


def may_be_devices(name: str) -> bool:
    """Whether a DeviceClass may provide the resource.

    Source: kube-scheduler util/utils.go IsDRAExtendedResourceName (v1.36).
    """
    return resource.is_extended(name) or name.startswith(CLASS_PREFIX)


def backed_by_devices(names: Iterable[str], snapshot: Snapshot, profile: Profile) -> frozenset[str]:
    """Return the resources that a DeviceClass provides; all that may be if the classes could not be read.

    Source: dynamic-resource-allocation deviceclass/extendedresourcecache/extendedresourcecache.go (v1.36).
    """
    possible = frozenset(filter(may_be_devices, names))
    if not possible or not profile.does(Behaviour.EXTENDED_RESOURCES_BY_DEVICES):
        return frozenset()
    if snapshot.inventory.refused(kinds.DEVICE_CLASS):
        return possible
    classes = tuple(snapshot.all(DeviceClass))
    implied = {CLASS_PREFIX + each.metadata.name for each in classes}
    return possible & (implied | {each.spec.extended_resource_name for each in classes})

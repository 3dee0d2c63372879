"""Instance types: those of a file, or what is certain of all that a NodePool may have.

Source: karpenter kwok/cloudprovider/helpers.go, pkg/cloudprovider/types.go (v1.14.1).
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Literal, TypeAlias

import msgspec

from kubectl_spread.autoscalers.karpenter import requirements as scheduling
from kubectl_spread.autoscalers.karpenter.requirements import KnownLabels, Requirements
from kubectl_spread.autoscalers.karpenter.resources import fits
from kubectl_spread.objects.autoscaling import InstanceTypeSpec
from kubectl_spread.objects.well_known_labels import INSTANCE_TYPE, ZONE
from kubectl_spread.scheduler.resource import CPU, HUGE_PAGES_PREFIX, MEMORY, PODS, amounts

OVERHEAD = {CPU: 100, MEMORY: 10 * 2**20}  # What the kubelet keeps of each machine (amounts), as kwok has it
MOST_PODS = 110
Mismatch: TypeAlias = Literal["requirements", "resources", "offering"]


class InstanceType(msgspec.Struct, frozen=True):
    """A kind of machine, or with ``capacity`` None all kinds that are not known."""

    name: str
    requirements: Requirements  # the labels of its nodes
    offerings: tuple[Requirements, ...]  # where and how it is sold: the labels that this adds
    capacity: Mapping[str, int] | None  # what a machine has (amounts); None for unknown
    allocatable: Mapping[str, int] = {}  # what of it Pods may use (amounts); empty for unknown

    def mismatch(self, requirements: Requirements, requests: Mapping[str, int], known: KnownLabels) -> Mismatch | None:
        """Return why nodes with these requirements cannot be of this type; None where they can.

        ``requests``: what Pods request of them together (amounts).

        Source: scheduling/nodeclaim.go filterInstanceTypesByRequirements.
        """
        if scheduling.disjoint(self.requirements, requirements) is not None:
            return "requirements"
        if self.capacity is not None and not fits(requests, self.allocatable):
            return "resources"
        faults = (scheduling.incompatible(requirements, each, allow_undefined=known) for each in self.offerings)
        return None if any(fault is None for fault in faults) else "offering"

    def zones(self, requirements: Requirements, known: KnownLabels) -> Iterator[str]:
        """Yield the zones in which nodes with these requirements are sold."""
        allowed = scheduling.asked_of(requirements, ZONE)
        for offering in self.offerings:
            if ZONE in offering and scheduling.incompatible(requirements, offering, allow_undefined=known) is None:
                yield from filter(allowed.allows, offering[ZONE].values)


def instance_type(spec: InstanceTypeSpec, zones: Collection[str] | None) -> InstanceType:
    """Return the instance type of a file as a NodePool has it, whose node class is in these zones; None for all."""
    sold = (scheduling.added({}, map(scheduling.requirement, offering.requirements)) for offering in spec.offerings)
    offerings = tuple(each for each in sold if zones is None or ZONE not in each or each[ZONE].values & set(zones))
    capacity = {PODS: MOST_PODS, **amounts(spec.resources)}
    allocatable = {name: amount - OVERHEAD.get(name, 0) for name, amount in capacity.items()}
    # upstream: what is set aside for huge pages is taken from the memory, once for each of their sizes.
    for name, amount in capacity.items():
        if name.startswith(HUGE_PAGES_PREFIX):
            allocatable[MEMORY] = max(allocatable.get(MEMORY, 0) - amount, 0)
    of_offerings = {
        key: scheduling.one_of(key, {value for each in offerings if key in each for value in each[key].values})
        for key in (ZONE, scheduling.CAPACITY_TYPE)
    }
    own = (
        scheduling.one_of(INSTANCE_TYPE, (spec.name,)),
        scheduling.one_of(scheduling.ARCH, (spec.architecture,)),
        scheduling.one_of(scheduling.OS, spec.operating_systems),
        *of_offerings.values(),
    )
    return InstanceType(spec.name, {each.key: each for each in own}, offerings, capacity, allocatable)


def any_type(zones: Collection[str] | None) -> InstanceType:
    """Return what is certain of the instance types that cannot be read: they come in these zones; None for unknown."""
    if zones is None:
        return InstanceType("", {}, ({},), None)
    by_zone = tuple({ZONE: scheduling.one_of(ZONE, (zone,))} for zone in sorted(zones))
    return InstanceType("", {ZONE: scheduling.one_of(ZONE, zones)}, by_zone, None)

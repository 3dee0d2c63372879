"""Whether a NodePool adds a node for a Pod, and why not.

Source: karpenter scheduling/nodeclaim.go, scheduler.go addToNewNodeClaim (v1.14.1).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import msgspec
from msgspec.structs import replace

from kubectl_spread.autoscalers import decision
from kubectl_spread.autoscalers.karpenter import requirements as scheduling
from kubectl_spread.autoscalers.karpenter.daemonoverhead import DaemonOverhead
from kubectl_spread.autoscalers.karpenter.instance_types import InstanceType, Mismatch
from kubectl_spread.autoscalers.karpenter.nodeclaimtemplate import NodeClaimTemplate
from kubectl_spread.autoscalers.karpenter.provisioner import NODES, Scheduler, limits_of
from kubectl_spread.autoscalers.karpenter.requirements import Requirement, Requirements
from kubectl_spread.autoscalers.karpenter.topology import PodData
from kubectl_spread.autoscalers.karpenter.topologygroup import TopologyGroup, TopologyType
from kubectl_spread.objects.well_known_labels import HOSTNAME, ZONE
from kubectl_spread.scheduler.nodeinfo import host_ports
from kubectl_spread.scheduler.resource import total

NEW_HOST = "hostname-placeholder"  # The host name of a node to come; no node is called so


class Attempt(msgspec.Struct, frozen=True):
    """The possible results of asking one NodePool; chance decides which."""

    nodes: tuple[Requirements, ...] = ()  # the requirements of the nodes that it may bring
    refusals: tuple[decision.Reason, ...] = ()  # why it may refuse


class NodeClaim(msgspec.Struct, frozen=True):
    """The node that a NodePool may add for a Pod."""

    template: NodeClaimTemplate
    pod_data: PodData
    scheduler: Scheduler

    def can_add(self) -> Attempt:
        """Return the possible results of asking the NodePool for a node for the Pod."""
        reasons = tuple(self.refusals())
        if reasons:
            return Attempt(refusals=reasons)
        unknown = unread(self.pod_data, self.scheduler)
        if unknown is not None:
            return Attempt(refusals=(unknown,))
        base = scheduling.added(self.template.requirements, (scheduling.one_of(HOSTNAME, (NEW_HOST,)),))
        base = scheduling.added(base, self.pod_data.requirements.values())
        choices = self.pod_data.add_requirements(base)
        if isinstance(choices, TopologyGroup):
            return Attempt(refusals=(self._no_domain(choices, base),))
        types = self._types_within_limits()
        nodes: list[Requirements] = []
        missed: list[decision.Reason] = []
        for picked in choices:
            suited = self._instance_types(base, picked, types)
            if isinstance(suited, msgspec.Struct):
                missed.append(suited)
                continue
            zones = {zone for each in suited for zone in each.zones(picked, self.scheduler.known_labels)}
            nodes.append({**picked, ZONE: scheduling.one_of(ZONE, zones)} if zones else picked)
        return Attempt(tuple(nodes), tuple(dict.fromkeys(missed)))

    def refusals(self) -> Iterator[decision.Reason]:
        """Yield why the NodePool adds no node for the Pod in any domain."""
        template, pod_data, known = self.template, self.pod_data, self.scheduler.known_labels
        for taint in template.taints:
            if scheduling.untolerated((taint,), pod_data.pod.spec.tolerations) is not None:
                yield decision.UntoleratedTaint(taint)
        clash = scheduling.incompatible(template.requirements, pod_data.requirements, allow_undefined=known)
        if clash is not None:
            yield decision.LabelConflict(clash)
        if not template.types:
            fitting = (each.mismatch(template.requirements, {}, known) for each in template.all_types)
            enough = None not in fitting
            conflict = _no_type(template.all_types, template.requirements, "none")
            yield conflict if enough else decision.NoInstanceType("minValues")
        elif not self._types_within_limits():
            yield from self._limits()

    def _types_within_limits(self) -> tuple[InstanceType, ...]:
        remaining = self.scheduler.remaining[self.template.name]
        return tuple(each for each in self.template.types if _within_limits(each, remaining, self.pod_data.requests))

    def _limits(self) -> list[decision.LimitReached]:
        """Return the limits each of which excludes all instance types, or all limits where none does alone."""
        limits, written = limits_of(self.template.pool), self.template.pool.spec.limits
        remaining = self.scheduler.remaining[self.template.name]
        reached: list[decision.LimitReached] = []
        alone: list[decision.LimitReached] = []
        for name, left in remaining.items():
            reached.append(decision.LimitReached(name, str(written[name]), limits[name] - left))
            if not any(_within_limits(each, {name: left}, self.pod_data.requests) for each in self.template.types):
                alone.append(reached[-1])
        return alone or reached

    def _no_domain(self, group: TopologyGroup, base: Requirements) -> decision.NoDomain:
        own = scheduling.asked_of(base, group.key)
        supported = scheduling.asked_of(self.pod_data.strict_requirements, group.key)
        spreads = group.kind is TopologyType.SPREAD
        minimum = group.minimum(supported) or 0 if spreads else 0
        counted = group.counts.items() if spreads and group.key != HOSTNAME else ()
        held_by = sorted(domain for domain, count in counted if count == minimum and supported.allows(domain))
        offered = self.scheduler.domain_groups.get(group.key, {})
        missing = (domain for domain in held_by if domain not in group.existing)
        return decision.NoDomain(
            topology_key=group.key,
            index=group.index,
            anti=group.kind is TopologyType.ANTI_AFFINITY,
            offered=tuple(sorted(filter(own.allows, group.counts))),
            minimum=minimum,
            lacking_domains=group.lacking_domains(supported) if spreads else 0,
            held_by=tuple(held_by),
            only_from=tuple(sorted({each.name for domain in missing for each in offered.get(domain, ())})),
        )

    def _instance_types(
        self, base: Requirements, picked: Requirements, types: tuple[InstanceType, ...]
    ) -> list[InstanceType] | decision.Reason:
        clash = scheduling.incompatible(base, picked, allow_undefined=self.scheduler.known_labels)
        suited, missed = self._suited(picked, () if clash else types)
        if suited:
            enough = self.template.satisfies_min_values(suited, picked)
            return suited if enough else decision.NoInstanceType("minValues")
        apart = [group for group in self.pod_data.groups if picked.get(group.key) == Requirement(group.key)]
        if apart:
            # Each of several groups on one label leaves a domain, and they have none in common.
            found = self._no_domain(min(apart, key=lambda each: each.index is None), base)
            return replace(found, minimum=0, lacking_domains=0, held_by=(), only_from=())
        if clash is not None:
            return decision.DomainNotOffered(clash.wanted.key, tuple(sorted(clash.wanted.values)))
        narrowed = [g.key for g in self.pod_data.groups if g.key != HOSTNAME and picked.get(g.key) != base.get(g.key)]
        if narrowed:
            # A domain is the reason only where an instance type suits in another one.
            elsewhere, missed = self._suited(base, types)
            if elsewhere:
                return decision.DomainNotOffered(narrowed[0], tuple(sorted(picked[narrowed[0]].values)))
        return _no_type(types, base, next(iter(missed)) if len(missed) == 1 else "combination")

    def _suited(
        self, wanted: Requirements, types: tuple[InstanceType, ...]
    ) -> tuple[list[InstanceType], set[Mismatch]]:
        missed: set[Mismatch] = set()
        suited: list[InstanceType] = []
        for each in types:
            overhead = self.scheduler.daemon_overhead.get((self.template.name, each.name), DaemonOverhead())
            if any(port.conflicts(taken) for port in host_ports(self.pod_data.pod) for taken in overhead.ports):
                continue
            requests = total((self.pod_data.requests, overhead.requests))
            mismatch = each.mismatch(wanted, requests, self.scheduler.known_labels)
            if mismatch is None:
                suited.append(each)
            else:
                missed.add(mismatch)
        return suited, missed


def _within_limits(each: InstanceType, remaining: Mapping[str, int], requests: Mapping[str, int]) -> bool:
    """Whether a node of the type, where the type is not known one just large enough, stays within the limits."""
    capacity = requests if each.capacity is None else each.capacity
    for resource, left in remaining.items():
        spent = left <= 0 if each.capacity is None and resource in ("cpu", "memory") else left < 0
        if spent or capacity.get(resource, 0) > left:
            return False
    return remaining.get(NODES) != 0


def unread(pod_data: PodData, scheduler: Scheduler) -> decision.Unreadable | None:
    """Return what is not known that the domains depend on, None where all is known."""
    if any(volume.claims for volume in pod_data.pod.spec.volumes):
        return decision.Unreadable("volumes")
    for group in pod_data.groups:
        if group.key == ZONE:
            blind = next((each for each in scheduler.templates if not each.zones_known), None)
            if blind is not None:
                return decision.Unreadable("zones", blind.pool.spec.template.spec.node_class_ref.name)
        elif group.key != HOSTNAME and not scheduler.types_known and group.key in scheduler.known_labels:
            named = (template.requirements.get(group.key) for template in scheduler.templates)
            if any(each is None or not each.is_in for each in named):
                return decision.Unreadable("domains", group.key)
    return None


def _no_type(
    types: Iterable[InstanceType], wanted: Requirements, why: Literal["none", "combination"] | Mismatch
) -> decision.NoInstanceType:
    """Return that no instance type suits, with the label on which all of them differ, if there is one."""
    clashes = [scheduling.disjoint(each.requirements, wanted) for each in types]
    keys = {clash.wanted.key if clash else "" for clash in clashes}
    first = next(iter(clashes), None)
    if first is None or first.offered is None or len(keys) != 1:
        return decision.NoInstanceType(why)
    values = frozenset(value for clash in clashes if clash and clash.offered for value in clash.offered.values)
    return decision.NoInstanceType(why, scheduling.Conflict(first.wanted, replace(first.offered, values=values)))

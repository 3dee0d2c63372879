"""Changes of one NodePool after which Karpenter may add a node from it; the Pod stays as it is."""

from collections.abc import Iterator
from itertools import groupby, islice
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.autoscalers import decision
from kubectl_spread.autoscalers.karpenter.nodeclaimtemplate import subnet_zones
from kubectl_spread.autoscalers.karpenter.provisioner import Scheduler
from kubectl_spread.autoscalers.karpenter.requirements import Conflict
from kubectl_spread.autoscalers.karpenter.scheduler import solve
from kubectl_spread.objects.autoscaling import NodeClaimSpec, NodePool
from kubectl_spread.objects.core import Pod, Taint
from kubectl_spread.objects.well_known_labels import SUCCESSORS, ZONE

MOST_TRIED = 4  # Changes of one kind (count) that are tried: each costs as much as the decision itself


class RaiseLimit(msgspec.Struct, frozen=True):
    """The NodePool's limits of resources are raised."""

    pool: str
    resources: tuple[str, ...]


class DropTaint(msgspec.Struct, frozen=True):
    """The NodePool loses a taint, or the Pod tolerates it."""

    pool: str
    taint: Taint


class OfferZones(msgspec.Struct, frozen=True):
    """The NodePool offers more zones."""

    pool: str
    required: tuple[str, ...]  # those that its requirements exclude
    without_subnet: tuple[str, ...]  # those in which its node class has no subnet
    node_class: str  # the kind and name of its node class


class WithdrawZones(msgspec.Struct, frozen=True):
    """The NodePool no longer requires zones in which it offers no node."""

    pool: str
    zones: tuple[str, ...]


PoolChange: TypeAlias = RaiseLimit | DropTaint | OfferZones | WithdrawZones
# The changes, the most harmless first.
_KINDS: tuple[type[PoolChange], ...] = (WithdrawZones, OfferZones, RaiseLimit, DropTaint)
# A change, the NodePool after it, and the zones of the subnets of its node class after it.
_Changed: TypeAlias = tuple[PoolChange, NodePool, frozenset[str] | None]


def pool_changes(pod: Pod, scheduler: Scheduler, decided: decision.AutoscalerDecision) -> Iterator[PoolChange]:
    """Yield the changes of one NodePool after which Karpenter may add a node from it for the Pod, one of each kind.

    A taint reserves a NodePool, so none is given up where another change helps.
    """
    if decided.decision not in {decision.Decision.REFUSED, decision.Decision.BY_CHANCE}:
        return
    found = False
    ordered = sorted(_candidates(scheduler, decided), key=lambda each: _KINDS.index(type(each[0])))
    for kind, alike in groupby(ordered, key=lambda each: type(each[0])):
        if found and kind is DropTaint:
            return
        for change, pool, zones in islice(alike, MOST_TRIED):
            after = solve(pod, scheduler.with_pool(pool, zones))
            by_pool = {each.name: each.verdict for each in after.pools}
            if after.decision is decision.Decision.NEW_NODE and by_pool[change.pool] in {
                decision.Verdict.CHOSEN,
                decision.Verdict.POSSIBLE,
            }:
                found = True
                yield change
                break


def _candidates(scheduler: Scheduler, decided: decision.AutoscalerDecision) -> Iterator[_Changed]:
    reasons = {each.name: each.reasons for each in decided.pools}
    full = (reason for found in reasons.values() for reason in found if isinstance(reason, decision.NoDomain))
    holding = {name for reason in full for name in reason.only_from}
    nodes = scheduler.snapshot.nodes.values()
    inhabited = (node.metadata.labels[ZONE] for node in nodes if ZONE in node.metadata.labels)
    zones = frozenset((*scheduler.domain_groups.get(ZONE, ()), *inhabited))
    # NodePools first whose domains hold the minimum.
    for template in sorted(scheduler.templates, key=lambda each: each.name not in holding):
        subnets, found = subnet_zones(template.pool, scheduler.snapshot), reasons.get(template.name, ())
        if limits := tuple(reason.resource for reason in found if isinstance(reason, decision.LimitReached)):
            left = {name: limit for name, limit in template.pool.spec.limits.items() if name not in limits}
            unlimited = replace(template.pool, spec=replace(template.pool.spec, limits=left))
            yield RaiseLimit(template.name, limits), unlimited, subnets
        for reason in found:
            yield from _changed(reason, template.pool, subnets, zones.union(subnets or ()))


def _changed(
    reason: decision.Reason, pool: NodePool, subnets: frozenset[str] | None, known: frozenset[str]
) -> Iterator[_Changed]:
    """Yield what may overcome the reason; ``known``: the zones in which the cluster has nodes, or may have some."""
    name, spec = pool.metadata.name, pool.spec.template.spec
    match reason:
        case decision.UntoleratedTaint():
            kept = tuple(taint for taint in spec.taints if taint != reason.taint)
            yield DropTaint(name, reason.taint), _with(pool, replace(spec, taints=kept)), subnets
        case decision.NoDomain(topology_key=key, held_by=zones) if key == ZONE and zones:
            yield _offering(frozenset(zones), pool, subnets)
        case decision.NoDomain(topology_key=key, lacking_domains=lacking) if key == ZONE and lacking:
            # One further domain has room, however many are lacking.
            for zone in sorted(known - {*reason.offered}):
                yield _offering(frozenset((zone,)), pool, subnets)
        case (
            decision.LabelConflict(conflict=Conflict() as conflict)
            | decision.NoInstanceType(conflict=Conflict() as conflict)
        ):
            if conflict.wanted.key != ZONE or not conflict.wanted.is_in:
                return
            yield _offering(conflict.wanted.values, pool, subnets)
        case decision.DomainNotOffered(topology_key=key, domains=zones) if key == ZONE:
            changed = _with_zones(spec, removed=frozenset(zones))
            if changed != spec:
                yield WithdrawZones(name, zones), _with(pool, changed), subnets
        case _:
            return


def _offering(zones: frozenset[str], pool: NodePool, subnets: frozenset[str] | None) -> _Changed:
    spec = pool.spec.template.spec
    excluded = (zone for zone in sorted(zones) if _with_zones(spec, added=frozenset((zone,))) != spec)
    lacking = zones - subnets if subnets is not None else frozenset[str]()
    node_class = f"{spec.node_class_ref.kind} {spec.node_class_ref.name}"
    change = OfferZones(pool.metadata.name, tuple(excluded), tuple(sorted(lacking)), node_class)
    return change, _with(pool, _with_zones(spec, added=zones)), None if subnets is None else subnets | zones


def _with_zones(
    spec: NodeClaimSpec, *, added: frozenset[str] = frozenset(), removed: frozenset[str] = frozenset()
) -> NodeClaimSpec:
    """Return the properties of new nodes with other zones in the requirements; the same where they exclude none."""
    found = []
    for each in spec.requirements:
        values, of_zone = each.values, SUCCESSORS.get(each.key, each.key) == ZONE
        if of_zone and each.operator == "In":
            left = tuple(value for value in (*values, *sorted(added - {*values})) if value not in removed)
            values = left or values
        elif of_zone and each.operator == "NotIn":
            values = tuple(value for value in values if value not in added)
            if not values:
                continue
        found.append(replace(each, values=values))
    return replace(spec, requirements=tuple(found))


def _with(pool: NodePool, spec: NodeClaimSpec) -> NodePool:
    return replace(pool, spec=replace(pool.spec, template=replace(pool.spec.template, spec=spec)))

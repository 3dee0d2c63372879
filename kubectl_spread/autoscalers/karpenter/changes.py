"""Changes of the Pod after which Karpenter may bring a node, each tried on the mirror."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from kubectl_spread.autoscalers.decision import AutoscalerDecision, Change, Decision, DomainNotOffered, NoDomain
from kubectl_spread.autoscalers.karpenter.provisioner import Scheduler
from kubectl_spread.autoscalers.karpenter.scheduler import solve
from kubectl_spread.objects.core import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
)
from kubectl_spread.objects.well_known_labels import ZONE


def changes(pod: Pod, scheduler: Scheduler, decided: AutoscalerDecision) -> Iterator[Change]:
    """Yield the changes that help, the one that keeps more of what was wanted first."""
    if not decided.by_constraint:
        return
    for index, constraint in enumerate(pod.spec.topology_spread_constraints):
        if constraint.topology_key == ZONE and constraint.node_taints_policy != "Honor":
            constraints = list(pod.spec.topology_spread_constraints)
            constraints[index] = replace(constraint, node_taints_policy="Honor")
            changed = replace(pod, spec=replace(pod.spec, topology_spread_constraints=tuple(constraints)))
            found = solve(changed, scheduler)
            if found.decision is Decision.NEW_NODE:
                yield Change(honors_taints=index, decision=found)
    zones = _usable_zones(decided)
    if zones and pod.spec.affinity is None:
        wanted = NodeSelectorRequirement(key=ZONE, operator="In", values=zones)
        term = NodeSelectorTerm(match_expressions=(wanted,))
        required = NodeAffinity(
            required_during_scheduling_ignored_during_execution=NodeSelector(node_selector_terms=(term,))
        )
        kept = replace(pod, spec=replace(pod.spec, affinity=Affinity(node_affinity=required)))
        found = solve(kept, scheduler)
        if found.decision is Decision.NEW_NODE:
            yield Change(zones=zones, decision=found)


def _usable_zones(decided: AutoscalerDecision) -> tuple[str, ...]:
    """Return the zones of the pools that refuse because of a constraint alone."""
    usable = (
        pool
        for pool in decided.pools
        if not pool.reasons or all(isinstance(reason, NoDomain | DomainNotOffered) for reason in pool.reasons)
    )
    return tuple(sorted({zone for pool in usable for zone in pool.domains.get(ZONE, ())}))

"""A NodePool as the scheduler uses it: the labels and instance types of its nodes, and the domains that it adds.

Source: karpenter scheduling/nodeclaimtemplate.go, topology.go buildDomainGroups (v1.14.1).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from kubectl_spread.autoscalers.karpenter import requirements as scheduling
from kubectl_spread.autoscalers.karpenter.instance_types import InstanceType, any_type, instance_type
from kubectl_spread.autoscalers.karpenter.releases import COUNTS_ALLOWED_VALUES
from kubectl_spread.autoscalers.karpenter.statenode import INITIALIZED, REGISTERED
from kubectl_spread.objects.autoscaling import EC2NodeClass, InstanceTypeSpec, NodePool
from kubectl_spread.objects.core import Taint
from kubectl_spread.objects.kinds import EC2_NODE_CLASS
from kubectl_spread.objects.well_known_labels import ZONE
from kubectl_spread.snapshot import Snapshot


class NodeClaimTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """What the NodeClaims of a NodePool are made from."""

    pool: NodePool
    requirements: scheduling.Requirements  # the labels of its nodes
    all_types: tuple[InstanceType, ...]  # the instance types of the NodePool; all of them add domains
    types: tuple[InstanceType, ...]  # those of them that meet the requirements
    zones_known: bool  # whether it is known in which zones it offers nodes
    min_values: Mapping[str, int]  # label → how many different values its instance types must offer together
    counts_allowed_values: bool  # whether only those of them count that the new node may have

    @property
    def name(self) -> str:
        """The NodePool's name."""
        return self.pool.metadata.name

    @property
    def taints(self) -> tuple[Taint, ...]:
        """The taints of its nodes, without startup taints."""
        return self.pool.spec.template.spec.taints

    def satisfies_min_values(self, types: Iterable[InstanceType], node: scheduling.Requirements) -> bool:
        """Whether the instance types offer enough values of each label for a node; unknown instance types do.

        Source: pkg/cloudprovider/types.go SatisfiesMinValues.
        """
        offered = tuple(types)

        def values(key: str) -> set[str]:
            found = {value for each in offered if key in each.requirements for value in each.requirements[key].values}
            return set(filter(node[key].allows, found)) if self.counts_allowed_values else found

        return any(each.capacity is None for each in offered) or all(
            len(values(key)) >= least for key, least in self.min_values.items()
        )

    @property
    def domains(self) -> dict[str, frozenset[str]]:
        """Topology key → the domains that the NodePool adds.

        upstream: a label that must not have certain values adds these values as domains, unless an instance type
        limits them; and the values that the NodePool names count where none of its instance types is sold.
        """
        if not self.all_types:
            return {}
        template = self.pool.spec.template
        own = scheduling.added(
            scheduling.label_requirements(template.metadata.labels),
            map(scheduling.requirement, template.spec.requirements),
        )
        domains: dict[str, set[str]] = defaultdict(set)
        for each in self.all_types:
            for key, allowed in scheduling.added(own, each.requirements.values()).items():
                domains[key] |= allowed.values
        for key, allowed in own.items():
            if allowed.is_in:
                domains[key] |= allowed.values
        return {key: frozenset(values) for key, values in domains.items()}


def subnet_zones(pool: NodePool, snapshot: Snapshot) -> frozenset[str] | None:
    """Return the zones in which the NodePool's node class has subnets; None where that cannot be read."""
    node_class = pool.spec.template.spec.node_class_ref
    read = snapshot.get(EC2NodeClass, "", node_class.name) if node_class.kind == EC2_NODE_CLASS.name else None
    return frozenset(each.zone for each in read.status.subnets) if read else None


def node_claim_template(
    pool: NodePool,
    zones: frozenset[str] | None,
    *,
    snapshot: Snapshot,
    specs: tuple[InstanceTypeSpec, ...] | None,
    known: scheduling.KnownLabels,
    release: tuple[int, ...],
) -> NodeClaimTemplate:
    """Return the template of a NodePool, by the rules of the release.

    ``zones``: those of the subnets of its node class; None for unknown. ``specs``: the instance types that exist; None
    for unknown. ``known``: labels that nodes may have though nothing names them.
    """
    template = pool.spec.template
    node_class = template.spec.node_class_ref
    labels = {
        **template.metadata.labels,
        scheduling.NODE_POOL: pool.metadata.name,
        f"{node_class.group}/{node_class.kind.lower()}": node_class.name,
        **dict.fromkeys((REGISTERED, INITIALIZED), "true"),
    }
    requirements = scheduling.added(
        scheduling.label_requirements(labels), map(scheduling.requirement, template.spec.requirements)
    )
    named = requirements.get(ZONE)
    named_zones = named.values if named is not None and named.is_in else None
    readable_zones = named_zones if zones is None else zones
    types = (any_type(readable_zones),) if specs is None else tuple(instance_type(each, zones) for each in specs)
    hidden = node_class.kind == EC2_NODE_CLASS.name and snapshot.inventory.lacks(EC2_NODE_CLASS)
    min_values: dict[str, int] = {}
    for each in template.spec.requirements:
        if each.min_values is not None:
            key = scheduling.requirement(each).key
            min_values[key] = max(each.min_values, min_values.get(key, 0))
    made = NodeClaimTemplate(
        pool=pool,
        requirements=requirements,
        all_types=types,
        types=tuple(each for each in types if each.mismatch(requirements, {}, known) is None),
        zones_known=readable_zones is not None or (specs is not None and not hidden),
        min_values=min_values,
        counts_allowed_values=release >= COUNTS_ALLOWED_VALUES,
    )
    return made if made.satisfies_min_values(made.types, requirements) else replace(made, types=())

"""The cluster as Karpenter's scheduler sees it, and the Pods that Karpenter leaves alone.

Source: karpenter pkg/controllers/provisioning/provisioner.go, pkg/utils/nodepool/nodepool.go (v1.14.1).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

import msgspec
from msgspec.structs import replace

from kubectl_spread.autoscalers.decision import NotAsked
from kubectl_spread.autoscalers.karpenter import requirements as scheduling
from kubectl_spread.autoscalers.karpenter.daemonoverhead import DaemonOverhead, daemon_overhead
from kubectl_spread.autoscalers.karpenter.nodeclaimtemplate import (
    NodeClaimTemplate,
    node_claim_template,
    subnet_zones,
)
from kubectl_spread.autoscalers.karpenter.preferences import pod_requirements
from kubectl_spread.autoscalers.karpenter.releases import BY_AFFINITY, PROVED
from kubectl_spread.autoscalers.karpenter.statenode import StateNode, leaving_nodes, state_nodes
from kubectl_spread.autoscalers.karpenter.topology import Topology
from kubectl_spread.controllers.daemonset import pod_of
from kubectl_spread.labels import is_int64
from kubectl_spread.objects.autoscaling import InstanceTypeSpec, NodePool
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import DAEMON_SET, EC2_NODE_CLASS, NODE_CLAIM, Kind
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.objects.workloads import DaemonSet
from kubectl_spread.quantity import value
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.scheduler.resource import amounts
from kubectl_spread.snapshot import Snapshot

NODES = "nodes"  # The limit of a NodePool on how many nodes it has
# API group of a node class → the prefixes of labels that its provider knows beside those of the group itself.
PROVIDER_LABELS = {
    "karpenter.k8s.aws": ("topology.k8s.aws/",),
    "eks.amazonaws.com": ("topology.k8s.aws/",),
    "karpenter.azure.com": ("kubernetes.azure.com/",),
}
# Kinds without which NodePools are asked all the same; what is not known then is in the texts.
_DECIDING = (NODE_CLAIM, DAEMON_SET)
CAPACITY_TYPES = frozenset(("on-demand", "spot", "reserved"))


class Scheduler(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster as Karpenter's scheduler sees it."""

    snapshot: Snapshot
    profile: Profile
    templates: tuple[NodeClaimTemplate, ...]  # the NodePools that count, in the order in which they are asked
    refused: Mapping[str, NotAsked]  # why others do not count, by name
    existing_nodes: tuple[StateNode, ...]
    # NodePool → what its limits leave (amounts); only resources with a limit
    remaining: Mapping[str, Mapping[str, int]]
    # (NodePool, instance type) → what Pods of DaemonSets take of a new node
    daemon_overhead: Mapping[tuple[str, str], DaemonOverhead]
    # topology key → domain → the NodePools that offer it
    domain_groups: Mapping[str, Mapping[str, tuple[NodeClaimTemplate, ...]]]
    known_labels: scheduling.KnownLabels  # labels that nodes may have though nothing names them
    specs: tuple[InstanceTypeSpec, ...] | None  # the instance types that exist; None where they are not known
    unread: tuple[Kind, ...]  # the kinds that decide too, and of which not all could be read
    leaving: tuple[str, ...]  # the nodes that are being deleted and have Pods that Karpenter schedules again
    release: tuple[int, ...]  # whose rules apply (major, minor)

    @property
    def types_known(self) -> bool:
        """Whether the instance types are known."""
        return self.specs is not None

    def with_pool(self, pool: NodePool, zones: frozenset[str] | None) -> Scheduler:
        """Return the scheduler with a changed NodePool that has that name, and those zones in its node class."""
        made = node_claim_template(
            pool, zones, snapshot=self.snapshot, specs=self.specs, known=self.known_labels, release=self.release
        )
        templates = tuple(made if each.name == made.name else each for each in self.templates)
        limits = limits_of(pool)
        left = {name: amount for name, amount in self.remaining[made.name].items() if name in limits}
        groups = _domain_groups(templates, by_name=self.release == BY_AFFINITY)
        return replace(self, templates=templates, remaining={**self.remaining, made.name: left}, domain_groups=groups)

    def topology(self) -> Topology:
        """Return the groups of Pods in this cluster."""
        by_affinity = self.known_labels if self.release == BY_AFFINITY else None
        return Topology(self.snapshot, self.domain_groups, self.existing_nodes, by_affinity=by_affinity)


def new_scheduler(
    snapshot: Snapshot,
    profile: Profile,
    *,
    specs: tuple[InstanceTypeSpec, ...] | None,
    release: tuple[int, ...] = PROVED,
) -> Scheduler:
    """Return the cluster as Karpenter of that release (major, minor) sees it; ``specs`` is None if not known."""
    refused = {
        pool.metadata.name: reason for pool in snapshot.all(NodePool) if (reason := _does_not_count(pool)) is not None
    }
    counted = sorted(
        (pool for pool in snapshot.all(NodePool) if pool.metadata.name not in refused),
        key=lambda pool: (pool.spec.weight or 0, pool.metadata.name),
        reverse=True,
    )
    groups = {pool.spec.template.spec.node_class_ref.group for pool in counted}
    sold_by = {each.key for spec in specs or () for offering in spec.offerings for each in offering.requirements}
    known = scheduling.KnownLabels(
        scheduling.WELL_KNOWN | sold_by,
        tuple(prefix for group in sorted(groups) for prefix in (f"{group}/", *PROVIDER_LABELS.get(group, ()))),
    )
    zones = ((pool, subnet_zones(pool, snapshot)) for pool in counted)
    templates = tuple(
        node_claim_template(pool, each, snapshot=snapshot, specs=specs, known=known, release=release)
        for pool, each in zones
    )
    daemons = (_daemon_pod(owner, snapshot) for owner in snapshot.all(DaemonSet))
    daemons = (pod for pod in daemons if not pod.spec.resource_claims)
    overhead, asked_daemons = daemon_overhead(templates, daemons, profile, known, release)
    nodes = state_nodes(snapshot, asked_daemons, profile, release)
    of_aws = any(pool.spec.template.spec.node_class_ref.kind == EC2_NODE_CLASS.name for pool in counted)
    deciding = (*_DECIDING, EC2_NODE_CLASS) if of_aws else _DECIDING
    return Scheduler(
        snapshot=snapshot,
        profile=profile,
        templates=templates,
        refused=refused,
        existing_nodes=nodes,
        remaining=_remaining(counted, nodes),
        daemon_overhead=overhead,
        domain_groups=_domain_groups(templates, by_name=release == BY_AFFINITY),
        known_labels=known,
        specs=specs,
        unread=tuple(kind for kind in deciding if snapshot.inventory.lacks(kind)),
        leaving=leaving_nodes(snapshot),
        release=release,
    )


def _daemon_pod(owner: DaemonSet, snapshot: Snapshot) -> Pod:
    """Return the newest Pod of a DaemonSet, where it has none one of its template; the template's node affinity counts.

    Source: state/cluster.go UpdateDaemonSet, provisioner.go getDaemonSetPods.
    """
    new = pod_of(owner, "")
    own = snapshot.controlled_by(owner.as_controller, Pod)
    newest = max(own, key=lambda pod: pod.metadata.creation_timestamp or "", default=new)
    affinity = new.spec.affinity if new.spec.required_terms else newest.spec.affinity
    return replace(newest, spec=replace(newest.spec, affinity=affinity))


def _does_not_count(pool: NodePool) -> NotAsked | None:
    """Return why the NodePool adds no node and adds no domain, None where it counts."""
    if pool.spec.replicas is not None:
        return NotAsked("fixed size")
    if not pool.status.holds("Ready"):
        ready = pool.status.condition("Ready")
        return NotAsked("not ready", ready.message if ready else "")
    return NotAsked("deleted") if pool.metadata.deletion_timestamp is not None else None


def limits_of(pool: NodePool) -> dict[str, int]:
    """Return the limits of a NodePool (amounts)."""
    nodes = {NODES: value(pool.spec.limits[NODES])} if NODES in pool.spec.limits else {}
    return amounts(pool.spec.limits) | nodes


def _remaining(pools: list[NodePool], nodes: tuple[StateNode, ...]) -> dict[str, dict[str, int]]:
    used: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for node in nodes:
        for resource, amount in {**node.capacity, NODES: 1}.items():
            used[node.pool][resource] += amount
    limits = ((used[pool.metadata.name], limits_of(pool), pool.metadata.name) for pool in pools)
    return {name: {each: most - taken[each] for each, most in of_pool.items()} for taken, of_pool, name in limits}


def _domain_groups(
    templates: tuple[NodeClaimTemplate, ...], *, by_name: bool
) -> dict[str, dict[str, tuple[NodeClaimTemplate, ...]]]:
    groups: dict[str, dict[str, tuple[NodeClaimTemplate, ...]]] = defaultdict(dict)
    for template in templates:
        asked = template.requirements.items() if by_name and template.all_types else ()
        named = {key: each.values for key, each in asked if each.is_in}
        for key, domains in (named | template.domains).items():
            for domain in domains:
                groups[key][domain] = (*groups[key].get(domain, ()), template)
    return groups


def unsupported(pod: Pod) -> NotAsked | None:
    """Return what keeps Karpenter from adding any node for the Pod, None for nothing.

    Source: provisioner.go Validate, scheduler.go add, pkg/apis/v1 labels.go, nodeclaim_validation.go
    ValidateRequirement.
    """
    if pod.spec.resource_claims:
        return NotAsked("devices")
    selected = next(_selects_by_unsupported(pod), None)
    return NotAsked("selector", selected) if selected else None


def _selects_by_unsupported(pod: Pod) -> Iterator[str]:
    expressions = [*scheduling.label_requirements(pod.spec.node_selector).values()]
    for term in pod.spec.required_terms:
        if term.match_fields:
            yield "fields of a node"
        for each in term.match_expressions:
            integers = all(value.isdecimal() and is_int64(value) for value in each.values)
            if each.operator in {"Gt", "Lt"} and not integers:
                yield f"{each.key} {each.operator} {', '.join(each.values)}"
            expressions.append(scheduling.requirement(each))
    for asked in expressions:
        domain = asked.key.rpartition("/")[0]
        own = domain == "karpenter.sh" or domain.endswith(".karpenter.sh")
        if asked.key == HOSTNAME or (own and asked.key not in scheduling.WELL_KNOWN):
            yield asked.key
        if asked.key == scheduling.CAPACITY_TYPE and asked.is_in and not asked.values & CAPACITY_TYPES:
            yield str(asked)
    of_pool = pod_requirements(pod).get(scheduling.NODE_POOL)
    if of_pool is not None and not of_pool.complement and not of_pool.values:
        yield str(of_pool)

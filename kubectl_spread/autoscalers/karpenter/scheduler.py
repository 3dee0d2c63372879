"""What Karpenter decides about one Pod: first the nodes that exist, then each NodePool, then fewer preferences.

Source: karpenter scheduling/scheduler.go, nodeclaim.go, existingnode.go, pkg/controllers/provisioning/provisioner.go,
pkg/utils/nodepool/nodepool.go (v1.14.1).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Literal

import msgspec
from msgspec.structs import replace

from kubectl_spread.autoscalers.decision import (
    AutoscalerDecision,
    BeingDeleted,
    ConstraintCounts,
    Decision,
    DomainCount,
    DomainNotOffered,
    FixedSize,
    LabelConflict,
    LimitReached,
    NoDomain,
    NoInstanceType,
    NotReady,
    PoolDecision,
    Reason,
    SelectsByUnsupported,
    Unreadable,
    UntoleratedTaint,
    Verdict,
)
from kubectl_spread.autoscalers.karpenter.instance_types import InstanceType, any_type, fits, instance_types
from kubectl_spread.autoscalers.karpenter.nodes import (
    INITIALIZED,
    REGISTERED,
    StateNode,
    daemon_pods,
    requests_of,
    state_nodes,
)
from kubectl_spread.autoscalers.karpenter.preferences import heaviest_first, relaxed
from kubectl_spread.autoscalers.karpenter.requirements import (
    CAPACITY_TYPE,
    NODE_POOL,
    WELL_KNOWN,
    Conflict,
    KnownLabels,
    Requirement,
    Requirements,
    added,
    conflict,
    disagreement,
    of_labels,
    one_of,
    requirement,
)
from kubectl_spread.autoscalers.karpenter.rules import DAEMONS_BY_TYPE, PROVED
from kubectl_spread.autoscalers.karpenter.topology import (
    NO_TERM,
    Group,
    GroupKind,
    Topology,
    node_requirements,
    required_terms,
    untolerated,
)
from kubectl_spread.objects.autoscaling import EC2NodeClass, InstanceTypeSpec, NodePool
from kubectl_spread.objects.core import Pod, Toleration
from kubectl_spread.objects.well_known_labels import HOSTNAME, ZONE
from kubectl_spread.quantity import value
from kubectl_spread.scheduler.hostport import host_ports
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.scheduler.resource import amounts, total
from kubectl_spread.scheduler.tainttoleration import PREFER_NO_SCHEDULE
from kubectl_spread.snapshot import Snapshot

MOST_CHOICES = 4096
"""Ways (count) in which domains may be picked together; where there are more, nothing is said."""
NEW_HOST = "hostname-placeholder"
"""What stands for the name of a node to come; no node is called so."""
NODES = "nodes"
PROVIDER_LABELS = {
    "karpenter.k8s.aws": ("karpenter.k8s.aws/", "topology.k8s.aws/"),
    "karpenter.azure.com": ("karpenter.azure.com/",),
    "karpenter.kwok.sh": ("karpenter.kwok.sh/",),
}
"""API group of a node class → the prefixes of labels that its provider knows."""


class Pool(msgspec.Struct, frozen=True, kw_only=True):
    """A NodePool that counts, and what is known of it.

    Attributes:
        requirements: the labels of its nodes.
        types: its instance types that suit these.
        all_types: those, and the others, which add domains all the same.
        zones_known: whether it is known in which zones it can bring nodes.
        remaining: what its limits leave (amounts); only resources with a limit.
        daemons: the Pods that DaemonSets make for its nodes.
    """

    pool: NodePool
    requirements: Requirements
    types: tuple[InstanceType, ...]
    all_types: tuple[InstanceType, ...]
    zones_known: bool
    remaining: Mapping[str, int]
    daemons: tuple[Pod, ...]

    @property
    def name(self) -> str:
        """The pool's name."""
        return self.pool.metadata.name

    @property
    def domains(self) -> dict[str, frozenset[str]]:
        """Topology key → the domains that it adds.

        upstream: of a label that must not have certain values these are taken for domains, where no instance type
        says otherwise; and the values that the pool names count even where none of its instance types is sold.
        """
        template = self.pool.spec.template
        own = added(
            added({}, map(requirement, template.spec.requirements)), of_labels(template.metadata.labels).values()
        )
        found: dict[str, set[str]] = defaultdict(set)
        for each in self.all_types:
            for key, allowed in added(own, each.requirements.values()).items():
                found[key] |= allowed.values
        for key, allowed in own.items():
            if allowed.is_in:
                found[key] |= allowed.values
        return {key: frozenset(values) for key, values in found.items()}


class Attempt(msgspec.Struct, frozen=True):
    """What may come of asking one pool: by chance any of these.

    Attributes:
        nodes: the requirements of the nodes that it may bring.
        refusals: why it may refuse.
    """

    nodes: tuple[Requirements, ...] = ()
    refusals: tuple[Reason, ...] = ()


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster as Karpenter sees it.

    Attributes:
        pools: those that count, in the order in which they are asked.
        refused: why others do not count, by name.
        may_turn_up: labels that nodes may have though nobody names them.
    """

    snapshot: Snapshot
    profile: Profile
    pools: tuple[Pool, ...]
    refused: Mapping[str, Reason]
    nodes: tuple[StateNode, ...]
    may_turn_up: KnownLabels
    types_known: bool
    release: tuple[int, int]

    @property
    def offered(self) -> dict[str, dict[str, list[Pool]]]:
        """Topology key → domain → the pools that offer it."""
        found: dict[str, dict[str, list[Pool]]] = defaultdict(lambda: defaultdict(list))
        for pool in self.pools:
            for key, values in pool.domains.items():
                for each in values:
                    found[key][each].append(pool)
        return found


def karpenter_problem(
    snapshot: Snapshot,
    profile: Profile,
    *,
    specs: tuple[InstanceTypeSpec, ...] | None,
    release: tuple[int, int] = PROVED,
) -> Problem:
    """Return the cluster as Karpenter sees it.

    Args:
        snapshot: the cluster.
        profile: how Pods' requests are counted.
        specs: the instance types that there are; None where they are not known.
        release: whose rules apply (major, minor).
    """
    daemons = daemon_pods(snapshot)
    nodes = state_nodes(snapshot, daemons, profile, release)
    used: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for node in nodes:
        for resource, amount in {**node.capacity, NODES: 1}.items():
            used[node.pool][resource] += amount
    refused: dict[str, Reason] = {}
    pools = []
    for pool in snapshot.all(NodePool):
        reason = _does_not_count(pool)
        if reason is not None:
            refused[pool.metadata.name] = reason
            continue
        pools.append(_pool(pool, snapshot, specs, used[pool.metadata.name], daemons))
    groups = {each.pool.spec.template.spec.node_class_ref.group for each in pools}
    named = {each.key for spec in specs or () for offering in spec.offerings for each in offering.requirements}
    return Problem(
        snapshot=snapshot,
        profile=profile,
        pools=tuple(sorted(sorted(pools, key=lambda each: each.name, reverse=True), key=_weight)),
        refused=refused,
        nodes=nodes,
        may_turn_up=KnownLabels(
            WELL_KNOWN | named, tuple(prefix for group in sorted(groups) for prefix in PROVIDER_LABELS.get(group, ()))
        ),
        types_known=specs is not None,
        release=release,
    )


def _weight(pool: Pool) -> int:
    return -(pool.pool.spec.weight or 0)


def _does_not_count(pool: NodePool) -> Reason | None:
    """Return why the pool brings no node and adds no domain, None where it counts."""
    if pool.spec.replicas is not None:
        return FixedSize()
    ready = pool.status.condition("Ready")
    if ready is None or ready.status != "True":
        return NotReady(ready.message if ready else "")
    return BeingDeleted() if pool.metadata.deletion_timestamp is not None else None


def _pool(
    pool: NodePool,
    snapshot: Snapshot,
    specs: tuple[InstanceTypeSpec, ...] | None,
    used: Mapping[str, int],
    daemons: tuple[Pod, ...],
) -> Pool:
    template, name = pool.spec.template, pool.metadata.name
    node_class = template.spec.node_class_ref
    labels = {
        **template.metadata.labels,
        NODE_POOL: name,
        f"{node_class.group}/{node_class.kind.lower()}": node_class.name,
    }
    requirements = added(added({}, map(requirement, template.spec.requirements)), of_labels(labels).values())
    requirements = added(requirements, (one_of(key, ("true",)) for key in (REGISTERED, INITIALIZED)))
    found = snapshot.get(EC2NodeClass, "", node_class.name)
    zones = frozenset(each.zone for each in found.status.subnets) if found else None
    named = requirements.get(ZONE)
    zones_known = zones is not None or specs is not None or (named is not None and named.is_in)
    if specs is not None:
        types = instance_types(specs, zones)
    else:
        types = (any_type(zones if zones is not None else named.values if named and named.is_in else None),)
    limits = amounts(pool.spec.limits)
    if NODES in pool.spec.limits:
        limits[NODES] = value(pool.spec.limits[NODES])
    return Pool(
        pool=pool,
        requirements=requirements,
        all_types=types,
        types=tuple(each for each in types if _suits(each, requirements, {}, KnownLabels(WELL_KNOWN))),
        zones_known=zones_known,
        remaining={resource: limit - used.get(resource, 0) for resource, limit in limits.items()},
        daemons=daemons,
    )


def _suits(each: InstanceType, requirements: Requirements, requests: Mapping[str, int], known: KnownLabels) -> bool:
    """Whether nodes with these requirements may be of that type and sold, with room for the requests (amounts)."""
    return _mismatch(each, requirements, requests, known) is None


Mismatch = Literal["requirements", "resources", "offering"]


def _mismatch(
    each: InstanceType, requirements: Requirements, requests: Mapping[str, int], known: KnownLabels
) -> Mismatch | None:
    if disagreement(each.requirements, requirements) is not None:
        return "requirements"
    if not each.fits(requests):
        return "resources"
    sold = any(conflict(requirements, offering, may_turn_up=known) is None for offering in each.offerings)
    return None if sold else "offering"


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """The Pod with some of its preferences, as every node and pool is asked about it.

    Attributes:
        requirements: what it asks of a node's labels, the heaviest preference too.
        strict: the same without preferences: what narrows the domains that count.
        requests: what it requests (amounts).
    """

    pod: Pod
    requirements: Requirements
    strict: Requirements
    requests: Mapping[str, int]
    groups: tuple[Group, ...]

    @classmethod
    def of(cls, pod: Pod, groups: tuple[Group, ...], profile: Profile) -> Asked:
        """Return the Pod as it asks."""
        affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
        preferred = heaviest_first(affinity.preferred_during_scheduling_ignored_during_execution) if affinity else ()
        strict = node_requirements(pod.spec.node_selector, *required_terms(pod)[:1])
        heaviest = (requirement(each) for term in preferred[:1] for each in term.preference.match_expressions)
        return cls(
            pod=pod,
            requirements=added(strict, heaviest),
            strict=strict,
            requests=requests_of((pod,), profile),
            groups=groups,
        )

    def choices(self, node: Requirements) -> Iterator[Requirements] | Group:
        """Return what the groups may ask of a node of these requirements, by chance any; or the group that refuses.

        Source: topology.go AddRequirements.
        """
        of_each: dict[str, set[Requirement]] = {}
        for group in self.groups:
            anything = Requirement(group.key, complement=True)
            own = node.get(group.key, anything)
            found = group.next_domains(self.strict.get(group.key, anything), own)
            if not found:
                return group
            before = of_each.get(group.key, {own})
            of_each[group.key] = {each.intersection(other) for each in before for other in found}
        return ({**node, **{each.key: each for each in picked}} for picked in product(*of_each.values()))


def _on_existing(node: StateNode, asked: Asked) -> bool | None:
    """Whether Karpenter sees room for the Pod on the node; None where that is left to chance.

    Source: existingnode.go CanAdd.
    """
    pod = asked.pod
    if not fits(asked.requests, node.remaining) or untolerated(node.taints, pod.spec.tolerations) is not None:
        return False
    if any(port.conflicts(taken) for port in host_ports(pod) for taken in node.ports):
        return False
    labels = added(of_labels(node.labels), (one_of(HOSTNAME, (node.host,)),))
    if conflict(labels, asked.requirements) is not None:
        return False
    base = added(labels, asked.requirements.values())
    choices = asked.choices(base)
    if isinstance(choices, Group):
        return False
    found = {conflict(base, choice) is None for choice in choices}
    return found.pop() if len(found) == 1 else None


class Asking(msgspec.Struct, frozen=True):
    """What every pool is asked by: the cluster, and which domains its pools offer."""

    problem: Problem
    offered: Mapping[str, Mapping[str, Sequence[Pool]]]

    def attempt(self, pool: Pool, asked: Asked) -> Attempt:
        """Return what may come of asking the pool for a node.

        Source: scheduler.go addToNewNodeClaim, nodeclaim.go CanAdd.
        """
        types = tuple(each for each in pool.types if self._within_limits(each, pool, asked))
        reasons = tuple(self._refusals(pool, asked, types))
        if reasons:
            return Attempt(refusals=reasons)
        base = added(pool.requirements, (one_of(HOSTNAME, (NEW_HOST,)),))
        base = added(base, asked.requirements.values())
        if unread := self._unread(asked):
            return Attempt(refusals=(unread,))
        choices = asked.choices(base)
        if isinstance(choices, Group):
            return Attempt(refusals=(self._no_domain(choices, asked, base),))
        nodes: list[Requirements] = []
        refusals: list[Reason] = []
        for picked in choices:
            found = self._node(pool, asked, base, picked, types)
            (refusals if isinstance(found, msgspec.Struct) else nodes).append(found)  # type: ignore[arg-type]
        return Attempt(tuple(nodes), tuple(dict.fromkeys(refusals)))

    def _within_limits(self, each: InstanceType, pool: Pool, asked: Asked) -> bool:
        """Whether a machine of the type, where it is not known one just large enough, stays within the limits."""
        capacity = asked.requests if each.capacity is None else each.capacity
        for resource, left in pool.remaining.items():
            spent = left <= 0 if each.capacity is None and resource in ("cpu", "memory") else left < 0
            if spent or capacity.get(resource, 0) > left:
                return False
        return pool.remaining.get(NODES) != 0

    def _refusals(self, pool: Pool, asked: Asked, types: tuple[InstanceType, ...]) -> Iterator[Reason]:
        """Yield why the pool brings no node for the Pod, whichever domain it would be in."""
        template = pool.pool.spec.template
        for taint in template.spec.taints:
            if untolerated((taint,), asked.pod.spec.tolerations) is not None:
                yield UntoleratedTaint(taint)
        clash = conflict(pool.requirements, asked.requirements, may_turn_up=self.problem.may_turn_up)
        if clash is not None:
            yield LabelConflict(clash)
        if not pool.types:
            yield _no_type(pool.all_types, pool.requirements, "none")
        elif not types:
            yield from self._limits(pool, asked)

    def _limits(self, pool: Pool, asked: Asked) -> Iterator[LimitReached]:
        for resource, left in pool.remaining.items():
            own = replace(pool, remaining={resource: left})
            if not any(self._within_limits(each, own, asked) for each in pool.types):
                yield self._limit(pool, resource)
                return
        yield from (self._limit(pool, resource) for resource in pool.remaining)

    def _limit(self, pool: Pool, resource: str) -> LimitReached:
        limits = pool.pool.spec.limits
        amount = value(limits[NODES]) if resource == NODES else amounts(limits)[resource]
        return LimitReached(resource, str(limits[resource]), amount - pool.remaining[resource])

    def _unread(self, asked: Asked) -> Unreadable | None:
        """Return what is not known without which nothing can be said of domains, None where all is."""
        if any(volume.claims for volume in asked.pod.spec.volumes):
            return Unreadable("volumes")
        for group in asked.groups:
            if group.key == ZONE:
                blind = next((pool for pool in self.problem.pools if not pool.zones_known), None)
                if blind is not None:
                    return Unreadable("zones", blind.pool.spec.template.spec.node_class_ref.name)
            elif group.key != HOSTNAME and not self.problem.types_known and group.key in self.problem.may_turn_up:
                named = (pool.requirements.get(group.key) for pool in self.problem.pools)
                if any(each is None or not each.is_in for each in named):
                    return Unreadable("domains", group.key)
        return None

    def _no_domain(self, group: Group, asked: Asked, base: Requirements) -> NoDomain:
        """Return why the group leaves a node of these requirements no domain."""
        anything = Requirement(group.key, complement=True)
        own, supported = base.get(group.key, anything), asked.strict.get(group.key, anything)
        minimum = group.minimum(supported) or 0 if group.kind is GroupKind.SPREAD else 0
        held_by = (
            sorted(d for d, count in group.counts.items() if count == minimum and supported.allows(d))
            if group.kind is GroupKind.SPREAD and group.key != HOSTNAME
            else []
        )
        from_pools = {
            pool.name
            for domain in held_by
            if domain not in group.existing
            for pool in self.offered.get(group.key, {}).get(domain, ())
        }
        return NoDomain(
            topology_key=group.key,
            index=group.index,
            offered=tuple(sorted(domain for domain in group.counts if own.allows(domain))),
            minimum=minimum,
            held_by=tuple(held_by),
            only_from=tuple(sorted(from_pools)),
        )

    def _node(
        self,
        pool: Pool,
        asked: Asked,
        base: Requirements,
        picked: Requirements,
        types: tuple[InstanceType, ...],
    ) -> Requirements | Reason:
        """Return the requirements of the node that the pool brings where these domains are picked, or why none."""
        known = self.problem.may_turn_up
        clash = conflict(base, picked, may_turn_up=known)
        if clash is not None:
            return LabelConflict(clash)
        missed: list[Mismatch] = []
        suited: list[InstanceType] = []
        for each in types:
            daemons = self._daemons(pool, each)
            if any(a.conflicts(b) for pod in daemons for a in host_ports(pod) for b in host_ports(asked.pod)):
                continue
            overhead = requests_of(daemons, self.problem.profile) if daemons else {}
            mismatch = _mismatch(each, picked, total((asked.requests, overhead)), known)
            if mismatch is None:
                suited.append(each)
            else:
                missed.append(mismatch)
        if not suited:
            return self._mismatched(asked, base, picked, types, {*missed})
        zones = {zone for each in suited for zone in _zones(each, picked, known)}
        return {**picked, ZONE: one_of(ZONE, zones)} if zones else picked

    def _daemons(self, pool: Pool, each: InstanceType) -> list[Pod]:
        """Return the Pods of DaemonSets that come to the pool's nodes of that type."""
        # Before 1.14 all types of a pool are taken to have the same ones.
        of_type = each.requirements if self.problem.release >= DAEMONS_BY_TYPE else {}
        return [pod for pod in pool.daemons if _runs_on(pod, pool, of_type, self.problem.may_turn_up)]

    def _mismatched(
        self,
        asked: Asked,
        base: Requirements,
        picked: Requirements,
        types: tuple[InstanceType, ...],
        missed: set[Mismatch],
    ) -> Reason:
        """Return why no instance type does: the domain that was picked, or the types themselves."""
        narrowed = [g.key for g in asked.groups if g.key != HOSTNAME and picked.get(g.key) != base.get(g.key)]
        if narrowed and missed != {"resources"}:
            key = narrowed[0]
            return DomainNotOffered(key, tuple(sorted(picked[key].values)))
        return _no_type(types, picked, next(iter(missed)) if len(missed) == 1 else "combination")


def _no_type(
    types: Iterable[InstanceType], wanted: Requirements, why: Literal["none", "combination"] | Mismatch
) -> NoInstanceType:
    """Return that no type does, and the label on which all of them differ from what is wanted, if there is one."""
    clashes = [disagreement(each.requirements, wanted) for each in types]
    keys = {clash.wanted.key if clash else "" for clash in clashes}
    first = next(iter(clashes), None)
    if first is None or first.offered is None or len(keys) != 1:
        return NoInstanceType(why)
    values = frozenset(value for clash in clashes if clash and clash.offered for value in clash.offered.values)
    return NoInstanceType(why, Conflict(first.wanted, replace(first.offered, values=values)))


def _zones(each: InstanceType, node: Requirements, known: KnownLabels) -> Iterator[str]:
    """Yield the zones in which the type is sold to a node of these requirements."""
    for offering in each.offerings:
        if ZONE in offering and conflict(node, offering, may_turn_up=known) is None:
            yield from filter(node.get(ZONE, Requirement(ZONE, complement=True)).allows, offering[ZONE].values)


def _runs_on(daemon: Pod, pool: Pool, of_type: Requirements, known: KnownLabels) -> bool:
    """Whether the Pod of a DaemonSet comes to the pool's nodes of a type with these labels.

    Source: scheduler.go isDaemonPodCompatible.
    """
    tolerations = (*daemon.spec.tolerations, Toleration(operator="Exists", effect=PREFER_NO_SCHEDULE))
    if untolerated(pool.pool.spec.template.spec.taints, tolerations) is not None:
        return False
    for term in required_terms(daemon) or (NO_TERM,):
        wanted = node_requirements(daemon.spec.node_selector, term)
        clash = conflict(pool.requirements, wanted, may_turn_up=known) or disagreement(of_type, wanted)
        if clash is None:
            return True
    return False


CAPACITY_TYPES = frozenset(("on-demand", "spot", "reserved"))


def _unsupported(pod: Pod) -> SelectsByUnsupported | None:
    """Return by what the Pod selects nodes that Karpenter does not take, None for nothing.

    Source: provisioner.go Validate, pkg/apis/v1 nodeclaim_validation.go ValidateRequirement, labels.go.
    """
    expressions = [*of_labels(pod.spec.node_selector).values()]
    for term in required_terms(pod):
        if term.match_fields:
            return SelectsByUnsupported("fields of a node")
        expressions += map(requirement, term.match_expressions)
    for each in expressions:
        domain = each.key.rpartition("/")[0]
        own = domain == "karpenter.sh" or domain.endswith(".karpenter.sh")
        if each.key == HOSTNAME or (own and each.key not in WELL_KNOWN):
            return SelectsByUnsupported(each.key)
        if each.key == CAPACITY_TYPE and each.is_in and not each.values & CAPACITY_TYPES:
            return SelectsByUnsupported(str(each))
        if each.key == NODE_POOL and not each.complement and not each.values:
            return SelectsByUnsupported(str(each))
    return None


def decide(pod: Pod, problem: Problem) -> AutoscalerDecision:
    """Return what Karpenter decides about a Pod that has no node."""
    unsupported = _unsupported(pod)
    if unsupported is not None:
        refused = {**{pool.name: unsupported for pool in problem.pools}, **problem.refused}
        problem = replace(problem, pools=(), refused=refused)
    if not problem.pools:  # Then it does not look at its nodes either.
        problem = replace(problem, nodes=())
    asking = Asking(problem, problem.offered)
    topology = Topology(
        problem.snapshot,
        {
            key: {value: [pool.pool.spec.template.spec.taints for pool in pools] for value, pools in domains.items()}
            for key, domains in asking.offered.items()
        },
        ((node.node, node.labels) for node in problem.nodes if node.node is not None),
    )
    first = Asked.of(pod, topology.groups(pod, pod), problem.profile)
    return _decided(first, problem, asking, _tried(first, asking, topology))


def _tried(asked: Asked, asking: Asking, topology: Topology) -> _Outcome:
    """Return what may come of the Pod, which drops one preference after another until something surely takes it."""
    problem, given = asking.problem, asked.pod
    prefers = any(
        taint.effect == PREFER_NO_SCHEDULE for pool in problem.pools for taint in pool.pool.spec.template.spec.taints
    )
    found: dict[str, list[Requirements]] = defaultdict(list)
    kinds: set[Decision] = set()
    while True:
        attempts: dict[str, Attempt] = {}
        node, surely = _existing(problem.nodes, asked)
        if node:
            kinds.add(Decision.EXISTING_NODE)
        for pool in () if surely else problem.pools:
            attempts[pool.name] = asking.attempt(pool, asked)
            if attempts[pool.name].nodes and not surely:
                kinds.add(Decision.NEW_NODE)
                found[pool.name] += attempts[pool.name].nodes
                surely = not attempts[pool.name].refusals
        less = None if surely else relaxed(asked.pod, tolerates_preferences=prefers)
        if less is None:
            kinds |= set() if surely else {Decision.REFUSED}
            return _Outcome(kinds, node, found, attempts)
        asked = Asked.of(less, topology.groups(less, given), problem.profile)


class _Outcome(msgspec.Struct, frozen=True):
    """What may come of the Pod.

    Attributes:
        kinds: what is decided, by chance any.
        node: the node that exists and has room; empty for none.
        found: pool's name → the nodes that it may bring.
        attempts: pool's name → what came of asking it last; empty where none was asked.
    """

    kinds: set[Decision]
    node: str
    found: Mapping[str, Sequence[Requirements]]
    attempts: Mapping[str, Attempt]


def _existing(nodes: Iterable[StateNode], asked: Asked) -> tuple[str, bool]:
    """Return the first node on which Karpenter may see room (empty for none), and whether it surely sees some."""
    first = ""
    for node in nodes:
        room = _on_existing(node, asked)
        if room is not False:
            first = first or node.name
            if room:
                return first, True
    return first, False


def _decided(first: Asked, problem: Problem, asking: Asking, outcome: _Outcome) -> AutoscalerDecision:
    keys = {ZONE, *(group.key for group in first.groups)} - {HOSTNAME}
    unread = any(isinstance(reason, Unreadable) for each in outcome.attempts.values() for reason in each.refusals)
    if unread and outcome.kinds != {Decision.EXISTING_NODE}:
        decision = Decision.UNKNOWN
    else:
        decision = next(iter(outcome.kinds)) if len(outcome.kinds) == 1 else Decision.BY_CHANCE
    surely = decision is Decision.NEW_NODE and problem.types_known
    pools = [_of_pool(pool, outcome, keys, surely=surely) for pool in problem.pools]
    pools += [
        PoolDecision(name=name, verdict=Verdict.REFUSED, reasons=(reason,))
        for name, reason in sorted(problem.refused.items())
    ]
    return AutoscalerDecision(
        kind="karpenter",
        version=".".join(map(str, problem.release)),
        decision=decision,
        node=outcome.node if decision is Decision.EXISTING_NODE else "",
        pools=tuple(pools),
        constraints=tuple(_counted(group, first, asking) for group in first.groups if group.index is not None),
        certain=problem.types_known,
    )


def _of_pool(pool: Pool, outcome: _Outcome, keys: Iterable[str], *, surely: bool) -> PoolDecision:
    """Return the pool's part in the decision; it is chosen only where that is sure of some pool."""
    attempt = outcome.attempts.get(pool.name, Attempt())
    nodes = outcome.found.get(pool.name) or attempt.nodes
    reasons: tuple[Reason, ...] = ()
    if nodes:
        verdict = Verdict.CHOSEN if surely and pool.name in outcome.found else Verdict.POSSIBLE
        domains = {key: {value for each in nodes if key in each for value in _named(each[key])} for key in keys}
    else:
        unread = any(isinstance(reason, Unreadable) for reason in attempt.refusals)
        verdict = Verdict.UNKNOWN if unread or not attempt.refusals else Verdict.REFUSED
        reasons = attempt.refusals
        domains = {key: {*pool.domains.get(key, ())} for key in keys}
    return PoolDecision(
        name=pool.name,
        verdict=verdict,
        domains={key: tuple(sorted(values)) for key, values in sorted(domains.items()) if values},
        reasons=reasons,
    )


def _named(allowed: Requirement) -> frozenset[str]:
    return frozenset() if allowed.complement else allowed.values


def _counted(group: Group, asked: Asked, asking: Asking) -> ConstraintCounts:
    """Return the constraint as Karpenter counts it; of hosts, which can always be added, no domains."""
    offered = asking.offered.get(group.key, {})
    supported = asked.strict.get(group.key, Requirement(group.key, complement=True))
    return ConstraintCounts(
        index=group.index or 0,
        topology_key=group.key,
        minimum=group.minimum(supported) or 0,
        domains=tuple(
            DomainCount(
                value,
                matching,
                tuple(sorted(pool.name for pool in offered.get(value, ()))),
                value in group.existing,
            )
            for value, matching in sorted(group.counts.items())
            if group.key != HOSTNAME
        ),
    )

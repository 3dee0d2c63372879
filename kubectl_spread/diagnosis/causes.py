"""Why a Pod finds no node, root cause first: one type a cause, with the names and numbers that prove it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, KeysView, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import TypeAlias

import msgspec
from msgspec.structs import asdict

from kubectl_spread.controllers.daemonset import pinned_node
from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis, Domain, SpreadDiagnosis
from kubectl_spread.diagnosis.reasons import (
    AnyReason,
    MissingLabel,
    RejectedByConstraint,
    RejectedByPlugin,
    SharedReason,
    UnmetNodeAffinity,
    UntoleratedTaints,
)
from kubectl_spread.diagnosis.requirements import (
    ConstraintRequirement,
    FilterRequirement,
    Requirement,
    against,
    conflict_cores,
)
from kubectl_spread.diagnosis.volume_places import places_without_node
from kubectl_spread.objects.kinds import DAEMON_SET
from kubectl_spread.scheduler import (
    cycle,
    noderesources,
    nodeunschedulable,
    tainttoleration,
    volumebinding,
    volumezone,
)
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Code, Handle

MOST_LEFT = 5
"""Nodes (count) of which it is tried what they take once those who terminate have gone."""


class Facts(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The base of what causes consist of."""


class BlamedConstraint(Facts, frozen=True, kw_only=True):
    """A constraint that leaves no node, alone or with other requirements.

    Attributes:
        selector: as ``kubectl -l`` takes it.
        global_minimum: the fewest matching Pods in any eligible domain.
        domains: the topology values that nodes have, eligible or not (count).
        skew_if_placed: the least skew that the Pod would make in a domain that the constraint closes to it; None where
            it closes none.
    """

    index: int
    topology_key: str
    selector: str
    max_skew: int
    min_domains: int
    global_minimum: int
    domains: int
    skew_if_placed: int | None = None


class RejectedNodes(Facts, frozen=True, kw_only=True):
    """The nodes that a constraint rejects."""

    topology_key: str
    nodes: tuple[str, ...]


class RejectingFilter(Facts, frozen=True, kw_only=True):
    """A filter plugin that rejects nodes.

    Attributes:
        reasons: why, that of the most nodes first.
        everywhere: whether the first reason holds on every node of the cluster.
    """

    plugin: str
    reasons: tuple[SharedReason, ...]
    everywhere: bool


class PinnedNodes(Facts, frozen=True, kw_only=True):
    """Nodes that the Pod is kept off, all for the same reasons."""

    nodes: tuple[str, ...]
    reasons: tuple[AnyReason, ...]


class FullDomains(Facts, frozen=True, kw_only=True):
    """Domains that may take no more Pods.

    Attributes:
        matching: the Pods counted in each of them.
    """

    matching: int
    domains: tuple[str, ...]


class ConflictingRequirement(Facts, frozen=True, kw_only=True):
    """A requirement that leaves no node together with others.

    Attributes:
        topology_key: of a constraint; None for a filter.
        leaves: the nodes that it does not reject, by name.
    """

    requirement: Requirement
    topology_key: str | None = None
    leaves: tuple[str, ...]


class Cause(Facts, frozen=True, kw_only=True, tag_field="kind"):
    """The base of all causes."""


class NoNodes(Cause, frozen=True, kw_only=True):
    """The cluster has no nodes."""


class RefusedWhole(Cause, frozen=True, kw_only=True):
    """A plugin refuses the Pod before any node is looked at, as for a claim that does not exist.

    Attributes:
        reasons: the scheduler's.
        reason: what it is about; None where no more is known.
    """

    plugin: str
    reasons: tuple[str, ...]
    reason: AnyReason | None = None


class VolumeWithoutNode(Cause, frozen=True, kw_only=True):
    """The volume of a claim can be used on certain nodes alone, and there are none of these.

    Attributes:
        claim: the claim.
        volume: the PersistentVolume that it is bound to.
        topology_key: a label of all nodes that could use it.
        values: what its value is there.
    """

    claim: str
    volume: str
    topology_key: str
    values: tuple[str, ...]


class WaitsForTerminatingPods(Cause, frozen=True, kw_only=True):
    """A node takes the Pod once Pods that are being deleted have gone.

    Attributes:
        pods: those Pods.
        finalizers: what keeps them, by name; empty where nothing does.
    """

    node: str
    pods: tuple[PodName, ...]
    finalizers: tuple[str, ...] = ()


class MisspeltKey(Cause, frozen=True, kw_only=True):
    """Nodes that would take the Pod lack the topology key, but have a label that may be meant.

    Attributes:
        topology_key: the key.
        similar: the label.
        nodes: which would take the Pod, by name.
        on_no_node: whether no node at all has the key.
        others: whether there are more nodes that only lack the key.
    """

    topology_key: str
    similar: str
    nodes: tuple[str, ...]
    on_no_node: bool
    others: bool


class NoSelector(Cause, frozen=True, kw_only=True):
    """A constraint that counts nobody rejects nodes for want of its topology key alone."""

    topology_key: str
    nodes: tuple[str, ...]


class ConstraintCause(Cause, frozen=True, kw_only=True):
    """The base of causes that are one constraint.

    Attributes:
        constraint: which.
        also: the topology keys of other constraints that each leave no node either.
    """

    constraint: BlamedConstraint
    also: tuple[str, ...] = ()


class MinDomainsUnmet(ConstraintCause, frozen=True, kw_only=True):
    """There are fewer eligible domains than minDomains asks for, so the global minimum counts as 0.

    Attributes:
        eligible: the domains that there are.
    """

    eligible: tuple[str, ...]


class MissingKey(ConstraintCause, frozen=True, kw_only=True):
    """No node has the topology key.

    Attributes:
        filters: what leaves no node either, without any constraint.
    """

    filters: tuple[RejectingFilter, ...] = ()


class NoEligibleDomain(ConstraintCause, frozen=True, kw_only=True):
    """The constraint counts none of the nodes (count), and maxSkew allows no Pod."""

    nodes: int


class DomainsFull(ConstraintCause, frozen=True, kw_only=True):
    """Every domain where the Pod could go would exceed maxSkew over the minimum, which others hold.

    Attributes:
        minimum_domains: those.
    """

    minimum_domains: tuple[str, ...]


class DaemonNode(Cause, frozen=True, kw_only=True):
    """Filters reject the one node of a daemon.

    Attributes:
        filters: those, in the profile's order.
        constraints: the topology keys of the constraints that reject it too.
    """

    node: str
    filters: tuple[RejectingFilter, ...]
    constraints: tuple[str, ...] = ()


class FiltersAlone(Cause, frozen=True, kw_only=True):
    """Filters leave no node without any constraint.

    Attributes:
        plugins: all of these filters, by name.
        filters: the same with their reasons, but for taints of nodes that are cordoned.
        constraints: what constraints reject besides.
    """

    plugins: tuple[str, ...]
    filters: tuple[RejectingFilter, ...]
    constraints: tuple[RejectedNodes, ...] = ()


class PinnedDomain(Cause, frozen=True, kw_only=True):
    """Other requirements keep the Pod from every domain that holds the minimum.

    Attributes:
        constraint: whose minimum.
        domains: those domains.
        nodes: the counted nodes in them (count).
        pins: what keeps the Pod off them, the most nodes first.
        full: the domains that the constraint closes.
    """

    constraint: BlamedConstraint
    domains: tuple[str, ...]
    nodes: int
    pins: tuple[PinnedNodes, ...]
    full: tuple[FullDomains, ...] = ()


class Conflict(Cause, frozen=True, kw_only=True):
    """Each requirement leaves nodes, and all together leave none."""

    requirements: tuple[ConflictingRequirement, ...]


class GhostSelector(Cause, frozen=True, kw_only=True):
    """The constraint counts other Pods and not this one.

    Attributes:
        why: why it leaves no node; None where that takes other requirements too.
    """

    constraint: BlamedConstraint
    why: PinnedDomain | MinDomainsUnmet | MissingKey | NoEligibleDomain | DomainsFull | None = None


AloneCause: TypeAlias = MinDomainsUnmet | MissingKey | NoEligibleDomain | DomainsFull
AnyCause: TypeAlias = (
    NoNodes
    | RefusedWhole
    | VolumeWithoutNode
    | WaitsForTerminatingPods
    | MisspeltKey
    | NoSelector
    | GhostSelector
    | MinDomainsUnmet
    | MissingKey
    | NoEligibleDomain
    | DomainsFull
    | DaemonNode
    | FiltersAlone
    | PinnedDomain
    | Conflict
)


RootCause: TypeAlias = WaitsForTerminatingPods | MisspeltKey | NoSelector | GhostSelector
"""What explains more than a constraint and the nodes that it rejects."""


class Blocking(Facts, frozen=True, kw_only=True):
    """Why a constraint leaves no node.

    Attributes:
        constraint: which.
        root: the Pod's root cause, where it is more than how the constraint closes the nodes; else None.
        unmet: that there are fewer domains than minDomains asks for; None where that is not the reason.
        pinned: what keeps the Pod from the domains that hold the minimum; None where that is not the reason.
        others: the requirements together with which it leaves none; empty where it leaves none alone.
    """

    constraint: BlamedConstraint
    root: RootCause | None = None
    unmet: MinDomainsUnmet | None = None
    pinned: PinnedDomain | None = None
    others: tuple[ConflictingRequirement, ...] = ()


class Blame(msgspec.Struct, frozen=True, dict=True):
    """What leaves a Pod no node; concluded only where it is asked for.

    Attributes:
        known: the root cause, where it was concluded already for a Pod that differs in nothing but the name.
    """

    evaluation: Evaluation
    handle: Handle
    spread: SpreadDiagnosis
    known: AnyCause | None = None

    @cached_property
    def cause(self) -> AnyCause:
        """The root cause."""
        return self.known or next(found for found in (conclude(self) for conclude in ORDER) if found is not None)

    @cached_property
    def blocking(self) -> Mapping[int, Blocking]:
        """Index → why, for each constraint that is in any of the smallest sets.

        None where no node were left without the constraints either.
        """
        if self.by_filters_alone:
            return {}
        in_cores = self.constraints_of(each for core in self.spread.cores for each in core)
        return {each.index: _blocking(each, self) for each in in_cores}

    @property
    def core(self) -> tuple[Requirement, ...]:
        """The first of the smallest sets of requirements that together leave no node."""
        return next(iter(self.spread.cores), ())

    @property
    def nodes(self) -> KeysView[str]:
        """The names of the cluster's nodes."""
        return self.handle.node_infos.keys()

    @cached_property
    def against(self) -> Mapping[str, frozenset[Requirement]]:
        """Node's name → what rejects it."""
        return against(self.spread.rejected, self.nodes)

    @cached_property
    def by_filters_alone(self) -> bool:
        """Whether no node were left without any constraint either."""
        return all(any(isinstance(each, FilterRequirement) for each in found) for found in self.against.values())

    @property
    def to_blame(self) -> tuple[ConstraintDiagnosis, ...]:
        """The constraints of the core, in spec order."""
        return tuple(self.constraints_of(self.core))

    def constraints_of(self, requirements: Iterable[Requirement]) -> Iterable[ConstraintDiagnosis]:
        """Yield the constraints that are among the requirements, in spec order."""
        wanted = set(requirements)
        return (each for each in self.spread.constraints if ConstraintRequirement(each.index) in wanted)

    def only_against(self, constraint: ConstraintDiagnosis) -> list[str]:
        """Return the nodes that nothing but the constraint rejects, by name."""
        alone = frozenset((ConstraintRequirement(constraint.index),))
        return sorted(name for name, found in self.against.items() if found == alone)

    def filters_against(self, node_name: str) -> list[FilterRequirement]:
        """Return the filters that reject the node."""
        return [each for each in self.against[node_name] if isinstance(each, FilterRequirement)]

    def conflicting(self, core: Iterable[Requirement]) -> tuple[ConflictingRequirement, ...]:
        """Return the requirements with what each leaves."""
        return tuple(
            ConflictingRequirement(
                requirement=each,
                topology_key=self.spread.topology_key(each) if isinstance(each, ConstraintRequirement) else None,
                leaves=tuple(sorted(self.nodes - self.spread.rejected[each])),
            )
            for each in core
        )


def _blamed(constraint: ConstraintDiagnosis) -> BlamedConstraint:
    return BlamedConstraint(
        index=constraint.index,
        topology_key=constraint.topology_key,
        selector=constraint.selector,
        max_skew=constraint.max_skew,
        min_domains=constraint.min_domains,
        global_minimum=constraint.global_minimum,
        domains=len(constraint.domains),
        skew_if_placed=min((each.skew_if_placed for each in constraint.domains if not each.allowed), default=None),
    )


def _refused_whole(blame: Blame) -> RefusedWhole | None:
    refusal = blame.evaluation.pre_filter or blame.evaluation.broken
    if refusal is None:
        return None
    any_node = next(iter(blame.handle.node_infos.values()))
    reason = blame.spread.explainer.of_plugin(refusal.plugin, any_node)
    return RefusedWhole(plugin=refusal.plugin, reasons=refusal.status.reasons, reason=reason)


def _volume_without_node(blame: Blame) -> VolumeWithoutNode | None:
    filters = map(FilterRequirement, (volumebinding.NAME, volumezone.NAME))
    if not any(blame.nodes <= blame.spread.rejected.get(each, frozenset()) for each in filters):
        return None
    places = places_without_node(blame.evaluation.pod, blame.handle)
    return next((VolumeWithoutNode(**asdict(place)) for place in places), None)


def _leaving(blame: Blame) -> WaitsForTerminatingPods | None:
    # Nodes on which only Pods may be in the way, some of which terminate.
    opened = (
        name
        for name, requirements in blame.against.items()
        if all(isinstance(each, FilterRequirement) for each in requirements)
        and all(each.status.code is Code.UNSCHEDULABLE for each in blame.evaluation.nodes[name].rejections)
        and any(pod.terminating for pod in blame.handle.node_infos[name].pods)
    )
    for name in islice(opened, MOST_LEFT):
        gone = [pod for pod in blame.handle.node_infos[name].pods if pod.terminating]
        after = blame.handle
        for pod in gone:
            after = after.without_pod(pod)
        if name in cycle.feasible_nodes(blame.evaluation.pod, after):
            finalizers = {finalizer for pod in gone for finalizer in pod.metadata.finalizers}
            return WaitsForTerminatingPods(
                node=name, pods=tuple(map(PodName.of, gone)), finalizers=tuple(sorted(finalizers))
            )
    return None


def _misspelt_key(blame: Blame) -> MisspeltKey | None:
    if len(blame.to_blame) != 1:
        return None
    (constraint,) = blame.to_blame
    alone = set(blame.only_against(constraint))
    by_key: dict[str, list[str]] = defaultdict(list)
    for node in constraint.bypassed_nodes:
        for key in (node.similar_keys or ()) if node.name in alone else ():
            value = blame.handle.node_infos[node.name].labels[key]
            # if its value of that key were one of the topology key
            if all(domain.allowed for domain in constraint.domains if domain.value == value):
                by_key[key].append(node.name)
    if not by_key:
        return None
    similar, names = max(by_key.items(), key=lambda found: len(found[1]))
    lacking = {node.name for node in constraint.bypassed_nodes} & alone
    return MisspeltKey(
        topology_key=constraint.topology_key,
        similar=similar,
        nodes=tuple(names),
        on_no_node=not constraint.domains,
        others=bool(lacking.difference(names)),
    )


def _no_selector(blame: Blame) -> NoSelector | None:
    for constraint in blame.to_blame:
        alone = blame.only_against(constraint)
        if len(blame.to_blame) == 1 and alone and constraint.selector == "<none>" and constraint.domains:
            return NoSelector(topology_key=constraint.topology_key, nodes=tuple(alone))
    return None


def _ghost(blame: Blame) -> GhostSelector | None:
    if len(blame.to_blame) != 1:
        return None
    (constraint,) = blame.to_blame
    if constraint.self_match or constraint.selector in {"<none>", "<all>"} or not blame.only_against(constraint):
        return None
    return GhostSelector(constraint=_blamed(constraint), why=_pinned(blame) or _constraint_alone(blame))


def _min_domains(blame: Blame) -> MinDomainsUnmet | None:
    unmet = next((constraint for constraint in blame.to_blame if _shut_by_min_domains(constraint, blame)), None)
    return MinDomainsUnmet(constraint=_blamed(unmet), eligible=unmet.eligible) if unmet else None


def _shut_by_min_domains(constraint: ConstraintDiagnosis, blame: Blame) -> bool:
    """Whether a node would take the Pod if minDomains did not ask for more domains than there are."""
    if not _too_few_domains(constraint):
        return False
    fewest = min(domain.matching for domain in constraint.domains if domain.eligible)
    infos = map(blame.handle.node_infos.__getitem__, blame.only_against(constraint))
    values = {info.labels.get(constraint.topology_key) for info in infos}
    domains = (domain for domain in constraint.domains if domain.value in values)
    # skew if placed, over the minimum that there would be without minDomains <= maxSkew
    return any(each.skew_if_placed - fewest <= constraint.max_skew for each in domains)


def _too_few_domains(constraint: ConstraintDiagnosis) -> bool:
    """Whether domains count, but fewer than minDomains asks for."""
    return 0 < len(constraint.eligible) < constraint.min_domains


def _no_domains(blame: Blame) -> MissingKey | None:
    nowhere = next((each for each in blame.constraints_of(blame.spread.rejected) if not each.domains), None)
    # That leaves none, whatever filters leave none either.
    if nowhere is None or not blame.by_filters_alone:
        return None
    return MissingKey(constraint=_blamed(nowhere), filters=_blamed_filters(blame)[1])


def _daemon_node(blame: Blame) -> DaemonNode | None:
    owner = blame.evaluation.pod.metadata.controller
    node = pinned_node(blame.evaluation.pod) if owner is not None and owner.kind == DAEMON_SET.name else ""
    against = blame.against.get(node, frozenset())
    filters = [each for each in blame.spread.rejected if isinstance(each, FilterRequirement) and each in against]
    if not filters:
        return None
    # That a daemon may go to no other node is its controller's doing, and no cause.
    return DaemonNode(
        node=node,
        filters=tuple(_rejecting(each.plugin, [node], blame) for each in filters),
        constraints=tuple(each.topology_key for each in blame.constraints_of(against)),
    )


def _filters_alone(blame: Blame) -> FiltersAlone | None:
    if not blame.by_filters_alone:
        return None
    plugins, filters = _blamed_filters(blame)
    rejected = blame.spread.rejected
    constraints = tuple(
        RejectedNodes(topology_key=each.topology_key, nodes=tuple(sorted(rejected[ConstraintRequirement(each.index)])))
        for each in blame.to_blame
    )
    return FiltersAlone(plugins=plugins, filters=filters, constraints=constraints)


def _blamed_filters(blame: Blame) -> tuple[tuple[str, ...], tuple[RejectingFilter, ...]]:
    rejected = blame.spread.rejected
    filters = [each for each in rejected if isinstance(each, FilterRequirement)]
    cores = conflict_cores({each: rejected[each] for each in filters}, blame.handle.node_infos)
    # Filters of equal cores all have to give way.
    blamed = [each for each in filters if any(each in core for core in cores)]
    # Who cordons a node taints it too: one of them is enough.
    cordoned = rejected.get(FilterRequirement(nodeunschedulable.NAME), frozenset())
    return tuple(each.plugin for each in blamed), tuple(
        _rejecting(each.plugin, rejected[each], blame)
        for each in blamed
        if each.plugin != tainttoleration.NAME or not rejected[each] <= cordoned
    )


def _rejecting(plugin: str, names: Collection[str], blame: Blame) -> RejectingFilter:
    if plugin == noderesources.NAME:
        # How much is free matters where no other filter rejects the Pod too.
        names = [name for name in names if len(blame.filters_against(name)) == 1] or names
    reasons = tuple(blame.spread.explainer.shared(plugin, names))
    everywhere = len(reasons[0].nodes) == len(blame.handle.node_infos)
    return RejectingFilter(plugin=plugin, reasons=reasons, everywhere=everywhere)


def _pinned(blame: Blame) -> PinnedDomain | None:
    shut_by_filters = (each for each in blame.to_blame if each.pinned)
    by_filters_too = any(isinstance(each, FilterRequirement) for each in blame.core)
    shut_by_both = (each for each in blame.to_blame if by_filters_too and each.shut)
    constraint = next(chain(shut_by_filters, shut_by_both), None)
    if constraint is None or len(blame.core) == 1:
        return None
    return _pinned_domain(constraint, blame)


def _pinned_domain(constraint: ConstraintDiagnosis, blame: Blame) -> PinnedDomain:
    full: dict[int, list[str]] = defaultdict(list)
    for domain in constraint.domains:
        if domain.eligible and not domain.allowed:
            full[domain.matching].append(domain.value)
    domains = constraint.held
    return PinnedDomain(
        constraint=_blamed(constraint),
        domains=tuple(domain.value for domain in domains),
        nodes=sum(len(domain.nodes) for domain in domains),
        pins=_pins(domains, blame),
        full=tuple(FullDomains(matching=n, domains=tuple(values)) for n, values in sorted(full.items())),
    )


def _pins(domains: Iterable[Domain], blame: Blame) -> tuple[PinnedNodes, ...]:
    """Return what keeps the Pod off the nodes of the domains that hold the minimum, the most nodes first.

    That the control plane is kept free comes last: it always was.
    """
    by_requirement: dict[Requirement, list[str]] = defaultdict(list)
    for domain in domains:
        for pin in domain.pins:
            by_requirement[pin.requirement].append(pin.node)
    by_nodes: dict[tuple[str, ...], list[AnyReason]] = defaultdict(list)
    for requirement, names in by_requirement.items():
        for nodes, reason in _reasons(requirement, names, blame):
            if reason not in by_nodes[nodes]:
                by_nodes[nodes].append(reason)
    pins = (PinnedNodes(nodes=nodes, reasons=tuple(reasons)) for nodes, reasons in by_nodes.items())
    return tuple(sorted(pins, key=lambda each: (all(map(_keeps_control_plane_free, each.reasons)), -len(each.nodes))))


def _reasons(requirement: Requirement, names: list[str], blame: Blame) -> Iterable[tuple[tuple[str, ...], AnyReason]]:
    if isinstance(requirement, ConstraintRequirement):
        key = blame.spread.topology_key(requirement)
        yield tuple(names), RejectedByConstraint(index=requirement.index, topology_key=key)
        return
    for shared in blame.spread.explainer.shared(requirement.plugin, names):
        yield shared.nodes, shared.reason or RejectedByPlugin(plugin=requirement.plugin)


def _keeps_control_plane_free(reason: AnyReason) -> bool:
    """Whether a taint or label of the control plane is the reason."""
    from kubectl_spread.controllers.taints import CONTROL_PLANE

    named: Iterable[str] = ()
    if isinstance(reason, UntoleratedTaints):
        named = reason.taints
    elif isinstance(reason, MissingLabel):
        named = (reason.key,)
    elif isinstance(reason, UnmetNodeAffinity):
        named = (each.key for term in reason.terms for each in (*term.match_expressions, *term.match_fields))
    return any(key in each for each in named for key in CONTROL_PLANE)


def _constraint_alone(blame: Blame) -> AloneCause | None:
    alone = [core for core in blame.spread.cores if len(core) == 1]
    if not alone:
        return None
    others = tuple(each.topology_key for core in alone[1:] for each in blame.constraints_of(core))
    constraint = blame.to_blame[0]
    blamed, eligible = _blamed(constraint), constraint.eligible
    if not constraint.domains:
        return MissingKey(constraint=blamed, also=others)
    if not eligible:
        return NoEligibleDomain(constraint=blamed, also=others, nodes=len(blame.handle.node_infos))
    if len(eligible) < constraint.min_domains:
        return MinDomainsUnmet(constraint=blamed, also=others, eligible=eligible)
    return DomainsFull(constraint=blamed, also=others, minimum_domains=constraint.minimum_domains)


def _together(blame: Blame) -> Conflict:
    return Conflict(requirements=blame.conflicting(blame.core))


ORDER: Sequence[Callable[[Blame], AnyCause | None]] = (
    lambda blame: None if blame.nodes else NoNodes(),
    _refused_whole,
    _volume_without_node,
    _leaving,
    _misspelt_key,
    _no_selector,
    _ghost,
    _min_domains,
    _no_domains,
    _daemon_node,
    _filters_alone,
    _pinned,
    _constraint_alone,
    _together,
)
"""What may be the root cause, the one that explains most first."""


def _root(constraint: ConstraintDiagnosis, blame: Blame) -> RootCause | None:
    match blame.cause:
        case WaitsForTerminatingPods() as found:
            return found
        case GhostSelector(constraint=blamed) as found if blamed.index == constraint.index:
            return found
        case MisspeltKey(topology_key=key) | NoSelector(topology_key=key) as found if key == constraint.topology_key:
            return found
    return None


def _blocking(constraint: ConstraintDiagnosis, blame: Blame) -> Blocking:
    if root := _root(constraint, blame):
        return Blocking(constraint=_blamed(constraint), root=root)
    this = ConstraintRequirement(constraint.index)
    core = next(core for core in blame.spread.cores if this in core)
    alone = len(core) == 1 and _too_few_domains(constraint)
    if alone or _shut_by_min_domains(constraint, blame):
        unmet = MinDomainsUnmet(constraint=_blamed(constraint), eligible=constraint.eligible)
        return Blocking(constraint=_blamed(constraint), unmet=unmet)
    if constraint.pinned and len(core) > 1:
        return Blocking(constraint=_blamed(constraint), pinned=_pinned_domain(constraint, blame))
    others = blame.conflicting(each for each in core if each != this)
    return Blocking(constraint=_blamed(constraint), others=others)

"""Finds the root cause why a Pod has no node, and why each of its constraints blocks it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, KeysView, Mapping, Sequence
from functools import cached_property, reduce
from itertools import chain, islice
from typing import TypeAlias

import msgspec

from kubectl_spread.controllers import workloads
from kubectl_spread.controllers.daemonset import pinned_node
from kubectl_spread.controllers.deployment import replica_sets
from kubectl_spread.controllers.next_pod import older_pods
from kubectl_spread.controllers.replicaset import active
from kubectl_spread.controllers.rolling_update import DEFAULT_PORTION, fenceposts
from kubectl_spread.diagnosis import causes, reasons
from kubectl_spread.diagnosis.causes import AnyCause, ConflictingRequirement, MinDomainsUnmet, PinnedDomain, RootCause
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis, SpreadDiagnosis
from kubectl_spread.diagnosis.explainer import missing_claims, volumes_without_node
from kubectl_spread.diagnosis.requirements import (
    ConstraintRequirement,
    FilterRequirement,
    Requirement,
    conflict_cores,
    requirements_against,
)
from kubectl_spread.diagnosis.restriction import lasts, pinned_nodes, restriction
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import DAEMON_SET, POD
from kubectl_spread.objects.meta import grouped
from kubectl_spread.objects.workloads import Deployment, RollingUpdate
from kubectl_spread.scheduler import cycle, noderesources, nodeunschedulable, podtopologyspread, tainttoleration
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Code, Handle
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.scheduler.volumebinding import OF_VOLUMES

MOST_LEFT = 5  # Nodes (count) that are evaluated again without Pods that leave
OF_NODES = (causes.FiltersAlone, causes.PinnedDomain, causes.Conflict)  # Causes of nodes that filters alone may reject
# Policy → the field of a constraint that says whether it is Honor.
_HONORS: Mapping[causes.Policy, str] = {
    "nodeAffinityPolicy": "honors_affinity",
    "nodeTaintsPolicy": "honors_taints",
}
# A cause, or the requirements that leave no node together with the constraint; none if it leaves none alone.
BlockingReason: TypeAlias = RootCause | MinDomainsUnmet | PinnedDomain | tuple[ConflictingRequirement, ...]


class Blocking(msgspec.Struct, frozen=True):
    """A constraint that leaves no node, and why."""

    constraint: causes.BlamedConstraint
    why: BlockingReason


class Blame(msgspec.Struct, frozen=True, dict=True):
    """What leaves a Pod no node; concluded only on demand, unless it is ``known`` from a Pod with another name."""

    evaluation: Evaluation
    handle: Handle
    spread: SpreadDiagnosis
    known: AnyCause | None = None

    @cached_property
    def cause(self) -> AnyCause:
        """The root cause."""
        if self.known:
            return self.known
        cause = next(found for found in (conclude(self) for conclude in ORDER) if found is not None)
        return msgspec.structs.replace(cause, older=_older(self)) if isinstance(cause, OF_NODES) else cause

    @cached_property
    def blocking(self) -> Mapping[int, Blocking]:
        """Index → why, for each constraint in any of the smallest conflicting sets.

        Empty if the Pod had no node without its constraints either.
        """
        if self.by_filters_alone:
            return {}
        in_cores = self.constraints_of(each for core in self.spread.cores for each in core)
        return {each.index: Blocking(_blamed(each, self), _why_it_blocks(each, self)) for each in in_cores}

    @property
    def core(self) -> tuple[Requirement, ...]:
        """The first of the smallest sets of requirements that leave no node; what refuses the Pod, if anything does."""
        refusal = self.evaluation.pre_filter or self.evaluation.broken
        refusing = (FilterRequirement(refusal.plugin),) if refusal else ()
        return refusing if refusing in self.spread.cores else next(iter(self.spread.cores), ())

    @property
    def nodes(self) -> KeysView[str]:
        """The names of the cluster's nodes."""
        return self.handle.node_infos.keys()

    @cached_property
    def against(self) -> Mapping[str, frozenset[Requirement]]:
        """Node's name → the requirements that reject it."""
        return requirements_against(self.spread.rejected, self.nodes)

    @cached_property
    def by_filters_alone(self) -> bool:
        """Whether filters reject every node, whatever the constraints do."""
        return all(any(isinstance(each, FilterRequirement) for each in found) for found in self.against.values())

    @property
    def to_blame(self) -> tuple[ConstraintDiagnosis, ...]:
        """The constraints of the core, in spec order."""
        return tuple(self.constraints_of(self.core))

    @property
    def only_constraint(self) -> ConstraintDiagnosis | None:
        """The constraint of the core, if it has exactly one."""
        return self.to_blame[0] if len(self.to_blame) == 1 else None

    def constraints_of(self, requirements: Iterable[Requirement]) -> Iterable[ConstraintDiagnosis]:
        """Yield the constraints among the requirements, in spec order."""
        wanted = set(requirements)
        return (each for each in self.spread.constraints if ConstraintRequirement(each.index) in wanted)

    def only_against(self, constraint: ConstraintDiagnosis) -> list[str]:
        """Return the nodes that only this constraint rejects, by name."""
        alone = frozenset((ConstraintRequirement(constraint.index),))
        return sorted(name for name, found in self.against.items() if found == alone)

    def conflicting(self, core: Iterable[Requirement]) -> tuple[ConflictingRequirement, ...]:
        """Return the requirements with the nodes that each leaves."""
        return tuple(
            ConflictingRequirement(
                requirement=each,
                topology_key=self.spread.topology_key(each) if isinstance(each, ConstraintRequirement) else None,
                leaves=tuple(sorted(self.nodes - self.spread.rejected[each])),
            )
            for each in core
        )


def _blamed(constraint: ConstraintDiagnosis, blame: Blame) -> causes.BlamedConstraint:
    return causes.BlamedConstraint(
        index=constraint.index,
        topology_key=constraint.topology_key,
        selector=constraint.selector,
        max_skew=constraint.max_skew,
        min_domains=constraint.min_domains,
        global_minimum=constraint.global_minimum,
        domains=len(constraint.domains),
        skew_if_placed=min((each.skew_if_placed for each in constraint.domains if not each.allowed), default=None),
        others=_other_pods(constraint, blame),
        unlabelled=tuple(_unlabelled(constraint, blame)),
    )


def _other_pods(constraint: ConstraintDiagnosis, blame: Blame) -> tuple[causes.OtherPods, ...]:
    """Return the Pods of other workloads, and of other revisions, that keep a domain closed because they count."""
    pod, handle = blame.evaluation.pod, blame.handle
    own, revision = workloads.owner_of(pod, handle.snapshot), workloads.revision_of(pod)
    closed = [domain for domain in constraint.domains if domain.eligible and not domain.allowed]
    if own.kind == POD.name or not (closed and constraint.self_match):
        return ()
    domain_of = {name: domain.value for domain in constraint.domains if domain.eligible for name in domain.nodes}
    selector = podtopologyspread.counting_selector(_parsed(constraint.index, blame), handle.profile)
    by_owner: dict[workloads.WorkloadRef, Counter[str]] = defaultdict(Counter)
    for owner, alike in workloads.matching_by_owner(pod.metadata.namespace, selector, handle.snapshot):
        if owner != own or workloads.revision_of(alike[0]) != revision:
            nodes = (other.spec.node_name for other in alike)
            by_owner[owner].update(domain_of[name] for name in nodes if name in domain_of)
    most = constraint.max_skew - 1

    def opens(pods: Counter[str]) -> bool:
        left = {domain.value: domain.matching - pods[domain.value] for domain in constraint.domains if domain.eligible}
        minimum = 0 if _too_few_domains(constraint) else min(left.values())
        return any(left[domain.value] - minimum <= most for domain in closed)

    alone = [owner for owner, pods in by_owner.items() if opens(pods)]
    together = alone or (by_owner if opens(sum(by_owner.values(), Counter())) else ())
    found = (causes.OtherPods(owner=each, number=by_owner[each].total(), own=each == own) for each in together)
    return tuple(sorted(found, key=lambda each: -each.number))


def _unlabelled(constraint: ConstraintDiagnosis, blame: Blame) -> Iterable[str]:
    """Yield the nodes that a label in the emptiest domain would open, if there are domains."""
    if not (constraint.domains and constraint.max_skew):
        return ()
    alone = set(blame.only_against(constraint))
    return (
        node.name for node in constraint.bypassed_nodes if node.key == constraint.topology_key and node.name in alone
    )


def _parsed(index: int, blame: Blame) -> podtopologyspread.Constraint:
    constraints = podtopologyspread.parsable_constraints(blame.evaluation.pod, blame.handle)
    return next(each for each in constraints if each.index == index)


def _refused_whole(blame: Blame) -> causes.RefusedWhole | None:
    refusal = blame.evaluation.pre_filter or blame.evaluation.broken
    if refusal is None:
        return None
    any_node = next(iter(blame.handle.node_infos.values()))
    reason = blame.spread.explainer.of_plugin(refusal.plugin, any_node)
    missing = tuple(missing_claims(blame.evaluation.pod, blame.handle.snapshot))
    return causes.RefusedWhole(plugin=refusal.plugin, reasons=refusal.status.reasons, reason=reason, missing=missing)


def _volume_without_node(blame: Blame) -> causes.VolumeWithoutNode | None:
    filters = map(FilterRequirement, OF_VOLUMES)
    if not any(blame.nodes <= blame.spread.rejected.get(each, frozenset()) for each in filters):
        return None
    return next(volumes_without_node(blame.evaluation.pod, blame.handle), None)


def _waits_for_terminating_pods(blame: Blame) -> causes.WaitsForTerminatingPods | None:
    for name, gone in _opened_without(lambda pod: pod.terminating, blame):
        finalizers = sorted({finalizer for pod in gone for finalizer in pod.metadata.finalizers})
        pods = tuple(map(workloads.PodName.of, gone))
        return causes.WaitsForTerminatingPods(node=name, pods=pods, finalizers=tuple(finalizers))
    return None


def _opened_without(leaves: Callable[[Pod], bool], blame: Blame) -> Iterable[tuple[str, list[Pod]]]:
    """Yield (node, its Pods that leave) where only these Pods are in the way, of the first nodes that have any."""
    having = (
        name
        for name, requirements in blame.against.items()
        if all(isinstance(each, FilterRequirement) for each in requirements)
        and all(each.status.code is Code.UNSCHEDULABLE for each in blame.evaluation.nodes[name].rejections)
        and any(map(leaves, blame.handle.node_infos[name].pods))
    )
    for name in islice(having, MOST_LEFT):
        gone = [pod for pod in blame.handle.node_infos[name].pods if leaves(pod)]
        if name in cycle.feasible_nodes(blame.evaluation.pod, reduce(Handle.without_pod, gone, blame.handle)):
            yield name, gone


def _older(blame: Blame) -> causes.OlderPods | None:
    """Return the Pods that the Pod's rollout keeps until the Pod is available, although a node has room without them.

    Source: kube-controller-manager deployment/rolling.go reconcileOldReplicaSets (v1.36).
    """
    pod, snapshot = blame.evaluation.pod, blame.handle.snapshot
    older, owner = {each.key for each in older_pods(pod, snapshot)}, workloads.topmost_owner(pod, snapshot)
    if not older or not isinstance(owner, Deployment):
        return None
    replicas, rolling = owner.spec.replicas_wanted, owner.spec.strategy.rolling_update or RollingUpdate()
    unavailable = fenceposts(owner.spec.strategy, replicas)[1]
    made = (each for by in replica_sets(owner, snapshot) for each in snapshot.controlled_by(by.as_controller, Pod))
    new = pod.metadata.controller_key
    kept = sum(each.at_work or each.metadata.controller_key != new for each in active(made))
    if kept > replicas - unavailable:
        return None
    held = [each for _, pods in _opened_without(lambda each: each.key in older, blame) for each in pods]
    if not held:
        return None
    return causes.OlderPods(
        owner=workloads.owner_of(pod, snapshot),
        pods=tuple(map(workloads.PodName.of, held)),
        max_unavailable=str(DEFAULT_PORTION if rolling.max_unavailable is None else rolling.max_unavailable),
        unavailable=unavailable,
        replicas=replicas,
    )


def _misspelt_key(blame: Blame) -> causes.MisspeltKey | None:
    if (constraint := blame.only_constraint) is None:
        return None
    alone = set(blame.only_against(constraint))
    by_key: dict[str, list[str]] = defaultdict(list)
    for node in constraint.bypassed_nodes:
        for key in (node.similar_keys or ()) if node.name in alone else ():
            value = blame.handle.node_infos[node.name].labels[key]
            # Would the node be allowed if this were the value of its topology key?
            if all(domain.allowed for domain in constraint.domains if domain.value == value):
                by_key[key].append(node.name)
    if not by_key:
        return None
    similar, names = max(by_key.items(), key=lambda found: len(found[1]))
    lacking = {node.name for node in constraint.bypassed_nodes} & alone
    return causes.MisspeltKey(
        topology_key=constraint.topology_key,
        similar=similar,
        nodes=tuple(names),
        on_no_node=not constraint.domains,
        others=bool(lacking.difference(names)),
    )


def _no_selector(blame: Blame) -> causes.NoSelector | None:
    constraint = blame.only_constraint
    if constraint is None or constraint.selector != "<none>" or not constraint.domains:
        return None
    alone = blame.only_against(constraint)
    return causes.NoSelector(topology_key=constraint.topology_key, nodes=tuple(alone)) if alone else None


def _ghost_selector(blame: Blame) -> causes.GhostSelector | None:
    constraint = blame.only_constraint
    if constraint is None or constraint.self_match or constraint.selector in {"<none>", "<all>"}:
        return None
    if not blame.only_against(constraint):
        return None
    return causes.GhostSelector(constraint=_blamed(constraint, blame), why=_pinned(blame) or _constraint_alone(blame))


def _min_domains_unmet(blame: Blame) -> MinDomainsUnmet | None:
    unmet = next((constraint for constraint in blame.to_blame if _closed_by_min_domains(constraint, blame)), None)
    return _unmet(unmet, blame) if unmet else None


def _unmet(constraint: ConstraintDiagnosis, blame: Blame, also: tuple[str, ...] = ()) -> MinDomainsUnmet:
    return MinDomainsUnmet(
        constraint=_blamed(constraint, blame),
        also=also,
        eligible=constraint.eligible,
        left_out=_left_out(constraint, blame),
    )


def _left_out(constraint: ConstraintDiagnosis, blame: Blame) -> causes.LeftOut | None:
    """Return the domains that are not eligible; None if there are none, or several reasons."""
    domain_of = blame.handle.index.values(constraint.topology_key)
    domains = tuple(domain.value for domain in constraint.domains if not domain.eligible)
    bypassed = [node for node in constraint.bypassed_nodes if domain_of.get(node.name) in domains]
    taints: dict[str, None] = {}
    for node in bypassed:
        reason = blame.spread.explainer.of_plugin(tainttoleration.NAME, blame.handle.node_infos[node.name])
        if node.reason == "NodeTaintsPolicy" and isinstance(reason, reasons.UntoleratedTaints):
            taints |= dict.fromkeys(reason.taints)
    policies = {node.reason for node in bypassed}
    known = policies == {"NodeAffinityPolicy"} or (policies == {"NodeTaintsPolicy"} and taints)
    return causes.LeftOut(domains=domains, taints=tuple(taints)) if known else None


def _closed_by_min_domains(constraint: ConstraintDiagnosis, blame: Blame) -> bool:
    """Whether a node would take the Pod if minDomains did not require more domains than there are."""
    if not _too_few_domains(constraint):
        return False
    fewest = min(domain.matching for domain in constraint.domains if domain.eligible)
    infos = map(blame.handle.node_infos.__getitem__, blame.only_against(constraint))
    values = {info.labels.get(constraint.topology_key) for info in infos}
    domains = (domain for domain in constraint.domains if domain.value in values)
    # skew if placed, over the minimum without minDomains <= maxSkew
    return any(each.skew_if_placed - fewest <= constraint.max_skew for each in domains)


def _too_few_domains(constraint: ConstraintDiagnosis) -> bool:
    return 0 < len(constraint.eligible) < constraint.min_domains


def _missing_key(blame: Blame) -> causes.MissingKey | None:
    nowhere = next((each for each in blame.constraints_of(blame.spread.rejected) if not each.domains), None)
    # It leaves no node, even without the filters.
    if nowhere is None or not blame.by_filters_alone:
        return None
    return causes.MissingKey(constraint=_blamed(nowhere, blame), filters=_blamed_filters(blame)[1])


def _daemon_node(blame: Blame) -> causes.DaemonNode | None:
    pod = blame.evaluation.pod
    node = pinned_node(pod) if pod.metadata.controller_kind == DAEMON_SET.name else ""
    against = blame.against.get(node, frozenset())
    filters = [each for each in blame.spread.rejected if isinstance(each, FilterRequirement) and each in against]
    constraints = tuple(each.topology_key for each in blame.constraints_of(against))
    if not filters and not constraints:
        return None
    # The controller pins a daemon to its node; that no other node takes it is no cause.
    return causes.DaemonNode(
        node=node,
        filters=tuple(_rejecting(each.plugin, [node], blame) for each in filters),
        constraints=constraints,
        lacks=next((key for key in constraints if key not in blame.handle.node_infos[node].labels), ""),
    )


def _filters_alone(blame: Blame) -> causes.FiltersAlone | None:
    if not blame.by_filters_alone:
        return None
    plugins, filters = _blamed_filters(blame)
    rejected = (
        (each.topology_key, blame.spread.rejected[ConstraintRequirement(each.index)]) for each in blame.to_blame
    )
    constraints = (causes.RejectedNodes(topology_key=key, nodes=tuple(sorted(names))) for key, names in rejected)
    return causes.FiltersAlone(
        plugins=plugins,
        filters=filters,
        constraints=tuple(constraints),
        restriction=restriction(plugins, _rejected_by_filters(blame), blame.spread),
    )


def _blamed_filters(blame: Blame) -> tuple[tuple[str, ...], tuple[causes.RejectingFilter, ...]]:
    """Return the filters to blame, by name and with their reasons: those first whose nodes may soonest take the Pod."""
    rejected = _rejected_by_filters(blame)
    cores = conflict_cores(rejected, blame.handle.node_infos)
    # Filters of equally small cores all have to give way; one that is in every core matters most.
    counts = Counter(each for core in cores for each in core)
    found = [each for each in rejected if isinstance(each, FilterRequirement) and counts[each]]
    rejecting = {each: _rejecting(each.plugin, rejected[each], blame) for each in found}
    blamed = sorted(found, key=lambda each: (-counts[each], lasts(each.plugin, rejecting[each].reasons[0].reason)))
    return tuple(each.plugin for each in blamed), tuple(rejecting[each] for each in blamed)


def _rejected_by_filters(blame: Blame) -> dict[Requirement, frozenset[str]]:
    """Return filter → the nodes that it rejects; a taint that only mirrors a cordon is the cordon's."""
    found = {each: names for each, names in blame.spread.rejected.items() if isinstance(each, FilterRequirement)}
    taints = FilterRequirement(tainttoleration.NAME)
    tainted, cordoned = (found.get(each, frozenset()) for each in (taints, FilterRequirement(nodeunschedulable.NAME)))
    mirrored = {name for name in tainted & cordoned if _mirrors_cordon(name, blame)}
    return {each: names - mirrored if each == taints else names for each, names in found.items()}


def _mirrors_cordon(name: str, blame: Blame) -> bool:
    reason = blame.spread.explainer.of_plugin(tainttoleration.NAME, blame.handle.node_infos[name])
    taints = reason.taints if isinstance(reason, reasons.UntoleratedTaints) else ()
    return all(each.startswith(nodeunschedulable.CORDON.key) for each in taints)


def _rejecting(plugin: str, names: Collection[str], blame: Blame) -> causes.RejectingFilter:
    # What a filter says matters on nodes that no other filter rejects; so do the amounts that are free.
    filters = {name: sum(isinstance(each, FilterRequirement) for each in blame.against[name]) for name in names}
    alone = frozenset(name for name in names if filters[name] == 1)
    names = alone or names if plugin == noderesources.NAME else names
    found = blame.spread.explainer.shared(plugin, names)
    shared = tuple(sorted(found, key=lambda each: -len(alone.intersection(each.nodes))))
    everywhere = len(shared[0].nodes) == len(blame.handle.node_infos)
    return causes.RejectingFilter(plugin=plugin, reasons=shared, everywhere=everywhere)


def _pinned(blame: Blame) -> PinnedDomain | None:
    pinned_by_filters = (each for each in blame.to_blame if each.pinned)
    by_filters_too = any(isinstance(each, FilterRequirement) for each in blame.core)
    pinned_by_both = (each for each in blame.to_blame if by_filters_too and each.shut)
    constraint = next(chain(pinned_by_filters, pinned_by_both), None)
    return None if constraint is None or len(blame.core) == 1 else _pinned_domain(constraint, blame)


def _pinned_domain(constraint: ConstraintDiagnosis, blame: Blame) -> PinnedDomain:
    closed = [domain for domain in constraint.domains if domain.eligible and not domain.allowed]
    full, domains = grouped(closed, lambda domain: domain.matching), constraint.held
    pins = grouped((pin for domain in domains for pin in domain.pinned_by), lambda pin: pin.requirement)
    against = {requirement: [pin.node for pin in each] for requirement, each in pins.items()}
    return PinnedDomain(
        constraint=_blamed(constraint, blame),
        domains=tuple(domain.value for domain in domains),
        nodes=sum(len(domain.nodes) for domain in domains),
        some_uncounted=any(domain.not_counted for domain in domains),
        pins=pinned_nodes(against, blame.spread),
        full=tuple(causes.FullDomains(matching=n, domains=tuple(it.value for it in full[n])) for n in sorted(full)),
        only=len(domains) + len(closed) == sum(domain.eligible for domain in constraint.domains),
        counted=constraint.self_match,
        ignoring=_ignoring(constraint.index, frozenset(name for domain in domains for name in domain.nodes), blame),
    )


def _ignoring(index: int, nodes: frozenset[str], blame: Blame) -> tuple[causes.Policy, ...]:
    """Return the policies of the constraint without which it would count none of the nodes."""
    pod, handle = blame.evaluation.pod, blame.handle
    constraint = _parsed(index, blame)
    known = handle.profile.does(Behaviour.NODE_INCLUSION_POLICIES)
    ignored = [each for each, field in _HONORS.items() if known and not getattr(constraint, field)]

    def needs(*policies: causes.Policy) -> bool:
        honored = msgspec.structs.replace(constraint, **{_HONORS[each]: True for each in policies})
        return nodes.isdisjoint(podtopologyspread.eligible_nodes(honored, pod, handle))

    return tuple(filter(needs, ignored)) or tuple(ignored if needs(*ignored) else ())


def _constraint_alone(blame: Blame) -> causes.AloneCause | None:
    alone = [core for core in blame.spread.cores if len(core) == 1]
    if not alone:
        return None
    others = tuple(each.topology_key for core in alone[1:] for each in blame.constraints_of(core))
    constraint = blame.to_blame[0]
    blamed, eligible = _blamed(constraint, blame), constraint.eligible
    if not constraint.domains:
        return causes.MissingKey(constraint=blamed, also=others)
    if not eligible:
        return causes.NoEligibleDomain(constraint=blamed, also=others, nodes=len(blame.handle.node_infos))
    if len(eligible) < constraint.min_domains:
        return _unmet(constraint, blame, others)
    return causes.DomainsFull(constraint=blamed, also=others, minimum_domains=constraint.minimum_domains)


# What may be the root cause, the one that explains most first.
ORDER: Sequence[Callable[[Blame], AnyCause | None]] = (
    lambda blame: None if blame.nodes else causes.NoNodes(),
    _refused_whole,
    _volume_without_node,
    _waits_for_terminating_pods,
    _misspelt_key,
    _no_selector,
    _ghost_selector,
    _min_domains_unmet,
    _missing_key,
    _daemon_node,
    _filters_alone,
    _pinned,
    _constraint_alone,
    lambda blame: causes.Conflict(requirements=blame.conflicting(blame.core)),
)


def _why_it_blocks(constraint: ConstraintDiagnosis, blame: Blame) -> BlockingReason:
    match blame.cause:
        case causes.WaitsForTerminatingPods() | causes.DaemonNode(filters=()) as root:
            return root
        case causes.GhostSelector(constraint=blamed) as root if blamed.index == constraint.index:
            return root
        case causes.MisspeltKey(topology_key=key) | causes.NoSelector(topology_key=key) as root:
            if key == constraint.topology_key:
                return root
    this = ConstraintRequirement(constraint.index)
    core = next(core for core in blame.spread.cores if this in core)
    alone = len(core) == 1 and _too_few_domains(constraint)
    if alone or _closed_by_min_domains(constraint, blame):
        return _unmet(constraint, blame)
    if constraint.pinned and len(core) > 1:
        return _pinned_domain(constraint, blame)
    return blame.conflicting(each for each in core if each != this)

"""Deletions of one other Pod that is in the way: offered only if no Pod loses its node by it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver import eviction
from kubectl_spread.apiserver.eviction import EvictionRefused
from kubectl_spread.controllers.daemonset import is_of_generation
from kubectl_spread.controllers.deployment import replica_set_of, replica_sets, revision_number
from kubectl_spread.controllers.do_not_evict import kept_because
from kubectl_spread.controllers.next_pod import NextPod, is_of_template, releasing_owner, replacement
from kubectl_spread.controllers.revisions import template_of
from kubectl_spread.controllers.templates import same_template
from kubectl_spread.controllers.workloads import controller_of, is_absent, owner_of, revision_of
from kubectl_spread.diagnosis.fixes import conclusion
from kubectl_spread.diagnosis.fixes.candidate import Candidate, DeletePod, ReplacePod
from kubectl_spread.diagnosis.fixes.proposals import Proposal
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, FilterRequirement, Requirement
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod, ReplicationController
from kubectl_spread.objects.meta import CONFIG_MIRROR
from kubectl_spread.objects.storage import claim_name
from kubectl_spread.objects.workloads import ON_DELETE, DaemonSet, Deployment, ReplicaSet, StatefulSet
from kubectl_spread.scheduler import (
    cycle,
    interpodaffinity,
    nodeports,
    noderesources,
    nodevolumelimits,
    podtopologyspread,
    volumerestrictions,
)
from kubectl_spread.scheduler.affinityterm import readable_terms
from kubectl_spread.scheduler.nodeinfo import NodeInfo, host_ports
from kubectl_spread.simulation.placement import with_placed
from kubectl_spread.snapshot import PodKey

# Controllers that recreate a Pod only once the old one is gone.
ONE_OF_ITS_NAME = frozenset(("StatefulSet", "DaemonSet"))
# Controllers that recreate a deleted Pod from their own template.
RECREATING = (StatefulSet, ReplicaSet, ReplicationController, DaemonSet)
OF_THEIR_NODE = frozenset(("DaemonSet", "Node"))  # Owners whose Pods stay with their node
MOST_TIES = 8  # Nodes of equal score (count) that are tried for the Pending Pod

PodsByKey: TypeAlias = Mapping[PodKey, Pod]


class MovePod(Proposal, frozen=True, kw_only=True):
    """Another Pod is deleted.

    ``ending``: it is being deleted already, and its deletion has to end. ``loses_data``: it has emptyDir volumes.
    ``evicted``: a budget protects it, so that it is evicted, which the API server refuses once the budget is used up.
    """

    cost: int = 2
    namespace: str
    pod: str
    node: str
    ending: bool = False
    loses_data: bool = False
    evicted: bool = False


class RecreatePod(Proposal, frozen=True, kw_only=True):
    """The Pod itself is deleted: its template changed after the Pod was created, or may have.

    ``resumed``: the paused owner whose rollout does that; empty if a command deletes it.
    """

    certain: bool = True
    resumed: str = ""
    namespace: str
    pod: str


class RollBack(Proposal, frozen=True, kw_only=True):
    """The Deployment goes back to an older revision, of which Pods run; ``previous``: it is the one before."""

    owner: str
    revision: int
    previous: bool


def candidates(situation: Situation) -> Iterator[Candidate]:
    """Yield the Pods whose deletion may make room: counted in a full domain, or holding what the Pod needs."""
    snapshot = situation.handle.snapshot
    for pod, place in obstacles(situation):
        if why_not(pod, situation) is None:
            namespace, name = pod.key
            # Pods without an owner are alike too.
            owner = str(owner_of(pod, snapshot)) if pod.metadata.controller else ""
            proposal = MovePod(
                namespace=namespace,
                pod=name,
                node=pod.spec.node_name,
                ending=pod.terminating,
                loses_data=pod.has_empty_dir,
                evicted=bool(eviction.budgets_of(pod, snapshot)) and not eviction.ignores_budgets(pod),
            )
            yield DeletePod(proposal=proposal, obj=pod, group=(namespace, owner, *place))


def stale(situation: Situation) -> Iterator[ReplacePod]:
    """Yield the deletion of the Pod itself, if its owner recreates it from a template that may have changed.

    If no revision shows whether the Pod is older than its template, what the template lacks may come from a webhook.
    """
    pod, snapshot, profile = situation.pod, situation.handle.snapshot, situation.handle.profile
    owner = controller_of(pod, snapshot)
    made_now = situation.written is not None and situation.written.before.get(Pod, *pod.key) is None
    if made_now or situation.bound_for or not isinstance(owner, RECREATING):
        return
    if isinstance(owner, DaemonSet) and owner.spec.update_strategy.type != ON_DELETE:
        return  # Its rollout replaces the Pod.
    released = releasing_owner(pod, snapshot)
    again = replacement(pod, snapshot, profile, by=released)
    is_certain = not is_of_template(pod, again.pod, owner)
    made: list[tuple[NextPod, tuple[str, ...]]] = [(again, ())] if is_certain else []
    if again.from_living and not is_certain:
        # The template may have changed since, and the controller leaves the Pod as it is.
        may_differ = owner.metadata.controller is None and not revision_of(pod)
        if isinstance(owner, DaemonSet):
            held = template_of(owner, revision_of(pod), snapshot)
            same = held and same_template(held, owner.spec.template)
            may_differ = not (same or is_of_generation(pod, owner))
        if may_differ:
            made.append((replacement(pod, snapshot, profile, plain=True), again.from_living))
    for each, lacks in made:
        if not each.refusals:
            namespace, name = pod.key
            resumed = str(owner_of(pod, snapshot)) if isinstance(released, Deployment) else ""
            proposal = RecreatePod(namespace=namespace, pod=name, certain=not lacks, resumed=resumed)
            group = (namespace, name)
            yield ReplacePod(proposal=proposal, obj=pod, again=each, group=group, lacks=lacks, released=released)


def rollbacks(situation: Situation) -> Iterator[ReplacePod]:
    """Yield the return of the Pod's Deployment to its latest older revision of which Pods run.

    Source: kubectl pkg/polymorphichelpers/rollback.go DeploymentRollbacker (v1.36).
    """
    pod, owner, snapshot = situation.pod, situation.patchable_owner, situation.handle.snapshot
    if situation.written or not isinstance(owner, Deployment) or owner.spec.paused:
        return
    sets = sorted(replica_sets(owner, snapshot), key=revision_number, reverse=True)
    at_work = Counter(each.metadata.controller_key for each in situation.running if each.at_work)
    old = next((each for each in sets[1:] if at_work[each.as_controller] and revision_number(each)), None)
    is_newest = situation.is_of_newest_revision and sets[0].as_controller == pod.metadata.controller_key
    if old is None or not is_newest:
        return
    undone = replace(owner, spec=replace(owner.spec, template=old.spec.template))
    again = replacement(pod, snapshot, situation.handle.profile, by=undone)
    if replica_set_of(undone, snapshot) == old and not again.refusals:
        name, number = str(owner_of(pod, snapshot)), revision_number(old)
        # It costs most where most Pods that run are of newer revisions.
        cost = 2 if at_work[old.as_controller] * 2 >= at_work.total() else 4
        proposal = RollBack(owner=name, revision=number, previous=old == sets[1], cost=cost)
        yield ReplacePod(proposal=proposal, obj=pod, again=again, group=pod.key, released=undone)


def obstacles(situation: Situation) -> Iterator[tuple[Pod, tuple[str, ...]]]:
    """Yield each Pod without which a node may be open, and the group of its deletion."""
    seen: set[PodKey] = set()
    found, inventory = Obstacles(situation), situation.handle.snapshot.inventory
    walked: dict[int, PodsByKey] = {}
    for info in situation.nodes_only_against(found.movable):
        pods = found.on(info)
        if id(pods) in walked:  # the Pods of a whole domain, the same on each of its nodes
            continue
        walked[id(pods)] = pods
        for key, pod in sorted(pods.items()):
            # The replacement's node and the budgets depend on all Pods of the namespace.
            if key not in seen and situation.exists(pod) and inventory.has_pods_of(pod.metadata.namespace):
                yield pod, found.place(info)
            seen.add(key)


class Obstacles(msgspec.Struct, frozen=True, dict=True):
    """The Pods that keep the Pod off a node; without one of them the node is open."""

    situation: Situation

    @property
    def movable(self) -> tuple[Requirement, ...]:
        """The requirements that the deletion of a Pod can overcome."""
        constraints = (ConstraintRequirement(counts.constraint.index) for counts in self.situation.counts)
        return (*constraints, *map(FilterRequirement, self._holders))

    def on(self, info: NodeInfo) -> PodsByKey:
        """Return the Pods that are involved in everything that rejects the node."""
        found: PodsByKey | None = None
        for requirement in self.situation.against[info.name]:
            if isinstance(requirement, ConstraintRequirement):
                pods = self._counted_by_node[requirement.index].get(info.name, {})
            else:
                pods = {pod.key: pod for pod in self._holders[requirement.plugin](info)}
            found = pods if found is None else _in_both(*sorted((found, pods), key=len))
            if not found:
                break
        return found or {}

    def place(self, info: NodeInfo) -> tuple[str, ...]:
        """Return the domains that the deletion opens, and the node where it matters: the group of alike deletions."""
        filters = any(isinstance(requirement, FilterRequirement) for requirement in self.situation.against[info.name])
        return (*self.situation.domains_of(info), info.name if filters or not self.situation.domain_keys else "")

    @cached_property
    def _holders(self) -> Mapping[str, Callable[[NodeInfo], Iterable[Pod]]]:
        """Filter that rejects a node because of the Pods on it or near it → those of them that are involved."""
        return {
            nodeports.NAME: self._only_pod_on_port,
            noderesources.NAME: self._pods_large_enough,
            interpodaffinity.NAME: self._kept_apart,
            volumerestrictions.NAME: lambda info: (*info.pods_with_volumes, *self._pods_with_same_claim),
            nodevolumelimits.NAME: lambda info: info.pods_with_volumes,
        }

    def _kept_apart(self, info: NodeInfo) -> Iterable[Pod]:
        """Return the Pod without which no Pod is too near, in each of the node's domains that has such Pods."""
        near = [self._pods_kept_apart[each] for each in info.labels.items() if each in self._pods_kept_apart]
        # If a domain has several, each of them would have to go.
        return reduce(_in_both, near).values() if near and all(len(pods) == 1 for pods in near) else ()

    def _only_pod_on_port(self, info: NodeInfo) -> Sequence[Pod]:
        wanted = host_ports(self.situation.pod)
        found = [pod for pod in info.pods if any(port.conflicts(own) for own in host_ports(pod) for port in wanted)]
        return found if len(found) == 1 else ()

    def _pods_large_enough(self, info: NodeInfo) -> Iterator[Pod]:
        short = noderesources.insufficient(self._resource_state, info)
        # On a node that is too small, all Pods together free too little.
        if any(each.wanted > each.capacity for each in short):
            return
        # On most nodes no Pod is as large as that.
        if any(info.largest_requested.get(each.name, 0) < each.wanted - each.free for each in short):
            return
        for pod in info.pods:
            freed = self.situation.handle.room.requests(pod, info)
            if all(freed.get(each.name, 0) >= each.wanted - each.free for each in short):
                yield pod

    @cached_property
    def _resource_state(self) -> noderesources.State:
        return noderesources.state_of(self.situation.pod, self.situation.handle)

    @cached_property
    def _counted_by_node(self) -> Mapping[int, Mapping[str, PodsByKey]]:
        return {counts.constraint.index: self._by_node(counts) for counts in self.situation.counts}

    def _by_node(self, counts: podtopologyspread.DomainCounts) -> Mapping[str, PodsByKey]:
        """Return node's name → the Pods that the constraint counts in its domain, if one Pod less is enough."""
        constraint, values = counts.constraint, self.situation.handle.index.values(counts.constraint.topology_key)
        enough = {value for value in counts.match_num if counts.skew_if_placed(value) == constraint.max_skew + 1}
        by_value: dict[str, dict[PodKey, Pod]] = {value: {} for value in enough}
        for pod in podtopologyspread.counted_pods(constraint, self.situation.pod, self.situation.handle):
            value = values.get(pod.spec.node_name) if pod.spec.node_name in counts.counted_nodes else None
            if value in by_value:
                by_value[value][pod.key] = pod
        return {name: by_value[value] for name, value in values.items() if value in enough}

    @cached_property
    def _pods_kept_apart(self) -> Mapping[tuple[str, str], PodsByKey]:
        """Topology key and value → the Pods there that must not be near this Pod, or that it must not be near."""
        pod = self.situation.pod
        own = interpodaffinity.with_namespaces(readable_terms(pod), self.situation.handle).anti_affinity
        ours = self.situation.handle.snapshot.namespace_labels(pod.metadata.namespace)
        found: dict[tuple[str, str], dict[PodKey, Pod]] = defaultdict(dict)
        there = ((info, other) for info in self.situation.handle.node_infos.values() for other in info.pods)
        for info, other in there:
            if own or other.spec.affinity is not None:  # most Pods have none
                meant = [term for term in own if term.matches(other, {})]
                meant += [term for term in readable_terms(other).anti_affinity if term.matches(pod, ours)]
                for key in {term.topology_key for term in meant} & info.labels.keys():
                    found[key, info.labels[key]][other.key] = other
        return found

    @cached_property
    def _pods_with_same_claim(self) -> Sequence[Pod]:
        wanted = _claims_of(self.situation.pod)
        assigned = self.situation.handle.snapshot.assigned.values() if wanted else ()
        return [pod for pods in assigned for pod in pods if wanted & _claims_of(pod)]


def _in_both(first: PodsByKey, second: PodsByKey) -> PodsByKey:
    return {key: pod for key, pod in first.items() if key in second}


def _claims_of(pod: Pod) -> set[tuple[str, str]]:
    names = (claim_name(pod, volume) for volume in pod.spec.volumes)
    return {(pod.metadata.namespace, name) for name in names if name}


def why_not(pod: Pod, situation: Situation) -> conclusion.WhyNotDeleted | None:
    """Return why the Pod stays; None if its deletion may be offered."""
    if pod.terminating:
        return ending(pod, situation) or kept_because(pod)
    if kept := kept_because(pod):
        return kept
    snapshot = situation.handle.snapshot
    if not snapshot.inventory.has(kinds.POD_DISRUPTION_BUDGET):
        return conclusion.BudgetsNotRead()
    message = eviction.refusal(pod, snapshot)
    return EvictionRefused(message) if message else None


def is_of_its_node(pod: Pod) -> bool:
    """Whether the Pod belongs to its node, as daemons and static Pods do: deleting those is never considered."""
    owners = {owner.kind for owner in pod.metadata.owner_references}
    return bool(owners & OF_THEIR_NODE) or CONFIG_MIRROR in pod.metadata.annotations


def ending(pod: Pod, situation: Situation) -> conclusion.Ending | None:
    """Return that the kubelet ends a Pod that is being deleted; None if it does not, or only finalizers keep the Pod.

    If the kubelet does not answer, nothing ends it. After the grace period, finalizers may keep the Pod forever.
    """
    info = situation.handle.node_infos.get(pod.spec.node_name)
    if not pod.terminating or info is None or not info.node.answers:
        return None
    metadata = pod.metadata
    grace = metadata.deletion_grace_period_seconds
    until = metadata.deletion_timestamp or ""
    over = grace == 0 or until < situation.now
    if metadata.finalizers and over:
        return None
    return conclusion.Ending(grace_seconds=grace or 0, over_since=until * over, finalizers=tuple(metadata.finalizers))


def settled(move: DeletePod, after: Situation) -> DeletePod | None:
    """Return the deletion with what happens to the Pod; None if the Pod that replaces it finds no node.

    ``after``: the Pending Pod, in the cluster without the deleted one.
    """
    moved = move.obj
    controller, snapshot = moved.metadata.controller, after.handle.snapshot
    recreated = controller is not None and not is_absent(controller, moved.metadata.namespace, snapshot)
    replaced = recreated and (not moved.terminating or moved.metadata.controller_kind in ONE_OF_ITS_NAME)
    if replaced and not has_successor(moved, after):
        return None
    if moved.terminating:
        finalizers = moved.metadata.finalizers
        held = conclusion.HeldByFinalizers(finalizers) if finalizers else None
        return replace(move, after=held or conclusion.Outlook.NODE_SILENT)
    if not recreated:
        return replace(move, after=conclusion.Outlook.GONE_FOR_GOOD)
    owner = str(owner_of(moved, snapshot))
    return replace(move, after=conclusion.Recreated(owner=owner, may_be_first=_may_be_overtaken(moved, after)))


def _may_be_overtaken(moved: Pod, after: Situation) -> bool:
    """Whether the Pending Pod may find no node if the Pod that replaces the deleted one is scheduled first.

    A rejected Pod is in back-off, and the deletion itself may get it tried and rejected once more.

    Source: pkg/scheduler/backend/queue/scheduling_queue.go AddUnschedulableIfNotPresent, requeuePodWithQueueingStrategy
    (v1.36).
    """
    successor = replacement(moved, after.handle.snapshot, after.handle.profile)
    handle = successor.place(after.handle)
    firsts = cycle.best_nodes(successor.pod, handle)[:MOST_TIES]
    return not all(cycle.feasible_node(after.pod, with_placed(successor.pod, node, handle)) for node in firsts)


def has_successor(moved: Pod, after: Situation) -> bool:
    """Whether the Pod that replaces the deleted one finds a node, once the Pending Pod has its own.

    The scheduler takes any node of the highest score, so all ties are tried for the Pending Pod.
    """
    for node_name in cycle.best_nodes(after.pod, after.handle)[:MOST_TIES]:
        handle = with_placed(after.pod, node_name, after.handle)
        successor = replacement(moved, handle.snapshot, handle.profile)
        if successor.refusals or not cycle.feasible_node(successor.pod, successor.place(handle)):
            return False
    return True

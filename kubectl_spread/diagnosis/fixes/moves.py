"""One Pod moved out of the way: offered only where nobody is worse off for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from typing import TypeAlias

import msgspec

from kubectl_spread.apiserver import eviction
from kubectl_spread.controllers.next_pod import replacement
from kubectl_spread.controllers.workloads import owner_of
from kubectl_spread.diagnosis.fixes.candidate import Candidate, DeletePod
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, FilterRequirement, Requirement
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod
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
from kubectl_spread.scheduler.claims import claim_name
from kubectl_spread.scheduler.framework import Handle, NodeInfo

HOLDERS = tuple(
    plugin.NAME for plugin in (nodeports, noderesources, interpodaffinity, volumerestrictions, nodevolumelimits)
)
"""Filters that reject a node because of Pods that are there already."""

ONE_OF_ITS_NAME = frozenset(("StatefulSet", "DaemonSet"))
"""Controllers that make a Pod again only once the old one is gone."""

PodKey: TypeAlias = tuple[str, str]
PodsByKey: TypeAlias = Mapping[PodKey, Pod]


def candidates(situation: Situation) -> Iterator[Candidate]:
    """Yield the Pods whose deletion may make room: counted in a crowded domain, or holding what the Pod needs."""
    seen: set[PodKey] = set()
    obstacles = Obstacles(situation)
    for info in situation.nodes_only_against(obstacles.movable):
        for key, pod in sorted(obstacles.on(info).items()):
            if key not in seen and _may_go(pod, situation):
                yield _move(pod, situation, place=obstacles.place(info))
            seen.add(key)


class Obstacles(msgspec.Struct, frozen=True, dict=True):
    """Which Pods keep a Pod off a node, so that the node is open without one of them.

    Attributes:
        situation: the Pod and the cluster.
    """

    situation: Situation

    @property
    def movable(self) -> tuple[Requirement, ...]:
        """What can be overcome by moving Pods."""
        constraints = (ConstraintRequirement(counts.constraint.index) for counts in self.situation.counts)
        return (*constraints, *map(FilterRequirement, HOLDERS))

    def on(self, info: NodeInfo) -> PodsByKey:
        """Return the Pods that have to do with everything that rejects the node."""
        each = [self._of_requirement(requirement, info) for requirement in self.situation.against[info.name]]
        return reduce(_both, sorted(each, key=len))

    def place(self, info: NodeInfo) -> tuple[str, ...]:
        """Return what makes moves alike: the domains that are opened, and the node where it matters."""
        filters = any(isinstance(requirement, FilterRequirement) for requirement in self.situation.against[info.name])
        return (*self.situation.domains_of(info), info.name if filters or not self.situation.domain_keys else "")

    def _of_requirement(self, requirement: Requirement, info: NodeInfo) -> PodsByKey:
        """Return the Pods by which the requirement rejects the node."""
        if isinstance(requirement, ConstraintRequirement):
            return self._counted[requirement.index].get(info.name, {})
        on_node = {pod.key: pod for pod in info.pods}
        if requirement.plugin == interpodaffinity.NAME:
            return {pod.key: pod for key, value, pod in self._apart if info.labels.get(key) == value}
        if requirement.plugin == volumerestrictions.NAME:
            return {**on_node, **self._with_same_claim}
        return on_node

    @cached_property
    def _counted(self) -> Mapping[int, Mapping[str, PodsByKey]]:
        """Constraint's index → node's name → the Pods counted in its domain."""
        return {counts.constraint.index: self._by_node(counts) for counts in self.situation.counts}

    def _by_node(self, counts: podtopologyspread.DomainCounts) -> Mapping[str, PodsByKey]:
        """Return node's name → the Pods that one constraint counts in its domain, where one less is enough."""
        constraint, values = counts.constraint, self.situation.handle.index.values(counts.constraint.topology_key)
        enough = {value for value in counts.match_num if counts.skew_if_placed(value) == constraint.max_skew + 1}
        by_value: dict[str, dict[PodKey, Pod]] = {value: {} for value in enough}
        for pod in podtopologyspread.counted_pods(constraint, self.situation.pod, self.situation.handle):
            value = values.get(pod.spec.node_name) if pod.spec.node_name in counts.counted_nodes else None
            if value in by_value:
                by_value[value][pod.key] = pod
        return {name: by_value[value] for name, value in values.items() if value in enough}

    @cached_property
    def _apart(self) -> Sequence[tuple[str, str, Pod]]:
        """Topology key, value and Pod, for each Pod that must not be near this one, or this one near it."""
        pod, own = self.situation.pod, readable_terms(self.situation.pod).anti_affinity
        labels_of = self.situation.handle.snapshot.namespace_labels
        ours = labels_of(pod.metadata.namespace)
        found: list[tuple[str, str, Pod]] = []
        for info in self.situation.handle.node_infos.values():
            for other in info.pods:
                meant = [term for term in own if term.matches(other, labels_of(other.metadata.namespace))]
                meant += [term for term in readable_terms(other).anti_affinity if term.matches(pod, ours)]
                keys = {term.topology_key for term in meant} & info.labels.keys()
                found += [(key, info.labels[key], other) for key in keys]
        return found

    @cached_property
    def _with_same_claim(self) -> PodsByKey:
        """The Pods on nodes that use a claim of the Pod's."""
        wanted = _claims(self.situation.pod)
        assigned = self.situation.handle.snapshot.assigned.values() if wanted else ()
        return {pod.key: pod for pods in assigned for pod in pods if wanted & _claims(pod)}


def _both(first: PodsByKey, second: PodsByKey) -> PodsByKey:
    """Return the Pods that are in both."""
    return {key: pod for key, pod in first.items() if key in second}


def _claims(pod: Pod) -> set[tuple[str, str]]:
    """Return the claims that the Pod uses, by namespace and name."""
    names = (claim_name(pod, volume) for volume in pod.spec.volumes)
    return {(pod.metadata.namespace, name) for name in names if name}


def _may_go(pod: Pod, situation: Situation) -> bool:
    """Whether the Pod can be deleted at all: not a static one, and within its disruption budgets."""
    if any(owner.kind == "Node" for owner in pod.metadata.owner_references):
        return False
    snapshot = situation.handle.snapshot
    if not snapshot.inventory.has(kinds.POD_DISRUPTION_BUDGET):
        return pod.terminating
    return not eviction.refusal(pod, snapshot)


def _move(pod: Pod, situation: Situation, *, place: Iterable[str]) -> Candidate:
    """Return the deletion of the Pod; Pods that nobody owns are alike too."""
    owner = str(owner_of(pod, situation.handle.snapshot))
    kind = owner if pod.metadata.controller else ""
    return DeletePod(
        id="MovePod",
        cost=2,
        summary=f"delete the Pod {pod.metadata.namespace}/{pod.metadata.name} on {pod.spec.node_name}",
        pod=pod,
        group=(pod.metadata.namespace, kind, *place),
        caution=_caution(pod, owner),
    )


def _caution(pod: Pod, owner: str) -> str:
    """Return what to know before the Pod is deleted."""
    again = "nothing makes it again" if pod.metadata.controller is None else f"{owner} makes it again, elsewhere"
    if not pod.terminating:
        return again
    if pod.metadata.finalizers:
        names = ", ".join(pod.metadata.finalizers)
        return f"it is being deleted and waits for its finalizers {names}: whoever set them has to let go of it"
    return "it is being deleted already: make sure its node is gone before forcing it"


def leaves_fewer_pending(moved: Pod, after: Situation) -> bool:
    """Whether both find a node: the Pending Pod, and then the one that takes the place of the moved one.

    Args:
        moved: the Pod that was deleted.
        after: the Pending Pod, in the cluster without the moved one.
    """
    controller = moved.metadata.controller
    if controller is None or (moved.terminating and controller.kind not in ONE_OF_ITS_NAME):
        return True
    handle = after.handle.with_assigned(after.pod, after.feasible[0])
    made = replacement(moved, handle.snapshot, handle.profile)
    return not made.refusals and bool(cycle.feasible_nodes(made.pod, made.place(handle)))


def placed(pods: Iterable[Pod], handle: Handle) -> int:
    """Return how many of the Pods find a node, placed one after another (count)."""
    count = 0
    refused: set[bytes] = set()
    for pod in pods:
        kind = msgspec.json.encode((pod.metadata.namespace, pod.metadata.labels, pod.spec))
        feasible = () if kind in refused else cycle.feasible_nodes(pod, handle)
        if feasible:
            handle = handle.with_assigned(pod, feasible[0])
            count += 1
            refused.clear()
        else:
            refused.add(kind)
    return count

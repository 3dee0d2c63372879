"""Why filters reject a Pod's nodes, for one node and for nodes with the same reason.

That is also which other Pods and volumes keep it off a node, and which volumes no node can use.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import TypeAlias

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.controllers.statefulset import claims_of as claims_made_by
from kubectl_spread.controllers.workloads import PodName, controller_of, owner_of
from kubectl_spread.diagnosis import reasons
from kubectl_spread.diagnosis.causes import VolumeWithoutNode
from kubectl_spread.labels import Operator
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import NodeSelectorRequirement, NodeSelectorTerm, Pod
from kubectl_spread.objects.meta import grouped
from kubectl_spread.objects.storage import PersistentVolume, PersistentVolumeClaim, StorageClass, claim_name
from kubectl_spread.objects.well_known_labels import HOSTNAME, SUCCESSORS, ZONE
from kubectl_spread.objects.workloads import StatefulSet
from kubectl_spread.scheduler import (
    dynamicresources,
    interpodaffinity,
    nodeaffinity,
    nodename,
    nodeports,
    noderesources,
    nodeunschedulable,
    nodevolumelimits,
    resource,
    tainttoleration,
    volumerestrictions,
)
from kubectl_spread.scheduler.affinityterm import AffinityTerm, PodTerms, readable_terms
from kubectl_spread.scheduler.claims import CLASS, claim_named, claims_of, not_found
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.nodeindex import NodeIndex
from kubectl_spread.scheduler.nodeinfo import NodeInfo, host_ports
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.scheduler.volumebinder import (
    REASON_BIND_CONFLICT,
    REASON_NOT_ENOUGH_SPACE,
    PodVolumeClaims,
    WaitingClaim,
    find_pod_volumes,
    pod_volume_claims,
)
from kubectl_spread.scheduler.volumebinding import OF_VOLUMES
from kubectl_spread.scheduler.volumezone import volume_topologies
from kubectl_spread.snapshot import Snapshot

# The message of the controller's event for a claim without a StorageClass.
NO_CLASS = "no persistent volumes available for this claim and no storage class is set"


class Neighbours(msgspec.Struct, frozen=True, dict=True):
    """The Pods and volumes around one Pod."""

    pod: Pod
    handle: Handle

    def port_holders(self, node_info: NodeInfo) -> reasons.PortsInUse | None:
        """Return which Pods hold the host ports that the Pod needs; None if no Pod does."""
        wanted = host_ports(self.pod)
        holders = []
        for other in node_info.pods:
            taken = (port for port in host_ports(other) if any(port.conflicts(own) for own in wanted))
            ports = tuple(f"{port.number}/{port.protocol}" for port in sorted(taken, key=lambda port: port.number))
            if ports:
                owner = owner_of(other, self.handle.snapshot)
                holders.append(reasons.PortHolder(pod=PodName.of(other), owner=owner, ports=ports))
        return reasons.PortsInUse(holders=tuple(holders)) if holders else None

    def affinity(self, node_info: NodeInfo) -> reasons.AnyReason | None:
        """Return which Pod keeps this one away, or which one is missing: the first reason found."""
        return next(self._affinity_reasons(node_info), None)

    def _affinity_reasons(self, node_info: NodeInfo) -> Iterator[reasons.AnyReason]:
        """Yield the reasons against the node in upstream's order (interpodaffinity/filtering.go Filter, v1.36)."""
        for term in self._terms.affinity:
            if term.topology_key not in node_info.labels:
                yield reasons.MissingTopologyLabel(topology_key=term.topology_key)
            elif node_info.labels[term.topology_key] not in self._pods_of_own_terms[term]:
                yield reasons.NoPodToBeNear(selector=str(term.selector), topology_key=term.topology_key)
        for term in self._terms.anti_affinity:
            other = self._pods_of_own_terms[term].get(node_info.labels.get(term.topology_key, ""))
            if other is not None:
                yield reasons.AvoidedPod(pod=PodName.of(other), topology_key=term.topology_key)
        for term, keepers in self._pods_keeping_off.items():
            keeper = keepers.get(node_info.labels.get(term.topology_key, ""))
            if keeper is not None:
                yield reasons.RejectedByPod(pod=PodName.of(keeper), topology_key=term.topology_key)

    @cached_property
    def _terms(self) -> PodTerms:
        return interpodaffinity.with_namespaces(readable_terms(self.pod), self.handle)

    @cached_property
    def _pods_of_own_terms(self) -> Mapping[AffinityTerm, Mapping[str, Pod]]:
        """The Pod's own terms → topology value → a Pod that it must be near, or must not be near."""
        return {
            term: self._first_in_domain(term, self._matching_pods(term))
            for term in (*self._terms.affinity, *self._terms.anti_affinity)
        }

    @cached_property
    def _pods_keeping_off(self) -> Mapping[AffinityTerm, Mapping[str, Pod]]:
        """Anti-affinity terms of other Pods that match this one → topology value → a Pod with the term."""
        labels, existing = (
            self.handle.snapshot.namespace_labels(self.pod.metadata.namespace),
            self.handle.existing_terms,
        )
        found: dict[AffinityTerm, Mapping[str, Pod]] = {}
        for term in (term for term in existing.anti_affinity if term.matches(self.pod, labels)):
            near = (pod for name in existing.anti_affinity[term] for pod in self.handle.node_infos[name].pods)
            having = (pod for pod in near if pod.spec.affinity and term in readable_terms(pod).anti_affinity)
            found[term] = self._first_in_domain(term, having)
        return found

    def _matching_pods(self, term: AffinityTerm) -> Iterator[Pod]:
        for namespace in self.handle.snapshot.by_labels:
            if term.covers(namespace, {}):  # as the scheduler does: the labels of namespaces were resolved to names
                yield from self.handle.snapshot.matching_pods(namespace, term.selector)

    def _first_in_domain(self, term: AffinityTerm, pods: Iterable[Pod]) -> dict[str, Pod]:
        found: dict[str, Pod] = {}
        for pod in pods:
            info = self.handle.node_infos.get(pod.spec.node_name)
            value = info.labels.get(term.topology_key) if info else None
            if value is not None:
                found.setdefault(value, pod)
        return found

    def volumes(self, node_info: NodeInfo) -> reasons.UnusableClaims | None:
        """Return the Pod's claims, with their volumes or why none is provisioned for the node; None without claims."""
        claims = tuple(
            replace(claim, unmet=self._unmet_claim(waiting, node_info)) if waiting else claim
            for claim, waiting in self._claims
        )
        return reasons.UnusableClaims(claims=claims) if claims else None

    @cached_property
    def _claims(self) -> tuple[tuple[reasons.ClaimState, WaitingClaim | None], ...]:
        """The state of each claim, in the Pod's order, and the claim if the node decides about its volume."""
        claims: list[tuple[reasons.ClaimState, WaitingClaim | None]] = []
        for volume in self.pod.spec.volumes:
            name = claim_name(self.pod, volume)
            if not name:
                continue
            claim = claim_named(self.pod, name, self.handle.snapshot)
            if claim is not None and claim.spec.volume_name:
                bound_to = claim.spec.volume_name
                found = self.handle.snapshot.get(PersistentVolume, "", bound_to)
                affinity = found.spec.node_affinity.required if found and found.spec.node_affinity else None
                terms = affinity.node_selector_terms if affinity else ()
                usable_in = tuple(condition.values for term in terms for condition in term.match_expressions)
                state = reasons.ClaimState(name=name, volume=bound_to, usable_in=usable_in)
                if not claim.fully_bound:
                    absent = found is None and self.handle.snapshot.inventory.has_all(kinds.PERSISTENT_VOLUME)
                    state = replace(state, awaits="MissingVolume" if absent else "Binding")
                claims.append((state, None))
            else:
                state = reasons.ClaimState(name=name, message=self._no_provisioning_message(claim))
                claims.append((state, self._waiting_claims.get(name)))
        return tuple(claims)

    @cached_property
    def _waiting_claims(self) -> Mapping[str, WaitingClaim]:
        """Claim's name → the claim, of those bound when the Pod is scheduled; empty while another is not bound."""
        found = pod_volume_claims(claims_of(self.pod, self.handle.snapshot), self.handle)
        waiting = () if found.immediate else (*found.selected, *found.waiting)
        return {each.claim.metadata.name: each for each in waiting if not each.problem}

    def _unmet_claim(self, waiting: WaitingClaim, node_info: NodeInfo) -> reasons.UnmetClaim | None:
        """Return why the claim gets no volume on the node; None if it alone would.

        Source: volumebinding/binder.go FindPodVolumes, checkVolumeProvisions (v1.36).
        """
        selected, storage_class = waiting.selected_node, waiting.claim.class_name
        if selected is not None and selected != node_info.name:
            exists = selected in self.handle.node_infos
            return reasons.UnmetClaim(
                reason="MadeElsewhere", storage_class=storage_class, node=selected, node_exists=exists
            )
        alone = PodVolumeClaims(waiting=(waiting,)) if selected is None else PodVolumeClaims(selected=(waiting,))
        against = find_pod_volumes(alone, node_info, self.handle).reasons
        if REASON_NOT_ENOUGH_SPACE in against:
            return reasons.UnmetClaim(reason="TooLittleStorage", storage_class=storage_class)
        if REASON_BIND_CONFLICT not in against:
            return None
        elsewhere = bool(waiting.provisioning.topologies)
        return reasons.UnmetClaim(reason="NoVolume", storage_class=storage_class, makes_elsewhere=elsewhere)

    def _no_provisioning_message(self, claim: PersistentVolumeClaim | None) -> str:
        """Return the message of the claim's events if nothing provisions a volume for it; empty if something may.

        Source: pkg/controller/volume/persistentvolume/pv_controller.go syncUnboundClaim (v1.36).
        """
        snapshot = self.handle.snapshot
        if claim is None or not snapshot.inventory.has(kinds.STORAGE_CLASS):
            return ""
        if claim.class_name:
            known = snapshot.get(StorageClass, "", claim.class_name) is not None
            return "" if known else not_found(CLASS, claim.class_name)
        if claim.wants_default_class and any(each.is_default for each in snapshot.all(StorageClass)):
            return ""  # The controller is about to set the default class.
        return NO_CLASS

    @cached_property
    def single_users(self) -> reasons.ClaimsInUse | None:
        """Which other Pods hold claims of the Pod that only one Pod may use, on any node."""
        single = volumerestrictions.single_use_claims(self.pod, self.handle)
        holders = tuple(
            reasons.ClaimHolder(
                claim=name,
                pod=PodName.of(other),
                node=info.name,
                deleted=other.terminating,
                node_silent=not info.node.answers,
            )
            for info in (self.handle.node_infos.values() if single else ())
            for other in info.pods
            if other.metadata.namespace == self.pod.metadata.namespace
            for name in volumerestrictions.claim_names(other)
            if name in single
        )
        return reasons.ClaimsInUse(holders=holders) if holders else None


def missing_claims(pod: Pod, snapshot: Snapshot) -> Iterator[str]:
    """Yield the claims of the Pod that do not exist and that no controller creates, by name."""
    owner = controller_of(pod, snapshot)
    made = {each.metadata.name for each in claims_made_by(owner, pod)} if isinstance(owner, StatefulSet) else set()
    for volume in pod.spec.volumes if snapshot.inventory.has(kinds.PERSISTENT_VOLUME_CLAIM) else ():
        name = claim_name(pod, volume) if volume.persistent_volume_claim else None
        if name and name not in made and claim_named(pod, name, snapshot) is None:
            yield name


def volumes_without_node(pod: Pod, handle: Handle) -> Iterator[VolumeWithoutNode]:
    """Yield each volume of the Pod's claims that no node can use because none has a label with the right value."""
    for claim in claims_of(pod, handle.snapshot):
        volume = handle.snapshot.get(PersistentVolume, "", claim.spec.volume_name)
        key, values = (volume and _missing_label(volume, handle.index)) or ("", ())
        if volume and values:
            name, volume_name = claim.metadata.name, volume.metadata.name
            yield VolumeWithoutNode(claim=name, volume=volume_name, topology_key=key, values=values)


def place_of(volume: PersistentVolume, nodes: Collection[str], index: NodeIndex) -> tuple[str, tuple[str, ...]] | None:
    """Return a label and the values of it that the volume needs and that exactly these nodes have; None if none is so.

    The labels of zones and nodes come before that of a driver.
    """
    affinity = volume.spec.node_affinity
    terms = affinity.required.node_selector_terms if affinity and affinity.required else ()
    needed = [(each.key, each.values) for each in terms[0].match_expressions] if len(terms) == 1 else []
    needed += [(each.key, tuple(sorted(each.values))) for each in volume_topologies(volume)]
    places = ((at, values) for key, values in needed for at in (ZONE, HOSTNAME, key))

    def having(key: str, values: Iterable[str]) -> set[str]:
        return {name for value in values for name in index.domains(key).get(value, ())}

    return next((place for place in places if having(*place) == nodes), None)


def _missing_label(volume: PersistentVolume, index: NodeIndex) -> tuple[str, tuple[str, ...]] | None:
    """Return a label and the values that the volume needs and no node has; None if some node may do."""
    affinity = volume.spec.node_affinity
    terms = affinity.required.node_selector_terms if affinity and affinity.required else ()
    # All terms must need a value that no node has.
    unmet = [_unmet_expression(term, index) for term in terms]
    if unmet and all(unmet) and len({each.key for each in unmet if each}) == 1:
        first = next(each for each in unmet if each)
        return first.key, tuple(dict.fromkeys(value for each in unmet if each for value in each.values))
    for topology in volume_topologies(volume):
        keys = (topology.key, SUCCESSORS.get(topology.key, topology.key))
        if topology.values.isdisjoint(value for key in keys for value in index.domains(key)) and index.values(keys[1]):
            return topology.key, tuple(sorted(topology.values))
    return None


def _unmet_expression(term: NodeSelectorTerm, index: NodeIndex) -> NodeSelectorRequirement | None:
    wanted = (each for each in term.match_expressions if each.operator == Operator.IN)
    return next((each for each in wanted if not any(value in index.domains(each.key) for value in each.values)), None)


# What nodes with one reason have in common: the reason, the names of short resources, or the host ports in use.
Alike: TypeAlias = reasons.AnyReason | tuple[tuple[str, bool], ...] | frozenset[tuple[str, ...]] | None


class Explainer(msgspec.Struct, frozen=True, dict=True):
    """Explains why nodes reject one Pod."""

    handle: Handle
    evaluation: Evaluation

    def of_plugin(self, plugin: str, node_info: NodeInfo) -> reasons.AnyReason | None:
        """Return why the filter plugin rejects the node; None if only its own reasons are known."""
        asked = (plugin, node_info.name)
        if asked not in self._known:
            self._known[asked] = self._explain(plugin, node_info)
        return self._known[asked]

    @cached_property
    def _known(self) -> dict[tuple[str, str], reasons.AnyReason | None]:
        """Plugin and node's name → why. Each node is asked for twice: with its domain and with its name."""
        return {}

    def _explain(self, plugin: str, node_info: NodeInfo) -> reasons.AnyReason | None:
        broken = self.evaluation.broken
        if broken is not None and broken.plugin == plugin:
            return None
        if nominated := self._nominated_pods(plugin, node_info):
            return reasons.KeptForNominated(pods=tuple(map(PodName.of, nominated)))
        explain = self._by_plugin.get(plugin)
        return explain(node_info) if explain else None

    def shared(self, plugin: str, node_names: Iterable[str]) -> list[reasons.SharedReason]:
        """Return why the filter plugin rejects these nodes, grouped by reason, the largest group first."""
        every = map(self.handle.node_infos.__getitem__, sorted(node_names))
        alike = grouped(every, lambda info: self._grouping_key(plugin, info))
        found = [
            reasons.SharedReason(
                reason=self._merged(plugin, like, infos),
                nodes=tuple(info.name for info in infos),
            )
            for like, infos in alike.items()
        ]
        return sorted(found, key=lambda each: -len(each.nodes))

    def _merged(self, plugin: str, like: Alike, infos: Sequence[NodeInfo]) -> reasons.AnyReason | None:
        """Return the reason of nodes that have this in common."""
        if isinstance(like, tuple):
            return self._short_resources(infos, shared=True)
        if isinstance(like, frozenset):
            found = (self.of_plugin(plugin, info) for info in infos)
            in_use = (each.holders for each in found if isinstance(each, reasons.PortsInUse))
            return reasons.PortsInUse(holders=tuple(chain.from_iterable(in_use)))
        return like

    def _grouping_key(self, plugin: str, node_info: NodeInfo) -> Alike:
        """Return what nodes with one reason have in common: the short resources, not the amounts; the ports in use."""
        if plugin == noderesources.NAME and not self._nominated_pods(plugin, node_info):
            found = noderesources.insufficient(self._state, node_info)
            short = sorted((each.name, not each.capacity) for each in found)
            return ((resource.PODS, False), *short) if noderesources.is_full(node_info) else tuple(short)
        reason = self.of_plugin(plugin, node_info)
        if isinstance(reason, reasons.MissingLabel):
            return replace(reason, has=UNSET)
        if isinstance(reason, reasons.PortsInUse):
            return frozenset(each.ports for each in reason.holders)
        return reason

    def _nominated_pods(self, plugin: str, node_info: NodeInfo) -> tuple[Pod, ...]:
        """Return the nominated Pods without which the plugin would not reject the node."""
        if not self.handle.snapshot.nominated:  # almost always, on each of thousands of nodes
            return ()
        rejections = self.evaluation.nodes[node_info.name].rejections
        return next((rejection.nominated for rejection in rejections if rejection.plugin == plugin), ())

    @cached_property
    def _state(self) -> noderesources.State:
        return noderesources.state_of(self.evaluation.pod, self.handle)

    @cached_property
    def _by_plugin(self) -> Mapping[str, Callable[[NodeInfo], reasons.AnyReason | None]]:
        """Plugin → the function that explains why it rejects a node."""
        pod = self.evaluation.pod
        neighbours = Neighbours(pod, self.handle)
        return {
            tainttoleration.NAME: partial(_untolerated_taints, pod),
            nodeunschedulable.NAME: lambda _: reasons.Cordoned(),
            nodename.NAME: lambda _: reasons.OtherNodeNamed(node=pod.spec.node_name),
            nodeaffinity.NAME: partial(_unmet_affinity, pod),
            nodeports.NAME: neighbours.port_holders,
            interpodaffinity.NAME: neighbours.affinity,
            **dict.fromkeys(OF_VOLUMES, neighbours.volumes),
            volumerestrictions.NAME: lambda _: neighbours.single_users,
            noderesources.NAME: lambda info: self._short_resources([info], shared=False),
            nodevolumelimits.NAME: self._volume_limit,
            dynamicresources.NAME: self._missing_devices,
        }

    def _short_resources(self, infos: Sequence[NodeInfo], *, shared: bool) -> reasons.InsufficientResources | None:
        """Return each resource that all these nodes are short of, with the most that is free on any of them.

        A reason that several nodes share has no amounts of one node.
        """
        first, *others = infos
        most = {each.name: each for each in noderesources.insufficient(self._state, first)}
        largest = {name: each.capacity for name, each in most.items()}
        for info in others:
            for each in noderesources.insufficient(self._state, info):
                most[each.name] = max(most[each.name], each, key=lambda short: short.free)
                largest[each.name] = max(largest[each.name], each.capacity)
        full = noderesources.is_full(first)
        if not (full or most):
            return None
        # Pods that were not read take more of a node.
        at_most = bool(others) or first.name in self.handle.snapshot.inventory.not_read
        short = [
            reasons.ShortResource(
                name=name,
                asked=resource.readable(name, each.wanted),
                free=resource.readable(name, max(each.free, 0)),
                at_most=at_most and each.free > 0,
                allocatable="" if shared and each.capacity else resource.readable(name, each.capacity),
                most=resource.readable(name, largest[name]) if 0 < largest[name] < each.wanted else "",
            )
            for name, each in sorted(most.items())
        ]
        return reasons.InsufficientResources(
            full=full,
            pods=len(first.pods) if full and not shared else None,
            allocatable_pods=first.allocatable.get(resource.PODS, 0) if full and not shared else None,
            resources=tuple(short),
        )

    @cached_property
    def _volumes(self) -> nodevolumelimits.State:
        return nodevolumelimits.state_of(self.evaluation.pod, self.handle)

    def _volume_limit(self, node_info: NodeInfo) -> reasons.VolumeLimitReached | None:
        found = nodevolumelimits.exceeded(self._volumes, node_info)
        if not isinstance(found, nodevolumelimits.Exceeded):
            return None
        return reasons.VolumeLimitReached(
            driver=found.driver, attached=found.attached, requested=found.added, limit=found.limit
        )

    def _missing_devices(self, node_info: NodeInfo) -> reasons.MissingDevices | None:
        rejections = self.evaluation.nodes[node_info.name].rejections
        found = next((each.status.reasons for each in rejections if each.plugin == dynamicresources.NAME), ())
        if not any(found):
            return None
        missing = dynamicresources.missing_templates(self.evaluation.pod, self.handle.snapshot)
        return reasons.MissingDevices(reasons=found, missing_templates=missing)


def _untolerated_taints(pod: Pod, node_info: NodeInfo) -> reasons.UntoleratedTaints:
    numeric = node_info.profile.does(Behaviour.NUMERIC_TOLERATIONS)
    found = [*tainttoleration.Untolerated(pod.spec.tolerations, numeric).taints(node_info.node)]
    # Cordoned has its own reason.
    others = [
        each for each in found if not (node_info.node.spec.unschedulable and each.key == nodeunschedulable.CORDON.key)
    ]
    by_key = grouped(others or found, lambda taint: (taint.key, taint.value))
    return reasons.UntoleratedTaints(taints=tuple(str(taint) for taints in by_key.values() for taint in taints))


def _unmet_affinity(pod: Pod, node_info: NodeInfo) -> reasons.AnyReason:
    """Return the first unmet condition: a nodeSelector label, or the terms of which none holds."""
    labels = node_info.labels
    for key, value in sorted(pod.spec.node_selector.items()):
        if labels.get(key) != value:
            return reasons.MissingLabel(key=key, value=value, has=labels.get(key))
    required = pod.spec.required_nodes
    if required is None or nodeaffinity.RequiredNodeAffinity.of(pod).matches(node_info.node):
        return reasons.UnmetAddedAffinity()
    return reasons.UnmetNodeAffinity(terms=required.node_selector_terms)

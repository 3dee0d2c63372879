"""Which other Pods and volumes keep a Pod off a node, and which volumes no node can use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.diagnosis import reasons
from kubectl_spread.diagnosis.causes import VolumeWithoutNode
from kubectl_spread.labels import Operator
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import NodeSelectorRequirement, NodeSelectorTerm, Pod
from kubectl_spread.objects.storage import PersistentVolume, PersistentVolumeClaim, StorageClass, claim_name
from kubectl_spread.objects.well_known_labels import SUCCESSORS
from kubectl_spread.scheduler import volumerestrictions
from kubectl_spread.scheduler.affinityterm import AffinityTerm, PodTerms, readable_terms
from kubectl_spread.scheduler.claims import CLASS, claim_named, claims_of, not_found
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.nodeindex import NodeIndex
from kubectl_spread.scheduler.nodeinfo import NodeInfo, host_ports
from kubectl_spread.scheduler.volumebinder import (
    REASON_BIND_CONFLICT,
    REASON_NOT_ENOUGH_SPACE,
    PodVolumeClaims,
    WaitingClaim,
    find_pod_volumes,
    pod_volume_claims,
)
from kubectl_spread.scheduler.volumezone import volume_topologies

NO_CLASS = "no persistent volumes available for this claim and no storage class is set"
"""The message of the controller's event for a claim without a StorageClass."""


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
            holders += [reasons.PortHolder(pod=PodName.of(other), ports=ports)] if ports else []
        return reasons.PortsInUse(holders=tuple(holders)) if holders else None

    def affinity(self, node_info: NodeInfo) -> reasons.AnyReason | None:
        """Return which Pod keeps this one away, or which one is missing: the first reason found."""
        return next(self._affinity_reasons(node_info), None)

    def _affinity_reasons(self, node_info: NodeInfo) -> Iterator[reasons.AnyReason]:
        """Yield the reasons against the node: Pods that reject this one first, as they have a name."""
        for term, keepers in self._pods_keeping_off.items():
            keeper = keepers.get(node_info.labels.get(term.topology_key, ""))
            if keeper is not None:
                yield reasons.RejectedByPod(pod=PodName.of(keeper), topology_key=term.topology_key)
        for term in self._terms.anti_affinity:
            other = self._pods_of_own_terms[term].get(node_info.labels.get(term.topology_key, ""))
            if other is not None:
                yield reasons.AvoidedPod(pod=PodName.of(other), topology_key=term.topology_key)
        for term in self._terms.affinity:
            if term.topology_key not in node_info.labels:
                yield reasons.MissingTopologyLabel(topology_key=term.topology_key)
            elif node_info.labels[term.topology_key] not in self._pods_of_own_terms[term]:
                yield reasons.NoPodToBeNear(selector=str(term.selector), topology_key=term.topology_key)

    @cached_property
    def _terms(self) -> PodTerms:
        return readable_terms(self.pod)

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
            if term.covers(namespace, self.handle.snapshot.namespace_labels(namespace)):
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
                claims.append((reasons.ClaimState(name=name, volume=bound_to, usable_in=usable_in), None))
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
            reasons.ClaimHolder(claim=name, pod=PodName.of(other), node=info.name)
            for info in (self.handle.node_infos.values() if single else ())
            for other in info.pods
            if other.metadata.namespace == self.pod.metadata.namespace
            for name in volumerestrictions.claim_names(other)
            if name in single
        )
        return reasons.ClaimsInUse(holders=holders) if holders else None


def volumes_without_node(pod: Pod, handle: Handle) -> Iterator[VolumeWithoutNode]:
    """Yield each volume of the Pod's claims that no node can use because none has a label with the right value."""
    for claim in claims_of(pod, handle.snapshot):
        volume = handle.snapshot.get(PersistentVolume, "", claim.spec.volume_name)
        key, values = (volume and _missing_label(volume, handle.index)) or ("", ())
        if volume and values:
            name, volume_name = claim.metadata.name, volume.metadata.name
            yield VolumeWithoutNode(claim=name, volume=volume_name, topology_key=key, values=values)


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

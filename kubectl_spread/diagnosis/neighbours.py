"""Which other Pods and volumes keep a Pod off a node: the ones an operator has to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import msgspec

from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubectl_spread.scheduler import volumerestrictions
from kubectl_spread.scheduler.affinityterm import AffinityTerm, PodTerms, readable_terms
from kubectl_spread.scheduler.claims import CLASS, claim_name, claim_named, claims_of, not_found
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.hostport import host_ports
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.volumebinder import (
    REASON_BIND_CONFLICT,
    REASON_NOT_ENOUGH_SPACE,
    PodVolumeClaims,
    WaitingClaim,
    find_pod_volumes,
    pod_volume_claims,
)


class Neighbours(msgspec.Struct, frozen=True, dict=True):
    """What is around one Pod.

    Attributes:
        pod: the Pod.
        handle: the cluster.
    """

    pod: Pod
    handle: Handle

    def port_holders(self, node_info: NodeInfo) -> str:
        """Return who has taken the host ports the Pod wants."""
        wanted = host_ports(self.pod)
        held = []
        for other in node_info.pods:
            taken = (port for port in host_ports(other) if any(port.conflicts(own) for own in wanted))
            ports = [f"{port.number}/{port.protocol}" for port in sorted(taken, key=lambda port: port.number)]
            held += [f"{_name(other)} holds host port {', '.join(ports)}"] if ports else []
        return "; ".join(held)

    def affinity(self, node_info: NodeInfo) -> str:
        """Return which Pod keeps this one away, or which it misses; the first that is found."""
        return next(self._against(node_info), "")

    def _against(self, node_info: NodeInfo) -> Iterator[str]:
        """Yield what speaks against the node: keepers-off first, as they are Pods with a name."""
        for term, keepers in self._keepers_off.items():
            keeper = keepers.get(node_info.labels.get(term.topology_key, ""))
            if keeper is not None:
                yield f"{_name(keeper)} keeps such Pods off its {term.topology_key}"
        for term, found in self._avoided.items():
            other = found.get(node_info.labels.get(term.topology_key, ""))
            if other is not None:
                yield f"it avoids {_name(other)}, which is in the same {term.topology_key}"
        for term, found in self._wanted.items():
            if term.topology_key not in node_info.labels:
                yield f"lacks {term.topology_key}"
            elif node_info.labels[term.topology_key] not in found:
                yield f"no Pod with {term.selector} is in its {term.topology_key}"

    @cached_property
    def _terms(self) -> PodTerms:
        return readable_terms(self.pod)

    @cached_property
    def _wanted(self) -> Mapping[AffinityTerm, Mapping[str, Pod]]:
        """The Pod's affinity terms → topology value → a Pod it wants to be near."""
        return {term: self._first_in_domain(term, self._meant(term)) for term in self._terms.affinity}

    @cached_property
    def _avoided(self) -> Mapping[AffinityTerm, Mapping[str, Pod]]:
        """The Pod's anti-affinity terms → topology value → a Pod it must not be near."""
        return {term: self._first_in_domain(term, self._meant(term)) for term in self._terms.anti_affinity}

    @cached_property
    def _keepers_off(self) -> Mapping[AffinityTerm, Mapping[str, Pod]]:
        """Anti-affinity terms of other Pods that mean this one → topology value → a Pod that has the term."""
        labels = self.handle.snapshot.namespace_labels(self.pod.metadata.namespace)
        terms = [term for term in self.handle.existing_terms.anti_affinity if term.matches(self.pod, labels)]
        return {term: self._first_in_domain(term, self._having(term)) for term in terms}

    def _meant(self, term: AffinityTerm) -> Iterator[Pod]:
        """Yield the Pods on nodes that the term means."""
        for namespace in self.handle.snapshot.by_labels:
            if term.covers(namespace, self.handle.snapshot.namespace_labels(namespace)):
                yield from self.handle.snapshot.matching_pods(namespace, term.selector)

    def _having(self, term: AffinityTerm) -> Iterator[Pod]:
        """Yield the Pods on nodes that have this anti-affinity term."""
        for node_name in self.handle.existing_terms.anti_affinity[term]:
            for other in self.handle.node_infos[node_name].pods:
                if other.spec.affinity is not None and term in readable_terms(other).anti_affinity:
                    yield other

    def _first_in_domain(self, term: AffinityTerm, pods: Iterable[Pod]) -> dict[str, Pod]:
        """Return topology value → the first of the Pods in that domain."""
        found: dict[str, Pod] = {}
        for pod in pods:
            info = self.handle.node_infos.get(pod.spec.node_name)
            value = info.labels.get(term.topology_key) if info else None
            if value is not None:
                found.setdefault(value, pod)
        return found

    def volumes(self, node_info: NodeInfo) -> str:
        """Return the Pod's claims: with their volumes and where these can be used, or why none is made for the node."""
        told = (f"{text}{self._unmet(waiting, node_info) if waiting else ''}" for text, waiting in self._volumes)
        return "; ".join(told)

    @cached_property
    def _volumes(self) -> tuple[tuple[str, WaitingClaim | None], ...]:
        """What there is to say of each claim, in the Pod's order, and the claim where the node decides."""
        details: list[tuple[str, WaitingClaim | None]] = []
        for volume in self.pod.spec.volumes:
            name = claim_name(self.pod, volume)
            claim = claim_named(self.pod, name, self.handle.snapshot) if name else None
            if claim is None or not claim.spec.volume_name:
                unbound = f"claim {name} is not bound{self._without_class(claim)}"
                details += [(unbound, self._waiting.get(name))] if name else []
                continue
            found = self.handle.snapshot.get(PersistentVolume, "", claim.spec.volume_name)
            details.append((f"claim {name} is bound to {claim.spec.volume_name}{_place(found)}", None))
        return tuple(details)

    @cached_property
    def _waiting(self) -> Mapping[str, WaitingClaim]:
        """Claim's name → the claim, of those that are bound when the Pod is scheduled; empty while another is not."""
        found = pod_volume_claims(claims_of(self.pod, self.handle.snapshot), self.handle)
        waiting = () if found.immediate else (*found.selected, *found.waiting)
        return {each.claim.metadata.name: each for each in waiting if not each.problem}

    def _unmet(self, waiting: WaitingClaim, node_info: NodeInfo) -> str:
        """Return why the claim gets no volume on the node; empty where it alone would.

        Source: volumebinding/binder.go FindPodVolumes, checkVolumeProvisions (v1.36).
        """
        selected, storage_class = waiting.selected_node, f"StorageClass {waiting.claim.class_name}"
        if selected is not None and selected != node_info.name:
            gone = "" if selected in self.handle.node_infos else ", which does not exist"
            return f": its volume is being made for node {selected}{gone}"
        alone = PodVolumeClaims(waiting=(waiting,)) if selected is None else PodVolumeClaims(selected=(waiting,))
        reasons = find_pod_volumes(alone, node_info, self.handle).reasons
        if REASON_NOT_ENOUGH_SPACE in reasons:
            return f": {storage_class} has too little storage left there"
        if REASON_BIND_CONFLICT not in reasons:
            return ""
        makes = "makes none there" if waiting.provisioning.topologies else "makes none"
        return f": no PersistentVolume that is free will do, and {storage_class} {makes}"

    def _without_class(self, claim: PersistentVolumeClaim | None) -> str:
        """Return why nothing makes a volume for the claim, in the words of its events; empty where something may.

        Source: pkg/controller/volume/persistentvolume/pv_controller.go syncUnboundClaim (v1.36).
        """
        snapshot = self.handle.snapshot
        if claim is None or not snapshot.inventory.has(kinds.STORAGE_CLASS):
            return ""
        if claim.class_name:
            known = snapshot.get(StorageClass, "", claim.class_name) is not None
            return "" if known else f": {not_found(CLASS, claim.class_name)}"
        if claim.wants_default_class and any(each.is_default for each in snapshot.all(StorageClass)):
            return ""  # The controller is about to write it down.
        return ": no persistent volumes available for this claim and no storage class is set"

    def single_users(self, _node_info: NodeInfo) -> str:
        """Return which other Pods hold the claims of the Pod that only one may use, wherever they are."""
        return "; ".join(self._single_users)

    @cached_property
    def _single_users(self) -> tuple[str, ...]:
        """Each Pod that holds such a claim, by node."""
        single = volumerestrictions.single_use_claims(self.pod, self.handle)
        return tuple(
            f"claim {name} is ReadWriteOncePod and {_name(other)} on {info.name} holds it"
            for info in (self.handle.node_infos.values() if single else ())
            for other in info.pods
            if other.metadata.namespace == self.pod.metadata.namespace
            for name in volumerestrictions.claim_names(other)
            if name in single
        )


def _place(volume: PersistentVolume | None) -> str:
    """Return where a volume can be used; empty where anywhere, or where it is not known."""
    if volume is None or volume.spec.node_affinity is None or volume.spec.node_affinity.required is None:
        return ""
    values = [
        ", ".join(condition.values)
        for term in volume.spec.node_affinity.required.node_selector_terms
        for condition in term.match_expressions
    ]
    return f" in {' or '.join(values)}" if values else ""


def _name(pod: Pod) -> str:
    """Return the Pod with its namespace."""
    return "/".join(pod.key)

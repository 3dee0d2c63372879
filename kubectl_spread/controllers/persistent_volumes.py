"""Claims that are created with a Pod, and the volumes they are bound to, before the Pod is scheduled or on its node.

Source: kube-controller-manager pkg/controller/volume/ephemeral/controller.go, pkg/controller/volume/persistentvolume/
pv_controller.go syncUnboundClaim; external-provisioner pkg/controller/topology.go (which labels a new volume gets).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from msgspec.structs import replace

from kubectl_spread.apiserver.admission import admitted_claim
from kubectl_spread.gaps import GuessedVolume
from kubectl_spread.objects import core, storage
from kubectl_spread.objects.meta import AnnotatedMeta, OwnerReference
from kubectl_spread.scheduler.claims import claims_of
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.profile import Behaviour, Profile
from kubectl_spread.scheduler.provisioning import NOT_SUPPORTED_PROVISIONERS
from kubectl_spread.scheduler.volumebinder import find_pod_volumes, pod_volume_claims
from kubectl_spread.scheduler.volumematching import candidates
from kubectl_spread.snapshot import Snapshot

Storage: TypeAlias = storage.PersistentVolumeClaim | storage.PersistentVolume
BOUND = "Bound"


def ephemeral_claims(pod: core.Pod) -> Iterator[storage.PersistentVolumeClaim]:
    """Yield the claims that are created for the Pod's ephemeral volumes."""
    owner = OwnerReference(api_version="v1", kind="Pod", name=pod.metadata.name, uid=pod.metadata.uid, controller=True)
    namespace = pod.metadata.namespace
    for volume in pod.spec.volumes:
        if volume.ephemeral is not None:
            template = volume.ephemeral.volume_claim_template
            name, labels = storage.claim_name(pod, volume) or "", template.metadata.labels
            metadata = storage.ClaimMeta(name=name, namespace=namespace, labels=labels, owner_references=(owner,))
            yield storage.PersistentVolumeClaim(metadata=metadata, spec=template.spec)


def created(
    claims: Iterable[storage.PersistentVolumeClaim], snapshot: Snapshot, profile: Profile
) -> tuple[Storage, ...]:
    """Return the new claims as they are when their Pods are scheduled, with the volumes that are bound by then.

    Claims that exist are left out.
    """
    made: dict[tuple[str, str], Storage] = {}
    for claim in claims:
        key = claim.metadata.namespace, claim.metadata.name
        if snapshot.get(storage.PersistentVolumeClaim, *key) is None and key not in made:
            objects = _bound_at_once(admitted_claim(claim, snapshot), snapshot, profile)
            snapshot = snapshot.with_others(objects)
            made |= {(obj.metadata.namespace, obj.metadata.name): obj for obj in objects}
    return tuple(made.values())


def _bound_at_once(claim: storage.PersistentVolumeClaim, snapshot: Snapshot, profile: Profile) -> tuple[Storage, ...]:
    storage_class = snapshot.get(storage.StorageClass, "", claim.class_name)
    if storage_class is not None and storage_class.waits_for_consumer:
        return (claim,)
    of_class = (volume for volume in snapshot.all(storage.PersistentVolume) if volume.class_name == claim.class_name)
    fitting = candidates(claim, of_class, attributes_classes=profile.does(Behaviour.VOLUME_ATTRIBUTES_CLASS)).ranked
    if fitting:
        return _bound(claim, fitting[0].volume)
    if storage_class is None or storage_class.provisioner in NOT_SUPPORTED_PROVISIONERS:
        return (claim,)
    return _bound(claim, _made_volume(claim, storage_class, _allowed(storage_class)))


def guessed(pod: core.Pod, snapshot: Snapshot) -> tuple[GuessedVolume, ...]:
    """Return the Pod's volumes whose topology is unknown, because they are provisioned before it is scheduled."""
    found = []
    for claim in claims_of(pod, snapshot):
        storage_class = snapshot.get(storage.StorageClass, "", claim.class_name)
        waits = storage_class is not None and storage_class.waits_for_consumer
        if claim.spec.volume_name == _volume_name(claim) and not waits:
            found.append(GuessedVolume(claim=claim.metadata.name, storage_class=claim.class_name))
    return tuple(found)


def bound_on(pod: core.Pod, node_name: str, handle: Handle) -> tuple[Storage, ...]:
    """Return the Pod's unbound claims, bound to the volumes that they get on this node, and those volumes.

    A new volume can be used on the nodes of the node's topology segment, as the CSI driver reports it.
    """
    claims = pod_volume_claims(claims_of(pod, handle.snapshot), handle)
    if not (claims.waiting or claims.selected):
        return ()
    found = find_pod_volumes(claims, handle.node_infos[node_name], handle)
    objects = [obj for binding in found.static_bindings for obj in _bound(binding.claim, binding.volume)]
    for provision in found.dynamic_provisions:
        storage_class = handle.snapshot.get(storage.StorageClass, "", provision.claim.class_name)
        if storage_class is not None:
            reachable = _reachable(storage_class, node_name, handle)
            objects += _bound(provision.claim, _made_volume(provision.claim, storage_class, reachable))
    return tuple(objects)


def _bound(claim: storage.PersistentVolumeClaim, volume: storage.PersistentVolume) -> tuple[Storage, Storage]:
    metadata = replace(claim.metadata, annotations={**claim.metadata.annotations, storage.ANN_BIND_COMPLETED: "yes"})
    spec = replace(claim.spec, volume_name=volume.metadata.name)
    given = claim.metadata
    ref = core.ObjectReference(kind="PersistentVolumeClaim", namespace=given.namespace, name=given.name, uid=given.uid)
    return (
        replace(claim, metadata=metadata, spec=spec, status=core.Phase(phase=BOUND)),
        replace(volume, spec=replace(volume.spec, claim_ref=ref), status=core.Phase(phase=BOUND)),
    )


def _made_volume(
    claim: storage.PersistentVolumeClaim, storage_class: storage.StorageClass, nodes: core.NodeSelector | None
) -> storage.PersistentVolume:
    name = _volume_name(claim)
    spec = storage.PersistentVolumeSpec(
        capacity=claim.spec.resources.requests,
        access_modes=claim.spec.access_modes,
        storage_class_name=claim.class_name,
        volume_mode=claim.spec.volume_mode,
        node_affinity=None if nodes is None else storage.VolumeNodeAffinity(required=nodes),
        csi=storage.CSIPersistentVolumeSource(driver=storage_class.provisioner, volume_handle=name),
    )
    return storage.PersistentVolume(metadata=AnnotatedMeta(name=name), spec=spec)


def _volume_name(claim: storage.PersistentVolumeClaim) -> str:
    return f"pvc-{claim.metadata.namespace}-{claim.metadata.name}"


def _allowed(storage_class: storage.StorageClass) -> core.NodeSelector | None:
    allowed = storage_class.allowed_topologies
    terms = (_term({each.key: each.values for each in term.match_label_expressions}) for term in allowed)
    return core.NodeSelector(node_selector_terms=tuple(terms)) if allowed else None


def _reachable(storage_class: storage.StorageClass, node_name: str, handle: Handle) -> core.NodeSelector | None:
    csi_node = handle.snapshot.get(storage.CSINode, "", node_name)
    drivers = csi_node.spec.drivers if csi_node else ()
    labels = handle.node_infos[node_name].labels
    keys = next((driver.topology_keys for driver in drivers if driver.name == storage_class.provisioner), ())
    segment = {key: (labels[key],) for key in keys if key in labels}
    return core.NodeSelector(node_selector_terms=(_term(segment),)) if segment else None


def _term(labels: Mapping[str, tuple[str, ...]]) -> core.NodeSelectorTerm:
    expressions = (core.NodeSelectorRequirement(key=k, operator="In", values=v) for k, v in labels.items())
    return core.NodeSelectorTerm(match_expressions=tuple(expressions))

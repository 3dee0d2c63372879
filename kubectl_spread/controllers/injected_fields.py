"""Living Pods as models of the next: what they carry beyond their template, and all of it where none can be read.

What webhooks and policies write, nobody says.

What cannot change on a Pod that lives was there when it was made, so the newest Pod is believed. What can change
(tolerations may be added, labels and resources changed) counts only where all of them carry it.

Source: pkg/apis/core/validation/validation.go ValidatePodUpdate, ValidatePodResize (v1.36): what can change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from kubectl_spread import quantity
from kubectl_spread.apiserver.creation import unmerged
from kubectl_spread.controllers.daemonset import TEMPLATE_GENERATION_LABEL, is_pinned
from kubectl_spread.controllers.job import COMPLETION_INDEX_LABEL
from kubectl_spread.controllers.statefulset import POD_INDEX_LABEL, POD_NAME_LABEL
from kubectl_spread.controllers.templates import REVISION_LABELS, renamed
from kubectl_spread.objects.configuration import DEFAULT_SCHEDULER
from kubectl_spread.objects.core import Container, Pod, PodSpec, Quantity, ResourceRequirements, Toleration, Volume
from kubectl_spread.objects.kinds import STATEFUL_SET
from kubectl_spread.objects.meta import once
from kubectl_spread.objects.storage import ANN_STORAGE_CLASS, ClaimMeta, PersistentVolumeClaim
from kubectl_spread.objects.workloads import JOB_NAME_LABELS, JOB_UID_LABELS
from kubectl_spread.scheduler.claims import claim_named
from kubectl_spread.snapshot import Snapshot

IDENTITY_LABELS = frozenset(
    (*REVISION_LABELS, POD_NAME_LABEL, POD_INDEX_LABEL, COMPLETION_INDEX_LABEL, *JOB_NAME_LABELS, *JOB_UID_LABELS)
)
"""Labels by which controllers tell a Pod from its siblings, and revisions and runs from each other."""
UNREPORTED_LABELS = frozenset((TEMPLATE_GENERATION_LABEL,))
"""Labels that a controller writes alike on all Pods of a revision: the next Pod has them, and no webhook wrote them."""
TOPOLOGY_PREFIX = "topology.kubernetes.io/"
"""Begins the labels that a Pod takes over from its node. Source: plugin/pkg/admission/podtopologylabels (v1.36)."""


def newest(pods: Iterable[Pod]) -> Pod | None:
    """Return the Pod that was made last, rather one that is not being deleted; None where there is none."""
    return max(
        pods,
        key=lambda pod: (not pod.terminating, pod.metadata.creation_timestamp or "", pod.metadata.name),
        default=None,
    )


def corrected(pod: Pod, made: Pod, living: Sequence[Pod]) -> tuple[Pod, tuple[str, ...]]:
    """Return the Pod with what the living ones carry beyond it, and the paths of what was taken from them.

    The Pod is as the API server would store it, but for label keys that are merged into selectors.
    """
    model = newest(living)
    if model is None:
        return pod, ()
    specs = [each.spec for each in living]
    spec = _immutable(pod.spec, _without_claims_of_its_own(model), pinned=is_pinned(model))
    spec = replace(
        spec,
        tolerations=_tolerations(spec, once(each.tolerations for each in specs)),
        containers=_containers(spec.containers, made.spec.containers, _told_apart(each.containers for each in specs)),
        init_containers=_containers(
            spec.init_containers, made.spec.init_containers, _told_apart(each.init_containers for each in specs)
        ),
        resources=spec.resources or _in_common(once(each.resources for each in specs)),
    )
    labels = {**_labels(once(each.metadata.labels for each in living)), **pod.metadata.labels}
    changed = replace(pod, metadata=replace(pod.metadata, labels=labels), spec=spec)
    return changed, _paths(pod, changed)


def _immutable(spec: PodSpec, model: PodSpec, *, pinned: bool) -> PodSpec:
    """Return the spec with what the living Pod had when it was made.

    ``pinned``: whether its affinity is its controller's, for its own node.
    """
    constraints, own = model.topology_spread_constraints, spec.topology_spread_constraints
    volumes = {volume.name for volume in spec.volumes}
    spec = replace(
        spec,
        topology_spread_constraints=own if all(each in own for each in constraints) else constraints,
        affinity=spec.affinity if pinned else model.affinity or spec.affinity,
        node_selector={**spec.node_selector, **model.node_selector},
        scheduler_name=model.scheduler_name if spec.scheduler_name == DEFAULT_SCHEDULER else spec.scheduler_name,
        runtime_class_name=spec.runtime_class_name or model.runtime_class_name,
        overhead=spec.overhead or model.overhead,
        host_network=spec.host_network or model.host_network,
        resource_claims=spec.resource_claims or model.resource_claims,
        volumes=(*spec.volumes, *(v for v in model.volumes if v.restricts_nodes and v.name not in volumes)),
    )
    if model.priority_class_name in {"", spec.priority_class_name}:
        return spec
    return replace(
        spec,
        priority_class_name=model.priority_class_name,
        priority=model.priority,
        preemption_policy=model.preemption_policy,
    )


def _without_claims_of_its_own(pod: Pod) -> PodSpec:
    """Return the spec as it was made, without the volumes that a StatefulSet adds for the claims of each Pod.

    Source: kube-controller-manager statefulset/stateful_set_utils.go updateStorage, getPersistentVolumeClaimName.
    """
    spec = unmerged(pod.spec)
    if pod.metadata.controller is None or pod.metadata.controller.kind != STATEFUL_SET.name:
        return spec
    name = pod.metadata.name
    return replace(spec, volumes=tuple(each for each in spec.volumes if _claim(each) != f"{each.name}-{name}"))


def _told_apart(living: Iterable[tuple[Container, ...]]) -> Sequence[tuple[Container, ...]]:
    """Return the containers of each Pod, what Pods share once, but those of the last Pod at the end."""
    each = tuple(living)
    return *once(each), each[-1]


def _tolerations(spec: PodSpec, living: Sequence[Sequence[Toleration]]) -> tuple[Toleration, ...]:
    first, *others = living
    added = (each for each in first if each not in spec.tolerations and all(each in other for other in others))
    return (*spec.tolerations, *added)


def _labels(living: Sequence[Mapping[str, str]]) -> Mapping[str, str]:
    """Return the labels that all living Pods have, but for those that tell where and which they are."""
    first, *others = living
    return {
        key: value
        for key, value in first.items()
        if key not in IDENTITY_LABELS
        and not key.startswith(TOPOLOGY_PREFIX)
        and all(other.get(key) == value for other in others)
    }


def _containers(
    expected: Sequence[Container], made: Sequence[Container], living: Sequence[Sequence[Container]]
) -> tuple[Container, ...]:
    """Return the containers as the living Pods have them, and those that all of them have besides."""
    of_template = {container.name: container for container in made}
    alike = [{container.name: container for container in containers} for containers in living]
    names = {container.name for container in expected}
    kept = (
        _container(each, of_template.get(each.name), [found.get(each.name) for found in alike]) for each in expected
    )
    added = (each for each in living[-1] if each.name not in names and all(each.name in found for found in alike))
    return (*kept, *added)


def _container(expected: Container, made: Container | None, living: Sequence[Container | None]) -> Container:
    """Return the container with the resources and ports that all living Pods give it beyond the template."""
    alike = [container for container in living if container is not None]
    if made is None or not alike or len(alike) < len(living):
        return expected
    resources = ResourceRequirements(
        requests=_amounts(expected.resources.requests, made.resources.requests, [c.resources.requests for c in alike]),
        limits=_amounts(expected.resources.limits, made.resources.limits, [c.resources.limits for c in alike]),
    )
    ports = tuple(p for p in alike[0].ports if p.host_port and all(p in c.ports for c in alike))
    more = tuple(port for port in ports if port not in expected.ports)
    return replace(expected, resources=resources, ports=(*expected.ports, *more))


Quantities: TypeAlias = Mapping[str, Quantity]


def _amounts(expected: Quantities, made: Quantities, living: Sequence[Quantities]) -> dict[str, Quantity]:
    """Return the amounts, with those in which all living Pods agree: what a LimitRange says now is not among them."""
    first, *others = living
    agreed = {name: value for name, value in first.items() if all(_same(other.get(name), value) for other in others)}
    return {
        **expected,
        **{
            name: value
            for name, value in agreed.items()
            if name not in expected or (name in made and not _same(expected[name], value))
        },
    }


def _same(first: Quantity | None, second: Quantity) -> bool:
    return first is not None and (first == second or quantity.parse(first) == quantity.parse(second))


def _in_common(resources: Sequence[ResourceRequirements | None]) -> ResourceRequirements | None:
    first, *others = resources
    return first if all(other == first for other in others) else None


def _paths(before: Pod, after: Pod) -> tuple[str, ...]:
    old, new = before.spec, after.spec
    named = zip(PodSpec.__struct_fields__, PodSpec.__struct_encode_fields__, strict=True)
    found = [f"spec.{name}" for field, name in named if getattr(old, field) != getattr(new, field)]
    labels = after.metadata.labels.keys() - before.metadata.labels.keys() - UNREPORTED_LABELS
    return (*(["metadata.labels"] if labels else []), *found)


def like(pod: Pod, name: str) -> Pod:
    """Return a Pod like the living one, under this name, before it is bound."""
    metadata = replace(pod.metadata, creation_timestamp=None, deletion_timestamp=None, finalizers=())
    return renamed(Pod(metadata=metadata, spec=replace(pod.spec, node_name="")), name)


def with_own_claims(
    pod: Pod, living: Sequence[Pod], snapshot: Snapshot
) -> tuple[Pod, tuple[PersistentVolumeClaim, ...]]:
    """Return the Pod with fresh claims in place of those that one living Pod has for itself, and those claims."""
    model = newest(living)
    fresh: dict[str, PersistentVolumeClaim] = {}
    for volume in model.spec.volumes if model else ():
        name = _claim(volume)
        claim = claim_named(pod, name, snapshot) if name else None
        if model is not None and claim is not None and _is_own(name, model, living):
            fresh[name] = _fresh(claim)
    volumes = tuple(_with_claim(volume, fresh) for volume in pod.spec.volumes)
    return replace(pod, spec=replace(pod.spec, volumes=volumes)), tuple(fresh.values())


def _claim(volume: Volume) -> str:
    return volume.persistent_volume_claim.claim_name if volume.persistent_volume_claim else ""


def _is_own(claim: str, pod: Pod, living: Sequence[Pod]) -> bool:
    """Whether the Pod has the claim for itself: it bears the Pod's name, or none of the others mounts it."""
    others = [other for other in living if other.key != pod.key]
    shared = any(_claim(volume) == claim for other in others for volume in other.spec.volumes)
    return not shared and (bool(others) or pod.metadata.name in claim)


def _fresh(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    kept = {key: value for key, value in claim.metadata.annotations.items() if key == ANN_STORAGE_CLASS}
    metadata = ClaimMeta(
        name=f"{claim.metadata.name}-next",
        namespace=claim.metadata.namespace,
        labels=claim.metadata.labels,
        annotations=kept,
    )
    spec = replace(claim.spec, volume_name="")
    return PersistentVolumeClaim(metadata=metadata, spec=spec)


def _with_claim(volume: Volume, fresh: dict[str, PersistentVolumeClaim]) -> Volume:
    source, claim = volume.persistent_volume_claim, fresh.get(_claim(volume))
    if source is None or claim is None:
        return volume
    return replace(volume, persistent_volume_claim=replace(source, claim_name=claim.metadata.name))

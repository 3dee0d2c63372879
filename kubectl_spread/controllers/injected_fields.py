"""Fields that webhooks and policies inject into Pods: the living Pods of a workload show them.

An immutable field of a Pod was there when it was created, so it counts if the newest Pod has it, and all that were
created with it. A mutable field (tolerations, labels, resources) counts only if all living Pods have it. A workload
that was not read has only its Pods as a model.

Source: pkg/apis/core/validation/validation.go ValidatePodUpdate, ValidatePodResize (v1.36): what can change.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TypeAlias

from msgspec.structs import replace

from kubectl_spread import quantity
from kubectl_spread.apiserver.creation import unmerged
from kubectl_spread.controllers.daemonset import TEMPLATE_GENERATION_LABEL, is_pinned
from kubectl_spread.controllers.job import COMPLETION_INDEX_LABEL
from kubectl_spread.controllers.statefulset import POD_INDEX_LABEL, POD_NAME_LABEL
from kubectl_spread.controllers.templates import REVISION_LABELS, renamed
from kubectl_spread.objects.configuration import DEFAULT_SCHEDULER
from kubectl_spread.objects.core import Container, Pod, PodSpec, Quantity, ResourceRequirements, Volume
from kubectl_spread.objects.kinds import STATEFUL_SET
from kubectl_spread.objects.meta import once
from kubectl_spread.objects.storage import ANN_STORAGE_CLASS, ClaimMeta, PersistentVolumeClaim
from kubectl_spread.objects.workloads import JOB_NAME_LABELS, JOB_UID_LABELS
from kubectl_spread.scheduler.claims import claim_named
from kubectl_spread.snapshot import Snapshot

# Labels that differ between Pods, revisions or runs of one workload.
IDENTITY_LABELS = frozenset(
    (*REVISION_LABELS, POD_NAME_LABEL, POD_INDEX_LABEL, COMPLETION_INDEX_LABEL, *JOB_NAME_LABELS, *JOB_UID_LABELS)
)
# The prefix of labels that a Pod copies from its node. Source: plugin/pkg/admission/podtopologylabels (v1.36).
TOPOLOGY_PREFIX = "topology.kubernetes.io/"


def newest(pods: Iterable[Pod]) -> Pod | None:
    """Return the Pod that was created last, if possible one that is not terminating; None if there is none."""
    return max(pods, key=lambda pod: (_age(pod), pod.metadata.name), default=None)


def _age(pod: Pod) -> tuple[bool, str]:
    return not pod.terminating, pod.metadata.creation_timestamp or ""


def corrected(pod: Pod, made: Pod, living: Sequence[Pod]) -> tuple[Pod, tuple[str, ...]]:
    """Return (the Pod with the injected fields of the living ones, the paths of those fields).

    ``pod`` is as the API server stores it, but before label keys are merged into selectors; ``made`` as its controller
    sends it; ``living`` are Pods of the same template.
    """
    model = newest(living)
    if model is None:
        return pod, ()
    if pod.spec.priority is None and pod.spec.priority_class_name == model.spec.priority_class_name:
        # Its class was not read.
        priority, policy = model.spec.priority, model.spec.preemption_policy
        pod = replace(pod, spec=replace(pod.spec, priority=priority, preemption_policy=policy))
    specs, age = [each.spec for each in living], _age(model)
    # Of the Pods that share all that counts, one.
    together = {tuple(map(id, _counting(each.spec))): each for each in living if _age(each) == age}.values()
    spec = _common(
        pod.spec,
        [_with_immutable_fields(pod.spec, _without_own_claims(each), pinned=is_pinned(each)) for each in together],
    )
    resources = once(each.resources for each in specs)
    # The distinct lists of containers, and that of the last Pod once more at the end.
    containers = (*once(each.containers for each in specs), specs[-1].containers)
    init_containers = (*once(each.init_containers for each in specs), specs[-1].init_containers)
    first, *others = once(each.tolerations for each in specs)
    added = (each for each in first if each not in spec.tolerations and all(each in other for other in others))
    spec = replace(
        spec,
        tolerations=(*spec.tolerations, *added),
        containers=_merge_containers(spec.containers, made.spec.containers, containers),
        init_containers=_merge_containers(spec.init_containers, made.spec.init_containers, init_containers),
        resources=spec.resources or (resources[0] if all(each == resources[0] for each in resources) else None),
    )
    labels = {**_common_labels(once(each.metadata.labels for each in living)), **pod.metadata.labels}
    changed = replace(pod, metadata=replace(pod.metadata, labels=labels), spec=spec)
    return changed, _paths(pod, changed)


def _common(own: PodSpec, found: Sequence[PodSpec]) -> PodSpec:
    """Return the spec with each field in which all the others are the same."""
    first, *others = once(found)
    differ = (
        name for name in PodSpec.__struct_fields__ for other in others if getattr(other, name) != getattr(first, name)
    )
    return replace(first, **{name: getattr(own, name) for name in differ})


# What ``_with_immutable_fields`` takes from a living Pod. The name of a Pod counts for claims, which are in volumes.
_counting = attrgetter(
    "topology_spread_constraints",
    "affinity",
    "node_selector",
    "scheduler_name",
    "runtime_class_name",
    "overhead",
    "host_network",
    "resource_claims",
    "volumes",
    "priority_class_name",
    "priority",
    "preemption_policy",
)


def _with_immutable_fields(spec: PodSpec, model: PodSpec, *, pinned: bool) -> PodSpec:
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
    priority, policy = model.priority, model.preemption_policy
    return replace(spec, priority_class_name=model.priority_class_name, priority=priority, preemption_policy=policy)


def _without_own_claims(pod: Pod) -> PodSpec:
    """Source: kube-controller-manager statefulset/stateful_set_utils.go updateStorage, getPersistentVolumeClaimName."""
    spec = unmerged(pod.spec)
    if pod.metadata.controller_kind != STATEFUL_SET.name:
        return spec
    name = pod.metadata.name
    return replace(spec, volumes=tuple(each for each in spec.volumes if _claim(each) != f"{each.name}-{name}"))


def _common_labels(living: Sequence[Mapping[str, str]]) -> Mapping[str, str]:
    first, *others = living
    shared = {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}
    return {k: v for k, v in shared.items() if k not in IDENTITY_LABELS and not k.startswith(TOPOLOGY_PREFIX)}


def _merge_containers(
    expected: Sequence[Container], made: Sequence[Container], living: Sequence[Sequence[Container]]
) -> tuple[Container, ...]:
    of_template = {container.name: container for container in made}
    alike = [{container.name: container for container in containers} for containers in living]
    names = {container.name for container in expected}
    named = ((each, [found.get(each.name) for found in alike]) for each in expected)
    kept = (_merge_container(each, of_template.get(each.name), found) for each, found in named)
    added = (each for each in living[-1] if each.name not in names and all(each.name in found for found in alike))
    return (*kept, *added)


def _merge_container(expected: Container, made: Container | None, living: Sequence[Container | None]) -> Container:
    """Return the container with the resources and ports that all living Pods have and the template does not."""
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
    """Return the amounts with those that all living Pods have in common, except those that only a LimitRange sets."""
    first, *others = living
    agreed = {name: value for name, value in first.items() if all(_same(other.get(name), value) for other in others)}
    kept = {n for n, value in expected.items() if n not in made or n not in agreed or _same(value, agreed[n])}
    return {**expected, **{name: value for name, value in agreed.items() if name not in kept}}


def _same(first: Quantity | None, second: Quantity) -> bool:
    return first is not None and (first == second or quantity.parse(first) == quantity.parse(second))


def _paths(before: Pod, after: Pod) -> tuple[str, ...]:
    old, new = before.spec, after.spec
    named = zip(PodSpec.__struct_fields__, PodSpec.__struct_encode_fields__, strict=True)
    found = [f"spec.{name}" for field, name in named if getattr(old, field) != getattr(new, field)]
    # The controller of a DaemonSet writes this label.
    labels = after.metadata.labels.keys() - before.metadata.labels.keys() - {TEMPLATE_GENERATION_LABEL}
    return (*(["metadata.labels"] if labels else []), *found)


def like(pod: Pod, name: str) -> Pod:
    """Return a copy of the living Pod with this name, before it is bound."""
    metadata = replace(pod.metadata, creation_timestamp=None, deletion_timestamp=None, finalizers=())
    return renamed(Pod(metadata=metadata, spec=replace(pod.spec, node_name="")), name)


def with_own_claims(
    pod: Pod, living: Sequence[Pod], snapshot: Snapshot
) -> tuple[Pod, tuple[PersistentVolumeClaim, ...]]:
    """Return (the Pod with new claims in place of those that a living Pod has for itself, the new claims)."""
    model = newest(living)
    fresh: dict[str, PersistentVolumeClaim] = {}
    for volume in model.spec.volumes if model else ():
        name = _claim(volume)
        claim = claim_named(pod, name, snapshot) if name else None
        if model is not None and claim is not None and _is_own(name, model, living):
            fresh[name] = _fresh(claim)
    volumes = tuple(_with_claim(volume, fresh) for volume in pod.spec.volumes)
    return replace(pod, spec=replace(pod.spec, volumes=volumes)), tuple(fresh.values())


def has_own_claim(pod: Pod, living: Sequence[Pod]) -> bool:
    """Whether the Pod has a claim for itself: its successor gets the Pod's name, and with it the claim."""
    return any(name and _is_own(name, pod, living) for name in map(_claim, pod.spec.volumes))


def _claim(volume: Volume) -> str:
    return volume.persistent_volume_claim.claim_name if volume.persistent_volume_claim else ""


def _is_own(claim: str, pod: Pod, living: Sequence[Pod]) -> bool:
    """Whether only this Pod uses the claim: its name has the Pod's name, or no other Pod mounts it."""
    others = [other for other in living if other.key != pod.key]
    shared = any(_claim(volume) == claim for other in others for volume in other.spec.volumes)
    return not shared and (bool(others) or pod.metadata.name in claim)


def _fresh(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    given = claim.metadata
    kept = {key: value for key, value in given.annotations.items() if key == ANN_STORAGE_CLASS}
    metadata = ClaimMeta(name=f"{given.name}-next", namespace=given.namespace, labels=given.labels, annotations=kept)
    return PersistentVolumeClaim(metadata=metadata, spec=replace(claim.spec, volume_name=""))


def _with_claim(volume: Volume, fresh: dict[str, PersistentVolumeClaim]) -> Volume:
    source, claim = volume.persistent_volume_claim, fresh.get(_claim(volume))
    if source is None or claim is None:
        return volume
    return replace(volume, persistent_volume_claim=replace(source, claim_name=claim.metadata.name))

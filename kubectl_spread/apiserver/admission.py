"""What the API server's admission plugins write into Pods and claims that are created, and what those plugins refuse.

The plugins are applied in kube-apiserver's order; each function names its own. Not modelled: PodNodeSelector,
PodTolerationRestriction, what ServiceAccounts add, webhooks and policies; ``--dry-run=server`` asks for them.

Source: pkg/kubeapiserver/options/plugins.go AllOrderedPlugins, registry/core/pod/strategy.go PrepareForCreate (v1.36).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from msgspec.structs import replace

from kubectl_spread import quantity
from kubectl_spread.apiserver.defaults import defaulted
from kubectl_spread.apiserver.validation import validate, validate_template
from kubectl_spread.apiserver.validation.workloads import STATEFUL_SET_TEMPLATE_SINCE
from kubectl_spread.gaps import NONE_IN_FILES, Purpose, UnreadKind
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import (
    NOT_ANSWERING,
    Container,
    LimitRange,
    Pod,
    PodSpec,
    PodTemplateSpec,
    Quantity,
    Toleration,
)
from kubectl_spread.objects.meta import ObjectMeta
from kubectl_spread.objects.policy import PriorityClass, RuntimeClass
from kubectl_spread.objects.storage import PersistentVolumeClaim, StorageClass
from kubectl_spread.release import Release
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.snapshot import Snapshot

# PriorityClasses that every API server creates itself. Source: pkg/apis/scheduling/v1/helpers.go (v1.36).
SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_TOLERATED_SECONDS = 300
_SPEC = "spec."
_TEMPLATE = "template"


class Refusal(msgspec.Struct, frozen=True):
    """Why the API server does not create a Pod."""

    field: str  # the field of the Pod's spec that is to blame; empty where none is
    message: str  # in the API server's words
    reason: str = "Forbidden"  # the kind of fault, as for a field that validation refuses
    # whether the Pod itself is valid and could be placed: something else is missing, or leaves no room
    by_policy: bool = False
    missing: str = ""  # kind and name of the object that has to exist for it; empty where nothing is missing

    def __str__(self) -> str:
        """Return the message with the path of its field."""
        return f"spec.{self.field}: {self.message}" if self.field else self.message


def mutated(pod: Pod, snapshot: Snapshot, profile: Profile) -> Pod:
    """Return the Pod as webhooks get it: with its defaults and those of the plugins before them."""
    pod = defaulted(pod, profile.release)
    spec = _with_priority(_with_limits(pod.spec, pod.metadata.namespace, snapshot), snapshot)
    # Source: plugin/pkg/admission/defaulttolerationseconds/admission.go Admit (v1.36).
    missing = (
        Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=_TOLERATED_SECONDS)
        for key in NOT_ANSWERING
        if not any(t.key in {"", key} and t.effect in {"", "NoExecute"} for t in spec.tolerations)
    )
    spec = replace(spec, tolerations=(*spec.tolerations, *missing))
    return replace(pod, spec=_with_runtime_class(spec, snapshot))


def refusals(pod: Pod, snapshot: Snapshot) -> tuple[Refusal, ...]:
    """Return why these plugins refuse the Pod; none where they admit it. A kind that was not read refuses nothing."""
    return (*_priority_refusals(pod.spec, snapshot), *_runtime_class_refusals(pod.spec, snapshot))


def refusals_of(pod: Pod, made: Pod, snapshot: Snapshot, release: Release) -> tuple[Refusal, ...]:
    """Return why a workload's Pod is not created; none where it is.

    A template is validated less strictly than a Pod, and before admission adds to the Pod. Errors of the template
    itself are left out: they are reported on the workload, unless the release validates no templates of its kind.
    ``pod`` has everything that admission writes into it, before label keys are merged into selectors; ``made`` is as
    its controller sends it.
    """
    invalid = [error for error in validate(pod, release=release) if error.field.startswith(_SPEC)]
    if not invalid:
        return refusals(made, snapshot)
    template = PodTemplateSpec(metadata=ObjectMeta(labels=made.metadata.labels), spec=made.spec)
    of_stateful_set = made.metadata.controller_kind == kinds.STATEFUL_SET.name
    validated = not of_stateful_set or release.minor >= STATEFUL_SET_TEMPLATE_SINCE
    in_template = validate_template(template, path=_TEMPLATE, release=release) if validated else ()
    known = {(error.field.removeprefix(f"{_TEMPLATE}."), error.message) for error in in_template}
    own = (error for error in invalid if (error.field, error.message) not in known)
    found = (Refusal(error.field.removeprefix(_SPEC), error.message, reason=str(error.reason)) for error in own)
    return (*refusals(made, snapshot), *found)


def unknown(pod: Pod, snapshot: Snapshot) -> tuple[UnreadKind, ...]:
    """Return the kinds that were not read and may change what admission does with this Pod."""
    spec, containers = pod.spec, (*pod.spec.containers, *pod.spec.init_containers)
    by_class = bool(spec.priority_class_name) and spec.priority is None and _priority_class(spec, snapshot) is None
    matters = {
        # LimitRanges fill in only what a container leaves open.
        kinds.LIMIT_RANGE: any(not {"cpu", "memory"} <= each.resources.requests.keys() for each in containers),
        kinds.RUNTIME_CLASS: bool(spec.runtime_class_name)
        and snapshot.get(RuntimeClass, "", spec.runtime_class_name or "") is None,
        kinds.PRIORITY_CLASS: by_class or bool(snapshot.nominated),
        kinds.RESOURCE_QUOTA: True,
        kinds.SERVICE_ACCOUNT: spec.service_account_name not in {"", "default"},
    }
    here = {"", pod.metadata.namespace}
    inventory = snapshot.inventory
    unread = [(each.kind, each.why) for each in inventory.unread if each.namespace in here]
    named = (kinds.RUNTIME_CLASS, *([kinds.PRIORITY_CLASS] if by_class else []))
    absent = (kind for kind in named if not (inventory.has_all(kind) or inventory.refused(kind)))
    unread += ((kind, NONE_IN_FILES) for kind in absent)
    return tuple(UnreadKind(kind=kind, why=why, purpose=Purpose.ADMISSION) for kind, why in unread if matters.get(kind))


def limit_ranges_of(namespace: str, snapshot: Snapshot) -> list[LimitRange]:
    """Return the LimitRanges of the namespace, by name."""
    return sorted(snapshot.within(LimitRange, namespace), key=lambda found: found.metadata.name)


def _with_limits(spec: PodSpec, namespace: str, snapshot: Snapshot) -> PodSpec:
    """Return the spec with the LimitRanges' limits and requests where a container has none.

    Source: plugin/pkg/admission/limitranger/admission.go mergeContainerResources, pkg/apis/core/v1/defaults.go
    SetDefaults_LimitRangeItem (v1.36).
    """
    default_limits: dict[str, Quantity] = {}
    default_requests: dict[str, Quantity] = {}
    # differs: if several LimitRanges set the same resource, upstream takes any of them; here the first by name.
    for item in (item for found in limit_ranges_of(namespace, snapshot) for item in found.spec.limits):
        if item.type == "Container":
            # The limit defaults to the maximum, the request to the limit.
            limits = {**item.max, **item.default}
            default_limits = {**limits, **default_limits}
            default_requests = {**item.min, **limits, **item.default_request, **default_requests}

    def limited(container: Container) -> Container:
        own = container.resources
        limits, requests = {**default_limits, **own.limits}, {**default_requests, **own.requests}
        return replace(container, resources=replace(own, limits=limits, requests=requests))

    return spec.with_containers(limited)


def _with_priority(spec: PodSpec, snapshot: Snapshot) -> PodSpec:
    """Source: plugin/pkg/admission/priority/admission.go admitPod (v1.36)."""
    found = _priority_class(spec, snapshot)
    if found is None:
        return spec
    name = spec.priority_class_name or found.metadata.name
    return replace(spec, priority_class_name=name, priority=found.value, preemption_policy=found.preemption_policy)


def _priority_class(spec: PodSpec, snapshot: Snapshot) -> PriorityClass | None:
    if spec.priority_class_name:
        value = SYSTEM_PRIORITIES.get(spec.priority_class_name)
        found = snapshot.get(PriorityClass, "", spec.priority_class_name)
        return PriorityClass(value=value) if found is None and value is not None else found
    # A class that was not read may be the default.
    if snapshot.inventory.refused(kinds.PRIORITY_CLASS):
        return None
    # If there are two defaults, the lower one holds.
    defaults = [found for found in snapshot.all(PriorityClass) if found.global_default]
    return min(defaults, key=lambda found: found.value, default=PriorityClass(value=0))


def _priority_refusals(spec: PodSpec, snapshot: Snapshot) -> Iterator[Refusal]:
    found, name = _priority_class(spec, snapshot), spec.priority_class_name
    if found is None:
        if snapshot.inventory.has_all(kinds.PRIORITY_CLASS):
            message = f"no PriorityClass with name {name} was found"
            yield Refusal("priorityClassName", message, missing=f"PriorityClass {name}")
        return
    computed = "priority admission controller computed {} from the given PriorityClass name"
    if spec.priority not in {None, found.value}:
        given = f"the integer value of priority ({spec.priority}) must not be provided in pod spec"
        yield Refusal("priority", f"{given}; {computed.format(found.value)}")
    if spec.preemption_policy not in {None, found.preemption_policy}:
        given = f"the string value of PreemptionPolicy ({spec.preemption_policy}) must not be provided in pod spec"
        yield Refusal("preemptionPolicy", f"{given}; {computed.format(found.preemption_policy)}")


def _with_runtime_class(spec: PodSpec, snapshot: Snapshot) -> PodSpec:
    """Source: plugin/pkg/admission/runtimeclass/admission.go setOverhead, setScheduling (v1.36)."""
    runtime = snapshot.get(RuntimeClass, "", spec.runtime_class_name or "")
    # The Pod's own overhead stays; if it is another one, the Pod is refused.
    if runtime is not None and runtime.overhead is not None:
        spec = replace(spec, overhead=spec.overhead or runtime.overhead.pod_fixed)
    if runtime is None or runtime.scheduling is None:
        return spec
    more = (toleration for toleration in runtime.scheduling.tolerations if toleration not in spec.tolerations)
    selector = {**spec.node_selector, **runtime.scheduling.node_selector}
    return replace(spec, node_selector=selector, tolerations=(*spec.tolerations, *more))


def _runtime_class_refusals(spec: PodSpec, snapshot: Snapshot) -> Iterator[Refusal]:
    name = spec.runtime_class_name
    runtime = snapshot.get(RuntimeClass, "", name or "")
    if runtime is None and name:
        if snapshot.inventory.has_all(kinds.RUNTIME_CLASS):
            message = f'pod rejected: RuntimeClass "{name}" not found'
            yield Refusal("runtimeClassName", message, missing=f"RuntimeClass {name}")
        return
    fixed = runtime.overhead.pod_fixed if runtime and runtime.overhead else None
    if spec.overhead and fixed is None:
        message = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
        yield Refusal("overhead", message)
    elif spec.overhead and _amounts(fixed or {}) != _amounts(spec.overhead):
        yield Refusal("overhead", "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
    scheduling = runtime.scheduling if runtime else None
    for key, wanted in sorted(scheduling.node_selector.items()) if scheduling else ():
        own = spec.node_selector.get(key, wanted)
        if own != wanted:
            ours = f"runtimeClass.scheduling.nodeSelector[{key}] = {wanted}"
            yield Refusal("nodeSelector", f"conflict: {ours}; pod.spec.nodeSelector[{key}] = {own}")


def _amounts(quantities: Mapping[str, Quantity]) -> dict[str, object]:
    return {name: quantity.parse(value) for name, value in quantities.items()}


def admitted_claim(claim: PersistentVolumeClaim, snapshot: Snapshot) -> PersistentVolumeClaim:
    """Return the claim with the cluster's default StorageClass, if it leaves the class open and there is a default.

    Of several defaults the newest counts.

    Source: plugin/pkg/admission/storage/storageclass/setdefault/admission.go Admit, pkg/volume/util/storageclass.go
    GetDefaultClass (v1.36).
    """
    by_name = sorted(snapshot.all(StorageClass), key=lambda found: found.metadata.name)
    defaults = [found for found in by_name if found.is_default]
    newest = max(defaults, key=lambda found: found.metadata.creation_timestamp or "", default=None)
    if not claim.wants_default_class or newest is None:
        return claim
    return replace(claim, spec=replace(claim.spec, storage_class_name=newest.metadata.name))

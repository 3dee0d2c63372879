"""What an API server writes into Pods and claims as they are created, beyond the defaults of their own fields.

Plugins of kube-apiserver are applied in its order; each function names its own. Not modelled: PodNodeSelector,
PodTolerationRestriction, what ServiceAccounts add, webhooks and policies: ``--dry-run=server`` asks.

Source: pkg/kubeapiserver/options/plugins.go AllOrderedPlugins, registry/core/pod/strategy.go PrepareForCreate (v1.36).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from msgspec.structs import replace

from kubectl_spread import quantity
from kubectl_spread.apiserver.creation import prepared
from kubectl_spread.apiserver.defaults import defaulted
from kubectl_spread.apiserver.validation import validate, validate_template
from kubectl_spread.gaps import Purpose, UnreadKind
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import (
    Container,
    LimitRange,
    LimitRangeItem,
    Pod,
    PodSpec,
    PodTemplateSpec,
    Quantity,
    Toleration,
)
from kubectl_spread.objects.kinds import Kind
from kubectl_spread.objects.meta import ObjectMeta
from kubectl_spread.objects.pod_classes import PriorityClass, RuntimeClass
from kubectl_spread.objects.storage import PersistentVolumeClaim, StorageClass
from kubectl_spread.release import Release
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.snapshot import Snapshot

SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""PriorityClasses that every API server makes itself. Source: pkg/apis/scheduling/v1/helpers.go (v1.36)."""
NO_PRIORITY = 0
PREEMPT = "PreemptLowerPriority"
UNREACHABLE_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
TOLERATED_SECONDS = 300

_SPEC = "spec."
_TEMPLATE = "template"


class Refusal(msgspec.Struct, frozen=True):
    """Why a Pod would not be let in.

    Attributes:
        field: the field of the Pod's spec that is to blame.
        message: in the API server's words.
        reason: the kind of fault, as for a field that validation refuses.
        by_policy: whether the Pod itself is sound and could be placed: something else is missing, or leaves no room.
        missing: kind and name of what has to exist for it; empty where nothing is missing.
    """

    field: str
    message: str
    reason: str = "Forbidden"
    by_policy: bool = False
    missing: str = ""

    def __str__(self) -> str:
        """Return it with its field, where one is to blame."""
        return f"spec.{self.field}: {self.message}" if self.field else self.message


def admitted(pod: Pod, snapshot: Snapshot, profile: Profile) -> Pod:
    """Return the Pod as the API server of that release would store it."""
    return prepared(mutated(pod, snapshot, profile), profile.release)


def mutated(pod: Pod, snapshot: Snapshot, profile: Profile) -> Pod:
    """Return the Pod as webhooks would get to see it: with its defaults and those of the plugins before them."""
    pod = defaulted(pod, profile.release)
    spec = _with_limits(pod.spec, pod.metadata.namespace, snapshot)
    spec = _with_priority(spec, snapshot)
    spec = _with_default_tolerations(spec)
    spec = _with_runtime(spec, snapshot)
    return replace(pod, spec=spec)


def refusals(pod: Pod, snapshot: Snapshot) -> tuple[Refusal, ...]:
    """Return why admission would not let the Pod in, empty where it would; what was not read refuses nothing."""
    return (*_priority_refusals(pod.spec, snapshot), *_runtime_refusals(pod.spec, snapshot))


def refusals_of(pod: Pod, made: Pod, snapshot: Snapshot, release: Release) -> tuple[Refusal, ...]:
    """Return why the Pod is not created though its template was taken; empty where it is.

    A template is validated less strictly than a Pod, and before admission adds to it. What is wrong with the template
    itself is not said again: a workload that exists has passed that.

    The Pod has all that admission writes into it, but for label keys that are merged into selectors.
    """
    return (*refusals(made, snapshot), *_invalid(pod, made, release))


def _invalid(pod: Pod, made: Pod, release: Release) -> Iterator[Refusal]:
    template = PodTemplateSpec(metadata=ObjectMeta(labels=made.metadata.labels), spec=made.spec)
    known = {
        (error.field.removeprefix(f"{_TEMPLATE}."), error.message)
        for error in validate_template(template, path=_TEMPLATE, release=release)
    }
    for error in validate(pod, release=release):
        if error.field.startswith(_SPEC) and (error.field, error.message) not in known:
            yield Refusal(error.field.removeprefix(_SPEC), error.message, reason=str(error.reason))


def unknown(pod: Pod, snapshot: Snapshot) -> tuple[UnreadKind, ...]:
    """Return what admission may have written into this Pod, but was not read."""
    matters = {
        # Only what a container leaves open is filled in.
        kinds.LIMIT_RANGE: any(
            not {"cpu", "memory"} <= container.resources.requests.keys()
            for container in (*pod.spec.containers, *pod.spec.init_containers)
        ),
        kinds.RUNTIME_CLASS: bool(pod.spec.runtime_class_name),
        kinds.PRIORITY_CLASS: pod.spec.priority_class_name not in {"", *SYSTEM_PRIORITIES} or bool(snapshot.nominated),
        kinds.RESOURCE_QUOTA: True,
        kinds.SERVICE_ACCOUNT: pod.spec.service_account_name not in {"", "default"},
    }
    return tuple(
        UnreadKind(kind=kind, why=why, purpose=Purpose.ADMISSION)
        for kind, why in _unread(pod, snapshot)
        if matters[kind]
    )


READ_BY_ADMISSION = frozenset(
    (kinds.LIMIT_RANGE, kinds.RUNTIME_CLASS, kinds.PRIORITY_CLASS, kinds.RESOURCE_QUOTA, kinds.SERVICE_ACCOUNT)
)
"""What admission reads to write it into a Pod, or to refuse the Pod."""


def _unread(pod: Pod, snapshot: Snapshot) -> Iterator[tuple[Kind, str]]:
    for unread in snapshot.inventory.unread:
        if unread.kind in READ_BY_ADMISSION and unread.namespace in {"", pod.metadata.namespace}:
            yield unread.kind, unread.why
    if pod.spec.runtime_class_name and not _was_read(kinds.RUNTIME_CLASS, snapshot):
        yield kinds.RUNTIME_CLASS, "none in the files"


def _was_read(kind: Kind, snapshot: Snapshot) -> bool:
    unread = any(unread.kind == kind for unread in snapshot.inventory.unread)
    return unread or kind.plural in snapshot.inventory.resource_versions or any(snapshot.all(kind.struct))


def is_whole(kind: Kind, snapshot: Snapshot) -> bool:
    """Whether all objects of the kind are known."""
    return _was_read(kind, snapshot) and all(unread.kind != kind for unread in snapshot.inventory.unread)


def _with_limits(spec: PodSpec, namespace: str, snapshot: Snapshot) -> PodSpec:
    """Return the spec whose containers request, and are limited to, what LimitRanges say where they say nothing.

    Source: plugin/pkg/admission/limitranger/admission.go mergeContainerResources (v1.36).
    """
    item = _limits_of_containers(namespace, snapshot)

    def limited(container: Container) -> Container:
        asked = container.resources
        limits, requests = {**item.default, **asked.limits}, {**item.default_request, **asked.requests}
        return replace(container, resources=replace(asked, limits=limits, requests=requests))

    return replace(
        spec,
        containers=tuple(map(limited, spec.containers)),
        init_containers=tuple(map(limited, spec.init_containers)),
    )


def limit_ranges_of(namespace: str, snapshot: Snapshot) -> list[LimitRange]:
    """Return the LimitRanges of the namespace, by name."""
    own = (found for found in snapshot.all(LimitRange) if found.metadata.namespace == namespace)
    return sorted(own, key=lambda found: found.metadata.name)


def _limits_of_containers(namespace: str, snapshot: Snapshot) -> LimitRangeItem:
    # differs: of several LimitRanges that set the same upstream takes any; here the first by name.
    own = limit_ranges_of(namespace, snapshot)
    together = LimitRangeItem(type="Container")
    for item in (_defaulted_item(item) for found in own for item in found.spec.limits if item.type == "Container"):
        default, request = {**item.default, **together.default}, {**item.default_request, **together.default_request}
        together = replace(together, default=default, default_request=request)
    return together


def _defaulted_item(item: LimitRangeItem) -> LimitRangeItem:
    """Return the item with the defaults that its bounds imply.

    Source: pkg/apis/core/v1/defaults.go SetDefaults_LimitRangeItem (v1.36).
    """
    # A container that says nothing may use as much as is allowed, and requests all that it may use.
    default = {**item.max, **item.default}
    return replace(item, default=default, default_request={**item.min, **default, **item.default_request})


def _with_priority(spec: PodSpec, snapshot: Snapshot) -> PodSpec:
    """Return the spec with the priority of its class, or of the cluster's default one.

    Source: plugin/pkg/admission/priority/admission.go admitPod (v1.36).
    """
    found = _priority_class(spec, snapshot)
    if found is None:
        return spec
    policy = found.preemption_policy or PREEMPT
    name = spec.priority_class_name or found.metadata.name
    return replace(spec, priority_class_name=name, priority=found.value, preemption_policy=policy)


def _priority_class(spec: PodSpec, snapshot: Snapshot) -> PriorityClass | None:
    if spec.priority_class_name:
        value = SYSTEM_PRIORITIES.get(spec.priority_class_name)
        found = snapshot.get(PriorityClass, "", spec.priority_class_name)
        return PriorityClass(value=value) if found is None and value is not None else found
    # A class that was not read may be the default one.
    if any(unread.kind == kinds.PRIORITY_CLASS for unread in snapshot.inventory.unread):
        return None
    # Two may have been made the default at the same time: the lower one holds.
    defaults = [found for found in snapshot.all(PriorityClass) if found.global_default]
    return min(defaults, key=lambda found: found.value, default=PriorityClass(value=NO_PRIORITY))


def _priority_refusals(spec: PodSpec, snapshot: Snapshot) -> Iterator[Refusal]:
    found, name = _priority_class(spec, snapshot), spec.priority_class_name
    if found is None:
        if is_whole(kinds.PRIORITY_CLASS, snapshot):
            yield Refusal(
                "priorityClassName", f"no PriorityClass with name {name} was found", missing=f"PriorityClass {name}"
            )
        return
    computed = "priority admission controller computed {} from the given PriorityClass name"
    if spec.priority not in {None, found.value}:
        given = f"the integer value of priority ({spec.priority}) must not be provided in pod spec"
        yield Refusal("priority", f"{given}; {computed.format(found.value)}")
    policy = found.preemption_policy or PREEMPT
    if spec.preemption_policy not in {None, policy}:
        given = f"the string value of PreemptionPolicy ({spec.preemption_policy}) must not be provided in pod spec"
        yield Refusal("preemptionPolicy", f"{given}; {computed.format(policy)}")


def _with_default_tolerations(spec: PodSpec) -> PodSpec:
    """Return the spec that puts up with nodes that are out of reach for five minutes, unless it says otherwise.

    Source: plugin/pkg/admission/defaulttolerationseconds/admission.go Admit (v1.36).
    """
    missing = (
        Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=TOLERATED_SECONDS)
        for key in UNREACHABLE_TAINTS
        if not any(t.key in {"", key} and t.effect in {"", "NoExecute"} for t in spec.tolerations)
    )
    return replace(spec, tolerations=(*spec.tolerations, *missing))


def _with_runtime(spec: PodSpec, snapshot: Snapshot) -> PodSpec:
    """Return the spec with what its RuntimeClass takes, and bound to the nodes that support it.

    Source: plugin/pkg/admission/runtimeclass/admission.go setOverhead, setScheduling (v1.36).
    """
    runtime = _runtime_class(spec, snapshot)
    if runtime is None:
        return spec
    # What the Pod says itself stays: if it is not the same, the Pod is refused.
    if runtime.overhead is not None:
        spec = replace(spec, overhead=spec.overhead or runtime.overhead.pod_fixed)
    if runtime.scheduling is None:
        return spec
    more = (toleration for toleration in runtime.scheduling.tolerations if toleration not in spec.tolerations)
    selector = {**spec.node_selector, **runtime.scheduling.node_selector}
    return replace(spec, node_selector=selector, tolerations=(*spec.tolerations, *more))


def _runtime_class(spec: PodSpec, snapshot: Snapshot) -> RuntimeClass | None:
    return snapshot.get(RuntimeClass, "", spec.runtime_class_name) if spec.runtime_class_name else None


def _runtime_refusals(spec: PodSpec, snapshot: Snapshot) -> Iterator[Refusal]:
    runtime = _runtime_class(spec, snapshot)
    if runtime is None and spec.runtime_class_name:
        if is_whole(kinds.RUNTIME_CLASS, snapshot):
            name = spec.runtime_class_name
            message = f'pod rejected: RuntimeClass "{name}" not found'
            yield Refusal("runtimeClassName", message, missing=f"RuntimeClass {name}")
        return
    yield from _overhead_refusals(spec, runtime)
    if runtime is None or runtime.scheduling is None:
        return
    for key, wanted in sorted(runtime.scheduling.node_selector.items()):
        own = spec.node_selector.get(key, wanted)
        if own != wanted:
            ours = f"runtimeClass.scheduling.nodeSelector[{key}] = {wanted}"
            yield Refusal("nodeSelector", f"conflict: {ours}; pod.spec.nodeSelector[{key}] = {own}")


def _overhead_refusals(spec: PodSpec, runtime: RuntimeClass | None) -> Iterator[Refusal]:
    """Yield why the Pod's overhead is refused: it is the RuntimeClass's to say."""
    fixed = runtime.overhead.pod_fixed if runtime and runtime.overhead else None
    if spec.overhead and fixed is None:
        defined = "Pod Overhead set without corresponding RuntimeClass defined Overhead"
        yield Refusal("overhead", f"pod rejected: {defined}")
    elif spec.overhead and _amounts(fixed or {}) != _amounts(spec.overhead):
        yield Refusal("overhead", "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")


def _amounts(quantities: Mapping[str, Quantity]) -> dict[str, object]:
    return {name: quantity.parse(value) for name, value in quantities.items()}


def admitted_claim(claim: PersistentVolumeClaim, snapshot: Snapshot) -> PersistentVolumeClaim:
    """Return the claim with the cluster's default StorageClass, where it leaves that open and there is one.

    Source: plugin/pkg/admission/storage/storageclass/setdefault/admission.go Admit (v1.36).
    """
    default = default_class(snapshot)
    if not claim.wants_default_class or default is None:
        return claim
    return replace(claim, spec=replace(claim.spec, storage_class_name=default.metadata.name))


def default_class(snapshot: Snapshot) -> StorageClass | None:
    """Return the cluster's default StorageClass, the newest where there are several, None for none.

    Source: pkg/volume/util/storageclass.go GetDefaultClass (v1.36).
    """
    by_name = sorted(snapshot.all(StorageClass), key=lambda found: found.metadata.name)
    defaults = [found for found in by_name if found.is_default]
    return max(defaults, key=lambda found: found.metadata.creation_timestamp or "", default=None)

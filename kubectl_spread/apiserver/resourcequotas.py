"""ResourceQuotas: which Pods and other objects they count, and whether they leave room for one more.

Not counted: devices of DeviceClasses, resources from the status of a resized Pod, ports of Services, and objects of
other APIs.

Source: pkg/quota/v1/evaluator/core/pods.go, persistent_volume_claims.go, registry.go, apiserver
pkg/quota/v1/generic/evaluator.go, pkg/admission/plugin/resourcequota/controller.go CheckRequest (v1.33 to v1.37).
"""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from msgspec.structs import replace

from kubectl_spread.apiserver.quantities import Amount, Amounts, limits_together, read_amounts, requests_together
from kubectl_spread.objects.core import Pod, PodAffinityTerm, PodSpec, ResourceQuota, ScopedResourceSelectorRequirement
from kubectl_spread.objects.kinds import BY_NAME
from kubectl_spread.objects.meta import KubernetesObject
from kubectl_spread.objects.storage import PersistentVolumeClaim
from kubectl_spread.release import POD_LEVEL_RESOURCES, Release
from kubectl_spread.scheduler import resource
from kubectl_spread.snapshot import Snapshot

_REQUESTS, _LIMITS, _PODS, _OBJECTS = "requests.", "limits.", "pods", "count/pods"
_NATIVE = (resource.CPU, resource.MEMORY, resource.EPHEMERAL_STORAGE)
# Each container must set these if a quota limits them.
_MUST_BE_SET = (
    resource.CPU,
    resource.MEMORY,
    *(f"{prefix}{name}" for prefix in (_LIMITS, _REQUESTS) for name in (resource.CPU, resource.MEMORY)),
)
_ONE, _NONE = Amount(Fraction(1)), Amount(Fraction(0))


def quotas_of(namespace: str, snapshot: Snapshot) -> list[ResourceQuota]:
    """Return the quotas of the namespace, by name."""
    return sorted(snapshot.within(ResourceQuota, namespace), key=lambda quota: quota.metadata.name)


def quota_fault(pod: Pod, others: Iterable[tuple[Pod, int]], snapshot: Snapshot, release: Release) -> str:
    """Return why the first quota, by name, refuses the Pod; empty where all of its namespace leave room for it.

    ``others``: (Pod, how many are like it) for Pods that the quotas do not count yet; below zero for deleted ones.
    """
    waiting = tuple(others)
    for quota in quotas_of(pod.metadata.namespace, snapshot):
        # Until the controller sets the status, the spec holds.
        hard = read_amounts(quota.status.hard or quota.spec.hard)
        if not any(_is_of_pods(name) for name in hard) or not _counts(quota, pod.spec):
            continue
        if unset := _unset_resources(hard, pod.spec, release):
            return f"failed quota: {quota.metadata.name}: must specify {unset}"
        used = _used(quota, snapshot, release)
        for other, count in waiting:
            if _counts(quota, other.spec):
                used = resource.total((used, _times(usage(other.spec, release), count)))
        if message := _exceeded(hard, used, usage(pod.spec, release)):
            return f"exceeded quota: {quota.metadata.name}, {message}"
    return ""


def object_usage(obj: KubernetesObject) -> Amounts:
    """Return quota resource → what an object that is no Pod uses of it."""
    kind = BY_NAME[type(obj).__name__]
    names = [f"count/{kind.plural}.{kind.group}"] if kind.group else [f"count/{kind.plural}", kind.plural]
    found = dict.fromkeys(names, _ONE)
    if isinstance(obj, PersistentVolumeClaim):
        classes = [f"{obj.spec.storage_class_name}.storageclass.storage.k8s.io/"] if obj.spec.storage_class_name else []
        storage = read_amounts(obj.spec.resources.requests).get("storage")
        for prefix in ("", *classes):
            found |= {f"{prefix}{kind.plural}": _ONE} | ({f"{prefix}requests.storage": storage} if storage else {})
    return found


def objects_fault(wanted: Amounts, charged: Amounts, namespace: str, snapshot: Snapshot) -> str:
    """Return why the first quota, by name, has no room for objects that are no Pods; empty where all have.

    ``charged``: what the quotas do not count yet.
    """
    for quota in quotas_of(namespace, snapshot):
        hard = read_amounts(quota.status.hard or quota.spec.hard)
        if quota.spec.scopes or quota.spec.scope_selector.match_expressions or hard.keys().isdisjoint(wanted):
            continue
        named = (kind.struct for kind in BY_NAME.values() if any(kind.plural in name for name in hard))
        there = (obj for struct in named for obj in snapshot.within(struct, namespace))
        used = read_amounts(quota.status.used) or resource.total(map(object_usage, there))
        if message := _exceeded(hard, resource.total((used, charged)), wanted):
            return f"exceeded quota: {quota.metadata.name}, {message}"
    return ""


def usage(spec: PodSpec, release: Release) -> Amounts:
    """Return quota resource → what a Pod that has not finished uses of it."""
    requests, limits = requests_together(spec), limits_together(spec)
    if spec.resources is not None and release.enables(POD_LEVEL_RESOURCES):
        requests |= _only(read_amounts(spec.resources.requests), resource.is_pod_level)
        limits |= _only(read_amounts(spec.resources.limits), resource.is_pod_level)
    overhead = read_amounts(spec.overhead)
    limits_with_overhead = {name: limits[name] + overhead[name] for name in limits.keys() & overhead.keys()}
    return {_OBJECTS: _ONE, **_quota_amounts(resource.total((requests, overhead)), {**limits, **limits_with_overhead})}


def charge(pod: Pod, release: Release, *, ended: bool) -> Amounts:
    """Return quota resource → what a quota counts for the Pod; one that has ended is only an object.

    Source: pkg/quota/v1/evaluator/core/pods.go PodUsageFunc, QuotaV1Pod (v1.36).
    """
    return {_OBJECTS: _ONE} if ended else usage(pod.spec, release)


def with_usage(quota: ResourceQuota, charges: Iterable[tuple[Pod, Amounts, int]]) -> ResourceQuota:
    """Return the quota with a status that counts further Pods.

    ``charges``: (Pod, its charge, how many are like it); below zero for Pods that are no longer counted.
    """
    hard = quota.spec.hard or quota.status.hard
    used = dict.fromkeys(read_amounts(hard), _NONE) | read_amounts(quota.status.used)
    for pod, amounts, count in charges:
        if _counts(quota, pod.spec):
            used = resource.total((used, _only(_times(amounts, count), used.__contains__)))
    texts = {name: str(amount) for name, amount in used.items()}
    return replace(quota, status=replace(quota.status, hard=hard, used=texts))


def _quota_amounts(requests: Amounts, limits: Amounts) -> Amounts:
    found = {_PODS: _ONE}
    for name, amount in requests.items():
        native = name in _NATIVE or name.startswith(resource.HUGE_PAGES_PREFIX)
        if native:
            found[name] = amount
        if native or resource.is_extended(name):
            found[f"{_REQUESTS}{name}"] = amount
    return found | {f"{_LIMITS}{name}": amount for name, amount in limits.items() if name in _NATIVE}


def _exceeded(hard: Amounts, used: Amounts, wanted: Amounts) -> str:
    requested = {name: amount for name, amount in wanted.items() if name in hard and amount.value}
    too_much = [name for name in sorted(requested) if hard[name] < used.get(name, _NONE) + requested[name]]
    if not too_much:
        return ""
    lists = (("requested", requested), ("used", used), ("limited", hard))
    return ", ".join(
        f"{title}: {','.join(f'{name}={amounts.get(name, _NONE)}' for name in too_much)}" for title, amounts in lists
    )


def _unset_resources(hard: Amounts, spec: PodSpec, release: Release) -> str:
    own = spec.resources if release.enables(POD_LEVEL_RESOURCES) else None
    if own is not None and any(map(resource.is_pod_level, (*own.requests, *own.limits))):
        return ""
    given = [
        (each.name, _quota_amounts(read_amounts(each.resources.requests), read_amounts(each.resources.limits)))
        for each in (*spec.containers, *spec.init_containers)
    ]
    asked = sorted(_MUST_BE_SET & hard.keys())
    unset = {name: sorted({container for container, amounts in given if name not in amounts}) for name in asked}
    return "; ".join(f"{name} for: {','.join(containers)}" for name, containers in unset.items() if containers)


def _used(quota: ResourceQuota, snapshot: Snapshot, release: Release) -> Amounts:
    if quota.status.used:
        return read_amounts(quota.status.used)
    used: Amounts = {}
    for pod in snapshot.within(Pod, quota.metadata.namespace):
        if _counts(quota, pod.spec):
            used = resource.total((used, charge(pod, release, ended=pod.finished)))
    return used


def _times(amounts: Amounts, count: int) -> Amounts:
    return {name: Amount(amount.value * count, amount.binary) for name, amount in amounts.items()}


def _only(amounts: Amounts, is_wanted: Callable[[str], bool]) -> Amounts:
    return {name: amount for name, amount in amounts.items() if is_wanted(name)}


def _is_of_pods(name: str) -> bool:
    requested = name.removeprefix(_REQUESTS)
    limited = name.startswith(_LIMITS) and name.removeprefix(_LIMITS) in _NATIVE
    native = requested in _NATIVE or requested.startswith(resource.HUGE_PAGES_PREFIX)
    return name in {_PODS, _OBJECTS} or native or limited or (requested != name and resource.is_extended(requested))


def _counts(quota: ResourceQuota, spec: PodSpec) -> bool:
    plain = (ScopedResourceSelectorRequirement(scope_name=name, operator="Exists") for name in quota.spec.scopes)
    return all(_is_in_scope(spec, scope) for scope in (*plain, *quota.spec.scope_selector.match_expressions))


def _is_in_scope(spec: PodSpec, scope: ScopedResourceSelectorRequirement) -> bool:
    match scope.scope_name:
        case "Terminating" | "NotTerminating" as name:
            return (spec.active_deadline_seconds is not None) == (name == "Terminating")
        case "BestEffort" | "NotBestEffort" as name:
            return _is_best_effort(spec) == (name == "BestEffort")
        case "PriorityClass" if scope.operator in {"In", "NotIn"}:
            return (spec.priority_class_name in scope.values) == (scope.operator == "In")
        case "PriorityClass":
            return bool(spec.priority_class_name) == (scope.operator == "Exists")
        case "CrossNamespacePodAffinity":
            return any(term.namespaces or term.namespace_selector is not None for term in _pod_affinity_terms(spec))
        case _:
            return False


def _is_best_effort(spec: PodSpec) -> bool:
    """Source: pkg/apis/core/v1/helper/qos/qos.go ComputePodQOS (v1.36)."""
    own = (spec.resources,) if spec.resources is not None else ()
    all_resources = (*own, *(container.resources for container in (*spec.containers, *spec.init_containers)))
    stated = (read_amounts(quantities) for each in all_resources for quantities in (each.requests, each.limits))
    asked = (amounts.get(name) for amounts in stated for name in (resource.CPU, resource.MEMORY))
    return not any(amount is not None and amount.value for amount in asked)


def _pod_affinity_terms(spec: PodSpec) -> Iterator[PodAffinityTerm]:
    both = (spec.affinity.pod_affinity, spec.affinity.pod_anti_affinity) if spec.affinity else ()
    for affinity in filter(None, both):
        yield from (*affinity.required, *(weighted.pod_affinity_term for weighted in affinity.preferred))

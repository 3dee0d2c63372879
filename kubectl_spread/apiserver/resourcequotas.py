"""ResourceQuotas: which Pods of a namespace they count, and when one more is too many.

Not counted: devices of DeviceClasses, and resources that a Pod's status says it was resized to.

Source: pkg/quota/v1/evaluator/core/pods.go, apiserver pkg/admission/plugin/resourcequota/controller.go CheckRequest
(v1.33 to v1.37).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction

from msgspec.structs import replace

from kubectl_spread.apiserver.quantities import (
    Amount,
    Amounts,
    Format,
    limits_together,
    read_amounts,
    requests_together,
)
from kubectl_spread.objects.core import (
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    ResourceQuota,
    ScopedResourceSelectorRequirement,
)
from kubectl_spread.release import POD_LEVEL_RESOURCES, Release
from kubectl_spread.scheduler.resource import (
    CPU,
    EPHEMERAL_STORAGE,
    HUGE_PAGES_PREFIX,
    MEMORY,
    is_extended,
    is_pod_level,
    total,
)
from kubectl_spread.snapshot import Snapshot

_REQUESTS, _LIMITS, _PODS, _OBJECTS = "requests.", "limits.", "pods", "count/pods"
_NATIVE = (CPU, MEMORY, EPHEMERAL_STORAGE)
# A quota on one of these is a duty to say how much is wanted.
_MUST_BE_SAID = (CPU, MEMORY, *(f"{prefix}{name}" for prefix in (_LIMITS, _REQUESTS) for name in (CPU, MEMORY)))
_ONE, _NONE = (Amount(Fraction(value), Format.DECIMAL_SI) for value in (1, 0))


def quota_fault(pod: Pod, others: Iterable[tuple[Pod, int]], snapshot: Snapshot, release: Release) -> str:
    """Return why the quotas of the Pod's namespace leave no room for it, empty where they do; the first by name.

    ``others``: Pods that the quotas' status does not count yet, with how many are like each; below zero if gone.
    """
    namespace, waiting = pod.metadata.namespace, tuple(others)
    own = (quota for quota in snapshot.all(ResourceQuota) if quota.metadata.namespace == namespace)
    for quota in sorted(own, key=lambda quota: quota.metadata.name):
        # A controller fills in the status; until then what the spec asks for counts.
        hard = read_amounts(quota.status.hard or quota.spec.hard)
        if not any(_is_of_pods(name) for name in hard) or not _counts(quota, pod.spec):
            continue
        if unsaid := _unsaid(hard, pod.spec, release):
            return f"failed quota: {quota.metadata.name}: must specify {unsaid}"
        used = _used(quota, snapshot, release)
        for other, count in waiting:
            if _counts(quota, other.spec):
                used = total((used, _times(usage(other.spec, release), count)))
        if message := _exceeded(hard, used, usage(pod.spec, release)):
            return f"exceeded quota: {quota.metadata.name}, {message}"
    return ""


def usage(spec: PodSpec, release: Release) -> Amounts:
    """Return what a Pod that has not finished takes of quotas, by the resources they may name."""
    requests, limits = requests_together(spec), limits_together(spec)
    if spec.resources is not None and release.enables(POD_LEVEL_RESOURCES):
        requests |= _only(read_amounts(spec.resources.requests), is_pod_level)
        limits |= _only(read_amounts(spec.resources.limits), is_pod_level)
    overhead = read_amounts(spec.overhead)
    limits_with_overhead = {name: limits[name] + overhead[name] for name in limits.keys() & overhead.keys()}
    return {_OBJECTS: _ONE, **_of_resources(total((requests, overhead)), {**limits, **limits_with_overhead})}


def charge(pod: Pod, release: Release, *, ended: bool) -> Amounts:
    """Return what a Pod is counted for: one that has ended is nothing but an object.

    Source: pkg/quota/v1/evaluator/core/pods.go PodUsageFunc, QuotaV1Pod (v1.36).
    """
    return {_OBJECTS: _ONE} if ended else usage(pod.spec, release)


def with_usage(quota: ResourceQuota, charges: Iterable[tuple[Pod, Amounts, int]]) -> ResourceQuota:
    """Return the quota as its status counts Pods that it did not count so far.

    ``charges``: (Pod, what it takes, how many are like it); below zero for such as are counted no longer.
    """
    hard = quota.spec.hard or quota.status.hard
    used = dict.fromkeys(read_amounts(hard), _NONE) | read_amounts(quota.status.used)
    for pod, amounts, count in charges:
        if _counts(quota, pod.spec):
            used = total((used, _only(_times(amounts, count), used.__contains__)))
    said = {name: str(amount) for name, amount in used.items()}
    return replace(quota, status=replace(quota.status, hard=hard, used=said))


def _of_resources(requests: Amounts, limits: Amounts) -> Amounts:
    found = {_PODS: _ONE}
    for name, amount in requests.items():
        if name in _NATIVE or name.startswith(HUGE_PAGES_PREFIX):
            found[name] = amount
        if name in _NATIVE or name.startswith(HUGE_PAGES_PREFIX) or is_extended(name):
            found[f"{_REQUESTS}{name}"] = amount
    return found | {f"{_LIMITS}{name}": amount for name, amount in limits.items() if name in _NATIVE}


def _exceeded(hard: Amounts, used: Amounts, wanted: Amounts) -> str:
    asked = {name: amount for name, amount in wanted.items() if name in hard and amount.value}
    too_much = [name for name in sorted(asked) if hard[name] < used.get(name, _NONE) + asked[name]]
    if not too_much:
        return ""
    lists = (("requested", asked), ("used", used), ("limited", hard))
    return ", ".join(
        f"{title}: {','.join(f'{name}={amounts.get(name, _NONE)}' for name in too_much)}" for title, amounts in lists
    )


def _unsaid(hard: Mapping[str, Amount], spec: PodSpec, release: Release) -> str:
    if spec.resources is not None and release.enables(POD_LEVEL_RESOURCES):
        pod_level = {*spec.resources.requests, *spec.resources.limits}
        if any(map(is_pod_level, pod_level)):
            return ""
    given = [
        (container.name, _of_resources(*map(read_amounts, (container.resources.requests, container.resources.limits))))
        for container in (*spec.containers, *spec.init_containers)
    ]
    missing = {
        name: sorted({container for container, amounts in given if name not in amounts})
        for name in sorted(_MUST_BE_SAID)
        if name in hard
    }
    return "; ".join(f"{name} for: {','.join(silent)}" for name, silent in missing.items() if silent)


def _used(quota: ResourceQuota, snapshot: Snapshot, release: Release) -> Amounts:
    """Return what is used: as the quota says, else of the namespace's Pods."""
    if quota.status.used:
        return read_amounts(quota.status.used)
    used: Amounts = {}
    for pod in snapshot.all(Pod):
        if pod.metadata.namespace == quota.metadata.namespace and _counts(quota, pod.spec):
            used = total((used, charge(pod, release, ended=pod.finished)))
    return used


def _times(amounts: Amounts, count: int) -> Amounts:
    return {name: Amount(amount.value * count, amount.format) for name, amount in amounts.items()}


def _only(amounts: Amounts, wanted: Callable[[str], bool]) -> Amounts:
    return {name: amount for name, amount in amounts.items() if wanted(name)}


def _is_of_pods(name: str) -> bool:
    asked = name.removeprefix(_REQUESTS)
    limited = name.startswith(_LIMITS) and name.removeprefix(_LIMITS) in _NATIVE
    extended = name.startswith(_REQUESTS) and is_extended(asked)
    return name in {_PODS, _OBJECTS} or asked in _NATIVE or limited or extended or asked.startswith(HUGE_PAGES_PREFIX)


def _counts(quota: ResourceQuota, spec: PodSpec) -> bool:
    plain = (ScopedResourceSelectorRequirement(scope_name=name, operator="Exists") for name in quota.spec.scopes)
    return all(_is_of_scope(scope, spec) for scope in (*plain, *quota.spec.scope_selector.match_expressions))


def _is_of_scope(scope: ScopedResourceSelectorRequirement, spec: PodSpec) -> bool:
    match scope.scope_name:
        case "Terminating":
            return spec.active_deadline_seconds is not None
        case "NotTerminating":
            return spec.active_deadline_seconds is None
        case "BestEffort":
            return _is_best_effort(spec)
        case "NotBestEffort":
            return not _is_best_effort(spec)
        case "PriorityClass":
            return _has_class(scope, spec.priority_class_name)
        case _:
            crosses = (term.namespaces or term.namespace_selector is not None for term in _terms(spec))
            return scope.scope_name == "CrossNamespacePodAffinity" and any(crosses)


def _has_class(scope: ScopedResourceSelectorRequirement, name: str) -> bool:
    match scope.operator:
        case "In":
            return name in scope.values
        case "NotIn":
            return name not in scope.values
        case operator:
            return bool(name) == (operator == "Exists")


def _is_best_effort(spec: PodSpec) -> bool:
    """Whether nothing of the Pod says how much it wants.

    Source: pkg/apis/core/v1/helper/qos/qos.go ComputePodQOS (v1.36).
    """
    own = (spec.resources,) if spec.resources is not None else ()
    asked = (*own, *(container.resources for container in (*spec.containers, *spec.init_containers)))
    return not any(
        amount.value
        for resources in asked
        for quantities in (resources.requests, resources.limits)
        for name, amount in read_amounts(quantities).items()
        if name in {CPU, MEMORY}
    )


def _terms(spec: PodSpec) -> Iterator[PodAffinityTerm]:
    if spec.affinity is None:
        return
    both: tuple[PodAffinity | None, ...] = (spec.affinity.pod_affinity, spec.affinity.pod_anti_affinity)
    for affinity in filter(None, both):
        yield from affinity.required_during_scheduling_ignored_during_execution
        for weighted in affinity.preferred_during_scheduling_ignored_during_execution:
            yield weighted.pod_affinity_term

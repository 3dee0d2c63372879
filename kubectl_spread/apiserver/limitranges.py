"""Bounds that LimitRanges set for what Pods, their containers and claims ask for.

Source: plugin/pkg/admission/limitranger/admission.go PodValidateLimitFunc, PersistentVolumeClaimValidateLimitFunc
(v1.33 to v1.37).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from kubectl_spread.apiserver.admission import limit_ranges_of
from kubectl_spread.apiserver.quantities import Amount, Amounts, limits_together, read_amounts, requests_together
from kubectl_spread.objects.core import LimitRange, LimitRangeItem, Pod, PodSpec, ResourceRequirements
from kubectl_spread.release import POD_LEVEL_RESOURCES, Release
from kubectl_spread.scheduler.resource import is_pod_level
from kubectl_spread.snapshot import Snapshot

Bound: TypeAlias = Callable[[str, str, Amount, Amounts, Amounts], str]
"""(type, resource, bound, requests, limits) → what is wrong; empty where nothing is."""


def bound_faults(pod: Pod, snapshot: Snapshot, release: Release) -> tuple[str, ...]:
    """Return, for each LimitRange of the Pod's namespace, by name, that it breaks: everything that is wrong.

    The Pod is as admission has completed it.
    """
    own = limit_ranges_of(pod.metadata.namespace, snapshot)
    faults = (tuple(dict.fromkeys(_faults(limit_range, pod, release))) for limit_range in own)
    # Source: apimachinery pkg/util/errors/errors.go aggregate.Error (v1.36).
    return tuple(once[0] if len(once) == 1 else f"[{', '.join(once)}]" for once in faults if once)


def _faults(limit_range: LimitRange, pod: Pod, release: Release) -> Iterator[str]:
    for item in limit_range.spec.limits:
        if item.type == "Container":
            for container in (*pod.spec.containers, *pod.spec.init_containers):
                yield from _item_faults(item, *_amounts(container.resources))
        elif item.type == "Pod":
            yield from _item_faults(item, *_of_pod(pod.spec, release))


def _amounts(resources: ResourceRequirements) -> tuple[Amounts, Amounts]:
    return read_amounts(resources.requests), read_amounts(resources.limits)


def _of_pod(spec: PodSpec, release: Release) -> tuple[Amounts, Amounts]:
    """Return what the whole Pod requests, and its limits; overhead is left out."""
    requests, limits = requests_together(spec), limits_together(spec)
    if spec.resources is None or not release.enables(POD_LEVEL_RESOURCES):
        return requests, limits
    own_requests, own_limits = (
        {name: amount for name, amount in amounts.items() if is_pod_level(name)} for amounts in _amounts(spec.resources)
    )
    return {**requests, **own_requests}, {**limits, **own_limits}


def _item_faults(item: LimitRangeItem, requests: Amounts, limits: Amounts) -> Iterator[str]:
    """Yield which bounds are broken, in the order of the resources' names where Go's is random."""
    bounds: tuple[tuple[Mapping[str, str | int | float], Bound], ...] = (
        (item.min, _minimum),
        (item.max, _maximum),
        (item.max_limit_request_ratio, _ratio),
    )
    for of_resources, check in bounds:
        for name, bound in read_amounts(of_resources).items():
            if fault := check(item.type, name, bound, requests, limits):
                yield fault


def _minimum(kind: str, name: str, bound: Amount, requests: Amounts, limits: Amounts) -> str:
    message = f"minimum {name} usage per {kind} is {bound}"
    if name not in requests:
        return f"{message}.  No request is specified"
    if requests[name] < bound:
        return f"{message}, but request is {requests[name]}"
    return f"{message}, but limit is {limits[name]}" if name in limits and limits[name] < bound else ""


def _maximum(kind: str, name: str, bound: Amount, requests: Amounts, limits: Amounts) -> str:
    message = f"maximum {name} usage per {kind} is {bound}"
    if name not in limits:
        return f"{message}.  No limit is specified"
    if bound < limits[name]:
        return f"{message}, but limit is {limits[name]}"
    return f"{message}, but request is {requests[name]}" if name in requests and bound < requests[name] else ""


def _ratio(kind: str, name: str, bound: Amount, requests: Amounts, limits: Amounts) -> str:
    message = f"{name} max limit to request ratio per {kind} is {bound}"
    if name not in requests or not requests[name].value:
        return f"{message}, but no request is specified or request is 0"
    if name not in limits or not limits[name].value:
        return f"{message}, but no limit is specified or limit is 0"
    ratio = limits[name].value / requests[name].value
    return f"{message}, but provided ratio is {float(ratio):f}" if ratio > bound.value else ""

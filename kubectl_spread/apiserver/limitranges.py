"""The bounds of LimitRanges for the requests and limits of Pods and containers.

Source: plugin/pkg/admission/limitranger/admission.go PodValidateLimitFunc (v1.33 to v1.37).
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.apiserver.admission import limit_ranges_of
from kubectl_spread.apiserver.quantities import Amounts, limits_together, read_amounts, requests_together
from kubectl_spread.objects.core import LimitRange, LimitRangeItem, Pod, PodSpec, ResourceRequirements
from kubectl_spread.release import POD_LEVEL_RESOURCES, Release
from kubectl_spread.scheduler.resource import is_pod_level
from kubectl_spread.snapshot import Snapshot


def bound_faults(pod: Pod, snapshot: Snapshot, release: Release) -> tuple[str, ...]:
    """Return why LimitRanges of the Pod's namespace refuse it: one message for each LimitRange, by name.

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
            yield from _item_faults(item, *_amounts_of_pod(pod.spec, release))


def _amounts(resources: ResourceRequirements) -> tuple[Amounts, Amounts]:
    return read_amounts(resources.requests), read_amounts(resources.limits)


def _amounts_of_pod(spec: PodSpec, release: Release) -> tuple[Amounts, Amounts]:
    """Return the requests and the limits of the whole Pod, without overhead."""
    requests, limits = requests_together(spec), limits_together(spec)
    if spec.resources is not None and release.enables(POD_LEVEL_RESOURCES):
        for amounts, own in zip((requests, limits), _amounts(spec.resources), strict=True):
            amounts |= {name: amount for name, amount in own.items() if is_pod_level(name)}
    return requests, limits


def _item_faults(item: LimitRangeItem, requests: Amounts, limits: Amounts) -> Iterator[str]:
    """Yield which bounds are broken, by resource; Go's order is random."""
    amounts = {"request": requests, "limit": limits}
    for word, bounds, fields, sign in (
        ("minimum", item.min, ("request", "limit"), 1),
        ("maximum", item.max, ("limit", "request"), -1),
    ):
        for name, bound in read_amounts(bounds).items():
            message = f"{word} {name} usage per {item.type} is {bound}"
            given = {field: amounts[field][name] for field in fields if name in amounts[field]}
            broken = [field for field, amount in given.items() if sign * amount.value < sign * bound.value]
            if fields[0] not in given:
                yield f"{message}.  No {fields[0]} is specified"
            elif broken:
                yield f"{message}, but {broken[0]} is {given[broken[0]]}"
    for name, bound in read_amounts(item.max_limit_request_ratio).items():
        message = f"{name} max limit to request ratio per {item.type} is {bound}"
        zero = [field for field, given in amounts.items() if name not in given or not given[name].value]
        if zero:
            yield f"{message}, but no {zero[0]} is specified or {zero[0]} is 0"
        elif (ratio := limits[name].value / requests[name].value) > bound.value:
            yield f"{message}, but provided ratio is {float(ratio):f}"

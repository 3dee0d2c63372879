"""Requests and limits of containers and of whole Pods, and overhead.

Source: pkg/apis/core/validation/validation.go validateResourceRequirements, pkg/apis/core/helper/helpers.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypeAlias

from kubectl_spread import quantity
from kubectl_spread.apimachinery import as_json, label_key_faults, quoted
from kubectl_spread.apiserver.quantities import Amount, limits_together, read_amounts, requests_together, unreadable
from kubectl_spread.apiserver.validation.field_errors import Errors, forbidden, invalid, items, not_supported, required
from kubectl_spread.objects.core import PodSpec, Quantity, ResourceRequirements
from kubectl_spread.scheduler.resource import HUGE_PAGES_PREFIX, is_pod_level

NameRule: TypeAlias = Callable[[str, str], Errors]
"""(path, resource) → the errors of its name."""

_CPU_AND_MEMORY = ("cpu", "memory")
_OF_POD = ("cpu", HUGE_PAGES_PREFIX, "memory")
_OF_CONTAINER = frozenset((*_CPU_AND_MEMORY, "ephemeral-storage"))
_NATIVE = "kubernetes.io/"
_QUOTA = "requests."
_COUNTED = frozenset(("pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps"))
_COUNTED |= {"persistentvolumeclaims", "services.nodeports", "services.loadbalancers"}
_STANDARD = {f"{prefix}{name}" for prefix in ("", "requests.", "limits.") for name in _OF_CONTAINER} | _COUNTED
_STANDARD |= {"storage", "requests.storage"}
_NO_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def container_resource_errors(path: str, resources: ResourceRequirements) -> Errors:
    """Yield the errors of a container's requests and limits."""
    return _requirement_errors(path, resources, _container_name_errors)


def overhead_errors(path: str, overhead: Mapping[str, Quantity]) -> Errors:
    """Yield the errors of a Pod's overhead."""
    # upstream: overhead is validated as if it were a container's limits, and reported at ``overhead.limits``.
    return container_resource_errors(path, ResourceRequirements(limits=dict(overhead)))


def pod_resource_errors(path: str, spec: PodSpec) -> Errors:
    """Yield the errors of Pod-level resources: by themselves, and beside those of the containers."""
    if spec.resources is None:
        return
    yield from _requirement_errors(path, spec.resources, _pod_name_errors)
    requests, limits = read_amounts(spec.resources.requests), read_amounts(spec.resources.limits)
    for name, amount in requests_together(spec).items():
        if name in requests and amount.value > requests[name].value:
            detail = f"must be greater than or equal to aggregate container requests of {amount}"
            yield invalid(f"{path}.requests[{name}]", quoted(str(requests[name])), detail)
    # The Pod's limit caps what its containers use together, except for huge pages, which must add up.
    for name, amount in limits_together(spec).items():
        if name.startswith(HUGE_PAGES_PREFIX) and name in limits and amount.value > limits[name].value:
            detail = f"must be greater than or equal to aggregate container limits of {amount}"
            yield invalid(f"{path}.limits[{name}]", quoted(str(limits[name])), detail)
    # upstream: reported at ``resources.containers[index][resource].limits``, a path that does not exist.
    for place, container in items(f"{path}.containers", spec.containers):
        for name, amount in read_amounts(container.resources.limits).items():
            if name in limits and amount.value > limits[name].value:
                detail = f"must be less than or equal to pod limits of {limits[name]}"
                yield invalid(f"{place}[{name}].limits", quoted(str(amount)), detail)


def _requirement_errors(path: str, resources: ResourceRequirements, name_errors: NameRule) -> Errors:
    limits, requests = read_amounts(resources.limits), read_amounts(resources.requests)
    for field, quantities, amounts in (
        (f"{path}.limits", resources.limits, limits),
        (f"{path}.requests", resources.requests, requests),
    ):
        # differs: the API server cannot decode such an object and answers 400 with these words.
        for name, text in sorted(quantities.items()):
            if unreadable(text):
                yield invalid(f"{field}[{name}]", quoted(str(text)), _NO_QUANTITY)
        for name, amount in amounts.items():
            place = f"{field}[{name}]"
            yield from name_errors(place, name)
            if amount.value < 0:
                yield invalid(place, quoted(str(amount)), "must be greater than or equal to 0")
            if (name in _COUNTED or _is_extended(name)) and amount.value.denominator != 1:
                yield invalid(place, quoted(str(amount)), "must be an integer")
            if amounts is requests:
                yield from _limit_errors(path, name, amount, limit=limits.get(name))
            page_size = name.removeprefix(HUGE_PAGES_PREFIX)
            if page_size != name and not _divides(page_size, amount.value):
                yield invalid(place, quoted(str(amount)), f"{amount} is not positive integer multiple of {name}")
    names = {*limits, *requests}
    if any(name.startswith(HUGE_PAGES_PREFIX) for name in names) and names.isdisjoint(_CPU_AND_MEMORY):
        yield forbidden(path, "HugePages require cpu or memory")


def _limit_errors(path: str, name: str, amount: Amount, *, limit: Amount | None) -> Errors:
    # upstream: reported at ``requests`` and ``limits``, without the resource.
    may_overcommit = _is_native(name) and not name.startswith(HUGE_PAGES_PREFIX)
    if limit is None:
        if not may_overcommit:
            yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")
    elif amount.value != limit.value and not may_overcommit:
        yield invalid(f"{path}.requests", quoted(str(amount)), f"must be equal to {name} limit of {limit}")
    elif amount.value > limit.value:
        yield invalid(f"{path}.requests", quoted(str(amount)), f"must be less than or equal to {name} limit of {limit}")


def _divides(page_size: str, amount: Fraction) -> bool:
    """Whether an amount of bytes is so many whole huge pages; the size of a page is the end of the resource's name."""
    if unreadable(page_size):
        return False
    size = quantity.parse(page_size)
    # Less than a byte counts as one.
    return size > 0 and size.denominator == 1 and -(-amount // 1) % size == 0


def _container_name_errors(path: str, name: str) -> Errors:
    yield from _name_errors(path, name)
    if "/" not in name:
        if name not in _OF_CONTAINER and not name.startswith(HUGE_PAGES_PREFIX):
            yield invalid(path, as_json(name), "must be a standard resource for containers")
    elif not _is_native(name) and not _is_extended(name):
        yield invalid(path, as_json(name), "doesn't follow extended resource name standard")


def _pod_name_errors(path: str, name: str) -> Errors:
    errors = tuple(_name_errors(path, name))
    yield from errors
    if not errors and not is_pod_level(name):
        yield not_supported(path, name, _OF_POD)


def _name_errors(path: str, name: str) -> Errors:
    faults = tuple(label_key_faults(name))
    yield from (invalid(path, as_json(name), fault) for fault in faults)
    known = name in _STANDARD or name.removeprefix(_QUOTA).startswith(HUGE_PAGES_PREFIX)
    if not faults and "/" not in name and not known:
        yield invalid(path, as_json(name), "must be a standard resource type or fully qualified")


def _is_native(name: str) -> bool:
    return "/" not in name or _NATIVE in name


def _is_extended(name: str) -> bool:
    return not _is_native(name) and not name.startswith(_QUOTA) and not any(label_key_faults(f"{_QUOTA}{name}"))

"""Requests and limits of containers and of whole Pods, and overhead.

Source: pkg/apis/core/validation/validation.go validateResourceRequirements, pkg/apis/core/helper/helpers.go (v1.36).
"""

from collections.abc import Mapping

from kubectl_spread.apimachinery import quoted
from kubectl_spread.apiserver.quantities import Amount, limits_together, read_amounts, requests_together, unreadable
from kubectl_spread.apiserver.validation.field_errors import Errors, invalid, items, required
from kubectl_spread.objects.core import PodSpec, Quantity, ResourceRequirements
from kubectl_spread.scheduler.resource import HUGE_PAGES_PREFIX

_NATIVE = "kubernetes.io/"
_NO_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def overhead_errors(path: str, overhead: Mapping[str, Quantity]) -> Errors:
    """Yield the errors of a Pod's overhead."""
    # upstream: overhead is validated as if it were a container's limits, and reported at ``overhead.limits``.
    return container_resource_errors(path, ResourceRequirements(limits=dict(overhead)))


def pod_resource_errors(path: str, spec: PodSpec) -> Errors:
    """Yield the errors of Pod-level resources: by themselves, and beside those of the containers."""
    if spec.resources is None:
        return
    yield from container_resource_errors(path, spec.resources)
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


def container_resource_errors(path: str, resources: ResourceRequirements) -> Errors:
    """Yield the errors of a container's requests and limits, or a Pod's; not of the resources' names."""
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
            if amount.value < 0:
                yield invalid(place, quoted(str(amount)), "must be greater than or equal to 0")
            if not _is_native(name) and amount.value.denominator != 1:
                yield invalid(place, quoted(str(amount)), "must be an integer")
            if amounts is requests:
                yield from _limit_errors(path, name, amount, limit=limits.get(name))


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


def _is_native(name: str) -> bool:
    return "/" not in name or _NATIVE in name

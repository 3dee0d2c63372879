"""The smallest case that still shows something: objects are dropped, then fields of the Pod, then of what is left."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tests.conformance.generate import Case

Shows = Callable[[Sequence[Case]], Sequence[bool]]
"""Whether each of several cases still shows it; asked of many at a time, for starting a scheduler costs more."""

_OPTIONAL = ("config", "featureGates")
_BATCH = 64
_REQUIRED = frozenset(
    (
        *("apiVersion", "kind", "metadata", "name", "namespace", "uid", "spec", "schedulerName", "containers", "image"),
        *("topologyKey", "maxSkew", "whenUnsatisfiable", "operator", "key", "values", "effect", "weight", "preference"),
        *(
            "containerPort",
            "podAffinityTerm",
            "startTime",
            "provisioner",
            "capacity",
            "accessModes",
            "ownerReferences",
            "type",
        ),
    )
)
"""Fields without which the API server would not take an object; a case that lost one would show something else."""


def smallest(case: Case, shows: Shows) -> Case:
    """Return the case without everything that can go while it shows the same."""
    before: Case = {}
    while case != before:
        before = case
        for parts in (_without_objects, _without_options, _without_pod_fields, _without_object_fields):
            case = _shrunk(case, parts, shows)
    return case


def _shrunk(case: Case, parts: Callable[[Case], Iterator[Case]], shows: Shows) -> Case:
    """Return the case after taking every smaller one that shows the same, first come first taken."""
    smaller = list(parts(case))
    start = 0
    while start < len(smaller):
        batch = smaller[start : start + _BATCH]
        found = next((one for one, shown in zip(batch, shows(batch), strict=True) if shown), None)
        if found is None:
            start += _BATCH
        else:
            case, start = found, 0
            smaller = list(parts(case))
    return case


def _without_objects(case: Case) -> Iterator[Case]:
    """Yield the case without half its objects, a quarter and so on, down to one."""
    objects = case["objects"]
    size = len(objects) // 2
    while size:
        for start in range(0, len(objects), size):
            yield case | {"objects": [*objects[:start], *objects[start + size :]]}
        size //= 2


def _without_options(case: Case) -> Iterator[Case]:
    """Yield the case without its configuration, and without its feature gates."""
    for name in _OPTIONAL:
        if name in case:
            yield {key: value for key, value in case.items() if key != name}


def _without_pod_fields(case: Case) -> Iterator[Case]:
    """Yield the case with one field less in its Pod."""
    for pod in _without_one(case["pod"]):
        yield case | {"pod": pod}


def _without_object_fields(case: Case) -> Iterator[Case]:
    """Yield the case with one field less in one of its objects."""
    for index, found in enumerate(case["objects"]):
        for smaller in _without_one(found):
            yield case | {"objects": [*case["objects"][:index], smaller, *case["objects"][index + 1 :]]}


def _says_when(value: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
    """Whether it is a Pod's status with its start: among Pods without one kube-scheduler chooses by its own clock."""
    return isinstance(value, Mapping) and "startTime" in value


def _without_one(value: Any) -> Iterator[Any]:  # noqa: ANN401 - whatever JSON holds
    """Yield the value without one of its fields or entries, the outer ones first; no list is emptied."""
    if isinstance(value, Mapping):
        for key in value:
            if key in _REQUIRED or _says_when(value[key]):
                continue
            yield {name: kept for name, kept in value.items() if name != key}
        for key, inner in value.items():
            for smaller in _without_one(inner):
                yield {**value, key: smaller}
    elif isinstance(value, list):
        for index in range(len(value) if len(value) > 1 else 0):
            yield [*value[:index], *value[index + 1 :]]
        for index, inner in enumerate(value):
            for smaller in _without_one(inner):
                yield [*value[:index], smaller, *value[index + 1 :]]

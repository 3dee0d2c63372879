"""Living Pods of one template as they would be of another: what webhooks inject stays when the template changes.

Source: kube-apiserver calls its webhooks for every Pod that is created, of whatever revision (v1.36).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from kubectl_spread.apiserver.creation import unmerged
from kubectl_spread.objects.core import Container, Pod, PodSpec

_T = TypeVar("_T")


def as_of(living: Pod, old: Pod, new: Pod) -> Pod:
    """Return the living Pod, made from ``old``, as it would be made from ``new``: both as admission completes them.

    A field that is the same in both stays as the living Pod has it. Of any other, only what was added stays.
    """
    labels = _mapping(old.metadata.labels, new.metadata.labels, living.metadata.labels)
    metadata = replace(living.metadata, labels=labels)
    return replace(living, metadata=metadata, spec=_spec(old.spec, new.spec, unmerged(living.spec)))


def _spec(old: PodSpec, new: PodSpec, living: PodSpec) -> PodSpec:
    changed = {name for name in PodSpec.__struct_fields__ if getattr(old, name) != getattr(new, name)}
    # The priority follows from the class, which may not have been read.
    changed |= {"priority", "preemption_policy"} if "priority_class_name" in changed else set()
    values = {
        name: _MERGES.get(name, _template)(*(getattr(each, name) for each in (old, new, living))) for name in changed
    }
    return replace(living, **values)


def _template(_old: _T, new: _T, _living: _T) -> _T:
    return new


def _mapping(old: Mapping[str, _T], new: Mapping[str, _T], living: Mapping[str, _T]) -> dict[str, _T]:
    return {**new, **{k: v for k, v in living.items() if old.get(k) != v and old.get(k) == new.get(k)}}


def _items(old: Sequence[_T], new: Sequence[_T], living: Iterable[_T]) -> tuple[_T, ...]:
    return (*new, *(each for each in living if each not in old and each not in new))


def _containers(old: Sequence[Container], new: Sequence[Container], living: Sequence[Container]) -> list[Container]:
    was, there = ({each.name: each for each in containers} for containers in (old, living))
    names = {*was, *(each.name for each in new)}
    kept = (_container(was.get(each.name), each, there[each.name]) for each in new if each.name in there)
    return [*kept, *(each for each in living if each.name not in names)]


def _container(old: Container | None, new: Container, living: Container) -> Container:
    if old is None:
        return new
    was, wanted, has = old.resources, new.resources, living.resources
    resources = replace(
        wanted,
        requests=_mapping(was.requests, wanted.requests, has.requests),
        limits=_mapping(was.limits, wanted.limits, has.limits),
    )
    return replace(new, resources=resources, ports=_items(old.ports, new.ports, living.ports))


# Field → the function that merges its values in the old template, the new one and a living Pod.
_MERGES: Mapping[str, Callable[..., Any]] = {
    "node_selector": _mapping,
    "overhead": _mapping,
    "containers": _containers,
    "init_containers": _containers,
    **dict.fromkeys(("tolerations", "topology_spread_constraints", "volumes", "resource_claims"), _items),
}

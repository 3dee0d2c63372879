"""Quantities, selectors and update strategies that no API server accepts, and the objects that have them.

Files may have them, and objects that were stored before Kubernetes 1.26.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import msgspec

from kubectl_spread import quantity
from kubectl_spread.errors import ManifestError
from kubectl_spread.manifest_problem import ManifestProblem
from kubectl_spread.objects.core import Quantity
from kubectl_spread.objects.meta import LabelSelector, parse_label_selector
from kubectl_spread.objects.workloads import UpdateStrategy
from kubectl_spread.snapshot import Snapshot

ValueT = TypeVar("ValueT")


@contextmanager
def reporting_bad_objects(source: str, snapshot: Snapshot) -> Iterator[None]:
    """Replace the engine's ValueError by a ManifestError that names the source, which is the context or files.

    It lists every quantity, selector and update strategy of the cluster that cannot be parsed.
    """
    try:
        yield
    except ValueError as error:
        problems = [
            ManifestProblem(source, why, field=f"{struct.__name__} {'/'.join(filter(None, key))}, {path}")
            for struct, objects in snapshot.objects.items()
            for key, obj in objects.items()
            for path, why in find_malformed(obj)
        ]
        if not problems:
            raise
        raise ManifestError(problems, hint="an API server would refuse it") from error


def find_malformed(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield (field path, why) for every quantity, selector and update strategy in the value that cannot be parsed."""
    if isinstance(value, LabelSelector):
        yield from _parse_error(parse_label_selector, value, path)
    elif isinstance(value, UpdateStrategy):
        from kubectl_spread.controllers.rolling_update import fenceposts

        yield from _parse_error(lambda strategy: fenceposts(strategy, 1), value, path)
    elif isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            found, below = getattr(value, field.name), f"{path}.{field.encode_name}".removeprefix(".")
            if field.type == dict[str, Quantity]:
                for name, amount in found.items():
                    yield from _parse_error(quantity.parse, amount, f"{below}.{name}")
            else:
                yield from find_malformed(found, below)
    elif isinstance(value, tuple):
        for index, each in enumerate(value):
            yield from find_malformed(each, f"{path}[{index}]")


def _parse_error(parse: Callable[[ValueT], object], value: ValueT, path: str) -> Iterator[tuple[str, str]]:
    try:
        parse(value)
    except ValueError as error:
        yield path, str(error)

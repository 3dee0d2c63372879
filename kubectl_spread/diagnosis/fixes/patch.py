"""JSON patches: building them, and applying them to objects of a snapshot.

The same patch is applied here and printed, so the report claims only what was tried.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from kubectl_spread.diagnosis.fixes.change import JsonValue, PatchOperation
from kubectl_spread.objects.core import Node, Pod, PodTemplateSpec
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.meta import Plain

ObjectT = TypeVar("ObjectT", bound=Pod | Node | PodTemplateSpec)


def set_to(path: str, value: JsonValue) -> PatchOperation:
    """Return the operation that sets a field, whether or not it exists."""
    return PatchOperation(op="add", path=path, value=value)


def remove(path: str) -> PatchOperation:
    """Return the operation that removes a field or an item."""
    return PatchOperation(op="remove", path=path)


def append(path: str, items: Sequence[object], value: JsonValue) -> PatchOperation:
    """Return the operation that adds a value to a list with these items; a missing list is created."""
    return PatchOperation(op="add", path=f"{path}/-", value=value) if items else set_to(path, [value])


def pointer(*steps: str | int) -> str:
    """Return the JSON pointer of the steps."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def field_of(path: str) -> str:
    """Return a pointer as the API writes fields: ``containers[0].name``, ``nodeSelector[kubernetes.io/os]``."""
    steps = (step for step in steps_of(path) if step != "-")
    keys = (f"[{step}]" if step.isdecimal() or "." in step or "/" in step else f".{step}" for step in steps)
    return "".join(keys).lstrip(".")


def value_at(path: str, document: Plain) -> Plain:
    """Return the value at a pointer, None if there is none."""
    for step in steps_of(path):
        if isinstance(document, dict):
            document = document.get(step)
        elif isinstance(document, list) and step.isdecimal() and int(step) < len(document):
            document = document[int(step)]
        else:
            return None
    return document


def steps_of(path: str) -> list[str]:
    """Return the steps of a pointer."""
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def patched(obj: ObjectT, operations: Iterable[PatchOperation]) -> ObjectT:
    """Return the object after the operations.

    Raises:
        LookupError: a path does not exist.
        DecodeError: the result is not such an object.
    """
    document = msgspec.json.decode(msgspec.json.encode(obj))
    for operation in operations:
        _apply_in_place(document, operation)
    return convert(document, type(obj))


def _apply_in_place(document: JsonValue, operation: PatchOperation) -> None:
    *parents, last = steps_of(operation.path)
    for step in parents:
        document = document[int(step)] if isinstance(document, list) else document[step]
    if isinstance(document, list):
        index = len(document) if last == "-" else int(last)
        if operation.op == "add":
            document.insert(index, operation.value)
        elif operation.op == "remove":
            del document[index]
        else:
            document[index] = operation.value
    elif operation.op == "remove":
        del document[last]
    else:
        document[last] = operation.value

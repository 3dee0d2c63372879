"""Conclusions as ``-o json`` has them: their fields in camelCase, with what ``leaves.LEAVES`` adds and leaves out.

A conclusion is a Struct of the engine. Its form is the Struct from which JSON and the schema are made: the conclusion's
own type if nothing below it differs, so that most values are encoded as they are.
"""

import importlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, reduce
from operator import or_
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, UNSET, UnsetType
from msgspec.structs import FieldInfo, fields

from kubectl_spread.contract.leaf import Add, Leaf
from kubectl_spread.contract.leaves import LEAVES


class Plan(msgspec.Struct, frozen=True):
    """How values of a type of conclusions become JSON."""

    form: type[msgspec.Struct]  # the Struct that JSON has
    passed: tuple[str, ...] = ()  # the fields that are the same there
    converted: tuple[str, ...] = ()  # those that hold conclusions with forms of their own
    added: tuple[tuple[Add, bool], ...] = ()  # the further fields, and whether each needs the connection flags


def to_form(value: Any, flags: Sequence[str] = ()) -> Any:  # noqa: ANN401 - a conclusion, or what one holds
    """Return a conclusion in its form, with these connection flags in the commands."""
    if isinstance(value, msgspec.Struct):
        plan = plan_of(type(value))
        if plan.form is type(value):
            return value
        values = {name: getattr(value, name) for name in plan.passed}
        values |= {name: to_form(getattr(value, name), flags) for name in plan.converted}
        values |= {add.__name__: to_form(add(value, *[flags] * with_flags), flags) for add, with_flags in plan.added}
        return plan.form(**values)
    if isinstance(value, tuple | list):
        return tuple(to_form(part, flags) for part in value)
    if isinstance(value, Mapping):
        return {key: to_form(part, flags) for key, part in value.items()}
    return value


def form_of(conclusion: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Return the Struct from which JSON and schema of a type of conclusions are made."""
    return plan_of(conclusion).form


@cache
def plan_of(conclusion: type[msgspec.Struct]) -> Plan:
    """Return how values of the type become JSON: as those of its base that ``LEAVES`` has."""
    family = next((base for base in conclusion.__mro__ if base in LEAVES), conclusion)
    if family is not conclusion:
        return plan_of(family)
    leaf = LEAVES.get(conclusion, Leaf())
    own = {field.name: field for field in _fields(conclusion, leaf)}
    forms = {name: mapped(field.type) for name, field in own.items()}
    converted = tuple(name for name, field in own.items() if forms[name] is not field.type)
    names = zip(conclusion.__struct_fields__, conclusion.__struct_encode_fields__, strict=True)
    if not (leaf.added or leaf.left_out or converted) and all(_camel(name) == encoded for name, encoded in names):
        return Plan(conclusion)
    config = conclusion.__struct_config__
    definitions = {name: (name, forms[name], _default(field)) for name, field in own.items()}
    for add in leaf.added:
        returned = get_type_hints(add)["return"]
        default = UNSET if UnsetType in get_args(returned) else NODEFAULT
        definitions[add.__name__] = (add.__name__, mapped(returned), default)
    # A field that stands for one of the conclusion has its place.
    form = msgspec.defstruct(
        conclusion.__name__,
        [
            definitions[name]
            for name in dict.fromkeys((*conclusion.__struct_fields__, *definitions))
            if name in definitions
        ],
        module=conclusion.__module__,
        namespace={"__doc__": conclusion.__doc__, "conclusion": conclusion},
        rename=_camel,
        tag_field=config.tag_field,
        tag=config.tag,
        kw_only=True,
        frozen=True,
        gc=False,
    )
    passed = tuple(name for name in own if name not in converted)
    return Plan(form, passed, converted, tuple((add, len(inspect.signature(add).parameters) > 1) for add in leaf.added))


def mapped(annotation: Any) -> Any:  # noqa: ANN401 - any annotation
    """Return the annotation with the form of each type of conclusions; itself if none differs."""
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return plan_of(annotation).form
    arguments = get_args(annotation)
    if not arguments or get_origin(annotation) is Literal:
        return annotation
    forms = tuple(mapped(argument) for argument in arguments)
    if all(form is argument for form, argument in zip(forms, arguments, strict=True)):
        return annotation
    origin = get_origin(annotation)
    return reduce(or_, forms) if origin in {Union, UnionType} else origin[forms]


def meanings(form: type[msgspec.Struct]) -> Mapping[str, str]:
    """Return added field → its meaning."""
    leaf = LEAVES.get(getattr(form, "conclusion", form), Leaf())
    return {add.__name__: " ".join(inspect.cleandoc(add.__doc__ or "").removesuffix(".").split()) for add in leaf.added}


def _fields(conclusion: type[msgspec.Struct], leaf: Leaf) -> Iterator[FieldInfo]:
    """Yield the fields that JSON has; the types of those that it has not may be unknown at run time."""
    left_out = leaf.left_out | {add.__name__ for add in leaf.added}
    if left_out.isdisjoint(conclusion.__struct_fields__):
        yield from fields(conclusion)
        return
    hints = dict[str, Any]()
    for base in reversed(conclusion.__mro__):
        kept = {name: hint for name, hint in vars(base).get("__annotations__", {}).items() if name not in left_out}
        part = type(base.__name__, (), {"__annotations__": kept})
        hints |= get_type_hints(part, vars(importlib.import_module(base.__module__)))
    needed = len(conclusion.__struct_fields__) - len(conclusion.__struct_defaults__)
    defaults = (*[NODEFAULT] * needed, *conclusion.__struct_defaults__)
    for name, default in zip(conclusion.__struct_fields__, defaults, strict=True):
        if name in hints:
            yield FieldInfo(name=name, encode_name=_camel(name), type=hints[name], default=default)


def _default(field: FieldInfo) -> Any:  # noqa: ANN401 - any default
    if field.default_factory is not NODEFAULT:
        return msgspec.field(default_factory=field.default_factory)
    return field.default


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))

"""A field that the API server refuses, and the rules that many fields share.

Source: apimachinery pkg/util/validation/field/errors.go (v1.36).
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from enum import StrEnum
from typing import TypeAlias, TypeVar

import msgspec

from kubectl_spread.apimachinery import as_json, quoted

ItemT = TypeVar("ItemT")
Errors: TypeAlias = Iterator["FieldError"]  # The errors of an object or of a part of it, in the API server's order


class Reason(StrEnum):
    """The kind of fault, as in ``causes[].reason`` of the API server's answer."""

    REQUIRED = "FieldValueRequired"
    INVALID = "FieldValueInvalid"
    NOT_SUPPORTED = "FieldValueNotSupported"
    DUPLICATE = "FieldValueDuplicate"
    FORBIDDEN = "FieldValueForbidden"
    NOT_FOUND = "FieldValueNotFound"
    TOO_MANY = "FieldValueTooMany"
    TOO_LONG = "FieldValueTooLong"
    TYPE_INVALID = "FieldValueTypeInvalid"
    UNKNOWN_FIELD = "UnknownField"
    NO_KIND_MATCH = "NoKindMatch"
    NO_NAMESPACE = "NotFound"
    CONFLICT = "FieldManagerConflict"
    NOT_SENT = "NotSent"


# The faults for which kubectl itself stops: it sends nothing.
OF_KUBECTL = frozenset((Reason.NOT_SENT, Reason.NO_KIND_MATCH))


_TITLES = {
    Reason.REQUIRED: "Required value",
    Reason.INVALID: "Invalid value",
    Reason.NOT_SUPPORTED: "Unsupported value",
    Reason.DUPLICATE: "Duplicate value",
    Reason.FORBIDDEN: "Forbidden",
    Reason.NOT_FOUND: "Not found",
}


class FieldError(msgspec.Struct, frozen=True):
    """A field that the API server refuses."""

    field: str  # its path, such as `spec.topologySpreadConstraints[0].maxSkew`; empty for the whole object
    reason: str  # a `Reason`, or another one that an API server gives
    message: str  # what kubectl prints after the path, such as `Invalid value: 0: must be greater than zero`

    def __str__(self) -> str:
        """Return the error as kubectl prints it."""
        return ": ".join(filter(None, (self.field, self.message)))


class ValidationWarning(msgspec.Struct, frozen=True):
    """What applying a manifest also does, and its author may not expect."""

    field: str
    message: str

    def __str__(self) -> str:
        """Return the warning as it is printed after "Warning: "."""
        return f"{self.field}: {self.message}"


def required(path: str, detail: str = "") -> FieldError:
    """Return the error of a field that must be set."""
    return _error(path, Reason.REQUIRED, detail)


def invalid(path: str, value: str | int, detail: str) -> FieldError:
    """Return the error of a malformed value; text is given as ``quoted`` or ``as_json`` returns it."""
    return _error(path, Reason.INVALID, str(value), detail)


def not_supported(path: str, value: object, supported: Iterable[str]) -> FieldError:
    """Return the error of a value that is not in the list; ``value`` is as ``as_json`` takes it."""
    known = ", ".join(map(quoted, supported))
    return _error(path, Reason.NOT_SUPPORTED, as_json(value), f"supported values: {known}")


def duplicate(path: str, value: str) -> FieldError:
    """Return the error of a value that the list already has."""
    return _error(path, Reason.DUPLICATE, quoted(value))


def not_found(path: str, value: str, detail: str = "") -> FieldError:
    """Return the error of a reference to a name that does not exist."""
    return _error(path, Reason.NOT_FOUND, quoted(value), detail)


def forbidden(path: str, detail: str) -> FieldError:
    """Return the error of a field that must not be set here."""
    return _error(path, Reason.FORBIDDEN, detail)


def _error(path: str, reason: Reason, *parts: str) -> FieldError:
    return FieldError(path, reason, ": ".join((_TITLES[reason], *filter(None, parts))))


def count_errors(path: str, count: int | None) -> Errors:
    """Yield the error of a number below zero."""
    if count is not None and count < 0:
        yield invalid(path, count, "must be greater than or equal to 0")


def choice_errors(path: str, value: str, known: Collection[str], *, optional: bool = False) -> Errors:
    """Yield the error of a value that is not in the list; an ``optional`` one may be empty."""
    if value not in known and (value or not optional):
        yield not_supported(path, value, known)


def text_errors(path: str, text: str, faults: Callable[[str], Iterable[str]]) -> Errors:
    """Yield the errors of a text, which ``faults`` words."""
    return (invalid(path, quoted(text), fault) for fault in faults(text))


def name_errors(path: str, name: str, faults: Callable[[str], Iterable[str]], detail: str = "") -> Errors:
    """Yield the errors of a name, which must be set; ``detail`` is why."""
    return text_errors(path, name, faults) if name else iter((required(path, detail),))


def items(path: str, values: Iterable[ItemT]) -> Iterator[tuple[str, ItemT]]:
    """Yield (path, item) for each item of the list at ``path``."""
    return ((f"{path}[{index}]", value) for index, value in enumerate(values))

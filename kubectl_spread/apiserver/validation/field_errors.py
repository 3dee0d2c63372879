"""One thing the API server would refuse, and values as Go prints them in its messages.

Source: apimachinery pkg/util/validation/field/errors.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TypeAlias

import msgspec

from kubectl_spread.apimachinery import as_json, quoted

Errors: TypeAlias = Iterator["FieldError"]
"""What the rules of a subject yield."""


class Reason(StrEnum):
    """Why a field is refused, as ``causes[].reason`` of the API server's answer says it."""

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


_TITLES = {
    Reason.REQUIRED: "Required value",
    Reason.INVALID: "Invalid value",
    Reason.NOT_SUPPORTED: "Unsupported value",
    Reason.DUPLICATE: "Duplicate value",
    Reason.FORBIDDEN: "Forbidden",
    Reason.NOT_FOUND: "Not found",
    Reason.TOO_MANY: "Too many",
    Reason.TOO_LONG: "Too long",
}


class FieldError(msgspec.Struct, frozen=True):
    """A field the API server would refuse.

    Attributes:
        field: its path, such as ``spec.topologySpreadConstraints[0].maxSkew``.
        reason: the kind of fault.
        message: what kubectl prints behind the path, such as ``Invalid value: 0: must be greater than zero``.
    """

    field: str
    reason: Reason
    message: str

    def __str__(self) -> str:
        """Return the error as kubectl prints it."""
        return f"{self.field}: {self.message}"


def required(path: str, detail: str = "") -> FieldError:
    """Return the error of a field that must be set."""
    return _error(path, Reason.REQUIRED, detail)


def invalid(path: str, value: str | int, detail: str) -> FieldError:
    """Return the error of a malformed value; text is given as ``quoted`` or ``as_json`` returns it."""
    return _error(path, Reason.INVALID, str(value), detail)


def count_errors(path: str, count: int | None) -> Errors:
    """Yield the error of a number below zero."""
    if count is not None and count < 0:
        yield invalid(path, count, "must be greater than or equal to 0")


def not_supported(path: str, value: object, supported: Iterable[str]) -> FieldError:
    """Return the error of a value, text or as ``as_json`` takes it, that is not among those of its type."""
    known = ", ".join(map(quoted, supported))
    return _error(path, Reason.NOT_SUPPORTED, as_json(value), f"supported values: {known}")


def duplicate(path: str, value: str) -> FieldError:
    """Return the error of a value that stands there twice."""
    return _error(path, Reason.DUPLICATE, quoted(value))


def not_found(path: str, value: str) -> FieldError:
    """Return the error of a name that nothing else has."""
    return _error(path, Reason.NOT_FOUND, quoted(value))


def forbidden(path: str, detail: str) -> FieldError:
    """Return the error of a field that must not be set, under these circumstances."""
    return _error(path, Reason.FORBIDDEN, detail)


def too_many(path: str, actual: int, most: int) -> FieldError:
    """Return the error of a list that is too long."""
    return _error(path, Reason.TOO_MANY, str(actual), f"must have at most {most} items")


def too_long(path: str, most: int) -> FieldError:
    """Return the error of a value that is too long."""
    return _error(path, Reason.TOO_LONG, f"may not be more than {most} bytes")


def _error(path: str, reason: Reason, *parts: str) -> FieldError:
    return FieldError(path, reason, ": ".join((_TITLES[reason], *filter(None, parts))))

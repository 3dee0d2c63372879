"""Tolerations.

Source: pkg/apis/core/validation/validation.go ValidateTolerations (v1.36), apimachinery pkg/api/validate/content
decimal_int.go.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kubectl_spread.apimachinery import as_json, label_key_faults, label_value_faults, quoted
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    choice_errors,
    invalid,
    items,
    not_supported,
    text_errors,
)
from kubectl_spread.labels import is_int64
from kubectl_spread.objects.core import Toleration
from kubectl_spread.release import NUMERIC_TOLERATIONS, Release

_NO_EXECUTE = "NoExecute"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", _NO_EXECUTE)
_OPERATORS = ("Equal", "Exists")
_NUMERIC_OPERATORS = ("Lt", "Gt")
_DECIMAL = re.compile("0|-?[1-9][0-9]*", re.ASCII)
_INTEGER = re.compile("[-+]?[0-9]+", re.ASCII)


def toleration_errors(path: str, tolerations: Sequence[Toleration], release: Release) -> Errors:
    """Yield the errors of all tolerations."""
    for place, toleration in items(path, tolerations):
        if toleration.key:
            yield from text_errors(f"{place}.key", toleration.key, label_key_faults)
        elif toleration.operator != "Exists":
            detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            yield invalid(f"{place}.operator", as_json(toleration.operator), detail)
        if toleration.toleration_seconds is not None and toleration.effect != _NO_EXECUTE:
            detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield invalid(f"{place}.effect", as_json(toleration.effect), detail)
        yield from _operator_errors(place, toleration, release)
        yield from choice_errors(f"{place}.effect", toleration.effect, _EFFECTS, optional=True)


def _operator_errors(path: str, toleration: Toleration, release: Release) -> Errors:
    # upstream: a value that does not suit Equal or Exists is reported at ``operator``.
    place, value = f"{path}.operator", toleration.value
    match toleration.operator:
        case "" | "Equal":
            if faults := ";".join(label_value_faults(value)):
                yield invalid(place, quoted(value), faults)
        case "Exists":
            if value:
                yield invalid(place, quoted(value), "value must be empty when `operator` is 'Exists'")
        case "Lt" | "Gt" if release.enables(NUMERIC_TOLERATIONS):
            yield from _number_errors(f"{path}.value", value)
        case operator:
            # upstream: while the gate is off, Lt and Gt are refused and yet listed among the supported values.
            known = _OPERATORS + (_NUMERIC_OPERATORS if operator in _NUMERIC_OPERATORS else ())
            yield not_supported(place, operator, known if release.knows(NUMERIC_TOLERATIONS) else _OPERATORS)


def _number_errors(path: str, value: str) -> Errors:
    # Two rules read the number, so a wrong one is reported twice: for its form and for its range.
    if not value:
        yield invalid(path, quoted(value), "must be non-empty")
    elif not _DECIMAL.fullmatch(value):
        yield invalid(path, quoted(value), "must be a valid decimal integer in canonical form")
    if not is_int64(value):
        fault = "value out of range" if _INTEGER.fullmatch(value) else "invalid syntax"
        yield invalid(path, quoted(value), f"strconv.ParseInt: parsing {quoted(value)}: {fault}")

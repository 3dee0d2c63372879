"""Tolerations.

Source: pkg/apis/core/validation/validation.go ValidateTolerations (v1.36), apimachinery pkg/api/validate/content
decimal_int.go.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kubectl_spread.apimachinery import as_json, label_value_faults, quoted
from kubectl_spread.apiserver.validation.field_errors import Errors, invalid, not_supported
from kubectl_spread.apiserver.validation.names import label_key_errors
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
    for index, toleration in enumerate(tolerations):
        place = f"{path}[{index}]"
        yield from _key_errors(place, toleration)
        # Only a NoExecute taint evicts, so only then is there anything to wait for.
        if toleration.toleration_seconds is not None and toleration.effect != _NO_EXECUTE:
            detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield invalid(f"{place}.effect", as_json(toleration.effect), detail)
        yield from _operator_errors(place, toleration, release)
        if toleration.effect and toleration.effect not in _EFFECTS:
            yield not_supported(f"{place}.effect", toleration.effect, _EFFECTS)


def _key_errors(path: str, toleration: Toleration) -> Errors:
    if toleration.key:
        yield from label_key_errors(f"{path}.key", toleration.key)
    elif toleration.operator != "Exists":
        detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(f"{path}.operator", as_json(toleration.operator), detail)


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
        # upstream: with the gate off the two are refused, but listed among what is supported.
        case "Lt" | "Gt" if release.knows(NUMERIC_TOLERATIONS):
            yield not_supported(place, toleration.operator, _OPERATORS + _NUMERIC_OPERATORS)
        case _:
            yield not_supported(place, toleration.operator, _OPERATORS)


def _number_errors(path: str, value: str) -> Errors:
    if not value:
        yield invalid(path, quoted(value), "must be non-empty")
    # Two rules look at the number, so a wrong one is told twice: of its form, and of its range.
    elif not _DECIMAL.fullmatch(value):
        yield invalid(path, quoted(value), "must be a valid decimal integer in canonical form")
    if not is_int64(value):
        fault = "value out of range" if _INTEGER.fullmatch(value) else "invalid syntax"
        yield invalid(path, quoted(value), f"strconv.ParseInt: parsing {quoted(value)}: {fault}")

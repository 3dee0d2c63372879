"""Amounts of resources, exact, and printed in Go's canonical form.

Source: apimachinery pkg/api/resource/quantity.go, pkg/apis/core/v1/defaults.go SetDefaults_ResourceList (v1.36).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import msgspec

from kubectl_spread import quantity
from kubectl_spread.objects.core import PodSpec, Quantity
from kubectl_spread.objects.meta import Plain
from kubectl_spread.scheduler.resource import aggregate

_BINARY_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL_SUFFIXES = ("m", "", "k", "M", "G", "T", "P", "E")
_RESOURCES = ("requests", "limits", "overhead")
_KIBI = 1024


@dataclass(frozen=True, slots=True)
class Amount:
    """A quantity as the API server stores it, rounded up to a thousandth; ``binary``: it is printed as 512Mi is."""

    value: Fraction
    binary: bool = False

    def __add__(self, other: Amount) -> Amount:
        """Return the sum, in the notation of the first amount that is not zero."""
        return Amount(self.value + other.value, self.binary if self.value else other.binary)

    def __lt__(self, other: Amount) -> bool:
        """Whether the value is less, in any notation."""
        return self.value < other.value

    def __str__(self) -> str:
        """Return the amount in Go's canonical form, in which the API server prints most amounts."""
        if not self.value:
            return "0"
        if self.binary and abs(self.value) >= _KIBI and self.value.denominator == 1:
            return _with_suffix(self.value.numerator, _KIBI, _BINARY_SUFFIXES)
        return _with_suffix(int(self.value * 1000), 1000, _DECIMAL_SUFFIXES)


Amounts: TypeAlias = dict[str, Amount]  # Resource → how much of it


def read_amount(given: Quantity) -> Amount:
    """Return the amount; ValueError if the text is not a quantity."""
    value = quantity.parse(given)
    milli = value * 1000
    # The API stores nothing finer than a thousandth. It rounds away from zero.
    rounded = -(-abs(milli.numerator) // milli.denominator)
    return Amount(Fraction(rounded if value > 0 else -rounded, 1000), str(given).strip(" ").endswith("i"))


def read_amounts(resources: Mapping[str, Quantity]) -> Amounts:
    """Return resource → amount, by name; quantities that cannot be parsed are left out."""
    return {name: read_amount(text) for name, text in sorted(resources.items()) if not unreadable(text)}


def unreadable(text: Quantity) -> bool:
    """Whether the text is no quantity."""
    try:
        quantity.parse(text)
    except ValueError:
        return True
    return False


def as_stored(value: object, *, as_json: bool = False) -> Plain:
    """Return plain values as an API server may store them: with every default, and each quantity in one spelling.

    ``as_json``: whether fields have their names in JSON, and not those of the types.
    """
    if isinstance(value, msgspec.Struct):
        names = value.__struct_encode_fields__ if as_json else value.__struct_fields__
        value = {name: getattr(value, field) for name, field in zip(names, value.__struct_fields__, strict=True)}
    if isinstance(value, dict):
        return {
            str(key): {name: quantity.in_one_spelling(amount) for name, amount in each.items()}
            if key in _RESOURCES and isinstance(each, dict)
            else as_stored(each, as_json=as_json)
            for key, each in value.items()
        }
    if isinstance(value, tuple):
        return [as_stored(each, as_json=as_json) for each in value]
    assert value is None or isinstance(value, str | int | float | bool)  # noqa: S101 - an object holds nothing else
    return value


def requests_together(spec: PodSpec) -> Amounts:
    """Return resource → what the Pod's containers request together."""
    return aggregate(spec, lambda container: read_amounts(container.resources.requests), {})


def limits_together(spec: PodSpec) -> Amounts:
    """Return resource → the limits of the Pod's containers together."""
    return aggregate(spec, lambda container: read_amounts(container.resources.limits), {})


def _with_suffix(number: int, factor: int, suffixes: tuple[str, ...]) -> str:
    power = 0
    while power < len(suffixes) - 1 and number % factor == 0:
        number, power = number // factor, power + 1
    return f"{number}{suffixes[power]}"

"""Amounts of resources, exact, and printed as Go prints them.

Source: apimachinery pkg/api/resource/quantity.go, pkg/apis/core/v1/defaults.go SetDefaults_ResourceList (v1.36).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

import msgspec

from kubectl_spread import quantity
from kubectl_spread.objects.core import PodSpec, Quantity
from kubectl_spread.objects.meta import Plain
from kubectl_spread.scheduler.resource import aggregate

_BINARY_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL_SUFFIXES = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_EXPONENTS = {suffix: exponent for exponent, suffix in _DECIMAL_SUFFIXES.items()}
_PARTS = re.compile(r"[-+]?0*([0-9]*)(?:\.([0-9]*))?(.*)", re.ASCII)
_MILLI = -3
_RESOURCES = ("requests", "limits", "overhead")
_KIBI = 1024


class Format(Enum):
    """The notation of an amount: it is printed as it was written."""

    DECIMAL_SI = "500m"
    BINARY_SI = "512Mi"
    DECIMAL_EXPONENT = "5e3"


@dataclass(frozen=True, slots=True)
class Amount:
    """A quantity as the API server stores it, rounded up to a thousandth.

    Attributes:
        text: the amount as it was written, if Go prints that and not the canonical form; otherwise empty.
    """

    value: Fraction
    format: Format
    text: str = field(default="", compare=False)

    def __add__(self, other: Amount) -> Amount:
        """Return the sum, in the notation of the first amount that is not zero."""
        return Amount(self.value + other.value, self.format if self.value else other.format)

    def __lt__(self, other: Amount) -> bool:
        """Whether the value is less, in any notation."""
        return self.value < other.value

    def __str__(self) -> str:
        """Return the amount as the API server's messages print it."""
        if self.text or not self.value:
            return self.text or "0"
        if self.format is Format.BINARY_SI and abs(self.value) >= _KIBI and self.value.denominator == 1:
            number, power = _without_factor(self.value.numerator, _KIBI, most=len(_BINARY_SUFFIXES) - 1)
            return f"{number}{_BINARY_SUFFIXES[power]}"
        number, power = _without_factor(int(self.value * 1000), 1000, most=7)
        exponent = 3 * power + _MILLI
        if self.format is Format.DECIMAL_EXPONENT:
            return f"{number}e{exponent}" if exponent else str(number)
        return f"{number}{_DECIMAL_SUFFIXES[exponent]}"


Amounts: TypeAlias = dict[str, Amount]
"""Resource → how much of it."""


def read_amount(given: Quantity) -> Amount:
    """Return the amount.

    Raises:
        ValueError: the text is not a quantity.
    """
    value = quantity.parse(given)
    milli = value * 1000
    # The API stores nothing finer than a thousandth. It rounds away from zero.
    rounded = -(-abs(milli.numerator) // milli.denominator)
    written = str(given).strip(" ")
    suffix = _parts(written)[2]
    style = Format.DECIMAL_SI if suffix in _EXPONENTS else Format.DECIMAL_EXPONENT
    style = Format.BINARY_SI if suffix.endswith("i") else style
    text = written if _keeps_text(written, style) else ""
    return Amount(Fraction(rounded if value > 0 else -rounded, 1000), style, text)


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


def _keeps_text(text: str, style: Format) -> bool:
    """Whether Go prints the quantity as it was written: ``1500m``, but also ``1.500``."""
    number, fraction, suffix = _parts(text)
    # ParseQuantity keeps the text if the digits show that no larger suffix fits: for powers of 1024 they are not a
    # multiple of eight, for powers of 1000 they do not end in three zeros.
    if style is Format.BINARY_SI:
        return not fraction and int(number or "0") % 8 != 0
    digits = (number or "0") + fraction
    exponent = _EXPONENTS[suffix] if style is Format.DECIMAL_SI else int(suffix[1:])
    scale = exponent - len(fraction)
    return scale % 3 == 0 and scale >= _MILLI and not digits.endswith("000") and not digits.startswith("0")


def _parts(text: str) -> tuple[str, str, str]:
    number, fraction, suffix = _PARTS.findall(text)[0]
    return number, fraction, suffix


def _without_factor(number: int, factor: int, *, most: int) -> tuple[int, int]:
    """Return the number divided by a power of the factor, and the power; ``most`` is the largest."""
    power = 0
    while power < most and number % factor == 0:
        number, power = number // factor, power + 1
    return number, power

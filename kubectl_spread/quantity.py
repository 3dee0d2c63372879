"""Kubernetes quantities such as ``100m``, ``1.5``, ``2e3`` and ``512Mi``, exactly.

Source: apimachinery pkg/api/resource/quantity.go ParseQuantity (v1.36).
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

# Suffix → multiplier. The empty suffix is part of the decimal series.
MULTIPLIERS = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
}
NANO = 10**9
MAX_INT64 = 2**63 - 1

# differs: upstream reads a number without any digit, such as "m" or ".", as zero.
# Possessive: a megabyte of digits is tried in one way alone.
_QUANTITY = re.compile(r"([+-]?)([0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE]([+-]?[0-9]+)|([numkMGTPE]|[KMGTPE]i)?)", re.ASCII)


def milli_value(quantity: str | float) -> int:
    """Return the quantity in thousandths, rounded up: the unit of CPU requests (millicores).

    Raises:
        ValueError: the text is not a quantity.

    Source: quantity.go Quantity.MilliValue (v1.36).
    """
    return _ceil(parse(quantity) * 1000)


def value(quantity: str | float) -> int:
    """Return the quantity in whole units, rounded up: bytes of memory, counts of everything else.

    Raises:
        ValueError: the text is not a quantity.

    Source: quantity.go Quantity.Value (v1.36).
    """
    return _ceil(parse(quantity))


@lru_cache(maxsize=4096)
def parse(quantity: str | float) -> Fraction:
    """Return the exact amount, rounded up to a billionth and capped at the largest int64.

    Raises:
        ValueError: the text is not a quantity.

    Source: quantity.go ParseQuantity and UnmarshalJSON, which trims blanks (v1.36).
    """
    text = str(quantity).strip(" ")
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a quantity: want a number with an optional suffix, such as 500m, 2 or 1.5Gi")
    sign, digits, exponent, suffix = match.groups()
    # differs: upstream caps the binary series alone; any other amount wraps around int64, and may become zero.
    amount = min(_amount(digits, exponent, suffix or ""), Fraction(MAX_INT64))
    return -amount if sign == "-" else amount


def _amount(digits: str, exponent: str | None, suffix: str) -> Fraction:
    """Return the unsigned amount, rounded up to a billionth."""
    number = Fraction(digits.removesuffix("."))
    if exponent is None:
        return Fraction(_ceil(number * MULTIPLIERS[suffix] * NANO), NANO)
    power = int(exponent)
    if abs(power) > MAX_INT64:
        raise ValueError(f"the exponent {exponent} is out of range")
    # Beyond these powers the amount is below a billionth or above an int64 whatever the digits say.
    power = max(min(power, 20 + len(digits)), -20 - len(digits))
    return Fraction(_ceil(number * Fraction(10) ** power * NANO), NANO)


def _ceil(amount: Fraction) -> int:
    """Round up; below zero, where the API server admits no amount of a resource, away from zero."""
    rounded = -(-abs(amount.numerator) // amount.denominator)
    return -rounded if amount < 0 else rounded

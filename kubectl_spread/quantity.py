"""Kubernetes quantities such as ``100m``, ``1.5``, ``2e3`` and ``512Mi``, exactly.

Source: apimachinery pkg/api/resource/quantity.go ParseQuantity (v1.36).
"""

import re
from fractions import Fraction
from functools import lru_cache

# Suffix → multiplier.
MULTIPLIERS = {suffix: Fraction(1000) ** power for power, suffix in enumerate(("n", "u", "m", "", *"kMGTPE"), -3)}
MULTIPLIERS |= {f"{letter}i": Fraction(1024**power) for power, letter in enumerate("KMGTPE", 1)}
NANO = 10**9
MAX_INT64 = 2**63 - 1

# differs: upstream parses a number without any digit, such as "m" or ".", as zero.
# The possessive quantifiers keep a megabyte of digits from being tried in many ways.
_QUANTITY = re.compile(r"([+-]?)([0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE]([+-]?[0-9]+)|([numkMGTPE]|[KMGTPE]i)?)", re.ASCII)


def milli_value(quantity: str | float) -> int:
    """Return the quantity in thousandths, rounded up: the unit of CPU requests (millicores).

    Raises:
        ValueError: the text is not a quantity.
    """
    return _ceil(parse(quantity) * 1000)


def value(quantity: str | float) -> int:
    """Return the quantity in whole units, rounded up: bytes of memory, counts of everything else.

    Raises:
        ValueError: the text is not a quantity.
    """
    return _ceil(parse(quantity))


@lru_cache(maxsize=4096)
def parse(quantity: str | float) -> Fraction:
    """Return the exact amount, rounded up to a billionth, and at most the largest int64.

    Raises:
        ValueError: the text is not a quantity.

    Source: quantity.go ParseQuantity and UnmarshalJSON, which trims blanks (v1.36).
    """
    text = str(quantity).strip(" ")
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a quantity: want a number with an optional suffix, such as 500m, 2 or 1.5Gi")
    sign, digits, exponent, suffix = match.groups()
    # differs: upstream limits only amounts with binary suffixes; others overflow int64, and may become zero.
    amount = min(_amount(digits, exponent, suffix or ""), Fraction(MAX_INT64))
    return -amount if sign == "-" else amount


def in_one_spelling(quantity: str | float) -> str:
    """Return the quantity as one text for all of its notations; text that is no quantity stays."""
    try:
        return str(parse(quantity))
    except ValueError:
        return str(quantity)


def _amount(digits: str, exponent: str | None, suffix: str) -> Fraction:
    number = Fraction(digits.removesuffix("."))
    if exponent is None:
        return Fraction(_ceil(number * MULTIPLIERS[suffix] * NANO), NANO)
    power = int(exponent)
    if abs(power) > MAX_INT64:
        raise ValueError(f"the exponent {exponent} is out of range")
    # Beyond these powers any digits are below a billionth or above an int64.
    power = max(min(power, 20 + len(digits)), -20 - len(digits))
    return Fraction(_ceil(number * Fraction(10) ** power * NANO), NANO)


def _ceil(amount: Fraction) -> int:
    """Round away from zero; the API server rejects negative amounts of resources."""
    rounded = -(-abs(amount.numerator) // amount.denominator)
    return -rounded if amount < 0 else rounded

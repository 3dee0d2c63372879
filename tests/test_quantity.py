"""Quantities are read exactly, and rounded as the API rounds them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread import quantity
from kubectl_spread.quantity import MAX_INT64, MULTIPLIERS

# text → (Value, MilliValue), as apimachinery v0.36.2 answers.
UPSTREAM = {
    "0": (0, 0),
    "00": (0, 0),
    "-0": (0, 0),
    "0m": (0, 0),
    "0Ki": (0, 0),
    "1": (1, 1000),
    "+1": (1, 1000),
    "01": (1, 1000),
    "1.": (1, 1000),
    "1.G": (10**9, 10**12),
    ".5": (1, 500),
    "00.5": (1, 500),
    "0.5": (1, 500),
    "+.5Gi": (536870912, 536870912000),
    "1.5": (2, 1500),
    "1.500": (2, 1500),
    "100m": (1, 100),
    "1000m": (1, 1000),
    "1001m": (2, 1001),
    "1.001m": (1, 2),
    "0.1m": (1, 1),
    "0.0001m": (1, 1),
    "1u": (1, 1),
    "1001u": (1, 2),
    "1n": (1, 1),
    "0.1n": (1, 1),
    "1000001n": (1, 2),
    "1e-9": (1, 1),
    "1e-18": (1, 1),
    "1e-100000": (1, 1),
    "1.0000000001": (2, 1001),
    "1.23456789012345678901": (2, 1235),
    "1k": (1000, 1000000),
    "1M": (10**6, 10**9),
    "1G": (10**9, 10**12),
    "1T": (10**12, 10**15),
    "1P": (10**15, 10**18),
    "5E": (5 * 10**18, None),
    "1Ki": (1024, 1024000),
    "0.1Ki": (103, 102400),
    "0.0000000000001Ei": (115293, 115292151),
    "1.5Ki": (1536, 1536000),
    "64Mi": (67108864, 67108864000),
    "1.5Gi": (1610612736, 1610612736000),
    "1Ti": (1099511627776, 1099511627776000),
    "1Pi": (1125899906842624, 1125899906842624000),
    "1Ei": (1152921504606846976, None),
    "7Ei": (8070450532247928832, None),
    "8Ei": (MAX_INT64, None),
    "9Ei": (MAX_INT64, None),
    "1e3": (1000, 1000000),
    "1E3": (1000, 1000000),
    "1e+3": (1000, 1000000),
    "1e03": (1000, 1000000),
    "1e-3": (1, 1),
    "1E0": (1, 1000),
    "1.5e3": (1500, 1500000),
    "9007199254740993": (9007199254740993, 9007199254740993000),
    "9223372036854775807": (MAX_INT64, None),
    "9223372036854775807m": (9223372036854776, MAX_INT64),
    "-1": (-1, -1000),
    "-1m": (-1, -1),
    "-0.5": (-1, -500),
    "-1.5": (-2, -1500),
    "-1.5Gi": (-1610612736, -1610612736000),
    " 1Gi ": (1073741824, 1073741824000),
}


@pytest.mark.parametrize("text", UPSTREAM)
def test_amounts_are_those_of_the_api(text: str) -> None:
    """None stands where upstream's int64 arithmetic wraps around."""
    whole, milli = UPSTREAM[text]
    assert whole in {quantity.value(text), None}
    assert milli in {quantity.milli_value(text), None}


REFUSED = [
    "",
    " ",
    "-",
    "+",
    ".",
    "m",
    ".Ki",
    "--1",
    "+-1",
    "1-",
    "1..",
    "1.2.3",
    "1,5",
    "1_000",
    "1 m",
    "1\n",
    "0x10",
    "1K",
    "1KI",
    "1i",
    "1mi",
    "1mm",
    "1m5",
    "1n+5",
    "1Eq",
    "1e",
    "1e1.5",
    "1e-",
    "1e3Ki",
    "e3",
    "Gi",
    "inf",
    "nan",
    "\u0661",
    "1e9223372036854775808",
    "100%",
]


@pytest.mark.parametrize("text", REFUSED)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a quantity|is out of range"):
        quantity.parse(text)


@pytest.mark.parametrize(
    "text", ["12E", "1e19", "1e2147483647", "1e9223372036854775807", "99999999999999999999", "9Ei"]
)
def test_more_than_an_int64_is_capped(text: str) -> None:
    assert quantity.value(text) == MAX_INT64
    assert quantity.value(f"-{text}") == -MAX_INT64


@pytest.mark.parametrize(
    ("number", "amount"), [(2, 2), (0.5, Fraction(1, 2)), (1e3, 1000), (1e-07, Fraction(1, 10**7)), (1e21, MAX_INT64)]
)
def test_numbers_of_json_and_yaml_are_quantities_too(number: float, amount: Fraction) -> None:
    assert quantity.parse(number) == amount


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(ValueError, match="digits"):
        quantity.parse("9" * 100_000)


DIGITS = st.text("0123456789", min_size=1, max_size=30)
SUFFIXES = st.sampled_from(sorted(MULTIPLIERS))


@given(whole=DIGITS, decimals=DIGITS, suffix=SUFFIXES)
def test_an_amount_is_exact_to_a_billionth_and_never_less(whole: str, decimals: str, suffix: str) -> None:
    exact = min(Fraction(f"{whole}.{decimals}") * MULTIPLIERS[suffix], Fraction(MAX_INT64))
    assert exact <= quantity.parse(f"{whole}.{decimals}{suffix}") < exact + Fraction(1, 10**9)


@given(whole=DIGITS, decimals=DIGITS, exponent=st.integers(-60, 60))
def test_an_exponent_multiplies_by_its_power_of_ten(whole: str, decimals: str, exponent: int) -> None:
    exact = min(Fraction(f"{whole}.{decimals}") * Fraction(10) ** exponent, Fraction(MAX_INT64))
    for mark in "eE":
        assert exact <= quantity.parse(f"{whole}.{decimals}{mark}{exponent}") < exact + Fraction(1, 10**9)


@given(amount=st.fractions(0, 10**15, max_denominator=10**9))
def test_units_round_up(amount: Fraction) -> None:
    text = f"{-(-amount * 10**9 // 1)}n"
    exact = quantity.parse(text)
    assert exact <= quantity.value(text) < exact + 1
    assert exact * 1000 <= quantity.milli_value(text) < exact * 1000 + 1


@given(whole=DIGITS, suffix=SUFFIXES)
def test_a_sign_only_mirrors(whole: str, suffix: str) -> None:
    assert quantity.parse(f"-{whole}{suffix}") == -quantity.parse(f"+{whole}{suffix}")
    assert quantity.milli_value(f"-{whole}{suffix}") == -quantity.milli_value(f"{whole}{suffix}")


@given(text=st.text("0123456789.eEinumkKMGTP+- ", max_size=12) | st.text(max_size=12))
def test_any_text_is_a_quantity_or_a_value_error(text: str) -> None:
    try:
        amount = quantity.parse(text)
    except ValueError:
        return
    assert abs(amount) <= MAX_INT64

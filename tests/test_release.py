"""Releases and their feature gates."""

import pytest

from kubectl_spread.release import Gate, Release, minor_of

LATER_ON = Gate("LaterOn", 30, 32)
NEVER_ON = Gate("NeverOn", 30, None)


@pytest.mark.parametrize(
    ("version", "minor"),
    [
        ("v1.36.2", 36),
        ("1.36", 36),
        ("v1.36.2-eks-1234", 36),
        ("v1.36+", 36),
        ("v2.36", None),
        ("latest", None),
        ("", None),
    ],
)
def test_minor_of(version: str, minor: int | None) -> None:
    assert minor_of(version) == minor


@pytest.mark.parametrize(
    ("gate", "gates", "on"),
    [
        (LATER_ON, {}, [32, 33]),
        (LATER_ON, {"LaterOn": True}, [30, 31, 32, 33]),
        (LATER_ON, {"LaterOn": False}, []),
        (NEVER_ON, {}, []),
        (NEVER_ON, {"NeverOn": True, "LaterOn": False}, [30, 31, 32, 33]),
    ],
)
def test_a_gate_is_on_where_it_is_known_and_by_default_or_on_demand(
    gate: Gate, gates: dict[str, bool], on: list[int]
) -> None:
    assert [minor for minor in range(28, 34) if Release(minor, gates).enables(gate)] == on


def test_a_gate_is_known_from_its_first_release_on() -> None:
    assert [minor for minor in range(28, 34) if Release(minor).knows(LATER_ON)] == [30, 31, 32, 33]

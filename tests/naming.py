"""Names of test parameters that are the same in every process: pytest-xdist compares them."""

from __future__ import annotations


def in_order(value: object) -> str:
    """Return the value as text, the members of a set sorted."""
    return ", ".join(sorted(map(str, value))) if isinstance(value, set | frozenset) else str(value)

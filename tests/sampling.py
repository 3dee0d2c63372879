"""Of many generated cases a few are tried each time; ``make e2e`` tries the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first(number: int, cases: Iterable[object]) -> list[Any]:
    """Return the cases as parameters, of which all after so many (count) wait for ``make e2e``."""
    return [pytest.param(case, marks=pytest.mark.e2e if place >= number else ()) for place, case in enumerate(cases)]

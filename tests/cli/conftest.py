"""What the tests of the command line share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import program


@pytest.fixture(scope="module")
def answers_kept() -> Iterator[None]:
    """Let the tests of a module that print one answer in many ways compute it once."""
    with program.answers_kept():
        yield

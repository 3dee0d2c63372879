"""What all tests share: goldens, and properties that may take their time on a busy machine."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

gc.set_threshold(50_000)  # as the program itself does
settings.register_profile("unhurried", deadline=None, max_examples=60)  # Every run draws others
settings.load_profile("unhurried")

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer to write goldens anew."""
    parser.addoption("--update-golden", action="store_true", help="Write tests/golden anew; look at the difference.")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to write goldens where nobody looks at the difference."""
    if config.getoption("--update-golden") and os.environ.get("CI"):
        raise pytest.UsageError("--update-golden writes what ought to be tested: not in CI")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return three workers for two processors: many tests wait, for servers that are slow on purpose."""
    return ((os.cpu_count() or 1) * 3 + 1) // 2


def pytest_collection_finish() -> None:
    """Let the thousands of tests alone when garbage is looked for: they stay until the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def answers_kept() -> Iterator[None]:
    """Let the tests of a module that print one answer in many ways compute it once."""
    from tests import program  # Most tests of the engine do without the command line.

    with program.answers_kept():
        yield


@pytest.fixture
def same_as_golden(pytestconfig: pytest.Config) -> Callable[[str, str], None]:
    """Return what holds a text against tests/golden/NAME, byte for byte."""

    def compare(text: str, name: str) -> None:
        path = GOLDEN / name
        if pytestconfig.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        assert path.is_file(), f"there is no {path}: write it with --update-golden and read it"
        assert text.encode() == path.read_bytes()

    return compare

"""The map in CONTRIBUTING.md and the one in the package name the layers there are, and tests that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import kubectl_spread

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (`[^|]*`) \| [^|]* \| (`[^|]*`) \|$", re.MULTILINE)


def rows() -> Iterator[tuple[list[str], list[str]]]:
    """Yield the layers and the tests of each row of the table."""
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for layers, tests in ROW.findall(contributing):
        yield re.findall("`(.*?)`", layers), re.findall("`(.*?)`", tests)


def layers() -> set[str]:
    """Return the modules and packages that the package has."""
    package = Path(kubectl_spread.__file__).parent
    packages = {path.parent.name for path in package.glob("*/__init__.py")}
    return packages | {path.stem for path in package.glob("*.py") if not path.stem.startswith("__")}


def test_the_table_has_every_room_and_no_other() -> None:
    assert sorted(name for named, _ in rows() for name in named) == sorted(layers())


def test_every_test_of_the_table_exists() -> None:
    assert [path for _, tests in rows() for path in tests if not (ROOT / path).exists()] == []


def test_the_map_of_the_package_has_every_room() -> None:
    named = re.findall(r"^\* ([a-z_, ]+):", str(kubectl_spread.__doc__), re.MULTILINE)
    assert sorted(name for each in named for name in each.split(", ")) == sorted(layers())

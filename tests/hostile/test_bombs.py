"""Files made to exhaust their reader are read or refused in one clear line, in bounded time and memory."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.hostile.bombs import BOMBS, MEGABYTE
from tests.hostile.measure import PLACES, cost_of
from tests.program import spread

SMALL = MEGABYTE // 16
MOST_SECONDS = 20.0
"""Generous for so small a file on a busy machine; what is quadratic in these takes a minute and more."""
MOST_MEGABYTES = 400.0
"""Six times what the program takes for nothing, and what such files made of themselves before there were bounds."""
MOST_CHARACTERS = 5000

ANSWERED = {
    "check -f": {
        *("YAML many anchors", "YAML integer of 10,000 digits", "YAML float 1e999", "YAML comment", "YAML blanks"),
        *("YAML one text", "YAML long list", "YAML long mapping", "YAML empty documents", "YAML small documents"),
        *("JSON NaN", "JSON Infinity", "JSON integer of 10,000 digits", "JSON number 1e999"),
        *("JSON priority of 30 digits", "JSON quantity of 10,000 digits", "JSON quantity 1e999"),
        *("JSON quantity 1e-999999999", "JSON quantity of 10,000 digits' exponent"),
        *(
            "JSON quantity, a number of 10,000 digits",
            "JSON quantity, enormous",
            "JSON quantity, enormous and none",
            "JSON annotation, enormous",
        ),
        *("JSON label, enormous", "JSON labels, many", "JSON label with NUL", "JSON label with blanks"),
        *(
            "JSON small documents",
            "JSON and separators",
            "gzip bomb of JSON",
            "UTF-8 with a mark",
            "UTF-16",
            "CRLF",
            "CR",
            "JSON key given twice",
        ),
    }
}
ANSWERED["--from"] = ANSWERED["check -f"] - {"JSON quantity, a number of 10,000 digits"}
ANSWERED["check -f"] |= {"JSON priority of 10,000 digits", "JSON label key, enormous"}
ANSWERED["simulate --apply"] = ANSWERED["check -f"] | {"YAML key given twice"}
ANSWERED_IN_PART = {(flag, "JSON, then rubbish") for flag in ("check -f", "simulate --apply")}
"""What holds documents that are answered before one that is not."""
each_bomb = pytest.mark.parametrize("name", BOMBS)


@pytest.fixture
def bomb(name: str, tmp_path: Path) -> Path:
    path = tmp_path / "bomb.yaml"
    path.write_bytes(BOMBS[name](SMALL))
    return path


@pytest.mark.parametrize("flag", PLACES)
@each_bomb
def test_a_bomb_is_read_or_refused_in_clear_lines_and_soon(name: str, flag: str, bomb: Path) -> None:
    began = time.monotonic()
    ended = spread(*PLACES[flag](bomb))
    assert time.monotonic() - began < MOST_SECONDS
    if name in ANSWERED.get(flag, ()):
        assert ended.code in {0, 1}
        return
    assert ended.code == 3
    if (flag, name) in ANSWERED_IN_PART:
        assert f"incomplete: {bomb}, document 2 (unreadable): is not valid JSON" in ended.stdout
        return
    assert ended.stdout == ""
    lines = ended.stderr.splitlines()
    assert 1 <= len(lines) <= 100
    assert all(line.startswith("error: ") and str(bomb) in line and len(line) < MOST_CHARACTERS for line in lines)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "YAML aliases: billion laughs",
            "YAML empty documents",
            "YAML broken documents",
            "log sections that never end",
        ),
        *("JSON Lists 10,000 deep", "JSON and separators", "JSON empty mappings", "JSON labels, many", "gzip bomb"),
    ],
)
@pytest.mark.parametrize("flag", ["check -f", "--from"])
def test_a_larger_one_takes_bounded_memory(name: str, flag: str, tmp_path: Path) -> None:
    path = tmp_path / "bomb.yaml"
    path.write_bytes(BOMBS[name](2 * MEGABYTE))
    cost = cost_of(PLACES[flag](path))
    assert cost.code in {0, 1, 3}
    assert cost.megabytes < MOST_MEGABYTES


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
@pytest.mark.parametrize("flag", PLACES)
def test_a_device_is_no_file(flag: str, device: str) -> None:
    cost = cost_of(PLACES[flag](Path(device)))
    assert cost.code == 3
    assert cost.said.startswith("error: ")
    assert cost.said.endswith("is a device, not a file")
    assert cost.megabytes < MOST_MEGABYTES

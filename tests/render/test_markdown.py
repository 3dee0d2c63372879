"""Markdown: what others write is shown and means nothing; tables keep their columns, commands their fences."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.render.cells import clean
from kubectl_spread.render.markdown import escaped, to_markdown
from tests.render.reports import REPORTS, golden_report, poisoned_report

UNESCAPED = re.compile(r"(?<!\\)(?:\\\\)*([`<>|~&#])")


def outside_fences(text: str) -> list[str]:
    """Return the lines that are not commands."""
    lines, fence = [], ""
    for line in text.splitlines():
        marks = re.match(r"\s*(`{3,})", line)
        if marks and not fence:
            fence = marks[1]
        elif marks and line.strip() == fence:
            fence = ""
        elif not fence:
            lines.append(line)
    assert fence == ""
    return lines


@pytest.mark.parametrize("name", REPORTS)
def test_nothing_that_others_write_means_anything(name: str) -> None:
    text = to_markdown(poisoned_report(name))
    assert "\x1b" not in text
    assert "\r" not in text
    for line in outside_fences(text):
        own = line.removeprefix("> ").replace("<br>", "")
        cells = len(UNESCAPED.findall(own)) if own.startswith("|") else 0
        assert [mark for mark in UNESCAPED.findall(own) if mark != "|" or not cells] == []


@pytest.mark.parametrize("name", REPORTS)
def test_every_row_has_the_cells_of_its_head(name: str) -> None:
    for report in (golden_report(name), poisoned_report(name)):
        columns = 0
        for line in outside_fences(to_markdown(report)):
            bars = len(re.findall(r"(?<!\\)\|", line.replace("\\\\", ""))) if line.startswith("|") else 0
            assert columns in {0, bars} or not bars
            columns = bars


@pytest.mark.parametrize("name", [name for name in REPORTS if name.startswith("why")])
def test_a_fence_holds_whatever_is_in_it(name: str) -> None:
    text = to_markdown(poisoned_report(name))
    fences = set(re.findall(r"^ *(`{3,})sh$", text, re.MULTILINE))
    assert len(fences) == ("never-created" not in name)
    assert all(len(fence) > 3 for fence in fences)


@given(st.text())
def test_what_is_escaped_reads_as_it_was(text: str) -> None:
    shown = escaped(text)
    assert re.sub(r"\\([\\`*\[\]<>|~&#_])", r"\1", shown) == clean(text)
    assert "\n" not in shown


def test_the_first_lines_say_what_is_wrong() -> None:
    first, table, *_ = to_markdown(golden_report("show/shop")).split("\n\n")
    assert first == "**3 of 4 topology spread constraints are not OK.**"
    assert table.splitlines()[2].startswith("| shop | deployment/web | topology.kubernetes.io/zone | DoNotSchedule |")


def test_a_fix_is_a_command_to_be_copied() -> None:
    text = to_markdown(golden_report("why-pending/shop"))
    assert "1. **HonorTaints**: set nodeTaintsPolicy Honor in the constraint on zone," in text
    assert "\n\n   ```sh\n   kubectl patch deployment web -n shop --type=json -p " in text

"""Workflow commands: one line each, and nothing that others write ends one or begins another."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.contract.check import Origin
from kubectl_spread.gaps import UnreadableManifest
from kubectl_spread.render.annotations import annotations_of, to_github
from tests.render.reports import REPORTS, check_report

CHECKED = [name for name in REPORTS if name.startswith("check/")]
COMMAND = re.compile(r"::(error|warning|notice) ((?:[a-z]+=[^:,\s][^:,]*,?)+)::(.*)")


@pytest.mark.parametrize("poisoned", [False, True], ids=["as it is", "poisoned"])
@pytest.mark.parametrize("name", CHECKED)
def test_every_line_is_one_command(name: str, *, poisoned: bool) -> None:
    report = check_report(name, poisoned=poisoned)
    commands = [COMMAND.fullmatch(line) for line in to_github(report).split("\n")[:-1]]
    said = list(annotations_of(report))
    assert len(commands) == len(said)
    for command, annotation in zip(commands, said, strict=True):
        assert command is not None
        properties = dict(pair.split("=", 1) for pair in command[2].split(","))
        assert unquote(properties["title"]) == annotation.rule
        assert unquote(properties.get("file", "")) == annotation.file
        assert unquote(command[3]) == annotation.message


def test_what_schedules_says_nothing() -> None:
    assert to_github(check_report("check/checkout")) == ""


def test_a_name_that_would_end_a_property() -> None:
    report = check_report("check/manifests")
    origin = Origin(file="a,title=x::b%0A.yaml", document=1, line=3)
    moved = replace(report, items=(replace(report.items[0], origin=origin),))
    assert to_github(moved).startswith("::error file=a%2Ctitle=x%3A%3Ab%250A.yaml,line=3,title=Unschedulable::")


@pytest.mark.parametrize("origin", [UNSET, Origin(file="", document=1, line=4)], ids=["none", "standard input"])
def test_without_a_file_there_is_no_place(origin: Origin) -> None:
    report = check_report("check/manifests")
    moved = replace(report, items=(replace(report.items[0], origin=origin),))
    assert to_github(moved).startswith("::error title=Unschedulable::warehouse/deployment/sorter: replica 7 of 9")


def test_what_was_not_evaluated_is_a_warning() -> None:
    report = check_report("check/checkout")
    gap = UnreadableManifest(place="list pods", why="nothing was counted")
    moved = replace(report, items=(replace(report.items[0], incomplete=(gap,)),))
    assert to_github(moved).endswith(
        "title=Incomplete::shop/deployment/checkout: list pods (unreadable): nothing was counted.\n"
    )

"""What has changed between two answers of ``show``."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.gaps import Gap, UnreadableManifest
from kubectl_spread.render.text.screen import Screen
from kubectl_spread.render.text.show import changed_rows, show_table, summary
from tests.build import ZONE, Object, app, node, spread
from tests.build_workloads import owned, template, workload
from tests.diagnosis.judged import METADATA, rows_of, varied

NODES = [node("a1", zone="a"), node("b1", zone="b")]
MISSING = UnreadableManifest(place="list services", why="the selector lacks what Services add")


def deployment(name: str) -> Object:
    """Return a Deployment with a constraint on zones."""
    return workload("Deployment", name, pods=template(spread(ZONE, selector=app(name)), labels={"app": name}))


def replica(name: str, *, on: str) -> Object:
    return owned(f"{name}-{on}", "Deployment", name, on=on, labels={"app": name})


def report(objects: Sequence[Object], *incomplete: Gap) -> SkewReport:
    return SkewReport(metadata=METADATA, items=rows_of([*NODES, *objects]), incomplete=incomplete)


WEB, API = deployment("web"), deployment("an-interface")
BOTH = report([WEB, API])


def lines(told: SkewReport, now: SkewReport, *, wide: bool = False) -> list[str]:
    return changed_rows(told, now, wide=wide).splitlines()


def test_nothing_is_printed_where_nothing_has_changed() -> None:
    assert changed_rows(BOTH, BOTH, wide=True) == ""


def test_a_row_that_has_changed_stands_as_in_the_table() -> None:
    now = report([WEB, API, replica("web", on="a1")])
    (line,) = lines(BOTH, now)
    assert line in show_table(now, wide=False, headers=True).splitlines()
    assert "a:1 b:0" in line


def test_a_row_of_several_lines_is_printed_as_a_whole() -> None:
    now = report([WEB, API, replica("web", on="a1")])
    screen = Screen(width=60, whole=True)
    found = changed_rows(BOTH, now, screen, wide=True).splitlines()
    assert len(found) > 1
    assert any(line.startswith("  selector: ") for line in found)
    assert "\n".join(found) in show_table(now, screen, wide=True, headers=True)
    assert not [line for line in found if line.startswith("Here ")]


def test_a_row_that_reads_the_same_is_not_printed() -> None:
    (web,) = rows_of([*NODES, WEB])
    told = SkewReport(metadata=METADATA, items=(web,))
    now = SkewReport(metadata=METADATA, items=(varied(web, next=("b1",)),))
    assert lines(told, now) == []
    assert len(lines(told, now, wide=True)) == 1


def test_a_row_that_is_gone_says_so() -> None:
    (line,) = lines(BOTH, report([WEB]))
    assert line.split()[1] == "deployment/an-interface"
    assert line.split()[6] == "Gone"


def test_what_is_incomplete_is_said_when_it_changes() -> None:
    said = "incomplete: list services (unreadable): the selector lacks what Services add."
    assert lines(BOTH, report([WEB, API], MISSING)) == [said]
    assert lines(report([WEB, API], MISSING), report([WEB, API], MISSING)) == []


def test_colours_are_those_of_the_table() -> None:
    now = report([WEB, API, replica("web", on="a1"), replica("an-interface", on="b1")])
    assert "\x1b[" in changed_rows(BOTH, now, Screen(colors=True), wide=False)


def test_the_summary_names_what_changed_came_and_went() -> None:
    told = report([WEB, API])
    now = report([WEB, replica("web", on="a1"), deployment("new")])
    assert summary(told, now) == (
        "changed: default/deployment/web; new: default/deployment/new; gone: default/deployment/an-interface"
    )


def test_the_summary_counts_what_is_too_much_to_name() -> None:
    now = report([deployment(f"d{number}") for number in range(9)])
    named = ", ".join(f"default/deployment/d{number}" for number in range(3))
    assert summary(report([]), now) == f"new: {named} and 6 more"


def test_the_summary_has_words_for_what_is_in_no_row() -> None:
    assert summary(BOTH, report([WEB, API], MISSING)) == "what could be read has changed"

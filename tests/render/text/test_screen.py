"""Text that fits a terminal, and is left alone in a pipe."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.render.cells import wrap
from kubectl_spread.render.outline import Table, Tone
from kubectl_spread.render.text.screen import PIPE, Screen, table_lines, unbroken

WORDS = st.lists(st.text("abcde-./=", min_size=1, max_size=30), min_size=1, max_size=12).map(" ".join)
ROW = st.tuples(WORDS, WORDS, WORDS)
STUCK = "min pinned by node-c1 and 1 more"
WIDE = Table(
    headers=("NAMESPACE", "KEY", "WHEN", "MAX-SKEW", "STATUS", "DOMAINS", "REASON"),
    rows=(
        ("shop", "topology.kubernetes.io/zone", "DoNotSchedule", "1", "Blocked", "a:1 b:1", STUCK),
        ("shop", "kubernetes.io/hostname", "ScheduleAnyway", "1", "OK", "node-a:1 node-b:1 node-c:1", ""),
    ),
    tones=((None, None, None, None, Tone.BAD, None, Tone.BAD), (None,) * 7),
    below=("REASON",),
    spare=("MAX-SKEW",),
)


def lines(table: Table = WIDE, **screen: object) -> list[str]:
    return list(table_lines(table, Screen(**screen)))  # type: ignore[arg-type] # a typo fails the test


@given(WORDS, st.integers(min_value=1, max_value=60), st.integers(min_value=0, max_value=5))
def test_nothing_is_lost_and_no_line_is_too_long(text: str, width: int, hanging: int) -> None:
    found = wrap(text, width + hanging, hanging=hanging)
    assert "".join(found).replace(" ", "") == text.replace(" ", "")
    assert len(found[0]) <= width + hanging
    assert all(len(line) <= width for line in found[1:])


@given(st.lists(ROW, min_size=1, max_size=4), st.integers(min_value=60, max_value=140))
def test_a_table_fits_and_keeps_every_letter(rows: list[tuple[str, str, str]], width: int) -> None:
    found = lines(Table(headers=("A", "B", "C"), rows=tuple(rows)), width=width)
    assert max(map(len, found)) <= width
    cells = "".join(("A", "B", "C", *(text for row in rows for text in row)))
    assert sorted("".join(found).replace(" ", "")) == sorted(cells.replace(" ", ""))


def test_a_pipe_gets_a_line_a_row_and_the_sentence_last() -> None:
    assert lines()[1].endswith(f"   {STUCK}")


def test_a_namespace_that_was_asked_for_needs_no_column() -> None:
    assert lines(namespace="shop")[0].startswith("KEY ")
    assert lines(namespace="other")[0].startswith("NAMESPACE ")


@pytest.mark.parametrize(
    ("width", "screen"),
    [
        (
            110,
            [
                "KEY                           WHEN             MAX-SKEW   STATUS    DOMAINS",
                "topology.kubernetes.io/zone   DoNotSchedule    1          Blocked   a:1 b:1",
                "  min pinned by node-c1 and 1 more",
                "kubernetes.io/hostname        ScheduleAnyway   1          OK        node-a:1 node-b:1 node-c:1",
            ],
        ),
        (
            80,
            [
                "KEY        WHEN             MAX-SKEW   STATUS    DOMAINS",
                "zone       DoNotSchedule    1          Blocked   a:1 b:1",
                "  min pinned by node-c1 and 1 more",
                "hostname   ScheduleAnyway   1          OK        node-a:1 node-b:1 node-c:1",
                "Here zone is topology.kubernetes.io/zone, hostname is kubernetes.io/hostname.",
            ],
        ),
        (
            60,
            [
                "KEY       WHEN  STATUS   DOMAINS",
                "zone      D     Blocked  a:1 b:1",
                "  min pinned by node-c1 and 1 more",
                "hostname  S     OK       node-a:1 node-b:1 node-c:1",
                "Here zone is topology.kubernetes.io/zone, hostname is",
                "kubernetes.io/hostname, D is DoNotSchedule, S is",
                "ScheduleAnyway.",
            ],
        ),
    ],
)
def test_names_and_columns_make_room_before_a_cell_is_wrapped(width: int, screen: list[str]) -> None:
    assert lines(namespace="shop", width=width) == screen
    assert lines(namespace="shop", width=width, colors=True)[2] == "\x1b[31m  min pinned by node-c1 and 1 more\x1b[0m"
    bare = list(table_lines(WIDE, Screen(namespace="shop", width=width), headers=False))
    assert [line.split() for line in bare] == [line.split() for line in screen[1:]]


def test_where_names_allow_no_more_nodes_are_counted_and_cells_are_wrapped_under_themselves() -> None:
    narrow = lines(namespace="shop", width=30)
    assert narrow[2:5] == ["  min pinned by node-c1 and 1", "  more", "hostname  S     OK       3"]
    rows = (("hostname", "a:1→2 b:0"), ("rack", "a:1 b:1"))
    table = Table(headers=("KEY", "DOMAINS"), rows=rows)
    assert lines(table, width=17)[1:4] == ["hostname  a:1→2", "          b:0", "rack      a:1 b:1"]


def test_all_columns_stay_where_the_whole_is_wanted() -> None:
    assert lines(namespace="shop", width=50, whole=True)[0].split() == ["KEY", "WHEN", "MAX-SKEW", "STATUS", "DOMAINS"]
    assert unbroken(WIDE, Screen(namespace="shop", width=60, whole=True))
    long = Table(headers=("NODE", "POD"), rows=(("ip-10-0-1-203.eu-central-1.compute.internal", "web-0"),))
    assert not unbroken(long, Screen(width=40, whole=True))
    assert unbroken(Table(headers=("KEY",), rows=()), Screen(width=1, whole=True))


def test_workloads_have_kubectls_short_names() -> None:
    table = Table(headers=("WORKLOAD",), rows=(("deployment/web (5d9c)",), ("rollout/api",)))
    assert lines(table, width=20) == ["WORKLOAD", "deploy/web (5d9c)", "rollout/api"]


def test_zones_lose_what_all_begin_with() -> None:
    rows = (("zone", "eu-west-1a:2 eu-west-1b:3 eu-west-1c:2"), ("rack", "r-1:2 r-2:3"))
    table = Table(headers=("KEY", "DOMAINS"), rows=rows)
    assert lines(table, width=46)[1] == "zone   eu-west-1a:2 eu-west-1b:3 eu-west-1c:2"
    two = Table(headers=("KEY", "DOMAINS"), rows=(rows[0], ("zone", "eu-west-2a:2 eu-west-2b:3")))
    assert [line.split()[1:] for line in lines(table, width=20)[1:3]] == [["a:2", "b:3", "c:2"], ["r-1:2", "r-2:3"]]
    assert "zones in DOMAINS begin with eu-west-1." in " ".join(lines(table, width=20))
    assert "begin" not in "".join(lines(two, width=20))


def test_on_the_narrowest_screen_words_are_broken() -> None:
    table = Table(headers=("KEY", "POD"), rows=(("failure-domain.example.com-rack", "web-5d9c7b6f4-x2x5q"),))
    assert lines(table, width=24) == [
        "KEY           POD",
        "failure-      web-",
        "domain.       5d9c7b6f4-",
        "example.com-  x2x5q",
        "rack",
    ]


def test_words_and_counts_are_whole_where_names_break_at_a_sign() -> None:
    row = ("monitoring", "sts/prometheus-k8s-of-the-cluster", "15 nodes: 0, 3 nodes: 1", "Unprotected")
    table = Table(headers=("NAMESPACE", "WORKLOAD", "DOMAINS", "RISK"), rows=(row,))
    assert lines(table, width=53) == [
        "NAMESPACE   WORKLOAD     DOMAINS       RISK",
        "monitoring  sts/         15 nodes: 0,  Unprotected",
        "            prometheus-  3 nodes: 1",
        "            k8s-of-the-",
        "            cluster",
    ]


def test_a_column_stays_where_cells_are_wrapped_without_it_too() -> None:
    row = ("shop", "deployment/checkout", "1", "node-17:2 node-54:2, 8 other nodes: 0, 8 other nodes: 1")
    table = Table(headers=("NAMESPACE", "WORKLOAD", "MAX-SKEW", "DOMAINS"), rows=(row,), spare=("MAX-SKEW",))
    assert lines(table, width=60)[0].split() == ["NAMESPACE", "WORKLOAD", "MAX-SKEW", "DOMAINS"]
    assert lines(table, width=45)[0].split() == ["NAMESPACE", "WORKLOAD", "DOMAINS"]


def test_what_a_wrapped_cell_leaves_is_room_for_another() -> None:
    rows = (("deploy/fraud-detection-scoring-service", "15 nodes: 0, 3 nodes: 1"),)
    table = Table(headers=("WORKLOAD", "DOMAINS"), rows=rows)
    assert lines(table, width=48)[1:] == ["deploy/fraud-detection-  15 nodes: 0, 3 nodes: 1", "scoring-service"]


def test_short_names_that_are_taken_are_not_given() -> None:
    taken = Table(headers=("KEY",), rows=(("zone",), ("topology.kubernetes.io/zone",)))
    assert lines(taken, width=23) == ["KEY", "zone", "topology.kubernetes.io/", "zone"]


def test_a_line_is_wrapped_under_where_it_begins() -> None:
    told = list(Screen(width=20).wrapped("  1. one two three four", under=5))
    assert told == ["  1. one two three", "     four"]
    assert list(PIPE.wrapped("  1. one two three four", under=5)) == ["  1. one two three four"]


@pytest.mark.parametrize("tone", [Tone.BAD, None])
def test_a_cell_of_two_lines_is_coloured_in_both(tone: Tone | None) -> None:
    table = Table(headers=("A",), rows=(("one two",),), tones=((tone,),))
    assert list(table_lines(table, Screen(width=5, colors=True), headers=False)) == (
        ["\x1b[31mone\x1b[0m", "\x1b[31mtwo\x1b[0m"] if tone else ["one", "two"]
    )


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_a_status_stays_in_one_line_and_domains_give_way(width: int) -> None:
    domains = " ".join(f"ip-10-0-{number}-17:0→1" for number in range(12))
    moved = Table(headers=("WORKLOAD", "STATUS", "DOMAINS"), rows=(("deployment/web", "Violated → Blocked", domains),))
    assert "  Violated → Blocked  " in lines(moved, width=width)[1]

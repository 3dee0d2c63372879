"""Text that fits a terminal, and is left alone in a pipe."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.render.outline import Table, Tone
from kubectl_spread.render.text.screen import PIPE, Screen, table_lines, unbroken
from kubectl_spread.render.wrapping import wrap

WORDS = st.lists(st.text("abcde-./=", min_size=1, max_size=30), min_size=1, max_size=12).map(" ".join)
ROW = st.tuples(WORDS, WORDS, WORDS)
STUCK = "Blocked: min pinned by node-c1 and 1 more"
WIDE = Table(
    headers=("NAMESPACE", "KEY", "WHEN", "STATUS", "DOMAINS"),
    rows=(
        (
            "shop",
            "topology.kubernetes.io/zone",
            "DoNotSchedule",
            "Blocked: min pinned by node-c1 and 1 more",
            "a:1 b:1",
        ),
        ("shop", "kubernetes.io/hostname", "ScheduleAnyway", "OK", "node-a:1 node-b:1 node-c:1"),
    ),
    spare=("WHEN",),
)


def lines(table: Table = WIDE, **screen: object) -> list[str]:
    """Return the table on such a screen."""
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


def test_a_pipe_gets_a_line_a_row() -> None:
    row = f"shop        topology.kubernetes.io/zone   DoNotSchedule    {STUCK}   a:1 b:1"
    assert row in table_lines(WIDE, PIPE)


def test_a_namespace_that_was_asked_for_needs_no_column() -> None:
    assert lines(namespace="shop")[0].startswith("KEY ")
    assert lines(namespace="other")[0].startswith("NAMESPACE ")


def test_words_wrap_under_their_column() -> None:
    assert lines(namespace="shop", width=100) == [
        "KEY                           WHEN             STATUS                           DOMAINS",
        "topology.kubernetes.io/zone   DoNotSchedule    Blocked: min pinned by node-c1   a:1 b:1",
        "                                               and 1 more",
        "kubernetes.io/hostname        ScheduleAnyway   OK                               node-a:1 node-b:1",
        "                                                                                node-c:1",
    ]


def test_long_labels_get_short_names_before_a_column_goes() -> None:
    assert lines(namespace="shop", width=70) == [
        "KEY        WHEN             STATUS                   DOMAINS",
        "zone       DoNotSchedule    Blocked: min pinned by   a:1 b:1",
        "                            node-c1 and 1 more",
        "hostname   ScheduleAnyway   OK                       node-a:1",
        "                                                     node-b:1",
        "                                                     node-c:1",
        "Here zone is topology.kubernetes.io/zone, hostname is",
        "kubernetes.io/hostname.",
    ]


TOLD = msgspec.structs.replace(WIDE, told="STATUS", tones=((None, None, None, Tone.BAD, None), (None,) * 5))


def test_sentences_stand_below_their_rows_before_cells_are_wrapped() -> None:
    assert lines(TOLD, namespace="shop", width=130) == lines(namespace="shop")
    assert lines(TOLD, namespace="shop", width=110)[:3] == [
        "KEY                           WHEN             STATUS    DOMAINS",
        "topology.kubernetes.io/zone   DoNotSchedule    Blocked   a:1 b:1",
        "  min pinned by node-c1 and 1 more",
    ]
    assert lines(TOLD, namespace="shop", width=70) == [
        "KEY        WHEN             STATUS    DOMAINS",
        "zone       DoNotSchedule    Blocked   a:1 b:1",
        "  min pinned by node-c1 and 1 more",
        "hostname   ScheduleAnyway   OK        node-a:1 node-b:1 node-c:1",
        "Here zone is topology.kubernetes.io/zone, hostname is",
        "kubernetes.io/hostname.",
    ]
    coloured = lines(TOLD, namespace="shop", width=70, colors=True)
    assert coloured[2] == "\x1b[31m  min pinned by node-c1 and 1 more\x1b[0m"
    bare = list(table_lines(TOLD, Screen(namespace="shop", width=70), headers=False))
    assert bare == lines(TOLD, namespace="shop", width=70)[1:]


def test_a_sentence_below_a_row_is_wrapped_under_itself() -> None:
    narrow = lines(TOLD, namespace="shop", width=30)
    assert narrow[narrow.index("  min pinned by node-c1 and 1") + 1] == "  more"


def test_a_letter_is_left_of_what_a_constraint_does() -> None:
    found = lines(namespace="shop", width=51)
    assert [line.split()[:2] for line in (found[0], found[1])] == [["KEY", "WHEN"], ["zone", "D"]]
    assert "D is DoNotSchedule, S is ScheduleAnyway." in " ".join(found)


def test_zones_lose_what_all_begin_with() -> None:
    rows = (("zone", "eu-west-1a:2 eu-west-1b:3 eu-west-1c:2"), ("rack", "r-1:2 r-2:3"))
    table = Table(headers=("KEY", "DOMAINS"), rows=rows)
    assert lines(table, width=46)[1] == "zone   eu-west-1a:2 eu-west-1b:3 eu-west-1c:2"
    two = Table(headers=("KEY", "DOMAINS"), rows=(rows[0], ("zone", "eu-west-2a:2 eu-west-2b:3")))
    assert [line.split()[1:] for line in lines(table, width=18)[1:3]] == [["a:2", "b:3", "c:2"], ["r-1:2", "r-2:3"]]
    assert "zones in DOMAINS begin with eu-west-1." in " ".join(lines(table, width=18))
    assert "begin" not in "".join(lines(two, width=18))


def test_a_column_that_can_be_spared_goes_last() -> None:
    spared = msgspec.structs.replace(WIDE, spare=("DOMAINS",))
    assert lines(spared, namespace="shop", width=44)[0].split() == ["KEY", "WHEN", "STATUS"]


ROOMY = msgspec.structs.replace(
    TOLD, headers=(*WIDE.headers, "HEADROOM"), rows=tuple((*row, "3 more, then none") for row in WIDE.rows), tones=()
)
ROOMY = msgspec.structs.replace(ROOMY, below=("HEADROOM",))


def test_a_column_comes_below_its_row_before_another_is_left_out() -> None:
    assert lines(ROOMY, namespace="shop", width=160)[1].endswith("3 more, then none")
    assert lines(ROOMY, namespace="shop", width=52)[:7] == [
        "KEY        WHEN             STATUS    DOMAINS",
        "zone       DoNotSchedule    Blocked   a:1 b:1",
        "  min pinned by node-c1 and 1 more",
        "  headroom: 3 more, then none",
        "hostname   ScheduleAnyway   OK        node-a:1",
        "                                      node-b:1",
        "                                      node-c:1",
    ]
    nothing = msgspec.structs.replace(ROOMY, rows=tuple((*row, "") for row in WIDE.rows))
    assert not [line for line in lines(nothing, namespace="shop", width=52) if "headroom" in line]


def test_where_the_whole_is_wanted_no_column_goes_and_no_word_is_broken_that_need_not_be() -> None:
    long = tuple((*row[:4], "ip-10-0-1-203.eu-central-1.compute.internal") for row in WIDE.rows)
    table = msgspec.structs.replace(TOLD, rows=long, tones=())
    assert lines(table, namespace="shop", width=60)[0].split() == ["KEY", "WHEN", "STATUS", "DOMAINS"]
    assert lines(table, namespace="shop", width=60, whole=True)[0].split() == ["KEY", "WHEN", "STATUS", "DOMAINS"]
    assert not [line for line in lines(table, namespace="shop", width=86) if long[0][4] in line]
    assert len([line for line in lines(table, namespace="shop", width=86, whole=True) if long[0][4] in line]) == len(
        long
    )
    assert unbroken(table, Screen(namespace="shop", width=86, whole=True))
    assert not unbroken(table, Screen(namespace="shop", width=66, whole=True))
    assert unbroken(Table(headers=("KEY",), rows=()), Screen(width=1, whole=True))


def test_on_the_narrowest_screen_words_are_broken() -> None:
    table = Table(headers=("KEY", "POD"), rows=(("failure-domain.example.com/rack", "web-5d9c7b6f4-x2x5q"),))
    assert lines(table, width=24) == [
        "KEY            POD",
        "failure-       web-",
        "domain.        5d9c7b6f4",
        "example.com/   -x2x5q",
        "rack",
    ]


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

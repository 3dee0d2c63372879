"""The page's tables are about the situations, tools and versions of the code."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from kubectl_spread import __version__
from tests.bench.large.contents import Size
from tests.bench.large.questions import BARE_READ, QUESTIONS, costs
from tests.bench.measuring import Measured
from tests.comparison.asking import Row
from tests.comparison.costs import NODES, PODS
from tests.comparison.judging import Merit
from tests.comparison.page import (
    COSTS,
    LARGE,
    PAGE,
    PLUGINS,
    SITUATIONS,
    costs_table,
    large_table,
    plugins_table,
    read_table,
    situations_table,
    with_table,
)
from tests.comparison.rivals import RIVALS, Rival
from tests.comparison.situations import Situation, situations
from tests.comparison.tools import at_hand_everywhere
from tests.controlplane.binaries import KUBERNETES_RELEASE
from tests.gobuild import RELEASES

TEXT = PAGE.read_text()
TOOLS = [tool.name for tool in at_hand_everywhere()]


def test_the_rows_are_the_situations() -> None:
    assert [*read_table(TEXT, SITUATIONS)] == [situation.name for situation in situations()]


@pytest.mark.parametrize("situation", situations(), ids=lambda situation: situation.name)
def test_each_row_has_the_schedulers_decision_and_a_cell_for_each_tool(situation: Situation) -> None:
    row = read_table(TEXT, SITUATIONS)[situation.name]
    assert [*row][: len(TOOLS) + 1] == ["kube-scheduler", *TOOLS]
    assert row["kube-scheduler"] == situation.decision


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)
def test_every_plugin_has_a_column_if_it_was_at_hand_and_only_then(rival: Rival) -> None:
    row = read_table(TEXT, PLUGINS)[rival.name]
    columns = {heading for each in read_table(TEXT, SITUATIONS).values() for heading in each}
    assert row["version"] == rival.version
    assert (row["built"] == "yes") == (f"{rival.name} {rival.version}" in columns)


def test_the_costs_are_those_of_the_same_tools_on_the_cluster_that_the_page_names() -> None:
    assert [*read_table(TEXT, COSTS)][1 : len(TOOLS) + 1] == TOOLS
    assert f"{NODES} nodes and {PODS:,} Pods" in TEXT


def test_the_page_names_the_versions_that_are_compared() -> None:
    assert f"kube-scheduler v{RELEASES[KUBERNETES_RELEASE]}, kubectl spread v{__version__}." in TEXT


def test_a_table_is_read_as_it_was_written() -> None:
    row = Row(situation="one", decision="1 of 1 Pending", held={"tool": (Merit.CAUSE,), "other": ()}, answers={})
    written = with_table(TEXT, SITUATIONS, situations_table([row]))
    said = {"one": {"kube-scheduler": "1 of 1 Pending", "tool": "cause", "other": "none"}}
    assert read_table(written, SITUATIONS) == said
    assert read_table(written, COSTS) == read_table(TEXT, COSTS)
    assert with_table(written, SITUATIONS, situations_table([row])) == written


def test_plugins_are_at_hand_or_not() -> None:
    written = with_table(TEXT, PLUGINS, plugins_table({RIVALS[0]: True, RIVALS[1]: False}))
    said = {name: row["built"] for name, row in read_table(written, PLUGINS).items()}
    assert said == {RIVALS[0].name: "yes", RIVALS[1].name: "no"}


def test_costs_are_multiples_of_the_first_commands() -> None:
    written = costs_table([_measured("all", 2.0, 100.0), _measured("one", 1.0, 250.0)])
    assert [line.split(" | ")[1:] for line in written.splitlines()[2:]] == [
        ["1.00 ×", "1.00 × |"],
        ["0.50 ×", "2.50 × |"],
    ]


def test_the_large_clusters_questions_are_those_that_are_measured() -> None:
    rows = [*read_table(TEXT, LARGE)]
    assert rows[: len(QUESTIONS) + 2] == [BARE_READ, *(question.name for question in QUESTIONS), "kubectl get pods -A"]
    size = Size()
    assert f"{size.nodes:,} nodes and {size.pods:,} Pods" in TEXT


def test_the_large_table_says_what_each_answer_took() -> None:
    bare = replace(_measured(BARE_READ, 10.0, 60.0), said="read pods: 650.0 MB in pages")
    slow = _measured("slow", inf, 3_000.0)
    written = large_table([*costs([bare, _measured("quick", 5.0, 100.0), slow])])
    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in written.splitlines()[2:]] == [
        [BARE_READ, "1.00 R", "10.0 s", "60 MiB", "650 MB"],
        ["quick", "0.50 R", "5.0 s", "100 MiB", ""],
        ["slow", "not within five minutes", "inf s", "3000 MiB", ""],
    ]


def _measured(name: str, seconds: float, memory: float) -> Measured:
    """Return how a command went that used one processor and said nothing."""
    return Measured(name=name, seconds=seconds, cpu_seconds=seconds, memory=memory, said="")

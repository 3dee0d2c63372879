"""What a terminal shows of a cluster of thirty nodes with the long names of a cloud: an answer fits a screen."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.build import Object
from tests.build_cloud import NAME, NAMESPACE, ON_NODES, ON_ZONES, POOL, REGION, cloud, node_name
from tests.program import listed, printed_in

pytestmark = pytest.mark.usefixtures("answers_kept")

COLUMNS, ROWS = 100, 24
NARROW, NARROW_ROWS = 80, 27  # Each command takes three rows of such a terminal, so that more than one screen is needed
FIX = re.compile(r"^  \d+\. (\w+): ", re.MULTILINE)
FULL = {f"{zone}{number}": f"{7510 + 10 * number}m" for zone in "abc" for number in range(7)}
INCIDENTS: dict[str, list[Object]] = {
    "a reserved zone": [*cloud(ON_ZONES, running="a0 a1 b0 b1", taints={"c": "dedicated=batch:NoSchedule"})],
    "a lost zone, full nodes, cordons and two constraints": [
        *cloud(
            *(ON_ZONES, ON_NODES),
            running="a0 a1 b0 b1 b2",
            pending=4,
            taints={"c": "node.kubernetes.io/not-ready:NoSchedule"},
            cordoned="a2 b3",
            full={"a3": "7600m", "a4": "7700m", "a5": "7800m", "b4": "7550m"},
            message=(
                "0/30 nodes are available: 16 node(s) had untolerated taint(s), 2 node(s) were unschedulable, 4"
                " Insufficient cpu, 8 node(s) didn't match pod topology spread constraints. preemption: 0/30 nodes are"
                " available: 22 Preemption is not helpful for scheduling, 8 No preemption victims found."
            ),
        )
    ],
    "no room in the Pod's node pool": [
        *cloud(ON_ZONES, running="a0 b0 c0", pending=3, full=FULL, nodeSelector={POOL: "general"})
    ],
}
FIX_ROWS = 5  # Rows that a fix with its command takes, at least


@pytest.fixture(name="cluster", params=INCIDENTS, scope="module")
def fixture_cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("incident") / "cluster.json"
    listed(path, INCIDENTS[request.param])
    return path


def shown(cluster: Path, *words: str, columns: int = COLUMNS, height: int = ROWS, name: str = "") -> list[str]:
    """Return the lines that a terminal shows of why a Pod waits, or the Pods of that name."""
    waiting = next(
        each for each in json.loads(cluster.read_text())["items"] if each.get("status", {}).get("phase") == "Pending"
    )
    asked = ("why-pending", name or waiting["metadata"]["name"], "-n", NAMESPACE, "--from", cluster, "--color", "never")
    return printed_in(columns, *asked, *words, rows=height).splitlines()


def rows(lines: list[str], columns: int = COLUMNS) -> int:
    """Return how many rows of the terminal lines take (count), those that it wraps itself included."""
    return sum(max(1, -(-len(line) // columns)) for line in lines)


def test_an_answer_fits_a_screen_and_says_what_matters(cluster: Path) -> None:
    lines = shown(cluster)
    assert rows(lines) < ROWS
    text = " ".join(lines)
    assert re.search(r"The scheduler (would report|reported): 0/30 nodes are available: ", text)
    # The tables, the first to go where there is no room, may be all that names nodes.
    assert lines[-1] == f"All node names end in .{REGION}.compute.internal" or "ip-" not in text
    # No command reaches the cluster as it is: that is said before the first.
    assert text.index("--context") < text.index("kubectl ")


def test_the_line_of_the_prompt_stays_free(cluster: Path) -> None:
    whole = shown(cluster, height=200)
    assert shown(cluster, height=rows(whole) + 1) == whole
    assert rows(shown(cluster, height=rows(whole))) < rows(whole)


def test_a_workload_takes_no_more_room_than_a_screen(cluster: Path) -> None:
    assert rows(shown(cluster, name=f"deploy/{NAME}")) <= ROWS
    assert rows(shown(cluster, columns=NARROW), NARROW) <= NARROW_ROWS


def test_every_fix_that_is_shown_has_its_command(cluster: Path) -> None:
    for columns in (NARROW, COLUMNS):
        lines = shown(cluster, columns=columns)
        fixes = [line for line in lines if FIX.match(line)]
        assert 1 <= len(fixes) <= sum(line.startswith("     kubectl ") for line in lines)
        # There is room for two, or one is left.
        assert len(fixes) == 2 or rows(lines, columns) + FIX_ROWS > ROWS


def test_what_is_folded_is_there_with_all_fixes(cluster: Path) -> None:
    folded, whole = shown(cluster), shown(cluster, "--all-fixes")
    assert rows(whole) > ROWS
    assert {*FIX.findall("\n".join(folded))} <= {*FIX.findall("\n".join(whole))}
    assert "--all-fixes" in " ".join(folded)


def test_two_workloads_with_one_cause_are_told_together(tmp_path: Path) -> None:
    first = INCIDENTS["a lost zone, full nodes, cordons and two constraints"]
    text = json.dumps([each for each in first if each["kind"] != "Node"]).replace(NAME, "web")
    path = listed(tmp_path / "cluster.json", [*first, *json.loads(text)])
    told = [*printed_in(COLUMNS, "simulate", "--cordon", node_name("a0"), "-A", "--from", path).split("\n\n")]
    assert "8 Pods stay Pending, as before (" in " ".join(told[0].split())
    wide = printed_in(COLUMNS, "simulate", "--cordon", node_name("a0"), "-A", "-o", "wide", "--from", path)
    assert (wide.count("the fewest Pods"), wide.count(" as above")) == (1, 1)


def test_a_step_is_folded_where_the_terminal_is_lower(tmp_path: Path) -> None:
    first = INCIDENTS["a lost zone, full nodes, cordons and two constraints"]
    others = [each for each in first if each["kind"] != "Node"]
    several = [json.loads(json.dumps(others).replace(NAME, f"web-{number}")) for number in range(12)]
    path = listed(tmp_path / "cluster.json", [*first, *(each for one in several for each in one)])
    asked = ("simulate", "--drain", node_name("a0"), "-A", "--from", path, "--color", "never")
    lines, whole = (printed_in(COLUMNS, *asked, *words).splitlines() for words in ((), ("-o", "wide")))
    assert rows(lines) <= ROWS < rows(whole)
    assert lines[-2].endswith("-o wide shows all.")

"""The comparison's table, measured again: kubectl's columns and ours, on a control plane with its own scheduler."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.comparison.asking import compare
from tests.comparison.judging import cell
from tests.comparison.page import PAGE, SITUATIONS, read_table
from tests.comparison.situations import Situation, situations
from tests.comparison.stage import SCHEDULER_CONFIG
from tests.comparison.tools import at_hand_everywhere
from tests.controlplane.binaries import Binaries
from tests.controlplane.client import Client
from tests.controlplane.cluster import Options, control_plane

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def empty_cluster(binaries: Binaries) -> Iterator[Client]:
    """An administrator of a control plane without Nodes; each situation brings its own."""
    with control_plane(Options(scheduler_config=SCHEDULER_CONFIG), binaries=binaries) as plane:
        yield plane.client()


@pytest.mark.parametrize("situation", situations(), ids=lambda situation: situation.name)
def test_the_table_says_what_is_measured_again(situation: Situation, empty_cluster: Client) -> None:
    (row,) = compare(empty_cluster, [situation], at_hand_everywhere())
    measured = {"kube-scheduler": row.decision, **{tool: cell(held) for tool, held in row.held.items()}}
    stated = read_table(PAGE.read_text(), SITUATIONS)[situation.name]
    assert {heading: stated[heading] for heading in measured} == measured, "\n\n".join(
        f"{tool}:\n{answer.text}" for tool, answer in row.answers.items()
    )

"""Steps as tables and sentences."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from kubectl_spread.contract.simulate import SimulateReport
from kubectl_spread.render.outline import Extent, Item, Table
from kubectl_spread.render.outline.simulate import simulate_outline
from tests.build import ZONE, Object, app, spread
from tests.simulation.test_steps import SIX, deployment, simulated

IN_ZONE_B = (
    "The Pod may only go to zone b, which has the fewest Pods (0), but none of its 2 nodes is available: taint"
    " node.kubernetes.io/unreachable:NoSchedule."
)
ELSEWHERE = "One more Pod would exceed maxSkew 1 in zones a and c ({})."


def spread_over(nodes: Sequence[str], name: str) -> list[Object]:
    """Return a Deployment of this name with Pods on these nodes, spread over zones."""
    return json.loads(json.dumps(deployment(nodes, spread(ZONE, selector=app("web")))).replace("web", name))  # type: ignore[no-any-return] # as it was


def step_of(report: SimulateReport, **extent: bool) -> Item:
    """Return what is said of the only step."""
    (item,) = simulate_outline(report, Extent(**extent)).items
    return item


def column(item: Item, title: str, header: str) -> list[str]:
    """Return the cells of a column of the table with this title."""
    (table,) = (block for block in item.blocks if isinstance(block, Table) and block.title == title)
    return [row[table.headers.index(header)] for row in table.rows]


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(
    ("api", "pods"), [(["a1", "b1", "c1"], "1 Pod each"), (["a1", "a2", "b1", "b2", "c1", "c2"], "2 Pods each")]
)
def test_a_reason_that_several_share_is_said_once(api: Sequence[str], pods: str, wide: bool) -> None:  # noqa: FBT001
    objects = [*SIX, *spread_over(api, "api"), *spread_over(["a1", "b1", "c1"], "web")]
    step = step_of(simulated(objects, f"lose {ZONE}=b"), wide=wide)
    full = [f"{IN_ZONE_B} {ELSEWHERE.format(of)}" for of in (pods, "1 Pod each")]
    first = full[0] if wide or full[0] == full[1] else IN_ZONE_B
    assert column(step, "Pods", "WHY") == [first, full[1] if wide and full[0] != full[1] else "as above"]

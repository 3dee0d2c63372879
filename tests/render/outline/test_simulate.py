"""Steps as tables and sentences."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import pytest
from msgspec.structs import replace

from kubectl_spread.contract.simulate import SimulateReport
from kubectl_spread.render.outline import Block, Extent, Item, Note, Table
from kubectl_spread.render.outline.simulate import simulate_outline
from kubectl_spread.wording.pages import FILES_NAME_NO_CLUSTER
from tests.build import HOSTNAME, ZONE, Object, app, pod, spread
from tests.simulation.test_steps import SIX, daemons, deployment, simulated, stateful

IN_ZONE_B = (
    "The Pod may only go to zone b, which has the fewest Pods (0), but none of its 2 nodes is available: taint"
    " node.kubernetes.io/unreachable:NoSchedule."
)
ELSEWHERE = "One more Pod would exceed maxSkew 1 in zones a and c ({})."


def named(name: str, objects: Sequence[Object]) -> list[Object]:
    """Return the objects of the workload web under this name."""
    renamed: list[Object] = json.loads(json.dumps(objects).replace("web", name))
    return renamed


def spread_over(nodes: Sequence[str]) -> list[Object]:
    """Return the Deployment web with Pods on these nodes, spread over zones."""
    return deployment(nodes, spread(ZONE, selector=app("web")))


def step_of(report: SimulateReport, extent: Extent) -> Item:
    (item,) = simulate_outline(report, extent).items
    return item


def notes(blocks: Iterable[Block]) -> list[str]:
    return [block.line for block in blocks if isinstance(block, Note)]


def column(item: Item, title: str, header: str) -> list[str]:
    """Return the cells of a column of the table with this title."""
    (table,) = (block for block in item.blocks if isinstance(block, Table) and block.title == title)
    return [row[table.headers.index(header)] for row in table.rows]


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(
    ("api", "pods"), [(["a1", "b1", "c1"], "1 Pod each"), (["a1", "a2", "b1", "b2", "c1", "c2"], "2 Pods each")]
)
def test_a_reason_that_several_share_is_said_once(api: Sequence[str], pods: str, wide: bool) -> None:  # noqa: FBT001
    objects = [*SIX, *named("api", spread_over(api)), *spread_over(["a1", "b1", "c1"])]
    step = step_of(simulated(objects, f"lose {ZONE}=b"), Extent(wide=wide))
    full = [f"{IN_ZONE_B} {ELSEWHERE.format(of)}" for of in (pods, "1 Pod each")]
    first = full[0] if wide or full[0] == full[1] else IN_ZONE_B
    assert column(step, "Pods", "WHY") == [first, full[1] if wide and full[0] != full[1] else "as above"]


def test_names_of_pods_follow_the_constraints_and_each_kind_has_a_sentence() -> None:
    sets = stateful(["a1", "b1", "c1"])
    lost = simulated([*SIX, *named("api", sets), *sets], f"lose {ZONE}=b")
    *_, constraints, names = step_of(lost, Extent()).paragraphs
    assert isinstance(constraints[0], Table)
    created = "no other Pods of those names are created before."
    kept = f"The Pods default/api-1, default/web-1 stay Terminating until b1 is back or deleted; {created}"
    assert notes(names) == ["Evicted: api-1, web-1.", kept]


def test_why_a_step_is_not_safe_stands_before_the_constraints() -> None:
    bare = pod("bare", on="a1")
    first, *_ = step_of(simulated([*SIX, *spread_over(["a1", "b1", "c1"]), bare], "drain a1"), Extent()).paragraphs
    assert notes(first)[0].startswith("Blocked: default/")


def test_a_command_within_a_sentence_needs_no_note_above_it() -> None:
    report = simulated([*SIX, *named("log", daemons(["a1", "b1"])), *spread_over(["a1", "b1", "c1"])], "drain a1")
    report = replace(report, metadata=replace(report.metadata, source="cluster.json", server=""))
    *others, drain = notes(step_of(report, Extent()).blocks)
    assert drain.startswith("This drain is `kubectl drain a1 --ignore-daemonsets`.")
    assert FILES_NAME_NO_CLUSTER not in others


def test_domains_with_fewer_pods_are_no_news_of_a_workload_whose_pods_are_evicted() -> None:
    on_nodes = [spread(ZONE, selector=app("web")), spread(HOSTNAME, selector=app("web"))]
    lost = simulated([*SIX, *deployment(["a1", "b1", "c1"], *on_nodes)], f"lose {ZONE}=b")
    assert column(step_of(lost, Extent()), "Constraints", "KEY") == [ZONE]
    assert column(step_of(lost, Extent(wide=True)), "Constraints", "KEY") == [ZONE, HOSTNAME]


def test_where_room_is_short_only_what_is_in_trouble_stays() -> None:
    three, soft = ["a1", "b1", "c1"], spread(ZONE, selector=app("web"), whenUnsatisfiable="ScheduleAnyway")
    stuck = [each for name in ("p", "q", "r", "s", "t", "u") for each in named(name, spread_over(three))]
    report = simulated([*SIX, *stuck, *deployment(three, soft)], f"lose {ZONE}=b")
    folded, bare = (step_of(report, Extent(folded=True, bare=bare)) for bare in (False, True))
    for title in ("Pods", "Constraints"):
        assert column(folded, title, "WORKLOAD") == [f"deployment/{name}" for name in "pqrstu"]
    assert column(bare, "Pods", "WORKLOAD") == [f"deployment/{name}" for name in "pqrs"]
    assert notes(folded.blocks)[-1] == "1 more workload and 1 more constraint; -o wide shows all."
    assert notes(bare.blocks)[-1] == "3 more workloads and 7 more constraints; -o wide shows all."
    assert len(column(step_of(report, Extent()), "Pods", "WORKLOAD")) == 7

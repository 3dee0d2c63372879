"""So many Pods wait for a node that not all of them are tried."""

from __future__ import annotations

from msgspec import UNSET

from kubectl_spread.commands import exit_codes
from kubectl_spread.wording.incomplete import entries
from tests.build import HOSTNAME, ZONE, app, node, spread
from tests.simulation.generated import report_of
from tests.simulation.test_steps import SIX, deployment, item, pending


def test_what_was_not_tried_is_said() -> None:
    objects = [*SIX, *deployment(["a1", "b1", "c1"], spread(ZONE, selector=app("web"), maxSkew=5), replicas=60)]
    report = report_of(objects, "cordon c2", most_verdicts=len(SIX) * 10)
    step = report.steps[0]
    assert (sum(item(step).after.values()), step.untried, pending(step)) == (13, 47, {"deployment/web": (47, 47)})
    assert [gap.what for gap in entries(report.incomplete)] == ["nodes for 47 Pods of cordon c2"]
    assert exit_codes.of_simulate(report) == 3


def test_who_found_no_node_was_tried() -> None:
    full = [node("a1", allocatable={"pods": "3"})]
    objects = [*full, *deployment(["a1"], spread(HOSTNAME, selector=app("web")), replicas=1)]
    report = report_of(objects, "scale deployment/web=6", most_verdicts=3)
    assert (report.steps[0].untried, pending(report.steps[0])) == (UNSET, {"deployment/web": (3, 3)})
    assert exit_codes.of_simulate(report) == 1

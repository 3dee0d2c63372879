"""What a Pod and a cluster say, in the time that it takes to say no more."""

from __future__ import annotations

import pytest

from kubectl_spread.diagnosis import findings
from kubectl_spread.diagnosis.domains import diagnose
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.report import Severity
from tests.build import ZONE, Object, app, handle, node, spread, typed_pod
from tests.diagnosis.judged import ABC, TAINTED, incoming, web

SOFT = "ScheduleAnyway"


@pytest.mark.parametrize(
    "asked",
    [
        incoming(spread(ZONE, selector=app("web"), whenUnsatisfiable=SOFT)),
        incoming(spread(ZONE, selector=app("other"), whenUnsatisfiable=SOFT), spread("rack", whenUnsatisfiable=SOFT)),
        incoming(spread(ZONE, selector={}, whenUnsatisfiable=SOFT, matchLabelKeys=["absent"]), requests={"cpu": "99"}),
        incoming(spread(ZONE, selector=app("web"))),
        incoming(spread("rack", selector=app("other"), minDomains=9), spread(ZONE, selector=app("web"))),
        incoming(spread(ZONE, selector=app("web"), maxSkew=9), requests={"cpu": "99"}),
    ],
    ids=range(6),
)
@pytest.mark.parametrize("nodes", [ABC, TAINTED, (*ABC, node("d1"))], ids=["in order", "tainted", "a label missing"])
def test_warnings_are_those_that_every_verdict_on_every_node_gives(asked: Object, nodes: tuple[Object, ...]) -> None:
    situation = Situation(typed_pod(asked), handle([*nodes, *web("a1", "a2", "b1")]))
    spread_diagnosis = diagnose(situation.pod, situation.handle, situation.evaluation)
    found = findings.of_pod(situation.pod, situation.handle, spread_diagnosis, situation.evaluation)
    assert situation.warnings == {(each.id, each.path) for each in found if each.severity is not Severity.INFO}


@pytest.mark.parametrize(("max_skew", "asked"), [(1, True), (9, False)], ids=["one is closed", "none is closed"])
def test_warnings_ask_every_node_only_where_a_domain_is_closed(max_skew: int, *, asked: bool) -> None:
    pod = incoming(spread(ZONE, selector=app("web"), maxSkew=max_skew))
    situation = Situation(typed_pod(pod), handle([*ABC, *web("a1", "a2", "b1")]))
    assert not situation.warnings
    assert ("evaluation" in vars(situation)) is asked

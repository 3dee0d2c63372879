"""Pods that carry a constraint whose selector does not match them."""

from __future__ import annotations

import pytest

from kubectl_spread.diagnosis.constraint_state import ghosts, is_ghost
from kubectl_spread.scheduler.podtopologyspread import constraints_of
from tests.build import ZONE, Object, app, handle, pod, spread, typed_pod
from tests.naming import in_order


@pytest.mark.parametrize(
    ("constraint", "labels", "expected"),
    [
        (spread(ZONE, selector=app("web")), {"app": "web"}, False),
        (spread(ZONE, selector=app("web")), {"app": "other"}, True),
        (spread(ZONE, selector=app("web")), {}, True),
        (spread(ZONE), {}, False),
        (spread(ZONE, selector={}), {}, False),
        (spread(ZONE, selector={"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}), {"app": "x"}, True),
        (spread(ZONE, selector=app("web"), matchLabelKeys=["v"]), {"app": "web", "v": "1"}, False),
        (spread(ZONE, selector=app("web"), soft=True), {"app": "other"}, True),
    ],
    ids=in_order,
)
def test_who_is_one(constraint: Object, labels: dict[str, str], *, expected: bool) -> None:
    each = typed_pod(pod("p", labels=labels, topologySpreadConstraints=[constraint]))
    (parsed,) = constraints_of(each, handle([]))
    assert is_ghost(each, parsed) == expected


def test_ghosts_are_named_for_each_constraint() -> None:
    constraints = [spread(ZONE, selector=app("web")), spread("rack", selector=app("other"))]
    pods = tuple(
        typed_pod(pod(name, labels={"app": label}, topologySpreadConstraints=constraints))
        for name, label in (("c", "other"), ("b", "web"), ("a", "other"))
    )
    assert ghosts(pods, 0, handle([])) == ("a", "c")
    assert ghosts(pods, 1, handle([])) == ("b",)
    assert ghosts(pods, 2, handle([])) == ()

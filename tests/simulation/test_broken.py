"""Clusters that no API server would hold, and names that nothing has: an answer, or a clear error."""

from __future__ import annotations

import pytest

from kubectl_spread.errors import ClusterError, ManifestError
from tests.build import ZONE, Object, app, spread
from tests.build_workloads import controller, revision
from tests.simulation.test_steps import SIX, deployment, last, names


@pytest.mark.parametrize("portion", [{"maxSurge": "many"}, {"maxUnavailable": -1}])
def test_a_portion_that_is_none_is_named(portion: Object) -> None:
    objects = [*SIX, *deployment(["a1", "b1"], strategy={"type": "RollingUpdate", "rollingUpdate": portion})]
    with pytest.raises(ManifestError, match=r"Deployment default/web, spec\.strategy"):
        last(objects, "restart deployment/web")


def test_fewer_replicas_than_none_are_none() -> None:
    objects = [*SIX, *deployment(["a1", "b1"], replicas=-1)]
    assert last(objects, "drain a1").pending == ()


def test_owners_of_each_other_come_to_rest() -> None:
    pair = [revision("web", number) for number in (1, 2)]
    for own, other in (pair, reversed(pair)):
        own["metadata"]["ownerReferences"] = [controller("ReplicaSet", other["metadata"]["name"])]
    assert last([*SIX, *pair], "cordon a1").notes == ()


def test_a_pod_may_be_on_a_node_that_is_not_there() -> None:
    objects = [*SIX[::2], *deployment(["a1", "gone"], spread(ZONE, selector=app("web")))]
    assert names(last(objects, "delete pod/web-1").evicted) == ["web-1"]


@pytest.mark.parametrize(
    ("step", "meant"),
    [
        ("drain a11", "did you mean a1?"),
        (f"lose {ZONE}=aa", f"did you mean {ZONE}=a?"),
        ("scale deployment/wep=3", "did you mean web?"),
        ("delete pod/web-00", "did you mean web-0?"),
    ],
)
def test_what_may_be_meant_is_said(step: str, meant: str) -> None:
    with pytest.raises(ClusterError) as error:
        last([*SIX, *deployment(["a1"])], step)
    assert error.value.hint == meant

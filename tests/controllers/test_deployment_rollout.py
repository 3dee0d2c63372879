"""How many Pods each ReplicaSet of a Deployment is to have.

Source: the numbers follow kube-controller-manager deployment/sync.go scale, util/deployment_util.go
GetReplicaSetProportion (v1.36).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kubectl_spread.controllers.deployment import Revision, resized, scaled
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.workloads import Deployment, ReplicaSet
from tests.build_workloads import revision, workload


def rolling(replicas: int, surge: int = 0, unavailable: int = 1, **spec: Any) -> Deployment:  # noqa: ANN401 - any field of the spec
    rolling_update = {"maxSurge": surge, "maxUnavailable": unavailable}
    strategy = spec.pop("strategy", {"type": "RollingUpdate", "rollingUpdate": rolling_update})
    return convert(workload("Deployment", "web", replicas=replicas, strategy=strategy, **spec), Deployment)


def sizes(deployment: Deployment, newest: tuple[int, int], *old: tuple[int, int]) -> Mapping[str, int]:
    """Return what is scaled; of each ReplicaSet its Pods, all there and available, and for how many it was scaled."""
    found = [
        Revision(name=name, replicas=there, available=there, present=there, scaled_for=since, most=since + 2)
        for name, (there, since) in zip(["new", "old", "older"], [newest, *old], strict=False)
    ]
    return scaled(deployment, found[0], found[1:])


@pytest.mark.parametrize(
    ("replicas", "revisions", "expected"),
    [
        pytest.param(9, [(3, 3)], {"new": 9}, id="all of one revision"),
        pytest.param(10, [(4, 6), (4, 6)], {"new": 6, "old": 6}, id="equals grow alike"),
        pytest.param(9, [(2, 6), (6, 6)], {"new": 3, "old": 8}, id="a share each, and to the largest what is left"),
        pytest.param(2, [(3, 6), (5, 6)], {"new": 2, "old": 2}, id="they shrink alike"),
        pytest.param(0, [(3, 6), (5, 6)], {"new": 0, "old": 0}, id="nothing is wanted"),
        pytest.param(6, [(2, 6), (6, 6)], {"old": 4}, id="no other number is wanted"),
    ],
)
def test_in_a_rollout_each_revision_gets_its_share(
    replicas: int, revisions: Sequence[tuple[int, int]], expected: Mapping[str, int]
) -> None:
    assert sizes(rolling(replicas, surge=2, unavailable=0), revisions[0], *revisions[1:]) == expected


def test_what_is_paused_does_not_roll_on() -> None:
    assert sizes(rolling(6, surge=2, paused=True), (2, 6), (6, 6)) == {}
    assert sizes(rolling(6, surge=2), (2, 6), (6, 6)) == {"old": 3}


def test_what_is_recreated_is_not_shared_out() -> None:
    recreated = rolling(8, strategy={"type": "Recreate"})
    assert sizes(recreated, (2, 6), (4, 6)) == {}


def test_old_revisions_go_once_the_newest_is_whole() -> None:
    assert sizes(rolling(4, surge=2), (4, 4), (1, 6)) == {"old": 0}


def test_who_scales_notes_for_how_many() -> None:
    made = resized(convert(revision("web", 1), ReplicaSet), 3, rolling(5, surge=2))
    assert made.spec.replicas == 3
    assert made.metadata.annotations == {
        "deployment.kubernetes.io/revision": "1",
        "deployment.kubernetes.io/desired-replicas": "5",
        "deployment.kubernetes.io/max-replicas": "7",
    }

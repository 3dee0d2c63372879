"""How many Pods more and fewer than its replicas a workload may have in a rollout."""

from __future__ import annotations

import pytest

from kubectl_spread.controllers.rolling_update import fenceposts
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.workloads import UpdateStrategy
from tests.build import Object


@pytest.mark.parametrize(
    ("given", "replicas", "expected"),
    [
        ({}, 4, (1, 1)),
        ({}, 10, (3, 2)),
        ({}, 1, (1, 0)),
        ({"maxSurge": 2, "maxUnavailable": 0}, 4, (2, 0)),
        ({"maxSurge": 0, "maxUnavailable": 0}, 4, (0, 1)),
        ({"maxSurge": "0%", "maxUnavailable": "10%"}, 4, (0, 1)),
        ({"maxSurge": "100%", "maxUnavailable": "50%"}, 3, (3, 1)),
    ],
    ids=str,
)
def test_how_far_a_rollout_goes_at_once(given: Object, replicas: int, expected: tuple[int, int]) -> None:
    strategy = convert({"type": "RollingUpdate", "rollingUpdate": given}, UpdateStrategy)
    assert fenceposts(strategy, replicas) == expected
    if not given:
        assert fenceposts(UpdateStrategy(), replicas) == expected


@pytest.mark.parametrize("given", ["25", "x%", "-1%", "1.5%"])
def test_what_is_no_portion(given: str) -> None:
    with pytest.raises(ValueError, match="neither a number of Pods nor a percentage"):
        fenceposts(convert({"rollingUpdate": {"maxSurge": given}}, UpdateStrategy), 4)

"""Scores lie on straight lines between the points, as Go's integer division cuts them off."""

from __future__ import annotations

import pytest

from kubectl_spread.objects.configuration import UtilizationShapePoint
from kubectl_spread.scheduler.shape import Shape, score_at, shape_of

FALLING: Shape = ((0, 100), (100, 0))
ROOF: Shape = ((20, 0), (60, 100), (90, 30))


@pytest.mark.parametrize(
    ("shape", "utilization", "score"),
    [
        (FALLING, 0, 100),
        (FALLING, 33, 67),
        (FALLING, 100, 0),
        (ROOF, 0, 0),
        (ROOF, 20, 0),
        (ROOF, 21, 2),
        (ROOF, 60, 100),
        (ROOF, 61, 98),  # 100 - 70/30, the fraction cut off towards 100
        (ROOF, 90, 30),
        (ROOF, 100, 30),
        (((50, 40),), 10, 40),
        (((50, 40),), 90, 40),
    ],
)
def test_score_at(shape: Shape, utilization: int, score: int) -> None:
    assert score_at(shape, utilization) == score


def test_a_configured_score_ends_at_10() -> None:
    points = [UtilizationShapePoint(utilization=0, score=10), UtilizationShapePoint(utilization=70, score=3)]
    assert shape_of(points) == ((0, 100), (70, 30))

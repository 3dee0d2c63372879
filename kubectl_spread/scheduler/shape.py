"""Scores by utilization: a function of straight lines between points.

Source: kube-scheduler helper/shape_score.go BuildBrokenLinearFunction (v1.36).
"""

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from math import trunc
from typing import TypeAlias

from kubectl_spread.objects.configuration import UtilizationShapePoint
from kubectl_spread.scheduler.framework import MAX_NODE_SCORE

MAX_POINT_SCORE = 10

# (utilization 0..100, score 0..100), by ascending utilization; at least one point.
Shape: TypeAlias = tuple[tuple[int, int], ...]


def shape_of(points: Iterable[UtilizationShapePoint]) -> Shape:
    """Return the points of a configuration, whose scores are 0..10, as a shape."""
    return tuple((point.utilization, point.score * MAX_NODE_SCORE // MAX_POINT_SCORE) for point in points)


def score_at(shape: Shape, utilization: int) -> int:
    """Return the score (0..100) of a utilization (percent); constant before the first and after the last point."""
    # low score + (difference of scores) x (utilization - low) / (high - low), cut towards zero as in Go.
    first, last = shape[0], shape[-1]
    if utilization <= first[0]:
        return first[1]
    for (low, low_score), (high, high_score) in pairwise(shape):
        if utilization <= high:
            return low_score + trunc(Fraction((high_score - low_score) * (utilization - low), high - low))
    return last[1]

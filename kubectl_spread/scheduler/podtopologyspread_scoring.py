"""PodTopologySpread prefers the domains that hold the fewest matching Pods.

Source: kube-scheduler podtopologyspread/scoring.go (v1.36).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.scheduler import podtopologyspread
from kubectl_spread.scheduler.framework import MAX_NODE_SCORE, Code, Handle, Scores, Status, go_round
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.podtopologyspread import (
    Constraint,
    constraints_of,
    count_domains,
    count_matching_pods,
    requires_all_keys,
)

NAME = podtopologyspread.NAME


def pre_score(pod: Pod, handle: Handle, nodes: Sequence[NodeInfo]) -> Scores | Status | None:
    """Return feasible node's name → score (0..100), None for a Pod without soft constraints.

    Where a soft constraint cannot be read, that is an error, and the Pod goes nowhere.

    Source: podtopologyspread/scoring.go PreScore, Score, NormalizeScore (v1.36).
    """
    try:
        soft = constraints_of(pod, handle, hard=False)
    except ValueError as error:
        said = f"calculating preScoreState: obtaining pod's soft topology spread constraints: {error}"
        return Status(Code.ERROR, (said,))
    if not soft:
        return None
    # Built-in defaults score nodes that lack a key too, so that hostname spreading works in clusters without zones.
    required = soft if requires_all_keys(pod, handle.profile) else ()
    # A node that lacks a key of the Pod's own soft constraints is the last choice: it scores 0.
    carrying = handle.index.carrying(frozenset(constraint.topology_key for constraint in required))
    names = [info.name for info in nodes]
    points = dict.fromkeys((name for name in names if name in carrying), 0.0)
    for constraint in soft:
        near = _near(constraint, pod, handle, must_have_keys_of=required)
        for name, given in _points(constraint, near, handle.index.values(constraint.topology_key), points).items():
            points[name] += given
    # upstream: only the sum over the constraints is rounded, halves away from zero.
    return dict.fromkeys(names, 0) | normalize({name: go_round(given) for name, given in points.items()})


def _near(
    constraint: Constraint, pod: Pod, handle: Handle, *, must_have_keys_of: Sequence[Constraint]
) -> Mapping[str, int]:
    # upstream: the hostname is the node itself, whatever the label says and whatever the inclusion policies count.
    if constraint.topology_key == HOSTNAME:
        return count_matching_pods(constraint, pod, handle)
    (counted,) = count_domains([constraint], pod, handle, must_have_keys_of=must_have_keys_of)
    return counted.match_num


def _points(
    constraint: Constraint, near: Mapping[str, int], values: Mapping[str, str], names: Collection[str]
) -> dict[str, float]:
    """Return node's name → points for the matching Pods near it; the more, the worse. Nodes without the key get none.

    ``near``: topology value → matching Pods (count). ``values``: node's name → value of the topology key.

    Source: podtopologyspread/scoring.go Score, scoreForCount (v1.36).
    """
    # matching Pods x weight + (maxSkew - 1): a larger maxSkew flattens what the counts say.
    weight, flat = topology_weight(constraint, values, names), constraint.max_skew - 1
    of_domain = {value: count * weight + flat for value, count in near.items()}
    by_name = constraint.topology_key == HOSTNAME
    return {name: of_domain.get(name if by_name else values[name], float(flat)) for name in names if name in values}


def topology_weight(constraint: Constraint, values: Mapping[str, str], names: Collection[str]) -> float:
    """Return how much a matching Pod weighs: more where there are more domains among these nodes.

    Source: podtopologyspread/scoring.go topologyNormalizingWeight (v1.36).
    """
    # ln(domains + 2): without it few large domains would outweigh many small ones.
    by_name = constraint.topology_key == HOSTNAME
    return math.log(len(names if by_name else {values.get(name, "") for name in names}) + 2)


def normalize(raw: Mapping[str, int]) -> dict[str, int]:
    """Return node's name → score (0..100), best where the fewest matching Pods are near.

    Source: podtopologyspread/scoring.go NormalizeScore (v1.36).
    """
    # 100 x (highest + lowest - points) / highest, cut to an integer: the most crowded node still gets more than 0 where
    # the least crowded is not empty.
    highest = max(raw.values(), default=0)
    if highest <= 0:
        return dict.fromkeys(raw, MAX_NODE_SCORE)
    lowest = min(raw.values())
    return {name: MAX_NODE_SCORE * (highest + lowest - score) // highest for name, score in raw.items()}

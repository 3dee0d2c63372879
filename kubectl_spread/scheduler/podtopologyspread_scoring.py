"""PodTopologySpread prefers domains with the fewest matching Pods.

Source: kube-scheduler podtopologyspread/scoring.go (v1.36).
"""

import math
from collections.abc import Collection, Mapping, Sequence

from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.scheduler import podtopologyspread
from kubectl_spread.scheduler.framework import MAX_NODE_SCORE, Handle, Scores, Status, error, go_round
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

    If the selector of a soft constraint cannot be parsed, that is an error, and the Pod is not scheduled.
    """
    try:
        soft = constraints_of(pod, handle, hard=False)
    except ValueError as wrong:
        return error(f"calculating preScoreState: obtaining pod's soft topology spread constraints: {wrong}")
    if not soft:
        return None
    # Built-in defaults also score nodes that lack a key: spreading by hostname must work in clusters without zones.
    required = soft if requires_all_keys(pod, handle.profile) else ()
    # A node that lacks a key of the Pod's own soft constraints gets 0.
    carrying = handle.index.carrying(frozenset(constraint.topology_key for constraint in required))
    names = [info.name for info in nodes]
    points = dict.fromkeys((name for name in names if name in carrying), 0.0)
    for constraint in soft:
        for name, given in _points(constraint, pod, handle, required=required, names=points).items():
            points[name] += given
    # upstream: only the sum over the constraints is rounded, halves away from zero.
    return dict.fromkeys(names, 0) | normalize({name: go_round(given) for name, given in points.items()})


def _points(
    constraint: Constraint, pod: Pod, handle: Handle, *, required: Sequence[Constraint], names: Collection[str]
) -> dict[str, float]:
    """Source: podtopologyspread/scoring.go Score, scoreForCount (v1.36)."""
    values = handle.index.values(constraint.topology_key)
    # upstream: for the hostname a domain is the node itself, regardless of its label and of the inclusion policies.
    by_name = constraint.topology_key == HOSTNAME
    match_num: Mapping[str, int]
    if by_name:
        match_num = count_matching_pods(constraint, pod, handle)
    else:
        match_num = count_domains([constraint], pod, handle, must_have_keys_of=required)[0].match_num
    # Pods weigh more where there are more domains. Without the logarithm few large domains would outweigh many small
    # ones. Source: podtopologyspread/scoring.go topologyNormalizingWeight (v1.36).
    weight = math.log(len(names if by_name else {values.get(name, "") for name in names}) + 2)
    # matching Pods x weight + (maxSkew - 1): a larger maxSkew makes the counts less important.
    constant = constraint.max_skew - 1
    of_domain = {value: count * weight + constant for value, count in match_num.items()}
    return {name: of_domain.get(name if by_name else values[name], float(constant)) for name in names if name in values}


def normalize(raw: Mapping[str, int]) -> Scores:
    """Return node's name → score (0..100), best for the fewest points."""
    # 100 x (highest + lowest - points) / highest, cut to an integer.
    highest = max(raw.values(), default=0)
    if highest <= 0:
        return dict.fromkeys(raw, MAX_NODE_SCORE)
    lowest = min(raw.values())
    return {name: MAX_NODE_SCORE * (highest + lowest - score) // highest for name, score in raw.items()}

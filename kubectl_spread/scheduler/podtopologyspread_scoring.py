"""PodTopologySpread prefers the domains that hold the fewest matching Pods.

Source: kube-scheduler podtopologyspread/scoring.go (v1.36).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.scheduler import podtopologyspread
from kubectl_spread.scheduler.framework import MAX_NODE_SCORE, Code, Handle, NodeInfo, Scores, Status, go_round
from kubectl_spread.scheduler.podtopologyspread import (
    Constraint,
    constraints_of,
    count_domains,
    count_matching_pods,
    has_keys,
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
    require_all = requires_all_keys(pod, handle.profile)
    # A node that lacks a key of the Pod's own soft constraints is the last choice: it scores 0.
    scored = [info for info in nodes if not require_all or has_keys(info.node, soft)]
    # Hostnames are counted node by node, below.
    by_domain = [constraint for constraint in soft if constraint.topology_key != HOSTNAME]
    counted = count_domains(by_domain, pod, handle, must_have_keys_of=soft if require_all else ())
    near = {counts.constraint.index: counts.match_num for counts in counted}
    points = [
        _points_by_domain(constraint, near[constraint.index], scored)
        if constraint.index in near
        else _points_by_node(constraint, count_matching_pods(constraint, pod, handle), scored)
        for constraint in soft
    ]
    # upstream: only the sum over the constraints is rounded, halves away from zero.
    raw = {info.name: go_round(sum([given.get(info.name, 0.0) for given in points])) for info in scored}
    return {**{info.name: 0 for info in nodes}, **normalize(raw)}


def _points_by_domain(
    constraint: Constraint, match_num: Mapping[str, int], nodes: Sequence[NodeInfo]
) -> dict[str, float]:
    """Return node's name → points for the matching Pods in its domain; the more, the worse.

    Source: podtopologyspread/scoring.go Score, scoreForCount (v1.36).
    """
    # matching Pods x weight + (maxSkew - 1): a larger maxSkew flattens what the counts say.
    key, weight = constraint.topology_key, topology_weight(constraint, nodes)
    of_domain = {value: count * weight + (constraint.max_skew - 1) for value, count in match_num.items()}
    nowhere = float(constraint.max_skew - 1)
    return {info.name: of_domain.get(info.labels[key], nowhere) for info in nodes if key in info.labels}


def _points_by_node(constraint: Constraint, on_node: Mapping[str, int], nodes: Sequence[NodeInfo]) -> dict[str, float]:
    """Return node's name → points for the matching Pods on it; the more, the worse."""
    # upstream: the hostname is the node itself, whatever the label says and whatever the inclusion policies count.
    weight, names = topology_weight(constraint, nodes), [info.name for info in nodes if HOSTNAME in info.labels]
    return {name: on_node.get(name, 0) * weight + (constraint.max_skew - 1) for name in names}


def topology_weight(constraint: Constraint, nodes: Sequence[NodeInfo]) -> float:
    """Return how much a matching Pod weighs: more where there are more domains among these nodes.

    Source: podtopologyspread/scoring.go topologyNormalizingWeight (v1.36).
    """
    # ln(domains + 2): without it few large domains would outweigh many small ones.
    if constraint.topology_key == HOSTNAME:
        return math.log(len(nodes) + 2)
    return math.log(len({info.labels.get(constraint.topology_key, "") for info in nodes}) + 2)


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

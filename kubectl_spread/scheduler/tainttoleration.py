"""TaintToleration: a Pod must tolerate the NoSchedule and NoExecute taints of its node.

Source: kube-scheduler tainttoleration/taint_toleration.go, api core/v1/toleration.go (v1.36).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import msgspec

from kubectl_spread.labels import is_int64
from kubectl_spread.objects.core import Node, Pod, Taint, Toleration
from kubectl_spread.scheduler.framework import SUCCESS, Handle, PreFilterResult, Scores, Status, normalize, unresolvable
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour

NAME = "TaintToleration"
REASON = "node(s) had untolerated taint(s)"
NO_EXECUTE = "NoExecute"
DO_NOT_SCHEDULE = frozenset(("NoSchedule", NO_EXECUTE))
PREFER_NO_SCHEDULE = "PreferNoSchedule"

_DECIMAL = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)


class Untolerated(msgspec.Struct, frozen=True):
    """Matches nodes with taints of these effects that the tolerations do not tolerate."""

    tolerations: tuple[Toleration, ...]
    numeric: bool  # whether the operators Gt and Lt are known
    effects: frozenset[str] = DO_NOT_SCHEDULE

    def taints(self, node: Node) -> Iterator[Taint]:
        """Yield the taints of the node that are not tolerated."""
        for taint in node.spec.taints:
            if taint.effect in self.effects and not tolerated(taint, self.tolerations, numeric=self.numeric):
                yield taint

    def matches(self, node: Node) -> bool:
        """Whether the node has such a taint."""
        return next(self.taints(node), None) is not None


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter; no Pod is skipped."""
    untolerated = Untolerated(pod.spec.tolerations, handle.profile.does(Behaviour.NUMERIC_TOLERATIONS))
    suspects = handle.index.tainted_against(untolerated)
    named = handle.profile.does(Behaviour.TAINT_IN_REASON)
    return PreFilterResult(partial(filter_node, untolerated, named=named), suspects=suspects, certain=True)


def filter_node(untolerated: Untolerated, node_info: NodeInfo, *, named: bool) -> Status:
    """Reject a node with an untolerated taint; ``named``: the reason names it.

    Source: component-helpers scheduling/corev1/helpers.go FindMatchingUntoleratedTaint (v1.36).
    """
    taint = next(untolerated.taints(node_info.node), None)
    if taint is None:
        return SUCCESS
    return unresolvable(f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}" if named else REASON)


def pre_score(pod: Pod, handle: Handle, nodes: Sequence[NodeInfo]) -> Scores:
    """Return feasible node's name → score (0..100), best where the fewest PreferNoSchedule taints are untolerated."""
    numeric = handle.profile.does(Behaviour.NUMERIC_TOLERATIONS)
    untolerated = Untolerated(pod.spec.tolerations, numeric, frozenset((PREFER_NO_SCHEDULE,)))
    against = handle.index.tainted_against(untolerated)
    counts = {name: sum(1 for _ in untolerated.taints(handle.index.tainted[name])) for name in against}
    return normalize({info.name: counts.get(info.name, 0) for info in nodes}, lowest_is_best=True)


def tolerated(taint: Taint, tolerations: Iterable[Toleration], *, numeric: bool) -> bool:
    """Whether any of the tolerations tolerates the taint."""
    return any(tolerates(toleration, taint, numeric=numeric) for toleration in tolerations)


def tolerates(toleration: Toleration, taint: Taint, *, numeric: bool) -> bool:
    """Whether the toleration tolerates the taint; an empty key or effect means all keys or effects.

    ``numeric``: whether the operators Gt and Lt are known (gate TaintTolerationComparisonOperators).

    Source: api core/v1/toleration.go ToleratesTaint (v1.36).
    """
    # The API server allows an empty key only with Exists, so this is not checked here.
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case "Gt" | "Lt":
            return numeric and _compares(toleration, taint)
        case _:
            return False


def _compares(toleration: Toleration, taint: Taint) -> bool:
    """Source: api core/v1/toleration.go compareNumericValues (v1.36)."""
    if not (_is_decimal(toleration.value) and _is_decimal(taint.value)):
        return False
    # Gt tolerates a taint whose number is greater than the toleration's.
    bound, actual = int(toleration.value), int(taint.value)
    return actual > bound if toleration.operator == "Gt" else actual < bound


def _is_decimal(text: str) -> bool:
    return _DECIMAL.fullmatch(text) is not None and is_int64(text)

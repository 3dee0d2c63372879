"""TaintToleration: a node's NoSchedule and NoExecute taints keep off the Pods that do not tolerate them.

Source: kube-scheduler tainttoleration/taint_toleration.go, api core/v1/toleration.go (v1.36).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import msgspec

from kubectl_spread.labels import is_int64
from kubectl_spread.objects.core import Node, Pod, Taint, Toleration
from kubectl_spread.scheduler.framework import SUCCESS, Handle, PreFilterResult, Status, normalize, unresolvable
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour

NAME = "TaintToleration"
REASON = "node(s) had untolerated taint(s)"
NO_EXECUTE = "NoExecute"
DO_NOT_SCHEDULE = frozenset(("NoSchedule", NO_EXECUTE))
PREFER_NO_SCHEDULE = "PreferNoSchedule"

_DECIMAL = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)


class State(msgspec.Struct, frozen=True):
    """What the filter needs of the Pod.

    Attributes:
        numeric: whether Gt and Lt are understood.
        names_taint: whether the reason names the taint.
    """

    tolerations: tuple[Toleration, ...]
    numeric: bool
    names_taint: bool


class Untolerated(msgspec.Struct, frozen=True):
    """Nodes whose taints keep Pods with these tolerations off.

    Attributes:
        numeric: whether Gt and Lt are understood.
    """

    tolerations: tuple[Toleration, ...]
    numeric: bool

    def matches(self, node: Node) -> bool:
        """Whether the node is one."""
        return untolerated_taint(node, self.tolerations, numeric=self.numeric) is not None


class Discouraged(Untolerated, frozen=True):
    """Nodes whose taints discourage Pods with these tolerations."""

    def matches(self, node: Node) -> bool:
        """Whether the node is one."""
        return self.taints(node) > 0

    def taints(self, node: Node) -> int:
        """Return how many PreferNoSchedule taints of the node are not tolerated (count)."""
        found = (taint for taint in node.spec.taints if taint.effect == PREFER_NO_SCHEDULE)
        return sum(not tolerated(taint, self.tolerations, numeric=self.numeric) for taint in found)


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter; every Pod has it."""
    profile = handle.profile
    state = State(
        tolerations=pod.spec.tolerations,
        numeric=profile.does(Behaviour.NUMERIC_TOLERATIONS),
        names_taint=profile.does(Behaviour.TAINT_IN_REASON),
    )
    suspects = handle.index.tainted_against(Untolerated(state.tolerations, state.numeric))
    return PreFilterResult(partial(filter_node, state), suspects=suspects, certain=True)


def filter_node(state: State, node_info: NodeInfo) -> Status:
    """Reject a node with a taint the Pod does not tolerate."""
    taint = untolerated_taint(node_info.node, state.tolerations, numeric=state.numeric)
    if taint is None:
        return SUCCESS
    return unresolvable(
        f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}" if state.names_taint else REASON
    )


def untolerated_taint(node: Node, tolerations: Iterable[Toleration], *, numeric: bool) -> Taint | None:
    """Return the first taint that keeps a Pod with these tolerations off the node, None when there is none.

    Source: component-helpers scheduling/corev1/helpers.go FindMatchingUntoleratedTaint (v1.36).
    """
    return next(untolerated_taints(node, tolerations, numeric=numeric), None)


def untolerated_taints(node: Node, tolerations: Iterable[Toleration], *, numeric: bool) -> Iterator[Taint]:
    """Yield the NoSchedule and NoExecute taints of the node that are not tolerated."""
    for taint in node.spec.taints:
        # PreferNoSchedule keeps nobody off: it only costs points.
        if taint.effect in DO_NOT_SCHEDULE and not tolerated(taint, tolerations, numeric=numeric):
            yield taint


def pre_score(pod: Pod, handle: Handle, nodes: Sequence[NodeInfo]) -> dict[str, int]:
    """Return feasible node's name → score (0..100), best where the fewest PreferNoSchedule taints are untolerated.

    Source: tainttoleration/taint_toleration.go Score (v1.36).
    """
    numeric = handle.profile.does(Behaviour.NUMERIC_TOLERATIONS)
    # The fewer such taints, the better: the node with the most gets 0, one without any 100.
    asked = Discouraged(pod.spec.tolerations, numeric)
    untolerated = {name: asked.taints(handle.index.tainted[name]) for name in handle.index.tainted_against(asked)}
    return normalize({info.name: untolerated.get(info.name, 0) for info in nodes}, lowest_is_best=True)


def tolerated(taint: Taint, tolerations: Iterable[Toleration], *, numeric: bool) -> bool:
    """Whether any of the tolerations covers the taint."""
    return any(tolerates(toleration, taint, numeric=numeric) for toleration in tolerations)


def tolerates(toleration: Toleration, taint: Taint, *, numeric: bool) -> bool:
    """Whether the toleration covers the taint; an empty key or effect covers all keys or effects.

    ``numeric``: whether Gt and Lt are understood (gate TaintTolerationComparisonOperators).

    Source: api core/v1/toleration.go ToleratesTaint (v1.36).
    """
    # An empty key goes with Exists alone; the API server sees to that, so it need not be asked here.
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
    """Whether the taint's number is beyond the toleration's; text that is no plain decimal integer never is.

    Source: api core/v1/toleration.go compareNumericValues (v1.36).
    """
    if not (_is_decimal(toleration.value) and _is_decimal(taint.value)):
        return False
    # Gt tolerates a taint whose number is greater than the toleration's, not the other way round.
    bound, actual = int(toleration.value), int(taint.value)
    return actual > bound if toleration.operator == "Gt" else actual < bound


def _is_decimal(text: str) -> bool:
    return _DECIMAL.fullmatch(text) is not None and is_int64(text)

"""Changes of nodes, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kubectl_spread.diagnosis.fixes import nodes
from kubectl_spread.diagnosis.fixes.proposals import Proposal
from kubectl_spread.wording.words import enumerated, seen


def _uncordon(fix: nodes.Uncordon) -> str:
    despite = f", although its condition {enumerated(fix.problems)} reports a problem" if fix.problems else ""
    return f"uncordon {fix.node}{despite}"


def _label_node(fix: nodes.LabelNode) -> str:
    return f"label {fix.node} {fix.key}={fix.value}, to match its {fix.similar}"


def _remove_taint(fix: nodes.RemoveTaint) -> str:
    return f"remove the taint {fix.taint} from {fix.node}"


def _add_node(fix: nodes.AddNode) -> str:
    domains = " and ".join(f"{key} {seen(value)}" for key, value in fix.domains)
    where = f"in {domains}" if domains else ""
    but = f", but {' and '.join((*['healthy'] * fix.repaired, *[where] * fix.moved))}," * (fix.repaired or fix.moved)
    where = f" {where}" if where and not fix.moved else ""
    pool = f" to the node pool {fix.pool}" if fix.pool else ""
    return f"add a node like {fix.like}{but}{where}{pool}".removesuffix(",")


TEXTS: Mapping[type[Proposal], Callable[..., str]] = {
    nodes.Uncordon: _uncordon,
    nodes.LabelNode: _label_node,
    nodes.RemoveTaint: _remove_taint,
    nodes.AddNode: _add_node,
}
"""Change → its text; of changes of constraints also by their topology keys."""
CAUTIONS: Mapping[type[Proposal], str] = {
    nodes.Uncordon: "first find out why the node is cordoned",
    nodes.RemoveTaint: "other Pods may then be scheduled there too: make sure that the taint is no longer needed",
    nodes.AddNode: "add the node yourself: scale the node group, or use the autoscaler",
}
"""Change → what to know before it is made."""

"""Deletions of Pods, and rollbacks, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kubectl_spread.diagnosis.fixes import moves
from kubectl_spread.diagnosis.fixes.proposals import Proposal


def _move_pod(fix: moves.MovePod) -> str:
    does = "finish the deletion of" if fix.ending else "delete"
    return f"{does} the Pod {fix.namespace}/{fix.pod} on {fix.node}"


def _recreate_pod(fix: moves.RecreatePod) -> str:
    if fix.resumed:
        return f"resume {fix.resumed}, whose rollout replaces the Pod {fix.namespace}/{fix.pod} of an older template"
    was = "was" if fix.certain else "may have been"
    return f"delete the Pod {fix.namespace}/{fix.pod}, which {was} made before its template was changed"


def _roll_back(fix: moves.RollBack) -> str:
    return f"go back to revision {fix.revision} of {fix.owner}"


TEXTS: Mapping[type[Proposal], Callable[..., str]] = {
    moves.MovePod: _move_pod,
    moves.RecreatePod: _recreate_pod,
    moves.RollBack: _roll_back,
}
"""Change → its text; of changes of constraints also by their topology keys."""
CAUTIONS: Mapping[type[Proposal], str] = {
    moves.RollBack: "this undoes what the newest revision changed: ask its author first",
}
"""Change → what to know before it is made."""

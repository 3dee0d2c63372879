"""What the scheduler would evict for a Pod, and which volumes it waits for, in words."""

from __future__ import annotations

from kubectl_spread.diagnosis.preemption import AwaitedVolumes, Preemption
from kubectl_spread.wording.words import enumerated, listed


def preempts(preemption: Preemption | None) -> str:
    """Return ``preempts a/b on node``; empty where the scheduler would evict nobody."""
    if preemption is None:
        return ""
    return f"preempts {enumerated(list(map(str, preemption.victims)), most=2)} on {preemption.node}"


def waits_for_volumes(awaited: AwaitedVolumes) -> str:
    """Return which volumes the scheduler waits for, on which node, as a sentence."""
    makers, claims = listed(awaited.provisioners), listed(awaited.claims)
    one = len(awaited.claims) == 1
    what = f"claim {claims}, whose volume {makers} is" if one else f"claims {claims}, whose volumes {makers} is"
    return f"The scheduler has chosen {listed(awaited.nodes)} and waits for {what} to make."

"""What the scheduler would evict for a Pod, and which volumes it waits for, in words."""

from __future__ import annotations

from kubectl_spread.diagnosis.preemption import AwaitedVolumes, Nomination, Preemption
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


def nominated(nomination: Nomination) -> str:
    """Return what the Pod waits for on the node that it is nominated to."""
    # Nobody need have been evicted: from 1.35 on a Pod is nominated while it is bound too, and autoscalers nominate.
    leaving = listed(list(map(str, nomination.leaving))) or "nobody"
    return f"It is nominated to {nomination.node} and waits for {leaving} to leave."


def may_preempt(preemption: Preemption) -> str:
    """Return which Pods the scheduler would evict, where, and where else it could."""
    if preemption.read is False:
        return "Whether evictions would help is not known: too few Pods were read to tell, --read=all reads them."
    victims, violations = listed(list(map(str, preemption.victims))), preemption.pdb_violations
    sentence = f"By its priority it may preempt: {victims} would be evicted from {preemption.node}"
    if violations is None:
        sentence += " (whether PodDisruptionBudgets protect them could not be read)"
    elif violations:
        sentence += f" ({violations} of them against a PodDisruptionBudget)"
    if preemption.ties:
        sentence += f"; {listed(preemption.ties)} would do as well, and the scheduler may choose it instead"
    if preemption.other_nodes:
        sentence += f"; worse choices: {listed(preemption.other_nodes)}"
    tried = " The scheduler tries only some of so many nodes." if preemption.sampled else ""
    return f"{sentence}.{tried}"

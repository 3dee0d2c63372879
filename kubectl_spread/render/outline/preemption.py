"""Evictions in a sentence: those the scheduler would make for a Pod, and those it has begun."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_spread.contract.pending import PendingItem
from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.diagnosis.preemption import Nomination, Preemption
from kubectl_spread.wording.words import listed

NOT_READ = "Whether evictions would help is not known: too few Pods were read to tell, --read=all reads them."


def preemption_lines(item: PendingItem) -> Iterator[str]:
    """Yield what there is to say of evictions, nothing where they play no part."""
    # The summary says where an assumed Pod goes, and what it waits for.
    if item.nomination is not None and (item.nomination.leaving or not item.assumed):
        yield _nominated(item.nomination)
    if item.preemption is not None:
        yield NOT_READ if item.preemption.read is False else _would_evict(item.preemption)


def _nominated(nomination: Nomination) -> str:
    """Return what the Pod waits for."""
    if nomination.leaving:
        return f"It is nominated to {nomination.node} and waits for {_names(nomination.leaving)} to leave."
    # Nobody need have been evicted: from 1.35 on a Pod is nominated while it is bound too, and autoscalers nominate.
    return f"It is nominated to {nomination.node} and waits for nobody to leave."


def _would_evict(preemption: Preemption) -> str:
    """Return whom the scheduler would evict, where, and where else it could."""
    sentence = f"By its priority it may preempt: {_names(preemption.victims)} would be evicted from {preemption.node}"
    sentence += _budgets(preemption.pdb_violations)
    if preemption.ties:
        sentence += f"; {listed(preemption.ties)} would do as well, and the scheduler may choose it instead"
    if preemption.other_nodes:
        sentence += f"; worse choices: {listed(preemption.other_nodes)}"
    tried = " The scheduler tries only some of so many nodes." if preemption.sampled else ""
    return f"{sentence}.{tried}"


def _budgets(violations: int | None) -> str:
    """Return how many of the victims a budget protects; nothing is said of none."""
    if violations is None:
        return " (whether PodDisruptionBudgets protect them could not be read)"
    return f" ({violations} of them against a PodDisruptionBudget)" if violations else ""


def _names(pods: Iterable[PodName]) -> str:
    """Return the Pods as namespace/name."""
    return listed([f"{pod.namespace}/{pod.name}" for pod in pods])

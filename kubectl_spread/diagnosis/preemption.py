"""Whether evictions would help a Pod, and whom the scheduler is evicting for it already."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod
from kubectl_spread.report import Nomination, PodName, Preemption
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.preemption import leaving, preempt
from kubectl_spread.words import enumerated


def preemption_report(evaluation: Evaluation, handle: Handle) -> Preemption | None:
    """Return whom the scheduler would evict, None where it would evict nobody.

    Args:
        evaluation: every filter's verdicts on the Pod.
        handle: the cluster.

    Raises:
        ValueError: a quantity of a Pod cannot be read.
    """
    found = preempt(evaluation, handle)
    if found is None:
        return None
    first, *ties = found.best
    return Preemption(
        node=first.node_name,
        victims=_names(first.victims),
        pdb_violations=first.violations if handle.snapshot.inventory.has(kinds.POD_DISRUPTION_BUDGET) else None,
        ties=tuple(candidate.node_name for candidate in ties),
        other_nodes=tuple(candidate.node_name for candidate in found.others),
        sampled=found.sampled,
    )


def told(preemption: Preemption) -> str:
    """Return whom the scheduler would evict, and where."""
    return f"{enumerated([f'{pod.namespace}/{pod.name}' for pod in preemption.victims], most=2)} on {preemption.node}"


def nomination_report(pod: Pod, handle: Handle) -> Nomination | None:
    """Return what the Pod waits for on the node it is nominated to, None for a Pod that is nominated to none."""
    node_name = pod.status.nominated_node_name
    if not node_name:
        return None
    return Nomination(node=node_name, leaving=_names(leaving(pod, handle.node_infos)))


def _names(pods: Iterable[Pod]) -> tuple[PodName, ...]:
    """Return the Pods by name, in their order."""
    return tuple(PodName(namespace=pod.metadata.namespace, name=pod.metadata.name) for pod in pods)

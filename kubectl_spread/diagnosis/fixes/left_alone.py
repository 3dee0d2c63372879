"""What would let a Pod in and is for nobody to change: taints that say what a node suffers from, Pods that stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from msgspec.structs import replace

from kubectl_spread.controllers.taints import meaning_of
from kubectl_spread.diagnosis.fixes import moves, nodes
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.diagnosis.requirements import FilterRequirement
from kubectl_spread.scheduler import tainttoleration
from kubectl_spread.wording.words import enumerated, first_and_more

MOST = 3
"""Taints and Pods (count each) that are named."""


def left_alone(situation: Situation, spent: Callable[[], bool]) -> tuple[str, ...]:
    """Return what is not offered although it would open a node: its name, a colon, and why.

    Args:
        situation: the Pod that finds no node, and the cluster.
        spent: whether the time for looking is over.
    """
    return (*islice(_taints(situation), MOST), *islice(_pods(situation, spent), MOST))


def _taints(situation: Situation) -> Iterator[str]:
    """Yield what nodes suffer from that nothing else rejects, each once with its nodes and taints."""
    nodes_of: dict[str, dict[str, None]] = {}
    taints_of: dict[str, dict[str, None]] = {}
    for info in situation.nodes_only_against([FilterRequirement(tainttoleration.NAME)]):
        for taint in nodes.closing_taints(situation, info.node):
            if meaning := meaning_of(taint):
                nodes_of.setdefault(meaning, {})[info.name] = None
                taints_of.setdefault(meaning, {})[str(taint)] = None
    for meaning, taints in taints_of.items():
        says = "its taint {} says that {}, and goes" if len(taints) == 1 else "its taints {} say that {}, and go"
        yield f"{first_and_more([*nodes_of[meaning]])}: {says.format(enumerated([*taints]), meaning)} when that is over"


def _pods(situation: Situation, spent: Callable[[], bool]) -> Iterator[str]:
    """Yield the Pods in the way that are not to be deleted, or end by themselves."""
    for pod, _ in () if spent() else moves.obstacles(situation):
        if spent():
            return
        why = "" if moves.is_of_its_node(pod) else moves.why_not(pod, situation)
        if why and replace(situation, handle=situation.handle.without_pod(pod)).feasible:
            yield f"{pod.metadata.namespace}/{pod.metadata.name} on {pod.spec.node_name}: {why}"

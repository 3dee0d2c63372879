"""What would let a Pod in, but is not to be changed: taints that report a node's problem, Pods that stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from msgspec.structs import replace

from kubectl_spread.controllers.taints import NodeTrouble, meaning_of
from kubectl_spread.diagnosis.fixes import moves, nodes
from kubectl_spread.diagnosis.fixes.conclusion import NotOffered, StayingPod, SufferingNodes
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.diagnosis.requirements import FilterRequirement
from kubectl_spread.scheduler import tainttoleration

MOST = 3
"""Taints and Pods that are named (count of each)."""


def not_offered(situation: Situation, spent: Callable[[], bool]) -> tuple[NotOffered, ...]:
    """Return what is not offered, although it would open a node.

    Args:
        situation: the Pending Pod and the cluster.
        spent: whether the time for the search is over.
    """
    return (*islice(_troubled_nodes(situation), MOST), *islice(_staying_pods(situation, spent), MOST))


def _troubled_nodes(situation: Situation) -> Iterator[SufferingNodes]:
    """Yield each problem of nodes that nothing else rejects, with the nodes and taints."""
    nodes_of: dict[NodeTrouble, dict[str, None]] = {}
    taints_of: dict[NodeTrouble, dict[str, None]] = {}
    for info in situation.nodes_only_against([FilterRequirement(tainttoleration.NAME)]):
        for taint in nodes.closing_taints(situation, info.node):
            if trouble := meaning_of(taint):
                nodes_of.setdefault(trouble, {})[info.name] = None
                taints_of.setdefault(trouble, {})[str(taint)] = None
    for trouble, taints in taints_of.items():
        yield SufferingNodes(nodes=tuple(nodes_of[trouble]), taints=tuple(taints), trouble=trouble)


def _staying_pods(situation: Situation, spent: Callable[[], bool]) -> Iterator[StayingPod]:
    """Yield the Pods in the way that should not be deleted, or that end by themselves."""
    for pod, _ in () if spent() else moves.obstacles(situation):
        if spent():
            return
        why = None if moves.is_of_its_node(pod) else moves.why_not(pod, situation)
        if why and replace(situation, handle=situation.handle.without_pod(pod)).feasible:
            namespace, name = pod.key
            yield StayingPod(namespace=namespace, name=name, node=pod.spec.node_name, why=why)

"""What ``check`` says of a manifest: what becomes of its replicas, and what that rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import UnsetType

from kubectl_spread.simulation.placement import Placement
from kubectl_spread.wording.words import count_of, enumerated, listed

REFUSED = "the API server refuses it."
NO_POD = "no Pod is to be placed."
TIES_BY_NAME = "Ties were broken by name alone: in so large a cluster no other order was tried."


def refused(sentence: str) -> str:
    """Return what becomes of a manifest that the API server refuses, and what would without that."""
    return f"the API server refuses it as it stands. Otherwise: {sentence}"


def not_schedulable(why: str) -> str:
    """Return that no replica finds a node, and why."""
    return f"not schedulable. {why}"


def refused_pod(number: int, replicas: int, message: str) -> str:
    """Return which of the replicas the API server refuses, and its message."""
    return f"Pod {number} of {replicas} is refused by the API server: {message}"


def jam_sentence(
    replica: int, replica_max: int | UnsetType | None, replicas: int, *, nodes: Sequence[str], why: str
) -> str:
    """Return which replicas find no node, and why; the arguments are the fields of the jam."""
    if nodes:
        return f"{len(nodes)} of {replicas} nodes have no room for their Pod ({listed(nodes)}). {why}"
    if replica_max is None:
        return f"replica {replica} of {replicas} may find no node, by ties. {why}"
    if isinstance(replica_max, int):
        return f"replica {replica} to {replica_max} of {replicas} finds no node, by ties. {why}"
    return f"replica {replica} of {replicas} finds no node. {why}"


def everyone(number: int, *, to_come: bool) -> str:
    """Return all replicas, or all Pods that a rollout makes."""
    return f"all {number} Pods that are to come" if to_come else f"all {number} replicas"


def placed(placements: Sequence[Placement], who: str = "it") -> str:
    """Return that everyone finds a node, and which Pods are evicted for that."""
    evicted = [f"{pod.namespace}/{pod.name} on {each.node}" for each in placements for pod in each.preempts or ()]
    evicting = f": it preempts {enumerated(evicted, most=2)}" if evicted else ""
    return f"{who} can be scheduled{evicting}."


def rollout_note(strategy: str, running: int, replaced: int, assumed: str) -> str:
    """Return how the workload gets to the Pods of the manifest."""
    gone = f", {replaced} of them replaced" if replaced else ""
    # Some of them may be without a node.
    return f"Rollout: {strategy}, {count_of(running, 'Pod')} there{gone}. Assumed: {assumed}."


def replicas_note(placements: Sequence[Placement], most: int) -> str:
    """Return the nodes on which the replicas are, so many of them."""
    counts = Counter(placement.node for placement in placements)
    return f"Replicas: {listed([f'{node} ({count})' if count > 1 else node for node, count in counts.items()], most)}"


def random_ties(orders: int) -> str:
    """Return in how many orders ties were broken."""
    return f"The scheduler breaks ties at random: {orders} orders were tried, by name first."


def ranking_note(totals: Mapping[str, int]) -> str:
    """Return the nodes that can take the first replica, each with its score."""
    return f"Ranked for the first replica: {', '.join(f'{name} ({total})' for name, total in totals.items())}"


def sampled_note(nodes: int) -> str:
    """Return that the scheduler may look at some of so many nodes only."""
    return f"Among {nodes} nodes the scheduler may look at some only; here all were scored."

"""What ``show`` says of a row beside its status."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.wording.words import listed

SHOWN_NAMES = 10


def pods_text(pods: int, own: int) -> str:
    """Return how many Pods are counted, and how many of them are the workload's where there are others."""
    return str(pods) if pods == own else f"{pods} ({own} own)"


def counted_text(pods: int, own: int) -> str:
    """Return the same as a sentence."""
    return f"Pods counted: {pods_text(pods, own)}."


def skew_text(skew: int, max_skew: int) -> str:
    """Return the skew beside what the constraint allows."""
    return f"Skew {skew}, maxSkew {max_skew}"


def ghosts_text(names: Sequence[str]) -> str:
    """Return the Pods that their own constraint does not count."""
    return f"Ghost Pods, which their own constraint does not count: {listed(names, SHOWN_NAMES)}."


def next_replica(nodes: Sequence[str], *, some_read: bool) -> str:
    """Return the nodes that take the next replica; ``some_read`` where only some nodes' Pods were read."""
    if not nodes:
        return "Next replica: no node."
    return f"Next replica: {listed(nodes, SHOWN_NAMES)}{', of the nodes whose Pods were read' if some_read else ''}."


def headroom_text(more: int, then: str) -> str:
    """Return how many more replicas find a node, and what stops the next; empty where nothing did."""
    return f"{more} more, then {then}" if then else f"at least {more} more"

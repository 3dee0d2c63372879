"""Replicas placed one after another, as the scheduler would place them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from kubectl_spread.diagnosis.controllers import pinned_to
from kubectl_spread.objects.core import Pod
from kubectl_spread.report import Jam, Placement
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle


@dataclass(frozen=True, slots=True)
class Placed:
    """Where replicas went.

    Attributes:
        placements: one a replica, in order.
        jam: the first replica that found no node; None when all did.
        handle: the cluster with the replicas in it.
    """

    placements: tuple[Placement, ...]
    jam: Jam | None
    handle: Handle


def place(pod: Pod, handle: Handle, *, replicas: int) -> Placed:
    """Return where the replicas go, each counted before the next is placed; ties go to the first name."""
    return _place((replica(pod, number) for number in range(1, replicas + 1)), handle)


def place_daemon(pod: Pod, handle: Handle) -> Placed:
    """Return where a DaemonSet's Pods go: one for each node that its node affinity, name and taints allow.

    Source: kube-controller-manager pkg/controller/daemon/daemon_controller.go NodeShouldRunDaemonPod (v1.36).
    """
    decided_by = {"NodeName", "NodeAffinity", "TaintToleration"}
    verdicts = cycle.evaluate(pod, handle).nodes
    nodes = [name for name, v in verdicts.items() if all(r.plugin not in decided_by for r in v.rejections)]
    return _place((replica(pinned_to(pod, node), number) for number, node in enumerate(nodes, start=1)), handle)


def _place(pods: Iterable[Pod], handle: Handle) -> Placed:
    """Return where the Pods go, one after another, up to the first that finds no node."""
    placements: list[Placement] = []
    for number, pod in enumerate(pods, start=1):
        evaluation = cycle.evaluate(pod, handle)
        if not evaluation.feasible:
            return Placed(tuple(placements), Jam(replica=number, message=evaluation.message), handle)
        node, *_ = evaluation.feasible
        placements.append(Placement(replica=number, node=node, ties=_ties(evaluation)))
        handle = handle.with_assigned(pod, node)
    return Placed(tuple(placements), None, handle)


def _ties(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the other nodes that score as high as the one taken; the scheduler picks among them at random."""
    best, *others = evaluation.feasible
    highest = evaluation.nodes[best].scores["total"]
    return tuple(name for name in others if evaluation.nodes[name].scores["total"] == highest)


def replica(pod: Pod, number: int) -> Pod:
    """Return one replica of the Pod under a name of its own."""
    metadata = msgspec.structs.replace(pod.metadata, name=f"{pod.metadata.name}-{number}")
    return msgspec.structs.replace(pod, metadata=metadata)

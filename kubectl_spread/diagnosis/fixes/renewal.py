"""Whether the Pods that a changed template replaces find nodes again.

Running Pods may be on nodes that take no new Pod: cordoned since, tainted, or filled by later Pods.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from msgspec.structs import replace

from kubectl_spread.controllers.replicas import replicas_of
from kubectl_spread.diagnosis.fixes import moves
from kubectl_spread.diagnosis.fixes.candidate import Candidate, DeletePod, EditPod, edited_where_it_fits, edits_of
from kubectl_spread.diagnosis.fixes.change import Disturbance
from kubectl_spread.diagnosis.fixes.owner import new_revision_pod, patchable_owner
from kubectl_spread.diagnosis.fixes.route import routes_of
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.workloads import DaemonSet
from kubectl_spread.scheduler import cycle, nodeaffinity, nodeunschedulable, tainttoleration
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.simulation.placement import count_placed

CLOSING = frozenset((nodeunschedulable.NAME, tainttoleration.NAME, nodeaffinity.NAME))
"""Filters that may reject the node of a running Pod, and leave the Pod there."""
MOST_RENEWED = 25
"""Replaced Pods (count) that are tried; those on closed nodes come first."""


def renewal_jams(parts: Sequence[Candidate], after: Situation, before: Situation) -> bool:
    """Whether fewer Pods of the owner would run than now, once all Pods have the changed template.

    It does not apply to a change that makes a constraint select its own Pod, nor to a manifest, whose Pods do not run.
    """
    edits = [part for part in parts if isinstance(part, EditPod)]
    if before.written is not None or not edits or any(part.mends for part in edits):
        return False
    if all(route.disturbs is Disturbance.NOTHING for route in routes_of(edits, before)):
        return False
    # The change replaces it anyway. If it is deleted earlier, it comes back unchanged and takes its place again.
    running = {pod.key for pod in before.running}
    if any(isinstance(part, DeletePod) and part.obj.key in running for part in parts):
        return True
    closed = cycle.rejected_by(CLOSING, after.pod, after.handle)
    # A Pod of a StatefulSet that was evicted is there again by its name, on another node.
    there = {(pod.key, info.name) for info in before.handle.node_infos.values() for pod in info.pods}
    staying = (pod for pod in before.running if (pod.key, pod.spec.node_name) in there and not pod.terminating)
    old = sorted(staying, key=lambda pod: pod.spec.node_name not in closed)[:MOST_RENEWED]
    owner = patchable_owner(before)
    most = len(old) + 1
    wanted = most if owner is None or isinstance(owner, DaemonSet) else min(replicas_of(owner), most)
    handle = reduce(Handle.without_pod, old, after.handle)
    return count_placed(_renewed_pods(parts, old, after, before), handle) < wanted


def _renewed_pods(parts: Sequence[Candidate], old: Sequence[Pod], after: Situation, before: Situation) -> Iterator[Pod]:
    upcoming = new_revision_pod(parts, before)
    first = upcoming or after.pod
    controller = before.pod.metadata.controller
    # Pods with fixed names keep their claims, or the node of a daemon, but get the new revision's label.
    apart = upcoming is None and controller is not None and controller.kind in moves.ONE_OF_ITS_NAME
    yield first
    for number, pod in enumerate(old):
        made = edited_where_it_fits(pod, edits_of(parts)) if apart else first
        name = pod.metadata.name if apart else f"{first.metadata.name}-{number}"
        yield replace(made, metadata=replace(made.metadata, name=name), spec=replace(made.spec, node_name=""))

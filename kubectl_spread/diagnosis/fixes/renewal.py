"""Whether the Pods that a changed template replaces find nodes again.

Those that run may be on nodes that no new Pod can go to any more: cordoned since, tainted, or full by what came later.
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
"""Filters that may reject the node of a Pod that runs, which they leave where it is."""
MOST_RENEWED = 25
"""Pods that are replaced (count) and looked at, those first whose nodes are closed."""


def renewal_jams(parts: Sequence[Candidate], after: Situation, before: Situation) -> bool:
    """Whether no more Pods of the owner would run than do, once all of them are of the changed template.

    What makes a constraint mean its own Pod is right all the same, and what a file says runs nowhere yet.

    Args:
        parts: the changes.
        after: the Pod and the cluster with them made.
        before: without them.
    """
    edits = [part for part in parts if isinstance(part, EditPod)]
    if before.written is not None or not edits or any(part.mends for part in edits):
        return False
    if all(route.disturbs is Disturbance.NOTHING for route in routes_of(edits, before)):
        return False
    # The change replaces it anyway. Deleted before that it comes back as it was, and takes the place that it left.
    running = {pod.key for pod in before.running}
    if any(isinstance(part, DeletePod) and part.pod.key in running for part in parts):
        return True
    closed = cycle.rejected_by(CLOSING, after.pod, after.handle)
    there = {pod.key for info in before.handle.node_infos.values() for pod in info.pods}
    staying = (pod for pod in before.running if pod.key in there and not pod.terminating)
    old = sorted(staying, key=lambda pod: pod.spec.node_name not in closed)[:MOST_RENEWED]
    owner = patchable_owner(before)
    most = len(old) + 1
    wanted = most if owner is None or isinstance(owner, DaemonSet) else min(replicas_of(owner), most)
    return count_placed(_renewed(parts, old, after, before), reduce(Handle.without_pod, old, after.handle)) < wanted


def _renewed(parts: Sequence[Candidate], old: Sequence[Pod], after: Situation, before: Situation) -> Iterator[Pod]:
    """Yield the Pods of the changed template: the Pending one first, then one for each that runs."""
    upcoming = new_revision_pod(parts, before)
    first = upcoming or after.pod
    controller = before.pod.metadata.controller
    # Namesakes keep what is theirs alone, claims and the node of a daemon, but count by the new revision's label.
    apart = upcoming is None and controller is not None and controller.kind in moves.ONE_OF_ITS_NAME
    yield first
    for number, pod in enumerate(old):
        made = edited_where_it_fits(pod, edits_of(parts)) if apart else first
        name = pod.metadata.name if apart else f"{first.metadata.name}-{number}"
        yield replace(made, metadata=replace(made.metadata, name=name), spec=replace(made.spec, node_name=""))

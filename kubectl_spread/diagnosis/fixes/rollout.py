"""How the rollout ends that a fix triggers: its commands are simulated until nothing changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_spread.controllers.workloads import WorkloadRef, belongs_to, controller_of
from kubectl_spread.diagnosis.fixes.candidate import Candidate, ChangeNode, DeletePod, edits_of
from kubectl_spread.diagnosis.fixes.conclusion import Effect, RolloutEnd, Route
from kubectl_spread.diagnosis.fixes.owner import patchable_owner, with_edits
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.workloads import Deployment, Job, JobStatus, ReplicaSet
from kubectl_spread.scheduler.framework import Handle, Handles
from kubectl_spread.snapshot import Snapshot

if TYPE_CHECKING:
    from kubectl_spread.simulation.cluster_state import ClusterState
    from kubectl_spread.simulation.steps import Step

FOLLOWED = frozenset(
    (Effect.ROLLOUT, Effect.ROLLBACK, Effect.ROLLOUT_IN_TURN, Effect.THIS_POD_RECREATED, Effect.OWNER_RECREATED)
)
"""Effects after which the owner's controller replaces or recreates Pods."""
MOST_WORK = 4_000
"""Changes times nodes (count) after which no other order of chance is simulated."""
MOST_PODS, MOST_VERDICTS = 500, 200_000
"""A rollout with more Pods, or that tries its Pods on more nodes (counts), is not simulated."""


def rollout_end(
    parts: Sequence[Candidate], routes: Sequence[Route], situation: Situation, start: Handle
) -> RolloutEnd | None:
    """Return how many Pods of the owner have no node once its controller has done what the commands trigger.

    ``start``: the cluster before any eviction. None if no Pod is replaced, or if that takes too long to simulate.
    """
    if situation.written or routes[-1].effect not in FOLLOWED:
        return None
    controller, owner = controller_of(situation.pod, situation.handle.snapshot), patchable_owner(situation)
    if routes[-1].effect is Effect.OWNER_RECREATED and isinstance(controller, Job):
        owner = replace(controller, status=JobStatus())
    if owner is None or (isinstance(owner, Deployment) and not isinstance(controller, ReplicaSet)):
        return None
    changed = with_edits(owner, edits_of(parts))
    if isinstance(changed, Deployment):
        changed = replace(changed, spec=replace(changed.spec, paused=False))
    nodes = (part for part in parts if isinstance(part, ChangeNode))
    changed_nodes = reduce(lambda before, part: part.apply(before), nodes, replace(situation, handle=start))
    return _end(changed, [*_steps(changed, parts, routes)], changed_nodes.handle)


def _steps(changed: Workload, parts: Sequence[Candidate], routes: Sequence[Route]) -> Iterator[Step]:
    """Yield what the commands do, in their order: other Pods are deleted first, those that wait last."""
    from kubectl_spread.simulation.steps import Step, Verb  # Most answers simulate no rollout.

    def deletion(namespace: str, name: str) -> Step:
        ref = WorkloadRef(kind=Pod.__name__, name=name)
        return Step(Verb.DELETE, "", namespace=namespace, ref=ref, alone=True)

    yield from (deletion(*part.obj.key) for part in parts if isinstance(part, DeletePod))
    yield Step(Verb.APPLY, "", merged=(changed,), alone=True)
    for command in routes[-1].commands:
        if command.verb == "delete":
            yield from (deletion(command.namespace, name) for name in (command.name, *command.others))


def _end(changed: Workload, steps: Sequence[Step], handle: Handle) -> RolloutEnd | None:
    """Return how the rollout ends in all orders of chance.

    Pods that were missing before any change do not count.
    """
    from kubectl_spread.simulation.outcomes import simulate

    namespace, wanted = changed.metadata.namespace, getattr(changed.spec, "replicas_wanted", 0)
    ref = WorkloadRef(kind=type(changed).__name__, name=changed.metadata.name)

    def active(pods: Iterable[Pod], snapshot: Snapshot) -> list[Pod]:
        there = (pod for pod in pods if pod.metadata.namespace == namespace and not (pod.finished or pod.terminating))
        return [pod for pod in there if belongs_to(pod, ref, snapshot)]

    own = active(handle.snapshot.all(Pod), handle.snapshot)
    if max(wanted, len(own)) > min(MOST_PODS, MOST_VERDICTS // max(len(handle.node_infos), 1)):
        return None
    missing, needed = max(wanted - len(own), 0), sum(pod.at_work for pod in own)
    if isinstance(changed, Job):  # It is deleted and created again: for the lost work, more of its Pods have to run.
        needed += 1
        on_nodes = (pod for pod in own if pod.spec.node_name in handle.node_infos)
        handle = reduce(Handle.without_pod, on_nodes, handle).without_others((changed, *own))

    def look(cluster: ClusterState, _: int) -> tuple[int, int]:
        pods = active(cluster.pods.values(), cluster.snapshot)
        without = sum(pod.waits for pod in pods) + max(wanted - len(pods), 0)
        return max(without - missing, 0), sum(pod.at_work for pod in pods)

    ends = simulate(Handles(handle), steps, look, most_verdicts=MOST_VERDICTS, most_work=MOST_WORK).after(-1)
    if not all(each.done.settled and not each.done.untried for each in ends):
        return None
    left, running = zip(*(each.seen for each in ends), strict=True)
    worth = any(not each or runs >= needed for each, runs in zip(left, running, strict=True))
    return RolloutEnd(least=min(left), most=max(left), worth=worth)

"""How the rollout ends that a fix triggers: its commands are simulated until nothing changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from kubectl_spread.controllers.workloads import WorkloadRef, controller_of, owner_of
from kubectl_spread.diagnosis.fixes.candidate import Candidate, DeletePod, edits_of
from kubectl_spread.diagnosis.fixes.conclusion import Effect, RolloutEnd, Route
from kubectl_spread.diagnosis.fixes.owner import patchable_owner, with_edits
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.workloads import Deployment, ReplicaSet
from kubectl_spread.scheduler.framework import Handle, Handles
from kubectl_spread.snapshot import Snapshot

FOLLOWED = frozenset((Effect.ROLLOUT, Effect.ROLLBACK, Effect.ROLLOUT_IN_TURN, Effect.THIS_POD_RECREATED))
"""Effects after which the owner's controller replaces or recreates Pods."""
MOST_WORK = 4_000
"""Changes times nodes (count) after which no other order of chance is simulated."""
MOST_PODS, MOST_VERDICTS = 500, 200_000
"""A rollout with more Pods, or that tries its Pods on more nodes (counts), is not simulated."""


def rollout_end(
    parts: Sequence[Candidate], routes: Sequence[Route], situation: Situation, handle: Handle
) -> RolloutEnd | None:
    """Return how many Pods of the owner have no node once its controller has done what the commands trigger.

    ``handle``: the cluster with the fix's other changes. None if no Pod is replaced, if another Pod is deleted too, if
    not all Pods were read, or if the rollout takes too long to simulate.
    """
    route, owner = routes[-1], patchable_owner(situation)
    if owner is None or situation.written or situation.bound_for or route.effect not in FOLLOWED:
        return None
    made_by_deployment = isinstance(controller_of(situation.pod, handle.snapshot), ReplicaSet)
    deletes = any(isinstance(part, DeletePod) for part in parts)
    if handle.snapshot.inventory.not_read or deletes or (isinstance(owner, Deployment) and not made_by_deployment):
        return None
    changed = with_edits(owner, edits_of(parts))
    if isinstance(changed, Deployment):
        changed = replace(changed, spec=replace(changed.spec, paused=False))
    left = _left_without_node(changed, [*_deleted(route)], situation, handle)
    return RolloutEnd(least=min(left), most=max(left)) if left else None


def _deleted(route: Route) -> Iterator[str]:
    """Yield the names of the Pods that the commands delete."""
    for command in route.commands:
        if command.verb == "delete":
            yield from (command.name, *command.others)


def _left_without_node(
    changed: Workload, deleted: Iterable[str], situation: Situation, handle: Handle
) -> Sequence[int]:
    """Return the Pods of the owner without a node in the end (count), in each order of chance; empty if not known.

    Pods that were missing before any change do not count.
    """
    from kubectl_spread.simulation.cluster_state import ClusterState  # Most answers simulate no rollout.
    from kubectl_spread.simulation.outcomes import simulate
    from kubectl_spread.simulation.steps import Step, Verb

    namespace, wanted = situation.pod.metadata.namespace, getattr(changed.spec, "replicas_wanted", 0)
    owner = owner_of(situation.pod, handle.snapshot)

    def active(pods: Iterable[Pod], snapshot: Snapshot) -> list[Pod]:
        there = (pod for pod in pods if pod.metadata.namespace == namespace and not (pod.finished or pod.terminating))
        return [pod for pod in there if owner_of(pod, snapshot) == owner]

    now = len(active(handle.snapshot.all(Pod), handle.snapshot))
    if max(wanted, now) > min(MOST_PODS, MOST_VERDICTS // max(len(handle.node_infos), 1)):
        return ()

    def without_node(cluster: ClusterState, _: int) -> int:
        pods = active(cluster.pods.values(), cluster.snapshot)
        found = sum(pod.waits for pod in pods) + max(wanted - len(pods), 0)
        return max(found - max(wanted - now, 0), 0)

    refs = (WorkloadRef(kind=Pod.__name__, name=name) for name in deleted)
    deletions = (Step(Verb.DELETE, "", namespace=namespace, ref=ref) for ref in refs)
    steps = [Step(Verb.APPLY, "", merged=(changed,), alone=True), *deletions]
    ends = simulate(Handles(handle), steps, without_node, most_verdicts=MOST_VERDICTS, most_work=MOST_WORK).after(-1)
    known = all(each.done.settled and not each.done.untried for each in ends)
    return [each.seen for each in ends] if known else ()

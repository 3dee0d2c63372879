"""How the rollout ends that a fix triggers: its commands are simulated until nothing changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import reduce
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers.replicas import replicas_of
from kubectl_spread.controllers.workloads import WorkloadRef, belongs_to, controller_of, owner_of
from kubectl_spread.diagnosis.fixes import candidate, moves
from kubectl_spread.diagnosis.fixes.conclusion import Effect, OwnerRecreated, PodRecreated, RolloutEnd, Route
from kubectl_spread.diagnosis.fixes.patch import patched
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.meta import KubernetesObject
from kubectl_spread.objects.workloads import DaemonSet, Deployment, Job, JobStatus, ReplicaSet
from kubectl_spread.scheduler import cycle, nodeaffinity, nodeunschedulable, tainttoleration
from kubectl_spread.scheduler.framework import Handle, Handles
from kubectl_spread.simulation.placement import count_placed
from kubectl_spread.snapshot import Snapshot

if TYPE_CHECKING:
    from kubectl_spread.simulation.cluster_state import ClusterState
    from kubectl_spread.simulation.steps import Step

MOST_WORK = 4_000  # Changes times nodes (count) after which no other order of chance is simulated
# A rollout with more Pods, or that tries its Pods on more nodes (counts), is not simulated.
MOST_PODS, MOST_VERDICTS = 500, 200_000
# The end of a rollout that takes too long to simulate: nothing is known of it.
NOT_FOLLOWED = RolloutEnd(least=0, most=0, worth=True, gains=True)
# Filters that may reject the node of a running Pod, and leave the Pod there.
CLOSING = frozenset((nodeunschedulable.NAME, tainttoleration.NAME, nodeaffinity.NAME))
MOST_SAMPLED = 25  # Pods (count) that are tried of a rollout that is not followed


class _Rollout(msgspec.Struct, frozen=True, kw_only=True):
    """The simulation of a rollout."""

    start: Handle  # the cluster at first
    objects: tuple[KubernetesObject, ...]  # what is applied
    ref: WorkloadRef  # whose Pods are counted; ``own`` are further ones
    own: AbstractSet[tuple[str, str]] = frozenset()
    now: Snapshot  # the cluster without the fix
    needed: int = 0  # how many Pods more than now have to run (count): one for a manifest, and for work that is lost
    as_if: bool = False  # whether Pods get a node although somebody refuses or holds them

    def active(self, pods: Iterable[Pod], namespace: str, snapshot: Snapshot) -> list[Pod]:
        """Return those that are counted."""
        there = (pod for pod in pods if pod.metadata.namespace == namespace and not (pod.finished or pod.terminating))
        return [pod for pod in there if pod.key in self.own or belongs_to(pod, self.ref, snapshot)]

    def wanted(self, namespace: str) -> int:
        """Return how many Pods there should be (count); 0 if unknown."""
        made = (obj for obj in self.objects if isinstance(obj, Workload) and obj.metadata.namespace == namespace)
        own = (obj for obj in made if belongs_to(obj, self.ref, self.now))
        return max((getattr(obj.spec, "replicas_wanted", 0) for obj in own), default=0)


def rollout_end(
    parts: Sequence[candidate.Candidate], routes: Sequence[Route], situation: Situation, start: Handle
) -> RolloutEnd | None:
    """Return how many Pods of the owner have no node once its controller has done what the commands trigger.

    ``start``: the cluster before any eviction, and before any manifest is applied. None if no Pod is replaced.
    """
    nodes = (part for part in parts if isinstance(part, candidate.ChangeNode | candidate.NewNode))
    start = reduce(lambda before, part: part.apply(before), nodes, replace(situation, handle=start)).handle
    rollout = (_of_manifest if situation.written else _of_owner)(parts, routes[-1].effect, situation, start)
    return _end(rollout, [*_steps(rollout, parts, routes)], situation.pod.metadata.namespace) if rollout else None


def steps_of(
    parts: Sequence[candidate.Candidate], routes: Sequence[Route], situation: Situation
) -> Sequence[Step] | None:
    """Return what the fix does in the whole cluster; None for what is not simulated as a whole.

    Those are changes of a manifest, of an owner that is recreated, and of Pods that their owner does not make again.
    """
    from kubectl_spread.simulation.steps import Step, Verb  # Most answers simulate no rollout.

    effect, edits = routes[-1].effect, candidate.edits_of(parts)
    if situation.written or situation.bound_for or isinstance(effect, OwnerRecreated):
        return None
    nodes = (part for part in parts if isinstance(part, candidate.ChangeNode | candidate.NewNode))
    changed = tuple(patched(it.obj, it.operations) if isinstance(it, candidate.ChangeNode) else it.obj for it in nodes)
    steps = [Step(Verb.APPLY, "", merged=changed)] if changed else []
    rollout = _of_owner(parts, effect, situation, situation.handle)
    if rollout is not None:
        return [*steps, *_steps(rollout, parts, routes, alone=False)]
    if any(isinstance(part, candidate.ReplacePod) for part in parts) or (
        edits and not isinstance(effect, PodRecreated)
    ):
        return None
    if edits:
        steps.append(Step(Verb.APPLY, "", merged=(candidate.edited(situation.pod, edits),)))
    return [*steps, *(_deletion(*part.obj.key, alone=False) for part in parts if isinstance(part, candidate.DeletePod))]


def _of_manifest(
    parts: Sequence[candidate.Candidate], effect: Effect | None, situation: Situation, start: Handle
) -> _Rollout | None:
    """Return the rollout of the edited manifest; None if the edits cannot be made there."""
    written, snapshot = situation.written, situation.handle.snapshot
    if written is None or not (effect is None or effect.followed):
        return None
    own = {obj.key for obj in written.own if isinstance(obj, Pod)}
    # For each effect that is followed, a paused Deployment is resumed.
    objects = tuple(
        candidate.with_edits(resumed(obj) if effect else obj, candidate.edits_of(parts)) if obj in written.own else obj
        for obj in written.applied
    )
    ref = owner_of(situation.pod, snapshot)
    return _Rollout(start=start, objects=objects, ref=ref, own=own, now=snapshot, needed=1, as_if=written.as_if)


def resumed(obj: candidate.ObjectT) -> candidate.ObjectT:
    """Return the object; a Deployment is not paused."""
    return replace(obj, spec=replace(obj.spec, paused=False)) if isinstance(obj, Deployment) else obj


def _of_owner(
    parts: Sequence[candidate.Candidate], effect: Effect | None, situation: Situation, start: Handle
) -> _Rollout | None:
    """Return the rollout of the existing owner; None if the change replaces none of its Pods."""
    released = next((part.released for part in parts if isinstance(part, candidate.ReplacePod)), None)
    released = next((part.changed for part in parts if isinstance(part, candidate.ChangeOwner)), released)
    controller, owner = controller_of(situation.pod, start.snapshot), released or situation.patchable_owner
    if isinstance(effect, OwnerRecreated) and isinstance(controller, Job):
        owner = replace(controller, status=JobStatus())
    if owner is None or effect is None or not effect.followed:
        return None
    if isinstance(owner, Deployment):
        if not isinstance(controller, ReplicaSet):
            return None
        owner = resumed(owner)
    ref = WorkloadRef(kind=type(owner).__name__, name=owner.metadata.name)
    rollout = _Rollout(
        start=start, objects=(candidate.with_edits(owner, candidate.edits_of(parts)),), ref=ref, now=start.snapshot
    )
    if not isinstance(effect, OwnerRecreated):
        return rollout
    own = rollout.active(start.snapshot.all(Pod), owner.metadata.namespace, start.snapshot)
    on_nodes = (pod for pod in own if pod.spec.node_name in start.node_infos)
    # For the work that is lost, more Pods have to run.
    return replace(rollout, start=reduce(Handle.without_pod, on_nodes, start).without_others((owner, *own)), needed=1)


def _steps(
    rollout: _Rollout, parts: Sequence[candidate.Candidate], routes: Sequence[Route], *, alone: bool = True
) -> Iterator[Step]:
    """Yield what the commands do, in their order: other Pods are deleted first, those that wait last."""
    from kubectl_spread.simulation.steps import Step, Verb  # Most answers simulate no rollout.

    yield from (_deletion(*part.obj.key, alone=alone) for part in parts if isinstance(part, candidate.DeletePod))
    yield Step(Verb.APPLY, "", merged=rollout.objects, as_if=rollout.as_if, alone=alone)
    for command in routes[-1].commands:
        if command.verb == "delete":
            names = (command.name, *command.others)
            yield from (_deletion(command.namespace, name, alone=alone) for name in names)


def _deletion(namespace: str, name: str, *, alone: bool) -> Step:
    from kubectl_spread.simulation.steps import Step, Verb

    ref = WorkloadRef(kind=Pod.__name__, name=name)
    return Step(Verb.DELETE, "", namespace=namespace, ref=ref, alone=alone)


def _end(rollout: _Rollout, steps: Sequence[Step], namespace: str) -> RolloutEnd:
    """Return how the rollout ends in all orders of chance.

    Pods that are missing without the fix do not count.
    """
    from kubectl_spread.simulation.outcomes import simulate

    now, wanted = rollout.active(rollout.now.all(Pod), namespace, rollout.now), rollout.wanted(namespace)
    if max(wanted, len(now)) > min(MOST_PODS, MOST_VERDICTS // max(len(rollout.start.node_infos), 1)):
        return NOT_FOLLOWED
    missing, at_work = max(wanted - len(now), 0), sum(pod.at_work for pod in now)
    needed, waiting = at_work + rollout.needed, sum(pod.waits for pod in now)

    def look(cluster: ClusterState, _: int) -> tuple[int, int]:
        pods = rollout.active(cluster.pods.values(), namespace, cluster.snapshot)
        without = sum(pod.waits for pod in pods) + max(wanted - len(pods), 0)
        return max(without - missing, 0), sum(pod.at_work for pod in pods)

    ends = simulate(Handles(rollout.start), steps, look, most_verdicts=MOST_VERDICTS, most_work=MOST_WORK).after(-1)
    if not all(each.done.settled and not each.done.untried for each in ends):
        return NOT_FOLLOWED
    left, running = zip(*(each.seen for each in ends), strict=True)
    worth = any(not each or runs >= needed for each, runs in zip(left, running, strict=True))
    gains = not waiting or min(left) < waiting
    return RolloutEnd(least=min(left), most=max(left), worth=worth, gains=gains)


def sample_jams(parts: Sequence[candidate.Candidate], after: Situation, before: Situation) -> bool:
    """Whether some of the owner's running Pods find no node once they have the changed template.

    It is asked where the rollout is too large to follow. The Pods on nodes that are closed now are tried first.
    """
    if before.written is not None or not candidate.edits_of(parts):
        return False
    closed = cycle.rejected_by(CLOSING, after.pod, after.handle)
    running = (pod for pod in before.running if not pod.terminating)
    old = sorted(running, key=lambda pod: pod.spec.node_name not in closed)[:MOST_SAMPLED]
    handle = reduce(Handle.without_pod, old, after.handle)
    owner, most = before.patchable_owner, len(old) + 1
    wanted = most if owner is None or isinstance(owner, DaemonSet) else min(replicas_of(owner), most)
    return count_placed(_renewed(parts, old, after), handle) < wanted


def _renewed(parts: Sequence[candidate.Candidate], old: Sequence[Pod], after: Situation) -> Iterator[Pod]:
    # Pods with fixed names keep their claims, or the node of a daemon.
    apart = after.pod.metadata.controller_kind in moves.ONE_OF_ITS_NAME
    yield after.pod
    for number, pod in enumerate(old):
        made = candidate.edited_where_it_fits(pod, candidate.edits_of(parts)) if apart else after.pod
        name = pod.metadata.name if apart else f"{after.pod.metadata.name}-{number}"
        yield replace(made, metadata=replace(made.metadata, name=name), spec=replace(made.spec, node_name=""))

"""A workload that lives and whose template changes: its rollout to its end, or to where it sticks.

It is what a step that applies a manifest does, of one workload: controllers, scheduler and kubelets take turns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from msgspec.structs import replace

from kubectl_spread.controllers import daemonset, deployment
from kubectl_spread.controllers.replicas import as_applied
from kubectl_spread.controllers.rollout_plan import DesiredWorkload, RolloutPlan
from kubectl_spread.controllers.workloads import owner_of, revision_of
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.workloads import DaemonSet, Deployment, StatefulSet
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.handles import Handles
from kubectl_spread.simulation.cluster_state import ClusterState
from kubectl_spread.simulation.control_loop import UNLIMITED, ControlLoop
from kubectl_spread.simulation.outcomes import MOST_WORK
from kubectl_spread.simulation.placement import SEEDS, Jam, Placed, PlacementOutcomes, placement
from kubectl_spread.snapshot import Snapshot


def rolled_out(wanted: DesiredWorkload, plan: RolloutPlan, before: Snapshot, handle: Handle) -> PlacementOutcomes:
    """Return what becomes of the workload's Pods, in every order of what is left to chance.

    Args:
        wanted: what the manifest asks for, of a workload.
        plan: what of its Pods stays.
        before: the cluster without any manifest.
        handle: the cluster with them.
    """
    owner = cast("Workload", wanted.owner)
    applied = as_applied(_asking_for(wanted.replicas, owner), before)
    start = handle.with_others(_unborn(owner, before, handle.snapshot))
    key = (wanted.pod.metadata.namespace, type(owner).__name__, owner.metadata.name)
    orders: list[Placed] = []
    work = 0
    for seed in range(SEEDS + 1):
        world = ClusterState(Handles(start), seed)
        turns = ControlLoop(world, most_verdicts=UNLIMITED)
        if not isinstance(owner, StatefulSet):  # Each Pod of that has volumes of its own.
            turns.stored[key[0], wanted.ref] = wanted.pod
        # What else is in the files or has lost Pods is not asked about.
        world.dirty.clear()
        world.put(applied)
        (turns.renew if isinstance(owner, DaemonSet) else turns.forget)(key)
        turns.settle()
        orders.append(_placed(wanted, plan, world))
        work += world.version * max(len(world.nodes), 1)
        if not world.free or work > MOST_WORK:
            break
    first, *others = orders
    return PlacementOutcomes(first, tuple(others))


def _asking_for(replicas: int, owner: Workload) -> Workload:
    """Return the workload with that number of replicas, where it has such a number."""
    if isinstance(owner, Deployment | StatefulSet):
        return replace(owner, spec=replace(owner.spec, replicas=replicas))
    return owner


def _unborn(owner: Workload, before: Snapshot, snapshot: Snapshot) -> Iterable[Workload]:
    """Yield the ReplicaSets that the Deployment is yet to make: they have no Pods."""
    if isinstance(owner, Deployment):
        for each in deployment.replica_sets(owner, snapshot):
            if before.get(type(each), *_key(each)) is None:
                yield replace(each, spec=replace(each.spec, replicas=0))


def _key(owner: Workload) -> tuple[str, str]:
    """Return namespace and name."""
    return owner.metadata.namespace, owner.metadata.name


def _placed(wanted: DesiredWorkload, plan: RolloutPlan, world: ClusterState) -> Placed:
    """Return where the Pods went that have come, and which wait."""
    new = [pod for pod in world.pods.values() if _is_placed_now(pod, wanted, plan, world)]
    bound = tuple(pod for pod in new if pod.spec.node_name)
    waiting = tuple(pod for pod in new if not pod.spec.node_name)
    before = sum(bool(pod.spec.node_name) for pod in plan.staying)
    placements = tuple(
        placement(number, pod.spec.node_name, _ties(pod, world), world.preempted_for.get(pod.key, ()))
        for number, pod in enumerate(bound, start=before + 1)
    )
    jam = _jam(wanted, before + len(bound) + 1, waiting, world) if waiting else None
    return Placed(placements, jam, world.settled().default, waiting, bound if waiting else ())


def _is_placed_now(pod: Pod, wanted: DesiredWorkload, plan: RolloutPlan, world: ClusterState) -> bool:
    """Whether the Pod has come by the rollout, or is one of those that stay and waited for a node before it."""
    # What finds a node while it is yet to be replaced is none of the manifest's.
    if isinstance(wanted.owner, Deployment) and revision_of(pod) != revision_of(wanted.pod):
        return False
    waited = any(each.key == pod.key and not each.spec.node_name for each in plan.staying)
    own = (waited or pod.key in world.born) and pod.metadata.namespace == wanted.pod.metadata.namespace
    return own and owner_of(pod, world.snapshot) == wanted.ref


def _ties(pod: Pod, world: ClusterState) -> tuple[str, ...]:
    return tuple(name for name in world.best.get(pod.key, ()) if name != pod.spec.node_name)


def _jam(wanted: DesiredWorkload, number: int, waiting: tuple[Pod, ...], world: ClusterState) -> Jam:
    """Return that the first of the Pods that wait finds no node; those of a DaemonSet wait for a node each."""
    message = cycle.evaluate(waiting[0], world.handle).message
    pinned = (daemonset.pinned_node(pod) for pod in waiting) if isinstance(wanted.owner, DaemonSet) else ()
    return Jam(replica=number, message=message, nodes=tuple(pinned))

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
        cluster = ClusterState(Handles(start), seed)
        loop = ControlLoop(cluster, most_verdicts=UNLIMITED)
        if not isinstance(owner, StatefulSet):  # Each Pod of that has volumes of its own.
            loop.stored[key[0], wanted.ref] = wanted.pod
        # What else is in the files or has lost Pods is not asked about.
        cluster.dirty.clear()
        cluster.put(applied)
        (loop.renew if isinstance(owner, DaemonSet) else loop.forget)(key)
        loop.settle()
        orders.append(_placed(wanted, plan, cluster))
        work += cluster.version * max(len(cluster.nodes), 1)
        if not cluster.free or work > MOST_WORK:
            break
    first, *others = orders
    return PlacementOutcomes(first, tuple(others))


def _asking_for(replicas: int, owner: Workload) -> Workload:
    if isinstance(owner, Deployment | StatefulSet):
        return replace(owner, spec=replace(owner.spec, replicas=replicas))
    return owner


def _unborn(owner: Workload, before: Snapshot, snapshot: Snapshot) -> Iterable[Workload]:
    """Yield the ReplicaSets that the Deployment is yet to make: they have no Pods."""
    if isinstance(owner, Deployment):
        for each in deployment.replica_sets(owner, snapshot):
            if before.get(type(each), each.metadata.namespace, each.metadata.name) is None:
                yield replace(each, spec=replace(each.spec, replicas=0))


def _placed(wanted: DesiredWorkload, plan: RolloutPlan, cluster: ClusterState) -> Placed:
    new = [pod for pod in cluster.pods.values() if _is_placed_now(pod, wanted, plan, cluster)]
    bound = tuple(pod for pod in new if pod.spec.node_name)
    waiting = tuple(pod for pod in new if not pod.spec.node_name)
    before = sum(bool(pod.spec.node_name) for pod in plan.staying)
    placements = tuple(
        placement(number, pod.spec.node_name, cluster.best.get(pod.key, ()), cluster.preempted_for.get(pod.key, ()))
        for number, pod in enumerate(bound, start=before + 1)
    )
    jam = _jam(wanted, before + len(bound) + 1, waiting, cluster) if waiting else None
    return Placed(placements, jam, cluster.settled().default, waiting, bound if waiting else ())


def _is_placed_now(pod: Pod, wanted: DesiredWorkload, plan: RolloutPlan, cluster: ClusterState) -> bool:
    """Whether the Pod has come by the rollout, or is one of those that stay and waited for a node before it."""
    # What finds a node while it is yet to be replaced is none of the manifest's.
    if isinstance(wanted.owner, Deployment) and revision_of(pod) != revision_of(wanted.pod):
        return False
    waited = any(each.key == pod.key and not each.spec.node_name for each in plan.staying)
    own = (waited or pod.key in cluster.born) and pod.metadata.namespace == wanted.pod.metadata.namespace
    return own and owner_of(pod, cluster.snapshot) == wanted.ref


def _jam(wanted: DesiredWorkload, number: int, waiting: tuple[Pod, ...], cluster: ClusterState) -> Jam:
    """Return that the first of the Pods that wait finds no node; those of a DaemonSet wait for a node each."""
    message = cycle.evaluate(waiting[0], cluster.handle).message
    pinned = (daemonset.pinned_node(pod) for pod in waiting) if isinstance(wanted.owner, DaemonSet) else ()
    return Jam(replica=number, message=message, nodes=tuple(pinned))

"""What would let a Pod in but is no fix: what should not be changed, and what changes without any action."""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import islice

from msgspec.structs import replace

from kubectl_spread.controllers.deployment import replica_set_of, replica_sets
from kubectl_spread.controllers.job import by_range, count_surplus
from kubectl_spread.controllers.next_pod import claims_of, replacement
from kubectl_spread.controllers.persistent_volumes import created
from kubectl_spread.controllers.replicaset import active
from kubectl_spread.controllers.taints import LEAVING, NodeTrouble, meaning_of
from kubectl_spread.controllers.workloads import PodName, controller_of, owner_of, owners_of
from kubectl_spread.diagnosis.fixes import conclusion, moves, nodes
from kubectl_spread.diagnosis.fixes.situation import Situation, Spent
from kubectl_spread.diagnosis.requirements import FilterRequirement
from kubectl_spread.objects.core import Pod, ReplicationController
from kubectl_spread.objects.kinds import BY_API, JOB
from kubectl_spread.objects.meta import grouped
from kubectl_spread.objects.storage import PersistentVolumeClaim
from kubectl_spread.objects.workloads import ON_DELETE, DaemonSet, Deployment, Job, ReplicaSet
from kubectl_spread.scheduler import noderesources, nodeunschedulable, tainttoleration
from kubectl_spread.scheduler.framework import Handle, Handles
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.simulation.cluster_state import ClusterState
from kubectl_spread.simulation.control_loop import ControlLoop
from kubectl_spread.simulation.steps import FOREGROUND

# Taints, Pods and things to wait for that are named, and what else may close a node that recovers (count of each).
MOST = 3
# Problems from which nodes do not recover.
LASTING = LEAVING | {NodeTrouble.OUT_OF_SERVICE, NodeTrouble.SET_APART_BY_GKE}
# What closes a node by its own state.
CLOSING = tuple(FilterRequirement(plugin.NAME) for plugin in (tainttoleration, nodeunschedulable))
MOST_ENDING = 50  # Pods that are being deleted (count) that are taken away together
MOST_PLACES = 50  # Places (count) in which a Pod of the same Job may end that are tried
MOST_VERDICTS = 20_000  # Nodes (count) on which Pods are tried to find where a rollout ends
# Owners that delete any of their Pods, in no order that one of them could hold up.
OF_EQUALS = Deployment | ReplicaSet | ReplicationController


def not_offered(situation: Situation, spent: Spent) -> tuple[conclusion.NotOffered, ...]:
    """Return what is not offered, although it would open a node."""
    kept = _kept_pods(situation, spent, lambda pod, _: not moves.is_of_its_node(pod))
    staying = (
        conclusion.StayingPod(
            namespace=pod.metadata.namespace, name=pod.metadata.name, node=pod.spec.node_name, why=why
        )
        for pod, why in kept
    )
    return (*islice(_troubled_nodes(situation), MOST), *islice(staying, MOST))


def waits_of(situation: Situation, spent: Spent) -> tuple[conclusion.Wait, ...]:
    """Return what lets the Pod in without any action, each kind of node problem once."""
    return tuple(islice(_waits(situation, spent), MOST))


def removal(situation: Situation) -> conclusion.PodRemoval | None:
    """Return that the Pod is surely deleted because of its owner; None for a Pod that may stay.

    Source: job/job_controller.go manageJob, garbagecollector/garbagecollector.go attemptToDeleteItem (v1.36).
    """
    pod, snapshot = situation.pod, situation.handle.snapshot
    for ref, owner in owners_of(pod, snapshot) if situation.written is None else ():
        if owner is None:
            return None
        # Without this finalizer, the owner is gone at once, or another finalizer keeps it, and its Pods.
        if owner.metadata.deletion_timestamp and FOREGROUND in owner.metadata.finalizers:
            return conclusion.PodRemoval(workload=str(ref), why="is being deleted")
        if isinstance(owner, Job):
            pods = {each.key: each for each in (pod, *active(snapshot.controlled_by(pod.metadata.controller_key, Pod)))}
            going, left = by_range(owner, pods.values())
            # Of the others, those without a node are deleted first.
            if pods[pod.key] in going or count_surplus(owner, len(left)) >= sum(each.waits for each in left):
                return conclusion.PodRemoval(
                    workload=str(ref), why="is suspended" if owner.spec.suspend else "has more Pods than it needs"
                )
        if isinstance(owner, OF_EQUALS) and not owner.spec.replicas_wanted:
            return conclusion.PodRemoval(workload=str(ref), why="wants no Pods")
    return None


def _waits(situation: Situation, spent: Spent) -> Iterator[conclusion.Wait]:
    yield from _job_goes_on(situation, spent)
    yield from _recoveries(situation)
    yield from _removals(situation)
    alone = [pod for pod, _ in _kept_pods(situation, spent, lambda _, why: isinstance(why, conclusion.Ending))]
    together = () if alone else _ending_together(situation, spent)
    yield from (_until_gone(pods, situation) for pods in (*((pod,) for pod in alone), together) if pods)
    yield from _claims(situation)
    if not spent() and _rollout_lets_in(situation):
        owner = str(owner_of(situation.pod, situation.handle.snapshot))
        yield conclusion.RolloutGoesOn(workload=owner, replaces=situation.is_of_newest_revision is False)
    yield from _job_ends(situation, spent)


def _job_goes_on(situation: Situation, spent: Spent) -> Iterator[conclusion.JobGoesOn]:
    """Yield that the Pod's Job goes on, if the Pod finds a node once one of the Job's running Pods has ended.

    Pods of the Job in one place are alike, so one of them is tried. An Indexed Job whose Pods all run at once, and of
    which none has succeeded, is left out: its Pods may wait for each other.
    """
    snapshot, key = situation.handle.snapshot, situation.pod.metadata.controller_key
    job = controller_of(situation.pod, snapshot)
    if not isinstance(job, Job) or job.finished or situation.written or situation.bound_for:
        return
    at_once = job.spec.completion_mode == "Indexed" and (job.spec.completions or 1) <= (job.spec.parallelism or 1)
    running = {pod.key for pod in situation.running if pod.metadata.controller_key == key and pod.at_work}
    if not running or spent() or (at_once and not job.status.succeeded):
        return
    in_way = [(pod, place) for pod, place in moves.obstacles(situation) if pod.key in running]
    ending: list[Pod] = []
    for alike in islice(grouped(in_way, lambda each: each[1]).values(), MOST_PLACES):
        pods = [pod for pod, _ in alike]
        if not spent() and replace(situation, handle=situation.handle.without_pod(pods[0])).feasible:
            ending += pods
    if ending:
        nodes = tuple(sorted({pod.spec.node_name for pod in ending}))
        owner = f"job/{job.metadata.name}"
        yield conclusion.JobGoesOn(workload=owner, pods=len(ending), nodes=nodes, running=len(running))


def _job_ends(situation: Situation, spent: Spent) -> Iterator[conclusion.JobEnd]:
    """Yield each Job of a higher priority whose Pods use the room that the Pod needs.

    A Job replaces its Pods that end until it is complete, so they are taken away together.
    """
    least = situation.pod.spec.priority or 0
    full = situation.nodes_only_against([FilterRequirement(noderesources.NAME)]) if not situation.bound_for else ()
    there = (pod for info in full for pod in info.pods if (pod.spec.priority or 0) > least and not pod.terminating)
    owned = ((pod.metadata.controller, pod) for pod in there if situation.exists(pod))
    of_jobs = (pod for by, pod in owned if by is not None and BY_API.get((by.api_version, by.kind)) is JOB)
    for pods in islice(grouped(of_jobs, lambda pod: pod.metadata.controller_key).values(), MOST_PLACES):
        without = None if spent() else reduce(Handle.without_pod, pods[:MOST_ENDING], situation.handle)
        if without is not None and replace(situation, handle=without).feasible:
            namespace, _, name = pods[0].metadata.controller_key
            yield conclusion.JobEnd(
                namespace=namespace,
                name=name,
                workload=f"job/{name}",
                pods=len(pods),
                nodes=tuple(dict.fromkeys(pod.spec.node_name for pod in pods)),
                priority=pods[0].spec.priority or 0,
                ours=namespace == situation.pod.metadata.namespace,
            )


def _claims(situation: Situation) -> Iterator[conclusion.ClaimCreation]:
    """Yield the missing claims that the Pod's controller creates while the Pod is Pending.

    Source: statefulset/stateful_set_control.go processReplica, volume/ephemeral/controller.go syncHandler (v1.36).
    """
    snapshot, owner = situation.handle.snapshot, controller_of(situation.pod, situation.handle.snapshot)
    made = created(claims_of(owner, situation.pod), snapshot, situation.handle.profile)
    claims = tuple(each.metadata.name for each in made if isinstance(each, PersistentVolumeClaim))
    if claims and replace(situation, handle=situation.handle.with_others(made)).feasible:
        yield conclusion.ClaimCreation(claims=claims)


def _until_gone(pods: Sequence[Pod], situation: Situation) -> conclusion.PodEnding:
    endings = [ending for pod in pods if (ending := moves.ending(pod, situation)) is not None]
    over_since = min((ending.over_since for ending in endings if ending.over_since), default="")
    finalizers = tuple(dict.fromkeys(finalizer for ending in endings for finalizer in ending.finalizers))
    grace = max(ending.grace_seconds for ending in endings)
    return conclusion.PodEnding(
        sure=not (over_since or finalizers),
        nodes=tuple(dict.fromkeys(pod.spec.node_name for pod in pods)),
        pods=tuple(map(PodName.of, pods)),
        ending=conclusion.Ending(grace_seconds=grace, over_since=over_since, finalizers=finalizers),
    )


def _ending_together(situation: Situation, spent: Spent) -> Sequence[Pod]:
    """Return the Pods that are being deleted on a node that takes the Pod once all have ended; empty if none does."""
    for info in situation.nodes_only_against(moves.Obstacles(situation).movable):
        there = (pod for pod in info.pods if pod.terminating and situation.exists(pod))
        going = [pod for pod in there if moves.ending(pod, situation) is not None]
        if spent():
            return ()
        if going and replace(situation, handle=reduce(Handle.without_pod, going, situation.handle)).feasible:
            return going
    return ()


def _kept_pods(
    situation: Situation, spent: Spent, matters: Callable[[Pod, conclusion.WhyNotDeleted], bool]
) -> Iterator[tuple[Pod, conclusion.WhyNotDeleted]]:
    """Yield each Pod in the way whose deletion would help but is not offered, with the reason, if that matters."""
    for pod, _ in () if spent() else moves.obstacles(situation):
        if spent():
            return
        why = moves.why_not(pod, situation)
        if why and matters(pod, why) and replace(situation, handle=situation.handle.without_pod(pod)).feasible:
            yield pod, why


def _troubled_nodes(situation: Situation) -> Iterator[conclusion.SufferingNodes]:
    """Yield the nodes that suffer from something, each once: with what does not pass, if it suffers from that too."""
    found: dict[NodeTrouble, dict[str, list[str]]] = {}
    for info in situation.nodes_only_against([FilterRequirement(tainttoleration.NAME)]):
        taints = {
            str(each): trouble for each in nodes.closing_taints(situation, info.node) if (trouble := meaning_of(each))
        }
        if taints:
            worst = min(taints.values(), key=lambda each: each not in LASTING)
            found.setdefault(worst, {})[info.name] = [*taints]
    for trouble, of_nodes in found.items():
        taints_of_all = tuple(dict.fromkeys(taint for each in of_nodes.values() for taint in each))
        yield conclusion.SufferingNodes(nodes=tuple(of_nodes), taints=taints_of_all, trouble=trouble)


def _recoveries(situation: Situation) -> Iterator[conclusion.NodeRecovery]:
    """Yield the nodes that take the Pod once their kubelets are well, and have ended what is being deleted there."""
    found: dict[tuple[NodeTrouble, bool, tuple[str, ...], tuple[PodName, ...]], list[NodeInfo]] = {}
    for info, ending in _closed_by_trouble(situation):
        troubles = _troubles(situation, info)
        cordoned = NodeTrouble.CORDONED in troubles
        if not LASTING.isdisjoint(troubles) or None in troubles or (cordoned and not nodes.in_maintenance(info)):
            continue
        worst = min(troubles, key=lambda each: each is NodeTrouble.CORDONED)
        if worst is not None:
            problems = nodes.problems(info.node) if worst is NodeTrouble.CORDONED else ()
            found.setdefault((worst, cordoned, problems, ending), []).append(info)
    for (trouble, cordoned, problems, ending), infos in found.items():
        closed = (taint for info in infos for taint in nodes.closing_taints(situation, info.node))
        yield conclusion.NodeRecovery(
            nodes=tuple(info.name for info in infos),
            taints=tuple(dict.fromkeys(str(each) for each in closed if meaning_of(each) is not NodeTrouble.CORDONED)),
            trouble=trouble,
            cordoned=cordoned,
            problems=problems,
            ending=ending,
        )


def _closed_by_trouble(situation: Situation) -> Iterator[tuple[NodeInfo, tuple[PodName, ...]]]:
    """Yield the nodes that only taints and cordons close, with the Pods that have to end there too."""
    alone = [info for info in situation.nodes_only_against(CLOSING) if situation.may_be_bound_for(info)]
    yield from ((info, ()) for info in alone)
    names = {info.name for info in alone}
    full = (info for info in situation.nodes_only_against(CLOSING, others=MOST) if info.name not in names)
    pods = (pod for info in filter(situation.may_be_bound_for, full) for pod in info.pods)
    going = [*islice((pod for pod in pods if pod.terminating and not pod.metadata.finalizers), MOST_ENDING)]
    if going:
        without = replace(situation, handle=reduce(Handle.without_pod, going, situation.handle))
        for info in without.nodes_only_against(CLOSING):
            if ended := tuple(PodName.of(pod) for pod in going if pod.spec.node_name == info.name):
                yield info, ended


def _troubles(situation: Situation, info: NodeInfo) -> frozenset[NodeTrouble | None]:
    """Return what closes the node; None among it for a taint that a person may have set."""
    found = {meaning_of(taint) for taint in nodes.closing_taints(situation, info.node)}
    found |= {NodeTrouble.CORDONED} if info.node.spec.unschedulable else set()
    return frozenset(found | ({NodeTrouble.BEING_DELETED} if info.node.metadata.deletion_timestamp else set()))


def _removals(situation: Situation) -> Iterator[conclusion.NodeRemoval]:
    """Yield all nodes about to be removed, if a domain without its nodes no longer counts and so the Pod finds one."""
    each = ((info.name, _troubles(situation, info) & LEAVING) for info in situation.nodes_only_against(CLOSING))
    leaving = {name: next(filter(None, troubles)) for name, troubles in each if troubles}
    if leaving and replace(situation, handle=reduce(Handle.without_node, leaving, situation.handle)).feasible:
        yield conclusion.NodeRemoval(nodes=tuple(leaving), trouble=next(iter(leaving.values())))


def _rollout_lets_in(situation: Situation) -> bool:
    """Whether the workload has no Pending Pod once its rollout is done, if all started Pods become Ready.

    Only the order by names is tried, and only if all Pods were read. A DaemonSet deletes an old Pod that is not
    available at once.

    Source: daemon/update.go rollingUpdate (v1.36).
    """
    owner, snapshot = situation.topmost_owner, situation.handle.snapshot
    exists = situation.written is None and situation.bound_for is None
    if exists and isinstance(owner, DaemonSet) and situation.is_of_newest_revision is False:
        again = replacement(situation.pod, snapshot, situation.handle.profile, plain=True)
        return owner.spec.update_strategy.type != ON_DELETE and bool(replace(situation, pod=again.pod).feasible)
    if not exists or not isinstance(owner, Deployment) or owner.spec.paused or snapshot.inventory.not_read:
        return False
    newest = replica_set_of(owner, snapshot).metadata.name
    if not any(each.spec.replicas_wanted and each.metadata.name != newest for each in replica_sets(owner, snapshot)):
        return False
    cluster = ClusterState(Handles(situation.handle), 0)
    for pod in situation.running:
        if not (pod.ready or pod.terminating):
            cluster.set_ready(pod, ready=True)
    loop = ControlLoop(cluster, most_verdicts=MOST_VERDICTS)
    namespace, ref = situation.pod.metadata.namespace, owner_of(situation.pod, snapshot)
    settled = loop.settle()
    own = (pod for pod in cluster.waiting.values() if pod.metadata.namespace == namespace)
    return settled and all(owner_of(pod, cluster.snapshot) != ref for pod in own)

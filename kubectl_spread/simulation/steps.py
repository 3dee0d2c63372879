"""The steps of a simulation: what each does to the cluster before controllers, scheduler and kubelets act on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver import eviction
from kubectl_spread.apiserver.apply import Application
from kubectl_spread.apiserver.eviction import EvictionRefused
from kubectl_spread.controllers import deployment, disruption, nodelifecycle
from kubectl_spread.controllers.adoption import adopted, released
from kubectl_spread.controllers.daemonset import is_of_generation
from kubectl_spread.controllers.nodelifecycle import EvictionsStopped
from kubectl_spread.controllers.persistent_volumes import created
from kubectl_spread.controllers.replicas import as_applied
from kubectl_spread.controllers.revisions import of_older_revision
from kubectl_spread.controllers.templates import same_template, template_hash, template_of
from kubectl_spread.controllers.workloads import WorkloadRef, controller_of, is_absent, is_mirror, owner_of
from kubectl_spread.objects.core import Node, Pod, ReplicationController
from kubectl_spread.objects.kinds import WORKLOADS, Workload
from kubectl_spread.objects.meta import KubernetesObject
from kubectl_spread.objects.policy import PodDisruptionBudget
from kubectl_spread.objects.storage import CSINode, PersistentVolumeClaim
from kubectl_spread.objects.workloads import DaemonSet, Deployment, Job, ReplicaSet, StatefulSet
from kubectl_spread.scheduler.nodeunschedulable import CORDON
from kubectl_spread.scheduler.tainttoleration import NO_EXECUTE
from kubectl_spread.simulation.cluster_state import BY_EVICTION, BY_TAINT, ClusterState, PodKey
from kubectl_spread.simulation.control_loop import ControlLoop, JobFailed, WaitsForReady
from kubectl_spread.snapshot import Snapshot


class Unmanaged(msgspec.Struct, frozen=True):
    """Nothing manages the Pod, so kubectl refuses the drain without --force."""


class DaemonSetGone(msgspec.Struct, frozen=True):
    """Its DaemonSet, of this name, does not exist, so kubectl refuses the drain without --force."""

    name: str


class DrainRefused(msgspec.Struct, frozen=True):
    """The drain of its node was refused for another Pod."""


class DrainWaits(msgspec.Struct, frozen=True):
    """Kubectl still waits for this node to be drained."""

    node: str


BlockReason: TypeAlias = Unmanaged | DaemonSetGone | DrainRefused | DrainWaits | EvictionRefused
"""Why a Pod that should go does not."""


class StuckPods(msgspec.Struct, frozen=True):
    """The drain waits for these Pods, which stay Terminating.

    Attributes:
        pods: namespace and name of each.
        node_silent: whether their nodes do not answer; else they have finalizers.
    """

    pods: tuple[PodKey, ...]
    node_silent: bool


class UnknownController(msgspec.Struct, frozen=True):
    """What makes the Pods of an applied object is not known."""

    ref: WorkloadRef


class NotScaled(msgspec.Struct, frozen=True):
    """An applied autoscaler scales nothing in a simulation."""

    ref: WorkloadRef


class MirrorRemade(msgspec.Struct, frozen=True):
    """A mirror Pod, by namespace and name: the kubelet of its node never stopped the containers, and makes it again."""

    pod: PodKey
    node: str


class DrainFlag(StrEnum):
    """A flag without which kubectl evicts no Pod of a node."""

    IGNORE_DAEMONSETS = "--ignore-daemonsets"
    DELETE_EMPTYDIR_DATA = "--delete-emptydir-data"
    FORCE = "--force"


class DrainFlags(msgspec.Struct, frozen=True):
    """The drain that was simulated needs these flags.

    Attributes:
        nodes: what is drained: a node's name, or a label.
        pods: flag → the Pods for which kubectl asks for it.
    """

    nodes: str
    pods: Mapping[DrainFlag, tuple[PodKey, ...]]


StepNote: TypeAlias = (
    DrainFlags | MirrorRemade | StuckPods | EvictionsStopped | JobFailed | WaitsForReady | UnknownController | NotScaled
)
"""What else is to be known of a step."""


class Verb(StrEnum):
    """What a step does, as its flag is called."""

    DRAIN = "drain"
    REMOVE = "remove"
    LOSE = "lose"
    RETURN = "return"
    CORDON = "cordon"
    UNCORDON = "uncordon"
    ADD_NODE = "add-node"
    SCALE = "scale"
    RESTART = "restart"
    DELETE = "delete"
    APPLY = "apply"


class Step(msgspec.Struct, frozen=True):
    """One step.

    Attributes:
        verb: what is done.
        value: to what, as it was given.
        nodes: the nodes that are meant; empty where none are.
        namespace: of the object that is meant.
        ref: the workload or Pod that is meant; None where none is.
        number: how many replicas, or nodes (count).
        force: whether a drain evicts Pods that nothing manages.
        objects: what is applied.
        merged: what is applied and has been merged with what lives.
        stored: namespace and workload → its Pod as an API server has stored it, where one was asked.
        as_if: whether Pods come although admission refuses them, and are scheduled although others decide or gates hold
            them back.
        alone: whether nothing is asked but what becomes of these objects: others that lack Pods stay as they are, and
            their Pods that wait have been tried.
        notes: what is not known of it.
    """

    verb: Verb
    value: str
    nodes: tuple[str, ...] = ()
    namespace: str = ""
    ref: WorkloadRef | None = None
    number: int = 1
    force: bool = False
    objects: tuple[Application, ...] = ()
    merged: tuple[KubernetesObject, ...] = ()
    stored: Mapping[tuple[str, WorkloadRef], Pod] = {}
    as_if: bool = False
    alone: bool = False
    notes: tuple[StepNote, ...] = ()

    def __str__(self) -> str:
        """Return the step as it was asked for."""
        return f"{self.verb} {self.value}"


class Blocked(msgspec.Struct, frozen=True):
    """A Pod that should have gone, and did not.

    Attributes:
        pod: as it was before.
        reason: why it could not go.
        goes_with_node: whether its node was removed, and the Pod with it.
    """

    pod: Pod
    reason: BlockReason
    goes_with_node: bool = False


class Done(msgspec.Struct, frozen=True):
    """What a step did to Pods, before they were made again.

    Attributes:
        evicted: those that had to go, and did, as they were before.
        blocked: those that should have gone, and did not.
        lost: those that went and that nothing makes again.
        notes: what else is to be known.
        settled: whether everything came to rest.
        untried: the Pods that wait and that nobody tried on nodes any more (count): too many had been before.
    """

    evicted: tuple[Pod, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    lost: tuple[Pod, ...] = ()
    notes: tuple[StepNote, ...] = ()
    settled: bool = True
    untried: int = 0


Act: TypeAlias = Callable[[Step, ClusterState, ControlLoop], Done]


def act(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    """Do the step, and run the control loop until nothing changes any more."""
    failed, waited = len(loop.failed_jobs), set(loop.held_up())
    done = ACTS[step.verb](step, cluster, loop)
    settled = loop.settle()
    waiting = (each for each in loop.held_up() if each not in waited)
    notes = (*done.notes, *loop.failed_jobs[failed:], *waiting)
    return replace(done, settled=settled, untried=loop.untried, notes=notes)


# Nodes


def _cordoned(node: Node, *, unschedulable: bool) -> Node:
    """Return the node cordoned, with the taint that its controller adds, or neither."""
    taints = tuple(taint for taint in node.spec.taints if taint.key != CORDON.key)
    taints = (*taints, CORDON) if unschedulable else taints
    return replace(node, spec=replace(node.spec, unschedulable=unschedulable, taints=taints))


def _cordon(step: Step, cluster: ClusterState, _: ControlLoop) -> Done:
    unschedulable = step.verb is not Verb.UNCORDON
    cluster.set_nodes([_cordoned(cluster.nodes[name], unschedulable=unschedulable) for name in step.nodes])
    return Done()


def _drain(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    """Evict the Pods of nodes as kubectl drain does: of one node after another, all of which are cordoned before.

    Source: kubectl pkg/cmd/drain/drain.go RunDrain, pkg/drain/filters.go (v0.36).
    """
    _cordon(step, cluster, loop)
    gone: list[Pod] = []
    blocked: list[Blocked] = []
    waits_at = ""
    flags = tuple(_flags(step, cluster))
    held: Mapping[PodKey, BlockReason]
    for name in sorted(step.nodes):
        drained = [pod for pod in cluster.on_nodes([name])[name] if _is_drained(pod, cluster)]
        whys = {pod.key: why for pod in drained if not step.force and (why := _needs_force(pod, cluster))}
        if whys:
            held = {pod.key: whys.get(pod.key, DrainRefused()) for pod in drained}
        elif waits_at:
            held = {pod.key: DrainWaits(waits_at) for pod in drained}
        else:
            held = _evict(drained, cluster, loop)
            # What is refused for good ends the drain of one node, and kubectl goes on with the next.
            tried_again = set(held.values()) - {EvictionRefused(eviction.MORE_THAN_ONE)}
            waits_at = name if tried_again or any(_waited_for(drained, cluster)) else ""
        blocked += [Blocked(pod, held[pod.key]) for pod in drained if pod.key in held]
        gone += [pod for pod in drained if pod.key not in held]
    return replace(_gone(gone, cluster), blocked=tuple(blocked), notes=(*flags, *_waited_for(gone, cluster)))


def _flags(step: Step, cluster: ClusterState) -> Iterator[DrainFlags]:
    """Yield which flags kubectl wants for the drain, if any, and for which Pods."""
    needed: dict[DrainFlag, list[PodKey]] = defaultdict(list)
    for pod in (pod for pods in cluster.on_nodes(sorted(step.nodes)).values() for pod in pods if not pod.finished):
        if not (_is_drained(pod, cluster) or is_mirror(pod)):
            needed[DrainFlag.IGNORE_DAEMONSETS].append(pod.key)
        elif not is_mirror(pod):
            if any(volume.empty_dir is not None for volume in pod.spec.volumes):
                needed[DrainFlag.DELETE_EMPTYDIR_DATA].append(pod.key)
            if step.force and _needs_force(pod, cluster):
                needed[DrainFlag.FORCE].append(pod.key)
    if needed:
        yield DrainFlags(step.value, {flag: tuple(needed[flag]) for flag in DrainFlag if flag in needed})


def _gone(pods: Iterable[Pod], cluster: ClusterState) -> Done:
    """Return that these Pods went: evicted, or lost where nothing makes them again."""
    gone = [(pod, _is_lost(pod, cluster)) for pod in pods]
    return Done(evicted=tuple(pod for pod, lost in gone if not lost), lost=tuple(pod for pod, lost in gone if lost))


def _waited_for(leaving: Iterable[Pod], cluster: ClusterState) -> Iterator[StuckPods]:
    """Yield for which of the Pods kubectl drain waits on and on, and why they stay.

    Source: kubectl pkg/drain/drain.go waitForDelete (v0.36).
    """
    stuck = [pod for each in leaving if (pod := cluster.pods.get(each.key)) and cluster.is_stuck(pod)]
    for silent in (True, False):
        pods = tuple(pod.key for pod in stuck if (pod.spec.node_name in cluster.lost) is silent)
        if pods:
            yield StuckPods(pods, silent)


def _is_drained(pod: Pod, cluster: ClusterState) -> bool:
    """Whether a drain is about the Pod: neither the mirror of a static one nor of a DaemonSet that there is.

    Source: filters.go daemonSetFilter, mirrorPodFilter.
    """
    owner = pod.metadata.controller
    if is_mirror(pod) or pod.key not in cluster.pods:
        return False
    daemon = owner is not None and owner.kind == DaemonSet.__name__ and not _is_alone(pod, cluster)
    return pod.finished or not daemon


def _needs_force(pod: Pod, cluster: ClusterState) -> Unmanaged | DaemonSetGone | None:
    """Return why kubectl does not drain the Pod's node without --force; None where it does.

    Source: filters.go daemonSetFilter, unreplicatedFilter.
    """
    owner = pod.metadata.controller
    if owner is None:
        return None if pod.finished else Unmanaged()
    if owner.kind == DaemonSet.__name__ and _is_alone(pod, cluster):
        return DaemonSetGone(owner.name)
    return None


def _is_alone(pod: Pod, cluster: ClusterState) -> bool:
    """Whether nothing makes the Pod again, which has not ended: nothing manages it, or what did so is gone."""
    owner = pod.metadata.controller
    return not pod.finished and (owner is None or is_absent(owner, pod.metadata.namespace, cluster.snapshot))


def _is_lost(pod: Pod, cluster: ClusterState) -> bool:
    """Whether nothing makes the Pod again: what did so may be there still, and be about to go itself."""
    owner = controller_of(pod, cluster.snapshot)
    going = owner is not None and owner.metadata.deletion_timestamp is not None
    return _is_alone(pod, cluster) or (going and not pod.finished)


def _evict(leaving: Sequence[Pod], cluster: ClusterState, loop: ControlLoop) -> Mapping[PodKey, BlockReason]:
    """Evict the Pods, those that are refused again as replacements become ready; return why the rest stays.

    Source: kubectl pkg/drain/drain.go evictPods (v0.36).

    One by one in an order that nobody knows: kubectl asks for all at once, and a replacement may have a node before the
    last of them goes, in every other order here.
    """
    waiting = sorted((pod.key for pod in leaving), key=lambda key: cluster.order(key[1]))
    cluster.chance.free |= len(waiting) > 1
    while True:
        refused: dict[PodKey, BlockReason] = {}
        for key in waiting:
            pod = cluster.pods.get(key)
            if pod is None or pod.terminating:
                continue
            if why := _refusal(pod, cluster):
                refused[key] = EvictionRefused(why)
            else:
                cluster.evict(pod, BY_EVICTION)
                if cluster.seed % 2:
                    loop.settle()
        loop.settle()
        if not refused or len(refused) == len(waiting):
            return refused
        cluster.chance.free = True
        waiting = list(refused)


def _refusal(pod: Pod, cluster: ClusterState) -> str:
    """Return why the Pod may not be evicted now; empty where it may."""
    if not eviction.ignores_budgets(pod):
        for budget in eviction.budgets_of(pod, cluster.snapshot):
            _look_at_budget(budget, cluster)
    return eviction.refusal(pod, cluster.snapshot)


def _look_at_budget(budget: PodDisruptionBudget, cluster: ClusterState) -> None:
    """Let the budget's controller count its Pods."""
    namespace, selector = budget.metadata.namespace, budget.selector
    pods = [
        pod
        for pod in cluster.pods.values()
        if pod.metadata.namespace == namespace and selector.matches(pod.metadata.labels)
    ]
    cluster.put(disruption.with_status(budget, pods, cluster.snapshot))


def _remove(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    """Drain nodes and take them away; what a drain leaves behind goes with them."""
    done = _drain(step, cluster, loop)
    there = (pod for pods in cluster.on_nodes(step.nodes).values() for pod in pods if _is_drained(pod, cluster))
    left = _gone([pod for pod in there if not (pod.terminating or pod.finished)], cluster)
    for name in step.nodes:
        cluster.remove_node(name)
    silent = _evicted_as_lost(cluster, loop)
    return Done(
        evicted=(*done.evicted, *left.evicted, *silent.evicted),
        blocked=tuple(replace(each, goes_with_node=True) for each in done.blocked),
        lost=(*done.lost, *left.lost, *silent.lost),
        notes=silent.notes,  # What the drain waited for went with its node.
    )


def _lose(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    """Let nodes stop answering; after a while their Pods are deleted, and stay as they are.

    Source: kube-controller-manager nodelifecycle, tainteviction (v1.36).
    """
    silent = [name for name in step.nodes if name not in cluster.lost]
    there = cluster.on_nodes(silent)
    cluster.lost |= {name: frozenset(pod.key for pod in pods if pod.ready) for name, pods in there.items()}
    cluster.set_nodes([nodelifecycle.lost(cluster.nodes[name], nodelifecycle.NO_SCHEDULE) for name in silent])
    for pods in there.values():
        for pod in pods:
            if not pod.finished:
                cluster.set_ready(pod, ready=False)
    loop.settle()
    return _evicted_as_lost(cluster, loop)


def _evicted_as_lost(cluster: ClusterState, loop: ControlLoop) -> Done:
    """Delete the Pods of all nodes that do not answer, but where so many are silent that nothing is evicted.

    Source: node_lifecycle_controller.go handleDisruption, doNoExecuteTaintingPass (v1.36).
    """
    kept = nodelifecycle.keeps_pods(cluster.nodes, cluster.lost)
    going = [name for name in cluster.lost if name not in kept]
    cluster.set_nodes([nodelifecycle.lost(cluster.nodes[name], NO_EXECUTE) for name in going])
    return replace(_evicted_by_taints(going, cluster, loop), notes=tuple(dict.fromkeys(kept.values())))


def _evicted_by_taints(names: Iterable[str], cluster: ClusterState, loop: ControlLoop) -> Done:
    """Delete the Pods of nodes that do not tolerate their taints, those first that do so for the shortest time.

    Source: kube-controller-manager tainteviction/taint_eviction.go processPodOnNode (v1.36).
    """
    leaving: dict[int, list[Pod]] = defaultdict(list)
    for name, pods in cluster.on_nodes(names).items():
        for pod in pods:
            seconds = nodelifecycle.evicted_after(pod, cluster.nodes[name])
            if seconds is not None and not (pod.finished or pod.terminating):
                leaving[seconds].append(pod)
    for seconds in sorted(leaving):
        _delete_by_node(leaving[seconds], cluster, loop)
    return _gone((pod for pods in leaving.values() for pod in pods), cluster)


def _delete_by_node(pods: Sequence[Pod], cluster: ClusterState, loop: ControlLoop) -> None:
    """Delete Pods whose time is up, those of one node after those of another: nodes are marked one at a time."""
    by_node: dict[str, list[Pod]] = defaultdict(list)
    for pod in pods:
        by_node[pod.spec.node_name].append(pod)
    cluster.chance.free |= len(by_node) > 1
    for name in sorted(by_node, key=cluster.order):
        for pod in by_node[name]:
            cluster.evict(cluster.pods[pod.key], BY_TAINT)
        loop.settle()


def _return(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    """Let nodes that do not answer do so again: what was to be deleted there goes, the rest is as ready as it was."""
    silent = [name for name in step.nodes if not nodelifecycle.answers(cluster.nodes[name])]
    cluster.set_nodes([nodelifecycle.returned(cluster.nodes[name]) for name in silent])
    for name, pods in cluster.on_nodes(silent).items():
        ready = cluster.lost.pop(name, frozenset(pod.key for pod in pods))
        for pod in pods:
            if not (pod.finished or pod.terminating) and pod.key in ready:
                cluster.set_ready(pod, ready=True)
    loop.look_again(DaemonSet)
    loop.settle()
    return _evicted_as_lost(cluster, loop)


def _add_node(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    like = cluster.nodes[step.nodes[0]]
    names = nodelifecycle.added_names(like.metadata.name, step.number, cluster.nodes)
    cluster.set_nodes([nodelifecycle.sibling(like, name) for name in names])
    drivers = cluster.snapshot.get(CSINode, "", like.metadata.name)
    if drivers is not None:
        cluster.put(*(replace(drivers, metadata=replace(drivers.metadata, name=name)) for name in names))
    loop.look_again(DaemonSet)
    return _evicted_as_lost(cluster, loop)


# Workloads and Pods


def _owner(step: Step, cluster: ClusterState) -> Workload | None:
    struct = WORKLOADS.get(step.ref.kind) if step.ref else None
    return cluster.snapshot.get(struct, step.namespace, step.ref.name) if struct and step.ref else None


def _changed(owner: Workload, cluster: ClusterState, loop: ControlLoop) -> None:
    """Put the workload as it is given, and let its controller look."""
    cluster.put(owner)
    loop.forget((owner.metadata.namespace, type(owner).__name__, owner.metadata.name))


def _scale(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    owner = _owner(step, cluster)
    if owner is not None and "replicas" in owner.spec.__struct_fields__:
        _changed(replace(owner, spec=replace(owner.spec, replicas=step.number)), cluster, loop)
    return Done()


def _restart(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    """Let the workload replace its Pods by such of a new revision."""
    owner = _owner(step, cluster)
    match owner:
        case Deployment():
            cluster.put(_new_revision(owner, cluster))
            cluster.chance.free = True
            _changed(owner, cluster, loop)
        case StatefulSet():
            status = replace(owner.status, update_revision=f"{owner.status.update_revision or owner.metadata.name}-new")
            _changed(replace(owner, status=status), cluster, loop)
        case DaemonSet():
            key = owner.metadata.namespace, type(owner).__name__, owner.metadata.name
            loop.renew(key, cluster.owned.get(key, {}))
        case _:
            pass
    return Done()


def _new_revision(owner: Deployment, cluster: ClusterState) -> ReplicaSet:
    newest = deployment.newest_replica_set(owner, cluster.snapshot)
    revision = deployment.revision_number(newest) + 1 if newest else 1
    name = f"{template_hash(owner.spec.template)}{revision}"
    made = deployment.made_for(owner, name, revision=revision)
    return replace(made, spec=replace(made.spec, replicas=0))


def _delete(step: Step, cluster: ClusterState, _: ControlLoop) -> Done:
    """Delete a Pod; a mirror Pod comes back as it was, with its containers running.

    Source: pkg/kubelet/kubelet.go tryReconcileMirrorPods (v1.36).
    """
    pod = cluster.pods.get((step.namespace, step.ref.name if step.ref else ""))
    if pod is None:
        return Done()
    if is_mirror(pod) and pod.spec.node_name in cluster.nodes:
        return Done(notes=(MirrorRemade(pod.key, pod.spec.node_name),))
    cluster.delete(pod)
    return _gone([pod], cluster)


def _apply(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    """Let objects be as manifests say, and everybody look at them.

    Workloads and Pods come after all else. The scheduler may have bound the Pods of each before the next one comes, or
    find all of them in its queue: what is sent takes less time than to be scheduled, or more.
    """
    loop.stored, loop.as_if = step.stored, step.as_if
    merged = [*(_over(each, cluster) for each in step.objects), *step.merged]
    makers = [obj for obj in merged if isinstance(obj, Pod | Workload)]
    # Claims are bound by what may stand behind them in the file.
    for obj in sorted(merged, key=lambda obj: isinstance(obj, PersistentVolumeClaim)):
        if not isinstance(obj, Pod | Workload):
            _apply_other(obj, cluster)
    if step.alone:
        loop.leave_others({(obj.metadata.namespace, owner_of(obj, cluster.snapshot)) for obj in makers})
    else:
        loop.look_again(*WORKLOADS.values())
    cluster.chance.free |= len(makers) > 1
    for maker in makers:
        if isinstance(maker, Pod):
            _apply_pod(maker, cluster, loop)
        else:
            _apply_one(maker, cluster, loop, alone=step.alone)
        if len(makers) > 1 and cluster.seed % 2 == 0:
            loop.bind()
    nodes = [obj.metadata.name for obj in merged if isinstance(obj, Node)]
    return replace(_evicted_by_taints(nodes, cluster, loop), notes=step.notes)


def _over(each: Application, cluster: ClusterState) -> KubernetesObject:
    """Return what applying makes of the object of its name."""
    obj = each.obj
    live = cluster.pods.get(obj.key) if isinstance(obj, Pod) else None
    return each.over(live or cluster.snapshot.get(type(obj), obj.metadata.namespace, obj.metadata.name))


def _apply_other(obj: KubernetesObject, cluster: ClusterState) -> None:
    """Let an object that makes no Pods be as its manifest says."""
    match obj:
        case Node():
            _apply_node(obj, cluster)
        case PersistentVolumeClaim():
            cluster.put(*created([obj], cluster.snapshot, cluster.handle.profile))
        case _:
            cluster.put(as_applied(obj, cluster.snapshot))


def _apply_pod(pod: Pod, cluster: ClusterState, loop: ControlLoop) -> None:
    """Create the Pod, or let the one that there is be as its manifest says."""
    live = cluster.pods.get(pod.key)
    if live is None:
        loop.create(pod)
    elif pod != live:
        cluster.update(released(controller_of(live, cluster.snapshot), pod))


def _apply_node(node: Node, cluster: ClusterState) -> None:
    """Let a node be as its manifest says; the taints that controllers set stay while their reasons last."""
    applied = as_applied(node, cluster.snapshot)
    if isinstance(applied, Node):
        made = _cordoned(applied, unschedulable=applied.spec.unschedulable)
        silent = node.metadata.name in cluster.lost
        cluster.set_nodes([nodelifecycle.lost(made, nodelifecycle.NO_SCHEDULE) if silent else made])


def _apply_one(obj: Workload, cluster: ClusterState, loop: ControlLoop, *, alone: bool) -> None:
    """Let a workload be as its manifest says; one of another template replaces its Pods as its kind does."""
    metadata, before = obj.metadata, cluster.snapshot
    live = before.get(type(obj), metadata.namespace, metadata.name)
    cluster.put(as_applied(obj, cluster.settled().snapshot))
    key = (metadata.namespace, type(obj).__name__, metadata.name)
    loop.forget(key)
    if alone and isinstance(obj, StatefulSet):  # Asked is where its Pods go, not when they come.
        for pod in [each for each in cluster.owned.get(key, {}).values() if each.spec.node_name]:
            if not (pod.ready or pod.finished or pod.terminating):
                cluster.set_ready(pod, ready=True)
    if isinstance(obj, Deployment):
        for each in deployment.replica_sets(obj, cluster.snapshot):
            loop.forget((metadata.namespace, ReplicaSet.__name__, each.metadata.name))
    if isinstance(obj, Job):
        loop.change(key)
    changed = live is None or not same_template(template_of(obj), template_of(live))
    # What rolls out leaves to chance which Pod is ready first.
    cluster.chance.free |= changed and live is not None
    if changed and isinstance(obj, DaemonSet):
        _renew(obj, before, cluster, loop)
    elif changed and isinstance(obj, ReplicaSet | ReplicationController):
        # Nothing on their Pods tells which template made them.
        loop.outdate(key, cluster.owned.get(key, {}))


def _renew(obj: DaemonSet, before: Snapshot, cluster: ClusterState, loop: ControlLoop) -> None:
    """Let a DaemonSet replace its Pods, or those that it adopts, but for such as its template has made."""
    namespace, name = obj.metadata.namespace, obj.metadata.name
    key = (namespace, DaemonSet.__name__, name)
    live = before.get(DaemonSet, namespace, name)
    found = cluster.owned.get(key, {}).values() if live else adopted(obj, cluster.orphans[namespace].values())
    there = {pod.key: pod for pod in found}
    stays = {pod.key for pod, _ in of_older_revision(obj, before, there.values())}
    old = there.keys() - stays
    loop.outdate(key, old)
    loop.renew(key, [each for each in old if live or not is_of_generation(there[each], obj)])


ACTS: Mapping[Verb, Act] = {
    Verb.DRAIN: _drain,
    Verb.REMOVE: _remove,
    Verb.LOSE: _lose,
    Verb.RETURN: _return,
    Verb.CORDON: _cordon,
    Verb.UNCORDON: _cordon,
    Verb.ADD_NODE: _add_node,
    Verb.SCALE: _scale,
    Verb.RESTART: _restart,
    Verb.DELETE: _delete,
    Verb.APPLY: _apply,
}

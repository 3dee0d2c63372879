"""The steps of a simulation: what each changes before controllers, scheduler and kubelets react."""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver import eviction
from kubectl_spread.apiserver.apply import Application
from kubectl_spread.apiserver.eviction import EvictionRefused
from kubectl_spread.controllers import deployment, disruption, nodelifecycle, workloads
from kubectl_spread.controllers.daemonset import is_of_generation
from kubectl_spread.controllers.horizontal import ReplicaBounds, bounds_of
from kubectl_spread.controllers.nodelifecycle import EvictionsStopped
from kubectl_spread.controllers.persistent_volumes import created
from kubectl_spread.controllers.replicas import as_applied, replicas_of
from kubectl_spread.controllers.revisions import of_older_revision, recorded
from kubectl_spread.controllers.templates import same_template, template_hash, template_of
from kubectl_spread.gaps import IN_FILES
from kubectl_spread.labels import EVERYTHING, Selector
from kubectl_spread.objects.autoscaling import HorizontalPodAutoscaler
from kubectl_spread.objects.core import Node, Pod, ReplicationController, ResourceQuota
from kubectl_spread.objects.kinds import HORIZONTAL_POD_AUTOSCALER, WORKLOADS, Scaled, Workload
from kubectl_spread.objects.meta import ControllerKey, KubernetesObject, ObjectMeta, grouped
from kubectl_spread.objects.storage import CSINode, PersistentVolumeClaim
from kubectl_spread.objects.workloads import DaemonSet, Deployment, Job, ReplicaSet, StatefulSet
from kubectl_spread.scheduler.affinityterm import readable_terms
from kubectl_spread.scheduler.nodeunschedulable import CORDON
from kubectl_spread.scheduler.tainttoleration import NO_EXECUTE
from kubectl_spread.simulation.cluster_state import BY_EVICTION, BY_TAINT, ClusterState, can_be_removed
from kubectl_spread.simulation.control_loop import ControlLoop, JobFailed, WaitsForReady
from kubectl_spread.snapshot import PodKey, Snapshot


class Unmanaged(msgspec.Struct, frozen=True):
    """The Pod has no controller, so kubectl refuses the drain without --force."""


class DaemonSetGone(msgspec.Struct, frozen=True):
    """The Pod's DaemonSet does not exist, so kubectl refuses the drain without --force."""

    name: str


class DrainRefused(msgspec.Struct, frozen=True):
    """The drain of the node was refused because of another Pod."""


class DrainWaits(msgspec.Struct, frozen=True):
    """kubectl still waits for the drain of this node."""

    node: str


# Why a Pod is not evicted.
BlockReason: TypeAlias = Unmanaged | DaemonSetGone | DrainRefused | DrainWaits | EvictionRefused


class StuckPods(msgspec.Struct, frozen=True):
    """The drain waits for these Pods, which stay Terminating."""

    pods: tuple[PodKey, ...]  # namespace and name of each
    node_silent: bool  # whether their nodes do not answer; otherwise they have finalizers
    go_with_node: bool = False  # whether their node is removed


class StaysTerminating(msgspec.Struct, frozen=True):
    """A deleted Pod that stays until its finalizers are removed; without any, its node does not answer."""

    pod: PodKey
    node: str
    finalizers: tuple[str, ...]


class NotReplaced(msgspec.Struct, frozen=True):
    """Pods that stay Terminating on a node that does not answer; their StatefulSet has one Pod of a name at most."""

    pods: tuple[PodKey, ...]  # namespace and name of each
    ref: workloads.WorkloadRef  # their StatefulSet
    nodes: tuple[str, ...]  # where they are


class MirrorRemade(msgspec.Struct, frozen=True):
    """A deleted mirror Pod: the kubelet of its node keeps the containers running and creates it again."""

    pod: PodKey
    node: str


# The finalizer of an object whose Pods are deleted before it. Source: apimachinery meta/v1/types.go (v1.36).
FOREGROUND = "foregroundDeletion"
DISABLE_EVICTION = "--disable-eviction"  # The flag with which ``kubectl drain`` deletes Pods instead


class DrainFlag(StrEnum):
    """A flag that ``kubectl drain`` may require."""

    IGNORE_DAEMONSETS = "--ignore-daemonsets"
    DELETE_EMPTYDIR_DATA = "--delete-emptydir-data"
    FORCE = "--force"


class DrainFlags(msgspec.Struct, frozen=True):
    """The flags that ``kubectl drain`` requires for this drain."""

    nodes: str  # a node's name or a label
    pods: Mapping[DrainFlag, tuple[PodKey, ...]]  # flag → the Pods that require it
    given: tuple[str, ...] = ()  # the flags that it has anyway


class BoundByName(msgspec.Struct, frozen=True):
    """So many new Pods of a workload name their node, which may not exist: no scheduler keeps them off it."""

    namespace: str
    ref: workloads.WorkloadRef
    number: int
    node: str
    absent: bool


class Autoscaled(msgspec.Struct, frozen=True):
    """The replicas that a step gives a workload are the decision of its HorizontalPodAutoscaler."""

    bounds: ReplicaBounds
    asked: int  # the replicas that the step sets (count)
    restored: int  # those that the autoscaler then sets (count); the same where they are within its bounds


class UnreadScalers(msgspec.Struct, frozen=True):
    """The files hold no HorizontalPodAutoscalers, one of which may decide the replicas of this workload."""

    ref: workloads.WorkloadRef
    why: str


# What else a step reports.
StepNote: TypeAlias = (
    Autoscaled
    | BoundByName
    | DrainFlags
    | MirrorRemade
    | NotReplaced
    | StaysTerminating
    | StuckPods
    | EvictionsStopped
    | JobFailed
    | UnreadScalers
    | WaitsForReady
)


class Verb(StrEnum):
    """What a step does; the name of its flag."""

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
    """One step."""

    verb: Verb
    value: str  # the flag's value as given
    nodes: tuple[str, ...] = ()
    namespace: str = ""  # the namespace of ``ref``
    ref: workloads.WorkloadRef | None = None  # the workload or Pod that it changes
    number: int = 1  # replicas, or new nodes (count)
    # whether a drain evicts Pods without a controller, and a Pod is deleted without waiting for its kubelet
    force: bool = False
    disable_eviction: bool = False  # whether a drain deletes Pods, whatever their budgets
    pod_selector: Selector = EVERYTHING  # which Pods a drain evicts; the others stay
    objects: tuple[Application, ...] = ()
    # objects that are applied and merged with the existing ones already. stored, as_if: as for ``applied``.
    merged: tuple[KubernetesObject, ...] = ()
    stored: Mapping[tuple[str, workloads.WorkloadRef], Pod] = {}
    as_if: bool = False
    # whether only the Pods of these objects are of interest: other workloads are not synced, and their waiting Pods are
    # not tried again, until a change concerns them
    alone: bool = False

    def __str__(self) -> str:
        """Return the step as the user wrote it."""
        return " ".join((self.verb, self.value, *self.drain_flags))

    @property
    def drain_flags(self) -> tuple[str, ...]:
        """The flags that decide which Pods a drain evicts or deletes."""
        selected = () if self.pod_selector.empty else (f"--pod-selector={self.pod_selector}",)
        return (DISABLE_EVICTION,) * self.disable_eviction + selected


class Blocked(msgspec.Struct, frozen=True):
    """A Pod that should be evicted, but is not."""

    pod: Pod  # the Pod before the step
    reason: BlockReason
    goes_with_node: bool = False  # whether its node is removed, and the Pod with it


class Done(msgspec.Struct, frozen=True):
    """What a step did."""

    evicted: tuple[Pod, ...] = ()  # the Pods that were evicted or deleted, as they were before
    blocked: tuple[Blocked, ...] = ()  # the Pods that should have been evicted, but were not
    lost: tuple[Pod, ...] = ()  # the Pods that were deleted and that no controller creates again
    notes: tuple[StepNote, ...] = ()
    settled: bool = True  # whether the cluster reached a state in which nothing changes
    untried: int = 0  # the waiting Pods that were tried on no node, because of the limit (count)


Act: TypeAlias = Callable[[Step, ClusterState, ControlLoop], Done]


def act(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    """Do the step, then run the control loop until nothing changes."""
    failed, waited, born = len(loop.failed_jobs), {held for held, _ in loop.held_up()}, set(cluster.born)
    before = cluster.snapshot
    done = ACTS[step.verb](step, cluster, loop)
    settled = loop.settle()
    if scaled := tuple(_autoscaled(step, before, cluster, loop)):
        settled = loop.settle() and settled
    # One that waited before is told of again where the step has changed it.
    sets = before.all(StatefulSet)
    waiting = (held for held, own in loop.held_up() if held not in waited or not any(own is each for each in sets))
    notes = (*done.notes, *loop.failed_jobs[failed:], *waiting, *_bound_by_name(step, cluster, born), *scaled)
    return replace(done, settled=settled, untried=loop.untried, notes=notes)


def _autoscaled(
    step: Step, before: Snapshot, cluster: ClusterState, loop: ControlLoop
) -> Iterator[Autoscaled | UnreadScalers]:
    """Let autoscalers restore their bounds where the step sets these or replicas, and yield whose decision they are."""
    inventory, kind = before.inventory, HORIZONTAL_POD_AUTOSCALER
    not_held = [each.why for each in inventory.unread if each.kind == kind and each.why in IN_FILES]
    for owner in _scaled_by(step, before, cluster.snapshot).values():
        asked = owner.spec.replicas_wanted
        if (bounds := bounds_of(owner, cluster.snapshot)) is None:
            yield from (UnreadScalers(workloads.owner_of(owner, cluster.snapshot), why) for why in not_held)
            continue
        yield Autoscaled(bounds, asked, restored := bounds.restored(asked))
        if restored != asked:
            _change(replace(owner, spec=replace(owner.spec, replicas=restored)), cluster, loop)


def _scaled_by(step: Step, before: Snapshot, now: Snapshot) -> Mapping[ControllerKey, Scaled]:
    """Return the workloads whose replicas the step sets, or whose autoscaler does not let them have so many."""
    keys = [(step.namespace, step.ref.kind, step.ref.name)] if step.ref and step.verb is Verb.SCALE else []
    for obj in (each.obj for each in step.objects if not step.alone):
        target = obj.spec.scale_target_ref if isinstance(obj, HorizontalPodAutoscaler) else None
        key = (obj.metadata.namespace, target.kind, target.name) if target else obj.as_controller
        was, owner = (each.workload(*key) for each in (before, now))
        if not isinstance(owner, Scaled):
            continue
        number, bounds = replicas_of(owner), bounds_of(owner, now)
        changed = target is None and (was is None or replicas_of(was) != number)
        keys += [key] if changed or (bounds and bounds.restored(number) != number) else []
    owners = {key: now.workload(*key) for key in keys}
    return {key: owner for key, owner in owners.items() if isinstance(owner, Scaled)}


def _bound_by_name(step: Step, cluster: ClusterState, before: Container[PodKey]) -> Iterator[BoundByName]:
    found = Counter[tuple[str, workloads.WorkloadRef, str]]()
    for pod in (cluster.pods[key] for key in cluster.born if key in cluster.pods and key not in before):
        name = pod.spec.node_name
        if name and pod.key not in cluster.best and (name in step.nodes or name not in cluster.nodes):
            found[pod.metadata.namespace, workloads.owner_of(pod, cluster.snapshot), name] += 1
    for (namespace, ref, name), number in found.items():
        yield BoundByName(namespace, ref, number, name, absent=name not in cluster.nodes)


# Nodes


def _cordoned(node: Node, *, unschedulable: bool) -> Node:
    """Return the node cordoned, with the taint that the controller adds, or uncordoned."""
    taints = tuple(taint for taint in node.spec.taints if taint.key != CORDON.key)
    taints = (*taints, CORDON) if unschedulable else taints
    return replace(node, spec=replace(node.spec, unschedulable=unschedulable, taints=taints))


def _cordon(step: Step, cluster: ClusterState, _: ControlLoop) -> Done:
    unschedulable = step.verb is not Verb.UNCORDON
    cluster.set_nodes([_cordoned(cluster.nodes[name], unschedulable=unschedulable) for name in step.nodes])
    return Done()


def _drain(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    """Drain nodes as kubectl does: it cordons all of them first, then evicts the Pods of one after another.

    It looks only at Pods that the selector matches: no other one makes it refuse.

    Source: kubectl pkg/cmd/drain/drain.go RunDrain, pkg/drain/drain.go GetPodsForDeletion, filters.go (v0.36).
    """
    _cordon(step, cluster, loop)
    gone: list[Pod] = []
    blocked: list[Blocked] = []
    waits_at = ""
    flags = tuple(_flags(step, cluster))
    held: Mapping[PodKey, BlockReason]
    for name in sorted(step.nodes):
        drained = [pod for pod in _selected(step, cluster.on_nodes([name])[name]) if _is_drained(pod, cluster)]
        whys = {pod.key: why for pod in drained if not step.force and (why := _needs_force(pod, cluster))}
        if whys:
            held = {pod.key: whys.get(pod.key, DrainRefused()) for pod in drained}
        elif waits_at:
            held = {pod.key: DrainWaits(waits_at) for pod in drained}
        else:
            held = evict(drained, cluster, loop, by_deletion=step.disable_eviction)
            # After a permanent refusal kubectl goes on with the next node.
            tried_again = set(held.values()) - {EvictionRefused(eviction.MORE_THAN_ONE)}
            waits_at = name if tried_again or any(_waited_for(drained, cluster)) else ""
        blocked += [Blocked(pod, held[pod.key]) for pod in drained if pod.key in held]
        gone += [pod for pod in drained if pod.key not in held]
    done = _gone((pod for pod in gone if not pod.terminating), cluster)
    return replace(done, blocked=tuple(blocked), notes=(*flags, *_waited_for(gone, cluster)))


def _flags(step: Step, cluster: ClusterState) -> Iterator[DrainFlags]:
    needed: dict[DrainFlag, list[PodKey]] = defaultdict(list)
    there = (pod for pods in cluster.on_nodes(sorted(step.nodes)).values() for pod in _selected(step, pods))
    for pod in (pod for pod in there if not pod.finished):
        if not (_is_drained(pod, cluster) or workloads.is_mirror(pod)):
            needed[DrainFlag.IGNORE_DAEMONSETS].append(pod.key)
        elif not workloads.is_mirror(pod):
            if pod.has_empty_dir:
                needed[DrainFlag.DELETE_EMPTYDIR_DATA].append(pod.key)
            if step.force and _needs_force(pod, cluster):
                needed[DrainFlag.FORCE].append(pod.key)
    if needed:
        pods = {flag: tuple(needed[flag]) for flag in DrainFlag if flag in needed}
        yield DrainFlags(step.value, pods, step.drain_flags)


def _selected(step: Step, pods: Iterable[Pod]) -> Iterator[Pod]:
    return (pod for pod in pods if step.pod_selector.matches(pod.metadata.labels))


def _gone(pods: Iterable[Pod], cluster: ClusterState) -> Done:
    gone = [(pod, _is_lost(pod, cluster)) for pod in pods]
    return Done(evicted=tuple(pod for pod, lost in gone if not lost), lost=tuple(pod for pod, lost in gone if lost))


def _waited_for(leaving: Iterable[Pod], cluster: ClusterState) -> Iterator[StuckPods]:
    """Source: kubectl pkg/drain/drain.go waitForDelete (v0.36)."""
    stuck = [pod for each in leaving if (pod := cluster.pods.get(each.key)) and cluster.is_stuck(pod)]
    for silent in (True, False):
        pods = tuple(pod.key for pod in stuck if (pod.spec.node_name in cluster.lost) is silent)
        if pods:
            yield StuckPods(pods, silent)


def _is_drained(pod: Pod, cluster: ClusterState) -> bool:
    """Source: filters.go daemonSetFilter, mirrorPodFilter."""
    if workloads.is_mirror(pod) or pod.key not in cluster.pods:
        return False
    daemon = pod.metadata.controller_kind == DaemonSet.__name__ and not _is_alone(pod, cluster)
    return pod.finished or not daemon


def _needs_force(pod: Pod, cluster: ClusterState) -> Unmanaged | DaemonSetGone | None:
    """Source: filters.go daemonSetFilter, unreplicatedFilter."""
    owner = pod.metadata.controller
    if owner is None:
        return None if pod.finished else Unmanaged()
    if owner.kind == DaemonSet.__name__ and _is_alone(pod, cluster):
        return DaemonSetGone(owner.name)
    return None


def _is_alone(pod: Pod, cluster: ClusterState) -> bool:
    """Whether the Pod has not finished and has no controller, or its controller does not exist."""
    owner = pod.metadata.controller
    return not pod.finished and (owner is None or workloads.is_absent(owner, pod.metadata.namespace, cluster.snapshot))


def _is_lost(pod: Pod, cluster: ClusterState) -> bool:
    """A terminating controller creates no Pod again, but a kubelet does its mirror Pods."""
    if workloads.is_mirror(pod):
        return False
    owner = workloads.controller_of(pod, cluster.snapshot)
    going = owner is not None and owner.metadata.deletion_timestamp is not None
    return _is_alone(pod, cluster) or (going and not pod.finished)


def evict(
    leaving: Iterable[Pod], cluster: ClusterState, loop: ControlLoop, *, by_deletion: bool = False
) -> Mapping[PodKey, BlockReason]:
    """Evict the Pods, and retry refused ones once replacements are ready; return why the others stay.

    ``by_deletion``: delete them instead, which no budget refuses.

    kubectl evicts all at once, so their order is left to chance. In every other order of chance, replacements may be
    bound before the last of them is evicted.

    Source: kubectl pkg/drain/drain.go evictPods, deletePods (v0.36).
    """
    waiting = sorted((pod.key for pod in leaving), key=lambda key: cluster.order(key[1]))
    cluster.chance.free |= len(waiting) > 1
    while True:
        refused: dict[PodKey, BlockReason] = {}
        for key in waiting:
            pod = cluster.pods.get(key)
            if pod is None or pod.terminating:
                continue
            for budget in () if eviction.ignores_budgets(pod) else eviction.budgets_of(pod, cluster.snapshot):
                cluster.put(disruption.with_status(budget, cluster.pods.values(), cluster.snapshot))
            why = "" if by_deletion else eviction.refusal(pod, cluster.snapshot)
            if why:
                refused[key] = EvictionRefused(why)
                continue
            if by_deletion:
                cluster.delete(pod)
            else:
                cluster.evict(pod, BY_EVICTION)
            if cluster.seed % 2:
                loop.settle()
        loop.settle()
        if not refused or len(refused) == len(waiting):
            return refused
        cluster.chance.free = True
        waiting = list(refused)


def _remove(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    before = set(cluster.pods)
    done = _drain(step, cluster, loop)
    there = (pod for pods in cluster.on_nodes(step.nodes).values() for pod in pods if _is_drained(pod, cluster))
    left = _gone([pod for pod in there if pod.key in before and not (pod.terminating or pod.finished)], cluster)
    for name in step.nodes:
        cluster.remove_node(name)
    notes = (replace(note, go_with_node=True) if isinstance(note, StuckPods) else note for note in done.notes)
    silent = _evicted_as_lost(cluster, loop)
    return Done(
        evicted=(*done.evicted, *left.evicted, *silent.evicted),
        blocked=tuple(replace(each, goes_with_node=True) for each in done.blocked),
        lost=(*done.lost, *left.lost, *silent.lost),
        notes=(*notes, *silent.notes),
    )


def _lose(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    """Source: kube-controller-manager nodelifecycle, tainteviction (v1.36); the Pods stay Terminating."""
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
    """Source: node_lifecycle_controller.go handleDisruption, doNoExecuteTaintingPass (v1.36)."""
    kept = nodelifecycle.keeps_pods(cluster.nodes, cluster.lost)
    going = [name for name in cluster.lost if name not in kept]
    cluster.set_nodes([nodelifecycle.lost(cluster.nodes[name], NO_EXECUTE) for name in going])
    done = _evicted_by_taints(going, cluster, loop)
    return replace(done, notes=(*dict.fromkeys(kept.values()), *_not_replaced(done.evicted, cluster)))


def _not_replaced(evicted: Iterable[Pod], cluster: ClusterState) -> Iterator[NotReplaced]:
    """Source: kube-controller-manager statefulset/stateful_set_control.go processReplica (v1.36)."""
    stuck = (pod for pod in evicted if pod.key in cluster.pods and cluster.is_stuck(cluster.pods[pod.key]))
    of_sets = (pod for pod in stuck if pod.metadata.controller_kind == StatefulSet.__name__)
    for (_, kind, name), pods in grouped(of_sets, lambda pod: pod.metadata.controller_key).items():
        nodes = tuple(dict.fromkeys(pod.spec.node_name for pod in pods))
        yield NotReplaced(tuple(pod.key for pod in pods), workloads.WorkloadRef(kind=kind, name=name), nodes)


def _evicted_by_taints(names: Iterable[str], cluster: ClusterState, loop: ControlLoop) -> Done:
    """Delete the Pods that do not tolerate their nodes' taints, in the order of their tolerationSeconds.

    Source: kube-controller-manager tainteviction/taint_eviction.go processPodOnNode (v1.36).
    """
    leaving: dict[int, dict[str, list[Pod]]] = defaultdict(lambda: defaultdict(list))
    for name, pods in cluster.on_nodes(names).items():
        for pod in pods:
            seconds = nodelifecycle.evicted_after(pod, cluster.nodes[name])
            if seconds is not None and not (pod.finished or pod.terminating):
                leaving[seconds][name].append(pod)
    for seconds in sorted(leaving):
        by_node = leaving[seconds]
        cluster.chance.free |= len(by_node) > 1
        # The controller taints one node at a time.
        for name in sorted(by_node, key=cluster.order):
            for pod in by_node[name]:
                cluster.evict(cluster.pods[pod.key], BY_TAINT)
            loop.settle()
    return _gone((pod for by_node in leaving.values() for pods in by_node.values() for pod in pods), cluster)


def _return(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    silent = [name for name in step.nodes if not cluster.nodes[name].answers]
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
    return cluster.snapshot.workload(step.namespace, step.ref.kind, step.ref.name) if step.ref else None


def _change(owner: Workload, cluster: ClusterState, loop: ControlLoop) -> None:
    cluster.put(owner)
    loop.forget(owner.as_controller)


def _scale(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    owner = _owner(step, cluster)
    if isinstance(owner, Scaled):
        _change(replace(owner, spec=replace(owner.spec, replicas=step.number)), cluster, loop)
    return Done()


def _restart(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    owner = _owner(step, cluster)
    match owner:
        case Deployment():
            newest = deployment.newest_replica_set(owner, cluster.snapshot)
            revision = deployment.revision_number(newest) + 1 if newest else 1
            name = f"{template_hash(owner.spec.template)}{revision}"
            made = deployment.made_for(owner, name, revision=revision)
            cluster.put(replace(made, spec=replace(made.spec, replicas=0)))
            cluster.chance.free = True
            _change(owner, cluster, loop)
        case StatefulSet():
            cluster.put(*recorded(owner, cluster.owned.get(owner.as_controller, {}).values(), cluster.snapshot))
            status = replace(owner.status, update_revision=f"{owner.status.update_revision or owner.metadata.name}-new")
            _change(replace(owner, status=status), cluster, loop)
        case DaemonSet():
            loop.renew(owner.as_controller, cluster.owned.get(owner.as_controller, {}))
    return Done()


def _delete(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    """Delete a Pod; the kubelet creates a mirror Pod again. A Pod with finalizers stays even if it is forced.

    Source: pkg/kubelet/kubelet.go tryReconcileMirrorPods; apiserver pkg/registry/generic/registry/store.go
    deletionFinalizersForGarbageCollection, pkg/registry/core/pod/strategy.go CheckGracefulDelete (v1.36).
    """
    if step.alone:
        loop.leave_others(())
    pod = cluster.pods.get((step.namespace, step.ref.name if step.ref else ""))
    if pod is None:
        return Done()
    if workloads.is_mirror(pod) and pod.spec.node_name in cluster.nodes:
        return Done(notes=(MirrorRemade(pod.key, pod.spec.node_name),))
    cluster.delete(pod)
    left = cluster.pods.get(pod.key)
    if left is not None and step.force and can_be_removed(left):
        cluster.remove(left)
    elif left is not None and cluster.is_stuck(left):
        finalizers = () if can_be_removed(left) else tuple(left.metadata.finalizers)
        done = Done() if pod.terminating else _gone([pod], cluster)
        return replace(done, notes=(StaysTerminating(pod.key, pod.spec.node_name, finalizers),))
    return _gone([pod], cluster)


def _apply(step: Step, cluster: ClusterState, loop: ControlLoop) -> Done:
    """Apply objects: workloads and Pods after all others, but Pods are admitted in their place in the file.

    In some orders of chance the Pods of each are bound before the next one is applied, in others all wait together. In
    some the Pods of the file are sent before the controller of quotas has seen changes of the file.
    """
    start, slow = cluster.snapshot, cluster.seed % 4 > 1
    loop.stored, loop.as_if = step.stored, step.as_if
    merged = [*_merged(step.objects, cluster), *step.merged]
    makers = [obj for obj in merged if isinstance(obj, Pod | Workload)]
    sent: dict[PodKey, Snapshot] = {}
    # Claims come last, because volumes that they bind to may come after them in the file.
    for obj in sorted(merged, key=lambda obj: isinstance(obj, PersistentVolumeClaim)):
        if isinstance(obj, Pod):
            sent[obj.key] = cluster.snapshot
        elif not isinstance(obj, Workload):
            _apply_other(obj, cluster)
    if step.alone:
        asked = {(obj.metadata.namespace, workloads.owner_of(obj, cluster.snapshot)) for obj in makers}
        loop.leave_others(asked, [term for obj in makers for term in readable_terms(_as_pod(obj)).affinity])
    else:
        loop.look_again(*WORKLOADS.values())
    cluster.chance.free |= len(makers) > 1 or any(isinstance(obj, ResourceQuota) for obj in merged)
    for maker in makers:
        if isinstance(maker, Pod):
            live = cluster.pods.get(maker.key)
            if live is None:
                loop.create(maker, sent[maker.key], start if slow else sent[maker.key])
            elif maker != live:
                cluster.update(workloads.released(workloads.controller_of(live, cluster.snapshot), maker))
        else:
            _apply_one(maker, cluster, loop, alone=step.alone)
        if len(makers) > 1 and cluster.seed % 2 == 0:
            loop.bind()
    nodes = [obj.metadata.name for obj in merged if isinstance(obj, Node)]
    return _evicted_by_taints(nodes, cluster, loop)


def _as_pod(obj: Pod | Workload) -> Pod:
    """Return a Pod with the terms of the workload's Pods."""
    if isinstance(obj, Pod):
        return obj
    return Pod(metadata=ObjectMeta(namespace=obj.metadata.namespace), spec=template_of(obj).spec)


def _merged(objects: Sequence[Application], cluster: ClusterState) -> Iterable[KubernetesObject]:
    """Return the objects that exist then; of an object that is given twice, the last form counts."""
    found: dict[tuple[type, PodKey], KubernetesObject] = {}
    for each in objects:
        obj, key = each.obj, (type(each.obj), each.obj.key)
        live = cluster.pods.get(obj.key) if isinstance(obj, Pod) else None
        found[key] = each.over(found.get(key) or live or cluster.snapshot.get(type(obj), *obj.key))
    return found.values()


def _apply_other(obj: KubernetesObject, cluster: ClusterState) -> None:
    match obj:
        case Node():
            # Taints of an unreachable node come back.
            made = _cordoned(obj, unschedulable=obj.spec.unschedulable)
            silent = obj.metadata.name in cluster.lost
            cluster.set_nodes([nodelifecycle.lost(made, nodelifecycle.NO_SCHEDULE) if silent else made])
        case PersistentVolumeClaim():
            cluster.put(*created([obj], cluster.snapshot, cluster.handle.profile))
        case _:
            cluster.put(as_applied(obj, cluster.snapshot))


def _apply_one(obj: Workload, cluster: ClusterState, loop: ControlLoop, *, alone: bool) -> None:
    """Apply a workload; with another template it replaces its Pods as its kind does."""
    before, key = cluster.snapshot, obj.as_controller
    live = before.get(type(obj), obj.metadata.namespace, obj.metadata.name)
    if live is not None and live.metadata.deletion_timestamp:
        _collect(live, cluster)
        return
    # A Deployment only depends on Pods that it may adopt, and there are few.
    seen = cluster.orphans[obj.metadata.namespace] if isinstance(obj, Deployment) else cluster.pods
    cluster.put(as_applied(obj, cluster.with_pods(seen)))
    changed = live is None or not same_template(template_of(obj), template_of(live))
    if changed and isinstance(live, StatefulSet | DaemonSet):
        cluster.put(*recorded(live, cluster.owned.get(key, {}).values(), before))
    loop.forget(key)
    if alone and isinstance(obj, StatefulSet):  # The question is where its Pods go, not when.
        for pod in [*cluster.owned.get(key, {}).values()]:
            if pod.spec.node_name and not (pod.ready or pod.finished or pod.terminating):
                cluster.set_ready(pod, ready=True)
    if isinstance(obj, Deployment):
        for each in deployment.replica_sets(obj, cluster.snapshot):
            loop.forget(each.as_controller)
    # During a rollout, chance decides which Pod is ready first.
    cluster.chance.free |= changed and live is not None
    if changed and isinstance(obj, DaemonSet):
        _renew(obj, before, cluster, loop)
    elif changed and isinstance(obj, ReplicaSet | ReplicationController):
        # Their Pods do not show which template they have.
        loop.outdate(key, cluster.owned.get(key, {}))


def _collect(owner: Workload, cluster: ClusterState) -> None:
    """Delete what a workload owns that is deleted in the foreground.

    Source: kube-controller-manager garbagecollector/garbagecollector.go attemptToDeleteItem (v1.36).
    """
    if FOREGROUND not in owner.metadata.finalizers:
        return
    key, gone, snapshot = owner.as_controller, owner.metadata.deletion_timestamp, cluster.snapshot
    owned: tuple[ReplicaSet | Job, ...] = (*snapshot.controlled_by(key, ReplicaSet), *snapshot.controlled_by(key, Job))
    for each in owned:
        going = replace(each.metadata, deletion_timestamp=gone, finalizers=owner.metadata.finalizers)
        cluster.put(deleted := replace(each, metadata=going))
        _collect(deleted, cluster)
    cluster.delete(*cluster.owned.get(key, {}).values())


def _renew(obj: DaemonSet, before: Snapshot, cluster: ClusterState, loop: ControlLoop) -> None:
    """Make a DaemonSet replace its Pods, or those that it adopts, except for Pods of its template."""
    namespace, key = obj.metadata.namespace, obj.as_controller
    live = before.get(DaemonSet, namespace, obj.metadata.name)
    found = cluster.owned.get(key, {}).values() if live else workloads.adopted(obj, cluster.orphans[namespace].values())
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

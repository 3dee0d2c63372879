"""How a workload gets from its running Pods to those of a manifest: the rules, and how many Pods are replaced.

Which Pods come and go, and in which order, is up to simulation.

Source: kube-controller-manager deployment/{rolling,recreate}.go and util/deployment_util.go ResolveFenceposts,
statefulset/stateful_set_control.go (v1.36).
"""

from collections.abc import Sequence
from enum import Enum
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.creation import prepared, unmerged
from kubectl_spread.apiserver.validation.field_errors import FieldError
from kubectl_spread.controllers import job
from kubectl_spread.controllers.deployment import replica_sets
from kubectl_spread.controllers.replicas import replica
from kubectl_spread.controllers.replicaset import active
from kubectl_spread.controllers.revisions import is_outdated
from kubectl_spread.controllers.rolling_update import fenceposts, surge_of
from kubectl_spread.controllers.statefulset import first_updated_ordinal
from kubectl_spread.controllers.templates import HASH_LABEL, REVISION_HASH_LABEL, same_template, template_of
from kubectl_spread.controllers.workloads import WorkloadRef, adopted_sets, belongs_to
from kubectl_spread.objects import workloads
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.template_rest import with_template
from kubectl_spread.release import Release
from kubectl_spread.snapshot import Snapshot


class Assumption(Enum):
    """What is assumed about a rollout, if no number or name belongs to it."""

    SUSPENDED = "Suspended"  # A suspended Job deletes its Pods. Source: job/job_controller.go manageJob (v1.36).
    PAUSED = "Paused"
    PAUSED_BEFORE_FIRST = "PausedBeforeFirst"  # A paused Deployment without a ReplicaSet creates no Pod
    UNCHANGED = "Unchanged"  # The template stays the same
    SAME_TEMPLATE = "SameTemplate"  # The fields that scheduling reads stay the same; the others are not known
    REVISION_AGAIN = "RevisionAgain"  # The template is that of an older revision, and the Pods of that revision stay
    ADOPTED = "Adopted"  # The workload adopts the matching Pods that have no controller
    RUNNING_STAY = "RunningStay"  # Running Pods stay whatever changes in the template; missing ones are created
    POD_STAYS = "PodStays"  # The Pod stays the same, or changes only in mutable fields
    POD_FINISHED = "PodFinished"
    POD_TERMINATING = "PodTerminating"
    # Its node does not exist. Source: kube-controller-manager podgc/gc_controller.go gcOrphaned (v1.36).
    POD_ORPHANED = "PodOrphaned"
    # A workload that is being deleted creates no Pod, and garbage collection deletes its Pods.
    OWNER_TERMINATING = "OwnerTerminating"
    ALL_GONE_FIRST = "AllGoneFirst"
    DELETED_BY_HAND = "DeletedByHand"  # Missing ordinals are created; running Pods stay until somebody deletes them
    DELETED_BY_HAND_ON_NODES = "DeletedByHandOnNodes"
    SURGE_ON_NODES = "SurgeOnNodes"
    ONE_BY_ONE_ON_NODES = "OneByOneOnNodes"


class MadeElsewhere(msgspec.Struct, frozen=True):
    """This manager creates the Job's Pods, not kube-controller-manager."""

    manager: str


class UnknownRules(msgspec.Struct, frozen=True):
    """It is not known how this kind replaces Pods: running Pods stay while new ones are created."""

    kind: str


class AdoptsSets(msgspec.Struct, frozen=True):
    """The Deployment adopts these ReplicaSets, by name, with their Pods; ``paused``: it replaces none of these."""

    names: tuple[str, ...]
    paused: bool


class WithinFenceposts(msgspec.Struct, frozen=True):
    """At most and at least so many Pods (count) exist at any time."""

    most: int
    least: int


class FromHighestOrdinal(msgspec.Struct, frozen=True):
    """Missing ordinals are created, then each Pod is replaced from the highest ordinal down to ``first``."""

    first: int


RolloutAssumption: TypeAlias = (
    Assumption | AdoptsSets | MadeElsewhere | UnknownRules | WithinFenceposts | FromHighestOrdinal
)
Strategy: TypeAlias = Literal["RollingUpdate", "Recreate", "OnDelete", "Scale", "Unknown"]


class Rollout(msgspec.Struct, frozen=True, kw_only=True):
    """How the workload gets from its running Pods to those of the manifest."""

    # `RollingUpdate`, `Recreate` or `OnDelete` if the template changes; `Scale` if it does not and only missing Pods
    # are created; `Unknown` for kinds of other APIs
    strategy: Strategy
    running: int  # the Pods that the workload has, with and without a node (count)
    at_work: int  # how many of them run (count)
    replaced: int  # how many of them are replaced (count)
    deleted: int = 0  # how many of them are deleted, and no other Pod comes in their place (count)
    assumed: RolloutAssumption  # what is assumed about it
    unchanged: bool = False  # whether applying the manifest changes nothing in the object


class FailedCreate(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The API server refuses some of a workload's Pods, for example because of a quota."""

    created: int  # the Pods that it creates before (count)
    message: str  # why it refuses the next one, in its words
    # every reason, with the fields of the manifest, if no Pod is created; empty for a quota
    refusals: tuple[FieldError, ...] = ()
    missing: tuple[str, ...] = ()  # kind and name of the objects that have to exist first


class DesiredWorkload(msgspec.Struct, frozen=True):
    """The workload that a manifest describes."""

    ref: WorkloadRef
    owner: Workload | None  # the workload; None for a bare Pod and for a kind of another API
    pod: Pod
    replicas: int  # its Pods (count)
    numbered: bool = True  # whether each replica gets its own name; a single bare Pod keeps the one it has
    release: Release = Release()  # the API server's

    def replica(self, number: int) -> Pod:
        """Return a replica, counted from 1."""
        return self.prepared(replica(self.owner, self.pod, number)) if self.numbered else self.pod

    def prepared(self, pod: Pod) -> Pod:
        """Return the replica with label keys merged into its selectors, with the values of its own labels."""
        spec = pod.spec
        if spec.affinity is None and not any(each.match_label_keys for each in spec.topology_spread_constraints):
            return pod
        return prepared(replace(pod, spec=unmerged(pod.spec)), self.release)


def rollout_of(wanted: DesiredWorkload, before: Snapshot) -> Rollout | None:
    """Return how the workload gets to the Pods of its manifest; None where it has none yet."""
    owner, running = wanted.owner, running_pods(wanted, before)
    obj = owner or wanted.pod
    live = before.get(type(obj), obj.metadata.namespace, obj.metadata.name)
    found = _rollout_without_new_pods(owner, running, before)
    if live is not None and not isinstance(live, Pod) and live.metadata.deletion_timestamp:
        found = ("Scale", Assumption.OWNER_TERMINATING, 0)
    if isinstance(live, Pod) and not wanted.numbered:
        found, running = ("Scale", _fate_of(live, before), 0), (live,)
    elif found is None and owner is not None and live is not None and not isinstance(live, Pod):
        found = _rollout_of_change(wanted, owner, live, running, before)
    elif found is None and running:
        is_pod = wanted.ref.kind == Pod.__name__
        found = ("Scale", Assumption.POD_STAYS, 0) if is_pod else ("Unknown", UnknownRules(wanted.ref.kind), 0)
    if found is None:
        return None
    strategy, assumed, replaced = found
    as_many = getattr(obj.spec, "replicas", None) in {None, wanted.replicas}
    # A snapshot holds only digests of some fields.
    held = [with_template(each, lambda template: replace(template, unkept="")) for each in (live, obj) if each]
    unchanged = live is not None and held[0].spec == held[1].spec and as_many
    return Rollout(
        strategy=strategy,
        running=len(running),
        at_work=sum(pod.at_work for pod in running),
        replaced=replaced,
        deleted=0 if strategy in {"Scale", "Unknown"} else _surplus(wanted, running),
        assumed=assumed,
        unchanged=unchanged,
    )


def _surplus(wanted: DesiredWorkload, running: Sequence[Pod]) -> int:
    """Return how many Pods more there are than are wanted (count); of a DaemonSet, that depends on the nodes."""
    match wanted.owner:
        case workloads.DaemonSet():
            return 0
        case workloads.StatefulSet() as owner:
            start = owner.spec.ordinals.start
            names = {f"{owner.metadata.name}-{ordinal}" for ordinal in range(start, start + wanted.replicas)}
            return sum(pod.metadata.name not in names for pod in running)
    return max(len(running) - wanted.replicas, 0)


def _fate_of(pod: Pod, before: Snapshot) -> Assumption:
    if pod.terminating:
        return Assumption.POD_TERMINATING
    if pod.finished:
        return Assumption.POD_FINISHED
    known = bool(before.nodes) and not before.inventory.nodes_unread
    absent = known and bool(pod.spec.node_name) and pod.spec.node_name not in before.nodes
    return Assumption.POD_ORPHANED if absent else Assumption.POD_STAYS


def running_pods(wanted: DesiredWorkload, before: Snapshot) -> tuple[Pod, ...]:
    """Return the active Pods of the workload, by name."""
    own = active(before.within(Pod, wanted.pod.metadata.namespace))
    return tuple(sorted((pod for pod in own if belongs_to(pod, wanted.ref, before)), key=lambda pod: pod.key))


# The strategy, what is assumed, and how many Pods are replaced (count).
_Decided: TypeAlias = tuple[Strategy, RolloutAssumption, int]


def _rollout_without_new_pods(owner: Workload | None, running: Sequence[Pod], before: Snapshot) -> _Decided | None:
    match owner:
        case workloads.Job() if owner.spec.suspend:
            return "Scale", Assumption.SUSPENDED, 0
        case workloads.CronJob() if owner.spec.suspend:
            return "Scale", Assumption.SUSPENDED, 0
        case workloads.Job() | workloads.CronJob() if manager := job.foreign_manager(owner):
            return "Scale", MadeElsewhere(manager), 0
        case workloads.Deployment() if owner.spec.paused and not (
            running or replica_sets(owner, before) or adopted_sets(owner, before)
        ):
            return "Scale", Assumption.PAUSED_BEFORE_FIRST, 0
    return None


def _rollout_of_change(
    wanted: DesiredWorkload, owner: Workload, live: Workload, running: Sequence[Pod], before: Snapshot
) -> _Decided | None:
    old_template, template = template_of(live), template_of(owner)
    match owner:
        case workloads.CronJob():
            return None
        case workloads.Deployment() if owner.spec.paused:
            return "Scale", Assumption.PAUSED, 0
        case workloads.Deployment() | workloads.StatefulSet() | workloads.DaemonSet():
            if not same_template(old_template, template):
                return _rollout_by_strategy(wanted, owner, running)
            if isinstance(owner, workloads.DaemonSet):
                running = [pod for pod in running if is_outdated(pod, owner, before)]
            going = bool(running) and _is_let_go(live, owner) and _rollout_by_strategy(wanted, owner, running)
            if going and going[0] not in {"Scale", workloads.ON_DELETE}:
                return going
            known = old_template.rest and template.rest  # A rollout that is under way goes on.
            return "Scale", Assumption.UNCHANGED if known else Assumption.SAME_TEMPLATE, 0
    return "Scale", Assumption.RUNNING_STAY, 0


def _is_let_go(live: Workload, owner: Workload) -> bool:
    """Whether a rollout that the live object holds back may start: it is resumed, or no longer by hand or partition."""
    match live, owner:
        case workloads.Deployment(), workloads.Deployment():
            return live.spec.paused
        case workloads.StatefulSet(), workloads.StatefulSet():
            held = live.spec.update_strategy.type == workloads.ON_DELETE
            return held or first_updated_ordinal(owner) < first_updated_ordinal(live)
        case workloads.DaemonSet(), workloads.DaemonSet():
            return live.spec.update_strategy.type == workloads.ON_DELETE
    return False


def _rollout_by_strategy(
    wanted: DesiredWorkload,
    owner: workloads.Deployment | workloads.StatefulSet | workloads.DaemonSet,
    running: Sequence[Pod],
) -> _Decided:
    by_node = isinstance(owner, workloads.DaemonSet)
    strategy = owner.spec.strategy if isinstance(owner, workloads.Deployment) else owner.spec.update_strategy
    if strategy.type == workloads.ON_DELETE:
        by_hand = Assumption.DELETED_BY_HAND_ON_NODES if by_node else Assumption.DELETED_BY_HAND
        return workloads.ON_DELETE, by_hand, 0
    if isinstance(owner, workloads.DaemonSet):
        surges = surge_of(owner, max(len(running), 1)) > 0
        assumed = Assumption.SURGE_ON_NODES if surges else Assumption.ONE_BY_ONE_ON_NODES
        return workloads.ROLLING_UPDATE, assumed, len(running)
    label = REVISION_HASH_LABEL if isinstance(owner, workloads.StatefulSet) else HASH_LABEL
    revision = wanted.pod.metadata.labels.get(label)
    old = [pod for pod in running if pod.metadata.labels.get(label) != revision]
    if not old:
        return "Scale", Assumption.REVISION_AGAIN, 0
    if isinstance(owner, workloads.StatefulSet):
        first, here = first_updated_ordinal(owner), {pod.metadata.name for pod in old if pod.spec.node_name}
        renewed = range(first, owner.spec.ordinals.start + wanted.replicas)
        replaced = sum(f"{owner.metadata.name}-{ordinal}" in here for ordinal in renewed)
        return workloads.ROLLING_UPDATE, FromHighestOrdinal(first), replaced
    replaced = min(len(old), max(wanted.replicas - (len(running) - len(old)), 0))
    if strategy.type == workloads.RECREATE:
        return workloads.RECREATE, Assumption.ALL_GONE_FIRST, replaced
    surge, unavailable = fenceposts(strategy, wanted.replicas)
    within = WithinFenceposts(wanted.replicas + surge, wanted.replicas - unavailable)
    return workloads.ROLLING_UPDATE, within, replaced

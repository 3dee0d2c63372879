"""Controllers, scheduler and kubelets act in turn until nothing changes."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers import daemonset, deployment, job, statefulset
from kubectl_spread.controllers.deployment import Revision, resized, scaled
from kubectl_spread.controllers.injected_fields import has_own_claim, like
from kubectl_spread.controllers.next_pod import NAME_TAKEN, NextPod, claims_of, completed, next_pod
from kubectl_spread.controllers.persistent_volumes import ephemeral_claims
from kubectl_spread.controllers.replicaset import Victims, active, victims
from kubectl_spread.controllers.revisions import is_outdated
from kubectl_spread.controllers.rolling_update import surge_of, unavailable_of
from kubectl_spread.controllers.templates import renamed
from kubectl_spread.controllers.workloads import OwnedPods, WorkloadRef, adopted, is_absent, owner_of
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod, PodStatus, ReplicationController
from kubectl_spread.objects.kinds import WORKLOADS, Workload
from kubectl_spread.objects.meta import ControllerKey, KubernetesObject, grouped
from kubectl_spread.objects.workloads import ON_DELETE, DaemonSet, Deployment, Job, ReplicaSet, StatefulSet
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.affinityterm import AffinityTerm
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.prefilter_extensions import outranks_any, priority_of
from kubectl_spread.simulation.cluster_state import ClusterState
from kubectl_spread.simulation.placement import storage_bound_on
from kubectl_spread.simulation.quota_usage import QuotaUsage
from kubectl_spread.snapshot import PodKey, Snapshot

# Pods are tried on at most so many nodes (count): two or three minutes. A search for Pods to preempt counts that many
# times.
MOST_VERDICTS, PREEMPTING = 20_000_000, 5
UNLIMITED = 10**18  # The same for no limit
MOST_TURNS = 5_000  # The turns (count) after which a cluster that still changes counts as one that never settles
_ONE_BY_ONE = (1, 3)  # In these of every four orders, Pods become ready one after another
_GONE_FIRST = 4  # In this one of every eight, Pods that are deleted are gone before the scheduler tries another


class JobFailed(msgspec.Struct, frozen=True):
    """A Job fails, and its Pods are deleted."""

    namespace: str
    name: str
    failure: job.JobFailure


class WaitsForReady(msgspec.Struct, frozen=True):
    """A StatefulSet creates or replaces Pods only once another is ready."""

    namespace: str
    ref: WorkloadRef
    held: statefulset.HeldUp


def _maker(pod: Pod) -> ControllerKey:
    """Return the controller of the Pod; for a Pod without one, the Pod itself."""
    return pod.metadata.controller_key if pod.metadata.controller else pod.as_controller


class ControlLoop:
    """Runs controllers, scheduler and kubelets until nothing changes.

    Args:
        cluster: the cluster that they act on.
        most_verdicts: Pods are tried on at most so many nodes (count).
    """

    def __init__(self, cluster: ClusterState, *, most_verdicts: int = MOST_VERDICTS) -> None:
        self.cluster = cluster
        self._most_verdicts = most_verdicts
        self.turns = 0  # the turns so far (count)
        self.failed_jobs: list[JobFailed] = []  # the Jobs that have failed, in order
        self.untried = 0  # the waiting Pods that the last turn tried on no node, because of ``most_verdicts`` (count)
        self._first, self._snapshot = cluster.start, cluster.snapshot
        self._deployments = {each.key for each in cluster.snapshot.all(Deployment)}
        self._usage = QuotaUsage(cluster)
        # namespace and workload → its next Pod as an API server has stored it, if one was asked
        self.stored: Mapping[tuple[str, WorkloadRef], Pod] = {}
        # whether Pods are created although admission refuses them, and scheduled although they have gates or another
        # scheduler
        self.as_if = False
        self._made: dict[ControllerKey, NextPod | None] = {}
        self._kept: dict[ControllerKey, int] = {}
        self._names = 0
        self._tried = -1
        self._jobs: dict[ControllerKey, None] = {}
        self._outlived: dict[PodKey, tuple[KubernetesObject, ...]] = {}
        self._renewed = {each.as_controller: self._outdated_pods(each) for each in cluster.snapshot.all(DaemonSet)}
        self._outdated: dict[ControllerKey, frozenset[PodKey]] = {}
        self._eager: set[ControllerKey] = set()
        self._stray: list[ReplicaSet] = []
        self._forms: dict[PodKey, tuple[Pod, bytes]] = {}
        self._refused: dict[bytes, tuple[int, ...]] = {}
        self._rooms: dict[PodKey, tuple[str, ...]] = {}
        self._left: dict[PodKey, tuple[int, ...]] = {}
        self.look_again(*WORKLOADS.values())
        for key, pods in cluster.owned.items():
            owner = next((pod.metadata.controller for pod in pods.values()), None)
            if owner is None or not is_absent(owner, key[0], cluster.snapshot):
                self._kept[key] = self._first.active[key]

    @cached_property
    def _makers(self) -> Mapping[tuple[str, WorkloadRef], Sequence[ControllerKey]]:
        """Namespace and topmost owner → the controllers of its first Pods."""
        first, snapshot = self._first, self._snapshot
        return grouped(first.owned, lambda key: (key[0], owner_of(next(iter(first.owned[key].values())), snapshot)))

    def _outdated_pods(self, owner: DaemonSet) -> frozenset[PodKey]:
        """Return the Pods of an older template, whose rollout is under way or waits for another strategy."""
        pods = self.cluster.owned.get(owner.as_controller, {}).values()
        return frozenset(pod.key for pod in pods if is_outdated(pod, owner, self.cluster.snapshot))

    def forget(self, key: ControllerKey) -> None:
        """Make the workload's controller sync with a new template; a Job changes its number of Pods at once."""
        self._made.clear()
        self._eager.add(key)
        self.cluster.dirty[key] = None

    def look_again(self, *structs: type[Workload]) -> None:
        """Make the controllers of these kinds sync, and the scheduler try all waiting Pods."""
        self._made.clear()
        self._tried = -1
        self._stray = [each for each in self.cluster.snapshot.all(ReplicaSet) if each.metadata.controller is None]
        for struct in structs:
            for owner in self.cluster.snapshot.all(struct):
                self.cluster.dirty[owner.as_controller] = None

    def create(self, pod: Pod, sent: Snapshot, former: Snapshot) -> None:
        """Create a Pod without a controller, as the API server completes it in the cluster at that time.

        ``former`` has the limits of quotas that still hold.
        """
        made = completed(replace(pod, status=PodStatus()), (), sent, self.cluster.handle.profile)
        why = str(made.refusals[0]) if made.refusals else self._usage.fault(made.pod, sent, former)
        if why and not self.as_if:
            self.cluster.refused[pod.metadata.namespace, Pod.__name__, pod.metadata.name] = why
        else:
            self._place(replace(made, claims=tuple(claims_of(None, made.pod))), made.pod, 0)

    def renew(self, key: ControllerKey, pods: Collection[PodKey]) -> None:
        """Make the DaemonSet replace these Pods with a new revision, once its strategy is not OnDelete."""
        self._renewed[key] = frozenset(pods)
        self.cluster.dirty[key] = None

    def outdate(self, key: ControllerKey, pods: Collection[PodKey]) -> None:
        """Remember that these Pods have an older template, which their labels do not show."""
        self._outdated[key] = frozenset(pods)

    def leave_others(self, asked: Collection[tuple[str, WorkloadRef]], near: Sequence[AffinityTerm] = ()) -> None:
        """Do not sync other workloads than these (namespace and name), nor try their waiting Pods again.

        ``near``: terms that Pods of these require; Pods that they match are tried.
        """
        self.cluster.dirty.clear()
        snapshot = self.cluster.snapshot
        for pod in self.cluster.waiting.values():
            namespace = pod.metadata.namespace
            needed = near and any(term.matches(pod, snapshot.namespace_labels(namespace)) for term in near)
            if not needed and (namespace, owner_of(pod, snapshot)) not in asked:
                self._left[pod.key] = self._events(pod, self.cluster.handles.of(pod))

    def bind(self) -> None:
        """Run until all Pods that find a node have one; no time passes meanwhile."""
        until = self.turns + MOST_TURNS
        while self.turns < until and (self._sync() or self._schedule()):
            self.turns += 1

    def held_up(self) -> Iterator[tuple[WaitsForReady, StatefulSet]]:
        """Yield the StatefulSets that wait until a Pod is ready, with what they wait for."""
        for (namespace, kind, name), pods in self.cluster.owned.items():
            owner = self.cluster.snapshot.get(StatefulSet, namespace, name) if kind == StatefulSet.__name__ else None
            if owner and (held := statefulset.held_up(owner, tuple(pods.values()))):
                yield WaitsForReady(namespace, WorkloadRef(kind=kind, name=name), held), owner

    def settle(self) -> bool:
        """Run until nothing changes; return whether that state was reached."""
        until = self.turns + MOST_TURNS
        while self.turns < until:
            self.turns += 1
            moved = self._sync()
            if self.cluster.seed % 8 == _GONE_FIRST:
                moved = self._remove_ending() or moved
            moved = self._schedule() or moved
            if not (moved or self._kubelets() or self._back_off()):
                self._usage.count()
                return True
        return False

    # Controllers

    def _sync(self) -> bool:
        before = self.cluster.version
        while self.cluster.dirty:
            keys = sorted(self.cluster.dirty, key=lambda key: self.cluster.order("/".join(key)))
            self.cluster.dirty.clear()
            for key in keys:
                self._sync_one(key)
        return self.cluster.version != before

    def _sync_one(self, key: ControllerKey) -> None:
        self.cluster.refused.pop(key, None)
        owner = self.cluster.snapshot.workload(*key)
        if owner is not None and owner.metadata.deletion_timestamp:
            return  # Its controller only updates its status.
        if owner is not None:
            self._adopt(owner, key)
        match owner:
            case Deployment():
                self._sync_deployment(owner)
            case ReplicaSet() | ReplicationController():
                self._sync_replicas(owner, key)
            case StatefulSet():
                self._sync_stateful_set(owner, key)
            case DaemonSet():
                self._sync_daemon_set(owner, key)
            case Job():
                self._sync_job(owner, key)
            case None if key[1] != "Node":  # A controller that was not read keeps as many Pods as it had.
                missing = self._kept.get(key, 0) - len(active(self._pods_of(key)))
                if missing > 0 and self._kept.get(key):
                    self._create_unread(key, missing)
                    self.cluster.dirty.pop(key, None)

    def _adopt(self, owner: Workload, key: ControllerKey) -> None:
        cluster = self.cluster
        if isinstance(owner, Deployment):
            sets = [each for each in self._stray if each.metadata.namespace == key[0]]
            taken = {each.metadata.name: each for each in adopted(owner, sets)}
            cluster.put(*taken.values())
            self._stray = [each for each in self._stray if each not in sets or each.metadata.name not in taken]
            return
        orphans = cluster.orphans.get(key[0])
        for pod in [*adopted(owner, orphans.values())] if orphans else ():
            cluster.update(pod)

    def _sync_deployment(self, owner: Deployment) -> None:
        cluster = self.cluster
        # Which ReplicaSets it has is not known where they were not read, unless it is new.
        if owner.key in self._deployments and not cluster.snapshot.inventory.has(kinds.REPLICA_SET):
            return
        found = {each.metadata.name: each for each in deployment.replica_sets(owner, cluster.snapshot)}
        if owner.spec.paused and not found:
            return
        newest = deployment.newest_replica_set(owner, cluster.snapshot) if owner.spec.paused else None
        newest = newest or deployment.replica_set_of(owner, cluster.snapshot)
        if newest.metadata.name not in found:
            newest = replace(newest, spec=replace(newest.spec, replicas=0))
            cluster.put(newest)
        by_age = sorted(found.items(), key=lambda item: (item[1].metadata.creation_timestamp or "", item[0]))
        old = [each for name, each in by_age if name != newest.metadata.name]
        wanted = scaled(owner, self._revision(newest), [self._revision(each) for each in old])
        for each in (newest, *old):
            if each.metadata.name in wanted:
                after = resized(each, wanted[each.metadata.name], owner)
                if after != each:
                    cluster.put(after)
                cluster.dirty |= {each.as_controller: None, owner.as_controller: None}

    def _revision(self, replica_set: ReplicaSet) -> Revision:
        pods = self._pods_of(replica_set.as_controller)
        return Revision(
            name=replica_set.metadata.name,
            replicas=replica_set.spec.replicas_wanted,
            available=sum(pod.ready for pod in active(pods)),
            present=sum(not pod.finished for pod in pods),
            scaled_for=deployment.annotated(replica_set, deployment.DESIRED_ANNOTATION),
            most=deployment.annotated(replica_set, deployment.MAX_ANNOTATION),
        )

    def _sync_replicas(self, owner: ReplicaSet | ReplicationController, key: ControllerKey) -> None:
        cluster, parent = self.cluster, owner.metadata.controller
        here = active(self._pods_of(key))
        missing = owner.spec.replicas_wanted - len(here)
        if missing > 0:
            self._create_replicas(key, owner, missing)
        elif missing < 0:
            related = self._siblings(key, parent.name) if parent else here
            self._delete(victims(here, related, number=-missing, moments=cluster.moments, order=cluster.order))
        # Only a Deployment depends on its ReplicaSets; in a file two other objects may own each other.
        if owner.metadata.controller_kind == Deployment.__name__:
            cluster.dirty[owner.metadata.controller_key] = None
        # Its own Pods have changed, but it is in sync with them.
        cluster.dirty.pop(key, None)

    def _siblings(self, key: ControllerKey, parent: str) -> list[Pod]:
        found = self.cluster.snapshot.get(Deployment, key[0], parent)
        sets = deployment.replica_sets(found, self.cluster.snapshot) if found else ()
        names = [each.metadata.name for each in sets] if found else [key[2]]
        return [pod for name in names for pod in self._pods_of((*key[:2], name))]

    def _create_replicas(self, key: ControllerKey, owner: Workload | None, number: int) -> None:
        found = self._made.get(key)
        if key not in self._made or (found and found.refusals):  # A refused Pod is made again each time.
            parent = owner.metadata.controller if owner else None
            top = self.cluster.snapshot.get(Deployment, key[0], parent.name) if parent else None
            # Each ReplicaSet creates Pods of its own template.
            if top is not None and deployment.maker_of(top, self.cluster.snapshot).metadata.name != key[2]:
                top = None
            self._made[key] = self._next_of(top or owner, key)
        made = self._check_admission(key, self._made[key])
        if made is None:
            return
        for count in range(number):
            if not self._create(made, self._named(made.pod, key[2]), count):
                return

    def _create_unread(self, key: ControllerKey, number: int) -> None:
        """Create missing Pods of a controller that was not read; those with claims of their own under the same name."""
        before = [pod for pod in self._first.owned.get(key, {}).values() if not pod.finished]
        named = [pod for pod in before if has_own_claim(pod, before)]
        if not named:
            self._create_replicas(key, None, number)
        gone = [pod for pod in named if pod.key not in self.cluster.pods]
        for count, pod in enumerate(gone[:number]):
            again = like(pod, pod.metadata.name)
            self._create(NextPod(pod=again, comes=True, claims=tuple(ephemeral_claims(again))), again, count)

    def _check_admission(self, key: ControllerKey, made: NextPod | None) -> NextPod | None:
        """Return the Pod if the API server admits it; otherwise None, and remember why."""
        refusals = [each for each in made.refusals if not (self.as_if and each.by_policy)] if made else []
        if made is None or refusals:
            self.cluster.refused[key] = str(refusals[0]) if refusals else ""
            return None
        return made

    def _named(self, pod: Pod, base: str) -> Pod:
        while True:
            self._names += 1
            named = renamed(pod, f"{base}-{self._names:05d}")
            if named.key not in self.cluster.pods:
                return named

    def _create(self, made: NextPod, pod: Pod, number: int) -> bool:
        """Create the Pod with its claims, unless its name is taken or a quota refuses it; return whether it exists."""
        now, fault = self.cluster.snapshot, NAME_TAKEN.format(pod.metadata.name) if pod.key in self.cluster.pods else ""
        if fault := fault or ("" if self.as_if else self._usage.fault(pod, now, now)):
            self.cluster.refused[_maker(pod)] = fault
            return False
        self._place(made, pod, number)
        return True

    def _place(self, made: NextPod, pod: Pod, number: int) -> None:
        if pod.key != made.pod.key:
            # The claim of an ephemeral volume is named after its Pod.
            others = {claim.metadata.name for claim in ephemeral_claims(made.pod)}
            kept = (claim for claim in made.claims if claim.metadata.name not in others)
            made = replace(made, claims=(*kept, *ephemeral_claims(pod)))
        self.cluster.handles = self.cluster.handles.each(made.place)
        if pod.spec.node_name:
            self.cluster.first_tried.setdefault(_maker(pod), (pod, self.cluster.handles.of(pod)))
        self.cluster.make(pod, number=number)

    def _next_of(self, owner: Workload | None, key: ControllerKey, ordinal: int | None = None) -> NextPod | None:
        kind, name = (type(owner).__name__, owner.metadata.name) if owner else key[1:]
        ref = WorkloadRef(kind=kind, name=name)
        self._usage.count(key[0])
        outdated = self._outdated.get(key, frozenset())
        pods = tuple(pod for pod in self._living(key) if pod.key not in outdated)
        workload = OwnedPods(key[0], ref, owner, pods)
        snapshot = self.cluster.snapshot
        if ordinal is not None:  # A Pod of that name may be deleted since.
            snapshot = self.cluster.with_pods(self.cluster.pods)
        top = owner_of(owner, snapshot) if owner else ref
        first = (self._first.owned[each].values() for each in self._makers.get((key[0], top), ()))
        former = sorted(chain.from_iterable(first), key=lambda pod: self._first.places[pod.key])
        made = next_pod(workload, snapshot, self.cluster.handle.profile, ordinal=ordinal, former=former)
        stored = self.stored.get((key[0], ref))
        return replace(made, pod=replace(made.pod, spec=stored.spec)) if made and stored else made

    def _sync_stateful_set(self, owner: StatefulSet, key: ControllerKey) -> None:
        for name in [name for name in self._outlived if name not in self.cluster.pods]:
            self.cluster.drop(*self._outlived.pop(name))
        release = self.cluster.handle.profile.release
        todo = statefulset.work(owner, self._pods_of(key), release)
        refused_in = None
        for number, ordinal in enumerate(todo.makes):
            # 1, 2, 4 and so on are created together. Source: stateful_set_control.go runForAll, slowStartBatch (v1.36).
            batch = (ordinal - owner.spec.ordinals.start + 1).bit_length()
            if refused_in not in {None, batch}:
                return
            made = self._check_admission(key, self._next_of(owner, key, ordinal))
            if made is None or not self._create(made, made.pod, number):
                refused_in = batch
        for pod in todo.deletes:
            if storage := statefulset.deleted_with(owner, pod, self.cluster.snapshot):
                self._outlived[pod.key] = storage
            self.cluster.delete(pod)

    def _sync_daemon_set(self, owner: DaemonSet, key: ControllerKey) -> None:
        """Delete unwanted Pods, then create missing ones, then continue the rollout.

        Source: kube-controller-manager daemon/daemon_controller.go manage, update.go rollingUpdate (v1.36).
        """
        by_hand = owner.spec.update_strategy.type == ON_DELETE
        here, renewed = self._living(key), frozenset() if by_hand else self._renewed.get(key, frozenset())
        surge = surge_of(owner, len({daemonset.place_of(pod) for pod in here}))
        without = daemonset.nodes_without_pod(owner, self.cluster.handle)
        unwanted = [pod for pod in here if self._is_unwanted(pod, without)]
        if unwanted := unwanted or [*daemonset.surplus(here, renewed, surges=surge > 0)]:
            self.cluster.delete(*unwanted)
            return
        served = {daemonset.place_of(pod) for pod in here}
        if self._create_on_nodes(owner, key, [name for name in self.cluster.nodes if name not in served | without]):
            self.cluster.dirty.pop(key, None)
            return
        old = sorted((p for p in here if p.key in renewed and not p.terminating), key=lambda pod: pod.key)
        if old and surge:
            self._surge_on_nodes(owner, key, old, surge)
        elif old:
            self.cluster.delete(*daemonset.replaced(here, renewed, most=unavailable_of(owner, len(served))))

    def _is_unwanted(self, pod: Pod, without: Container[str]) -> bool:
        """Source: kube-controller-manager daemon/daemon_controller.go getUnscheduledPodsWithoutNode (v1.36)."""
        place = daemonset.place_of(pod)
        waits_in_vain = not pod.spec.node_name and place not in self.cluster.nodes
        return bool(place) and not pod.terminating and (place in without or waits_in_vain)

    def _create_on_nodes(self, owner: DaemonSet, key: ControllerKey, names: Sequence[str]) -> bool:
        """Return whether any of these nodes should have a Pod."""
        made = self._next_of(owner, key) if names else None
        if made is None:
            return False
        wanting = daemonset.nodes_with_pod(cycle.evaluate(daemonset.unpinned(made.pod), self.cluster.handle))
        chosen = [name for name in names if name in wanting]
        if chosen and self._check_admission(key, made) is None:
            return True  # The controller stops at the error, and deletes no Pod to replace it.
        for number, name in enumerate(chosen):
            pod = daemonset.pinned_to(daemonset.unpinned(made.pod), name)
            self._create(made, self._named(pod, key[2]), number)
        return bool(chosen)

    def _surge_on_nodes(self, owner: DaemonSet, key: ControllerKey, old: Sequence[Pod], surge: int) -> None:
        """Create new Pods beside ready old ones, on at most ``surge`` nodes at a time (count)."""
        renewed = self._renewed[key]
        new = {daemonset.place_of(pod): pod.ready for pod in self._living(key) if pod.key not in renewed}
        alone = [pod for pod in old if daemonset.place_of(pod) not in new]
        ready = [pod for pod in alone if pod.ready]
        chosen = [*ready[: max(surge - list(new.values()).count(False), 0)], *(pod for pod in alone if not pod.ready)]
        if self._create_on_nodes(owner, key, [daemonset.place_of(pod) for pod in chosen]):
            self.cluster.dirty.pop(key, None)

    def _sync_job(self, owner: Job, key: ControllerKey) -> None:
        after, failure = self._with_failed(owner, key)
        if failure is not None:
            self.failed_jobs.append(JobFailed(key[0], key[2], failure))
            self.cluster.put(after)
            self.cluster.delete(*active(self._pods_of(key)))
        elif key in self._eager:
            here = active(self._pods_of(key))
            self._delete(job.surplus(after, here, moments=self.cluster.moments, order=self.cluster.order))
            self._create_job_pods(key)
        self._jobs[key] = None

    def _with_failed(self, owner: Job, key: ControllerKey) -> tuple[Job, job.JobFailure | None]:
        touched = (pod for pod in self.cluster.touched.values() if not pod.finished)
        mine = (pod for pod in touched if pod.metadata.controller_key == key)
        return job.with_failed(owner, [pod for pod in mine if self._has_failed(pod, owner)])

    def _has_failed(self, pod: Pod, owner: Job) -> bool:
        """Whether a touched Pod of the Job has failed since the start."""
        if job.replaces_failed(owner):
            return pod.key not in self.cluster.pods
        return not self._was_terminating(pod) and (pod.terminating or pod.key not in self.cluster.pods)

    def _was_terminating(self, pod: Pod) -> bool:
        return pod.key in self._first.pods and self._first.pods[pod.key].terminating

    def _back_off(self) -> bool:
        """Source: kube-controller-manager replicaset/replica_set.go processNextWorkItem, AddRateLimited (v1.36)."""
        before = self.cluster.version
        self.cluster.dirty.update(dict.fromkeys(key for key in self.cluster.refused if key[1] != Pod.__name__))
        self._sync()
        keys, self._jobs = list(self._jobs), {}
        for key in keys:
            self._create_job_pods(key)
        return self.cluster.version != before

    def _create_job_pods(self, key: ControllerKey) -> None:
        live = self.cluster.snapshot.get(Job, key[0], key[2])
        owner = self._with_failed(live, key)[0] if live else None
        while owner is not None and job.wants_more(owner, self._living(key)):
            made = self._check_admission(key, self._next_of(owner, key))
            if made is None:
                break
            own = job.is_indexed(owner.spec) and made.pod.key not in self.cluster.pods
            base = made.pod.metadata.name.rpartition("-")[0] if job.is_indexed(owner.spec) else key[2]
            if not self._create(made, made.pod if own else self._named(made.pod, base), 0):
                break

    def _pods_of(self, key: ControllerKey) -> tuple[Pod, ...]:
        return tuple(self.cluster.owned.get(key, {}).values())

    def _living(self, key: ControllerKey) -> tuple[Pod, ...]:
        return tuple(pod for pod in self._pods_of(key) if not pod.finished)

    def _delete(self, chosen: Victims) -> None:
        self.cluster.chance.free |= chosen.free
        self.cluster.delete(*chosen.pods)

    # The scheduler

    def _schedule(self) -> bool:
        """Schedule the waiting Pods one after another; return whether anything changed."""
        cluster, moved = self.cluster, False
        if cluster.version == self._tried:
            return False
        self.untried = 0
        bound, left = set[tuple[ControllerKey, int]](), set[tuple[ControllerKey, int]]()
        for pod in self._queue():
            handle = self.cluster.handles.of(pod)
            if not self.as_if and (not handle.profile.serves(pod) or pod.spec.scheduling_gates):
                continue
            # The scheduler treats Pods of equal forms alike.
            known = self._forms.get(pod.key)
            if known is None or known[0] is not pod:
                form = msgspec.json.encode((pod.metadata.namespace, pod.metadata.labels, pod.spec, pod.status))
                known = self._forms[pod.key] = pod, form
            alike, hopes = known[1], self._all_events(pod, handle)
            if self._refused.get(alike) == hopes or self._left.get(pod.key) == self._events(pod, handle):
                continue
            if cluster.verdicts >= self._most_verdicts:
                self.untried += 1
            elif self._schedule_one(pod, handle):
                moved = True
                bound.add((_maker(pod), priority_of(pod)))
            else:
                self._refused[alike] = self._all_events(pod, handle)
                left.add((_maker(pod), priority_of(pod)))
        # Which of equal priority is tried first depends on when each was tried last.
        cluster.chance.free |= any(maker != other for maker, rank in bound for other, same in left if rank == same)
        self._tried = cluster.version
        return moved

    def _all_events(self, pod: Pod, handle: Handle) -> tuple[int, ...]:
        """Return a value that changes with everything that may make the Pod schedulable."""
        cluster, spec = self.cluster, pod.spec
        claims = spec.resource_claims or any(volume.claims for volume in spec.volumes)
        if claims or (spec.priority or 0) > cluster.lowest_priority:
            return (cluster.version,)
        return self._events(pod, handle)

    def _events(self, pod: Pod, handle: Handle) -> tuple[int, ...]:
        """Return a value that changes with everything but volumes, devices and Pods to preempt.

        Source: kube-scheduler's queueing hints, EventsToRegister of each plugin (v1.36).
        """
        cluster, spec = self.cluster, pod.spec
        near = spec.affinity is not None and spec.affinity.pod_affinity is not None
        spreads = bool(spec.topology_spread_constraints or handle.profile.default_constraints)
        of_namespace = cluster.moves[pod.metadata.namespace] if spreads else 0
        return cluster.loosened, of_namespace, cluster.moves.total() if near else 0

    def _queue(self) -> list[Pod]:
        waiting = self.cluster.in_order(self.cluster.waiting.values())
        interleaved = self.cluster.seed % 2 == 1

        def turn(pod: Pod) -> tuple[object, ...]:
            born, number = self.cluster.born.get(pod.key, (-1, 0))
            owner = pod.metadata.controller
            ranked = self.cluster.order(owner.name if owner else pod.metadata.name)
            return -(pod.spec.priority or 0), born, *((number, ranked) if interleaved else (ranked, number))

        return sorted(waiting, key=turn)

    def _schedule_one(self, pod: Pod, handle: Handle) -> bool:
        """Bind the Pod to a node, or preempt Pods for it; return whether either was done."""
        cluster = self.cluster
        cluster.verdicts += len(handle.node_infos)
        best = cycle.best_nodes(pod, handle, cluster.chance.sample)
        if not best:
            return self._preempt(pod, handle)
        node = cluster.chance.choose(best, cluster.nodes)
        cluster.first_tried.setdefault(_maker(pod), (pod, handle))
        cluster.best.pop(pod.key, None)
        cluster.best[pod.key] = self._rooms.pop(pod.key, best)
        storage = storage_bound_on(pod, node, handle)
        cluster.bind(pod, node)
        if storage:
            cluster.put(*storage)
        return True

    def _preempt(self, pod: Pod, handle: Handle) -> bool:
        if self.cluster.lowest_priority >= priority_of(pod) or not outranks_any(pod, handle):
            return False
        from kubectl_spread.scheduler.preemption import preempt  # Most Pods find a node.

        self.cluster.verdicts += PREEMPTING * len(handle.node_infos)
        found = preempt(cycle.evaluate(pod, handle), handle) if handle.profile.serves(pod) else None
        if found is None:
            return False
        self.cluster.first_tried.setdefault(_maker(pod), (pod, handle))
        by_node = {candidate.node_name: candidate.deletions for candidate in found.best}
        self._rooms[pod.key] = tuple(by_node)
        chosen = by_node.pop(self.cluster.chance.choose(by_node, self.cluster.nodes))
        self.cluster.spared[pod.key] = tuple(victim for each in by_node.values() for victim in each.victims)
        self.cluster.violations[pod.key] = chosen.violations
        self.cluster.preempt(chosen, pod)
        return True

    # Kubelets

    def _remove_ending(self) -> bool:
        """Remove the Pods deleted since the start on nodes that answer, before time passes; return whether any was."""
        answering = (pods.values() for name, pods in self.cluster.restless.items() if name not in self.cluster.lost)
        going = (pod for pods in answering for pod in pods if pod.terminating)
        ending = self.cluster.in_order(pod for pod in going if not self._was_terminating(pod))
        for pod in ending:
            self.cluster.remove(pod)
        return bool(ending)

    def _kubelets(self) -> bool:
        """Remove terminating Pods, and make started ones ready; return whether there were any.

        Some orders do this for one Pod at a time, so that a rollout goes on before all Pods are ready.
        """
        cluster = self.cluster
        answering = (pods.values() for name, pods in cluster.restless.items() if name not in cluster.lost)
        there = (pod for name in cluster.lost for pod in cluster.restless[name].values())
        gone = (pod for pod in there if pod.terminating and not cluster.is_stuck(pod))
        changing = cluster.in_order((*(pod for pods in answering for pod in pods), *gone))
        if not changing:
            return False
        if cluster.seed % 4 in _ONE_BY_ONE:
            changing = [min(changing, key=lambda pod: cluster.order(pod.metadata.name))]
        cluster.pass_time()
        for pod in changing:
            if pod.terminating:
                cluster.remove(pod)
            else:
                cluster.set_ready(pod, ready=True)
        return True

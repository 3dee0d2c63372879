"""The outcome of each applied workload, in several orders of chance.

The simulation has one step that applies all manifests; this module observes their workloads.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.controllers import daemonset
from kubectl_spread.controllers.replicaset import active
from kubectl_spread.controllers.rollout_plan import DesiredWorkload
from kubectl_spread.controllers.workloads import PodName, WorkloadRef, belongs_to, revision_of
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.meta import KubernetesObject, grouped
from kubectl_spread.objects.workloads import JOB_NAME_LABELS, CronJob, DaemonSet, Deployment
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle, Handles
from kubectl_spread.scheduler.podtopologyspread import DomainCounts, count_all, parsable_constraints
from kubectl_spread.simulation.cluster_state import ClusterState
from kubectl_spread.simulation.control_loop import UNLIMITED
from kubectl_spread.simulation.outcomes import simulate
from kubectl_spread.simulation.placement import DomainRange, Jam, Placement, Violation
from kubectl_spread.simulation.steps import Step, Verb

MOST_WORK = 100_000  # Changes times nodes (count) after which no other order is started: about a second


class AppliedWorkload(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one workload once nothing changes."""

    # one for each of its new Pods, and of those that waited, with a node, in order
    placements: tuple[Placement, ...] = ()
    jam: Jam | None = None  # the first replica that found no node; None if all did
    handle: Handle  # the cluster with these Pods, and without the preempted ones
    waiting: tuple[Pod, ...] = ()  # the replicas without a node
    sampled: bool = False  # whether the scheduler scored only some of the feasible nodes for one of them
    # (its first Pod that found a node or room, the cluster then); None if none did
    first: tuple[Pod, Handle] | None = None
    came: tuple[Pod, ...] = ()  # the Pods that it has created
    gone: int = 0  # its Pods that existed before, were not being deleted yet, and were deleted (count)
    waiting_before: int = 0  # its waiting Pods of older revisions (count)
    refused: str = ""  # why the API server refuses its next Pod; empty if it does not


class AppliedOutcomes(msgspec.Struct, frozen=True):
    """The outcome of one workload in each order of chance; the first order goes by name.

    ``untried``: why Pods of its namespace are refused, where other orders, which may refuse others, were not simulated.
    """

    orders: tuple[AppliedWorkload, ...]
    untried: str = ""

    @property
    def first(self) -> AppliedWorkload:
        """The outcome in the first order."""
        return self.orders[0]

    @property
    def refused(self) -> str:
        """Why the API server refuses Pods in every order; empty if it may not."""
        return "" if self.untried or not all(each.refused for each in self.orders) else self.first.refused

    @property
    def refused_by_chance(self) -> str:
        """Why the API server refuses Pods in some orders, if it depends on the order how many; otherwise empty."""
        same = len({(bool(each.refused), len(each.came)) for each in self.orders}) == 1
        return self.untried or next((each.refused for each in self.orders if each.refused and not same), "")

    @property
    def jammed(self) -> AppliedWorkload | None:
        """The outcome with the earliest jam; None if all replicas find a node in every order."""
        return min((each for each in self.orders if each.jam), key=lambda each: len(each.placements), default=None)

    @property
    def jam(self) -> Jam | None:
        """The earliest jam, with the latest replica that it may be; None if there is none in any order."""
        jams = sorted((each.jam for each in self.orders if each.jam), key=lambda jam: jam.replica)
        if not jams:
            return None
        latest: int | UnsetType | None = UNSET
        if len(jams) < len(self.orders):
            latest = None
        elif jams[-1].replica > jams[0].replica:
            latest = jams[-1].replica
        return replace(jams[0], replica_max=latest)

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """The nodes that replicas get in other orders only, and not because nodes tie in the first."""
        known = {name for each in self.first.placements for name in (each.node, *each.ties)}
        return tuple(sorted({each.node for order in self.orders for each in order.placements} - known))

    def ranges(self, pod: Pod) -> Iterator[DomainRange]:
        """Yield the domains of the Pod's constraints whose counts differ between the orders."""
        for index, counted in self._counts(pod).items() if len(self.orders) > 1 else ():
            for value in sorted(counted[0].match_num):
                seen = {each.match_num[value] for each in counted if value in each.match_num}
                if len(seen) > 1:
                    yield DomainRange(constraint=index, value=value, minimum=min(seen), maximum=max(seen))

    def violations(self, pod: Pod) -> Iterator[Violation]:
        """Yield the Pod's hard constraints whose skew exceeds maxSkew in some order."""
        for index, counted in self._counts(pod).items():
            constraint = counted[0].constraint
            skews = [max(each.match_num.values(), default=0) - each.global_minimum for each in counted]
            if len(counted) == len(self.orders) and constraint.hard and max(skews) > constraint.max_skew:
                by_chance = min(skews) <= constraint.max_skew
                yield Violation(constraint=index, skew=max(skews), by_chance=by_chance)

    def _counts(self, pod: Pod) -> Mapping[int, Sequence[DomainCounts]]:
        """Return index → the counts of the Pod's constraint in each order that has it.

        A ReplicaSet that an order deletes gives its Pods no default constraints there.
        """
        each = (count_all(parsable_constraints(pod, one.handle), pod, one.handle) for one in self.orders)
        return grouped(chain.from_iterable(each), lambda counts: counts.constraint.index)


def applied(
    wanted: Sequence[DesiredWorkload],
    objects: Sequence[KubernetesObject],
    handles: Handles,
    *,
    stored: Mapping[tuple[str, WorkloadRef], Pod],
    as_if: bool = False,
) -> tuple[AppliedOutcomes, ...]:
    """Return the outcome of each workload.

    ``objects`` are applied in the order of the files, merged with the existing ones. ``stored``: namespace and workload
    → its Pod as an API server has stored it, if one was asked. ``as_if``: whether Pods are created although admission
    refuses them, and scheduled although they have gates or another scheduler.
    """
    step = Step(Verb.APPLY, "", merged=tuple(objects), stored=stored, as_if=as_if, alone=True)
    ending = grouped(
        (pod for pods in handles.snapshot.assigned.values() for pod in pods if pod.terminating),
        lambda pod: pod.spec.node_name,
    )

    def look(cluster: ClusterState, number: int) -> tuple[AppliedWorkload, ...]:
        settled = cluster.settled() if number else cluster.handles
        return tuple(_observe(each, cluster, settled, ending) for each in wanted) if number else ()

    orders = simulate(handles, [step], look, most_verdicts=UNLIMITED, most_work=MOST_WORK).after(0)
    seen = [*zip(*(order.seen for order in orders), strict=True)]
    if len(orders) > 1 or len(wanted) == 1:
        return tuple(map(AppliedOutcomes, seen))
    where = [each.pod.metadata.namespace for each in wanted]
    several = {namespace for namespace in where if where.count(namespace) > 1}
    why = {at: each.refused for at, (each,) in zip(where, seen, strict=True) if each.refused and at in several}
    return tuple(AppliedOutcomes(each, why.get(namespace, "")) for namespace, each in zip(where, seen, strict=True))


def _observe(
    wanted: DesiredWorkload, cluster: ClusterState, settled: Handles, ending: Mapping[str, Sequence[Pod]]
) -> AppliedWorkload:
    handle = settled.of(wanted.pod)
    living = _active_pods(wanted, cluster)
    own = [pod for pod in living if _is_newest(pod, wanted)]
    turns = {key: number for number, key in enumerate(cluster.best)}
    now = [pod for pod in own if pod.key in cluster.born or not pod.spec.node_name]
    placed = (pod for pod in now if pod.spec.node_name in cluster.nodes)
    bound = tuple(sorted(placed, key=lambda pod: turns.get(pod.key, -1)))
    waiting = tuple(cluster.in_order(pod for pod in now if pod.waits))
    staying = sum(bool(pod.spec.node_name) and pod.key not in cluster.born for pod in own)
    before = 0 if isinstance(wanted.owner, DaemonSet) else staying
    gone_from = {name: [pod for pod in ending[name] if pod.key not in cluster.pods] for name in ending}
    placements = tuple(
        replace(_placement(number, pod, cluster), once_gone=_once_gone(pod, gone_from.get(pod.spec.node_name), handle))
        for number, pod in enumerate(bound, start=before + 1)
    )
    ended = {pod.key for pods in ending.values() for pod in pods}
    there = (pod for key, pod in cluster.touched.items() if key not in cluster.born and key not in ended)
    old = (pod for pod in there if pod.key not in cluster.pods)
    gone = (pod for pod in old if pod.metadata.namespace == wanted.pod.metadata.namespace)
    pinned = map(daemonset.pinned_node, waiting) if isinstance(wanted.owner, DaemonSet) else ()
    message = cycle.evaluate(waiting[0], handle).message if waiting else ""
    return AppliedWorkload(
        placements=placements,
        jam=Jam(replica=before + len(bound) + 1, message=message, nodes=tuple(pinned)) if waiting else None,
        handle=handle,
        waiting=waiting,
        sampled=cluster.chance.sampled,
        first=_first_tried(wanted, cluster),
        came=tuple(pod for pod in now if cluster.born.get(pod.key, (-1, 0))[0] >= 0),
        gone=sum(belongs_to(pod, wanted.ref, cluster.snapshot) for pod in gone),
        waiting_before=sum(pod.waits for pod in living if not _is_newest(pod, wanted)),
        refused=next(_refusals(wanted, cluster), ""),
    )


def _placement(number: int, pod: Pod, cluster: ClusterState) -> Placement:
    node_name, best = pod.spec.node_name, cluster.best.get(pod.key, ())
    return Placement(
        replica=number,
        node=node_name,
        ties=tuple(name for name in best if name != node_name),
        preempts=tuple(map(PodName.of, cluster.preempted_for.get(pod.key, ()))) or UNSET,
        pdb_violations=cluster.violations.get(pod.key, 0) or UNSET,
        preempts_instead=tuple(map(PodName.of, cluster.spared.get(pod.key, ()))) or UNSET,
    )


def _once_gone(pod: Pod, gone: Sequence[Pod] | None, handle: Handle) -> tuple[PodName, ...] | UnsetType:
    """Return the Pods that are gone from the Pod's node, if it has no place beside them."""
    name = pod.spec.node_name
    if not gone or name not in handle.snapshot.assigned:
        return UNSET
    waiting = replace(pod, spec=replace(pod.spec, node_name=""))
    after = handle.without_pod(pod)
    before = reduce(lambda earlier, each: earlier.with_assigned(each, name), gone, after)
    opened = name in cycle.feasible_nodes(waiting, after) and name not in cycle.feasible_nodes(waiting, before)
    return tuple(map(PodName.of, gone)) if opened else UNSET


def _active_pods(wanted: DesiredWorkload, cluster: ClusterState) -> Sequence[Pod]:
    namespace = wanted.pod.metadata.namespace
    if wanted.owner is None and wanted.ref.kind == Pod.__name__:
        names = [wanted.replica(number).key for number in range(1, wanted.replicas + 1)]
        found = [cluster.pods[key] for key in names if key in cluster.pods]
    else:
        there = [pods for key, pods in cluster.owned.items() if key[0] == namespace and pods]
        own = (pods for pods in there if belongs_to(next(iter(pods.values())), wanted.ref, cluster.snapshot))
        found = [pod for pods in own for pod in pods.values()]
    return active(found)


def _is_newest(pod: Pod, wanted: DesiredWorkload) -> bool:
    """Whether the Pod is of the newest revision or run, as far as its labels show."""
    if isinstance(wanted.owner, CronJob):
        run = JOB_NAME_LABELS[-1]
        return pod.metadata.labels.get(run) == wanted.pod.metadata.labels.get(run)
    return not isinstance(wanted.owner, Deployment) or revision_of(pod) == revision_of(wanted.pod)


def _first_tried(wanted: DesiredWorkload, cluster: ClusterState) -> tuple[Pod, Handle] | None:
    names = {wanted.replica(number).key for number in range(1, wanted.replicas + 1)} if wanted.owner is None else ()
    for pod, handle in cluster.first_tried.values():
        if pod.metadata.namespace != wanted.pod.metadata.namespace or not _is_newest(pod, wanted):
            continue
        if pod.key in names or belongs_to(pod, wanted.ref, cluster.snapshot):
            return pod, handle
    return None


def _refusals(wanted: DesiredWorkload, cluster: ClusterState) -> Iterator[str]:
    for (namespace, kind, name), why in cluster.refused.items():
        owner = cluster.snapshot.workload(namespace, kind, name)
        ref = WorkloadRef(kind=kind, name=name)
        own = belongs_to(owner, wanted.ref, cluster.snapshot) if owner else wanted.ref == ref
        if own and namespace == wanted.pod.metadata.namespace:
            yield why

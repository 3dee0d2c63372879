"""Small clusters, and what trying every order of evictions finds there: nothing is told from counts or left out.

It shares nothing with the search but the scheduler: what lies where is counted anew after each eviction.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from msgspec.structs import replace

from kubectl_spread.controllers.next_pod import replacement
from kubectl_spread.controllers.workloads import owner_of, workloads
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import count_all, parsable_constraints
from tests.build import HOSTNAME, ZONE, Object, app, node, spread
from tests.rebalance.lying import web

Excess: TypeAlias = Mapping[tuple[str, str, int], int]  # Workload and constraint's index → Pods beyond maxSkew
Placed: TypeAlias = frozenset[tuple[str, str]]  # Pods that have come in place of others, and their nodes
State: TypeAlias = tuple[frozenset[str], Mapping[Placed, Handle]]  # Who has gone, and every outcome of that


SMALL = 6  # Nodes (count) up to which there are no more than three zones


def excess(handle: Handle) -> Excess:
    """Return by how much each hard constraint is exceeded."""
    found = {}
    for workload in workloads(handle.snapshot):
        pods = [pod for pods in handle.snapshot.assigned.values() for pod in pods]
        mine = [pod for pod in pods if owner_of(pod, handle.snapshot) == workload.ref]
        for counts in count_all(parsable_constraints(mine[0], handle), mine[0], handle) if mine else ():
            most = max(counts.match_num.values(), default=counts.global_minimum)
            beyond = most - counts.global_minimum - counts.constraint.max_skew
            found[workload.namespace, str(workload.ref), counts.constraint.index] = max(0, beyond)
    return found


def worst(handles: Sequence[Handle]) -> Excess:
    """Return the worst of each constraint in any of the outcomes."""
    each = [excess(handle) for handle in handles]
    return {key: max(found[key] for found in each) for key in each[0]}


def after(pod: Pod, before: Mapping[Placed, Handle]) -> Mapping[Placed, Handle] | None:
    """Return every outcome of an eviction; None where a Pod may be left without a node."""
    found: dict[Placed, Handle] = {}
    for placed, handle in before.items():
        again = replacement(pod, handle.snapshot, handle.profile).pod
        gone = handle.without_pod(pod)
        best = cycle.best_nodes(again, gone)
        if not best:
            return None
        for name in best:
            found[placed | {(again.metadata.name, name)}] = gone.with_assigned(again, name)
    return found


def fewest(handle: Handle, *, most_states: int) -> tuple[int, int] | None:
    """Return (Pods beyond maxSkew, evictions) of the best plan; None where there is too much to try.

    Args:
        handle: the cluster.
        most_states: the states (count) after which it is given up.
    """
    start = excess(handle)
    pods = [pod for pods in handle.snapshot.assigned.values() for pod in pods]
    best, states = (sum(start.values()), 0), 0
    layer: dict[object, State] = {None: (frozenset(), {frozenset[tuple[str, str]](): handle})}
    for evictions in range(1, len(pods) + 1):
        if best[0] == 0:
            return best
        following: dict[object, State] = {}
        for gone, pod, outcomes in _moves(layer.values(), pods):
            states += 1
            if states > most_states:
                return None
            if found := after(pod, outcomes):
                evicted = gone | {pod.metadata.name}
                following[evicted, frozenset(found)] = evicted, found
        for _, outcomes in following.values():
            ends = worst(list(outcomes.values()))
            if all(ends[key] <= start[key] for key in ends):
                best = min(best, (sum(ends.values()), evictions))
        layer = following
    return best


def restoring_at_once(handle: Handle, *, most: int) -> Iterator[Sequence[str]]:
    """Yield the sets of at most so many Pods (count) whose eviction at once restores all, whatever the ties."""
    pods = [pod for pods in handle.snapshot.assigned.values() for pod in pods]
    for chosen in (chosen for number in range(1, most + 1) for chosen in combinations(pods, number)):
        gone = handle
        for pod in chosen:
            gone = gone.without_pod(pod)
        again = [replacement(pod, handle.snapshot, handle.profile).pod for pod in chosen]
        named = [replace(each, metadata=replace(each.metadata, name=f"again-{at}")) for at, each in enumerate(again)]
        ends = [*_placed(named, gone)]
        if None not in ends and not any(any(excess(end).values()) for end in ends if end):
            yield [pod.metadata.name for pod in chosen]


def _placed(waiting: Sequence[Pod], handle: Handle) -> Iterator[Handle | None]:
    """Yield every outcome of placing these in turn, and again those that found no node; None where one finds none."""
    if not waiting:
        yield handle
        return
    for at, pod in enumerate(waiting):
        if best := cycle.best_nodes(pod, handle):
            rest = [*waiting[at + 1 :], *waiting[:at]]
            yield from (end for name in best for end in _placed(rest, handle.with_assigned(pod, name)))
            return
    yield None


def _moves(
    layer: Iterable[State], pods: Sequence[Pod]
) -> Iterator[tuple[frozenset[str], Pod, Mapping[Placed, Handle]]]:
    """Yield (who has gone, who goes next, the outcomes before that)."""
    return ((gone, pod, outcomes) for gone, outcomes in layer for pod in pods if pod.metadata.name not in gone)


KEYS = ((ZONE,), (ZONE,), (HOSTNAME,), (ZONE, HOSTNAME), (HOSTNAME, ZONE))  # What workloads are spread by


def cluster(
    seed: int, *, most_nodes: int = 6, most_pods: int = 6, is_roomy: bool = False, keys: Sequence[Sequence[str]] = KEYS
) -> list[Object]:
    """Return a cluster in which Pods lie as chance has it, of one or two workloads of at most so many Pods (count).

    Args:
        seed: what is drawn by.
        most_nodes: the nodes there are at most (count).
        most_pods: the Pods of a workload there are at most (count).
        is_roomy: whether workloads that do not count each other have room enough for both.
        keys: what workloads are spread by, one of these.
    """
    chance = random.Random(seed)  # noqa: S311 - drawn to test with, not to keep a secret
    zones = "abcd"[: chance.randint(2, 3 if most_nodes <= SMALL else 4)]
    names = [f"{zones[number % len(zones)]}{number}" for number in range(chance.randint(2, most_nodes))]
    company = chance.choice(("", "", "", "shared", "apart"))
    objects = [_node(name, chance, is_roomy=is_roomy and company == "apart") for name in names]
    for number in range(2 if company else 1):
        objects += _workload(f"web{number}", names, chance, most_pods, keys, shared=company == "shared")
    return objects


def _node(name: str, chance: random.Random, *, is_roomy: bool) -> Object:
    """Return a node, now and then tainted or small."""
    taints = ["dedicated=gpu:NoSchedule"] if chance.random() < 0.12 else []
    cpu = "64" if is_roomy else chance.choice(("8", "8", "8", "3", "2"))
    return node(name, zone=name[0], taints=taints, allocatable={"cpu": cpu})


def _workload(
    name: str,
    nodes: Sequence[str],
    chance: random.Random,
    most_pods: int,
    keys: Sequence[Sequence[str]],
    *,
    shared: bool,
) -> Iterator[Object]:
    """Yield a ReplicaSet and its Pods, a few of them on each of some nodes."""
    selected = "web0" if shared else name
    on: dict[str, int] = {}
    for at in chance.choices(nodes, [chance.random() ** 2 for _ in nodes], k=chance.randint(2, most_pods)):
        on[at] = on.get(at, 0) + 1
    constraints = [
        spread(key, selector=app(selected), maxSkew=chance.choice((1, 1, 1, 2)), **_policies(chance))
        for key in chance.choice(keys)
    ]
    requests = {"cpu": chance.choice(("100m", "500m", "1"))}
    yield from web(on, *constraints, name=name, labels={"app": selected, "set": name}, requests=requests)


def _policies(chance: random.Random) -> Object:
    """Return what a constraint may say besides."""
    taints = {"nodeTaintsPolicy": "Honor"} if chance.random() < 0.2 else {}
    return {**taints, "minDomains": chance.randint(2, 3)} if chance.random() < 0.15 else taints

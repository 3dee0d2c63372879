"""Workloads that lie unevenly: what the descheduler's tests are about, as situations with owners, and drawn ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from tests.build import HOSTNAME, ZONE, Object, app, node, spread
from tests.rebalance.brute_force import cluster
from tests.rebalance.lying import BY_ZONE, web, zones

BY_HOST = spread(HOSTNAME, selector=app("web"))
BY_ZONE_SOFT = spread(ZONE, selector=app("web"), soft=True)
DEDICATED = "dedicated=batch:NoSchedule"
TOLERATED = [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]
MOST_NODES = MOST_PODS = 14
"""Nodes, and Pods of a workload, in a drawn cluster (counts)."""


class Imbalance(Struct, frozen=True):
    """A cluster to be balanced.

    Attributes:
        name: what is the matter.
        objects: the cluster.
        soft: whether ScheduleAnyway constraints are to hold too.
    """

    name: str
    objects: Sequence[Object]
    soft: bool = False


def drawn(seeds: range) -> Iterator[Imbalance]:
    """Yield a cluster for each seed."""
    for seed in seeds:
        # The descheduler makes no room for one workload by evicting another's Pods.
        objects = cluster(seed, most_nodes=MOST_NODES, most_pods=MOST_PODS, is_roomy=True)
        yield Imbalance(f"cluster {seed}", objects)


def of_its_tests() -> Iterator[Imbalance]:
    """Yield what the tests of the descheduler's plugin are about."""
    for name, sizes, most in _SIZES:
        yield Imbalance(name, [*zones(*sizes), *_lying(sizes, {**BY_ZONE, "maxSkew": most})])
    for name, objects in _SITUATIONS.items():
        yield Imbalance(name, objects)
    for name, objects in _SOFT.items():
        yield Imbalance(name, objects, soft=True)


def _lying(sizes: Mapping[str, int], *constraints: Object, **fields: Any) -> list[Object]:  # noqa: ANN401 - any field
    """Return a workload with so many Pods in each zone, on its first node."""
    return web({f"{zone}1": pods for zone, pods in sizes.items()}, *constraints, **fields)


_SIZES: Sequence[tuple[str, Mapping[str, int], int]] = (
    ("2 and 1 Pods", {"a": 2, "b": 1}, 1),
    ("3 and 1 Pods", {"a": 3, "b": 1}, 1),
    ("5 and 2 Pods", {"a": 5, "b": 2}, 1),
    ("4 Pods in one of two zones", {"a": 4, "b": 0}, 1),
    ("0, 1 and 100 Pods", {"a": 0, "b": 1, "c": 100}, 1),
    ("0, 1, 3 and 5 Pods", {"a": 0, "b": 1, "c": 3, "d": 5}, 1),
    ("2 and 6 Pods, maxSkew 2", {"a": 2, "b": 6}, 2),
    ("8, 7 and 0 Pods", {"a": 8, "b": 7, "c": 0}, 1),
    ("5, 5 and 5 Pods", {"a": 5, "b": 5, "c": 5}, 1),
    ("2 Pods in one of two zones", {"a": 2, "b": 0}, 1),
)
"""What is the matter, zone → Pods, maxSkew."""


def _tainted(name: str) -> Object:
    """Return a node for other purposes, in the zone of its name."""
    return node(f"{name}1", zone=name, taints=[DEDICATED])


def _windows(linux: int, on: Sequence[int]) -> list[Object]:
    """Return nodes of two systems, and Pods of one of them, so many on each of its nodes."""
    others = [node(f"linux{number}", labels={"os": "linux"}) for number in range(linux)]
    own = [node(f"windows{number}", labels={"os": "windows"}) for number in range(len(on))]
    lying = {f"windows{number}": pods for number, pods in enumerate(on)}
    return [*others, *own, *web(lying, BY_HOST, nodeSelector={"os": "windows"})]


def _bare(number: int) -> list[Object]:
    """Return so many Pods on one node that nobody owns, and one on another."""
    _, *pods = web({"a1": number, "b1": 1})
    return [{**each, "metadata": {**each["metadata"], "ownerReferences": []}} for each in pods]


def _revisions(*sizes: Mapping[str, int]) -> list[Object]:
    """Return revisions of an application, so many Pods in each zone, each counted for itself."""
    by_revision = {**BY_ZONE, "matchLabelKeys": ["pod-template-hash"]}
    made: list[Object] = []
    for number, each in enumerate(sizes):
        labels = {"app": "web", "pod-template-hash": f"h{number}"}
        made += _lying(each, by_revision, name=f"web-h{number}", labels=labels)
    return made


def _ranked(made: Sequence[Object], name: str, value: int) -> list[Object]:
    """Return the workload and its Pods as the API server stores them, and their PriorityClass."""
    owner, *pods = made
    metadata = {"name": name}
    rank = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": metadata, "value": value}
    return [rank, owner, *({**each, "spec": {**each["spec"], "priority": value}} for each in pods)]


def _terminating(pods: Sequence[Object], number: int) -> list[Object]:
    """Return the workload with so many of its Pods about to end."""
    end = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/waits"]}
    owner, *others = pods
    going = [{**each, "metadata": {**each["metadata"], **end}} for each in others[:number]]
    # What is about to end is none of those that the owner wants.
    owner = {**owner, "spec": {**owner["spec"], "replicas": len(others) - number}}
    return [owner, *going, *others[number:]]


def _partly_bound() -> list[Object]:
    """Return 4 Pods in one of two zones, most of which their nodeSelector keeps there: two workloads, one selector."""
    bound = _lying({"a": 3}, name="bound", nodeSelector={ZONE: "a"})
    return [*zones("a", "b"), *bound, *_lying({"a": 1}, name="free")]


_SITUATIONS: Mapping[str, Sequence[Object]] = {
    "Pods that nobody owns": [*zones("a", "b"), *_bare(3)],
    "Most Pods are kept in their zone by a nodeSelector": _partly_bound(),
    "Nodes of another system are empty": _windows(3, (3, 3, 2)),
    "Nodes of another system are empty, and a new node": _windows(3, (3, 3, 2, 0)),
    "Nodes of another system are empty, and an uneven rest": _windows(3, (4, 3, 1)),
    "A nodeSelector that both zones have": [
        node("a1", zone="a", labels={"region": "north"}),
        node("b1", zone="b", labels={"region": "north"}),
        *_lying({"a": 4}, nodeSelector={"region": "north"}),
    ],
    "The other zone is tainted": [_tainted("a"), *zones("b"), *_lying({"a": 2, "b": 6}, {**BY_ZONE, "maxSkew": 2})],
    "The other zone is tainted and empty": [*zones("a"), _tainted("b"), *_lying({"a": 2})],
    "The other zone is tainted, and the Pods tolerate it": [
        *zones("a"),
        _tainted("b"),
        *_lying({"a": 2}, tolerations=TOLERATED),
    ],
    "The other zone is tainted with PreferNoSchedule": [
        *zones("a"),
        node("b1", zone="b", taints=["dedicated=batch:PreferNoSchedule"]),
        *_lying({"a": 2}),
    ],
    "A tainted zone that is not counted": [
        *zones("a", "b"),
        _tainted("c"),
        *_lying({"a": 3, "b": 1}, {**BY_ZONE, "nodeTaintsPolicy": "Honor"}),
    ],
    "The other zone has no CPU left": [
        node("a1", zone="a", allocatable={"cpu": "200m"}),
        *zones("b"),
        *_lying({"a": 2, "b": 6}, {**BY_ZONE, "maxSkew": 2}, requests={"cpu": "100m"}),
    ],
    "The emptiest of three zones has no CPU left": [
        node("a1", zone="a", allocatable={"cpu": "250m"}),
        *zones("b", "c"),
        *_lying({"a": 2, "b": 3, "c": 4}, requests={"cpu": "100m"}),
    ],
    "Room on one node of the other zone alone": [
        node("a1", zone="a", allocatable={"cpu": "100m"}),
        node("a2", zone="a", allocatable={"cpu": "1"}),
        *zones("b", each=2),
        *web({"a1": 1, "b1": 3, "b2": 1}, requests={"cpu": "100m"}),
    ],
    "Nodes that only others may use": [
        node("control1", zone="a", taints=["node-role.kubernetes.io/control-plane=:NoSchedule"]),
        node("infra1", zone="a", taints=["infra=:NoSchedule"]),
        node("a1", zone="a", labels={"for": "app"}),
        node("b1", zone="b", labels={"for": "app"}),
        *_lying({"a": 2, "b": 2}, BY_HOST, nodeSelector={"for": "app"}),
    ],
    "One revision in one of two zones": [*zones("a", "b"), *_revisions({"a": 2})],
    "Two revisions, each in a zone": [*zones("a", "b"), *_revisions({"a": 1}, {"b": 1})],
    "Pods that are about to end": [*zones("a", "b"), *_terminating(_lying({"a": 4, "b": 2}), 2)],
    "A selector that all but others match": [
        *zones("a", "b"),
        *_lying(
            {"a": 2},
            spread(ZONE, selector={"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["api"]}]}),
        ),
    ],
    "Pods of low priority among them": [
        *zones("a", "b"),
        *_ranked(_lying({"a": 2}, name="low", priorityClassName="low"), "low", -10),
        *_ranked(_lying({"a": 1}, name="high", priorityClassName="high"), "high", 10),
    ],
    "16 nodes in 4 racks, two constraints": [
        *zones("a", "b", "c", "d", each=4),
        *web({"a1": 7, "a2": 7, "b1": 6, "c1": 6, "d1": 6}, BY_ZONE, BY_HOST),
    ],
    "Two constraints that exclude each other": [
        *zones("a"),
        *zones("b", each=8),
        *web({"a1": 2, "b1": 1, "b2": 1}, BY_ZONE, BY_HOST),
    ],
}
_SOFT: Mapping[str, Sequence[Object]] = {
    "A preference, 3 and 1 Pods": [*zones("a", "b"), *_lying({"a": 3, "b": 1}, BY_ZONE_SOFT)],
    "A preference by zone, a rule by node": [
        *zones("a", "b", each=3),
        *web({"a1": 1, "a2": 1, "a3": 1, "b1": 1}, BY_ZONE_SOFT, BY_HOST),
    ],
    "A preference that room elsewhere outweighs": [
        node("a1", zone="a", allocatable={"cpu": "64"}),
        node("b1", zone="b", allocatable={"cpu": "2"}),
        *_lying({"a": 3}, BY_ZONE_SOFT, requests={"cpu": "900m"}),
    ],
}

"""How long the engine takes in a large cluster.

Run it as ``python -m tests.bench.engine [--nodes 5000] [--pods 50000]``; it ends with 1 when a budget is exceeded.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from kubectl_spread.__main__ import OBJECTS_BETWEEN_COLLECTIONS
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.profile import default_profile
from kubectl_spread.snapshot import Snapshot
from tests.build import HOSTNAME, ZONE, Object, app, node, pod, snapshot, spread, typed_pod
from tests.build_storage import DRIVER, claim, csi_node, storage_class

ZONES = 3
RACKS = 40
APPS = 500
REPEATS = 7
BUILDS = 3
FIRST, EVALUATION = 600.0, 50.0
"""What one Pod may take (CPU milliseconds): together with all that is gathered of the cluster, and after that."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a part of the work took, and what it may take (CPU milliseconds); None for as long as it takes."""

    what: str
    took: float
    budget: float | None = None

    @property
    def exceeded(self) -> bool:
        """Whether it took longer than it may."""
        return self.budget is not None and self.took > self.budget


def big_cluster(nodes: int, pods: int) -> Iterator[Object]:
    """Yield that many nodes, and Pods of 500 applications on them: what large clusters have, and no two apps alike."""
    yield from (_node(index) for index in range(nodes))
    yield from (_replica(index, f"node-{index * 7919 % nodes}") for index in range(pods))
    yield storage_class("fast")
    yield claim("data", namespace="team-1", class_name="fast")
    yield from (csi_node(f"node-{index}", limits={DRIVER: 25}) for index in range(nodes))


def _node(index: int) -> Object:
    """Return a node: one in fifty is cordoned, one in twenty is tainted, all have twenty images."""
    taints = ["node.kubernetes.io/unschedulable:NoSchedule"] if index % 50 == 0 else []
    taints += ["dedicated=batch:NoSchedule"] if index % 20 == 1 else []
    return node(
        f"node-{index}",
        zone=f"zone-{index % ZONES}",
        labels={"example.com/rack": f"rack-{index % RACKS}", "node.kubernetes.io/instance-type": f"m{index % 5}"},
        taints=taints,
        unschedulable=index % 50 == 0,
        allocatable={"cpu": "32", "memory": "128Gi", "ephemeral-storage": "200Gi"},
        images={f"registry.example/app-{(index + i) % APPS}:v1": 50_000_000 * (1 + i) for i in range(20)},
    )


def _replica(index: int, on: str) -> Object:
    """Return a replica: each has a status as kubelets write it, one in five would rather be apart from its siblings."""
    number = index % APPS
    requests = {"cpu": f"{100 + number % 7 * 50}m", "memory": f"{128 * (1 + number % 5)}Mi"}
    reported = {"name": "main", "resources": {"requests": requests}, "allocatedResources": requests}
    labels = {"app": f"app-{number}", "pod-template-hash": f"{number:08x}", "tier": f"tier-{number % 4}"}
    return pod(
        f"app-{number}-{index}",
        on=on,
        namespace=f"team-{number % 50}",
        labels=labels,
        requests=requests,
        host_ports=["9100"] if number == 1 else [],
        image=f"registry.example/app-{number}:v1",
        status={"phase": "Running", "containerStatuses": [reported]},
        affinity=_apart(f"app-{number}", required=number % 10 == 3) if number % 5 == 3 else None,
        terminating=index % 400 == 0,
    )


def _apart(name: str, *, required: bool) -> Object:
    """Return the anti-affinity of an application's Pods among each other, by hostname."""
    term = {"topologyKey": HOSTNAME, "labelSelector": app(name)}
    if required:
        return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    weighted = {"weight": 100, "podAffinityTerm": term}
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [weighted]}}


def demanding_pod() -> Pod:
    """Return a Pod about which every filter and every score has something to say."""
    siblings = {"topologyKey": HOSTNAME, "labelSelector": app("app-1")}
    on_machine = {
        "matchExpressions": [{"key": "node.kubernetes.io/instance-type", "operator": "NotIn", "values": ["m4"]}]
    }
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [on_machine]},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "preference": on_machine}],
        },
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [siblings],
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "podAffinityTerm": siblings}],
        },
    }
    described = pod(
        "asked",
        namespace="team-1",
        labels={"app": "app-1"},
        requests={"cpu": "250m", "memory": "256Mi"},
        host_ports=["9200"],
        image="registry.example/app-1:v1",
        affinity=affinity,
        tolerations=[{"key": "dedicated", "operator": "Exists"}],
        topologySpreadConstraints=[
            spread(ZONE, selector=app("app-1"), maxSkew=5),
            spread("example.com/rack", selector=app("app-1"), maxSkew=5, nodeTaintsPolicy="Honor"),
            spread(HOSTNAME, selector=app("app-1"), soft=True),
        ],
        volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    )
    return typed_pod(described)


def costs(asked: Pod, read: Snapshot) -> tuple[list[Cost], Handle]:
    """Return what the Pod's evaluation takes, the fastest of several, and the cluster as it was seen."""
    building, first, seen = min((_begun(asked, read) for _ in range(BUILDS)), key=lambda begun: begun[0] + begun[1])
    usual, _ = fastest(lambda: cycle.evaluate(asked, seen))
    found = [
        Cost("handle", building),
        Cost("first evaluation", first),
        Cost("handle and first evaluation", building + first, FIRST),
        Cost("evaluation", usual, EVALUATION),
    ]
    return found, seen


def _begun(asked: Pod, read: Snapshot) -> tuple[float, float, Handle]:
    """Return what it takes to see the cluster, what the first evaluation takes, and the cluster as it was seen."""
    building, seen = _timed(lambda: Handle.build(read, default_profile()))
    first, _ = _timed(lambda: cycle.evaluate(asked, seen))
    return building, first, seen


def fastest(work: Callable[[], T]) -> tuple[float, T]:
    """Return the least CPU time the work took (milliseconds) and what it returned."""
    runs = [_timed(work) for _ in range(REPEATS)]
    return min(milliseconds for milliseconds, _ in runs), runs[0][1]


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return the CPU time the work took (milliseconds), so that other programs count little, and what it returned."""
    begun = time.process_time()
    result = work()
    return (time.process_time() - begun) * 1000, result


def main() -> int:
    """Print what an evaluation takes; return 1 when a budget is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=50_000)
    asked_for = parser.parse_args()
    read, asked = snapshot(big_cluster(asked_for.nodes, asked_for.pods)), demanding_pod()
    # As where the program runs: what was read is left alone, and next to nothing is looked through for garbage.
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    found, seen = costs(asked, read)
    feasible = len(cycle.evaluate(asked, seen).feasible)
    lines = [
        f"{asked_for.nodes} nodes, {asked_for.pods} Pods, {feasible} nodes feasible (CPU milliseconds)",
        f"{'':34} {'took':>9} {'budget':>8}",
        *(f"{cost.what:34} {cost.took:9.1f} {cost.budget or '-':>8}" for cost in found),
    ]
    sys.stdout.write("\n".join([*lines, ""]))
    return int(any(cost.exceeded for cost in found))


if __name__ == "__main__":
    sys.exit(main())

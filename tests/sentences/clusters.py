"""Small clusters, each made from a seed, in which workloads of several kinds have Pods without a node."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.build_workloads import controller, template, workload

KINDS = ("Deployment", "Deployment", "StatefulSet", "Job", "ReplicaSet")


def cluster(seed: int) -> list[Object]:
    """Return a cluster of two to nine nodes in up to four zones; its workloads are named web-0, web-1."""
    drawn = random.Random(seed)  # noqa: S311 - no secret
    nodes = [f"{zone}{n}" for zone in "abcd"[: drawn.randint(1, 4)] for n in range(drawn.randint(1, 4))]
    objects = [_node(name, drawn) for name in nodes]
    for number in range(drawn.randint(1, 2)):
        objects += _workload(f"web-{number}", nodes, drawn)
    return objects


def _node(name: str, drawn: random.Random) -> Object:
    return node(
        name,
        zone=name[0] if drawn.random() < 0.93 else None,
        taints=["dedicated=gpu:NoSchedule"] if drawn.random() < 0.2 else [],
        allocatable={"cpu": str(drawn.randint(1, 4))},
        unschedulable=drawn.random() < 0.15,
    )


def _workload(name: str, nodes: Sequence[str], drawn: random.Random) -> list[Object]:
    """Return a workload and its Pods, of which one or more wait."""
    kind = drawn.choice(KINDS)
    on = [drawn.choice(nodes) for _ in range(drawn.randint(0, 5))] + [""] * drawn.randint(1, 3)
    constraints = _constraints(name, drawn)
    fields: dict[str, Any] = {
        "labels": {"app": name},
        "requests": {"cpu": drawn.choice(("100m", "500m", "1", "2"))},
        "topologySpreadConstraints": constraints,
    }
    if kind == "Job":
        fields["restartPolicy"] = "Never"
    made = template(*constraints, **{key: value for key, value in fields.items() if key[0] != "t"})
    size: dict[str, Any] = (
        {"parallelism": len(on), "completions": 50, "manualSelector": True} if kind == "Job" else {"replicas": len(on)}
    )
    if kind == "StatefulSet":
        size["podManagementPolicy"] = "Parallel"
    objects = [workload(kind, name, pods=made, selector=app(name), **size)]
    by, begin = controller(kind, name), name
    if kind == "Deployment":
        begin = f"{name}-1"
        by = controller("ReplicaSet", begin)
        owner = controller(kind, name)
        objects.append(workload("ReplicaSet", begin, owner=owner, pods=made, replicas=len(on), selector=app(name)))
    states = [{"phase": "Running" if where else "Pending"} for where in on]
    pods = [pod(f"{begin}-{n}", on=on[n], status=status, owner=by, **fields) for n, status in enumerate(states)]
    return [*objects, *pods]


def _constraints(name: str, drawn: random.Random) -> list[Object]:
    keys = drawn.choice(((ZONE,), (HOSTNAME,), (ZONE, HOSTNAME), (ZONE,)))
    constraints = [
        spread(
            key,
            selector=app(name if drawn.random() < 0.9 else "another"),
            maxSkew=drawn.randint(1, 2),
            soft=drawn.random() < 0.15,
            **({"nodeTaintsPolicy": "Honor"} if drawn.random() < 0.3 else {}),
        )
        for key in keys
    ]
    for each in constraints:
        if each["whenUnsatisfiable"] == "DoNotSchedule" and drawn.random() < 0.15:
            each["minDomains"] = drawn.randint(2, 5)
    return constraints

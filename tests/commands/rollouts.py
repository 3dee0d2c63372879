"""Workloads drawn with a seed, many of which live already, and manifests that change them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.build_workloads import owned, revision, template, workload

KINDS = ("Deployment", "Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "DaemonSet", "Job")
SCALABLE = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
LABELS: dict[str, dict[str, str]] = {
    "Deployment": {"pod-template-hash": "h1"},
    "StatefulSet": {"controller-revision-hash": "web-1"},
    "DaemonSet": {"controller-revision-hash": "old"},
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A cluster, and a manifest of the workload web."""

    kind: str  # the manifest's
    objects: list[Object]  # the cluster, in which the workload may live
    manifest: Object  # what is to be applied
    again: Object | None  # what lives, as a manifest; None where nothing does


def drawn(seed: int) -> Drawn:
    """Return a cluster and a manifest."""
    dice = random.Random(seed)  # noqa: S311 - nothing secret
    nodes = [_node(f"{zone}{number}", zone, dice) for zone in "abc" for number in range(dice.randint(1, 3))]
    names = [each["metadata"]["name"] for each in nodes]
    kind = dice.choice(KINDS)
    constraints = _constraints(dice)
    cpu = dice.choice(("500m", "1"))
    old = _template(kind, constraints, cpu)
    new = _template(kind, constraints, dice.choice((cpu, "500m", "1", "2")))
    lived, wanted = dice.randint(0, 6), dice.randint(1, 8)
    fields = _fields(kind, dice)
    objects = [*nodes, *(_other(number, dice.choice(names), dice) for number in range(dice.randint(0, 6)))]
    again = None
    if lived and dice.random() < 0.65:
        again = _workload(kind, old, lived, fields)
        suited = [each["metadata"]["name"] for each in nodes if not each["spec"].get("taints")]
        on = suited if kind == "DaemonSet" else [dice.choice(names) for _ in range(lived)]
        objects += _living(kind, old, again, on)
    return Drawn(kind, objects, _workload(kind, new, wanted, fields), again)


def _node(name: str, zone: str, dice: random.Random) -> Object:
    closed: Object = {"unschedulable": True} if dice.random() < 0.12 else {}
    taints = ["x=y:NoSchedule"] if dice.random() < 0.12 else []
    room = {"cpu": str(dice.choice((2, 3, 4))), "pods": "10"}
    return node(name, zone=zone, allocatable=room, taints=taints, **closed)


def _constraints(dice: random.Random) -> list[Object]:
    if dice.random() < 0.2:
        return []
    more: Object = {"minDomains": 3} if dice.random() < 0.15 else {}
    more |= {"matchLabelKeys": ["pod-template-hash"]} if dice.random() < 0.3 else {}
    return [spread(dice.choice((ZONE, HOSTNAME)), selector=app("web"), maxSkew=dice.choice((1, 1, 2)), **more)]


def _template(kind: str, constraints: list[Object], cpu: str) -> Object:
    once: Object = {"restartPolicy": "Never"} if kind == "Job" else {}
    return template(*constraints, requests={"cpu": cpu}, **once)


def _fields(kind: str, dice: random.Random) -> Object:
    """Return how the workload changes its Pods."""
    if kind == "Deployment":
        rolling = {"maxSurge": dice.choice((0, 1, "50%")), "maxUnavailable": dice.choice((1, "25%"))}
        return {
            "strategy": dice.choice(({}, {"type": "Recreate"}, {"type": "RollingUpdate", "rollingUpdate": rolling}))
        }
    if kind == "StatefulSet":
        parallel = {"podManagementPolicy": "Parallel"} if dice.random() < 0.3 else {}
        return {"serviceName": "s", "updateStrategy": {"type": dice.choice(("RollingUpdate", "OnDelete"))}, **parallel}
    return {}


def _workload(kind: str, pods: Object, replicas: int, fields: Object) -> Object:
    number: dict[str, Any] = {"replicas": replicas}
    if kind == "DaemonSet":
        number = {}
    elif kind == "Job":
        number = {"parallelism": replicas, "completions": 20}
    status = {"currentRevision": "web-1", "updateRevision": "web-1"} if kind == "StatefulSet" else None
    return workload(kind, "web", pods=pods, status=status, **number, **fields)


def _other(number: int, on: str, dice: random.Random) -> Object:
    labels = {"app": dice.choice(("web", "db", "db", "db", "db"))}
    return pod(f"other-{number}", on=on, requests={"cpu": "500m"}, labels=labels, status=READY)


def _living(kind: str, pods: Object, made: Object, on: list[str]) -> list[Object]:
    labels, spec = LABELS.get(kind, {}), pods["spec"]
    by, name = ("ReplicaSet", "web-h1") if kind == "Deployment" else (kind, "web")
    found = [made]
    if kind == "Deployment":
        below = revision("web", 1, pods=pods)
        below["spec"]["replicas"] = len(on)
        found.append(below)
    return found + [
        owned(f"{name}-{number}", by, name, on=where, labels=labels, status=READY, **spec)
        for number, where in enumerate(on)
    ]

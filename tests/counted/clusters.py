"""Small clusters, each made from a seed, in which workloads of several kinds have Pods without a node."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.build_storage import claim, volume
from tests.build_workloads import controller, cron_job, template, workload

KINDS = ("Deployment", "Deployment", "StatefulSet", "Job", "ReplicaSet", "DaemonSet", "CronJob")
NOT_READY = "node.kubernetes.io/not-ready"
CORDONED = "node.kubernetes.io/unschedulable:NoSchedule"
DAEMON_TOLERATIONS = [
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": effect}
    for key, effect in (("not-ready", "NoExecute"), ("unreachable", "NoExecute"), ("unschedulable", "NoSchedule"))
]
"""What the DaemonSet controller adds to its Pods. Source: pkg/controller/daemon/util/daemonset_util.go."""

ADMITTED = [
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for key in ("not-ready", "unreachable")
]
"""What admission adds to every other Pod. Source: plugin/pkg/admission/defaulttolerationseconds."""


def cluster(seed: int) -> list[Object]:
    """Return a cluster of two to nine nodes in up to four zones; its workloads are named web-0, web-1."""
    drawn = random.Random(seed)  # noqa: S311 - no secret
    nodes = [f"{zone}{n}" for zone in "abcd"[: drawn.randint(1, 4)] for n in range(drawn.randint(1, 4))]
    objects = [_node(name, drawn) for name in nodes]
    for number in range(drawn.randint(1, 2)):
        objects += _workload(f"web-{number}", nodes, drawn)
        if drawn.random() < 0.3:
            objects.append(_budget(f"web-{number}", drawn))
    return objects


def _node(name: str, drawn: random.Random) -> Object:
    cordoned, ready = drawn.random() < 0.15, drawn.random() < 0.9
    taints = ["dedicated=gpu:NoSchedule"] if drawn.random() < 0.2 else []
    taints += [CORDONED] if cordoned else []
    taints += [] if ready else [f"{NOT_READY}:NoSchedule", f"{NOT_READY}:NoExecute"]
    made = node(
        name,
        zone=name[0] if drawn.random() < 0.93 else None,
        taints=taints,
        allocatable={"cpu": str(drawn.randint(1, 4))},
        unschedulable=cordoned,
    )
    made["status"]["conditions"] = [{"type": "Ready", "status": str(ready)}]
    return made


def _budget(name: str, drawn: random.Random) -> Object:
    """Return the budget of a workload, whose status is the most that its controller allows."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default", "ownerReferences": []},
        "spec": {"selector": app(name), drawn.choice(("minAvailable", "maxUnavailable")): drawn.randint(0, 3)},
        "status": {},
    }


def _workload(name: str, nodes: Sequence[str], drawn: random.Random) -> list[Object]:
    """Return a workload and its Pods, of which one or more wait."""
    kind = drawn.choice(KINDS)
    constraints = _constraints(name, drawn)
    fields: dict[str, Any] = {"labels": {"app": name}, "requests": {"cpu": drawn.choice(("100m", "500m", "1", "2"))}}
    if kind in {"Job", "CronJob"}:
        fields["restartPolicy"] = "Never"
    made = template(*constraints, **fields)
    fields |= {"topologySpreadConstraints": constraints, "tolerations": ADMITTED}
    if kind == "DaemonSet":
        waits = drawn.randint(1, min(3, len(nodes)))
        objects = [workload(kind, name, pods=made, selector=app(name))]
        return [
            *objects,
            *(_daemon(name, each, waits=n < waits, **fields) for n, each in enumerate(_mixed(nodes, drawn))),
        ]
    on = [drawn.choice(nodes) for _ in range(drawn.randint(0, 5))] + [""] * drawn.randint(1, 3)
    objects, by = _owners(kind, name, made, len(on))
    claimed = kind == "StatefulSet" and drawn.random() < 0.5
    if claimed:
        objects[0]["spec"]["volumeClaimTemplates"] = [claim("data", class_name="")]
    if by["kind"] == "Job":
        fields["labels"] = {"app": name, "batch.kubernetes.io/job-name": by["name"]}
    for n, where in enumerate(on):
        called = f"{by['name']}-{n}"
        if claimed:
            zone = (where or drawn.choice(nodes))[0]
            objects += _bound(called, zone)
            fields["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-{called}"}}]
        status = {"phase": "Running" if where else "Pending"}
        objects.append(pod(called, on=where, status=status, owner=by, **fields))
    return objects


def _mixed(nodes: Sequence[str], drawn: random.Random) -> Sequence[str]:
    return drawn.sample(nodes, len(nodes))


def _owners(kind: str, name: str, pods: Object, number: int) -> tuple[list[Object], Object]:
    """Return the workload of so many Pods (count), and the reference to what controls them."""
    job: dict[str, Any] = {"parallelism": number, "completions": 50}
    if kind in {"Job", "CronJob"}:
        size = {**job, "manualSelector": True}
    else:
        size = {"replicas": number, **({"podManagementPolicy": "Parallel"} if kind == "StatefulSet" else {})}
    size["selector"] = app(name)
    if kind not in {"Deployment", "CronJob"}:
        return [workload(kind, name, pods=pods, **size)], controller(kind, name)
    by = controller("ReplicaSet" if kind == "Deployment" else "Job", f"{name}-1")
    top = workload(kind, name, pods=pods, **size) if kind == "Deployment" else cron_job(name, pods=pods, **job)
    return [top, workload(by["kind"], by["name"], owner=controller(kind, name), pods=pods, **size)], by


def _daemon(name: str, node_name: str, *, waits: bool, **fields: Any) -> Object:  # noqa: ANN401 - as for a Pod
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node_name]}]}
    return pod(
        f"{name}-{node_name}",
        on="" if waits else node_name,
        status={"phase": "Pending" if waits else "Running"},
        owner=controller("DaemonSet", name),
        affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}},
        **fields | {"tolerations": DAEMON_TOLERATIONS},
    )


def _bound(pod_name: str, zone: str) -> list[Object]:
    """Return the claim of a Pod of a StatefulSet and its volume, which only nodes of the zone can use."""
    kept_for = {"name": f"data-{pod_name}", "uid": f"default/data-{pod_name}"}
    return [
        claim(f"data-{pod_name}", class_name="", bound_to=f"volume-{pod_name}"),
        volume(f"volume-{pod_name}", usable_on={ZONE: [zone]}, kept_for=kept_for, phase="Bound"),
    ]


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

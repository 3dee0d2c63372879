"""Workloads that compete for room on a real control plane, and the first fix as printed: each gains what was promised.

Three to eight workloads with 20 to 60 Pending Pods wait, because nodes were cordoned or tainted after their first Pods
ran. The program is asked about all of them; the first fix with a command is run, and the Pods that run then are counted
workload by workload.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from tests.controlplane.api import MERGE_PATCH, Object
from tests.controlplane.client import Client
from tests.controlplane.cluster import WORKLOAD_CONTROLLERS, Options
from tests.e2e.fixes_as_printed import emptied, run_as_printed, settle, waits, workload
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, node, pod_spec
from tests.e2e.simulated import OPTIONS as QUICK
from tests.e2e.simulated import PRIORITIES

OPTIONS = Options(scheduler_config=QUICK.scheduler_config, controllers=WORKLOAD_CONTROLLERS)
LEAST, MOST = 20, 60  # Pending Pods (count) of a situation that counts
_QUIET_S = 5.0


class Outcome(Struct, frozen=True, kw_only=True):
    """What came of a fix: its promise for each workload, at least and at most, and how many Pods each gained."""

    fix: Object
    promised: Mapping[str, tuple[int, int]]
    gained: Mapping[str, int]
    pending: int

    @property
    def wrong(self) -> Sequence[str]:
        """The workloads that gained fewer or more Pods than promised."""
        names = sorted({*self.promised, *self.gained})
        pairs = ((name, self.promised.get(name, (0, 0)), self.gained.get(name, 0)) for name in names)
        return [
            f"{name}: {gained}, promised {least} to {most}"
            for name, (least, most), gained in pairs
            if not least <= gained <= most
        ]


def outcomes(client: Client, seed: int) -> Iterator[Outcome]:
    """Yield what came of one situation after another, without end; nobody else uses the cluster."""
    client.apply(PRIORITIES)
    number = 0
    while True:
        found = _run(client, f"company-{seed}-{number}", random.Random(f"{seed}/{number}"))  # noqa: S311 - no secret
        number += 1
        if found is not None:
            yield found


def _run(client: Client, namespace: str, rng: random.Random) -> Outcome | None:
    """Return what came of the first fix; None where too few or too many Pods wait, or no fix has a command."""
    nodes = [
        node(f"{zone}{number}", labels={ZONE: zone, "disk": rng.choice(["ssd", "hdd"])}, room={"cpu": "6"})
        for zone in "abc"
        for number in range(1, rng.choice([2, 3]) + 1)
    ]
    templates = {f"w{number}": _template(rng, f"w{number}") for number in range(rng.randint(3, 8))}
    kinds = {name: rng.choice(["Deployment", "Deployment", "ReplicaSet", "StatefulSet"]) for name in templates}

    def sized(replicas: Mapping[str, int]) -> Sequence[Object]:
        return [
            workload(kinds[name], namespace, name=name, template=each, replicas=replicas[name], **_fields(kinds[name]))
            for name, each in templates.items()
        ]

    small = {name: rng.randint(0, 3) for name in templates}
    more = {name: number + rng.randint(2, 10) for name, number in small.items()}
    with emptied(client, namespace):
        client.create_nodes(nodes)
        client.apply(sized(small))
        settle(client, namespace)
        for each in nodes:
            body = {"spec": _closed(rng)}
            path = f"/api/v1/nodes/{each['metadata']['name']}"
            client.api.request("PATCH", path, body=body, content_type=MERGE_PATCH)
        client.apply(sized(more))
        settle(client, namespace, quiet_s=_QUIET_S)
        before = client.pods(namespace)
        pending = sum(map(waits, before))
        fix, own = _first_fix(client) if LEAST <= pending <= MOST else ({}, "")
        if not fix:
            return None
        for command in fix["commands"]:
            run_as_printed(client, command)
        settle(client, namespace, quiet_s=_QUIET_S)
        ran, runs = (_running(each) for each in (before, client.pods(namespace)))
        gained = {name: runs[name] - ran[name] for name in templates if runs[name] != ran[name]}
        return Outcome(fix=fix, promised=_promised(fix, own), gained=gained, pending=pending)


def _fields(kind: str) -> Object:
    return {"podManagementPolicy": "Parallel"} if kind == "StatefulSet" else {}


def _template(rng: random.Random, name: str) -> Object:
    """Return a template whose Pods may be spread, alone or with others, and may be of another priority."""
    shared = rng.random() < 0.3
    labels = {"app": name, **({"group": "shop"} if shared else {})}
    counted = match(group="shop") if shared else match(app=name)
    spec = pod_spec(resources={"requests": {"cpu": rng.choice(["500m", "1", "1", "2"])}})
    spec["topologySpreadConstraints"] = [
        constraint(key, selector=counted, maxSkew=rng.choice([1, 2]), **_policy(rng))
        for key in rng.sample([ZONE, HOSTNAME], rng.choice([0, 0, 1, 1, 2]))
    ]
    if rng.random() < 0.2:
        spec["nodeSelector"] = {"disk": "ssd"}
    if rng.random() < 0.3:
        spec["priorityClassName"] = rng.choice(["low", "high"])
        spec["preemptionPolicy"] = "Never"
    return {"metadata": {"labels": labels}, "spec": spec}


def _policy(rng: random.Random) -> Object:
    return {"nodeTaintsPolicy": "Honor"} if rng.random() < 0.5 else {}


def _closed(rng: random.Random) -> Object:
    """Return what closes a node for new Pods, or nothing."""
    taint = {"taints": [{"key": "maintenance", "value": "x", "effect": "NoSchedule"}]}
    return rng.choice([{"unschedulable": True}, {"unschedulable": True}, taint, {}])


def _first_fix(client: Client) -> tuple[Object, str]:
    """Return the first fix that is offered, has a command and was simulated in company, and whose it is."""
    ended = client.kubectl.run("spread", "why-pending", "-A", "-o", "json")
    assert ended.returncode in {0, 1}, ended.stderr
    for item in json.loads(ended.stdout)["items"]:
        for fix in item.get("fixes", ()):
            if fix.get("offered") and fix["commands"] and "others" in fix:
                return fix, item["workload"]["name"]
    return {}, ""


def _promised(fix: Object, own: str) -> Mapping[str, tuple[int, int]]:
    others = {each["workload"]["name"]: (each["admits"], each["admitsAtMost"]) for each in fix["others"]}
    return {own: (fix["admits"], fix.get("admitsAtMost", fix["admits"])), **others}


def _running(pods: Sequence[Object]) -> Counter[str]:
    """Return workload → its Pods on nodes that are not ending."""
    there = (each for each in pods if not waits(each) and "deletionTimestamp" not in each["metadata"])
    return Counter(each["metadata"]["labels"]["app"] for each in there)

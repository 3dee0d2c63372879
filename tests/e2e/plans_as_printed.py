"""Workloads that lie unevenly on a real control plane, since nodes came late: ``rebalance``, run as it is printed.

Controllers run and kubelets are played, but as the printed words have it: within a wave what comes is not ready, only
bound, before the next command; before a new wave all is ready.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.controlplane.api import Object
from tests.controlplane.client import Client
from tests.controlplane.waiting import wait_for
from tests.e2e.fixes_as_printed import emptied, settle, shell, workload
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, node, pod_spec

MOVING = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")  # What makes Pods again that were evicted
STAYING = ("Job", "DaemonSet", "Pod")  # What does not, or not elsewhere; or what nobody evicts
_GROUP = "shop"
_LANDED_S = 30.0


@dataclass(frozen=True, kw_only=True)
class Situation:
    """A cluster in which nodes come when all Pods have one."""

    namespace: str  # of its own
    early: Sequence[Object]  # the nodes on which the Pods are placed
    late: Sequence[Object]  # the nodes that come then
    objects: Sequence[Object]  # workloads and budgets
    kinds: Sequence[str]  # of the workloads
    soft: bool = False  # whether ScheduleAnyway constraints are to hold too


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a plan."""

    situation: Situation  # the situation
    report: Object  # the plan, as ``-o json`` has it
    wrong: Sequence[str]  # what went otherwise than printed; empty where all is well

    @property
    def waves(self) -> int:
        """How many waves there are (count)."""
        return max(int(each["wave"]) for each in self.report["evictions"])


def situations(seed: int) -> Iterator[Situation]:
    """Yield situations without end, the same for the same seed."""
    number = 0
    while True:
        yield _situation(f"planned-{number}", random.Random(f"{seed}/{number}"))  # noqa: S311 - no secret
        number += 1


def _situation(namespace: str, rng: random.Random) -> Situation:
    """Return one: some zones, or some nodes of each, come late."""
    nodes = [
        node(f"{zone}{number}", labels={ZONE: zone}, room={"cpu": rng.choice(["4", "8", "8"])})
        for zone in "abc"[: rng.choice([2, 3, 3])]
        for number in range(1, rng.choice([2, 3]))
    ]
    rng.shuffle(nodes)
    early = rng.randint(1, len(nodes) - 1)
    kinds = [rng.choice(MOVING)] + [rng.choice([*MOVING, *STAYING])] * (rng.random() < 0.5)
    objects = [each for number, kind in enumerate(kinds) for each in _workload(rng, namespace, kind, f"web{number}")]
    return Situation(namespace=namespace, early=nodes[:early], late=nodes[early:], objects=objects, kinds=kinds)


def _workload(rng: random.Random, namespace: str, kind: str, name: str) -> Iterator[Object]:
    """Yield a workload, counted alone or with others, and mostly a budget for it."""
    labels = {"app": name, **({"group": _GROUP} if rng.random() < 0.4 else {})}
    counted = match(group=_GROUP) if "group" in labels else match(app=name)
    spec = pod_spec(resources={"requests": {"cpu": rng.choice(["100m", "100m", "500m", "1"])}})
    spec["topologySpreadConstraints"] = [
        constraint(key, selector=counted, maxSkew=rng.choice([1, 1, 2]), **_policies(rng, kind))
        for key in rng.choice([(ZONE,), (ZONE,), (HOSTNAME,), (ZONE, HOSTNAME)])
    ]
    replicas = rng.randint(2, 6)
    template = {"metadata": {"labels": labels}, "spec": spec}
    yield workload(kind, namespace, name=name, template=template, **_size(rng, kind, replicas))
    if kind in MOVING and rng.random() < 0.7:
        least = rng.choice([{"maxUnavailable": 1}, {"maxUnavailable": 2}, {"minAvailable": replicas - 1}])
        metadata = {"namespace": namespace, "name": name}
        kept = {"selector": match(app=name), **least}
        yield {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": kept}


def _policies(rng: random.Random, kind: str) -> Object:
    """Return what else a constraint says."""
    by_revision = {"matchLabelKeys": ["pod-template-hash"]} if kind == "Deployment" and rng.random() < 0.3 else {}
    return {**by_revision, **({"nodeTaintsPolicy": "Honor"} if rng.random() < 0.2 else {})}


def _size(rng: random.Random, kind: str, replicas: int) -> Mapping[str, object]:
    """Return the fields by which the owner has so many Pods."""
    if kind in {"DaemonSet", "Pod"}:
        return {}
    if kind == "Job":
        return {"parallelism": replicas, "completions": 50, "backoffLimit": 0}
    return {"replicas": replicas, **(_ordered(rng) if kind == "StatefulSet" else {})}


def _ordered(rng: random.Random) -> Object:
    """Return in which order a StatefulSet makes its Pods."""
    return {"podManagementPolicy": rng.choice(["OrderedReady", "Parallel"])}


def run(client: Client, situation: Situation) -> Outcome | None:
    """Return what came of the plan; None where it evicts nobody.

    Nobody else uses the cluster, which is empty before and after.
    """
    namespace = situation.namespace
    with emptied(client, namespace):
        client.create_nodes(situation.early)
        client.apply(situation.objects)
        settle(client, namespace)
        client.create_nodes(situation.late)
        settle(client, namespace)
        report = planned(client, situation)
        if not report["evictions"]:
            return None
        wrong = [*_carried_out(client, namespace, report["evictions"])]
        settle(client, namespace)
        return Outcome(situation=situation, report=report, wrong=[*wrong, *at_the_end(client, situation, report)])


def planned(client: Client, situation: Situation) -> Object:
    """Return the plan for the namespace."""
    soft = ["--soft"] if situation.soft else []
    ended = client.kubectl.run("spread", "rebalance", "-n", situation.namespace, *soft, "-o", "json")
    assert ended.returncode in {0, 1}, ended.stderr
    report: Object = json.loads(ended.stdout)
    return report


def _carried_out(client: Client, namespace: str, evictions: Sequence[Object]) -> Iterator[str]:
    """Run the commands in their order, and yield what is refused, or lands elsewhere than was said."""
    wave = 1
    for each in evictions:
        if each["wave"] != wave:
            settle(client, namespace)
            wave = each["wave"]
        if each.get("together"):
            if shell(each["command"], client.kubectl.environment()).returncode:
                yield f"{each['pod']}, wave {wave}, is refused"
            continue
        there = {pod["metadata"]["uid"] for pod in client.pods(namespace)}
        ended = shell(each["command"], client.kubectl.environment())
        if ended.returncode:
            yield f"{each['pod']}, wave {wave}, is refused: {ended.stderr.strip()}"
            return
        node_name = _landing(client, namespace, there)
        if node_name not in each["lands"]:
            yield f"{each['pod']} of {each['node']}, wave {wave}: {node_name or 'none comes'}, not {each['lands']}"


def _landing(client: Client, namespace: str, there: set[str]) -> str:
    """Return the node of the Pod that comes; empty where none does. No kubelet reports it ready, for none need be."""

    def landed() -> str:
        client.confirm_deletions()
        came = (pod for pod in client.pods(namespace) if pod["metadata"]["uid"] not in there)
        return next((pod["spec"].get("nodeName", "") for pod in came), "")

    try:
        return wait_for(landed, what="a Pod with a node", timeout_s=_LANDED_S) or ""
    except TimeoutError:
        return ""


def at_the_end(client: Client, situation: Situation, report: Object) -> Iterator[str]:
    """Yield who waits for a node in the end, and what does not hold then that was to hold."""
    for pod in client.pods(situation.namespace):
        if "nodeName" not in pod["spec"]:
            yield f"{pod['metadata']['name']} is Pending"
    ends = {_about(each): each for each in planned(client, situation)["items"]}
    for item in report["items"]:
        end = ends.get(_about(item))
        if end is None or end["skewBefore"] > item["skewAfter"]:
            skew = end and end["skewBefore"]
            yield f"{_about(item)}: skew {skew} in the end, {item['skewAfter']} was said, {item['verdict']}"


def _about(item: Object) -> str:
    """Return of which constraint of which workload an item tells."""
    return f"{item['workload']['kind']}/{item['workload']['name']} constraint {item['constraint']['index']}"

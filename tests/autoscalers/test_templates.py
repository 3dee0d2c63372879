"""Nodes that groups of cluster-autoscaler would bring, put to kube-scheduler itself: the same groups take the Pod.

``python -m tests.autoscalers.test_templates --seed N --count N`` asks about other clusters.
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubectl_spread.autoscalers.cluster_autoscaler import decide
from kubectl_spread.autoscalers.decision import PoolDecision, RejectedByFilters
from kubectl_spread.objects.autoscaling import NodeGroupHealth, NodeGroupStatus
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.well_known_labels import ZONE
from kubectl_spread.scheduler.framework import Handle
from tests.autoscalers.clusters import POOL, Object, snapshot_of
from tests.autoscalers.generate import DISRUPTED, HOST, REBOOTING, Generator
from tests.conformance.answer import profile_of
from tests.conformance.record import ask, oracle

RELEASE = "1.36"
SEED, COUNT = 11, 500
GROUP = "eks.amazonaws.com/nodegroup"
NEW = "new-node"
LEAVING = {"key": "ToBeDeletedByClusterAutoscaler", "value": "1", "effect": "NoSchedule"}
PASSING = {LEAVING["key"], "node.kubernetes.io/not-ready", "node.kubernetes.io/unschedulable"}


def clusters(seed: int, count: int) -> Iterator[tuple[list[Object], Object]]:
    """Yield clusters whose nodes are of node groups, with Pods that come with each node, and the Pending Pod."""
    draw, generator = random.Random(seed), Generator(seed)  # noqa: S311 - no secret
    for number in range(count):
        question = generator.question(f"t{number}")["objects"]
        objects = [each for each in question if each["kind"] in {"Node", "Pod", "Namespace"}]
        pending = objects.pop()
        for node in [each for each in objects if each["kind"] == "Node"]:
            labels, spec = node["metadata"]["labels"], node["spec"]
            labels[GROUP] = labels.pop(POOL, "none")
            node["metadata"].pop("deletionTimestamp", None)
            spec["taints"] = [each for each in spec["taints"] if each not in (DISRUPTED, REBOOTING)]
            spec["taints"] += [LEAVING] if draw.random() < 0.1 else []
            if draw.random() < 0.1:
                spec["unschedulable"] = True
            if draw.random() < 0.5:
                objects.append(_daemon(node["metadata"]["name"], draw))
        yield objects, pending


def _daemon(node: str, draw: random.Random) -> Object:
    container: Object = {"name": "c", "image": "x", "resources": {"requests": {"cpu": draw.choice(["500m", "2"])}}}
    if draw.random() < 0.4:
        container["ports"] = [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]
    kind = draw.choice(["DaemonSet", "DaemonSet", "Node", "ReplicaSet"])
    owner = {"apiVersion": "v1", "kind": kind, "name": "owner", "uid": "1", "controller": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"daemon-{node}",
            "namespace": "default",
            "labels": {"app": draw.choice(["web", "agent"])},
            "ownerReferences": [owner],
        },
        "spec": {"nodeName": node, "containers": [container]},
        "status": {"phase": "Running"},
    }


def with_new_nodes(objects: list[Object], group: str) -> list[list[Object]]:
    """Return the cluster with a node as cluster-autoscaler makes it from one of the group, in each of its zones."""
    nodes = [each for each in objects if each["kind"] == "Node" and each["metadata"]["labels"][GROUP] == group]
    usable = [each for each in nodes if not each["spec"].get("unschedulable") and not _not_ready(each)]
    by_zone: dict[str, Object] = {}
    for each in sorted(usable or nodes, key=lambda each: each["metadata"]["name"]):
        by_zone.setdefault(each["metadata"]["labels"].get(ZONE, ""), each)
    return [_with_node_like(objects, like) for like in by_zone.values()]


def _with_node_like(objects: list[Object], like: Object) -> list[Object]:
    node = copy.deepcopy(like)
    node["metadata"] = {"name": NEW, "labels": {**node["metadata"]["labels"], HOST: NEW}}
    node["spec"]["taints"] = [each for each in node["spec"]["taints"] if each["key"] not in PASSING]
    node["spec"].pop("unschedulable", None)
    made = [node]
    for each in (each for each in objects if each["kind"] == "Pod"):
        owners = each["metadata"].get("ownerReferences", ())
        if each["spec"].get("nodeName") == like["metadata"]["name"] and any(
            owner["kind"] in {"DaemonSet", "Node"} for owner in owners
        ):
            pod = copy.deepcopy(each)
            pod["metadata"]["name"] += "-new"
            pod["spec"]["nodeName"] = NEW
            made.append(pod)
    return [*objects, *made]


def _not_ready(node: Object) -> bool:
    return any(taint["key"] == "node.kubernetes.io/not-ready" for taint in node["spec"]["taints"])


def refuted(program: Path, *, seed: int, count: int) -> tuple[int, list[str]]:
    """Return how many groups were asked about, and those that kube-scheduler decides otherwise."""
    cases, ours = [], []
    for number, (objects, pending) in enumerate(clusters(seed, count)):
        groups = sorted({each["metadata"]["labels"][GROUP] for each in objects if each["kind"] == "Node"})
        for group, found in zip(groups, decided(objects, pending, groups), strict=True):
            case = {"id": f"{seed}-{number}-{group}", "pod": pending, "kubeVersion": f"v{RELEASE}"}
            zones = [case | {"objects": each} for each in with_new_nodes(objects, group)]
            cases += zones
            said = {text for each in found.reasons if isinstance(each, RejectedByFilters) for text in each.reasons}
            ours.append((case["id"], said, len(zones)))
    wrong, answers = [], iter(ask(program, cases))
    for name, said, number in ours:
        # The group brings a node where a node of one zone takes the Pod.
        every = [_reasons(next(answers)) for _ in range(number)]
        known = [each for each in every if each is not None]
        theirs = set[str]().union(*known) if all(known) else set()
        if (said != theirs) if len(known) == number else not said and all(known):
            wrong.append(f"{name}: {sorted(said)}, kube-scheduler: {sorted(theirs)}")
    return len(ours), wrong


def _reasons(answer: Object) -> set[str] | None:
    """Return why kube-scheduler refuses the new node; None where it refuses the Pod before it looks at nodes."""
    if "prefilter" in answer:
        return None
    return {text for each in answer.get("each", {}).values() for text in each.get(NEW, {}).get("reasons", ())}


def decided(objects: list[Object], pending: Object, groups: list[str]) -> tuple[PoolDecision, ...]:
    """Return what we decide about each group; each may grow."""
    snapshot = snapshot_of([*objects, pending])
    pod = next(each for each in snapshot.all(Pod) if each.metadata.name == pending["metadata"]["name"])
    known = [NodeGroupStatus(name=each, health=NodeGroupHealth(max_size=9)) for each in groups]
    return decide(pod, Handle.build(snapshot, profile_of({"kubeVersion": f"v{RELEASE}"})), known).pools


@pytest.mark.e2e
def test_kube_scheduler_decides_the_same_about_new_nodes(pytestconfig: pytest.Config) -> None:
    if "e2e" not in pytestconfig.option.markexpr:
        pytest.skip("needs the oracle: make e2e")
    asked, wrong = refuted(oracle(RELEASE), seed=SEED, count=COUNT)
    assert asked >= COUNT
    assert not wrong, "\n".join(wrong)


def main() -> int:
    """Print what kube-scheduler says of other clusters."""
    parser = argparse.ArgumentParser(description="Put nodes to come to kube-scheduler.")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--count", type=int, default=COUNT)
    given = parser.parse_args()
    asked, wrong = refuted(oracle(RELEASE), seed=given.seed, count=given.count)
    sys.stdout.write(
        "\n".join([*wrong, f"{asked} new nodes put to kube-scheduler v{RELEASE}, {len(wrong)} refuted", ""])
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

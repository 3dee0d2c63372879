"""``why-pending`` where the cause, or what would help, is not what a glance at the nodes says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.build import ZONE, Object, node, pod, spread
from tests.build_workloads import revision, template, workload
from tests.cli.once_wrong import ON_ZONES, SHUT, ZONES, asked, deployed, pods_of

BIG = {"cpu": "6"}
PAIR = (*ZONES[:2], node("b1", zone="b", taints=["dedicated=gpu:NoSchedule"]))
FULL = template(requests=BIG)
"""Pods of which a node takes one."""
LEAVING = pod("old", on="a1", requests=BIG, terminating=True)
LEAVING["metadata"] |= {
    "finalizers": [],
    "deletionGracePeriodSeconds": 300,
    "deletionTimestamp": "2100-01-01T00:00:00Z",
}


def old_and_new() -> list[Object]:
    """Return a Deployment that rolls out from one track to another, with a constraint that counts the old one alone."""
    old, new = ({"app": "web", "track": track} for track in ("old", "new"))
    pods = template(spread(ZONE, selector={"matchLabels": old}), labels=new)
    made = workload("Deployment", "web", pods=pods, replicas=3)
    first, second = revision("web", 1, pods=template(labels=old)), revision("web", 2, pods=pods)
    running = pods_of("ReplicaSet", "web-h1", "a1", "a1", "b1", "b1", pods=first["spec"]["template"])
    return [made, first, second, *running, *pods_of("ReplicaSet", "web-h2", "", pods=second["spec"]["template"])]


def batch() -> list[Object]:
    """Return a Job that fails with its first Pod, which fills a1."""
    pods = template(requests=BIG, restartPolicy="Never", labels={"app": "batch"})
    made = workload("Job", "batch", pods=pods, backoffLimit=0, parallelism=1)
    return [made, *pods_of("Job", "batch", "a1", pods=pods)]


def daemons() -> list[Object]:
    """Return a DaemonSet whose Pods the constraint of a Deployment counts, on both nodes of zone a."""
    pods = template(labels={"app": "agent", "team": "web"})
    living = pods_of("DaemonSet", "agent", "a1", "a2", pods=pods)
    counting = template(spread(ZONE, selector={"matchLabels": {"team": "web"}}), labels={"app": "web", "team": "web"})
    return [workload("DaemonSet", "agent", pods=pods), *living, *deployed("b1", "", pods=counting)]


def stateful(mark: str) -> list[Object]:
    """Return a StatefulSet whose Pod fills a1 and carries the mark."""
    pods = template(requests=BIG, labels={"app": "db"})
    made = workload("StatefulSet", "db", pods=pods, replicas=1)
    (living,) = pods_of("StatefulSet", "db", "a1", pods=pods)
    living["metadata"]["annotations"] = {mark: "true"}
    return [made, living]


def kept(objects: Sequence[Object]) -> list[Object]:
    """Return the objects, the first of which Argo CD keeps."""
    first, *rest = objects
    tracked = {"argocd.argoproj.io/tracking-id": "front:apps/Deployment:default/web"}
    return [{**first, "metadata": {**first["metadata"], "annotations": tracked}}, *rest]


OFFERS: Mapping[str, tuple[Sequence[Object], Sequence[str], Sequence[str]]] = {
    "its Job would fail": (
        [*PAIR, *batch(), *deployed("", pods=FULL)],
        ["RemoveTaint", "AddToleration"],
        ["deleting default/batch-0 on a1 (its Job would count it as failed)"],
    ),
    "it would come back to the same node": (
        [*ZONES, node("a2", zone="a"), SHUT, *daemons()],
        ["AddMatchLabelKeys", "HonorTaints", "RaiseMaxSkew", "MakeSoft", "FixSelector", "RemoveTaint", "AddToleration"],
        [],
    ),
    "it must not be disturbed": (
        [*PAIR, *stateful("karpenter.sh/do-not-disrupt"), *deployed("", pods=FULL)],
        ["RemoveTaint", "AddToleration"],
        ["deleting default/db-0 on a1 (it is marked karpenter.sh/do-not-disrupt: true)"],
    ),
    "a constraint that misses its own Pod is mended first, and label keys would turn it off": (
        [*ZONES, SHUT, *old_and_new()],
        ["FixSelector", "RaiseMaxSkew", "MakeSoft", "MovePod", "MovePod", "RemoveTaint", "AddToleration"],
        [],
    ),
}


@pytest.mark.parametrize(("objects", "offered", "alone"), OFFERS.values(), ids=OFFERS)
def test_what_would_do_harm_is_not_offered(
    tmp_path: Path, objects: Sequence[Object], offered: Sequence[str], alone: Sequence[str]
) -> None:
    item = asked(tmp_path, "why-pending", objects, "-o", "json").item
    assert ([fix["id"] for fix in item["fixes"]], item["leftAlone"]) == (offered, alone)


def test_beside_a_fix_that_lets_in_none_stands_one_that_does(tmp_path: Path) -> None:
    """The partition keeps the Pod on the old template, and the taint keeps its node for others."""
    pods = template(ON_ZONES)
    behind = {"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}
    made = workload("StatefulSet", "web", pods=pods, replicas=3, updateStrategy=behind)
    living = pods_of("StatefulSet", "web", "a1", "b1", "", pods=pods)
    lines = asked(tmp_path, "why-pending", [*ZONES[:2], SHUT, made, *living]).stdout.splitlines()
    named = [line.split(":")[0].strip() for line in lines if line.startswith(("  1. ", "  2. "))]
    assert named == ["1. HonorTaints", "2. RemoveTaint"]


def test_what_argo_cd_keeps_is_changed_in_its_source(tmp_path: Path) -> None:
    item = asked(tmp_path, "why-pending", [*ZONES[:2], SHUT, *kept(deployed("a1", ""))], "-o", "json").item
    patched = [(fix["id"], command) for fix in item["fixes"] for command in fix["commands"] if "deployment" in command]
    advice = "change it in its source (Argo CD application front): a patch will be reverted"
    told = {fix["id"]: advice in fix["starts"] and "kind: Deployment" in fix["yaml"] for fix in item["fixes"]}
    assert patched == []
    by_owner = ("HonorTaints", "RaiseMaxSkew", "MakeSoft", "AddToleration")
    assert told == {"RemoveTaint": False, **dict.fromkeys(by_owner, True)}

"""``why-pending`` where the cause, or what would help, is not what a glance at the nodes says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.build import ZONE, Object, app, node, pod, spread
from tests.build_devices import CLAIMING, device_class, resource_claim, resource_slice
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
GPU = {"example.com/gpu": "1"}
AGENTS = node("b1", zone="b", taints=["node.cilium.io/agent-not-ready=x:NoSchedule"])
COMBINED = [
    node("a1", zone="a", labels={"rack": "r1"}),
    node("a2", zone="a", labels={"rack": "r2"}),
    node("c1", zone="c", labels={"rack": "r1"}, taints=["dedicated=gpu:NoSchedule"]),
]


def waiting(**fields: Any) -> Object:  # noqa: ANN401 - any field of the spec, by the API's name
    """Return a Pending Pod of nobody, which spreads over zones."""
    return pod("web", labels={"app": "web"}, topologySpreadConstraints=[ON_ZONES], **fields)


def old_and_new() -> list[Object]:
    """Return a Deployment that rolls out from one track to another, with a constraint that counts the old one alone."""
    old, new = ({"app": "web", "track": track} for track in ("old", "new"))
    pods = template(spread(ZONE, selector={"matchLabels": old}), labels=new)
    made = workload("Deployment", "web", pods=pods, replicas=3)
    first, second = revision("web", 1, pods=template(labels=old)), revision("web", 2, pods=pods)
    running = pods_of("ReplicaSet", "web-h1", "a1", "a1", "b1", "b1", pods=first["spec"]["template"])
    return [made, first, second, *running, *pods_of("ReplicaSet", "web-h2", "", pods=second["spec"]["template"])]


CAUSES: Mapping[str, tuple[Sequence[Object], int, str]] = {
    "a DeviceClass stands for the resource": (
        [
            *ZONES,
            device_class(stands_for="example.com/gpu"),
            resource_slice("a1"),
            waiting(containers=template(requests=GPU)["spec"]["containers"]),
        ],
        3,
        (
            "default/web needs devices, and which nodes have them is not modelled;"
            " kube-scheduler's filters would allow default/web on a1."
        ),
    ),
    "its devices are on a node that is shut": (
        [
            *PAIR,
            device_class(),
            resource_claim(has=["b1/d0"], node="b1"),
            resource_slice("b1"),
            waiting(**CLAIMING),
        ],
        1,
        (
            "default/web is Pending. No spread constraint is the cause. b1 has the untolerated taint"
            " dedicated=gpu:NoSchedule; a1: resourceclaim not available on the node."
        ),
    ),
    "another scheduler decides": (
        [*ZONES, SHUT, *deployed("a1", "b1", "", pods=template(ON_ZONES, schedulerName="volcano"))],
        3,
        (
            "volcano schedules this Pod; kube-scheduler's filters would reject default/web-h1-2:"
            " the Pod may only go to zone c, which has the fewest Pods (0), but its only node, c1, is not available:"
            " taint dedicated=gpu:NoSchedule. This node counts because nodeTaintsPolicy is Ignore (the default)."
        ),
    ),
    "no scheduler has that name": (
        [*ZONES, waiting(schedulerName="defualt-scheduler")],
        3,
        "defualt-scheduler schedules this Pod; kube-scheduler's filters would allow default/web on a1, b1.",
    ),
    "what is in the way goes by itself": (
        [*ZONES[:2], LEAVING, *deployed("", pods=FULL)],
        1,
        (
            "default/web-h1-0 is Pending (its only replica). default/old on a1 is being deleted and still in the way:"
            " a1 takes this Pod once it is gone."
        ),
    ),
    "agents have not opened the zone": (
        [*ZONES[:2], AGENTS, *deployed("a1", "")],
        1,
        (
            "default/web-h1-1 is Pending (1 of 2 replicas runs). The Pod may only go to zone b, which has the fewest"
            " Pods (0), but its only node, b1, is not available: taint node.cilium.io/agent-not-ready=x:NoSchedule."
            " This node counts because nodeTaintsPolicy is Ignore (the default)."
        ),
    ),
    "the selector counts others": (
        [*ZONES, SHUT, *old_and_new()],
        1,
        (
            "default/web-h2-0 is Pending (all 3 replicas run). The constraint on zone counts Pods with"
            " app=web,track=old, but not this Pod. The Pod may only go to zone c, which has the fewest Pods (0), but"
            " its only node, c1, is not available: taint dedicated=gpu:NoSchedule. This node counts because"
            " nodeTaintsPolicy is Ignore (the default)."
        ),
    ),
    "its PodGroup is not complete": (
        [*ZONES, waiting(schedulingGroup={"podGroupName": "train"})],
        3,
        (
            "default/web is held until its PodGroup is complete (PodGroup train);"
            " kube-scheduler's filters would allow default/web on a1, b1."
        ),
    ),
    "its claim does not exist": (
        [*ZONES, waiting(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "gone"}}])],
        1,
        'default/web is Pending. persistentvolumeclaim "gone" not found: no node is evaluated.',
    ),
    "each leaves a node, both together leave none": (
        [*COMBINED, *deployed("a1", "a1", "", pods=template(ON_ZONES, spread("rack", selector=app("web"))))],
        1,
        (
            "default/web-h1-2 is Pending (2 of 3 replicas run). No node meets both requirements:"
            " only c1 meets the constraint on zone; only a2 meets the constraint on rack."
        ),
    ),
    "two filters shut one node": (
        [
            ZONES[0],
            ZONES[1],
            SHUT,
            pod("agent", on="c1", requests={"cpu": "8"}),
            *deployed("a1", "", pods=template(ON_ZONES, requests={"cpu": "1"})),
        ],
        1,
        (
            "default/web-h1-1 is Pending (1 of 2 replicas runs). The Pod may only go to zone c, which has the fewest"
            " Pods (0), but its only node, c1, is not available: taint dedicated=gpu:NoSchedule and 1 cpu requested, 0"
            " free. This node counts because nodeTaintsPolicy is Ignore (the default)."
        ),
    ),
}


@pytest.mark.parametrize(("objects", "code", "first"), CAUSES.values(), ids=CAUSES)
def test_the_first_line_is_the_cause(tmp_path: Path, objects: Sequence[Object], code: int, first: str) -> None:
    ended = asked(tmp_path, "why-pending", objects)
    assert (ended.code, ended.stdout.splitlines()[0]) == (code, first)


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
    "it ends by itself": (
        [*ZONES[:2], LEAVING, *deployed("", pods=FULL)],
        [],
        ["deleting default/old on a1 (it is being deleted and ends within 300s)"],
    ),
    "agents take their taints away": (
        [*ZONES[:2], AGENTS, *deployed("a1", "")],
        ["HonorTaints", "RaiseMaxSkew", "MakeSoft"],
        ["tolerating the taint of b1 (Cilium's agent does not run there; the taint clears on recovery)"],
    ),
    "no controller recreates it": (
        [*ZONES[:2], pod("bare", on="a1", requests=BIG), *deployed("", pods=FULL)],
        ["MovePod"],
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

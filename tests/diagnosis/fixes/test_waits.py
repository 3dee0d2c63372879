"""What lets a Pod in by itself, which is said before any fix."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import UNSET

from tests.build import Object, node
from tests.build_storage import storage_class
from tests.build_workloads import owned, revision, template, workload
from tests.diagnosis.fixes import owners
from tests.diagnosis.fixes.clusters import search, web, zones

NOT_READY: Object = {"taints": ["node.kubernetes.io/not-ready:NoSchedule"]}
CORDONED: Object = {"unschedulable": True, "taints": ["node.kubernetes.io/unschedulable:NoSchedule"]}
RUNNING: Object = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
STARTING: Object = {"phase": "Pending", "conditions": [{"type": "Ready", "status": "False"}]}
LEAVING: Object = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["foregroundDeletion"]}
MACHINE_CONFIG = "machineconfiguration.openshift.io"
LEFT = [web("w-a", on="a1"), web("w-b", on="b1")]


def waits(objects: list[Object], pending: Object, **options: object) -> list[tuple[str, tuple[str, ...]]]:
    """Return (kind, nodes) of each thing that is waited for."""
    found = search(objects, pending, **options).waits
    return [(each.kind, each.nodes) for each in found]


class TestNodes:
    """A node that takes the Pod once it is well again."""

    def test_one_that_is_not_ready(self) -> None:
        (wait,) = search([*zones(c=NOT_READY), *LEFT], web()).waits
        assert (wait.kind, wait.sure, wait.nodes) == ("NodeRecovery", False, ("c1",))

    @pytest.mark.parametrize(
        "closed",
        [
            {"taints": ["node.kubernetes.io/not-ready:NoSchedule", "dedicated=gpu:NoSchedule"]},
            {"taints": ["dedicated=gpu:NoSchedule"]},
            {**NOT_READY, "allocatable": {"pods": "0"}},
            CORDONED,
        ],
        ids=["is reserved too", "is reserved", "is full too", "is cordoned and nothing more"],
    )
    def test_not_one_that(self, closed: Object) -> None:
        assert waits([*zones(c=closed), *LEFT], web()) == []

    def test_the_last_one_of_a_zone_that_is_about_to_leave(self) -> None:
        """Then the zone no longer counts. Where another of its nodes stays, it does."""
        leaving: Object = {"taints": ["ToBeDeletedByClusterAutoscaler:NoSchedule"]}
        (found,) = search([*zones(c=leaving), *LEFT], web()).waits
        assert (found.kind, found.nodes) == ("NodeRemoval", ("c1",))
        assert found.message.startswith("c1 to be removed (about to be deleted by an autoscaler): without it, the Pod")
        full = node("c2", zone="c", allocatable={"pods": "0"})
        assert waits([*zones(c=leaving), full, *LEFT], web()) == []

    @pytest.mark.parametrize(
        "leaves",
        [
            {"spec": {"taints": [{"key": "ToBeDeletedByClusterAutoscaler", "value": "1", "effect": "NoSchedule"}]}},
            {"spec": {"taints": [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]}},
            {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}},
        ],
    )
    def test_one_that_is_cordoned_and_about_to_leave(self, leaves: Object) -> None:
        nodes = zones(c=CORDONED)
        nodes[2]["metadata"] |= leaves.get("metadata", {})
        nodes[2]["spec"]["taints"] += leaves.get("spec", {}).get("taints", [])
        report = search([*nodes, *LEFT], web())
        assert [(wait.kind, wait.nodes) for wait in report.waits] == [("NodeRemoval", ("c1",))]
        assert "Uncordon" not in {fix.id for fix in report.fixes}

    def test_one_that_is_full_of_what_ends_once_it_recovers(self) -> None:
        """No kubelet ends Pods while the node is away. Pods that stay are still in the way after it."""
        away: Object = {"taints": ["node.kubernetes.io/unreachable:NoSchedule"], "allocatable": {"cpu": "4"}}
        ends = web("w-c", on="c1", requests={"cpu": "3"})
        stays = json.loads(json.dumps(ends))
        ends["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        (found,) = search([*zones(c=away), *LEFT, ends], web(requests={"cpu": "2"})).waits
        assert found.message == "c1 to recover (kubelet unreachable), and for default/w-c to end there"
        assert waits([*zones(c=away), *LEFT, stays], web(requests={"cpu": "2"})) == []

    @pytest.mark.parametrize(
        ("value", "goes_on"),
        [
            ("kernel", True),
            ("do not schedule until the repair is done", True),
            ("not done", True),
            ("status: not done", True),
            ({"weave.works/kured-reboot-in-progress": "kernel"}, True),
            ({f"{MACHINE_CONFIG}/state": "Working"}, True),
            ({f"{MACHINE_CONFIG}/desiredDrain": "drain-rendered-1"}, True),
            ({f"{MACHINE_CONFIG}/state": "Done", f"{MACHINE_CONFIG}/desiredDrain": "uncordon-rendered-1"}, False),
            ("CHG-1 BIOS, window 05:30-07:30Z, status: done", False),
            ("completed", False),
            ("none", False),
        ],
    )
    def test_one_whose_maintenance_goes_on(self, value: Object | str, *, goes_on: bool) -> None:
        """It may be uncordoned, but not first."""
        nodes = zones(c=CORDONED)
        nodes[2]["metadata"]["annotations"] = {"example.com/maintenance": value} if isinstance(value, str) else value
        report = search([*nodes, *LEFT], web())
        assert [wait.kind for wait in report.waits] == ["NodeRecovery"] * goes_on
        (uncordon,) = (fix for fix in report.fixes if fix.id == "Uncordon")
        assert (uncordon.overrides is UNSET) is not goes_on
        assert not goes_on or report.fixes[0] is not uncordon

    @pytest.mark.parametrize(
        ("condition", "status", "problem"),
        [
            ("ReadonlyFilesystem", "True", True),
            ("ReadonlyFilesystem", "False", False),
            ("StorageReady", "False", True),
            ("StorageReady", "True", False),
            ("EtcdIsVoter", "True", False),
            ("KubeletConfigOk", "True", False),
            ("KernelDeadlock", "Unknown", False),
        ],
    )
    def test_a_cordoned_one_with_a_problem(self, condition: str, status: str, *, problem: bool) -> None:
        """Only the node without a problem is as good as the first."""
        nodes = [*zones(c=CORDONED), *(node(name, zone="c", **CORDONED) for name in ("c2", "c3"))]
        nodes[2]["status"]["conditions"] = [{"type": condition, "status": status}]
        found = search([*nodes, *LEFT], web())
        waited = f"c1 to recover (condition {condition}), and to be uncordoned"
        assert [each.message for each in found.waits] == ([waited] if problem else [])
        offered = [(fix.summary, fix.alike) for fix in found.fixes if fix.id == "Uncordon"]
        ill = (f"uncordon c1, although its condition {condition} reports a problem", ())
        assert offered == ([("uncordon c2", ("c3",)), ill] if problem else [("uncordon c1", ("c2", "c3"))])
        (new,) = (fix for fix in found.new_nodes if "zone c" in fix.summary)
        assert (", but healthy," in new.summary) == problem

    def test_one_that_is_cordoned_too(self) -> None:
        nodes = zones(c={**CORDONED, "taints": [*CORDONED["taints"], *NOT_READY["taints"]]})
        nodes[2]["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
        (found,) = search([*nodes, *LEFT], web()).waits
        assert found.message == "c1 to recover (not ready), and to be uncordoned"

    def test_nothing_is_waited_for_where_a_node_takes_the_pod(self) -> None:
        assert search([*zones(), *LEFT], web()).waits == ()


def leaving(name: str, *, on: str, until: str = "2026-01-01T00:00:30Z", **fields: object) -> Object:
    """Return a Pod of three cores that is being deleted, with a grace period of 30 seconds, ``until`` its end."""
    made = web(name, on=on, requests={"cpu": "3"}, **fields)
    made["metadata"] |= {"deletionTimestamp": until, "deletionGracePeriodSeconds": 30}
    return made


class TestPodsThatEnd:
    """Pods in the way that are being deleted."""

    CROWDED = (*zones(c={"allocatable": {"cpu": "6"}}), *LEFT)
    BOTH = (leaving("w-c", on="c1"), leaving("w-d", on="c1"))

    def test_all_that_have_to_end_are_named(self) -> None:
        unconcerned = leaving("w-e", on="a1")
        found = search([*self.CROWDED, *self.BOTH, unconcerned], web(requests={"cpu": "4"}))
        (wait,) = found.waits
        assert (wait.pod, wait.pods, wait.nodes) == ("default/w-c", ("default/w-c", "default/w-d"), ("c1",))
        assert wait.message.endswith("end within 30s")

    def test_one_whose_grace_period_is_over_is_not_promised_to_end(self) -> None:
        over = leaving("w-d", on="c1", until="2026-01-01T00:00:10Z")
        objects = [*self.CROWDED, self.BOTH[0], over]
        (wait,) = search(objects, web(requests={"cpu": "4"}), now="2026-01-01T00:00:20Z").waits
        assert "grace period ended at 2026-01-01T00:00:10Z" in wait.message

    def test_none_is_waited_for_where_another_pod_stays_in_the_way(self) -> None:
        stays = web("w-f", on="c1", requests={"cpu": "3"}, owner={"kind": "Job", "name": "j"})
        assert waits([*self.CROWDED, self.BOTH[0], stays], web(requests={"cpu": "6"})) == []


def rollout(*, unavailable: int, paused: bool = False) -> tuple[list[Object], Object]:
    """Return a Deployment of three whose first new Pod starts, and its second one, which waits for room.

    ``unavailable`` is maxUnavailable.
    """
    old, new = (template(requests={"cpu": "1"}, terminationGracePeriodSeconds=seconds) for seconds in (30, 9))
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": unavailable}}
    sets = [revision("web", 1, pods=old), revision("web", 2, pods=new)]
    for each in sets:
        each["spec"]["replicas"] = 2

    def made(name: str, by: str, on: str = "", status: Object | None = None) -> Object:
        each = owned(name, "ReplicaSet", f"web-{by}", on=on, labels={"pod-template-hash": by}, requests={"cpu": "1"})
        return each | ({"status": status} if status else {})

    nodes = [node("a1", allocatable={"cpu": "2"}), node("b1", allocatable={"cpu": "1"})]
    owner = workload("Deployment", "web", pods=new, replicas=3, strategy=rolling, paused=paused)
    living = [made("w-1", "h1", "a1", RUNNING), made("w-2", "h1", "b1", RUNNING), made("w-3", "h2", "a1", STARTING)]
    return [*nodes, owner, *sets, *living], made("w-4", "h2")


@pytest.mark.parametrize("kind", ["StatefulSet", "Pod"])
def test_a_missing_claim_that_the_controller_of_the_pod_creates(kind: str) -> None:
    """The Pod needs no deletion for that: its template has not changed."""
    template: Object = {"metadata": {"name": "disk"}, "spec": {"storageClassName": "zonal"}}
    objects = [*zones(), storage_class("zonal")]
    pending = web("web-0", volumes=[{"name": "disk", "ephemeral": {"volumeClaimTemplate": template}}])
    if kind == "StatefulSet":
        by = {**owners.owner(kind, web(), volumeClaimTemplates=[template]), "status": {"updateRevision": "web-1"}}
        disk = {"name": "disk", "persistentVolumeClaim": {"claimName": "disk-web-0"}}
        pending = owners.owned(web("web-0", volumes=[disk]), by, **{"controller-revision-hash": "web-1"})
        objects.append(by)
    found = search(objects, pending)
    name = "disk-web-0" if kind == "StatefulSet" else "web-0-disk"
    (wait,) = found.waits
    assert (wait.kind, wait.message.split()[-1], found.fixes) == ("ClaimCreation", name, ())


class TestRollouts:
    """The rollout of the Pod's own Deployment."""

    def test_one_that_takes_the_pods_in_the_way(self) -> None:
        (wait,) = search(*rollout(unavailable=1)).waits
        assert (wait.kind, wait.workload) == ("RolloutGoesOn", "deployment/web")

    @pytest.mark.parametrize(
        ("unavailable", "paused"),
        [(0, False), (1, True)],
        ids=["may remove none before this Pod is Ready", "is paused"],
    )
    def test_not_one_that(self, unavailable: int, *, paused: bool) -> None:
        assert waits(*rollout(unavailable=unavailable, paused=paused)) == []


def of_job(*on: str, status: Object = RUNNING, succeeded: int = 0, **spec: Any) -> tuple[list[Object], Object]:  # noqa: ANN401 - any field
    """Return a Job with a Pod on each of these nodes, of which zone c has no room for more, and its Pending Pod."""
    one: Object = {"requests": {"cpu": "3"}}
    by = owners.owner("Job", web(**one), **spec) | {"status": {"succeeded": succeeded}}
    made = [owners.owned(web(f"web-{n}", on=name, **one), by) | {"status": status} for n, name in enumerate(on)]
    nodes = zones(c={"allocatable": {"cpu": "4"}})
    return [*nodes, by, web("large", on="c1", labels={}, requests={"cpu": "1"}), *made], owners.owned(web(**one), by)


MANY: Object = {"parallelism": 6, "completions": 40}


class TestJobs:
    """Other Pods of the Pod's own Job, which end by themselves."""

    def test_any_of_them(self) -> None:
        found = search(*of_job("a1", "a1", "b1", "b1", "c1", **MANY))
        (wait,) = found.waits
        assert (wait.kind, wait.sure, wait.workload, wait.nodes) == ("JobGoesOn", True, "job/web", ("a1", "b1", "c1"))

    def test_only_those_whose_end_lets_it_in_are_named(self) -> None:
        """Zone a stays beyond maxSkew with one Pod less."""
        (wait,) = search(*of_job("a1", "a1", "a1", "b1", "b1", "c1", completions=40, parallelism=7)).waits
        assert wait.message.startswith("one of the 3 running Pods of job/web on b1 and c1 to end: then this Pod,")
        (wait,) = search(*of_job("a1", "a1", "a1", "b1", "b1", "b1", "c1", completions=40, parallelism=8)).waits
        assert wait.message.startswith("the running Pod of job/web on c1 to end: then this Pod,")

    @pytest.mark.parametrize(
        ("status", "spec", "waited"),
        [
            (STARTING, MANY, False),
            (RUNNING, {"completionMode": "Indexed", "completions": 6, "parallelism": 6}, False),
            (RUNNING, {"completionMode": "Indexed", **MANY}, True),
            (RUNNING, {"completionMode": "Indexed", "completions": 7, "parallelism": 7, "succeeded": 1}, True),
        ],
        ids=["none runs", "they may wait for each other", "one after another", "one has succeeded"],
    )
    def test_only_those_that_end_without_the_pending_one(self, status: Object, spec: Object, *, waited: bool) -> None:
        kinds = {kind for kind, _ in waits(*of_job("a1", "a1", "b1", "b1", "c1", status=status, **spec))}
        assert kinds == ({"JobGoesOn"} if waited else set())

    def test_those_of_another_job_are_not_waited_for(self) -> None:
        objects, pending = of_job("a1", "a1", "b1", "b1", "c1")
        pending["metadata"]["ownerReferences"][0]["name"] = "another"
        assert waits(objects, pending) == []

    @pytest.mark.parametrize(
        ("namespace", "priority", "cpu", "waited"),
        [("batch", 7, "3", True), ("default", 7, "3", True), ("batch", 0, "3", False), ("batch", 7, "1", False)],
        ids=["of others", "of the same namespace", "of the same priority", "too small without the other Pod"],
    )
    def test_another_job_of_a_higher_priority(self, namespace: str, priority: int, cpu: str, *, waited: bool) -> None:
        """The Pod needs the room of both its Pods; no end of one of them, which the Job replaces, is waited for."""
        by = owners.owner("Job", web(), parallelism=2, completions=9)
        asks: Object = {"labels": {}, "requests": {"cpu": cpu}, "priority": priority}
        made = [owners.owned(web(f"job-{n}", on="c1", **asks), by) for n in "01"]
        for each in (by, *made):
            each["metadata"]["namespace"] = namespace
        full = web("large", on="c1", labels={}, requests={"cpu": "1" if cpu == "3" else "5"})
        cluster = [*zones(c={"allocatable": {"cpu": "7"}}), *LEFT, full, by, *made]
        ends = search(cluster, web(requests={"cpu": "5"})).waits
        assert [(wait.kind, wait.sure, wait.workload) for wait in ends] == [("JobEnd", False, "job/web")] * waited
        assert all("ask the owner" in wait.message for wait in ends) == (not waited or namespace == "batch")

    def test_a_job_of_another_api_cannot_be_suspended(self) -> None:
        by = owners.owner("Job", web()) | {"apiVersion": "batch.volcano.sh/v1alpha1"}
        made = owners.owned(web("job-0", on="c1", labels={}, requests={"cpu": "3"}, priority=7), by)
        assert waits([*zones(c={"allocatable": {"cpu": "7"}}), *LEFT, made], web(requests={"cpu": "5"})) == []


def unwanted(
    kind: str,
    metadata: Object,
    *,
    waiting: int = 1,
    condition: str = "",
    **spec: Any,  # noqa: ANN401 - any field
) -> tuple[list[Object], Object]:
    """Return an owner with Pods on a1 and b1 and ``waiting`` Pods without a node, of which the last is asked about."""
    by = owners.owner(kind, web(), **spec) | {"status": {"conditions": [{"type": condition, "status": "True"}]}}
    by["metadata"] |= metadata
    closed = zones(c={"taints": ["dedicated=gpu:NoSchedule"]})
    *others, asked = (owners.owned(web(f"web-{n}"), by) for n in range(waiting))
    return [*closed, by, *others, *(owners.owned(web(f"on-{n}", on=n), by) for n in ("a1", "b1"))], asked


class TestRemoval:
    """A Pod that its owner has deleted: no change is of use."""

    @pytest.mark.parametrize(
        ("kind", "metadata", "spec", "why"),
        [
            ("ReplicaSet", {}, {"replicas": 0}, "replicaset/web wants no Pods"),
            ("ReplicationController", {}, {"replicas": 0}, "replicationcontroller/web wants no Pods"),
            ("Job", {}, {"suspend": True}, "job/web is suspended"),
            ("Job", {}, {"parallelism": 2, "completions": 9}, "job/web has more Pods than it needs"),
            ("Job", {}, {"parallelism": 1, "completions": 9, "waiting": 2}, "job/web has more Pods than it needs"),
            ("Job", {}, {"parallelism": 9, "condition": "FailureTarget"}, "job/web has more Pods than it needs"),
            ("Job", {}, {"parallelism": 9, "condition": "SuccessCriteriaMet"}, "job/web has more Pods than it needs"),
            ("StatefulSet", LEAVING, {"replicas": 3}, "statefulset/web is being deleted"),
        ],
    )
    def test_because_of(self, kind: str, metadata: Object, spec: Object, why: str) -> None:
        found = search(*unwanted(kind, metadata, **spec))
        (wait,) = found.waits
        assert (wait.kind, wait.sure, wait.message) == ("PodRemoval", True, f"this Pod to be deleted: {why}")
        assert (found.fixes, found.new_nodes) == ((), ())

    @pytest.mark.parametrize(
        ("kind", "metadata", "spec"),
        [
            ("ReplicaSet", {}, {"replicas": 2}),
            ("StatefulSet", {}, {"replicas": 2}),
            ("Job", {}, {"parallelism": 3, "completions": 9, "waiting": 2}),
            ("Job", {}, {"parallelism": 9, "condition": "Complete"}),
            ("Job", {}, {"suspend": True, "managedBy": "kueue.x-k8s.io/multikueue"}),
            ("Job", {**LEAVING, "finalizers": ["orphan"]}, {"suspend": True}),
            ("StatefulSet", {**LEAVING, "finalizers": ["orphan"]}, {"replicas": 3}),
            ("StatefulSet", {**LEAVING, "finalizers": ["example.com/hold"]}, {"replicas": 3}),
        ],
        ids=[
            "its controller has not looked yet",
            "has an order",
            "one of two is deleted",
            "its controller is done with it",
            "another controller has it",
            "a Job that is being deleted deletes none",
            "its Pods stay",
            "something keeps it",
        ],
    )
    def test_not_of_one_that_may_stay(self, kind: str, metadata: Object, spec: Object) -> None:
        assert "PodRemoval" not in {kind for kind, _ in waits(*unwanted(kind, metadata, **spec))}

    @pytest.mark.parametrize(("asked", "running", "goes"), [(1, (0, 2), False), (2, (0, 1), True)])
    def test_pods_of_indexes_that_a_job_no_longer_has_go_before_others(
        self, asked: int, running: tuple[int, int], *, goes: bool
    ) -> None:
        objects, pending = unwanted("Job", {}, completionMode="Indexed", completions=2, parallelism=2)
        for index, each in zip((*running, asked), (*objects[-2:], pending), strict=True):
            each["metadata"]["labels"] |= {"batch.kubernetes.io/job-completion-index": str(index)}
        assert ("PodRemoval" in {kind for kind, _ in waits(objects, pending)}) is goes

"""Which Pods may be moved out of the way, and when that is worse than leaving them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kubectl_spread.diagnosis.fixes import moves
from kubectl_spread.diagnosis.fixes.change import Disturbance
from kubectl_spread.diagnosis.fixes.search import MOST_ALIKE_IN_PAIRS
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.objects import kinds
from kubectl_spread.wording.fixes import OVERTAKEN
from tests import build_storage
from tests.build import HOSTNAME, ZONE, Object, app, handle, node, pod, spread, typed_pod
from tests.diagnosis.fixes.clusters import fixes, search, web, zones
from tests.diagnosis.fixes.owners import owned, owner

RS = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "other"}
STATIC = {"apiVersion": "v1", "kind": "Node", "name": "n"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
BIG = {"cpu": "6"}


def claim(name: str) -> list[Object]:
    return [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]


def budget(*, allowed: int, **selector: str) -> Object:
    """Return a budget of the default namespace for Pods with these labels."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "budget", "namespace": "default"},
        "spec": {"selector": {"matchLabels": selector}},
        "status": {"disruptionsAllowed": allowed},
    }


def full(**fields: object) -> list[Object]:
    """Return a node whose room a Pod holds, and one with room for small Pods; ``fields`` of the Pod."""
    holder = pod("holder", **{"on": "n", "requests": BIG, "labels": {"app": "other"}, "owner": RS, **fields})  # type: ignore[arg-type] # any field, by the builder's own names
    return [node("n"), holder, node("small", allocatable={"cpu": "6"}, taints=["small=:NoSchedule"])]


def obstacles(objects: Sequence[Object], pending: Object) -> list[str]:
    """Return the names of the Pods without which the Pod may have a node."""
    asked = Situation(typed_pod(pending), handle([*objects, pending]))
    return [each.metadata.name for each, _ in moves.obstacles(asked)]


TOLERANT: Object = {"tolerations": [{"key": "small", "operator": "Exists"}]}
PENDING = pod("p", requests={"cpu": "8"})


class TestWhich:
    """Pods that hold what the Pod needs."""

    def test_one_that_holds_the_room(self) -> None:
        found = fixes(full(**TOLERANT), PENDING)["MovePod"]
        assert (found.cost, found.feasible, found.commands) == (2, ("n",), ("kubectl delete pod holder -n default",))
        assert found.starts == f"replicaset/other recreates it; {OVERTAKEN}"
        (change,) = found.changes
        assert (change.op, change.target.kind, change.target.name) == ("delete", "Pod", "holder")

    def test_one_whose_data_is_lost(self) -> None:
        found = fixes(full(**TOLERANT, volumes=[{"name": "cache", "emptyDir": {}}]), PENDING)["MovePod"]
        assert found.starts.endswith("; what is in its emptyDir volumes is lost")

    def test_only_those_that_alone_hold_room_enough(self) -> None:
        sizes = {"small": "1", "large": "4", "larger": "5"}
        there = [pod(name, on="n", requests={"cpu": cpu}) for name, cpu in sizes.items()]
        there.append(node("n", allocatable={"cpu": "10"}))
        assert obstacles(there, pod("p", requests={"cpu": "2"})) == ["large", "larger"]

    def test_none_on_a_node_that_is_too_small(self) -> None:
        objects = [node("n", allocatable={"cpu": "10"}), pod("holder", on="n", requests={"cpu": "10"})]
        assert obstacles(objects, pod("p", requests={"cpu": "11"})) == []

    def test_one_that_holds_the_port(self) -> None:
        objects = [node("n"), pod("holder", on="n", host_ports=["80"], namespace="edge"), pod("idle", on="n")]
        moved = [fix for fix in search(objects, pod("p", host_ports=["80"])).fixes if fix.id == "MovePod"]
        assert [fix.commands for fix in moved] == [("kubectl delete pod holder -n edge",)]
        assert obstacles(objects, pod("p", host_ports=["80"])) == ["holder"]

    def test_none_where_two_hold_ports_that_are_asked_for(self) -> None:
        objects = [node("n"), pod("first", on="n", host_ports=["80"]), pod("second", on="n", host_ports=["81"])]
        assert obstacles(objects, pod("p", host_ports=["80", "81"])) == []
        assert obstacles(objects, pod("p", host_ports=["81"])) == ["second"]

    def test_none_of_several_that_are_too_near(self) -> None:
        apart = {"podAntiAffinity": {REQUIRED: [{"labelSelector": {}, "topologyKey": HOSTNAME}]}}
        objects = [node("n"), node("m"), *(pod(name, on=name[0]) for name in ("n-1", "n-2", "m-1"))]
        assert obstacles(objects, pod("p", affinity=apart)) == ["m-1"]

    def test_only_those_with_volumes_where_no_more_can_be_attached(self) -> None:
        disk = {"name": "data", "gcePersistentDisk": {"pdName": "shared"}}
        objects = [node("n"), pod("user", on="n", volumes=[disk]), pod("idle", on="n")]
        assert obstacles(objects, pod("p", volumes=[disk])) == ["user"]

    def test_one_that_is_counted_in_the_crowded_domain(self) -> None:
        tainted = {"taints": ["x=y:NoSchedule"]}
        objects = [*zones(c=tainted), *(web(f"w{i}", on=name) for i, name in enumerate(("a1", "b1", "b1")))]
        found = fixes(objects, web())["MovePod"]
        assert (found.commands, found.feasible) == (("kubectl delete pod w0 -n default",), ("a1",))

    def test_one_that_is_counted_and_holds_the_room_at_once(self) -> None:
        tainted = {"taints": ["x=y:NoSchedule"]}
        objects = [
            *zones(c=tainted),
            web("small", on="a1"),
            *(web(f"big-{name}", on=name, requests=BIG) for name in ("a1", "b1")),
            pod("filler", on="a1", requests={"cpu": "2"}),
        ]
        objects += [web("second", on="b1")]
        moved = [fix for fix in search(objects, web(requests=BIG)).fixes if "MovePod" in fix.id]
        assert not [fix for fix in moved if "small" in fix.summary or "filler" in fix.summary]

    def test_one_that_keeps_the_pod_away_from_anywhere_in_its_zone(self) -> None:
        anti = {"podAntiAffinity": {REQUIRED: [{"labelSelector": app("web"), "topologyKey": ZONE}]}}
        keeper_elsewhere_in_the_zone = [
            node("a1", zone="a"),
            node("a2", zone="a", taints=["x=y:NoSchedule"]),
            pod(
                "keeper",
                on="a2",
                namespace="other",
                affinity={
                    "podAntiAffinity": {
                        REQUIRED: [{"labelSelector": app("web"), "topologyKey": ZONE, "namespaces": ["default"]}]
                    }
                },
            ),
        ]
        found = fixes(keeper_elsewhere_in_the_zone, pod("p", labels={"app": "web"}))["MovePod"]
        assert found.feasible == ("a1",)
        avoided = [
            node("a1", zone="a"),
            node("a2", zone="a", taints=["x=y:NoSchedule"]),
            pod("w", on="a2", labels={"app": "web"}),
        ]
        assert fixes(avoided, pod("p", affinity=anti))["MovePod"].feasible == ("a1",)

    def test_one_that_uses_the_claim_for_one_pod_only(self) -> None:
        cordoned = node("c", unschedulable=True)
        single = build_storage.claim("data", bound_to="pv", modes=["ReadWriteOncePod"])
        disk = build_storage.volume("pv", modes=["ReadWriteOncePod"])
        objects = [node("n"), cordoned, single, disk, pod("user", on="c", volumes=claim("data"))]
        found = fixes(objects, pod("p", volumes=claim("data")))["MovePod"]
        assert found.commands == ("kubectl delete pod user -n default",)

    def test_those_that_open_the_same_are_alike(self) -> None:
        tainted = {"taints": ["x=y:NoSchedule"]}
        counted = [
            web(f"w{i}", on=f"{z}{n}", owner=RS) for i, (z, n) in enumerate((("a", 1), ("a", 2), ("b", 1), ("b", 1)))
        ]
        nodes = [*zones(c=tainted), node("a2", zone="a")]
        moved = [fix for fix in search([*nodes, *counted], web()).fixes if fix.id == "MovePod"]
        assert {(fix.summary.split("/")[1].split()[0], fix.alike) for fix in moved} <= {
            ("w0", ("w1",)),
            ("w2", ("w3",)),
        }


class TestWhen:
    """What must hold for everybody else."""

    def test_not_when_its_successor_finds_no_node(self) -> None:
        assert "MovePod" not in fixes(full(), PENDING)

    @pytest.mark.parametrize("fields", [{"owner": None}, {}], ids=["no owner", "its owner is gone"])
    def test_when_nothing_makes_it_again_that_is_said(self, fields: Object) -> None:
        others = owner("ReplicaSet", pod("t"), name="others")
        assert fixes([*full(**fields), others], PENDING)["MovePod"].starts.endswith(
            ", because no controller recreates it"
        )

    def test_a_pod_under_a_budget_is_evicted_which_the_api_server_may_refuse(self) -> None:
        holder = pod("holder", on="n1", labels={"app": "other"}, requests={"cpu": "4"}, status={"phase": "Running"})
        nodes = [node("n1", allocatable={"cpu": "4"}), node("n2", allocatable={"cpu": "4"}, taints=["x=y:NoSchedule"])]
        pending, found = pod("p", requests={"cpu": "4"}), {}
        for protects in ("other", "none"):
            found[protects] = fixes([*nodes, holder, budget(allowed=1, app=protects)], pending)["MovePod"]
        assert found["other"].summary == "evict the Pod default/holder on n1"
        (command,) = found["other"].commands
        assert command.startswith("echo ")
        assert command.endswith("kubectl create --raw /api/v1/namespaces/default/pods/holder/eviction -f -")
        assert found["none"].commands == ("kubectl delete pod holder -n default",)

    @pytest.mark.parametrize(
        ("allowed", "selected", "namespace", "offered"),
        [
            (0, "other", "default", False),
            (1, "other", "default", True),
            (0, "web", "default", True),
            (0, "other", "elsewhere", True),
        ],
    )
    def test_not_beyond_its_disruption_budget(
        self, allowed: int, selected: str, namespace: str, *, offered: bool
    ) -> None:
        own = budget(allowed=allowed, app=selected)
        own["metadata"]["namespace"] = namespace
        assert ("MovePod" in fixes([*full(**TOLERANT), own], PENDING)) is offered

    def test_not_when_budgets_could_not_be_listed(self) -> None:
        assert "MovePod" not in fixes(full(**TOLERANT), PENDING, unread=[kinds.POD_DISRUPTION_BUDGET])

    def test_that_it_may_come_first_is_said_only_where_that_harms(self) -> None:
        wished = {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": ["small"]}]}
        term = {"weight": 100, "preference": wished}
        preferring = {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}}
        found = fixes(full(**TOLERANT, **preferring), PENDING)["MovePod"]
        assert found.starts == "replicaset/other recreates it"

    @pytest.mark.parametrize(
        "by", [{**RS, "kind": "DaemonSet"}, {**RS, "kind": "Job"}, STATIC], ids=lambda by: by["kind"]
    )
    def test_not_what_belongs_to_its_node_or_counts_as_failed(self, by: Object) -> None:
        report = search(full(**TOLERANT, owner=by), PENDING)
        assert "MovePod" not in {fix.id for fix in report.fixes}
        staying = [line for line in report.left_alone if line.startswith("deleting default/holder on n (")]
        assert bool(staying) is (by["kind"] == "Job")

    @pytest.mark.parametrize(
        ("mark", "value", "offered"),
        [
            ("karpenter.sh/do-not-disrupt", "true", False),
            ("karpenter.sh/do-not-disrupt", "false", True),
            ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false", False),
            ("cluster-autoscaler.kubernetes.io/safe-to-evict", "true", True),
            ("descheduler.alpha.kubernetes.io/prefer-no-eviction", "", False),
            ("kubernetes.io/config.mirror", "5f2a", False),
            ("example.com/note", "true", True),
        ],
    )
    def test_not_a_pod_that_is_marked(self, mark: str, value: str, *, offered: bool) -> None:
        objects = full(**TOLERANT)
        objects[1]["metadata"]["annotations"] = {mark: value}
        found = search(objects, PENDING)
        assert ("MovePod" in {fix.id for fix in found.fixes}) is offered

    def test_a_stateful_set_makes_its_ordinal_again_by_the_newest_template(self) -> None:
        """The template has been changed since: what comes back no longer fits beside the Pending Pod."""
        holder = pod("db-0", on="n", requests=BIG, labels={"app": "web"}, **TOLERANT)
        by = owner("StatefulSet", holder, name="db")
        revision = {"controller-revision-hash": "db-1"}
        by["status"] = {"currentRevision": "db-1", "updateRevision": "db-1"}
        objects = [
            node("n"),
            owned(holder, by, **revision),
            node("small", allocatable={"cpu": "6"}, taints=["small=:NoSchedule"]),
        ]
        assert "MovePod" in fixes([*objects, by], PENDING)
        del by["spec"]["template"]["spec"]["tolerations"]
        by["status"]["updateRevision"] = "db-2"
        assert "MovePod" not in fixes([*objects, by], PENDING)


SILENT: Object = {"conditions": [{"type": "Ready", "status": "Unknown"}]}


class TestTerminating:
    """Pods that are being deleted and hold what the Pod needs."""

    @staticmethod
    def ending(
        *, finalizers: bool = False, grace: int | None = 300, silent: bool = False, **fields: object
    ) -> list[Object]:
        """Return a full node whose holder is being deleted; ``silent``: its kubelet does not answer."""
        objects = full(terminating=True, **fields)
        metadata = objects[1]["metadata"]
        if not finalizers:
            del metadata["finalizers"]
        if grace is not None:
            metadata["deletionGracePeriodSeconds"] = grace
        if silent:
            objects[0]["status"] |= SILENT
        return objects

    @pytest.mark.parametrize(
        ("now", "ends"),
        [
            ("", " and ends within 300s"),
            ("2025-12-31T23:59:00Z", " and ends within 300s"),
            ("2026-01-01T00:01:00Z", ", and its grace period ended at 2026-01-01T00:00:00Z: check the kubelet of n"),
        ],
    )
    def test_end_by_themselves_where_the_node_answers(self, now: str, ends: str) -> None:
        found = search(self.ending(), PENDING, now=now)
        assert "MovePod" not in {fix.id for fix in found.fixes}
        assert found.left_alone == (f"deleting default/holder on n (it is being deleted{ends})",)

    @pytest.mark.parametrize(
        ("grace", "now", "stuck"),
        [(300, "2025-12-31T23:59:00Z", False), (300, "2026-01-01T00:01:00Z", True), (0, "", True), (None, "", False)],
    )
    def test_are_left_to_whoever_holds_their_finalizers(self, grace: int | None, now: str, *, stuck: bool) -> None:
        found = {fix.id: fix for fix in search(self.ending(finalizers=True, grace=grace), PENDING, now=now).fixes}
        assert ("MovePod" in found) is stuck
        if stuck:
            assert found["MovePod"].commands == ()
            assert "finalizers example.com/waits" in found["MovePod"].starts
            assert found["MovePod"].summary == "finish the deletion of the Pod default/holder on n"
            assert found["MovePod"].disturbs is Disturbance.NOTHING

    def test_are_forced_where_the_node_does_not_answer(self) -> None:
        found = fixes([*self.ending(silent=True), budget(allowed=0, app="other")], PENDING)["MovePod"]
        assert found.commands == ("kubectl delete pod holder -n default --grace-period=0 --force",)
        assert "make sure that the machine is off" in found.starts

    def test_of_a_stateful_set_come_back_only_then(self) -> None:
        stateful = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db"}
        assert "MovePod" not in fixes(self.ending(silent=True, owner=stateful), PENDING)
        assert "MovePod" in fixes(self.ending(silent=True, owner=stateful, **TOLERANT), PENDING)


def test_a_move_completes_a_pair() -> None:
    """The node is cordoned and its port taken."""
    objects = [node("n", unschedulable=True), pod("holder", on="n", host_ports=["80"])]
    found = fixes(objects, pod("p", host_ports=["80"]))["Uncordon+MovePod"]
    assert (found.cost, found.feasible) == (3, ("n",))
    assert found.commands == ("kubectl uncordon n", "kubectl delete pod holder -n default")
    assert {change.target.kind for change in found.changes} == {"Node", "Pod"}


def test_a_pair_is_completed_by_the_one_that_is_in_the_way_among_many() -> None:
    idle = [pod(f"a-{number}", on="n") for number in range(MOST_ALIKE_IN_PAIRS)]
    objects = [node("n", taints=["x=y:NoSchedule"]), *idle, pod("holder", on="n", host_ports=["80"])]
    found = fixes(objects, pod("p", host_ports=["80"]))["RemoveTaint+MovePod"]
    assert found.summary == "remove the taint x=y:NoSchedule from n; also delete the Pod default/holder on n"


def test_a_move_within_the_same_host_is_told_by_host() -> None:
    constraints = [spread(HOSTNAME, selector=app("web"))]
    objects = [node("a"), node("b"), node("c", unschedulable=True), *(web(f"w{name}", on=name) for name in "ab")]
    moved = [fix for fix in search(objects, web(topologySpreadConstraints=constraints)).fixes if fix.id == "MovePod"]
    assert {fix.feasible for fix in moved} == {("a",), ("b",)}

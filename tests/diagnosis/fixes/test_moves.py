"""Which Pods may be moved out of the way, and when that is worse than leaving them."""

from __future__ import annotations

import pytest

from kubectl_spread.objects import kinds
from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.diagnosis.fixes.clusters import fixes, search, web, zones

RS = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "other"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
BIG = {"cpu": "6"}


def claim(name: str) -> list[Object]:
    """Return the volume of a claim."""
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


TOLERANT = {"tolerations": [{"key": "small", "operator": "Exists"}]}
PENDING = pod("p", requests={"cpu": "8"})


class TestWhich:
    """Pods that hold what the Pod needs."""

    def test_one_that_holds_the_room(self) -> None:
        found = fixes(full(**TOLERANT), PENDING)["MovePod"]
        assert (found.cost, found.feasible, found.commands) == (2, ("n",), ("kubectl delete pod holder -n default",))
        assert found.starts == "replicaset/other makes it again, elsewhere"
        (change,) = found.changes
        assert (change.op, change.target.kind, change.target.name) == ("delete", "Pod", "holder")

    def test_one_that_holds_the_port(self) -> None:
        objects = [node("n"), pod("holder", on="n", host_ports=["80"], namespace="edge"), pod("idle", on="n")]
        moved = [fix for fix in search(objects, pod("p", host_ports=["80"])).fixes if fix.id == "MovePod"]
        assert [fix.commands for fix in moved] == [("kubectl delete pod holder -n edge",)]

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
        single: Object = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data", "namespace": "default"},
            "spec": {"accessModes": ["ReadWriteOncePod"], "volumeName": "pv"},
            "status": {"phase": "Bound"},
        }
        bound = {"metadata": {**single["metadata"], "annotations": {"pv.kubernetes.io/bind-completed": "yes"}}}
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "pv"},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOncePod"],
                "claimRef": {"name": "data", "namespace": "default"},
            },
        }
        cordoned = node("c", unschedulable=True)
        objects = [node("n"), cordoned, {**single, **bound}, volume, pod("user", on="c", volumes=claim("data"))]
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

    def test_when_nothing_makes_it_again_that_is_said(self) -> None:
        assert fixes(full(owner=None), PENDING)["MovePod"].starts == "nothing makes it again"

    @pytest.mark.parametrize(
        ("allowed", "selected", "offered"), [(0, "other", False), (1, "other", True), (0, "web", True)]
    )
    def test_not_beyond_its_disruption_budget(self, *, allowed: int, selected: str, offered: bool) -> None:
        objects = [*full(**TOLERANT), budget(allowed=allowed, app=selected)]
        assert ("MovePod" in fixes(objects, PENDING)) is offered

    def test_a_budget_of_another_namespace_is_not_its_own(self) -> None:
        other = budget(allowed=0, app="other")
        other["metadata"]["namespace"] = "elsewhere"
        assert "MovePod" in fixes([*full(**TOLERANT), other], PENDING)

    def test_not_when_budgets_could_not_be_listed(self) -> None:
        assert "MovePod" not in fixes(full(**TOLERANT), PENDING, unread=[kinds.POD_DISRUPTION_BUDGET])

    def test_not_a_static_pod(self) -> None:
        assert "MovePod" not in fixes(full(owner={"apiVersion": "v1", "kind": "Node", "name": "n"}), PENDING)

    def test_not_a_daemon_which_comes_back_to_its_node(self) -> None:
        daemon = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent"}
        assert "MovePod" not in fixes(full(**TOLERANT, owner=daemon), PENDING)


class TestTerminating:
    """Pods that are being deleted and hold what the Pod needs."""

    @staticmethod
    def stuck(**fields: object) -> list[Object]:
        """Return a full node whose holder is being deleted, without finalizers."""
        objects = full(terminating=True, **fields)
        del objects[1]["metadata"]["finalizers"]
        return objects

    def test_are_forced_with_a_warning(self) -> None:
        found = fixes([*self.stuck(), budget(allowed=0, app="other")], PENDING)["MovePod"]
        assert found.commands == ("kubectl delete pod holder -n default --grace-period=0 --force",)
        assert "make sure its node is gone" in found.starts

    def test_are_left_to_whoever_holds_their_finalizers(self) -> None:
        found = fixes(full(terminating=True), PENDING)["MovePod"]
        assert found.commands == ()
        assert "finalizers example.com/waits" in found.starts

    def test_of_a_stateful_set_come_back_only_then(self) -> None:
        stateful = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db"}
        assert "MovePod" not in fixes(self.stuck(owner=stateful), PENDING)
        assert "MovePod" in fixes(self.stuck(owner=stateful, **TOLERANT), PENDING)


def test_a_move_completes_a_pair() -> None:
    """The node is cordoned and its port taken."""
    objects = [node("n", unschedulable=True), pod("holder", on="n", host_ports=["80"])]
    found = fixes(objects, pod("p", host_ports=["80"]))["Uncordon+MovePod"]
    assert (found.cost, found.feasible) == (3, ("n",))
    assert found.commands == ("kubectl uncordon n", "kubectl delete pod holder -n default")
    assert {change.target.kind for change in found.changes} == {"Node", "Pod"}


def test_a_move_within_the_same_host_is_told_by_host() -> None:
    constraints = [spread(HOSTNAME, selector=app("web"))]
    objects = [node("a"), node("b"), node("c", unschedulable=True), *(web(f"w{name}", on=name) for name in "ab")]
    moved = [fix for fix in search(objects, web(topologySpreadConstraints=constraints)).fixes if fix.id == "MovePod"]
    assert {fix.feasible for fix in moved} == {("a",), ("b",)}

"""Nodes that do not answer: before the first step, one after another, and again."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.build import ZONE, Object, app, node, spread
from tests.build_workloads import controller, template, workload
from tests.simulation.generated import forms
from tests.simulation.test_steps import READY, SIX, budget, deployment, item, last, names, running, simulated

UNREACHABLE = tuple(f"node.kubernetes.io/unreachable:{effect}" for effect in ("NoSchedule", "NoExecute"))
IN_ZONES = spread(ZONE, selector=app("web"))


def unknown(made: Object) -> Object:
    """Return the node as one whose kubelet posts no status, not tainted yet."""
    return made | {"status": made["status"] | {"conditions": [{"type": "Ready", "status": "Unknown"}]}}


def zones(number: int, *, labels: Object | None = None) -> list[Object]:
    """Return so many nodes in zone a, the last two of them with these labels, and one in b."""
    own: list[Object] = [{}] * (number - 2) + [labels or {}] * 2
    return [*(node(f"a{at}", zone="a", labels=each) for at, each in enumerate(own)), node("b0", zone="b")]


class TestFromTheStart:
    """A node is dead already."""

    def test_a_stateful_set_waits_for_its_pod_to_be_gone(self) -> None:
        owner = controller("StatefulSet", "web")
        made = workload("StatefulSet", "web", pods=template(IN_ZONES), replicas=2)
        pods = [
            running(f"web-{at}", on, owner, topologySpreadConstraints=[IN_ZONES]) for at, on in enumerate(["a1", "b1"])
        ]
        dead = node("a1", zone="a", taints=UNREACHABLE)
        step = last([dead, *SIX[1:], made, *pods], "drain a1")
        assert (names(step.evicted), item(step).after["a"], sum(item(step).after.values())) == (["web-0"], 0, 1)
        assert any("the drain waits" in note for note in step.notes)

    @pytest.mark.parametrize("ending", [True, False], ids=["terminating already", "running"])
    def test_a_deletion_waits_for_its_kubelet_unless_it_is_forced(self, *, ending: bool) -> None:
        owner = controller("StatefulSet", "web")
        gone = running("web-0", "a1", owner)
        if ending:
            gone["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        dead = node("a1", zone="a", taints=UNREACHABLE)
        objects = [dead, *SIX[1:], workload("StatefulSet", "web", pods=template(), replicas=1), gone]
        plain, forced = (last(objects, "delete pod/web-0", force=force) for force in (False, True))
        assert names(plain.evicted) == ([] if ending else ["web-0"])
        assert [note.partition(";")[0] for note in plain.notes] == [
            "the Pod default/web-0 stays Terminating, because a1 does not answer"
        ]
        assert (names(forced.evicted), forced.notes, forced.pending) == (["web-0"], (), ())

    def test_not_even_a_forced_deletion_removes_finalizers(self) -> None:
        gone = running("web-0", "a1", controller("StatefulSet", "web"))
        gone["metadata"]["finalizers"] = ["example.com/backup"]
        step = last([*SIX, workload("StatefulSet", "web", pods=template()), gone], "delete pod/web-0", force=True)
        assert step.notes == (
            "the Pod default/web-0 stays Terminating until its finalizer example.com/backup is removed",
        )

    @pytest.mark.parametrize(("verb", "until"), [("drain", ""), ("remove", ", until it is deleted with the node")])
    def test_what_is_terminating_there_stays(self, verb: str, until: str) -> None:
        made = deployment(["a1", "b1"], IN_ZONES)
        made[2]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        dead = unknown(node("a1", zone="a"))
        step = last([dead, *SIX[1:], *made], "cordon c2", f"{verb} a1")
        assert step.notes == (f"the drain waits for default/web-0, Terminating on a node that does not answer{until}",)

    def test_a_job_counts_its_terminating_pod_as_failed(self) -> None:
        owner = controller("Job", "web")
        made = workload("Job", "web", pods=template(restartPolicy="Never"), parallelism=2, backoffLimit=0)
        pods = [running(f"web-{at}", on, owner) for at, on in enumerate(["a1", "b1"])]
        step = last([*SIX, made, *pods], "lose a1")
        assert names(step.evicted) == ["web-0"]
        assert [note.partition(":")[0] for note in step.notes] == [
            "the job/web of default fails, and its Pods are deleted"
        ]

    def test_it_may_answer_again(self) -> None:
        made = deployment(["a1", "b1"], IN_ZONES)
        made[2]["status"] = READY | {"conditions": [{"type": "Ready", "status": "False"}]}
        dead = node("a1", zone="a", taints=UNREACHABLE)
        held = last([dead, *SIX[1:], *made, *budget_of_all()], "drain b1")
        assert names(held.blocked) == ["web-1"]
        back = last([dead, *SIX[1:], *made, *budget_of_all()], "return a1", "drain b1")
        assert names(back.evicted) == ["web-1"]


def budget_of_all() -> Sequence[Object]:
    """Return a budget that lets one Pod of two go."""
    return [budget(maxUnavailable=1)]


class TestOneAfterAnother:
    """Nodes stop answering, and their zones are looked at as a whole."""

    def test_a_zone_that_is_silent_altogether_is_emptied(self) -> None:
        objects = [*zones(4), *deployment(["a0", "a1", "a2", "a3", "b0"], spread(ZONE, maxSkew=9, selector=app("web")))]
        steps = [f"lose a{number}" for number in range(4)]
        stopped, emptied = forms(simulated(objects, *steps))[2:]
        assert stopped.notes == ("3 of 4 nodes of its zone do not answer, so nothing is evicted there",)
        assert (item(emptied).after, emptied.notes) == ({"a": 0, "b": 5}, ())

    def test_evictions_go_on_once_a_node_answers(self) -> None:
        objects = [node("a0", zone="a"), node("b0", zone="b"), *deployment(["a0", "b0"], IN_ZONES)]
        silent, back = forms(simulated(objects, "lose a0", "lose b0", "return a0"))[1:]
        assert (silent.evicted, silent.notes) == ((), ("no node answers, so nothing is evicted",))
        assert names(back.evicted) == ["web-1"]

    def test_evictions_go_on_once_enough_nodes_are_added(self) -> None:
        objects = [*zones(4), *deployment(["a0", "a1", "a2"])]
        stopped, more = forms(simulated(objects, "lose a0", "lose a1", "lose a2", "add-node b0", "add-node a3=2"))[2::2]
        assert (stopped.evicted, names(more.evicted)) == ((), ["web-2"])

    def test_excluded_nodes_say_nothing_of_their_zone(self) -> None:
        excluded = zones(5, labels={"node.kubernetes.io/exclude-disruption": ""})
        on = deployment(["a0", "a1", "a2"])
        lost = ["lose a0", "lose a1", "lose a2"]
        assert names(last([*excluded, *on], *lost).evicted) != []
        assert last([*zones(5), *on], *lost).evicted == ()


class TestReturn:
    """Nodes answer again."""

    def test_pods_are_as_ready_as_they_were(self) -> None:
        made = deployment(["a1", "b1"])
        made[2]["status"] = READY | {"conditions": [{"type": "Ready", "status": "False"}]}
        objects = [*SIX, *made, *budget_of_all()]
        assert names(last(objects, "drain b1").blocked) == ["web-1"]
        assert names(last(objects, "return a1", "drain b1").blocked) == ["web-1"]

    def test_a_node_that_is_silent_for_a_moment_only_changes_nothing(self) -> None:
        objects = [node("a0", zone="a"), *deployment(["a0"]), *budget_of_all()]
        objects[3]["status"] = READY | {"conditions": [{"type": "Ready", "status": "False"}]}
        lost, back = forms(simulated(objects, "lose a0", "return a0"))
        assert (lost.evicted, back.evicted) == ((), ())


def test_a_drain_waits_for_what_its_finalizers_keep() -> None:
    made = deployment(["a1", "b1"])
    made[2]["metadata"]["finalizers"] = ["example.com/wait"]
    step = last([*SIX, *made], "drain a1")
    assert step.notes == ("the drain waits for default/web-0, Terminating until finalizers are removed",)

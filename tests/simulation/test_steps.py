"""What steps do to Pods: situations that were seen on a real control plane, in small."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.commands import exit_codes
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.simulate import SimulateOptions, simulate
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.simulate import SimulateReport
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.constraint_state import SimulatedItem
from kubectl_spread.diagnosis.item_status import ItemStatus
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.diagnosis.step_changes import SimulatedStep
from kubectl_spread.errors import ClusterError, ManifestError, UsageError
from kubectl_spread.exit_code import ExitCode
from kubectl_spread.labels import parse_selector
from kubectl_spread.objects.kinds import POD_DISRUPTION_BUDGET
from kubectl_spread.render.html.cards import cards_of
from kubectl_spread.render.outline import Extent, Note, Table
from kubectl_spread.render.outline.simulate import simulate_outline
from kubectl_spread.scheduler.framework import Handles
from kubectl_spread.simulation import outcomes
from kubectl_spread.simulation.cluster_state import ClusterState
from kubectl_spread.simulation.steps import NotReplaced, Step, Verb
from kubectl_spread.snapshot import Unread
from tests.build import HOSTNAME, ZONE, Object, app, handle, namespace, node, object_of, pod, spread
from tests.build_storage import claim, storage_class
from tests.build_workloads import controller, revision, template, workload
from tests.commands.memory import Memory
from tests.simulation.generated import forms

READY: Object = {
    "phase": "Running",
    "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
}
HIGH: Object = object_of("PriorityClass", "high", value=9)
WEB = WorkloadRef(kind="Deployment", name="web")
SIX = tuple(node(f"{zone}{number}", zone=zone) for zone in "abc" for number in "12")

OS = "kubernetes.io/os"
LINUX = tuple(node(f"{zone}{n}", zone=zone, labels={OS: "linux"}) for zone in "abc" for n in "12")


def running(name: str, on: str, owner: Object, **fields: Any) -> Object:  # noqa: ANN401 - as for a Pod
    """Return a Pod that is ready."""
    labels = {"app": "web"} | fields.pop("labels", {})
    made = pod(name, on=on, labels=labels, owner=owner, status=READY if on else {"phase": "Pending"}, **fields)
    made["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    return made


def deployment(
    on: Sequence[str],
    *constraints: Object,
    replicas: int = 0,
    strategy: Object | None = None,
    **spec: Any,  # noqa: ANN401 - as for a Pod
) -> list[Object]:
    """Return the Deployment web with its ReplicaSet, and a Pod on each of these nodes."""
    made = template(*constraints, **spec)
    number = replicas or len(on)
    own = revision("web", 1, pods=made)
    own["spec"]["replicas"] = number
    fields = {"topologySpreadConstraints": [*constraints], **spec}
    return [
        workload("Deployment", "web", pods=made, replicas=number, strategy=strategy or {}),
        own,
        *(
            running(f"web-{at}", name, controller("ReplicaSet", "web-h1"), labels={"pod-template-hash": "h1"}, **fields)
            for at, name in enumerate(on)
        ),
    ]


def two_revisions(old: Sequence[str], new: Sequence[str], *, paused: bool) -> list[Object]:
    """Return the Deployment web, which does not surge: Pods of two revisions on these nodes, each spread alone."""
    constraint = spread(ZONE, selector=app("web"), matchLabelKeys=["pod-template-hash"])
    number, strategy = len(old) + len(new), {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    both = [template(constraint, nodeSelector=labels) for labels in ({}, {"kubernetes.io/os": "linux"})]
    objects = [workload("Deployment", "web", pods=both[1], replicas=number, strategy=strategy, paused=paused)]
    for at, on in enumerate((old, new), start=1):
        own = revision("web", at, pods=both[at - 1])
        own["spec"]["replicas"] = len(on)
        sizes = ("desired-replicas", "max-replicas")
        own["metadata"]["annotations"] |= {f"deployment.kubernetes.io/{each}": str(number) for each in sizes}
        by, labels = controller("ReplicaSet", f"web-h{at}"), {"pod-template-hash": f"h{at}"}
        living = (
            running(f"web-h{at}-{n}", name, by, labels=labels, **both[at - 1]["spec"]) for n, name in enumerate(on)
        )
        objects += [own, *living]
    return objects


def budget(**spec: Any) -> Object:  # noqa: ANN401 - any field of the spec
    """Return a PodDisruptionBudget of the application web."""
    return object_of("PodDisruptionBudget", "web", spec={"selector": app("web"), **spec})


def simulated(
    objects: Sequence[Object],
    *steps: str,
    force: bool = False,
    disable_eviction: bool = False,
    pod_selector: str = "",
    version: str = "",
    namespace: str = "",
    unread: tuple[Unread, ...] = (),
) -> SimulateReport:
    """Return what becomes of the cluster, or of a namespace; steps as ``drain a1``."""
    given = tuple((verb, value) for verb, value in (step.split(" ", 1) for step in steps))
    options = SimulateOptions(
        steps=given, force=force, disable_eviction=disable_eviction, pod_selector=parse_selector(pod_selector)
    )
    scheduler = SchedulerOptions(kube_version=version)
    return simulate(Memory(objects, unread=unread), Scope(namespace=namespace), options, scheduler)


def last(objects: Sequence[Object], *steps: str, **options: Any) -> Any:  # noqa: ANN401 - those of ``simulated``, and a step as JSON has it
    return forms(simulated(objects, *steps, **options))[-1]


def item(step: SimulatedStep, index: int = 0) -> SimulatedItem:
    """Return what the step does to a constraint of web."""
    return next(each for each in step.items if each.workload.name == "web" and each.constraint.index == index)


def pending(step: SimulatedStep) -> Mapping[str, tuple[int, int]]:
    """Return how many Pods of each workload wait for a node."""
    return {str(each.workload): each.range for each in step.pending}


def names(pods: Sequence[Any]) -> list[str]:
    return [each.pod for each in pods]


@pytest.mark.parametrize(
    ("step", "h1", "h2"),
    [
        (Step(Verb.DRAIN, "", nodes=("a1",)), 6, 3),
        (Step(Verb.SCALE, "", ref=WEB, namespace="default", number=12), 8, 4),
    ],
    ids=["drain", "scale"],
)
def test_each_replica_set_of_a_paused_deployment_creates_pods_of_its_template(step: Step, h1: int, h2: int) -> None:
    objects = two_revisions(["a1", "a2", "b1", "b2", "c1", "c2"], ["a1", "b1", "c1"], paused=True)

    def look(cluster: ClusterState, _: int) -> Counter[str]:
        return Counter(each.metadata.labels["pod-template-hash"] for each in cluster.pods.values())

    found = outcomes.simulate(Handles(handle([*LINUX, *objects])), [step], look)
    assert [each.seen for each in found.after(0)] == [{"h1": h1, "h2": h2}] * len(found.orders)


@pytest.mark.parametrize(
    ("new", "step", "rows"),
    [
        ("abc", "drain a1", {}),
        ("abc", "scale deployment/web=12", {"h1": ((2, 2, 2), 8), "h2": ((1, 1, 1), 4)}),
        ("aaa", "delete pod/web-h2-0", {"h2": ((3, 0, 0), 3)}),
    ],
)
def test_each_revision_has_rows_as_in_show(
    new: str, step: str, rows: Mapping[str, tuple[tuple[int, ...], int]]
) -> None:
    on = ["a1", "a2", "b1", "b2", "c1", "c2"], [f"{zone}1" for zone in new]
    items = last([*LINUX, *two_revisions(*on, paused=True)], step).items
    assert sorted(each.revision for each in items) == ["h1", "h2"]
    changed = [each for each in items if each.changed]
    assert {each.revision: (tuple(each.before.values()), sum(each.after.values())) for each in changed} == rows


def test_a_revision_that_a_rollout_has_replaced_has_no_row() -> None:
    on = ["a1", "a2", "b1", "b2", "c1", "c2"]
    (found,) = last([*LINUX, *two_revisions(on, [], paused=False)], "uncordon a1").items
    assert (found.revision, found.before, found.after) == ("h2", {"a": 0, "b": 0, "c": 0}, {"a": 2, "b": 2, "c": 2})


@pytest.mark.parametrize(
    ("paused", "step", "told"),
    [
        (False, "cordon c2", [", and ends the same without this step"]),
        (False, "scale deployment/web=9", [" without this step too"]),
        (False, "restart deployment/web", []),
        (True, "drain a1", []),
    ],
)
def test_a_rollout_in_progress_ends_without_the_step_too(step: str, told: Sequence[str], *, paused: bool) -> None:
    objects = two_revisions(["a1", "b1", "c1"], ["a1", "b1", "c1"], paused=paused)
    assert last([*LINUX, *objects], step).notes == tuple(
        f"a rollout of default/deployment/web is in progress{each}" for each in told
    )


def test_a_revision_that_a_rollout_creates_is_counted_by_its_own_constraint(tmp_path: Path) -> None:
    objects = deployment(["a1", "a2", "b1"], spread(ZONE, selector=app("web"), maxSkew=3))
    new = template(spread(ZONE, selector=app("web"), maxSkew=5), requests={"cpu": "99"})
    path = tmp_path / "web.json"
    path.write_text(json.dumps(workload("Deployment", "web", pods=new, replicas=3)), encoding="utf-8")
    newest, old = last([*SIX, *objects], f"apply {path}").items
    assert (newest.constraint.max_skew, newest.before, newest.status_before) == (5, {"a": 2, "b": 1, "c": 0}, None)
    assert (old.constraint.max_skew, old.revision, old.before) == (3, "h1", {"a": 2, "b": 1, "c": 0})


def test_the_revision_that_stops_a_rollout_has_a_row_beside_the_new_one(tmp_path: Path) -> None:
    by_zone = spread(ZONE, selector=app("web"))
    owner, *pods = stateful(["a1", "b1", ""], podManagementPolicy="OrderedReady")
    for each in pods:
        each["spec"] |= {"topologySpreadConstraints": [by_zone]}
    shut = node("c1", zone="c", unschedulable=True)
    old, new = (
        {**owner, "spec": {**owner["spec"], "template": template(each)}}
        for each in (by_zone, {**by_zone, "maxSkew": 2})
    )
    path = tmp_path / "web.json"
    path.write_text(json.dumps(new), encoding="utf-8")
    report = simulated([*SIX[:4], shut, old, *pods], f"apply {path}")
    (shown,) = simulate_outline(report, Extent()).items
    (table,) = (each for each in shown.blocks if isinstance(each, Table) and each.title == "Constraints")
    assert [(row[1].partition(" ")[2][:4], row[-2]) for row in table.rows] == [("(new", "OK"), ("(old", "Blocked")]


class TestDrain:
    """A node is emptied as kubectl does."""

    def test_leaves_an_empty_domain_that_pins_the_minimum(self) -> None:
        objects = [*SIX, *deployment(["a1", "a2", "b1", "b2", "c1", "c2"], spread(HOSTNAME, selector=app("web")))]
        step = last(objects, "drain a1")
        assert names(step.evicted) == ["web-0"]
        assert pending(step) == {"deployment/web": (1, 1)}
        assert item(step).after == {"a1": 0, "a2": 1, "b1": 1, "b2": 1, "c1": 1, "c2": 1}
        assert "cordoned" in step.pending[0].summary

    def test_may_let_a_replacement_in_before_the_next_pod_goes(self) -> None:
        constraint = spread(HOSTNAME, selector=app("web"), maxSkew=2)
        three = [node(name) for name in ("n1", "n2", "n3")]
        step = last([*three, *deployment(["n1", "n1", "n2", "n2", "n3", "n3"], constraint)], "drain n1")
        assert names(step.evicted) == ["web-0", "web-1"]
        assert pending(step) == {"deployment/web": (1, 2)}

    def test_evicts_one_after_another_as_replacements_become_ready(self) -> None:
        objects = [*SIX, *deployment(["a1", "a1", "b1"]), budget(maxUnavailable=1)]
        step = last(objects, "drain a1")
        assert (sorted(names(step.evicted)), step.blocked, pending(step)) == (["web-0", "web-1"], (), {})

    def test_stops_where_the_replacement_finds_no_node(self) -> None:
        nodes = [node("a1", zone="a"), node("b1", zone="b")]
        objects = [*nodes, *deployment(["a1", "a1", "b1", "b1"], spread(ZONE, selector=app("web")))]
        step = last([*objects, budget(minAvailable=3)], "drain a1")
        assert len(step.evicted) == 1
        assert len(step.blocked) == 1
        assert "budget web" in step.blocked[0].why

    def test_passes_over_pods_of_daemon_sets(self) -> None:
        owner = controller("DaemonSet", "agent")
        objects = [*SIX[:1], workload("DaemonSet", "agent"), running("agent-1", "a1", owner)]
        step = last(objects, "drain a1")
        assert (step.evicted, step.blocked, pending(step)) == ((), (), {})

    @pytest.mark.parametrize("classes", [[HIGH], []], ids=["of a class", "of a class that the files do not have"])
    def test_makes_room_for_pods_of_higher_priority(self, classes: Sequence[Object]) -> None:
        high = deployment(["a1"], requests={"cpu": "8"}, priorityClassName="high", priority=9)
        low = workload("ReplicaSet", "batch", pods=template(labels={"app": "batch"}, requests={"cpu": "8"}), replicas=1)
        low["spec"]["selector"] = app("batch")
        batch = running(
            "batch-1",
            "b1",
            controller("ReplicaSet", "batch"),
            labels={"app": "batch"},
            requests={"cpu": "8"},
            priority=0,
        )
        step = last([*SIX[::2][:2], *classes, *high, low, batch], "drain a1")
        assert names(step.preempted) == ["batch-1"]
        assert pending(step) == {"replicaset/batch": (1, 1)}

    def test_preempts_each_pod_once(self) -> None:
        """The second Pod finds what the first one preempts still on its node."""
        nodes = [node(name, zone=name[0], allocatable={"cpu": "3", "pods": "9"}) for name in ("a1", "b1")]
        high = deployment(["a1", "a1"], requests={"cpu": "1"}, priorityClassName="high", priority=9)
        by, requests, labels = controller("ReplicaSet", "batch"), {"cpu": "1"}, {"app": "batch"}
        batch = [
            running(f"batch-{number}", "b1", by, labels=labels, requests=requests, priority=0) for number in range(3)
        ]
        protecting = budget(minAvailable=3, selector=app("batch")) | {"status": {"disruptionsAllowed": 0}}
        step = last([*nodes, HIGH, *high, protecting, *batch], "drain a1")
        assert sorted(Counter(names(step.preempted)).values()) == [1, 1]
        assert step.pdb_violations == 2


class TestNodes:
    """Nodes come, go, and take no Pods for a while."""

    def test_a_removed_node_is_no_domain(self) -> None:
        objects = [*SIX[::2], *deployment(["a1", "b1", "c1"], spread(ZONE, selector=app("web"), minDomains=3))]
        step = last(objects, "remove c1")
        assert item(step).after == {"a": 1, "b": 1}
        assert pending(step) == {"deployment/web": (1, 1)}

    def test_a_cordoned_node_keeps_what_it_has_and_takes_nothing(self) -> None:
        nodes = [node(f"{zone}1", zone=zone) for zone in "abcd"]
        objects = [*nodes, *deployment(["a1", "b1", "c1", "d1"], spread(ZONE, selector=app("web")))]
        step = last(objects, "cordon d1", "scale deployment/web=9")
        assert item(step).after == {"a": 2, "b": 2, "c": 2, "d": 1}
        assert pending(step) == {"deployment/web": (2, 2)}

    def test_a_cordon_that_is_lifted_changes_nothing(self) -> None:
        objects = [*SIX, *deployment(["a1", "b1", "c1"], spread(ZONE, selector=app("web")))]
        step = last(objects, "cordon a1", "uncordon a1", "scale deployment/web=6")
        assert pending(step) == {}
        assert item(step).after == {"a": 2, "b": 2, "c": 2}

    def test_an_added_node_lets_in_who_waits(self) -> None:
        nodes = [node("a1", zone="a"), node("b1", zone="b", allocatable={"pods": "1"})]
        objects = [*nodes, *deployment(["a1", "a1", "b1", ""], spread(ZONE, selector=app("web")))]
        step = last(objects, "add-node b1=1")
        assert item(step).after == {"a": 2, "b": 2}
        assert pending(step) == {}


class TestLose:
    """Nodes stop answering."""

    @pytest.mark.parametrize(
        ("policy", "after", "waiting"),
        [("Ignore", {"a": 2, "b": 2, "c": 0}, {"deployment/web": (2, 2)}), ("Honor", {"a": 3, "b": 3}, {})],
    )
    def test_a_lost_zone_stays_a_domain_unless_taints_are_honoured(
        self, policy: str, after: Mapping[str, int], waiting: Mapping[str, tuple[int, int]]
    ) -> None:
        constraint = spread(ZONE, selector=app("web"), nodeTaintsPolicy=policy)
        objects = [*SIX, *deployment(["a1", "a2", "b1", "b2", "c1", "c2"], constraint)]
        step = last(objects, f"lose {ZONE}=c")
        assert (item(step).after, pending(step), sorted(names(step.evicted))) == (after, waiting, ["web-4", "web-5"])

    def test_returned_nodes_take_pods_again(self) -> None:
        objects = [*SIX, *deployment(["a1", "a2", "b1", "b2", "c1", "c2"], spread(ZONE, selector=app("web")))]
        step = last(objects, f"lose {ZONE}=c", f"return {ZONE}=c")
        assert (item(step).after, pending(step)) == ({"a": 2, "b": 2, "c": 2}, {})


class TestScale:
    """Workloads get another number of replicas."""

    def test_the_youngest_go_first(self) -> None:
        objects = [*SIX, *deployment(["a1", "a2", "b1", "b2", "c1", "c2"], spread(ZONE, selector=app("web")))]
        for each in objects:
            if each["metadata"]["name"] in {"web-0", "web-1"}:
                status = {
                    **READY,
                    "conditions": [{**READY["conditions"][0], "lastTransitionTime": "2026-01-01T01:00:00Z"}],
                }
                each["status"] = status
        step = last(objects, "scale deployment/web=4")
        assert item(step).after == {"a": 0, "b": 2, "c": 2}
        assert step.orders == 1

    def test_of_equals_any_may_go(self) -> None:
        objects = [*SIX, *deployment(["a1", "a2", "b1", "b2", "c1", "c2"], spread(ZONE, selector=app("web")))]
        step = last(objects, "scale deployment/web=4")
        assert sum(item(step).after.values()) == 4
        assert item(step).ranges.keys() == {"a", "b", "c"}
        assert any(low < high for low, high in item(step).ranges.values())

    @pytest.mark.parametrize(("seconds", "uids", "orders"), [(1, "ab", 16), (1, "ba", 1), (3600, "ab", 1)])
    def test_of_those_about_as_old_the_moment_decides(self, seconds: int, uids: str, orders: int) -> None:
        objects = [*SIX, *deployment(["a1", "b1"], spread(ZONE, selector=app("web")))]
        pods = [each for each in objects if each["kind"] == "Pod"]
        # The second is the younger one: it goes, unless both count as equally old and its UID is the greater.
        for each, uid, age in zip(pods, uids, [0, seconds], strict=True):
            since = f"2026-01-01T{age // 3600:02}:00:{age % 60:02}Z"
            each["metadata"]["uid"] = uid * 8
            each["status"] = {**READY, "conditions": [{**READY["conditions"][0], "lastTransitionTime": since}]}
        step = last(objects, "scale deployment/web=1")
        assert step.orders == orders
        assert item(step).ranges["b"] == (0, int(orders > 1))

    def test_pods_one_after_another_wait_for_the_first_that_finds_no_node(self) -> None:
        owner = controller("StatefulSet", "web")
        constraint = spread(ZONE, selector=app("web"))
        made = workload("StatefulSet", "web", pods=template(constraint), replicas=2)
        nodes = [node("a1", zone="a"), node("b1", zone="b"), node("c1", zone="c", taints=["dedicated:NoSchedule"])]
        pods = [
            running(f"web-{at}", name, owner, topologySpreadConstraints=[constraint])
            for at, name in enumerate(["a1", "b1"])
        ]
        assert pending(last([*nodes, made, *pods], "scale statefulset/web=6")) == {"statefulset/web": (1, 1)}

    def test_the_highest_ordinals_go(self) -> None:
        owner = controller("StatefulSet", "web")
        constraint = spread(ZONE, selector=app("web"))
        made = workload("StatefulSet", "web", pods=template(constraint), replicas=3)
        pods = [
            running(f"web-{at}", f"{zone}1", owner, topologySpreadConstraints=[constraint])
            for at, zone in enumerate("abc")
        ]
        assert item(last([*SIX, made, *pods], "scale statefulset/web=1")).after == {"a": 1, "b": 0, "c": 0}


def daemons(on: Sequence[str], **strategy: Any) -> list[Object]:  # noqa: ANN401 - any field of the strategy
    """Return the DaemonSet web, of whose Pods a node takes one, with a Pod on each of these nodes."""
    room = {"cpu": "5"}
    owner = workload("DaemonSet", "web", pods=template(requests=room), updateStrategy=strategy)
    pods = (running(f"web-{at}", name, controller("DaemonSet", "web"), requests=room) for at, name in enumerate(on))
    return [owner, *pods]


class TestRestart:
    """Workloads replace their Pods."""

    def test_a_daemon_that_is_to_come_beside_another_needs_room_for_both(self) -> None:
        on = [each["metadata"]["name"] for each in SIX]
        rolling = {"maxSurge": 2, "maxUnavailable": 0}
        surging = last([*SIX, *daemons(on, type="RollingUpdate", rollingUpdate=rolling)], "restart daemonset/web")
        one_by_one = last([*SIX, *daemons(on, type="RollingUpdate")], "restart daemonset/web")
        assert pending(surging) == {"daemonset/web": (2, 2)}
        assert pending(one_by_one) == {}

    def test_a_new_pod_takes_the_place_of_the_one_that_ended(self) -> None:
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
        constraint = spread(HOSTNAME, selector=app("web"))
        objects = [*SIX, *deployment(["a1", "a2", "b1", "b2", "c1", "c2"], constraint, strategy=strategy)]
        step = last(objects, "restart deployment/web")
        assert (pending(step), set(item(step).after.values())) == ({}, {1})

    def test_sticks_where_a_pod_more_finds_no_node(self) -> None:
        constraint = spread(HOSTNAME, selector=app("web"))
        step = last(
            [*SIX[::2], *deployment(["a1", "b1", "c1"], constraint, requests={"cpu": "5"})], "restart deployment/web"
        )
        assert pending(step) == {"deployment/web": (1, 1)}

    def test_replaces_the_pods_of_a_stateful_set(self) -> None:
        owner = controller("StatefulSet", "web")
        constraint = spread(ZONE, selector=app("web"))
        status = {"currentRevision": "web-1", "updateRevision": "web-1"}
        made = workload("StatefulSet", "web", pods=template(constraint), replicas=3, status=status)
        labels = {"controller-revision-hash": "web-1"}
        pods = [
            running(f"web-{at}", f"{zone}1", owner, labels=labels, topologySpreadConstraints=[constraint])
            for at, zone in enumerate("aab")
        ]
        assert item(last([*SIX, made, *pods], "restart statefulset/web")).after == {"a": 1, "b": 1, "c": 1}

    def test_a_paused_deployment_is_refused_as_by_kubectl(self) -> None:
        objects = deployment(["a1", "b1"])
        objects[0]["spec"]["paused"] = True
        with pytest.raises(UsageError, match="is paused"):
            simulated([*SIX, *objects], "restart deployment/web")


class TestDelete:
    """Single Pods are deleted."""

    def test_a_deleted_pod_is_made_again(self) -> None:
        objects = [*SIX, *deployment(["a1", "a2", "b1"], spread(ZONE, selector=app("web")))]
        step = last(objects, "delete pod/web-0")
        assert item(step).after == {"a": 1, "b": 1, "c": 1}

    def test_what_nothing_manages_is_lost(self) -> None:
        step = last([*SIX, pod("tool", on="a1", status=READY)], "delete pod/tool")
        assert names(step.lost) == ["tool"]


class TestProperties:
    """What holds whatever is simulated; test_properties.py has more."""

    def test_no_new_pod_takes_the_name_of_one_that_there_is(self) -> None:
        objects = [*SIX, *deployment(["a1", "a2", "b1"], spread(HOSTNAME, selector=app("web"), maxSkew=5))]
        for number, each in enumerate(each for each in objects if each["kind"] == "Pod"):
            each["metadata"]["name"] = f"web-h1-{number + 1:05d}"
        step = last(objects, *(f"cordon {name}" for name in ("a1", "a2", "b1")), "scale deployment/web=4")
        assert [item(step).after[name] for name in ("a1", "a2", "b1")] == [1, 1, 1]


class TestScenario:
    """Steps from a file."""

    @pytest.mark.parametrize("header", ["", "apiVersion: spread.kubectl.dev/v1alpha1\nkind: Scenario\n"])
    def test_steps_are_done_where_the_file_is_named(self, header: str, tmp_path: Path) -> None:
        path = tmp_path / "scenario.yaml"
        path.write_text(f"{header}steps:\n- cordon: a2\n- drain: a1\n")
        report = simulated([*SIX, *deployment(["a1", "b1"])], "cordon c1", f"filename {path}", "uncordon a2")
        assert [step.step for step in forms(report)] == ["cordon c1", "cordon a2", "drain a1", "uncordon a2"]

    @pytest.mark.parametrize(
        "steps",
        ["", "- drain: a1\n", "steps:\n- explode: a1\n", "steps:\n- drain: 1\n", "steps:\n- drain\n", "steps: []\n"],
    )
    def test_what_is_no_step_is_refused(self, steps: str, tmp_path: Path) -> None:
        path = tmp_path / "scenario.yaml"
        path.write_text(steps)
        with pytest.raises(ManifestError):
            simulated([*SIX], f"filename {path}")


def test_what_is_dear_to_delete_goes_last() -> None:
    objects = [*SIX, *deployment(["a1", "b1", "c1"], spread(ZONE, selector=app("web")))]
    for each in objects:
        if each["metadata"]["name"] in {"web-0", "web-2"}:
            each["metadata"]["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": "10"}
    step = last(objects, "scale deployment/web=2")
    assert (item(step).after, step.orders) == ({"a": 1, "b": 0, "c": 1}, 1)


def test_what_another_scheduler_decides_is_not_known() -> None:
    objects = [*SIX, *deployment(["a1", "b1"], spread(ZONE, selector=app("web")), schedulerName="volcano")]
    report = simulated(objects, "drain a1")
    assert pending(forms(report)[0]) == {"deployment/web": (1, 1)}
    assert forms(report)[0].pending[0].incomplete
    assert exit_codes.of_simulate(report) == ExitCode.UNDETERMINED


def test_a_pod_that_a_gate_holds_waits_for_that() -> None:
    gated = pod("tool", schedulingGates=[{"name": "example.com/quota"}])
    step = last([*SIX, gated], "cordon a1")
    assert [(each.count, each.summary) for each in step.pending] == [
        (1, "default/tool is held by the scheduling gate example.com/quota.")
    ]
    assert not step.newly_pending


class TestScope:
    """Who asks about one namespace hears of what goes wrong in another, and of what the steps name."""

    OBJECTS = (
        *SIX,
        *deployment(["a1", "a2", "b1", "b2", "c1", "c2"], spread(HOSTNAME, selector=app("web"))),
        pod("waiting", nodeSelector={"no": "where"}),
    )

    def test_a_pod_of_another_namespace_that_comes_to_wait_is_told(self) -> None:
        report = simulated(self.OBJECTS, "drain a1", "cordon a2", namespace="elsewhere")
        for step in forms(report):
            assert (pending(step), step.items) == ({"deployment/web": (1, 1)}, ())
        assert exit_codes.of_simulate(report) == 1

    def test_one_that_has_waited_before_is_not(self) -> None:
        report = simulated(self.OBJECTS, "cordon a1", namespace="elsewhere")
        assert (forms(report)[0].pending, exit_codes.of_simulate(report)) == ((), 0)

    @pytest.mark.parametrize("step", ["scale deployment/web=7", "restart deployment/web", "delete pod/web-0"])
    def test_what_a_step_names_is_asked_about(self, step: str) -> None:
        (found,) = forms(simulated(self.OBJECTS, step, namespace="elsewhere"))
        assert {str(each.workload) for each in found.items} == {"deployment/web"}


class TestJob:
    """Pods of Jobs that are deleted have failed."""

    @staticmethod
    def drained(*, index: bool = False, **spec: Any) -> Any:  # noqa: ANN401 - any field of the spec; a step as JSON has it
        """Return what becomes of a Job of four Pods as two of them are evicted."""
        numbers: Object = {"parallelism": 4, "completions": 8} | ({"completionMode": "Indexed"} if index else {})
        constraint = spread(ZONE, selector=app("web"))
        made = workload("Job", "web", pods=template(constraint), **numbers, **spec)
        pods = []
        for at, name in enumerate(["a1", "a1", "b1", "b1"]):
            labels = {"batch.kubernetes.io/job-completion-index": str(at)} if index else {}
            each = running(f"web-{at}", name, controller("Job", "web"), labels=labels)
            each["metadata"]["finalizers"] = ["batch.kubernetes.io/job-tracking"]
            pods.append(each)
        return last([*SIX, made, *pods], "drain a1")

    @pytest.mark.parametrize(
        ("spec", "left"),
        [
            pytest.param({}, 4, id="six may fail"),
            pytest.param({"backoffLimit": 2}, 4, id="just as many may fail"),
            pytest.param({"backoffLimit": 1}, 0, id="fewer may fail"),
            pytest.param({"podReplacementPolicy": "Failed"}, 4, id="replaced once they have ended"),
            pytest.param({"backoffLimit": 0, "podFailurePolicy": "Ignore"}, 4, id="disruptions do not count"),
            pytest.param({"podFailurePolicy": "FailJob"}, 0, id="disruptions fail it"),
            pytest.param({"index": True, "backoffLimitPerIndex": 1}, 4, id="each index may fail once"),
            pytest.param({"index": True, "backoffLimitPerIndex": 0, "maxFailedIndexes": 1}, 0, id="one index may fail"),
        ],
    )
    def test_goes_on_or_fails(self, spec: Mapping[str, Any], left: int) -> None:
        if action := spec.get("podFailurePolicy"):
            conditions = [{"type": "DisruptionTarget", "status": "True"}]
            spec = {**spec, "podFailurePolicy": {"rules": [{"action": action, "onPodConditions": conditions}]}}
        step = self.drained(**spec)
        assert sum(item(step).after.values()) == left
        assert len(step.notes) == (0 if left else 1)
        assert all(note.startswith("the job/web of default fails, and its Pods are deleted: ") for note in step.notes)

    def test_an_index_that_failed_for_good_is_not_made_again(self) -> None:
        step = self.drained(index=True, backoffLimitPerIndex=0)
        assert (sum(item(step).after.values()), step.notes) == (4, ())


def stateful(on: Sequence[str], **spec: Any) -> list[Object]:  # noqa: ANN401 - any field of the spec
    """Return the StatefulSet web, all of whose Pods are made at once, with one on each of these nodes."""
    status = {"currentRevision": "web-1", "updateRevision": "web-1"}
    replicas = {"replicas": len(on), "podManagementPolicy": "Parallel"}
    constraint = spread(ZONE, selector=app("web"), nodeTaintsPolicy="Honor")
    owner = workload("StatefulSet", "web", pods=template(constraint), status=status, **{**replicas, **spec})
    labels = {"controller-revision-hash": "web-1"}
    pods = (
        running(f"web-{at}", name, controller("StatefulSet", "web"), labels=labels)
        for at, name in enumerate(on, start=spec.get("ordinals", {}).get("start", 0))
    )
    return [owner, *pods]


def test_an_ordinal_that_a_lost_node_holds_is_not_made_again() -> None:
    step = last([*SIX, *stateful(["a1", "b1"])], "lose a1", "scale statefulset/web=4")
    assert (pending(step), sum(item(step).after.values())) == ({}, 3)


def test_pods_of_a_stateful_set_stay_where_they_are_until_their_node_is_back_or_gone() -> None:
    there = [*SIX, *stateful(["a1", "b1"])]
    lost, then = simulated(there, "lose a1", "return a1").steps
    assert [note for note in lost.done if isinstance(note, NotReplaced)] == [
        NotReplaced((("default", "web-0"),), WorkloadRef(kind="StatefulSet", name="web"), ("a1",))
    ]
    gone = simulated(there, "lose a1", "remove a1").steps[-1]
    assert (lost.not_replaced, then.not_replaced, gone.not_replaced) == (1, 0, 0)
    assert simulated([*SIX, *deployment(["a1", "b1"])], "lose a1").steps[0].not_replaced == 0


@pytest.mark.parametrize(
    ("version", "on", "most", "waiting"),
    [
        pytest.param("1.36", ["a1"] * 5, 3, 1, id="one at a time"),
        pytest.param("1.36", ["", "a1", "a1"], 1, 2, id="from the last on, whoever waits before it"),
        pytest.param("1.37", ["a1"] * 5, 3, 3, id="as many as may be missing"),
        pytest.param("1.37", ["", "a1", "a1"], 1, 1, id="none while enough are missing"),
    ],
)
def test_a_stateful_set_replaces_so_many_pods_at_once(version: str, on: Sequence[str], most: int, waiting: int) -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": most}}
    owner, *pods = stateful(on, updateStrategy=rolling)
    for each in (owner["spec"]["template"], *pods):
        each["spec"]["nodeSelector"] = {ZONE: "nowhere"}
    step = last([*SIX, owner, *pods], "restart statefulset/web", version=version)
    assert pending(step) == {"statefulset/web": (waiting, waiting)}


def test_what_goes_with_its_node_is_lost() -> None:
    step = last([*SIX, pod("tool", on="a1", status=READY)], "remove a1")
    assert (names(step.blocked), names(step.lost)) == (["tool"], ["tool"])


@pytest.mark.parametrize(("others", "waiting"), [([workload("ReplicaSet", "api", replicas=0)], 0), ([], 1)])
def test_what_made_a_pod_makes_it_again_unless_it_was_read_not_to_exist(others: Sequence[Object], waiting: int) -> None:
    orphan = running("gone-1", "a1", controller("ReplicaSet", "gone"))
    step = last([node("a1"), *others, orphan], "drain a1")
    went = step.evicted if waiting else step.lost
    assert (names(went), sum(each.count for each in step.pending)) == (["gone-1"], waiting)


def test_a_pod_that_waited_becomes_ready_once_it_has_a_node() -> None:
    nodes = [node(f"{zone}1", zone=zone, allocatable={"pods": "2"}) for zone in "ab"]
    held = [*deployment(["a1", ""], spread(ZONE, selector=app("web"))), budget(minAvailable=1)]
    filled = [pod(f"tool-{at}", on="b1", status=READY) for at in range(2)]
    assert names(last([*nodes, *held, *filled], "delete pod/tool-0", "drain a1").evicted) == ["web-0"]


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "ReplicationController"])
def test_an_owner_that_is_being_deleted_makes_no_pod(kind: str) -> None:
    made = workload(kind, "web", replicas=1)
    made["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    one = node("a1")
    objects = [one, made, running("web-0", "a1", controller(kind, "web"))]
    drained, scaled = forms(simulated(objects, "drain a1", f"scale {kind}/web=3"))
    assert (names(drained.lost), pending(drained), pending(scaled)) == (["web-0"], {}, {})


def test_no_pod_comes_to_be_in_a_namespace_that_is_terminating() -> None:
    ending = namespace("default") | {"status": {"phase": "Terminating"}}
    objects = [*SIX, ending, *deployment(["a1", "b1"], spread(ZONE, selector=app("web")))]
    report = simulated(objects, "drain b1", "delete pod/web-0")
    held, deleted = forms(report)
    assert (names(held.blocked), item(deleted).after, exit_codes.of_simulate(report)) == (
        ["web-1"],
        {"a": 0, "b": 1, "c": 0},
        1,
    )
    assert "because it is being terminated" in deleted.notes[0]


def test_what_a_budget_holds_back_in_some_orders_alone_is_told() -> None:
    room = {"cpu": "4"}
    nodes = [node("a1"), node("b1", allocatable={"cpu": "4"}), node("c1", allocatable={"cpu": "8"})]
    tool = running("tool-0", "a1", controller("CloneSet", "tool"), labels={"app": "tool"}, requests={"cpu": "8"})
    held = [*deployment(["a1", "a1", "b1"], requests=room), budget(minAvailable=2), tool]
    step = last([*nodes, *held], "drain a1")
    why = "The disruption budget web does not allow evicting pods currently"
    assert (names(step.blocked), step.notes) == (
        ["web-1"],
        (f"in other random orders default/web-0 is blocked: {why}",),
    )


def test_each_scheduler_that_is_described_decides_about_its_own_pods(tmp_path: Path) -> None:
    described = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    profiles = [{"schedulerName": "default-scheduler"}, {"schedulerName": "own"}]
    path = tmp_path / "scheduler.json"
    path.write_text(json.dumps(described | {"profiles": profiles}))
    objects = [*SIX, *deployment(["a1", "b1"], spread(ZONE, selector=app("web")), schedulerName="own")]
    options = SimulateOptions(steps=(("scale", "deployment/web=3"),))
    report = simulate(Memory(objects), Scope(namespace=""), options, SchedulerOptions(configuration=str(path)))
    assert (item(forms(report)[0]).status_after, exit_codes.of_simulate(report)) == (SpreadStatus.OK, ExitCode.ANSWERED)


def test_what_waits_for_a_pod_that_is_not_ready_is_told() -> None:
    owner, *pods = stateful(["a1", "b1", "c1", "c1"], podManagementPolicy="OrderedReady")
    pods[0]["status"] = {"phase": "Running"}
    report = simulated([*SIX, owner, *pods], "drain c1", "cordon b2")
    assert [step.notes for step in forms(report)] == [
        ("only when web-0 is Ready, statefulset/web of default creates web-2 and web-3",),
        (),
    ]


def test_a_rollout_that_waits_for_a_pod_that_is_not_ready_is_told() -> None:
    owner, *pods = stateful(["a1", "b1", "c1"], podManagementPolicy="OrderedReady")
    pods[1]["status"] = {"phase": "Running"}
    step = last([*SIX, owner, *pods], "restart statefulset/web")
    assert step.notes == ("only when web-1 is Ready, statefulset/web of default replaces web-2, web-1 and web-0",)


@pytest.mark.parametrize("rolls", [False, True])
def test_a_pending_pod_of_the_old_template_stops_a_rollout_until_it_is_deleted(rolls: bool) -> None:  # noqa: FBT001 - a case
    owner, *pods = stateful(["a1", "b1", ""], podManagementPolicy="OrderedReady")
    pods[2]["spec"]["nodeSelector"] = {"disk": "ssd"}
    if rolls:  # A restart adds to a rollout that was waiting for it already.
        owner["status"] |= {"currentRevision": "web-1", "updateRevision": "web-2"}
    step = last([*SIX, owner, *pods], "restart statefulset/web")
    assert step.notes == (
        (
            "the StatefulSet waits for web-2, which stays Pending: delete it. Only then statefulset/web of default"
            " replaces web-1 and web-0"
        ),
    )


def test_a_mirror_pod_that_is_deleted_comes_back() -> None:
    static = pod("proxy", on="a1", requests={"cpu": "3"}, owner=controller("Node", "a1"), status=READY)
    waiting = running("web-0", "", controller("CloneSet", "web"), requests={"cpu": "2"})
    step = last([node("a1", allocatable={"cpu": "4"}), static, waiting], "delete pod/proxy")
    assert (step.lost, step.evicted, [each.count for each in step.pending]) == ((), (), [1])
    assert [note.partition(", ")[0] for note in step.notes] == [
        "the kubelet of a1 recreates the mirror Pod default/proxy"
    ]


def test_a_deleted_pod_that_waits_again_gets_no_other_node() -> None:
    full = [node("a1", zone="a", allocatable={"cpu": "2"}), node("b1", zone="b", allocatable={"cpu": "1"})]
    told = [
        simulate_outline(
            simulated([*full, *deployment([*on, ""], requests={"cpu": "2"})], "delete pod/web-" + which), Extent()
        )
        for on, which in ((["a1"], "1"), ([], "0"))
    ]
    assert [each.items[0].headline.sentence for each in told] == [
        f"safe. {BEFORE}",
        "safe. The deleted Pod gets a node.",
    ]


@pytest.mark.parametrize(
    ("step", "others", "unread", "emptied"),
    [
        ("drain a1", [], (), [2]),
        ("drain a1", [], (Unread(POD_DISRUPTION_BUDGET, "forbidden"),), []),
        ("drain a1", [budget(maxUnavailable=1)], (), []),
        ("remove a1", [budget(maxUnavailable=1)], (), [2]),
        ("drain b1", [], (), []),
    ],
)
def test_a_workload_all_of_whose_pods_go_at_once_is_named(
    step: str, others: list[Object], unread: tuple[Unread, ...], emptied: list[int]
) -> None:
    there = [node("a1", zone="a"), node("b1", zone="b"), *deployment(["a1", "a1"]), *others]
    (shown,) = simulate_outline(simulated(there, step, unread=unread), Extent()).items
    said = f"{'as far as is known, ' * len(unread)}safe"
    said += ", but both Pods of default/deployment/web are evicted at once" * len(emptied) + ". "
    assert shown.headline.sentence.startswith(said)
    assert [each.count for each in last(there, step, unread=unread).verdict.emptied] == emptied


@pytest.mark.parametrize(
    ("strategy", "steps", "held_up"),
    [
        ("Recreate", ["lose a1", "restart deployment/web"], [3]),
        ("Recreate", ["lose a1", "restart deployment/web", "return a1"], []),
        ("Recreate", ["restart deployment/web"], []),
        ("RollingUpdate", ["lose a1", "restart deployment/web"], []),
    ],
)
def test_a_deployment_that_recreates_waits_for_pods_on_silent_nodes(
    strategy: str, steps: list[str], held_up: list[int]
) -> None:
    report = simulated([*SIX, *deployment(["a1", "b1", "c1"], strategy={"type": strategy})], *steps)
    verdict = report.steps[-1].verdict
    assert ([each.count for each in verdict.held_up], verdict.safe) == (held_up, not held_up)
    said = "3 Pods of default/deployment/web are not created until its Terminating Pods are gone"
    items = simulate_outline(report, Extent()).items
    assert (said in items[-1].headline.sentence) == bool(held_up)
    assert (cards_of(report, items)[-1].status is ItemStatus.NOT_SAFE) == bool(held_up)


def test_more_replicas_that_wait_for_a_pod_on_a_silent_node_take_nothing_from_those_that_run() -> None:
    step = last(
        [*SIX, *stateful(["a1", "b1", "c1"], podManagementPolicy="OrderedReady")], "lose a1", "scale statefulset/web=5"
    )
    assert (step.verdict.safe, step.verdict.held_up) == (True, ())


def test_pods_that_would_wait_without_the_step_are_not_new() -> None:
    # The third Pod has not been made yet, and cannot be scheduled whatever is done.
    full = [node("a1", zone="a", allocatable={"cpu": "2"}), node("b1", zone="b")]
    report = simulated(
        [*full, *deployment(["a1", "a1"], replicas=3, requests={"cpu": "1"}, nodeName="")], "uncordon a1"
    )
    assert forms(report)[0].newly_pending is False


def test_no_more_pods_stay_pending_than_were_in_that_order() -> None:
    # Chance gives web one of two equal nodes, so that one of the Pods that need a certain one waits.
    own = [node(name, allocatable={"cpu": "4"}, labels={"pool": "own", "only": name}) for name in ("a1", "b1")]
    others = [node(name, allocatable={"cpu": "9"}, labels={"pool": "any"}) for name in ("c1", "c2")]
    needs = {"web": {"pool": "own"}, "a1": {"only": "a1"}, "b1": {"only": "b1"}, "any": {"pool": "any"}}
    pods = [
        running(
            name, "", controller("ReplicaSet", name), requests={"cpu": "3"}, nodeSelector=needs[name], priority=first
        )
        for name, first in zip(needs, (1, 0, 0, 0), strict=True)
    ]
    verdict = simulated([*own, *others, *pods], "lose pool=own").steps[0].verdict
    assert (verdict.pending_before, verdict.without_node) == ((1, 1), (1, 1))


FEW = "web 1: too little cpu free"
BEFORE = "1 Pod stays Pending, as before (default/deployment/web)."


@pytest.mark.parametrize(("room", "told"), [("2", f"safe. {BEFORE}"), ("4", "safe. Both new Pods get a node.")])
def test_a_new_pod_that_is_pending_in_place_of_another_gets_no_node(room: str, told: str) -> None:
    # The Pending Pod of the old revision is deleted first, the one that runs is kept until the new one does.
    one_less = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    there = deployment(["a1", ""], strategy=one_less, requests={"cpu": "1500m"})
    report = simulated([node("a1", allocatable={"cpu": room}), *there], "restart deployment/web")
    (shown,) = simulate_outline(report, Extent()).items
    assert shown.headline.sentence == told


@pytest.mark.parametrize(
    ("on", "step", "new", "sentence"),
    [
        # The Pod that is Pending gets a node, and the second one gets none.
        (["c1", ""], "scale deployment/web=3", True, f"not safe: the new Pod finds no node ({FEW})."),
        # Without the step, the Pod that is Pending gets the node.
        (["c1", ""], "cordon a1", True, f"not safe: 1 more Pod finds no node (web 1: cordoned; {FEW[7:]})."),
        (["c1", "a1", ""], "scale deployment/web=4", True, f"not safe: the new Pod finds no node ({FEW}). {BEFORE}"),
        (["c1", "a1", ""], "cordon b1", False, f"safe. No Pod is newly Pending. {BEFORE}"),
    ],
)
def test_pods_are_newly_pending_if_without_the_step_they_find_nodes(
    on: Sequence[str],
    step: str,
    new: bool,  # noqa: FBT001 - a case
    sentence: str,
) -> None:
    nodes = [node(name, zone=name[0], allocatable={"cpu": "4"}) for name in ("a1", "c1")]
    full = node("b1", zone="b", allocatable={"cpu": "1"})
    report = simulated([*nodes, full, *deployment(on, requests={"cpu": "3"})], step)
    (shown,) = simulate_outline(report, Extent()).items
    assert (forms(report)[0].newly_pending, shown.headline.sentence) == (new, sentence)
    verdict = forms(report)[0].verdict
    assert (verdict.safe, verdict.without_node) == (not new, (int(new), int(new)))
    assert exit_codes.of_simulate(report) is (ExitCode.NO if new else ExitCode.ANSWERED)
    assert not any("ends the same" in note for note in forms(report)[0].notes if new)


def rolling_out() -> list[Object]:
    """Return the Deployment web on its way to a second template; in the end it may exceed maxSkew."""
    by_zone = spread(ZONE, selector=app("web"))
    old, new = template(by_zone), template(by_zone, terminationGracePeriodSeconds=5)
    before, after = revision("web", 1, pods=old), revision("web", 2, pods=new)
    before["spec"]["replicas"], after["spec"]["replicas"] = 3, 1
    of = {"topologySpreadConstraints": [by_zone]}
    owners = [controller("ReplicaSet", f"web-h{number}") for number in (1, 2)]
    labels = [{"pod-template-hash": f"h{number}"} for number in (1, 2)]
    pods = [running(f"web-{name}", name, owners[0], labels=labels[0], **of) for name in ("a1", "b1", "c1")]
    return [
        workload("Deployment", "web", pods=new, replicas=3),
        before,
        after,
        *pods,
        running("web-new", "", owners[1], labels=labels[1], **of),
    ]


@pytest.mark.parametrize("step", ["uncordon a1", "add-node a1"])
def test_what_ends_violated_without_the_step_is_not_newly_violated(step: str) -> None:
    report = simulated([*(node(name, zone=name[0]) for name in ("a1", "b1", "c1")), *rolling_out()], step)
    assert item(forms(report)[0]).skew_after[1] > 1
    assert (forms(report)[0].newly_violated, exit_codes.of_simulate(report)) == (False, ExitCode.ANSWERED)


def test_a_rollout_that_only_the_step_ends_deletes_no_pod_without_another(tmp_path: Path) -> None:
    owner, *others = rolling_out()
    stuck, mended = (
        template(spread(ZONE, selector=app("web")), nodeSelector={OS: name}) for name in ("plan9", "linux")
    )
    path = tmp_path / "web.json"
    path.write_text(json.dumps({**owner, "spec": {**owner["spec"], "template": mended}}), encoding="utf-8")
    for each in (owner, others[1]):
        each["spec"]["template"] = stuck
    others[-1]["spec"]["nodeSelector"] = {OS: "plan9"}
    step = last([*LINUX, owner, *others], f"apply {path}")
    assert ("the rollout of default/deployment/web ends" in step.notes, step.deleted) == (True, ())


ON_DELETE = {"type": "OnDelete"}
TO_RESTART = {
    "statefulset": workload(
        "StatefulSet", "web", pods=template(spread(ZONE, selector=app("web"))), replicas=2, updateStrategy=ON_DELETE
    ),
    "daemonset": workload(
        "DaemonSet", "web", pods=template(spread(ZONE, selector=app("web"))), updateStrategy=ON_DELETE
    ),
}


@pytest.mark.parametrize("kind", TO_RESTART)
def test_a_restart_with_on_delete_replaces_no_pod(kind: str) -> None:
    owner = TO_RESTART[kind]
    of = controller(owner["kind"], "web")
    pods = [running(f"web-{at}", "a1", of, labels={"controller-revision-hash": "web-1"}) for at in range(2)]
    step = last([*SIX, owner, *pods], f"restart {kind}/web")
    assert step.notes == (
        f"the update strategy of default/{kind}/web is OnDelete: each Pod has the old template until it is deleted",
    )


def test_new_pods_that_name_their_node_violate_nothing_for_certain() -> None:
    objects = [*SIX, *deployment(["a1"], spread(ZONE, selector=app("web")), nodeName="a1")]
    report = simulated(objects, "scale deployment/web=3")
    unknown = SpreadStatus.INCOMPLETE
    assert (item(forms(report)[0]).skew_after, item(forms(report)[0]).status_range) == ((3, 3), (unknown, unknown))
    assert exit_codes.of_simulate(report) is ExitCode.UNDETERMINED


@pytest.mark.parametrize(("classes", "status"), [(["gp3"], SpreadStatus.OK), ([], SpreadStatus.INCOMPLETE)])
def test_where_pods_went_whose_volumes_were_not_evaluated_is_not_certain(
    classes: Sequence[str], status: SpreadStatus
) -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    alone = pod(
        "web", labels={"app": "web"}, topologySpreadConstraints=[spread(ZONE, selector=app("web"))], volumes=volumes
    )
    report = simulated([*SIX, alone, claim("data", class_name="gp3"), *map(storage_class, classes)], "drain a1")
    found = item(forms(report)[0])
    assert (found.status_before, found.status_range, sum(found.after.values())) == (status, (status, status), 1)


def test_what_waited_before_is_told_apart_from_what_is_new() -> None:
    small = [node(name, zone=name[0], allocatable={"cpu": "1"}) for name in ("a1", "b1")]
    objects = [*small, *deployment(["a1", "b1", ""], requests={"cpu": "1"})]
    step = last(objects, "drain b1")
    assert ([(each.count, each.before) for each in step.pending], step.newly_pending) == ([(2, 1)], True)
    (shown,) = simulate_outline(simulated(objects, "drain b1"), Extent()).items
    assert shown.headline.sentence == f"not safe: the evicted Pod finds no node (web 1: cordoned; {FEW[7:]}). {BEFORE}"


@pytest.mark.parametrize("keys", [(), ("pod-template-hash",)], ids=["all revisions", "matchLabelKeys"])
def test_a_rollout_that_may_end_beyond_max_skew_has_a_range_of_statuses(keys: tuple[str, ...]) -> None:
    constraint = {**spread(HOSTNAME, selector=app("web")), "matchLabelKeys": [*keys]}
    three = [node(name, zone=name) for name in "abc"]
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 1}}
    report = simulated(
        [*three, *deployment(["a", "a", "b", "b", "c"], constraint, strategy=rolling)], "restart deployment/web"
    )
    seen, names_it = item(forms(report)[0]), any("matchLabelKeys" in note for note in forms(report)[0].notes)
    uneven = seen.skew_after[1] > 1
    assert (uneven, names_it) == (not keys, not keys)
    assert seen.status_range == (SpreadStatus.OK, SpreadStatus.VIOLATED if uneven else SpreadStatus.OK)
    assert exit_codes.of_simulate(report) is (ExitCode.NO if uneven else ExitCode.ANSWERED)


LIMITS = {"hard": {"requests.cpu": "2"}}
USED_UP = object_of("ResourceQuota", "q", spec=LIMITS, status={**LIMITS, "used": {"requests.cpu": "2"}})
SMALL = object_of("LimitRange", "small", spec={"limits": [{"type": "Container", "max": {"cpu": "500m"}}]})


@pytest.mark.parametrize(
    ("other", "spec"),
    [
        (USED_UP, {"requests": {"cpu": "1"}}),
        (SMALL, {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}),
        (object_of("ServiceAccount", "default"), {"serviceAccountName": "robot"}),
    ],
    ids=["ResourceQuota", "LimitRange", "ServiceAccount"],
)
@pytest.mark.parametrize(("step", "new"), [("cordon c1", False), ("scale deployment/web=4", True)])
def test_pods_that_were_refused_before_are_not_refused_by_the_step(
    other: Object,
    spec: dict[str, Any],
    step: str,
    new: bool,  # noqa: FBT001 - a case
) -> None:
    report = simulated([*SIX, *deployment(["a1", "b1"], replicas=3, **spec), other], step)
    (done,) = forms(report)
    assert done.newly_pending is new
    assert [each.partition(":")[0].removesuffix(", as before") for each in done.notes] == [
        "the API server refuses Pods of default/deployment/web"
    ]
    assert any(", as before:" in each for each in done.notes) is not new
    assert exit_codes.of_simulate(report) is (ExitCode.NO if new else ExitCode.ANSWERED)


def test_what_was_violated_or_kept_by_a_budget_before_is_not_the_steps_doing() -> None:
    by_zone = spread(ZONE, selector=app("web"))
    held = budget(minAvailable=3) | {"status": {"disruptionsAllowed": 0}}
    report = simulated([*SIX, *deployment(["a1", "a1", "a1"], by_zone), held], "cordon c1", "uncordon c1")
    assert [item(step).status_before for step in forms(report)] == [SpreadStatus.VIOLATED] * 2
    assert exit_codes.of_simulate(report) is ExitCode.ANSWERED


FULL = [node(f"{name}.eu.example", zone=name) for name in ("a1", "b1", "b2")]


@pytest.mark.parametrize("name", ["a1.eu.example", "node/a1.eu.example", "no/a1", "nodes/a1", "node a1", "a1", "a1.eu"])
@pytest.mark.parametrize("verb", ["drain", "remove", "lose", "cordon", "uncordon", "add-node"])
def test_a_node_may_be_named_as_kubectl_and_tables_print_it(verb: str, name: str) -> None:
    (step,) = forms(simulated(FULL, f"{verb} {name}"))
    assert step.step == f"{verb} a1.eu.example"


@pytest.mark.parametrize(
    ("name", "hint"), [("node/a1.eu.exemple", "did you mean a1.eu.example?"), ("b", ""), ("pod/a1", "")]
)
def test_what_names_no_node_or_several(name: str, hint: str) -> None:
    with pytest.raises(ClusterError, match="not found") as caught:
        simulated(FULL, f"drain {name}")
    assert hint in str(caught.value.hint)


def test_evicted_pods_are_named_and_beyond_twenty_counted() -> None:
    nodes = [node("a1", zone="a"), node("b1", zone="b")]
    report = simulated([*nodes, *deployment(["a1"] * 22)], "drain a1")
    assert {str(each.workload) for each in forms(report)[0].evicted} == {"deployment/web"}

    def shown(*, wide: bool) -> str:
        (item,) = simulate_outline(report, Extent(wide=wide)).items
        return next(block.line for block in item.blocks if isinstance(block, Note) and "Evicted" in block.line)

    assert shown(wide=False).startswith("Evicted: web-0, web-1, web-10, ")
    assert shown(wide=False).endswith(", web-7 and 2 more.")
    assert shown(wide=True).count("web-") == 22

"""``why-pending``: which Pods, each explained once, with the scheduler's own last word."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from msgspec import UNSET

from kubectl_spread.commands import exit_codes
from kubectl_spread.commands.fix_budget import FixBudget, seconds_for
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.commands.why_pending import PendingAnswer, why_pending
from kubectl_spread.contract.pending import PendingItem, Siblings
from kubectl_spread.diagnosis.events import Difference
from kubectl_spread.diagnosis.fixes import company
from kubectl_spread.diagnosis.fixes.situation import Spent
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, FilterRequirement
from kubectl_spread.errors import ClusterError
from kubectl_spread.labels import parse_selector
from kubectl_spread.render.outline import Extent, Note
from kubectl_spread.render.outline.pending import pending_outline
from tests.build import ZONE, Object, app, node, pod, spread, typed_pod
from tests.build_devices import CLAIMING, OPEN, resource_claim
from tests.build_storage import claim, storage_class, volume
from tests.build_workloads import controller, owned, revision, template, workload
from tests.cli.once_wrong import pods_of
from tests.commands.memory import Memory
from tests.diagnosis.judged import TAINTED, incoming, web
from tests.naming import in_order
from tests.program import encoded

SPREAD = [spread(ZONE, selector=app("web"))]
BLOCKED = [*TAINTED, *web("a1", "b1")]


def explained(objects: Sequence[Object], *names: str, namespace: str = "default", selector: str = "") -> PendingAnswer:
    """Return why Pods wait, without looking for fixes; the schema that ships must allow it."""
    scope = Scope(namespace=namespace, selector=parse_selector(selector), names=names)
    answer = why_pending(Memory(objects), scope, SchedulerOptions(), fix_budget=0)
    encoded(answer.report)
    return answer


def only(objects: Sequence[Object]) -> PendingItem:
    (item,) = explained(objects).report.items
    return item


@pytest.mark.parametrize(
    ("described", "expected"),
    [
        (pod("p"), True),
        (pod("p", on="n"), False),
        (pod("p", terminating=True), False),
        (pod("p", status={"phase": "Failed"}), False),
        (pod("p", status={"phase": "Pending"}), True),
        (pod("p", schedulingGates=[{"name": "hold"}]), True),
    ],
    ids=in_order,
)
def test_who_waits_for_a_node(described: Object, *, expected: bool) -> None:
    assert typed_pod(described).waits == expected


def test_every_pending_pod_of_the_scope_by_name() -> None:
    pods = [pod(name, labels={"n": name}) for name in ("c", "a", "b")] + [pod("far", namespace="other")]
    names = [item.name for item in explained([node("n"), *pods]).report.items]
    assert names == ["a", "b", "c"]
    everywhere = explained([node("n"), *pods], namespace="").report.items
    assert [(item.namespace, item.name) for item in everywhere][-1] == ("other", "far")


def test_a_selector_and_names_narrow_it() -> None:
    pods = [pod(name, labels={"n": name}) for name in ("a", "b", "c")]
    assert [item.name for item in explained([node("n"), *pods], selector="n in (a,c)").report.items] == ["a", "c"]
    assert [item.name for item in explained([node("n"), *pods], "b").report.items] == ["b"]


@pytest.mark.parametrize(
    ("described", "note"),
    [
        (pod("p", on="n"), "default/p is not Pending: it is on n."),
        (pod("p", status={"phase": "Succeeded"}), "default/p is not Pending: it has ended (Succeeded)."),
        (pod("p", terminating=True), "default/p is not Pending: it is being deleted."),
    ],
)
def test_a_named_pod_that_does_not_wait(described: Object, note: str) -> None:
    answer = explained([node("n"), described], "p")
    assert (answer.notes, answer.report.items) == ((note,), ())
    assert explained([node("n"), described]).notes == ()


def starting(
    name: str, *containers: Object, init: Sequence[Object] = (), on: str = "n", phase: str = "Pending"
) -> Object:
    """Return a Pod of web with the states of its containers."""
    statuses = {"containerStatuses": [*containers], "initContainerStatuses": [*init]}
    return owned(name, "ReplicaSet", "web", on=on, status={"phase": phase, **statuses})


def waits_for(reason: str) -> Object:
    """Return the status of a container that waits."""
    return {"name": "main", "state": {"waiting": {"reason": reason, "message": "pulled from somewhere secret"}}}


RUNS: Object = {"name": "beside", "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}


@pytest.mark.parametrize(
    ("containers", "init", "reason"),
    [
        ([waits_for("ImagePullBackOff")], [], "ImagePullBackOff"),
        ([RUNS, waits_for("ErrImagePull")], [], "ErrImagePull"),
        ([waits_for("ContainerCreating"), waits_for("ErrImagePull")], [], "ContainerCreating"),
        ([waits_for("PodInitializing")], [RUNS], "PodInitializing"),
        ([waits_for("PodInitializing")], [waits_for("CrashLoopBackOff")], "Init:CrashLoopBackOff"),
        ([waits_for("PodInitializing")], [RUNS, waits_for("PodInitializing")], "PodInitializing"),
        ([], [], ""),
    ],
)
def test_a_pod_that_is_pending_on_its_node_has_the_reason_of_kubectl(
    containers: Sequence[Object], init: Sequence[Object], reason: str
) -> None:
    answer = explained([node("n"), starting("web-a", *containers, init=init)])
    (found,) = answer.report.starting
    assert (found.reason, found.pods, found.nodes) == (reason, ("web-a",), ("n",))
    said = f"reports {reason}" if reason else "has reported nothing yet"
    assert answer.starting == (f"default/web-a is Pending, but has a node (n): the kubelet {said}.",)
    assert exit_codes.of_why_pending(answer.report) == 0
    # A name asks for the same.
    assert explained([node("n"), starting("web-a", *containers, init=init)], "web-a").starting == answer.starting


def test_pods_that_are_pending_on_their_nodes_are_named_together() -> None:
    waiting = waits_for("ImagePullBackOff")
    others = [
        starting("web-c", RUNS, phase="Running"),
        {
            **(gone := starting("web-d", waiting)),
            "metadata": {**gone["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"},
        },
        owned("web-e", "ReplicaSet", "web"),
    ]
    answer = explained([node("n"), node("m"), starting("web-a", waiting), starting("web-b", waiting, on="m"), *others])
    told = "2 Pods of default/replicaset/web are Pending, but have nodes (n, m): the kubelet reports ImagePullBackOff."
    assert answer.starting == (told,)
    assert [item.name for item in answer.report.items] == ["web-e"]


def stateful(*pods: Object, volumes: Sequence[Object] = (), **spec: Any) -> list[Object]:  # noqa: ANN401 - any field of the spec
    """Return the StatefulSet db with four replicas, these Pods and volumes."""
    return [workload("StatefulSet", "db", **{"replicas": 4, **spec}), *pods, *volumes]


def ordinal(number: int, on: str = "", **fields: Any) -> Object:  # noqa: ANN401 - as for a Pod
    """Return a Pod of db, which is Ready on a node."""
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]} if on else {"phase": "Pending"}
    return owned(f"db-{number}", "StatefulSet", "db", on=on, status=status, **fields)


ROLLS: Object = {"status": {"currentRevision": "old", "updateRevision": "new"}}
PARTITION = {"rollingUpdate": {"partition": 1}}
OLD, NEW = ({"controller-revision-hash": each} for each in ("old", "new"))
STAYS = "db-1 is of an older revision, and nothing replaces it until somebody deletes it."
FULL_NODES = [node("a1", zone="a", unschedulable=True), node("b1", zone="b", unschedulable=True)]


@pytest.mark.parametrize(
    ("spec", "there", "told"),
    [
        ({}, [ordinal(0, "a1"), ordinal(1)], "it creates db-2 and db-3 only when db-1 is Ready."),
        ({}, [ordinal(0, "a1"), ordinal(1), ordinal(3, "b1")], "it creates db-2 only when db-1 is Ready."),
        ({}, [ordinal(0), ordinal(1), ordinal(2, "a1")], "it creates db-3 only when db-0 is Ready."),
        ({}, [ordinal(0, "a1"), ordinal(1, "b1"), ordinal(2, "a1"), ordinal(3)], ""),
        ({"podManagementPolicy": "Parallel"}, [ordinal(0, "a1"), ordinal(1)], ""),
        (
            ROLLS,
            [ordinal(0, "a1", labels=OLD), ordinal(1, labels=OLD)],
            f"{STAYS} statefulset/db creates db-2 and db-3 and replaces db-0 only when db-1 is Ready.",
        ),
        (
            ROLLS | {"replicas": 2, "updateStrategy": PARTITION},
            [ordinal(0, "a1", labels=OLD), ordinal(1, labels=OLD)],
            STAYS,
        ),
        (
            ROLLS,
            [ordinal(0, "a1", labels=OLD), ordinal(1, labels=NEW)],
            "it creates db-2 and db-3 and replaces db-0 only when db-1 is Ready.",
        ),
    ],
)
def test_an_ordered_stateful_set_says_which_pod_waits_for_which(
    spec: Object, there: Sequence[Object], told: str
) -> None:
    report = explained([*FULL_NODES, *stateful(*there, **spec)]).report
    lines = [
        block.line
        for item in pending_outline(report, Extent()).items
        for blocks in item.paragraphs
        for block in blocks
        if isinstance(block, Note) and "OrderedReady" in block.line
    ]
    assert lines == [f"statefulset/db is OrderedReady: {told}"] * bool(told)


@pytest.mark.parametrize(
    ("usable", "cause"),
    [
        ("a", "volumes in zone a: no node there is available (cordoned)"),
        ("d", "a volume is in zone d, and no node is in that zone"),
    ],
)
def test_claims_of_one_place_are_one_cause_whatever_their_number(usable: str, cause: str) -> None:
    def claiming(number: int) -> Object:
        return ordinal(number, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": f"v-db-{number}"}}])

    made = [
        each
        for number in range(3)
        for each in (
            claim(f"v-db-{number}", bound_to=f"pv-{number}"),
            volume(f"pv-{number}", usable_on={ZONE: [usable]}),
        )
    ]
    pods = [claiming(number) for number in range(3)]
    nodes = [FULL_NODES[0], node("b1", zone="b")]
    report = explained([*nodes, *stateful(*pods, volumes=made, podManagementPolicy="Parallel")]).report
    (shared,) = pending_outline(report, Extent(brief=True)).causes
    assert shared.line == f"{cause}; Pending: 3 Pods of default/statefulset/db"
    # Each claim is named where a Pod is explained alone.
    assert [f"v-db-{number}" in item.summary for number, item in enumerate(report.items)] == [True] * 3


def test_a_workload_whose_pods_are_elsewhere() -> None:
    with pytest.raises(ClusterError) as raised:
        explained([*TAINTED, owned("web-0", "StatefulSet", "web", namespace="other")], "statefulset/web")
    assert raised.value.hint == "there is one in namespace other: use -n"


FULL = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "team", "namespace": "default"},
    "status": {"hard": {"pods": "1"}, "used": {"pods": "1"}},
}
OVER_QUOTA = "exceeded quota: team, requested: pods=1, used: pods=1, limited: pods=1"
REPORTS = [
    node("n"),
    workload("Deployment", "reports", replicas=3),
    revision("reports", 1)
    | {"status": {"conditions": [{"type": "ReplicaFailure", "status": "True", "message": "no"}]}},
    owned("reports-h1-a", "ReplicaSet", "reports-h1", on="n"),
]
REPORTS[2]["spec"]["replicas"] = 3


@pytest.mark.parametrize(
    ("besides", "message", "said_by"),
    [([FULL], OVER_QUOTA, UNSET), ([], "no", "condition")],
    ids=["a quota that was read", "what only the controller knows"],
)
@pytest.mark.parametrize("names", [(), ("deployment/reports",)])
def test_pods_that_were_never_created(
    besides: Sequence[Object], message: str, said_by: object, names: Sequence[str]
) -> None:
    (missing,) = explained([*REPORTS, *besides], *names).report.not_created
    assert (str(missing.workload), missing.wanted, missing.created) == ("deployment/reports", 3, 1)
    assert (missing.message, missing.message_from) == (message, said_by)


def test_only_workloads_of_the_scope_that_lack_pods_are_told() -> None:
    assert not explained([*REPORTS, FULL], namespace="other").report.not_created
    assert not explained([*REPORTS, FULL], selector="app=db").report.not_created
    assert not explained([*REPORTS, FULL], "reports-h1-a").report.not_created
    full = [owned(f"reports-h1-{n}", "ReplicaSet", "reports-h1", on="n") for n in "bc"]
    assert not explained([*REPORTS, *full, FULL]).report.not_created


def test_a_workload_without_pods_exists_all_the_same() -> None:
    refused = [each for each in REPORTS if each["kind"] != "Pod"]
    answer = explained([*refused, FULL], "deployment/reports")
    assert [each.created for each in answer.report.not_created] == [0]
    assert answer.notes == ("deployment/reports has no Pods.",)
    with pytest.raises(ClusterError):
        explained(refused, "deployment/report")


def test_what_is_said_of_a_blocked_pod() -> None:
    item = only([*BLOCKED, incoming()])
    assert (item.verdict, item.kind, item.namespace, item.name) == ("Unschedulable", "Pod", "default", "new")
    assert str(item.message).startswith("0/4 nodes are available: ")
    assert [type(each) for each in item.conflict] == [ConstraintRequirement, FilterRequirement]
    assert (item.scheduler_name, item.event, item.held_by) == ("default-scheduler", None, ())


def test_pods_of_one_template_are_explained_once() -> None:
    pods = [owned(f"new-{n}", "ReplicaSet", "web", topologySpreadConstraints=SPREAD) for n in range(3)]
    first, *others = explained([*BLOCKED, *pods]).report.items
    assert [other.same_as for other in others] == ["new-0", "new-0"]
    assert [other.name for other in others] == ["new-1", "new-2"]
    assert {other.summary for other in others} == {first.summary}


TOO_LITTLE = "No spread constraint is the cause. The only node has too little cpu ({} free)."


@pytest.mark.parametrize(
    ("cpu", "siblings"),
    [
        ("4", None),
        ("3", (3, 1, TOO_LITTLE.format("3 requested, 500m"))),
        ("1500m", (3, 2, TOO_LITTLE.format("1500m requested, 500m"))),
        ("1", (3, 3, "")),
    ],
)
def test_how_many_pods_of_a_workload_find_a_node_one_after_another(
    cpu: str, siblings: tuple[int, int, str] | None
) -> None:
    waiting = [owned(f"web-{at}", "ReplicaSet", "web-h1", requests={"cpu": cpu}) for at in range(3)]
    report = explained([node("a1", allocatable={"cpu": "3500m", "pods": "9"}), *waiting]).report
    found = {each.siblings for each in report.items}
    assert {(it.pending, it.placed, it.summary) if isinstance(it, Siblings) else None for it in found} == {siblings}
    (item,) = pending_outline(report, Extent()).items
    lines = [block.line for block in item.paragraphs[0] if isinstance(block, Note) and not block.names_pods]
    some = siblings is not None and siblings[1] < siblings[0]
    assert exit_codes.of_why_pending(report) == int(siblings != (3, 3, ""))
    assert [line.partition(",")[0] for line in lines] == ["Placed one after another"] * some
    (twins,) = (block.line for block in item.paragraphs[0] if isinstance(block, Note) and block.names_pods)
    lead = "Alone, each of these can be scheduled too:" if some else "The same applies to"
    assert twins == f"{lead} web-1, web-2."


@pytest.mark.parametrize(
    ("claims", "same_as"),
    [
        (["x", "y"], [None, None, None]),
        (["x", "x"], [None, None, None]),
        ([], [None, "new-0", "new-0"]),
        (["", ""], [None, "new-0", None]),
    ],
    ids=["bound-apart", "bound-alike", "not-made", "waiting"],
)
def test_pods_with_claims_of_their_own_are_explained_each_where_these_differ(
    claims: Sequence[str], same_as: Sequence[str | None]
) -> None:
    mounts = [{"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "fast"}}}}]
    pods = [owned(f"new-{n}", "ReplicaSet", "web", volumes=mounts) for n in range(3)]
    made = [
        claim(f"new-{n}-data", class_name="fast", bound_to=place and f"pv-{n}", owner_uid=f"default/new-{n}")
        for n, place in enumerate(claims)
    ]
    volumes = [volume(f"pv-{n}", usable_on={ZONE: [place]}) for n, place in enumerate(claims) if place]
    nodes = [node("n", zone="x", unschedulable=True), node("m", zone="y")]
    found = explained([*nodes, *pods, *made, *volumes, storage_class("fast")]).report.items
    assert [item.same_as or None for item in found] == same_as


SAID_BEFORE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}


def test_pods_for_which_volumes_are_made_wait_for_these() -> None:
    mounts = [{"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "fast"}}}}]
    pods = [
        owned(f"new-{n}", "ReplicaSet", "web", volumes=mounts, status={"conditions": [SAID_BEFORE]}) for n in range(2)
    ]
    chosen = {"volume.kubernetes.io/selected-node": "n"}
    claims = [
        claim(f"new-{n}-data", class_name="fast", annotations=chosen, owner_uid=f"default/new-{n}") for n in range(2)
    ]
    for pending in pods:
        pending["status"]["nominatedNodeName"] = "n"
    first, twin = explained([node("n"), *pods, *claims, storage_class("fast")]).report.items
    told = "The scheduler has chosen n and waits until csi.example.com has created the volume of claim {}-data."
    assert (first.verdict, first.summary) == ("Schedulable", told.format("new-0"))
    assert (twin.same_as, twin.summary) == ("new-0", told.format("new-1"))
    assert first.event is not None
    assert first.event.differs is Difference.NODE_CHOSEN
    assert "StaleEvent" not in {finding.id for finding in first.findings}


def disk(name: str, on: str = "") -> list[Object]:
    """Return a Pod of the StatefulSet's that waits, refused at some time where it names no node, and its claim."""
    mounts = [{"name": "disk", "persistentVolumeClaim": {"claimName": f"disk-{name}"}}]
    chosen = {"volume.kubernetes.io/selected-node": on} if on else {}
    said = {"conditions": [] if on else [SAID_BEFORE]}
    return [
        owned(name, "StatefulSet", "db", status=said, volumes=mounts, topologySpreadConstraints=SPREAD),
        claim(f"disk-{name}", class_name="fast", annotations=chosen),
    ]


@pytest.mark.parametrize(("reach", "alike"), [("m", False), ("n", True)])
def test_pods_whose_devices_are_reached_from_elsewhere_are_explained_each(reach: str, alike: bool) -> None:  # noqa: FBT001 - a case
    pods = [
        owned(
            f"new-{number}",
            "ReplicaSet",
            "web",
            resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "t"}],
            status={"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": f"new-{number}-gpu"}]},
        )
        for number in range(2)
    ]
    claims = [
        resource_claim(f"new-{number}-gpu", has=["pool/d0"], node=name, owner=f"new-{number}")
        for number, name in enumerate(("n", reach))
    ]
    items = explained([node("n"), node("m"), *pods, *claims]).report.items
    assert bool(items[1].same_as) is alike


@pytest.mark.parametrize(
    "second",
    [
        incoming(*SPREAD, labels={"app": "web", "v": "2"}),
        incoming(*SPREAD, requests={"cpu": "1"}),
        incoming(*SPREAD, namespace="other"),
        incoming(*SPREAD, owner={"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x"}),
    ],
    ids=["labels", "spec", "namespace", "owner"],
)
def test_pods_that_differ_are_explained_each(second: Object) -> None:
    second["metadata"]["name"] = "second"
    items = explained([*BLOCKED, incoming(*SPREAD), second], namespace="").report.items
    assert [bool(item.same_as) for item in items] == [False, False]


def test_each_pod_has_its_own_last_event() -> None:
    pods = [
        owned(f"new-{n}", "ReplicaSet", "web", topologySpreadConstraints=SPREAD, status={"conditions": [condition(n)]})
        for n in range(2)
    ]
    items = explained([*BLOCKED, *pods]).report.items
    assert [item.event.message for item in items if item.event] == ["said 0", "said 1"]


def condition(number: int) -> Object:
    """Return a condition that says that the Pod cannot be scheduled."""
    said = {"status": "False", "reason": "Unschedulable", "message": f"said {number}"}
    return {"type": "PodScheduled", **said}


def test_no_fix_is_proved_where_another_scheduler_decides() -> None:
    scope, pending = Scope(namespace="default"), [incoming(), incoming(schedulerName="volcano")]
    found = [why_pending(Memory([*BLOCKED, pod]), scope, SchedulerOptions()).report.items[0].fixes for pod in pending]
    assert [bool(fixes) for fixes in found] == [True, False]


def test_a_gated_pod_keeps_its_verdict_and_says_what_holds_it() -> None:
    gates = [{"name": "example.com/one"}, {"name": "example.com/two"}]
    item = only([node("n"), pod("p", schedulingGates=gates)])
    assert (item.held_by, item.verdict) == (("example.com/one", "example.com/two"), "Schedulable")


@pytest.mark.parametrize(
    ("objects", "code"),
    [
        ([node("n"), pod("p")], 0),
        ([node("n")], 0),
        ([*BLOCKED, incoming()], 1),
        ([node("n"), pod("p", schedulingGates=[{"name": "hold"}])], 1),
        ([node("n"), pod("p", **CLAIMING), *OPEN], 3),
        ([*BLOCKED, incoming(), pod("p", **CLAIMING), *OPEN], 1),
        ([*BLOCKED, incoming(schedulerName="volcano")], 3),
    ],
    ids=["schedulable", "none", "blocked", "gated", "incomplete", "blocked and incomplete", "another scheduler"],
)
def test_the_exit_code(objects: Sequence[Object], code: int) -> None:
    assert exit_codes.of_why_pending(explained(objects).report) == code


@pytest.mark.parametrize(
    ("asked", "nodes", "seconds"), [(None, 1_000, 30), (None, 1_001, 2.5), (0.0, 5_000, 0), (60, 9_999, 60)]
)
def test_the_search_for_fixes_takes_what_is_asked_or_what_suits_the_cluster(
    asked: float | None, nodes: int, seconds: float
) -> None:
    assert seconds_for(asked, nodes) == seconds


def shares(*wanted: float, elsewhere: float = 0) -> list[float]:
    """Return how long (seconds of 30) each template's search goes on that would take so long."""
    now = 0.0
    budget = FixBudget(30, len(wanted), clock=lambda: now)

    def search(spent: Spent, seconds: float) -> float:
        nonlocal now
        began = now
        while not spent() and now - began < seconds:
            now += 1
        return now - began

    taken = []
    for seconds in wanted:
        taken.append(budget.within(partial(search, seconds=seconds)))
        now += elsewhere
    return taken


def test_a_slow_search_leaves_the_other_templates_their_share() -> None:
    assert shares(100, 100, 100) == [11, 10, 10]


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController"])
def test_a_pod_whose_selector_has_merged_label_keys_is_of_the_newest_template(kind: str) -> None:
    labels = {"app": "web", "track": "x"}
    written = spread(ZONE, selector=app("web"), matchLabelKeys=["track"])
    merged = {"key": "track", "operator": "In", "values": ["x"]}
    stored = {**written, "labelSelector": {**app("web"), "matchExpressions": [merged]}}
    made = workload(kind, "web", pods=template(written, labels=labels), replicas=2)
    pods = pods_of(kind, "web", "a1", "", pods=template(stored, labels=labels))
    closed = node("b1", zone="b", taints=["dedicated=gpu:NoSchedule"])
    item = only([node("a1", zone="a"), closed, made, *pods])
    assert [fix.id for fix in item.fixes if fix.id == "RecreatePod"] == []


@pytest.mark.parametrize(
    ("priorities", "left", "code"),
    [((0, 10), (1, UNSET), 1), ((0, 0), ((0, 1), (0, 1)), 1), ((0, None), (UNSET,), 0)],
    ids=["the other comes first", "chance decides", "alone"],
)
def test_a_pod_for_which_there_is_room_only_until_others_are_placed(
    priorities: tuple[int | None, ...], left: tuple[object, ...], code: int
) -> None:
    made = zip("pq", priorities, strict=True)
    pods = [pod(name, requests={"cpu": "600m"}, priority=at) for name, at in made if at is not None]
    answer = explained([node("n", allocatable={"cpu": "1", "pods": "110"}), *pods])
    found = [(each, each) if isinstance(each, int) else each for each in left]
    assert [item.left for item in answer.report.items] == found
    assert exit_codes.of_why_pending(answer.report) == code


@pytest.mark.parametrize(
    ("bounds", "left", "alone", "code"),
    [
        (("MOST_PENDING",), [(0, 1), (0, 1)], UNSET, 1),
        (("MOST_PENDING", "MOST_PODS"), [UNSET, (1, 1)], UNSET, 1),
        (("MOST_PENDING", "MOST_PODS", "MOST_VERDICTS"), [UNSET, UNSET], True, 3),
    ],
    ids=["too many for changes", "too many for controllers", "too many to place"],
)
def test_who_comes_first_is_asked_in_a_large_cluster_too(
    bounds: Sequence[str], left: list[object], alone: object, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is not known, the answer is not that all of them can be scheduled."""
    for each in bounds:
        monkeypatch.setattr(company, each, 0)
    pods = [pod(name, requests={"cpu": "600m"}, labels={"app": name}) for name in "pq"]
    answer = explained([node("n", allocatable={"cpu": "1", "pods": "110"}), *pods])
    assert [item.left for item in answer.report.items] == left
    assert {item.alone for item in answer.report.items} == {alone}
    assert exit_codes.of_why_pending(answer.report) == code


@pytest.mark.parametrize(
    ("victims", "preempts", "admits"),
    [
        ("abcd", {"hi": True, "mid": True}, {"hi": (2, 2), "mid": (2, 2)}),
        ("a", {"hi": True, "mid": False}, {"hi": (1, 1)}),
    ],
    ids=["enough for both", "enough for one of them"],
)
def test_the_scheduler_evicts_only_for_those_that_come_first(
    victims: str, preempts: dict[str, bool], admits: dict[str, tuple[int, int]]
) -> None:
    """Whose Pods find no room once others have preempted, preempts nobody: what it may is not proposed."""
    low = [pod(name, on="n", requests={"cpu": "1"}, priority=-5) for name in victims]
    pods = [
        pod(f"{name}-{number}", owner=controller("ReplicaSet", name), requests={"cpu": "1"}, priority=priority)
        for name, priority in (("hi", 100), ("mid", 50))
        for number in range(2)
    ]
    full = node("n", allocatable={"cpu": str(len(victims)), "pods": "110"})
    items = {item.workload.name: item for item in explained([full, *low, *pods]).report.items if item.workload}
    assert {name: item.preemption is not None for name, item in items.items()} == preempts
    assert {name: wait.admits for name, item in items.items() for wait in item.waits} == admits
    assert {name: len(item.left_alone) for name, item in items.items()} == {
        each: int(not preempts[each]) for each in items
    }


def test_who_waits_in_vain_with_the_same_cause_is_named() -> None:
    low = pod("low", on="n", requests={"cpu": "1"}, priority=-5)
    pods = [pod(name, labels={"app": name}, requests={"cpu": "1"}, priority=at) for name, at in (("hi", 9), ("mid", 5))]
    report = explained([node("n", allocatable={"cpu": "1", "pods": "110"}), low, *pods]).report
    told = str(pending_outline(report, Extent(brief=True)))
    assert "These steps are for default/pod/hi only: default/pod/mid needs one of its own" in told


@pytest.mark.parametrize(
    ("urgent", "told"),
    [
        (0, "Placed one after another, only 2 of 3 Pending Pods of default/replicaset/web find a node."),
        (
            2,
            "Other Pending Pods need the same room: 3 Pods of default/replicaset/web stay Pending once all are placed.",
        ),
    ],
)
def test_how_many_stay_pending_is_said_of_the_whole_cluster(urgent: int, told: str) -> None:
    """Alone, two of them would find a node; those of a higher priority leave no room for any."""
    names = [
        *((f"web-{number}", "web", 0) for number in range(3)),
        *((f"hi-{number}", "hi", 9) for number in range(urgent)),
    ]
    pods = [
        pod(name, owner=controller("ReplicaSet", of), requests={"cpu": "1"}, priority=priority)
        for name, of, priority in names
    ]
    report = explained([node("n", allocatable={"cpu": "2", "pods": "110"}), *pods]).report
    blocks = [block for item in pending_outline(report, Extent()).items for block in item.paragraphs[0]]
    assert any(block.line.startswith(told) for block in blocks if isinstance(block, Note))

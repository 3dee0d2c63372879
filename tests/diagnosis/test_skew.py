"""The rows of ``show``: how a workload lies over the domains of its constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from kubectl_spread.contract.skew import next_reason, status_reason
from kubectl_spread.controllers.workloads import workloads
from kubectl_spread.diagnosis.skew import SkewItem, rows
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.objects.kinds import SERVICE as SERVICES
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.profile import Behaviour, default_profile
from kubectl_spread.snapshot import Snapshot, Unread
from kubectl_spread.wording.findings import finding_text
from kubectl_spread.wording.incomplete import NEVER_RUNS
from tests.build import HOSTNAME, ZONE, Object, app, node, pod, snapshot, spread
from tests.build_devices import CLAIMING, OPEN
from tests.build_storage import claim, volume
from tests.build_workloads import cron_job, owned, revision, template, workload
from tests.diagnosis.judged import ABC, GPU, HARD_ZONE_DEFAULT, SERVICE, TAINTED, rows_of, zoned


def deployment(*constraints: Object, on: Sequence[str] = (), **spec: Any) -> list[Object]:  # noqa: ANN401 - as for a Pod
    """Return a Deployment of the application web with its ReplicaSet and Pods, one on each of these nodes."""
    pods = template(*(constraints or (zoned(),)), **spec)
    made = [owned(f"web-{n}", "ReplicaSet", "web-h1", on=where, labels=labels(pods)) for n, where in enumerate(on)]
    for each in made:
        each["spec"] |= {"topologySpreadConstraints": pods["spec"]["topologySpreadConstraints"]}
    return [workload("Deployment", "web", pods=pods), revision("web", 1, pods=pods), *made]


def labels(pods: Object) -> dict[str, str]:
    """Return the labels of the first revision's Pods."""
    return {**pods["metadata"]["labels"], "pod-template-hash": "h1"}


def only(objects: Sequence[Object], **kwargs: Any) -> SkewItem:  # noqa: ANN401 - as for rows_of
    (row,) = rows_of(objects, **kwargs)
    return row


NO_ROOM = ": skew would be 2, maxSkew 1"
ELSEWHERE = "; elsewhere skew would be 2, maxSkew 1"
DISK = [{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}]


def others(*on: str) -> list[Object]:
    """Return Pods of another application on these nodes."""
    return [pod(f"o{number}", on=name, labels={"app": "other"}) for number, name in enumerate(on)]


COMPLETE = {"conditions": [{"type": "Complete", "status": "True"}]}
STATUSES = {
    "even": ([*ABC, *deployment(on=["a1", "b1", "c1"])], SpreadStatus.OK, ""),
    "within maxSkew": ([*ABC, *deployment(on=["a1", "b1"])], SpreadStatus.OK, ""),
    "violated": ([*ABC, *deployment(on=["a1", "a2"])], SpreadStatus.VIOLATED, "skew 2, maxSkew 1"),
    "uneven": (
        [*ABC, *deployment(zoned(soft=True), on=["a1", "a2"])],
        SpreadStatus.UNEVEN,
        "skew 2, maxSkew 1, only preferred",
    ),
    "blocked by a taint": (
        [*TAINTED, *deployment(on=["a1", "b1"])],
        SpreadStatus.BLOCKED,
        f"no Pod can go to c: taint {GPU}{ELSEWHERE}",
    ),
    "blocked by several": (
        [*TAINTED, node("c2", zone="c", unschedulable=True), *deployment(on=["a1", "b1"])],
        SpreadStatus.BLOCKED,
        f"no Pod can go to c: c2 (cordoned); c1 (taint {GPU}){ELSEWHERE}",
    ),
    "blocked by minDomains": (
        [*ABC, *deployment(zoned(minDomains=4), on=["a1", "b1", "c1"])],
        SpreadStatus.BLOCKED,
        f"minDomains requires 4 domains, but only 3 count{NO_ROOM}",
    ),
    "only one domain counts": (
        [node("a1", zone="a"), node("a2", zone="a"), *deployment(on=["a1"])],
        SpreadStatus.NO_EFFECT,
        "only one domain counts: skew is always 0",
    ),
    "one domain of a soft constraint": (
        [node("a1", zone="a"), *deployment(zoned(soft=True), on=["a1"])],
        SpreadStatus.NO_EFFECT,
        "only one domain counts: skew is always 0",
    ),
    "blocked before it is violated": (
        [*TAINTED, *deployment(on=["a1", "a2", "b1"])],
        SpreadStatus.BLOCKED,
        f"no Pod can go to c: taint {GPU}{ELSEWHERE}",
    ),
    "not to blame where filters alone reject": (
        [*TAINTED, *deployment(on=["a1", "b1"], nodeSelector={"disk": "ssd"})],
        SpreadStatus.UNSCHEDULABLE,
        "no label disk=ssd",
    ),
    "no node has the key": (
        [*ABC, *deployment(spread("rack", selector=app("web"), soft=True), on=["a1"])],
        SpreadStatus.NO_EFFECT,
        "no node has rack",
    ),
    "no selector": (
        [*ABC, *deployment(spread(ZONE), on=["a1"])],
        SpreadStatus.NO_EFFECT,
        "no labelSelector: it counts no Pod",
    ),
    "empty selector": (
        [*ABC, *deployment(spread(ZONE, selector={}), on=["a1"])],
        SpreadStatus.NO_EFFECT,
        "empty labelSelector: it counts no Pod in this release",
    ),
    "ghost": (
        [*ABC, *deployment(zoned(selector=app("other")), on=["a1"])],
        SpreadStatus.NO_EFFECT,
        "its selector does not match its own Pods",
    ),
    "ghost that is blocked": (
        [*TAINTED, *others("a1", "a1", "b1", "b1"), *deployment(zoned(selector=app("other")))],
        SpreadStatus.BLOCKED,
        f"no Pod can go to c: taint {GPU}; the selector does not match the workload's own Pods",
    ),
    "a volume without a node": (
        [*ABC, *deployment(volumes=DISK), claim("d", bound_to="pv-x"), volume("pv-x", usable_on={ZONE: ["d"]})],
        SpreadStatus.UNSCHEDULABLE,
        "volume pv-x is in zone d, and no node is in that zone",
    ),
    "a complete Job": (
        [node("a1", zone="a"), workload("Job", "web", pods=template(zoned()), status=COMPLETE)],
        SpreadStatus.OK,
        "",
    ),
    "a Job that is not complete": (
        [node("a1", zone="a"), workload("Job", "web", pods=template(zoned()))],
        SpreadStatus.NO_EFFECT,
        "only one domain counts: skew is always 0",
    ),
    "nobody owns it": (
        [*ABC, pod("web", on="a1", labels={"app": "web"}, topologySpreadConstraints=[zoned()])],
        SpreadStatus.OK,
        "",
    ),
}


@pytest.mark.parametrize(("objects", "status", "reason"), STATUSES.values(), ids=STATUSES.keys())
def test_the_status_and_the_one_thing_to_know(objects: Sequence[Object], status: SpreadStatus, reason: str) -> None:
    row = only(objects)
    assert (row.status, status_reason(row)) == (status, reason)


def test_a_key_that_no_node_carries_comes_before_all_else() -> None:
    row = only([*ABC, *deployment(spread("rack", selector=app("web")))])
    assert (row.status, status_reason(row), row.next) == (SpreadStatus.NO_DOMAINS, "no node has rack", ())


def test_two_constraints_block_together_and_name_each_other() -> None:
    nodes = [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b")]
    constraints = (zoned(), spread(HOSTNAME, selector=app("web")))
    by_zone, by_host = rows_of([*nodes, *deployment(*constraints, on=["a1", "a1", "a2", "b1", "b1"])])
    assert (by_zone.status, by_zone.constraint.topology_key) == (SpreadStatus.BLOCKED, ZONE)
    assert (by_host.status, by_host.constraint.topology_key) == (SpreadStatus.BLOCKED, HOSTNAME)
    assert by_zone.next == ()


def test_what_blocks_with_a_constraint_is_named_where_nothing_is_pinned() -> None:
    far = zoned(maxSkew=2, minDomains=3)
    tainted = [node("a1", zone="a"), node("b1", zone="b", taints=[GPU])]
    row = only([*tainted, *deployment(far, on=["a1", "a1", "a1", "b1"])])
    assert (row.status, status_reason(row)) == (
        SpreadStatus.BLOCKED,
        "leaves no node together with TaintToleration: skew would be 4, maxSkew 2",
    )
    nodes = [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b")]
    made = deployment(far, spread(HOSTNAME, selector=app("web")), on=["a1", "a1", "a1", "b1"])
    by_zone, _ = rows_of([*nodes, *made])
    assert (by_zone.status, status_reason(by_zone)) == (
        SpreadStatus.BLOCKED,
        f"leaves no node together with {HOSTNAME}: skew would be 4, maxSkew 2",
    )


def test_too_few_domains_are_the_reason_where_a_node_would_do_without_min_domains() -> None:
    tainted = [node("a1", zone="a"), node("b1", zone="b", taints=[GPU])]
    row = only([*tainted, *deployment(zoned(maxSkew=2, minDomains=3), on=["a1", "a1", "b1"])])
    assert (row.status, status_reason(row)) == (
        SpreadStatus.BLOCKED,
        "minDomains requires 3 domains, but only 2 count: skew would be 3, maxSkew 2",
    )


def test_a_node_that_is_kept_for_two_reasons_is_one_node() -> None:
    full = [pod("big", on="c2", requests={"cpu": "2"})]
    nodes = [*ABC[:3], *(node(name, zone="c", taints=[GPU], allocatable={"cpu": "2"}) for name in ("c1", "c2", "c3"))]
    row = only([*nodes, *full, *deployment(on=["a1", "b1"], requests={"cpu": "1"})])
    assert status_reason(row) == f"no Pod can go to c: taint {GPU}{ELSEWHERE}"
    (pinned,) = (finding_text(each) for each in row.findings if each.id == "PinnedMinimum")
    assert pinned.count("c2") == 1
    assert "more" not in pinned


def test_a_constraint_that_is_not_in_the_core_is_not_blocked() -> None:
    objects = [*TAINTED, *deployment(zoned(), spread("rack", selector=app("web"), soft=True), on=["a1", "b1"])]
    by_zone, by_rack = rows_of(objects)
    assert (by_zone.status, by_rack.status) == (SpreadStatus.BLOCKED, SpreadStatus.NO_EFFECT)
    hard = (zoned(), spread(HOSTNAME, selector=app("web"), maxSkew=9))
    by_zone, by_host = rows_of([*TAINTED, *deployment(*hard, on=["a1", "b1"])])
    assert (by_zone.status, by_host.status) == (SpreadStatus.BLOCKED, SpreadStatus.OK)


FINISHED: Object = {"conditions": [{"type": "Complete", "status": "True"}]}
WANT_NO_MORE = {
    "DaemonSet": workload("DaemonSet", "web", pods=template(zoned(nodeAffinityPolicy="Ignore"))),
    "a Job that is done": workload("Job", "web", pods=template(zoned()), status=FINISHED),
    "a Job that is full": workload("Job", "web", pods=template(zoned()), parallelism=3, completions=9),
    "a Job that is suspended": workload("Job", "web", pods=template(zoned()), parallelism=9, suspend=True),
    "a Job with one success": workload("Job", "web", pods=template(zoned()), parallelism=9, status={"succeeded": 1}),
    "paused": workload("Deployment", "web", pods=template(zoned()), paused=True),
    "scaled to 0": workload("ReplicaSet", "web", pods=template(zoned()), replicas=0),
}


@pytest.mark.parametrize(
    "made",
    [
        workload("Job", "web", pods=template(zoned()), parallelism=3, completions=3),
        workload("ReplicaSet", "web", pods=template(zoned()), replicas=0),
        workload("DaemonSet", "web", pods=template(zoned())),
    ],
    ids=lambda made: made["kind"],
)
def test_where_no_next_pod_comes_the_one_that_waits_is_judged(made: Object) -> None:
    spec: Object = {"topologySpreadConstraints": [zoned()]}
    pods = [owned(f"p{on}", made["kind"], "web", on=on, **spec) for on in ("a1", "b1", "")]
    row = only([*TAINTED, made, *pods])
    assert (row.status, row.next) == (SpreadStatus.BLOCKED, ())
    assert only([*ABC, made, *pods]).status != SpreadStatus.BLOCKED


@pytest.mark.parametrize("kind", ["Job", "CronJob"])
def test_who_makes_the_pods_instead_is_told(kind: str) -> None:
    managed: Object = {"managedBy": "kueue.x-k8s.io/multikueue", "parallelism": 3, "completions": 9}
    pods = template(zoned())
    made = workload("Job", "web", pods=pods, **managed) if kind == "Job" else cron_job("web", pods=pods, **managed)
    row = only([*TAINTED, made, *(owned(f"p{on}", kind, "web", on=on) for on in ("a1", "b1"))])
    assert (row.status, row.next) == (SpreadStatus.OK, ())
    assert status_reason(row) == "kueue.x-k8s.io/multikueue creates its Pods"


@pytest.mark.parametrize("made", WANT_NO_MORE.values(), ids=WANT_NO_MORE.keys())
def test_what_makes_no_next_pod_is_never_blocked(made: Object) -> None:
    pods = (owned(f"p{on}", made["kind"], "web", on=on) for on in ("a1", "a2", "b1"))
    row = only([*TAINTED, made, *pods])
    assert (row.status, row.next) == (SpreadStatus.VIOLATED, ())


def test_daemon_pods_count_their_own_nodes_alone() -> None:
    made = workload("DaemonSet", "web", pods=template(zoned(nodeTaintsPolicy="Honor")))
    nodes = [*ABC, node("c2", zone="c", unschedulable=True)]
    row = only([*nodes, made, *(owned(f"p{on}", "DaemonSet", "web", on=on) for on in ("a1", "a2", "b1", "c2"))])
    assert (row.status, row.constraint.skew, row.next) == (SpreadStatus.NO_EFFECT, 0, ())
    assert {domain.value: domain.matching for domain in row.constraint.domains} == {"a": 2, "b": 1, "c": 1}
    assert {(domain.skew_if_placed, domain.allowed) for domain in row.constraint.domains} == {(1, True)}
    assert status_reason(row) == "the affinity of each Pod selects one node: skew is always 0"


def test_min_domains_limits_the_pods_on_the_node_of_a_daemon() -> None:
    made = workload("DaemonSet", "web", pods=template(zoned(minDomains=2)))
    row = only([*ABC, made, *(owned(f"p{on}", "DaemonSet", "web", on=on) for on in ("a1", "a2"))])
    assert (row.status, row.constraint.skew) == (SpreadStatus.OK, 1)
    row = only([*ABC, made, *(owned(f"p{n}", "DaemonSet", "web", on="a1") for n in range(2))])
    assert (row.status, row.constraint.skew) == (SpreadStatus.VIOLATED, 2)


def test_own_pods_are_told_from_those_that_only_match() -> None:
    others = [pod("stray", on="b1", labels={"app": "web"}), pod("far", on="b1", namespace="x", labels={"app": "web"})]
    row = only([*ABC, *deployment(on=["a1", "c1"]), *others])
    assert (row.pods, row.own_pods) == (3, 2)
    assert sum(row.own_matching.values()) == 2
    assert row.own_matching.keys() == row.state.matching.keys()


def test_pods_on_nodes_that_do_not_count_are_not_among_them() -> None:
    row = only([*ABC, node("x"), *deployment(on=["a1", "x"])])
    assert (row.pods, row.own_pods) == (1, 1)


def test_ghosts_are_named() -> None:
    row = only([*ABC, *deployment(zoned(selector=app("other")), on=["a1", "b1"])])
    assert row.ghosts == ("web-0", "web-1")
    assert "GhostPod" in {finding.id for finding in row.findings}


def test_the_nodes_of_the_next_replica_come_best_first() -> None:
    row = only([*ABC, *deployment(spread(HOSTNAME, selector=app("web")), on=["a1"])])
    assert set(row.next) == {"a2", "b1", "c1"}
    assert "PodTopologySpread" in row.evaluated_filters
    assert "NodeResourcesFit" in row.evaluated_filters


def test_a_row_for_each_constraint() -> None:
    rows = rows_of([*ABC, *deployment(zoned(), spread(HOSTNAME, selector=app("web"), soft=True))])
    assert [(row.constraint.index, row.constraint.topology_key) for row in rows] == [(0, ZONE), (1, HOSTNAME)]


def test_workloads_without_constraints_have_rows_under_the_defaults_when_asked() -> None:
    objects = [*ABC, SERVICE, workload("Deployment", "web"), revision("web", 1)]
    assert rows_of(objects) == ()
    rows = rows_of(objects, defaults=True)
    assert [(row.default, row.constraint.topology_key) for row in rows] == [(True, HOSTNAME), (True, ZONE)]
    assert only(objects, profile=HARD_ZONE_DEFAULT, defaults=True).constraint.when_unsatisfiable == "DoNotSchedule"


def test_nothing_to_go_by_makes_no_row() -> None:
    assert rows_of([*ABC, cron_job("web")]) == ()
    assert rows_of(ABC) == ()


def rollout(old: Object, new: Object) -> list[Object]:
    """Return a Deployment in the middle of a rollout, two Pods of each revision."""
    objects = [workload("Deployment", "web", pods=new), revision("web", 1, pods=old), revision("web", 2, pods=new)]
    for number, pods, nodes in ((1, old, ("a1", "a2")), (2, new, ("b1", "c1"))):
        for on in nodes:
            hash_ = {"pod-template-hash": f"h{number}"}
            made = owned(f"web-{number}-{on}", "ReplicaSet", f"web-h{number}", on=on, labels=hash_)
            made["spec"] |= {"topologySpreadConstraints": pods["spec"]["topologySpreadConstraints"]}
            objects.append(made)
    return objects


def test_revisions_that_read_alike_share_a_row() -> None:
    row = only([*ABC, *rollout(template(zoned()), template(zoned()))])
    assert (row.revision, row.pods, row.own_pods) == ("", 4, 4)
    assert row.next != ()


def test_revisions_that_read_otherwise_have_rows_of_their_own() -> None:
    new, old = rows_of([*ABC, *rollout(template(zoned(maxSkew=3)), template(zoned()))])
    assert (new.revision, new.constraint.max_skew, new.status) == ("h2", 1, SpreadStatus.OK)
    assert (old.revision, old.constraint.max_skew, old.next) == ("h1", 3, ())


def test_a_constraint_of_a_daemon_set_that_keeps_no_pod_away_closes_no_domain_of_another() -> None:
    own = {"topologySpreadConstraints": [zoned(), spread(HOSTNAME, soft=True, selector=app("web"))]}
    made = workload("DaemonSet", "web", pods=template(*own["topologySpreadConstraints"]))
    nodes = [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b")]
    pods = [owned(f"p{on}", "DaemonSet", "web", on=on, **own) for on in ("a1", "a2", "b1")]
    assert not any(domain.pinned_by for row in rows_of([*nodes, made, *pods]) for domain in row.constraint.domains)


def test_an_older_revision_that_may_use_other_nodes_has_a_row_of_its_own() -> None:
    new = template(zoned(), nodeSelector={"disk": "ssd"})
    objects = [
        workload("Deployment", "web", pods=new),
        revision("web", 1, pods=template(zoned())),
        revision("web", 2, pods=new),
    ]
    labels, constraints = {"pod-template-hash": "h1"}, {"topologySpreadConstraints": [zoned()]}
    old = [owned(f"web-{n}", "ReplicaSet", "web-h1", on="a1", labels=labels, **constraints) for n in range(3)]
    rows = rows_of([*ABC, *objects, *old])
    assert [(row.revision, row.status, row.constraint.skew) for row in rows] == [
        ("h2", SpreadStatus.UNSCHEDULABLE, 0),
        ("h1", SpreadStatus.VIOLATED, 3),
    ]


def test_match_label_keys_count_each_revision_alone() -> None:
    keyed = template(zoned(matchLabelKeys=["pod-template-hash"]))
    new, old = rows_of([*ABC, *rollout(keyed, keyed)])
    assert (new.constraint.selector, new.pods) == ("app=web,pod-template-hash=h2", 2)
    assert (old.constraint.selector, old.pods, old.status) == ("app=web,pod-template-hash=h1", 2, SpreadStatus.VIOLATED)


def test_the_older_revisions_ghosts_are_its_own() -> None:
    new, old = rows_of([*ABC, *rollout(template(zoned(selector=app("typo"))), template(zoned()))])
    assert new.ghosts == ()
    assert old.ghosts == ("web-1-a1", "web-1-a2")


def test_what_could_not_be_read_makes_the_row_incomplete() -> None:
    read = snapshot([*ABC, *deployment(on=["a1"]), SERVICE]).inventory
    seen = Snapshot.build(replace(read, unread=(Unread(SERVICES, "forbidden"),)))
    profile = default_profile()
    plain = Handle.build(seen, profile)
    statuses = [row.status.name for found in workloads(seen) for row in rows(found, plain, defaults=False)]
    assert statuses == [SpreadStatus.OK]
    row = only([*ABC, *OPEN, workload("Deployment", "web", pods=template(zoned(), **CLAIMING))])
    assert (row.status, status_reason(row)) == (
        SpreadStatus.INCOMPLETE,
        "whether nodes have the devices it claims is not known (ResourceClaim g)",
    )


def test_an_empty_selector_balances_where_the_release_counts_it() -> None:
    usual = default_profile()
    counting = replace(usual, behaviours=usual.behaviours | {Behaviour.EMPTY_SELECTOR_COUNTS})
    objects = [*ABC, *deployment(spread(ZONE, selector={}), on=["a1", "a2"])]
    assert only(objects, profile=counting).status is SpreadStatus.VIOLATED


def test_filters_that_leave_no_node_are_to_blame_before_a_constraint_that_leaves_none_either() -> None:
    nodes = [node("a1", zone="a", taints=[GPU]), node("b1", zone="b", unschedulable=True)]
    row = only([*nodes, *deployment(zoned(minDomains=3), on=["a1", "b1"])])
    assert (row.status, row.next) == (SpreadStatus.UNSCHEDULABLE, ())
    assert status_reason(row) == f"cordoned; taint {GPU}"


def test_without_nodes_nothing_is_scheduled() -> None:
    row = only(deployment(zoned(soft=True)))
    assert (row.status, status_reason(row)) == (SpreadStatus.UNSCHEDULABLE, "no nodes available to schedule pods")


def test_a_pod_that_is_refused_has_no_next_node() -> None:
    row = only([*ABC, *deployment(zoned(matchLabelKeys=["app"]), on=["a1"])])
    assert (row.status, row.next) == (SpreadStatus.FAILED_CREATE, ())
    assert status_reason(row).endswith("exists in both matchLabelKeys and labelSelector")
    assert {domain.value: domain.next for domain in row.constraint.domains}["b"] == "NotCreated"


def test_what_is_free_is_counted_on_nodes_that_no_other_filter_rejects() -> None:
    nodes = [
        node("a1", zone="a", labels={"pool": "web"}, allocatable={"cpu": "100m"}),
        node("a2", zone="a", allocatable={"cpu": "1500m"}),
        node("b1", zone="b", labels={"pool": "web"}, allocatable={"cpu": "200m"}),
    ]
    row = only([*nodes, *deployment(requests={"cpu": "2"}, nodeSelector={"pool": "web"})])
    assert (row.status, status_reason(row)) == (
        SpreadStatus.UNSCHEDULABLE,
        "2 cpu requested, too large even for an empty node with 200m",
    )


def test_a_pod_that_waits_is_judged_before_one_that_may_come() -> None:
    waits = owned("web-9", "ReplicaSet", "web-h0", labels={"pod-template-hash": "h0"}, nodeSelector={"disk": "ssd"})
    waits["spec"] |= {"topologySpreadConstraints": [zoned()]}
    made = deployment(on=["a1", "b1", "c1"])
    (row,) = rows_of([*ABC, *made, revision("web", 0, pods=template(zoned())), waits])
    assert (row.status, status_reason(row)) == (SpreadStatus.UNSCHEDULABLE, "no label disk=ssd")
    assert (row.pending_pod, row.next, next_reason(row)) == ("web-9", (), "")
    assert only([*ABC, *made]).pending_pod == ""


def test_a_pod_that_waits_and_finds_a_node_is_judged_too() -> None:
    row = only([*ABC, *deployment(on=["a1", "b1", ""])])
    assert (row.status, row.pending_pod, row.next) == (SpreadStatus.OK, "web-2", ("c1",))


def older_revision(*, on: str, replicas: int = 1, **metadata: str) -> list[Object]:
    """Return an older revision of the Deployment, which tolerates more skew, with one Pod."""
    pods = template(zoned(maxSkew=2))
    made = owned("old", "ReplicaSet", "web-h0", on=on, labels={"pod-template-hash": "h0"})
    made["spec"] |= {"topologySpreadConstraints": [zoned(maxSkew=2)]}
    made["metadata"] |= metadata
    of = revision("web", 0, pods=pods)
    return [{**of, "spec": {**of["spec"], "replicas": replicas}}, made]


def test_an_older_revision_has_a_row_while_it_wants_pods() -> None:
    new = [*ABC, *deployment(on=["a1"])]
    assert [row.revision for row in rows_of([*new, *older_revision(on="b1")])] == ["h1", "h0"]
    terminating = older_revision(on="b1", deletionTimestamp="2026-01-01T00:00:00Z")
    assert [row.revision for row in rows_of([*new, *terminating])] == [""]
    assert [row.revision for row in rows_of([*new, *older_revision(on="b1", replicas=0)])] == [""]


def test_the_node_of_a_pod_that_runs_closes_no_domain_to_others_of_its_revision() -> None:
    _, row = rows_of([*ABC, *deployment(on=["a1", "a1"]), *older_revision(on="a1")])
    assert (row.revision, row.constraint.skew) == ("h0", 3)
    assert [domain.pinned_by for domain in row.constraint.domains] == [(), (), ()]
    assert "PinnedMinimum" not in {each.id for each in row.findings}


def test_a_template_that_names_its_node_says_where_the_next_pod_goes() -> None:
    row = only([*ABC, *deployment(on=["a1", "a1"], nodeName="a1")])
    assert (row.status, row.next) == (SpreadStatus.VIOLATED, ("a1",))
    assert next_reason(row) == "its template sets spec.nodeName, so it is not scheduled"
    assert "PinnedMinimum" not in {each.id for each in row.findings}


def test_a_template_that_names_no_existing_node_says_what_becomes_of_the_next_pod() -> None:
    row = only([*ABC, *deployment(on=["gone", "gone"], nodeName="gone")])
    assert next_reason(row) == f"its template sets spec.nodeName, but {NEVER_RUNS}"


def test_every_constraint_of_equal_cores_is_blocked() -> None:
    constraints = (zoned(minDomains=3), spread(HOSTNAME, selector=app("web"), minDomains=5))
    nodes = [node("a1", zone="a"), node("b1", zone="b")]
    rows = rows_of([*nodes, *deployment(*constraints, on=["a1", "b1"])])
    assert {row.status for row in rows} == {SpreadStatus.BLOCKED}
    assert [status_reason(row) for row in rows] == [
        f"minDomains requires {asked} domains, but only 2 count{NO_ROOM}" for asked in (3, 5)
    ]


def test_a_pod_that_preempts_is_not_blocked() -> None:
    balloon = pod("balloon", on="c1", requests={"cpu": "8"}, priority=-10)
    row = only([*ABC, balloon, *deployment(on=["a1", "b1"], requests={"cpu": "1"})])
    assert (row.status, status_reason(row), row.next) == (SpreadStatus.OK, "preempts default/balloon on c1", ("c1",))

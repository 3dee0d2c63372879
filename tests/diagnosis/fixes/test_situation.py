"""What a Pod and a cluster say, in the time that it takes to say no more."""

from __future__ import annotations

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.controllers.workloads import Replicas, living_pods
from kubectl_spread.diagnosis import lint
from kubectl_spread.diagnosis.domains import diagnose
from kubectl_spread.diagnosis.findings import Severity
from kubectl_spread.diagnosis.fixes.search import siblings_of
from kubectl_spread.diagnosis.fixes.situation import Situation, Written, placed_by_owner
from kubectl_spread.objects.core import Pod, PodTemplateSpec
from tests.build import ZONE, Object, app, handle, node, pod, spread, typed_pod
from tests.diagnosis.fixes import clusters
from tests.diagnosis.fixes.clusters import zones
from tests.diagnosis.fixes.owners import cron_job, owned, owner
from tests.diagnosis.judged import ABC, TAINTED, incoming, web

SOFT = "ScheduleAnyway"
OWNED = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "web", "controller": True}]


@pytest.mark.parametrize(
    "asked",
    [
        incoming(spread(ZONE, selector=app("web"), whenUnsatisfiable=SOFT)),
        incoming(spread(ZONE, selector=app("other"), whenUnsatisfiable=SOFT), spread("rack", whenUnsatisfiable=SOFT)),
        incoming(spread(ZONE, selector={}, whenUnsatisfiable=SOFT, matchLabelKeys=["absent"]), requests={"cpu": "99"}),
        incoming(spread(ZONE, selector=app("web"))),
        incoming(spread("rack", selector=app("other"), minDomains=9), spread(ZONE, selector=app("web"))),
        incoming(spread(ZONE, selector=app("web"), maxSkew=9), requests={"cpu": "99"}),
    ],
    ids=range(6),
)
@pytest.mark.parametrize("nodes", [ABC, TAINTED, (*ABC, node("d1"))], ids=["in order", "tainted", "a label missing"])
def test_warnings_are_those_that_every_verdict_on_every_node_gives(asked: Object, nodes: tuple[Object, ...]) -> None:
    situation = Situation(typed_pod(asked), handle([*nodes, *web("a1", "a2", "b1")]))
    spread_diagnosis = diagnose(situation.evaluation, situation.handle)
    found = lint.of_pod(situation.evaluation, spread_diagnosis)
    assert situation.warnings == {
        (each.severity, each.id, each.path) for each in found if each.severity is not Severity.INFO
    }


@pytest.mark.parametrize(
    ("max_skew", "nodes", "warned"),
    [(1, TAINTED, {"PinnedMinimum"}), (1, ABC, set()), (9, TAINTED, set())],
    ids=["the minimum is pinned", "it is open", "no domain is closed"],
)
def test_warnings_ask_every_node_only_where_the_minimum_may_be_pinned(
    max_skew: int, nodes: tuple[Object, ...], warned: set[str]
) -> None:
    pod = incoming(spread(ZONE, selector=app("web"), maxSkew=max_skew))
    situation = Situation(typed_pod(pod), handle([*nodes, *web("a1", "a2", "b1")]))
    assert {name for _, name, _ in situation.warnings} == warned
    assert ("evaluation" in vars(situation)) is bool(warned)


UNREADY = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}}
STARTING = {"status": {"phase": "Pending"}}
GOING = {"metadata": {"deletionTimestamp": "2026-11-20T03:00:00Z"}}


def counted(by: Object, *running: Object, waiting: int = 1) -> object:
    """Return what is counted of a workload's Pods, some of which wait."""
    described = [owned(clusters.web(f"w{number}"), by) for number in range(waiting)]
    there = [owned(each, by) for each in running]
    first, *_ = pods = [typed_pod(each) for each in described]
    situation = Situation(first, handle([*zones(), by, *there, *described]))
    snapshot = situation.handle.snapshot
    return situation.replicas(siblings_of(first, living_pods(pods, snapshot), snapshot))


def on(node: str, **more: Object) -> Object:
    """Return a Pod on a node, of which more is said."""
    pod = clusters.web(f"on-{node}", on=node)
    return {**pod, **{field: {**pod.get(field, {}), **values} for field, values in more.items()}}


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "ReplicaSet", "ReplicationController"])
def test_of_the_replicas_that_are_wanted_those_count_that_run(kind: str) -> None:
    by = owner(kind, clusters.web(), replicas=3)
    assert counted(by, on("a1"), on("b1")) == Replicas(wanted=3, running=2)


@pytest.mark.parametrize("said", [UNREADY, STARTING, GOING], ids=["unready", "starting", "going"])
def test_what_says_that_it_does_not_run_does_not_count(said: Object) -> None:
    by = owner("Deployment", clusters.web(), replicas=3)
    assert counted(by, on("a1"), on("b1", **said)) == Replicas(wanted=3, running=1)


def test_a_daemon_set_wants_as_many_as_there_are() -> None:
    assert counted(owner("DaemonSet", clusters.web()), on("a1"), waiting=2) == Replicas(wanted=3, running=1)


@pytest.mark.parametrize(
    ("kind", "spec", "rolls"),
    [
        ("Deployment", {}, True),
        ("StatefulSet", {}, True),
        ("StatefulSet", {"updateStrategy": {"type": "OnDelete"}}, UNSET),
        ("DaemonSet", {"updateStrategy": {"type": "OnDelete"}}, UNSET),
    ],
)
def test_a_rollout_is_not_finished_while_its_pods_are_of_several_revisions(
    kind: str, spec: Object, rolls: object
) -> None:
    by = owner(kind, clusters.web(), replicas=3, **spec)
    old, new = ({"metadata": {"labels": {**clusters.WEB, "controller-revision-hash": each}}} for each in ("old", "new"))
    mixed, same = counted(by, on("a1", **old), on("b1", **new)), counted(by, on("a1", **new), on("b1", **new))
    assert isinstance(mixed, Replicas)
    assert isinstance(same, Replicas)
    assert (mixed.rolling_out, same.rolling_out) == (rolls, UNSET)


def test_nothing_is_counted_of_jobs_and_bare_pods() -> None:
    assert counted(owner("Job", clusters.web())) is UNSET
    assert counted(cron_job(clusters.web())) is UNSET
    bare = typed_pod(clusters.web())
    assert Situation(bare, handle([*zones(), clusters.web()])).replicas((bare,)) is UNSET


def test_pods_that_were_counted_once_for_many_are_those_that_each_counts_without_itself() -> None:
    objects = [*ABC, *(each | {"metadata": {**each["metadata"], "ownerReferences": OWNED}} for each in web("a1", "b1"))]
    before = handle(objects)
    counted = placed_by_owner(before, before.snapshot.all(Pod))
    for own in before.snapshot.all(Pod):
        cluster = before.without_pod(own)
        names = [each.metadata.name for each in Situation(own, cluster, placed=counted).running]
        assert names == [each.metadata.name for each in Situation(own, cluster).running]
        assert len(names) == 1


def test_a_pod_that_a_manifest_creates_anew_does_not_exist() -> None:
    asked, live = typed_pod(incoming()), typed_pod(pod("db-0", on="a1"))
    before = handle([*ABC, pod("db-0", on="a1")])
    written = Written(obj=None, template=PodTemplateSpec(), path="", values={}, before=before.snapshot)
    again = replace(live, metadata=replace(live.metadata, creation_timestamp="2026-01-01T00:00:00Z"))
    situation = Situation(asked, before, written=written)
    assert (situation.exists(live), situation.exists(again)) == (True, False)
    itself = Situation(asked, before, written=replace(written, applied=(live,)))
    assert not itself.exists(live)

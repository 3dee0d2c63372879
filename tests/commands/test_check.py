"""``check``: whether manifests schedule, in file order, each seeing the ones before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml
from msgspec.structs import asdict

from kubectl_spread.commands import exit_codes
from kubectl_spread.commands.check import CheckOptions, check
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.check import CheckItem, CheckReport
from kubectl_spread.controllers.rollout_plan import Assumption
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.errors import ManifestError, UsageError
from kubectl_spread.gaps import Purpose, UnreadKind
from kubectl_spread.labels import parse_selector
from kubectl_spread.objects import kinds
from kubectl_spread.render.outline import Extent, Note
from kubectl_spread.render.outline.check import check_outline, check_sentence
from kubectl_spread.snapshot import Unread
from kubectl_spread.wording.check import NO_POD
from kubectl_spread.wording.incomplete import NEVER_RUNS, entries
from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.build_devices import CLAIMING, OPEN
from tests.build_storage import claim, storage_class, volume
from tests.build_workloads import cron_job, owned, revision, template, workload
from tests.commands.memory import Memory
from tests.diagnosis.judged import ABC, GPU, SERVICE, TAINTED, incoming, report_of, web
from tests.naming import in_order
from tests.program import encoded
from tests.program import spread as run

Check: TypeAlias = Callable[..., CheckReport]
ON_ZONES = spread(ZONE, selector=app("web"))
ON_HOSTS = spread(HOSTNAME, selector=app("web"))


@pytest.fixture
def checked(tmp_path: Path) -> Check:
    """Return what checks manifests, given as values, against the cluster of these objects."""

    def run(
        manifests: Sequence[Object],
        objects: Sequence[Object] = ABC,
        *,
        unread: tuple[Unread, ...] = (),
        **options: Any,  # noqa: ANN401 - as for CheckOptions
    ) -> CheckReport:
        path = tmp_path / "manifests.yaml"
        path.write_text(yaml.safe_dump_all(manifests), encoding="utf-8")
        asked = CheckOptions(filenames=(str(path),), **{"namespace": "default", **options})
        report = check(Memory(objects, unread=unread), asked, SchedulerOptions(), stdin=None).report
        encoded(report)
        return report

    return run


def only(report: CheckReport) -> CheckItem:
    (item,) = report.items
    return item


def nodes_of(item: CheckItem) -> list[str]:
    """Return where each replica went."""
    return [placement.node for placement in item.placements]


def test_a_pod_that_schedules(checked: Check) -> None:
    item = only(checked([pod("web", topologySpreadConstraints=[ON_ZONES], labels={"app": "web"})]))
    assert (item.verdict, item.kind, item.namespace, item.name) == ("Schedulable", "Pod", "default", "web")
    assert item.source.endswith("manifests.yaml, document 1")
    assert (item.replicas, len(item.placements), item.jam, item.validation) == (1, 1, None, ())
    assert str(item.workload) == "pod/web"


def test_all_that_is_found_of_a_pod_is_reported_in_the_manifests_name(checked: Check) -> None:
    objects = [*TAINTED, *web("a1", "b1")]
    item, found = only(checked([incoming()], objects)), report_of(incoming(), objects)
    named = {"name": item.name, "source": item.source, "workload": item.workload}
    searched = {field: getattr(item, field) for field in ("fixes", "new_nodes", "left_alone")}
    assert {field: getattr(item, field) for field in found.__struct_fields__} == asdict(found) | named | searched
    assert item.fixes


def test_replicas_are_placed_one_after_another(checked: Check) -> None:
    item = only(checked([workload("Deployment", "web", pods=template(ON_HOSTS), replicas=4)]))
    assert Counter(nodes_of(item)) == Counter(("a1", "a2", "b1", "c1"))
    assert [domain.matching for domain in item.after[0].domains] == [1, 1, 1, 1]
    assert [domain.matching for domain in item.constraints[0].domains] == [0, 0, 0, 0]


def test_a_selector_chooses_among_the_manifests(checked: Check) -> None:
    first, second = (workload("Deployment", name, labels={"tier": name}) for name in ("front", "back"))
    items = checked([first, second], selector=parse_selector("tier=back")).items
    assert [item.name for item in items] == ["back"]
    with pytest.raises(UsageError, match='no manifest with a Pod template matches the selector "tier=none"'):
        checked([first, second], selector=parse_selector("tier=none"))


def test_as_many_as_are_asked_for(checked: Check) -> None:
    item = only(checked([workload("Deployment", "web", pods=template(ON_HOSTS), replicas=4)], replicas=2))
    assert (item.replicas, len(item.placements)) == (2, 2)


def test_the_replica_at_which_it_jams(checked: Check) -> None:
    report = checked([workload("Deployment", "web", pods=template(ON_ZONES), replicas=5)], TAINTED)
    item = only(report)
    assert (item.verdict, len(item.placements)) == ("Schedulable", 2)
    assert item.jam is not None
    assert item.jam.replica == 3
    assert exit_codes.of_check(report) == 1


NO_REPLICA_SETS = (Unread(kinds.REPLICA_SET, "forbidden"),)


def test_a_new_deployment_has_no_replica_sets_that_have_to_be_read(checked: Check) -> None:
    described = workload("Deployment", "web", pods=template(ON_ZONES), replicas=5)
    report = checked([described], TAINTED, unread=NO_REPLICA_SETS)
    assert (len(only(report).placements), exit_codes.of_check(report)) == (2, 1)


def test_what_becomes_of_a_live_deployment_is_not_known_without_its_replica_sets(checked: Check) -> None:
    live, described = (workload("Deployment", "web", pods=template(ON_ZONES), replicas=number) for number in (1, 5))
    report = checked([described], [*TAINTED, live], unread=NO_REPLICA_SETS)
    assert (only(report).verdict, exit_codes.of_check(report)) == (Verdict.INCOMPLETE, 3)
    assert check_sentence(only(report)).startswith("as far as is known, ")


def test_whether_a_deployment_exists_is_not_known_from_pods_alone(tmp_path: Path) -> None:
    path, cluster = tmp_path / "web.yaml", tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump(workload("Deployment", "web", pods=template(ON_ZONES), replicas=2)))
    living = owned("web-h1-0", "ReplicaSet", "web-h1", on="a1", labels={"app": "web", "pod-template-hash": "h1"})
    cluster.write_text(yaml.safe_dump_all([*TAINTED, living]), encoding="utf-8")
    ended = run("check", "-f", path, "--from", cluster, "-o", "json")
    (gap,) = ended.item["incomplete"]
    assert (ended.code, gap["what"], gap["why"]) == (3, "list deployments", "not in the files")
    assert gap["consequence"] == "whether it exists already, and has Pods, is not known"


def test_manifests_see_those_before_them(checked: Check) -> None:
    first = workload("Deployment", "first", pods=template(ON_ZONES), replicas=3)
    second = workload("Deployment", "second", pods=template(ON_ZONES), replicas=1)
    items = checked([first, second], [node("a", zone="a"), node("b", zone="b")]).items
    assert [item.name for item in items] == ["first", "second"]
    zone = items[1].constraints[0]
    assert sum(domain.matching for domain in zone.domains) == 3
    (alone,) = items[1].placements
    assert {domain.matching for domain in items[1].after[0].domains} == {2}
    assert alone.replica == 1


def test_manifests_do_not_see_what_is_refused_before_them(checked: Check) -> None:
    keyed = spread(ZONE, selector=app("web"), matchLabelKeys=["app"])
    refused = pod("refused", host_ports=["8080"], labels={"app": "web"}, topologySpreadConstraints=[keyed])
    items = checked([refused, pod("taken", host_ports=["8080"])], [node("a", zone="a")]).items
    assert [item.verdict for item in items] == ["Invalid", "Schedulable"]


def test_what_is_no_workload_is_laid_over_the_cluster(checked: Check) -> None:
    plain = workload("Deployment", "web", pods=template(), replicas=2)
    del plain["spec"]["template"]["spec"]["topologySpreadConstraints"]
    item = only(checked([plain, SERVICE, node("new", zone="new")], [node("a", zone="a")]))
    assert [constraint.default for constraint in item.constraints] == [True, True]
    assert Counter(nodes_of(item)) == Counter(("a", "new"))


@pytest.mark.parametrize(
    ("described", "kind", "replicas"),
    [
        (workload("StatefulSet", "web", replicas=2), "StatefulSet", 2),
        (workload("ReplicaSet", "web", replicas=2), "ReplicaSet", 2),
        (workload("ReplicationController", "web", replicas=2), "ReplicationController", 2),
        (workload("Job", "web", parallelism=3, completions=2), "Job", 2),
        (cron_job("web", parallelism=3), "CronJob", 3),
        (workload("DaemonSet", "web"), "DaemonSet", 4),
        (workload("DaemonSet", "web", pods=template(nodeSelector={ZONE: "a"})), "DaemonSet", 2),
    ],
    ids=in_order,
)
def test_every_kind_with_a_pod_template(checked: Check, described: Object, kind: str, replicas: int) -> None:
    item = only(checked([described]))
    assert (item.kind, item.replicas, len(item.placements)) == (kind, replicas, replicas)
    assert str(item.workload) == f"{kind.lower()}/web"


def test_daemons_that_all_have_a_node_are_not_stuck(checked: Check) -> None:
    agent = workload("DaemonSet", "web", pods=template(ON_ZONES))
    there = [owned(f"web-{name}", "DaemonSet", "web", on=name) for name in ("a1", "b1")]
    report = checked([agent], [*TAINTED, agent, *there])
    assert (nodes_of(only(report)), only(report).conflict, exit_codes.of_check(report)) == (["a2"], (), 0)
    nowhere = checked([workload("DaemonSet", "web", pods=template(nodeSelector={"disk": "none"}))])
    assert (only(nowhere).replicas, exit_codes.of_check(nowhere)) == (0, 0)


def test_a_daemon_that_waits_for_a_node_that_was_tainted_since_counts_that_node(checked: Check) -> None:
    agent = workload("DaemonSet", "web", pods=template(requests={"cpu": "9"}))

    def waits_for(name: str) -> Object:
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        return owned(f"web-{name}", "DaemonSet", "web", requests={"cpu": "9"}, affinity={"nodeAffinity": required})

    waiting = [waits_for("a1"), waits_for("a2")]
    item = only(checked([agent], [node("a1", taints=["dedicated=gpu:NoSchedule"]), node("a2"), agent, *waiting]))
    assert item.jam is not None
    assert (item.replicas, item.jam.nodes) == (2, ("a1", "a2"))


def rollout(**spec: Any) -> Object:  # noqa: ANN401 - any field of the spec
    """Return an object of an API that this program does not know."""
    metadata = {"name": "web", "namespace": "default"}
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": metadata, "spec": spec}


def test_a_template_of_another_api(checked: Check) -> None:
    item = only(checked([rollout(template=template(ON_ZONES), replicas=9)]))
    assert (item.kind, item.name, item.verdict, item.replicas) == ("Rollout", "web", "Schedulable", 9)
    assert str(item.workload) == "rollout/web"


@pytest.mark.parametrize(
    ("described", "namespace"),
    [
        (pod("web", namespace="own"), "own"),
        ({**pod("web"), "metadata": {"name": "web"}}, "asked"),
        ({**rollout(template=template()), "metadata": {"name": "web"}}, "asked"),
        (rollout(template=template()), "default"),
    ],
    ids=["said", "not said", "custom, not said", "custom, said"],
)
def test_documents_without_a_namespace_are_in_the_one_that_is_asked_for(
    checked: Check, described: Object, namespace: str
) -> None:
    assert only(checked([described], namespace="asked")).namespace == namespace


@pytest.mark.parametrize(
    ("manifests", "objects", "code"),
    [
        ([pod("a")], ABC, 0),
        ([pod("a", nodeSelector={"disk": "ssd"})], ABC, 1),
        ([pod("a", **CLAIMING)], [*ABC, *OPEN], 3),
        ([pod("a", **CLAIMING)], ABC, 1),
        ([pod("a"), pod("b", **CLAIMING)], [*ABC, *OPEN], 3),
        ([pod("a", nodeSelector={"disk": "ssd"}), pod("b", resourceClaims=[{"name": "g"}])], ABC, 1),
        ([pod("a")], [node("n", taints=[GPU])], 1),
        ([pod("a")], [], 1),
    ],
    ids=in_order,
)
def test_the_exit_code(checked: Check, manifests: Sequence[Object], objects: Sequence[Object], code: int) -> None:
    assert exit_codes.of_check(checked(manifests, objects)) == code


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_more_pods_than_there_can_be(checked: Check, kind: str) -> None:
    with pytest.raises(ManifestError, match="asks for 2147483647 Pods, more than the 150000 that Kubernetes supports"):
        checked([workload(kind, "web", replicas=2147483647)])
    with pytest.raises(ManifestError, match="asks for 9000000 Pods"):
        checked([workload("Job", "web", parallelism=9000000)])


@pytest.mark.parametrize("live", [True, False], ids=["scaled to 0 by hand", "new"])
@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_where_none_comes_nothing_is_wrong_and_the_next_one_is_judged(checked: Check, kind: str, *, live: bool) -> None:
    described = workload(kind, "web", replicas=0, pods=template(requests={"cpu": "99"}))
    report = checked([described], [*ABC, *[described] * live])
    item = only(report)
    assert (item.verdict, item.summary, exit_codes.of_check(report)) == ("Schedulable", "", 0)
    large = "too large even for an empty node with 8"
    why = f"No spread constraint is the cause. All 4 nodes have too little cpu (99 requested, {large})."
    assert check_sentence(item) == f"no Pod comes now. The next one would find no node. {why}"


@pytest.mark.parametrize("objects", [ABC, TAINTED], ids=["there is room", "zone c is shut"])
def test_another_scheduler_decides_about_all_replicas(checked: Check, objects: Sequence[Object]) -> None:
    pods = template(ON_ZONES)
    pods["spec"]["schedulerName"] = "volcano"
    report = checked([workload("Deployment", "web", pods=pods, replicas=5)], objects)
    item = only(report)
    assert (item.verdict, item.message, item.jam, exit_codes.of_check(report)) == ("Incomplete", "", None, 3)
    assert check_sentence(item).startswith("volcano schedules this Pod; kube-scheduler's filters would allow ")


def test_a_pod_that_is_refused_though_its_template_is_taken_is_no_fault_of_the_workload(checked: Check) -> None:
    keyed = template(spread(ZONE, selector=app("web"), matchLabelKeys=["app"]))
    report = checked([workload("Deployment", "web", pods=keyed, replicas=2)])
    failed = only(report).failed_create
    assert failed is not None
    (refusal,) = failed.refusals
    assert (failed.created, only(report).validation, only(report).placements) == (0, (), ())
    assert refusal.field == "spec.template.spec.topologySpreadConstraints[0][0]"
    assert refusal.message == 'Invalid value: "app": exists in both matchLabelKeys and labelSelector'
    assert (only(report).verdict, exit_codes.of_check(report)) == ("FailedCreate", 1)


@pytest.mark.parametrize(("objects", "otherwise"), [(ABC, "all 2 replicas can be"), ([], "not schedulable.")])
def test_a_gate_comes_before_all_else(checked: Check, objects: Sequence[Object], otherwise: str) -> None:
    gated = template(schedulingGates=[{"name": "example.com/wait"}])
    report = checked([workload("Deployment", "web", pods=gated, replicas=2)], objects)
    held = "held by the scheduling gate example.com/wait. Once it is removed: "
    assert check_sentence(only(report)).startswith(f"{held}{otherwise}")
    assert (only(report).held_by, exit_codes.of_check(report)) == (("example.com/wait",), 1)


def test_replicas_that_room_is_made_for_schedule_and_whom_that_costs_is_told(checked: Check) -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    full = [*ABC, pod("low", on="c1", labels={"app": "low"}, requests={"cpu": "8"}), *web("a1", "b1", priority=9), high]
    needy = template(ON_ZONES, requests={"cpu": "1"}, priorityClassName="high")
    report = checked([workload("Deployment", "new", pods=needy, replicas=1)], full)
    item = only(report)
    assert check_sentence(item) == "it can be scheduled: it preempts default/low on c1."
    assert (item.verdict, nodes_of(item), item.jam, exit_codes.of_check(report)) == ("Schedulable", ["c1"], None, 0)
    assert "PinnedMinimum" not in {finding.id for finding in item.findings}
    assert [domain.matching for domain in item.after[0].domains] == [1, 1, 1]


def test_old_pods_that_find_a_node_are_none_of_the_manifests_replicas(checked: Check) -> None:
    old, new = template(requests={"cpu": "1"}), template(spread("rack", selector=app("web")))
    labels = {"app": "web", "pod-template-hash": "h1"}
    on, spec = ("n", "n", ""), old["spec"]
    living = [owned(f"web-{n}", "ReplicaSet", "web-h1", on=on[n], labels=labels, **spec) for n in range(3)]
    below = revision("web", 1, pods=old)
    below["spec"]["replicas"] = 3
    cluster = [node("n"), workload("Deployment", "web", pods=old, replicas=3), below, *living]
    item = only(checked([workload("Deployment", "web", pods=new, replicas=3)], cluster))
    assert (item.verdict, nodes_of(item)) == ("Unschedulable", [])
    assert {fix.id for fix in item.fixes} == {"MakeSoft"}


def test_the_domains_are_those_of_the_replica_that_finds_no_node(checked: Check) -> None:
    """The volume of the first replica keeps that in one zone; what keeps the second from all is its own claim."""
    made = {"metadata": {"name": "disk"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "local"}}
    described = workload("StatefulSet", "web", pods=template(ON_ZONES), replicas=2, volumeClaimTemplates=[made])
    local = storage_class("local", provisioner="kubernetes.io/no-provisioner")
    held = {"namespace": "default", "name": "disk-web-0", "uid": "default/disk-web-0"}
    usable_on = {HOSTNAME: ["a"]}
    bound = [
        claim("disk-web-0", class_name="local", bound_to="pv-a"),
        volume("pv-a", class_name="local", usable_on=usable_on, kept_for=held, phase="Bound"),
    ]
    nodes = [node("a", zone="a"), node("b", zone="b")]
    item = only(checked([described], [*nodes, local, *bound]))
    assert item.jam is not None
    (zone,) = item.after
    assert [(domain.value, domain.matching) for domain in zone.domains] == [("a", 1), ("b", 0)]
    (pin,) = zone.domains[1].pinned_by
    assert "disk-web-1" in str(pin.reason)


@pytest.mark.parametrize(
    ("fields", "code"),
    [({"priorityClassName": "high"}, 3), ({"priorityClassName": "high", "nodeSelector": {"disk": "ssd"}}, 1), ({}, 1)],
    ids=["may-preempt", "no-room-by-preemption", "no-class"],
)
def test_whether_a_pod_of_a_class_that_files_lack_makes_room_is_not_known(
    checked: Check, fields: Object, code: int
) -> None:
    full = [node("n", allocatable={"cpu": "1", "pods": "9"}), pod("low", on="n", requests={"cpu": "1"})]
    replicas = workload("Deployment", "web", pods=template(requests={"cpu": "1"}, **fields), replicas=2)
    for manifest in (pod("p", requests={"cpu": "1"}, **fields), replicas):
        report = checked([manifest], full)
        assert exit_codes.of_check(report) == code
        item = only(report)
        one_of_two = code == 3 and item.replicas == 2
        assert check_sentence(item).startswith("replica 1 of 2 cannot " if one_of_two else "not schedulable. ")
        purposes = {gap.purpose for gap in item.incomplete if isinstance(gap, UnreadKind)}
        assert (Purpose.PREEMPTION in purposes, item.verdict is Verdict.INCOMPLETE) == (code == 3, code == 3)


@pytest.mark.parametrize(
    ("classes", "code"), [(["gp3"], 0), ([], 3), (["other"], 1)], ids=["there", "not-read", "not-there"]
)
def test_a_claim_of_a_class_that_files_lack_is_not_judged(checked: Check, classes: Sequence[str], code: int) -> None:
    disk = claim("data", class_name="gp3")
    of_set = workload("StatefulSet", "db", pods=template(ON_ZONES), volumeClaimTemplates=[disk])
    mounts = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    missing = [("list storageclasses", "none in the files")] if code == 3 else []
    for manifests in ([of_set], [pod("web", volumes=mounts), disk]):
        report = checked(manifests, [*ABC, *map(storage_class, classes)])
        assert exit_codes.of_check(report) == code
        assert [(each.what, each.why) for each in entries(only(report).incomplete)] == missing


@pytest.mark.parametrize(
    ("fields", "assumed"),
    [
        ({"status": {"phase": "Succeeded"}}, Assumption.POD_FINISHED),
        ({"status": {"phase": "Failed"}}, Assumption.POD_FINISHED),
        ({"terminating": True}, Assumption.POD_TERMINATING),
        ({"terminating": True, "on": ""}, Assumption.POD_TERMINATING),
        ({"on": "gone"}, Assumption.POD_ORPHANED),
    ],
)
@pytest.mark.parametrize("image", ["registry.example/app:v1", "registry.example/app:v2"])
def test_applying_a_pod_that_never_runs_again_schedules_none(
    checked: Check, fields: Object, assumed: Assumption, image: str
) -> None:
    item = only(checked([pod("web", image=image)], [*ABC, pod("web", **{"on": "a1", **fields})]))
    assert (item.verdict, item.placements, item.incomplete) == ("Schedulable", (), ())
    assert check_sentence(item) == NO_POD
    assert item.rollout is not None
    assert (item.rollout.running, item.rollout.assumed) == (1, assumed)


@pytest.mark.parametrize(
    "described", [pod("web", on="gone"), workload("Deployment", "web", pods=template(nodeName="gone"))]
)
def test_a_pod_that_names_a_node_that_does_not_exist_never_runs(checked: Check, described: Object) -> None:
    report = checked([described])
    item = only(report)
    assert (item.verdict, item.placements, item.message, item.incomplete) == ("Unschedulable", (), "", ())
    assert check_sentence(item).endswith(f"default/web sets spec.nodeName gone, but {NEVER_RUNS}.")
    assert exit_codes.of_check(report) == 1


def test_applying_what_lives_changes_nothing(checked: Check) -> None:
    live = workload("Deployment", "web", pods=template(ON_ZONES), replicas=3)
    own = revision("web", 1, pods=template(ON_ZONES))
    own["spec"]["replicas"] = 3
    labels = {"app": "web", "pod-template-hash": "h1"}
    fields: Object = {"labels": labels, "topologySpreadConstraints": [ON_ZONES]}
    pods = [owned(f"web-{n}", "ReplicaSet", "web-h1", on=on, **fields) for n, on in enumerate(("a1", "b1", ""))]
    item = only(checked([live], [*TAINTED, live, own, *pods]))
    assert item.rollout is not None
    assert (item.rollout.unchanged, item.placements, item.pending) == (True, (), 1)
    assert check_sentence(item).startswith("unchanged: 1 Pod stays Pending. ")
    grown = {**live, "spec": {**live["spec"], "replicas": 4}}
    more = only(checked([grown], [*TAINTED, live, own, *pods]))
    assert more.rollout is not None
    assert not more.rollout.unchanged


def test_nodes_that_only_the_order_of_the_documents_gives_are_named(checked: Check) -> None:
    # Once tool is in zone a, both zones are open for web.
    counted = [node("a1", zone="a"), node("b1", zone="b"), pod("other", on="b1", labels={"app": "web"})]
    web = pod("web", labels={"app": "web"}, topologySpreadConstraints=[ON_ZONES])
    tool = pod("tool", labels={"app": "web"}, nodeSelector={ZONE: "a"})
    first, second = checked([web, tool], counted).items
    assert (nodes_of(first), first.placements[0].ties, first.elsewhere) == (["a1"], (), ("b1",))
    assert (nodes_of(second), second.elsewhere) == (["a1"], ())
    assert only(checked([web], counted)).elsewhere == ()
    alone = check_outline(checked([web, tool], counted), Extent()).items[0]
    assert Note(line="In other random orders it goes to b1.") in alone.paragraphs[0]


def test_what_only_some_orders_leave_without_a_node_is_by_chance(checked: Check) -> None:
    nodes = [node("a1", allocatable={"cpu": "4", "pods": "9"})]
    first, second = checked([pod(name, requests={"cpu": "3"}) for name in ("p1", "p2")], nodes).items
    assert (first.verdict, second.verdict) == ("Schedulable", "Unschedulable")
    for item in (first, second):
        assert check_sentence(item).startswith("replica 1 of 1 may not be schedulable, depending on chance. ")

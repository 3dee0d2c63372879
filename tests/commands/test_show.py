"""``show``: which workloads, in which order, by which filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from kubectl_spread.cluster.reads import Read
from kubectl_spread.commands import exit_codes, read_sets
from kubectl_spread.commands.scope import Scope, parse_names
from kubectl_spread.commands.show import ShowAnswer, ShowOptions, show, sort
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.form import to_form
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.errors import ClusterError, UsageError
from kubectl_spread.labels import parse_selector
from kubectl_spread.objects import kinds
from kubectl_spread.snapshot import Inventory, Unread
from kubectl_spread.wording.incomplete import entries
from kubectl_spread.wording.statuses import way_back
from tests.build import ZONE, Object, app, node, pod, spread
from tests.build_workloads import controller, owned, revision, template, workload
from tests.commands.memory import Memory
from tests.diagnosis.judged import varied
from tests.naming import in_order
from tests.program import encoded

ON_ZONES = spread(ZONE, selector=app("web"))
PODS = template(ON_ZONES)
NODES = [node("a1", zone="a"), node("b1", zone="b"), node("c1", zone="c")]


def labelled(described: Object, **labels: str) -> Object:
    """Return the object with these labels of its own besides."""
    described["metadata"]["labels"] |= labels
    return described


CLUSTER = [
    *NODES,
    workload("Deployment", "even", pods=PODS, labels={"team": "x"}),
    revision("even", 1, pods=PODS),
    owned("even-1", "ReplicaSet", "even-h1", on="a1", labels={"tier": "front"}),
    workload(
        "Deployment", "uneven", pods=template(spread(ZONE, selector=app("lone"), soft=True), labels={"app": "lone"})
    ),
    *(owned(f"uneven-{n}", "Deployment", "uneven", on="a1", labels={"app": "lone"}) for n in range(3)),
    workload("StatefulSet", "violated", pods=template(spread(ZONE, selector=app("db")), labels={"app": "db"})),
    *(owned(f"violated-{n}", "StatefulSet", "violated", on="a1", labels={"app": "db"}) for n in range(2)),
    workload("Deployment", "plain"),
    workload("Deployment", "far", pods=PODS, namespace="other"),
    labelled(pod("bare", on="b1", topologySpreadConstraints=[spread(ZONE)]), team="x"),
    owned("rolled", "Rollout", "canary", on="a1", labels={"app": "canary"}, topologySpreadConstraints=[ON_ZONES]),
]


def shown(
    objects: Sequence[Object] = tuple(CLUSTER),
    *,
    namespace: str = "default",
    selector: str = "",
    kinds: tuple[str, ...] = (),
    **options: Any,  # noqa: ANN401 - as for ShowOptions
) -> ShowAnswer:
    """Return what is shown of the cluster; the schema that ships must allow it."""
    scope = Scope(namespace=namespace, selector=parse_selector(selector), kinds=kinds)
    answer = show(Memory(objects), scope, ShowOptions(**options), SchedulerOptions())
    encoded(answer.report)
    return answer


def rows(answer: ShowAnswer) -> list[tuple[str, str]]:
    """Return (workload, status) of each row."""
    return [(str(item.workload), item.status.value) for item in answer.report.items]


def test_the_worst_comes_first() -> None:
    assert rows(shown()) == [
        ("statefulset/violated", "Violated"),
        ("rollout/canary", "NoEffect"),
        ("pod/bare", "NoEffect"),
        ("deployment/uneven", "Uneven"),
        ("deployment/even", "OK"),
    ]


@pytest.mark.parametrize(
    ("by", "first"),
    [
        ("status", ["statefulset/violated", "rollout/canary"]),
        ("skew", ["deployment/uneven", "statefulset/violated"]),
        ("name", ["deployment/even", "deployment/uneven", "pod/bare", "rollout/canary", "statefulset/violated"]),
    ],
)
def test_what_comes_first_may_be_chosen(by: str, first: list[str]) -> None:
    assert [workload for workload, _ in rows(shown(sort_by=by))][: len(first)] == first
    assert to_form(sort(shown().report.items, by)) == to_form(shown(sort_by=by).report.items)


def test_a_selector_that_cannot_be_parsed_costs_the_rows_of_its_workload_alone() -> None:
    torn = workload("Deployment", "torn", pods=template(spread(ZONE, selector=app("{{.name}}"))))
    answer = shown([*CLUSTER, torn])
    assert rows(answer) == rows(shown())
    (gap,) = entries(answer.report.incomplete)
    assert gap.what == f"the constraint of deployment/torn in namespace default on {ZONE}"
    assert '"{{.name}}"' in gap.why


def test_static_pods_are_no_workload_but_can_be_named() -> None:
    static = owned("etcd-a1", "Node", "a1", on="a1", labels={"app": "etcd"}, topologySpreadConstraints=[ON_ZONES])
    assert rows(shown([*CLUSTER, static])) == rows(shown())
    assert [workload for workload, _ in rows(shown([*CLUSTER, static], names=(("pod", "etcd-a1"),)))] == ["pod/etcd-a1"]


def test_all_namespaces_are_told_apart() -> None:
    found = {(item.namespace, str(item.workload)) for item in shown(namespace="").report.items}
    assert {("other", "deployment/far"), ("default", "deployment/even")} < found


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("team=x", {"deployment/even", "pod/bare"}),
        ("tier=front", {"deployment/even"}),
        ("app=db", {"statefulset/violated"}),
        ("app=canary", {"rollout/canary"}),
        ("nobody", set()),
    ],
)
def test_a_selector_means_the_workload_or_any_of_its_pods(selector: str, found: set[str]) -> None:
    assert {workload for workload, _ in rows(shown(selector=selector))} == found


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("deploy/even",), {"deployment/even"}),
        (("deploy", "even", "uneven"), {"deployment/even", "deployment/uneven"}),
        (("violated",), {"statefulset/violated"}),
        (("canary", "bare"), {"rollout/canary", "pod/bare"}),
        (("deploy,sts",), {"deployment/even", "deployment/uneven", "statefulset/violated"}),
        (("deploy",), {"deployment/even", "deployment/uneven"}),
        (("pods",), {"pod/bare"}),
        (("rollout",), {"rollout/canary"}),
        (("pod/bare",), {"pod/bare"}),
        (("pod/even-1",), {"deployment/even"}),
        (("rs/even-h1",), {"deployment/even"}),
        ((), {"statefulset/violated", "rollout/canary", "pod/bare", "deployment/uneven", "deployment/even"}),
    ],
    ids=in_order,
)
def test_workloads_are_named_as_kubectl_names_them(arguments: tuple[str, ...], found: set[str]) -> None:
    named = parse_names(arguments)
    assert {workload for workload, _ in rows(shown(kinds=named.kinds, names=named.names))} == found


def test_a_named_workload_without_constraints_is_shown_under_the_defaults() -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"}},
    }
    named = shown([*CLUSTER, service], names=(("deployment", "plain"),))
    assert [item.default for item in named.report.items] == [True, True]
    assert ("deployment/plain", "OK") in rows(shown([*CLUSTER, service], defaults=True))
    assert "deployment/plain" not in {workload for workload, _ in rows(shown([*CLUSTER, service]))}


def test_problems_leave_out_what_is_ok() -> None:
    assert "OK" not in {status for _, status in rows(shown(problems=True))}
    assert len(rows(shown(problems=True))) == len(rows(shown())) - 1


def test_a_violated_constraint_names_the_way_back() -> None:
    first = shown().report.items[0]
    assert next(way_back(first, ())).endswith(": kubectl spread rebalance statefulset/violated -n default")
    assert [*way_back(shown().report.items[3], ())] == []


def test_a_topology_key_leaves_out_what_is_on_others() -> None:
    racked = [spread("rack", selector=app("racked")), spread(ZONE, selector=app("racked"))]
    cluster = [*CLUSTER, pod("racked", on="b1", labels={"app": "racked"}, topologySpreadConstraints=racked)]
    on_rack = shown(cluster, topology_key="rack").report.items
    assert [(str(item.workload), item.constraint.index) for item in on_rack] == [("pod/racked", 0)]
    assert len(rows(shown(cluster, topology_key=ZONE))) == len(rows(shown(cluster))) - 1
    assert rows(shown(cluster, topology_key="hall")) == []


BAD = {"NoDomains", "Blocked", "FailedCreate", "Unschedulable", "Violated", "NoEffect"}


@pytest.mark.parametrize("status", SpreadStatus)
def test_what_the_exit_code_may_say(status: SpreadStatus) -> None:
    report = shown().report
    for now, then in ((status, SpreadStatus.OK), (SpreadStatus.OK, status)):
        item = varied(report.items[0], current=now, status=then)
        of_item = msgspec.structs.replace(report, items=(item,))
        codes = [int(exit_codes.of_show(of_item, one_more=one_more)) for one_more in (False, True)]
        assert codes == [int(now in BAD), int(then in BAD)]


def test_a_workload_that_has_all_its_pods_is_ok_whatever_one_more_would_find() -> None:
    cordoned = [*({**each, "spec": {"unschedulable": True}} for each in NODES), *CLUSTER[len(NODES) :]]
    whole = next(item for item in shown(cordoned).report.items if str(item.workload) == "deployment/even")
    assert (whole.current, whole.status) == (SpreadStatus.OK, SpreadStatus.UNSCHEDULABLE)
    hidden, kept = (rows(shown(cordoned, problems=True, one_more=one_more)) for one_more in (False, True))
    assert ("deployment/even", "Unschedulable") not in hidden
    assert ("deployment/even", "Unschedulable") in kept


def test_a_small_cluster_is_evaluated_whole() -> None:
    small = Memory(CLUSTER, pods=read_sets.WHOLE_CLUSTER_PODS)
    assert not show(small, Scope(namespace="default"), ShowOptions(), SchedulerOptions()).counted_only


class Busy(Memory):
    """A cluster that has changed from one list to the next."""

    def read(self, reads: Sequence[Read]) -> Inventory:
        return replace(super().read(reads), resource_versions={"nodes": "7", "pods": "9"}, apart=True)


def test_lists_of_two_moments_are_told() -> None:
    (told,) = entries(
        show(Busy(CLUSTER), Scope(namespace="default"), ShowOptions(), SchedulerOptions()).report.incomplete
    )
    assert (told.what, told.why) == ("nodes at resourceVersion 7, pods at resourceVersion 9", "read at different times")
    assert shown().report.incomplete == ()


DEPLOYMENTS = (Unread(kinds.DEPLOYMENT, "forbidden", "default"),)


def hidden(*unread: Unread, **options: Any) -> ShowAnswer:  # noqa: ANN401 - as for ShowOptions
    """Return what is shown of the cluster where these lists could not be had."""
    left = [each for each in CLUSTER if all(each["kind"] != missing.kind.name for missing in unread)]
    scope = Scope(namespace="default")
    return show(Memory(left, unread=unread), scope, ShowOptions(**options), SchedulerOptions())


def test_workloads_that_could_not_be_listed_are_told() -> None:
    (told,) = entries(hidden(*DEPLOYMENTS).report.incomplete)
    assert (told.what, told.why) == ("list deployments", "forbidden")
    assert told.consequence == "workloads without Pods are not shown, and the owners of other Pods are not known"


def test_services_that_could_not_be_listed_are_told_where_they_select() -> None:
    services = Unread(kinds.SERVICE, "forbidden", "default")
    assert hidden(services).report.incomplete == ()
    (told,) = entries(hidden(services, defaults=True).report.incomplete)
    assert told.what == "list services"


def test_a_workload_of_a_kind_that_could_not_be_listed_may_exist() -> None:
    said = r"cannot tell whether deployment/plain exists: list deployments \(forbidden\)"
    with pytest.raises(ClusterError, match=said):
        hidden(*DEPLOYMENTS, names=(("deployment", "plain"),))
    with pytest.raises(ClusterError, match="statefulset/plain not found"):
        hidden(*DEPLOYMENTS, names=(("statefulset", "plain"),))


def test_a_workload_of_a_kind_that_could_not_be_listed_is_known_by_its_pods() -> None:
    assert rows(hidden(*DEPLOYMENTS, names=(("deployment", "even"),))) == [("deployment/even", "Incomplete")] * 2


def test_a_workload_is_judged_by_its_own_schedulers_profile() -> None:
    other = workload("Deployment", "other", pods=template(spread(ZONE, selector=app("web")), schedulerName="volcano"))
    (item,) = shown([*NODES, other]).report.items
    assert "OtherScheduler" in {finding.id for finding in item.findings}


def test_an_owner_that_is_not_read_is_named_all_the_same() -> None:
    orphan = owned("p", "ReplicaSet", "gone", on="a1", topologySpreadConstraints=[ON_ZONES])
    assert rows(shown([*NODES, orphan])) == [("replicaset/gone", "OK")]
    assert controller("ReplicaSet", "gone")["controller"]


@pytest.mark.parametrize(("kind", "version"), [("RayCluster", "ray.io/v1"), ("Rollout", "argoproj.io/v1alpha1")])
def test_it_takes_every_name_that_it_prints(kind: str, version: str) -> None:
    owner: Object = {"apiVersion": version, "kind": kind, "name": "x.y", "uid": "u", "controller": True}
    source = Memory(
        [
            node("a1", zone="a"),
            pod("p", on="a1", owner=owner, labels={"app": "web"}, topologySpreadConstraints=[ON_ZONES]),
        ]
    )
    ref = f"{kind.lower()}/x.y"
    named = parse_names((ref,))
    named = named.otherwise or named
    answer = show(source, Scope(namespace="default"), ShowOptions(names=named.names), SchedulerOptions())
    assert {str(item.workload) for item in answer.report.items} == {ref}


def test_a_name_that_several_workloads_have_needs_a_type() -> None:
    with pytest.raises(UsageError) as caught:
        shown([*CLUSTER, workload("StatefulSet", "even")], names=(("", "even"),))
    assert (caught.value.message, caught.value.hint) == (
        '"even" is the name of deployment/even and statefulset/even',
        "use TYPE/NAME",
    )


def test_a_name_that_no_workload_has_may_be_one_of_what_was_not_read() -> None:
    with pytest.raises(ClusterError, match="cannot tell whether absent exists: list statefulsets"):
        hidden(Unread(kinds.STATEFUL_SET, "forbidden"), names=(("", "absent"),))

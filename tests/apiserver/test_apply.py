"""What a manifest makes of an object that lives, as ``kubectl apply`` does it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, cast

import pytest

from kubectl_spread.apiserver.apply import Application
from kubectl_spread.apiserver.strategic_merge import MergeError
from kubectl_spread.commands.manifests import tables
from kubectl_spread.objects.autoscaling import NodePool
from kubectl_spread.objects.core import Node, Pod, TopologySpreadConstraint
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.meta import LAST_APPLIED
from kubectl_spread.objects.workloads import Deployment, Job, UpdateStrategy
from tests.build import HOSTNAME, ZONE, Object, app, node, object_of, pod, spread
from tests.build_workloads import kubectl_applied, laid_over, merging, template, workload


def web(*constraints: Object, replicas: int | None = 3, **spec: Any) -> Object:  # noqa: ANN401 - any field of a Pod
    made = workload("Deployment", "web", pods=template(*constraints, **spec))
    made["spec"] |= {} if replicas is None else {"replicas": replicas}
    return made


def applied(manifest: Object, live: Object) -> Deployment:
    return cast("Deployment", laid_over(manifest, [live]))


def constraints(obj: Deployment) -> list[tuple[str, str, int | None]]:
    found: tuple[TopologySpreadConstraint, ...] = obj.spec.template.spec.topology_spread_constraints
    return [(each.topology_key, each.when_unsatisfiable, each.min_domains) for each in found]


def test_what_was_set_live_stays_and_what_was_applied_goes() -> None:
    live = kubectl_applied(web(nodeSelector={"disk": "ssd", "old": "yes"}))
    live["spec"]["paused"] = True
    live["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "hdd", "old": "yes", "zone": "a"}
    after = applied(web(nodeSelector={"disk": "ssd"}), live)
    assert after.spec.paused
    assert after.spec.template.spec.node_selector == {"disk": "ssd", "zone": "a"}


def test_without_the_annotation_nothing_goes() -> None:
    live = web(nodeSelector={"old": "yes"})
    assert applied(web(nodeSelector={"disk": "ssd"}), live).spec.template.spec.node_selector == {
        "old": "yes",
        "disk": "ssd",
    }


def test_what_is_not_kept_of_ports_with_one_number_is_that_of_the_one_port_they_become() -> None:
    def serving(*ports: Object) -> Object:
        return web(containers=[{"name": "main", "image": "app:1", "ports": [*ports]}])

    live = kubectl_applied(serving({"containerPort": 81}))
    after = applied(serving({"containerPort": 80, "protocol": "UDP"}, {"containerPort": 80, "name": "web"}), live)
    one = convert(serving({"containerPort": 80, "protocol": "UDP", "name": "web"}), Deployment)
    assert after.spec.template == one.spec.template


def test_a_null_takes_away() -> None:
    live = web(nodeSelector={"disk": "ssd"})
    manifest = web()
    manifest["spec"]["template"]["spec"]["nodeSelector"] = None
    assert applied(manifest, live).spec.template.spec.node_selector == {}


def test_constraints_are_merged_by_topology_key_alone() -> None:
    soft, hard = spread(ZONE, selector=app("web"), soft=True), spread(ZONE, selector=app("web"))
    live = kubectl_applied(web(soft))
    assert constraints(applied(web(spread(ZONE, selector=app("web"), minDomains=2)), live)) == [
        (ZONE, "DoNotSchedule", 2)
    ]
    assert constraints(applied(web(soft, hard), live)) == [(ZONE, "ScheduleAnyway", None)]
    assert constraints(applied(web(spread(HOSTNAME)), live)) == [(HOSTNAME, "DoNotSchedule", None)]


def test_a_strategy_keeps_only_what_the_manifest_names() -> None:
    live = kubectl_applied(web())
    live["spec"]["strategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2}}
    manifest = web()
    manifest["spec"]["strategy"] = {"type": "Recreate"}
    assert applied(manifest, live).spec.strategy == UpdateStrategy(type="Recreate")


def test_what_is_applied_is_kept_for_the_next_time() -> None:
    after = applied(web(nodeSelector={"disk": "ssd"}), web())
    said = json.loads(after.metadata.annotations[LAST_APPLIED])
    assert said["spec"]["template"]["spec"]["nodeSelector"] == {"disk": "ssd"}


def test_the_status_of_a_manifest_is_not_taken() -> None:
    job = workload("Job", "sum")
    after = laid_over(job | {"status": {"succeeded": 7}}, [job | {"status": {"succeeded": 2}}])
    assert cast("Job", after).status.succeeded == 2


@pytest.mark.parametrize("text", ["{", "[]"])
def test_an_annotation_that_is_no_object_cannot_be_applied_over(text: str) -> None:
    live = web()
    live["metadata"]["annotations"] = {LAST_APPLIED: text}
    with pytest.raises(MergeError, match="invalid JSON document"):
        applied(web(), live)


@pytest.mark.parametrize("taints", [[], None])
def test_empty_lists_of_a_node_take_away_what_there_is(taints: list[Object] | None) -> None:
    live = node("n", taints=["gpu=:NoSchedule"])
    manifest = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {"taints": taints}}
    assert cast("Node", laid_over(manifest, [live])).spec.taints == ()


def test_fields_that_nobody_applied_are_named() -> None:
    live = web(nodeSelector={"disk": "ssd"}) | {}
    live["spec"] |= {
        "paused": True,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
    }
    assert kept(web(replicas=None), live) == ("spec.replicas", "spec.template.spec.nodeSelector", "spec.paused")
    assert kept(web(), kubectl_applied(live)) == ()


def test_a_field_of_a_constraint_that_nobody_applied_is_named_alone() -> None:
    manifest, live = web(spread(ZONE, selector=app("web"))), web(spread(ZONE, selector=app("web"), minDomains=2))
    assert kept(manifest, live) == ("spec.template.spec.topologySpreadConstraints[0].minDomains",)


def kept(manifest: Object, live: Object) -> tuple[str, ...]:
    """Return the fields that stay but may not."""
    return merging(manifest, [live]).kept


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet"])
def test_defaults_that_the_api_server_sets_are_not_named(kind: str) -> None:
    manifest = workload(kind, "web")
    live = deepcopy(manifest)
    live["spec"]["template"]["spec"] |= {"restartPolicy": "Always", "schedulerName": "default-scheduler"}
    if kind == "StatefulSet":
        policy = {"whenDeleted": "Retain", "whenScaled": "Retain"}
        live["spec"] |= {"podManagementPolicy": "OrderedReady", "persistentVolumeClaimRetentionPolicy": policy}
    assert kept(manifest, live) == ()


def test_kinds_of_other_apis_are_merged_as_json() -> None:
    taint: Object = {"key": "gpu", "effect": "NoSchedule"}

    def pool(*taints: Object) -> Object:
        spec = {"template": {"spec": {"taints": [*taints]}}}
        return object_of("NodePool", "default", spec=spec)

    manifest, live = pool({**taint, "value": None}), convert(kubectl_applied(pool()), NodePool)
    application = Application.of(convert(manifest, NodePool), manifest["apiVersion"], manifest, tables())
    # RFC 7386: a list is replaced, and nulls in it are dropped.
    assert application.patch(live, {})["spec"] == {"template": {"spec": {"taints": [taint]}}}


@pytest.mark.parametrize("protocols", [("TCP", "UDP"), ("UDP", "TCP")], ids=str)
def test_ports_of_one_number_stay_as_they_are(protocols: Sequence[str]) -> None:
    ports = [{"containerPort": 53, "protocol": protocol} for protocol in protocols]
    manifest = pod("dns")
    manifest["spec"]["containers"][0]["ports"] = ports
    live = convert(kubectl_applied(manifest), Pod)
    found = Application.of(convert(manifest, Pod), "v1", manifest, tables())
    assert '"ports"' not in json.dumps(found.patch(live, {}))
    (container,) = cast("Pod", found.over(live)).spec.containers
    assert [port.protocol for port in container.ports] == [*protocols]

"""What an outage takes of workloads, by the definitions of an audit, and why that cannot be lowered."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.contract.form import to_form
from kubectl_spread.controllers.disruption import never_counted
from kubectl_spread.controllers.workloads import workloads
from kubectl_spread.diagnosis.audit import AuditItem, Risk, audit, bound_pods, is_audited
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.profile import default_profile
from kubectl_spread.wording.audit import risk_text
from tests import build
from tests.build import HOSTNAME, ZONE, Object, app, node, object_of, pod, spread
from tests.build_storage import claim, volume
from tests.build_workloads import owned, template, workload
from tests.diagnosis.audited import cluster, wanted
from tests.rebalance.lying import web, zones
from tests.sampling import first


def audited(objects: list[Object]) -> dict[str, AuditItem]:
    """Return what an audit finds of each workload with more than one Pod."""
    snapshot = build.snapshot(objects)
    handle = Handle.build(snapshot.with_others(never_counted(snapshot)), default_profile())
    found = [
        audit(each, handle) for each in workloads(handle.snapshot) if is_audited(each) and len(bound_pods(each)) > 1
    ]
    return {str(each.workload): each for each in found if each}


@pytest.mark.parametrize("seed", first(120, range(300)))
def test_it_is_what_the_definitions_give(seed: int) -> None:
    objects = cluster(seed)
    found = {}
    for name, item in audited(objects).items():
        keys = {
            each.topology_key: {
                "usable": [*each.usable],
                "domains": [(domain.value, domain.pods) for domain in each.domains],
                "loss": each.loss,
                "worst": [*each.worst],
                "fair": each.fair,
                "heldBy": {*each.held_by},
                "risk": each.risk,
            }
            for each in item.keys
        }
        found[name] = {"pods": item.pods, "keys": keys, "risk": item.risk}
    assert found == wanted(objects)


def test_the_generated_clusters_have_every_risk() -> None:
    keys = [key for seed in range(300) for each in wanted(cluster(seed)).values() for key in each["keys"].values()]
    assert {each["risk"] for each in keys} == {*Risk}
    assert {name for each in keys for name in each["heldBy"]} == {
        *("hard", "soft", "antiAffinity", "preferredAntiAffinity", "default")
    }


REASONS: dict[str, tuple[list[Object], str, str]] = {
    "no other zone": ([*zones("a", each=2), *web({"a1": 2, "a2": 1})], ZONE, "only zone a has nodes for it"),
    "even already": (
        [*zones("a", "b"), *web({"a1": 2, "b1": 1})],
        ZONE,
        "3 Pods in 2 zones: no other distribution loses less",
    ),
    "too little cpu": (
        [*zones("a", "b"), pod("x", on="b1", requests={"cpu": "6"}), *web({"a1": 2}, requests={"cpu": "3"})],
        ZONE,
        "zone b: 3 cpu requested, 2 free",
    ),
    "there is room": (
        [*zones("a", "b"), node("b2", zone="b", unschedulable=True), *web({"a1": 4, "b1": 1}, requests={"cpu": "1"})],
        ZONE,
        "",
    ),
    "a budget": (
        [
            *zones("a", "b", "c"),
            *web({"a1": 2, "b1": 1, "c1": 2}),
            object_of("PodDisruptionBudget", "web", spec={"minAvailable": 4, "selector": app("web")}),
        ],
        ZONE,
        "5 Pods in 3 zones: no other distribution loses less",
    ),
}


@pytest.mark.parametrize("name", REASONS)
def test_a_reason_says_what_is_missing(name: str) -> None:
    objects, topology_key, reason = REASONS[name]
    (item,) = audited(objects).values()
    (key,) = (each for each in item.keys if each.topology_key == topology_key)
    assert risk_text(key.why, key.topology_key) == reason
    assert (key.risk is Risk.UNAVOIDABLE) == bool(reason)


def stateful(**other_zone: Any) -> list[Object]:  # noqa: ANN401 - as for a node
    """Return a StatefulSet whose Pods have volumes in zone a, and a node in zone b."""
    nodes = [*zones("a", each=2), node("b1", zone="b", **other_zone)]
    pods = [
        owned(
            f"web-{number}",
            "StatefulSet",
            "web",
            on=f"a{number + 1}",
            volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": f"data-web-{number}"}}],
        )
        for number in range(2)
    ]
    stored = [
        made
        for number in range(2)
        for made in (
            claim(f"data-web-{number}", bound_to=f"pv-{number}"),
            volume(f"pv-{number}", labels={ZONE: "a"}, claim=f"default/data-web-{number}"),
        )
    ]
    return [*nodes, workload("StatefulSet", "web", replicas=2), *pods, *stored]


def test_pods_do_not_leave_the_zone_of_their_volumes() -> None:
    (item,) = audited(stateful()).values()
    (zone,) = (each for each in item.keys if each.topology_key == ZONE)
    assert (zone.usable, zone.loss, zone.risk) == (("a",), 2, Risk.UNAVOIDABLE)


def test_keys_are_those_that_are_asked_for() -> None:
    handle = build.handle([*zones("a", "b"), *web({"a1": 2})])
    (found,) = (audit(each, handle, [HOSTNAME]) for each in workloads(handle.snapshot))
    assert found is not None
    assert [each.topology_key for each in found.keys] == [HOSTNAME]


def test_a_key_that_no_node_has_is_said_to_be_none() -> None:
    handle = build.handle([*zones("a", "b"), *web({"a1": 2})])
    (found,) = (audit(each, handle, ["rack"]) for each in workloads(handle.snapshot))
    assert found is not None
    assert [(each.risk, risk_text(each.why, each.topology_key)) for each in found.keys] == [
        (Risk.OK, "no node has rack")
    ]


def test_what_the_template_says_now_holds_the_pods() -> None:
    pods = template(spread(ZONE, selector=app("web")))
    running = [owned(f"web-{at}", "ReplicaSet", "web", on=at) for at in ("a1", "b1")]
    (item,) = audited([*zones("a", "b"), workload("ReplicaSet", "web", pods=pods, replicas=2), *running]).values()
    assert [[*each.held_by] for each in item.keys] == [["hard"], []]


def test_json_has_the_reason_in_place_of_its_facts() -> None:
    (item,) = audited(REASONS["no other zone"][0]).values()
    form = to_form(item)
    assert form.keys[0].reason == "only zone a has nodes for it"
    assert not hasattr(form.keys[0], "why")

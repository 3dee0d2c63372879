"""What a fix lets in is what is left of its rollout in the end."""

from __future__ import annotations

import pytest

from tests.build import Object, node
from tests.build_storage import claim, storage_class, volume
from tests.diagnosis.fixes.clusters import HASH, fixes, patch_of, search, web, zones
from tests.diagnosis.fixes.owners import owned, owner

TAINTED: Object = {"taints": ["x=y:NoSchedule"]}
SURGE: Object = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
IN_PLACE: Object = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}


def deployed(strategy: Object) -> tuple[list[Object], Object]:
    """Return two zones, one of them closed, and a Deployment with one Pod that runs and one that waits."""
    by = owner("Deployment", web(), strategy=strategy)
    made = owner("ReplicaSet", web(labels={"app": "web", HASH: "h1"}), name="web-h1", of=by)
    running, waiting = (owned(web(name, on=on), made, **{HASH: "h1"}) for name, on in (("on-a", "a1"), ("web-0", "")))
    return [*zones(b=TAINTED)[:2], by, made, running], waiting


@pytest.mark.parametrize(("strategy", "skew"), [(SURGE, 3), (IN_PLACE, 2)], ids=["surge", "in place"])
def test_the_last_pod_of_a_rollout_has_to_fit_around_the_old_ones(strategy: Object, skew: int) -> None:
    """While the old Pod runs, the zone holds two, and a third would make the skew 3."""
    objects, waiting = deployed(strategy)
    (raised,) = (fix for fix in search(objects, waiting).fixes if fix.id == "RaiseMaxSkew")
    assert [value for _, _, value in patch_of(raised)] == [skew]
    assert (raised.admits, raised.siblings, "in the end" in raised.ends) == (1, 1, False)


def test_where_no_max_skew_lets_in_all_the_least_is_offered() -> None:
    """The zone that is open has no room for a third Pod."""
    objects, waiting = deployed(SURGE)
    raised = fixes([*objects[1:], node("a1", zone="a", allocatable={"pods": "2"})], waiting)["RaiseMaxSkew"]
    assert [value for _, _, value in patch_of(raised)] == [2]
    assert (raised.admits, raised.ends == "in the end, 1 Pod still has no node") == (0, True)


def test_a_rollout_of_very_many_pods_is_not_simulated() -> None:
    by = owner("ReplicaSet", web(), replicas=2**31 - 1)
    raised = fixes([*zones(b=TAINTED)[:2], by, owned(web("on-a", on="a1"), by)], owned(web(), by))["RaiseMaxSkew"]
    assert (raised.admits, "in the end" in raised.ends) == (1, False)


def test_without_its_replica_sets_a_rollout_is_not_followed() -> None:
    objects, waiting = deployed(SURGE)
    left = [each for each in objects if each["kind"] != "ReplicaSet"]
    raised = fixes(left, waiting)
    assert all(not fix.ends for fix in raised.values())


@pytest.mark.parametrize(("policy", "admits"), [("OrderedReady", 0), ("Parallel", 1)])
def test_a_lower_ordinal_without_a_node_holds_up_the_higher_ones(policy: str, admits: int) -> None:
    """No node takes web-0, so the controller of an OrderedReady StatefulSet never creates web-1 again."""
    fields: Object = {"topologySpreadConstraints": [], "nodeSelector": {"disk": "ssd"}}
    store = claim("data", class_name="")
    by = owner("StatefulSet", web(**fields), podManagementPolicy=policy, volumeClaimTemplates=[store])
    lower, asked = (
        owned(web(f"web-{number}", volumes=[claimed(f"data-web-{number}")], **fields), by) for number in range(2)
    )
    volumes = [volume("v1", phase="Bound"), claim("data-web-1", class_name="", bound_to="v1")]
    gone = claim("data-web-0", class_name="", bound_to="v0", phase="Lost")
    found = fixes([*zones(), by, lower, gone, *volumes], asked, siblings=[lower])
    assert {name: fix.admits for name, fix in found.items()} == {"RelaxNodeSelector": admits}


def claimed(name: str) -> Object:
    """Return the volume data of a Pod, from the claim."""
    return {"name": "data", "persistentVolumeClaim": {"claimName": name}}


@pytest.mark.parametrize(("bound", "said"), [(False, True), (True, False)])
def test_a_new_volume_may_keep_the_pod_where_a_weaker_constraint_places_it(*, bound: bool, said: bool) -> None:
    waits = web("web-0", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])
    disk = claim("data", class_name="disk", bound_to="pv" if bound else "")
    objects = [
        *zones(b=TAINTED)[:2],
        web("on-a", on="a1"),
        storage_class("disk"),
        disk,
        volume("pv", class_name="disk"),
    ]
    raised = fixes(objects, waits)["RaiseMaxSkew"]
    assert ("its new volume is created where the Pod is placed, and may keep it there" in raised.starts) is said

"""The constraint that is suggested for a workload: what it lowers, what it survives, and how it is made."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec import UNSET

from kubectl_spread.commands.audit import AuditOptions, audit
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.simulate import SimulateOptions, simulate
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.form import to_form
from kubectl_spread.diagnosis.audit import AuditItem, Risk, Suggestion
from kubectl_spread.diagnosis.fixes.conclusion import Route
from kubectl_spread.diagnosis.suggestion import key_of
from kubectl_spread.wording.audit import suggestion_text
from tests.build import HOSTNAME, ZONE, Object, app, node, object_of, pod, spread
from tests.build_workloads import owned, revision, template, workload
from tests.commands.memory import Memory
from tests.rebalance.lying import web, zones
from tests.sampling import first

RUNNING = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def deployment(
    on: list[str],
    *constraints: Object,
    annotations: dict[str, str] | None = None,
    **spec: Any,  # noqa: ANN401 - as for a Pod
) -> list[Object]:
    """Return a Deployment of the application web with Pods on these nodes."""
    pods = template(*constraints, **spec)
    labels = {"app": "web", "pod-template-hash": "h1"}
    made = [
        owned(
            *(f"web-{number}", "ReplicaSet", "web-h1"),
            on=at,
            labels=labels,
            status=RUNNING,
            topologySpreadConstraints=[*constraints],
            **spec,
        )
        for number, at in enumerate(on)
    ]
    for each in made:
        del each["metadata"]["creationTimestamp"]
    rs = revision("web", 1, pods=pods)
    rs["spec"]["replicas"] = len(on)
    return [workload("Deployment", "web", pods=pods, annotations=annotations, replicas=len(on)), rs, *made]


def suggested(objects: list[Object]) -> tuple[AuditItem, Suggestion | None]:
    options = AuditOptions(suggest=True)
    (item,) = audit(Memory(objects), Scope(namespace="default"), options, SchedulerOptions()).report.items
    return item, None if item.suggestion is UNSET else item.suggestion


def constraint_of(objects: list[Object]) -> dict[str, Any]:
    """Return the constraint that is suggested; empty for none."""
    _, found = suggested(objects)
    return found.constraint if found else {}


TAINTED = node("c1", zone="c", taints=["dedicated=db:NoSchedule"])
SOFT = {"whenUnsatisfiable": "ScheduleAnyway"}
HARD = {"whenUnsatisfiable": "DoNotSchedule"}
IN_ZONES = {"topologyKey": ZONE, "maxSkew": 1, "labelSelector": app("web"), "matchLabelKeys": ["pod-template-hash"]}
HONOR = {"nodeTaintsPolicy": "Honor"}
CASES: dict[str, tuple[list[Object], dict[str, Any]]] = {
    # Without Honor the lost zone counts as empty: a hard constraint would leave Pods Pending.
    "soft, as a hard one does not survive": ([*zones("a", "b"), *deployment(["a1"] * 3)], IN_ZONES | SOFT),
    "hard, where taints are honored": ([*zones("a", "b"), TAINTED, *deployment(["a1"] * 3)], IN_ZONES | HARD | HONOR),
    "soft, where a hard one leaves Pods without a node": (
        [
            *[node("a1", zone="a"), node("b1", zone="b", allocatable={"cpu": "3"}), TAINTED],
            *deployment(["a1"] * 4, requests={"cpu": "1"}),
        ],
        IN_ZONES | SOFT | HONOR,
    ),
    "soft, where only one of the zones with most Pods may be lost": (
        [
            *[node(f"{zone}1", zone=zone, allocatable={"cpu": cpu}) for zone, cpu in zip("abc", "288", strict=True)],
            *deployment(["b1"] * 6, requests={"cpu": "1"}),
            TAINTED | {"metadata": {**TAINTED["metadata"], "name": "c2"}},
        ],
        IN_ZONES | SOFT | HONOR,
    ),
    "the one that is there becomes another": (
        [*zones("a", "b"), TAINTED, *deployment(["a1"] * 3, spread(ZONE, selector=app("other"), maxSkew=3))],
        IN_ZONES | HARD | HONOR,
    ),
    "nothing where nothing can be lowered": ([*zones("a"), *deployment(["a1"] * 3)], {}),
    "nothing for a workload whose Pods nobody replaces": ([*zones("a", "b"), *web({"a1": 2}, kind="ReplicaSet")], {}),
}


SURGE: Object = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
QUOTAS = [
    ("4", SURGE, False),
    ("5", SURGE, True),
    ("4", {"type": "Recreate"}, True),
    ("3", {"type": "Recreate"}, False),
]


@pytest.mark.parametrize("name", CASES)
def test_the_constraint(name: str) -> None:
    objects, wanted = CASES[name]
    assert constraint_of(objects) == wanted


@pytest.mark.parametrize("more", [[], [pod("new", labels={"app": "new"})]], ids=["alone", "another becomes scheduled"])
def test_no_constraint_preempts_the_pods_of_others(more: list[Object]) -> None:
    # Spread evenly, the Pods of web need the room of the database, which has a lower priority.
    nodes = [node("a1", zone="a", allocatable={"cpu": "8"}), node("b1", zone="b", allocatable={"cpu": "4"}), TAINTED]
    there: Object = {"requests": {"cpu": "2500m"}, "nodeSelector": {ZONE: "b"}, "labels": {"app": "db"}}
    db = [workload("StatefulSet", "db", pods=template(**there)), owned("db-0", "StatefulSet", "db", on="b1", **there)]
    high = object_of("PriorityClass", "high", value=1000)
    first = deployment(["a1"] * 4, requests={"cpu": "1"}, priority=1000, priorityClassName="high")
    objects = [*nodes, high, *first, *db, *more]
    assert constraint_of(objects) == IN_ZONES | SOFT | HONOR


def test_an_unprotected_workload_keeps_its_loss() -> None:
    item, found = suggested([*zones("a", "b"), *deployment(["a1", "b1"])])
    assert item.risk is Risk.UNPROTECTED
    assert found is not None
    assert found.loss_after == key_of(item, found.topology_key).loss


def roomy(seed: int) -> list[Object]:
    """Return a Deployment with Pods by chance on nodes with room in two or three zones, one of them perhaps tainted."""
    chance = Random(seed)  # noqa: S311 - drawn to test with
    nodes = [*zones(*"abc"[: chance.randint(2, 3)], each=2), *[TAINTED][: chance.randint(0, 1)]]
    on = [chance.choice(("a1", "a2", "b1")) for _ in range(chance.randint(2, 6))]
    own = [
        spread(key, selector=app("web"), soft=chance.random() < 0.7)
        for key in (ZONE, HOSTNAME)
        if chance.random() < 0.3
    ]
    return [*nodes, *deployment(on, *own, requests={"cpu": chance.choice(("1", "2"))})]


@pytest.mark.parametrize("seed", first(6, range(10)))
def test_applied_as_suggested_it_holds(seed: int, tmp_path: Path) -> None:
    objects = roomy(seed)
    options = AuditOptions(suggest=True)
    for item in audit(Memory(objects), Scope(namespace="default"), options, SchedulerOptions()).report.items:
        if item.risk in {Risk.OK, Risk.UNAVOIDABLE}:
            continue
        assert item.suggestion is not UNSET
        key = key_of(item, item.suggestion.topology_key)
        assert item.suggestion.loss_after < key.loss + (key.risk is Risk.UNPROTECTED)
        (owner,) = (
            e for e in objects if (e["kind"], e["metadata"]["name"]) == (item.workload.kind, item.workload.name)
        )
        changed = json.loads(json.dumps(owner))
        own = changed["spec"]["template"]["spec"]["topologySpreadConstraints"]
        kept = [each for each in own if each["topologyKey"] != key.topology_key]
        changed["spec"]["template"]["spec"]["topologySpreadConstraints"] = [*kept, item.suggestion.constraint]
        path = tmp_path / "changed.json"
        path.write_text(json.dumps(changed))
        steps = SimulateOptions(steps=(("apply", str(path)),))
        (step,) = simulate(Memory(objects), Scope(namespace="default"), steps, SchedulerOptions()).steps
        assert [each for each in step.pending if each.workload == item.workload and each.range[1]] == []
        after = [each for each in step.items if each.workload == item.workload and not each.old]
        (spread_after,) = (each for each in after if each.constraint.topology_key == key.topology_key)
        assert max(spread_after.after.values()) <= item.suggestion.loss_after


@pytest.mark.parametrize(("room", "strategy", "helps"), QUOTAS)
def test_nothing_whose_rollout_a_quota_stops(room: str, strategy: Object, *, helps: bool) -> None:
    quota = {"hard": {"pods": room}, "used": {"pods": "4"}}
    objects = [*zones("a", "b"), *deployment(["a1", "b1", "a1", "b1"])]
    objects[2]["spec"]["strategy"] = strategy
    item, found = suggested([*objects, object_of("ResourceQuota", "q", spec=quota, status=quota)])
    assert (item.risk, found is not None) == (Risk.UNPROTECTED, helps)


def test_commands_and_yaml_change_the_template() -> None:
    _, found = suggested([*zones("a", "b"), *deployment(["a1"] * 3)])
    form = to_form(found, ("--context", "prod"))
    (command,) = form.commands
    assert command.startswith("kubectl patch deployment web -n default --context prod --type=json -p ")
    assert f'"topologyKey":"{ZONE}"' in command
    assert form.yaml.splitlines()[:2] == ["apiVersion: apps/v1", "kind: Deployment"]
    assert form.starts == "replaces 3 Pods of deployment/web"


def test_a_suggestion_that_makes_a_hard_constraint_soft_says_so() -> None:
    weaker, other = (
        Suggestion(
            topology_key=ZONE,
            loss_after=1,
            constraint={"whenUnsatisfiable": "ScheduleAnyway"},
            weakens=it,
            route=Route(),
        )
        for it in (True, False)
    )
    assert "ScheduleAnyway instead of DoNotSchedule, so that Pods find a node" in suggestion_text(weaker)
    assert suggestion_text(other) == "Set a constraint on zone: ScheduleAnyway"


def test_a_source_that_reverts_patches_gets_yaml_alone() -> None:
    argo = {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:default/web"}
    _, found = suggested([*zones("a", "b"), *deployment(["a1"] * 3, annotations=argo)])
    form = to_form(found)
    assert (form.commands, form.source) == ((), "Argo CD application shop")
    assert "topologySpreadConstraints:" in form.yaml


def test_a_workload_on_one_node_of_a_zone_is_spread_over_nodes() -> None:
    objects = [*zones("a", each=2), *deployment(["a1"] * 2)]
    item, found = suggested(objects)
    assert key_of(item, HOSTNAME).risk is Risk.OUTAGE
    assert found is not None
    assert (found.topology_key, found.loss_after) == (HOSTNAME, 1)

"""A rollout whose surge Pod finds no node beside the older Pods ends without surge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import UNSET

from kubectl_spread.diagnosis.causes import FiltersAlone
from kubectl_spread.diagnosis.evaluation import judge
from kubectl_spread.wording.causes import clause_of
from tests.build import Object, handle, node, typed_pod
from tests.build_workloads import owned, revision, template, workload
from tests.diagnosis.fixes.clusters import JsonFix, conclusion, search

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def rollout(
    *on: str,
    cpu: str = "1",
    strategy: Object | None = None,
    annotations: Object | None = None,
    **spec: Any,  # noqa: ANN401 - as for a Deployment
) -> tuple[list[Object], Object]:
    """Return two nodes, a rollout whose older Pods use all of their room, and its surge Pod."""
    old, new = (template(requests={"cpu": each}) for each in ("1", cpu))
    sets = [revision("web", 1, pods=old), revision("web", 2, pods=new)]
    for each, replicas in zip(sets, (len(on), 1), strict=True):
        labels = each["spec"]["template"]["metadata"]["labels"]
        each["spec"] |= {"replicas": replicas, "selector": {"matchLabels": labels}}
    hashes = ({"pod-template-hash": f"h{number}"} for number in (1, 2))
    first, second = hashes
    running = [
        owned(f"web-h1-{i}", "ReplicaSet", "web-h1", on=name, labels=first, status=READY, **old["spec"])
        for i, name in enumerate(on)
    ]
    pending = owned("web-h2-0", "ReplicaSet", "web-h2", labels=second, **new["spec"])
    by = workload(
        "Deployment", "web", pods=new, strategy=strategy or {}, annotations=annotations, **{"replicas": len(on), **spec}
    )
    nodes = [node(name, allocatable={"cpu": str(on.count(name))}) for name in ("a", "b")]
    return [*nodes, by, *sets, *running], pending


FULL = ("a", "a", "b")


def changed(*on: str, **fields: Any) -> JsonFix | None:  # noqa: ANN401 - as for ``rollout``
    """Return the change of the strategy, if it is offered."""
    objects, pending = rollout(*on, **fields)
    return next((fix for fix in search(objects, pending).fixes if fix.id == "ChangeStrategy"), None)


@pytest.mark.parametrize("on", [FULL, ("a",)])
def test_the_rollout_ends_with_one_pod_less_meanwhile(on: Sequence[str]) -> None:
    fix = changed(*on)
    assert fix is not None
    assert "maxSurge 0 and maxUnavailable 1 in the strategy of deployment/web" in fix.summary
    assert f"up to 1 of {len(on)} may be missing" in fix.summary
    assert (fix.admits, fix.disturbs, fix.overrides, fix.ends) == (1, "PodsReplaced", UNSET, "")


@pytest.mark.parametrize("bound", [0, "0%"])
def test_an_explicit_zero_is_a_decision(bound: object) -> None:
    fix = changed(*FULL, strategy={"rollingUpdate": {"maxSurge": 1, "maxUnavailable": bound}})
    assert fix is not None
    assert fix.overrides == "Decision"


@pytest.mark.parametrize(
    "fields",
    [{"strategy": {"type": "Recreate"}}, {"paused": True}, {"strategy": {"rollingUpdate": {"maxUnavailable": 1}}}],
    ids=["all Pods go first", "nothing rolls out", "the rollout goes on"],
)
def test_none_where_no_surge_pod_waits_for_older_ones(fields: Object) -> None:
    assert changed(*FULL, **fields) is None


def test_where_older_pods_hold_no_room_it_is_no_use() -> None:
    assert changed(*FULL, cpu="3") is None


def test_what_a_source_keeps_is_changed_there() -> None:
    fix = changed(*FULL, annotations={"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:default/web"})
    assert fix is not None
    assert (fix.commands, fix.source) == ((), "Argo CD application shop")
    assert "maxSurge: 0" in fix.yaml
    assert "maxUnavailable: 1" in fix.yaml


def test_the_pods_that_go_first_are_what_it_changes() -> None:
    objects, pending = rollout(*FULL)
    fix = next(each for each in conclusion(objects, pending).fixes if each.id == "ChangeStrategy")
    assert [(each.op, each.target.name) for each in fix.changes] == [("delete", "web-h1-0")]
    assert fix.feasible == ("a",)


def cause(*on: str, **fields: Any) -> FiltersAlone:  # noqa: ANN401 - as for ``rollout``
    """Return why the surge Pod has no node."""
    objects, pending = rollout(*on, **fields)
    blame = judge(typed_pod(pending), handle([*objects, pending])).blame
    assert blame is not None
    assert isinstance(blame.cause, FiltersAlone)
    return blame.cause


@pytest.mark.parametrize(
    ("bound", "unavailable", "text"), [(None, 0, "25% (0 of 3)"), (0, 0, "0"), ("34%", 1, "34% (1 of 3)"), (1, 1, "1")]
)
def test_the_cause_names_the_older_pods_that_the_strategy_keeps(bound: object, unavailable: int, text: str) -> None:
    rolling = {"rollingUpdate": {} if bound is None else {"maxUnavailable": bound}}
    on = FULL[unavailable:]
    found = cause(*on, strategy=rolling, replicas=3)
    held = found.older
    assert held is not None
    assert ([pod.name for pod in held.pods], held.unavailable) == ([f"web-h1-{i}" for i in range(len(on))], unavailable)
    assert f"deployment/web hold the room: maxUnavailable {text} keeps them" in clause_of(found).text


@pytest.mark.parametrize(
    "fields",
    [
        {"cpu": "3"},
        {"paused": True},
        {"strategy": {"type": "Recreate"}},
        {"strategy": {"rollingUpdate": {"maxUnavailable": 1}}},
    ],
    ids=["no room without them", "nothing rolls out", "all go first", "one of them goes now"],
)
def test_the_cause_names_no_older_pods_that_do_not_matter(fields: Object) -> None:
    found = cause(*FULL, **fields)
    assert found.older is None
    assert "older revision" not in clause_of(found).text

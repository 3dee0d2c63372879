"""A Deployment goes back to an older revision where the simulation shows that fewer Pods are Pending then."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.diagnosis.fixes import rollout
from kubectl_spread.objects.meta import HELM_RELEASE
from tests.build import Object, node
from tests.diagnosis.fixes.clusters import HASH, fixes, patch_of, search, web, zones
from tests.diagnosis.fixes.owners import owned, owner

REVISION = "deployment.kubernetes.io/revision"
IN_PLACE: Object = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
SSD: Object = {"nodeSelector": {"disk": "ssd"}}
TRACKED = {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:default/web"}
UNDO = "kubectl rollout undo deployment/web -n default"


def annotated(obj: Object, **annotations: str) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "annotations": annotations}}


def stuck(
    *revisions: tuple[Object, str],
    annotations: dict[str, str] | None = None,
    numbers: tuple[str, ...] = ("1", "2", "3"),
    **spec: Any,  # noqa: ANN401 - any field of the Deployment
) -> tuple[list[Object], Object]:
    """Return three zones, and a Deployment whose last revision has a Pending Pod.

    Args:
        *revisions: (what the Pods of each have, the nodes of those that run).
        annotations: of the Deployment.
        numbers: of the revisions, as their ReplicaSets have them; empty for one that has none.
        **spec: what the Deployment has beyond three replicas, of which one at a time is replaced.
    """
    by = owner("Deployment", web(**revisions[-1][0]), **{"replicas": 3, "strategy": IN_PLACE, **spec})
    objects: list[Object] = [*zones(), annotated(by, **annotations or {})]
    made = by
    for at, (fields, nodes) in enumerate(revisions, 1):
        label = {HASH: f"h{at}"}
        wanted = len(nodes.split()) + (at == len(revisions))
        template = web(**fields, labels={"app": "web", **label})
        made = owner("ReplicaSet", template, name=f"web-h{at}", of=by, replicas=wanted)
        objects.append(annotated(made, **{REVISION: numbers[at - 1]} if numbers[at - 1] else {}))
        objects += [owned(web(f"web-{at}-{on}", on=on, **fields), made, **label) for on in nodes.split()]
    return objects, owned(web("web-0", **revisions[-1][0]), made, **{HASH: f"h{len(revisions)}"})


def test_the_old_template_can_be_scheduled_where_the_new_one_is_not() -> None:
    found = fixes(*stuck(({}, "a1 b1"), (SSD, "")))["RollBack"]
    assert (found.commands, found.summary) == ((UNDO,), "go back to revision 1 of deployment/web")
    assert found.starts == (
        "this undoes what the newest revision changed: ask its author first; deployment/web uses replicaset/web-h1"
        " again: its 2 Pods stay"
    )
    assert (found.created, found.feasible, found.admits, found.disturbs) == (1, ("c1",), 1, "Nothing")
    (_, _, labels), (_, _, spec) = patch_of(found)
    assert (labels, "nodeSelector" in str(spec)) == ({"app": "web", HASH: "h1"}, False)


def test_a_new_pod_that_runs_is_replaced() -> None:
    """A node has the label that the new revision requires, but room for one Pod."""
    ssd = node("c2", zone="c", labels={"disk": "ssd"}, allocatable={"pods": "1"})
    objects, pending = stuck(({}, "a1"), (SSD, "c2"))
    found = fixes([*objects, ssd], pending)["RollBack"]
    assert found.starts.endswith("its Pod stays; 1 running Pod of another ReplicaSet is deleted")
    assert (found.created, found.disturbs, found.cost) == (2, "PodsReplaced", 2)


def test_it_costs_more_than_a_weaker_constraint_where_most_pods_that_run_are_newer() -> None:
    """All but the last Pod of the release run already."""
    ssd = [node(f"{zone}2", zone=zone, labels={"disk": "ssd"}, allocatable={"pods": "1"}) for zone in "ab"]
    objects, pending = stuck(({}, "c1"), (SSD, "a2 b2"), replicas=4)
    assert fixes([*objects, *ssd], pending)["RollBack"].cost == 4


def test_two_failed_revisions_in_a_row_are_both_undone() -> None:
    found = fixes(*stuck(({}, "a1 b1"), ({"nodeSelector": {"disk": "sdd"}}, ""), (SSD, "")))["RollBack"]
    assert found.commands == ("kubectl rollout undo deployment/web -n default --to-revision=1",)


@pytest.mark.parametrize(
    ("annotations", "commands", "said"),
    [
        (TRACKED, (), "change it in its source (Argo CD application shop): a patch will be reverted"),
        (
            {HELM_RELEASE: "web"},
            (UNDO,),
            "change it in its source (Helm release web): kubectl's change lasts until the next upgrade",
        ),
    ],
    ids=["Argo CD", "Helm"],
)
def test_what_a_tool_keeps_is_changed_in_its_source(
    annotations: dict[str, str], commands: tuple[str, ...], said: str
) -> None:
    """What is known of the old template is not all of it, so no YAML is printed."""
    found = fixes(*stuck(({}, "a1 b1"), (SSD, ""), annotations=annotations))["RollBack"]
    assert (found.commands, said in found.starts, found.yaml) == (commands, True, "")


@pytest.mark.parametrize(
    "objects",
    [
        stuck(({}, "a1 b1"), (SSD, ""), paused=True),
        stuck((SSD, "a1 b1"), (SSD | {"priority": 5}, "")),
        stuck(({}, ""), (SSD, "")),
        stuck(({}, "a1 b1"), (SSD, ""), numbers=("", "2")),
        stuck(({}, "a1 b1"), (SSD, ""), numbers=("3", "2")),
        stuck((SSD, "")),
    ],
    ids=["paused", "does not help", "none of its Pods runs", "no number", "not the newest", "no other revision"],
)
def test_what_is_not_offered(objects: tuple[list[Object], Object]) -> None:
    assert "RollBack" not in fixes(*objects)


def test_a_replica_set_that_is_gone_cannot_be_used_again() -> None:
    objects, pending = stuck(({}, "a1 b1"), (SSD, ""))
    assert "RollBack" not in fixes([each for each in objects if each["metadata"]["name"] != "web-h1"], pending)


def test_it_is_offered_only_if_it_was_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollout, "MOST_PODS", 0)
    assert "RollBack" not in fixes(*stuck(({}, "a1 b1"), (SSD, "")))


def test_it_hides_no_pair_of_changes() -> None:
    """The new revision also has the wrong host port, and going back is not the only answer."""
    ports: Object = {"host_ports": ["80"]}
    taken = [
        web(f"proxy-{zone}", on=f"{zone}1", labels={"app": "proxy"}, topologySpreadConstraints=[], **ports)
        for zone in "abc"
    ]
    objects, pending = stuck(({}, "a1 b1"), (SSD | ports, ""))
    found = search([*objects, *taken], pending).fixes
    assert {"RollBack", "RelaxNodeSelector+ChangeHostPort"} <= {fix.id for fix in found}


@pytest.mark.parametrize("unavailable", [1, 0])
def test_a_rollout_that_goes_on_by_itself_is_not_undone(unavailable: int) -> None:
    """An old Pod makes room for the new one once it may go."""
    old, new = ({"requests": {"cpu": cpu}, "topologySpreadConstraints": []} for cpu in "23")
    rolling = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": unavailable}}
    objects, pending = stuck((old, "a1 b1"), (new, ""), replicas=2, strategy=rolling)
    nodes = [node(f"{zone}1", zone=zone, allocatable={"cpu": "4"}) for zone in "ab"]
    found = search([*nodes, *(each for each in objects if each["kind"] != "Node")], pending)
    assert ("RollBack" in {fix.id for fix in found.fixes}, bool(found.waits)) == (not unavailable, bool(unavailable))

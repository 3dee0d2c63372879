"""What somebody has to create, to correct or to enlarge before a Pod can be scheduled is named as that."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kubectl_spread.diagnosis.findings import MatchLabelKeyAbsent
from kubectl_spread.render.outline import Extent
from kubectl_spread.render.outline.pending import pending_outline
from kubectl_spread.wording.findings import finding_text
from tests.build import ZONE, Object, app, node, object_of, pod, spread
from tests.build_storage import claim, volume
from tests.build_workloads import owned, revision, template, workload
from tests.commands.test_why_pending import explained, only

NODES = [node("a1", zone="a", allocatable={"cpu": "4"}), node("b1", zone="b", allocatable={"cpu": "6"})]
CREATE = "Create PersistentVolumeClaim data: no controller does."


def claiming(name: str) -> Object:
    """Return the volumes of a Pod with this claim."""
    return {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]}


def test_a_claim_that_nobody_creates_is_named_as_what_to_create() -> None:
    item = only([*NODES, claim("other"), pod("p", **claiming("data"))])
    assert item.summary == f'persistentvolumeclaim "data" not found: no node is evaluated. {CREATE}'


EPHEMERAL: Object = {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]}


@pytest.mark.parametrize(
    "waiting", [owned("db-0", "StatefulSet", "db", **claiming("data-db-0")), pod("p", **EPHEMERAL)], ids=["db-0", "p"]
)
def test_a_claim_that_a_controller_creates_is_no_work_for_people(waiting: Object) -> None:
    made = workload("StatefulSet", "db", volumeClaimTemplates=[{"metadata": {"name": "data"}}])
    item = only([*NODES, claim("other"), made, waiting])
    assert "no node is evaluated" in item.summary
    assert "Create" not in item.summary


def test_a_service_account_that_nobody_creates_is_named_as_what_to_create() -> None:
    made = template(serviceAccountName="web")
    objects = [*NODES, object_of("ServiceAccount", "default"), workload("Deployment", "web", pods=made, replicas=2)]
    report = explained([*objects, revision("web", 1, pods=made)]).report
    (item,) = pending_outline(report, Extent()).items
    assert report.not_created[0].missing == "ServiceAccount web"
    lines = [block.line for blocks in item.paragraphs for block in blocks]  # type: ignore[union-attr] # they are notes
    assert lines[-1] == "Create ServiceAccount web: then its Pods can be created."


@pytest.mark.parametrize(
    ("volumes", "told"),
    [
        ([volume("pv", usable_on={ZONE: ["a"]})], "names pv in a as its volume, and is not bound to it yet"),
        ([volume("pv2")], "names pv as its volume, and there is none"),
        ([], "names pv as its volume, and is not bound to it yet"),
    ],
)
def test_a_claim_that_names_its_volume_is_told_as_one_thing(volumes: Sequence[Object], told: str) -> None:
    named = claim("data", volumeName="pv")
    summary = only([*NODES, *volumes, named, pod("p", **claiming("data"))]).summary
    assert f"(claim data {told})" in summary
    assert "bound to pv" not in summary


@pytest.mark.parametrize(
    ("cpu", "told"),
    [
        ("8", "Both nodes have too little cpu (8 requested, too large even for an empty node with 6)."),
        ("5", "Both nodes have too little cpu (5 requested, at most 2 free)."),
        ("4", "Both nodes have too little cpu (4 requested, at most 2 free)."),
    ],
)
def test_a_pod_that_even_an_empty_node_cannot_hold_is_too_large(cpu: str, told: str) -> None:
    taken = [pod(f"on-{on}", on=on, requests={"cpu": "4"}) for on in ("a1", "b1")]
    assert told in only([*NODES, *taken, pod("p", requests={"cpu": cpu})]).summary


@pytest.mark.parametrize(
    ("others", "served"),
    [
        ([], False),
        ([pod("q", schedulerName="volcano")], False),
        ([pod("q", on="a1", schedulerName="volcano")], True),
        ([pod("q", on="a1")], False),
        ([object_of("Event", "e", reason="Scheduled", reportingComponent="volcano")], True),
    ],
)
def test_a_scheduler_of_which_there_is_no_sign_serves_nobody(others: Sequence[Object], *, served: bool) -> None:
    items = explained([*NODES, *others, pod("p", schedulerName="volcano")]).report.items
    item = next(each for each in items if each.name == "p")
    nobody = "schedulerName volcano is served by nobody, as far as was read: no Pod with this schedulerName has a node"
    assert item.summary.startswith("volcano schedules this Pod" if served else nobody)


def test_a_scheduler_that_is_misspelt_is_named() -> None:
    summary = only([*NODES, pod("p", schedulerName="default-schedular")]).summary
    assert "default-schedular is served by nobody (did you mean default-scheduler?)" in summary


def test_an_empty_topology_key_is_named_as_such() -> None:
    item = only([*NODES, pod("p", labels={"app": "web"}, topologySpreadConstraints=[spread("", selector=app("web"))])])
    assert item.summary == "The topologyKey of the constraint is empty, so no node has that label."
    assert any(finding_text(each).startswith("the topologyKey is empty: ") for each in item.findings)
    assert not item.unlabelled


@pytest.mark.parametrize(
    ("labels", "keys", "revision"),
    [
        ({"controller-revision-hash": "h"}, ["pod-template-hash"], "controller-revision-hash"),
        ({"pod-template-hash": "h"}, ["version"], "pod-template-hash"),
        ({"pod-template-hash": "h"}, ["pod-template-hash", "version"], ""),
        ({}, ["version"], ""),
    ],
)
def test_the_revision_key_of_the_owner_is_named(labels: Object, keys: Sequence[str], revision: str) -> None:
    constraint = spread(ZONE, selector=app("web"), matchLabelKeys=[*keys])
    item = only([*NODES, pod("p", labels={"app": "web", **labels}, topologySpreadConstraints=[constraint])])
    (found,) = (each for each in item.findings if isinstance(each, MatchLabelKeyAbsent))
    assert found.revision == revision
    advice = f"Name {revision}, the revision that its owner sets" if revision else "Label the Pod"
    assert f"{advice}, or drop the key." in finding_text(found)

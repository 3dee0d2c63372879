"""Rights that are withheld never make a verdict wrong: what is told with fewer lists is true with all of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from kubectl_spread.contract.evaluation import EvaluationReport
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.incomplete import BESIDE_REJECTIONS, KINDS_THAT_MATTER, without_unread
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Kind
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.profile import Profile, default_profile
from kubectl_spread.snapshot import Snapshot, Unread
from kubectl_spread.wording.incomplete import entries
from tests.build import ZONE, Object, app, configured_profile, node, pod, snapshot, spread, typed_pod
from tests.build_workloads import controller, template, workload
from tests.conformance.answer import profile_of, snapshot_of
from tests.diagnosis.judged import evaluated

CORPUS = sorted((Path(__file__).parents[1] / "conformance" / "corpus").glob("*.gz"))
NOT_FEWER = {
    Verdict.SCHEDULABLE: {Verdict.SCHEDULABLE, Verdict.INCOMPLETE},
    Verdict.UNSCHEDULABLE: {Verdict.UNSCHEDULABLE, Verdict.INCOMPLETE},
    Verdict.INCOMPLETE: {Verdict.INCOMPLETE, Verdict.UNSCHEDULABLE},
}
"""Verdict with all rights → what may be said with fewer; an Incomplete one may be told by what is not modelled."""

TURNS = 6  # Every third case withholds every sixth of the kinds, in turns: all of both take two minutes


def without(kind: Kind, seen: Snapshot, namespace: str) -> Snapshot:
    """Return the cluster as it is seen without the right to list the kind; of Pods those of the namespace are left."""
    left = {name: objects for name, objects in seen.inventory.objects.items() if name != kind.name}
    if kind is kinds.POD:
        left[kind.name] = tuple(each for each in seen.all(Pod) if each.metadata.namespace == namespace)
    return Snapshot.build(replace(seen.inventory, objects=left, unread=(Unread(kind, "forbidden"),)))


def judged(tried: Pod, seen: Snapshot, profile: Profile) -> EvaluationReport:
    """Return what is said of the Pod in the cluster as far as it is seen."""
    return evaluated(tried, Handle.build(seen, without_unread(profile, seen)))


def rejections(report: EvaluationReport) -> set[tuple[str, str]]:
    """Return (node, plugin) of every rejection."""
    return {(each.name, rejection.plugin) for each in report.nodes for rejection in each.rejections}


def assert_still_true(partial: EvaluationReport, whole: EvaluationReport) -> None:
    """Assert that nothing is said with fewer rights that is not so."""
    assert partial.verdict in NOT_FEWER[whole.verdict]
    assert rejections(partial) <= rejections(whole)
    if partial.verdict is Verdict.SCHEDULABLE:
        assert set(partial.feasible) == set(whole.feasible)


def readable_cases(path: Path) -> Iterator[tuple[Pod, Snapshot, Profile, EvaluationReport]]:
    """Yield the Pod, cluster and profile of every third recorded case, with what is said of it with all rights."""
    for line in gzip.decompress(path.read_bytes()).splitlines()[1::3]:
        case = json.loads(line)
        profile = profile_of(case)
        tried, seen = typed_pod(case["pod"], profile), snapshot_of(case["objects"], profile)
        try:
            yield tried, seen, profile, judged(tried, seen, profile)
        except ValueError:
            continue  # what cannot be read at all is told as an error, whatever the rights


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name.partition(".jsonl")[0])
def test_no_verdict_of_the_recorded_cases_is_wrong_without_a_right(path: Path) -> None:
    told, gaps = 0, tuple(KINDS_THAT_MATTER)
    for turn, (tried, seen, profile, whole) in enumerate(readable_cases(path)):
        for kind in gaps[turn % TURNS :: TURNS]:
            partial = judged(tried, without(kind, seen, tried.metadata.namespace), profile)
            assert_still_true(partial, whole)
            told += partial.verdict is Verdict.INCOMPLETE
    assert told


HARD_DEFAULTS = configured_profile(
    {
        "profiles": [
            {
                "pluginConfig": [
                    {
                        "name": "PodTopologySpread",
                        "args": {"defaultingType": "List", "defaultConstraints": [spread(ZONE)]},
                    }
                ]
            }
        ]
    }
)
NEW = {"app": "web", "track": "new"}
NODES = [node("a", zone="a"), node("b", zone="b", unschedulable=True)]
OLD = [pod(f"old-{index}", on="a", labels={"app": "web", "track": "old"}) for index in range(2)]


def service(**selector: str) -> Object:
    metadata = {"name": "web", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": selector}}


def owning(kind: str, **labels: str) -> Object:
    """Return what owns the Pods with these labels."""
    selector = labels if kind == "ReplicationController" else {"matchLabels": labels}
    return workload(kind, "web") | {"spec": {"selector": selector, "template": template()}}


@pytest.mark.parametrize(
    ("unread", "owner", "selecting"),
    [
        (kinds.SERVICE, "ReplicaSet", [service(**NEW), owning("ReplicaSet", app="web")]),
        (kinds.REPLICA_SET, "ReplicaSet", [service(app="web"), owning("ReplicaSet", **NEW)]),
        (kinds.STATEFUL_SET, "StatefulSet", [service(app="web"), owning("StatefulSet", **NEW)]),
        (
            kinds.REPLICATION_CONTROLLER,
            "ReplicationController",
            [service(app="web"), owning("ReplicationController", **NEW)],
        ),
    ],
    ids=lambda value: value.name if isinstance(value, Kind) else "",
)
def test_hard_defaults_count_no_pods_they_would_not_count_with_all_rights(
    unread: Kind, owner: str, selecting: Sequence[Object]
) -> None:
    described = pod("new", labels=NEW, owner=controller(owner, "web"))
    seen, tried = snapshot([*NODES, *OLD, *selecting], HARD_DEFAULTS), typed_pod(described, HARD_DEFAULTS)
    assert judged(tried, seen, HARD_DEFAULTS).verdict is Verdict.SCHEDULABLE
    partial = judged(tried, without(unread, seen, "default"), HARD_DEFAULTS)
    assert partial.verdict is Verdict.INCOMPLETE
    assert [missing.what for missing in entries(partial.incomplete)] == [f"list {unread.plural}"]


def test_hard_defaults_that_would_reject_are_not_told_to_let_in() -> None:
    seen = snapshot([*NODES, *OLD, service(app="web")], HARD_DEFAULTS)
    tried = typed_pod(pod("bare", labels=NEW), HARD_DEFAULTS)
    assert judged(tried, seen, HARD_DEFAULTS).verdict is Verdict.UNSCHEDULABLE
    assert judged(tried, without(kinds.SERVICE, seen, "default"), HARD_DEFAULTS).verdict is Verdict.INCOMPLETE


def test_soft_defaults_stay_with_what_is_known_of_their_selector() -> None:
    seen = without(kinds.SERVICE, snapshot(NODES), "default")
    assert without_unread(default_profile(), seen).default_constraints == default_profile().default_constraints


def test_a_pods_own_constraints_need_neither_services_nor_owners() -> None:
    own = pod("own", labels=NEW, topologySpreadConstraints=[spread(ZONE, selector=app("web"))])
    seen = without(kinds.SERVICE, snapshot([*NODES, *OLD], HARD_DEFAULTS), "default")
    report = judged(typed_pod(own, HARD_DEFAULTS), seen, HARD_DEFAULTS)
    assert (report.verdict, report.incomplete) == (Verdict.UNSCHEDULABLE, ())


def near(*namespaces: str) -> Object:
    """Return an affinity that asks to be near the database of one of the namespaces; its own where none is given."""
    term: Object = {"topologyKey": ZONE, "labelSelector": app("db"), "namespaces": [*namespaces]}
    return {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


BIG = {"cpu": "6"}


@pytest.mark.parametrize(
    ("described", "others", "whole", "partial"),
    [
        (pod("p", **near("bank")), [pod("db", on="a", namespace="bank", labels={"app": "db"})], "Schedulable", ""),
        (pod("p", requests=BIG), [pod("q", on="a", namespace="bank", requests=BIG)], "Unschedulable", ""),
        (pod("p", requests=BIG), [pod("q", on="a", requests=BIG)], "Unschedulable", "Unschedulable"),
        (pod("p", host_ports=["80"]), [pod("q", on="a", namespace="bank", host_ports=["80"])], "Unschedulable", ""),
        (pod("p", host_ports=["80"]), [pod("q", on="a", host_ports=["80"])], "Unschedulable", "Unschedulable"),
        (pod("p", nodeSelector={"disk": "ssd"}), [], "Unschedulable", "Unschedulable"),
    ],
    ids=["near another namespace", "room elsewhere", "room here", "port elsewhere", "port here", "no such node"],
)
def test_pods_of_other_namespaces(described: Object, others: Sequence[Object], whole: str, partial: str) -> None:
    seen, tried = snapshot([*NODES, *others]), typed_pod(described)
    assert judged(tried, seen, default_profile()).verdict == whole
    narrowed = judged(tried, without(kinds.POD, seen, "default"), default_profile())
    assert narrowed.verdict == (partial or "Incomplete")
    assert [missing.what for missing in entries(narrowed.incomplete)] == ["list pods"]


@pytest.mark.parametrize(
    ("unread", "owned_by", "told"),
    [
        (kinds.REPLICA_SET, "ReplicaSet", True),
        (kinds.DEPLOYMENT, "Deployment", True),
        (kinds.DEPLOYMENT, "ReplicaSet", False),
        (kinds.POD, "", False),
    ],
)
def test_an_owner_whose_template_is_not_known_is_told_beside_a_rejection(
    unread: Kind, owned_by: str, *, told: bool
) -> None:
    owner = controller(owned_by, "web") if owned_by else None
    described = pod("p", owner=owner, nodeSelector={"a": "b"}, topologySpreadConstraints=[spread(ZONE)])
    report = judged(typed_pod(described), without(unread, snapshot(NODES), "default"), default_profile())
    assert report.verdict is Verdict.UNSCHEDULABLE
    assert ("fixes name no command" in " ".join(each.consequence for each in entries(report.incomplete))) is told


@pytest.mark.parametrize("kind", sorted(BESIDE_REJECTIONS, key=str), ids=lambda kind: kind.name)
def test_what_is_only_wanted_beside_a_rejection_is_told_beside_one(kind: Kind) -> None:
    seen = without(kind, snapshot(NODES), "default")
    assert judged(typed_pod(pod("p")), seen, default_profile()).incomplete == ()
    rejected = judged(typed_pod(pod("p", nodeSelector={"a": "b"})), seen, default_profile())
    assert rejected.verdict is Verdict.UNSCHEDULABLE
    assert [missing.what for missing in entries(rejected.incomplete)] == [f"list {kind.plural}"]

"""Manifests merged by the API server: what it is asked, and what its answers change."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from kubectl_spread.cluster.api.dry_run import DryRun, Patch, PatchType
from kubectl_spread.cluster.net.failures import StatusCause
from kubectl_spread.commands import exit_codes
from kubectl_spread.commands.applying import Applying
from kubectl_spread.commands.check import CheckOptions, check
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.check import CheckReport
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import Kind
from kubectl_spread.objects.meta import Plain
from kubectl_spread.wording.incomplete import entries
from tests.build import ZONE, Object, app, node, pod, spread
from tests.build_workloads import kubectl_applied, template, workload
from tests.commands.memory import Memory

HARD = spread(ZONE, selector=app("web"))
SOFT = spread(ZONE, selector=app("web"), soft=True)
NODES = [node(f"{zone}1", zone=zone) for zone in "abc"]
CONFLICT = StatusCause(reason="FieldManagerConflict", message='conflict with "hpa" using v1', field=".spec.replicas")


class Server:
    """An API server that answers patches with this object, or as it is told to."""

    def __init__(self, stored: Object | None = None, said: DryRun | None = None) -> None:
        self._said = said or DryRun(values=cast("Plain", stored))
        self.asked: list[tuple[str, str, str, Patch]] = []

    def __call__(self, kind: Kind, namespace: str, name: str, change: Patch) -> DryRun:
        """Return what it says, and remember what it was asked."""
        self.asked.append((kind.name, namespace, name, change))
        values = self._said.values
        return self._said if values is None else DryRun(obj=convert(values, kind.struct), values=values)


def web(*constraints: Object, **spec: Any) -> Object:  # noqa: ANN401 - any field of a Deployment
    """Return a Deployment of three Pods."""
    return workload("Deployment", "web", pods=template(*constraints), **{"replicas": 3, **spec})


def checked(folder: Path, manifest: Object, live: Sequence[Object], how: Applying) -> CheckReport:
    path = folder / "manifest.json"
    path.write_text(json.dumps(manifest))
    options = CheckOptions(filenames=(str(path),), namespace="default")
    return check(Memory([*NODES, *live]), options, SchedulerOptions(), stdin=None, how=how).report


def test_the_patch_is_what_kubectl_sends_and_the_answer_counts(tmp_path: Path) -> None:
    live = kubectl_applied(web(HARD, paused=True))
    server = Server({**live, "spec": {**web(SOFT)["spec"], "replicas": 2}})
    report = checked(tmp_path, web(HARD, replicas=4), [live], Applying(server))
    ((kind, namespace, name, change),) = server.asked
    assert (kind, namespace, name, change.type) == ("Deployment", "default", "web", PatchType.STRATEGIC)
    spec: Any = change.values["spec"]
    assert (spec["paused"], spec["replicas"]) == (None, 4)
    assert (report.items[0].replicas, report.items[0].constraints[0].when_unsatisfiable) == (2, "ScheduleAnyway")


def test_a_patch_leaves_alone_what_is_read_of_the_live_object_for_it(tmp_path: Path) -> None:
    """No other answer depends on the ports: those of one number differ in protocol and name."""
    manifest = pod("web", labels={"app": "web"})
    manifest["spec"]["containers"][0]["ports"] = [
        {"containerPort": 80, "protocol": "UDP"},
        {"containerPort": 80, "name": "web"},
    ]
    live = kubectl_applied({"apiVersion": "v1", "kind": "Pod", **manifest})
    server = Server(live)
    tolerant = {**live, "spec": {**live["spec"], "tolerations": [{"operator": "Exists"}]}}
    for how in (Applying(server), Applying(server, read=lambda *_: live)):
        checked(tmp_path, tolerant, [live], how)
    assert ["containers" in cast("Object", change.values["spec"]) for *_, change in server.asked] == [True, False]


def test_the_server_is_not_asked_about_what_it_lacks(tmp_path: Path) -> None:
    pinned = web(HARD)
    pinned["spec"]["template"]["spec"]["nodeSelector"] = {ZONE: "a"}
    live, server = {**kubectl_applied(web(HARD)), "spec": pinned["spec"]}, Server(kubectl_applied(pinned))
    both = {"apiVersion": "v1", "kind": "List", "items": [pinned, web(HARD)]}
    (item,) = checked(tmp_path, both, [live], Applying(server)).items
    assert len(server.asked) == 1
    assert [each.node for each in item.placements] == ["a1", "b1", "c1"]


@pytest.mark.parametrize("force", [False, True])
def test_server_side_apply_sends_the_manifest(tmp_path: Path, force: bool) -> None:  # noqa: FBT001 - as the flag
    server = Server(web(SOFT, HARD))
    report = checked(tmp_path, web(SOFT, HARD), [web(SOFT)], Applying(server, server_side=True, force_conflicts=force))
    ((*_, change),) = server.asked
    assert (change.type, change.force, change.values["spec"]) == (PatchType.APPLY, force, web(SOFT, HARD)["spec"])
    (item,) = report.items
    assert len(item.constraints) == 2
    assert [found.id for found in item.findings if found.id == "MergedConstraints"] == []


def test_a_conflict_names_manager_and_field(tmp_path: Path) -> None:
    server = Server(said=DryRun(causes=(CONFLICT,)))
    report = checked(tmp_path, web(HARD), [web(HARD)], Applying(server, server_side=True))
    (error,) = report.items[0].validation
    assert (error.field, error.reason) == (".spec.replicas", "FieldManagerConflict")
    assert error.message == 'conflict with "hpa" using v1'
    assert (report.items[0].verdict, exit_codes.of_check(report)) == ("Invalid", 1)


def test_without_a_server_to_ask_it_is_incomplete(tmp_path: Path) -> None:
    report = checked(tmp_path, web(SOFT, HARD), [web(SOFT)], Applying(server_side=True))
    (item,) = report.items
    assert [gap.what for gap in entries(item.incomplete)] == ["the managedFields of deployment/web"]
    assert (item.verdict, [found.id for found in item.findings if found.id == "MergedConstraints"]) == (
        "Incomplete",
        [],
    )


def test_a_new_object_needs_no_managers(tmp_path: Path) -> None:
    report = checked(tmp_path, web(SOFT), [], Applying(server_side=True))
    assert report.items[0].incomplete == ()

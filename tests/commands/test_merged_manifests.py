"""``check`` and ``simulate --apply`` of manifests whose objects live, changed by hand or by other manifests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.commands.check import CheckOptions, check
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.check import CheckItem
from kubectl_spread.diagnosis.evaluation import Verdict
from tests.build import ZONE, Object, app, spread
from tests.build_workloads import controller, kubectl_applied, revision, template, workload
from tests.commands.memory import Memory
from tests.program import listed
from tests.program import spread as spread_program
from tests.simulation.generated import forms
from tests.simulation.test_steps import SIX, deployment, last, pending, running, simulated

HARD = spread(ZONE, selector=app("web"))
SOFT = spread(ZONE, selector=app("web"), soft=True)


def web(*constraints: Object, replicas: int = 3) -> Object:
    """Return a manifest of what `there` holds."""
    return workload("Deployment", "web", pods=template(*constraints), replicas=replicas)


def there(*constraints: Object, by_hand: Object) -> list[Object]:
    """Return three Pods of a Deployment that was applied with these constraints, its spec then changed by hand."""
    live, *others = deployment(["a1", "b1", "c1"], *constraints)
    live = kubectl_applied(deepcopy(live))
    live["spec"] |= by_hand
    return [*SIX, live, *others]


def checked(folder: Path, manifest: Object, objects: Sequence[Object]) -> CheckItem:
    options = CheckOptions(filenames=(str(written(folder, manifest)),), namespace="default")
    (item,) = check(Memory(objects), options, SchedulerOptions(), stdin=None).report.items
    return item


def applied(folder: Path, manifest: Object, objects: Sequence[Object]) -> Any:  # noqa: ANN401 - a step as JSON has it
    return last(objects, f"apply {written(folder, manifest)}")


def written(folder: Path, manifest: Object) -> Path:
    path = folder / "manifest.json"
    path.write_text(json.dumps(manifest))
    return path


def test_what_was_patched_by_hand_stays(tmp_path: Path) -> None:
    patched = template(HARD)
    patched["spec"]["nodeSelector"] = {"disk": "ssd"}
    objects = there(HARD, by_hand={"template": patched})
    assert checked(tmp_path, web(HARD, replicas=4), objects).verdict is Verdict.UNSCHEDULABLE
    assert pending(applied(tmp_path, web(HARD, replicas=4), objects)) == {"deployment/web": (2, 2)}


def test_a_hard_constraint_beside_a_soft_one_of_its_key_is_lost(tmp_path: Path) -> None:
    objects = there(SOFT, by_hand={})
    item = checked(tmp_path, web(SOFT, HARD), objects)
    assert [each.when_unsatisfiable for each in item.constraints] == ["ScheduleAnyway"]
    assert merged_findings(item) == [("warning", "spec.topologySpreadConstraints")]
    (followed,) = applied(tmp_path, web(SOFT, HARD), objects).items
    assert followed.after == followed.before


def merged_findings(item: CheckItem) -> list[tuple[str, str]]:
    """Return severity and path of each finding about constraints that are merged."""
    return [(found.severity.value, found.path) for found in item.findings if found.id == "MergedConstraints"]


def test_constraints_of_one_key_that_stay_as_written_are_for_information(tmp_path: Path) -> None:
    assert merged_findings(checked(tmp_path, web(SOFT, HARD), SIX)) == [("info", "spec.topologySpreadConstraints")]
    assert merged_findings(checked(tmp_path, web(SOFT, HARD), there(SOFT, HARD, by_hand={})))[0][0] == "info"
    assert merged_findings(checked(tmp_path, web(SOFT), there(SOFT, by_hand={}))) == []


def test_min_domains_come_to_the_soft_constraint_of_their_key(tmp_path: Path) -> None:
    objects = there(SOFT, by_hand={})
    item = checked(tmp_path, web(SOFT, {**HARD, "minDomains": 4}), objects)
    assert item.verdict is Verdict.INVALID
    assert [error.field for error in item.validation] == ["spec.template.spec.topologySpreadConstraints[0].minDomains"]
    (refused,) = applied(tmp_path, web(SOFT, {**HARD, "minDomains": 4}), objects).refused
    assert "can only use minDomains if whenUnsatisfiable=DoNotSchedule" in refused.message


@pytest.mark.parametrize("by_helm", [False, True])
def test_what_stays_for_want_of_the_annotation_is_a_warning(tmp_path: Path, *, by_helm: bool) -> None:
    live, *others = there(SOFT, by_hand={"paused": True})[6:]
    live["metadata"]["annotations"] = {"meta.helm.sh/release-name": "shop"} if by_helm else {}
    helm = ". This is the answer for kubectl apply: helm upgrade of shop also removes what its last release set"
    item = checked(tmp_path, web(SOFT), [*SIX, live, *others])
    assert [(each.field, each.message) for each in item.warnings] == [
        (
            "spec.paused",
            (
                "kubectl apply keeps what the manifest leaves out here: the live object lacks the annotation"
                f" last-applied-configuration{helm * by_helm}"
            ),
        )
    ]


MOUNT: Object = {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}
VOLUME: Object = {"volumes": [{"name": "v", "emptyDir": {}}]}


def described(container: Object, **spec: object) -> Object:
    """Return the manifest with more fields of its container and its Pod."""
    made = deepcopy(web(SOFT))
    made["spec"]["template"]["spec"] |= spec
    made["spec"]["template"]["spec"]["containers"][0] |= container
    return made


def within(manifest: Object, **spec: object) -> Object:
    """Return the manifest with more fields of its spec."""
    return {**manifest, "spec": {**manifest["spec"], **spec}}


def rolling(**bounds: int) -> Object:
    """Return the update strategy of a Deployment."""
    return {"type": "RollingUpdate", "rollingUpdate": bounds}


@pytest.mark.parametrize("held", [False, True], ids=["live", "in a snapshot"])
@pytest.mark.parametrize(
    ("first", "by_hand", "manifest", "refused"),
    [
        (
            web(),
            within(web(), strategy=rolling(maxSurge=0, maxUnavailable=1)),
            within(web(), strategy=rolling(maxUnavailable=0)),
            ["spec.strategy.rollingUpdate.maxUnavailable"],
        ),
        (described({}, **VOLUME), described(MOUNT, **VOLUME), described({}, **VOLUME), []),
    ],
    ids=["a strategy", "a mount"],
)
def test_what_was_set_by_hand_is_validated_with_the_rest_and_does_not_roll_out(
    first: Object, by_hand: Object, manifest: Object, refused: list[str], tmp_path: Path, *, held: bool
) -> None:
    live, *others = deployment(["a1", "b1", "c1"])
    live["spec"] = by_hand["spec"]
    others[0]["spec"]["template"]["spec"] |= by_hand["spec"]["template"]["spec"]
    live["metadata"]["annotations"] |= kubectl_applied(first)["metadata"]["annotations"]
    cluster = listed(tmp_path / "cluster.json", [*SIX, live, *others])
    if held:
        assert spread_program("snapshot", "--from", cluster, "-o", cluster).code == 0
    found = spread_program("check", "-f", written(tmp_path, manifest), "--from", cluster, "-o", "json").item
    assert [error["field"] for error in found["validation"]] == refused
    assert found["verdict"] == ("Invalid" if refused else "Schedulable")
    assert refused or found["placements"] == []


def test_a_manifest_directs_the_patch_only_of_an_object_that_exists(tmp_path: Path) -> None:
    manifest = web(SOFT)
    manifest["spec"]["strategy"] = {"$patch": "replace", "type": "Recreate"}
    assert checked(tmp_path, manifest, there(SOFT, by_hand={})).validation == ()
    assert [error.field for error in checked(tmp_path, manifest, SIX).validation] == ["spec.strategy.$patch"]


def run_by(kind: str, **fields: object) -> Object:
    """Return a bare Pod or a Job whose container has further fields."""
    pods = template(restartPolicy="Never")
    pods["spec"]["containers"][0] |= fields
    if kind == "Job":
        return workload("Job", "web", pods=pods)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": pods["spec"],
    }


@pytest.mark.parametrize("kind", ["Pod", "Job"])
@pytest.mark.parametrize("held", [False, True], ids=["live", "in a snapshot"])
@pytest.mark.parametrize(
    ("known", "args", "verdict"),
    [(True, ["--a"], "Schedulable"), (True, ["--b"], "Invalid"), (False, ["--b"], "Incomplete")],
)
def test_what_may_not_change_is_compared_though_it_is_not_read(
    kind: str, args: list[str], verdict: str, tmp_path: Path, *, held: bool, known: bool
) -> None:
    live = run_by(kind, args=["--a"])
    live["metadata"]["labels"] = {"app": "web"}
    live = kubectl_applied(live) if known else live
    live["spec"] |= {"nodeName": "a1"} if kind == "Pod" else {}
    cluster = listed(tmp_path / "cluster.json", [*SIX, live])
    if held:
        assert spread_program("snapshot", "--from", cluster, "-o", cluster).code == 0
    manifest = written(tmp_path, run_by(kind, args=args))
    found = spread_program("check", "-f", manifest, "--from", cluster, "-o", "json").item
    assert found["verdict"] == ("Invalid" if kind == "Job" and args == ["--b"] and not held else verdict)


def test_simulate_says_which_constraints_are_merged_and_goes_on_past_what_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "manifests.yaml"
    unreadable = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": {"replicas": "two"}}
    path.write_text("\n---\n".join(map(json.dumps, (web(HARD, SOFT), unreadable, unreadable))))
    report = simulated(there(SOFT, by_hand={}), f"apply {path}")
    assert [(each.document, each.field) for each in forms(report)[0].refused or ()] == [
        (2, "spec.replicas"),
        (3, "spec.replicas"),
    ]
    (note,) = (note for note in forms(report)[0].notes if "topologyKey" in note)
    assert note.startswith("deployment/web: kubectl apply merges constraints by topologyKey alone")


def test_pods_of_an_older_revision_of_a_paused_deployment_that_wait_are_counted_and_told(tmp_path: Path) -> None:
    live, *others = deployment(["a1", "b1", "c1"], HARD, replicas=3)
    live["spec"] |= (held := {"paused": True, "strategy": {"rollingUpdate": {"maxSurge": 0}}, "replicas": 5})
    older = revision("web", 0, pods=template(nodeSelector={"gone": "yes"}))
    older["spec"]["replicas"] = 2
    labels, owner = {"pod-template-hash": "h0"}, controller("ReplicaSet", "web-h0")
    waits = [running(f"old-{at}", "", owner, labels=labels, nodeSelector={"gone": "yes"}) for at in range(2)]
    cluster = [*SIX, kubectl_applied(live), *others, older, *waits]
    manifest = web(HARD, replicas=5)
    manifest["spec"] |= held
    item, step = checked(tmp_path, manifest, cluster), applied(tmp_path, manifest, cluster)
    assert item.pending == sum(each.count for each in step.pending) == 2
    told = spread_program(
        "check", "-f", written(tmp_path, manifest), "--from", listed(tmp_path / "cluster.json", cluster)
    )
    assert "2 older Pods stay Pending." in told.stdout

"""Kinds of other APIs: refused where the cluster does not serve them, and never where that is not known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from kubectl_spread.cluster.api.discovery import Discovered, Resource
from kubectl_spread.commands import exit_codes
from kubectl_spread.commands.check import CheckAnswer, CheckOptions, check
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.simulate import SimulateOptions, simulate
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.exit_code import ExitCode
from kubectl_spread.wording.incomplete import entries
from tests.build import Object, node, pod
from tests.commands.memory import Memory
from tests.program import listed

_TEMPLATE: Object = {"spec": {"containers": [{"name": "main", "image": "x"}]}}
RAY: Object = {
    "apiVersion": "ray.io/v1",
    "kind": "RayCluster",
    "metadata": {"name": "ray"},
    "spec": {"workerGroupSpecs": [{"groupName": "small", "replicas": 2, "template": _TEMPLATE}]},
}
DEFINITION: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "rayclusters.ray.io"},
    "spec": {"group": "ray.io", "scope": "Namespaced", "names": {"kind": "RayCluster"}, "versions": []},
}
POOL: Object = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "pool"}}
SERVED = {"ray.io/v1": Discovered({"RayCluster": Resource(name="rayclusters", kind="RayCluster", namespaced=True)})}
NO_MATCH = 'no matches for kind "RayCluster" in version "ray.io/v1"'


def cluster(*objects: Object, server: str = "https://x", discovered: Mapping[str, Discovered]) -> Memory:
    """Return a cluster with a node, which serves some kinds; files, without a server."""
    return Memory([node("a1"), *objects], server=server, said_version="v1.36.2", discovered=discovered)


def asked(source: Memory, path: Path, *manifests: Object) -> CheckAnswer:
    file = path / "manifests.json"
    listed(file, manifests)
    return check(source, CheckOptions(filenames=(str(file),), namespace="default"), SchedulerOptions(), stdin=None)


def verdicts(answer: CheckAnswer) -> Mapping[str, str]:
    """Return name → verdict and errors."""
    return {
        each.name: ", ".join([each.verdict, *(str(error) for error in each.validation)]) for each in answer.report.items
    }


def test_a_kind_that_is_served_is_placed_by_its_template(tmp_path: Path) -> None:
    answer = asked(cluster(discovered=SERVED), tmp_path, RAY)
    assert verdicts(answer) == {"ray": "Schedulable"}
    assert not answer.report.incomplete


@pytest.mark.parametrize(
    ("discovered", "others", "hint"),
    [
        (Discovered(), (), ": install its CustomResourceDefinition first"),
        (
            Discovered(),
            (DEFINITION,),
            ": kubectl looks for the kind before it applies anything: apply the CustomResourceDefinition first",
        ),
        (Discovered(versions=("ray.io/v2",)), (), ": the cluster serves the group only in ray.io/v2"),
        (Discovered({"RayClusters": Resource()}), (), ', did you mean "RayClusters"?'),
        (Discovered({"RayService": Resource()}), (), ": install its CustomResourceDefinition first"),
    ],
    ids=["group", "definition", "version", "near", "kind"],
)
def test_a_kind_that_is_not_served_is_invalid(
    discovered: Discovered, others: tuple[Object, ...], hint: str, tmp_path: Path
) -> None:
    answer = asked(cluster(discovered={"ray.io/v1": discovered}), tmp_path, *others, RAY, pod("bare"))
    assert verdicts(answer) == {"ray": f"Invalid, apiVersion: {NO_MATCH}{hint}", "bare": "Schedulable"}
    assert exit_codes.of_check(answer.report) is ExitCode.NO


def test_a_kind_that_is_read_but_not_kubernetes_own(tmp_path: Path) -> None:
    answer = asked(cluster(discovered={"karpenter.sh/v1": Discovered()}), tmp_path, pod("bare"), POOL)
    assert verdicts(answer)["pool"].startswith('Invalid, apiVersion: no matches for kind "NodePool"')


def test_where_discovery_may_not_be_read_the_answer_is_incomplete(tmp_path: Path) -> None:
    answer = asked(cluster(discovered={}), tmp_path, RAY)
    (item,) = answer.report.items
    assert (item.verdict, [gap.why for gap in entries(item.incomplete)]) == ("Incomplete", ["forbidden"])
    assert exit_codes.of_check(answer.report) is ExitCode.UNDETERMINED


OWNED = pod("w", on="a1")
OWNED["metadata"]["ownerReferences"] = [
    {"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": "r", "controller": True}
]


@pytest.mark.parametrize(("there", "gaps"), [(pod("w", on="a1"), 1), (OWNED, 0)], ids=["no evidence", "a Pod of it"])
def test_files_do_not_say_which_kinds_are_served_but_an_owner_shows_it(
    there: Object, gaps: int, tmp_path: Path
) -> None:
    answer = asked(cluster(there, server="", discovered={"ray.io/v1": Discovered()}), tmp_path, RAY)
    assert verdicts(answer) == {"ray": "Schedulable"}
    assert len(answer.report.incomplete) == gaps
    assert exit_codes.of_check(answer.report) is ExitCode.ANSWERED


def test_simulate_refuses_what_is_not_served(tmp_path: Path) -> None:
    file = tmp_path / "ray.json"
    file.write_text(json.dumps(RAY))
    options = SimulateOptions(steps=(("apply", str(file)),), namespace="default")
    scope, rules = Scope(namespace="default"), SchedulerOptions()
    (step,) = simulate(cluster(discovered={"ray.io/v1": Discovered()}), scope, options, rules, stdin=None).steps
    assert [NO_MATCH in each.message for each in step.refused or ()] == [True]
    assert not simulate(cluster(discovered=SERVED), scope, options, rules, stdin=None).incomplete

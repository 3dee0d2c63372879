"""A bare Pod is admitted by what comes before it in the file; each verdict as a real API server gave it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from kubectl_spread.commands.check import CheckOptions, check
from kubectl_spread.commands.view import SchedulerOptions
from tests.build import Object, namespace, node, pod
from tests.build_workloads import template, workload
from tests.commands.memory import Memory
from tests.program import listed
from tests.simulation.test_steps import last

NODES = [node("a1", allocatable={"cpu": "4", "pods": "20"})]
FIRST, SECOND = pod("p1"), pod("p2", requests={"cpu": "100m"})
LIMITS: Object = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "limits"},
    "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "5"}}]},
}
QUOTA: Object = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "quota"},
    "spec": {"hard": {"pods": "1", "requests.cpu": "1"}},
}


def written(folder: Path, manifests: Sequence[Object]) -> Path:
    return listed(folder / "manifests.json", manifests)


def verdicts(folder: Path, manifests: Sequence[Object]) -> Mapping[str, str]:
    """Return name → verdict."""
    options = CheckOptions(filenames=(str(written(folder, manifests)),), namespace="default")
    report = check(Memory(NODES), options, SchedulerOptions(), stdin=None).report
    return {item.name: item.verdict for item in report.items}


@pytest.mark.parametrize(
    ("manifests", "wanted"),
    [
        ([LIMITS, FIRST], {"p1": "Unschedulable"}),
        ([FIRST, LIMITS], {"p1": "Schedulable"}),
        ([QUOTA, FIRST], {"p1": "Invalid"}),
        ([FIRST, QUOTA], {"p1": "Schedulable"}),
        ([FIRST, QUOTA, SECOND], {"p1": "Schedulable", "p2": "Invalid"}),
        ([SECOND, QUOTA], {"p2": "Schedulable"}),
    ],
    ids=["limits first", "limits last", "quota first", "quota last", "quota between", "quota after its Pod"],
)
def test_only_earlier_documents_decide_about_a_bare_pod(
    manifests: Sequence[Object], wanted: Mapping[str, str], tmp_path: Path
) -> None:
    assert verdicts(tmp_path, manifests) == wanted
    file = str(written(tmp_path, manifests))
    step = last(NODES, f"apply {file}")
    assert step.newly_pending == ({*wanted.values()} != {"Schedulable"})
    assert bool(step.notes) == ("Invalid" in wanted.values())


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_a_namespace_comes_before_what_it_contains(tmp_path: Path, *, before: bool) -> None:
    made = [namespace("new"), workload("Deployment", "web", pods=template(), namespace="new", replicas=1)]
    file = written(tmp_path, made if before else made[::-1])
    options = CheckOptions(filenames=(str(file),), namespace="default")
    (item,) = check(Memory([*NODES, namespace("default")]), options, SchedulerOptions(), stdin=None).report.items
    found = [f"{error.field}: {error.message}" for error in item.validation]
    assert found == ([] if before else ['metadata.namespace: namespaces "new" not found: a later document creates it'])
    refused = last([*NODES, namespace("default")], f"apply {file}").refused or ()
    assert [f"{error.field}: {error.message}" for error in refused] == [f"items[0].{each}" for each in found]

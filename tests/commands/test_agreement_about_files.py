"""``check`` and ``simulate --apply`` give one answer about files of several workloads that count each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_spread.commands.check import CheckOptions, check
from kubectl_spread.commands.view import SchedulerOptions
from tests.build import Object, node
from tests.build_workloads import workload
from tests.commands.memory import Memory
from tests.e2e.applied_pairs import counting, drawn
from tests.program import spread
from tests.simulation.test_steps import last


@pytest.mark.parametrize("seed", range(30))
def test_as_many_pods_wait_by_either(seed: int, tmp_path: Path) -> None:
    files = [counting(seed), drawn(seed)]
    nodes, manifests = files[0].nodes, [*files[0].manifests, *files[1].manifests]
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "default"}}
    there = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    source, file = Memory([there, account, *nodes]), tmp_path / "manifests.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests}))
    options = CheckOptions(filenames=(str(file),), namespace="default", fix_budget=0)
    items = check(source, options, SchedulerOptions(), stdin=None).report.items
    step = last([there, account, *nodes], f"apply {file}")
    pending = {str(each.workload): each.range for each in step.pending}
    assert items
    for item in items:
        least, most = pending.get(str(item.workload), (0, 0))
        if item.kind != "CronJob":
            assert least <= item.pending <= most
            assert (item.jam is not None) == (most > 0)


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"name": "web", "namespace": "other"}, 'the namespace from the provided object "other" does not match'),
        ({"generateName": "web-"}, "metadata.generateName: cannot use generate name with apply"),
        ({"labels": {"app": "web"}}, "metadata.name: Required value: name or generateName is required"),
    ],
    ids=["another namespace than -n", "no name but a beginning", "no name"],
)
def test_what_kubectl_does_not_send_is_refused_by_either(metadata: Object, said: str, tmp_path: Path) -> None:
    cluster, file = tmp_path / "cluster.json", tmp_path / "manifest.json"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node("a1")]}))
    file.write_text(json.dumps({**workload("Deployment", "web"), "metadata": metadata}))
    asked = ("--from", cluster, "-n", "default")
    checked, simulated = spread("check", "-f", file, *asked), spread("simulate", "--apply", file, *asked)
    assert said in checked.stdout + checked.stderr
    assert said in simulated.stderr
    assert 0 not in {checked.code, simulated.code}

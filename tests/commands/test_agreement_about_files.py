"""``check`` and ``simulate --apply`` give one answer about files of several workloads that count each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_spread.commands.check import CheckOptions, check
from kubectl_spread.commands.view import SchedulerOptions
from tests.commands.memory import Memory
from tests.e2e.applied_pairs import counting, drawn
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

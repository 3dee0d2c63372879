"""``check`` and ``simulate --apply`` give one answer about files of several workloads that count each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.applied_pairs import counting, drawn
from tests.program import spread


def put(path: Path, items: object) -> Path:
    """Return a file that holds the objects."""
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return path


@pytest.mark.parametrize("seed", range(30))
def test_as_many_pods_wait_by_either(seed: int, tmp_path: Path) -> None:
    files = [counting(seed), drawn(seed)]
    nodes, manifests = files[0].nodes, [*files[0].manifests, *files[1].manifests]
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "default"}}
    there = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    cluster = put(tmp_path / "cluster.json", [there, account, *nodes])
    asked = (put(tmp_path / "manifests.json", manifests), "--from", cluster, "-o", "json")
    items = [each for each in spread("check", "--fix-budget", "0", "-f", *asked).items if each["kind"] != "CronJob"]
    (step,) = spread("simulate", "--apply", *asked).report["steps"]
    pending = {str(each["workload"]): each for each in step["pending"]}
    for item in items:
        said = pending.get(str(item["workload"]), {"count": 0, "range": [0, 0]})
        least, most = said["range"]
        assert least <= item["pending"] <= most
        jam = item.get("jam")
        assert (jam is not None) == (most > 0)

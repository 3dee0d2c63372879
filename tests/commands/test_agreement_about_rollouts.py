"""``check`` and ``simulate`` say of as many Pods that they find no node."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.build import Object
from tests.commands.rollouts import SCALABLE, Drawn, drawn
from tests.program import Ended, Values, listed, spread
from tests.sampling import first

SITUATIONS = [drawn(seed) for seed in range(1, 91)]
LIVING = [each for each in SITUATIONS if each.again is not None and each.kind in SCALABLE]


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return tmp_path


def pending(simulated: Ended) -> int:
    """Return how many Pods of web wait after all steps (count)."""
    (step,) = simulated.report["steps"]
    return sum(each["count"] for each in step["pending"] if each["workload"]["name"] == "web")


def said(folder: Path, situation: Drawn, manifest: Object, *words: str) -> Values | None:
    """Return what check says of the manifest; None where it is refused."""
    cluster, file = listed(folder / "cluster.json", situation.objects), listed(folder / "manifest.json", [manifest])
    item = spread("check", "-f", file, "--from", cluster, "--fix-budget", "0", "-o", "json", *words).item
    return None if item["verdict"] == "Invalid" else item


@pytest.mark.parametrize("situation", first(24, SITUATIONS), ids=lambda each: each.kind)
def test_they_agree_about_what_is_applied(situation: Drawn, where: Path) -> None:
    item = said(where, situation, situation.manifest)
    words = ("simulate", "--apply", where / "manifest.json", "--from", where / "cluster.json", "-o", "json")
    if item is None:
        assert spread(*words).code != 0
        return
    assert item["pending"] == pending(spread(*words))
    assert (item["jam"] is None) <= (item["pending"] == 0)


@pytest.mark.parametrize("situation", first(8, LIVING), ids=lambda each: each.kind)
def test_they_agree_about_more_replicas(situation: Drawn, where: Path) -> None:
    assert situation.again is not None
    item = said(where, situation, situation.again, "--replicas", "9")
    assert item is not None
    scaled = f"{situation.kind.lower()}/web=9"
    simulated = spread("simulate", "--scale", scaled, "--from", where / "cluster.json", "-o", "json")
    assert item["pending"] == pending(simulated)

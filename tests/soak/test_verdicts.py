"""A verdict that kube-scheduler contradicts is found, and of those recorded none is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.generate import cases
from tests.conformance.test_corpus import CORPORA, read_cases
from tests.soak.verdicts import RELEASES, SUITE, judged, outcome

RECORDED = [path for path in CORPORA if path.name.startswith(SUITE)]


def test_every_release_is_recorded() -> None:
    assert {path.name for path in RECORDED} == {f"{SUITE}-v{release}.jsonl.gz" for release in RELEASES}


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_no_recorded_verdict_is_contradicted(path: Path) -> None:
    found = judged((case, case["want"]) for case in read_cases(path))
    assert (found.contradicted, found.unanswered) == ((), 0)
    assert set(found.verdicts) == {"Incomplete", "Schedulable", "Unschedulable"}
    assert 0 < found.open < found.verdicts["Incomplete"]


@pytest.mark.parametrize("code", ["Success", "Unschedulable"])
def test_what_is_contradicted_is_told(code: str) -> None:
    drawn = list(cases(suite=SUITE, minor=36, seed=1, count=40))
    nodes = [[each["metadata"]["name"] for each in case["objects"] if each["kind"] == "Node"] for case in drawn]
    said = [{"nodes": {name: {"code": code} for name in names}} for names in nodes]
    assert judged(zip(drawn, said, strict=True)).contradicted


def test_what_kube_scheduler_gives_up_on_is_counted_apart() -> None:
    found = judged((case, {"error": "panic"}) for case in cases(suite=SUITE, minor=36, seed=1, count=3))
    assert (found.unanswered, found.verdicts.total()) == (3, 0)


@pytest.mark.e2e
def test_no_fresh_verdict_is_contradicted(pytestconfig: pytest.Config) -> None:
    if "e2e" not in pytestconfig.option.markexpr:
        pytest.skip("needs kube-scheduler itself: make e2e")
    found = outcome("1.36", seed=20261, count=100)
    assert (found.contradicted, found.verdicts.total() + found.unanswered) == ((), 100)

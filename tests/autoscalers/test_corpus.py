"""Karpenter's recorded decisions: whatever it was seen to do is possible, and what is sure is what it did."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubectl_spread.autoscalers.decision import AutoscalerDecision, Decision, PoolDecision, Verdict
from kubectl_spread.autoscalers.karpenter.releases import nearest, release_of
from tests.autoscalers.clusters import ZONE, Object, decided

CORPORA = sorted((Path(__file__).parent / "corpus").glob("karpenter-*.jsonl.gz"))
NOWHERE = PoolDecision(name="", verdict=Verdict.REFUSED)
KINDS = {"New": Decision.NEW_NODE, "Existing": Decision.EXISTING_NODE, "Refused": Decision.REFUSED}


def recorded(path: Path) -> Iterator[Object]:
    """Yield the cases: objects, instance types, and what was seen in many runs, for domains are picked at random."""
    with gzip.open(path, "rt") as lines:
        yield from map(json.loads, lines)


def contradictions(case: Object, found: AutoscalerDecision) -> Iterator[str]:
    """Yield what was seen and is not possible by our decision."""
    may = {each.name: each for each in found.pools if each.verdict in {Verdict.CHOSEN, Verdict.POSSIBLE}}
    for kind, name, zones in case["want"]:
        if found.decision not in {KINDS[kind], Decision.BY_CHANCE}:
            yield f"{case['name']}: {kind} {name}, not {found.decision}"
        elif kind == "New" and (
            name not in may or not {*filter(None, zones.split(","))} <= {*may[name].domains.get(ZONE, ())}
        ):
            yield f"{case['name']}: a node of {name} in {zones}, not {may}"
        elif kind == "Existing" and found.node not in {name, ""}:
            yield f"{case['name']}: room on {name}, not {found.node}"


@pytest.mark.parametrize("path", CORPORA, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_what_karpenter_did(path: Path) -> None:
    release = nearest(release_of(path.name.split("-")[1].removesuffix(".jsonl.gz")))
    cases = [*recorded(path)]
    wrong = [
        text
        for case in cases
        for text in contradictions(case, decided(case["objects"], case["instanceTypes"], release=release))
    ]
    assert (len(cases) >= 100, wrong) == (True, [])


def test_few_are_left_to_chance() -> None:
    cases = [*recorded(CORPORA[-1])]
    chance = sum(decided(case["objects"], case["instanceTypes"]).decision is Decision.BY_CHANCE for case in cases)
    seen = sum(len({kind for kind, _, _ in case["want"]}) > 1 for case in cases)
    assert seen <= chance <= seen + len(cases) / 20


@pytest.mark.parametrize("path", CORPORA[-2:], ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_without_instance_types_nothing_is_excluded_that_karpenter_did(path: Path) -> None:
    for case in recorded(path):
        found = decided(case["objects"], None)
        refused = {each.name for each in found.pools if each.verdict is Verdict.REFUSED}
        kinds = {KINDS[kind] for kind, _, _ in case["want"]}
        assert not refused & {name for kind, name, _ in case["want"] if kind == "New"}, case["name"]
        assert found.decision not in {Decision.REFUSED, Decision.EXISTING_NODE} - kinds, case["name"]

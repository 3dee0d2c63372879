"""The measured cluster is one about which every filter and score has something to say."""

from __future__ import annotations

from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Status
from kubectl_spread.scheduler.profile import default_profile
from tests.bench.engine import EVALUATION, FIRST, Cost, big_cluster, costs, demanding_pod
from tests.build import handle, snapshot

NOTHING_TO_SAY = {"NodeName", "VolumeRestrictions", "VolumeZone", "NodeDeclaredFeatures", "DynamicResources"}


def test_what_is_measured() -> None:
    seen, asked = handle(big_cluster(60, 300)), demanding_pod()
    evaluation = cycle.evaluate(asked, seen)
    assert 0 < len(evaluation.feasible) < len(evaluation.nodes)
    skipped = {
        plugin
        for plugin in seen.profile.filters
        if plugin in cycle.PRE_FILTERS and isinstance(cycle.PRE_FILTERS[plugin](asked, seen), Status)
    }
    assert skipped <= NOTHING_TO_SAY
    scored = evaluation.nodes[evaluation.feasible[0]].scores
    assert {*scored} == {*default_profile().weights, "total"} - {"VolumeBinding"}


def test_a_small_cluster_takes_less_than_a_large_one_may() -> None:
    found, seen = costs(demanding_pod(), snapshot(big_cluster(20, 40)))
    assert [cost.budget for cost in found] == [None, None, FIRST, EVALUATION]
    assert found[0].took + found[1].took == found[2].took
    assert not any(cost.exceeded for cost in found)
    assert len(seen.node_infos) == 20


def test_what_takes_longer_than_it_may() -> None:
    assert Cost("evaluation", EVALUATION + 1, EVALUATION).exceeded
    assert not Cost("evaluation", EVALUATION, EVALUATION).exceeded
    assert not Cost("handle", EVALUATION).exceeded

"""Merging as upstream does it: its own answers to triples, recorded and asked anew."""

from __future__ import annotations

import json

import pytest

from kubectl_spread.commands.manifests import tables
from tests.merging.compare import RECORDED, differences, upstream
from tests.merging.triples import triples


def test_recorded_answers() -> None:
    recorded = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    answers = [each.pop("answer") for each in recorded]
    assert len(recorded) == 200
    assert 10 < sum("error" in answer for answer in answers) < 100
    assert [*differences(recorded, answers)] == []


@pytest.mark.e2e
def test_upstream_makes_the_same_of_a_triple() -> None:
    drawn = [*triples(7, 2000, tables())]
    assert [*differences(drawn, upstream(drawn))] == []

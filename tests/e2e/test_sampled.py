"""Soft placement on 121 nodes, a few times; ``python -m tests.soak sampled`` does more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.controlplane.binaries import Binaries
from tests.controlplane.client import Client
from tests.controlplane.cluster import control_plane
from tests.e2e.fixes_as_printed import OPTIONS
from tests.e2e.sampled import placements, plans

pytestmark = pytest.mark.e2e

RUNS = 2


@pytest.fixture(scope="module")
def stage(binaries: Binaries) -> Iterator[Client]:
    """A control plane without nodes."""
    with control_plane(OPTIONS, binaries=binaries) as plane:
        yield plane.client()


def test_pods_go_where_check_and_simulate_said(stage: Client) -> None:
    assert list(placements(stage, "even-121", RUNS)) == []


def test_a_soft_plan_ends_as_was_said(stage: Client) -> None:
    assert list(plans(stage, "even-121", 1)) == []

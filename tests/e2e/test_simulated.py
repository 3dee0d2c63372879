"""A dozen scenarios of simulate, done on a real control plane; ``python -m tests.soak simulated`` does all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.controlplane.binaries import Binaries
from tests.controlplane.client import Client
from tests.controlplane.cluster import control_plane
from tests.e2e.simulated import OPTIONS, PRIORITIES, run
from tests.e2e.simulated_scenarios import SCENARIOS

pytestmark = pytest.mark.e2e

NAMES = (
    "drain-one-of-six",
    "drain-two-of-a-host",
    "drain-budget-one-by-one",
    "drain-stateful-stuck",
    "drain-bare-refused",
    "remove-only-node-of-zone",
    "lose-node",
    "scale-past-the-skew",
    "scale-down",
    "restart-surge-25-hashed",
    "restart-one-a-host",
    "mixed-restart-daemons-surge",
)


@pytest.fixture(scope="module")
def stage(binaries: Binaries) -> Iterator[Client]:
    """A control plane without nodes."""
    with control_plane(OPTIONS, binaries=binaries) as plane:
        client = plane.client()
        client.apply(PRIORITIES)
        yield client


@pytest.mark.parametrize("name", NAMES)
def test_comes_as_said(name: str, stage: Client) -> None:
    assert run(stage, SCENARIOS[name], name).differences == []

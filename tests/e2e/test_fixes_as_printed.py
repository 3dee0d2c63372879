"""First fixes of generated Pending Pods, run as printed; ``python -m tests.soak fixes-as-printed`` runs more."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from tests.controlplane.binaries import Binaries
from tests.controlplane.cluster import control_plane
from tests.e2e.fixes_as_printed import OPTIONS, Outcome, run, situations

pytestmark = pytest.mark.e2e

COUNT = 6


@pytest.fixture(scope="module")
def outcomes(binaries: Binaries) -> Sequence[Outcome]:
    """What came of each fix."""
    with control_plane(OPTIONS, binaries=binaries) as plane:
        client = plane.client()
        found = (outcome for each in situations(seed=1) if (outcome := run(client, each)))
        return list(itertools.islice(found, COUNT))


@pytest.mark.parametrize("number", range(COUNT))
def test_the_pod_has_a_node_and_nobody_is_worse_off(number: int, outcomes: Sequence[Outcome]) -> None:
    outcome = outcomes[number]
    assert outcome.wrong == [], outcome.fix["commands"]

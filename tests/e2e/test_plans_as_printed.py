"""Plans for workloads that lie unevenly, run as printed; ``python -m tests.soak plans-as-printed`` runs more."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from tests.controlplane.binaries import Binaries
from tests.controlplane.cluster import control_plane
from tests.e2e.fixes_as_printed import OPTIONS
from tests.e2e.plans_as_printed import Outcome, run, situations

pytestmark = pytest.mark.e2e

COUNT = 5


@pytest.fixture(scope="module")
def outcomes(binaries: Binaries) -> Sequence[Outcome]:
    """What came of each plan."""
    with control_plane(OPTIONS, binaries=binaries) as plane:
        client = plane.client()
        found = (outcome for each in situations(seed=1) if (outcome := run(client, each)))
        return list(itertools.islice(found, COUNT))


@pytest.mark.parametrize("number", range(COUNT))
def test_every_pod_lands_where_it_was_said_and_the_constraints_hold(number: int, outcomes: Sequence[Outcome]) -> None:
    outcome = outcomes[number]
    assert outcome.wrong == [], outcome.report["evictions"]

"""A few workloads of every kind scaled up by one; ``make soak`` scales hundreds."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.controlplane.binaries import Binaries
from tests.controlplane.cluster import control_plane
from tests.e2e.next_pods import OPTIONS, Outcome, run, situations

pytestmark = pytest.mark.e2e

COUNT = 24


@pytest.fixture(scope="module")
def outcomes(binaries: Binaries) -> Sequence[Outcome]:
    """What was said of each workload, and what came of it."""
    with control_plane(OPTIONS, binaries=binaries) as plane:
        return run(plane.client(), situations(COUNT))


@pytest.mark.parametrize("number", range(COUNT))
def test_the_pod_that_comes_is_the_one_that_was_said(number: int, outcomes: Sequence[Outcome]) -> None:
    assert outcomes[number].differences == []


def test_some_are_bound_some_wait_and_some_are_refused(outcomes: Sequence[Outcome]) -> None:
    came = [outcome.came for outcome in outcomes]
    assert sum(pod is not None and "nodeName" in pod["spec"] for pod in came) >= COUNT // 6
    assert sum(pod is not None and "nodeName" not in pod["spec"] for pod in came) >= COUNT // 6
    assert sum(bool(outcome.refused) for outcome in outcomes) >= COUNT // 6

"""A dozen manifests applied to what lives; ``python -m tests.soak applied`` does more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.controlplane.binaries import Binaries
from tests.controlplane.client import Client
from tests.controlplane.cluster import control_plane
from tests.e2e.applied_pairs import OPTIONS, counting, differences, drawn

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def stage(binaries: Binaries) -> Iterator[Client]:
    """A control plane without nodes."""
    with control_plane(OPTIONS, binaries=binaries) as plane:
        yield plane.client()


@pytest.mark.parametrize("seed", range(1, 9))
def test_what_kubectl_apply_makes_of_it_is_what_was_said(seed: int, stage: Client) -> None:
    assert differences(stage, drawn(seed), f"pair-{seed}", offline=seed % 3 == 0)[0] == []


@pytest.mark.parametrize("seed", range(1, 5))
def test_workloads_that_count_each_other_come_as_said(seed: int, stage: Client) -> None:
    assert differences(stage, counting(seed), f"file-{seed}")[0] == []

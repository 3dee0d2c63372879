"""VolumeBinding decides and scores as kube-scheduler does in every situation of tests/testdata/volumebinding."""

from __future__ import annotations

import pytest

from kubectl_spread.objects.storage import PersistentVolumeClaim
from kubectl_spread.scheduler import volumebinding
from kubectl_spread.scheduler.volumebinder import find_pod_volumes, pod_volume_claims
from tests.scheduler.situations import Situation, situations

SITUATIONS = situations("volumebinding")


@pytest.mark.parametrize("situation", SITUATIONS, ids=str)
def test_situation(situation: Situation) -> None:
    assert situation.judged_by(volumebinding.pre_filter) == situation.verdict, situation.about


@pytest.mark.parametrize("situation", [s for s in SITUATIONS if "scores" in s.want], ids=str)
def test_score(situation: Situation) -> None:
    handle = situation.handle
    scores = volumebinding.pre_score(situation.pod, handle, [*handle.node_infos.values()])
    assert (scores or dict.fromkeys(handle.node_infos)) == situation.want["scores"], situation.about


@pytest.mark.parametrize("situation", [s for s in SITUATIONS if "gets" in s.want], ids=str)
def test_each_claim_gets_the_volume_it_should(situation: Situation) -> None:
    handle = situation.handle
    claims = pod_volume_claims(handle.snapshot.all(PersistentVolumeClaim), handle)
    for node, gets in situation.want["gets"].items():
        bindings = find_pod_volumes(claims, handle.node_infos[node], handle).static_bindings
        assert {b.claim.metadata.name: b.volume.metadata.name for b in bindings} == gets, situation.about

"""VolumeBinding binds the volumes that kube-scheduler would."""

from __future__ import annotations

import pytest

from kubectl_spread.objects.storage import PersistentVolumeClaim
from kubectl_spread.scheduler.volumebinder import find_pod_volumes, pod_volume_claims
from tests.scheduler.situations import Situation, situations


@pytest.mark.parametrize("situation", situations("volumebinding", having="gets"), ids=str)
def test_each_claim_gets_the_volume_it_should(situation: Situation) -> None:
    handle = situation.handle
    claims = pod_volume_claims(handle.snapshot.all(PersistentVolumeClaim), handle)
    for node, gets in situation.want["gets"].items():
        bindings = find_pod_volumes(claims, handle.node_infos[node], handle).static_bindings
        assert {b.claim.metadata.name: b.volume.metadata.name for b in bindings} == gets, situation.about

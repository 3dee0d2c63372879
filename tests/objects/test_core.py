"""Nodes, Pods, and what is said of them."""

from __future__ import annotations

import pytest

from kubectl_spread.objects.core import (
    AzureDiskVolumeSource,
    EphemeralVolumeSource,
    GCEPersistentDiskVolumeSource,
    ISCSIVolumeSource,
    PersistentVolumeClaimVolumeSource,
    Pod,
    PodStatus,
    RBDVolumeSource,
    Service,
    Taint,
    Volume,
    VolumeIDSource,
)
from kubectl_spread.objects.decoding import decode
from kubectl_spread.objects.meta import LabelSelector


def test_an_absent_label_selector_is_not_an_empty_one() -> None:
    spec = b'{"spec": {"topologySpreadConstraints": [{}, {"labelSelector": null}, {"labelSelector": {}}]}}'
    selectors = [each.label_selector for each in decode(spec, Pod).spec.topology_spread_constraints]
    assert selectors == [None, None, LabelSelector()]


def test_a_service_without_selector_is_not_one_that_selects_all() -> None:
    assert decode(b'{"spec": {}}', Service).spec.selector is None
    assert decode(b'{"spec": {"selector": {}}}', Service).spec.selector == {}


@pytest.mark.parametrize(
    ("phase", "finished"),
    [("", False), ("Pending", False), ("Running", False), ("Unknown", False), ("Succeeded", True), ("Failed", True)],
)
def test_which_pods_have_ended(*, phase: str, finished: bool) -> None:
    assert Pod(status=PodStatus(phase=phase)).finished is finished


@pytest.mark.parametrize(
    ("taint", "text"),
    [
        (Taint(key="gpu", value="yes", effect="NoSchedule"), "gpu=yes:NoSchedule"),
        (
            Taint(key="node.kubernetes.io/unschedulable", effect="NoExecute"),
            "node.kubernetes.io/unschedulable:NoExecute",
        ),
    ],
)
def test_taints_are_written_as_kubectl_writes_them(taint: Taint, text: str) -> None:
    assert str(taint) == text


CLAIM = PersistentVolumeClaimVolumeSource(claim_name="data")
VOLUMES = [
    (Volume(), "nothing"),
    (Volume(persistent_volume_claim=CLAIM), "claims"),
    (Volume(ephemeral=EphemeralVolumeSource()), "claims"),
    (Volume(gce_persistent_disk=GCEPersistentDiskVolumeSource()), "in tree"),
    (Volume(aws_elastic_block_store=VolumeIDSource()), "in tree"),
    (Volume(cinder=VolumeIDSource()), "in tree"),
    (Volume(azure_disk=AzureDiskVolumeSource()), "in tree"),
    (Volume(portworx_volume=VolumeIDSource()), "in tree"),
    (Volume(iscsi=ISCSIVolumeSource()), "restricts"),
    (Volume(rbd=RBDVolumeSource()), "restricts"),
]


@pytest.mark.parametrize(("volume", "expected"), VOLUMES)
def test_which_volumes_can_keep_a_pod_off_a_node(volume: Volume, expected: str) -> None:
    assert volume.claims is (expected == "claims")
    assert volume.in_tree is (expected == "in tree")
    assert volume.restricts_nodes is (expected != "nothing")


def test_volumes_of_other_sources_restrict_nothing() -> None:
    volumes = b'{"spec": {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "c"}}]}}'
    assert not any(volume.restricts_nodes for volume in decode(volumes, Pod).spec.volumes)

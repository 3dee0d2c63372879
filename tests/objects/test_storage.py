"""Volumes and claims decode to the few fields that decide about nodes, with the API server's defaults."""

from __future__ import annotations

import pytest

from kubectl_spread.objects.core import (
    AzureDiskVolumeSource,
    GCEPersistentDiskVolumeSource,
    ISCSIVolumeSource,
    RBDVolumeSource,
    Volume,
    VolumeIDSource,
)
from kubectl_spread.objects.decoding import Plain, convert
from kubectl_spread.objects.kinds import KINDS
from kubectl_spread.objects.storage import CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass

SOURCES: list[tuple[str, Plain, object]] = [
    (
        "gcePersistentDisk",
        {"pdName": "d", "readOnly": True},
        GCEPersistentDiskVolumeSource(pd_name="d", read_only=True),
    ),
    ("awsElasticBlockStore", {"volumeID": "vol-1", "fsType": "ext4"}, VolumeIDSource(volume_id="vol-1")),
    ("cinder", {"volumeID": "c"}, VolumeIDSource(volume_id="c")),
    ("portworxVolume", {"volumeID": "p"}, VolumeIDSource(volume_id="p")),
    ("azureDisk", {"diskURI": "/disks/a"}, AzureDiskVolumeSource(disk_uri="/disks/a", kind="Shared")),
    ("azureDisk", {"diskURI": "a", "kind": "Managed"}, AzureDiskVolumeSource(disk_uri="a", kind="Managed")),
    ("iscsi", {"iqn": "iqn.2001-04", "lun": 0}, ISCSIVolumeSource(iqn="iqn.2001-04")),
    ("rbd", {"monitors": ["m"], "image": "i"}, RBDVolumeSource(monitors=("m",), pool="rbd", image="i")),
]


@pytest.mark.parametrize(("name", "source", "decoded"), SOURCES)
def test_a_source_that_restricts_nodes_is_decoded(name: str, source: Plain, decoded: object) -> None:
    volume = convert({"name": "v", name: source}, Volume)
    assert decoded in [getattr(volume, field) for field in volume.__struct_fields__]
    assert volume.restricts_nodes
    assert volume.in_tree == (name not in {"iscsi", "rbd"})
    assert not volume.claims


@pytest.mark.parametrize("source", [{"persistentVolumeClaim": {"claimName": "c"}}, {"ephemeral": {}}])
def test_a_claim_restricts_nodes(source: dict[str, Plain]) -> None:
    volume = convert({"name": "v", **source}, Volume)
    assert volume.claims
    assert volume.restricts_nodes
    assert not volume.in_tree


@pytest.mark.parametrize("source", [{"emptyDir": {}}, {"csi": {"driver": "d"}}, {"configMap": {"name": "c"}}])
def test_other_sources_restrict_no_nodes(source: dict[str, Plain]) -> None:
    assert not convert({"name": "v", **source}, Volume).restricts_nodes


@pytest.mark.parametrize(
    ("annotations", "in_spec", "class_name"),
    [({}, "new", "new"), ({"volume.beta.kubernetes.io/storage-class": "old"}, "new", "old"), ({}, "", "")],
)
def test_the_class_in_the_annotation_comes_first(annotations: dict[str, Plain], in_spec: str, class_name: str) -> None:
    values: Plain = {"metadata": {"annotations": annotations}, "spec": {"storageClassName": in_spec}}
    assert convert(values, PersistentVolumeClaim).class_name == class_name
    assert convert(values, PersistentVolume).class_name == class_name


@pytest.mark.parametrize(
    ("volume_name", "annotations", "bound"),
    [
        ("pv", {"pv.kubernetes.io/bind-completed": ""}, True),
        ("pv", {}, False),
        ("", {"pv.kubernetes.io/bind-completed": "yes"}, False),
    ],
)
def test_a_claim_is_bound_when_both_sides_say_so(
    volume_name: str, annotations: dict[str, Plain], *, bound: bool
) -> None:
    claim = convert(
        {"metadata": {"annotations": annotations}, "spec": {"volumeName": volume_name}}, PersistentVolumeClaim
    )
    assert claim.fully_bound is bound


def test_a_class_binds_at_once_unless_it_says_otherwise() -> None:
    assert not convert({"provisioner": "p"}, StorageClass).waits_for_consumer
    assert convert({"volumeBindingMode": "WaitForFirstConsumer"}, StorageClass).waits_for_consumer


def test_migrated_plugins_stand_in_an_annotation() -> None:
    annotation = "storage.alpha.kubernetes.io/migrated-plugins"
    node = convert({"metadata": {"annotations": {annotation: "kubernetes.io/a,kubernetes.io/b"}}}, CSINode)
    assert node.migrated_plugins == {"kubernetes.io/a", "kubernetes.io/b"}
    assert "kubernetes.io/a" not in CSINode().migrated_plugins


def test_storage_is_read_where_the_api_has_it() -> None:
    paths = {kind.name: kind.path("ns") for kind in KINDS if kind.struct.__module__.endswith(".storage")}
    assert paths == {
        "PersistentVolumeClaim": "/api/v1/namespaces/ns/persistentvolumeclaims",
        "PersistentVolume": "/api/v1/persistentvolumes",
        "StorageClass": "/apis/storage.k8s.io/v1/storageclasses",
        "CSINode": "/apis/storage.k8s.io/v1/csinodes",
        "CSIDriver": "/apis/storage.k8s.io/v1/csidrivers",
        "CSIStorageCapacity": "/apis/storage.k8s.io/v1/namespaces/ns/csistoragecapacities",
        "VolumeAttachment": "/apis/storage.k8s.io/v1/volumeattachments",
    }

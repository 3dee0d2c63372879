"""Claims, volumes and classes."""

from __future__ import annotations

import pytest

from kubectl_spread.objects.decoding import decode
from kubectl_spread.objects.meta import AnnotatedMeta
from kubectl_spread.objects.storage import (
    ANN_BIND_COMPLETED,
    ANN_MIGRATED_PLUGINS,
    ANN_STORAGE_CLASS,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeSpec,
    StorageClass,
)


def test_the_annotation_for_the_class_beats_the_field() -> None:
    """Source: component-helpers storage/volume/helpers.go GetPersistentVolumeClaimClass (v1.36)."""
    annotated = AnnotatedMeta(annotations={ANN_STORAGE_CLASS: "old"})
    for claim in (PersistentVolumeClaim, PersistentVolume):
        assert claim().class_name == ""
        assert claim(metadata=annotated).class_name == "old"
    assert PersistentVolumeClaim(spec=PersistentVolumeClaimSpec(storage_class_name="new")).class_name == "new"
    assert PersistentVolume(spec=PersistentVolumeSpec(storage_class_name="new")).class_name == "new"
    both = PersistentVolumeClaim(metadata=annotated, spec=PersistentVolumeClaimSpec(storage_class_name="new"))
    assert both.class_name == "old"


@pytest.mark.parametrize(
    ("volume", "annotations", "bound"),
    [
        ("", {}, False),
        ("pv-1", {}, False),
        ("", {ANN_BIND_COMPLETED: "yes"}, False),
        ("pv-1", {ANN_BIND_COMPLETED: "yes"}, True),
        ("pv-1", {ANN_BIND_COMPLETED: ""}, True),
    ],
)
def test_a_claim_is_bound_when_both_sides_say_so(*, volume: str, annotations: dict[str, str], bound: bool) -> None:
    claim = PersistentVolumeClaim(
        metadata=AnnotatedMeta(annotations=annotations), spec=PersistentVolumeClaimSpec(volume_name=volume)
    )
    assert claim.fully_bound is bound


def test_when_a_class_makes_volumes() -> None:
    assert not StorageClass().waits_for_consumer
    assert decode(b'{"volumeBindingMode": "WaitForFirstConsumer"}', StorageClass).waits_for_consumer


def test_plugins_that_a_driver_serves_instead() -> None:
    migrated = CSINode(metadata=AnnotatedMeta(annotations={ANN_MIGRATED_PLUGINS: "kubernetes.io/a,kubernetes.io/b"}))
    assert migrated.migrated_plugins == {"kubernetes.io/a", "kubernetes.io/b"}
    assert not CSINode().migrated_plugins - {""}

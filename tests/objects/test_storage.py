"""Claims, volumes and classes."""

from __future__ import annotations

import pytest

from kubectl_spread.objects.core import PersistentVolumeClaimSpec
from kubectl_spread.objects.decoding import decode
from kubectl_spread.objects.meta import AnnotatedMeta
from kubectl_spread.objects.storage import (
    ANN_BIND_COMPLETED,
    ANN_DEFAULT_CLASS,
    ANN_MIGRATED_PLUGINS,
    ANN_STORAGE_CLASS,
    ClaimMeta,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    StorageClass,
)


def test_the_annotation_for_the_class_beats_the_field() -> None:
    """Source: component-helpers storage/volume/helpers.go GetPersistentVolumeClaimClass (v1.36)."""
    annotated = ClaimMeta(annotations={ANN_STORAGE_CLASS: "old"})
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
        metadata=ClaimMeta(annotations=annotations), spec=PersistentVolumeClaimSpec(volume_name=volume)
    )
    assert claim.fully_bound is bound


def test_when_a_class_makes_volumes() -> None:
    assert not StorageClass().waits_for_consumer
    assert decode(b'{"volumeBindingMode": "WaitForFirstConsumer"}', StorageClass).waits_for_consumer


@pytest.mark.parametrize(
    ("document", "wants"),
    [
        (b'{"spec": {}}', True),
        (b'{"spec": {"storageClassName": null}}', True),
        (b'{"spec": {"storageClassName": ""}}', False),
        (b'{"spec": {"storageClassName": "fast"}}', False),
        (b'{"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": ""}}}', False),
    ],
)
def test_only_a_claim_that_says_nothing_wants_the_default_class(*, document: bytes, wants: bool) -> None:
    assert decode(document, PersistentVolumeClaim).wants_default_class is wants


@pytest.mark.parametrize("annotation", ANN_DEFAULT_CLASS)
def test_an_annotation_marks_the_default_class(annotation: str) -> None:
    assert StorageClass(metadata=AnnotatedMeta(annotations={annotation: "true"})).is_default
    assert not StorageClass(metadata=AnnotatedMeta(annotations={annotation: "false"})).is_default
    assert not StorageClass().is_default


def test_plugins_that_a_driver_serves_instead() -> None:
    migrated = CSINode(metadata=AnnotatedMeta(annotations={ANN_MIGRATED_PLUGINS: "kubernetes.io/a,kubernetes.io/b"}))
    assert migrated.migrated_plugins == {"kubernetes.io/a", "kubernetes.io/b"}
    assert not CSINode().migrated_plugins - {""}

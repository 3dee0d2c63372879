"""What keeps a claim from being matched at all; which volume it gets stands in tests/testdata/volumebinding."""

from __future__ import annotations

import pytest

from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_spread.scheduler.volumematching import candidates
from tests.build_storage import claim, volume


def test_a_selector_that_cannot_be_read_is_an_error() -> None:
    selector = {"matchExpressions": [{"key": "tier", "operator": "Near"}]}
    wanting = convert(claim("data", selector=selector), PersistentVolumeClaim)
    with pytest.raises(ValueError, match=r"error creating internal label selector for claim: default/data: .*Near"):
        candidates(wanting, [], attributes_classes=True)


def test_volumes_of_one_size_keep_their_order() -> None:
    volumes = [convert(volume(name, size=size), PersistentVolume) for name, size in (("b", "1024Mi"), ("a", "1Gi"))]
    found = candidates(convert(claim("data"), PersistentVolumeClaim), volumes, attributes_classes=True)
    assert [candidate.volume.metadata.name for candidate in found] == ["b", "a"]

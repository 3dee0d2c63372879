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
    assert [candidate.volume.metadata.name for candidate in found.ranked] == ["b", "a"]


NOT_BY_ONE_LABEL = {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "rack", "operator": "Exists"}]}]}}
BY_EITHER_LABEL = {
    "required": {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": "rack", "operator": "In", "values": ["r1"]}]},
            {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z1"]}]},
        ]
    }
}


@pytest.mark.parametrize(
    ("labels", "near"),
    [
        ({}, ["anywhere", "not-by-one-label", "by-either-label"]),
        ({"host": "a"}, ["anywhere", "here", "not-by-one-label", "by-either-label"]),
        ({"host": "b", "rack": "r2"}, ["anywhere", "here", "not-by-one-label", "there", "by-either-label"]),
    ],
)
def test_a_node_looks_only_at_volumes_it_may_be_able_to_use(labels: dict[str, str], near: list[str]) -> None:
    volumes = [
        volume("by-either-label", size="5Gi", nodeAffinity=BY_EITHER_LABEL),
        volume("there", size="4Gi", usable_on={"host": ["b"]}),
        volume("not-by-one-label", size="3Gi", nodeAffinity=NOT_BY_ONE_LABEL),
        volume("here", size="2Gi", usable_on={"host": ["a", "b"]}),
        volume("anywhere", size="1Gi"),
    ]
    typed = [convert(described, PersistentVolume) for described in volumes]
    found = candidates(convert(claim("data"), PersistentVolumeClaim), typed, attributes_classes=True)
    assert [candidate.volume.metadata.name for candidate in found.near(labels)] == near

"""JSON patches on objects, and how their paths are told."""

from __future__ import annotations

import pytest

from kubectl_spread.diagnosis.fixes.change import PatchOperation
from kubectl_spread.diagnosis.fixes.patch import append, field_of, patched, pointer, remove, set_to
from tests.build import pod, typed_pod

POD = typed_pod(pod("p", labels={"a/b": "1"}, tolerations=[{"key": "x"}, {"key": "y"}]))


def keys(*operations: PatchOperation) -> list[str]:
    """Return the keys of the Pod's tolerations after the operations."""
    return [toleration.key for toleration in patched(POD, operations).spec.tolerations]


def test_items_are_added_replaced_and_removed() -> None:
    assert keys(append("/spec/tolerations", POD.spec.tolerations, {"key": "z"})) == ["x", "y", "z"]
    assert keys(set_to("/spec/tolerations/0", {"key": "z"})) == ["z", "x", "y"]
    assert keys(PatchOperation(op="replace", path="/spec/tolerations/0", value={"key": "z"})) == ["z", "y"]
    assert keys(remove("/spec/tolerations/0")) == ["y"]
    assert keys(append("/spec/tolerations", (), {"key": "z"})) == ["z"]


def test_fields_are_set_and_removed() -> None:
    path = pointer("metadata", "labels", "a/b")
    assert patched(POD, [set_to(path, "2")]).metadata.labels == {"a/b": "2"}
    assert patched(POD, [remove(path)]).metadata.labels == {}


@pytest.mark.parametrize("path", ["/spec/nodeSelector/disk", "/spec/tolerations/7", "/spec/nothing/here"])
def test_what_is_not_there_cannot_be_removed(path: str) -> None:
    with pytest.raises(LookupError):
        patched(POD, [remove(path)])


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/spec/topologySpreadConstraints/0/maxSkew", "spec.topologySpreadConstraints[0].maxSkew"),
        ("/spec/tolerations/-", "spec.tolerations"),
        ("/metadata/labels/a~1b", "metadata.labels[a/b]"),
    ],
)
def test_a_path_is_told_as_the_api_writes_fields(path: str, field: str) -> None:
    assert field_of(path) == field

"""What holds for every object: defaults, immutability, the API's names."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re

import msgspec
import pytest

from kubectl_spread import objects
from kubectl_spread.objects.core import (
    AzureDiskVolumeSource,
    ContainerPort,
    InTreeVolumeSources,
    NodeAffinity,
    PodAffinity,
    VolumeIDSource,
)
from kubectl_spread.objects.decoding import ListMeta, decode
from kubectl_spread.objects.meta import Struct

MODULES = [
    importlib.import_module(f"{objects.__name__}.{each.name}") for each in pkgutil.iter_modules(objects.__path__)
]
STRUCTS = sorted(
    {
        struct
        for module in MODULES
        for _, struct in inspect.getmembers(module, inspect.isclass)
        if issubclass(struct, Struct)
    },
    key=lambda struct: struct.__qualname__,
)


def test_there_are_objects() -> None:
    assert len(STRUCTS) > 50


@pytest.mark.parametrize("struct", STRUCTS, ids=[struct.__name__ for struct in STRUCTS])
class TestEveryStruct:
    """Each of them."""

    def test_an_empty_object_has_the_defaults(self, struct: type[Struct]) -> None:
        assert decode(b"{}", struct) == struct()
        assert decode(b'{"aFieldOfANewerRelease": [{}]}', struct) == struct()

    def test_its_names_are_the_apis(self, struct: type[Struct]) -> None:
        assert [
            name
            for name in struct.__struct_encode_fields__
            if not re.fullmatch(r"(f:)?[a-z][A-Za-z]*(V1)?|f:[a-z./-]+|spread\.kubectl\.dev/[a-z]+", name)
        ] == []

    def test_it_cannot_be_changed(self, struct: type[Struct]) -> None:
        instance = struct()
        for name in struct.__struct_fields__:
            with pytest.raises(AttributeError, match="immutable"):
                setattr(instance, name, None)

    def test_a_null_is_a_field_left_out(self, struct: type[Struct]) -> None:
        nulls = dict.fromkeys(struct.__struct_encode_fields__)
        assert decode(msgspec.json.encode(nulls), struct) == struct()


@pytest.mark.parametrize(
    ("struct", "names"),
    [
        (ContainerPort, {"containerPort", "hostPort", "hostIP", "protocol"}),
        (VolumeIDSource, {"volumeID"}),
        (AzureDiskVolumeSource, {"diskURI", "kind"}),
        (InTreeVolumeSources, {"gcePersistentDisk", "awsElasticBlockStore", "cinder", "azureDisk", "portworxVolume"}),
        (
            NodeAffinity,
            {"requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"},
        ),
        (
            PodAffinity,
            {"requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"},
        ),
        (ListMeta, {"resourceVersion", "continue", "remainingItemCount"}),
    ],
)
def test_names_that_do_not_follow_the_rule(struct: type[Struct], names: set[str]) -> None:
    assert set(struct.__struct_encode_fields__) == names

"""The table of field numbers that ships is that of upstream's files, and complete for what is decoded."""

from __future__ import annotations

import msgspec
import pytest

from kubectl_spread.objects.protobuf_fields import MESSAGES
from tests.protobuf import NOT_OF_PODS, ROOTS, Field, parsed, struct_of, text_of, used

FILE = """
// Pod is a collection of containers.
message Pod {
  // Standard object's metadata. optional string comment = 9;
  optional .k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1;

  map<string, .k8s.io.apimachinery.pkg.api.resource.Quantity> room = 12;
  map<string, string> labels = 13;
  repeated Container containers = 2;
}

message Container {
  optional int32 port = 4;
}
"""


def test_fields_are_read_with_their_types() -> None:
    assert parsed(FILE) == {
        "Pod": {
            "metadata": Field(1, "ObjectMeta"),
            "room": Field(12, "map Quantity"),
            "labels": Field(13, "map string"),
            "containers": Field(2, "repeated Container"),
        },
        "Container": {"port": Field(4, "int32")},
    }


def test_the_table_is_written_as_it_ships() -> None:
    messages = {name: {field: Field(*of) for field, of in fields.items()} for name, fields in MESSAGES.items()}
    assert used(messages) == messages
    scope: dict[str, object] = {}
    exec(text_of(messages), scope)  # noqa: S102 - what was written just now
    assert scope["MESSAGES"] == MESSAGES


@pytest.mark.parametrize("root", ROOTS)
def test_every_field_that_is_decoded_has_a_number(root: str) -> None:
    waiting, seen = [(root, ROOTS[root])], set()
    while waiting:
        name, struct = waiting.pop()
        if (name, struct) in seen:
            continue
        seen.add((name, struct))
        fields = _with_inlined(name)
        for field in msgspec.structs.fields(struct):  # type: ignore[arg-type]
            # A Status' kind stands beside the object.
            if (name, field.encode_name) not in {("Status", "kind"), *NOT_OF_PODS}:
                of = fields[field.encode_name][1].rpartition(" ")[2]
                inner = struct_of(field.type)
                waiting += [(of, inner)] if inner else []
    assert seen


def _with_inlined(name: str) -> dict[str, tuple[int, str]]:
    """Return the fields of a message, and those of the messages inlined in it."""
    inlined = {"Volume": ("VolumeSource",), "EphemeralContainer": ("EphemeralContainerCommon",)}.get(name, ())
    return {field: of for each in (name, *inlined) for field, of in MESSAGES[each].items()}

"""The tables of fields that ship are those of the API's own documents."""

import json
from importlib.resources import files

import pytest

from tests import openapi
from tests.controlplane.api import Object

_CORE = "io.k8s.api.core.v1"


def document(**fields: Object) -> Object:
    """Return an OpenAPI document of one kind, whose spec has these fields."""
    spec = {"type": "object", "properties": fields}
    box = {
        "type": "object",
        "properties": {"spec": {"$ref": f"#/definitions/{_CORE}.BoxSpec"}},
        "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Box"}],
    }
    return {"definitions": {f"{_CORE}.Box": box, f"{_CORE}.BoxSpec": spec}}


def test_fields_of_several_releases() -> None:
    quantity = {"$ref": "#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity"}
    old = document(size=quantity, gone={"type": "boolean"})
    new = document(
        size=quantity, tags={"type": "array", "items": {"type": "string"}, "x-kubernetes-patch-strategy": "merge"}
    )
    assert json.loads(openapi.text_of({33: old, 34: new})) == {
        "releases": [33, 34],
        "kinds": {"v1 Box": "core.v1.Box"},
        "definitions": {
            "core.v1.Box": {"spec": "core.v1.BoxSpec"},
            "core.v1.BoxSpec": {"gone": ["boolean", 33, 33], "size": "quantity", "tags": ["[]string", 34, 34]},
        },
        "merges": {"core.v1.BoxSpec": {"tags": "merge:"}},
    }


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "integer", "format": "int32"}, "int32"),
        ({"type": "number", "format": "double"}, "double"),
        ({"type": "string", "format": "byte"}, "byte"),
        ({"type": "object"}, "any"),
        ({"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}}, "{}[]string"),
    ],
)
def test_types(schema: Object, kind: str) -> None:
    made = json.loads(openapi.text_of({33: document(field=schema)}))
    assert made["definitions"]["core.v1.BoxSpec"] == {"field": kind}


@pytest.mark.e2e
def test_what_ships_is_what_upstream_publishes() -> None:
    shipped = files("kubectl_spread").joinpath("schema", "fields.json").read_text(encoding="utf-8")
    assert shipped == openapi.text_of(openapi.documents())

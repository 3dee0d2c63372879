"""What explain says of the fields of ``-o json``."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from kubectl_spread.render.json_fields import fields_named, json_fields
from kubectl_spread.wording.reference import common_fields, entries_named

SHIPPED = json.loads(files("kubectl_spread").joinpath("schema", "report.v1alpha2.json").read_text(encoding="utf-8"))
IN_SCHEMA = {(of, name) for of, each in SHIPPED["$defs"].items() for name in each.get("properties", ())}


def test_every_field_of_the_schema_means_something() -> None:
    found = list(json_fields())
    assert {(field.of, field.name) for field in found} == IN_SCHEMA
    assert all(field.meaning for field in found)


def test_every_field_of_the_schema_is_explained() -> None:
    named = {field.name for field in json_fields()}
    assert all(name in named or entries_named(name) for _, name in IN_SCHEMA)


def test_what_is_common_is_said_of_fields_that_there_are() -> None:
    assert set(common_fields()) <= {name for _, name in IN_SCHEMA}


def test_a_field_has_the_words_of_its_type_and_of_those_that_it_extends() -> None:
    (replicas,) = (field for field in fields_named("replicas") if field.of == "PendingItem")
    assert replicas.meaning.startswith("how many Pods its workload wants, and how many run; absent if")
    (conflict,) = (field for field in fields_named("conflict") if field.of == "PendingItem")
    assert conflict.meaning.startswith("the fewest requirements that together leave no node")


@pytest.mark.parametrize("name", ["selfMatch", "SELFMATCH", ".items[0].constraints[0].selfMatch"])
def test_a_field_is_known_by_its_name_and_its_path(name: str) -> None:
    assert [(field.of, field.name) for field in fields_named(name)] == [("ConstraintDiagnosis", "selfMatch")]

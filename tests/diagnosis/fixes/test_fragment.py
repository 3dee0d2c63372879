"""What is written where a source is: plain YAML that every reader takes as it is meant."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.diagnosis.fixes.fragment import difference, removed, yaml_lines
from kubectl_spread.objects.meta import Plain

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), TEXT)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=12,
)


@given(VALUES)
def test_it_reads_as_it_was_written(value: Plain) -> None:
    assert yaml.safe_load("\n".join(yaml_lines(value))) == value


@pytest.mark.parametrize("text", ["yes", "Off", "null", "1.5", "2026-11-20", "0x1f", "a: b", "- a", "# a", "", "1_000"])
def test_text_that_could_be_something_else_is_quoted(text: str) -> None:
    assert yaml.safe_load("\n".join(yaml_lines({"key": text}))) == {"key": text}


def test_only_what_differs_is_written_with_the_path_to_it() -> None:
    before: Plain = {"spec": {"replicas": 2, "containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]}}
    after: Plain = {"spec": {"replicas": 2, "containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "z"}]}}
    assert difference(before, after) == {"spec": {"containers": [{"name": "b", "image": "z"}]}}


def test_lists_without_names_are_written_whole() -> None:
    before: Plain = {"constraints": [{"key": "zone", "maxSkew": 1}, {"key": "host", "maxSkew": 1}]}
    after: Plain = {"constraints": [{"key": "zone", "maxSkew": 2}, {"key": "host", "maxSkew": 1}]}
    assert difference(before, after) == after


def test_what_only_lacks_a_field_is_not_written() -> None:
    before: Plain = {"spec": {"paused": True, "containers": [{"name": "a", "args": {"x": 1}}], "volumes": {}}}
    after: Plain = {"spec": {"containers": [{"name": "a", "args": {}}], "volumes": {}}}
    assert difference(before, after) == {}
    assert difference({"spec": {}}, {"spec": {"emptyDir": {}, "tolerations": [], "x": False}}) == {
        "spec": {"emptyDir": {}, "tolerations": [], "x": False}
    }


def test_what_has_to_go_is_named_by_its_path() -> None:
    assert [*removed({"spec": {"a": 1, "b": {"c": 2, "d": 3}}}, {"spec": {"b": {"d": 3}}})] == ["spec.a", "spec.b.c"]

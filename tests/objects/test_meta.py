"""Identity, ownership and label selectors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.labels import EVERYTHING, NOTHING, Operator, Requirement
from kubectl_spread.objects.decoding import decode
from kubectl_spread.objects.meta import (
    AnnotatedMeta,
    LabelSelector,
    LabelSelectorRequirement,
    ObjectMeta,
    OwnerReference,
    label_requirement,
    parse_label_selector,
)


def expression(key: str, operator: str, *values: str) -> LabelSelectorRequirement:
    return LabelSelectorRequirement(key=key, operator=operator, values=values)


def test_metadata_is_read_with_its_owners() -> None:
    metadata = decode(
        b'{"name": "web-1", "generateName": "web-", "namespace": "shop", "uid": "1", "labels": {"app": "web"},'
        b' "creationTimestamp": "2026-01-02T03:04:05Z", "annotations": {"a": "b"},'
        b' "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "2",'
        b' "controller": true, "blockOwnerDeletion": true}]}',
        AnnotatedMeta,
    )
    owner = OwnerReference(api_version="apps/v1", kind="ReplicaSet", name="web", uid="2", controller=True)
    assert metadata == AnnotatedMeta(
        name="web-1",
        generate_name="web-",
        namespace="shop",
        uid="1",
        labels={"app": "web"},
        creation_timestamp="2026-01-02T03:04:05Z",
        annotations={"a": "b"},
        owner_references=(owner,),
    )


def test_the_controller_is_the_owner_that_manages() -> None:
    other, manager = OwnerReference(name="a"), OwnerReference(name="b", controller=True)
    assert ObjectMeta().controller is None
    assert ObjectMeta(owner_references=(other,)).controller is None
    assert ObjectMeta(owner_references=(other, manager)).controller is manager


def test_an_absent_selector_selects_nothing_and_an_empty_one_everything() -> None:
    assert parse_label_selector(None) == NOTHING
    assert parse_label_selector(LabelSelector()) == EVERYTHING


def test_a_selector_is_its_labels_and_its_expressions() -> None:
    selector = LabelSelector(
        match_labels={"tier": "front", "app": "web"},
        match_expressions=(
            expression("size", "In", "s", "m"),
            expression("phase", "NotIn", "old"),
            expression("region", "Exists"),
            expression("canary", "DoesNotExist"),
        ),
    )
    text = "app=web,tier=front,size in (m,s),phase!=old,region,!canary"
    assert str(parse_label_selector(selector)) == text


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (expression("a", "Gt", "1"), "'Gt' is not a valid label selector operator"),
        (expression("a", ""), "'' is not a valid label selector operator"),
        (expression("a", "in", "b"), "'in' is not a valid label selector operator"),
        (expression("a", "In"), "values must be set for operator In"),
        (expression("a", "NotIn"), "values must be set for operator NotIn"),
        (expression("a", "Exists", "b"), "values must not be set for operator Exists"),
        (expression("a", "DoesNotExist", ""), "values must not be set for operator DoesNotExist"),
    ],
)
def test_an_expression_that_does_not_fit_together_is_refused(bad: LabelSelectorRequirement, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{reason}$"):
        label_requirement(bad)
    with pytest.raises(ValueError, match=f"^{reason}$"):
        parse_label_selector(LabelSelector(match_expressions=(bad,)))


@given(values=st.lists(st.text(max_size=3), min_size=1))
def test_neither_order_nor_repetition_of_values_matters(values: list[str]) -> None:
    once = Requirement("a", Operator.IN, frozenset(values))
    assert label_requirement(expression("a", "In", *values)) == once
    assert label_requirement(expression("a", "In", *reversed(values), values[0])) == once

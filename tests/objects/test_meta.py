"""Identity, ownership and label selectors."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.apimachinery import label_key_faults, label_value_faults
from kubectl_spread.labels import EVERYTHING, NOTHING, Operator, Selector, SelectorRequirement
from kubectl_spread.objects.meta import (
    KubernetesObject,
    LabelSelector,
    LabelSelectorRequirement,
    ObjectMeta,
    OwnerReference,
    name_order,
    once,
    parse_label_selector,
)


def expression(key: str, operator: str, *values: str) -> LabelSelectorRequirement:
    return LabelSelectorRequirement(key=key, operator=operator, values=values)


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


NO_VALUES = "values set must be empty for exists and does not exist"
KEY_RULE = "".join(label_key_faults("-")).removeprefix("name part ")
VALUE_RULE = "".join(label_value_faults("-"))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (expression("a", "Gt", "1"), '"Gt" is not a valid label selector operator'),
        (expression("a", ""), '"" is not a valid label selector operator'),
        (expression("a", "in", "b"), '"in" is not a valid label selector operator'),
        (expression("a", "In"), "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"),
        (expression("a", "Exists", "b"), f'values: Invalid value: ["b"]: {NO_VALUES}'),
        (expression("a", "DoesNotExist", ""), f'values: Invalid value: [""]: {NO_VALUES}'),
        (expression("a", "In", "b", "{{.c.}}"), f'values[1][a]: Invalid value: "{{{{.c.}}}}": {VALUE_RULE}'),
        (expression("", "Exists"), f'key: Invalid value: "": name part must be non-empty; name part {KEY_RULE}'),
        (
            expression("-", "NotIn", "d e"),
            f'[key: Invalid value: "-": name part {KEY_RULE}, values[0][-]: Invalid value: "d e": {VALUE_RULE}]',
        ),
    ],
)
def test_an_expression_that_does_not_fit_together_is_refused(bad: LabelSelectorRequirement, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
        parse_label_selector(LabelSelector(match_expressions=(bad,)))


@given(values=st.lists(st.from_regex(r"[a-z0-9]{0,3}", fullmatch=True), min_size=1))
def test_neither_order_nor_repetition_of_values_matters(values: list[str]) -> None:
    wanted = Selector((SelectorRequirement("a", Operator.IN, frozenset(values)),))
    for listed in (values, [*reversed(values), values[0]]):
        assert parse_label_selector(LabelSelector(match_expressions=(expression("a", "In", *listed),))) == wanted


def test_one_and_the_same_part_comes_once_at_its_first_place() -> None:
    first, second = OwnerReference(name="a"), OwnerReference(name="b")
    assert once(iter([first, second, first])) == (first, second)


def test_equal_parts_are_told_apart() -> None:
    assert len(once([{"cpu": "1"}, {"cpu": "1"}])) == 2
    assert once([]) == ()


def test_ordinals_are_numbers_and_namespaces_come_first() -> None:
    keys = [("a", "db-10"), ("a", "db"), ("a", "db-3"), ("a", "web-2x9"), ("a", "web-10x2"), ("b", "db-1")]
    objects = [KubernetesObject(metadata=ObjectMeta(namespace=namespace, name=name)) for namespace, name in keys]
    assert [each.metadata.name for each in sorted(objects, key=name_order)] == [
        *("db", "db-3", "db-10", "web-10x2", "web-2x9", "db-1")
    ]

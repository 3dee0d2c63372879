"""Conclusions become JSON: renamed, with texts added and fields left out, at any depth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
import pytest
from pytest_mock import MockerFixture

from kubectl_spread.contract import form
from kubectl_spread.contract.form import meanings, plan_of, to_form
from kubectl_spread.contract.leaf import Leaf

if TYPE_CHECKING:
    from decimal import Decimal


class Inner(msgspec.Struct, frozen=True, kw_only=True):
    """A cause."""

    node_name: str
    hidden: Decimal | None = None


class Other(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", rename="camel"):
    """Another cause."""

    some_number: int = 1


class Outer(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """A conclusion."""

    why_not: Inner | None
    causes: tuple[Other, ...] = ()
    by_name: dict[str, Inner] = {}


HIDDEN = Leaf(left_out=frozenset({"hidden"}))


def message(cause: Inner, flags: Sequence[str]) -> str:
    """The cause, in a sentence."""
    return " ".join(("on", cause.node_name, *flags))


@pytest.fixture(autouse=True)
def _leaves(mocker: MockerFixture) -> Iterator[None]:
    mocker.patch.object(form, "LEAVES", {Inner: Leaf((message,)) | HIDDEN})
    plan_of.cache_clear()
    yield
    plan_of.cache_clear()


def test_a_conclusion_that_differs_nowhere_is_its_own_form() -> None:
    other = Other()
    assert to_form(other) is other


def test_fields_are_added_left_out_and_renamed_at_any_depth() -> None:
    inner = Inner(node_name="a1")
    form = to_form((Outer(why_not=inner, by_name={"x": inner}),), ("--context", "c"))
    in_json = {"nodeName": "a1", "message": "on a1 --context c"}
    wanted = {"kind": "Outer", "whyNot": in_json, "causes": [], "byName": {"x": in_json}}
    assert msgspec.json.decode(msgspec.json.encode(form)) == [wanted]


def test_an_added_field_has_the_place_of_the_one_that_it_stands_for(mocker: MockerFixture) -> None:
    def some_number(other: Other) -> str:
        return f"number {other.some_number}"

    mocker.patch.object(
        form, "LEAVES", {Inner: HIDDEN, Outer: Leaf(added=(causes,)), Other: Leaf(added=(some_number,))}
    )
    encoded_form = to_form(Outer(why_not=None, causes=(Other(),)))
    encoded = b'{"kind":"Outer","whyNot":null,"causes":[{"kind":"Other","someNumber":"number 1"}],"byName":{}}'
    assert msgspec.json.encode(encoded_form) == encoded


def causes(outer: Outer) -> tuple[Other, ...]:
    """The causes, the last one first."""
    return tuple(reversed(outer.causes))


def test_the_schema_is_that_of_the_form() -> None:
    _, definitions = msgspec.json.schema_components([plan_of(Inner).form], ref_template="#/$defs/{name}")
    assert definitions["Inner"]["properties"].keys() == {"nodeName", "message"}
    assert definitions["Inner"]["required"] == ["nodeName", "message"]


def test_an_added_field_means_what_its_function_says() -> None:
    assert meanings(plan_of(Inner).form) == {"message": "The cause, in a sentence"}
    assert form.mapped(int | str) == int | str

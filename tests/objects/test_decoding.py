"""Objects decode from bytes and from plain values alike, and every error names the field."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from kubectl_spread.objects.core import Pod, PodSpec
from kubectl_spread.objects.decoding import DecodeError, ListMeta, convert, decode, plain
from kubectl_spread.objects.meta import ObjectMeta, Plain

WRONG_TYPES: list[tuple[Plain, str]] = [
    ([], "must be a mapping, not a list"),
    ("Pod", "must be a mapping, not a string"),
    (None, "must be a mapping, not null"),
    ({"metadata": 5}, "metadata: must be a mapping, not an integer"),
    ({"metadata": {"name": 5}}, "metadata.name: must be a string, not an integer (quote it)"),
    ({"metadata": {"name": True}}, "metadata.name: must be a string, not a boolean (quote it)"),
    ({"metadata": {"name": 1.5}}, "metadata.name: must be a string, not a number (quote it)"),
    ({"metadata": {"name": []}}, "metadata.name: must be a string, not a list"),
    ({"metadata": {"labels": ["app"]}}, "metadata.labels: must be a mapping, not a list"),
    (
        {"metadata": {"labels": {"app": "web", "tier": 5}}},
        "metadata.labels.tier: must be a string, not an integer (quote it)",
    ),
    (
        {"metadata": {"labels": {"app.kubernetes.io/version": 1.5, "tier": 5}}},
        "metadata.labels[app.kubernetes.io/version]: must be a string, not a number (quote it)",
    ),
    ({"metadata": {"labels": {"app": {}}}}, "metadata.labels.app: must be a string, not a mapping"),
    (
        {"spec": {"containers": [{}, {"resources": {"requests": {"memory": "1Gi", "cpu": False}}}]}},
        "spec.containers[1].resources.requests.cpu: must be a string or a number, not a boolean",
    ),
    ({"spec": {"priority": "high"}}, "spec.priority: must be an integer, not a string"),
    ({"spec": {"priority": 1.5}}, "spec.priority: must be an integer, not a number"),
    ({"spec": {"hostNetwork": "yes"}}, "spec.hostNetwork: must be a boolean, not a string"),
    ({"spec": {"affinity": []}}, "spec.affinity: must be a mapping, not a list"),
    ({"spec": {"tolerations": [None]}}, "spec.tolerations[0]: must be a mapping, not null"),
    (
        {"spec": {"topologySpreadConstraints": [{"maxSkew": 1}, {"maxSkew": 1, "labelSelector": {"matchLabels": 1}}]}},
        "spec.topologySpreadConstraints[1].labelSelector.matchLabels: must be a mapping, not an integer",
    ),
]


@pytest.mark.parametrize(("values", "error"), WRONG_TYPES, ids=[error for _, error in WRONG_TYPES])
def test_a_field_of_the_wrong_type_is_named(values: Plain, error: str) -> None:
    with pytest.raises(DecodeError) as of_values:
        convert(values, Pod)
    with pytest.raises(DecodeError) as of_bytes:
        decode(json.dumps(values).encode(), Pod)
    assert str(of_values.value) == str(of_bytes.value) == error


# Text → as kubectl v1.36 sends it.
NUMBERS = {"3.0": 3, "3e0": 3, "1E3": 1000, "-0.0": 0}


@pytest.mark.parametrize("number", NUMBERS)
def test_a_whole_number_is_an_integer_however_it_is_written(number: str) -> None:
    document = f'{{"spec": {{"priority": {number}, "overhead": {{"cpu": 1.5}}}}}}'.encode()
    assert decode(document, Pod).spec == PodSpec(priority=NUMBERS[number], overhead={"cpu": 1.5})


def test_a_whole_number_that_go_writes_with_an_exponent_is_no_integer() -> None:
    with pytest.raises(DecodeError) as raised:
        decode(b'{"spec": {"priority": 1e21}}', Pod)
    assert str(raised.value) == "spec.priority: must be an integer, not a number"


def test_an_error_keeps_field_and_reason_apart() -> None:
    with pytest.raises(DecodeError) as raised:
        convert({"metadata": {"name": 5}}, Pod)
    assert raised.value.field_path == "metadata.name"
    assert raised.value.reason == "must be a string, not an integer (quote it)"


def test_a_complaint_about_something_else_than_a_type_keeps_its_words() -> None:
    with pytest.raises(DecodeError, match=r"^Expected `array` of length 2, got 1$"):
        convert([1], tuple[int, int])


NULLS: list[tuple[Plain, ObjectMeta]] = [
    ({"name": None, "labels": None, "ownerReferences": None}, ObjectMeta()),
    ({"labels": {"app": None, "tier": "front"}}, ObjectMeta(labels={"app": "", "tier": "front"})),
]


@pytest.mark.parametrize(("metadata", "expected"), NULLS)
def test_nulls_count_as_absent_and_as_empty_label_values(metadata: Plain, expected: ObjectMeta) -> None:
    """Source: encoding/json leaves the zero value where it reads null, and makes the map's entry."""
    values: Plain = {"metadata": metadata, "spec": {"nodeName": None}}
    assert convert(values, Pod) == decode(json.dumps(values).encode(), Pod) == Pod(metadata=expected)


NOT_JSON = {
    "cut off": b'{"metadata": {"name": "a"',
    "two values": b"{} {}",
    "single quotes": b"{'metadata': {}}",
    "not UTF-8": b'{"metadata": {"name": "\xff"}}',
    "nested too deep": b'{"metadata": {"labels": ' + b"[" * 100_000,
    "too deep in an unknown field": b'{"x": ' + b"[" * 100_000,
    "number out of range": b'{"metadata": {"name": 5}, "x": 1e999}',
}


@pytest.mark.parametrize("document", NOT_JSON.values(), ids=NOT_JSON)
@pytest.mark.parametrize("read", [plain, lambda document: decode(document, Pod)], ids=["plain", "decode"])
def test_bytes_that_are_not_json_are_refused(document: bytes, read: Callable[[bytes], object]) -> None:
    with pytest.raises(DecodeError, match="not valid JSON: "):
        read(document)


@pytest.mark.parametrize("inner", ["labels", "annotations"])
def test_values_nested_too_deep_are_refused(inner: str) -> None:
    nested: Plain = []
    for _ in range(20_000):
        nested = [nested]
    with pytest.raises(DecodeError, match="is nested too deep"):
        convert({"metadata": {inner: nested}}, Pod)


def test_fields_nobody_reads_are_ignored() -> None:
    assert decode(b'{"apiVersion": "v1", "kind": "Pod", "spec": {"dnsPolicy": 5}}', Pod) == Pod()


def test_a_page_of_a_list_says_where_to_go_on() -> None:
    meta = decode(b'{"resourceVersion": "10", "continue": "abc", "remainingItemCount": 3}', ListMeta)
    assert meta == ListMeta(resource_version="10", continue_="abc", remaining_item_count=3)

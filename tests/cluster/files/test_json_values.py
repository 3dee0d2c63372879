"""JSON documents are cut apart without being decoded, and strict where people write them."""

from __future__ import annotations

import json
import sys
import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.cluster.files.json_values import JsonError, elements, split, strict_values
from kubectl_spread.objects.meta import Plain


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b" \r\n\t", []),
        (b'{"a": 1}', [{"a": 1}]),
        (b'\n{"a": 1}\n', [{"a": 1}]),
        (b'{"a": 1}{"b": [2]} {"c": "}{"}', [{"a": 1}, {"b": [2]}, {"c": "}{"}]),
        (b'{"a": 1}\n{"b": 2}\n', [{"a": 1}, {"b": 2}]),
        (b'---\n{"a": 1}\n--- # next\r\n---\n{"b": 2}\n---', [{"a": 1}, {"b": 2}]),
        (b'{"a": null} 5 "x" [1]', [{"a": None}, 5, "x", [1]]),
        (b'{"a": 3.0, "b": [1e3, 1.5, 1e21]}', [{"a": 3, "b": [1000, 1.5, 1e21]}]),
    ],
)
def test_documents_need_nothing_between_them(content: bytes, expected: list[Plain]) -> None:
    documents = list(split(content))
    assert list(map(strict_values, documents)) == expected


NOT_JSON = {
    b'{"a": 1': "is cut off: the JSON ends in the middle of a value",
    b'{"a": 1}\n{"b"': "is cut off: the JSON ends in the middle of a value",
    b'{"a": 1}\n{"b":: 2}': "is not valid JSON: line 2, column 6: invalid character",
    b'{"a": 1}\n\n  }': "is not valid JSON: line 3, column 3: invalid character",
    b'{"a": NaN}': "is not valid JSON: line 1, column 7: invalid character",
    b"{a: 1}": "is not valid JSON: line 1, column 2: expected '\"'",
    b'{"a": 1,}': "is not valid JSON: line 1, column 9: trailing comma in object",
    b'{"a": 1}\n----\n{}': "is not valid JSON: line 2, column 2: invalid character",
    b'{"a": ' + b"[" * 100_000: "is nested too deep",
}


@pytest.mark.parametrize("content", NOT_JSON, ids=range(len(NOT_JSON)))
def test_bytes_that_are_not_json_are_refused_with_their_line(content: bytes) -> None:
    with pytest.raises(JsonError) as raised:
        list(split(content))
    assert str(raised.value) == NOT_JSON[content]


def test_documents_before_a_broken_one_are_found() -> None:
    documents = split(b'{"a": 1} {"b": 2} {')
    assert [strict_values(next(documents)), strict_values(next(documents))] == [{"a": 1}, {"b": 2}]
    with pytest.raises(JsonError):
        next(documents)


REFUSED_VALUES = {
    b'{"a": 1, "b": 2, "a": 3}': "the key 'a' is given twice",
    b'{"x": [{"a": 1, "\\u0061": 3}]}': "the key 'a' is given twice",
    b'{"a": 1e999}': "is not valid JSON: Number out of range - at `$[...]`",
    b'{"a": "\xff"}': "is not valid JSON: a string is not UTF-8",
}


@pytest.mark.parametrize("content", REFUSED_VALUES)
def test_values_are_held_to_more_than_their_structure(content: bytes) -> None:
    (document,) = split(content)
    with pytest.raises(JsonError) as raised:
        strict_values(document)
    assert str(raised.value) == REFUSED_VALUES[content]


def test_no_depth_of_nesting_ends_in_a_recursion_error() -> None:
    refused = 0
    for depth in range(sys.getrecursionlimit() - 200, sys.getrecursionlimit() + 10):
        try:
            (document,) = split(b"[" * depth + b"]" * depth)
            strict_values(document)
        except JsonError:
            refused += 1
    assert refused


def test_many_documents_cost_no_more_than_their_length() -> None:
    start = time.monotonic()
    assert sum(1 for _ in split(b'{"a": [1, 2, 3]}\n' * 50_000)) == 50_000
    assert time.monotonic() - start < 5


@given(content=st.binary(max_size=40) | st.text('{}[]",:0123456789eE.-+ntf \n-#', max_size=60).map(str.encode))
def test_any_bytes_give_values_or_an_error(content: bytes) -> None:
    try:
        values = list(map(strict_values, split(content)))
    except JsonError:
        return
    assert json.loads(json.dumps(values)) == values


@given(st.lists(st.none() | st.integers(0, 9) | st.text(max_size=3) | st.lists(st.text(max_size=2), max_size=2)))
def test_the_elements_of_a_list_come_one_after_another(values: list[object]) -> None:
    for text in (json.dumps(values), json.dumps(values, indent=1), json.dumps(values, separators=(",", ":"))):
        assert [json.loads(bytes(each)) for each in elements(msgspec.Raw(text.encode()))] == values

"""YAML means what kubectl makes of it, and no text hurts."""

from __future__ import annotations

import re
import time
from contextlib import suppress

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from kubectl_spread.cluster.files.yaml_values import MAX_ALIASED, MAX_DEPTH, YamlDocument, YamlError, split
from kubectl_spread.objects.meta import Plain

# Unquoted text → what kubectl v1.36 sends for it (sigs.k8s.io/yaml v1.6.0).
SCALARS: dict[str, Plain] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    "tRUE": "tRUE",
    "0": 0,
    "-0": 0,
    "+1": 1,
    "10": 10,
    "0755": 493,
    "08": 8,
    "0o17": 15,
    "0x1F": 31,
    "0X1f": 31,
    "0b11": 3,
    "0b2": "0b2",
    "0x": "0x",
    "1_000": 1000,
    "1_": 1,
    "_1": "_1",
    "18446744073709551615": 2**64 - 1,
    "18446744073709551616": 2**64,
    "-9223372036854775809": -(2**63),
    "123456789012345678901234567890": 1.2345678901234568e29,
    "0xFFFFFFFFFFFFFFFFF": "0xFFFFFFFFFFFFFFFFF",
    "1.0": 1,
    "1.5": 1.5,
    ".5": 0.5,
    "5.": 5,
    "-.5e1": -5,
    "1e3": 1000,
    "1e20": 10**20,
    "1e21": 1e21,
    "1e400": "1e400",
    ".": ".",
    "1:30": "1:30",
    "1.2.3": "1.2.3",
    "100m": "100m",
    "2001-01-01": "2001-01-01",
    "=": "=",
    "<<": "<<",
    "'yes'": "yes",
    '"1"': "1",
    "''": "",
    "!!str 123": "123",
    "!!int '12'": 12,
    "!!float 1": 1,
    "!!bool 'yes'": True,
    "!!null ''": None,
    "!!timestamp 2001-01-01": "2001-01-01",
    "!custom x": "x",
    "! x": "x",
    "{a: 1}": {"a": 1},
    "!!set {a, b}": {"a": None, "b": None},
    "[1, [a]]": [1, ["a"]],
}


@pytest.mark.parametrize("text", SCALARS)
def test_values_are_what_kubectl_sends(text: str) -> None:
    (document,) = split(f"- {text}\n")
    assert repr(document.values()) == repr([SCALARS[text]])


MAPPINGS: dict[str, Plain] = {
    "1: a\n0x10: b\n": {"1": "a", "16": "b"},
    "1.10: a\n": {"1.1": "a"},
    "on: a\noff: b\n": {"true": "a", "false": "b"},
    "2001-01-01: a\n": {"2001-01-01": "a"},
    "? a\n": {"a": None},
    "'<<': 5\n": {"<<": 5},
    "a: &x {k: 1}\nb: *x\n": {"a": {"k": 1}, "b": {"k": 1}},
    "? &x k\n: 1\nl: *x\n": {"k": 1, "l": "k"},
    "<<: {a: 1}\na: 2\n": {"a": 2},
    "a: 2\n<<: {a: 1, b: 1}\n": {"a": 1, "b": 1},
    "<<: [{a: 1}, {a: 2, b: 2}]\n": {"a": 1, "b": 2},
    "a: &x {k: 1}\nb:\n  <<: *x\n  l: 2\n": {"a": {"k": 1}, "b": {"k": 1, "l": 2}},
    "a: |\n  ---\n  x\n": {"a": "---\nx\n"},
    "a: |\n  x": {"a": "x\n"},
    "a: b\r\nc: d\r\n": {"a": "b", "c": "d"},
    "a:\t1\n": {"a": 1},
}


@pytest.mark.parametrize("text", MAPPINGS)
def test_mappings_are_what_kubectl_sends(text: str) -> None:
    (document,) = split(text)
    assert document.values() == MAPPINGS[text]


REFUSED = {
    "a: b: c\n": "line 1, column 5: mapping values are not allowed in this context",
    "a:\n- 1\n-2\n": "line 4, column 1: could not find expected ':' (while scanning a simple key from line 3)",
    "a: [1,\n 2\n": ("line 3, column 1: did not find expected ',' or ']' (while parsing a flow sequence from line 1)"),
    "\t\n": (
        "line 1, column 1: found character that cannot start any token (while scanning for the next token from line 1)"
    ),
    "\ta: 1\n": (
        "line 1, column 1: found character that cannot start any token (while scanning for the next token from line 1)"
    ),
    "a: 1\nb: \x07\n": "line 2: control characters are not allowed",
    '"\\ud800"\n': (
        "line 1, column 4: found invalid Unicode character escape code (while parsing a quoted scalar from line 1)"
    ),
    "a: .inf\n": "line 1, column 4: .inf is not a number that JSON can express",
    "a: .NaN\n": "line 1, column 4: .NaN is not a number that JSON can express",
    "image: a\nname: b\nimage: c\n": "line 3, column 1: the key 'image' is given twice, first on line 1",
    "1: a\n'1': b\n": "line 2, column 1: the key '1' is given twice, first on line 1",
    "~: a\n": "line 1, column 1: a key must be a string, not null",
    "? [a]\n: b\n": "line 1, column 3: a key must be a string, not a list or a mapping",
    "a: *b\n": "line 1, column 4: found undefined alias",
    "a: &a [*a]\n": "line 1, column 4: the anchor contains itself",
    "<<: 5\n": "line 1, column 5: << takes a mapping or a list of mappings, not an integer",
    "<<: [{}, 5]\n": "line 1, column 5: << takes a mapping or a list of mappings, not an integer",
    "--- {a: 1}\n": "line 1: only a comment may follow ---, not '{a: 1}'",
    "---a: 1\n": "line 1: only a comment may follow ---, not 'a: 1'",
    "%YAML 1.1\n": "line 2, column 1: did not find expected <document start>",
    "a: 1\n...\nb: 2\n": "line 3, column 1: did not find expected <document start>",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_wrong_is_said_with_its_line(text: str) -> None:
    (document,) = split(text)
    with pytest.raises(YamlError) as raised:
        document.values()
    assert str(raised.value) == REFUSED[text]


def test_lines_are_those_of_the_file() -> None:
    documents = list(split("# a\n---\na: 1\n---\n\nb: c: d\n--- e\n---\n- 1\n- .nan\n"))
    messages = []
    for document in documents[1:]:
        with pytest.raises(YamlError) as raised:
            document.values()
        messages.append(str(raised.value))
    assert messages == [
        "line 6, column 5: mapping values are not allowed in this context",
        "line 7: only a comment may follow ---, not 'e'",
        "line 10, column 3: .nan is not a number that JSON can express",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n \n", []),
        ("# only comments\n", []),
        ("a\n", [(1, "a")]),
        ("---\na\n", [(1, "a")]),
        ("# of what follows\n---\na\n", [(1, "a")]),
        ("a\n---\nb\n", [(1, "a"), (2, "b")]),
        ("a\n--- # b\nb\n", [(1, "a"), (2, "b")]),
        ("a\r\n---\r\nb\r\n", [(1, "a"), (2, "b")]),
        ("a\n---\n# nothing\n---\nb\n", [(1, "a"), (2, None), (3, "b")]),
        ("---\n---\na\n", [(1, None), (2, "a")]),
        ("a\n---\n", [(1, "a"), (2, None)]),
        ("a\n---", [(1, "a"), (2, None)]),
        ("a\n ---\n", [(1, "a ---")]),
    ],
)
def test_documents_are_counted_as_people_count_them(text: str, expected: list[tuple[int, Plain]]) -> None:
    assert [(document.number, document.values()) for document in split(text)] == expected


BILLION_LAUGHS = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30)
)
MERGED_LAUGHS = "a0: &a0 {k: v}\n" + "".join(
    f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}], k{n}: *a{n - 1}}}\n" for n in range(1, 30)
)
HOSTILE = {
    "aliases of aliases": (BILLION_LAUGHS, f"the aliases expand to more than {MAX_ALIASED} values"),
    "merged aliases": (MERGED_LAUGHS, f"the aliases expand to more than {MAX_ALIASED} values"),
    "lists in lists": ("[" * 500_000, f"mappings and lists are nested more than {MAX_DEPTH} deep"),
    "mappings in mappings": ("{a: " * 200_000, f"mappings and lists are nested more than {MAX_DEPTH} deep"),
    "block lists in block lists": ("- " * 200_000, f"mappings and lists are nested more than {MAX_DEPTH} deep"),
    "keys in keys": ("? " * 200_000, f"mappings and lists are nested more than {MAX_DEPTH} deep"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_text_is_refused_at_once(case: str) -> None:
    text, reason = HOSTILE[case]
    (document,) = split(text)
    start = time.monotonic()
    with pytest.raises(YamlError, match=reason):
        document.values()
    assert time.monotonic() - start < 1


@pytest.mark.parametrize("digits", ["1" * 1_000_000, "1." + "1" * 1_000_000, "1" + "_" * 1_000_000, "0" * 1_000_000])
def test_endless_numbers_cost_no_more_than_their_length(digits: str) -> None:
    (document,) = split(digits)
    start = time.monotonic()
    assert document.values() is not None
    assert time.monotonic() - start < 1


def test_the_deepest_document_allowed_is_read() -> None:
    (document,) = split("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    values, depth = document.values(), 0
    while isinstance(values, list) and values:
        (values,), depth = values, depth + 1
    assert depth == MAX_DEPTH - 1


def test_aliases_within_the_bound_are_read() -> None:
    many = ", ".join(["*a"] * (MAX_ALIASED // 10))
    (document,) = split(f"a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]\nb: [{many}]\n")
    assert isinstance(document.values(), dict)


@given(text=st.text("ab1:-?&*!|>'\"[]{},#%~<=. \n\t", max_size=60) | st.text(max_size=30))
def test_any_text_gives_values_or_an_error(text: str) -> None:
    for document in split(text):
        with suppress(YamlError):
            assert isinstance(document.values(), dict | list | str | int | float | None)


class QuotingDumper(yaml.CSafeDumper):
    """Quotes text that kubectl takes for a number or a boolean and PyYAML's resolver does not, such as 0E0 and N."""


def _text(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    other = re.fullmatch(r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?|[nNyY]", text) is not None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if other else None)


QuotingDumper.add_representer(str, _text)


@example(values=["0E0", "N", "y"])
@given(
    values=st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**64 - 1)
        | st.floats(allow_nan=False, allow_infinity=False, width=32).filter(lambda number: not number.is_integer())
        | st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Z", "S")), max_size=10),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc.-/", min_size=1), inner, max_size=3),
        max_leaves=10,
    )
)
def test_what_was_written_is_read(values: Plain) -> None:
    text = yaml.dump(values, Dumper=QuotingDumper, allow_unicode=True, explicit_start=False)
    assert YamlDocument(number=1, text=text, line=1).values() == values


def test_keys_given_twice_are_no_error_where_it_is_asked_which_they_are() -> None:
    (document,) = split("a:\n- b: 1\n  c: 2\n- c: 3\n  b: 4\n  c: 5\na: 6\n")
    twice: dict[str, tuple[int, int]] = {}
    assert document.values(twice) == {"a": 6}
    assert twice == {"a[1].c": (4, 6), "a": (1, 7)}

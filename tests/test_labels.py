"""Selectors match as Kubernetes matches, and their text is what ``kubectl -l`` reads."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.errors import UsageError
from kubectl_spread.labels import (
    EVERYTHING,
    NOTHING,
    Operator,
    Selector,
    SelectorRequirement,
    equals,
    from_set,
    is_int64,
    is_label_key,
    is_label_value,
    parse_selector,
)

IN, NOT_IN, EXISTS, ABSENT, GT, LT = Operator


def requirement(key: str, operator: Operator, *values: str) -> SelectorRequirement:
    return SelectorRequirement(key, operator, frozenset(values))


# Text → what apimachinery v0.36.2 makes of it.
ACCEPTED = {
    "": [],
    " \t\r\n": [],
    "a": [requirement("a", EXISTS)],
    " a ": [requirement("a", EXISTS)],
    "!a": [requirement("a", ABSENT)],
    "! a": [requirement("a", ABSENT)],
    "a=b": [requirement("a", IN, "b")],
    "a==b": [requirement("a", IN, "b")],
    "a = b": [requirement("a", IN, "b")],
    "a=": [requirement("a", IN, "")],
    "a= ,b": [requirement("a", IN, ""), requirement("b", EXISTS)],
    "a!=b": [requirement("a", NOT_IN, "b")],
    "a!=": [requirement("a", NOT_IN, "")],
    "a in (b)": [requirement("a", IN, "b")],
    "a in(b)": [requirement("a", IN, "b")],
    "a\tin\n( b ,c )": [requirement("a", IN, "b", "c")],
    "a in (b,b)": [requirement("a", IN, "b")],
    "a in ()": [requirement("a", IN, "")],
    "a in (,)": [requirement("a", IN, "")],
    "a in (,b)": [requirement("a", IN, "", "b")],
    "a in (b,,c)": [requirement("a", IN, "b", "", "c")],
    "a notin ()": [requirement("a", NOT_IN, "")],
    "a notin (b, c)": [requirement("a", NOT_IN, "b", "c")],
    "a>5": [requirement("a", GT, "5")],
    "a < 007": [requirement("a", LT, "007")],
    "a,b": [requirement("a", EXISTS), requirement("b", EXISTS)],
    "a=b,\nc!=d": [requirement("a", IN, "b"), requirement("c", NOT_IN, "d")],
    "a in (b),!c": [requirement("a", IN, "b"), requirement("c", ABSENT)],
    "x in (foo,,baz),y,z notin ()": [
        requirement("x", IN, "foo", "", "baz"),
        requirement("y", EXISTS),
        requirement("z", NOT_IN, ""),
    ],
    "in": [requirement("in", EXISTS)],
    "in in (in,notin)": [requirement("in", IN, "in", "notin")],
    "notin=in": [requirement("notin", IN, "in")],
    "!notin": [requirement("notin", ABSENT)],
    "app.kubernetes.io/name=Web_1.0": [requirement("app.kubernetes.io/name", IN, "Web_1.0")],
}


@pytest.mark.parametrize("text", ACCEPTED)
def test_a_selector_is_read_as_kubectl_reads_it(text: str) -> None:
    assert parse_selector(text) == Selector(tuple(ACCEPTED[text]))


REFUSED = {
    ",": "unable to parse the label selector ',' at ','",
    "a,": "unable to parse the label selector 'a,' at ''",
    "a, ": "unable to parse the label selector 'a, ' at ' '",
    ",a": "unable to parse the label selector ',a' at ',a'",
    "a,,b": "unable to parse the label selector 'a,,b' at ',b'",
    "a b": "unable to parse the label selector 'a b' at 'a b'",
    "a=b=c": "unable to parse the label selector 'a=b=c' at 'a=b=c'",
    "a=b,c=d e": "unable to parse the label selector 'a=b,c=d e' at 'c=d e'",
    "a===b": "unable to parse the label selector 'a===b' at 'a===b'",
    "a>=5": "unable to parse the label selector 'a>=5' at 'a>=5'",
    "a=(b)": "unable to parse the label selector 'a=(b)' at 'a=(b)'",
    "a=!b": "unable to parse the label selector 'a=!b' at 'a=!b'",
    "a ! = b": "unable to parse the label selector 'a ! = b' at 'a ! = b'",
    "=b": "unable to parse the label selector '=b' at '=b'",
    "!": "unable to parse the label selector '!' at '!'",
    "!!a": "unable to parse the label selector '!!a' at '!!a'",
    "!a=b": "unable to parse the label selector '!a=b' at '!a=b'",
    "!a in (b)": "unable to parse the label selector '!a in (b)' at '!a in (b)'",
    "a in": "unable to parse the label selector 'a in' at 'a in'",
    "a in b": "unable to parse the label selector 'a in b' at 'a in b'",
    "a in (b": "unable to parse the label selector 'a in (b' at 'a in (b'",
    "a in (b))": "unable to parse the label selector 'a in (b))' at 'a in (b))'",
    "a in ((b))": "unable to parse the label selector 'a in ((b))' at 'a in ((b))'",
    "ain (b)": "unable to parse the label selector 'ain (b)' at 'ain (b)'",
    "a IN (b)": "unable to parse the label selector 'a IN (b)' at 'a IN (b)'",
    "in (a)": "unable to parse the label selector 'in (a)' at 'in (a)'",
    "a in (b c)": "'b c' is not a label value, in the label selector 'a in (b c)'",
    "a in (b=c)": "'b=c' is not a label value, in the label selector 'a in (b=c)'",
    "a=-b": "'-b' is not a label value, in the label selector 'a=-b'",
    "a=b/c": "'b/c' is not a label value, in the label selector 'a=b/c'",
    "a=b\u00a0": "'b\\xa0' is not a label value, in the label selector 'a=b\\xa0'",
    "a=b,c=*": "'*' is not a label value, in the label selector 'a=b,c=*'",
    "-a=b": "'-a' is not a label key, in the label selector '-a=b'",
    "/a": "'/a' is not a label key, in the label selector '/a'",
    "a/b/c": "'a/b/c' is not a label key, in the label selector 'a/b/c'",
    "A.example/b": "'A.example/b' is not a label key, in the label selector 'A.example/b'",
    "a>b": "'b' is not an integer, in the label selector 'a>b'",
    "a>": "'' is not an integer, in the label selector 'a>'",
    "a<-5": "'-5' is not a label value, in the label selector 'a<-5'",
    "a<9223372036854775808": "'9223372036854775808' is not an integer, in the label selector 'a<9223372036854775808'",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_kubectl_refuses_is_refused_and_named(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_selector(text)
    assert str(raised.value) == REFUSED[text]


VALUE_SYNTAX = "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends"


def test_a_refusal_says_what_is_wanted() -> None:
    hints = []
    for text in ("a b", "a=-b", "-a"):
        with pytest.raises(UsageError) as raised:
            parse_selector(text)
        hints.append(raised.value.hint)
    assert hints == [
        "want key=value, key!=value, key in (a,b), key notin (a,b), key or !key, separated by commas",
        VALUE_SYNTAX,
        f"a name of {VALUE_SYNTAX}; optionally after a DNS subdomain and '/', such as example.com/",
    ]


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("", True),
        ("a", True),
        ("A-b_c.1", True),
        ("x" * 63, True),
        ("x" * 64, False),
        ("-a", False),
        ("a.", False),
        ("_", False),
        ("a/b", False),
        ("a\n", False),
        ("\u00e9", False),
    ],
)
def test_label_values(text: str, valid: bool) -> None:  # noqa: FBT001 - a case of the table
    assert is_label_value(text) is valid


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("a", True),
        ("example.com/A_b", True),
        ("1-2.3/a", True),
        ("x" * 63, True),
        (f"{'x' * 253}/a", True),
        ("", False),
        ("a/", False),
        ("/a", False),
        ("a/b/c", False),
        ("a..b/c", False),
        ("-a/b", False),
        ("Example.com/a", False),
        ("x" * 64, False),
        (f"{'x' * 254}/a", False),
    ],
)
def test_label_keys(text: str, valid: bool) -> None:  # noqa: FBT001 - a case of the table
    assert is_label_key(text) is valid


@pytest.mark.parametrize(
    "text", ["0", "-0", "+5", "007", "9223372036854775807", "-9223372036854775808", "0" * 50 + "1"]
)
def test_integers_go_reads(text: str) -> None:
    assert is_int64(text)


OUT_OF_RANGE = ["9223372036854775808", "-9223372036854775809", "1" * 5000, "0" * 5000]


@pytest.mark.parametrize("text", ["", "+", "a", "1.0", "1e3", "0x10", "1_0", " 1", "1\n", "\u0661", *OUT_OF_RANGE])
def test_anything_else_is_no_integer(text: str) -> None:
    assert not is_int64(text)


WEB = {"app": "web", "size": "10", "empty": ""}
MATCHES = {
    "app": True,
    "other": False,
    "!app": False,
    "!other": True,
    "app=web": True,
    "app=db": False,
    "other=web": False,
    "other=": False,
    "empty=": True,
    "empty": True,
    "app!=web": False,
    "app!=db": True,
    "other!=web": True,
    "app in (web,db)": True,
    "app in (db)": False,
    "other in (,web)": False,
    "app notin (web,db)": False,
    "other notin (web)": True,
    "size>9": True,
    "size>10": False,
    "size<11": True,
    "size<10": False,
    "size>09": True,
    "app>1": False,
    "other<1": False,
    "app=web,size>9,!other": True,
    "app=web,other": False,
    "": True,
}


@pytest.mark.parametrize("text", MATCHES)
def test_matching(text: str) -> None:
    assert parse_selector(text).matches(WEB) is MATCHES[text]


@pytest.mark.parametrize("operator", [GT, LT])
def test_a_bound_that_is_no_integer_matches_nothing(operator: Operator) -> None:
    assert not requirement("size", operator, "ten").matches(WEB)
    assert not requirement("size", operator).matches(WEB)


def test_nothing_and_everything_are_opposites() -> None:
    assert not NOTHING.matches({})
    assert not NOTHING.empty
    assert EVERYTHING.matches({})
    assert EVERYTHING.empty
    assert str(NOTHING) == "<none>"
    assert str(EVERYTHING) == "<all>"


def test_further_conditions_narrow_and_are_not_repeated() -> None:
    app, tier = equals("app", "web"), equals("tier", "front")
    assert Selector((app,)).and_also([tier, app]) == Selector((app, tier))
    assert EVERYTHING.and_also([app]) == Selector((app,))
    assert NOTHING.and_also([app]) is NOTHING


def test_a_plain_map_selects_by_equality_in_the_order_of_its_keys() -> None:
    assert str(from_set({"tier": "front", "app": "web"})) == "app=web,tier=front"
    assert from_set({}) == EVERYTHING


NAMES = st.from_regex(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,5}[A-Za-z0-9])?", fullmatch=True)
KEYS = NAMES | st.sampled_from(["in", "notin", "example.com/a", "x.y-z/In"])
VALUES = NAMES | st.sampled_from(["", "in", "notin", "5"])
REQUIREMENTS = (
    st.builds(SelectorRequirement, KEYS, st.sampled_from([IN, NOT_IN]), st.frozensets(VALUES, min_size=1, max_size=3))
    | st.builds(SelectorRequirement, KEYS, st.sampled_from([EXISTS, ABSENT]))
    | st.builds(
        lambda key, sign, n: requirement(key, sign, str(n)), KEYS, st.sampled_from([GT, LT]), st.integers(0, 99)
    )
)
SELECTORS = st.lists(REQUIREMENTS, min_size=1, max_size=4).map(lambda each: Selector(tuple(each)))


@given(selector=SELECTORS)
def test_a_selectors_text_reads_back_as_the_same_selector(selector: Selector) -> None:
    assert parse_selector(str(selector)) == selector


@given(selector=SELECTORS, labels=st.dictionaries(KEYS, VALUES, max_size=4))
def test_a_condition_and_its_opposite_part_the_label_sets(selector: Selector, labels: Mapping[str, str]) -> None:
    opposites = {IN: NOT_IN, NOT_IN: IN, EXISTS: ABSENT, ABSENT: EXISTS}
    for each in selector.requirements:
        if each.operator in opposites:
            opposite = SelectorRequirement(each.key, opposites[each.operator], each.values)
            assert each.matches(labels) is not opposite.matches(labels)
    assert selector.matches(labels) is all(each.matches(labels) for each in selector.requirements)


@given(text=st.text("ab5/ \t=!<>(),.-in", max_size=20) | st.text(max_size=20))
def test_any_text_is_a_selector_or_a_usage_error(text: str) -> None:
    try:
        selector = parse_selector(text)
    except UsageError:
        return
    if not selector.empty:
        assert parse_selector(str(selector)) == selector

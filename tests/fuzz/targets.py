"""What reads what others wrote, the inputs it is given, and what must hold for each of them.

An input is a literal of Python, so that the corpus can keep it as text. Only the errors that a reader documents may
come out of it; where there is a plain way to say what is right, the answer is held against that.
"""

from __future__ import annotations

import io
import json
import math
import re
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from hypothesis import strategies as st

from kubectl_spread import quantity
from kubectl_spread.apiserver.quantities import read_amount
from kubectl_spread.cluster.access import kubeconfig
from kubectl_spread.cluster.access.options import parse_timeout
from kubectl_spread.cluster.files import yaml_values
from kubectl_spread.cluster.files.manifests import documents_of, read_inventory
from kubectl_spread.cluster.files.sources import Input
from kubectl_spread.errors import ClusterError, ManifestError, UsageError
from kubectl_spread.labels import Operator, Selector, parse_selector
from kubectl_spread.objects.configuration import KubeSchedulerConfiguration
from kubectl_spread.objects.core import Pod, Taint, Toleration
from kubectl_spread.objects.decoding import DecodeError, convert, decode
from kubectl_spread.objects.kinds import BY_API, KINDS
from kubectl_spread.objects.meta import LabelSelector, parse_label_selector
from kubectl_spread.objects.protobuf import ListDecoder, read_list
from kubectl_spread.scheduler.profile import configured_profiles
from kubectl_spread.scheduler.tainttoleration import tolerates
from tests.fuzz.almost_right import ask_every_command
from tests.fuzz.shapes import JUNK, NUMBERS, WORDS, Strategy, shaped
from tests.hostile.bombs import HEAD, SOUND
from tests.protobuf_writing import document, written

Value: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Target:
    """Something that reads what others wrote.

    Attributes:
        inputs: what it is given.
        check: reads an input, and raises whatever must not happen.
    """

    inputs: Strategy
    check: Callable[[Value], None]


def _decoding(case: tuple[int, bytes]) -> None:
    """Decode bytes as one of the kinds."""
    number, document = case
    with suppress(DecodeError):
        decode(document, KINDS[number].struct)


_JSON_PIECES = st.sampled_from(
    (
        *(b"{", b"}", b"[", b"]", b":", b",", b'"metadata"', b'"spec"', b'"labels"', b'"a"', b"1", b"-0", b"1e5"),
        *(b"null", b"true", b"NaN", b'"\\ud800"', b'"\\udc00"', b'"\xff"', b" ", b"9" * 30, b"9" * 5000, b"\x00"),
        *(b"0.1", b"1e999"),
    )
)
_MESSAGES = st.recursive(
    st.binary(max_size=6),
    lambda inner: st.lists(
        st.tuples(st.sampled_from((1, 2, 3, 7, 8, 10, 11, 13, 22, 33)), inner).map(lambda field: written(*field)),
        max_size=4,
    ).map(b"".join),
    max_leaves=12,
)
"""Messages within messages, under numbers that Pods have."""


def _protocol_buffers(part: bytes) -> None:
    """Decode a page of Pods."""
    with suppress(DecodeError):
        _, _, raw = read_list(document("PodList", written(2, part)))
        assert all(isinstance(pod, Pod) for pod in ListDecoder(Pod).items(raw))


_SOUP = st.lists(_JSON_PIECES, max_size=30).map(b"".join)
_OBJECTS = st.one_of([st.tuples(st.just(number), shaped(kind.struct)) for number, kind in enumerate(KINDS)])


def _decoding_values(case: tuple[int, Value]) -> None:
    """Decode an object, which JSON and YAML must make alike."""
    number, values = case
    struct = KINDS[number].struct
    text = json.dumps(values)
    from_json = _decoded_or_refused(lambda: decode(text.encode(), struct))
    from_values = _decoded_or_refused(lambda: convert(json.loads(text), struct))
    assert from_json == from_values
    printable = json.dumps(values, ensure_ascii=False)
    # Beyond 64 bits a number is a float in YAML, as it is for Go.
    if printable.isprintable() and not re.search("[0-9]{20}", printable):
        (document,) = yaml_values.split(printable)
        in_yaml = document.values()
        assert _decoded_or_refused(lambda: convert(in_yaml, struct)) == from_json


def _decoded_or_refused(read: Callable[[], msgspec.Struct]) -> msgspec.Struct | str:
    """Return what was decoded, or the field that was refused."""
    try:
        return read()
    except DecodeError as error:
        return error.field_path


_AMOUNTS = st.tuples(
    st.sampled_from(("", "+", "-", " ", "--")),
    st.sampled_from(("", "0", "1", "007", "9" * 20, "9" * 5000, "12345")) | st.integers(0, 10**25).map(str),
    st.sampled_from(("", ".", ".5", ".000000001", ".0000000001", ".123456789123", "." + "0" * 30 + "1")),
    st.sampled_from(
        (*quantity.MULTIPLIERS, "e3", "E3", "e-7", "e+20", "e-400", "e999", "e" + "9" * 30, "K", "z", " ", "\u0661")
    ),
).map("".join)


def _quantities(text: str) -> None:
    """Parse a quantity, as exact decimal arithmetic does, and print it as what is read again alike."""
    try:
        amount = quantity.parse(text)
    except ValueError:
        return
    assert amount == _reference(text.strip(" "))
    read = read_amount(text)
    assert read_amount(str(read)).value == read.value


def _reference(text: str) -> Fraction:
    """Return the amount by its definition: rounded up to a billionth, away from zero, and no more than an int64."""
    number, factor = text, Decimal(1)
    for suffix, multiplier in quantity.MULTIPLIERS.items():
        if suffix and text.endswith(suffix):
            number = text.removesuffix(suffix)
            factor = Decimal(multiplier.numerator) / Decimal(multiplier.denominator)
    with localcontext(prec=len(text) + 80, Emax=10**17, Emin=-(10**17)):
        magnitude = abs(Decimal(number))
        if magnitude.adjusted() > 60 and magnitude:
            return Fraction(quantity.MAX_INT64) * (-1 if text.startswith("-") else 1)
        nano = (
            Decimal(1)
            if 0 < magnitude * factor * 10**9 < 1
            else (magnitude * factor * 10**9).to_integral_value(ROUND_CEILING)
        )
    amount = min(Fraction(int(nano), 10**9), Fraction(quantity.MAX_INT64))
    return -amount if text.startswith("-") else amount


_KEYS = st.sampled_from(("app", "tier", "example.com/app", "in", "notin"))
_VALUES = st.sampled_from(("", "web", "db", "1", "-5", "in", "9" * 19, "9" * 5000))
_LABELS = st.dictionaries(_KEYS, _VALUES, max_size=4)
_BLANKS = st.sampled_from(("", " ", "\t", "  "))
_TERMS = st.tuples(
    _KEYS,
    st.sampled_from(("=", "==", "!=", "in", "notin", "exists", "!", ">", "<")),
    st.lists(_VALUES, min_size=1, max_size=3),
)


def _selectors(case: tuple[list[tuple[str, str, list[str]]], str, dict[str, str]]) -> None:
    """Parse a selector that is sound but for its values, and match labels as its terms say."""
    terms, blank, labels = case
    text = ",".join(f"{blank}{_written(*term, blank=blank)}{blank}" for term in terms)
    try:
        selector = parse_selector(text)
    except UsageError:
        return
    assert selector.matches(labels) == all(_holds(*term, labels=labels) for term in terms)
    assert _meaning(parse_selector(str(selector) if terms else "")) == _meaning(selector)


def _meaning(selector: Selector) -> set[str]:
    """Return the conditions of a selector."""
    return set(map(str, selector.requirements))


def _written(key: str, operator: str, values: list[str], *, blank: str) -> str:
    """Return one term of a selector."""
    match operator:
        case "exists":
            return key
        case "!":
            return f"!{blank}{key}"
        case "in" | "notin":
            return f"{key} {operator} ({blank}{f'{blank},{blank}'.join(values)}{blank})"
        case _:
            return f"{key}{blank}{operator}{blank}{values[0]}"


def _holds(key: str, operator: str, values: list[str], *, labels: Mapping[str, str]) -> bool:
    """Whether the labels meet one term, said as plainly as can be."""
    there, actual = key in labels, labels.get(key, "")
    among = actual in (values if operator in ("in", "notin") else values[:1])
    return {
        "exists": there,
        "!": not there,
        "=": there and among,
        "==": there and among,
        "in": there and among,
        "!=": not (there and among),
        "notin": not (there and among),
        ">": there and _beyond(actual, values, greater=True),
        "<": there and _beyond(actual, values, greater=False),
    }[operator]


def _beyond(actual: str, bounds: list[str], *, greater: bool) -> bool:
    """Whether a label's number is beyond the bound; text that is no int64 never is."""
    numbers = [int(each) for each in (actual, *bounds[:1]) if each.lstrip("-").isdecimal() and len(each) <= 19]
    if len(numbers) < 2 or any(abs(number) >= 2**63 for number in numbers):
        return False
    return numbers[0] > numbers[1] if greater else numbers[0] < numbers[1]


def _selector_texts(text: str) -> None:
    """Parse any text as a selector."""
    with suppress(UsageError):
        parse_selector(text)


_EXPRESSIONS = st.fixed_dictionaries(
    {"key": _KEYS, "operator": st.sampled_from(Operator).map(str) | WORDS, "values": st.lists(_VALUES, max_size=2)}
)


def _label_selectors(case: tuple[Value, dict[str, str]]) -> None:
    """Read a labelSelector, and match labels as its conditions say."""
    values, labels = case
    wanted = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}
    try:
        selector = parse_label_selector(convert(values, LabelSelector))
    except ValueError:
        return
    expected = all(labels.get(key) == value for key, value in values["matchLabels"].items()) and all(
        _holds(each["key"], wanted[each["operator"]], each["values"], labels=labels)
        for each in values["matchExpressions"]
    )
    assert selector.matches(labels) == expected


_TAINTS = st.fixed_dictionaries(
    {}, optional={"key": _KEYS, "value": _VALUES, "effect": st.sampled_from(("", "NoSchedule", "NoExecute"))}
)
_TOLERATIONS = st.fixed_dictionaries(
    {},
    optional={
        "key": _KEYS | WORDS,
        "operator": WORDS,
        "value": _VALUES | WORDS,
        "effect": WORDS,
        "tolerationSeconds": NUMBERS,
    },
)


def _tolerations(case: tuple[Value, Value, bool]) -> None:
    """Hold a toleration against a taint, as its definition says."""
    tolerating, tainting, numeric = case
    with suppress(DecodeError):
        toleration, taint = convert(tolerating, Toleration), convert(tainting, Taint)
        covers = all(getattr(toleration, name) in ("", getattr(taint, name)) for name in ("key", "effect"))
        equal = toleration.operator in ("", "Equal") and toleration.value == taint.value
        held = tolerates(toleration, taint, numeric=numeric)
        if toleration.operator not in ("Gt", "Lt"):
            assert held == (covers and (equal or toleration.operator == "Exists"))
        else:
            assert not held or (covers and numeric)


_DURATIONS = st.lists(
    st.tuples(
        st.sampled_from(("", "0", "1", "1.5", ".5", "9" * 400, "\u0663")),
        st.sampled_from(("", "s", "ms", "h", "\u00b5s", "d")),
    ).map("".join),
    max_size=3,
).map("".join) | st.text(max_size=8)


def _durations(text: str) -> None:
    """Read a request timeout."""
    with suppress(UsageError):
        seconds = parse_timeout(text)
        assert seconds is None or (math.isfinite(seconds) and seconds > 0)
        assert text.isascii() or "\u00b5" in text or "\u03bc" in text


_YAML_PIECES = st.sampled_from(
    (
        *(HEAD, SOUND, b"---\n", b"--- # x\n", b"...\n", b"a: ", b"- ", b"\n", b" ", b"\t", b"&a ", b"*a", b"<<: "),
        *(b"!!binary ", b"!!int ", b"|\n", b">-\n", b"{", b"}", b"[", b"]", b",", b"'", b'"', b"? ", b": ", b"#"),
        *(b"%YAML 1.1\n", b".nan", b"0x1f", b"017", b"\r", b"items:\n", b"kind: List\n", b"apiVersion: v1\n", b"~"),
        *(b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b", b"\x00", b"\xe2\x80\xa8", b"9" * 5000, b"1e999"),
        *(b"==== START logs for container a ====\n", b"==== END logs for container a ====\n", b"metadata: {name: x}\n"),
    )
)
_FILES = st.lists(_YAML_PIECES | st.binary(max_size=3), max_size=25).map(b"".join) | _SOUP


def _manifests(content: bytes) -> None:
    """Read a file as manifests, and as a cluster."""
    with suppress(ManifestError):
        documents_of([Input("file.yaml", content)])
    with suppress(ManifestError):
        read_inventory(["-"], stdin=io.BytesIO(content))


def _manifest_values(case: tuple[int, Value]) -> None:
    """Read an object in a list, as manifests and as a cluster, in JSON and in YAML alike."""
    number, values = case
    kind = KINDS[number]
    named = {"apiVersion": kind.api_version, "kind": kind.name} | (values if isinstance(values, dict) else {})
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [named]})
    with suppress(ManifestError):
        (document,) = documents_of([Input("file.json", text.encode())])
        assert (document.api_version, document.kind) == (named["apiVersion"], named["kind"])
        known = (document.api_version, document.kind) in BY_API
        assert known or named["kind"] != kind.name
    with suppress(ManifestError):
        read_inventory(["-"], stdin=io.BytesIO(text.encode()))


_ENTRIES = {
    "clusters": shaped(kubeconfig.Cluster),
    "users": shaped(kubeconfig.User),
    "contexts": shaped(kubeconfig.Context),
}
_KUBECONFIGS: Strategy = st.fixed_dictionaries(
    {},
    optional={
        "current-context": WORDS | JUNK,
        **{
            section: st.lists(st.fixed_dictionaries({}, optional={"name": WORDS, section[:-1]: entry}), max_size=2)
            | JUNK
            for section, entry in _ENTRIES.items()
        },
    },
).map(lambda values: json.dumps(values).encode())


def _kubeconfigs(content: bytes) -> None:
    """Read a kubeconfig, and what its context stands for."""
    with tempfile.TemporaryDirectory() as folder, suppress(ClusterError):
        path = Path(folder, "config")
        path.write_bytes(content)
        kubeconfig.select(kubeconfig.load(str(path)))


def _configurations(values: Value) -> None:
    """Read a scheduler's configuration."""
    with suppress(DecodeError):
        configured_profiles(values)


TARGETS: Mapping[str, Target] = {
    "bytes": Target(st.tuples(st.integers(0, len(KINDS) - 1), _SOUP | st.binary(max_size=40)), _decoding),
    "protocol-buffers": Target(_MESSAGES | st.binary(max_size=60), _protocol_buffers),
    "objects": Target(_OBJECTS, _decoding_values),
    "quantities": Target(_AMOUNTS | st.text(max_size=8), _quantities),
    "selectors": Target(st.tuples(st.lists(_TERMS, max_size=3), _BLANKS, _LABELS), _selectors),
    "selector-texts": Target(
        st.text(st.sampled_from("ab-/.=!<>(), \tin\n\x00\u0661\x1b"), max_size=25) | st.text(), _selector_texts
    ),
    "label-selectors": Target(
        st.tuples(
            st.fixed_dictionaries({"matchLabels": _LABELS, "matchExpressions": st.lists(_EXPRESSIONS, max_size=3)}),
            _LABELS,
        ),
        _label_selectors,
    ),
    "tolerations": Target(st.tuples(_TOLERATIONS, _TAINTS, st.booleans()), _tolerations),
    "durations": Target(_DURATIONS, _durations),
    "manifests": Target(_FILES, _manifests),
    "manifest-objects": Target(_OBJECTS, _manifest_values),
    "kubeconfigs": Target(_KUBECONFIGS | _FILES, _kubeconfigs),
    "configurations": Target(shaped(KubeSchedulerConfiguration) | JUNK, _configurations),
    "almost-right": Target(st.integers(0, 2**64), ask_every_command),
}
"""Name → target."""

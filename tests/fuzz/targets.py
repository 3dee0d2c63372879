"""What reads what others wrote, the inputs it is given, and what must hold for each of them.

An input is a literal of Python, so that the corpus can keep it as text. Only the errors that a reader documents may
come out of it.
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
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from hypothesis import strategies as st

from kubectl_spread.cluster.access import kubeconfig
from kubectl_spread.cluster.access.options import parse_timeout
from kubectl_spread.cluster.files import yaml_values
from kubectl_spread.cluster.files.manifests import documents_of, read_inventory
from kubectl_spread.cluster.files.sources import Input
from kubectl_spread.errors import ClusterError, ManifestError, UsageError
from kubectl_spread.labels import parse_selector
from kubectl_spread.objects.configuration import KubeSchedulerConfiguration
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import DecodeError, convert, decode
from kubectl_spread.objects.kinds import BY_API, KINDS
from kubectl_spread.objects.protobuf import ListDecoder, read_list
from kubectl_spread.scheduler.profile import configured_profiles
from tests.fuzz.almost_right import ask_every_command
from tests.fuzz.shapes import JUNK, WORDS, Strategy, shaped
from tests.hostile.bombs import HEAD, SOUND
from tests.protobuf_writing import document, written

Value: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Target:
    """Something that reads what others wrote."""

    inputs: Strategy  # what it is given
    check: Callable[[Value], None]  # reads an input, and raises whatever must not happen


def _decoding(case: tuple[int, bytes]) -> None:
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


def _selector_texts(text: str) -> None:
    with suppress(UsageError):
        parse_selector(text)


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
    "selector-texts": Target(
        st.text(st.sampled_from("ab-/.=!<>(), \tin\n\x00\u0661\x1b"), max_size=25) | st.text(), _selector_texts
    ),
    "durations": Target(_DURATIONS, _durations),
    "manifests": Target(_FILES, _manifests),
    "manifest-objects": Target(_OBJECTS, _manifest_values),
    "kubeconfigs": Target(_KUBECONFIGS | _FILES, _kubeconfigs),
    "configurations": Target(shaped(KubeSchedulerConfiguration) | JUNK, _configurations),
    "almost-right": Target(st.integers(0, 2**64), ask_every_command),
}
"""Name → target."""

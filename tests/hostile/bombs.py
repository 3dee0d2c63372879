"""Files that are made to exhaust whoever reads them, at any size.

Each is offered to every flag that names a file. ``python -m tests.hostile.measure`` offers them at their full size and
prints what becomes of them; the tests offer them small.
"""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Callable, Mapping

MEGABYTE = 2**20

HEAD = b"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n"
"""A sound Pod in YAML."""
SOUND = b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}'
"""A sound Pod in JSON."""
CONFIG = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}\n'  # A sound object that has no Pods
LIST = b'{"apiVersion":"v1","kind":"List","items":['
LOG = b"==== START logs for container a ==== b ====\n"
DEPTH = 10_000
DIGITS = b"9" * 10_000


def _repeated(piece: bytes, size: int) -> bytes:
    """Return the piece again and again, about that many bytes in all."""
    return piece * max(1, size // len(piece))


def _numbered(start: bytes, piece: bytes, size: int) -> bytes:
    """Return the start and the piece with ever other numbers, about that many bytes in all."""
    return start + b"".join(piece % number for number in range(max(1, size // (len(piece) + 5))))


def _with_annotation(value: bytes) -> bytes:
    """Return a Pod in JSON with the value as an annotation, which nobody decodes."""
    return SOUND.replace(b'"name":"p"', b'"name":"p","annotations":{"a":' + value + b"}")


def _with_label(value: bytes) -> bytes:
    return SOUND.replace(b'"name":"p"', b'"name":"p","labels":{"a":' + value + b"}")


def _with_priority(value: bytes) -> bytes:
    return SOUND.replace(b'"containers"', b'"priority":' + value + b',"containers"')


def _with_request(value: bytes) -> bytes:
    """Return a Pod in JSON that requests so much CPU."""
    return SOUND.replace(b'"image":"i"', b'"image":"i","resources":{"requests":{"cpu":' + value + b"}}")


def _billion_laughs(_: int) -> bytes:
    """Return nine levels of ten aliases each."""
    levels = [b"a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"]
    levels += [b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 10)]
    return HEAD + b"".join(levels)


def _merged_laughs(_: int) -> bytes:
    """Return mappings that merge the one before several times."""
    levels = [b"m0: &m0 {k0: v}\n"]
    levels += [
        b"m%d: &m%d {<<: [%s], k%d: v}\n" % (n, n, b", ".join([b"*m%d" % (n - 1)] * 10), n) for n in range(1, 10)
    ]
    return HEAD + b"".join(levels)


def _nested_lists(size: int) -> bytes:
    inner = _with_annotation(b'"' + b"x" * size + b'"')
    return LIST * 150 + inner + b"]}" * 150


BOMBS: Mapping[str, Callable[[int], bytes]] = {
    "YAML aliases: billion laughs": _billion_laughs,
    "YAML merges: billion laughs": _merged_laughs,
    "YAML anchor within itself": lambda _: HEAD + b"a: &a [*a]\n",
    "YAML many anchors": lambda size: (
        HEAD + b"a:\n" + b"".join(b"- &a%d x\n- *a%d\n" % (n, n) for n in range(size // 24))
    ),
    "YAML flow 10,000 deep": lambda _: HEAD + b"a: " + b"[" * DEPTH + b"]" * DEPTH + b"\n",
    "YAML flow mappings 10,000 deep": lambda _: HEAD + b"a: " + b"{a: " * DEPTH + b"}" * DEPTH + b"\n",
    "YAML block 3,000 deep": lambda _: HEAD + b"a:\n" + b"".join(b" " * n + b"a:\n" for n in range(1, 3000)),
    "YAML block lists 10,000 deep": lambda _: HEAD + b"a:\n" + b"- " * DEPTH + b"x\n",
    "YAML flow never closed": lambda size: HEAD + b"a: " + b"[" * size,
    "YAML key given twice": lambda _: HEAD + b"kind: Node\n",
    "YAML .nan": lambda _: HEAD + b"a: .nan\n",
    "YAML -.inf": lambda _: HEAD + b"a: -.inf\n",
    "YAML integer of 10,000 digits": lambda _: HEAD + b"a: " + DIGITS + b"\n",
    "YAML float 1e999": lambda _: HEAD + b"a: 1e999\n",
    "YAML comment": lambda size: HEAD + _repeated(b"# comment\n", size),
    "YAML blanks": lambda size: HEAD + b" " * size,
    "YAML one text": lambda size: HEAD + b"a: " + b"x" * size + b"\n",
    "YAML long list": lambda size: HEAD + b"a:\n" + _repeated(b"- 1\n", size),
    "YAML long mapping": lambda size: HEAD + _numbered(b"a:\n", b" k%d: 1\n", size),
    "YAML empty documents": lambda size: HEAD + _repeated(b"---\n", size),
    "YAML small documents": lambda size: HEAD + _repeated(b"---\n" + CONFIG, size),
    "YAML broken documents": lambda size: _repeated(b"---\na: b: c\n", size),
    "YAML documents that are none": lambda size: _repeated(b"---\na\n", size),
    "log sections that never end": lambda size: HEAD + _repeated(LOG, size),
    "log section of a long name": lambda size: HEAD + b"==== START logs for container " + _repeated(b" ====", size),
    "JSON lists 10,000 deep": lambda _: _with_annotation(b"[" * DEPTH + b"]" * DEPTH),
    "JSON mappings 10,000 deep": lambda _: _with_annotation(b'{"a":' * DEPTH + b"1" + b"}" * DEPTH),
    "JSON Lists 10,000 deep": lambda _: LIST * DEPTH + SOUND + b"]}" * DEPTH,
    "JSON Lists around a large object": _nested_lists,
    "JSON never closed": lambda size: b"{" + b'"a":[' * size,
    "JSON key given twice": lambda _: SOUND.replace(b"{", b'{"kind":"Node",', 1),
    "JSON NaN": lambda _: _with_annotation(b"NaN"),
    "JSON Infinity": lambda _: _with_annotation(b"-Infinity"),
    "JSON integer of 10,000 digits": lambda _: _with_annotation(DIGITS),
    "JSON priority of 10,000 digits": lambda _: _with_priority(DIGITS),
    "JSON priority of 30 digits": lambda _: _with_priority(DIGITS[:30]),
    "JSON number 1e999": lambda _: _with_annotation(b"1e999"),
    "JSON quantity of 10,000 digits": lambda _: _with_request(b'"' + DIGITS + b'"'),
    "JSON quantity 1e999": lambda _: _with_request(b'"1e999"'),
    "JSON quantity 1e-999999999": lambda _: _with_request(b'"1e-999999999"'),
    "JSON quantity of 10,000 digits' exponent": lambda _: _with_request(b'"1e' + DIGITS + b'"'),
    "JSON quantity, a number of 10,000 digits": lambda _: _with_request(DIGITS),
    "JSON quantity, enormous and none": lambda size: _with_request(b'"' + b"1" * size + b'x"'),
    "JSON quantity, enormous": lambda size: _with_request(b'"' + b"1" * size + b'"'),
    "JSON annotation, enormous": lambda size: _with_annotation(b'"' + b"x" * size + b'"'),
    "JSON label, enormous": lambda size: _with_label(b'"' + b"x" * size + b'"'),
    "JSON label key, enormous": lambda size: _with_label(b'"v","' + b"x" * size + b'":1'),
    "JSON labels, many": lambda size: _with_label(_numbered(b'"v"', b',"k%d":"v"', size)),
    "JSON label with a lone surrogate": lambda _: _with_label(b'"\\ud800"'),
    "JSON label with NUL": lambda _: _with_label(b'"\\u0000"'),
    "JSON label with blanks": lambda _: _with_label(b'"a value with blanks"'),
    "JSON small documents": lambda size: SOUND + _repeated(CONFIG, size),
    "JSON empty mappings": lambda size: _repeated(b"{}", size),
    "JSON and separators": lambda size: SOUND + _repeated(b"\n---\n", size),
    "JSON items that are none": lambda size: LIST + _repeated(b"1,", size) + b"1]}",
    "JSON, then rubbish": lambda size: SOUND + b"x" * size,
    "gzip bomb": lambda size: gzip.compress(bytes(10 * size)),
    "gzip bomb of JSON": lambda size: gzip.compress(SOUND.replace(b"{", b"{" + b" " * (10 * size), 1)),
    "gzip in gzip": lambda _: gzip.compress(gzip.compress(SOUND)),
    "not UTF-8": lambda _: HEAD + b"a: \xff\xfe\n",
    "JSON not UTF-8": lambda _: _with_label(b'"\xff"'),
    "UTF-8 with a mark": lambda _: codecs.BOM_UTF8 + HEAD,
    "UTF-16": lambda _: HEAD.decode().encode("utf-16"),
    "UTF-16 without a mark": lambda _: HEAD.decode().encode("utf-16-le"),
    "UTF-32": lambda _: HEAD.decode().encode("utf-32"),
    "NUL bytes": bytes,
    "a NUL byte": lambda _: HEAD + b"a: b\0c\n",
    "CRLF": lambda _: HEAD.replace(b"\n", b"\r\n"),
    "CR": lambda _: HEAD.replace(b"\n", b"\r"),
    "tabs": lambda _: HEAD + b"a:\n\tb: c\n",
    "nothing": lambda _: b"",
    "blanks": lambda size: b" " * size,
}
"""What it is → its content, for a size in bytes."""

"""Errors of names, label keys and label values in apimachinery's words, Go's text formats, and edit distances.

The API server reports these errors when it rejects an object, the scheduler when it parses an invalid selector.
Lengths are in bytes, as in Go, also where upstream says "characters".
differs: before v1.35 upstream says "characters" of label keys and values too, and "a qualified name" instead of "a
valid label key".

Source: apimachinery pkg/api/validate/content/kube.go, dns.go and errors.go (v1.36).
"""

import json
import re
from collections.abc import Iterator

MAX_LABEL = 63
MAX_SUBDOMAIN = 253

_ESCAPES = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v"}
_ESCAPES |= {'"': r"\"", "\\": r"\\"}
_LAST_BYTE, _LAST_OF_FOUR_DIGITS = 0x7F, 0xFFFF
# The characters that Go's encoding/json escapes for HTML.
_UNSAFE_IN_HTML = re.compile("[<>&\u2028\u2029]")

_LABEL_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = f"({_LABEL_KEY})?"
_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_SUBDOMAIN = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"

_LABEL_KEY_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_LABEL_KEY}')"
)
_PREFIXED_RULE = (
    f"a valid label key {_LABEL_KEY_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)
_LABEL_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{_LABEL_VALUE}')"
)
_DNS_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    f"an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_DNS_LABEL}')"
)
_DNS_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_DNS_SUBDOMAIN}')"
)
_EMPTY = "must be non-empty"


def label_key_faults(text: str) -> Iterator[str]:
    """Yield the errors of a label key, or of another qualified name."""
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        yield _PREFIXED_RULE
        return
    if slash and not prefix:
        yield f"prefix part {_EMPTY}"
    elif slash:
        yield from (f"prefix part {fault}" for fault in _subdomain_faults(prefix, "bytes"))
    if not name:
        yield f"name part {_EMPTY}"
    if _is_longer(name, MAX_LABEL):
        yield f"name part must be no more than {MAX_LABEL} bytes"
    if not _fits(name, _LABEL_KEY):
        yield f"name part {_LABEL_KEY_RULE}"


def label_value_faults(text: str) -> Iterator[str]:
    """Yield the errors of a label value."""
    if _is_longer(text, MAX_LABEL):
        yield f"must be no more than {MAX_LABEL} bytes"
    if not _fits(text, _LABEL_VALUE):
        yield _LABEL_VALUE_RULE


def dns_label_faults(text: str) -> Iterator[str]:
    """Yield the errors of a name that must be a DNS label: containers, volumes, namespaces, StatefulSets."""
    if _is_longer(text, MAX_LABEL):
        yield f"must be no more than {MAX_LABEL} characters"
    if not _fits(text, _DNS_LABEL):
        yield "must not contain dots" if _fits(text, _DNS_SUBDOMAIN) else _DNS_LABEL_RULE


def dns_subdomain_faults(text: str) -> Iterator[str]:
    """Yield the errors of a name that must be a DNS subdomain, as of Nodes and most objects."""
    return _subdomain_faults(text, "characters")


def quoted(text: str) -> str:
    """Return the text as Go's ``%q`` prints it."""
    return f'"{"".join(map(_escape, text))}"'


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code <= _LAST_BYTE:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= _LAST_OF_FOUR_DIGITS else f"\\U{code:08x}"


def as_json(value: object) -> str:
    """Return plain values, or an Enum of text, as Go's encoding/json prints them."""
    plain = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _UNSAFE_IN_HTML.sub(lambda match: f"\\u{ord(match[0]):04x}", plain)


def _subdomain_faults(text: str, unit: str) -> Iterator[str]:
    if _is_longer(text, MAX_SUBDOMAIN):
        yield f"must be no more than {MAX_SUBDOMAIN} {unit}"
    if not _fits(text, _DNS_SUBDOMAIN):
        yield _DNS_SUBDOMAIN_RULE


def _is_longer(text: str, most: int) -> bool:
    return len(text.encode(errors="surrogatepass")) > most


def _fits(text: str, pattern: str) -> bool:
    return re.fullmatch(pattern, text, re.ASCII) is not None


def edit_distance(name: str, other: str, *, swaps: bool = False, digit: int = 1) -> int:
    """Return how many letters must be inserted, deleted or replaced to get the other name (count).

    ``swaps``: a swap of two neighbours counts once. ``digit``: the cost of replacing a digit.
    """
    older, before, row = list[int](), list[int](), list(range(len(other) + 1))
    for i, a in enumerate(name):
        older, before, row = before, row, [i + 1]
        for j, b in enumerate(other):
            replaced = before[j] + (0 if a == b else digit if a.isdigit() or b.isdigit() else 1)
            row.append(min(before[j + 1] + 1, row[j] + 1, replaced))
            if swaps and i and j and (a, b) == (other[j - 1], name[i - 1]):
                row[-1] = min(row[-1], older[j - 1] + 1)
    return row[-1]

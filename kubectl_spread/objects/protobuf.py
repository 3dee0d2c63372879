"""Lists in Protocol Buffers to Structs: the API server needs half the time that it needs for JSON.

A message is decoded field by field, and unused fields are skipped. Equal parts become the same Python object; equal
bytes are decoded only once. Messages of replicas have the same layout: only the places where they differ are decoded.

Source: apimachinery pkg/runtime/serializer/protobuf/protobuf.go (v1.36), protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import msgspec

from kubectl_spread.objects.decoding import DecodeError, ListMeta
from kubectl_spread.objects.meta import KEPT_ANNOTATIONS, Annotations
from kubectl_spread.objects.protobuf_fields import MESSAGES
from kubectl_spread.objects.template_rest import structs_in

T = TypeVar("T")

PREFIX = b"k8s\x00"  # The first bytes of every Kubernetes document in Protocol Buffers
_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5  # Wire types
_FIXED_BYTES = {_FIXED_64: 8, _FIXED_32: 4}
_MORE = 0x80  # The bit of a byte that says that the varint continues
_LONGEST_VARINT = 10  # Bytes of a varint of 64 bits
# The least size of a message to compare it with similar ones, and the length of their common beginning (bytes).
_WORTHWHILE, _BEGINNING = 100, 12
_SIGN, _WORD = 1 << 63, 1 << 64
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NOT_VALID = "not valid Protocol Buffers"
_ANNOTATIONS = "annotations"
_KEPT = frozenset(KEPT_ANNOTATIONS)

_Values = dict[str, Any]
_Read = Callable[[Any], Any]


class _Field(NamedTuple):
    """A field in use."""

    name: str
    read: Any  # decodes its bytes or number
    put: int  # whether a value is the field's only value, one of several, a map entry, or has fields of the Struct
    keeps_zero: bool  # whether zero differs from an absent value; upstream writes zeros for absent values too


_ONE, _MANY, _ENTRY, _INLINE = range(4)
_PUT = {"": _ONE, "repeated": _MANY, "map": _ENTRY}
_Fields: TypeAlias = Mapping[int, _Field]  # Encoded field number and wire type → the field
_NUMBERS: Mapping[str, _Read] = {"bool": bool, "int32": int, "int64": int}
# Messages that differ for each object, so that caches by bytes do not help.
_SECTIONS = frozenset(("Pod", "Node", "ObjectMeta", "PodSpec", "PodStatus", "NodeSpec", "NodeStatus"))


def read_list(document: bytes) -> tuple[str, ListMeta, bytes]:
    """Return the kind of a list, such as ``PodList``, its metadata, and the bytes of the list.

    Raises:
        DecodeError: it is cut short, or no Kubernetes document in Protocol Buffers.
    """
    metadata = _Field("metadata", _Decoder().reader(ListMeta, "ListMeta"), _ONE, keeps_zero=True)
    with _decode_errors():
        kind, raw = _envelope(document)
        return kind, _walk(raw, {_tag(1, _BYTES): metadata}).get("metadata", ListMeta()), raw


def read_object(document: bytes, into: type[T]) -> tuple[str, T]:
    """Return the kind of an object, and the object as the type, whose name is that of upstream's message.

    Raises:
        DecodeError: it is cut short, or no Kubernetes document in Protocol Buffers.
    """
    with _decode_errors():
        kind, raw = _envelope(document)
        return kind, _Decoder().reader(into, into.__name__)(raw)


class ListDecoder(Generic[T]):
    """Decodes the pages of one list; its objects share equal parts. The type's name is that of upstream's message."""

    def __init__(self, into: type[T]) -> None:
        self._decoder = _Decoder()
        read = self._decoder.reader(into, into.__name__)
        self._fields: _Fields = {_tag(2, _BYTES): _Field("items", read, _MANY, keeps_zero=True)}

    def items(self, raw: bytes) -> tuple[T, ...]:
        """Return the objects of a page from the bytes of the list.

        Raises:
            DecodeError: it is cut short or malformed.
        """
        with _decode_errors():
            found = _walk(raw, self._fields)
        self._decoder.forget_bytes()
        return tuple(found.get("items", ()))

    def forget(self) -> None:
        """Free the caches after the last page: they are large, and Python would keep them for a while."""
        self._decoder.forget()


class _Decoder:
    def __init__(self) -> None:
        self._forgetting: list[Callable[[], None]] = []
        self._parts: dict[tuple[Any, ...], Any] = {}
        text = self._remembering(_text)
        quantity = self._remembering(lambda part: str(_walk(part, _TEXT).get("text", "")))
        self._leaves = {"string": text, "Time": self._remembering(_time), "Quantity": quantity}
        self._entries = {
            "string": self._remembering(_entry_reader(text)),
            "Quantity": self._remembering(_entry_reader(quantity)),
            _ANNOTATIONS: self._remembering(_annotation),
        }

    def forget_bytes(self) -> None:
        """Free the caches by bytes, and keep the decoded parts."""
        for forget in self._forgetting:
            forget()

    def forget(self) -> None:
        self.forget_bytes()
        self._parts.clear()

    def reader(self, into: type, message: str) -> _Read:
        unique = message in _SECTIONS
        make = into if unique else self._one_of_equals(into)
        siblings = _Siblings(make, self._fields(into, message), self._shared)
        self._forgetting.append(siblings.known.clear)
        return siblings.read if unique else self._remembering(siblings.read)

    def _one_of_equals(self, into: type) -> Callable[..., object]:
        """Return what makes Structs of values, the same one of equal values."""
        parts = self._parts

        def make(**values: object) -> object:
            # The values live as long as the Struct, so their IDs stay valid.
            key = (into, *values, *map(id, values.values()))
            return parts.get(key) or parts.setdefault(key, into(**values))

        return make

    def _shared(self, values: _Values) -> _Values:
        parts = self._parts
        for name, value in values.items():
            kind = type(value)
            if kind is list:
                values[name] = parts.setdefault((*map(id, value),), tuple(value))
            elif kind is dict:
                values[name] = parts.setdefault((*value.items(),), value)
        return values

    def _remembering(self, read: _Read) -> _Read:
        remembered = cache(read)
        self._forgetting.append(remembered.cache_clear)
        return remembered

    def _fields(self, into: type, message: str) -> _Fields:
        """Return the fields of a message that the Struct has, also those of messages that are inlined."""
        wanted = {field.encode_name: field for field in msgspec.structs.fields(into)}
        found: dict[int, _Field] = {}
        for name, (number, kind) in MESSAGES[message].items():
            if name in wanted:
                tag, field = self._field(wanted[name], number, kind)
                found[tag] = field
            else:
                inner = self._fields(into, kind)
                found[_tag(number, _BYTES)] = _Field(name, _inlined(inner), _INLINE, keeps_zero=True)
        return found

    def _field(self, wanted: msgspec.structs.FieldInfo, number: int, kind: str) -> tuple[int, _Field]:
        label, _, message = kind.rpartition(" ")
        optional = wanted.default is None and message != "Time"
        if message in _NUMBERS:
            return _tag(number, _VARINT), _Field(wanted.name, _NUMBERS[message], _PUT[label], optional)
        if label == "map":
            few = wanted.name == _ANNOTATIONS and wanted.type is Annotations
            read = self._entries[_ANNOTATIONS if few else message]
            return _tag(number, _BYTES), _Field(wanted.name, read, _ENTRY, keeps_zero=True)
        if message in self._leaves:
            return _tag(number, _BYTES), _Field(wanted.name, self._leaves[message], _PUT[label], optional)
        read = self.reader(next(structs_in(wanted.type)), message)
        return _tag(number, _BYTES), _Field(wanted.name, read, _PUT[label], optional)


class _Layout(NamedTuple):
    """A decoded message, and how other messages of the same layout differ from it."""

    part: bytes
    values: _Values  # the decoded values; without those that differ, after others were compared
    differing: frozenset[int] = frozenset()  # the places where differing values begin
    # the bytes that all messages have in common, with their places; empty before a comparison
    same: Sequence[tuple[slice, bytes]] = ()
    # the fields in use with a differing value, each with the places of all its values
    fields: Sequence[tuple[_Field, Sequence[slice]]] = ()


class _Siblings:
    """Decodes messages to Structs; of messages with the same layout, only the places where they differ."""

    def __init__(self, make: Callable[..., object], fields: _Fields, shared: Callable[[_Values], _Values]) -> None:
        self._make = make
        self._fields = fields
        self._shared = shared
        self.known: dict[tuple[int, bytes], _Layout] = {}

    def read(self, part: bytes) -> object:
        if len(part) < _WORTHWHILE:
            return self._make(**self._shared(_walk(part, self._fields)))
        key = (len(part), part[:_BEGINNING])
        known = self.known.get(key)
        if known is not None and known.same and _has(part, known.same):
            return self._make(**known.values, **self._shared(_read_at(part, known.fields)))
        values = self._shared(_walk(part, self._fields))
        alone = _Layout(part, values)
        self.known[key] = alone if known is None else _compared(alone, known, self._fields)
        return self._make(**values)


def _has(part: bytes, same: Sequence[tuple[slice, bytes]]) -> bool:
    for at, wanted in same:  # noqa: SIM110 - all() takes twice as long
        if part[at] != wanted:
            return False
    return True


def _read_at(part: bytes, fields: Sequence[tuple[_Field, Sequence[slice]]]) -> _Values:
    values: _Values = {}
    for field, places in fields:
        for at in places:
            value = field.read(part[at])
            if field.put != _ONE:
                _add(values, field, value)
            elif value or field.keeps_zero:
                values[field.name] = value
    return values


def _compared(new: _Layout, known: _Layout, fields: _Fields) -> _Layout:
    """Return the layout of a message, with its differences from one of equal length; without, if the layouts differ."""
    places = [*_places(new.part, fields)]
    differing = known.differing.union(at.start for at, _ in places if new.part[at] != known.part[at])
    bounds = [0, *(bound for at, _ in places if at.start in differing for bound in (at.start, at.stop)), len(new.part)]
    same = [(at, new.part[at]) for at in map(slice, bounds[::2], bounds[1::2])]
    again = {field.name: field for at, field in places if field is not None and at.start in differing}
    if not _has(known.part, same) or any(field.put == _INLINE for field in again.values()):
        return new
    return _Layout(
        part=new.part,
        values={name: value for name, value in new.values.items() if name not in again},
        differing=differing,
        same=same,
        fields=[(field, [at for at, other in places if other is field]) for field in again.values()],
    )


def _places(part: bytes, fields: _Fields) -> Iterator[tuple[slice, _Field | None]]:
    """Yield the bytes of each value in a message, and its field; None for an unused field."""
    at = 0
    while at < len(part):
        tag, at = _varint(part, at)
        wire = tag & 7
        if wire == _VARINT:
            _, at = _varint(part, at)
            continue
        length, begin = _varint(part, at) if wire == _BYTES else (_fixed_bytes(wire), at)
        at = begin + length
        if wire == _BYTES:
            yield slice(begin, at), fields.get(tag)


def _walk(part: bytes, fields: _Fields, *, at: int = 0) -> _Values:
    """Return the values of the fields in use, from a place in the bytes.

    Raises:
        IndexError, DecodeError: it is cut short or malformed.
    """
    values: _Values = {}
    end, known = len(part), fields.get
    while at < end:
        tag = part[at]
        at += 1
        if tag >= _MORE:
            tag, at = _varint(part, at - 1)
        if tag & 7 == _BYTES:
            length = part[at]
            at += 1
            if length >= _MORE:
                length, at = _varint(part, at - 1)
            begin = at
            at += length
            field = known(tag)
            if field is None:
                continue
            name, read, put, keeps_zero = field
            value = read(part[begin:at])
            if put != _ONE:
                _add(values, field, value)
            elif value or keeps_zero:
                values[name] = value
        elif tag & 7 == _VARINT:
            at = _add_number(values, known(tag), part, at)
        else:
            at += _fixed_bytes(tag & 7)
    if at > end:
        raise IndexError
    return values


def _add(values: _Values, field: _Field, value: Any) -> None:  # noqa: ANN401 - of any field
    name, _, put, _ = field
    if put == _MANY:
        if name in values:
            values[name].append(value)
        else:
            values[name] = [value]
    elif put == _ENTRY:
        values.setdefault(name, {}).update(value)
    else:
        values.update(value)


def _add_number(values: _Values, field: _Field | None, part: bytes, at: int) -> int:
    number = part[at]
    at += 1
    if number >= _MORE:
        number, at = _varint(part, at - 1)
    if field is not None and (number or field.keeps_zero):
        values[field.name] = field.read(number)
    return at


def _fixed_bytes(wire: int) -> int:
    if wire in _FIXED_BYTES:
        return _FIXED_BYTES[wire]
    raise DecodeError(f"{_NOT_VALID}: there is no wire type {wire}")


def _varint(part: bytes, at: int) -> tuple[int, int]:
    """Return the number at the place, and where it ends; it has groups of seven bits, the lowest first."""
    byte = part[at]
    if byte < _MORE:
        return byte, at + 1
    second = part[at + 1]
    if second < _MORE:
        return byte + (second - 1 << 7), at + 2
    number, shift = byte & ~_MORE, 7
    for place in range(at + 1, at + _LONGEST_VARINT):
        byte = part[place]
        number |= (byte & ~_MORE) << shift
        if byte < _MORE:
            return number - _WORD if number & _SIGN else number, place + 1
        shift += 7
    raise DecodeError(f"{_NOT_VALID}: a number does not end")


def _tag(number: int, wire: int) -> int:
    return number << 3 | wire


def _text(part: bytes) -> str:
    return part.decode(errors="replace")


_TEXT: _Fields = {_tag(1, _BYTES): _Field("text", _text, _ONE, keeps_zero=False)}
_SECONDS: _Fields = {_tag(1, _VARINT): _Field("seconds", int, _ONE, keeps_zero=True)}


def _time(part: bytes) -> str | None:
    seconds = _walk(part, _SECONDS).get("seconds")
    return None if seconds is None else f"{_EPOCH + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"


def _entry_reader(read: _Read) -> _Read:
    fields: _Fields = {
        _tag(1, _BYTES): _Field("key", _text, _ONE, keeps_zero=True),
        _tag(2, _BYTES): _Field("value", read, _ONE, keeps_zero=True),
    }

    def read_entry(part: bytes) -> tuple[tuple[str, Any], ...]:
        found = _walk(part, fields)
        return ((found.get("key", ""), found.get("value", "")),)

    return read_entry


_read_bytes = _entry_reader(bytes)


def _annotation(part: bytes) -> tuple[tuple[str, str], ...]:
    return tuple((key, _text(value or b"")) for key, value in _read_bytes(part) if key in _KEPT)


@contextmanager
def _decode_errors() -> Iterator[None]:
    try:
        yield
    except IndexError as error:
        raise DecodeError(f"{_NOT_VALID}: cut short") from error
    except OverflowError as error:
        raise DecodeError(f"{_NOT_VALID}: a time is not valid") from error


def _inlined(fields: _Fields) -> _Read:
    return lambda part: _walk(part, fields)


_TYPE_META: _Fields = {_tag(2, _BYTES): _Field("kind", _text, _ONE, keeps_zero=True)}
_ENVELOPE: _Fields = {
    _tag(1, _BYTES): _Field("type", _inlined(_TYPE_META), _INLINE, keeps_zero=True),
    _tag(2, _BYTES): _Field("raw", bytes, _ONE, keeps_zero=True),
}


def _envelope(document: bytes) -> tuple[str, bytes]:
    if not document.startswith(PREFIX):
        raise DecodeError(f"{_NOT_VALID} of Kubernetes")
    found = _walk(document, _ENVELOPE, at=len(PREFIX))
    if "raw" not in found:
        raise IndexError
    return found.get("kind", ""), found["raw"]

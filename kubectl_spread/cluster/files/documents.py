"""Splits files into documents: one Kubernetes object each, of which the kind is known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.cluster.files import json_values, yaml_values
from kubectl_spread.cluster.files.json_values import JsonError
from kubectl_spread.cluster.files.sources import Input
from kubectl_spread.cluster.files.yaml_values import MAX_DEPTH, YamlDocument, YamlError, lines_of
from kubectl_spread.manifest_problem import ManifestProblem
from kubectl_spread.objects.decoding import DecodeError, convert, decode, plain, type_name
from kubectl_spread.objects.kinds import BY_API, Kind
from kubectl_spread.objects.meta import KubernetesObject, Plain

Content: TypeAlias = msgspec.Raw | Plain  # A document: bytes of JSON, or plain values

_JSON = re.compile(rb"[ \t\r\n]*\{")
# A flow mapping of YAML begins like JSON; only files that a person may have written are tried as both.
_MAX_FLOW_YAML = 2**20
# `kubectl cluster-info dump` writes logs between its lists.
_LOG_START = re.compile(rb"^==== START (logs for container [^\n]++)$", re.MULTILINE)
_MOST_LISTS = 10


class Document(msgspec.Struct, frozen=True):
    """One object of a source; each item of a List is an object."""

    source: str  # the file, URL or ``standard input``
    number: int  # the number of the document in the source, from 1
    api_version: str  # of the object, else of the list that it is an item of
    kind: str  # likewise
    content: Content
    path: str = ""  # where the object is in the document, such as ``items[3]``; empty unless it is an item
    text: YamlDocument | None = None  # the YAML that it was read from; None for JSON
    # field path → the two lines of a key that the YAML has twice, where that is no error
    twice: Mapping[str, tuple[int, int]] = {}
    obj: KubernetesObject | None = None  # the decoded content; None before decoding, and for unknown kinds
    fault: tuple[str, ...] = ()  # the field and the reason why it cannot be decoded; empty if it can

    @property
    def values(self) -> Plain:
        """The object as plain values. Do not change them: aliases share them."""
        return plain(self.content) if isinstance(self.content, msgspec.Raw) else self.content

    def holding(self, content: Content, *, api_version: str, kind: str, path: str) -> Document:
        """Return another document of the same place in the source, not decoded."""
        return Document(self.source, self.number, api_version, kind, content, path, self.text, self.twice)

    def decoded(self) -> Document:
        """Return the document with its object, if its kind is known.

        Raises:
            DecodeError: a field has the wrong type.
        """
        kind = BY_API.get((self.api_version, self.kind))
        if kind is None:
            return self
        content = self.content
        obj = decode(content, kind.struct) if isinstance(content, msgspec.Raw) else convert(content, kind.struct)
        return replace(self, obj=obj)

    def lines(self, field_paths: Iterable[str]) -> dict[str, int]:
        """Return field path → line of the source, from 1; the empty path is the object. Empty for JSON."""
        paths = {path: ".".join(part for part in (self.path, path) if part) for path in field_paths}
        found = lines_of(self.text, paths.values()) if self.text else {}
        return {path: found[place] for path, place in paths.items() if place in found}

    def problem(self, message: str, field_path: str = "") -> ManifestProblem:
        """Return the problem of the object, or of one of its fields."""
        place = ".".join(part for part in (self.path, field_path) if part)
        return ManifestProblem(self.source, message, document=self.number, field=place)


def read_objects(
    inputs: Iterable[Input | ManifestProblem],
    *,
    strict: bool,
    lists: Counter[Kind] | None = None,
    repeats: bool = False,
) -> Iterator[Document | ManifestProblem]:
    """Yield the objects of the inputs, and their problems.

    ``strict``: whether JSON is checked as strictly as YAML. ``lists`` is filled with the number of lists of each
    kind, such as PodLists, empty ones too. ``repeats``: whether the last value of a key that YAML has twice
    counts, as for kubectl; else it is an error.
    """
    lists = Counter() if lists is None else lists
    for found in inputs:
        if isinstance(found, ManifestProblem):
            yield found
            continue
        empty = True
        for document in contents(found, strict=strict, repeats=repeats):
            empty = False
            yield from [document] if isinstance(document, ManifestProblem) else _flatten(document, lists)
        # In a directory, a file of comments is no problem; an empty file is a failed copy.
        if empty and not (found.listed and found.content.strip()):
            yield ManifestProblem(found.source, "holds no Kubernetes object")


def contents(found: Input, *, strict: bool, repeats: bool = False) -> Iterator[Document | ManifestProblem]:
    """Yield the documents of an input, Kubernetes objects or not, and its problems; for the arguments see above."""
    content = _without_logs(found.content)
    if not _JSON.match(content):
        yield from _yaml(found.source, content, repeats=repeats)
    elif len(content) > _MAX_FLOW_YAML:
        yield from _json(found.source, content, strict=strict)
    else:
        as_json = tuple(_json(found.source, content, strict=strict))
        as_yaml = () if _sound(as_json) else tuple(_yaml(found.source, content, repeats=repeats))
        yield from as_yaml if as_yaml and _sound(as_yaml) else as_json


def _sound(found: Iterable[Document | ManifestProblem]) -> bool:
    return not any(isinstance(each, ManifestProblem) for each in found)


def _json(source: str, content: bytes, *, strict: bool) -> Iterator[Document | ManifestProblem]:
    number = 0
    try:
        for number, raw in enumerate(json_values.split(content), 1):
            if not strict:
                yield Document(source, number, "", "", raw)
                continue
            try:
                yield _check_depth(Document(source, number, "", "", json_values.strict_values(raw)))
            except JsonError as error:
                yield ManifestProblem(source, str(error), document=number)
    except JsonError as error:
        yield ManifestProblem(source, str(error), document=number + 1)


def _yaml(source: str, content: bytes, *, repeats: bool) -> Iterator[Document | ManifestProblem]:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        yield ManifestProblem(source, f"is not UTF-8 text: line {line} holds the byte 0x{content[error.start]:02x}")
        return
    for document in yaml_values.split(text):
        twice: dict[str, tuple[int, int]] = {}
        try:
            values = document.values(twice if repeats else None)
        except YamlError as error:
            what = "is a template, such as helm template renders, and no" if "{{" in document.text else "is not valid"
            yield ManifestProblem(source, f"{what} YAML: {error}", document=document.number)
        else:
            if values is not None:
                yield _check_depth(Document(source, document.number, "", "", values, text=document, twice=twice))


def _check_depth(document: Document) -> Document | ManifestProblem:
    """Return the document unless it is nested so deep that recursion over it would fail."""
    level = [document.content]
    for _ in range(MAX_DEPTH + 1):
        nested = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        level = [child for children in nested for child in children]
        if not level:
            return document
    return document.problem(f"is nested more than {MAX_DEPTH} deep")


def _without_logs(content: bytes) -> bytes:
    """Blank the container logs. Source: kubectl pkg/cmd/clusterinfo/clusterinfo_dump.go Run (v1.36)."""
    kept, done = [], 0
    while start := _LOG_START.search(content, done):
        end_mark = b"==== END %s\n" % start[1]
        end = content.find(end_mark, start.end())
        # A section without an end was cut off, so it is the last; a search for others would take quadratic time.
        if end < 0:
            break
        kept += [content[done : start.start()], b"\n" * content.count(b"\n", start.start(), end)]
        done = end + len(end_mark) - 1
    return b"".join((*kept, content[done:])) if kept else content


# Files that are often beside manifests → what they are.
_NO_OBJECTS = {
    "Chart.yaml": " but the metadata of a Helm chart",
    "values.yaml": " but the values of a Helm chart",
    **dict.fromkeys(("kustomization.yaml", "kustomization.yml"), " but a kustomization, which -k builds"),
}


class _Header(msgspec.Struct, rename="camel"):
    """The fields that tell an object from a list, and its kind; not checked yet."""

    api_version: Any = None
    kind: Any = None
    items: Any = None


class _RawHeader(_Header, rename="camel"):
    """The same for JSON; the items stay bytes."""

    items: msgspec.Raw = msgspec.Raw(b"null")


def _flatten(document: Document, lists: Counter[Kind]) -> Iterator[Document | ManifestProblem]:
    """Source: visitor.go FlattenListVisitor.Visit, meta/help.go EachListItem (v1.36)."""
    waiting = [iter((document,))]
    while waiting:
        each = next(waiting[-1], None)
        if each is None:
            waiting.pop()
            continue
        try:
            header = _read_header(each.content)
            named = _with_kind(each, header)
            items = _items_of(named, header)
        except DecodeError as error:
            yield each.problem(error.reason, error.field_path)
            continue
        if items is None:
            yield named
        else:
            if kind := BY_API.get((named.api_version, named.kind.removesuffix("List"))):
                lists[kind] += 1
            waiting.append(items)


def _read_header(content: Content) -> _Header:
    if isinstance(content, msgspec.Raw):
        return decode(content, _RawHeader)
    if isinstance(content, dict):
        return _Header(content.get("apiVersion"), content.get("kind"), content.get("items"))
    raise DecodeError(f"must be a mapping, not {type_name(content)}")


def _with_kind(document: Document, header: _Header) -> Document:
    """Return the document with its kind; an item without a kind has that of its list."""
    names = {
        "apiVersion": document.api_version if header.api_version is None else header.api_version,
        "kind": document.kind if header.kind is None else header.kind,
    }
    for field, name in names.items():
        if not isinstance(name, str):
            raise DecodeError(f"must be a string, not {type_name(name)}", field)
    if missing := [field for field, name in names.items() if not name]:
        verb = "is" if len(missing) == 1 else "are"
        what = _NO_OBJECTS.get(document.source.rpartition("/")[2], "")
        raise DecodeError(f"is not a Kubernetes object{what}: {' and '.join(missing)} {verb} missing")
    return document.holding(document.content, api_version=names["apiVersion"], kind=names["kind"], path=document.path)


def _items_of(document: Document, header: _Header) -> Iterator[Document] | None:
    if not document.kind.endswith("List"):
        return None
    kind = document.kind.removesuffix("List")
    api_version = document.api_version if kind else ""
    known = not kind or (api_version, kind) in BY_API
    items: Iterable[Content]
    if isinstance(header.items, list):
        items = header.items
    elif isinstance(header.items, msgspec.Raw) and bytes(memoryview(header.items)[:1]) == b"[":
        items = json_values.elements(header.items)
    elif not known:
        return None
    else:
        found = plain(header.items) if isinstance(header.items, msgspec.Raw) else header.items
        if found is not None:
            raise DecodeError(f"must be a list, not {type_name(found)}", "items")
        return iter(())  # Go writes an empty list as null.
    if document.path.count("items[") >= _MOST_LISTS:
        raise DecodeError(f"lists are nested more than {_MOST_LISTS} deep")
    prefix = f"{document.path}." if document.path else ""
    return (
        document.holding(item, api_version=api_version, kind=kind, path=f"{prefix}items[{index}]")
        for index, item in enumerate(items)
    )

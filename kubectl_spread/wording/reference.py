"""What ``kubectl spread explain`` prints, read from ``reference.txt``: what the words in reports mean, what to do.

A block of the file is an entry: its kind and name, then its fields. The order of the blocks is that of the list. The
last block has the fields of ``-o json`` that need no entry, because many types have them.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files

import msgspec


class EntryKind(StrEnum):
    """What kind of thing is explained."""

    FINDING = "finding"
    FIX = "fix"
    WAIT = "wait"
    STATUS = "status"
    VERDICT = "verdict"
    RISK = "risk"
    HOLDER = "holder"
    DECISION = "decision"
    OUTCOME = "outcome"
    FIELD = "field"
    COLUMN = "column"
    WARNING = "warning"


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is explained."""

    kind: EntryKind  # of thing
    name: str  # as it is written in reports and manifests
    summary: str  # what it is, in half a line
    meaning: str  # what it means
    when: str  # when it is reported or offered; for a field, what the API server accepts
    action: str  # what to do
    link: str  # the heading of the Kubernetes documentation


@cache
def _blocks() -> Mapping[str, Mapping[str, str]]:
    """Return first line of a block → its fields."""
    text = files("kubectl_spread.wording").joinpath("reference.txt").read_text(encoding="utf-8")
    blocks = (re.sub(r"\n {4}", " ", block).splitlines() for block in text.split("\n\n"))
    return {head: dict(line.strip().split(": ", 1) for line in lines) for head, *lines in blocks}


@cache
def entries() -> tuple[Entry, ...]:
    """Return everything there is to explain, in the order in which it is listed."""
    heads = ((head.split(), fields) for head, fields in _blocks().items() if " " in head)
    return tuple(Entry(kind=EntryKind(kind), name=name, **fields) for (kind, name), fields in heads)


def entries_named(name: str) -> tuple[Entry, ...]:
    """Return what the name means, in any case; of a path such as ``spec.x[0].maxSkew`` the last field counts."""
    wanted = name.rpartition(".")[2].lower()
    return tuple(entry for entry in entries() if entry.name.lower() == wanted)


def similar_names(name: str) -> tuple[str, ...]:
    """Return the names that may be meant, the nearest first."""
    from difflib import get_close_matches

    names = {entry.name.lower(): entry.name for entry in entries()}
    return tuple(names[near] for near in get_close_matches(name.rpartition(".")[2].lower(), names, n=3, cutoff=0.6))


def common_fields() -> Mapping[str, str]:
    """Return field of ``-o json`` → its meaning, for those that types do not document."""
    return _blocks()["json"]

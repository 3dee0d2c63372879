"""Strings that others write, made to fool whoever reads them, and snapshots full of them.

``poisoned(objects, poison)`` puts a poison into every string of Kubernetes objects that can reach an output, alike
wherever the same string stands, so that selectors still match and Pods stay on their nodes. ``raw_characters(text)``
says what is left in an output that a terminal or an editor would act on.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import yaml

Values: TypeAlias = Any

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "examples" / "shop.yaml"
WAREHOUSE = ROOT / "tests" / "testdata" / "cli" / "warehouse.yaml"
MANIFESTS = ROOT / "tests" / "testdata" / "cli" / "manifests.yaml"

FORGED = "FORGED LINE"  # What no line of an output may begin with

POISONS = (
    "\x1b[2J\x1b[31mred",  # clears the screen, then paints
    "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",  # OSC 8: a link that shows another text
    "\x1b]0;title\x07\x9b31m\x90",  # sets the title; the C1 forms of CSI and DCS
    "\u202egnp.exe\u202c\u2066\u2069\u2067\u2068\u202a\u202b\u202d",  # every bidi embedding, override and isolate
    "\u200e\u200f\u061c",  # bidi marks
    "\u200b\u200c\u200d\u2060\ufeff\u00ad",  # zero width
    f"\n{FORGED}\r{FORGED}\x85{FORGED}\u2028{FORGED}\u2029{FORGED}\x0b{FORGED}\x0c{FORGED}",  # every kind of line break
    "\t\x00\x08\x08\x08\x7f\x07",  # tab, NUL, backspace, delete, bell
    "\U000e0041\U000e007f\U0001d173",  # tags and other invisible characters beyond 16 bits
    "| a | b ||---|`code```<!-- ",  # Markdown's tables, code and comments
    "<script>alert(1)</script><img src=x onerror=alert(1)>&lt;&amp;",  # HTML
    "\"'`$(touch forged)${HOME};touch forged&|>forged\\",  # a shell's words
    '%%{init: {}}%%"]-->A[x];click A "javascript:alert(1)"#quot;#35;',  # Mermaid
    "::error file=a,line=1::forged%0A::stop-commands::x",  # what a CI reads as commands
    '{{ .Values }}{% raw %}\\"} 1\n# HELP forged',  # templates, and Prometheus' exposition format
    "!!python/object:os.system *alias &anchor - ? : # %TAG @",  # YAML
    '=HYPERLINK("https://evil.example")',  # a spreadsheet's formula
    "\u6771\u4eac\u0301\u0301\u0301\U0001f389\u3164",  # wide characters, stacked marks, a filler that draws nothing
)
"""What each does stands beside it. No poison holds a lone surrogate: no JSON or YAML can carry one."""

COMBINED = {
    "acting": "".join(poison for poison in POISONS if not poison.isprintable() and FORGED not in poison),
    "breaking": "".join(poison for poison in POISONS if FORGED in poison),
    "marking up": "".join(poison for poison in POISONS if poison.isprintable()),
}
"""All of them in three strings; lines are broken in one alone, for a cell ends at its first line."""

# Categories that draw nothing, break lines, or reorder what is drawn.
_ACTING = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))

# Fields whose strings people choose; everything else is an enumeration, an amount or a time.
_FREE_FIELDS = frozenset(
    (
        *(
            "name",
            "generateName",
            "namespace",
            "nodeName",
            "nominatedNodeName",
            "uid",
            "message",
            "image",
            "serviceName",
        ),
        *(
            "topologyKey",
            "key",
            "value",
            "claimName",
            "storageClassName",
            "volumeName",
            "finalizers",
            "values",
            "names",
        ),
        *(
            "matchLabelKeys",
            "mismatchLabelKeys",
            "priorityClassName",
            "runtimeClassName",
            "driver",
            "nodeID",
            "provisioner",
            "schedulerName",
        ),
    )
)
_READ_AS_IT_STANDS = ("metadata.name", "default-scheduler")
_FREE_MAPS = frozenset(("labels", "matchLabels", "nodeSelector", "annotations", "selector"))
# What these amounts are of is a name too, but for what every cluster has.
_AMOUNTS = frozenset(("requests", "limits", "allocatable", "capacity"))
_KNOWN_RESOURCES = ("cpu", "memory", "pods", "ephemeral-storage", "hugepages-", "storage")


def raw_characters(text: str) -> set[str]:
    """Return the characters of a text, other than newlines, that act on a terminal or on the order of what it shows."""
    return {each for each in set(text) if each != "\n" and unicodedata.category(each) in _ACTING}


def objects_in(path: Path) -> list[Values]:
    """Return the objects of a YAML file, those in lists one by one, as JSON would carry them."""
    loaded = yaml.load_all(path.read_text("utf-8"), yaml.CSafeLoader)
    documents = [json.loads(json.dumps(each, default=str)) for each in loaded]
    return [each for document in documents if document for each in document.get("items", [document])]


def poisoned(objects: Iterable[Values], poison: str) -> list[Values]:
    """Return the objects with the poison at the end of every string that people choose.

    Enumerations, amounts, times, versions and kinds stay as they are, and so does the default scheduler's name, or
    another scheduler would decide. Labels that a label selector names stay too: kube-scheduler parses selectors, and a
    Pod whose selector no API server would take goes nowhere.
    """
    given = list(objects)
    selected = frozenset(_selected(given))
    return [_poisoned(each, poison, selected) for each in given]


def _selected(value: Values) -> Iterator[str]:
    """Yield the label keys that label selectors name."""
    if isinstance(value, list):
        for each in value:
            yield from _selected(each)
    elif isinstance(value, dict):
        yield from value.get("matchLabels") or ()
        yield from (each["key"] for each in value.get("matchExpressions") or ())
        for each in value.values():
            yield from _selected(each)


def _poisoned(value: Values, poison: str, selected: Collection[str], field: str = "") -> Values:
    if isinstance(value, list):
        return [_poisoned(each, poison, selected, field) for each in value]
    if isinstance(value, dict):
        if field == "matchExpressions" and value["key"] in selected:
            return value
        if field in _FREE_MAPS and all(isinstance(each, str) for each in value.values()):
            return {
                key if key in selected else f"{key}{poison}": each if key in selected else f"{each}{poison}"
                for key, each in value.items()
            }
        extended = poison if field in _AMOUNTS else ""
        return {
            f"{key}{extended}" if extended and not key.startswith(_KNOWN_RESOURCES) else key: _poisoned(
                each, poison, selected, key
            )
            for key, each in value.items()
        }
    free = field in _FREE_FIELDS and value not in _READ_AS_IT_STANDS
    return f"{value}{poison}" if free and isinstance(value, str) else value

"""Reports to be rendered: those of the goldens, as they are and with hostile text wherever others write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir
from enum import Enum
from functools import cache
from typing import Any
from unittest.mock import patch

import msgspec

from kubectl_spread.contract.any_report import AnyReport, ItemsReport
from kubectl_spread.contract.check import CheckReport
from kubectl_spread.contract.form import form_of
from kubectl_spread.contract.pending import PendingReport
from kubectl_spread.diagnosis.skew import SkewItem
from kubectl_spread.render import structured
from kubectl_spread.render.outline import Extent
from kubectl_spread.render.outline.check import check_outline
from kubectl_spread.render.outline.pending import pending_outline
from kubectl_spread.render.text import outline_text
from kubectl_spread.render.text.screen import Screen
from tests.cli.test_golden import CASES, ROOT
from tests.diagnosis.judged import varied
from tests.program import spread

PAGES = tuple(name.removesuffix(".json") for name in CASES if name.endswith(".json"))
REPORTS = tuple(name for name in PAGES if not name.startswith(("simulate/", "rebalance/", "audit/")))
"""Reports of every kind: a page shows them all."""

HOSTILE = "\"']|`*_<img src=x>&amp;#35;%0A::error::\\\x1b[2J\u202e\r\n```\n| x |\nend; classDef"
"""What would end a string, a cell, a block, a tag or a line in one of the formats."""
# What others write. Names of plugins, verdicts and the like are ours.
FOREIGN = frozenset(
    (
        *("name", "namespace", "message", "summary", "value", "node", "topologyKey", "selector", "detail"),
        *("field", "source", "statusReason", "what", "why", "consequence", "key", "starts", "revision"),
    )
)
FOREIGN_LISTS = frozenset(
    ("feasible", "nodes", "alike", "commands", "reasons", "ghosts", "next", "minimumDomains", "taints")
)
FOREIGN_KEYS = frozenset(("byNode",))


def golden_report(name: str) -> ItemsReport:
    """Return the report of a golden, such as ``show/shop``."""
    report = page_report(name)
    assert isinstance(report, ItemsReport)
    return report


@cache
def page_report(name: str) -> AnyReport:
    """Return the report of a golden, of any kind."""
    reports: list[AnyReport] = []

    def kept(report: AnyReport) -> str:
        reports.append(report)
        return ""

    with chdir(ROOT), patch.object(structured, "to_json", kept):
        spread(*CASES[f"{name}.json"])
    return reports[0]


def poisoned_report(name: str) -> ItemsReport:
    """Return the same with hostile text wherever others write."""
    poisoned: ItemsReport = _poisoned(golden_report(name))
    return poisoned


def check_report(name: str, *, poisoned: bool = False) -> CheckReport:
    """Return what becomes of manifests, in a golden."""
    report = poisoned_report(name) if poisoned else golden_report(name)
    assert isinstance(report, CheckReport)
    return report


def pending_text(report: PendingReport, *, wide: bool, colors: bool = False) -> str:
    """Return why Pods are Pending, as text."""
    return outline_text(pending_outline(report, Extent(wide=wide, evidence=wide)), Screen(colors=colors))


def check_text(report: CheckReport, *, wide: bool, colors: bool = False) -> str:
    """Return what becomes of manifests, as text."""
    return outline_text(check_outline(report, Extent(wide=wide, evidence=wide)), Screen(colors=colors))


def strings(value: Any) -> Iterator[str]:  # noqa: ANN401 - whatever JSON holds
    """Yield every text within a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from strings(each)


def _poisoned(value: Any, *, foreign: bool = False, keys: bool = False) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value with hostile text behind what others write."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return value + HOSTILE if foreign else value
    if isinstance(value, tuple | list):
        return type(value)(_poisoned(each, foreign=foreign) for each in value)
    if isinstance(value, dict):
        return {(key + HOSTILE if keys else key): _field(key, each) for key, each in value.items()}
    if isinstance(value, SkewItem):
        fields = form_of(SkewItem).__struct_fields__
        varying = {name: _field(name, getattr(value, name)) for name in fields if hasattr(value, name)}
        matching = {domain + HOSTILE: number for domain, number in value.state.matching.items()}
        state = msgspec.structs.replace(value.state, matching=matching)
        return varied(msgspec.structs.replace(value, state=state), **varying)
    if isinstance(value, msgspec.Struct):
        encoded = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
        return msgspec.structs.replace(value, **{name: _field(key, getattr(value, name)) for name, key in encoded})
    return value


def _field(key: str, value: Any) -> Any:  # noqa: ANN401 - whatever a report holds
    names = FOREIGN if isinstance(value, str) else FOREIGN_LISTS
    return _poisoned(value, foreign=key in names, keys=key in FOREIGN_KEYS)

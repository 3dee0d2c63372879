"""Reports to be rendered: those of the goldens, as they are and with hostile text wherever others write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from kubectl_spread.contract.check import CheckReport
from kubectl_spread.contract.pending import PendingReport
from kubectl_spread.contract.rebalance import RebalanceReport
from kubectl_spread.contract.simulate import SimulateReport
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.render.outline import Extent
from kubectl_spread.render.outline.any_report import AnyReport, ItemsReport
from kubectl_spread.render.outline.check import check_outline
from kubectl_spread.render.outline.pending import pending_outline
from kubectl_spread.render.text import outline_text
from kubectl_spread.render.text.screen import Screen

GOLDEN = Path(__file__).parents[1] / "golden"
TYPES: dict[str, type[ItemsReport]] = {"show": SkewReport, "why-pending": PendingReport, "check": CheckReport}
PLANS: dict[str, type[SimulateReport | RebalanceReport]] = {"simulate": SimulateReport, "rebalance": RebalanceReport}
REPORTS = tuple(f"{kind}/{path.stem}" for kind in TYPES for path in sorted((GOLDEN / kind).glob("*.json")))
PAGES = (*REPORTS, *(f"{kind}/{path.stem}" for kind in PLANS for path in sorted((GOLDEN / kind).glob("*.json"))))
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
FOREIGN_LISTS = frozenset(("feasible", "nodes", "alike", "commands", "reasons", "ghosts", "next", "minimumDomains"))
FOREIGN_KEYS = frozenset(("byNode",))


def golden_report(name: str) -> ItemsReport:
    """Return a report of the goldens, such as ``show/shop``."""
    return msgspec.convert(_values(name), TYPES[name.partition("/")[0]])


def page_report(name: str) -> AnyReport:
    """Return a report of the goldens, of any kind."""
    kind = name.partition("/")[0]
    return msgspec.convert(_values(name), PLANS[kind]) if kind in PLANS else golden_report(name)


def poisoned_report(name: str) -> ItemsReport:
    """Return the same with hostile text wherever others write."""
    return msgspec.convert(_poisoned(_values(name)), TYPES[name.partition("/")[0]])


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


def _values(name: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def _poisoned(value: Any, *, foreign: bool = False, keys: bool = False) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value with hostile text behind what others write."""
    if isinstance(value, str):
        return value + HOSTILE if foreign else value
    if isinstance(value, list):
        return [_poisoned(each, foreign=foreign) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        (key + HOSTILE if keys else key): _poisoned(
            each,
            foreign=(isinstance(each, str) and key in FOREIGN) or (isinstance(each, list) and key in FOREIGN_LISTS),
            keys=key in FOREIGN_KEYS,
        )
        for key, each in value.items()
    }

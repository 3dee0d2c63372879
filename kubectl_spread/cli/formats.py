"""The formats of ``-o``: which reports each of them serves, and what prints it.

``table`` and ``wide`` are each command's own text; everything else is a renderer, imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from kubectl_spread.errors import UsageError

if TYPE_CHECKING:
    from kubectl_spread.contract.any_report import AnyReport

SHOW, WHY_PENDING, CHECK = "SkewReport", "PendingReport", "CheckReport"
SIMULATE, REBALANCE = "SimulateReport", "RebalanceReport"
EVERY_REPORT = frozenset((SHOW, WHY_PENDING, CHECK, SIMULATE, REBALANCE))
ABOUT_ITEMS = frozenset((SHOW, WHY_PENDING, CHECK))
"""Reports with items, each with nodes and domains that can be drawn."""
TEXT = ("table", "wide")
STRUCTURED = ("json", "yaml")
"""The formats of what is no report about a cluster."""


@dataclass(frozen=True, slots=True)
class Format:
    """What prints a report.

    Attributes:
        module: of ``kubectl_spread.render``.
        reports: the kinds of reports it can print.
    """

    module: str
    function: str
    reports: frozenset[str] = EVERY_REPORT
    templated: bool = False
    from_file: bool = False

    def load(self, template: str) -> Callable[[AnyReport], str]:
        """Return what prints a report.

        Raises:
            UsageError: the template makes no sense.
        """
        function = getattr(import_module(f"kubectl_spread.render.{self.module}"), self.function)
        if self.from_file:
            template = _read(template)
        printing: Callable[[AnyReport], str] = function(template) if self.templated else function
        return printing


def _read(path: str) -> str:
    """Return the template that a file holds.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"error reading the template {path}: {reason}") from error


FORMATS: Mapping[str, Format] = {
    "json": Format("structured", "to_json"),
    "yaml": Format("structured", "to_yaml"),
    "name": Format("text.names", "names"),
    "markdown": Format("markdown", "to_markdown"),
    "mermaid": Format("mermaid", "to_mermaid", ABOUT_ITEMS),
    "html": Format("html", "to_html"),
    "github": Format("github", "to_github", frozenset((CHECK,))),
    "sarif": Format("sarif", "to_sarif", frozenset((CHECK,))),
    "prom": Format("prometheus", "to_prometheus", frozenset((SHOW,))),
    "prom-by-node": Format("prometheus", "to_prometheus_by_node", frozenset((SHOW,))),
    "jsonpath": Format("jsonpath", "printing", templated=True),
    "jsonpath-as-json": Format("jsonpath", "printing_as_json", templated=True),
    "jsonpath-file": Format("jsonpath", "printing", templated=True, from_file=True),
}
"""What is given with ``-o`` → what prints it."""


def names_for(report: str) -> tuple[str, ...]:
    """Return the formats in which a kind of report can be printed, as they are given."""
    rendered = (f"{name}=" if it.templated else name for name, it in FORMATS.items() if report in it.reports)
    return (*TEXT, *rendered)


def renderer_for(report: str, asked: str) -> Callable[[AnyReport], str] | None:
    """Return what prints a kind of report as asked; None where that is the command's own text.

    Raises:
        UsageError: there is no such format for this kind of report, or its template makes no sense.
    """
    if asked in TEXT:
        return None
    name, equals, template = asked.partition("=")
    found = FORMATS.get(name)
    if found is None or report not in found.reports or (equals and not found.templated):
        formats = ", ".join(names_for(report))
        raise UsageError(f"invalid argument {asked!r} for --output", hint=f"must be one of: {formats}")
    if found.templated and not template:
        raise UsageError(f"template format specified but no template given: -o {name}=", hint=f"want {name}=TEMPLATE")
    return found.load(template)

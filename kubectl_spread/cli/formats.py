"""The formats of ``-o``: which reports each can print, and with which renderer.

``table`` and ``wide`` are the text of each command; the renderers of all other formats are imported on use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from kubectl_spread.errors import UsageError

if TYPE_CHECKING:
    from kubectl_spread.contract.any_report import AnyReport

SHOW, WHY_PENDING, CHECK = "SkewReport", "PendingReport", "CheckReport"
SIMULATE, REBALANCE, AUDIT = "SimulateReport", "RebalanceReport", "AuditReport"
EVERY_REPORT = frozenset((SHOW, WHY_PENDING, CHECK, SIMULATE, REBALANCE, AUDIT))
ABOUT_ITEMS = frozenset((SHOW, WHY_PENDING, CHECK))  # Reports whose items have nodes and domains, which can be drawn
TEXT = ("table", "wide")
STRUCTURED = ("json", "yaml")  # The formats of commands that report nothing about a cluster


@dataclass(frozen=True, slots=True)
class Format:
    """A format of ``-o``: a function of a module of ``kubectl_spread.render``, and the kinds of reports it can print.

    ``templated`` ones take a template.
    """

    module: str
    function: str
    reports: frozenset[str] = EVERY_REPORT
    templated: bool = False

    def load(self, template: str) -> Callable[[AnyReport], str]:
        """Return the function that prints a report; UsageError if the template is invalid."""
        function = getattr(import_module(f"kubectl_spread.render.{self.module}"), self.function)
        printing: Callable[[AnyReport], str] = function(template) if self.templated else function
        return printing


# Name of ``-o`` → format.
FORMATS: Mapping[str, Format] = {
    "json": Format("structured", "to_json"),
    "yaml": Format("structured", "to_yaml"),
    "name": Format("structured", "to_names"),
    "markdown": Format("markdown", "to_markdown"),
    "mermaid": Format("mermaid", "to_mermaid", ABOUT_ITEMS),
    "html": Format("html", "to_html"),
    "github": Format("annotations", "to_github", frozenset((CHECK,))),
    "sarif": Format("sarif", "to_sarif", frozenset((CHECK,))),
    "prom": Format("prometheus", "to_prometheus", frozenset((SHOW, AUDIT))),
    "prom-by-node": Format("prometheus", "to_prometheus_by_node", frozenset((SHOW, AUDIT))),
    "jsonpath": Format("jsonpath", "printer", templated=True),
}


def names_for(report: str) -> tuple[str, ...]:
    """Return the names of the formats for a kind of report; those that take a template end in ``=``."""
    rendered = (f"{name}=" if it.templated else name for name, it in FORMATS.items() if report in it.reports)
    return (*TEXT, *rendered)


def renderer_for(report: str, asked: str) -> Callable[[AnyReport], str] | None:
    """Return the function that prints a kind of report; None for the command's own text.

    UsageError if this kind of report has no such format, or the template is invalid.
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

"""The parts of a card that are lists and sentences: rejections, fixes, findings, what is missing, messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_spread.render.cells import listed
from kubectl_spread.render.fixes import MOST_FIXES, new_node_lines, nothing_helps, requirement_text
from kubectl_spread.render.html.markup import NOTHING, Markup, block, each, element, joined, text
from kubectl_spread.render.table import node_groups
from kubectl_spread.report import (
    EvaluationReport,
    Finding,
    Fix,
    Incomplete,
    PendingItem,
    Severity,
    ValidationError,
    ValidationWarning,
)

SHOWN_NAMES = 8
SEVERITIES = {Severity.ERROR: ("bad", "✕"), Severity.WARNING: ("warn", "▲"), Severity.INFO: ("info", "i")}
"""Severity → its tone and its mark."""


def section(title: str, *content: Markup, class_: str = "") -> Markup:
    """Return a part of a card under its title, or nothing where it is empty."""
    return element("section", element("h3", text(title)), *content, class_=class_) if any(content) else NOTHING


def callout(incomplete: Iterable[Incomplete]) -> Markup:
    """Return, so that nobody misses it, what the answer does not rest on."""
    lines = (
        joined((element("b", text(missing.what)), text(f" ({missing.why}): {missing.consequence}.")))
        for missing in incomplete
    )
    items = block("ul", each("li", lines))
    title = element("p", element("span", text("▲"), class_="mark", aria_hidden="true"), text("Not everything is known"))
    return element("div", title, items, class_="callout") if items else NOTHING


def findings_section(findings: Iterable[Finding]) -> Markup:
    """Return what is worth knowing, each with its severity."""
    return section("Findings", block("ul", each("li", map(_finding, findings)), class_="findings"))


def _finding(finding: Finding) -> Markup:
    """Return one finding."""
    tone, mark = SEVERITIES[finding.severity]
    badge = (element("span", text(mark), class_="mark", aria_hidden="true"), text(f"{finding.severity} {finding.id}"))
    path = block("code", text(finding.path), class_="path")
    return joined((element("b", *badge, class_=f"tag {tone}"), text(f" {finding.message} "), path))


def validation_section(errors: Iterable[ValidationError]) -> Markup:
    """Return what the API server would refuse."""
    lines = (joined((element("code", text(error.field)), text(f" {error.message}"))) for error in errors)
    return section("The API server would refuse", block("ul", each("li", lines)), class_="refused")


def warnings_section(warnings: Iterable[ValidationWarning]) -> Markup:
    """Return what the API server would warn of."""
    lines = (joined((element("code", text(warning.field)), text(f" {warning.message}"))) for warning in warnings)
    return section("The API server would warn", block("ul", each("li", lines)), class_="warned")


def rejections_section(item: EvaluationReport) -> Markup:
    """Return the nodes by what rejects them first, as the scheduler counts them, and what together leaves none."""
    groups = node_groups(item.nodes)
    rows = (
        joined(
            (
                element("td", element("b", text(str(len(group.names)))), class_="n"),
                element("td", text(listed(group.names, SHOWN_NAMES)), class_="names"),
                element("td", text(group.plugin)),
                element("td", text(group.detail or group.reasons)),
            )
        )
        for group in groups
    )
    heads = element("tr", each("th", map(text, ("Nodes", "Names", "Rejected by", "Why")), scope="col"))
    table = element("table", element("thead", heads), element("tbody", each("tr", rows))) if groups else NOTHING
    return section("What rejects the nodes", block("div", table, class_="wide"), _conflict(item))


def _conflict(item: EvaluationReport) -> Markup:
    """Return the fewest requirements that leave no node."""
    names = [requirement_text(requirement, item) for requirement in item.conflict]
    if not names:
        return NOTHING
    told = "This alone leaves no node: " if len(names) == 1 else "Together these leave no node: "
    return element("p", text(told), joined(map(_chip, names)), class_="hint")


def _chip(name: str) -> Markup:
    """Return a requirement's name set apart."""
    return joined((element("b", text(name), class_="tag"), text(" ")))


def fixes_section(item: EvaluationReport) -> Markup:
    """Return the fixes with their commands, the first in full; nothing for a Pod that needs none."""
    if not item.stuck or not item.nodes:
        return NOTHING
    first, rest = item.fixes[:MOST_FIXES], item.fixes[MOST_FIXES:]
    more = element(
        "details",
        element("summary", text(f"{len(rest)} more")),
        element("ol", each("li", map(_fix, rest)), start=str(MOST_FIXES + 1), class_="fixes"),
    )
    notes = [*(nothing_helps(item) if not item.fixes else ()), *new_node_lines(item.new_nodes)]
    if item.fix_search == "bounded":
        notes.append("The search was cut short: --fix-budget gives it more time.")
    return section(
        "Fixes, each tried on this snapshot",
        block("ol", each("li", map(_fix, first)), class_="fixes"),
        more if rest else NOTHING,
        joined(element("p", text(note.strip()), class_="hint") for note in notes),
    )


def _fix(fix: Fix) -> Markup:
    """Return one fix: what it changes, what it opens, what to run, and what that sets off."""
    head = element("p", element("b", text(fix.id), class_="tag"), text(f" {fix.summary}."))
    effects = element("p", text(" ".join(_effects(fix))), class_="hint")
    starts = block("p", text(fix.starts), class_="hint caution")
    return joined((head, effects, *map(_command, fix.commands), starts))


def _effects(fix: Fix) -> Iterator[str]:
    """Yield what a fix does, a sentence each."""
    yield f"Opens {listed(fix.feasible)}."
    if fix.siblings > 1:
        yield f"Lets in {fix.admits} of {fix.siblings} Pending Pods."
    if fix.alike:
        yield f"The same for {listed(fix.alike)}."
    if isinstance(fix.new_revision, tuple):
        yield f"A Pod of the new revision may go to {listed(fix.new_revision) if fix.new_revision else 'no node yet'}."


def _command(command: str) -> Markup:
    """Return a command that can be selected, and copied where scripts run."""
    button = element("button", text("Copy"), type="button", class_="copy", hidden=True)
    return element("div", element("pre", element("code", text(command))), button, class_="command")


def messages_section(item: EvaluationReport) -> Markup:
    """Return the scheduler's wording, ours and its own last one, once where they agree."""
    event = item.event if isinstance(item, PendingItem) else None
    if event is None:
        return section("In kube-scheduler's words", _quotes([item.message] if item.message else []))
    when = f" ({event.time})" if event.time else ""
    if not event.differs:
        said = element("p", text(f"The scheduler said the same{when}."), class_="hint")
        return section("In kube-scheduler's words", _quotes([item.message or event.message]), said)
    ours = _quotes([item.message]) if item.message else NOTHING
    said = element("p", text(f"It last said{when}:"), class_="hint")
    differs = element("p", text(f"They differ: {event.differs}."), class_="hint")
    return section("In kube-scheduler's words", ours, said, _quotes([event.message]), differs)


def _quotes(messages: Sequence[str]) -> Markup:
    """Return messages as they were said."""
    return joined(element("blockquote", text(message)) for message in messages)

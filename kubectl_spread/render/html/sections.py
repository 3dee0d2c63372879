"""The parts of a card that are lists and sentences: rejections, fixes, findings, what is missing, messages."""

from collections.abc import Iterable, Sequence
from typing import assert_never

from kubectl_spread.apiserver.validation.field_errors import FieldError, ValidationWarning
from kubectl_spread.diagnosis.findings import Severity
from kubectl_spread.render import outline
from kubectl_spread.render.cells import clean
from kubectl_spread.render.html.markup import NOTHING, Markup, block, each, element, joined, text, text_lines
from kubectl_spread.wording import pages

# Severity → its tone and its mark.
SEVERITIES = {Severity.ERROR: ("bad", "✕"), Severity.WARNING: ("warn", "▲"), Severity.INFO: ("info", "i")}
MOST_STEPS = 3  # Steps (count) that are open; the others are folded


def block_markup(found: outline.Block) -> Markup:  # noqa: PLR0911 - one for each kind of block
    """Return one block of an outline; a constraint by its sentences, beside what is drawn of it."""
    match found:
        case outline.Note():
            return element("p", text(found.line), class_="hint same-for" if found.names_pods else "hint")
        case outline.Review():
            refused = _fields_section(pages.WOULD_REFUSE, found.errors, class_="refused")
            return joined((refused, _fields_section(pages.WOULD_WARN, found.warnings, class_="warned")))
        case outline.Table():
            return section(found.title, table_markup(found))
        case outline.ConstraintBlock():
            return each("p", map(text, (found.minimum, *found.bypassed)), class_="minimum")
        case outline.Findings():
            return section("Findings", block("ul", each("li", map(_finding, found.findings)), class_="findings"))
        case outline.Gaps():
            return callout(found)
        case outline.Steps():
            return _steps(found)
        case outline.Messages():
            lines = (
                element("blockquote", text(line)) if quoted else element("p", text(line), class_="hint")
                for line, quoted in found.said
            )
            return folded(pages.SCHEDULERS_WORDS, joined(lines))
        case outline.Commands():
            return joined(map(_command, found.commands))
        case _:
            assert_never(found)


def section(title: str, *content: Markup, class_: str = "") -> Markup:
    """Return a part of a card under its title, or nothing where it is empty."""
    head = element("h3", text(title)) if title else NOTHING
    return element("section", head, *content, class_=class_) if any(content) else NOTHING


def folded(title: str, content: Markup) -> Markup:
    """Return a part of a card that is there for those who want it."""
    head = element("summary", element("h3", text(title)))
    return element("details", head, content, class_="fold") if content else NOTHING


def callout(gaps: outline.Gaps) -> Markup:
    """Return, so that nobody misses it, what the answer does not rest on."""
    lines = (
        joined((element("b", text(missing.what)), text(f" ({missing.why}): {missing.consequence}.")))
        for missing in gaps.entries
    )
    items = block("ul", each("li", lines))
    title = element("p", element("span", text("▲"), class_="mark", aria_hidden="true"), text(pages.NOT_ALL_KNOWN))
    return element("div", title, items, class_="callout") if items else NOTHING


def _finding(finding: outline.FindingLine) -> Markup:
    tone, mark = SEVERITIES[finding.severity]
    badge = (element("span", text(mark), class_="mark", aria_hidden="true"), text(f"{finding.severity} {finding.id}"))
    path = block("code", text(finding.path), class_="path")
    return joined((element("b", *badge, class_=f"tag {tone}"), text(f" {finding.message} "), path))


def _fields_section(title: str, said: Iterable[FieldError | ValidationWarning], *, class_: str) -> Markup:
    lines = (joined((element("code", text(one.field)), text(f" {one.message}"))) for one in said)
    return section(title, block("ul", each("li", lines)), class_=class_)


def table_markup(table: outline.Table) -> Markup:
    """Return a table."""
    heads = [header.replace("-", " ").capitalize() for header in table.headers]
    head = element("thead", element("tr", each("th", map(text, heads), scope="col")))
    # On a phone each cell bears its heading itself.
    rows = (zip(heads, row, strict=True) for row in table.rows)
    cells = (joined(element("td", words_markup(cell), data_label=name.lower()) for name, cell in row) for row in rows)
    return element("div", element("table", head, element("tbody", each("tr", cells))), class_="wide")


def words_markup(line: str) -> Markup:
    """Return a text; a name among other words is broken at a hyphen only where it fills a line."""
    words = line.split(" ")
    among = len(words) > 1
    return Markup(
        " ".join(element("span", text(it), class_="word") if among and "-" in it else text(it) for it in words)
    )


def _steps(steps: outline.Steps) -> Markup:
    first, rest = steps.steps[:MOST_STEPS], steps.steps[MOST_STEPS:]
    shown = section(steps.title, _numbered(first)) if first else NOTHING
    rest_list = _numbered(rest, start=MOST_STEPS + 1)
    more = element("details", element("summary", text(f"{len(rest)} more")), rest_list) if rest else NOTHING
    hints = each("p", map(text, steps.notes), class_="hint")
    return joined((shown, block("section", more, hints)))


def _numbered(steps: Sequence[outline.Step], *, start: int = 1) -> Markup:
    return element("ol", each("li", map(_step, steps)), start=str(start), class_="fixes")


def _step(step: outline.Step) -> Markup:
    name = joined((element("b", text(step.id), class_="tag"), text(" "))) if step.id else NOTHING
    head = element("p", name, text(f"{step.summary}."))
    effects = element("p", text(" ".join(step.notes)), class_="hint")
    starts = block("p", text(step.starts), class_="hint caution")
    edits = (joined((element("p", text(f"{edit.place}:"), class_="hint"), _copied(edit.lines))) for edit in step.edits)
    yaml = [_command(*step.yaml)] if step.yaml else []
    return joined((head, starts, effects, *edits, *yaml, *map(_command, step.commands)))


def _command(*lines: str) -> Markup:
    return _copied(lines, element("button", text("Copy"), type="button", class_="copy", hidden=True))


def _copied(lines: Iterable[str], *button: Markup) -> Markup:
    return element("div", element("pre", element("code", text_lines(map(clean, lines)))), *button, class_="command")

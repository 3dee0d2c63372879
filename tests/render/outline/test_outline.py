"""Text, Markdown and HTML each say everything that the outline of a report holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from kubectl_spread.apiserver.validation.field_errors import FieldError, ValidationWarning
from kubectl_spread.contract.any_report import AnyReport, ItemsReport
from kubectl_spread.contract.audit import AuditReport
from kubectl_spread.contract.check import CheckReport
from kubectl_spread.contract.pending import PendingReport
from kubectl_spread.contract.rebalance import RebalanceReport
from kubectl_spread.contract.simulate import SimulateReport
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.controllers.workloads import PodName, WorkloadRef
from kubectl_spread.diagnosis.causes import RefusedWhole
from kubectl_spread.diagnosis.constraint_state import ConstraintState
from kubectl_spread.diagnosis.evaluation import Conclusion
from kubectl_spread.diagnosis.events import Difference, LastFailure
from kubectl_spread.diagnosis.findings import InjectedFields, MatchLabelKeyAbsent
from kubectl_spread.diagnosis.fixes.conclusion import Fix, Rollout, Route
from kubectl_spread.diagnosis.fixes.demands import AddToleration
from kubectl_spread.diagnosis.preemption import Nomination, Preemption
from kubectl_spread.gaps import Gap, UnreadableManifest
from kubectl_spread.render.cells import cell, clean
from kubectl_spread.render.html import to_html
from kubectl_spread.render.html.cards import EXTENT
from kubectl_spread.render.markdown import EXTENT as MARKDOWN_EXTENT
from kubectl_spread.render.markdown import MOST_DETAILED, escaped, to_markdown
from kubectl_spread.render.outline import Block, ConstraintBlock, Extent, Findings, Headline, Outline, Table
from kubectl_spread.render.outline.any_report import outline_of
from kubectl_spread.render.outline.audit import audit_outline
from kubectl_spread.render.outline.rebalance import rebalance_outline
from kubectl_spread.render.outline.simulate import simulate_outline
from kubectl_spread.render.structured import to_names
from kubectl_spread.render.text import outline_text
from kubectl_spread.render.text.show import show_details, show_table
from tests.diagnosis.judged import varied
from tests.render.page_reader import read
from tests.render.reports import HOSTILE, REPORTS, check_text, golden_report, page_report, pending_text, poisoned_report

# Paths and reasons are for programs, titles for formats that have headings; a report's own item is for what is drawn.
NOT_SAID = frozenset(("title", "tones", "path", "reason", "item"))


def strings(value: object) -> Iterator[str]:
    """Yield every text within a block, or a part of one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from strings(each)
    elif isinstance(value, msgspec.Struct):
        yield from strings(tuple(getattr(value, name) for name in value.__struct_fields__ if name not in NOT_SAID))


def in_lines(part: Block | Headline) -> Iterator[str]:
    """Yield what text and Markdown are to say of a block: headlines and constraints have a line of their own."""
    match part:
        case Headline():
            yield part.lead + part.line
        case ConstraintBlock():
            yield from (part.line, part.minimum, *part.bypassed, *strings(part.domains))
        case Findings():
            yield from (text for found in part.findings for text in (found.id, found.message))
        case _:
            yield from strings(part)


def in_page(part: Block | Headline) -> Iterator[str]:
    """Yield what a page is to say of a block: it has a layout of its own for headlines, headers and domains."""
    match part:
        case Headline():
            yield from (part.subject, part.sentence)
        case ConstraintBlock():
            for domain, _, *others in part.domains.rows:
                yield from (domain.partition(",")[0], *others)
            yield from strings(msgspec.structs.replace(part, domains=Table(headers=(), rows=())))
        case Table():
            yield from strings(part.rows)
        case _:
            yield from strings(part)


def facts(outline: Outline, said: Callable[[Block | Headline], Iterator[str]]) -> Iterator[str]:
    for item in outline.items:
        for part in (item.headline, *item.blocks):
            yield from said(part)
    yield from said(outline.gaps)


def text_of(report: AnyReport) -> str:
    """Return the report as text, every workload in full."""
    match report:
        case SkewReport():
            return show_details(report, wide=False, by_node=False)
        case PendingReport():
            return pending_text(report, wide=False)
        case CheckReport():
            return check_text(report, wide=False)
        case SimulateReport():
            return outline_text(simulate_outline(report, Extent()))
        case RebalanceReport():
            return outline_text(rebalance_outline(report, Extent()))
        case AuditReport():
            return outline_text(audit_outline(report))


def assert_each_says_all(report: AnyReport) -> None:
    """Hold that no format leaves out what the outline says."""
    lines, page = set(facts(outline_of(report, Extent()), in_lines)), set(facts(outline_of(report, EXTENT), in_page))
    text, markdown, html = text_of(report), to_markdown(report), read(to_html(report)).text
    assert [fact for fact in lines if clean(fact) not in text and cell(fact) not in text] == []
    pasted = set(facts(outline_of(report, MARKDOWN_EXTENT), in_lines))
    assert [fact for fact in pasted if not any(shown in markdown for shown in as_markdown(fact))] == []
    assert [fact for fact in page if clean(fact) not in html] == []


def as_markdown(fact: str) -> tuple[str, ...]:
    """Return how Markdown may show a text: in a line, in a cell, or in a block to be copied."""
    return escaped(fact), "<br>".join(map(escaped, fact.splitlines())), clean(fact)


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("reading", [golden_report, poisoned_report])
def test_each_format_says_all_of_a_report(name: str, reading: Callable[[str], ItemsReport]) -> None:
    report = reading(name)
    # Markdown has only a row each where there are more.
    assert_each_says_all(msgspec.structs.replace(report, items=report.items[:MOST_DETAILED]))


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("wide", [False, True])
def test_nothing_that_others_wrote_acts_on_the_terminal(name: str, *, wide: bool) -> None:
    report = poisoned_report(name)
    if isinstance(report, SkewReport):
        report = msgspec.structs.replace(
            report,
            items=tuple(
                varied(
                    msgspec.structs.replace(row, state=_on_hostile_key(row.state)),
                    workload=WorkloadRef(kind="Deployment", name=HOSTILE),
                    constraint=msgspec.structs.replace(row.constraint, topology_key=HOSTILE),
                )
                for row in report.items
            ),
        )
        texts = [show_table(report, wide=wide, headers=True), show_details(report, wide=wide, by_node=True)]
    else:
        texts = [outline_text(outline_of(report, Extent(wide=wide, evidence=wide)))]
    for text in (*texts, to_names(report)):
        assert text
        assert not set(text) & {"\x1b", "\u202e", "\r"}, text


def _on_hostile_key(state: ConstraintState) -> ConstraintState:
    constraint = msgspec.structs.replace(state.constraint, topology_key=HOSTILE)
    return msgspec.structs.replace(state, counts=msgspec.structs.replace(state.counts, constraint=constraint))


WORDS = st.from_regex(r"[a-z0-9]([a-z<>&'\"`*|\[\] é]{0,6}[a-z0-9])?", fullmatch=True)
NAMES = st.lists(WORDS, min_size=1, max_size=7).map(tuple)
SOME = st.lists(WORDS, max_size=7).map(tuple)
PODS = st.lists(st.builds(PodName, namespace=WORDS, name=WORDS), min_size=1, max_size=6).map(tuple)
FIXES = st.builds(
    lambda **fields: Fix(**fields),  # noqa: PLW0108 - hypothesis would read the types of its fields
    offered=st.sampled_from((UNSET, True)),
    proposals=st.tuples(st.builds(AddToleration, taint=WORDS)),
    feasible=NAMES,
    admits=st.just(1),
    siblings=st.integers(1, 3),
    alike=st.lists(NAMES, max_size=3).map(tuple),
    changes=st.just(()),
    routes=st.tuples(st.builds(Route, effect=st.none() | st.builds(Rollout, owner=WORDS))),
    new_revision=SOME | st.none(),
    on_read_pods=st.booleans(),
)
GAPS = st.lists(st.builds(UnreadableManifest, place=WORDS, why=WORDS), max_size=2).map(tuple)
FOUND = st.builds(InjectedFields, fields=NAMES) | st.builds(MatchLabelKeyAbsent, index=st.integers(0, 3), keys=NAMES)
PENDING = st.fixed_dictionaries(
    {},
    optional={
        "conclusion": st.builds(Conclusion, cause=st.builds(RefusedWhole, plugin=WORDS, reasons=SOME)),
        "message": WORDS | st.just(""),
        "held_by": SOME,
        "fixes": st.lists(FIXES, max_size=7).map(tuple),
        "new_nodes": st.lists(FIXES, max_size=2).map(tuple),
        "fix_search": st.sampled_from(("complete", "bounded")),
        "findings": st.lists(FOUND, max_size=3).map(tuple),
        "incomplete": GAPS,
        "event": st.builds(LastFailure, message=WORDS, time=WORDS, differs=st.none() | st.sampled_from(Difference)),
        "nomination": st.builds(Nomination, node=WORDS, leaving=PODS),
        "preemption": st.builds(Preemption, node=WORDS, victims=PODS, pdb_violations=st.none(), ties=SOME),
    },
)
ERRORS = st.lists(st.builds(FieldError, field=WORDS, reason=WORDS, message=WORDS), max_size=3).map(tuple)
WARNINGS = st.lists(st.builds(ValidationWarning, field=WORDS, message=WORDS), max_size=3).map(tuple)


@given(PENDING, st.integers(0, 7), GAPS)
@settings(max_examples=30)
def test_each_format_says_why_a_pod_is_pending(fields: dict[str, Any], same: int, gaps: tuple[Gap, ...]) -> None:
    report = golden_report("why-pending/shop")
    assert isinstance(report, PendingReport)
    item = msgspec.structs.replace(report.items[0], **fields)
    others = (msgspec.structs.replace(item, name=f"web-{number}", same_as=item.name) for number in range(same))
    assert_each_says_all(msgspec.structs.replace(report, items=(item, *others), incomplete=gaps))


@given(st.integers(0, 3), ERRORS, WARNINGS, GAPS)
@settings(max_examples=40)
def test_each_format_says_what_becomes_of_a_manifest(
    number: int, errors: tuple[FieldError, ...], warnings: tuple[ValidationWarning, ...], gaps: tuple[Gap, ...]
) -> None:
    report = golden_report("check/manifests")
    assert isinstance(report, CheckReport)
    item = msgspec.structs.replace(report.items[number], validation=errors, warnings=warnings, incomplete=gaps)
    assert_each_says_all(msgspec.structs.replace(report, items=(item,), incomplete=gaps))


def test_every_kind_of_block_is_among_them() -> None:
    report = golden_report("why-pending/shop")
    assert isinstance(report, PendingReport)
    item = msgspec.structs.replace(report.items[0], incomplete=(UnreadableManifest(place="a", why="c"),))
    item = msgspec.structs.replace(item, findings=(InjectedFields(fields=("spec.a",)),))
    waiting = msgspec.structs.replace(item, nomination=Nomination(node="n", leaving=()))
    same = msgspec.structs.replace(waiting, name="other", same_as=item.name)
    pending = outline_of(msgspec.structs.replace(report, items=(waiting, same)), Extent())
    report = golden_report("check/manifests")
    assert isinstance(report, CheckReport)
    deprecated = (ValidationWarning(field="spec.a", message="deprecated"),)
    items = tuple(msgspec.structs.replace(item, warnings=deprecated) for item in report.items)
    checked = outline_of(msgspec.structs.replace(report, items=items), Extent())
    planned = outline_of(page_report("rebalance/shop"), Extent())
    found = {type(block) for outline in (pending, checked, planned) for each in outline.items for block in each.blocks}
    assert found == set(get_args(Block))

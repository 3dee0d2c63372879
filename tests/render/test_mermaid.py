"""Flow charts: labels are quoted, charts stay small, what is left out is counted."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.diagnosis.domains import Domain
from kubectl_spread.render.cells import clean
from kubectl_spread.render.mermaid import LONGEST, MOST_CHARTS, MOST_DOMAINS, MOST_NODES, label, to_mermaid
from tests.diagnosis.judged import varied
from tests.render.reports import REPORTS, golden_report, poisoned_report

ID = "[a-z][0-9]+"
LABEL = r'"(?:[A-Za-z0-9 .,:/=()+-]|#[0-9]+;)*"'
LINE = re.compile(
    rf"graph TB| +(?:subgraph {ID}\[{LABEL}\]|direction TB|end|{ID}\[{LABEL}\]:::[a-z]+"
    rf"|{ID} (?:-->|~~~|-\. {LABEL} \.->) {ID}"
    r"|classDef [a-z]+ [a-z0-9#:,-]+;)"
)


@pytest.mark.parametrize("name", REPORTS)
def test_every_line_is_one_that_is_meant(name: str) -> None:
    for report in (golden_report(name), poisoned_report(name)):
        lines = to_mermaid(report).splitlines()
        assert [line for line in lines if not LINE.fullmatch(line)] == []
        assert sum(line.strip() == "end" for line in lines) == sum("subgraph" in line for line in lines)


@pytest.mark.parametrize("name", REPORTS)
def test_arrows_join_what_is_drawn(name: str) -> None:
    text = to_mermaid(golden_report(name))
    drawn = set(re.findall(rf"({ID})\[", text))
    ends = re.findall(rf"({ID}) (?:-->|-\. .* \.->) ({ID})", text)
    assert {end for arrow in ends for end in arrow} <= drawn


@given(st.text())
@example("\ufdd0")  # Python's html module drops a noncharacter, a browser draws it
def test_a_label_reads_as_it_was(text: str) -> None:
    shown = re.sub(r"#(\d+);", lambda reference: chr(int(reference[1])), label(text)[1:-1])
    assert re.fullmatch(LABEL, label(text))
    assert shown == (clean(text) or '""') if len(clean(text)) <= LONGEST else shown.endswith("...")


def crowded(*, items: int, domains: int, nodes: int) -> SkewReport:
    """Return the shop's first row as often as wanted, over as many domains and nodes."""
    report = golden_report("show/shop")
    assert isinstance(report, SkewReport)
    item = report.items[0]

    def domain(number: int) -> Domain:
        names = tuple(f"{'n' * 250}{number}-{node}" for node in range(nodes))
        return replace(item.constraint.domains[0], value=f"d{number}", nodes=names, by_node=dict.fromkeys(names, 3))

    constraint = replace(item.constraint, domains=tuple(map(domain, range(domains))))
    return replace(report, items=(varied(item, constraint=constraint),) * items)


def test_a_large_cluster_is_counted_rather_than_drawn() -> None:
    text = to_mermaid(crowded(items=40, domains=30, nodes=200))
    assert f'"and {30 - MOST_DOMAINS} more domains"' in text
    assert f'"and {200 - MOST_NODES} more nodes, {(200 - MOST_NODES) * 3} Pods"' in text
    assert f'"and {40 - MOST_CHARTS} more"' in text
    # Mermaid's own limits.
    assert len(text) < 50_000
    assert text.count("-->") < 500


def test_nothing_is_drawn_as_nothing() -> None:
    report = golden_report("show/shop")
    assert isinstance(report, SkewReport)
    assert 'm1["nothing to draw"]:::more' in to_mermaid(replace(report, items=()))

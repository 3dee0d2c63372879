"""Pages: what they say, how they are drawn, and that nothing written by others becomes markup."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, UnsetType

from kubectl_spread.contract.any_report import AnyReport
from kubectl_spread.contract.check import CheckReport
from kubectl_spread.contract.pending import PendingItem, PendingReport
from kubectl_spread.contract.rebalance import RebalanceReport
from kubectl_spread.contract.simulate import SimulateReport
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.fixes.conclusion import Command, Route
from kubectl_spread.diagnosis.fixes.nodes import Uncordon
from kubectl_spread.diagnosis.fixes.shell import command_line
from kubectl_spread.diagnosis.item_status import ItemStatus
from kubectl_spread.diagnosis.remaining_skew import RebalanceVerdict
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.gaps import Gap, UnreadableManifest
from kubectl_spread.render.cells import clean
from kubectl_spread.render.html import MOST_CELLS, MOST_ELEMENTS, MOST_OPEN, MOST_ROWS, to_html
from kubectl_spread.render.html.bars import MOST_COLUMNS, mini_bars
from kubectl_spread.render.html.markup import element, text
from kubectl_spread.render.html.node_map import (
    FEW_BOXES,
    MOST_BOXES,
    MOST_GROUPS,
    MOST_NAMED,
    Cell,
    Drawing,
    Fate,
    NodeFate,
    Style,
    constraint_map,
    fates_of,
    grouped,
)
from kubectl_spread.render.html.sections import MOST_STEPS
from kubectl_spread.render.outline import STATUSES
from kubectl_spread.simulation.placement import DomainRange
from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.build_workloads import template, workload
from tests.diagnosis.judged import ABC, METADATA, TAINTED, incoming, report_of, rows_of, web
from tests.render.page_reader import Element, read
from tests.render.pages import large_report
from tests.render.reports import HOSTILE, REPORTS, golden_report, page_report, poisoned_report
from tests.render.text.test_check import item_of, placed

MISSING = UnreadableManifest(place="list services", why="the selector lacks what Services add")
BRINGING = frozenset(("script", "style", "iframe", "object", "embed", "link", "base", "form", "img", "template"))
"""Elements that run, load or change something: a page has one script and one style, and none of the others."""
DEBUG = WorkloadRef(kind="Pod", name="debug")
ON_ZONES = spread(ZONE, selector=app("web"))
WEB = workload("Deployment", "web", pods=template(ON_ZONES))


def page_of(report: AnyReport) -> Element:
    """Return the report's page as a browser reads it."""
    return read(to_html(report))


def pending(objects: list[Object], described: Object | None = None, **fields: Any) -> PendingItem:  # noqa: ANN401 - any field
    """Return why a Pod waits in the cluster of these objects."""
    report = msgspec.structs.asdict(report_of(described or incoming(), objects))
    return PendingItem(**report | {"scheduler_name": "default-scheduler"} | fields)


def pending_page(*items: PendingItem, incomplete: tuple[Gap, ...] = ()) -> Element:
    return page_of(PendingReport(metadata=METADATA, items=items, incomplete=incomplete))


def show_page(objects: list[Object], *constraints: Object) -> Element:
    """Return the page of the Deployment web with these constraints, or one on zones."""
    made = workload("Deployment", "web", pods=template(*constraints)) if constraints else WEB
    return page_of(SkewReport(metadata=METADATA, items=rows_of([*objects, made])))


STUCK = pending([*TAINTED, *web("a1", "b1")])  # A Pod that zone c would take, were it not for a taint


class TestNothingBecomesMarkup:
    """What others write is text wherever it stands."""

    @pytest.mark.parametrize("name", REPORTS)
    def test_hostile_names_bring_no_element_and_no_attribute(self, name: str) -> None:
        known = set().union(*(vocabulary(page_of(golden_report(other))) for other in REPORTS))
        assert vocabulary(page_of(poisoned_report(name))) <= known
        bringing = [each.name for each in page_of(poisoned_report(name)).walk() if each.name in BRINGING]
        assert sorted(bringing) == ["script", "style"]

    @pytest.mark.parametrize("name", REPORTS)
    def test_hostile_names_are_shown_with_what_would_not_be_seen(self, name: str) -> None:
        page = page_of(poisoned_report(name))
        assert any(clean(HOSTILE) in title for title in page.texts("h2"))
        for hidden in "\x1b\u202e\r":
            assert hidden not in to_html(poisoned_report(name))

    @pytest.mark.parametrize("name", REPORTS)
    def test_the_page_is_what_its_policy_lets_in(self, name: str) -> None:
        page = page_of(poisoned_report(name))
        (policy,) = (each for each in page.all("meta") if "http-equiv" in each.attributes)
        assert policy.attributes["content"] == (
            f"default-src 'none'; style-src '{digest(page, 'style')}'; script-src '{digest(page, 'script')}'; "
            "base-uri 'none'; form-action 'none'"
        )

    @given(st.text())
    def test_text_is_read_back_cleaned(self, words: str) -> None:
        (made,) = read(element("p", text(words), title=words)).all("p")
        assert made.text == clean(words)
        assert made.attributes.get("title", "") == clean(words)

    def test_nothing_is_asked_of_a_network(self) -> None:
        for name in REPORTS:
            page = to_html(golden_report(name))
            assert "http://" not in page
            assert not any(word in page for word in ("src=", "url(", "@import", "fetch(", "XMLHttpRequest"))
            assert page.count("href=") == page.count('href="#item-')


def vocabulary(page: Element) -> set[tuple[str, str]]:
    """Return each tag of the page with each of its attributes."""
    return {(each.name, name) for each in page.walk() for name in ("", *each.attributes)}


def digest(page: Element, name: str) -> str:
    """Return the digest of what stands in the only element of this tag."""
    (content,) = page.texts(name)
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


class TestHeader:
    """What was asked, whose rules hold, and how many there are of each status."""

    @pytest.mark.parametrize(
        ("source", "words"),
        [
            ("flag", "from --kube-version"),
            ("server", "the API server's release"),
            ("nodes", "the newest kubelet's release, or newer"),
            ("default", "assumed: the release is not known"),
        ],
    )
    def test_it_says_how_the_release_is_known(self, source: Any, words: str) -> None:  # noqa: ANN401 - one of the four
        metadata = msgspec.structs.replace(METADATA, kube_version_from=source)
        page = page_of(PendingReport(metadata=metadata, items=()))
        assert f"kube-scheduler v1.36 ({words})" in page.texts("dd")

    def test_it_names_cluster_server_namespaces_and_versions(self) -> None:
        page = page_of(large_report(nodes=3, pods_per_node=1))
        facts = dict(zip(page.texts("dt"), page.texts("dd"), strict=True))
        assert facts["Read from"] == "prod-eu"
        assert facts["Server"] == "https://10.0.0.1:6443"
        assert facts["Namespace"] == "shop"
        assert "nodes 81723, pods 81724" in page.texts("p")
        assert page.texts("title") == ["kubectl spread why-pending: prod-eu"]

    def test_counts_come_worst_first_and_count_pods_that_share_one(self) -> None:
        twin = msgspec.structs.replace(STUCK, name="twin", same_as="new")
        page = pending_page(pending([*ABC], name="free"), STUCK, twin)
        assert page.texts("button", of="count") == ["✕2 Unschedulable", "✓1 Schedulable"]

    def test_nothing_found_is_said(self) -> None:
        page = page_of(CheckReport(metadata=METADATA, items=()))
        assert page.texts("h1") == ["Manifest check"]
        assert "Nothing was found." in page.texts("p")

    def test_what_is_missing_stands_on_top(self) -> None:
        (main,) = pending_page(STUCK, incomplete=(MISSING,)).all("main")
        assert main.all()[1].classes == {"callout"}
        assert main.texts("li")[0] == "list services (unreadable): the selector lacks what Services add."


class TestCards:
    """A card for each item."""

    def test_the_worst_comes_first_and_is_unfolded(self) -> None:
        cards = pending_page(pending([*ABC], name="free"), STUCK).all("details", of="card")
        assert [card.texts("h2") for card in cards] == [["default/new"], ["default/free"]]
        assert ["open" in card.attributes for card in cards] == [True, False]
        assert cards[0].attributes["data-status"] == "Unschedulable"

    def test_rows_of_show_stay_as_they_were_sorted(self) -> None:
        report = golden_report("show/shop")
        assert isinstance(report, SkewReport)
        turned = msgspec.structs.replace(report, items=report.items[::-1])
        assert page_of(turned).texts("h2") == page_of(report).texts("h2")[::-1]

    def test_few_are_unfolded(self) -> None:
        page = pending_page(*(msgspec.structs.replace(STUCK, name=f"p{n}") for n in range(MOST_OPEN + 2)))
        assert sum("open" in card.attributes for card in page.all("details", of="card")) == MOST_OPEN

    def test_the_answer_stands_in_the_headline(self) -> None:
        (card,) = pending_page(STUCK).all("details", of="card")
        assert card.texts(of="sentence") == [STUCK.summary]
        assert card.texts(of="badge") == ["✕Unschedulable"]

    def test_pods_that_share_the_explanation_are_named(self) -> None:
        page = pending_page(STUCK, msgspec.structs.replace(STUCK, name="twin", same_as="new"))
        assert page.texts(of="same-for") == ["The same applies to twin."]
        assert len(page.all(of="card")) == 1

    def test_what_becomes_of_manifests_is_told_in_a_word(self) -> None:
        page = page_of(golden_report("check/manifests"))
        assert page.texts(of="badge") == 2 * ["✕Unschedulable", "✕Invalid", "▲Stuck", "✓Schedulable"]
        assert "spec.template.spec.topologySpreadConstraints[0].maxSkew" in page.texts("code")

    @pytest.mark.parametrize("name", REPORTS)
    def test_every_command_and_message_is_there(self, name: str) -> None:
        report = golden_report(name)
        page = page_of(report)
        shown = page.texts("code") + page.texts("blockquote")
        for item in report.items if not isinstance(report, SkewReport) else ():
            if isinstance(item, PendingItem) and item.same_as:
                continue
            assert {command_line(each) for fix in item.fixes for each in fix.commands} <= set(shown)
            assert not item.message or item.message in shown

    def test_more_fixes_are_folded_away(self) -> None:
        report = golden_report("why-pending/shop")
        assert isinstance(report, PendingReport)
        many = msgspec.structs.replace(report.items[0], fixes=report.items[0].fixes * 3, new_nodes=())
        (card,) = pending_page(many).all(of="card")
        (more,) = (each for each in card.all("details") if not each.classes)
        assert "open" not in more.attributes
        assert len(more.all("li")) == len(many.fixes) - MOST_STEPS

    def test_a_change_of_a_manifest_is_written_in_lines(self) -> None:
        report = golden_report("check/manifests")
        assert isinstance(report, CheckReport)
        page = page_of(report)
        edits = [edit for item in report.items if item.jam for fix in item.fixes for edit in fix.edits]
        written = [code.text for code in page.all("code")]
        assert edits
        for edit in edits:
            lines = [f"- {line}" for line in edit.before.splitlines()] + [
                f"+ {line}" for line in edit.after.splitlines()
            ]
            assert "\n".join(lines) in written


class TestOverview:
    """A row for each card, above them all."""

    def test_a_row_leads_to_its_card(self) -> None:
        page = page_of(golden_report("show/shop"))
        (overview,) = page.all("div", of="overview")
        led = {link.attributes["href"].removeprefix("#"): link.text for link in overview.all("a")}
        assert led == {card.attributes["id"]: card.texts("h2")[0] for card in page.all(of="card")}

    def test_a_row_says_how_its_item_stands(self) -> None:
        (overview,) = page_of(golden_report("show/shop")).all("div", of="overview")
        first = overview.all("tr")[1]
        assert [cell.text for cell in first.content if isinstance(cell, Element)] == [
            "✕Blocked",
            "shop/deployment/web",
            ZONE,
            "",
            "1 of 1",
            "No Pod can go to c: taint dedicated=gpu:NoSchedule; elsewhere skew would be 2, maxSkew 1",
        ]

    def test_a_column_is_cut_at_the_minimum_and_at_the_limit(self) -> None:
        (row,) = rows_of([*ABC, *web("a1", "a1", "a1", "a1", "b1", "b1", "c1"), WEB])
        drawn = read(mini_bars(row.constraint))
        assert [(part.attributes["class"], part.attributes["d"]) for part in drawn.all("path")] == [
            ("minimum", "M0.1 3h.8v1h-.8z"),
            ("skew", "M0.1 2h.8v1h-.8z"),
            ("over", "M0.1 0h.8v2h-.8z"),
            ("minimum", "M1.1 3h.8v1h-.8z"),
            ("skew", "M1.1 2h.8v1h-.8z"),
            ("minimum", "M2.1 3h.8v1h-.8z"),
            ("limit", "M0 2H3"),
        ]

    def test_many_domains_are_some_columns_from_the_fullest_to_the_emptiest(self) -> None:
        nodes = [node(f"n{i}", zone=f"z{i}") for i in range(2 * MOST_COLUMNS)]
        (row,) = rows_of([*nodes, *web("n1", "n1", "n2"), WEB])
        drawn = read(mini_bars(row.constraint))
        assert drawn.all("svg")[0].attributes["viewbox"] == f"0 0 {MOST_COLUMNS} 2"
        assert [part.attributes["class"] for part in drawn.all("path")] == ["skew", "over", "limit"]

    def test_columns_that_are_empty_in_all_rows_are_left_out(self) -> None:
        (overview,) = page_of(page_report("audit/shop")).all("div", of="overview")
        head, first, *_ = overview.all("tr")
        assert head.texts("th") == ["Status", "What", "In short"]
        assert first.texts("td") == ["✕Outage", "An outage takes 2 of 2 in zone a"]

    def test_one_card_needs_none(self) -> None:
        assert pending_page(STUCK).all("div", of="overview") == []

    def test_what_has_no_row_is_counted(self) -> None:
        many = (msgspec.structs.replace(STUCK, name=f"p{n}", workload=UNSET) for n in range(MOST_ROWS + 2))
        page = pending_page(*many)
        (overview,) = page.all("div", of="overview")
        assert len(overview.all("a")) == MOST_ROWS
        assert "2 cards more below." in page.texts("p")


def test_a_cell_of_a_table_bears_its_heading() -> None:
    (table,) = (
        each for each in page_of(page_report("rebalance/shop")).all("table") if each.texts("th")[:1] == ["Order"]
    )
    assert [cell.attributes["data-label"] for cell in table.all("td")] == [name.lower() for name in table.texts("th")]


class TestBars:
    """Domains as a table, each with a bar."""

    def test_a_row_says_where_a_domain_stands(self) -> None:
        (table,) = pending_page(STUCK).all("table", of="domains")
        rows = [[cell.text for cell in row.content if isinstance(cell, Element)] for row in table.all("tr")]
        assert rows == [
            ["Domain", "Nodes", "Pods", "at most 1 = minimum 0 + maxSkew 1", "Skew", "Next Pod"],
            ["a", "2", "1", "", "1", "no: skew would be 2"],
            ["b", "1", "1", "", "1", "no: skew would be 2"],
            ["c", "1", "0", "", "0", f"no: {'taint dedicated=gpu:NoSchedule'}"],
        ]

    def test_a_bar_is_cut_at_the_minimum_and_at_the_limit(self) -> None:
        page = show_page([*ABC, *web("a1", "a1", "a1", "a1", "b1", "b1", "c1")])
        first, second, third = page.all("svg")
        assert rects(first) == {"minimum": (0, 1), "skew": (1, 1), "over": (2, 2), "next": (4, 1)}
        assert rects(second) == {"minimum": (0, 1), "skew": (1, 1), "next": (2, 1)}
        assert rects(third) == {"minimum": (0, 1), "next": (1, 1)}
        for bar in (first, second, third):
            (limit,) = bar.all("line")
            assert (limit.attributes["x1"], limit.attributes["x2"]) == ("2", "2")
            assert bar.attributes["viewbox"] == "0 0 5 10"

    def test_a_count_that_depends_on_luck_is_a_range(self) -> None:
        ranges = (DomainRange(constraint=0, value="a", minimum=1, maximum=2),)
        item = item_of(incoming(), [*ABC, *web("a1")], placements=placed("b1"), replicas=1, ranges=ranges)
        page = page_of(CheckReport(metadata=METADATA, items=(item,)))
        assert "1..2" in page.texts("td")
        assert rects(page.all("svg")[0])["maybe"] == (1, 1)

    def test_a_domain_that_is_not_counted_has_no_bar(self) -> None:
        page = page_of(golden_report("check/checkout"))
        (row,) = page.all("tr", of="uncounted")
        assert row.all("svg") == []
        assert row.texts("td")[-2:] == ["-", "not counted"]

    def test_domains_that_stand_the_same_share_a_row(self) -> None:
        page = show_page([*(node(f"n{i}") for i in range(20)), *web("n1")], spread(HOSTNAME, selector=app("web")))
        (table,) = page.all("table", of="domains")
        assert table.texts("th")[-2:] == ["n1", "19 domains: n0 and 18 more"]


def rects(bar: Element) -> dict[str, tuple[int, int]]:
    """Return each part of a bar → where it begins and how long it is (Pods)."""
    return {
        each.attributes["class"]: (int(each.attributes["x"]), int(each.attributes["width"])) for each in bar.all("rect")
    }


def boxes(page: Element) -> dict[str, dict[str, list[str]]]:
    """Return box → what became of its nodes → the nodes, each with what is drawn in it."""
    return {
        box.texts("b")[0]: {
            group.texts(of="why")[0]: [cell.text for cell in group.all("li")] for group in box.all(of="group")
        }
        for box in page.all(of="box")
    }


class TestMap:
    """Domains as boxes, nodes as cells."""

    def test_rejected_nodes_say_by_what(self) -> None:
        spread_out = {f"{n} rejected": f"PodTopologySpread: constraint on {ZONE}" for n in (1, 2)}
        assert boxes(pending_page(STUCK)) == {
            "a": {f"✕2 rejected{spread_out['2 rejected']}": ["a11", "a2"]},
            "b": {f"✕1 rejected{spread_out['1 rejected']}": ["b11"]},
            "c": {"✕1 rejectedTaintToleration: taint dedicated=gpu:NoSchedule": ["c1"]},
        }
        (lowest,) = pending_page(STUCK).all(of="holds-minimum")
        assert lowest.texts("b")[0] == "c"

    def test_the_next_replica_may_go_to_feasible_nodes(self) -> None:
        page = show_page([*TAINTED, *web("a1")])
        assert boxes(page) == {
            "a": {"✕2 rejectedskew would be 2, maxSkew is 1": ["a11", "a2"]},
            "b": {"✓1 feasible": ["b1"]},
            "c": {"✕1 rejectedtaint dedicated=gpu:NoSchedule": ["c1"]},
        }

    def test_a_soft_constraint_rejects_no_node(self) -> None:
        soft = spread(ZONE, selector=app("web"), whenUnsatisfiable="ScheduleAnyway")
        found = boxes(show_page([*TAINTED, *web("a1", "a1", "a1")], soft))
        assert found["a"] == {"✓2 feasible": ["a13", "a2"]}
        assert list(found["c"]) == ["✕1 rejectedtaint dedicated=gpu:NoSchedule"]

    def test_bypassed_nodes_stand_in_a_box_of_their_own(self) -> None:
        objects = [*TAINTED, node("lost", labels={"zone": "a"}), *web("a1", "b1")]
        (group,) = boxes(pending_page(pending(objects)))["Not counted"].items()
        assert group[0].startswith(f"⌀1 not countedwithout the label {ZONE} (did you mean zone?); ")
        assert group[1] == ["lost"]

    def test_replicas_are_drawn_where_they_go(self) -> None:
        page = page_of(golden_report("check/checkout"))
        assert boxes(page)["a"] == {"✓2 feasiblefor the first replica": ["node-a1", "node-a222 new"]}

    def test_nodes_that_are_domains_by_themselves_share_boxes(self) -> None:
        page = show_page([*ABC, *web("a1", "b1")], spread(HOSTNAME, selector=app("web")))
        assert [box.texts("b")[0] for box in page.all(of="box")] == ["2 domains", "2 domains"]
        assert page.texts(of="pods") == ["1 Pod each", "0 Pods each"]

    def test_of_many_domains_those_with_the_fewest_pods_come_first(self) -> None:
        nodes = [node(f"{zone}{i}", zone=zone) for zone in ascii_lowercase[: FEW_BOXES + 1] for i in range(2)]
        full = [f"{zone}0" for zone in ascii_lowercase[: FEW_BOXES + 1] if zone != "k"]
        labels = [box.texts("b")[0] for box in show_page([*nodes, *web(*full)]).all(of="box")]
        assert labels == ["k", *(zone for zone in ascii_lowercase[: FEW_BOXES + 1] if zone != "k")]

    def test_in_shared_boxes_nodes_tell_their_domain(self) -> None:
        nodes = [node(f"n{i}", zone=f"z{i}") for i in range(MOST_BOXES + 1)]
        titles = {cell.attributes.get("title") for cell in show_page(nodes).all("li")}
        assert {"domain z0", f"domain z{MOST_BOXES}"} <= titles

    def test_without_constraints_all_nodes_share_a_box(self) -> None:
        found = boxes(pending_page(pending([*TAINTED], pod("new"))))
        assert list(found) == ["All nodes"]

    def test_many_nodes_are_drawn_closely(self) -> None:
        few, some, many = (page_of(large_report(nodes=n, pods_per_node=1)) for n in (3, MOST_NAMED, 4 * MOST_NAMED))
        assert few.all(of="some") == few.all(of="dense") == some.all(of="dense") == []
        assert some.all(of="some")
        assert many.all(of="dense")

    def test_nodes_of_a_large_cluster_are_lines(self) -> None:
        page = page_of(large_report(nodes=MOST_ELEMENTS, pods_per_node=2))
        assert page.all("ul", of="cells") == []
        lines = page.all("p", of="lines")
        assert lines[0].text.split("\n")[0] == "ip-10-0-0-0\t2"
        assert sum(len(each.text.split("\n")) for each in lines) == 2 * MOST_ELEMENTS

    def test_a_line_has_a_field_for_all_that_a_cell_says(self) -> None:
        report = golden_report("check/checkout")
        assert isinstance(report, CheckReport)
        (item,) = report.items
        drawn = read(constraint_map(item.after[0], fates_of(item), {"node-a2": 2}, drawing=Drawing(Style.LINES)))
        said = drawn.texts("p", of="lines")
        assert said[0].split("\n") == ["node-a1\t\t\tscore 437", "node-a2\t2\t2 new\tscore 449"]

    def test_too_many_nodes_are_not_drawn(self) -> None:
        count = MOST_CELLS // 20
        page = page_of(large_report(nodes=count, pods_per_node=1, items=11))
        drawn = [len(card.all(of="map")) for card in page.all(of="card")]
        assert drawn == [2] * 10 + [0]
        assert any(text.startswith("The nodes are not drawn") for text in page.texts("p"))


class TestSuffix:
    """What all nodes' names end in."""

    SUFFIX = ".eu-central-1.compute.internal"

    def test_it_is_said_once(self) -> None:
        page = to_html(large_report(nodes=30, pods_per_node=1))
        facts = dict(zip(read(page).texts("dt"), read(page).texts("dd"), strict=False))
        assert facts["Node names end in"] == self.SUFFIX
        assert page.count(self.SUFFIX) == len(("the fact", "for the script"))

    def test_it_stands_where_commands_are_copied(self) -> None:
        report = golden_report("why-pending/shop")
        assert isinstance(report, PendingReport)
        (item,) = report.items
        far = tuple(msgspec.structs.replace(each, name=f"{each.name}{self.SUFFIX}") for each in item.nodes)
        command = f"kubectl uncordon node-c1{self.SUFFIX}"
        name = f"node-c1{self.SUFFIX}"
        route = Route(commands=(Command(verb="uncordon", kind="node", name=name),))
        fix = msgspec.structs.replace(item.fixes[0], proposals=(Uncordon(node=name),), routes=(route,))
        page = pending_page(msgspec.structs.replace(item, nodes=far, fixes=(fix,)))
        assert command in page.texts("code")
        assert any("uncordon node-c1." in words for words in page.texts("p"))

    def test_names_that_share_nothing_stay_as_they_are(self) -> None:
        assert "Node names end in" not in page_of(golden_report("why-pending/shop")).texts("dt")


class TestSteps:
    """Whether a step is safe, in a word."""

    @pytest.mark.parametrize(
        ("safe", "status"), [(True, "✓ Safe"), (False, "✕ Not safe"), (UNSET, "? Incomplete")], ids=str
    )
    def test_the_badge_of_a_step_is_its_verdict(self, safe: bool | UnsetType, status: str) -> None:  # noqa: FBT001
        report = steps_of(page_report("simulate/shop-drain"))
        page = page_of(with_verdicts(report, [safe]))
        assert page.texts("button", of="count") == [status]
        assert page.all("details", of="card")[0].texts("b", of="badge") == [status.replace(" ", "", 1)]

    def test_of_several_steps_each_verdict_is_counted(self) -> None:
        page = page_of(with_verdicts(steps_of(page_report("simulate/shop-drain")), [True, False, True]))
        assert page.texts("button", of="count") == ["✕1 Not safe", "✓2 Safe"]
        assert ["open" in card.attributes for card in page.all("details", of="card")] == [False, True, False]


class TestGroups:
    """The nodes of a box by what became of them."""

    @staticmethod
    def cells(*whys: str) -> list[Cell]:
        """Return cells that one filter rejects for these reasons."""
        return [Cell(f"n{i}", 0, 0, NodeFate(Fate.REJECTED, "Fit", why)) for i, why in enumerate(whys)]

    def test_each_reason_is_a_group(self) -> None:
        found = grouped(self.cells("Fit: cpu", "Fit: memory", "Fit: cpu"))
        assert [(fate.why, len(cells)) for fate, cells in found] == [("Fit: cpu", 2), ("Fit: memory", 1)]

    def test_too_many_reasons_become_notes(self) -> None:
        whys = [f"Fit: {n}m are free" for n in range(MOST_GROUPS + 1)]
        ((fate, cells),) = grouped(self.cells(*whys))
        assert fate.why == "Fit"
        assert [cell.fate.note for cell in cells] == whys

    def test_feasible_nodes_come_first(self) -> None:
        feasible = Cell("free", 0, 0, NodeFate(Fate.FEASIBLE, note="score 7"))
        found = grouped([*self.cells("Fit: cpu", "Fit: cpu"), feasible])
        assert [fate.fate for fate, _ in found] == [Fate.FEASIBLE, Fate.REJECTED]
        assert found[0][1] == [feasible]


def test_a_large_cluster_makes_a_page_of_a_few_megabytes() -> None:
    page = to_html(large_report(nodes=5000, pods_per_node=10, items=8))
    assert len(page.encode()) < 10_000_000


def steps_of(report: AnyReport) -> SimulateReport:
    assert isinstance(report, SimulateReport)
    return report


def with_verdicts(report: SimulateReport, safe: Sequence[bool | UnsetType]) -> SimulateReport:
    """Return the report of a simulation whose first step has each of these verdicts, one after another."""
    first, *_ = report.steps
    verdicts = (msgspec.structs.replace(first.verdict, safe=each) for each in safe)
    steps = tuple(msgspec.structs.replace(first, verdict=verdict) for verdict in verdicts)
    return msgspec.structs.replace(report, steps=steps)


STEPS = steps_of(page_report("simulate/shop-drain"))


def test_a_step_and_a_plan_have_the_table_of_their_constraints() -> None:
    plan = page_report("rebalance/shop")
    assert isinstance(plan, RebalanceReport)
    changed = [item for step in STEPS.steps for item in step.items if item.changed]
    told = [item for item in plan.items if item.verdict != "Balanced" or item.reason]
    for report, items in ((STEPS, changed), (plan, told)):
        (table,) = (found for found in read(to_html(report)).all("section") if "Constraints" in found.texts("h3"))
        assert len(table.all("tr")) == 1 + len(items)


def test_a_plan_that_helps_is_not_called_impossible() -> None:
    plan = page_report("rebalance/shop")
    assert isinstance(plan, RebalanceReport)
    left = tuple(msgspec.structs.replace(each, verdict=RebalanceVerdict.IMPOSSIBLE) for each in plan.items)
    for evictions, verdict in ((plan.evictions, "Partial"), ((), "Impossible")):
        page = read(to_html(msgspec.structs.replace(plan, items=left, evictions=evictions)))
        (card,) = page.all("details", of="card")
        assert card.attributes["data-status"] == verdict


def test_every_status_has_a_mark() -> None:
    known = {*SpreadStatus, *Verdict, *RebalanceVerdict}
    assert STATUSES.keys() == set(ItemStatus) >= {ItemStatus(status) for status in known}

"""Reports as text for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from kubectl_spread.render.table import (
    MOST_GROUPS,
    names,
    node_groups,
    pending_text,
    show_details,
    show_table,
)
from kubectl_spread.report import (
    CheckItem,
    CheckReport,
    EventReport,
    Incomplete,
    NodeReport,
    Nomination,
    PendingItem,
    PendingReport,
    PodName,
    Preemption,
    Rejection,
    SkewReport,
    WorkloadRef,
)
from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.build_workloads import owned, revision, template, workload
from tests.diagnosis.judged import ABC, METADATA, SERVICE, TAINTED, incoming, report_of, rows_of, web
from tests.naming import in_order

MISSING = Incomplete(what="list services", why="forbidden", consequence="the selector lacks what Services add")
ON_ZONES = spread(ZONE, selector=app("web"))


def table_of(objects: Sequence[Object], *, wide: bool = False, headers: bool = True) -> list[str]:
    """Return the lines of the table of all workloads."""
    report = SkewReport(metadata=METADATA, items=rows_of(objects))
    return show_table(report, wide=wide, headers=headers).splitlines()


def rollout() -> list[Object]:
    """Return a Deployment whose new revision has another maxSkew than its old one, which still runs."""
    old, new = template(ON_ZONES), template(spread(ZONE, selector=app("web"), maxSkew=2))
    hash_ = {"pod-template-hash": "h1"}
    running = owned("w", "ReplicaSet", "web-h1", on="a1", labels=hash_, topologySpreadConstraints=[ON_ZONES])
    sets = [revision("web", 1, pods=old), revision("web", 2, pods=new)]
    return [*ABC, workload("Deployment", "web", pods=new), *sets, running]


def pending(described: Object, objects: Sequence[Object], **fields: Any) -> PendingItem:  # noqa: ANN401 - any field
    """Return the item of one Pod."""
    report = msgspec.structs.asdict(report_of(described, objects)) | {"scheduler_name": "default-scheduler"} | fields
    return PendingItem(**report)


def told(*items: PendingItem, wide: bool = False, incomplete: tuple[Incomplete, ...] = ()) -> str:
    """Return what is said of the Pods."""
    return pending_text(PendingReport(metadata=METADATA, items=items, incomplete=incomplete), wide=wide)


class TestShowTable:
    """A row for each workload and constraint."""

    def test_a_row_says_what_kubectl_would(self) -> None:
        made = workload("Deployment", "web", pods=template(spread("zone", selector=app("web"))))
        nodes = [node(f"{zone}1", labels={"zone": zone}) for zone in "abc"]
        assert table_of([*nodes, made, *web("a1", "b1")]) == [
            "NAMESPACE   WORKLOAD         KEY    WHEN            MAX-SKEW   SKEW   DOMAINS       STATUS",
            "default     deployment/web   zone   DoNotSchedule   1          1      a:1 b:1 c:0   OK",
        ]

    def test_wide_adds_columns(self) -> None:
        made = workload("Deployment", "web", pods=template(ON_ZONES))
        header, row = table_of([*ABC, made, *web("a1", "b1")], wide=True)
        assert header.split()[6:] == ["PODS", "DOMAINS", "STATUS", "SELECTOR", "NEXT"]
        assert "2 (0 own)" in row
        assert row.endswith("OK       app=web    c1")

    def test_headers_may_be_left_out(self) -> None:
        made = workload("Deployment", "web", pods=template(ON_ZONES))
        assert len(table_of([*ABC, made], headers=False)) == 1

    def test_many_domains_are_summed_up(self) -> None:
        made = workload("Deployment", "web", pods=template(spread(HOSTNAME, selector=app("web"))))
        (_, row) = table_of([*(node(f"n{i}") for i in range(6)), made, *web("n1", "n1")])
        assert "6 domains, 0..2" in row

    def test_the_empty_value_is_shown(self) -> None:
        made = workload("Deployment", "web", pods=template(ON_ZONES))
        (_, row) = table_of([node("x", zone=""), made])
        assert '"":0' in row

    def test_no_domain_is_none(self) -> None:
        made = workload("Deployment", "web", pods=template(spread("rack", selector=app("web"))))
        (_, row) = table_of([*ABC, made])
        assert "<none>" in row
        assert row.endswith("Blocked: no domain may take one more")

    def test_revisions_are_told_apart(self) -> None:
        workloads = [row.split()[1:3] for row in table_of(rollout())[1:]]
        assert workloads == [["deployment/web", "(h2)"], ["deployment/web", "(h1)"]]

    def test_defaults_are_marked(self) -> None:
        plain = workload("Deployment", "plain", pods=template(labels={"app": "web"}))
        report = SkewReport(metadata=METADATA, items=rows_of([*ABC, SERVICE, plain], defaults=True))
        assert f"{HOSTNAME} (default)" in show_table(report, wide=False, headers=True)

    def test_what_the_answer_does_not_rest_on_stands_below(self) -> None:
        report = SkewReport(metadata=METADATA, items=(), incomplete=(MISSING,))
        assert show_table(report, wide=False, headers=True) == (
            "incomplete: list services (forbidden): the selector lacks what Services add.\n"
        )

    def test_nothing_is_nothing(self) -> None:
        assert show_table(SkewReport(metadata=METADATA, items=()), wide=False, headers=True) == ""


class TestShowDetails:
    """The domain table, ghosts and the next node of each row."""

    def details(self, objects: Sequence[Object], *, by_node: bool = False, colors: bool = False) -> str:
        """Return the text."""
        report = SkewReport(metadata=METADATA, items=rows_of(objects), incomplete=(MISSING,))
        return show_details(report, wide=False, by_node=by_node, colors=colors)

    def test_one_workload(self) -> None:
        text = self.details([*ABC, workload("Deployment", "web", pods=template(ON_ZONES)), *web("a1", "b1")])
        assert text.splitlines()[0] == "default/deployment/web: OK"
        assert text.splitlines()[-3:] == [
            "Pods counted: 2 (0 own).",
            "Next replica: c1.",
            "incomplete: list services (forbidden): the selector lacks what Services add.",
        ]

    def test_no_node_is_left(self) -> None:
        text = self.details([*TAINTED, workload("Deployment", "web", pods=template(ON_ZONES)), *web("a1", "b1")])
        assert text.startswith("default/deployment/web: Blocked: min pinned by c1")
        assert "Next replica: no node." in text

    def test_ghosts_are_named(self) -> None:
        constraints = [spread(ZONE, selector=app("other"))]
        ghost = owned("boo", "ReplicaSet", "web-h1", on="a1", topologySpreadConstraints=constraints)
        objects = [
            workload("Deployment", "web", pods=template(*constraints)),
            revision("web", 1, pods=template(*constraints)),
        ]
        assert "Ghost Pods, which their own constraint does not count: boo." in self.details([*ABC, *objects, ghost])

    def test_an_older_revision_has_no_next_replica(self) -> None:
        newer, older = self.details(rollout()).split("\n\n")
        assert newer.startswith("default/deployment/web revision h2: OK")
        assert "Next replica: " in newer
        assert older.startswith("default/deployment/web revision h1: OK")
        assert "Next replica: " not in older

    def test_only_the_status_is_coloured(self) -> None:
        made = workload("Deployment", "web", pods=template(ON_ZONES))
        assert "default/deployment/web: \x1b[32mOK\x1b[0m\n" in self.details([*ABC, made], colors=True)


class TestPendingText:
    """What is to blame for each Pod."""

    def test_most_important_first(self) -> None:
        text = told(pending(incoming(), [*TAINTED, *web("a1", "b1")]))
        blocks = text.split("\n\n")
        assert blocks[0] == (
            f"default/new is Pending. {ZONE} c holds the minimum (0 Pods) but this Pod cannot land there: c1: taint"
            " dedicated=gpu:NoSchedule. a and b are at 1, maxSkew 1."
        )
        assert blocks[1].splitlines()[0].split() == ["NODES", "REJECTED-BY", "WHY"]
        assert blocks[2].startswith("Constraint 0: ")
        assert blocks[-1].startswith("Message: 0/4 nodes are available: ")

    def test_wide_adds_the_schedulers_reasons(self) -> None:
        text = told(pending(incoming(), [*TAINTED, *web("a1", "b1")]), wide=True)
        assert "REASON" in text
        assert "node(s) had untolerated taint(s)" in text.split("\n\n")[1]

    def test_a_pod_that_can_be_scheduled(self) -> None:
        assert told(pending(incoming(), ABC)).startswith("default/new: it can be scheduled now, on a1, a2, b1, c1.\n")

    def test_an_answer_that_is_not_whole(self) -> None:
        described = incoming(resourceClaims=[{"name": "g", "resourceClaimName": "g"}])
        text = told(pending(described, ABC))
        assert text.startswith(
            "default/new: nothing that was evaluated keeps it off a1, a2, b1, c1, but not everything was."
        )
        assert (
            "incomplete: DynamicResources (not evaluated): whether nodes have the devices it claims was not judged."
            in text
        )

    def test_gates_come_before_the_verdict(self) -> None:
        text = told(pending(incoming(), ABC, held_by=("a.example/x", "b.example/y")))
        assert text.startswith(
            "default/new is held by the scheduling gate a.example/x, b.example/y. Without it: it can be scheduled now"
        )

    def test_another_scheduler_decides(self) -> None:
        item = pending(incoming(schedulerName="volcano"), [*TAINTED, *web("a1", "b1")])
        assert told(item).startswith("volcano decides this Pod; kube-scheduler's filters would reject default/new: ")

    def test_pods_of_one_template_are_told_once(self) -> None:
        first = pending(incoming(), [*TAINTED, *web("a1", "b1")])
        twins = [msgspec.structs.replace(first, name=f"twin-{n}", same_as="new") for n in range(7)]
        text = told(first, *twins)
        assert text.count("is Pending.") == 1
        assert "The same holds for twin-0, twin-1, twin-2, twin-3 and 3 more." in text
        elsewhere = msgspec.structs.replace(first, namespace="other", same_as="new")
        assert "The same holds" not in told(first, elsewhere)

    @pytest.mark.parametrize(
        ("event", "said"),
        [
            (None, ["Message: {message}"]),
            (EventReport(message="{message}"), ["Message: {message}", "The scheduler said the same."]),
            (
                EventReport(message="{message} preemption: none", time="T1"),
                ["Message: {message}", "The scheduler said the same (T1)."],
            ),
            (
                EventReport(message="another", time="T1", differs="it is old"),
                ["Message now: {message}", "The scheduler last said (T1): another", "They differ: it is old."],
            ),
            (
                EventReport(message="two\nlines", differs="it is old"),
                ["Message now: {message}", "The scheduler last said: two...", "They differ: it is old."],
            ),
        ],
        ids=in_order,
    )
    def test_our_message_beside_the_schedulers(self, event: EventReport | None, said: list[str]) -> None:
        item = pending(incoming(), [*TAINTED, *web("a1", "b1")])
        if event:
            event = msgspec.structs.replace(event, message=event.message.format(message=item.message))
        lines = told(msgspec.structs.replace(item, event=event)).splitlines()
        assert lines[-len(said) :] == [line.format(message=item.message) for line in said]

    def test_a_stale_event_of_a_schedulable_pod(self) -> None:
        event = EventReport(message="0/3 nodes", differs="it is out of date")
        lines = told(pending(incoming(), ABC, event=event)).splitlines()
        assert lines[-2:] == ["The scheduler last said: 0/3 nodes", "They differ: it is out of date."]

    def test_findings_are_told_unless_the_sentence_on_top_says_so(self) -> None:
        item = pending(
            incoming(spread(ZONE, selector=app("typo"))), [*TAINTED, *(pod("x", on="a1", labels={"app": "typo"}),)]
        )
        assert "warning: GhostPod: " in told(item)
        pinned = pending(incoming(), [*TAINTED, *web("a1", "b1")])
        assert "PinnedMinimum" in {finding.id for finding in pinned.findings}
        assert "PinnedMinimum" not in told(pinned)

    def test_what_holds_for_all_stands_at_the_end(self) -> None:
        assert (
            told(incomplete=(MISSING,))
            == "incomplete: list services (forbidden): the selector lacks what Services add.\n"
        )
        assert told() == ""


class TestNodeGroups:
    """Nodes by what rejects them."""

    def rejected(self, name: str, plugin: str, detail: str) -> NodeReport:
        """Return a node that the plugin rejects."""
        rejection = Rejection(plugin=plugin, code="Unschedulable", reasons=("no",), detail=detail)
        return NodeReport(
            name=name, feasible=False, plugin=plugin, code="Unschedulable", reasons=("no",), rejections=(rejection,)
        )

    def test_largest_first_and_feasible_ones_left_out(self) -> None:
        nodes = [
            NodeReport(name="ok", feasible=True),
            self.rejected("a", "B", ""),
            self.rejected("b", "A", "x"),
            self.rejected("c", "A", "x"),
            self.rejected("d", "A", "y"),
        ]
        groups = [(group.names, group.plugin, group.detail) for group in node_groups(nodes)]
        assert groups == [(("b", "c"), "A", "x"), (("d",), "A", "y"), (("a",), "B", "")]

    def test_a_node_without_a_rejection_of_its_own(self) -> None:
        (group,) = node_groups([NodeReport(name="n", feasible=False, plugin="PreFilterResult", code="x", reasons=())])
        assert (group.names, group.reasons, group.detail) == (("n",), "", "")

    def test_too_many_details_are_merged(self) -> None:
        nodes = [self.rejected(f"n{i:02}", "Fit", f"cpu {i}") for i in range(MOST_GROUPS + 1)]
        (group,) = node_groups([*nodes])
        assert (len(group.names), group.detail) == (MOST_GROUPS + 1, "cpu 0, ...")
        assert len(node_groups(nodes[:MOST_GROUPS])) == MOST_GROUPS


def test_names_are_printed_once() -> None:
    made = workload("Deployment", "web", pods=template(ON_ZONES, spread(HOSTNAME, selector=app("web"))))
    assert names(SkewReport(metadata=METADATA, items=rows_of([*ABC, made]))) == "deployment/web\n"
    item = pending(incoming(), ABC)
    assert names(PendingReport(metadata=METADATA, items=(item, item))) == "pod/new\n"
    assert names(PendingReport(metadata=METADATA, items=())) == ""
    values = msgspec.structs.asdict(report_of(incoming(), ABC)) | {"kind": "StatefulSet", "name": "db"}
    assert names(CheckReport(metadata=METADATA, items=(CheckItem(**values),))) == "statefulset/db\n"


EVIL = "x\x1b]0;owned\x07\u202ey\x9b\rz"


def evil_item() -> PendingItem:
    """Return an item whose every text that others write acts on a terminal."""
    described = incoming(spread(ZONE, selector={"matchLabels": {"app": EVIL}}), labels={"app": EVIL})
    objects = [node("n" + EVIL, zone=EVIL, taints=[f"{EVIL}=v:NoSchedule"]), node("m", labels={f"zone-{EVIL}": EVIL})]
    return pending(
        described,
        objects,
        name=EVIL,
        namespace=EVIL,
        summary=EVIL,
        scheduler_name=EVIL,
        held_by=(EVIL,),
        workload=WorkloadRef(kind=EVIL, name=EVIL),
        event=EventReport(message=EVIL, time=EVIL, differs="it is old"),
        preemption=Preemption(node=EVIL, victims=(PodName(namespace=EVIL, name=EVIL),), pdb_violations=0),
        nomination=Nomination(node=EVIL, leaving=(PodName(namespace=EVIL, name=EVIL),)),
        incomplete=(Incomplete(what=EVIL, why=EVIL, consequence=EVIL),),
    )


@pytest.mark.parametrize("wide", [False, True])
def test_nothing_that_others_wrote_acts_on_the_terminal(*, wide: bool) -> None:
    item = evil_item()
    texts = [told(item, wide=wide), names(PendingReport(metadata=METADATA, items=(item,)))]
    made = workload(
        "Deployment", EVIL, pods=template(spread(ZONE, selector=app(EVIL)), labels={"app": EVIL}), namespace=EVIL
    )
    pods = [
        pod(
            EVIL,
            namespace=EVIL,
            on="n",
            labels={"app": EVIL},
            topologySpreadConstraints=[spread(ZONE, selector=app("other"))],
        )
    ]
    rows = SkewReport(metadata=METADATA, items=rows_of([node("n", zone=EVIL), made, *pods]))
    texts += [show_table(rows, wide=wide, headers=True), show_details(rows, wide=wide, by_node=True), names(rows)]
    for text in texts:
        assert text
        assert not set(text) & {"\x1b", "\x07", "\u202e", "\x9b", "\r"}, text

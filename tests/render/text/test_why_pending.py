"""Why Pods are Pending, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from kubectl_spread.contract.pending import PendingItem, PendingReport
from kubectl_spread.controllers.workloads import Replicas
from kubectl_spread.diagnosis.causes import NoNodes
from kubectl_spread.diagnosis.evaluation import Conclusion
from kubectl_spread.diagnosis.events import Difference, LastFailure
from kubectl_spread.gaps import Gap, UnreadableManifest
from tests.build import ZONE, Object, app, pod, spread
from tests.diagnosis.judged import ABC, METADATA, TAINTED, incoming, report_of, web
from tests.naming import in_order
from tests.render.reports import pending_text

MISSING = UnreadableManifest(place="list services", why="the selector lacks what Services add")

NO_NODES, WHY = Conclusion(cause=NoNodes()), "The cluster has no nodes."


def pending(described: Object, objects: Sequence[Object], **fields: Any) -> PendingItem:  # noqa: ANN401 - any field
    report = msgspec.structs.asdict(report_of(described, objects)) | {"scheduler_name": "default-scheduler"} | fields
    return PendingItem(**report)


def told(*items: PendingItem, wide: bool = False, incomplete: tuple[Gap, ...] = ()) -> str:
    """Return what is said of the Pods."""
    return pending_text(PendingReport(metadata=METADATA, items=items, incomplete=incomplete), wide=wide)


OUT_OF_DATE = (
    "This differs from the result above, because the report is out of date: the scheduler has chosen a node since."
)


class TestPendingText:
    """What is to blame for each Pod."""

    def test_a_rollout_that_waits_is_said_to(self) -> None:
        at_work = Replicas(wanted=5, running=5, rolling_out=True)
        cluster = [*TAINTED, *web("a1", "b1")]
        item = pending(incoming(), cluster, replicas=at_work, conclusion=NO_NODES)
        assert told(item).startswith(
            "default/new is Pending (rollout not finished: all 5 replicas run). The cluster has no nodes.\n"
        )

    def test_a_pod_that_can_be_scheduled(self) -> None:
        told_so = "default/new: it can be scheduled now, on a1, a2, b1, c1. The scheduler "
        assert told(pending(incoming(), ABC)).startswith(f"{told_so}has not reported on it. If it stays")
        refused = LastFailure(message="0/4 nodes are available")
        assert told(pending(incoming(), ABC, event=refused)).startswith(f"{told_so}tries it again within about 5")

    def test_gates_come_before_the_verdict(self) -> None:
        text = told(pending(incoming(), ABC, held_by=("a.example/x", "b.example/y")))
        assert text.startswith(
            "default/new is held by the scheduling gates a.example/x and b.example/y. Once they are removed: it can be"
            " scheduled now"
        )

    def test_pods_of_one_template_are_told_once(self) -> None:
        first = pending(incoming(), [*TAINTED, *web("a1", "b1")])
        twins = [msgspec.structs.replace(first, name=f"twin-{n}", same_as="new") for n in range(7)]
        text = told(first, *twins)
        assert text.count("is Pending.") == 1
        assert "The same applies to twin-0, twin-1, twin-2, twin-3 and 3 more." in text
        elsewhere = msgspec.structs.replace(first, namespace="other", same_as="new")
        assert "The same holds" not in told(first, elsewhere)

    @pytest.mark.parametrize(
        ("event", "said"),
        [
            (None, ["The scheduler would report: {message}"]),
            (LastFailure(message="{message}"), ["The scheduler reported: {message}"]),
            (LastFailure(message="{message} preemption: none", time="T1"), ["The scheduler reported (T1): {message}"]),
            (
                LastFailure(message="another", time="T1", differs=Difference.NODE_CHOSEN),
                ["The scheduler would report now: {message}", "The scheduler last reported (T1): another", OUT_OF_DATE],
            ),
            (
                LastFailure(message="two\nlines", differs=Difference.NODE_CHOSEN),
                ["The scheduler would report now: {message}", "The scheduler last reported: two...", OUT_OF_DATE],
            ),
        ],
        ids=in_order,
    )
    def test_our_message_beside_the_schedulers(self, event: LastFailure | None, said: list[str]) -> None:
        item = pending(incoming(), [*TAINTED, *web("a1", "b1")])
        if event:
            event = msgspec.structs.replace(event, message=event.message.format(message=item.message))
        item = msgspec.structs.replace(item, event=event)
        lines = [line.format(message=item.message) for line in said]
        assert told(item, wide=True).splitlines()[-len(said) :] == lines
        assert told(item).splitlines()[-1] == lines[-1]

    def test_findings_are_told_unless_the_sentence_on_top_says_so(self) -> None:
        item = pending(
            incoming(spread(ZONE, selector=app("typo"))), [*TAINTED, *(pod("x", on="a1", labels={"app": "typo"}),)]
        )
        assert "NoEffect (warning): " in told(item)
        pinned = pending(incoming(), [*TAINTED, *web("a1", "b1")])
        assert "PinnedMinimum" in {finding.id for finding in pinned.findings}
        assert "PinnedMinimum" not in told(pinned)

    def test_what_holds_for_all_stands_at_the_end(self) -> None:
        assert (
            told(incomplete=(MISSING,))
            == "incomplete: list services (unreadable): the selector lacks what Services add.\n"
        )
        assert told() == ""

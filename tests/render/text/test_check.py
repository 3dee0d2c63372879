"""What becomes of manifests, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from kubectl_spread.apiserver.validation.field_errors import FieldError, ValidationWarning
from kubectl_spread.contract.check import CheckItem, CheckReport, Jam
from kubectl_spread.controllers.rollout_plan import Assumption, FailedCreate, Rollout
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.findings import MatchLabelKeyAbsent
from kubectl_spread.gaps import UnreadableManifest
from kubectl_spread.render.html import to_html
from kubectl_spread.render.markdown import to_markdown
from kubectl_spread.simulation.placement import DomainRange, Placement
from kubectl_spread.wording.check import ASSUMPTIONS
from tests.build import Object
from tests.diagnosis.judged import ABC, METADATA, incoming, report_of
from tests.program import encoded
from tests.render.reports import check_text

MISSING = UnreadableManifest(place="list services", why="the selector lacks what Services add")
WRONG = (FieldError(field="spec.x", reason="FieldValueInvalid", message="must be greater than zero"),)


def item_of(described: Object, objects: Sequence[Object], **fields: Any) -> CheckItem:  # noqa: ANN401 - any field
    """Return the item of a Deployment whose Pod is described."""
    report = msgspec.structs.asdict(report_of(described, objects))
    return CheckItem(**report | {"kind": "Deployment", "name": "web"} | fields)


def lines(item: CheckItem, *, wide: bool = False) -> list[str]:
    """Return the lines about one manifest; the schema that ships must allow it."""
    report = CheckReport(metadata=METADATA, items=(item,))
    encoded(report)
    return check_text(report, wide=wide).splitlines()


def free(**fields: Any) -> CheckItem:  # noqa: ANN401 - any field
    """Return an item whose first replica finds a node."""
    return item_of(incoming(), ABC, **fields)


def placed(*nodes: str) -> tuple[Placement, ...]:
    return tuple(Placement(replica=number, node=on) for number, on in enumerate(nodes, start=1))


def test_all_replicas_find_a_node() -> None:
    assert lines(free(replicas=3, placements=placed("a1", "b1", "a1")))[:2] == [
        "default/deployment/web: all 3 replicas can be scheduled.",
        "Replicas: a1 (2), b1",
    ]


def test_one_replica_names_its_nodes() -> None:
    assert lines(free(placements=placed("a1")))[0] == (
        "default/deployment/web: it can be scheduled now, on a1, a2, b1, c1."
    )


def test_nothing_is_to_be_placed() -> None:
    assert lines(free(replicas=0))[0] == "default/deployment/web: no Pod needs to be scheduled."
    scaled = Rollout(strategy="Scale", running=3, at_work=3, replaced=0, assumed=Assumption.POD_STAYS)
    told = lines(free(replicas=3, rollout=scaled))
    assert told[:2] == [
        "default/deployment/web: no Pod needs to be scheduled.",
        f"Rollout: Scale, 3 Pods exist. Assumed: {ASSUMPTIONS[Assumption.POD_STAYS]}.",
    ]


@pytest.mark.parametrize(
    ("running", "deleted", "who"),
    [(1, 0, "all 2 new Pods"), (2, 0, "all 2 new and Pending Pods"), (4, 1, "all 2 Pending Pods")],
)
def test_whose_places_are_told_where_other_pods_stay(running: int, deleted: int, who: str) -> None:
    rollout = Rollout(
        strategy="Scale", running=running, at_work=1, replaced=0, deleted=deleted, assumed=Assumption.POD_STAYS
    )
    item = free(replicas=3, placements=placed("a1", "b1"), rollout=rollout)
    assert lines(item)[0] == f"default/deployment/web: {who} can be scheduled."


def test_a_refused_pod_is_numbered_after_those_that_stay() -> None:
    rollout = Rollout(strategy="Scale", running=3, at_work=3, replaced=0, assumed=Assumption.POD_STAYS)
    failed = FailedCreate(created=1, message="exceeded quota")
    item = free(replicas=6, placements=placed("a1"), rollout=rollout, failed_create=failed)
    assert "Pod 5 of 6 is refused" in lines(item)[0]


def test_what_the_api_server_would_refuse() -> None:
    told = lines(free(validation=WRONG, verdict=Verdict.INVALID))
    assert told[0].startswith("default/deployment/web: the API server refuses it. Otherwise: it can be scheduled now")
    assert told[1] == "invalid: spec.x: must be greater than zero"


def test_what_the_api_server_would_warn_of_in_every_output_for_people() -> None:
    item = free(warnings=(ValidationWarning(field="spec.x[a_b]", message="deprecated since v1.14"),))
    report = CheckReport(metadata=METADATA, items=(item,))
    assert lines(item)[1] == "Warning: spec.x[a_b]: deprecated since v1.14"
    assert r"- Warning: spec.x\[a_b\]: deprecated since v1.14" in to_markdown(report).splitlines()
    assert "<code>spec.x[a_b]</code> deprecated since v1.14" in to_html(report)


def test_what_the_scheduler_never_sees() -> None:
    nothing: dict[str, Any] = {"nodes": (), "constraints": (), "feasible": (), "findings": ()}
    refused = free(validation=WRONG, verdict=Verdict.INVALID, **nothing)
    assert lines(refused) == [
        "default/deployment/web: the API server refuses it.",
        "invalid: spec.x: must be greater than zero",
    ]


def test_findings_and_gaps_follow() -> None:
    finding = MatchLabelKeyAbsent(index=0, keys=("boo\nmore",))
    told = lines(free(findings=(finding,), incomplete=(MISSING,)))
    assert "MatchLabelKeyAbsent (warning): the Pod has no label boo..." in told
    assert told[-1] == "incomplete: list services (unreadable): the selector lacks what Services add."


def test_counts_that_depend_on_luck_are_ranges() -> None:
    own = DomainRange(constraint=0, value="a", minimum=1, maximum=2)
    ranges = (own, DomainRange(constraint=7, value="b", minimum=0, maximum=9))
    told = lines(free(ranges=ranges, orders=8))
    assert any(line.startswith("Some choices are random: ranges show 8 simulations") for line in told)
    assert "a        2       1..2   0      yes" in told


def test_where_only_one_order_was_tried_it_is_said() -> None:
    tied = (Placement(replica=1, node="a1", ties=("b1",)),)
    told = "Ties were broken by name: in a cluster of this size no other order was simulated."
    assert told in lines(free(placements=tied, orders=1))
    assert told not in lines(free(placements=tied, orders=8))
    assert told not in lines(free(placements=placed("a1"), orders=1))


def test_wide_ranks_the_nodes() -> None:
    item = free(placements=placed(*(f"n{i}" for i in range(12))), replicas=12)
    (ranked,) = [line for line in lines(item, wide=True) if line.startswith("Ranked ")]
    assert ranked.startswith("Ranked for the first replica: a1 (")
    assert not any(line.startswith("Ranked ") for line in lines(item))
    assert "Replicas: n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more" in lines(item)
    assert "n11" in next(line for line in lines(item, wide=True) if line.startswith("Replicas"))


@pytest.mark.parametrize(
    ("item", "code"),
    [
        (free(), "32"),
        (free(validation=WRONG, verdict=Verdict.INVALID), "31"),
        (free(jam=Jam(replica=1, message="no")), "31"),
        (free(verdict=Verdict.INCOMPLETE), "33"),
    ],
    ids=["schedulable", "invalid", "jammed", "incomplete"],
)
def test_the_verdict_has_a_colour(item: CheckItem, code: str) -> None:
    text = check_text(CheckReport(metadata=METADATA, items=(item,)), wide=False, colors=True)
    assert text.startswith(f"\x1b[{code}mdefault/deployment/web: ")

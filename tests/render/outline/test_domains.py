"""A constraint with its domains, as its lines read."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_spread.diagnosis.domains import ConstraintDiagnosis
from kubectl_spread.render.outline import Extent
from kubectl_spread.render.outline.domains import MOST_ROWS, constraint_block, once_bypassed
from kubectl_spread.render.text import block_lines
from tests.build import HOSTNAME, ZONE, app, node, pod, spread
from tests.diagnosis.judged import ABC, SERVICE, TAINTED, constraint_of, incoming, web


def lines(constraint: ConstraintDiagnosis, *, wide: bool = False, by_node: bool = False) -> list[str]:
    return list(block_lines(constraint_block(constraint, Extent(wide=wide, by_node=by_node))))


def test_wide_names_the_nodes() -> None:
    told = lines(constraint_of(incoming(), [*ABC, *web("a1")]), wide=True)
    assert "a        a1, a2   1      1      no: skew would be 2" in told


def test_domains_unfold_to_nodes_with_the_pods_on_each() -> None:
    constraint = spread(ZONE, selector=app("web"), nodeTaintsPolicy="Honor")
    told = lines(constraint_of(incoming(constraint), [*TAINTED, *web("a1", "a1", "c1")]), by_node=True)
    assert told[1:5] == [
        "DOMAIN   NODE   PODS   DOMAIN-SKEW   NEXT",
        "a        a1     2      2             no: skew would be 3",
        "a        a2     0      2             no: skew would be 3",
        "b        b1     0      0             yes",
    ]


def test_domains_that_are_not_counted_and_nodes_that_are_passed_over() -> None:
    constraint = spread(ZONE, selector=app("web"), nodeTaintsPolicy="Honor")
    told = lines(constraint_of(incoming(constraint), [*TAINTED, node("x", labels={"zone": "a"}), node("y")]))
    assert told[4:] == [
        "c        0 of 1   0      -      not counted",
        "Minimum: 0 (a, b).",
        "Not counted: c1, with an untolerated taint.",
        f"Not counted: x, without the label {ZONE} (did you mean zone?).",
        f"Not counted: y, without the label {ZONE}.",
    ]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"nodeTaintsPolicy": "Honor"}, "maxSkew 1, nodeTaintsPolicy Honor, selector app=web"),
        ({"nodeAffinityPolicy": "Ignore"}, "maxSkew 1, nodeAffinityPolicy Ignore, selector app=web"),
        ({"nodeTaintsPolicy": "Ignore", "nodeAffinityPolicy": "Honor"}, "maxSkew 1, selector app=web"),
    ],
)
def test_policies_are_named_where_they_are_not_what_they_are_unset(fields: dict[str, Any], told: str) -> None:
    first, *_ = lines(constraint_of(incoming(spread(ZONE, selector=app("web"), **fields)), ABC))
    assert first == f"Constraint 0: {ZONE}, DoNotSchedule, {told}"


def test_no_domain_is_counted() -> None:
    soft = spread("rack", selector=app("web"), soft=True)
    assert lines(constraint_of(incoming(soft), ABC))[1] == "Minimum: 0 (no domain is counted)."
    hard = spread("rack", selector=app("web"))
    assert lines(constraint_of(incoming(hard), ABC))[1] == "Minimum: 0 (no domain is counted)."


@pytest.mark.parametrize(
    ("constraint", "labels", "said"),
    [
        (spread(ZONE, selector=app("web")), {"app": "other"}, "selector app=web (does not match the Pod itself)"),
        (spread(ZONE), {}, "selector <none> (does not match the Pod itself)"),
        (spread(ZONE, selector={}), {}, "selector <all>"),
    ],
)
def test_the_selector_and_whether_it_means_the_pod(
    constraint: dict[str, object], labels: dict[str, str], said: str
) -> None:
    told = lines(constraint_of(incoming(constraint, labels=labels), ABC))
    assert told[0].endswith(said)


def test_a_default_constraint_says_so() -> None:
    told = lines(constraint_of(pod("p", labels={"app": "web"}), [*ABC, SERVICE]))
    assert told[0].endswith("selector app=web, cluster default")


def test_a_minimum_that_another_constraint_pins() -> None:
    nodes = [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b")]
    constraints = (spread(ZONE, selector=app("web")), spread(HOSTNAME, selector=app("web")))
    told = lines(constraint_of(incoming(*constraints), [*nodes, *web("a1", "a1", "a2", "b1", "b1")]))
    assert "b        1       2      0      no: constraint 1" in told


def test_many_domains_that_stand_alike_share_a_line() -> None:
    nodes = [node(f"n{i:02}") for i in range(MOST_ROWS + 3)]
    constraint = spread(HOSTNAME, selector=app("web"))
    found = constraint_of(incoming(constraint), [*nodes, *web("n03")])
    assert lines(found)[2:] == [
        "n03              1       1      1      no: skew would be 2",
        "n00 and 7 more   8       0      0      yes",
        "Minimum: 0 (8 domains).",
    ]
    assert lines(found, by_node=True)[2:4] == [
        "n03                             1      1      no: skew would be 2",
        "n00, n01, n02, n04 and 4 more   0      0      yes",
    ]
    assert len(lines(found, by_node=True, wide=True)) == MOST_ROWS + 3 + 3


def test_pods_of_several_domains_are_those_of_each() -> None:
    nodes = [node(f"n{i:02}") for i in range(MOST_ROWS + 3)]
    found = constraint_of(incoming(spread(HOSTNAME, selector=app("web"))), [*nodes, *web("n03", "n04")])
    assert lines(found)[2] == "n03, n04         2       1 each   1      no: skew would be 2"


def test_nodes_that_two_constraints_do_not_count_are_named_once() -> None:
    blocks = [constraint_block(constraint_of(incoming(nodeSelector={ZONE: "a"}), ABC), Extent())] * 2
    told = once_bypassed([blocks[0], msgspec.structs.replace(blocks[1], index=1)])
    assert [block.bypassed for block in told] == [
        ("Not counted: b1, c1, outside the Pod's node affinity.",),
        ("Not counted: the same nodes as for constraint 0.",),
    ]

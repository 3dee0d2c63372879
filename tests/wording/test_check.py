"""What ``check`` says of a manifest."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.controllers.rollout_plan import (
    Assumption,
    FromHighestOrdinal,
    MadeElsewhere,
    Rollout,
    RolloutAssumption,
    Strategy,
    UnknownRules,
    WithinFenceposts,
)
from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.diagnosis.fixes.change import ManifestEdit
from kubectl_spread.diagnosis.fixes.conclusion import Fix, Route
from kubectl_spread.diagnosis.fixes.constraints import RaiseMaxSkew
from kubectl_spread.simulation.placement import Jam, Placement
from kubectl_spread.wording import check
from kubectl_spread.wording.check import ASSUMPTIONS, assumption, edit_line, fix_sentence
from tests.naming import in_order

WHY = "Every node is full."
PROTECTED = "in violation of a PodDisruptionBudget"


def on(node: str, *preempts: str) -> Placement:
    """Return where a replica goes, and which Pods are evicted for it."""
    victims = tuple(PodName(namespace="shop", name=name) for name in preempts)
    return Placement(replica=1, node=node, ties=(), preempts=victims or UNSET)


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"replica_max": UNSET, "nodes": ()}, f"replica 2 of 5 cannot be scheduled. {WHY}"),
        ({"replica_max": 4, "nodes": ()}, f"replica 2 to 4 of 5 cannot be scheduled, depending on chance. {WHY}"),
        ({"replica_max": None, "nodes": ()}, f"replica 2 of 5 may not be schedulable, depending on chance. {WHY}"),
        ({"replica_max": UNSET, "nodes": ("a", "b")}, f"2 of 5 nodes cannot take their Pod (a, b). {WHY}"),
    ],
    ids=in_order,
)
def test_which_replica_finds_no_node(facts: dict[str, Any], sentence: str) -> None:
    assert check.jam_sentence(Jam(replica=2, message=None, **facts), 5, WHY) == sentence


@pytest.mark.parametrize(
    ("who", "placements", "sentence"),
    [
        (check.everyone(2), (on("a"), on("b")), "all 2 replicas can be scheduled."),
        (check.everyone(2, "new"), (on("a"), on("b")), "all 2 new Pods can be scheduled."),
        (
            check.everyone(1, "Pending"),
            (replace(on("a"), once_gone=(PodName(namespace="shop", name="old"),)),),
            "the Pending Pod can be scheduled once shop/old on a is gone (being deleted).",
        ),
        ("it", (on("a", "cold"),), "it can be scheduled: it preempts shop/cold on a."),
        (
            check.everyone(4),
            (on("a", "w", "x"), on("b", "y", "z")),
            "all 4 replicas can be scheduled: they preempt shop/w on a, shop/x on a and 2 more.",
        ),
        (
            "they",
            (replace(on("a", "w"), pdb_violations=1), replace(on("b", "x"), pdb_violations=1)),
            f"they can be scheduled: they preempt shop/w on a and shop/x on b (2 of them {PROTECTED}).",
        ),
    ],
    ids=in_order,
)
def test_who_finds_a_node_and_who_is_evicted(who: str, placements: tuple[Placement, ...], sentence: str) -> None:
    assert check.placed(placements, who) == sentence


@pytest.mark.parametrize(
    ("strategy", "counts", "text"),
    [
        ("Recreate", (1, 1, 1, 0), "Recreate, 1 Pod exists, 1 to be replaced"),
        ("Scale", (2, 2, 0, 1), "Scale, 2 Pods exist, 1 to be deleted"),
        (
            "RollingUpdate",
            (15, 12, 13, 2),
            "RollingUpdate, 15 Pods exist (12 of them run), 13 to be replaced, 2 to be deleted",
        ),
    ],
)
def test_how_a_rollout_gets_there(strategy: Strategy, counts: tuple[int, int, int, int], text: str) -> None:
    running, at_work, replaced, deleted = counts
    rollout = Rollout(
        strategy=strategy,
        running=running,
        at_work=at_work,
        replaced=replaced,
        deleted=deleted,
        assumed=MadeElsewhere("x"),
    )
    assert check.rollout_note(rollout) == f"Rollout: {text}. Assumed: x creates its Pods."


def test_what_is_violated_in_the_end() -> None:
    assert check.violation_note(0, 2, by_chance=False) == "Constraint 0 is Violated in the end: its skew is 2."
    by_chance = "Constraint 1 may be Violated in the end, depending on chance: its skew is up to 3."
    assert check.violation_note(1, 3, by_chance=True) == by_chance


def test_where_replicas_go() -> None:
    placements = (on("a"), on("b"), on("a"), on("c"), on("d"))
    assert check.replicas_note(placements, most=10) == "Replicas: a (2), b, c, d"
    assert check.replicas_note(placements, most=2) == "Replicas: a (2), b and 2 more"
    assert check.ranking_note({"a": 7, "b": 3}) == "Ranked for the first replica: a (7), b (3)"


@pytest.mark.parametrize(
    ("assumed", "words"),
    [
        (Assumption.SUSPENDED, "it is suspended, so no Pod is created until it is resumed"),
        (MadeElsewhere("kueue.x-k8s.io/multikueue"), "kueue.x-k8s.io/multikueue creates its Pods"),
        (UnknownRules("Rollout"), "how a Rollout replaces Pods is not known"),
        (WithinFenceposts(most=5, least=0), "only if a new Pod needs its place. A new Pod runs"),
        (
            WithinFenceposts(most=5, least=3),
            "only if a new Pod needs its place and at least 3 other Pods run, old or new. A new Pod runs",
        ),
        (
            FromHighestOrdinal(first=6),
            "from the highest ordinal down to 6 is deleted before its replacement is created",
        ),
    ],
    ids=str,
)
def test_what_is_assumed_names_its_numbers_and_names(assumed: RolloutAssumption, words: str) -> None:
    assert words in assumption(assumed)


def test_every_assumption_has_words_of_its_own() -> None:
    assert set(ASSUMPTIONS) == set(Assumption)
    assert len(set(ASSUMPTIONS.values())) == len(Assumption)


@pytest.mark.parametrize(
    ("edit", "line"),
    [
        (
            ManifestEdit(path="spec.replicas", line=7, before="replicas: 2", after="replicas: 3\n"),
            "line 7: replicas: 3",
        ),
        (ManifestEdit(path="spec.a", document=2, before="", after="a:\n  b: 1\n"), "document 2, spec.a: a: b: 1"),
        (ManifestEdit(path="spec.a", line=3, before="a: 1", after=""), "line 3: remove it"),
    ],
)
def test_a_change_in_one_line(edit: ManifestEdit, line: str) -> None:
    assert edit_line(edit) == line


def test_a_fix_as_a_sentence() -> None:
    raised = RaiseMaxSkew(topology_key="zone", max_skew=2)
    fix = Fix(proposals=(raised,), feasible=(), admits=1, siblings=1, changes=(), routes=(Route(),), on_read_pods=False)
    assert fix_sentence(fix, ["line 7: maxSkew: 2", "kubectl apply"]) == (
        "Fix: raise maxSkew to 2 in the constraint on zone (line 7: maxSkew: 2; kubectl apply)."
    )


def test_each_group_of_equal_nodes_is_named_once() -> None:
    placements = [Placement(replica=number, node="a", ties=ties) for number, ties in enumerate(TIES, 1)]
    equal = "Some nodes are equal, so the scheduler may use one for the other"
    assert check.chance_note(placements[:2]) == f"{equal}: a or b."
    assert check.chance_note(placements) == f"{equal}: a, b, c or 2 more."
    others = [Placement(replica=9, node=f"x{n}", ties=(f"y{n}",)) for n in range(4)]
    assert check.chance_note([*placements[:2], *others]) == f"{equal}: a or b; x0 or y0; x1 or y1; and 2 more groups."
    assert check.chance_note(placements[:1]) == ""


TIES = ((), ("b",), ("b", "c", "d", "e"), ("b",), ("b",), ("b",))

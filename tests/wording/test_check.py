"""What ``check`` says of a manifest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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

WHY = "Every node is full."


def on(node: str, *preempts: str) -> Placement:
    """Return where a replica goes, and which Pods are evicted for it."""
    victims = tuple(PodName(namespace="shop", name=name) for name in preempts)
    return Placement(replica=1, node=node, ties=(), preempts=victims or UNSET)


JAMS: list[dict[str, Any]] = [
    {"replica_max": UNSET, "nodes": ()},
    {"replica_max": 4, "nodes": ()},
    {"replica_max": None, "nodes": ()},
    {"replica_max": UNSET, "nodes": ("a", "b")},
]


PLACED: list[tuple[str, tuple[Placement, ...]]] = [
    (check.everyone(2), (on("a"), on("b"))),
    (check.everyone(2, "new"), (on("a"), on("b"))),
    (check.everyone(1, "Pending"), (replace(on("a"), once_gone=(PodName(namespace="shop", name="old"),)),)),
    ("it", (on("a", "cold"),)),
    (check.everyone(4), (on("a", "w", "x"), on("b", "y", "z"))),
    ("they", (replace(on("a", "w"), pdb_violations=1), replace(on("b", "x"), pdb_violations=1))),
]


ROLLOUTS: list[tuple[Strategy, tuple[int, int, int, int]]] = [
    ("Recreate", (1, 1, 1, 0)),
    ("Scale", (2, 2, 0, 1)),
    ("RollingUpdate", (15, 12, 13, 2)),
]


def test_what_is_violated_in_the_end() -> None:
    assert check.violation_text("constraint 0", 2, by_chance=False) == "constraint 0 is Violated in the end (skew 2)"
    by_chance = "constraint 1 may be Violated in the end, depending on chance (skew up to 3)"
    assert check.violation_text("constraint 1", 3, by_chance=True) == by_chance


def test_where_replicas_go() -> None:
    placements = (on("a"), on("b"), on("a"), on("c"), on("d"))
    assert check.replicas_note(placements, most=10) == "Replicas: a (2), b, c, d"
    assert check.replicas_note(placements, most=2) == "Replicas: a (2), b and 2 more"
    assert check.ranking_note({"a": 7, "b": 3}) == "Ranked for the first replica: a (7), b (3)"


ASSUMED: list[RolloutAssumption] = [
    Assumption.SUSPENDED,
    MadeElsewhere("kueue.x-k8s.io/multikueue"),
    UnknownRules("Rollout"),
    WithinFenceposts(most=5, least=0),
    WithinFenceposts(most=5, least=3),
    FromHighestOrdinal(first=6),
]


def test_every_assumption_has_words_of_its_own() -> None:
    assert set(ASSUMPTIONS) == set(Assumption)
    assert len(set(ASSUMPTIONS.values())) == len(Assumption)


EDITS: list[ManifestEdit] = [
    ManifestEdit(path="spec.replicas", line=7, before="replicas: 2", after="replicas: 3\n"),
    ManifestEdit(path="spec.a", document=2, before="", after="a:\n  b: 1\n"),
    ManifestEdit(path="spec.a", line=3, before="a: 1", after=""),
]


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


def rollout(strategy: Strategy, counts: tuple[int, int, int, int], assumed: RolloutAssumption) -> Rollout:
    """Return a rollout of so many Pods: that there are, that run, that are replaced, that are deleted."""
    there, at_work, replaced, deleted = counts
    return Rollout(
        strategy=strategy, running=there, at_work=at_work, replaced=replaced, deleted=deleted, assumed=assumed
    )


def test_the_sentences_of_check(same_as_golden: Callable[[str, str], None]) -> None:
    told = (
        *(check.jam_sentence(Jam(replica=2, message=None, **facts), 5, WHY) for facts in JAMS),
        *(check.placed(placements, who) for who, placements in PLACED),
        *(check.rollout_note(rollout(strategy, counts, MadeElsewhere("x"))) for strategy, counts in ROLLOUTS),
        *map(assumption, ASSUMED),
        *map(edit_line, EDITS),
    )
    same_as_golden("".join(f"{each}\n" for each in told), "phrasebook/check.txt")

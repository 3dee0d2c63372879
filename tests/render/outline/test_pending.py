"""Evictions as sentences."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.contract.pending import PendingItem
from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.diagnosis.evaluation import Conclusion, Verdict
from kubectl_spread.diagnosis.preemption import AwaitedVolumes, Nomination, Preemption
from kubectl_spread.render.outline.pending import choice_lines

AWAITED = AwaitedVolumes(nodes=("a",), claims=("data",), provisioners=("p",))
VICTIMS = (PodName(namespace="shop", name="old-1"), PodName(namespace="shop", name="old-2"))


def lines(**fields: Any) -> list[str]:  # noqa: ANN401 - any field, by the API's name
    """Return what is said of a Pod."""
    item = PendingItem(
        namespace="shop",
        name="new",
        **{
            "verdict": Verdict.UNSCHEDULABLE,
            "message": "",
            "feasible": (),
            "nodes": (),
            "constraints": (),
            "scheduler_name": "default-scheduler",
            **fields,
        },
    )
    return list(choice_lines(item))


def test_nothing_is_said_where_evictions_play_no_part() -> None:
    assert lines() == []


@pytest.mark.parametrize(
    ("fields", "end"),
    [
        ({"pdb_violations": 0}, "."),
        ({"pdb_violations": 1}, " (1 of them in violation of a PodDisruptionBudget)."),
        ({"pdb_violations": 1, "victims": VICTIMS[:1]}, " (in violation of a PodDisruptionBudget)."),
        ({"pdb_violations": None}, " (whether PodDisruptionBudgets protect them could not be read)."),
        ({"ties": ("b",)}, "; the scheduler may also choose b."),
        ({"other_nodes": ("c", "d")}, "; worse choices: c, d."),
        ({"sampled": True}, ". In a cluster of this size the scheduler tries only some nodes."),
    ],
)
def test_who_would_go_is_named(fields: dict[str, Any], end: str) -> None:
    preemption = Preemption(**{"node": "a", "victims": VICTIMS, "pdb_violations": 0, **fields})
    victims = ", ".join(map(str, preemption.victims))
    told = f"Its priority allows preemption: {victims} would be evicted from a"
    assert lines(preemption=preemption) == [told + end]


def test_a_nominated_pod_waits() -> None:
    waits = "It is nominated to a and waits for shop/old-1, shop/old-2 to leave."
    assert lines(nomination=Nomination(node="a", leaving=VICTIMS)) == [waits]
    (line,) = lines(nomination=Nomination(node="a", leaving=()))
    assert line == "It is nominated to a, where no Pod has to leave."


def test_of_a_pod_that_waits_for_volumes_the_summary_says_where() -> None:
    chosen = {"verdict": Verdict.SCHEDULABLE, "conclusion": Conclusion(awaited=AWAITED)}
    assert lines(**chosen, nomination=Nomination(node="a", leaving=())) == []
    assert len(lines(**chosen, nomination=Nomination(node="a", leaving=VICTIMS))) == 1

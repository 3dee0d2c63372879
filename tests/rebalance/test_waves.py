"""Which evictions may follow one another at once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kubectl_spread.rebalance.waves import waves
from tests.build import Object, app, pod, snapshot, typed_pod

RUNNING = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def budget(name: str, allowed: int) -> Object:
    """Return a PodDisruptionBudget of an application that allows so many disruptions."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": app(name)},
        "status": {"disruptionsAllowed": allowed},
    }


@pytest.mark.parametrize(
    ("budgets", "apps", "wanted"),
    [
        ((), "aaa", [1, 1, 1]),
        (("a", 1), "aaa", [1, 2, 3]),
        (("a", 2), "aaa", [1, 1, 2]),
        (("a", 1), "abab", [1, 1, 2, 2]),
    ],
    ids=["no budget", "one at a time", "two at a time", "others may go along"],
)
def test_a_wave_takes_no_more_than_its_budgets_allow(
    budgets: tuple[str, int] | tuple[()], apps: Sequence[str], wanted: Sequence[int]
) -> None:
    pods = [
        typed_pod(pod(f"p{number}", on="n", labels={"app": name}, status=RUNNING)) for number, name in enumerate(apps)
    ]
    found = snapshot([budget(*budgets)] if budgets else [])
    assert list(waves(pods, found)) == wanted


def test_a_pod_that_has_not_started_takes_nothing_of_its_budget() -> None:
    pods = [typed_pod(pod(name, on="n", labels={"app": "a"}, status={"phase": "Pending"})) for name in "pq"]
    assert list(waves(pods, snapshot([budget("a", 1)]))) == [1, 1]

"""Which evictions may follow one another at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pytest

from kubectl_spread.objects.core import Pod
from kubectl_spread.rebalance.checkpoints import waves
from tests.build import ZONE, Object, app, pod, snapshot, typed_pod
from tests.build_workloads import owned
from tests.rebalance.lying import web, zones

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


def landing(pods: Iterable[Pod], lands: Iterable[Sequence[str]]) -> Iterator[tuple[Pod, Pod, Sequence[str]]]:
    """Yield evictions of Pods, each of which comes again on one of these nodes."""
    return ((pod, pod, names) for pod, names in zip(pods, lands, strict=True))


def landing_anywhere(pods: Sequence[Pod]) -> Iterator[tuple[Pod, Pod, Sequence[str]]]:
    """Yield evictions whose successors go where none of them was."""
    return landing(pods, [["elsewhere"]] * len(pods))


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
    assert list(waves(landing_anywhere(pods), found)) == wanted


def test_a_pod_that_has_not_started_takes_nothing_of_its_budget() -> None:
    pods = [typed_pod(pod(name, on="n", labels={"app": "a"}, status={"phase": "Pending"})) for name in "pq"]
    assert list(waves(landing_anywhere(pods), snapshot([budget("a", 1)]))) == [1, 1]


def test_a_node_that_one_of_the_wave_leaves_has_its_room_in_the_next() -> None:
    """An evicted Pod holds its room until its kubelet has ended it."""
    pods = [typed_pod(pod(name, on=name, status=RUNNING)) for name in "abc"]
    found = snapshot([])
    assert list(waves(landing(pods, (["d"], ["e"], ["f"])), found)) == [1, 1, 1]
    assert list(waves(landing(pods, (["d"], ["e", "a"], ["b", "f"])), found)) == [1, 2, 3]
    assert list(waves(landing(pods, (["a"], ["b"], ["a"])), found)) == [1, 1, 2]


@pytest.mark.parametrize("who", ["the one that comes", "the one that goes"])
@pytest.mark.parametrize("required", [True, False], ids=["required", "preferred"])
@pytest.mark.parametrize(
    ("near", "lands", "wanted"),
    [("podAntiAffinity", "b3", [1, 1]), ("podAntiAffinity", "a2", [1, 2]), ("podAffinity", "b3", [1, 2])],
    ids=["kept off another zone", "kept off this zone", "drawn to its zone"],
)
def test_affinity_counts_a_pod_that_is_being_deleted(
    who: str, near: str, lands: str, wanted: Sequence[int], *, required: bool
) -> None:
    term = {"topologyKey": ZONE, "labelSelector": app("y" if who == "the one that goes" else "x")}
    weighted = {"weight": 1, "podAffinityTerm": term}
    mode, terms = ("required", [term]) if required else ("preferred", [weighted])
    affinity = {near: {f"{mode}DuringSchedulingIgnoredDuringExecution": terms}}
    gone, comes = (pod(name, on=f"{zone}1", labels={"app": name}, status=RUNNING) for name, zone in ("xa", "yb"))
    (gone if who == "the one that goes" else comes)["spec"]["affinity"] = affinity
    found = snapshot(zones("a", "b", each=3))
    assert list(waves(landing([typed_pod(gone), typed_pod(comes)], [["b2"], [lands]]), found)) == wanted


@pytest.mark.parametrize(
    ("policy", "ordinals", "wanted"),
    [
        ("OrderedReady", (0, 1), [1, 2]),
        ("OrderedReady", (1, 0), [1, 1]),
        ("OrderedReady", (2, 0, 1), [1, 1, 2]),
        ("Parallel", (0, 1), [1, 1]),
    ],
    ids=["upwards", "downwards", "both", "all at once"],
)
def test_a_stateful_set_makes_no_pod_before_those_of_lower_ordinals_are_ready(
    policy: str, ordinals: Sequence[int], wanted: Sequence[int]
) -> None:
    owner, *_ = web({"a1": 3}, kind="StatefulSet")
    owner["spec"]["podManagementPolicy"] = policy
    found = snapshot([owner])
    pods = [typed_pod(owned(f"web-{number}", "StatefulSet", "web", on="a1", status=RUNNING)) for number in ordinals]
    assert list(waves(landing_anywhere(pods), found)) == wanted

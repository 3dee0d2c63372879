"""Nodes that an autoscaler thinks of taking away: emptied they are domains still, once gone they are none.

Source: kubernetes-sigs/cluster-autoscaler pkg/simulator/cluster_test.go, the cases of topology spread constraints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.build import HOSTNAME, Object, app, node, pod, spread
from tests.simulation.test_steps import READY, deployment, item, last, names, pending

NODES = ("n1", "n2", "n3")


def cluster(**policy: Any) -> Sequence[Object]:  # noqa: ANN401 - any field, by the API's name
    """Return three nodes with a Pod of web each, and on the second and third one that nothing manages."""
    constraint = spread(HOSTNAME, selector=app("web"), minDomains=2, **policy)
    alone = [pod(f"blocker-{name}", on=name, status=READY) for name in NODES[1:]]
    return [*map(node, NODES), *deployment(NODES, constraint), *alone]


@pytest.mark.parametrize(
    ("policy", "emptied", "after"),
    [
        pytest.param({}, {"deployment/web": (1, 1)}, {"n1": 0, "n2": 1, "n3": 1}, id="it counts as an empty domain"),
        pytest.param({"nodeTaintsPolicy": "Honor"}, {}, None, id="its taint takes the domain away"),
    ],
)
def test_the_node_that_can_be_emptied(
    policy: Mapping[str, str], emptied: Mapping[str, tuple[int, int]], after: Mapping[str, int] | None
) -> None:
    drained, gone = (last(cluster(**policy), f"{verb} n1") for verb in ("drain", "remove"))
    assert names(drained.evicted) == names(gone.evicted) == ["web-0"]
    assert pending(drained) == emptied
    assert after is None or item(drained).after == after
    assert after is not None or "n1" not in item(drained).after
    assert pending(gone) == {}
    assert item(gone).ranges == {"n2": (1, 2), "n3": (1, 2)}
    assert sum(item(gone).after.values()) == len(NODES)


@pytest.mark.parametrize("name", NODES[1:])
def test_a_pod_that_nothing_manages_keeps_its_node_from_being_emptied(name: str) -> None:
    drained, gone = (last(cluster(), f"{verb} {name}") for verb in ("drain", "remove"))
    assert sorted(names(drained.blocked)) == [f"blocker-{name}", f"web-{NODES.index(name)}"]
    assert not drained.evicted
    assert pending(drained) == {}
    assert item(drained).after == dict.fromkeys(NODES, 1)
    assert names(gone.lost) == [f"blocker-{name}"]
    assert pending(gone) == {}
    assert item(gone).ranges == {each: (1, 2) for each in NODES if each != name}

"""The measured drain is one that moves Pods."""

from __future__ import annotations

from tests.bench.rebalance import Size
from tests.bench.simulate import DRAINED, drained


def test_the_pods_of_the_node_go_elsewhere() -> None:
    step, seconds = drained(Size(nodes=30, pods=108, workloads=12, most_seconds=1.0))
    assert {pod.node for pod in step.evicted} == {DRAINED}
    assert (step.orders > 1, step.pending, seconds > 0) == (True, (), True)

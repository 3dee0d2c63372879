"""Simulates steps in several orders of chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import msgspec

from kubectl_spread.scheduler.framework import Handles
from kubectl_spread.simulation.chance import ORDERS
from kubectl_spread.simulation.cluster_state import ClusterState
from kubectl_spread.simulation.control_loop import MOST_VERDICTS, ControlLoop
from kubectl_spread.simulation.steps import Done, Step, act

MOST_WORK = 40_000  # Changes times nodes (count) after which no other order is started: about half a second
# The factor by which more is simulated if the scheduler scores only some of the nodes: then outcomes differ more.
MORE_WHERE_SAMPLED = 5
LEFT_ALONE = -1  # The number of steps that ``look`` is given with the final cluster without any step

SeenT = TypeVar("SeenT")


class After(msgspec.Struct, Generic[SeenT], frozen=True):
    """What one step has ``done``, and what was ``seen`` of the cluster after it."""

    done: Done
    seen: SeenT


class StepOutcomes(msgspec.Struct, Generic[SeenT], frozen=True):
    """What was observed in each order."""

    before: SeenT  # what was observed at the start
    # returns what was observed of the final cluster without any step, in each order
    left_alone: Callable[[], Sequence[SeenT]]
    # what was observed after each step, for each order; the first goes by name
    orders: tuple[tuple[After[SeenT], ...], ...]

    def after(self, number: int) -> tuple[After[SeenT], ...]:
        """Return what was observed after the step of this index, in each order."""
        return tuple(order[number] for order in self.orders)


def simulate(
    handles: Handles,
    steps: Sequence[Step],
    look: Callable[[ClusterState, int], SeenT],
    *,
    most_verdicts: int = MOST_VERDICTS,
    most_work: int = MOST_WORK,
) -> StepOutcomes[SeenT]:
    """Return what ``look`` observes of the cluster after each step, in each order that was simulated.

    ``most_verdicts``: Pods are tried on at most so many nodes in each order (count). ``most_work``: changes times nodes
    (count) after which no other order is started.
    """
    cluster = ClusterState(handles, 0)
    before = look(cluster, 0)
    orders: list[tuple[After[SeenT], ...]] = []
    work = 0
    for seed in range(ORDERS):
        cluster = ClusterState(handles, seed) if seed else cluster
        loop, found = ControlLoop(cluster, most_verdicts=most_verdicts), []
        for number, step in enumerate(steps, start=1):
            done = act(step, cluster, loop)
            found.append(After(done, look(cluster, number)))
        orders.append(tuple(found))
        work += cluster.version * max(len(cluster.nodes), 1)
        if not cluster.chance.free or work > most_work * (MORE_WHERE_SAMPLED if cluster.chance.sampled else 1):
            break

    def left_alone() -> Sequence[SeenT]:
        seen: list[SeenT] = []
        for seed in range(len(orders)):
            cluster = ClusterState(handles, seed)
            ControlLoop(cluster, most_verdicts=most_verdicts).settle()
            seen.append(look(cluster, LEFT_ALONE))
            if not cluster.chance.free:
                break
        return seen

    return StepOutcomes(before, left_alone, tuple(orders))

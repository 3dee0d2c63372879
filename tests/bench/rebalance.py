"""How long a plan takes for clusters in which some workloads lie unevenly: ``python -m tests.bench.rebalance``."""

from __future__ import annotations

import gc
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count, islice

from msgspec import Struct

from kubectl_spread.commands.rebalance import RebalanceOptions, rebalance
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.rebalance import RebalanceReport
from tests.build import ZONE, Object, app, node, spread
from tests.commands.large import Large
from tests.rebalance.lying import web

ZONES = 3
SKEWED, MISPLACED = 6, 2
"""One workload in so many (count) lies unevenly, with so many Pods in another zone than they should (count)."""
SHUT_OUT = 3
"""One workload in so many (count) has no Pod in the last zone, which was away."""


class Size(Struct, frozen=True):
    """How large a cluster is (counts), and what its plan may cost.

    Attributes:
        most_seconds: of processor time, once the cluster is read.
        outage: whether a zone was away, so that a third of all Pods of many workloads have to move.
    """

    nodes: int
    pods: int
    workloads: int
    most_seconds: float
    outage: bool = False


SIZES = (Size(300, 3_000, 60, 3.0), Size(300, 3_000, 60, 3.0, outage=True), Size(5_000, 50_000, 500, 30.0))


def cluster(size: Size) -> Iterator[Object]:
    """Yield the cluster: workloads spread over zones, some with Pods too few in one and too many elsewhere."""
    yield from (node(f"node-{number}", zone=f"zone-{number % ZONES}") for number in range(size.nodes))
    for number in range(size.workloads):
        on = Counter(f"node-{(at + number * ZONES) % size.nodes}" for at in _places(size, number))
        name = f"web-{number}"
        yield from web(on, spread(ZONE, selector=app(name)), name=name, labels={"app": name})


def _places(size: Size, number: int) -> Sequence[int]:
    """Return where the Pods of a workload lie, counted from its first node on: zones take turns."""
    pods = size.pods // size.workloads
    if size.outage:
        left = (at for at in count() if number % SHUT_OUT or at % ZONES < ZONES - 1)
        return [*islice(left, pods)]
    wrong = 0 if number % SKEWED else MISPLACED * ZONES
    return [at + (at % ZONES == 0 and at < wrong) for at in range(pods)]


def planned(size: Size) -> tuple[RebalanceReport, float]:
    """Return the plan, and the processor time it took (seconds)."""
    source = Large([*cluster(size)])
    gc.freeze()
    began = time.process_time()
    report = rebalance(source, Scope(namespace=""), RebalanceOptions(), SchedulerOptions()).report
    return report, time.process_time() - began


def main() -> int:
    """Print what each size costs; return 1 where it is more than it may."""
    slow = False
    for size in SIZES:
        found, seconds = planned(size)
        after = ", a zone was away" if size.outage else ""
        about = f"{size.nodes} nodes, {size.pods} Pods, {size.workloads} workloads{after}"
        bound = f"at most {size.most_seconds:.0f} s"
        sys.stdout.write(f"{about}: {len(found.evictions)} evictions planned in {seconds:.1f} s ({bound})\n")
        slow = slow or seconds > size.most_seconds
    return int(slow)


if __name__ == "__main__":
    raise SystemExit(main())

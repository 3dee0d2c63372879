"""How long a plan takes for clusters in which some workloads lie unevenly: ``python -m tests.bench.rebalance``."""

from __future__ import annotations

import gc
import sys
import time
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from kubectl_spread.rebalance.plan import Asked, Plan, plan
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.profile import default_profile
from tests.build import ZONE, Object, app, node, snapshot, spread
from tests.rebalance.lying import web

ZONES = 3
SKEWED = 6
"""One workload in so many (count) lies unevenly."""
MISPLACED = 2
"""Its Pods (count) that lie in another zone than they should."""


class Size(Struct, frozen=True):
    """How large a cluster is (counts), and what its plan may cost.

    Attributes:
        most_seconds: of processor time, once the cluster is read.
    """

    nodes: int
    pods: int
    workloads: int
    most_seconds: float


SIZES = (Size(300, 3_000, 60, 3.0), Size(5_000, 50_000, 500, 30.0))


def cluster(size: Size) -> Iterator[Object]:
    """Yield the cluster: workloads spread over zones, some with Pods too few in one and too many in the next."""
    yield from (node(f"node-{number}", zone=f"zone-{number % ZONES}") for number in range(size.nodes))
    for number in range(size.workloads):
        wrong = 0 if number % SKEWED else MISPLACED * ZONES
        places = [at + (at % ZONES == 0 and at < wrong) for at in range(size.pods // size.workloads)]
        on = Counter(f"node-{(at + number * ZONES) % size.nodes}" for at in places)
        name = f"web-{number}"
        yield from web(on, spread(ZONE, selector=app(name)), name=name, labels={"app": name})


def planned(size: Size) -> tuple[Plan, float]:
    """Return the plan, and the processor time it took (seconds)."""
    read = snapshot(cluster(size))
    gc.freeze()
    began = time.process_time()
    seen = Handle.build(read, default_profile())
    found = plan({seen.profile.scheduler_name: seen}, Asked(wanted=lambda _: True, may_go=lambda _: True))
    return found, time.process_time() - began


def main() -> int:
    """Print what each size costs; return 1 where it is more than it may."""
    slow = False
    for size in SIZES:
        found, seconds = planned(size)
        about = f"{size.nodes} nodes, {size.pods} Pods, {size.workloads} workloads"
        bound = f"at most {size.most_seconds:.0f} s"
        sys.stdout.write(f"{about}: {len(found.evictions)} evictions planned in {seconds:.1f} s ({bound})\n")
        slow = slow or seconds > size.most_seconds
    return int(slow)


if __name__ == "__main__":
    raise SystemExit(main())

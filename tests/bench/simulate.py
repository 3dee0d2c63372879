"""How long a drain takes to simulate, once the cluster is read: ``python -m tests.bench.simulate``."""

from __future__ import annotations

import gc
import sys
import time

from kubectl_spread.contract.simulate import SimulatedStep
from kubectl_spread.diagnosis.observer import Observer
from kubectl_spread.diagnosis.simulated_step import reported
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.handles import Handles
from kubectl_spread.scheduler.profile import default_profile
from kubectl_spread.simulation.outcomes import simulate
from kubectl_spread.simulation.steps import Step, Verb
from tests.bench.rebalance import Size, cluster
from tests.build import snapshot

SIZES = (Size(300, 3_000, 60, 2.0), Size(5_000, 50_000, 500, 10.0))
DRAINED = "node-1"


def drained(size: Size) -> tuple[SimulatedStep, float]:
    """Return what a drain of one node does, and the processor time it took (seconds)."""
    read = snapshot(cluster(size))
    gc.freeze()
    began = time.process_time()
    seen = Handle.build(read, default_profile())
    steps = (Step(Verb.DRAIN, DRAINED, nodes=(DRAINED,)),)
    observer = Observer(read, lambda _: True, defaults=False)
    (step,) = reported(steps, simulate(Handles(seen), steps, observer), defaults=False)
    return step, time.process_time() - began


def main() -> int:
    """Print what each size costs; return 1 where it is more than it may."""
    slow = False
    for size in SIZES:
        step, seconds = drained(size)
        about = f"{size.nodes} nodes, {size.pods} Pods, {size.workloads} workloads"
        bound = f"at most {size.most_seconds:.0f} s"
        sys.stdout.write(f"{about}: {len(step.evicted)} Pods evicted in {seconds:.1f} s ({bound})\n")
        slow = slow or seconds > size.most_seconds
    return int(slow)


if __name__ == "__main__":
    raise SystemExit(main())

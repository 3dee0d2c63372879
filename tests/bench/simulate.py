"""How long a drain takes to simulate, once the cluster is read: ``python -m tests.bench.simulate``."""

from __future__ import annotations

import gc
import sys
import time

from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.simulate import SimulateOptions, simulate
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.diagnosis.step_changes import SimulatedStep
from tests.bench.rebalance import Size, cluster
from tests.commands.large import Large

SIZES = (Size(300, 3_000, 60, 2.0), Size(5_000, 50_000, 500, 10.0))
DRAINED = "node-1"


def drained(size: Size) -> tuple[SimulatedStep, float]:
    """Return what a drain of one node does, and the processor time it took (seconds)."""
    source = Large([*cluster(size)])
    gc.freeze()
    began = time.process_time()
    report = simulate(source, Scope(namespace=""), SimulateOptions(steps=(("drain", DRAINED),)), SchedulerOptions())
    return report.steps[0], time.process_time() - began


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

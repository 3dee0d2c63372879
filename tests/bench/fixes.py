"""How long ``why-pending`` takes where many Pods are Pending at once: verdicts, conflict cores and fixes.

Run it as ``python -m tests.bench.fixes [--nodes 300] [--templates 100] [--pending 1000]``; it ends with 1 when the
budget is exceeded.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.source import FileSource
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.commands.why_pending import PendingAnswer, why_pending
from tests.build import ZONE, Object, app, node, pod, spread

ZONES = 3
RUNNING_PER_NODE = 10
TURNS = 3
MOST_SECONDS = 4.0  # What all of it may take, of processor time


def crowded_cluster(nodes: int, templates: int, pending: int) -> Iterator[Object]:
    """Yield a cluster with one zone of three tainted, and the Pending Pods of that many applications in it."""
    names = [f"node-{index:04}" for index in range(nodes)]
    for index, name in enumerate(names):
        yield node(name, zone=f"zone-{index % ZONES}", taints=["gpu:NoSchedule"] if index % ZONES == ZONES - 1 else [])
    open_names = [name for index, name in enumerate(names) if index % ZONES != ZONES - 1]
    for index in range(nodes * RUNNING_PER_NODE):
        labels = {"app": f"app-{index % templates}" if index < 2 * templates else "other"}
        on = open_names[(index + index // templates) % len(open_names)]
        yield pod(f"running-{index}", on=on, labels=labels, requests={"cpu": "10m"})
    for index in range(pending):
        name = f"app-{index % templates}"
        yield pod(
            f"{name}-{index}",
            labels={"app": name},
            requests={"cpu": "10m"},
            topologySpreadConstraints=[spread(ZONE, selector=app(name))],
        )


def answered(cluster: Path) -> tuple[float, PendingAnswer]:
    """Return how long one call takes (CPU seconds), and what it finds."""
    begun = time.process_time()
    answer = why_pending(FileSource([str(cluster)], stdin=None), Scope(namespace="default"), SchedulerOptions())
    return time.process_time() - begun, answer


def main() -> int:
    """Print how long the fastest call takes, and what it found; return 1 where that is more than it may take."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=300)
    parser.add_argument("--templates", type=int, default=100)
    parser.add_argument("--pending", type=int, default=1000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cluster = Path(folder, "cluster.json")
        items = list(crowded_cluster(asked.nodes, asked.templates, asked.pending))
        cluster.write_bytes(msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": items}))
        seconds, answer = min((answered(cluster) for _ in range(TURNS)), key=lambda turn: turn[0])
    found = answer.report.items
    searched = sum(item.fix_search == "complete" for item in found)
    fixes = sum(len(item.fixes) for item in found)
    sys.stdout.write(
        f"{len(found)} Pending Pods on {asked.nodes} nodes: {seconds:.1f} s (at most {MOST_SECONDS:.0f} s), "
    )
    sys.stdout.write(f"{fixes} fixes, search complete for {searched}\n")
    return int(seconds > MOST_SECONDS)


if __name__ == "__main__":
    sys.exit(main())

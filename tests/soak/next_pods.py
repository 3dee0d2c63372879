"""Scale many generated workloads up by one and print where we were wrong: ``python -m tests.soak.next_pods``."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence

from tests.controlplane.cluster import control_plane
from tests.e2e.next_pods import OPTIONS, Outcome, run, situations

BATCH = 75
"""Workloads (count) on one control plane: a quota or a volume is soon in place for so many."""


def main() -> int:
    """Run as many as asked for; return 1 where we were wrong about any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    asked = situations(options.count, options.seed)
    outcomes: list[Outcome] = []
    for begin in range(0, len(asked), BATCH):
        with control_plane(OPTIONS) as plane:
            found = run(plane.client(), asked[begin : begin + BATCH])
        outcomes += found
        for outcome in (each for each in found if each.differences):
            about = (outcome.situation.namespace, outcome.situation.kind, outcome.situation.inject or "-")
            print(" ".join(about), *outcome.differences, sep="\n  ")  # noqa: T201 - a program
        print(_figures(outcomes), flush=True)  # noqa: T201 - a program
    return int(any(outcome.differences for outcome in outcomes))


def _figures(outcomes: Sequence[Outcome]) -> str:
    """Return how many there were of what, and about how many we were wrong."""
    found = Counter(_kind(outcome) for outcome in outcomes)
    wrong = sum(bool(outcome.differences) for outcome in outcomes)
    told = ", ".join(f"{number} {name}" for name, number in sorted(found.items()))
    return f"{len(outcomes)} workloads ({told}): wrong about {wrong}"


def _kind(outcome: Outcome) -> str:
    """Return what became of the Pod."""
    if outcome.came is None:
        return "refused" if outcome.refused else "absent"
    return "bound" if outcome.came["spec"].get("nodeName") else "Pending"


if __name__ == "__main__":
    raise SystemExit(main())

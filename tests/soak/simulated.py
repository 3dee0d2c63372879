"""Every scenario of simulate, done on a real control plane: ``python -m tests.soak simulated``.

``--runs 10`` does each so often, ``--only NAME`` those whose name begins so, ``--skip N`` leaves out the first.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from tests.controlplane.cluster import control_plane
from tests.e2e.simulated import OPTIONS, PRIORITIES, Outcome, run
from tests.e2e.simulated_scenarios import SCENARIOS


def main() -> int:
    """Do the scenarios and print what was wrong with each; return 1 where anything was."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak simulated", description=__doc__)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--only", default="", nargs="*")
    parser.add_argument("--skip", type=int, default=0)
    asked, _ = parser.parse_known_args()
    chosen = [name for name in SCENARIOS if name.startswith(tuple(asked.only or [""]))][asked.skip :]
    found: list[Outcome] = []
    with control_plane(OPTIONS) as plane:
        client = plane.client()
        client.apply(PRIORITIES)
        for number in range(asked.runs):
            for name in chosen:
                begun = time.monotonic()
                found.append(run(client, SCENARIOS[name], f"{name}-{number}"))
                _tell(found[-1], time.monotonic() - begun)
    sys.stdout.write(f"{_figures(found)}\n")
    return int(any(outcome.differences for outcome in found))


def _tell(outcome: Outcome, seconds: float) -> None:
    """Print what came of a scenario."""
    strict = "" if outcome.strict else ", give or take one"
    sys.stdout.write(
        f"{outcome.scenario.name}: {'wrong' if outcome.differences else 'as said'}{strict} ({seconds:.0f} s)\n"
    )
    sys.stdout.writelines(f"  {line}\n" for line in outcome.differences)
    sys.stdout.flush()


def _figures(found: Sequence[Outcome]) -> str:
    """Return how many agreed, and how wide the ranges were."""
    right = sum(not outcome.differences for outcome in found)
    strict = sum(outcome.strict for outcome in found)
    domains = sum(len(item["ranges"]) for outcome in found for item in outcome.said["steps"][-1]["items"])
    width = sum(outcome.width for outcome in found)
    return (
        f"{right} of {len(found)} runs of {len({each.scenario.name for each in found})} scenarios came as said, "
        f"{strict} within the ranges; ranges {width} Pods wide over {domains} domains"
    )

"""40 generated clusters whose plan is run as printed, controllers running: it goes as it says.

No eviction is refused, every Pod that comes lands where it was said, and in the end none is Pending and every
constraint is as it was said. ``python -m tests.soak plans-as-printed [--seed 1] [--count 40]`` runs others.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter

from tests.controlplane.cluster import control_plane
from tests.e2e.fixes_as_printed import OPTIONS
from tests.e2e.plans_as_printed import Outcome, run, situations


def main() -> int:
    """Run as many plans as asked for and print what came of them; return 1 where any went otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak plans-as-printed", description=__doc__)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    asked, _ = parser.parse_known_args()
    found: list[Outcome] = []
    with control_plane(OPTIONS) as plane:
        client = plane.client()
        outcomes = (outcome for each in situations(asked.seed) if (outcome := run(client, each)))
        for outcome in itertools.islice(outcomes, asked.count):
            found.append(outcome)
            _tell(outcome)
    wrong = sum(bool(outcome.wrong) for outcome in found)
    evictions = sum(len(outcome.report["evictions"]) for outcome in found)
    waves = sum(outcome.waves for outcome in found)
    sys.stdout.write(
        f"seed {asked.seed}: {len(found)} plans run as printed, {evictions} evictions in {waves} waves: {wrong} wrong\n"
    )
    kinds = Counter(kind for outcome in found for kind in outcome.situation.kinds)
    sys.stdout.write(f"  {', '.join(f'{number} {kind}' for kind, number in sorted(kinds.items()))}\n")
    return int(bool(wrong))


def _tell(outcome: Outcome) -> None:
    """Print what it was about, and what is wrong."""
    about, verdicts = outcome.situation, Counter(item["verdict"] for item in outcome.report["items"])
    said = ", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items()))
    sys.stdout.write(f"{about.namespace} {' '.join(about.kinds)}: {said}: {'; '.join(outcome.wrong) or 'well'}\n")
    sys.stdout.flush()

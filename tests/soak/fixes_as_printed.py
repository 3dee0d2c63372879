"""40 generated Pending Pods whose first fix is run as printed, controllers running: nobody is worse off for it.

``python -m tests.soak fixes-as-printed [--seed 1] [--count 40]`` runs others.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter

from tests.controlplane.cluster import control_plane
from tests.e2e.fixes_as_printed import OPTIONS, Outcome, run, situations


def main() -> int:
    """Run as many fixes as asked for and print what came of them; return 1 where anybody is worse off."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak fixes-as-printed", description=__doc__)
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
    sys.stdout.write(f"seed {asked.seed}: {len(found)} first fixes run as printed, {wrong} wrong\n")
    for told in (Counter(each.fix["id"] for each in found), Counter(each.situation.kind for each in found)):
        sys.stdout.write(f"  {', '.join(f'{number} {name}' for name, number in sorted(told.items()))}\n")
    return int(bool(wrong))


def _tell(outcome: Outcome) -> None:
    """Print which fix it was, and what is wrong with it."""
    about, fix = outcome.situation, outcome.fix
    sys.stdout.write(f"{about.namespace} {about.kind} {fix['id']}: {'; '.join(outcome.wrong) or 'well'}\n")
    if outcome.wrong:
        sys.stdout.writelines(f"  {line}\n" for line in (fix["summary"], *fix["commands"], fix["starts"]))
    sys.stdout.flush()

"""Print the table of ``docs/comparison.md``: what is evicted by the descheduler and by plans, on the same clusters."""

from __future__ import annotations

import argparse
import sys

from tests.comparison import descheduler, imbalances


def main() -> None:
    """Ask both about every cluster; print the table, and what is wrong with plans to standard error."""
    parser = argparse.ArgumentParser(prog="python -m tests.comparison", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="clusters that are drawn")
    count = parser.parse_args().count
    asked = {
        "the descheduler's tests": [*imbalances.of_its_tests()],
        "generated clusters": [*imbalances.drawn(range(1, count + 1))],
    }
    compared = {f"{what} ({len(clusters)})": [*descheduler.compare(clusters)] for what, clusters in asked.items()}
    flaws = [flaw for clusters in compared.values() for each in clusters for flaw in each.flaws()]
    sys.stderr.writelines(f"{flaw}\n" for flaw in flaws)
    sys.stdout.write(descheduler.table(compared))


if __name__ == "__main__":
    main()

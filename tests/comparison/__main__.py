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
    compared = [*descheduler.compare([*imbalances.drawn(range(1, count + 1))])]
    sys.stderr.writelines(f"{flaw}\n" for each in compared for flaw in each.flaws())
    sys.stdout.write(descheduler.table({f"generated clusters ({count})": compared}))


if __name__ == "__main__":
    main()

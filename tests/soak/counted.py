"""Numbers and names of conclusions about many small clusters are counted again.

``python -m tests.soak counted [--seed 1] [--count 2000]`` prints what is not so.
"""

from __future__ import annotations

import argparse
import sys

from tests.counted.wrong import wrong_facts


def main() -> int:
    """Print what is wrong; return 1 where anything is."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak counted", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000)
    asked, _ = parser.parse_known_args()
    seeds = range(asked.seed, asked.seed + asked.count)
    wrong = [f"seed {seed}: {fact}" for seed in seeds for fact in wrong_facts(seed)]
    sys.stdout.writelines(f"{fact}\n" for fact in wrong)
    sys.stdout.write(f"{asked.count} clusters from seed {asked.seed}: {len(wrong)} wrong\n")
    return int(bool(wrong))

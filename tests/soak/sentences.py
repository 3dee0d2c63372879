"""Every number in sentences of ``why-pending``, findings of ``show`` and texts of the other commands is counted again.

``python -m tests.soak sentences [--seed 1] [--count 2000]`` prints what is not so, and what no rule reads.
"""

from __future__ import annotations

import argparse
import sys

from tests.sentences.reading import misread
from tests.sentences.texts import misread_texts


def main() -> int:
    """Print what is wrong; return 1 where anything is."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak sentences", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000)
    asked, _ = parser.parse_known_args()
    seeds = range(asked.seed, asked.seed + asked.count)
    found = [each for seed in seeds for each in (*misread(seed, fix_budget=0.2), *misread_texts(seed))]
    sys.stdout.writelines(f"{each}\n" for each in found)
    sys.stdout.write(f"{asked.count} clusters from seed {asked.seed}: {len(found)} wrong\n")
    return int(bool(found))

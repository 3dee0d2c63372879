"""Run every proof that takes long, or those that are named: ``python -m tests.soak [next-pods ...]``.

``--seed 7`` draws others, ``--count 20`` so many of each; minutes of ``serve``.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from tests.soak import (
    clusters,
    karpenter,
    manifests,
    proofs,
    rebalance,
    serve,
    shared,
    staged,
    suggestions,
    together,
    verdicts,
)

Proof = Callable[[int, int, Counter[str]], Iterator[str]]
PROOFS: Mapping[str, tuple[Proof, int]] = {
    "clusters": (clusters.wrong, 12),
    "counted": (proofs.counted, 2000),
    "applied": (proofs.applied, 300),
    "company": (proofs.company, 30),
    "fixes": (proofs.fixes, 1000),
    "fixes-as-printed": (proofs.first_fixes, 40),
    "karpenter": (karpenter.wrong, 1),
    "manifests": (manifests.wrong, 2000),
    "merges": (proofs.merges, 20_000),
    "next-pods": (proofs.scaled_up, 300),
    "plans-as-printed": (proofs.plans, 40),
    "plans-together": (proofs.together, 10),
    "rebalance": (rebalance.wrong, 1000),
    "sampled": (proofs.soft_placement, 20),
    "serve": (serve.wrong, 30),
    "shared": (shared.wrong, 20),
    "simulated": (proofs.scenarios, 1),
    "situations": (proofs.plugins, 1),
    "staged": (staged.wrong, 500),
    "suggestions": (suggestions.wrong, 20),
    "together": (together.wrong, 200),
    "verdicts": (verdicts.wrong, 500),
}
"""Name → what yields what is wrong, of so many from a seed on, and how many are asked for (count)."""


def main() -> int:
    """Run the proofs and print what is wrong, and what was seen; return 1 where anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(PROOFS)}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int)
    asked = parser.parse_args()
    bad = 0
    for name in asked.names or PROOFS:
        proof, usual = PROOFS[name]
        seen: Counter[str] = Counter()
        for line in proof(asked.seed, asked.count or usual, seen):
            seen["WRONG"] += 1
            _say(f"{name}: {line}")
        _say(f"{name}, seed {asked.seed}: {', '.join(f'{number} {what}' for what, number in sorted(seen.items()))}")
        bad += seen["WRONG"]
    return int(bad > 0)


def _say(text: str) -> None:
    """Print at once, also into a pipe."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())

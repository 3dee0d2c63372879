"""Run every proof that takes long, or those that are named: ``python -m tests.soak [next-pods ...]``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from tests.scheduler import situations
from tests.soak import (
    applied,
    counted,
    fixes,
    fixes_as_printed,
    karpenter,
    manifests,
    merges,
    next_pods,
    plans_as_printed,
    rebalance,
    sampled,
    simulated,
    staged,
    verdicts,
)

PROOFS: Mapping[str, Callable[[], int]] = {
    "counted": counted.main,
    "applied": applied.main,
    "fixes": fixes.main,
    "fixes-as-printed": fixes_as_printed.main,
    "karpenter": karpenter.main,
    "manifests": manifests.main,
    "merges": merges.main,
    "next-pods": next_pods.main,
    "plans-as-printed": plans_as_printed.main,
    "rebalance": rebalance.main,
    "sampled": sampled.main,
    "simulated": simulated.main,
    "situations": situations.main,
    "staged": staged.main,
    "verdicts": verdicts.main,
}


def main() -> int:
    """Run the proofs; return 1 where any found something wrong."""
    asked = [word for word in sys.argv[1:] if word in PROOFS]
    sys.argv[1:] = [word for word in sys.argv[1:] if word not in PROOFS]
    return max(PROOFS[name]() for name in asked or PROOFS)


if __name__ == "__main__":
    raise SystemExit(main())

"""1,000 generated Pending Pods: no fix that kube-scheduler refutes, and none of those that must never be offered.

``python -m tests.soak fixes --seed N --count N`` asks about others.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.conformance.record import ask, oracle
from tests.diagnosis.fixes.claims import with_fix
from tests.diagnosis.fixes.dressed import dressed, forbidden
from tests.diagnosis.fixes.test_oracle import RELEASE, feasible

SEED = 21
COUNT = 1000


def main() -> int:
    """Print what kube-scheduler says of the fixes, and which of them others keep from being offered."""
    parser = argparse.ArgumentParser(description="Put the fixes of Pods with owners and marks to kube-scheduler.")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--count", type=int, default=COUNT)
    asked = parser.parse_args()
    pending = [*dressed(seed=asked.seed, count=asked.count)]
    claims = [(each, fix) for each in pending for fix in each.claims]
    cases = [{**with_fix(each.case, fix), "id": f"{each.case['id']} {fix.summary}"} for each, fix in claims]
    answers = ask(oracle(RELEASE), cases)
    refuted = [
        f"{case['id']}: {answer.get('error') or sorted(feasible(answer))}"
        for case, (_, fix), answer in zip(cases, claims, answers, strict=True)
        if "error" in answer or feasible(answer) != frozenset(fix.feasible)
    ]
    kept = [f"{each.case['id']}: {why}" for each, fix in claims if (why := forbidden(each.case, fix))]
    kinds = Counter(fix.id for _, fix in claims)
    alone = sum(len(each.found.left_alone) for each in pending)
    sys.stdout.write(
        f"seed {asked.seed}: {len(pending)} Pending Pods, {len(claims)} changes, {len(refuted)} refuted,"
        f" {len(kept)} forbidden; {alone} told as left alone\n"
    )
    sys.stdout.writelines(f"  {name} {number}\n" for name, number in sorted(kinds.items()))
    sys.stdout.writelines(f"{line}\n" for line in (*refuted, *kept))
    return 1 if refuted or kept else 0

"""Every fix of generated Pending Pods, put to kube-scheduler itself: it must open exactly the nodes that are named.

``python -m tests.diagnosis.fixes.test_oracle --seed N --count N`` asks about other Pods.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.generate import Case
from tests.conformance.record import ask, oracle
from tests.diagnosis.fixes.claims import Refused, refused, with_fix

RELEASE = "1.36"
SEED = 11
COUNT = 1000


@dataclass(frozen=True)
class Outcome:
    """What kube-scheduler says of the fixes."""

    pods: int  # how many Pending Pods there were
    helped: int  # for how many of them something is offered
    asked: Counter[str]  # class of fix → how many were put to kube-scheduler
    refuted: tuple[str, ...]  # those that do not open exactly the nodes named


def outcome(program: Path, *, seed: int, count: int) -> Outcome:
    """Return what kube-scheduler says of the fixes of so many generated Pods."""
    pending = list(refused(seed=seed, count=count))
    claims = [claim for each in pending for claim in _claims(each)]
    answers = ask(program, [case for case, _, _ in claims])
    asked: Counter[str] = Counter()
    wrong = []
    for (case, name, named), answer in zip(claims, answers, strict=True):
        asked[name] += 1
        if "error" in answer or feasible(answer) != named:
            said = answer.get("error") or sorted(feasible(answer))
            wrong.append(f"{case['id']}: claims {sorted(named)}, kube-scheduler: {said}")
    return Outcome(len(pending), sum(bool(each.found.fixes) for each in pending), asked, tuple(wrong))


def _claims(each: Refused) -> Iterator[tuple[Case, str, frozenset[str]]]:
    """Yield each fix as a case, with its class and the nodes it names."""
    for number, fix in enumerate(each.claims):
        named = f"{each.case['id']} {number} {fix.summary}"
        yield {**with_fix(each.case, fix), "id": named}, fix.id, frozenset(fix.feasible)


def feasible(answer: Mapping[str, Any]) -> frozenset[str]:
    """Return the nodes that kube-scheduler finds feasible."""
    if "prefilter" in answer:
        return frozenset()
    return frozenset(name for name, verdict in answer["nodes"].items() if verdict["code"] == "Success")


@pytest.mark.e2e
def test_kube_scheduler_refutes_no_fix(pytestconfig: pytest.Config) -> None:
    if "e2e" not in pytestconfig.option.markexpr:
        pytest.skip("needs the oracle: make e2e")
    found = outcome(oracle(RELEASE), seed=SEED, count=COUNT)
    assert found.pods == COUNT
    assert found.helped > COUNT // 2
    assert not found.refuted, f"seed {SEED}:\n" + "\n".join(found.refuted)


def main() -> int:
    """Print what kube-scheduler says of the fixes."""
    parser = argparse.ArgumentParser(description="Put fixes to kube-scheduler.")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--count", type=int, default=COUNT)
    asked = parser.parse_args()
    found = outcome(oracle(RELEASE), seed=asked.seed, count=asked.count)
    total = found.asked.total()
    sys.stdout.write(
        f"seed {asked.seed}: {found.pods} Pending Pods, {found.helped} with fixes;"
        f" {total} changes put to kube-scheduler v{RELEASE}, {len(found.refuted)} refuted\n"
    )
    for name, number in sorted(found.asked.items()):
        sys.stdout.write(f"  {name} {number}\n")
    for line in found.refuted:
        sys.stdout.write(f"{line}\n")
    return 1 if found.refuted else 0


if __name__ == "__main__":
    sys.exit(main())

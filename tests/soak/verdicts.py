"""No verdict about Pods that claim devices, or are scheduled in groups, is one that kube-scheduler contradicts.

``python -m tests.soak verdicts [--seed 1] [--count 500]`` asks kube-scheduler's framework of each release about so many
generated Pods and prints the figures. Schedulable has to mean the very nodes it lets the Pod go to, Unschedulable none,
Incomplete none but those that are named.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from kubectl_spread.contract.evaluation import EvaluationReport
from kubectl_spread.diagnosis.evaluation import Verdict
from tests.conformance.answer import Case, question
from tests.conformance.generate import cases
from tests.conformance.record import ask, oracle
from tests.diagnosis.judged import evaluated

SUITE = "devices"
RELEASES = ("1.35", "1.36", "1.37")


class Outcome(Struct, frozen=True):
    """What came of Pods that were put to both.

    Attributes:
        verdicts: verdict → Pods (count) of which it was said.
        open: of those that are Incomplete, how many (count) the scheduler lets in.
        unanswered: Pods (count) on which kube-scheduler gives up.
        contradicted: what was said of a Pod, and what kube-scheduler does with it.
    """

    verdicts: Counter[str]
    open: int
    unanswered: int
    contradicted: Sequence[str]

    def __str__(self) -> str:
        """Return the figures in a line."""
        said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(self.verdicts.items()))
        more = f"of the Incomplete {self.open} are let in; kube-scheduler gives up on {self.unanswered} more"
        return f"{self.verdicts.total()} Pods: {said}; {len(self.contradicted)} contradicted; {more}"


def outcome(release: str, *, seed: int, count: int) -> Outcome:
    """Return what came of that many Pods.

    Raises:
        BuildError: the scheduler could not be built.
    """
    drawn = list(cases(suite=SUITE, minor=int(release.removeprefix("1.")), seed=seed, count=count))
    return judged(zip(drawn, ask(oracle(release), drawn), strict=True))


def judged(answered: Iterable[tuple[Case, Case]]) -> Outcome:
    """Return what came of cases with kube-scheduler's answers."""
    verdicts: Counter[str] = Counter()
    let_in = unanswered = 0
    contradicted = []
    for case, want in answered:
        if "error" in want:
            unanswered += 1
            continue
        report = evaluated(*question(case))
        feasible = {name for name, said in want["nodes"].items() if said["code"] == "Success"}
        verdicts[report.verdict.value] += 1
        let_in += report.verdict is Verdict.INCOMPLETE and bool(feasible)
        if not _agrees(report, feasible):
            said = f"{report.verdict} on {', '.join(report.feasible) or 'no node'}"
            contradicted.append(f"{case['id']}: {said}, kube-scheduler lets it go to {sorted(feasible)}")
    return Outcome(verdicts, let_in, unanswered, tuple(contradicted))


def _agrees(report: EvaluationReport, feasible: set[str]) -> bool:
    """Whether the verdict may be said of a Pod that kube-scheduler lets go to these nodes."""
    match report.verdict:
        case Verdict.SCHEDULABLE:
            return set(report.feasible) == feasible
        case Verdict.INCOMPLETE:
            return feasible <= set(report.feasible)
        case _:
            return not feasible


def main() -> int:
    """Print what came of the Pods, release by release; return 1 where a verdict is contradicted."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak verdicts", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=500)
    asked, _ = parser.parse_known_args()
    found = {release: outcome(release, seed=asked.seed, count=asked.count) for release in RELEASES}
    for release, each in found.items():
        sys.stdout.write(f"v{release}, seed {asked.seed}: {each}\n")
        sys.stdout.writelines(f"  {line}\n" for line in each.contradicted)
    return int(any(each.contradicted for each in found.values()))

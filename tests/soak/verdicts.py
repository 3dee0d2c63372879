"""No verdict about Pods that claim devices, or are scheduled in groups, is one that kube-scheduler contradicts.

kube-scheduler's framework of each release is asked about generated Pods. Schedulable has to mean the very nodes it lets
the Pod go to, Unschedulable none, Incomplete none but those that are named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

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
    """What came of Pods that were put to both."""

    verdicts: Counter[str]  # verdict → Pods (count) of which it was said
    open: int  # of those that are Incomplete, how many (count) the scheduler lets in
    unanswered: int  # Pods (count) on which kube-scheduler gives up
    contradicted: Sequence[str]  # what was said of a Pod, and what kube-scheduler does with it


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


def wrong(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Yield where a verdict about so many Pods is contradicted, release by release."""
    for release in RELEASES:
        found = outcome(release, seed=seed, count=count)
        seen.update(found.verdicts)
        seen.update({"Incomplete that are let in": found.open, "unanswered": found.unanswered})
        yield from (f"v{release}: {line}" for line in found.contradicted)

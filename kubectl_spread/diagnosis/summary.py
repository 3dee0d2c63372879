"""Why a Pod finds no node, in one sentence, root cause first: all commands say it in these words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from kubectl_spread.diagnosis import causes
from kubectl_spread.diagnosis.causes import Case, Cause, is_pinned
from kubectl_spread.diagnosis.domains import SpreadDiagnosis
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, Requirement
from kubectl_spread.report import ConstraintReport
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle

LINE = 200
"""Characters of a first line, the Pod's name included."""
SHORTEST = 100
"""Characters that a sentence may have, however long the name is."""
REASON = 120
"""Characters of a reason in a table."""

ORDER: Sequence[Callable[[Case], Cause | None]] = (
    causes.no_nodes,
    causes.refused_whole,
    causes.leaving,
    causes.misspelt_key,
    causes.no_selector,
    causes.ghost,
    causes.min_domains,
    causes.filters_alone,
    causes.pinned,
    causes.constraint_alone,
    causes.together,
)
"""What may be the root cause, the one that explains most first."""


class Blame(msgspec.Struct, frozen=True):
    """What leaves a Pod no node.

    Attributes:
        core: the first of the smallest sets of requirements that together leave none.
        sentence: the root cause.
        reason: the same in a few words.
        blocking: index → in a few words why, for each constraint that is in any of these sets; none where no node were
            left without the constraints either.
    """

    core: tuple[Requirement, ...]
    sentence: str
    reason: str
    blocking: Mapping[int, str]


def blame(evaluation: Evaluation, handle: Handle, spread: SpreadDiagnosis, *, lead: str = "") -> Blame:
    """Return why no node is left.

    Args:
        evaluation: every filter's verdicts.
        handle: the cluster.
        spread: the Pod's constraints, and what each requirement rejects.
        lead: what the sentence begins with.
    """
    case = Case(evaluation, handle, spread)
    cause = next(found for found in (name_it(case) for name_it in ORDER) if found is not None)
    pod = evaluation.pod.metadata
    limit = max(LINE - len(f"{pod.namespace}/{pod.name} is Pending. {lead}"), SHORTEST)
    return Blame(
        core=case.core,
        sentence=lead + fitting(cause.sentences, limit),
        reason=fitting(cause.reasons, REASON),
        blocking={} if case.by_filters_alone else {each.index: _blocking(each, case) for each in _in_cores(case)},
    )


def fitting(texts: Sequence[str], most: int) -> str:
    """Return the first of the texts that is no longer than that (characters), or else what there is room for."""
    return next((text for text in texts if len(text) <= most), f"{texts[-1][: most - 1]}…")


def _in_cores(case: Case) -> tuple[ConstraintReport, ...]:
    """Return the constraints that are in any of the smallest sets."""
    return tuple(case.constraints_of(each for core in case.spread.cores for each in core))


def _blocking(constraint: ConstraintReport, case: Case) -> str:
    """Return in a few words why the constraint leaves no node, with its numbers."""
    this = ConstraintRequirement(constraint.index)
    core = next(core for core in case.spread.cores if this in core)
    limits = causes.limits(constraint)
    if is_pinned(constraint) and len(core) > 1:
        return fitting([f"min {text}{limits}" for text in causes.pinned_by(constraint, case)], REASON)
    others = [causes.described(each, case) for each in core if each != this]
    if not others:
        return f"no domain may take one more{limits}"
    return fitting([f"no node left together with {' and '.join(others)}{limits}"], REASON)

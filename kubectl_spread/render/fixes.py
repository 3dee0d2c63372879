"""The fixes of a Pending Pod, as text."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_spread.render.cells import clean, listed
from kubectl_spread.report import EvaluationReport, Fix, Requirement

MOST_FIXES = 5
NOTHING_HELPS = "None of the changes we try, alone or in pairs, helps"


def fixes_text(item: EvaluationReport, *, every: bool) -> str:
    """Return the fixes with what each opens and the commands that make it; empty for a Pod that needs none.

    Args:
        item: the Pod.
        every: whether all are printed, or only the first five.
    """
    if not item.stuck or not item.nodes:
        return ""
    shown = item.fixes if every else item.fixes[:MOST_FIXES]
    lines = ["Fixes, each tried on this snapshot:"] if shown else []
    for number, fix in enumerate(shown, start=1):
        lines += _fix(number, fix)
    if len(shown) < len(item.fixes):
        lines.append(f"  {len(item.fixes) - len(shown)} more with --all-fixes.")
    lines += nothing_helps(item) if not item.fixes else []
    lines += new_node_lines(item.new_nodes)
    if item.fix_search == "bounded":
        lines.append("The search was cut short: --fix-budget gives it more time.")
    return "\n".join(lines) + "\n" if lines else ""


def _fix(number: int, fix: Fix) -> Iterable[str]:
    """Yield the lines of one fix."""
    admits = f"; lets in {fix.admits} of {fix.siblings} Pending Pods" if fix.siblings > 1 else ""
    yield clean(f"  {number}. {fix.id}: {fix.summary}. Opens {listed(fix.feasible)}{admits}.")
    if fix.alike:
        yield clean(f"     The same for {listed(fix.alike)}.")
    if isinstance(fix.new_revision, tuple):
        where = listed(fix.new_revision) if fix.new_revision else "no node yet"
        yield clean(f"     A Pod of the new revision may go to {where}.")
    for command in fix.commands:
        yield clean(f"     {command}")
    if fix.starts:
        yield clean(f"     ({fix.starts})")


def nothing_helps(item: EvaluationReport) -> Iterable[str]:
    """Yield the sentence for a Pod that no change lets in, and what no change reaches."""
    if item.fix_search == "complete":
        reached = ", ".join(requirement_text(requirement, item) for requirement in item.conflict)
        yield clean(f"{NOTHING_HELPS}: {reached}." if reached else f"{NOTHING_HELPS}.")


def requirement_text(requirement: Requirement, item: EvaluationReport) -> str:
    """Return a requirement by its topology key, or by its plugin's name."""
    if requirement.kind == "filter":
        return str(requirement.plugin)
    return next(f"the constraint on {c.topology_key}" for c in item.constraints if c.index == requirement.index)


def new_node_lines(fixes: Iterable[Fix]) -> Iterable[str]:
    """Yield where a node more would help."""
    for fix in fixes:
        others = f" (or like {listed([name.removeprefix('new-') for name in fix.alike])})" if fix.alike else ""
        yield clean(f"  Or {fix.summary}{others}.")

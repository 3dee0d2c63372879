"""What would let a Pending Pod in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import UNSET

from kubectl_spread.contract.evaluation import EvaluationReport
from kubectl_spread.contract.fixes import Fix
from kubectl_spread.diagnosis.fixes import proposals
from kubectl_spread.diagnosis.fixes.change import Disturbance, ManifestEdit, Override
from kubectl_spread.diagnosis.requirements import FilterRequirement
from kubectl_spread.objects.meta import grouped
from kubectl_spread.render.outline import EditBlock, Extent, FixBlock, Fixes
from kubectl_spread.wording import fixes
from kubectl_spread.wording.words import with_short_keys

AGAINST_TAINTS = frozenset({proposals.AddToleration.__name__, proposals.RemoveTaint.__name__})
AFTER_A_NODE = frozenset({proposals.RaiseMaxSkew.__name__, proposals.MakeSoft.__name__, proposals.MovePod.__name__})
"""Fixes that give up a part of the spread, or the place of another Pod: a further node costs neither."""
MOST_FIXES = 2
"""Fixes (count) that stand above the evidence; the rest comes when it is asked for."""


def fixes_block(item: EvaluationReport, extent: Extent, *, brief: bool = False) -> Fixes | None:
    """Return the fixes, or only the first, with what each opens and its commands; None for a Pod that needs none."""
    if not item.nodes or not item.needs_fixes:
        return None
    shown = item.fixes if extent.every_fix else _foremost(item)[: 1 if brief or extent.one_fix else None]
    unsafe = not any(map(is_safe, item.fixes))
    nodes_first = unsafe or not shown or shown[0].id in AFTER_A_NODE
    hides_nodes = not (nodes_first or extent.every_fix)
    left_out = len(item.fixes) - len(shown) + len(item.new_nodes) * hides_nodes
    more = f"{left_out} more with {extent.all_fixes}" if left_out else ""
    waited = [each.message for each in item.waits or ()]
    below = len(shown) if nodes_first and not unsafe else 0
    new_nodes = tuple(
        fixes.or_add(with_short_keys(fix.summary), fix.alike, first=nodes_first and not waited, below=below)
        for fix in item.new_nodes
    )
    reasons = {_why(line) for line in waited}
    blocks = []
    for number, fix in enumerate(shown, start=1):
        some = fix.proved_on == "read" and fix.admits < fix.siblings
        admits = f"at least {fix.admits}" if some else str(fix.admits)
        # What it triggers tells how many are left.
        siblings = fix.siblings if fix.without_node is UNSET else 1
        opens = fixes.opens(fix.feasible, admits, siblings, most=extent.most(), checked=bool(item.source))
        blocks.append(fix_block(number, fix, extent, opens))
    return Fixes(
        before=(
            *(f"Wait for {message}." for message in waited),
            *(new_nodes if nodes_first else ()),
            *((fixes.nothing_safe([fix.disturbs for fix in shown]),) if unsafe and shown else ()),
        ),
        title=fixes.title([fix.disturbs for fix in shown], more, checked=bool(item.source), folded=extent.folded),
        fixes=tuple(blocks),
        nothing_helps=_nothing_helps(item),
        new_nodes=() if nodes_first or hides_nodes else new_nodes,
        left_alone=(
            *(() if shown else _hidden(item.fixes, extent.all_fixes)),
            *(f"Not proposed: {line}." for line in item.left_alone if _why(line) not in reasons),
            *((fixes.NOT_ASKED,) if isinstance(item.core_of, tuple) else ()),
            *((fixes.NOT_JUDGED,) if item.fixes and item.incomplete else ()),
        ),
        cut_short=fixes.CUT_SHORT if item.fix_search == "bounded" else "",
    )


def _why(line: str) -> str:
    """Return the reason that is in brackets, without what becomes of it."""
    return line.partition(" (")[2].partition(")")[0].partition(";")[0]


def _foremost(item: EvaluationReport) -> Sequence[Fix]:
    """Return the first fix, and the next of another kind, if possible one of them that lets in Pods.

    None that takes the Pod from its node pool, or replaces Pods in vain. Where anything else lets the Pod in, none that
    overrides a decision or deletes Pods for good, and where it is only a matter of time, none that ends running Pods:
    those come when all are asked for.
    """
    waits = item.waits or ()
    otherwise = bool(waits) or any(is_safe(fix) and fix.admits for fix in item.fixes)
    against = AGAINST_TAINTS if item.new_nodes else frozenset[str]()
    alone = all(fix.siblings <= 1 for fix in item.fixes)
    soon = any(wait.sure and (alone or wait.workload) for wait in waits)
    kept = [
        fix
        for fix in item.fixes
        if not fix.in_vain
        and fix.overrides is not Override.NODE_POOL
        and against.isdisjoint(fix.id.split("+"))
        and not (otherwise and fix.overrides is not UNSET)
        and not ((otherwise or item.new_nodes) and fix.disturbs is Disturbance.LOST)
        and not (soon and fix.disturbs is not Disturbance.NOTHING)
    ]
    others = [fix for fix in kept if fix.id != kept[0].id] or kept[1:]
    helping = [fix for fix in others if fix.admits or kept[0].admits]
    return (*kept[:1], *(helping or others)[: MOST_FIXES - 1])


def _hidden(every: Sequence[Fix], flag: str) -> Iterator[str]:
    """Yield why none of the fixes is shown, and the flag that shows them."""

    def reason(fix: Fix) -> Callable[[int, str], str]:
        if fix.in_vain is True:
            return fixes.in_vain
        if fix.overrides is not UNSET:
            return fixes.set_apart
        return fixes.losing if fix.disturbs is Disturbance.LOST else fixes.needless

    for told, hidden in grouped(every, reason).items():
        yield told(len(hidden), flag)


def is_safe(fix: Fix) -> bool:
    """Whether the fix keeps what somebody decided, and ends no Pod for good."""
    return fix.overrides is UNSET and fix.disturbs is not Disturbance.LOST


def fix_block(number: int, fix: Fix, extent: Extent, effect: str) -> FixBlock:
    """Return one fix: with YAML where that is asked for, or where the owner's source is elsewhere."""
    summary = with_short_keys(fix.summary)
    in_yaml = bool(fix.yaml) and (extent.fix_format == "yaml" or (not extent.fix_format and bool(fix.source)))
    in_commands = extent.fix_format != "yaml" or not fix.yaml
    return FixBlock(
        number=number,
        id=fix.id,
        summary=summary,
        notes=(
            effect,
            *((fixes.same_for(fix.alike),) if fix.alike else ()),
            *((fixes.new_revision(fix.new_revision),) if isinstance(fix.new_revision, tuple) else ()),
        ),
        edits=tuple(map(_edit, fix.edits)),
        yaml=tuple(fix.yaml.splitlines()) if in_yaml else (),
        commands=fix.commands if in_commands else (),
        starts=fixes.sentences(fix.starts),
    )


def _edit(edit: ManifestEdit) -> EditBlock:
    line = f"{edit.file}:{edit.line}" if edit.file else f"line {edit.line}"
    where = [line] if edit.line else [edit.file] * bool(edit.file)
    numbered = [] if edit.line else [f"document {edit.document}"]
    lines = [f"- {line}" for line in edit.before.splitlines()] + [f"+ {line}" for line in edit.after.splitlines()]
    return EditBlock(place=", ".join((*where, *numbered, edit.path)), lines=tuple(lines))


def _nothing_helps(item: EvaluationReport) -> str:
    """Return the sentence for a Pod that no change lets in, and what no change reaches."""
    if item.fixes or item.left_alone or item.waits or item.fix_search != "complete":
        return ""
    if item.autoscaler is not UNSET and item.autoscaler.fixes:
        return ""
    keys = {each.index: each.topology_key for each in item.constraints}
    reached = [
        it.plugin if isinstance(it, FilterRequirement) else f"the constraint on {keys[it.index]}" for it in item.blamed
    ]
    return fixes.nothing_helps(reached, other=bool(item.new_nodes))

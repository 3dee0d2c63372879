"""What would let a Pending Pod in."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import itemgetter

from msgspec import UNSET

from kubectl_spread.contract.evaluation import EvaluationReport
from kubectl_spread.contract.fixes import Fix
from kubectl_spread.diagnosis.fixes import conclusion, proposals
from kubectl_spread.diagnosis.fixes.change import Disturbance, ManifestEdit, Override
from kubectl_spread.diagnosis.requirements import FilterRequirement
from kubectl_spread.objects.meta import grouped
from kubectl_spread.render.outline import EditBlock, Extent, Step, Steps
from kubectl_spread.scheduler import podtopologyspread
from kubectl_spread.wording import fixes
from kubectl_spread.wording.words import with_short_keys

AGAINST_TAINTS = frozenset({proposals.AddToleration.__name__, proposals.RemoveTaint.__name__})
AFTER_A_NODE = frozenset(
    each.__name__ for each in (proposals.RaiseMaxSkew, proposals.MakeSoft, proposals.MovePod, proposals.RollBack)
)
"""Fixes that give up a part of the spread, the place of another Pod or a release: a further node costs none of them."""
WEAKENING = frozenset({proposals.RaiseMaxSkew.__name__, proposals.MakeSoft.__name__})
_LABELS = frozenset({proposals.LabelNode.__name__, proposals.FixTopologyKey.__name__})
MOST_FIXES = 2
"""Fixes (count) that stand above the evidence; the rest comes when it is asked for."""


def steps_block(item: EvaluationReport, extent: Extent, *, brief: bool = False) -> Steps | None:
    """Return what to do, or in brief only the first fix, with what each opens and its commands; None if nothing is."""
    if not item.needs_fixes:
        return None
    decided = item.autoscaler
    advice, for_autoscaler = ((), ()) if decided is UNSET else (decided.advice, () if brief else decided.fixes)
    if not item.nodes and not (advice or for_autoscaler):
        return None
    shown = item.fixes if extent.every_fix else _foremost(item)[: 1 if brief or extent.one_fix else None]
    unsafe = not any(map(is_safe, item.fixes))
    nodes_first = unsafe or not shown or shown[0].id in AFTER_A_NODE
    # The node that is awaited, or that the advice is for, is the one to add.
    awaits_node = bool(advice) or any(each.kind == conclusion.NodeAddition.__name__ for each in item.waits or ())
    hides_nodes = (awaits_node or not nodes_first) and not extent.every_fix
    left_out = len(item.fixes) - len(shown) + len(item.new_nodes) * hides_nodes
    waits = [each.message for each in item.waits or ()]
    nodes = [_node_step(node, checked=bool(item.source)) for node in item.new_nodes]
    equal = _equals(shown[:MOST_FIXES])
    changes = [
        *(_fix_step(fix, item, extent, _opens(fix, item, extent), either=fix in equal) for fix in shown),
        *(_fix_step(fix, item, extent, fix.then) for fix in for_autoscaler),
    ]
    # No repair of a node is worth waiting for where another one only has to be uncordoned.
    repairs = {each.kind for each in item.waits or ()} == {conclusion.NodeRecovery.__name__}
    first = int(repairs and any(map(_only_uncordons, shown[:1])))
    labels, unused = _label_steps(item)
    steps = (
        *changes[:first],
        *(Step(summary=f"Wait for {message}") for message in waits),
        *(Step(summary=sentence.removesuffix(".")) for sentence in advice),
        *labels,
        *(nodes if nodes_first and not hides_nodes else ()),
        *changes[first:],
        # To label every node, for a key that nobody uses, is a last resort.
        *unused,
        *(() if nodes_first or hides_nodes else nodes),
    )
    return Steps(
        title=fixes.title(
            len(steps),
            more=f"{left_out} more with {extent.all_fixes}" if left_out and (shown or awaits_node) else "",
            verified=bool(changes),
            none_safe=unsafe and bool(shown),
        ),
        steps=steps,
        notes=tuple(_notes(item, extent, shown, reasons={_why(message) for message in waits})),
    )


def _node_step(node: Fix, *, checked: bool) -> Step:
    some = 0 < node.admits < node.siblings
    opens = fixes.opens([fixes.NEW_NODE], str(node.admits), node.siblings, most=1, checked=checked) if some else ""
    return Step(summary=fixes.further_node(with_short_keys(node.summary), node.alike), notes=(opens,) if opens else ())


def _label_steps(item: EvaluationReport) -> tuple[Sequence[Step], Sequence[Step]]:
    """Return which nodes to label, for keys that some node has and for those of which no node is in a domain."""
    absent = {each.topology_key for each in item.constraints if not each.domains}
    lacking = _unlabelled(item).items()
    labels, unused = (
        [Step(summary=fixes.label_nodes(names, key)) for key, names in lacking if (key in absent) is none]
        for none in (False, True)
    )
    return labels, unused


def _unlabelled(item: EvaluationReport) -> Mapping[str, Sequence[str]]:
    """Return topology key → the nodes that reject the Pod only because they lack it, if no fix names their label."""
    if any(_LABELS.intersection(fix.id.split("+")) for fix in item.fixes):
        return {}
    alone = {node.name for node in item.nodes if {each.plugin for each in node.rejections} == {podtopologyspread.NAME}}
    lacking = (
        node
        for constraint in item.constraints
        if constraint.hard
        for node in constraint.bypassed_nodes
        if node.key is not UNSET and node.name in alone
    )
    # Two constraints may have the same key.
    alike = grouped(dict.fromkeys((str(node.key), node.name) for node in lacking), itemgetter(0))
    return {key: [name for _, name in nodes] for key, nodes in alike.items()}


def _opens(fix: Fix, item: EvaluationReport, extent: Extent) -> str:
    """Return where the Pod can go after the fix, and how many of its siblings."""
    if fix.created is not UNSET:
        return fixes.instead(fix.created, fix.feasible if fix.without_node is UNSET else (), fix.siblings)
    some = fix.proved_on == "read" and fix.admits < fix.siblings
    admits = f"at least {fix.admits}" if some else str(fix.admits)
    # What it triggers tells how many are left.
    siblings = fix.siblings if fix.without_node is UNSET else 1
    # A fix that moves a Pod names another one.
    pod = "this Pending Pod" if proposals.MovePod.__name__ in fix.id else "this Pod"
    return fixes.opens(fix.feasible, admits, siblings, most=extent.most(), checked=bool(item.source), pod=pod)


def _notes(item: EvaluationReport, extent: Extent, shown: Sequence[Fix], *, reasons: Collection[str]) -> Iterator[str]:
    """Yield what is not among the steps, and why; not what is waited for, for these reasons."""
    yield from filter(None, (_nothing_helps(item),))
    yield from () if shown else _hidden(item.fixes, extent.all_fixes)
    others = (line for line in item.left_alone if _why(line) not in reasons)
    for why, lines in grouped(others, lambda line: line.partition(" (")[2]).items():
        # Only a few are looked for.
        what, more = lines[0].partition(" (")[0], ", or another Pod like it" * bool(lines[1:])
        yield f"Not proposed: {what}{more}{f' ({why}' * bool(why)}."
    if isinstance(item.core_of, tuple):
        yield fixes.NOT_ASKED
    if item.fixes and item.incomplete:
        yield fixes.NOT_JUDGED
    if item.fix_search == "bounded":
        yield fixes.CUT_SHORT


def _why(line: str) -> str:
    """Return the reason that is in brackets, without what becomes of it."""
    return line.partition(" (")[2].partition(")")[0].partition(";")[0]


def _foremost(item: EvaluationReport) -> Sequence[Fix]:
    """Return the first fix, and its equal for another constraint, or the next of another kind that lets in Pods.

    None that takes the Pod from its node pool, or replaces Pods in vain. Where anything else lets the Pod in, none that
    overrides a decision or deletes Pods for good, and where it is only a matter of time, none that ends running Pods:
    those come when all are asked for.
    """
    waits = item.waits or ()
    forward = (fix for fix in item.fixes if fix.id != proposals.RollBack.__name__)
    otherwise = bool(waits) or any(is_safe(fix) and fix.admits for fix in forward)
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
    others = _equals(kept) or [fix for fix in kept if fix.id != kept[0].id] or kept[1:]
    helping = [fix for fix in others if fix.admits or kept[0].admits]
    return (*kept[:1], *(helping or others)[: MOST_FIXES - 1])


def _equals(fixes: Sequence[Fix]) -> Sequence[Fix]:
    """Return the fixes that weaken another constraint as far as the first of them weakens its own."""
    first = fixes[0] if fixes and fixes[0].id in WEAKENING else None
    return [] if first is None else [each for each in fixes[1:] if (each.id, each.admits) == (first.id, first.admits)]


def _hidden(every: Sequence[Fix], flag: str) -> Iterator[str]:
    """Yield why none of the fixes is shown, and the flag that shows them."""

    def reason(fix: Fix) -> str:
        if fix.in_vain is True:
            return fixes.IN_VAIN
        if fix.overrides is not UNSET:
            return fixes.OVERRIDING
        return fixes.LOSING if fix.disturbs is Disturbance.LOST else fixes.NEEDLESS

    for why, hidden in grouped(every, reason).items():
        yield fixes.hidden(len(hidden), why, flag)


def is_safe(fix: Fix) -> bool:
    """Whether the fix keeps what somebody decided, and ends no Pod for good."""
    return fix.overrides is UNSET and fix.disturbs is not Disturbance.LOST


def _only_uncordons(fix: Fix) -> bool:
    """Whether the fix uncordons a healthy node, and that lets all in."""
    return fix.id == proposals.Uncordon.__name__ and fix.overrides is UNSET and fix.admits == fix.siblings


def _fix_step(fix: Fix, item: EvaluationReport, extent: Extent, effect: str, *, either: bool = False) -> Step:
    """Return one fix: with YAML where that is asked for, or where the owner's source is elsewhere.

    ``either``: whether it is the equal of the one before.
    """
    deleted = {str(change.target.namespace) for change in fix.changes if change.op == "delete"}
    # Of a manifest no Pod runs, and an autoscaler's fix opens no node: that it restarts none is not worth saying.
    quiet = fix.disturbs is Disturbance.NOTHING and bool(fix.feasible) and not item.source
    in_yaml = bool(fix.yaml) and (extent.fix_format == "yaml" or (not extent.fix_format and bool(fix.source)))
    in_commands = extent.fix_format != "yaml" or not fix.yaml
    # Each such node has its own reason.
    closed = fix.id == proposals.Uncordon.__name__ and fix.overrides is not UNSET
    return Step(
        id="+".join(dict.fromkeys(fix.id.split("+"))),
        summary=with_short_keys(fix.summary),
        notes=(
            effect,
            *((fixes.EITHER,) if either else ()),
            *((fixes.sentences(fix.ends),) if fix.ends else ()),
            *((fixes.same_for(fix.alike),) if fix.alike and not closed else ()),
            *((fixes.new_revision(fix.new_revision),) if isinstance(fix.new_revision, tuple) else ()),
            *((fixes.ON_PURPOSE,) if fix.overrides is not UNSET else ()),
            *(fixes.ANOTHERS.format(namespace) for namespace in sorted(deleted - {item.namespace})),
            *((fixes.RESTARTS_NOTHING,) if quiet else ()),
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

"""What would let a Pending Pod in."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from kubectl_spread.contract.evaluation import EvaluationReport
from kubectl_spread.diagnosis.fixes import choice, moves, nodes
from kubectl_spread.diagnosis.fixes.change import Disturbance, ManifestEdit, Override
from kubectl_spread.diagnosis.fixes.conclusion import Fix
from kubectl_spread.diagnosis.fixes.shell import command_line
from kubectl_spread.diagnosis.requirements import FilterRequirement
from kubectl_spread.objects.meta import grouped
from kubectl_spread.render.outline import EditBlock, Extent, Step, Steps
from kubectl_spread.wording import fixes
from kubectl_spread.wording.fixes.routes import fragment_text
from kubectl_spread.wording.fixes.waits import between, lets_in, wait_text
from kubectl_spread.wording.words import with_short_keys

MOST_NODES = 4  # Nodes (count) to label that have a command each


def steps_block(
    item: EvaluationReport, extent: Extent, flags: Sequence[str] = (), *, brief: bool = False
) -> Steps | None:
    """Return what to do, with what each fix opens and its commands, in brief without autoscalers'; None if nothing is.

    ``flags``: the connection flags of commands.
    """
    if not item.needs_fixes:
        return None
    decided = item.autoscaler
    advice, for_autoscaler = list[str](), tuple[Fix, ...]()
    if decided is not UNSET:
        from kubectl_spread.wording.autoscalers import advice_text

        advice, for_autoscaler = advice_text(decided), () if brief else decided.fixes
    if not item.nodes and not (advice or for_autoscaler):
        return None
    shown = item.fixes if extent.every_fix else [fix for fix in item.fixes if fix.offered]
    # A change with nothing to run or to write is shown only where there is no other.
    shown = [fix for fix in shown if fix.commands or fix.fragment or fix.edits] or shown
    nodes_first = choice.nodes_come_first(shown)
    # The node that is awaited, or that the advice is for, is the one to add.
    awaits_node = bool(advice) or choice.awaits_node(item)
    hides_nodes = (awaits_node or not nodes_first) and not extent.every_fix
    left_out = len(item.fixes) - len(shown) + len(item.new_nodes) * hides_nodes
    nodes = () if hides_nodes else [_node_step(node, checked=bool(item.source)) for node in item.new_nodes]
    either = choice.are_equal(*shown[: choice.MOST]) if len(shown) > 1 else False
    changes = [_fix_step(fix, item, extent, flags, either=either and at == 1) for at, fix in enumerate(shown)]
    changes += (_fix_step(fix, item, extent, flags) for fix in for_autoscaler)
    first = int(bool(shown) and choice.comes_before_waits(item, shown[0]))
    in_use, unused = _label_steps(item, flags)
    safe = item.waits or advice or item.new_nodes or in_use or unused
    steps = (
        *changes[:first],
        *(Step(summary=f"Wait for {wait_text(wait)}", notes=(*filter(None, [lets_in(wait)]),)) for wait in item.waits),
        *(Step(summary=sentence.removesuffix(".")) for sentence in advice),
        *in_use,
        *(nodes if nodes_first else ()),
        *changes[first:],
        # To label every node, for a key that nobody uses, is a last resort.
        *unused,
        *(() if nodes_first else nodes),
    )
    return Steps(
        title=fixes.title(
            len(steps),
            more=f"{left_out} more with {extent.all_fixes}" if left_out and (shown or awaits_node) else "",
            verified=bool(changes),
            none_safe=bool(shown) and not (safe or any(map(choice.is_safe, item.fixes))),
        ),
        steps=steps,
        notes=tuple(_notes(item, extent, shown)),
    )


def _node_step(node: Fix, *, checked: bool) -> Step:
    some = 0 < node.admits < node.siblings
    opens = fixes.opens([fixes.NEW_NODE], str(node.admits), node.siblings, most=1, checked=checked) if some else ""
    return Step(summary=with_short_keys(fixes.further_node(node)), notes=(opens,) if opens else ())


def _label_steps(item: EvaluationReport, flags: Sequence[str]) -> tuple[Sequence[Step], Sequence[Step]]:
    """Return which nodes to label, for keys that some node has and for those of which no node is in a domain."""
    lacking = choice.nodes_to_label(item, item.unlabelled or ())
    values = {each.topology_key: [it.value for it in each.domains] for each in item.constraints}
    in_use, unused = (
        [
            Step(
                summary=fixes.label_nodes(each.nodes, each.topology_key, values[each.topology_key]),
                commands=tuple(fixes.label_command(node, each.topology_key, flags) for node in each.nodes[:MOST_NODES]),
            )
            for each in lacking
            if each.in_use is used
        ]
        for used in (True, False)
    )
    return in_use, unused


def _opens(fix: Fix, item: EvaluationReport, extent: Extent) -> str:
    """Return where the Pod can go after the fix, and how many of its siblings; or what its autoscaler decides then."""
    if fix.decision is not None:
        from kubectl_spread.wording.autoscalers import decision_text  # Most clusters have no autoscaler.

        return decision_text(fix.decision)
    if fix.created is not None:
        return fixes.instead(fix.created, () if fix.without_node else fix.feasible, fix.siblings)
    some = fix.on_read_pods and fix.admits < fix.siblings
    admits = f"at least {fix.admits}" if some else between(fix.admits, fix.admits_at_most)
    # What it triggers tells how many are left.
    siblings = 1 if fix.without_node else fix.siblings
    # A fix that moves a Pod names another one.
    is_move = any(isinstance(part, moves.MovePod) for part in fix.proposals)
    pod = "this Pending Pod" if is_move else "this Pod"
    checked, otherwise = bool(item.source), fix.may_be_overtaken
    return fixes.opens(
        fix.feasible, admits, siblings, most=extent.most(), checked=checked, pod=pod, otherwise=otherwise
    )


def _notes(item: EvaluationReport, extent: Extent, shown: Sequence[Fix]) -> Iterator[str]:
    """Yield what is not among the steps, and why; not what is waited for."""
    yield from filter(None, (_nothing_helps(item),))
    for why, hidden in grouped(() if shown else item.fixes, choice.why_hidden).items():
        yield fixes.hidden(len(hidden), why, extent.all_fixes)
    for what, others in choice.not_proposed(item):
        yield f"Not proposed: {fixes.left_alone(what, others=others)}."
    if isinstance(item.core_of, tuple):
        yield fixes.NOT_ASKED
    if item.fixes and item.incomplete:
        yield fixes.NOT_JUDGED
    if item.fix_search == "bounded":
        yield fixes.CUT_SHORT


def _fix_step(fix: Fix, item: EvaluationReport, extent: Extent, flags: Sequence[str], *, either: bool = False) -> Step:
    """Return one fix: with YAML where that is asked for, or where the owner's source is elsewhere.

    ``either``: whether it is the equal of the one before.
    """
    deleted = {str(change.target.namespace) for change in fix.changes if change.op == "delete"}
    asks = fix.overrides is not Override.NOTHING
    # Of a manifest no Pod runs, and an autoscaler's fix opens no node: that it restarts none is not worth saying.
    quiet = fix.disturbs is Disturbance.NOTHING and bool(fix.feasible) and not item.source
    quiet = quiet and not (fix.future.replaced if fix.future else fix.changes_nodes)
    in_yaml = fix.fragment and (extent.fix_format == "yaml" or (not extent.fix_format and fix.keeper is not None))
    in_commands = extent.fix_format != "yaml" or not fix.fragment
    # Each such node has its own reason.
    closed = asks and fix.id == nodes.Uncordon.__name__
    return Step(
        id="+".join(dict.fromkeys(proposal.id for proposal in fix.proposals)),
        summary=with_short_keys(fixes.summary(fix)),
        notes=(
            _opens(fix, item, extent),
            *((fixes.EITHER,) if either else ()),
            *((fixes.sentences([fixes.ends(fix)]),) if fix.without_node else ()),
            *((fixes.sentences(company),) if (company := fixes.company(fix)) else ()),
            *((fixes.same_for(fix.alike),) if fix.alike and not closed else ()),
            *((fixes.new_revision(fix.new_revision),) if fix.new_revision is not None else ()),
            *((fixes.ON_PURPOSE,) if asks else ()),
            *(fixes.ANOTHERS.format(namespace) for namespace in sorted(deleted - {item.namespace})),
            *((fixes.RESTARTS_NOTHING,) if quiet else ()),
        ),
        edits=tuple(map(_edit, fix.edits)),
        yaml=tuple(fragment_text(fix.fragment).splitlines()) if fix.fragment and in_yaml else (),
        commands=tuple(command_line(command, flags) for command in fix.commands) if in_commands else (),
        starts=fixes.sentences(fixes.starts(fix)),
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

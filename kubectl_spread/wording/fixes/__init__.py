"""The fixes in words: what each class of change is, and how one that was verified is made.

The classes that keep the promise of the constraint come first.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import assert_never

from msgspec.structs import replace

from kubectl_spread.diagnosis.fixes import conclusion
from kubectl_spread.diagnosis.fixes.change import Disturbance
from kubectl_spread.diagnosis.fixes.choice import Hidden
from kubectl_spread.diagnosis.fixes.future import OtherWorkload, WorseConstraint
from kubectl_spread.diagnosis.fixes.moves import MovePod
from kubectl_spread.diagnosis.fixes.nodes import AddNode
from kubectl_spread.diagnosis.fixes.proposals import OfConstraint, Proposal
from kubectl_spread.diagnosis.fixes.shell import kubectl
from kubectl_spread.objects.meta import grouped
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.scheduler import noderesources
from kubectl_spread.wording.fixes.proposals import CAUTIONS, of_constraints, of_others
from kubectl_spread.wording.fixes.routes import sets_off
from kubectl_spread.wording.fixes.waits import between, ending_text, suffering_text, wait_text
from kubectl_spread.wording.reference import entries_named
from kubectl_spread.wording.words import SHORT_KEYS, capital, count_of, enumerated, first_and_more, listed

BY_AUTOSCALER = ", by hand or by an autoscaler"  # How a further node is added if no autoscaler is known
NO_NODE_THERE = "No node like it is there: first make sure that its node pool covers the domain"
# What to know where the Pod that comes again may be scheduled before the one that waits.
OVERTAKEN = "the recreated Pod may be scheduled first: then this Pod stays Pending"
VERIFIED = "verified by simulation"
MOST_WORKLOADS = 6  # Workloads (count) that are named for which a fix does something
DATA_LOST = "what is in its emptyDir volumes is lost"
ON_PURPOSE = "Ask its owner first: somebody set this on purpose."
ANOTHERS = "Ask the owner of namespace {} first."
NEW_NODE = "the new node"
RESTARTS_NOTHING = "No running Pod restarts."
NOTHING_HELPS = "No {}simulated change helps, not even two together"
NOT_ASKED = "Simulated with the Pods that were read: Pods of other namespaces on other nodes were not read."
NOT_JUDGED = "Simulated without the incomplete parts below: a change may open fewer nodes than are named."
CUT_SHORT = "The search was cut short: --fix-budget gives it more time."
_HIDDEN: Mapping[Hidden, str] = {
    Hidden.IN_VAIN: "would replace Pods and leave as many without a node",
    Hidden.OVERRIDING: "change{s} what somebody set on purpose",
    Hidden.LOSING: "would lose Pods or their work",
    Hidden.FOR_OTHERS: "would let in Pods of other workloads only, which are scheduled first",
    Hidden.NEEDLESS: "would end running Pods, which is not needed if you wait",
}


def summary(fix: conclusion.Fix) -> str:
    """Return the changes in words."""
    if isinstance(fix.proposals[0], AddNode):
        return _new_node(fix)
    return changes(fix.proposals)


def changes(made: Sequence[Proposal]) -> str:
    """Return the changes in words, one that several constraints get once."""
    alike = grouped(made, lambda each: replace(each, topology_key="") if isinstance(each, OfConstraint) else each)
    keys = ([each.topology_key for each in parts if isinstance(each, OfConstraint)] for parts in alike.values())
    texts = (
        of_constraints(part, on) if isinstance(part, OfConstraint) else of_others(part)
        for part, on in zip(alike, keys, strict=True)
    )
    return "; also ".join(texts)


def starts(fix: conclusion.Fix) -> Sequence[str]:
    """Return what running the commands sets off, or what to do where there is none: a clause each."""
    cautions = (
        _after_deletion(fix, part) if isinstance(part, MovePod) else filter(None, [CAUTIONS.get(type(part))])
        for part in fix.proposals
    )
    stays = ("its new volume is created where the Pod is placed, and may keep it there",) if fix.for_good else ()
    warnings = (f"causes {name}: {entries_named(name)[0].summary}" for name in fix.warnings)
    return [*dict.fromkeys((*stays, *chain(*cautions), *chain(*map(sets_off, fix.routes)), *warnings))]


def ends(fix: conclusion.Fix) -> str:
    """Return how many Pods have no node when nothing changes any more; empty for none, or if that is not known."""
    end = fix.rollout_end
    if end is None or not end.most:
        return ""
    pods = count_of(end.most, "Pod")
    if end.least < end.most:
        return f"in the end, up to {pods} may still have no node"
    return f"in the end, {pods} still {'has' if end.most == 1 else 'have'} no node"


def company(fix: conclusion.Fix) -> Sequence[str]:
    """Return what the fix does for other workloads and for Pods that run: a clause each."""
    future = fix.future
    if future is None:
        return ["other workloads' Pending Pods were not simulated"] * fix.alone
    gain = [each for each in future.others if each.admits_at_most > 0]
    lose = [each for each in future.others if each.admits < 0]
    gaining = listed([f"{_whose(each)} {between(each.admits, each.admits_at_most)}" for each in gain], MOST_WORKLOADS)
    losing = listed([f"{_whose(each)} {between(-each.admits_at_most, -each.admits)}" for each in lose], MOST_WORKLOADS)
    in_all = f"{between(*future.in_all)} of {future.pending}"
    moved = count_of(future.replaced, "running Pod")
    broken = (
        f"the constraint of {_whose(each)} on {SHORT_KEYS.get(each.topology_key, each.topology_key)}"
        f" {'may be' if each.by_chance else 'is'} violated then (skew {each.skew}, maxSkew {each.max_skew})"
        for each in future.worse
    )
    return [
        *([f"in all, {in_all} Pending Pods get a node: others are {gaining}"] if gain else []),
        *([f"fewer Pods of other workloads have a node: {losing}"] if lose else []),
        *(
            [f"the rollout goes on: {moved} {'is' if future.replaced == 1 else 'are'} replaced"]
            if future.replaced and fix.disturbs is Disturbance.NOTHING
            else []
        ),
        *broken,
    ]


def _whose(each: OtherWorkload | WorseConstraint) -> str:
    return f"{each.namespace}/{each.workload.name}"


def _after_deletion(fix: conclusion.Fix, move: MovePod) -> Iterator[str]:
    if fix.after_deletion is None:
        return
    yield _outlook(fix.after_deletion)
    if isinstance(fix.after_deletion, conclusion.Recreated) and fix.after_deletion.may_be_first:
        yield OVERTAKEN
    if move.loses_data:
        yield DATA_LOST


def _outlook(after: conclusion.AfterDeletion) -> str:
    match after:
        case conclusion.Recreated():
            return f"{after.owner} recreates it"
        case conclusion.HeldByFinalizers():
            names = ", ".join(after.finalizers)
            return f"it is being deleted and waits for its finalizers {names}: their controllers must remove them"
        case conclusion.Outlook.GONE_FOR_GOOD:
            return "the deleted Pod does not come back, because no controller recreates it"
        case conclusion.Outlook.NODE_SILENT:
            ends = "it is being deleted, and its node does not answer"
            return f"{ends}: first make sure that the machine is off, or the Pod may run twice"
        case _:
            assert_never(after)


def left_alone(what: conclusion.NotOffered, *, others: bool = False) -> str:
    """Return what is not offered, and why; ``others``: whether there is another Pod like it."""
    match what:
        case conclusion.SufferingNodes():
            taints = "taint" if len(what.nodes) == len(what.taints) == 1 else "taints"
            return f"tolerating the {taints} of {suffering_text(what)}"
        case conclusion.StayingPod():
            like = ", or another Pod like it" * others
            return f"deleting {what.namespace}/{what.name} on {what.node}{like} ({_why_not_deleted(what)})"
        case conclusion.WouldWarn():
            return f"{changes(what.proposals)} (it would cause {', '.join(what.findings)})"
        case conclusion.ExpectedChange():
            return f"waiting for {wait_text(what)}; other Pods take that room first"
        case _:
            assert_never(what)


def _why_not_deleted(what: conclusion.StayingPod) -> str:
    match why := what.why:
        case conclusion.Ending():
            return ending_text(why, (what.node,))
        case conclusion.BudgetsNotRead():
            return "its disruption budgets could not be listed"
        case _:
            from kubectl_spread.wording.stays import stay_text  # ``explain`` plans no eviction.

            return stay_text(why)


def opens(
    feasible: Sequence[str],
    admits: str,
    siblings: int,
    *,
    most: int,
    checked: bool,
    pod: str = "this Pod",
    otherwise: bool = False,
) -> str:
    """Return the nodes that a fix opens, and how many of the workload's Pods, or of the manifest's, it lets in.

    Empty if it lets in none, as behind a partition. ``otherwise``: whether it may also let in none, as was said before.
    """
    then = "Otherwise" if otherwise else "Then"
    whom = "replicas without a node" if checked else "Pending Pods"
    nodes = enumerated(feasible, word="or") if len(feasible) <= most else count_of(len(feasible), "node")
    if admits == "0":
        return ""
    if siblings <= 1 and admits != "1":
        return f"Then {pod} may go to {nodes}, unless Pods of other workloads are scheduled first."
    if siblings <= 1:
        return f"{then} {pod} can go to {nodes}."
    some = admits != str(siblings)
    on = nodes if len(feasible) <= most else f"one of {nodes}"
    # Of more Pending Pods only so many are considered.
    least = "at least " * (siblings == conclusion.MOST_SIBLINGS)
    every = {2: "both"}.get(siblings, (least or "all ") + str(siblings))
    many = every if admits == str(siblings) else f"{admits} of {least}{siblings}"
    return f"{then} {many} {whom} can be scheduled, {'the first' if checked or some else 'this one'} on {on}."


def instead(created: int, feasible: Sequence[str], siblings: int) -> str:
    """Return what happens to the Pending Pods where an older ReplicaSet creates so many Pods (count).

    ``feasible``: where these can go; empty if not all of them find a node.
    """
    old = "the Pending Pod is" if siblings <= 1 else f"the {siblings} Pending Pods are"
    if not created:
        return f"Then {old} deleted, and no new Pod is needed."
    new, are = count_of(created, "new Pod"), "is" if created == 1 else "are"
    does = f"can go to {enumerated(feasible, word='or')}" if feasible else f"{are} created"
    return f"Then {old} deleted, and {new} {does}."


def sentences(clauses: Sequence[str]) -> str:
    """Return clauses as sentences."""
    return " ".join(f"{capital(clause)}." for clause in clauses)


def title(steps: int, *, more: str, verified: bool, none_safe: bool) -> str:
    """Return the title of so many steps (count): that the first is the best, and how to see more; empty without any.

    ``verified``: whether fixes are among them; ``none_safe``: whether none of these is safe.
    """
    if not steps:
        return ""
    what = "No safe fix was found. What would help" if none_safe else "What to do"
    told = filter(None, (f"{'fixes ' * (steps > 1)}{VERIFIED}" if verified else "", more))
    brackets = "; ".join(told)
    return f"{what}{', best first' if steps > 1 else ''}{f' ({brackets})' if brackets else ''}"


def alike_text(names: Sequence[str]) -> str:
    """Return the objects of one set of changes."""
    return " and ".join(names)


def same_for(alike: Sequence[Sequence[str]]) -> str:
    """Return for what else the same change does the same."""
    return f"{listed([*map(alike_text, alike)])} would do as well."


# Which of two fixes to take, each of which weakens another constraint.
EITHER = "This one or the one before is enough: choose the constraint that matters less."


def new_revision(feasible: Sequence[str]) -> str:
    """Return where Pods of the new revision may go."""
    return f"A Pod of the new revision may go to {listed(feasible) or 'no node yet'}."


def further_node(fix: conclusion.Fix) -> str:
    """Return what to do about a further node: the summary of the fix, and other nodes that it may be like."""
    others = f" (or like {listed([alike_text(each).removeprefix('new-') for each in fix.alike])})" if fix.alike else ""
    return capital(_new_node(fix, others))


def _new_node(fix: conclusion.Fix, others: str = "") -> str:
    node, decided = fix.proposals[0], fix.decision
    what, sentences = of_others(node), [NO_NODE_THERE] * (isinstance(node, AddNode) and node.elsewhere)
    if decided is not None:
        from kubectl_spread.wording.autoscalers import added_by  # Most clusters have no autoscaler.

        sentences.insert(0, capital(added_by(decided, fix.new_labels)))
    else:
        others = f"{others}{BY_AUTOSCALER}"
    return ". ".join((f"{what}{others}", *sentences))


def label_nodes(names: Sequence[str], key: str, values: Sequence[str]) -> str:
    """Return what to do about nodes that a constraint leaves out because they lack its topology key.

    ``values``: those of other nodes.
    """
    others = f". Other nodes have {listed(values)}" if values and key != HOSTNAME else ""
    where = "it is" if len(names) == 1 else "each of them is"
    without = "without that label, no Pod with this constraint may go there"
    return f"Set {key} on {first_and_more(names)} to where {where}: {without}{others}"


def label_command(node: str, key: str, flags: Sequence[str]) -> str:
    """Return the command that labels a node, with a place for the value where that is not the node's name."""
    if key == HOSTNAME:
        return kubectl("label node", node, f"{key}={node}", flags=flags)
    return f"{kubectl('label node', node, flags=flags)} {shlex.quote(key)}=<{SHORT_KEYS.get(key, 'value')}>"


def hidden(number: int, why: Hidden, flag: str) -> str:
    """Return that fixes (count) are not shown for this reason, and the flag that shows them."""
    one = number == 1
    return f"{'1 fix' if one else f'{number} fixes'} {_HIDDEN[why].format(s='s' * one)}: see {flag}."


def nothing_helps(reached: Sequence[str], *, other: bool) -> str:
    """Return the sentence for a Pod that no change lets in.

    Args:
        reached: the requirements that no change overcomes.
        other: whether a further node would let it in.
    """
    helps = NOTHING_HELPS.format("other " * other)
    rejects = f"{enumerated(reached)} still {'rejects' if len(reached) == 1 else 'reject'} nodes"
    larger = " A larger node or smaller requests would." if reached == [noderesources.NAME] and not other else ""
    return f"{helps}: {rejects}.{larger}" if reached else f"{helps}."

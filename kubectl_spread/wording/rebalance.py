"""The texts about a plan: what it does, why constraints do not hold after it, and why a Pod is not evicted."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import assert_never

from kubectl_spread import gaps
from kubectl_spread.diagnosis import remaining_skew
from kubectl_spread.diagnosis.fixes.shell import kubectl
from kubectl_spread.diagnosis.item_status import ItemStatus
from kubectl_spread.diagnosis.planned_evictions import ItemReason, SatisfiedSoon
from kubectl_spread.diagnosis.reasons import RejectedByConstraint
from kubectl_spread.diagnosis.statuses import NoDomains, NoEffect
from kubectl_spread.rebalance.plan import PlanNote, SoftLeftOut, UnknownOwner, UpgradedPods
from kubectl_spread.rebalance.search import Ended
from kubectl_spread.wording.fixes import sentences
from kubectl_spread.wording.incomplete import consequence
from kubectl_spread.wording.reasons import reason_text
from kubectl_spread.wording.statuses import status_text
from kubectl_spread.wording.stays import stay_text
from kubectl_spread.wording.words import count_of, enumerated, listed, seen

# How the search for a plan ended → what follows the cause of the remaining skew.
SEARCH_ENDS: Mapping[Ended, str] = {
    Ended.PLACEMENTS: "; not every plan was simulated",
    Ended.EVICTIONS: "; --max allows no more evictions",
}

BETWEEN_WAVES = (
    "Before each wave, also wait until evicted Pods are gone: a budget, a StatefulSet, room, affinity between Pods"
    " or a volume requires it."
)
SAMPLED = "Not every way to choose among equal nodes was simulated."
BOUNDED = "The search was cut short: there may be a better plan."
IN_ORDER = (
    "Run these in order. Before each that is not made together with the previous one, wait until the previous"
    " replacement is Ready (--script prints a script):"
)
AS_SCRIPT = "Write a script that carries out the plan, and stops if the cluster differs (-o wide prints each eviction):"
DATA_LOST = "What is in emptyDir volumes of {} is lost."
ASK_FIRST = "What keeps Pods off these domains was set on purpose: ask whether it may be changed. Then plan again."
WAIT_FOR = "Wait for {}. Then plan again."
SCHEDULED_FIRST = "First wait until every Pending Pod that can be scheduled now has a node. "
SCRIPT_NOTES = (
    "This script evicts one Pod after another, or some together, waits until replacements are Ready, and stops where",
    "nodes or Pods differ from the plan. It can be run again: no Pod is evicted twice.",
)
SCRIPT_DONE = "All evictions are done, and the Pods are spread as planned."

_named = partial(enumerated, most=2)


def plan_sentence(
    verdicts: Sequence[ItemStatus],
    *,
    broken: int,
    soft: int,
    evictions: int,
    soon: int = 0,
    left_out: bool = False,
) -> str:
    """Return the result of a plan in a sentence.

    ``broken``: how many constraints (count) have a skew above maxSkew before it, ``soft`` of which only prefer less;
    Pending Pods that can be scheduled satisfy ``soon`` of them. ``left_out``: whether some that only prefer less are
    uneven, and were not asked about.
    """
    if not verdicts:
        return "No constraints found to balance."
    if not broken and ItemStatus.INCOMPLETE in verdicts:
        return "It is not known whether the constraints are satisfied: nothing is planned."
    if not broken and ItemStatus.IMPOSSIBLE in verdicts:
        return "No eviction helps: no node has the topology key of a constraint."
    if soon and soon == broken:
        satisfy = f"{count_of(soon, 'constraint')} {'is' if soon == 1 else 'are'} satisfied"
        return f"No eviction is needed: {satisfy} once Pending Pods are scheduled."
    if not broken:
        return f"{_satisfied(verdicts, left_out=left_out)}: there is nothing to evict."
    kind = "uneven" if soft == broken else "violated or uneven" if soft else "violated"
    number, them = count_of(evictions, "eviction"), count_of(broken, f"{kind} constraint")
    unknown = ItemStatus.INCOMPLETE in verdicts
    if not evictions:
        return f"No eviction is planned for {them}{': not all is known' if unknown else ''}."
    balance, planned = "balances" if evictions == 1 else "balance", verdicts.count(ItemStatus.PLANNED)
    if planned == broken:
        return f"{number} {balance} {them}."
    partial = verdicts.count(ItemStatus.PARTIAL)
    improve = "improves" if evictions == 1 else "improve"
    done = [f"{balance} {planned} of {them}", f"{improve} {count_of(partial, 'other')}"][: 2 if partial else 1]
    if not planned:
        done = (
            [f"{improve} {them if partial == broken else f'{partial} of {them}'}"]
            if partial
            else [f"{'is' if evictions == 1 else 'are'} planned for {them}"]
        )
    return f"{number} {' and '.join(done)}{'; not all is known' if unknown else ''}."


def _satisfied(verdicts: Sequence[ItemStatus], *, left_out: bool) -> str:
    constraints, idle = len(verdicts), verdicts.count(ItemStatus.NO_EFFECT)
    only = constraints == 1
    if idle == constraints:
        return "The only constraint has no effect" if only else "No constraint has an effect"
    if idle:
        return f"No constraint is violated, but {idle} of {constraints} {'has' if idle == 1 else 'have'} no effect"
    hard = "hard " * left_out
    return f"The only {hard}constraint is satisfied" if only else f"All {hard}constraints are satisfied"


def fix_first(summary: str, starts: Sequence[str]) -> str:
    """Return what to fix before another plan is made."""
    return " ".join(filter(None, (f"Fix this first, then plan again: {summary}.", sentences(starts))))


def waiting_text(pods: int, workloads: Sequence[str], namespaces: Collection[str], flags: Sequence[str] | None) -> str:
    """Return how many Pods of these workloads wait for a node, and what says why.

    ``flags``: what leads a command to the cluster; None for files.
    """
    scope = ("-n", *namespaces) if len(namespaces) == 1 else ("-A",)
    why = "why-pending" if flags is None else f"`{kubectl('spread why-pending', flags=(*scope, *flags))}`"
    wait = f"{count_of(pods, 'Pod')} of {enumerated(workloads)} {'waits' if pods == 1 else 'wait'}"
    return f"{wait} for a node: {why} explains why."


def wait_first(pods: int) -> str:
    """Return that Pods (count) which find a node should be scheduled before anything is evicted."""
    wait, them = ("it is", "it") if pods == 1 else ("they are", "them")
    return (
        f"{count_of(pods, 'Pending Pod')} can be scheduled now: wait until {wait}. The plan counts {them} as scheduled."
    )


def together(pods: int) -> str:
    """Return that so many Pods (count) are evicted without waiting, and what that costs meanwhile."""
    return f"evict these {pods} together; {pods} Pods fewer run until their replacements are placed."


def plan_note_text(note: PlanNote) -> str:
    """Return the text of a note on a plan."""
    match note:
        case UnknownOwner(ref, pods):
            names, them = listed(["/".join(key) for key in pods]), "it" if len(pods) == 1 else "them"
            return f"how {ref} replaces {names} is not known: the plan assumes that it recreates {them} unchanged"
        case UpgradedPods(ref, pods):
            names, one = listed(["/".join(key) for key in pods]), len(pods) == 1
            has, they = ("replacement of {} has", "it is") if one else ("replacements of {} have", "they are")
            return f"the {has.format(names)} the newest template of {ref}: {they} also upgraded"
        case SoftLeftOut(number):
            are, them = ("is", "it") if number == 1 else ("are", "them")
            return f"{count_of(number, 'uneven constraint')} {are} only preferred: --soft plans for {them} too"
        case _:
            assert_never(note)


def remaining_text(remaining: remaining_skew.RemainingSkew) -> str:
    """Return why a constraint does not hold after the plan."""
    too_few = isinstance(remaining.cause, remaining_skew.TooFewEvictions)
    return f"{_cause(remaining.cause)}{'' if too_few else SEARCH_ENDS.get(remaining.ended, '')}"


def _cause(cause: remaining_skew.RemainingCause) -> str:
    match cause:
        case remaining_skew.TooFewEvictions():
            return "it would take more evictions than --max allows"
        case remaining_skew.TooFewDomains(domains, min_domains):
            are = "is" if domains == 1 else "are"
            return f"there {are} only {domains} of the {min_domains} domains that minDomains requires"
        case remaining_skew.PodsStay():
            return _staying(cause)
        case remaining_skew.DomainShut(domain, by, of):
            whys = (
                f"the constraint on {each.topology_key} allows no Pod there"
                if isinstance(each, RejectedByConstraint)
                else reason_text(each)
                for each in by
            )
            which = f"Pods of {of}" if of else "more Pods"
            return f"{seen(domain)} takes no {which}: {' and '.join(whys)}"
        case remaining_skew.GoesElsewhere(fullest, lands, by_chance):
            goes = (
                f"may go to {_named(lands)} by chance" if by_chance else f"goes to {_named(lands)}, which scores higher"
            )
            return f"a Pod evicted in {_named(fullest)} {goes}"
        case remaining_skew.BreaksAnother():
            return "every helpful eviction breaks another constraint, or leaves a Pod unschedulable"
        case _:
            assert_never(cause)


def _staying(cause: remaining_skew.PodsStay) -> str:
    first = f"{'/'.join(cause.pod)} in {seen(cause.domain)} stays: {stay_text(cause.reason).rstrip('.')}"
    if not cause.others:
        return first
    if cause.alike:
        return f"{first}; {cause.others} more {'stays' if cause.others == 1 else 'stay'} for the same reason"
    if cause.others == 1:
        return f"{first}; 1 more stays, for another reason"
    return f"{first}; {cause.others} more stay, some for other reasons"


def reason_of_item(why: ItemReason) -> str:
    """Return why some skew is left, or there is nothing to plan."""
    match why:
        case remaining_skew.RemainingSkew():
            return remaining_text(why)
        case NoEffect() | NoDomains():
            return status_text(why)
        case SatisfiedSoon():
            return "it is satisfied once every Pending Pod that can be scheduled now has a node"
        case _:
            return unsure_text(why)


def unsure_text(unsure: remaining_skew.Unsure) -> str:
    """Return what is not known of where a workload's Pods go."""
    match unsure:
        case gaps.OtherScheduler(scheduler_name=name):
            return f"{name} decides about these Pods, and its rules are not known"
        case remaining_skew.NotBegun():
            return "it was not planned, because the plan is already long: run it, then plan again"
        case _:
            return consequence(unsure)

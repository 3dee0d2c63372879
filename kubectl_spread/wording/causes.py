"""Why a Pod finds no node, in one sentence: all commands use these words.

Each cause has its texts, the longest first and the shortest last; the first that fits is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import partial
from typing import assert_never

import msgspec

from kubectl_spread.diagnosis import causes
from kubectl_spread.diagnosis.preemption import Preemption
from kubectl_spread.diagnosis.reasons import AnyReason, InsufficientResources, PortsInUse, UntoleratedTaints
from kubectl_spread.diagnosis.requirements import FilterRequirement
from kubectl_spread.diagnosis.root_cause import Blocking
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.scheduler import cycle
from kubectl_spread.wording.pending import preempts
from kubectl_spread.wording.reasons import PLACES, brief_key, noun_for, reason_text
from kubectl_spread.wording.words import SHORT_KEYS, begun, count_of, enumerated, shortening

named = partial(enumerated, most=2)
NO_CONSTRAINT = "No constraint is the cause: "
"""What a sentence begins with that blames filters alone."""
MOST_REASONS = 2
"""Reasons for which different nodes reject a Pod (count), before the rest is counted."""
LINE = 200
"""Characters of a first line, the Pod's name included."""
AT_WORK = len(" (none of 10 runs)")
"""Characters of that line that say how much of the Pod's workload is at work."""
NAMED = 60
"""Characters of a line about a workload, whatever its name."""
SHORTEST = 100
"""Characters that a sentence may have, however long the name is."""
NODE_CONDITION = "node.kubernetes.io/"
"""What the keys of taints begin with that follow from a node's condition, such as not-ready."""
TAINT, TOO_LITTLE = "taint ", "too little "
"""What begins the texts of reasons that nodes have; others say what nodes are."""
REASON = 120
"""Characters of a reason in a table."""


class Texts(msgspec.Struct, frozen=True):
    """A cause in sentences, and in a few words; the longest first."""

    sentences: Sequence[str]
    reasons: Sequence[str]


def sentence(cause: causes.AnyCause, pod: Pod | None, preemption: Preemption | None) -> str:
    """Return the root cause in a sentence, after what the scheduler would evict.

    It is no longer than a line that begins with the Pod's name, or, without a Pod, with as much about its workload.
    """
    at_work = AT_WORK if pod and pod.metadata.controller else 0
    room = LINE - (len(f"{'/'.join(pod.key)} is Pending. ") + at_work if pod else NAMED)
    if preemption is None:
        return in_room(cause, room)
    lead = f"It {preempts(preemption)}; until then: "
    return lead + in_room(cause, room - len(lead)).removeprefix(NO_CONSTRAINT)


def in_room(cause: causes.AnyCause, room: int) -> str:
    """Return the root cause in the room there is on a line (characters), or in little where there is less."""
    return fitting(texts_of(cause).sentences, max(room, SHORTEST))


def reason_of(cause: causes.AnyCause, nodes: Collection[str]) -> str:
    """Return the root cause in a few words; what the names of all these nodes end in may be left out."""
    return fitting(texts_of(cause).reasons, REASON, nodes)


def blocking_reason(blocking: Blocking, nodes: Collection[str]) -> str:
    """Return in a few words why the constraint leaves no node, with its numbers; the nodes are those of the cluster."""
    numbers = limits(blocking.constraint)
    match blocking.why:
        case ():
            return f"no domain may take one more{numbers}"
        case tuple() as others:
            return fitting([f"leaves no node together with {' and '.join(map(_described, others))}{numbers}"], REASON)
        case causes.PinnedDomain() as pinned:
            long = numbers.replace(": ", "; elsewhere ", 1)
            short = long.partition(", maxSkew")[0]
            return fitting(
                [f"{text}{least}" for text in _pinned_by(pinned) for least in (long, short, "")], REASON, nodes
            )
        case cause:
            return reason_of(cause, nodes)


def fitting(texts: Sequence[str], most: int, nodes: Collection[str] = ()) -> str:
    """Return the first of the texts that is no longer than that (characters), or else what there is room for.

    What all nodes' names end in does not count: where there is little room it is left out.
    """
    if len(texts[0]) <= most:
        return texts[0]
    _, short = shortening(nodes)
    return next((text for text in texts if len(short(text)) <= most), f"{short(texts[-1])[: most - 1]}…")


def shared_line(cause: causes.AnyCause) -> str:
    """Return the root cause as Pods of several workloads may share it: without what each of them asks for."""
    match cause:
        case causes.PinnedDomain(constraint=constraint, domains=domains, nodes=nodes, pins=pins):
            alike = Counter[str]()
            for pin in pins:
                alike[" and ".join(filter(None, map(_without_amounts, pin.reasons)))] += len(pin.nodes)
            of_nodes = f"of {count_of(nodes, 'node')}"
            whys = (f"{number} {of_nodes}{_joined(why)}" for why, number in alike.most_common(MOST_REASONS))
            return f"{noun_for(constraint.topology_key, len(domains))} {named(domains)}: {', '.join(whys)}"
        case causes.FiltersAlone(filters=filters) | causes.DaemonNode(filters=filters) if filters:
            firsts = ((it.plugin, it.reasons[0]) for it in filters)
            return "; ".join(f"{plugin}: {_without_amounts(it.reason) or named(it.nodes)}" for plugin, it in firsts)
        case causes.MissingKey():
            return texts_of(cause).reasons[-1]
        case causes.ConstraintCause(constraint=constraint) | causes.GhostSelector(constraint=constraint):
            return f"{brief_key(constraint.topology_key)}: {texts_of(cause).reasons[-1]}"
        case _:
            return texts_of(cause).reasons[-1]


def _joined(why: str) -> str:
    """Return what nodes suffer from as it follows their number: ``with taint a:NoSchedule``, or ``cordoned``."""
    return f" with {why}" if why.startswith((TAINT, TOO_LITTLE)) else f" {why}" if " " not in why else f": {why}"


def _without_amounts(reason: AnyReason | None) -> str:
    match reason:
        case InsufficientResources(full=full, resources=resources):
            short = [*(["room for Pods"] if full else []), *(it.name for it in resources)]
            return f"{TOO_LITTLE}{enumerated(short)} free"
        case UntoleratedTaints(taints=taints) if conditions := [each for each in taints if NODE_CONDITION in each]:
            names = (each.removeprefix(NODE_CONDITION).partition(":")[0] for each in conditions)
            names = ("NotReady" if each == "not-ready" else each for each in names)
            return enumerated(list(dict.fromkeys(names)))
        case PortsInUse(holders=holders):
            return (
                f"host port {enumerated(list(dict.fromkeys(port for each in holders for port in each.ports)))} in use"
            )
        case _:
            return reason_text(reason)


def texts_of(cause: causes.AnyCause) -> Texts:
    """Return the cause in words, with those of other constraints that leave no node either."""
    texts = _texts_of(cause)
    if not isinstance(cause, causes.ConstraintCause) or not cause.also:
        return texts
    too = f"The constraint on {named(cause.also)} leaves no node either."
    return Texts([*(f"{text} {too}" for text in texts.sentences), *texts.sentences], texts.reasons)


def _texts_of(cause: causes.AnyCause) -> Texts:
    match cause:
        case causes.NoNodes():
            return Texts(["The cluster has no nodes."], [cycle.NO_NODES])
        case causes.RefusedWhole():
            return _refused_whole(cause)
        case causes.VolumeWithoutNode():
            return _volume_without_node(cause)
        case causes.WaitsForTerminatingPods():
            return _waits_for_terminating_pods(cause)
        case causes.MisspeltKey():
            return _misspelt_key(cause)
        case causes.NoSelector(topology_key=key, nodes=nodes):
            lack = f"{named(nodes)} {'lacks' if len(nodes) == 1 else 'lack'} {key}"
            asks = "requires it, although it has no labelSelector and spreads nothing"
            return Texts([f"{lack}; the constraint {asks}.", f"{lack}."], [f"{lack}; no labelSelector", lack])
        case causes.GhostSelector():
            return _ghost_selector(cause)
        case causes.MinDomainsUnmet():
            return _min_domains_unmet(cause)
        case causes.MissingKey():
            return _missing_key(cause)
        case causes.NoEligibleDomain(constraint=constraint, nodes=number):
            none = "not the only node" if number == 1 else f"none of the {number} nodes"
            counts = f"The constraint on {constraint.topology_key} counts {none}"
            counts += f", and maxSkew {constraint.max_skew} allows no Pod."
            return Texts([counts], [f"no domain may take one more{limits(constraint)}"])
        case causes.DomainsFull():
            return _domains_full(cause)
        case causes.DaemonNode():
            return _daemon_node(cause)
        case causes.FiltersAlone():
            return _filters_alone(cause)
        case causes.PinnedDomain():
            return _pinned_domain(cause)
        case causes.Conflict():
            return _conflict(cause)
        case _:
            assert_never(cause)


def _refused_whole(cause: causes.RefusedWhole) -> Texts:
    refusal, about = ", ".join(cause.reasons), reason_text(cause.reason)
    # What quotes a name has named the claim already, but for what it is to be made from.
    whole = f"{refusal} ({about})" if about and about != refusal and '"' not in refusal else refusal
    whole = about if about.startswith(refusal) else whole
    return Texts([f"{whole}: no node is evaluated.", f"{refusal}."], [whole, refusal])


def _volume_without_node(cause: causes.VolumeWithoutNode) -> Texts:
    noun, several = brief_key(cause.topology_key), len(cause.values) > 1
    if cause.topology_key == HOSTNAME:
        place, none = f"on node {named(cause.values)}", "no node has that name"
    elif cause.topology_key in SHORT_KEYS:
        place, none = f"in {noun}{'s' * several} {named(cause.values)}", f"no node is in that {noun}"
    else:
        place, none = f"where {cause.topology_key} is {named(cause.values)}", "no node has that value"
    text = f"volume {cause.volume} is {place}, and {'no node is there' if several else none}"
    return Texts([f"Claim {cause.claim}: {text}.", f"V{text[1:]}."], [text])


def _waits_for_terminating_pods(cause: causes.WaitsForTerminatingPods) -> Texts:
    who = named(list(map(str, cause.pods)))
    one = len(cause.pods) == 1
    kept = f", kept by finalizer {named(cause.finalizers)}," if cause.finalizers else ""
    room = f"{who} on {cause.node} {'is' if one else 'are'} being deleted{kept} and still in the way"
    once = f"{cause.node} takes this Pod once {'it is' if one else 'they are'} gone"
    return Texts([f"{room}: {once}.", f"{room}."], [f"waits for {who} on {cause.node}, being deleted"])


def _misspelt_key(cause: causes.MisspeltKey) -> Texts:
    key, similar, one = cause.topology_key, cause.similar, len(cause.nodes) == 1
    has = f"{'has' if one else 'have'} {similar}"
    if cause.on_no_node:
        nowhere = f"No node has the label {key} that the constraint requires"
        sentences = [f"{nowhere}; {named(cause.nodes)} {has}.", f"{nowhere}. Did you mean {similar}?", f"{nowhere}."]
        return Texts(sentences, [f"no node has {key}: did you mean {similar}?", f"no node has {key}"])
    would = f"{named(cause.nodes)} would take it but {'lacks' if one else 'lack'} {key}"
    others = "" if cause.others else "; no other node takes it"
    return Texts([f"{would} ({has}){others}.", f"{would}."], [f"{would} ({has})", would])


def _ghost_selector(cause: causes.GhostSelector) -> Texts:
    key, selector = cause.constraint.topology_key, cause.constraint.selector
    says = f"The constraint on {key} counts Pods with {selector}, not this Pod"
    brief = f"The constraint on {brief_key(key)} counts Pods with {selector}, not this Pod"
    briefest = f"The constraint on {brief_key(key)} does not count this Pod"
    why = texts_of(cause.why) if cause.why else Texts((), ())
    longer = [f"{start}. {begun(text)}" for start in (says, brief, briefest) for text in why.sentences]
    return Texts(
        [*longer, f"{says}.", f"The constraint on {key} does not count this Pod itself."],
        [
            *(f"{text}; it does not count its own Pods" for text in why.reasons),
            f"it counts Pods with {selector}, not its own Pods",
            "it does not count its own Pods",
        ],
    )


def _min_domains_unmet(cause: causes.MinDomainsUnmet) -> Texts:
    constraint, values = cause.constraint, cause.eligible
    key, one, number = constraint.topology_key, len(values) == 1, count_of(len(values), "domain")
    there, brief = (
        f"There {'is' if one else 'are'} {number} of {named_so}"
        if len(values) == constraint.domains
        else f"Only {number} of {named_so} {'counts' if one else 'count'} for this Pod"
        for named_so in (key, brief_key(key))
    )
    asks = f"but minDomains requires {constraint.min_domains}"
    most = f"no domain may hold more than {constraint.max_skew}."
    so = f"so the minimum is 0 and no domain may exceed maxSkew {constraint.max_skew}."
    short = (
        f"minDomains requires {constraint.min_domains} domains, but only {len(values)} {'counts' if one else 'count'}"
    )
    return Texts(
        [
            f"{there} ({named(values)}), {asks}, {so}",
            f"{there} ({named(values)}), {asks}: {most}",
            f"{brief} ({named(values)}), {asks}: {most}",
            f"{brief}, {asks}: {most}",
            f"{there}, {asks}.",
        ],
        [f"{short}{limits(constraint)}", short],
    )


def _missing_key(cause: causes.MissingKey) -> Texts:
    key = cause.constraint.topology_key
    nowhere = f"No node has the label {key} that the constraint requires."
    filters = list(map(_filter, cause.filters))
    besides = ["; ".join(column) for column in zip(*filters, strict=True)][:2]
    return Texts([*(f"{nowhere} Also, {each}." for each in besides), nowhere], [f"no node has {key}"])


def _domains_full(cause: causes.DomainsFull) -> Texts:
    constraint = cause.constraint
    every = (
        f"Every domain of {constraint.topology_key} where this Pod could go would exceed maxSkew {constraint.max_skew}"
    )
    over = f"The minimum is {constraint.global_minimum}"
    where = f"({named(cause.minimum_domains)}), and no node there can take this Pod"
    return Texts(
        [f"{every}. {over} {where}.", f"{every}. {over}.", f"{every}."],
        [f"no domain may take one more{limits(constraint)}"],
    )


def _daemon_node(cause: causes.DaemonNode) -> Texts:
    if not cause.filters:
        if cause.lacks:
            lacks = f"lacks the label {cause.lacks}"
            return Texts([f"{cause.node}, the only node for this Pod, {lacks}."], [f"{cause.node} {lacks}"])
        rejects = f"rejects {cause.node}, the only node for"
        return Texts([f"The constraint on {cause.constraints[0]} {rejects} this Pod."], [f"{rejects} its Pod"])
    long, short, reasons = ("; ".join(column) for column in zip(*map(_filter, cause.filters), strict=True))
    besides = " ".join(f"The constraint on {key} rejects it too." for key in cause.constraints)
    first = f"{long}. {besides}" if besides else f"{NO_CONSTRAINT}{long}."
    return Texts([first, f"{long}.", f"{short}."], [reasons])


def _filters_alone(cause: causes.FiltersAlone) -> Texts:
    filters = list(map(_filter, cause.filters))
    long, short, reasons = ("; ".join(column) for column in zip(*filters, strict=True))
    besides = " ".join(
        f"The constraint on {each.topology_key} rejects {named(each.nodes)} too." for each in cause.constraints
    )
    longest = f"{long}. {besides}" if besides else f"{NO_CONSTRAINT}{long}."
    _, shortest, reason = filters[0]
    more = len(filters) - 1
    others = f"; {count_of(more, 'more filter')} {'rejects' if more == 1 else 'reject'} nodes" if more else ""
    return Texts(
        [longest, f"{long}.", f"{short}.", f"{shortest}{others}.", f"{named(cause.plugins)}."],
        [reasons, f"{reason}{_and_more(more)}", reason, shortest.removeprefix(f"{cause.filters[0].plugin}: ")],
    )


def _filter(rejecting: causes.RejectingFilter) -> tuple[str, str, str]:
    """Return what a filter rejects and why: with the nodes, without them, and without its name."""
    plugin, shared = rejecting.plugin, rejecting.reasons
    text = reason_text(shared[0].reason)
    if not text:
        return f"{plugin} rejects {named(shared[0].nodes)}", plugin, plugin
    shown = [(reason_text(each.reason), each.nodes) for each in shared[:MOST_REASONS]]
    rest = _and_more(len(shared) - MOST_REASONS)
    long = "; ".join(why if rejecting.everywhere else f"{why} ({named(nodes)})" for why, nodes in shown)
    short = "; ".join(why for why, _ in shown)
    return f"{plugin}: {long}{rest}", f"{plugin}: {text}{_and_more(len(shared) - 1)}", f"{short}{rest}"


def _and_more(number: int) -> str:
    """Return how many reasons there are besides; empty where there is none."""
    return f" and {count_of(number, 'more reason')}" if number > 0 else ""


def _pinned_domain(cause: causes.PinnedDomain) -> Texts:
    constraint, domains, number = cause.constraint, cause.domains, cause.nodes
    several = len(domains) > 1
    has = "have" if several else "has"
    longest = f"{has} the fewest matching Pods ({constraint.global_minimum}), but this Pod cannot run there"
    fewest = f"{has} the fewest Pods ({constraint.global_minimum}), but"
    shut = f"{fewest} cannot take this one"
    its = "their" if several else "its"
    all_shut = f"{fewest} none of {its} {number} nodes can take this one" if number > 1 else shut
    key, brief = SHORT_KEYS.get(constraint.topology_key, constraint.topology_key), brief_key(constraint.topology_key)
    pins = [(pin.nodes, " and ".join(map(reason_text, pin.reasons))) for pin in cause.pins]
    whys = [f"{named(nodes)} ({text})" for nodes, text in pins]
    counts = [text + f" ({count_of(len(nodes), 'node')})" * (len(pins) > 1) for nodes, text in pins]
    rest = _for_other_reasons(cause.pins, MOST_REASONS)
    some, brief_some = ("; ".join(each[:MOST_REASONS]) + rest for each in (whys, counts))
    first = whys[0] + _for_other_reasons(cause.pins, 1)
    more = _and_more(sum(len(pin.reasons) for pin in cause.pins[1:]))
    texts = pins[0][1] + more
    which, brief_which = (f"{each}{'s' * (several and each in PLACES)} {named(domains)}" for each in (key, brief))
    briefest = f"{len(domains)} domains of {brief}" if several else brief_which
    has_so_many = (f"{named(it.domains)} {'have' if len(it.domains) > 1 else 'has'} {it.matching}" for it in cause.full)
    full = f" maxSkew is {constraint.max_skew}; {', '.join(has_so_many)}." if cause.full else ""
    sentences = [
        f"{which} {longest}: {some}.{full}",
        f"{which} {shut}: {some}.{full}",
        f"{brief_which} {shut}: {some}.{full}",
        f"{which} {shut}: {some}.",
        f"{brief_which} {shut}: {some}.",
        f"{brief_which} {all_shut}: {brief_some}.",
        f"{brief_which} {shut}: {brief_some}.",
        f"{brief_which} {shut}: {first}.",
        f"{brief_which} {shut}: {texts}.",
        f"{count_of(len(domains), 'domain')} of {key} {shut}: {texts}.",
        f"{briefest} {shut}: {texts}.",
        f"{briefest} cannot take it: {texts}.",
        f"{briefest} cannot take it: {_without_amounts(cause.pins[0].reasons[0])}{more}.",
    ]
    return Texts(sentences, _pinned_by(cause))


def _for_other_reasons(pins: Sequence[causes.PinnedNodes], shown: int) -> str:
    """Return how many nodes have none of the first reasons, so many of which are shown; empty where there are none."""
    before, after = ({name for pin in each for name in pin.nodes} for each in (pins[:shown], pins[shown:]))
    number = len(after - before)
    others = "another reason" if number == 1 else "other reasons"
    return f"; {count_of(number, 'more node')} for {others}" if number else ""


def _pinned_by(cause: causes.PinnedDomain) -> Sequence[str]:
    """Return why the domains with the fewest Pods take none: the reason of the first node, and how many there are."""
    first = cause.pins[0]
    node, texts = first.nodes[0], list(map(reason_text, first.reasons))
    # One node may be kept off for several reasons.
    more = len({name for pin in cause.pins for name in pin.nodes}) - 1
    rest = f" and {more} more" if more else ""
    brief = _without_amounts(first.reasons[0])
    where = f"no Pod can go to {named(cause.domains)}"
    return [f"{where}: {node} ({why}){rest}" for why in (" and ".join(texts), texts[0], brief)]


def limits(constraint: causes.BlamedConstraint) -> str:
    """Return the least skew that the Pod would make where it may not go, and what is allowed."""
    if constraint.skew_if_placed is not None:
        return f": skew would be {constraint.skew_if_placed}, maxSkew {constraint.max_skew}"
    return "" if constraint.domains else f" (no node has {constraint.topology_key})"


def _conflict(cause: causes.Conflict) -> Texts:
    left = [named(each.leaves) or "no node" for each in cause.requirements]
    short = [_described(each) for each in cause.requirements]
    keys = {each.topology_key for each in cause.requirements}
    names = [f"the constraint on {name}" if name in keys else name for name in short]
    brief_names = [f"the constraint on {SHORT_KEYS.get(name, name)}" if name in keys else name for name in short]
    each_leaves, brief, briefest = (
        "; ".join(f"{name} leaves {nodes}" for name, nodes in zip(column, left, strict=True))
        for column in (names, brief_names, short)
    )
    every = f"all {len(names)}" if names[2:] else "both"
    all_of_them = f"{', '.join(short[:-1])} and {short[-1]}"
    return Texts(
        [
            f"No node satisfies {every}: {each_leaves}.",
            f"No node satisfies {every}: {brief}.",
            f"No node satisfies {every}: {briefest}.",
            f"Together {all_of_them} leave no node.",
        ],
        [f"{all_of_them} together", named(short)],
    )


def _described(conflicting: causes.ConflictingRequirement) -> str:
    """Return the requirement by its topology key, or by its plugin's name."""
    requirement = conflicting.requirement
    return requirement.plugin if isinstance(requirement, FilterRequirement) else conflicting.topology_key or ""

"""Why a Pod finds no node, in one sentence: all commands use these words.

Each cause has its texts, the longest first and the shortest last; the first that fits is taken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from typing import assert_never

import msgspec

from kubectl_spread.diagnosis import causes
from kubectl_spread.diagnosis.preemption import Preemption
from kubectl_spread.diagnosis.reasons import (
    AnyReason,
    AvoidedPod,
    ClaimState,
    InsufficientResources,
    MissingLabel,
    PortsInUse,
    RejectedByPod,
    UntoleratedTaints,
    UnusableClaims,
    VolumeLimitReached,
)
from kubectl_spread.diagnosis.requirements import FilterRequirement
from kubectl_spread.diagnosis.root_cause import Blocking
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import POD
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.scheduler import cycle, nodeaffinity, nodeports, noderesources, nodeunschedulable, tainttoleration
from kubectl_spread.wording.pending import preempts
from kubectl_spread.wording.reasons import affinity_text, brief_key, noun_for, ports_text, reason_text, rejected_text
from kubectl_spread.wording.words import (
    SHORT_KEYS,
    begun,
    capital,
    count_of,
    enumerated,
    first_and_more,
    shortening,
    with_short_keys,
    with_short_taints,
)

named = partial(enumerated, most=2)
NO_CONSTRAINT = "No spread constraint is the cause. "
"""What a sentence begins with that blames filters alone."""
MOST_REASONS, ALL_REASONS = 2, 4
"""Reasons for which different nodes reject a Pod (count), before the rest is counted: where room is short, and not."""
LINE = 310
"""Characters of a first line, the Pod's name included."""
AT_WORK = len(" (none of 10 replicas runs)")
"""Characters of that line that say how much of the Pod's workload is at work."""
NAMED = 60
"""Characters of a line about a workload, whatever its name."""
OTHER_REVISIONS = "other revisions"
"""Whose Pods a constraint counts too."""
SHORTEST = 100
"""Characters that a sentence may have, however long the name is."""
OURS = frozenset(("All", "Both", "The", "No", "There", "Only", "Every"))
"""Words that a sentence begins with."""
IGNORE: Mapping[tuple[causes.Policy, ...], Sequence[str]] = {
    ("nodeAffinityPolicy",): ["nodeAffinityPolicy is Ignore"],
    ("nodeTaintsPolicy",): ["nodeTaintsPolicy is Ignore (the default)", "nodeTaintsPolicy is Ignore"],
    ("nodeAffinityPolicy", "nodeTaintsPolicy"): [
        "nodeAffinityPolicy and nodeTaintsPolicy are Ignore",
        "both node policies are Ignore",
    ],
}
"""Policies of a constraint → why nodes count to which no Pod can go; the longest first."""
NODE_CONDITION = "node.kubernetes.io/"
"""What the keys of taints begin with that follow from a node's condition, such as not-ready."""
NODE_ROLE = "node-role.kubernetes.io/"
"""What the keys of taints begin with that keep the control plane free."""
TAINT, TOO_LITTLE = "taint ", "too little "
"""What begins the texts of reasons that nodes have; others say what nodes are."""
SHARED = (InsufficientResources, PortsInUse, UntoleratedTaints)
"""Reasons that several nodes share with their amounts, Pods and taints."""
REASON = 120
"""Characters of a reason in a table."""
PASSES: Mapping[str, tuple[str, str]] = {
    tainttoleration.NAME: ("has no untolerated taint", "have no untolerated taint"),
    noderesources.NAME: ("has enough room", "have enough room"),
    nodeunschedulable.NAME: ("is not cordoned", "are not cordoned"),
    nodeaffinity.NAME: ("matches the node affinity", "match the node affinity"),
    nodeports.NAME: ("has free host ports", "have free host ports"),
}
"""Filter → what one node is, and several are, that it does not reject."""


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
    lead = f"It {preempts(preemption)}. Until then: "
    return lead + clause(cause, room - len(lead))


def in_room(cause: causes.AnyCause, room: int) -> str:
    """Return the root cause in the room there is on a line (characters), or in little where there is less."""
    return fitting(texts_of(cause).sentences, max(room, SHORTEST))


def clause(cause: causes.AnyCause, room: int) -> str:
    """Return the same as it goes on after a colon."""
    return lowered(in_room(cause, room).removeprefix(NO_CONSTRAINT))


def lowered(text: str) -> str:
    """Return the text as it goes on after a colon."""
    return f"{text[0].lower()}{text[1:]}" if text.partition(" ")[0] in OURS else text


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
            alike = sorted(_alike(pins, _without_amounts), key=lambda each: -len(each[0]))
            of_nodes = f"of {count_of(nodes, 'node')}"
            whys = (f"{len(having)} {of_nodes}{_joined(why)}" for having, why in alike[:MOST_REASONS])
            return f"{noun_for(constraint.topology_key, len(domains))} {named(domains)}: {', '.join(whys)}"
        case causes.FiltersAlone(restriction=causes.Restriction() as restriction):
            return with_short_taints(_restricted(restriction).reasons[-1])
        case causes.FiltersAlone(filters=filters) | causes.DaemonNode(filters=filters) if filters:
            return "; ".join(_without_amounts(it.reasons[0].reason) or f"rejected by {it.plugin}" for it in filters)
        case causes.MissingKey():
            return texts_of(cause).reasons[-1]
        case causes.ConstraintCause(constraint=constraint) | causes.GhostSelector(constraint=constraint):
            return f"{brief_key(constraint.topology_key)}: {texts_of(cause).reasons[-1]}"
        case _:
            return texts_of(cause).reasons[-1]


def _joined(why: str) -> str:
    """Return what nodes suffer from as it follows their number: ``with taint a:NoSchedule``, or ``cordoned``."""
    return f" with {why}" if why.startswith((TAINT, TOO_LITTLE)) else f" {why}" if " " not in why else f": {why}"


def shared_text(reason: AnyReason | None) -> str:
    """Return the reason of several nodes, without what may differ from node to node."""
    return reason_text(reason) if isinstance(reason, SHARED) else _without_amounts(reason)


def _without_amounts(reason: AnyReason | None) -> str:
    match reason:
        case InsufficientResources(full=full, resources=resources):
            short, none = ([it.name for it in resources if (it.allocatable == "0") is bare] for bare in (False, True))
            lacks = [f"{TOO_LITTLE}{enumerated(short)} free"] * bool(short) + [f"no {enumerated(none)}"] * bool(none)
            return " and ".join((*lacks, *(["Pod limit reached"] if full else [])))
        case UntoleratedTaints(taints=taints) if conditions := [each for each in taints if NODE_CONDITION in each]:
            names = (each.removeprefix(NODE_CONDITION).partition(":")[0] for each in conditions)
            names = ("NotReady" if each == "not-ready" else each for each in names)
            return enumerated(list(dict.fromkeys(names)))
        case PortsInUse(holders=holders):
            return f"{ports_text(list(dict.fromkeys(port for each in holders for port in each.ports)))} in use"
        case UnusableClaims(claims=claims):
            return reason_text(msgspec.structs.replace(reason, claims=tuple(map(_without_name, claims))))
        case VolumeLimitReached():
            return "volume limit exceeded"
        case MissingLabel():
            return reason_text(msgspec.structs.replace(reason, has=msgspec.UNSET))
        case RejectedByPod():
            return "the anti-affinity of a Pod there"
        case AvoidedPod():
            return "a Pod already on the node matches the Pod's own anti-affinity rule"
        case _:
            return reason_text(reason)


def _without_name(claim: ClaimState) -> ClaimState:
    return msgspec.structs.replace(claim, volume="a volume") if claim.volume else claim


def texts_of(cause: causes.AnyCause) -> Texts:
    """Return the cause in words, with those of other constraints that leave no node either."""
    texts = _texts_of(cause)
    if isinstance(cause, causes.DomainsFull | causes.MinDomainsUnmet) and (besides := _besides(cause.constraint)):
        texts = msgspec.structs.replace(
            texts, sentences=[f"{text}{end}" for end in (besides, "") for text in texts.sentences]
        )
    texts = msgspec.structs.replace(texts, sentences=[*map(with_short_keys, texts.sentences)])
    if not isinstance(cause, causes.ConstraintCause) or not cause.also:
        return texts
    too = with_short_keys(f"The constraint on {named(cause.also)} allows no node either.")
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
    return Texts([f"{whole}: no node is evaluated.", f"{refusal}."], [whole, about or refusal])


def _volume_without_node(cause: causes.VolumeWithoutNode) -> Texts:
    several = len(cause.values) > 1
    none = "no node has that value"
    if cause.topology_key == HOSTNAME:
        none = "no node has that name"
    elif cause.topology_key in SHORT_KEYS:
        none = f"no node is in that {brief_key(cause.topology_key)}"
    place = _place(cause.topology_key, cause.values)
    text = f"volume {cause.volume} is {place}, and {'no node is there' if several else none}"
    return Texts([f"Claim {cause.claim}: {text}.", f"V{text[1:]}."], [text])


def _place(topology_key: str, values: Sequence[str]) -> str:
    """Return where the nodes are of which the label has one of the values."""
    if topology_key in SHORT_KEYS:
        on = "on" if topology_key == HOSTNAME else "in"
        return f"{on} {noun_for(topology_key, len(values))} {named(values)}"
    return f"where {topology_key} is {named(values)}"


def _waits_for_terminating_pods(cause: causes.WaitsForTerminatingPods) -> Texts:
    who = named(list(map(str, cause.pods)))
    one = len(cause.pods) == 1
    kept = (
        f", kept by finalizer{'s' * (len(cause.finalizers) > 1)} {named(cause.finalizers)}," if cause.finalizers else ""
    )
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
    would = f"{named(cause.nodes)} would take this Pod but {'lacks' if one else 'lack'} the label {key}"
    others = "" if cause.others else " No other node can take it."
    return Texts([f"{would} ({has} instead).{others}", f"{would}."], [f"{would} ({has})", would])


def _ghost_selector(cause: causes.GhostSelector) -> Texts:
    key, selector = cause.constraint.topology_key, cause.constraint.selector
    constraint = f"The constraint on {brief_key(key)}"
    starts = f"{constraint} counts Pods with {selector}, but not this Pod", f"{constraint} does not count this Pod"
    why = _texts_of(cause.why) if cause.why else Texts((), ())
    longer = [f"{start}. {begun(text)}" for text in why.sentences for start in starts]
    return Texts(
        [*longer, *(f"{start}." for start in starts)],
        [
            *(f"{text}; the selector does not match the workload's own Pods" for text in why.reasons),
            f"its constraint counts Pods with {selector}, not the workload's own",
            "the selector does not match the workload's own Pods",
        ],
    )


def _min_domains_unmet(cause: causes.MinDomainsUnmet) -> Texts:
    constraint, values = cause.constraint, cause.eligible
    one, noun = len(values) == 1, _noun(constraint, 1)
    there = f"{len(values)} {_noun(constraint, len(values))}"
    if len(values) == constraint.domains:
        there = f"There {'is' if one else 'are'} {there}"
    else:
        there = f"Only {there} {'counts' if one else 'count'} for this Pod"
    asks = f"but minDomains requires {constraint.min_domains}"
    most = f"until there are more {_noun(constraint, 2)}, each may hold only"
    held = f"{most} {count_of(constraint.max_skew, 'matching Pod')}."
    brief_most = f"no {noun} may hold more than {count_of(constraint.max_skew, 'Pod')}."
    short = (
        f"minDomains requires {constraint.min_domains} domains, but only {len(values)} {'counts' if one else 'count'}"
    )
    left = _left_out(cause)
    return Texts(
        [
            *(f"{there} ({named(values)}), {asks}: {text}{left}" for text in (held, brief_most) if left),
            *(f"{there} ({named(values)}), {asks}: {text}" for text in (held, brief_most)),
            f"{there}, {asks}: {brief_most}",
            f"{there}, {asks}.",
        ],
        [f"{short}{limits(constraint)}", short],
    )


def _left_out(cause: causes.MinDomainsUnmet) -> str:
    """Return the sentence about the domains that do not count; empty if there are none, or several reasons."""
    left = cause.left_out
    if left is None:
        return ""
    number = len(left.domains)
    noun = noun_for(cause.constraint.topology_key, number)
    noun = noun if noun.isalpha() else "domain" if number == 1 else "domains"
    do, be = ("does", "it is") if number == 1 else ("do", "they are")
    why = f"{be} outside the Pod's node affinity"
    if left.taints:
        why = f"taint{'s' * (len(left.taints) > 1)} {named(left.taints)}, nodeTaintsPolicy Honor"
    return f" The {noun} {named(left.domains)} {do} not count: {why}."


def _noun(constraint: causes.BlamedConstraint, number: int) -> str:
    """Return what so many domains of the constraint (count) are called: ``zones``, or ``domains of a/b-c``."""
    noun = noun_for(constraint.topology_key, number)
    return noun if noun.isalpha() else f"{'domain' if number == 1 else 'domains'} of {constraint.topology_key}"


def _missing_key(cause: causes.MissingKey) -> Texts:
    key = cause.constraint.topology_key
    nowhere = f"No node has the label {key} that the constraint requires."
    besides = _filters(cause.filters)[:-1] if cause.filters else ()
    return Texts([*(f"{nowhere} Also, {each}." for each in besides), nowhere], [f"no node has {key}"])


def _domains_full(cause: causes.DomainsFull) -> Texts:
    constraint = cause.constraint
    every = f"Every {_noun(constraint, 1)} where this Pod could go would exceed maxSkew {constraint.max_skew}"
    where = f"The fewest Pods ({constraint.global_minimum}) are in {named(cause.minimum_domains)}"
    return Texts(
        [f"{every}. {where}, where no node can take this Pod.", f"{every}. {where}.", f"{every}."],
        [f"no domain may take one more{limits(constraint)}"],
    )


def _daemon_node(cause: causes.DaemonNode) -> Texts:
    if not cause.filters:
        if cause.lacks:
            lacks = f"lacks the label {cause.lacks}"
            return Texts([f"{cause.node}, the only node for this Pod, {lacks}."], [f"{cause.node} {lacks}"])
        rejects = f"rejects {cause.node}, the only node for"
        return Texts([f"The constraint on {cause.constraints[0]} {rejects} this Pod."], [f"{rejects} its Pod"])
    where = f"{cause.node}, the only node for this Pod,"
    *forms, reasons = _filters(cause.filters, where)
    besides = " ".join(f"The constraint on {key} rejects it too." for key in cause.constraints)
    first = f"{forms[0]}. {besides}" if besides else f"{NO_CONSTRAINT}{forms[0]}."
    return Texts([first, *(f"{form}." for form in forms)], [reasons])


def _filters_alone(cause: causes.FiltersAlone) -> Texts:
    *forms, reasons = _filters(cause.filters)
    besides = " ".join(
        f"The constraint on {each.topology_key} rejects {named(each.nodes)} too." for each in cause.constraints
    )

    def whole(text: str) -> str:
        return f"{text} {besides}" if besides else f"{NO_CONSTRAINT}{text}"

    nodes = {name for each in cause.filters for shared in each.reasons for name in shared.nodes}
    forms = [f"{capital(form, nodes)}." for form in forms]
    found = ((each.plugin, shared.reason) for each in cause.filters for shared in each.reasons)
    briefly = list(dict.fromkeys(_without_amounts(reason) or plugin for plugin, reason in found))
    every, *fewer = _first_few(briefly)
    reason = reason_text(cause.filters[0].reasons[0].reason) or briefly[0]
    restricted = _restricted(cause.restriction) if cause.restriction else Texts(forms[:1], [reasons])
    by_name, *others = restricted.sentences
    first = [whole(by_name), *(text for each in others for text in (whole(each), each))]
    return Texts(
        [
            *first,
            *map(whole, forms),
            f"{NO_CONSTRAINT * (not besides)}No node is available: {every}.",
            *forms,
            *(f"No node is available: {some}." for some in (every, *fewer)),
            f"{named(cause.plugins)} reject every node.",
        ],
        [*restricted.reasons, every, *fewer, reason, briefly[0]],
    )


def _first_few(texts: Sequence[str]) -> Sequence[str]:
    """Return all of the reasons, and fewer and fewer of the first with the number of the others."""
    return [
        with_short_taints("; ".join(texts[:number])) + _and_more(len(texts) - number)
        for number in range(len(texts), 0, -1)
    ]


def _restricted(restriction: causes.Restriction) -> Texts:
    """Return what leaves the Pod few nodes, and why none of these takes it."""
    wheres, briefly = _by_affinity(restriction) if not restriction.claims else _by_volume(restriction)
    by_name, *fewer = _kept_off(restriction.pins, once=True)
    (_, first), *more = _alike(restriction.pins, _without_amounts)
    return Texts(
        [f"{wheres[0]}: {by_name}.", *(f"{where}: {why}." for why in fewer for where in wheres)],
        [
            *(f"{briefly}: {why}" for why in (by_name, *fewer)),
            f"{briefly} ({with_short_taints(first)}{_and_more(len(more))})",
        ],
    )


def _by_volume(restriction: causes.Restriction) -> tuple[Sequence[str], str]:
    """Return in which place the Pod's volumes are and that no node there is available; and that in a few words."""
    nodes, place = restriction.nodes, _place(restriction.topology_key, restriction.values)
    names = named([each.name for each in restriction.claims])
    one = len(restriction.claims) == 1
    bound = f"Claim {names} is bound to a volume" if one else f"Claims {names} are bound to volumes"
    if len(nodes) > 1:
        none = f"none of the {len(nodes)} nodes there is available"
    elif restriction.topology_key == HOSTNAME:
        none = "that node is not available"
    else:
        none = f"the only node there, {nodes[0]}, is not available"
    return [f"{bound} {place}, and {none}"], f"claim{'s' * (not one)} {names}: no node {place} is available"


def _by_affinity(restriction: causes.Restriction) -> tuple[Sequence[str], str]:
    """Return which nodes the Pod's affinity leaves and that none of them is available; and that in a few words."""
    nodes, labels, terms = restriction.nodes, restriction.labels, affinity_text(restriction.terms)
    one = len(nodes) == 1
    which = "Only " * (len(nodes) <= restriction.others) + (nodes[0] if one else f"{len(nodes)} nodes")
    having = f"the label{'s' * (len(labels) > 1)} {enumerated(labels)}"
    what = f"{'has' if one else 'have'} {having}", f"no node with {enumerated(labels)} is available"
    if restriction.terms:
        matching = " and ".join((*["nodeSelector"] * bool(labels), "the node affinity"))
        what = f"{'matches' if one else 'match'} {matching}", f"no node that matches {matching} is available"
    none = "it is not available" if one else "none of them is available"
    long = f"{which} {what[0]} that the Pod requires" + f" ({terms})" * (bool(restriction.terms) and not labels)
    return [f"{each}, and {none}" for each in dict.fromkeys((long, f"{which} {what[0]} that the Pod requires"))], what[
        1
    ]


def _kept_off(pins: Sequence[causes.PinnedNodes], *, once: bool) -> Sequence[str]:
    """Return what keeps the Pod off nodes, each of them once or each reason once, the longest first.

    That is with the names of nodes, with their number, without amounts, and with fewer and fewer of the reasons.
    """
    whys, brief = (_alike(pins, text, once=once) for text in (reason_text, _without_amounts))

    def counted(whys: Sequence[tuple[Sequence[str], str]], shown: int) -> str:
        some = [why + f" ({count_of(len(nodes), 'node')})" * bool(whys[1:]) for nodes, why in whys[:shown]]
        return "; ".join(some) + _for_other_reasons(whys, shown)

    by_name = "; ".join(f"{named(nodes)} ({why})" if whys[1:] else why for nodes, why in whys)
    fewer = [with_short_taints(counted(brief, shown)) for shown in range(ALL_REASONS, 0, -1)]
    return [*[by_name] * (len(whys) <= ALL_REASONS), counted(whys, ALL_REASONS), counted(brief, ALL_REASONS), *fewer]


def _alike(
    pins: Sequence[causes.PinnedNodes], text: Callable[[AnyReason], str], *, once: bool = True
) -> list[tuple[Sequence[str], str]]:
    """Return which nodes have which reasons; only the reasons that all have, if any.

    ``once``: each node once with all its reasons, and not each reason with all nodes that have it.
    """
    tainted = ({taint for why in pin.reasons for taint in getattr(why, "taints", ())} for pin in pins)
    of_all = set[str].intersection(*tainted)

    def texts(pin: causes.PinnedNodes) -> list[str]:
        common = (
            UntoleratedTaints(taints=tuple(each for each in why.taints if each in of_all))
            if of_all and isinstance(why, UntoleratedTaints)
            else why
            for why in pin.reasons
        )
        return list(dict.fromkeys(map(text, common)))

    first, *others = whys = [texts(pin) for pin in pins]
    everywhere = [why for why in first if all(why in each for each in others)]
    alike, parts = defaultdict[tuple[str, ...], list[str]](list), dict[tuple[str, ...], set[str]]()
    having = [{part for why in pin.reasons for part in getattr(why, "taints", [text(why)])} for pin in pins]
    for pin, each, has in zip(pins, whys, having, strict=True):
        why = tuple(everywhere or each)
        alike[why].extend(pin.nodes)
        parts[why] = parts.get(why, has) & has
    if once:
        return [(nodes, " and ".join(why)) for why, nodes in alike.items()]
    # The most nodes come first, those of a control plane last, until each node has a reason.
    found = [
        (
            sorted(name for pin, has in zip(pins, having, strict=True) if parts[why] <= has for name in pin.nodes),
            " and ".join(why),
        )
        for why in alike
    ]
    found.sort(key=lambda each: (NODE_ROLE in each[1], -len(each[0])))
    covered = [{name for nodes, _ in found[:index] for name in nodes} for index in range(len(found))]
    return [each for each, before in zip(found, covered, strict=True) if not before.issuperset(each[0])]


def _filters(filters: Sequence[causes.RejectingFilter], where: str = "") -> Sequence[str]:
    """Return which nodes the filters reject and why: with their names, their number, without amounts, without nodes.

    ``where``: the only node that matters, in place of its name.
    """

    def clauses(name: Callable[[Sequence[str]], str], *, brief: bool = False) -> str:
        all_of_them = all(each.everywhere for each in filters)
        again = "they" if all_of_them and len(filters[0].reasons[0].nodes) > 1 else "it"
        subjects = chain((where,), repeat(again if where or all_of_them else ""))
        return "; ".join(
            _rejected(each, subject, name, brief=brief) for each, subject in zip(filters, subjects, strict=False)
        )

    def number(nodes: Sequence[str]) -> str:
        return count_of(len(nodes), "node")

    reasons = "; ".join(
        "; ".join(reason_text(each.reason) or it.plugin for each in it.reasons[:MOST_REASONS])
        + _and_more(len(it.reasons) - MOST_REASONS)
        for it in filters
    )
    return clauses(named), clauses(number), clauses(number, brief=True), reasons


def _rejected(
    rejecting: causes.RejectingFilter, where: str, name: Callable[[Sequence[str]], str], *, brief: bool
) -> str:
    """Return which nodes a filter rejects and why."""
    shared = rejecting.reasons
    named_so = [(each, where or ("" if rejecting.everywhere else name(each.nodes))) for each in shared[:MOST_REASONS]]
    return "; ".join(
        rejected_text(each.reason, nodes, len(each.nodes), brief=brief)
        or f"{rejecting.plugin} rejects {name(each.nodes)}"
        for each, nodes in named_so
    ) + _for_other_reasons([(each.nodes, each) for each in shared], MOST_REASONS)


def _and_more(number: int) -> str:
    """Return how many reasons there are besides; empty where there is none."""
    return f" and {count_of(number, 'more reason')}" if number > 0 else ""


def _pinned_domain(cause: causes.PinnedDomain) -> Texts:
    constraint, domains = cause.constraint, cause.domains
    several = len(domains) > 1
    which = f"{noun_for(constraint.topology_key, len(domains))} {named(domains)}"
    many = f"{len(domains)} {_noun(constraint, len(domains))}" if several else which
    # What keeps the Pod off names the nodes again.
    place = many if constraint.topology_key == HOSTNAME else which
    shut = f"{'are' if several else 'is'} not available"
    but = _none_available(cause)

    def held(place: str, pods: str = "Pods") -> str:
        if constraint.skew_if_placed is None:
            return f"The constraint on {brief_key(constraint.topology_key)} allows {place}, but {but}"
        lead = f"The Pod may only go to {place}, which" if cause.only else place
        return f"{lead} {'have' if several else 'has'} the fewest {pods} ({constraint.global_minimum}), but {but}"

    whys, endings = _kept_off(cause.pins, once=False), _endings(cause)
    sentences = [
        *(f"{held(place, pods)}: {whys[0]}.{endings[0]}{_elsewhere(cause)}" for pods in ("matching Pods", "Pods")),
        *(f"{held(where)}: {why}.{ending}" for where in (place, many) for ending in endings for why in whys[:-1]),
        *(f"{each} {shut}: {why}." for why in whys[-2:] for each in (which, many)),
    ]
    return Texts(sentences, _pinned_by(cause))


def _endings(cause: causes.PinnedDomain) -> Sequence[str]:
    """Return what follows the sentence: because of which policies the nodes count, and what else matters; less each."""
    counts = "This node counts" if cause.nodes == 1 else "These nodes count"
    # A node that recovers by itself is waited for, whatever counts it.
    ignoring = () if all(map(_suffers, cause.pins)) else IGNORE.get(cause.ignoring, ())
    policies = [*(f" {counts} because {each}." for each in ignoring), ""]
    return [*dict.fromkeys(f"{policy}{each}" for each in (_besides(cause.constraint), "") for policy in policies)]


def _besides(constraint: causes.BlamedConstraint) -> str:
    """Return the sentences about Pods that keep domains closed, and about nodes that lack the topology key."""
    counted = [
        f"the Pod {each.owner.name}"
        if each.owner.kind == POD.name
        else f"{count_of(each.number, 'Pod')} of {OTHER_REVISIONS if each.own else each.owner}"
        for each in constraint.others
    ]
    nodes, key = constraint.unlabelled, constraint.topology_key
    lacking = f"{first_and_more(nodes)}, which {'lack' if nodes[1:] else 'lacks'} the label {key}" if nodes else ""
    too = f" The constraint on {brief_key(key)} also counts {named(counted)}." if counted else ""
    return f"{too} This Pod may not go to {lacking}." if nodes else too


def _none_available(cause: causes.PinnedDomain) -> str:
    """Return that none of the nodes of the domains is available."""
    several = len(cause.domains) > 1
    if cause.constraint.topology_key == HOSTNAME and cause.nodes == len(cause.domains):
        return "none of them is available" if several else "is not available"
    counted = "counted " * cause.some_uncounted
    if cause.nodes == 1:
        return f"its only {counted}node, {cause.pins[0].nodes[0]}, is not available"
    return f"none of {'their' if several else 'its'} {cause.nodes} {counted}nodes is available"


def _suffers(pins: causes.PinnedNodes) -> bool:
    """Whether a taint that follows from the nodes' condition keeps the Pod off them, whatever else does."""
    taints = (taint for it in pins.reasons if isinstance(it, UntoleratedTaints) for taint in it.taints)
    return any(NODE_CONDITION in taint for taint in taints)


def _elsewhere(cause: causes.PinnedDomain) -> str:
    """Return the sentence that says which other domains the constraint closes; empty where there are none."""
    constraint = cause.constraint
    full = [
        f"{noun_for(constraint.topology_key, len(it.domains))} {named(it.domains)}"
        f" ({count_of(it.matching, 'Pod')}{' each' * bool(it.domains[1:])})"
        for it in cause.full
    ]
    exceeds = "One more Pod would exceed maxSkew {}" if cause.counted else "maxSkew {} is exceeded already"
    at = "on" if constraint.topology_key == HOSTNAME else "in"
    return f" {exceeds.format(constraint.max_skew)} {at} {enumerated(full)}." if full else ""


def _for_other_reasons(whys: Sequence[tuple[Sequence[str], object]], shown: int) -> str:
    """Return how many nodes have none of the first reasons, so many of which are shown; empty where there are none.

    ``whys``: the nodes that have each reason, and the reason.
    """
    before, after = ({name for nodes, _ in each for name in nodes} for each in (whys[:shown], whys[shown:]))
    number = len(after - before)
    reasons = "another reason" if number == 1 else "other reasons"
    return f"; {count_of(number, 'more node')} for {reasons}" if number else ""


def _pinned_by(cause: causes.PinnedDomain) -> Sequence[str]:
    """Return why the domains with the fewest Pods take none, the longest first."""
    return [f"no Pod can go to {named(cause.domains)}: {why}" for why in _kept_off(cause.pins, once=False)]


def limits(constraint: causes.BlamedConstraint) -> str:
    """Return the least skew that the Pod would make where it may not go, and what is allowed."""
    if constraint.skew_if_placed is not None:
        return f": skew would be {constraint.skew_if_placed}, maxSkew {constraint.max_skew}"
    return "" if constraint.domains else f" (no node has {constraint.topology_key})"


def _conflict(cause: causes.Conflict) -> Texts:
    short = [_described(each) for each in cause.requirements]
    keys = {each.topology_key for each in cause.requirements}

    def met_by(change: Callable[[str], str]) -> str:
        parts = []
        for each, name in zip(cause.requirements, short, strict=True):
            one = len(each.leaves) <= 1
            what = f"{'meets' if one else 'meet'} the constraint on {change(name)}"
            if name not in keys:
                what = PASSES.get(name, (f"passes {name}", f"pass {name}"))[not one]
            parts.append(f"{f'only {named(each.leaves)}' if each.leaves else 'no node'} {what}")
        return "; ".join(parts)

    every = f"all {len(short)} requirements" if short[2:] else "both requirements"
    all_of_them = f"{', '.join(short[:-1])} and {short[-1]}"
    return Texts(
        [
            *(f"No node meets {every}: {met_by(change)}." for change in (str, brief_key)),
            f"Together {all_of_them} leave no node.",
        ],
        [f"{all_of_them} together", named(short)],
    )


def _described(conflicting: causes.ConflictingRequirement) -> str:
    """Return the requirement by its topology key, or by its plugin's name."""
    requirement = conflicting.requirement
    return requirement.plugin if isinstance(requirement, FilterRequirement) else conflicting.topology_key or ""

"""Why a Pod finds no node, in a sentence or two, and in a few words: all commands use these words."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from typing import assert_never

import msgspec

from kubectl_spread.diagnosis import causes
from kubectl_spread.diagnosis.reasons import (
    AnyReason,
    AvoidedPod,
    InsufficientResources,
    MissingLabel,
    PortsInUse,
    RejectedByPod,
    SharedReason,
    UntoleratedTaints,
    UnusableClaims,
    VolumeLimitReached,
)
from kubectl_spread.diagnosis.requirements import FilterRequirement
from kubectl_spread.diagnosis.root_cause import OF_NODES, Blocking
from kubectl_spread.objects import kinds
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.scheduler import cycle, nodeaffinity, nodeports, noderesources, nodeunschedulable, tainttoleration
from kubectl_spread.wording.reasons import affinity_text, brief_key, noun_for, ports_text, reason_text, rejected_text
from kubectl_spread.wording.words import (
    SHORT_KEYS,
    capital,
    count_of,
    enumerated,
    first_and_more,
)

named = partial(enumerated, most=2)
NO_CONSTRAINT = "No spread constraint is the cause."  # What is said with a cause that is filters alone
EMPTY_KEY = "the topologyKey of the constraint is empty"
CLAIM = kinds.PERSISTENT_VOLUME_CLAIM.name
# A few words about a constraint that does not count its own Pods.
GHOST = "the selector does not match the workload's own Pods"
MOST_REASONS = 2  # Reasons of a filter (count), and reasons in a few words, before the rest is counted
# Filters, and reasons that keep the Pod off nodes (count), that a sentence has before it counts the rest.
ALL_REASONS = 3
# Policies of a constraint → why nodes count to which no Pod can go.
IGNORE: Mapping[tuple[causes.Policy, ...], str] = {
    ("nodeAffinityPolicy",): "nodeAffinityPolicy is Ignore",
    ("nodeTaintsPolicy",): "nodeTaintsPolicy is Ignore (the default)",
    ("nodeAffinityPolicy", "nodeTaintsPolicy"): "nodeAffinityPolicy and nodeTaintsPolicy are Ignore",
}
# What the keys of taints begin with that follow from a node's condition, such as not-ready.
NODE_CONDITION = "node.kubernetes.io/"
NODE_ROLE = "node-role.kubernetes.io/"  # What the keys of taints begin with that keep the control plane free
# Reasons that several nodes share with their amounts, Pods and taints.
SHARED = (InsufficientResources, PortsInUse, UntoleratedTaints)
# Filter → what one node is, and several are, that it does not reject.
PASSES: Mapping[str, tuple[str, str]] = {
    tainttoleration.NAME: ("has no untolerated taint", "have no untolerated taint"),
    noderesources.NAME: ("has enough room", "have enough room"),
    nodeunschedulable.NAME: ("is not cordoned", "are not cordoned"),
    nodeaffinity.NAME: ("matches the node affinity", "match the node affinity"),
    nodeports.NAME: ("has free host ports", "have free host ports"),
}


class Subject(msgspec.Struct, frozen=True):
    """How a sentence names the Pods that it is about."""

    who: str  # as the subject of the first sentence
    then: str  # as the subject of a further one
    this: str  # as an object
    one: str  # one of them as an object
    # of which revision they are, if the sentence before is about Pods of another one; empty otherwise
    revision: str = ""


POD = Subject("the Pod", "This Pod", "this Pod", "this Pod")
ONE = Subject("the Pod", "This Pod", "this Pod", "this Pod")  # The Pod of the sentence before
IT = Subject("it", "It", "it", "it")
PODS = Subject("they", "They", "these Pods", "one of them")


class Clause(msgspec.Struct, frozen=True):
    """A root cause as it goes on after a colon, to the end of its last sentence."""

    text: str
    name: bool = False  # whether it begins with a name, which keeps its case
    filters: bool = False  # whether filters alone are the cause

    @property
    def sentence(self) -> str:
        """The cause as a sentence of its own."""
        return self.text if self.name else capital(self.text)

    @property
    def end(self) -> str:
        """The sentence that no constraint is the cause, as it follows the others; empty if one may be."""
        return f" {NO_CONSTRAINT}" if self.filters else ""


def blocking_reason(blocking: Blocking) -> str:
    """Return in a few words why the constraint leaves no node, with its numbers."""
    numbers = limits(blocking.constraint)
    match blocking.why:
        case ():
            return f"no domain may take one more{numbers}"
        case tuple() as others:
            return f"leaves no node together with {named([*map(_described, others)])}{numbers}"
        case causes.PinnedDomain() as pinned:
            return f"{reason_of(pinned)}{limits(blocking.constraint, '; elsewhere ')}"
        case cause:
            return reason_of(cause)


def shared_line(cause: causes.AnyCause) -> str:
    """Return the root cause as Pods of several workloads may share it: without what each of them asks for."""
    match cause:
        case causes.PinnedDomain(constraint=constraint, domains=domains, nodes=number, pins=pins):
            whys = sorted(_by_reason(pins, _without_amounts), key=lambda why: -len(why[0]))
            few = (f"{why} ({len(nodes)} of {count_of(number, 'node')})" for nodes, why in whys[:MOST_REASONS])
            return f"{noun_for(constraint.topology_key, len(domains))} {named(domains)}: {'; '.join(few)}"
        case causes.FiltersAlone(restriction=causes.Restriction() as restriction):
            first, *more = _by_reason(restriction.pins, _without_amounts)
            place = _place(restriction.topology_key, restriction.values)
            left = f"volumes {place}: no node there is available" if restriction.claims else _left_by(restriction)
            return f"{left} ({first[1]}{_and_more(len(more))})"
        case causes.VolumeWithoutNode():
            return _without_node(cause, "a volume")
        case causes.RefusedWhole(missing=missing) if missing:
            return "a claim does not exist"
        case causes.RefusedWhole(reason=UnusableClaims() as reason):
            return _without_amounts(reason)
        case causes.WaitsForTerminatingPods():
            return "waits for Pods that are being deleted"
        case causes.DaemonNode(filters=(), lacks=key, constraints=keys):
            return (
                f"its only node lacks the label {key}"
                if key
                else f"the constraint on {_key(keys[0])} rejects its only node"
            )
        case causes.FiltersAlone(filters=filters) | causes.DaemonNode(filters=filters) if filters:
            return "; ".join(_without_amounts(it.reasons[0].reason) or f"rejected by {it.plugin}" for it in filters)
        case causes.MinDomainsUnmet(constraint=constraint):
            return f"{brief_key(constraint.topology_key)}: {_too_few_domains(cause)}"
        case causes.GhostSelector(constraint=constraint):
            return f"{brief_key(constraint.topology_key)}: {GHOST}"
        case causes.NoEligibleDomain(constraint=constraint) | causes.DomainsFull(constraint=constraint):
            return f"{brief_key(constraint.topology_key)}: {reason_of(cause)}"
        case _:
            return reason_of(cause)


def shared_text(reason: AnyReason | None) -> str:
    """Return the reason of several nodes, without what may differ from node to node."""
    return reason_text(reason) if isinstance(reason, SHARED) else _without_amounts(reason)


def _without_amounts(reason: AnyReason | None) -> str:
    match reason:
        case InsufficientResources(full=full, resources=resources):
            short, none = ([it.name for it in resources if (it.allocatable == "0") is bare] for bare in (False, True))
            lacks = [f"too little {enumerated(short)} free"] * bool(short) + [f"no {enumerated(none)}"] * bool(none)
            return " and ".join((*lacks, *(["Pod limit reached"] if full else [])))
        case UntoleratedTaints(taints=taints) if conditions := [each for each in taints if NODE_CONDITION in each]:
            names = (each.removeprefix(NODE_CONDITION).partition(":")[0] for each in conditions)
            names = ("NotReady" if each == "not-ready" else each for each in names)
            return enumerated(list(dict.fromkeys(names)))
        case PortsInUse(holders=holders):
            return f"{ports_text(list(dict.fromkeys(port for each in holders for port in each.ports)))} in use"
        case UnusableClaims(claims=claims):
            alike = (msgspec.structs.replace(it, name="", volume="a volume" if it.volume else "") for it in claims)
            return reason_text(msgspec.structs.replace(reason, claims=tuple(dict.fromkeys(alike))))
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


def reason_of(cause: causes.AnyCause) -> str:
    """Return the root cause in a few words."""
    match cause:
        case causes.NoNodes():
            return cycle.NO_NODES
        case causes.RefusedWhole():
            return _refusal(cause)
        case causes.VolumeWithoutNode():
            return _without_node(cause, f"volume {cause.volume}")
        case causes.WaitsForTerminatingPods(node=node, pods=pods):
            return f"waits for {named([*map(str, pods)])} on {node}, being deleted"
        case causes.MisspeltKey(topology_key=key, similar=similar, on_no_node=True):
            return f"no node has {key}: did you mean {similar}?"
        case causes.MisspeltKey(similar=similar, nodes=nodes):
            return f"{_would_take(cause, POD)} ({'has' if len(nodes) == 1 else 'have'} {similar})"
        case causes.NoSelector():
            return f"{_lacking(cause)}; no labelSelector"
        case causes.GhostSelector(why=None, constraint=constraint):
            return f"its constraint counts Pods with {constraint.selector}, not the workload's own"
        case causes.GhostSelector(why=why):
            return f"{reason_of(why)}; {GHOST}" if why else GHOST
        case causes.MinDomainsUnmet(constraint=constraint):
            return f"{_too_few_domains(cause)}{limits(constraint)}"
        case causes.MissingKey(constraint=constraint):
            return f"no node has {constraint.topology_key}" if constraint.topology_key else EMPTY_KEY
        case causes.NoEligibleDomain(constraint=constraint) | causes.DomainsFull(constraint=constraint):
            return f"no domain may take one more{limits(constraint)}"
        case causes.DaemonNode(filters=(), node=node, lacks=key) if key:
            return f"{node} lacks the label {key}"
        case causes.DaemonNode(filters=(), node=node):
            return f"rejects {node}, the only node for its Pod"
        case causes.FiltersAlone(restriction=causes.Restriction() as restriction):
            return f"{_left_by(restriction)}: {_kept_off(restriction.pins)}"
        case causes.DaemonNode(filters=filters) | causes.FiltersAlone(filters=filters):
            return _first_reasons(filters)
        case causes.PinnedDomain(domains=domains, pins=pins):
            return f"no Pod can go to {named(domains)}: {_kept_off(pins)}"
        case causes.Conflict(requirements=requirements):
            return f"{enumerated([*map(_described, requirements)])} together"
        case _:
            assert_never(cause)


def clause_of(cause: causes.AnyCause, subject: Subject = POD) -> Clause:
    """Return the root cause as a clause, with what else keeps the Pods from their nodes."""
    clause = _clause_of(cause, subject)
    besides = ""
    if isinstance(cause, causes.DomainsFull | causes.MinDomainsUnmet):
        besides = _besides(cause.constraint, subject)
    if isinstance(cause, OF_NODES) and cause.older:
        besides += _older(cause.older)
    if isinstance(cause, causes.ConstraintCause) and cause.also:
        besides += f" The constraint on {named([*map(_key, cause.also)])} allows no node either."
    return msgspec.structs.replace(clause, text=f"{clause.text}{besides}")


def _clause_of(cause: causes.AnyCause, subject: Subject) -> Clause:
    match cause:
        case causes.NoNodes():
            return Clause("the cluster has no nodes.")
        case causes.RefusedWhole():
            create = f" Create {_some(cause.missing, CLAIM)}: no controller does." if cause.missing else ""
            return Clause(f"{_refusal(cause)}: no node is evaluated.{create}", name=True)
        case causes.VolumeWithoutNode(claim=claim):
            return Clause(f"claim {claim}: {_without_node(cause, f'volume {cause.volume}')}.")
        case causes.WaitsForTerminatingPods():
            return _waits_for_terminating_pods(cause, subject)
        case causes.MisspeltKey():
            return _misspelt_key(cause, subject)
        case causes.NoSelector():
            asks = "requires it, although it has no labelSelector and spreads nothing"
            return Clause(f"{_lacking(cause)}; the constraint {asks}.", name=True)
        case causes.GhostSelector(constraint=constraint, why=why):
            start = f"the constraint on {brief_key(constraint.topology_key)} counts Pods with {constraint.selector}"
            then = f" {_clause_of(why, subject).sentence}" if why else ""
            return Clause(f"{start}, but not {subject.this}.{then}")
        case causes.MinDomainsUnmet():
            return _min_domains_unmet(cause, subject)
        case causes.MissingKey(constraint=constraint, filters=filters):
            besides = f" Also, {_rejected_by(filters)}." if filters else ""
            if not constraint.topology_key:
                return Clause(f"{EMPTY_KEY}, so no node has that label.{besides}")
            return Clause(f"no node has the label {constraint.topology_key} that the constraint requires.{besides}")
        case causes.NoEligibleDomain(constraint=constraint, nodes=number):
            none = "not the only node" if number == 1 else f"none of the {number} nodes"
            counts = f"the constraint on {_key(constraint.topology_key)} counts {none}"
            return Clause(f"{counts}, and maxSkew {constraint.max_skew} allows no Pod.")
        case causes.DomainsFull(constraint=constraint):
            every = f"every {_noun(constraint, 1)} where {subject.this} could go would exceed"
            where = f"The fewest Pods ({constraint.global_minimum}) are in {named(cause.minimum_domains)}"
            exceed = f"{every} maxSkew {constraint.max_skew}. {where}"
            return Clause(f"{exceed}, where no node can take {subject.this}.")
        case causes.DaemonNode():
            return _daemon_node(cause, subject)
        case causes.FiltersAlone():
            return _filters_alone(cause)
        case causes.PinnedDomain():
            return _pinned_domain(cause, subject)
        case causes.Conflict():
            return Clause(_conflict(cause))
        case _:
            assert_never(cause)


def _key(topology_key: str) -> str:
    """Return a well-known topology key by its short name, any other as it is."""
    return SHORT_KEYS.get(topology_key, topology_key)


def _refusal(cause: causes.RefusedWhole) -> str:
    refusal, about = ", ".join(cause.reasons), reason_text(cause.reason)
    if about.startswith(refusal):
        return about
    # What quotes a name has named the claim already.
    return f"{refusal} ({about})" if about and '"' not in refusal else refusal


def _without_node(cause: causes.VolumeWithoutNode, volume: str) -> str:
    none = "no node has that value"
    if len(cause.values) > 1:
        none = "no node is there"
    elif cause.topology_key == HOSTNAME:
        none = "no node has that name"
    elif cause.topology_key in SHORT_KEYS:
        none = f"no node is in that {brief_key(cause.topology_key)}"
    return f"{volume} is {_place(cause.topology_key, cause.values)}, and {none}"


def _place(topology_key: str, values: Sequence[str]) -> str:
    """Return where the nodes are of which the label has one of the values."""
    if topology_key in SHORT_KEYS:
        on = "on" if topology_key == HOSTNAME else "in"
        return f"{on} {noun_for(topology_key, len(values))} {named(values)}"
    return f"where {topology_key} is {named(values)}"


def _waits_for_terminating_pods(cause: causes.WaitsForTerminatingPods, subject: Subject) -> Clause:
    one, finalizers = len(cause.pods) == 1, cause.finalizers
    kept = f", kept by {_some(finalizers, 'finalizer')}," if finalizers else ""
    deleted = f"{named([*map(str, cause.pods)])} on {cause.node} {'is' if one else 'are'} being deleted{kept}"
    until = f"{cause.node} rejects {subject.this} until {'it is' if one else 'they are'} gone"
    return Clause(f"{deleted} and still in the way: {until}.", name=True)


def _some(names: Sequence[str], noun: str) -> str:
    """Return ``taint a`` or ``taints a and b``."""
    return f"{noun}{'s' * (len(names) > 1)} {named(names)}"


def _misspelt_key(cause: causes.MisspeltKey, subject: Subject) -> Clause:
    has = f"{'has' if len(cause.nodes) == 1 else 'have'} {cause.similar}"
    if cause.on_no_node:
        nowhere = f"no node has the label {cause.topology_key} that the constraint requires"
        return Clause(f"{nowhere}; {named(cause.nodes)} {has}.")
    others = "" if cause.others else " No other node can take it."
    return Clause(f"{_would_take(cause, subject)} ({has} instead).{others}", name=True)


def _would_take(cause: causes.MisspeltKey, subject: Subject) -> str:
    lack = f"{'lacks' if len(cause.nodes) == 1 else 'lack'} the label {cause.topology_key}"
    return f"{named(cause.nodes)} would take {subject.this} but {lack}"


def _lacking(cause: causes.NoSelector) -> str:
    return f"{named(cause.nodes)} {'lacks' if len(cause.nodes) == 1 else 'lack'} {cause.topology_key}"


def _too_few_domains(cause: causes.MinDomainsUnmet) -> str:
    number = len(cause.eligible)
    counts = f"only {number} {'counts' if number == 1 else 'count'}"
    return f"minDomains requires {cause.constraint.min_domains} domains, but {counts}"


def _min_domains_unmet(cause: causes.MinDomainsUnmet, subject: Subject) -> Clause:
    constraint, number = cause.constraint, len(cause.eligible)
    there = f"{number} {_noun(constraint, number)}"
    if number == constraint.domains:
        there = f"there {'is' if number == 1 else 'are'} {there}"
    else:
        there = f"only {there} {'counts' if number == 1 else 'count'} for {subject.this}"
    asks = f"but minDomains requires {constraint.min_domains}"
    most = f"until there are more {_noun(constraint, 2)}, each may hold only"
    held = f"{most} {count_of(constraint.max_skew, 'matching Pod')}"
    return Clause(f"{there} ({named(cause.eligible)}), {asks}: {held}.{_left_out(cause)}")


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
        why = f"{_some(left.taints, 'taint')}, nodeTaintsPolicy Honor"
    return f" The {noun} {named(left.domains)} {do} not count: {why}."


def _noun(constraint: causes.BlamedConstraint, number: int) -> str:
    """Return what so many domains of the constraint (count) are called: ``zones``, or ``domains of a/b-c``."""
    noun = noun_for(constraint.topology_key, number)
    return noun if noun.isalpha() else f"{'domain' if number == 1 else 'domains'} of {constraint.topology_key}"


def _daemon_node(cause: causes.DaemonNode, subject: Subject) -> Clause:
    where = f"{cause.node}, the only node for {subject.one}"
    if not cause.filters:
        if cause.lacks:
            return Clause(f"{where}, lacks the label {cause.lacks}.", name=True)
        return Clause(f"the constraint on {_key(cause.constraints[0])} rejects {where}.")
    besides = "".join(f" The constraint on {_key(key)} rejects it too." for key in cause.constraints)
    return Clause(f"{_rejected_by(cause.filters, f'{where},')}.{besides}", name=True, filters=not besides)


def _filters_alone(cause: causes.FiltersAlone) -> Clause:
    besides = "".join(
        f" The constraint on {_key(each.topology_key)} rejects {named(each.nodes)} too." for each in cause.constraints
    )
    restriction = cause.restriction
    if restriction is None:
        first = cause.filters[0]
        names = not first.everywhere and not isinstance(first.reasons[0].reason, PortsInUse)
        return Clause(f"{_rejected_by(cause.filters)}.{besides}", name=names, filters=not besides)
    where = _by_volume(restriction) if restriction.claims else _by_affinity(restriction)
    name = not restriction.claims and len(restriction.nodes) == 1 > restriction.others
    text = f"{where}: {_kept_off(restriction.pins)}.{besides}"
    return Clause(text, name=name, filters=not besides)


def _by_volume(restriction: causes.Restriction) -> str:
    """Return in which place the Pod's volumes are and that no node there is available."""
    nodes, place = restriction.nodes, _place(restriction.topology_key, restriction.values)
    names = named([each.name for each in restriction.claims])
    bound = f"claims {names} are bound to volumes" if restriction.claims[1:] else f"claim {names} is bound to a volume"
    if len(nodes) > 1:
        none = f"none of the {len(nodes)} nodes there is available"
    elif restriction.topology_key == HOSTNAME:
        none = "that node is not available"
    else:
        none = f"the only node there, {nodes[0]}, is not available"
    return f"{bound} {place}, and {none}"


def _by_affinity(restriction: causes.Restriction) -> str:
    """Return which nodes the Pod's affinity leaves and that none of them is available."""
    nodes, labels = restriction.nodes, restriction.labels
    one = len(nodes) == 1
    which = f"{'only ' * (len(nodes) <= restriction.others)}{nodes[0] if one else f'{len(nodes)} nodes'}"
    what = f"{'matches' if one else 'match'} {_required(restriction)}"
    if not restriction.terms:
        what = f"{'has' if one else 'have'} the label{'s' * (len(labels) > 1)} {enumerated(labels)}"
    terms = f" ({affinity_text(restriction.terms)})" if restriction.terms and not labels else ""
    none = "it is not available" if one else "none of them is available"
    return f"{which} {what} that the Pod requires{terms}, and {none}"


def _required(restriction: causes.Restriction) -> str:
    return " and ".join((*["nodeSelector"] * bool(restriction.labels), "the node affinity"))


def _left_by(restriction: causes.Restriction) -> str:
    """Return in a few words that no node that the restriction leaves is available."""
    if restriction.claims:
        place = _place(restriction.topology_key, restriction.values)
        return f"{_some([each.name for each in restriction.claims], 'claim')}: no node {place} is available"
    which = f"that matches {_required(restriction)}" if restriction.terms else f"with {enumerated(restriction.labels)}"
    return f"no node {which} is available"


def _kept_off(pins: Sequence[causes.PinnedNodes]) -> str:
    """Return what keeps the Pod off nodes, by name; of more reasons, the first without amounts and how many nodes."""
    whys = _by_reason(pins, reason_text)
    if len(whys) > ALL_REASONS:
        whys = _by_reason(pins, _without_amounts)
        shown = (why + f" ({count_of(len(nodes), 'node')})" * bool(whys[1:]) for nodes, why in whys[:ALL_REASONS])
        return "; ".join(shown) + _for_other_reasons([nodes for nodes, _ in whys], ALL_REASONS)
    return "; ".join(f"{named(nodes)} ({why})" for nodes, why in whys) if whys[1:] else whys[0][1]


def _by_reason(
    pins: Sequence[causes.PinnedNodes], text: Callable[[AnyReason], str]
) -> Sequence[tuple[Sequence[str], str]]:
    """Return reasons, each with all nodes that have it, until each node has one; only those that all have, if any.

    The most nodes come first, those of a control plane last.
    """
    of_pins = [{text(part): part for reason in pin.reasons for part in _parts(reason)} for pin in pins]
    whys = list(dict.fromkeys(map(tuple, of_pins)))
    if everywhere := tuple(part for part in of_pins[0] if all(part in parts for parts in of_pins)):
        whys = [everywhere]
    having = [
        (
            sorted(
                name for pin, parts in zip(pins, of_pins, strict=True) if parts.keys() >= set(why) for name in pin.nodes
            ),
            why,
        )
        for why in whys
    ]
    having.sort(key=lambda it: (any(NODE_ROLE in part for part in it[1]), -len(it[0])))
    reasons = {name: part for parts in of_pins for name, part in parts.items()}
    covered, first = set[str](), list[tuple[Sequence[str], str]]()
    for nodes, why in having:
        if not covered.issuperset(nodes):
            first.append((nodes, " and ".join(dict.fromkeys(map(text, _joined([reasons[part] for part in why]))))))
            covered.update(nodes)
    return first


def _parts(reason: AnyReason) -> Iterable[AnyReason]:
    """Return each taint as a reason of its own."""
    if not isinstance(reason, UntoleratedTaints):
        return [reason]
    return [UntoleratedTaints(taints=(taint,)) for taint in reason.taints]


def _joined(parts: Sequence[AnyReason]) -> Iterator[AnyReason]:
    """Yield the reasons, the taints as one."""
    taints = tuple(taint for part in parts if isinstance(part, UntoleratedTaints) for taint in part.taints)
    for part in parts:
        if not isinstance(part, UntoleratedTaints):
            yield part
        elif part.taints == taints[:1]:
            yield UntoleratedTaints(taints=taints)


def _rejected_by(filters: Sequence[causes.RejectingFilter], where: str = "") -> str:
    """Return which nodes the filters reject and why; ``where``: the only node that matters, in place of its name."""
    all_of_them = all(each.everywhere for each in filters)
    again = "they" if all_of_them and len(filters[0].reasons[0].nodes) > 1 else "it"
    subjects = chain((where,), repeat(again if where or all_of_them else ""))
    shown = zip(filters[:ALL_REASONS], subjects, strict=False)
    more = _and_more(sum(len(each.reasons) for each in filters[ALL_REASONS:]))
    return "; ".join(_rejected(each, subject) for each, subject in shown) + more


def _rejected(rejecting: causes.RejectingFilter, where: str) -> str:
    """Return which nodes a filter rejects and why."""
    shared = rejecting.reasons
    subjects = [where or ("" if rejecting.everywhere else named(each.nodes)) for each in shared[:MOST_REASONS]]
    return "; ".join(
        rejected_text(each.reason, subject, len(each.nodes)) or f"{rejecting.plugin} rejects {named(each.nodes)}"
        for each, subject in zip(shared, subjects, strict=False)
    ) + _for_other_reasons([each.nodes for each in shared], MOST_REASONS, likewise=_only_pods_differ(shared))


def _first_reasons(filters: Sequence[causes.RejectingFilter]) -> str:
    """Return the first reasons of the filters, and how many more there are."""
    whys = [reason_text(each.reason) or it.plugin for it in filters for each in it.reasons]
    return "; ".join(whys[:ALL_REASONS]) + _and_more(len(whys) - ALL_REASONS)


def _and_more(number: int) -> str:
    """Return how many reasons there are besides; empty where there is none."""
    return f" and {count_of(number, 'more reason')}" if number > 0 else ""


def _only_pods_differ(shared: Sequence[SharedReason]) -> bool:
    """Whether each reason that is not shown is one of those that are, because of another Pod."""
    reasons = [each.reason for each in shared]
    near = [(type(it), it.topology_key) if isinstance(it, AvoidedPod | RejectedByPod) else it for it in reasons]
    return all(each in near[:MOST_REASONS] for each in near[MOST_REASONS:])


def _for_other_reasons(nodes: Sequence[Sequence[str]], shown: int, *, likewise: bool = False) -> str:
    """Return how many nodes have none of the first reasons, so many of which are shown; empty where there are none.

    ``nodes``: those that have each reason. ``likewise``: whether only Pods differ that the reasons name.
    """
    number = len(set(chain(*nodes[shown:])) - set(chain(*nodes[:shown])))
    reasons = "another reason" if number == 1 else "other reasons"
    why = "likewise" if likewise else f"for {reasons}"
    return f"; {count_of(number, 'more node')} {why}" if number else ""


def _pinned_domain(cause: causes.PinnedDomain, subject: Subject) -> Clause:
    constraint, domains = cause.constraint, cause.domains
    several = len(domains) > 1
    place = f"{noun_for(constraint.topology_key, len(domains))} {named(domains)}"
    if several and constraint.topology_key == HOSTNAME:  # What keeps the Pod off names the nodes again.
        place = f"{len(domains)} {_noun(constraint, len(domains))}"
    fewest = f"{'have' if several else 'has'} the fewest Pods ({constraint.global_minimum})"
    if constraint.skew_if_placed is None:
        held = f"the constraint on {brief_key(constraint.topology_key)} allows {place}"
    elif cause.only_place:
        held = f"{subject.who} may only go to {place}, which {fewest}"
    else:
        held = f"{place} {fewest}"
    why = f"{held}, but {_none_available(cause)}: {_kept_off(cause.pins)}."
    besides = f"{_counting(cause, subject)}{_besides(constraint, subject)}"
    return Clause(f"{why}{besides or _elsewhere(cause)}")


def _counting(cause: causes.PinnedDomain, subject: Subject) -> str:
    """Return the sentence that says because of which policies the nodes count; empty where none matters."""
    # A node that recovers by itself is waited for, whatever counts it.
    if cause.ignoring not in IGNORE or all(map(_suffers, cause.pins)):
        return ""
    counts = "This node counts" if cause.nodes == 1 else "These nodes count"
    return f" {counts}{f' for {subject.revision}' * bool(subject.revision)} because {IGNORE[cause.ignoring]}."


def _besides(constraint: causes.BlamedConstraint, subject: Subject) -> str:
    """Return the sentences about Pods that keep domains closed, and about nodes that lack the topology key."""
    counted = [
        f"the Pod {each.owner.name}"
        if each.owner.kind == kinds.POD.name
        else f"{count_of(each.number, 'Pod')} of {'other revisions' if each.own else each.owner}"
        for each in constraint.others
    ]
    nodes, key = constraint.unlabelled, constraint.topology_key
    lacking = f"{first_and_more(nodes)}, which {'lack' if nodes[1:] else 'lacks'} the label {key}" if nodes else ""
    too = f" The constraint on {brief_key(key)} also counts {named(counted)}." if counted else ""
    return f"{too} {subject.then} may not go to {lacking}." if nodes else too


def _older(older: causes.OlderPods) -> str:
    """Return the sentence about the Pods of older revisions that hold the room, and the strategy that keeps them."""
    names, one = named([pod.name for pod in older.pods]), len(older.pods) == 1
    portion = f" ({older.unavailable} of {older.replicas})" * older.max_unavailable.endswith("%")
    hold, them = ("holds", "it") if one else ("hold", "them")
    keeps = f"maxUnavailable {older.max_unavailable}{portion} keeps {them} until a new Pod is available"
    return f" {names} of an older revision of {older.owner} {hold} the room: {keeps}."


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
    """Return the sentence that says which other domains the constraint closes; empty where there are none.

    It is empty, too, where their Pods differ in number: the table of domains has the numbers.
    """
    if len(cause.full) != 1:
        return ""
    constraint, (full,) = cause.constraint, cause.full
    pods = f"({count_of(full.matching, 'Pod')}{' each' * bool(full.domains[1:])})"
    exceeds = "One more Pod would exceed maxSkew {}" if cause.counted else "maxSkew {} is exceeded already"
    at = "on" if constraint.topology_key == HOSTNAME else "in"
    where = f"{noun_for(constraint.topology_key, len(full.domains))} {named(full.domains)}"
    return f" {exceeds.format(constraint.max_skew)} {at} {where} {pods}."


def limits(constraint: causes.BlamedConstraint, lead: str = ": ") -> str:
    """Return the least skew that the Pod would make where it may not go, and what is allowed."""
    if constraint.skew_if_placed is not None:
        return f"{lead}skew would be {constraint.skew_if_placed}, maxSkew {constraint.max_skew}"
    return "" if constraint.domains else f" (no node has {constraint.topology_key})"


def _conflict(cause: causes.Conflict) -> str:
    short = [_described(each) for each in cause.requirements]
    parts = []
    for each, name in zip(cause.requirements, short, strict=True):
        one = len(each.leaves) <= 1
        what = f"{'meets' if one else 'meet'} the constraint on {_key(name)}"
        if each.topology_key is None:
            what = PASSES.get(name, (f"passes {name}", f"pass {name}"))[not one]
        parts.append(f"{f'only {named(each.leaves)}' if each.leaves else 'no node'} {what}")
    every = f"all {len(short)} requirements" if short[2:] else "both requirements"
    return f"no node meets {every}: {'; '.join(parts)}."


def _described(conflicting: causes.ConflictingRequirement) -> str:
    """Return the requirement by its topology key, or by its plugin's name."""
    requirement = conflicting.requirement
    return requirement.plugin if isinstance(requirement, FilterRequirement) else conflicting.topology_key or ""

"""Why a requirement rejects a node, in words that name the taint, the label, the number, the other Pod."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import assert_never

from kubectl_spread.diagnosis import reasons
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, Requirement
from kubectl_spread.objects.core import NodeSelectorTerm
from kubectl_spread.objects.meta import grouped
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.wording.words import SHORT_KEYS, count_of, enumerated, seen

MOST_OWNERS = 2  # Workloads (count) whose Pods are counted apart


def name_of(requirement: Requirement) -> str:
    """Return the requirement as text: ``TaintToleration``, ``constraint 1``."""
    return f"constraint {requirement.index}" if isinstance(requirement, ConstraintRequirement) else requirement.plugin


def noun_for(topology_key: str, number: int) -> str:
    """Return what a domain of the key is before so many of its names (count): ``zones``, ``rack``, ``node``."""
    if topology_key == HOSTNAME:
        return "nodes" if number > 1 else "node"
    brief = brief_key(topology_key)
    # Another key than the well-known one may end in the same word.
    noun = topology_key if brief in SHORT_KEYS.values() and topology_key not in SHORT_KEYS else brief
    return f"{noun}s" if number > 1 and noun.isalpha() else noun


def alike_text(counts: Mapping[str, int], topology_key: str, *, most: int, other: bool = False) -> str:
    """Return how many domains of a key have which number of Pods: ``10 nodes: 0, 2 nodes: 1``.

    Args:
        counts: number of Pods, or range such as ``0..2`` → its domains (count).
        topology_key: the key.
        most: numbers (count) above which only the lowest and the highest are named.
        other: whether these are other domains than some that were named.
    """
    ends = {text: [int(end) for end in text.split("..")] for text in counts}
    if len(counts) > most:
        numbers = [number for each in ends.values() for number in each]
        counts = {f"{min(numbers)}..{max(numbers)}": sum(counts.values())}
    said = sorted(counts.items(), key=lambda item: ends.get(item[0], []))
    plain = noun_for(topology_key, 1).isalpha()
    nouns = ((n, noun_for(topology_key, n) if plain else "domains" if n > 1 else "domain", pods) for pods, n in said)
    return ", ".join(f"{n} {'other ' * other}{noun}: {pods}" for n, noun, pods in nouns)


def brief_key(topology_key: str) -> str:
    """Return the topology key without its prefix."""
    return topology_key.rpartition("/")[2] or topology_key


def reason_text(reason: reasons.AnyReason | None) -> str:
    """Return the reason in a few words; empty for none."""
    match reason:
        case None:
            return ""
        case reasons.UntoleratedTaints(taints=taints):
            return f"taint {', '.join(_grouped(taints))}"
        case reasons.InsufficientResources():
            return "; ".join(_short(reason))
        case reasons.Cordoned():
            return "cordoned"
        case reasons.RejectedByPlugin(plugin=plugin):
            return plugin
        case reasons.RejectedByConstraint(topology_key=key):
            return f"the constraint on {brief_key(key)}"
        case reasons.KeptForNominated(pods=pods):
            return f"room is kept for {', '.join(map(str, pods))}"
        case reasons.OtherNodeNamed(node=node):
            return f"spec.nodeName is {node}"
        case reasons.MissingDevices(reasons=said, missing_templates=missing):
            why = f", because there is no ResourceClaimTemplate {enumerated(missing)}" if missing else ""
            return ", ".join(said) + why
        case reasons.MissingLabel(key=key, value=value, has=str(has)):
            return f"label {key}={seen(has)}, not {seen(value)}"
        case reasons.MissingLabel(key=key, value=value):
            return f"no label {key}={seen(value)}"
        case reasons.UnmetNodeAffinity(terms=terms):
            return f"node affinity requires {affinity_text(terms)}"
        case reasons.UnmetAddedAffinity():
            return "the scheduler's configuration adds a node affinity"
        case reasons.PortsInUse(holders=holders):
            return "; ".join(_ports_in_use(holders))
        case reasons.RejectedByPod(pod=pod, topology_key=key):
            return f"anti-affinity of {pod} {_place(key)}"
        case reasons.AvoidedPod(pod=pod, topology_key=key):
            return f"anti-affinity to {pod} {_place(key)}"
        case reasons.MissingTopologyLabel(topology_key=key):
            return f"no label {key}"
        case reasons.NoPodToBeNear(selector=selector, topology_key=key):
            return f"no Pod with {selector} is {_place(key)}"
        case reasons.UnusableClaims(claims=claims):
            return "; ".join(map(_claim, claims))
        case reasons.ClaimsInUse(holders=users):
            return "; ".join(map(_in_use, users))
        case reasons.VolumeLimitReached(driver=driver):
            more = f", {reason.requested} more requested" * (reason.requested > 1)
            return f"{reason.attached} of {count_of(reason.limit, 'volume')} of {driver} attached{more}"
        case _:
            assert_never(reason)


def rejected_text(reason: reasons.AnyReason | None, nodes: str, number: int) -> str:
    """Return that so many nodes (count) reject a Pod for the reason; empty for none.

    ``nodes``: what they are called, as a subject with its comma; empty for all of the cluster.
    """
    one, every = number == 1, not nodes
    nodes = nodes or {1: "the only node", 2: "both nodes"}.get(number, f"all {number} nodes")
    has, lack, do = ("has", "lacks", "does") if one else ("have", "lack", "do")
    match reason:
        case None:
            return ""
        case reasons.UntoleratedTaints(taints=taints):
            grouped = _grouped(taints)
            return f"{nodes} {has} the untolerated taint{'s' * (len(grouped) > 1)} {enumerated(grouped)}"
        case reasons.InsufficientResources(full=full, resources=resources):
            short = [f"{it.name} ({it.asked} requested, {free_text(it)})" for it in resources]
            limit = f"{has} reached {'its' if one else 'their'} Pod limit"
            return f"{nodes} {' and '.join([limit] * full + [f'{has} too little {enumerated(short)}'] * bool(short))}"
        case reasons.Cordoned():
            return f"{nodes} {'is' if one else 'are'} cordoned"
        case reasons.VolumeLimitReached():
            more = f", {reason.requested} more requested" * (reason.requested > 1)
            attached = f" ({reason.attached} of {reason.limit} attached{more})"
            return f"{nodes} would exceed {'its' if one else 'their'} volume limit{attached}"
        case reasons.MissingLabel(key=key, value=value):
            return f"{nodes} {lack} the label {key}={seen(value)}, which nodeSelector requires"
        case reasons.UnmetNodeAffinity(terms=terms):
            return f"{nodes} {do} not match the node affinity ({affinity_text(terms)})"
        case reasons.MissingTopologyLabel(topology_key=key):
            return f"{nodes} {lack} the label {key}, which Pod affinity requires"
        case reasons.PortsInUse(holders=holders):
            return "; ".join(each.rstrip(",") for each in _ports_in_use(holders, f" on {nodes}"))
        case reasons.RejectedByPod() | reasons.AvoidedPod():
            return f"{nodes} {'is' if one else 'are'} ruled out by {reason_text(reason)}"
        case _:
            return reason_text(reason) if every else f"{nodes.rstrip(',')}: {reason_text(reason)}"


def _place(topology_key: str) -> str:
    """Return where a Pod is that shares the value of the key with the node."""
    if topology_key == HOSTNAME:
        return "on the same node"
    return f"in the same {SHORT_KEYS.get(topology_key, topology_key)}"


@lru_cache(256)  # Thousands of nodes have the same few taints.
def _grouped(taints: tuple[str, ...]) -> Sequence[str]:
    """Return the taints, those of one key and value as one with all their effects."""
    effects: dict[str, list[str]] = {}
    for taint in taints:
        key, _, effect = taint.rpartition(":")
        effects.setdefault(key, []).append(effect)
    return [f"{key}:{','.join(each)}" for key, each in effects.items()]


def _short(reason: reasons.InsufficientResources) -> Iterable[str]:
    if reason.full:
        of_one_node = reason.pods is not None
        yield f"Pod limit reached{f' ({reason.pods} of {reason.allocatable_pods})' if of_one_node else ''}"
    for short in reason.resources:
        yield f"{short.asked} {short.name} requested, {free_text(short)}"


def free_text(short: reasons.ShortResource) -> str:
    """Return how much of a resource is free: ``2 of 8 free``, of several nodes ``at most 2 free``, ``none there``.

    If even an empty node has too little, return that.
    """
    if short.allocatable == "0":
        return "none there"
    if short.most:
        return f"too large even for an empty node with {short.most}"
    of = f" of {short.allocatable}" if short.allocatable else ""
    return f"{'at most ' if short.at_most else ''}{short.free}{of} free"


def ports_text(ports: Sequence[str]) -> str:
    """Return ``host port 80/TCP``, or several."""
    return f"host port{'s' if len(ports) > 1 else ''} {enumerated(ports)}"


def affinity_text(terms: Sequence[NodeSelectorTerm]) -> str:
    """Return the alternatives of a node affinity."""
    return " or ".join(map(_term, terms)) or "no node at all"


def _term(term: NodeSelectorTerm) -> str:
    """Return one alternative of a node affinity, its expressions as they are written in the Pod."""
    conditions = (
        " ".join(filter(None, (each.key, each.operator, ",".join(map(seen, each.values)))))
        for each in (*term.match_expressions, *term.match_fields)
    )
    return " and ".join(conditions) or "nothing (an empty term matches no node)"


def _ports_in_use(holders: Sequence[reasons.PortHolder], where: str = "") -> Iterable[str]:
    """Yield by whom host ports are in use, for each set of ports."""
    for ports, each in grouped(holders, lambda holder: holder.ports).items():
        one = f"{each[0].pod} uses {ports_text(ports)}{where}"
        verb = (" are" if ports[1:] else " is") * bool(where)
        yield f"{ports_text(ports)}{verb} in use{where} by {_counted(each)}" if each[1:] else one


def _counted(holders: Sequence[reasons.PortHolder]) -> str:
    """Return how many Pods of one or two workloads these are; of more, the first and how many more."""
    by_owner = grouped(holders, lambda each: (each.pod.namespace, each.owner))
    if len(by_owner) > MOST_OWNERS:
        return f"{holders[0].pod} and {count_of(len(holders) - 1, 'more Pod')}"
    return enumerated(
        [
            f"{count_of(len(pods), 'Pod')} of {namespace}/{owner}" if pods[1:] else str(pods[0].pod)
            for (namespace, owner), pods in by_owner.items()
        ]
    )


def _in_use(by: reasons.ClaimHolder) -> str:
    """Return who uses a claim that only one Pod may use, and what keeps that Pod from leaving."""
    states = ["that Pod is being deleted"] * by.deleted + ["its node does not answer"] * by.node_silent
    used = f"claim {by.claim} is ReadWriteOncePod and {by.pod} on {by.node} uses it"
    return "; ".join(filter(None, (used, ", and ".join(states))))


def _claim(claim: reasons.ClaimState) -> str:
    named = f"claim {claim.name}" if claim.name else "its claim"
    if claim.volume:
        places = " or ".join(", ".join(map(seen, values)) for values in claim.usable_in)
        if claim.awaits == "MissingVolume":
            return f"{named} names {claim.volume} as its volume, and there is none"
        where = f" in {places}" if claim.usable_in else ""
        if claim.awaits == "Binding":
            return f"{named} names {claim.volume}{where} as its volume, and is not bound to it yet"
        return f"{named} is bound to {claim.volume}{where}"
    unbound = f"{named} is not bound{f': {claim.message}' if claim.message else ''}"
    unmet = claim.unmet
    if unmet is None:
        return unbound
    if unmet.reason == "MadeElsewhere":
        gone = "" if unmet.node_exists else ", which does not exist"
        return f"{unbound}: its volume is being created for node {unmet.node}{gone}"
    if unmet.reason == "TooLittleStorage":
        return f"{unbound}: StorageClass {unmet.storage_class} has too little storage left there"
    makes = f"{unmet.storage_class} {'is not allowed to create one there' if unmet.makes_elsewhere else 'creates none'}"
    return f"{unbound}: no free PersistentVolume matches, and StorageClass {makes}"

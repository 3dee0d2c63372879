"""Why a requirement rejects a node, in words that name the taint, the label, the number, the other Pod."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import assert_never

from kubectl_spread.diagnosis import reasons
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, Requirement
from kubectl_spread.objects.core import NodeSelectorTerm
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.wording.words import SHORT_KEYS, enumerated, seen

PLACES = frozenset(("zone", "region"))
"""Short names of keys that have a plural in a sentence."""


def name_of(requirement: Requirement) -> str:
    """Return the requirement as text: ``TaintToleration``, ``constraint 1``."""
    return f"constraint {requirement.index}" if isinstance(requirement, ConstraintRequirement) else requirement.plugin


def noun_for(topology_key: str, number: int) -> str:
    """Return the short topology key before so many of its values (count): ``zones``, where it has a plural."""
    brief = brief_key(topology_key)
    return f"{brief}s" if number > 1 and brief in PLACES else brief


def brief_key(topology_key: str) -> str:
    """Return the topology key without its prefix."""
    return topology_key.rpartition("/")[2] or topology_key


def reason_text(reason: reasons.AnyReason | None) -> str:
    """Return the reason in a few words; empty for none."""
    match reason:
        case None:
            return ""
        case reasons.UntoleratedTaints(taints=taints):
            return f"taint {_taints(taints)}"
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
        case reasons.MissingLabel(key=key, value=value, has=None):
            return f"wants {key}={seen(value)}, has no {key}"
        case reasons.MissingLabel(key=key, value=value, has=str(has)):
            return f"wants {key}={seen(value)}, has {key}={seen(has)}"
        case reasons.MissingLabel(key=key, value=value):
            return f"wants {key}={seen(value)}"
        case reasons.UnmetNodeAffinity(terms=terms):
            return f"wants {' or '.join(map(_term, terms)) or 'no node at all'}"
        case reasons.UnmetAddedAffinity():
            return "the scheduler's configuration adds a node affinity"
        case reasons.PortsInUse(holders=holders):
            return "; ".join(f"{each.pod} uses host port {', '.join(each.ports)}" for each in holders)
        case reasons.RejectedByPod(pod=pod, topology_key=key):
            return f"anti-affinity of {pod} {_place(key)}"
        case reasons.AvoidedPod(pod=pod, topology_key=key):
            return f"anti-affinity to {pod} {_place(key)}"
        case reasons.MissingTopologyLabel(topology_key=key):
            return f"lacks {key}"
        case reasons.NoPodToBeNear(selector=selector, topology_key=key):
            return f"no Pod with {selector} is {_place(key)}"
        case reasons.UnusableClaims(claims=claims):
            return "; ".join(map(_claim, claims))
        case reasons.ClaimsInUse(holders=users):
            claimed = "claim {0.claim} is ReadWriteOncePod and {0.pod} on {0.node} uses it"
            return "; ".join(map(claimed.format, users))
        case _:
            assert_never(reason)


def _place(topology_key: str) -> str:
    """Return where a Pod is that shares the value of the key with the node."""
    if topology_key == HOSTNAME:
        return "on the same node"
    return f"in the same {SHORT_KEYS.get(topology_key, topology_key)}"


@lru_cache(256)  # Thousands of nodes have the same few taints.
def _taints(taints: tuple[str, ...]) -> str:
    """Return the taints, those of one key and value as one with all their effects."""
    effects: dict[str, list[str]] = {}
    for taint in taints:
        key, _, effect = taint.rpartition(":")
        effects.setdefault(key, []).append(effect)
    return ", ".join(f"{key}:{','.join(each)}" for key, each in effects.items())


def _short(reason: reasons.InsufficientResources) -> Iterable[str]:
    if reason.full:
        of_one_node = reason.pods is not None
        yield f"{reason.pods} of {reason.allocatable_pods} Pods" if of_one_node else "no room for another Pod"
    for short in reason.resources:
        of = f" of {short.allocatable}" if short.allocatable else ""
        yield f"{short.name}: asks {short.asked}, {'at most ' if short.at_most else ''}{short.free} free{of}"


def _term(term: NodeSelectorTerm) -> str:
    """Return one alternative of a node affinity, its expressions as they are written in the Pod."""
    conditions = (
        " ".join(filter(None, (each.key, each.operator, ",".join(map(seen, each.values)))))
        for each in (*term.match_expressions, *term.match_fields)
    )
    return " and ".join(conditions) or "nothing (an empty term matches no node)"


def _claim(claim: reasons.ClaimState) -> str:
    if claim.volume:
        places = " or ".join(", ".join(map(seen, values)) for values in claim.usable_in)
        return f"claim {claim.name} is bound to {claim.volume}{f' in {places}' if claim.usable_in else ''}"
    unbound = f"claim {claim.name} is not bound{f': {claim.message}' if claim.message else ''}"
    unmet = claim.unmet
    if unmet is None:
        return unbound
    if unmet.reason == "MadeElsewhere":
        gone = "" if unmet.node_exists else ", which does not exist"
        return f"{unbound}: its volume is being created for node {unmet.node}{gone}"
    if unmet.reason == "TooLittleStorage":
        return f"{unbound}: StorageClass {unmet.storage_class} has too little storage left there"
    makes = f"{unmet.storage_class} creates none{' there' if unmet.makes_elsewhere else ''}"
    return f"{unbound}: no free PersistentVolume matches, and StorageClass {makes}"

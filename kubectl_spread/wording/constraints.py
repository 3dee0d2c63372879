"""The texts about a constraint's domains, their minimum, and the nodes that it does not count."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from kubectl_spread.diagnosis.domains import BypassedNode, Pin
from kubectl_spread.diagnosis.reasons import (
    AnyReason,
    InsufficientResources,
    KeptForNominated,
    MissingDevices,
    MissingLabel,
    UntoleratedTaints,
)
from kubectl_spread.wording.reasons import name_of, reason_text
from kubectl_spread.wording.words import count_of, enumerated, listed, with_short_taints

REASONS = {
    "MissingTopologyKey": "without the label {key}",
    "NodeAffinityPolicy": "outside the Pod's node affinity",
    "NodeTaintsPolicy": "with an untolerated taint",
}
UNMATCHED = "does not match the Pod itself"
DEFAULT = "cluster default"
NOT_COUNTED = "not counted"
AS_FOR = "Not counted: the same nodes as for constraint {}."
OPEN = "yes"
SHUT = "no: {} rejects this node"
# How the next Pod gets to a domain although something rejects it there, or does not although nothing does.
NEXT = {
    "Preemption": "yes, by preemption",
    "NodeName": "yes, by spec.nodeName",
    "OtherNodeName": "no: spec.nodeName is another node",
    "Refused": "no: no node is evaluated",
    "NotCreated": "no: the API server refuses the Pod",
}
MOST_REASONS = 3  # Reasons (count) that keep the Pod off a domain, up to which each is told
SHOWN_DOMAINS = 6  # Domains (count) up to which those at the minimum are named


def skew_text(skew_if_placed: int, skew: int) -> str:
    """Return the skew that one more Pod in a domain would make: the same as now if it is not counted."""
    return f"skew {'would be' if skew_if_placed > skew else 'is'} {skew_if_placed}"


def closed(skew_if_placed: int, skew: int) -> str:
    """Return that the constraint allows no more Pod in a domain."""
    return f"no: {skew_text(skew_if_placed, skew)}"


def of_several_nodes(pins: Sequence[Pin]) -> str:
    """Return why nodes reject a Pod, all for the same requirement; without amounts where these differ."""
    reasons = {pin_text(pin): pin.reason for pin in pins}
    if len(reasons) > 1:
        # Of a label that all of them lack, the values that they have instead say nothing.
        lacking = ((pin, pin.reason) for pin in pins)
        pins = [replace(p, reason=replace(it, has=None)) if isinstance(it, MissingLabel) else p for p, it in lacking]
        reasons = {pin_text(pin): pin.reason for pin in pins}
    short = [why.resources for why in reasons.values() if isinstance(why, InsufficientResources) and not why.full]
    if len(reasons) == 1 or len(short) < len(reasons):
        parts = {text: _parts(why) for text, why in reasons.items()}
        texts = [text for text, own in parts.items() if not any(other < own for other in parts.values())]
        return " or ".join(texts if len(texts) <= MOST_REASONS else (*texts[:2], "other reasons"))
    asked = {f"{each.asked} {each.name}": each.name for resources in short for each in resources}
    if len({tuple((each.asked, each.name) for each in resources) for resources in short}) == 1:
        return f"{enumerated([*asked])} requested, too little free"
    return f"too little {' or '.join(asked.values())} free ({enumerated([*asked])} requested)"


def pin_text(pin: Pin) -> str:
    """Return why a node of a domain cannot take the Pod, if only by the name of the requirement."""
    return reason_text(pin.reason) or name_of(pin.requirement)


def _parts(reason: AnyReason | None) -> frozenset[object]:
    """Return what a reason is made of, to compare it with others of the same requirement."""
    match reason:
        case UntoleratedTaints(taints=parts) | MissingDevices(reasons=parts) | KeptForNominated(pods=parts):
            return frozenset(parts)
    return frozenset((reason,))


def pinned(reasons: Iterable[str]) -> str:
    """Return that the constraint allows one more Pod, and what keeps it off the domain's nodes; at least one."""
    first, *others = [*dict.fromkeys(reasons)]
    shown, more = (others, 0) if len(others) < MOST_REASONS else (others[:1], len(others) - 1)
    text = "; ".join((f"no: {first}", *shown, *[count_of(more, "more reason")] * bool(more)))
    return with_short_taints(text)


def too_few_domains(eligible: int, min_domains: int) -> str:
    """Return that the minimum is 0 while there are fewer domains than minDomains."""
    counts = "counts" if eligible == 1 else "count"
    return f"Minimum: 0, because minDomains requires {min_domains} domains and only {eligible} {counts}."


def own_node(min_domains: int) -> str:
    """Return what the minimum is for the Pods of a DaemonSet, each of which counts only its own node."""
    if min_domains > 1:
        return f"{too_few_domains(1, min_domains)} Each Pod counts only its own node."
    return "Minimum: each Pod counts only its own node."


def minimum_text(minimum: int, domains: Sequence[str]) -> str:
    """Return which domains hold the global minimum, or how many, if any is counted."""
    which = listed(domains) if len(domains) <= SHOWN_DOMAINS else count_of(len(domains), "domain")
    return f"Minimum: {minimum} ({which})." if domains else "Minimum: 0 (no domain is counted)."


def allowance(index: int, what: str, allowed: int, domains: int) -> str:
    """Return in how many domains a constraint that is not to blame allows one more Pod."""
    allows = f"allows a Pod in {allowed} of {count_of(domains, 'domain')}" if domains else "counts no domain"
    return f"Constraint {index}: {what}: {allows}."


def bypassed_because(node: BypassedNode) -> str:
    """Return why a node is passed over, with the label that may be meant instead."""
    reason = REASONS[node.reason].format(key=node.key)
    similar = enumerated(node.similar_keys or (), word="or")
    return f"{reason} (did you mean {similar}?)" if similar else reason


def bypassed_lines(nodes: Iterable[BypassedNode], most: int) -> Sequence[str]:
    """Return a line for each reason why nodes are passed over, with so many of their names."""
    return [f"Not counted: {listed(names, most)}, {because}." for because, names in bypassed_groups(nodes).items()]


def bypassed_groups(nodes: Iterable[BypassedNode]) -> Mapping[str, Sequence[str]]:
    """Return reason why nodes are passed over → their names."""
    groups: dict[str, list[str]] = {}
    for node in nodes:
        groups.setdefault(bypassed_because(node), []).append(node.name)
    return groups

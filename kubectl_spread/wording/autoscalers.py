"""The texts about autoscalers: why a node is added or not, and each pool's part in it."""

from collections.abc import Mapping, Sequence
from typing import assert_never

from kubectl_spread.autoscalers import decision as d
from kubectl_spread.autoscalers.karpenter.provisioner import NODES
from kubectl_spread.diagnosis.autoscaler_answer import AutoscalerAnswer
from kubectl_spread.diagnosis.fixes import node_pools
from kubectl_spread.diagnosis.fixes.conclusion import NodeAddition
from kubectl_spread.objects import kinds
from kubectl_spread.objects.well_known_labels import ZONE
from kubectl_spread.scheduler.podtopologyspread import REASON_SKEW
from kubectl_spread.scheduler.resource import readable
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.fixes.waits import STARTING
from kubectl_spread.wording.reasons import brief_key, noun_for
from kubectl_spread.wording.words import count_of, enumerated, listed

NAMES = {"karpenter": "Karpenter", "cluster-autoscaler": "cluster-autoscaler"}
POOLS = {"karpenter": "NodePool", "cluster-autoscaler": "node group"}
MOST_POOLS = 2  # Pools (count) that a sentence names; the table has all
_TYPES = {
    "none": "its instance types do not meet its own requirements",
    "requirements": "no instance type meets the requirements",
    "resources": "no instance type is large enough",
    "offering": "no instance type is offered there",
    "minValues": "the instance types that are left are fewer than its minValues",
    "combination": "no instance type is large enough, meets the requirements and is offered there",
}
_OF_POOL = {
    "not ready": "it is not Ready",
    "deleted": "it is being deleted",
    "fixed size": "it keeps a fixed number of nodes",
    "unhealthy": "too few nodes are ready (Unhealthy)",
    "backoff": "it is backed off after a failure",
    "room": "it is not asked, because there is room on {}",
}
_OF_POD = {
    "daemonset": "it never adds nodes for Pods of DaemonSets",
    "gates": "it waits until the scheduling gates of the Pod are removed",
    "nominated": "it waits, because Pods on {} are evicted for the Pod",
    "selector": "it ignores Pods that select nodes by {}",
    "devices": "it does not support Pods that claim devices",
    "priority": "it adds no nodes for Pods with a priority below -10",
}
_UNREAD = {
    "zones": "the zones of node class {} could not be read",
    "domains": "the values of {} on its nodes are not known without --instance-types",
    "node": "its node template is not known",
    "group": "which nodes belong to node group {} is not known: their names fit another group as well",
    "volumes": "volumes of the Pod are not modelled",
}
_UNREAD_KINDS = {
    kinds.NODE_POOL: "its NodePools could not be read",
    kinds.NODE_CLAIM: "NodeClaims could not be read, so nodes that are being added are not considered",
    kinds.EC2_NODE_CLASS: "EC2NodeClasses could not be read, so the zones of their subnets are not considered",
    kinds.DAEMON_SET: "not all DaemonSets could be read, so what their Pods use of nodes is not considered",
    kinds.CONFIG_MAP: "its node groups could not be read",
    kinds.MACHINE_DEPLOYMENT: "MachineDeployments could not be read",
    kinds.MACHINE_SET: "MachineSets could not be read",
}
# Autoscaler that decides → what the text adds where the cluster has another one.
_BESIDE = {
    "karpenter": "not considered: the node groups in cluster-autoscaler's status",
    "cluster-autoscaler": "not considered: Karpenter, whose NodePools could not be read",
}


def reason_text(reason: d.Reason) -> str:
    """Return in a few words why a pool is refused, or why nothing is known of it."""
    match reason:
        case d.UntoleratedTaint():
            return f"the Pod does not tolerate its taint {reason.taint}"
        case d.LabelConflict(conflict=conflict):
            offers = f"it has {conflict.offered}" if conflict.offered else f"it does not set {conflict.wanted.key}"
            return f"the Pod wants {conflict.wanted}; {offers}"
        case d.LimitReached():
            used = readable(reason.resource, reason.used)
            if reason.resource == NODES:
                return f"its nodes limit of {reason.limit} is reached"
            return f"its limit of {reason.limit} {reason.resource} leaves no room for a node: {used} are used"
        case d.NoInstanceType():
            if reason.conflict is None:
                return _TYPES[reason.why]
            wanted, offered = reason.conflict.wanted, reason.conflict.offered
            return f"its instance types have {offered}, and {wanted} is wanted"
        case d.NoDomain():
            return _no_domain(reason)
        case d.DomainNotOffered():
            number = len(reason.domains)
            which = f"{noun_for(reason.topology_key, number)} {listed(reason.domains)} {'is' if number == 1 else 'are'}"
            return f"{which} picked first, and the pool offers no node there"
        case d.NotAsked():
            said = {**_OF_POOL, **_OF_POD}[reason.why]
            return (
                said.format(reason.detail or STARTING)
                if "{}" in said
                else ": ".join(filter(None, (said, reason.detail)))
            )
        case d.MaximumReached():
            return f"it is at its maximum of {count_of(reason.maximum, 'node')}"
        case d.RejectedByFilters(reasons=reasons) if reasons == (REASON_SKEW,):
            return "the spread constraints allow no Pod on its new node"
        case d.RejectedByFilters():
            return f"the scheduler's filters reject its new node: {listed(reason.reasons)}"
        case d.Unreadable():
            return _UNREAD[reason.what].format(reason.name)
        case _:
            assert_never(reason)


def _no_domain(reason: d.NoDomain) -> str:
    key = brief_key(reason.topology_key)
    if reason.index is None:
        return f"pod {'anti-' if reason.anti else ''}affinity leaves it no {key}"
    if not reason.offered:
        return f"it offers no {key} that counts"
    what = f"{noun_for(reason.topology_key, len(reason.offered))} {enumerated(reason.offered)} may take no more Pods"
    has = "has" if len(reason.held_by) == 1 else "have"
    if reason.lacking_domains:
        return f"{what}, because minDomains asks for {count_of(reason.lacking_domains, 'more domain')}"
    held = f" while {enumerated(reason.held_by)} {has} the fewest ({reason.minimum})" if reason.held_by else ""
    return what + held


def decision_text(decision: d.AutoscalerDecision, *, decided: bool = True) -> str:
    """Return the decision, and then what was not considered; never that a node comes, for that is up to the cloud.

    Without ``decided``, return only the second.
    """
    parts = [_BESIDE[decision.kind]] if decision.beside else []
    if decision.decision is not d.Decision.UNKNOWN:
        parts = [*(_UNREAD_KINDS[kind] for kind in decision.unread), *parts]
        if decision.leaving:
            nodes = enumerated(decision.leaving, most=MOST_POOLS)
            parts.append(f"not considered: {NAMES[decision.kind]} also moves Pods away from {nodes}")
    if decision.other_release is not None:
        runs = f"those of {decision.other_release} are" if decision.other_release else "its release is"
        parts.append(f"the rules of Karpenter {decision.version} apply, because {runs} not known")
    return " ".join([f"{_decision(decision)}."] * decided + [f"{part[0].upper()}{part[1:]}." for part in parts])


def _decision(decision: d.AutoscalerDecision) -> str:
    name, noun = NAMES[decision.kind], POOLS[decision.kind]
    match decision.decision:
        case d.Decision.NEW_NODE:
            return f"{name}: nothing that was read forbids a new node from {_bringing(decision, noun)}"
        case d.Decision.EXISTING_NODE:
            if decision.kind == "cluster-autoscaler":
                node = decision.node or STARTING
                return f"{name} adds no further node: {node} may have room for the Pod once it is Ready"
            return f"{name} adds no node: it sees room on {decision.node}, where the scheduler sees none"
        case d.Decision.BY_CHANCE:
            may = _bringing(decision, noun)
            return f"{name} picks a domain at random among equals: it may add a node from {may}, or none"
        case d.Decision.UNKNOWN:
            reasons = (reason for pool in decision.pools for reason in pool.reasons if isinstance(reason, d.Unreadable))
            why = [*dict.fromkeys(map(reason_text, reasons)), *(_UNREAD_KINDS[kind] for kind in decision.unread)]
            return f"What {name} does is not known: {'; '.join(why) or f'its status lists no {noun}'}"
        case d.Decision.REFUSED:
            return f"{name} adds no node: {'; '.join(_refusals(decision, noun)) or f'it has no {noun}'}"
        case _:
            assert_never(decision.decision)


def may_add_for(answers: Sequence[d.AutoscalerDecision], pods: int) -> str:
    """Return that the autoscaler may add a node for so many Pods, with these decisions; empty if these differ."""
    may = {_bringing(each, POOLS[each.kind]) if each.decision is d.Decision.NEW_NODE else "" for each in answers}
    pools = may.pop() if len(may) == 1 else ""
    return f"{NAMES[answers[0].kind]} may add a node for {'it' if pods == 1 else 'them'} from {pools}" if pools else ""


def added_by(decision: d.AutoscalerDecision, labels: Mapping[str, str]) -> str:
    """Return, of a node with these labels that would let the Pod in, which pool may bring it, or why none does."""
    name, noun = NAMES[decision.kind], POOLS[decision.kind]
    if decision.decision is d.Decision.UNKNOWN:
        return f"whether {name} adds one is not known"
    if decision.decision is d.Decision.EXISTING_NODE:
        return f"{name} adds none now, because it sees room on {decision.node or STARTING}"
    # Its nodes may have these labels, as far as its domains are known.
    there = tuple(
        pool
        for pool in decision.pools
        if all(labels[key] in values for key, values in pool.domains.items() if key in labels)
    )
    may = _may_bring(there)
    if may:
        return f"{name} may add one from {enumerated([f'{noun} {pool.name}' for pool in may], most=MOST_POOLS)}"
    if _may_bring(decision.pools):
        return f"{name} adds its next node elsewhere, from {_bringing(decision, noun)}"
    why = "; ".join(_of_pod(there) or _first_reasons(there, noun)) or f"no {noun} offers one there"
    return f"{name} adds none now: {why}"


def awaited_node(decision: d.AutoscalerDecision, snapshot: Snapshot) -> NodeAddition | None:
    """Return the node that starts and has room for the Pod, or that the autoscaler may add; None for neither."""
    name, there = NAMES[decision.kind], snapshot.nodes.get(decision.node)
    if decision.decision is d.Decision.EXISTING_NODE and (there is None or not there.answers):
        return NodeAddition(autoscaler=name, nodes=(decision.node,) if there else ())
    if decision.decision is d.Decision.NEW_NODE:
        return NodeAddition(autoscaler=name, pools=_bringing(decision, POOLS[decision.kind]))
    return None


def advice_text(answer: AutoscalerAnswer) -> list[str]:
    """Return what to change for the autoscaler: one of these NodePools, or the maximum of a node group."""
    full = (_advice(pool, *pool.reasons) for pool in answer.pools if pool.reasons[1:] == ())
    return [*filter(None, full), *map(_change_text, answer.changes)][:MOST_POOLS]


def _advice(pool: d.PoolDecision, reason: d.Reason | None = None) -> str:
    match reason:
        case d.MaximumReached(maximum):
            only = f": a new node helps only if it is in {_zones(pool.domains.get(ZONE, ()))}" if pool.elsewhere else ""
            return f"Raise the maximum of node group {pool.name} (now {maximum}){only}."
        case d.NotAsked("fixed size"):
            return f"Raise spec.replicas of NodePool {pool.name}, if its nodes suit the Pod: it is static."
        case d.NotAsked("deleted"):
            return f"NodePool {pool.name} is being deleted: Pods that need its nodes need another NodePool."
        case _:
            return ""


def _change_text(change: node_pools.PoolChange) -> str:
    match change:
        case node_pools.RaiseLimit():
            limit = "limits" if change.resources[1:] else "limit"
            return f"Raise the {enumerated(change.resources)} {limit} of NodePool {change.pool}."
        case node_pools.DropTaint():
            do = f"let the Pod tolerate taint {change.taint}, or remove that taint from NodePool {change.pool}"
            return f"If the Pod belongs there, {do}."
        case node_pools.OfferZones():
            subnet = f"a subnet in {_zones(change.without_subnet)}" if change.without_subnet else ""
            if not change.required:
                return f"Add {subnet} to {change.node_class}, the node class of NodePool {change.pool}."
            also = f", and {subnet} to {change.node_class}" if subnet else ""
            return f"Add {_zones(change.required)} to the requirements of NodePool {change.pool}{also}."
        case node_pools.WithdrawZones():
            return f"Remove {_zones(change.zones)} from the requirements of NodePool {change.pool}."
        case _:
            assert_never(change)


def _zones(zones: Sequence[str]) -> str:
    return f"{noun_for(ZONE, len(zones))} {listed(zones)}"


def _bringing(decision: d.AutoscalerDecision, noun: str) -> str:
    may = _may_bring(decision.pools)
    more = [f"{len(may) - MOST_POOLS} more"] if may[MOST_POOLS:] else []
    parts = []
    for pool in may[:MOST_POOLS]:
        places = (f" ({noun_for(key, len(values))} {listed(values)})" for key, values in pool.domains.items())
        parts.append(f"{noun} {pool.name}{next(places, '')}")
    return " or ".join([*parts, *more])


def _may_bring(pools: Sequence[d.PoolDecision]) -> list[d.PoolDecision]:
    chosen = [pool for pool in pools if pool.verdict is d.Verdict.CHOSEN]
    return chosen or [pool for pool in pools if pool.verdict is d.Verdict.POSSIBLE]


def _of_pod(pools: Sequence[d.PoolDecision]) -> list[str]:
    """Return the reason for which no pool is asked about this Pod; empty where there is none."""
    asked_first = (reason for pool in pools for reason in pool.reasons[:1] if isinstance(reason, d.NotAsked))
    return next(([reason_text(reason)] for reason in asked_first if reason.why in _OF_POD), [])


def _refusals(decision: d.AutoscalerDecision, noun: str) -> Sequence[str]:
    """Return why no pool brings a node: those that the constraint keeps first, then whose domains hold the minimum."""
    of_pod = _of_pod(decision.pools)
    if of_pod:
        return of_pod
    full = [(pool, reason) for pool in decision.pools for reason in pool.reasons if isinstance(reason, d.NoDomain)]
    if not full:
        return _first_reasons(decision.pools, noun)
    pool, reason = full[0]
    if reason.index is None or not reason.offered:
        return _first_reasons(decision.pools, noun)
    offers = f"{noun_for(reason.topology_key, len(reason.offered))} {enumerated(reason.offered)}"
    parts = [f"{noun} {pool.name} offers {offers}, where maxSkew allows no more Pods"]
    if reason.lacking_domains:
        return [*parts, f"minDomains asks for {count_of(reason.lacking_domains, 'more domain')}, so the minimum is 0"]
    return [*parts, _lowest(decision, reason, noun)] if reason.held_by else parts


def _lowest(decision: d.AutoscalerDecision, reason: d.NoDomain, noun: str) -> str:
    """Return which domains hold the minimum, and why no pool adds a node there."""
    held, several = frozenset(reason.held_by), len(reason.held_by) > 1
    offering = [pool for pool in decision.pools if held & {*pool.domains.get(reason.topology_key, ())}]
    names = [pool.name for pool in offering if pool.name in reason.only_from] or [pool.name for pool in offering]
    first = next((pool for pool in offering if pool.name == names[0]), None) if names else None
    why = f", but {reason_text(first.reasons[0])}" if first and first.reasons else ""
    lowest = f"{noun_for(reason.topology_key, len(held))} {enumerated(reason.held_by)} {'have' if several else 'has'}"
    who = f"only {noun} {enumerated(names)} {'offer' if len(names) > 1 else 'offers'}" if names else f"no {noun} offers"
    return f"{lowest} the fewest Pods, and {who} {'them' if several else 'it'}{why}"


def _first_reasons(pools: Sequence[d.PoolDecision], noun: str) -> list[str]:
    """Return why the pools bring no node: last those whose new node the scheduler would not take either."""
    with_reasons = (pool for pool in pools if pool.reasons)
    refusing = sorted(with_reasons, key=lambda pool: isinstance(pool.reasons[0], d.RejectedByFilters))
    parts = [f"{noun} {pool.name} ({reason_text(pool.reasons[0])})" for pool in refusing]
    more = [f"{len(parts) - MOST_POOLS} more"] if parts[MOST_POOLS:] else []
    return [*parts[:MOST_POOLS], *more]

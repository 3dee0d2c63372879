"""What Karpenter decides about one Pod: first the nodes that exist, then each NodePool, then fewer preferences.

Source: karpenter scheduling/scheduler.go (v1.14.1).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from kubectl_spread.autoscalers.counts import CountedConstraint, CountedDomain
from kubectl_spread.autoscalers.decision import (
    AutoscalerDecision,
    Decision,
    NotAsked,
    PoolDecision,
    Reason,
    Unreadable,
    Verdict,
    left_alone,
)
from kubectl_spread.autoscalers.karpenter import existingnode
from kubectl_spread.autoscalers.karpenter.nodeclaim import Attempt, NodeClaim
from kubectl_spread.autoscalers.karpenter.nodeclaimtemplate import NodeClaimTemplate
from kubectl_spread.autoscalers.karpenter.preferences import relax
from kubectl_spread.autoscalers.karpenter.provisioner import Scheduler, unsupported
from kubectl_spread.autoscalers.karpenter.requirements import Requirements, asked_of
from kubectl_spread.autoscalers.karpenter.statenode import StateNode
from kubectl_spread.autoscalers.karpenter.topology import PodData, Topology
from kubectl_spread.autoscalers.karpenter.topologygroup import TopologyGroup
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.well_known_labels import HOSTNAME, ZONE
from kubectl_spread.scheduler.tainttoleration import PREFER_NO_SCHEDULE


class _Outcome(msgspec.Struct, frozen=True):
    """What may come of the Pod."""

    kinds: set[Decision]  # what is decided, any of these by chance
    node: str  # the node that exists and has room; empty for none
    nodes: Mapping[str, Sequence[Requirements]]
    # NodePool → what came of asking it last, or when something was not known; empty where none was asked
    attempts: Mapping[str, Attempt]


def solve(pod: Pod, scheduler: Scheduler) -> AutoscalerDecision:
    """Return what Karpenter decides about a Pod that has no node."""
    ignored = left_alone(pod) or unsupported(pod)
    if ignored is not None:
        refused = {**{each.name: ignored for each in scheduler.templates}, **scheduler.refused}
        scheduler = replace(scheduler, templates=(), refused=refused, domain_groups={})
    if not scheduler.templates:  # Then it does not look at its nodes either.
        scheduler = replace(scheduler, existing_nodes=())
    topology = scheduler.topology()
    first = topology.pod_data(pod, pod, scheduler.profile)
    return _decision(first, scheduler, _try_schedule(first, scheduler, topology))


def _try_schedule(pod_data: PodData, scheduler: Scheduler, topology: Topology) -> _Outcome:
    """Return what may come of the Pod, which drops one preference after another until something surely takes it.

    Where the instance types are not known, no NodePool surely takes it: it may go on to the next, or drop more.
    """
    given, known = pod_data.pod, scheduler.types_known
    prefers = any(taint.effect == PREFER_NO_SCHEDULE for each in scheduler.templates for taint in each.taints)
    nodes: dict[str, list[Requirements]] = defaultdict(list)
    kinds: set[Decision] = set()
    unread: dict[str, Attempt] = {}
    while True:
        attempts: dict[str, Attempt] = {}
        node, surely = _add_to_existing_node(scheduler.existing_nodes, pod_data)
        if node and (known or not kinds):
            kinds.add(Decision.EXISTING_NODE)
        for template in () if surely else scheduler.templates:
            attempt = attempts[template.name] = NodeClaim(template, pod_data, scheduler).can_add()
            if attempt.nodes and not surely:
                kinds.add(Decision.NEW_NODE)
                nodes[template.name] += attempt.nodes
                surely = known and not attempt.refusals
        unread |= {name: each for name, each in attempts.items() if _is_unread(each)}
        relaxed = None if surely else relax(pod_data.pod, tolerates_preferences=prefers)
        if relaxed is None:
            accepted = not known and any(each.nodes and not each.refusals for each in attempts.values())
            kinds |= set() if surely or accepted else {Decision.REFUSED}
            return _Outcome(kinds, node, nodes, attempts | unread)
        pod_data = topology.pod_data(relaxed, given, scheduler.profile)


def _is_unread(attempt: Attempt) -> bool:
    """Whether something is not known that the NodePool's answer depends on."""
    return any(isinstance(reason, Unreadable) for reason in attempt.refusals)


def _add_to_existing_node(nodes: Iterable[StateNode], pod_data: PodData) -> tuple[str, bool]:
    """Return the first node on which Karpenter may see room (empty for none), and whether it surely sees some."""
    first = ""
    for node in nodes:
        room = existingnode.can_add(node, pod_data)
        if room is not False:
            first = first or node.name
            if room:
                return first, True
    return first, False


def _decision(first: PodData, scheduler: Scheduler, outcome: _Outcome) -> AutoscalerDecision:
    keys = {ZONE, *(group.key for group in first.groups)} - {HOSTNAME}
    existing = outcome.kinds == {Decision.EXISTING_NODE}
    if scheduler.unread if existing else any(map(_is_unread, outcome.attempts.values())):
        decision = Decision.UNKNOWN
    else:
        decision = next(iter(outcome.kinds)) if len(outcome.kinds) == 1 else Decision.BY_CHANCE
    surely = decision is Decision.NEW_NODE and scheduler.types_known and not scheduler.unread
    pools = [_pool_decision(template, outcome, keys, surely=surely) for template in scheduler.templates]
    refused = sorted(scheduler.refused.items())
    pools += [PoolDecision(name=name, verdict=Verdict.REFUSED, reasons=(reason,)) for name, reason in refused]
    return AutoscalerDecision(
        kind="karpenter",
        version=".".join(map(str, scheduler.release)),
        decision=decision,
        node=outcome.node if decision is Decision.EXISTING_NODE else "",
        pools=tuple(pools),
        constraints=tuple(
            _constraint_counts(group, first, scheduler) for group in first.groups if group.index is not None
        ),
        unread=scheduler.unread,
        leaving=scheduler.leaving,
    )


def _pool_decision(
    template: NodeClaimTemplate, outcome: _Outcome, keys: Iterable[str], *, surely: bool
) -> PoolDecision:
    """Return the NodePool's part in the decision; it is chosen only where that is sure of some NodePool."""
    attempt = outcome.attempts.get(template.name, Attempt())
    nodes = outcome.nodes.get(template.name) or attempt.nodes
    reasons: tuple[Reason, ...] = ()
    if nodes and not _is_unread(attempt):
        verdict = Verdict.CHOSEN if surely and template.name in outcome.nodes else Verdict.POSSIBLE
        domains = {
            key: {value for each in nodes if key in each and not each[key].complement for value in each[key].values}
            for key in keys
        }
    else:
        verdict = Verdict.UNKNOWN if _is_unread(attempt) or not attempt.refusals else Verdict.REFUSED
        reasons = attempt.refusals or (NotAsked("room", outcome.node),)
        domains = {key: {*template.domains.get(key, ())} for key in keys}
    listed = {key: tuple(sorted(values)) for key, values in sorted(domains.items()) if values}
    return PoolDecision(name=template.name, verdict=verdict, domains=listed, reasons=reasons)


def _constraint_counts(group: TopologyGroup, pod_data: PodData, scheduler: Scheduler) -> CountedConstraint:
    """Return the constraint as Karpenter counts it; without domains for hosts, which can always be added."""
    offered = scheduler.domain_groups.get(group.key, {})
    supported = asked_of(pod_data.strict_requirements, group.key)
    counted = sorted(group.counts.items()) if group.key != HOSTNAME else ()
    pools = {value: tuple(sorted(each.name for each in templates)) for value, templates in offered.items()}
    domains = (CountedDomain(value=value, matching=found, from_=pools.get(value, ())) for value, found in counted)
    minimum = group.minimum(supported) or 0
    return CountedConstraint(index=group.index or 0, global_minimum=minimum, domains=tuple(domains))

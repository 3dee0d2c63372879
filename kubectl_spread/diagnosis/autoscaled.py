"""Finds what an autoscaler will do to a Pod's constraints before any Pod waits."""

from collections.abc import Iterable, Iterator

from kubectl_spread.autoscalers.cluster_autoscaler import domains_of_group
from kubectl_spread.autoscalers.decision import UntoleratedTaint
from kubectl_spread.autoscalers.karpenter.empty_domains import empty_domains
from kubectl_spread.autoscalers.karpenter.provisioner import Scheduler
from kubectl_spread.autoscalers.node_groups import node_groups
from kubectl_spread.diagnosis.findings import EmptyPool, Finding, GroupAtMaximum, PhantomDomain
from kubectl_spread.objects.autoscaling import NodeGroupStatus
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import DomainCounts, count_all, parsable_constraints


def of_karpenter(pod: Pod, handle: Handle, scheduler: Scheduler) -> Iterator[Finding]:
    """Yield what the domains of NodePools that have no node there mean for the Pod's own DoNotSchedule constraints."""
    counted = {
        counts.constraint.index: counts
        for counts in _own_hard(pod, handle)
        if scheduler.domain_groups.get(counts.constraint.topology_key, {}).keys() - counts.match_num
    }
    # In most clusters each domain has a node, and nothing more is counted.
    for empty in empty_domains(pod, scheduler) if counted else ():
        counts = counted.get(empty.index)
        if counts is None or empty.value in counts.match_num:
            continue
        constraint = counts.constraint
        if not empty.usable:
            by_taints = all(isinstance(reason, UntoleratedTaint) for reason in empty.refused.values())
            yield PhantomDomain(
                constraint=constraint,
                domain=empty.value,
                refused=empty.refused,
                fixed_by_honor=by_taints and not constraint.honors_taints,
            )
        elif counts.global_minimum:
            # They take no more Pods while the minimum is 0.
            most = constraint.max_skew - int(counts.self_match)
            if full := tuple(sorted(domain for domain, matching in counts.match_num.items() if matching > most)):
                yield EmptyPool(constraint=constraint, domain=empty.value, pools=empty.usable, full=full)


def of_cluster_autoscaler(pod: Pod, handle: Handle, groups: Iterable[NodeGroupStatus]) -> Iterator[Finding]:
    """Yield which domains that hold the minimum of the Pod's own DoNotSchedule constraints get no more nodes."""
    by_group = tuple(groups)
    own = node_groups([group.name for group in by_group], handle.snapshot)
    for counts in _own_hard(pod, handle):
        key = counts.constraint.topology_key
        placed = [(group, domains_of_group(group.name, own, key, handle.snapshot)) for group in by_group]
        for domain, matching in sorted(counts.match_num.items()):
            there = [group for group, values in placed if domain in values]
            if there and matching == counts.global_minimum and all(group.health.at_maximum for group in there):
                names = tuple(group.name for group in there)
                yield GroupAtMaximum(constraint=counts.constraint, domain=domain, groups=names)


def _own_hard(pod: Pod, handle: Handle) -> Iterator[DomainCounts]:
    """Yield the counts of its own DoNotSchedule constraints, but not over nodes: any number of nodes may come."""
    for counts in count_all(parsable_constraints(pod, handle), pod, handle):
        constraint = counts.constraint
        if constraint.hard and not constraint.default and constraint.topology_key != HOSTNAME:
            yield counts

"""Domains that NodePools offer while no counted node is in them: Karpenter counts them, kube-scheduler does not."""

from collections.abc import Iterator, Mapping

import msgspec

from kubectl_spread.autoscalers.decision import Reason
from kubectl_spread.autoscalers.karpenter.nodeclaim import NodeClaim, unread
from kubectl_spread.autoscalers.karpenter.provisioner import Scheduler, unsupported
from kubectl_spread.autoscalers.karpenter.requirements import asked_of
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.well_known_labels import HOSTNAME


class EmptyDomain(msgspec.Struct, frozen=True):
    """A domain of a constraint in which no counted node is."""

    index: int  # the constraint's place in the Pod
    value: str
    usable: tuple[str, ...]  # the NodePools that may bring nodes there for the Pod
    refused: Mapping[str, Reason]  # the others that offer it → why they bring none for the Pod


def empty_domains(pod: Pod, scheduler: Scheduler) -> Iterator[EmptyDomain]:
    """Yield the empty domains of each constraint of a Pod that Karpenter decides about, where domains are known."""
    if unsupported(pod) is not None:
        return
    topology = scheduler.topology()
    pod_data = topology.pod_data(pod, pod, scheduler.profile)
    if unread(pod_data, scheduler) is not None:
        return
    reasons = {each.name: next(NodeClaim(each, pod_data, scheduler).refusals(), None) for each in scheduler.templates}
    for group in pod_data.groups:
        if group.index is None or group.key == HOSTNAME:
            continue
        allowed = asked_of(pod_data.strict_requirements, group.key)
        for value in sorted(filter(allowed.allows, group.counts.keys() - group.existing)):
            offered = [each.name for each in scheduler.domain_groups.get(group.key, {}).get(value, ())]
            refused = {name: reason for name in offered if (reason := reasons[name]) is not None}
            yield EmptyDomain(group.index, value, tuple(name for name in offered if name not in refused), refused)

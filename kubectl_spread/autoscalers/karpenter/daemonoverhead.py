"""What the Pods of DaemonSets take of a new node.

Source: karpenter scheduling/scheduler.go buildDaemonOverheadGroups, isDaemonPodCompatible (v1.14.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kubectl_spread.autoscalers.karpenter import requirements as scheduling
from kubectl_spread.autoscalers.karpenter.instance_types import InstanceType
from kubectl_spread.autoscalers.karpenter.nodeclaimtemplate import NodeClaimTemplate
from kubectl_spread.autoscalers.karpenter.preferences import (
    remove_required_node_affinity_term,
    tolerate_prefer_no_schedule_taints,
)
from kubectl_spread.autoscalers.karpenter.releases import DAEMONS_BY_TYPE
from kubectl_spread.autoscalers.karpenter.requirements import KnownLabels, Requirements
from kubectl_spread.autoscalers.karpenter.resources import requests_for_pods
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.nodeinfo import HostPort, host_ports
from kubectl_spread.scheduler.profile import Profile


class DaemonOverhead(msgspec.Struct, frozen=True):
    """What Pods of DaemonSets request of a node (amounts), and the host ports they take."""

    requests: Mapping[str, int] = {}
    ports: frozenset[HostPort] = frozenset()


def daemon_overhead(
    templates: Sequence[NodeClaimTemplate],
    daemons: Iterable[Pod],
    profile: Profile,
    known: KnownLabels,
    release: tuple[int, ...],
) -> tuple[dict[tuple[str, str], DaemonOverhead], tuple[Pod, ...]]:
    """Return the overhead by (NodePool, instance type), and the Pods as nodes that exist are asked about them.

    upstream: the check changes the Pod that it is asked about, for all checks that follow, those of nodes that exist
    too. The Pod tolerates PreferNoSchedule taints then, and a term of its required node affinity that one NodePool
    does not meet is gone.
    """
    pods = [*daemons]

    def compatible(template: NodeClaimTemplate, of_type: Requirements) -> list[Pod]:
        asked = [_asked(pod, template, of_type, known) for pod in pods]
        pods[:] = [pod for pod, _ in asked]
        return [pod for pod, placed in asked if placed]

    groups: list[tuple[NodeClaimTemplate, tuple[InstanceType, ...], Requirements]]
    if release >= DAEMONS_BY_TYPE:
        groups = [(template, (each,), each.requirements) for template in templates for each in template.types]
    else:
        groups = [(template, template.types, {}) for template in templates if template.types]
    by_requests = [compatible(template, of_type) for template, _, of_type in groups]
    by_ports = by_requests
    if release < DAEMONS_BY_TYPE:
        # Host ports are gathered in a second round.
        by_ports = [compatible(template, of_type) for template, _, of_type in groups]
    overhead = {
        (template.name, each.name): DaemonOverhead(
            requests_for_pods(requesting, profile, release),
            frozenset(port for pod in porting for port in host_ports(pod)),
        )
        for (template, types, _), requesting, porting in zip(groups, by_requests, by_ports, strict=True)
        for each in types
    }
    return overhead, tuple(pods)


def _asked(pod: Pod, template: NodeClaimTemplate, of_type: Requirements, known: KnownLabels) -> tuple[Pod, bool]:
    pod = tolerate_prefer_no_schedule_taints(pod) or pod
    if scheduling.untolerated(template.taints, pod.spec.tolerations) is not None:
        return pod, False
    while True:
        wanted = scheduling.strict_pod_requirements(pod)
        clash = scheduling.incompatible(template.requirements, wanted, allow_undefined=known) or scheduling.disjoint(
            of_type, wanted
        )
        if clash is None:
            return pod, True
        relaxed = remove_required_node_affinity_term(pod)
        if relaxed is None:
            return pod, False
        pod = relaxed

"""Whether Karpenter sees room for a Pod on a node that exists.

Source: karpenter scheduling/existingnode.go (v1.14.1).
"""

from kubectl_spread.autoscalers.karpenter import requirements as scheduling
from kubectl_spread.autoscalers.karpenter.resources import fits
from kubectl_spread.autoscalers.karpenter.statenode import StateNode
from kubectl_spread.autoscalers.karpenter.topology import PodData
from kubectl_spread.autoscalers.karpenter.topologygroup import TopologyGroup
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.scheduler.nodeinfo import host_ports


def can_add(node: StateNode, pod_data: PodData) -> bool | None:
    """Whether Karpenter sees room for the Pod on the node; None where that is left to chance."""
    pod = pod_data.pod
    if (
        not fits(pod_data.requests, node.remaining)
        or scheduling.untolerated(node.taints, pod.spec.tolerations) is not None
    ):
        return False
    if any(port.conflicts(taken) for port in host_ports(pod) for taken in node.ports):
        return False
    labels = scheduling.added(scheduling.label_requirements(node.labels), (scheduling.one_of(HOSTNAME, (node.host,)),))
    if scheduling.incompatible(labels, pod_data.requirements) is not None:
        return False
    base = scheduling.added(labels, pod_data.requirements.values())
    choices = pod_data.add_requirements(base)
    if isinstance(choices, TopologyGroup):
        return False
    rooms = {scheduling.incompatible(base, choice) is None for choice in choices}
    return rooms.pop() if len(rooms) == 1 else None

"""Finds Pods that have a node and are Pending all the same: their kubelet has yet to start them."""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import UNSET, UnsetType

from kubectl_spread.controllers.workloads import WorkloadRef, owner_of
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.meta import grouped
from kubectl_spread.snapshot import Snapshot

INITIALIZING = "PodInitializing"  # The reason of a container that waits for init containers


class StartingPods(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Pods of a workload that have a node, and whose phase is Pending."""

    namespace: str
    workload: WorkloadRef
    reason: str  # of the kubelet, as in the column STATUS of kubectl; empty if it has reported none
    pods: tuple[str, ...]  # their names
    nodes: tuple[str, ...]  # where each of them is
    cluster: str | UnsetType = UNSET  # the context of its cluster; absent if one cluster was read


def starting_pods(pods: Iterable[Pod], snapshot: Snapshot) -> Iterator[StartingPods]:
    """Yield the Pods that wait for their kubelet, those of one workload with one reason together."""
    waiting = (pod for pod in pods if is_starting(pod))
    alike = grouped(waiting, lambda pod: (pod.metadata.namespace, owner_of(pod, snapshot), _reason(pod)))
    for (namespace, workload, reason), those in alike.items():
        names, nodes = zip(*((pod.metadata.name, pod.spec.node_name) for pod in those), strict=True)
        yield StartingPods(namespace=namespace, workload=workload, reason=reason, pods=names, nodes=nodes)


def is_starting(pod: Pod) -> bool:
    """Whether kubectl calls the Pod Pending though it has a node."""
    return bool(pod.spec.node_name) and pod.status.phase == "Pending" and not pod.terminating


def _reason(pod: Pod) -> str:
    """Source: kubernetes pkg/printers/internalversion/printers.go printPod (v1.36)."""
    for prefix, containers in (
        ("Init:", pod.status.init_container_statuses),
        ("", pod.status.container_statuses),
    ):
        waiting = (each.state.waiting.reason for each in containers if each.state and each.state.waiting)
        if found := next((reason for reason in waiting if reason and (reason != INITIALIZING or not prefix)), ""):
            return f"{prefix}{found}"
    return ""

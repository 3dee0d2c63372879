"""One Pod moved out of the way: offered only where nobody is worse off for it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from kubectl_spread.diagnosis.controllers import pinned_to
from kubectl_spread.diagnosis.fixes.candidate import Candidate
from kubectl_spread.diagnosis.fixes.guards import forbidding_budget
from kubectl_spread.diagnosis.fixes.situation import Situation, of_constraint, of_filter
from kubectl_spread.diagnosis.workloads import owner_of
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import cycle, interpodaffinity, nodeports, noderesources, podtopologyspread
from kubectl_spread.scheduler.framework import Handle

MOST_PODS = 200
"""Pods (count) that are tried; alike ones come after the first of each group."""

HOLDERS = (nodeports.NAME, noderesources.NAME, interpodaffinity.NAME, "VolumeRestrictions", "NodeVolumeLimits")
"""Filters that reject a node because of the Pods on it."""


def candidates(situation: Situation) -> Iterator[Candidate]:
    """Yield the Pods whose deletion may make room: counted in a crowded domain, or holding what the Pod needs."""
    seen: set[tuple[str, str]] = set()
    tried = 0
    for pod in (*_holders(situation), *_counted(situation)):
        if pod.key in seen or tried >= MOST_PODS:
            continue
        seen.add(pod.key)
        if _may_go(pod, situation):
            tried += 1
            yield _move(pod, situation)


def _holders(situation: Situation) -> Iterator[Pod]:
    """Yield the Pods on the nodes that only other Pods close."""
    for info in situation.nodes_only_against([of_filter(plugin) for plugin in HOLDERS]):
        yield from info.pods


def _counted(situation: Situation) -> Iterator[Pod]:
    """Yield the Pods counted in domains that a constraint closes, where nothing else closes a node there."""
    for counts in situation.counts:
        open_nodes = {info.name for info in situation.nodes_only_against([of_constraint(counts.constraint.index)])}
        key, infos = counts.constraint.topology_key, situation.handle.node_infos
        domains = {infos[name].labels[key] for name in open_nodes if key in infos[name].labels}
        for pod in podtopologyspread.counted_pods(counts.constraint, situation.pod, situation.handle):
            node = pod.spec.node_name
            if node in counts.counted_nodes and infos[node].labels.get(key) in domains:
                yield pod


def _may_go(pod: Pod, situation: Situation) -> bool:
    """Whether the Pod can be deleted at all: not a static one, and within its disruption budgets."""
    if any(owner.kind == "Node" for owner in pod.metadata.owner_references):
        return False
    return pod.terminating or forbidding_budget(pod, situation.handle.snapshot) is None


def _move(pod: Pod, situation: Situation) -> Candidate:
    """Return the deletion of the Pod."""
    name = f"{pod.metadata.namespace}/{pod.metadata.name}"
    owner = owner_of(pod, situation.handle.snapshot)
    if pod.terminating:
        caution = "it is being deleted already: make sure its node is gone before forcing it"
    elif pod.metadata.controller is None:
        caution = "nothing makes it again"
    else:
        caution = f"{owner} makes it again, elsewhere"
    return Candidate(
        id="MovePod",
        cost=2,
        summary=f"delete the Pod {name} on {pod.spec.node_name}",
        delete=pod,
        group=("MovePod", pod.metadata.namespace, str(owner), pod.spec.node_name),
        caution=caution,
    )


def leaves_fewer_pending(moved: Pod, after: Situation) -> bool:
    """Whether both find a node: the Pending Pod, and then the one that takes the place of the moved one.

    Args:
        moved: the Pod that was deleted.
        after: the Pending Pod, in the cluster without the moved one.
    """
    if not after.evaluation.feasible:
        return False
    if moved.terminating or moved.metadata.controller is None:
        return True
    handle = after.handle.with_assigned(after.pod, after.evaluation.feasible[0])
    return bool(cycle.evaluate(_replacement(moved), handle).feasible)


def _replacement(pod: Pod) -> Pod:
    """Return the Pod its controller makes next; a DaemonSet's goes to the same node."""
    spec = msgspec.structs.replace(pod.spec, node_name="")
    metadata = msgspec.structs.replace(pod.metadata, name=f"{pod.metadata.name}-again")
    again = Pod(metadata=metadata, spec=spec)
    controller = pod.metadata.controller
    is_daemon = controller is not None and controller.kind == "DaemonSet"
    return pinned_to(again, pod.spec.node_name) if is_daemon else again


def placed(pods: tuple[Pod, ...], handle: Handle) -> int:
    """Return how many of the Pods find a node, placed one after another (count)."""
    count = 0
    for pod in pods:
        feasible = cycle.evaluate(pod, handle).feasible
        if feasible:
            handle = handle.with_assigned(pod, feasible[0])
            count += 1
    return count

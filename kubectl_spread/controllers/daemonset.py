"""DaemonSets: a Pod for each node, which is pinned to it and tolerates its conditions.

Source: kube-controller-manager pkg/controller/daemon/{daemon_controller,update,util/daemonset_util}.go (v1.36).
"""

from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from kubectl_spread.controllers.templates import REVISION_HASH_LABEL, labelled, pod_from_template
from kubectl_spread.objects import core
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.meta import TEMPLATE_GENERATION, grouped
from kubectl_spread.objects.workloads import DaemonSet
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.nodeaffinity import RequiredNodeAffinity
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.scheduler.tainttoleration import NO_EXECUTE, Untolerated

# A label of every Pod of a DaemonSet. Source: daemonset_util.go CreatePodTemplate (v1.36).
TEMPLATE_GENERATION_LABEL = "pod-template-generation"
_NAME_FIELD = "metadata.name"
_TAINTS = (
    ("node.kubernetes.io/not-ready", NO_EXECUTE),
    ("node.kubernetes.io/unreachable", NO_EXECUTE),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_HOST_NETWORK_TAINT = ("node.kubernetes.io/network-unavailable", "NoSchedule")
# The filters that decide which nodes get a Pod; the other filters only keep it waiting.
_DECIDING = frozenset(("NodeName", "NodeAffinity", "TaintToleration"))


def pod_of(owner: DaemonSet, revision: str) -> Pod:
    """Return the Pod for every node, not yet pinned, with the controller's tolerations.

    ``revision`` is empty if it is not known.

    Source: daemonset_util.go AddOrUpdateDaemonPodTolerations, CreatePodTemplate.
    """
    pod = pod_from_template(owner)
    taints = (*_TAINTS, *((_HOST_NETWORK_TAINT,) if pod.spec.host_network else ()))
    added = tuple(core.Toleration(key=key, operator="Exists", effect=effect) for key, effect in taints)
    pod = replace(pod, spec=replace(pod.spec, tolerations=(*pod.spec.tolerations, *added)))
    return labelled(pod, {REVISION_HASH_LABEL: revision}) if revision else pod


def is_of_generation(pod: Pod, owner: DaemonSet) -> bool:
    """Whether the Pod counts as up to date by the generation of the template.

    upstream: a DaemonSet that is created again starts with generation 1, so it takes older Pods for its own.

    Source: daemonset_util.go IsPodUpdated, pkg/registry/apps/daemonset/strategy.go PrepareForCreate (v1.36).
    """
    generation = owner.metadata.annotations.get(TEMPLATE_GENERATION, "1")
    return pod.metadata.labels.get(TEMPLATE_GENERATION_LABEL) == generation


def pinned_to(pod: Pod, node_name: str) -> Pod:
    """Return the Pod pinned to this node. Source: daemonset_util.go ReplaceDaemonSetPodNodeNameNodeAffinity."""
    field = core.NodeSelectorRequirement(key=_NAME_FIELD, operator="In", values=(node_name,))
    selector = core.NodeSelector(node_selector_terms=(core.NodeSelectorTerm(match_fields=(field,)),))
    return _with_node_selector(pod, selector)


def is_pinned(pod: Pod) -> bool:
    """Whether the Pod was created for one node."""
    return any(field.key == _NAME_FIELD for field in _match_fields(pod))


def pinned_node(pod: Pod) -> str:
    """Return the node that a Pod of a DaemonSet was created for; empty if it is not pinned."""
    return next((field.values[0] for field in _match_fields(pod) if field.values), "")


def _match_fields(pod: Pod) -> Iterator[core.NodeSelectorRequirement]:
    for term in pod.spec.required_terms:
        yield from term.match_fields


def unpinned(pod: Pod) -> Pod:
    """Return the Pod without the affinity that pins it to its node."""
    return _with_node_selector(pod, None) if is_pinned(pod) else pod


def nodes_with_pod(evaluation: Evaluation) -> frozenset[str]:
    """Return the names of the nodes that get a Pod. The evaluation is of a Pod that is not pinned.

    Source: kube-controller-manager pkg/controller/daemon/daemon_controller.go NodeShouldRunDaemonPod (v1.36).
    """
    rejected_by = {name: {each.plugin for each in verdict.rejections} for name, verdict in evaluation.nodes.items()}
    return frozenset(name for name, plugins in rejected_by.items() if plugins.isdisjoint(_DECIDING))


def nodes_without_pod(owner: DaemonSet, handle: Handle) -> frozenset[str]:
    """Return the names of the nodes whose Pods the DaemonSet deletes.

    A node with a NoSchedule taint gets no new Pod, but keeps its Pod.

    Source: kube-controller-manager pkg/controller/daemon/daemon_controller.go podsShouldBeOnNode,
    NodeShouldRunDaemonPod (v1.36).
    """
    pod, index = pod_of(owner, ""), handle.index
    affinity, numeric = RequiredNodeAffinity.of(pod), handle.profile.does(Behaviour.NUMERIC_TOLERATIONS)
    untolerated = Untolerated(pod.spec.tolerations, numeric, frozenset((NO_EXECUTE,)))
    allowed = index.names if affinity.empty else index.matching(affinity)
    if pod.spec.node_name:
        allowed &= {pod.spec.node_name}
    return index.names - allowed.difference(index.tainted_against(untolerated))


def _with_node_selector(pod: Pod, selector: core.NodeSelector | None) -> Pod:
    affinity = pod.spec.affinity or core.Affinity()
    node_affinity = replace(affinity.node_affinity or core.NodeAffinity(), required=selector)
    affinity = replace(affinity, node_affinity=None if node_affinity == core.NodeAffinity() else node_affinity)
    return replace(pod, spec=replace(pod.spec, affinity=None if affinity == core.Affinity() else affinity))


def place_of(pod: Pod) -> str:
    """Return the node of a DaemonSet's Pod, bound or not."""
    return pod.spec.node_name or pinned_node(pod)


def surplus(pods: Iterable[Pod], old: Collection[tuple[str, str]], *, surges: bool) -> Iterator[Pod]:
    """Yield surplus Pods: a node keeps the oldest one, and with surge one of the old template and one of the new.

    With surge, the old Pod is deleted once the new one is ready, or if it is not ready itself.

    Source: kube-controller-manager daemon/daemon_controller.go podsShouldBeOnNode (v1.36).
    """
    living = [pod for pod in pods if place_of(pod) and not pod.terminating]
    living.sort(key=lambda pod: (not pod.spec.node_name, pod.metadata.creation_timestamp or "", pod.key))
    for there in grouped(living, place_of).values():
        if not surges:
            yield from there[1:]
            continue
        before, new = ([pod for pod in there if (pod.key in old) is aged] for aged in (True, False))
        yield from (*before[1:], *new[1:])
        if before and new and (new[0].ready or not before[0].ready):
            yield before[0]


def replaced(pods: Iterable[Pod], old: Collection[tuple[str, str]], *, most: int) -> list[Pod]:
    """Return the old Pods that a rollout without surge deletes now: unready ones, and ready ones within the limit.

    ``most``: how many nodes may be without a ready Pod (count).

    Source: kube-controller-manager daemon/update.go rollingUpdate, findUpdatedPodsOnNode (v1.36). Not modelled:
    minReadySeconds.
    """
    by_node = grouped(pods, place_of)
    living = ([pod for pod in there if not pod.terminating] for there in by_node.values())
    alone = [found[0] for found in living if len(found) == 1]
    waiting = sorted((pod for pod in alone if pod.key in old), key=lambda pod: pod.key)
    ready = [pod for pod in waiting if pod.ready]
    # Unready old Pods count as unavailable already.
    unavailable = len(by_node) - sum(pod.ready for pod in alone)
    return [*(pod for pod in waiting if not pod.ready), *ready[: max(most - unavailable, 0)]]

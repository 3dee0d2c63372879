"""Changes of what else the Pod demands of a node: tolerations, node affinity, room, other Pods, host ports."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import msgspec

from kubectl_spread.diagnosis.fixes.candidate import Candidate
from kubectl_spread.diagnosis.fixes.nodes import taint_cost, untolerated
from kubectl_spread.diagnosis.fixes.patch import append, pointer, remove, set_to
from kubectl_spread.diagnosis.fixes.situation import Situation, of_constraint, of_filter
from kubectl_spread.objects.core import Container, Pod, PodTemplateSpec, Taint
from kubectl_spread.report import PatchOperation
from kubectl_spread.scheduler import (
    interpodaffinity,
    nodeaffinity,
    nodeports,
    noderesources,
    resource,
    tainttoleration,
)

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
FULL_WEIGHT = 100
LOWERED = frozenset((resource.CPU, resource.MEMORY, resource.EPHEMERAL_STORAGE))
"""Resources a Pod can have less of; others are counted in pieces, and their requests must equal their limits."""


def candidates(situation: Situation, *, others: int) -> Iterator[Candidate]:
    """Yield the changes of the Pod's other demands, where they keep it off a node that nothing else closes.

    Args:
        situation: the Pod and the cluster.
        others: how many requirements another change could overcome besides.
    """
    yield from _tolerate(situation, others=others)
    for plugin, changes in (
        (nodeaffinity.NAME, _relax_node_affinity),
        (interpodaffinity.NAME, _relax_pod_affinity),
        (nodeports.NAME, _drop_host_port),
    ):
        if situation.nodes_only_against([of_filter(plugin)], others=others):
            yield from changes(situation.pod)
    yield from _lower_requests(situation, others=others)


def _tolerate(situation: Situation, *, others: int) -> Iterator[Candidate]:
    """Yield a toleration for each taint that keeps the Pod off."""
    honoring = [of_constraint(c.constraint.index) for c in situation.counts if c.constraint.honors_taints]
    nodes = situation.nodes_only_against([of_filter(tainttoleration.NAME), *honoring], others=others)
    if any(len(counts.match_num) < counts.constraint.min_domains for counts in situation.counts):
        nodes = list(situation.handle.node_infos.values())
    taints = dict.fromkeys(taint for info in nodes for taint in untolerated(situation, info.node))
    for taint in taints:
        yield Candidate(
            id="AddToleration",
            cost=taint_cost(taint),
            summary=f"tolerate the taint {taint}",
            edit=partial(_add_toleration, taint),
            caution="the nodes were set apart on purpose: make sure this Pod belongs there",
        )


def _add_toleration(taint: Taint, target: PodTemplateSpec) -> tuple[PatchOperation, ...]:
    """Return the operation that adds a toleration of exactly this taint."""
    toleration = {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
    if not taint.value:
        toleration = {"key": taint.key, "operator": "Exists", "effect": taint.effect}
    return (append("/spec/tolerations", target.spec.tolerations, toleration),)


def _relax_node_affinity(pod: Pod) -> Iterator[Candidate]:
    """Yield the Pod without one nodeSelector label, or with its required node affinity merely preferred."""
    for key, value in pod.spec.node_selector.items():
        yield Candidate(
            id="RelaxNodeSelector",
            cost=3,
            summary=f"drop {key}={value} from the nodeSelector",
            edit=partial(_remove, pointer("spec", "nodeSelector", key)),
        )
    if nodeaffinity.required_terms(pod) is not None:
        yield Candidate(
            id="RelaxNodeSelector",
            cost=3,
            summary="only prefer the nodes that the required node affinity names",
            edit=_prefer_nodes,
        )


def _remove(path: str, _target: PodTemplateSpec) -> tuple[PatchOperation, ...]:
    """Return the operation that removes a field."""
    return (remove(path),)


def _prefer_nodes(target: PodTemplateSpec) -> tuple[PatchOperation, ...]:
    """Return the operations that make the required node affinity a preference, term by term."""
    affinity = target.spec.affinity.node_affinity if target.spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    if affinity is None or required is None:
        return ()
    path = pointer("spec", "affinity", "nodeAffinity", PREFERRED)
    added = [
        {"weight": FULL_WEIGHT, "preference": msgspec.to_builtins(term)}
        for term in required.node_selector_terms
        if term.match_expressions or term.match_fields
    ]
    kept = [msgspec.to_builtins(term) for term in affinity.preferred_during_scheduling_ignored_during_execution]
    return remove(pointer("spec", "affinity", "nodeAffinity", REQUIRED)), set_to(path, [*kept, *added])


def _relax_pod_affinity(pod: Pod) -> Iterator[Candidate]:
    """Yield the Pod with one of its required terms on other Pods merely preferred."""
    affinity = pod.spec.affinity
    if affinity is None:
        return
    for field, terms in (("podAffinity", affinity.pod_affinity), ("podAntiAffinity", affinity.pod_anti_affinity)):
        for index in range(len(terms.required_during_scheduling_ignored_during_execution) if terms else 0):
            yield Candidate(
                id="RelaxPodAffinity",
                cost=3,
                summary=f"only prefer term {index} of the required {field}",
                edit=partial(_prefer_pods, field, index),
            )


def _prefer_pods(field: str, index: int, target: PodTemplateSpec) -> tuple[PatchOperation, ...]:
    """Return the operations that make one required term a preference."""
    affinity = target.spec.affinity
    if affinity is None:
        return ()
    terms = affinity.pod_affinity if field == "podAffinity" else affinity.pod_anti_affinity
    if terms is None:
        return ()
    term = terms.required_during_scheduling_ignored_during_execution[index]
    weighted = {"weight": FULL_WEIGHT, "podAffinityTerm": msgspec.to_builtins(term)}
    path = pointer("spec", "affinity", field)
    preferred = terms.preferred_during_scheduling_ignored_during_execution
    return remove(f"{path}/{REQUIRED}/{index}"), append(f"{path}/{PREFERRED}", preferred, weighted)


def _drop_host_port(pod: Pod) -> Iterator[Candidate]:
    """Yield the Pod without one of its host ports; on the host network they cannot be dropped."""
    if pod.spec.host_network:
        return
    for field, containers in (("containers", pod.spec.containers), ("initContainers", pod.spec.init_containers)):
        for i, container in enumerate(containers):
            for j, port in enumerate(container.ports):
                if port.host_port:
                    yield Candidate(
                        id="ChangeHostPort",
                        cost=3,
                        summary=f"drop the host port {port.host_port}/{port.protocol} of container {container.name}",
                        edit=partial(_remove, pointer("spec", field, i, "ports", j, "hostPort")),
                    )


def _lower_requests(situation: Situation, *, others: int) -> Iterator[Candidate]:
    """Yield, for each resource, the greatest request of one container with which a node has room."""
    pod, profile = situation.pod, situation.handle.profile
    if pod.spec.resources is not None:
        return
    asked = resource.pod_requests(pod, profile, assigned=False)
    nodes = situation.nodes_only_against([of_filter(noderesources.NAME)], others=others)
    room: dict[str, int] = {}
    for info in nodes:
        free = {name: info.allocatable.get(name, 0) - info.requested.get(name, 0) for name in asked}
        short = [name for name, wanted in asked.items() if 0 < wanted > free[name]]
        if len(short) == 1 and len(info.pods) < info.allocatable.get(resource.PODS, 0):
            room[short[0]] = max(room.get(short[0], 0), free[short[0]])
    for name, most in sorted(room.items()):
        if name not in LOWERED:
            continue
        yield from _lower_one(pod, name, excess=asked[name] - most)


def _lower_one(pod: Pod, name: str, *, excess: int) -> Iterator[Candidate]:
    """Yield the Pod whose largest request of the resource is lower by what is too much."""
    requests = [_requested(container, name) for container in pod.spec.containers]
    largest = max(range(len(requests)), key=requests.__getitem__, default=None)
    if largest is None or requests[largest] <= excess:
        return
    left = resource.quantity_of(name, requests[largest] - excess)
    container = pod.spec.containers[largest]
    yield Candidate(
        id="LowerRequests",
        cost=3,
        summary=f"lower the {name} request of container {container.name} to {left}",
        edit=partial(_set_request, largest, name, left),
    )


def _requested(container: Container, name: str) -> int:
    """Return what the container requests of the resource (amount)."""
    return resource.amounts(container.resources.requests).get(name, 0)


def _set_request(index: int, name: str, quantity: str, target: PodTemplateSpec) -> tuple[PatchOperation, ...]:
    """Return the operation that sets one request; in a template, requests and resources may be absent."""
    resources, path = target.spec.containers[index].resources, pointer("spec", "containers", index, "resources")
    if resources.requests:
        return (set_to(path + pointer("requests", name), quantity),)
    if resources.limits:
        return (set_to(f"{path}/requests", {name: quantity}),)
    return (set_to(path, {"requests": {name: quantity}}),)

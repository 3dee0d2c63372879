"""Changes of what else the Pod requires of a node: tolerations, node affinity, room, other Pods, host ports."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal, TypeAlias

import msgspec

from kubectl_spread.controllers.taints import taint_cost
from kubectl_spread.diagnosis.fixes.candidate import Candidate, EditPod, as_template
from kubectl_spread.diagnosis.fixes.change import JsonValue, Operations, Override
from kubectl_spread.diagnosis.fixes.constraints import careful_selector
from kubectl_spread.diagnosis.fixes.nodes import closed_by, untolerated
from kubectl_spread.diagnosis.fixes.patch import append, pointer, remove, set_to
from kubectl_spread.diagnosis.fixes.proposals import Proposal
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.diagnosis.requirements import FilterRequirement
from kubectl_spread.objects import core
from kubectl_spread.objects.well_known_labels import names_pool
from kubectl_spread.scheduler import interpodaffinity, nodeaffinity, nodeports, noderesources, resource, tainttoleration

FULL_WEIGHT = 100
# Resources that a Pod can request less of. Others are counted in units, and their requests must equal their limits.
LOWERED = frozenset((resource.CPU, resource.MEMORY, resource.EPHEMERAL_STORAGE))


AffinityField: TypeAlias = Literal["podAffinity", "podAntiAffinity"]


class AddToleration(Proposal, frozen=True, kw_only=True):
    """The Pod tolerates a taint."""

    overrides: Override = Override.DECISION
    taint: str


class RequireZones(Proposal, frozen=True, kw_only=True):
    """The Pod goes to these zones only, so that no other zone counts."""

    cost: int = 2
    zones: tuple[str, ...]


class RelaxNodeSelector(Proposal, frozen=True, kw_only=True):
    """A label is removed from nodeSelector; if None, the required node affinity becomes a preference."""

    cost: int = 3
    overrides: Override = Override.DECISION
    label: tuple[str, str] | None = None


class LowerRequests(Proposal, frozen=True, kw_only=True):
    """A request of a container becomes smaller, or of the Pod if the container is None."""

    cost: int = 3
    overrides: Override = Override.DECISION
    resource: str
    container: str | None
    quantity: str


class RelaxPodAffinity(Proposal, frozen=True, kw_only=True):
    """A required term on other Pods becomes a preference."""

    cost: int = 3
    overrides: Override = Override.DECISION
    field: AffinityField
    selector: str
    topology_key: str


class ChangeHostPort(Proposal, frozen=True, kw_only=True):
    """A container no longer uses a host port."""

    cost: int = 3
    overrides: Override = Override.DECISION
    port: int
    protocol: str
    container: str


def candidates(situation: Situation, *, others: int) -> Iterator[Candidate]:
    """Yield the changes of the Pod's other requirements that keep it off a node.

    ``others``: how many more requirements a second change could overcome (count).
    """
    yield from _add_tolerations(situation, others=others)
    for plugin, changes in (
        (nodeaffinity.NAME, _relax_node_affinity),
        (interpodaffinity.NAME, _relax_pod_affinity),
        (nodeports.NAME, _drop_host_port),
    ):
        if FilterRequirement(plugin) in situation.rejected:
            yield from changes(situation)
    yield from _lower_requests(situation, others=others)


def _add_tolerations(situation: Situation, *, others: int) -> Iterator[Candidate]:
    nodes = closed_by((tainttoleration.NAME,), situation, others=others)
    for taint in dict.fromkeys(t for info in nodes for t in untolerated(situation, info, others=others)):
        yield EditPod(
            proposal=AddToleration(cost=taint_cost(taint), taint=str(taint)),
            edit=partial(_add_toleration, taint),
        )


def _add_toleration(taint: core.Taint, target: core.PodTemplateSpec) -> Operations:
    if any(tainttoleration.tolerates(each, taint, numeric=False) for each in target.spec.tolerations):
        return ()
    toleration = {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
    if not taint.value:
        toleration = {"key": taint.key, "operator": "Exists", "effect": taint.effect}
    return (append("/spec/tolerations", target.spec.tolerations, toleration),)


def _relax_node_affinity(situation: Situation) -> Iterator[Candidate]:
    """Yield the Pod without one nodeSelector label, or with its required node affinity only preferred.

    A DaemonSet's controller sets the affinity of its Pods itself: one for each node.
    """
    pod, written = situation.pod, situation.written.template.spec if situation.written else core.PodSpec()
    for key, value in pod.spec.node_selector.items():
        path = pointer("spec", "nodeSelector", key)
        # The Pod may be of an older template than the manifest.
        label = (key, written.node_selector.get(key, value))
        proposal = RelaxNodeSelector(label=label, overrides=_override_of([key]))
        yield EditPod(proposal=proposal, edit=partial(_remove_field, path))
    required = pod.spec.required_nodes
    if required is not None and pod.metadata.controller_kind != "DaemonSet":
        keys = (condition.key for term in required.node_selector_terms for condition in term.match_expressions)
        yield EditPod(proposal=RelaxNodeSelector(overrides=_override_of(keys)), edit=_prefer_nodes)


def _override_of(keys: Iterable[str]) -> Override:
    return Override.NODE_POOL if any(map(names_pool, keys)) else Override.DECISION


def _remove_field(path: str, _target: core.PodTemplateSpec) -> Operations:
    return (remove(path),)


def _prefer_nodes(target: core.PodTemplateSpec) -> Operations:
    """Return the operations that make the required node affinity a preference, term by term; LookupError without any.

    A required term that cannot be parsed matches no node. A preferred one makes kube-scheduler fail.
    """
    affinity = target.spec.affinity.node_affinity if target.spec.affinity else None
    required = affinity.required if affinity else None
    if affinity is None or required is None:
        raise LookupError("no required node affinity")
    path = pointer("spec", "affinity", "nodeAffinity", core.PREFERRED)
    added = [
        {"weight": FULL_WEIGHT, "preference": msgspec.to_builtins(term)}
        for term in required.node_selector_terms
        if nodeaffinity.parse_term(term) is not None
    ]
    kept = [msgspec.to_builtins(term) for term in affinity.preferred]
    return remove(pointer("spec", "affinity", "nodeAffinity", core.REQUIRED)), set_to(path, [*kept, *added])


def _relax_pod_affinity(situation: Situation) -> Iterator[Candidate]:
    fields: Sequence[AffinityField] = ("podAffinity", "podAntiAffinity")
    for field in fields:
        affinity = _pod_affinity(field, as_template(situation.pod))
        for term in affinity.required:
            meant = str(careful_selector(term.label_selector))
            proposal = RelaxPodAffinity(field=field, selector=meant, topology_key=term.topology_key)
            yield EditPod(proposal=proposal, edit=partial(_prefer_pods, field, term))


def _pod_affinity(field: str, target: core.PodTemplateSpec) -> core.PodAffinity:
    affinity = target.spec.affinity or core.Affinity()
    found = affinity.pod_affinity if field == "podAffinity" else affinity.pod_anti_affinity
    return found or core.PodAffinity()


def _prefer_pods(field: str, wanted: core.PodAffinityTerm, target: core.PodTemplateSpec) -> Operations:
    """Return the operations that make one required term a preference; LookupError if it is not required here."""
    affinity = _pod_affinity(field, target)
    required = affinity.required
    index = next((i for i, term in enumerate(required) if _is_same_term(term, wanted)), len(required))
    weighted = {"weight": FULL_WEIGHT, "podAffinityTerm": msgspec.to_builtins(required[index])}
    path = pointer("spec", "affinity", field)
    return remove(f"{path}/{core.REQUIRED}/{index}"), append(f"{path}/{core.PREFERRED}", affinity.preferred, weighted)


def _is_same_term(term: core.PodAffinityTerm, of_pod: core.PodAffinityTerm) -> bool:
    """Whether a term is the Pod's; the API server adds expressions for (mis)matchLabelKeys to the Pod's selector."""
    if term.label_selector is None or of_pod.label_selector is None:
        return term == of_pod
    expressions = of_pod.label_selector.match_expressions[: len(term.label_selector.match_expressions)]
    selector = msgspec.structs.replace(of_pod.label_selector, match_expressions=expressions)
    return term == msgspec.structs.replace(of_pod, label_selector=selector)


def _drop_host_port(situation: Situation) -> Iterator[Candidate]:
    """Yield the Pod without one of its host ports; on the host network they cannot be dropped."""
    spec = situation.pod.spec
    for container in () if spec.host_network else (*spec.containers, *spec.init_containers):
        for port in container.ports:
            if port.host_port:
                proposal = ChangeHostPort(port=port.host_port, protocol=port.protocol, container=container.name)
                yield EditPod(proposal=proposal, edit=partial(_without_host_port, container.name, port))


def _without_host_port(name: str, port: core.ContainerPort, target: core.PodTemplateSpec) -> Operations:
    """Return the operation that drops a host port, or raise LookupError if no container of that name has it."""
    path, container = _container_named(name, target)
    index = next((i for i, each in enumerate(container.ports) if each == port), None)
    if index is None:
        raise LookupError(f"container {name} has no host port {port.host_port}")
    return (remove(path + pointer("ports", index, "hostPort")),)


def _container_named(name: str, target: core.PodTemplateSpec) -> tuple[str, core.Container]:
    """Return the path and the container of that name, or raise LookupError; its index may differ from the Pod's."""
    for field, containers in (("containers", target.spec.containers), ("initContainers", target.spec.init_containers)):
        for index, container in enumerate(containers):
            if container.name == name:
                return pointer("spec", field, index), container
    raise LookupError(f"no container {name}")


def nodes_short(situation: Situation) -> list[str]:
    """Return the nodes that only lack room, those that offer the most first."""
    state = noderesources.state_of(situation.pod, situation.handle)
    nodes = situation.nodes_only_against([FilterRequirement(noderesources.NAME)])
    short = {info.name: noderesources.insufficient(state, info) for info in nodes}
    return sorted(short, key=lambda name: sum(each.wanted - each.free for each in short[name]))


def _lower_requests(situation: Situation, *, others: int) -> Iterator[Candidate]:
    """Yield, for each resource, the greatest request, of one container or of the Pod, for which a node has room.

    No request falls below half of its value: that would be another program, not a smaller one.
    """
    pod = situation.pod
    state = noderesources.state_of(pod, situation.handle)
    room: dict[str, int] = {}
    unread = situation.handle.snapshot.inventory.not_read
    for info in situation.nodes_only_against([FilterRequirement(noderesources.NAME)], others=others):
        if info.name in unread:
            continue
        short = noderesources.insufficient(state, info)
        if len(short) <= 1 + others and not noderesources.is_full(info):
            room |= {each.name: max(room.get(each.name, 0), each.free) for each in short}
    whole = _pod_level_requests(situation)
    for name in sorted(LOWERED.intersection(room)):
        excess = state.requests[name] - room[name]
        requested: list[tuple[str | None, int]] = [(None, whole[name])] if name in whole else []
        for containers in () if requested else (pod.spec.containers, pod.spec.init_containers):
            amounts = [(each.name, resource.amounts(each.resources.requests).get(name, 0)) for each in containers]
            requested += [max(amounts, key=lambda each: each[1])] if amounts else []
        for container, amount in requested:
            if amount >= 2 * excess:
                quantity = resource.quantity_of(name, amount - excess)
                yield EditPod(
                    proposal=LowerRequests(resource=name, container=container, quantity=quantity),
                    edit=partial(_set_request, container, name, quantity),
                    subject=(name, container or ""),
                    amount=excess,
                )


def _pod_level_requests(situation: Situation) -> Mapping[str, int]:
    """Return the Pod-level requests (amounts), which count instead of the containers' requests."""
    pod = situation.pod
    if pod.spec.resources is None or not resource.has_pod_level(pod, situation.handle.profile):
        return {}
    requests = resource.amounts(pod.spec.resources.requests)
    return {name: amount for name, amount in requests.items() if resource.is_pod_level(name)}


def _set_request(container_name: str | None, name: str, quantity: str, target: core.PodTemplateSpec) -> Operations:
    """Return the operation that sets one request of a container, or of the Pod.

    All requests are replaced together: if the manifest has none, those of the Pod come from its limits. A request that
    is as small already stays: the Pod's comes from an older template, or from a webhook.
    """
    path, resources = "/spec/resources", target.spec.resources or core.ResourceRequirements()
    if container_name is not None:
        place, container = _container_named(container_name, target)
        path, resources = f"{place}/resources", container.resources
    own = resource.amounts({**resources.limits, **resources.requests})
    if own.get(name, math.inf) <= resource.amounts({name: quantity})[name]:
        return ()
    requests: dict[str, JsonValue] = {**resources.requests, name: quantity}
    if resources.requests or resources.limits:
        return (set_to(f"{path}/requests", requests),)
    return (set_to(path, {"requests": requests}),)

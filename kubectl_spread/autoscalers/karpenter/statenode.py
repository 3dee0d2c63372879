"""The nodes that Karpenter knows, as it sees them: Nodes beside the NodeClaims that they come from.

Source: karpenter pkg/controllers/state/statenode.go and cluster.go, scheduling/existingnode.go (v1.14.1).
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from kubectl_spread.autoscalers.karpenter import requirements as scheduling
from kubectl_spread.autoscalers.karpenter.releases import PROVED, READINESS_TAINTS, REBOOTS
from kubectl_spread.autoscalers.karpenter.resources import requests_for_pods
from kubectl_spread.objects.autoscaling import NodeClaim
from kubectl_spread.objects.core import Node, Pod, Taint
from kubectl_spread.objects.well_known_labels import HOSTNAME, INSTANCE_TYPE
from kubectl_spread.scheduler.nodeinfo import HostPort, host_ports
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.scheduler.resource import amounts, total
from kubectl_spread.snapshot import Snapshot

REGISTERED = "karpenter.sh/registered"
INITIALIZED = "karpenter.sh/initialized"
# Key and effect of the taint of nodes that Karpenter replaces or removes.
DISRUPTED = ("karpenter.sh/disrupted", "NoSchedule")
_NOT_READY = "node.kubernetes.io/not-ready"
# Key and effect of taints that go away while a node of Karpenter's starts.
KNOWN_EPHEMERAL_TAINTS = frozenset(
    (
        (_NOT_READY, "NoSchedule"),
        (_NOT_READY, "NoExecute"),
        ("node.kubernetes.io/unreachable", "NoSchedule"),
        ("node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule"),
        ("karpenter.sh/unregistered", "NoExecute"),
    )
)
REBOOTING = ("karpenter.sh/rebooting", "NoSchedule")  # Key and effect of the taint of nodes that Karpenter reboots
READINESS_PREFIX = "readiness.k8s.io/"


class StateNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node, or a NodeClaim that is about to become one."""

    name: str
    node: Node | None
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    initialized: bool
    capacity: Mapping[str, int]  # what the machine has (amounts)
    remaining: Mapping[str, int]  # what is left for Pods (amounts), Pods of DaemonSets that are yet to come counted
    ports: frozenset[HostPort]  # the host ports that are taken

    @property
    def pool(self) -> str:
        """The NodePool it counts for; empty for none."""
        return self.labels.get(scheduling.NODE_POOL, "")

    @property
    def host(self) -> str:
        """Its domain among hosts."""
        return self.labels.get(HOSTNAME) or self.name


def state_nodes(
    snapshot: Snapshot, daemons: Iterable[Pod], profile: Profile, release: tuple[int, ...] = PROVED
) -> tuple[StateNode, ...]:
    """Return the nodes that Karpenter may use, in the order in which it tries them.

    It uses no node that is being deleted, and no node of a NodePool before the cloud has described it.
    """
    of_daemons = tuple(daemons)
    nodes = (
        _state_node(node, claim, snapshot, of_daemons, profile, release)
        for node, claim in _known(snapshot)
        if not _is_deleted(node, claim) and not (node is not None and _is_new(node))
    )
    return tuple(sorted(nodes, key=lambda each: (not each.initialized, each.name)))


def _known(snapshot: Snapshot) -> Iterator[tuple[Node | None, NodeClaim | None]]:
    """Yield the nodes with their NodeClaims, then the NodeClaims without a node."""
    claims = {claim.status.provider_id: claim for claim in snapshot.all(NodeClaim) if claim.status.provider_id}
    for node in snapshot.nodes.values():
        # A node without a provider's ID is known by its own name.
        yield node, claims.pop(node.spec.provider_id or node.metadata.name, None)
    yield from ((None, claim) for claim in claims.values())


def _is_new(node: Node) -> bool:
    """Whether the node is of a NodePool, and still waits for its provider's ID or for its labels."""
    labels = node.metadata.labels
    described = node.spec.provider_id and (INSTANCE_TYPE in labels or INITIALIZED in labels)
    return bool(labels.get(scheduling.NODE_POOL)) and not described


def leaving_nodes(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the nodes that are being deleted and have Pods that Karpenter schedules again, in one batch with others.

    Source: provisioner.go Schedule, pkg/utils/pod/scheduling.go IsReschedulable.
    """
    deleted = (node for node, claim in _known(snapshot) if node is not None and _is_deleted(node, claim))
    names = (node.metadata.name for node in deleted)
    return tuple(sorted(name for name in names if any(map(_moves, snapshot.assigned.get(name, ())))))


def _moves(pod: Pod) -> bool:
    kind = pod.metadata.controller_kind
    return kind not in {"DaemonSet", "Node"} and (kind == "StatefulSet" or not pod.terminating)


def _is_deleted(node: Node | None, claim: NodeClaim | None) -> bool:
    """Whether the node goes; one that is disrupted has a taint before its NodeClaim is deleted."""
    disrupted = node is not None and any((taint.key, taint.effect) == DISRUPTED for taint in node.spec.taints)
    if claim is None:
        return disrupted or (node is not None and node.metadata.deletion_timestamp is not None)
    leaves = claim.status.holds("InstanceTerminating")
    return disrupted or leaves or claim.metadata.deletion_timestamp is not None


def _state_node(
    node: Node | None,
    claim: NodeClaim | None,
    snapshot: Snapshot,
    daemons: tuple[Pod, ...],
    profile: Profile,
    release: tuple[int, ...],
) -> StateNode:
    on_node = node.metadata.labels if node else {}
    registered = node is not None and (claim is None or on_node.get(REGISTERED) == "true")
    initialized = node is not None and (claim is None or on_node.get(INITIALIZED) == "true")
    labels = on_node if registered or claim is None else claim.metadata.labels
    name = node.metadata.name if node and registered else claim.metadata.name if claim else ""
    taints = node.spec.taints if node and registered else claim.spec.taints if claim else ()
    if claim is not None and (not initialized or (release >= REBOOTS and claim.status.holds("Rebooting"))):
        taints = tuple(taint for taint in taints if not _goes_away(taint, claim, release))
    pods = snapshot.assigned.get(node.metadata.name, ()) if node else ()
    offered = _offered(node, claim, "allocatable", initialized=initialized)
    tolerant = (pod for pod in daemons if scheduling.untolerated(taints, pod.spec.tolerations) is None)
    wanted = [pod for pod in tolerant if scheduling.has_labels(labels, scheduling.strict_pod_requirements(pod))]
    there = [pod for pod in pods if pod.metadata.controller_kind == "DaemonSet"]
    missing, present = requests_for_pods(wanted, profile, release), requests_for_pods(there, profile, release)
    to_come = {name: max(amount - present.get(name, 0), 0) for name, amount in missing.items()}
    taken = total((requests_for_pods(pods, profile, release), to_come))
    return StateNode(
        name=name,
        node=node,
        labels=labels,
        taints=taints,
        initialized=initialized,
        capacity=_offered(node, claim, "capacity", initialized=initialized),
        remaining={resource: amount - taken.get(resource, 0) for resource, amount in offered.items()},
        ports=frozenset(port for pod in pods for port in host_ports(pod)),
    )


def _goes_away(taint: Taint, claim: NodeClaim, release: tuple[int, ...]) -> bool:
    by_readiness = release >= READINESS_TAINTS and taint.key.startswith(READINESS_PREFIX)
    by_reboot = release >= REBOOTS and (taint.key, taint.effect) == REBOOTING
    if (taint.key, taint.effect) in KNOWN_EPHEMERAL_TAINTS or by_readiness or by_reboot:
        return True
    return any((each.key, each.effect) == (taint.key, taint.effect) for each in claim.spec.startup_taints)


def _offered(node: Node | None, claim: NodeClaim | None, field: str, *, initialized: bool) -> Mapping[str, int]:
    """Return what the machine has, from its Node, or from its NodeClaim until the Node is initialized."""
    of_node = amounts(getattr(node.status, field)) if node else {}
    if initialized or claim is None:
        return of_node
    of_claim = amounts(getattr(claim.status, field))
    return {**of_claim, **{name: amount for name, amount in of_node.items() if amount or name not in of_claim}}

"""NodeDeclaredFeatures: a node must have the kubelet features the Pod's spec needs.

Source: kube-scheduler nodedeclaredfeatures/nodedeclaredfeatures.go, component-helpers nodedeclaredfeatures/features
(v1.37), KEP-5328.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from kubectl_spread.objects.core import Pod, PodSpec
from kubectl_spread.scheduler.framework import SKIP, SUCCESS, Handle, PreFilterResult, Status, unresolvable
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour

NAME = "NodeDeclaredFeatures"
REASON = "node(s) didn't match Pod's required features"
RESTART_ALL_CONTAINERS = "RestartAllContainers"


class State(msgspec.Struct, frozen=True):
    """What the filter needs.

    Attributes:
        named: whether the reason names what is missing.
    """

    features: frozenset[str]
    named: bool


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter, or Skip for a Pod that needs nothing special."""
    features = required_features(pod.spec, handle)
    if not features:
        return SKIP
    state = State(features, named=handle.profile.does(Behaviour.FEATURES_IN_REASON))
    return PreFilterResult(partial(filter_node, state))


def filter_node(state: State, node_info: NodeInfo) -> Status:
    """Reject a node that does not declare every feature."""
    # A node that declares nothing lacks every feature.
    missing = state.features.difference(node_info.node.status.declared_features)
    if not missing:
        return SUCCESS
    if not state.named:
        return unresolvable(REASON)
    # differs: upstream lists them in no particular order.
    listed = ", ".join(sorted(missing))
    return unresolvable(f"node declared features check failed - unsatisfied requirements: {listed}")


def required_features(spec: PodSpec, handle: Handle) -> frozenset[str]:
    """Return the features a Pod needs of its node, as far as the release knows of them."""
    return frozenset(
        feature for feature, (behaviour, needs) in _FEATURES.items() if handle.profile.does(behaviour) and needs(spec)
    )


def _restarts_all_containers(spec: PodSpec) -> bool:
    containers = (*spec.containers, *spec.init_containers)
    return any(rule.action == RESTART_ALL_CONTAINERS for c in containers for rule in c.restart_policy_rules)


def _has_own_users_on_host_network(spec: PodSpec) -> bool:
    return spec.host_network and spec.host_users is False


def _binds_with_options(spec: PodSpec) -> bool:
    containers = (*spec.containers, *spec.init_containers, *spec.ephemeral_containers)
    return any(mount.bind_mount_options for container in containers for mount in container.volume_mounts)


_FEATURES: Mapping[str, tuple[Behaviour, Callable[[PodSpec], bool]]] = {
    "RestartAllContainersOnContainerExits": (Behaviour.DECLARED_FEATURES, _restarts_all_containers),
    "UserNamespacesHostNetworkSupport": (Behaviour.DECLARED_USER_NAMESPACES, _has_own_users_on_host_network),
    "VolumeBindMountOptions": (Behaviour.DECLARED_BIND_MOUNT_OPTIONS, _binds_with_options),
}
"""Feature → the releases that ask for it, and whether a Pod needs it."""

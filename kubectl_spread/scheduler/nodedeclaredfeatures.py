"""NodeDeclaredFeatures: a node must have the kubelet features that the Pod's spec needs.

Source: kube-scheduler nodedeclaredfeatures/nodedeclaredfeatures.go, component-helpers nodedeclaredfeatures/features
(v1.37), KEP-5328.
"""

from collections.abc import Callable, Mapping
from functools import partial

from kubectl_spread.objects.core import Pod, PodSpec
from kubectl_spread.scheduler.framework import SKIP, SUCCESS, Handle, PreFilterResult, Status, unresolvable
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour

NAME = "NodeDeclaredFeatures"
REASON = "node(s) didn't match Pod's required features"
RESTART_ALL_CONTAINERS = "RestartAllContainers"


def pre_filter(pod: Pod, handle: Handle) -> PreFilterResult | Status:
    """Return the filter, or Skip for a Pod that needs no such feature."""
    does = handle.profile.does
    features = frozenset(name for name, (behaviour, needs) in _FEATURES.items() if does(behaviour) and needs(pod.spec))
    if not features:
        return SKIP
    return PreFilterResult(partial(filter_node, features, named=does(Behaviour.FEATURES_IN_REASON)))


def filter_node(features: frozenset[str], node_info: NodeInfo, *, named: bool) -> Status:
    """Reject a node that does not declare every feature; ``named``: the reason names the missing ones."""
    missing = features.difference(node_info.node.status.declared_features)
    if not missing:
        return SUCCESS
    if not named:
        return unresolvable(REASON)
    # differs: upstream lists them in no particular order.
    listed = ", ".join(sorted(missing))
    return unresolvable(f"node declared features check failed - unsatisfied requirements: {listed}")


def _restarts_all_containers(spec: PodSpec) -> bool:
    containers = (*spec.containers, *spec.init_containers)
    return any(rule.action == RESTART_ALL_CONTAINERS for c in containers for rule in c.restart_policy_rules)


def _binds_with_options(spec: PodSpec) -> bool:
    containers = (*spec.containers, *spec.init_containers, *spec.ephemeral_containers)
    return any(mount.bind_mount_options for container in containers for mount in container.volume_mounts)


# Feature → the behaviour of releases that check it, and whether a Pod needs it.
_FEATURES: Mapping[str, tuple[Behaviour, Callable[[PodSpec], bool]]] = {
    "RestartAllContainersOnContainerExits": (Behaviour.DECLARED_FEATURES, _restarts_all_containers),
    "UserNamespacesHostNetworkSupport": (
        Behaviour.DECLARED_USER_NAMESPACES,
        lambda spec: spec.host_network and spec.host_users is False,
    ),
    "VolumeBindMountOptions": (Behaviour.DECLARED_BIND_MOUNT_OPTIONS, _binds_with_options),
}

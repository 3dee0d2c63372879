"""Which taints controllers set, and why: such a taint comes back as long as its reason lasts."""

from __future__ import annotations

from enum import Enum, auto
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:  # ``explain`` needs this module, but no objects.
    from kubectl_spread.objects.core import Node, Taint

CONTROL_PLANE = frozenset(("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"))


class NodeTrouble(Enum):
    """The problem of a node that a controller reports with a taint, or by deleting the node."""

    UNREACHABLE = auto()
    NOT_READY = auto()
    MEMORY_PRESSURE = auto()
    DISK_PRESSURE = auto()
    PID_PRESSURE = auto()
    NETWORK_UNAVAILABLE = auto()
    OUT_OF_SERVICE = auto()
    CORDONED = auto()
    UNHEALTHY = auto()
    CLOUD = auto()
    STATUS = auto()
    UNREGISTERED = auto()
    NO_CILIUM_AGENT = auto()
    NO_EBS_DRIVER = auto()
    MACHINE_LEAVES = auto()
    SET_APART_BY_GKE = auto()
    CLUSTER_API = auto()
    NO_CSI_DRIVER = auto()
    NO_AGENT = auto()
    AUTOSCALER_DELETES = auto()
    STARTING = auto()
    BEING_DELETED = auto()


# Troubles from which a node does not recover: it is about to be removed.
LEAVING = frozenset((NodeTrouble.MACHINE_LEAVES, NodeTrouble.AUTOSCALER_DELETES, NodeTrouble.BEING_DELETED))


class Owned(msgspec.Struct, frozen=True):
    """Taints that a controller sets and removes."""

    keys: str  # a pattern for the key; ``*`` matches any text
    meaning: NodeTrouble
    lasts: bool = False  # whether a new node of the same kind gets the taint too


_KUBERNETES = "node.kubernetes.io/"
_AUTOSCALER = "cluster-autoscaler.kubernetes.io/"

# The taints that nobody should tolerate or remove by hand; the first entry that matches a key counts.
OWNED = (
    # api core/v1/well_known_taints.go, set by kube-controller-manager node_lifecycle_controller.go (v1.36)
    Owned(f"{_KUBERNETES}unreachable", NodeTrouble.UNREACHABLE),
    Owned(f"{_KUBERNETES}not-ready", NodeTrouble.NOT_READY),
    Owned(f"{_KUBERNETES}memory-pressure", NodeTrouble.MEMORY_PRESSURE),
    Owned(f"{_KUBERNETES}disk-pressure", NodeTrouble.DISK_PRESSURE),
    Owned(f"{_KUBERNETES}pid-pressure", NodeTrouble.PID_PRESSURE),
    Owned(f"{_KUBERNETES}network-unavailable", NodeTrouble.NETWORK_UNAVAILABLE),
    Owned(f"{_KUBERNETES}out-of-service", NodeTrouble.OUT_OF_SERVICE),
    Owned(f"{_KUBERNETES}unschedulable", NodeTrouble.CORDONED),
    Owned(f"{_KUBERNETES}*", NodeTrouble.UNHEALTHY),
    # cloud-provider api/well_known_taints.go: uninitialized, shutdown
    Owned("node.cloudprovider.kubernetes.io/*", NodeTrouble.CLOUD),
    # cluster-autoscaler utils/taints/taints.go
    Owned("ToBeDeletedByClusterAutoscaler", NodeTrouble.AUTOSCALER_DELETES),
    Owned("DeletionCandidateOfClusterAutoscaler", NodeTrouble.AUTOSCALER_DELETES),
    Owned(f"startup-taint.{_AUTOSCALER}*", NodeTrouble.STARTING),
    Owned(f"ignore-taint.{_AUTOSCALER}*", NodeTrouble.STARTING),
    Owned(f"status-taint.{_AUTOSCALER}*", NodeTrouble.STATUS),
    # karpenter pkg/apis/v1/taints.go: disrupted, unregistered; disruption before v1
    Owned("karpenter.sh/unregistered", NodeTrouble.UNREGISTERED),
    Owned("karpenter.sh/*", NodeTrouble.AUTOSCALER_DELETES),
    # cilium operator pkg/nodetaint: agent-not-ready
    Owned("node.cilium.io/*", NodeTrouble.NO_CILIUM_AGENT),
    # aws-ebs-csi-driver docs/install.md: agent-not-ready
    Owned("ebs.csi.aws.com/*", NodeTrouble.NO_EBS_DRIVER),
    # aws-node-termination-handler pkg/node/node.go: spot-itn, scheduled-maintenance, rebalance-recommendation
    Owned("aws-node-termination-handler/*", NodeTrouble.MACHINE_LEAVES),
    # Google Kubernetes Engine, which sets what is below its own domain: impending-node-termination, gke-quick-remove
    Owned("cloud.google.com/impending-node-termination", NodeTrouble.MACHINE_LEAVES),
    Owned("cloud.google.com/gke-quick-remove", NodeTrouble.AUTOSCALER_DELETES),
    Owned("cloud.google.com/*", NodeTrouble.SET_APART_BY_GKE, lasts=True),
    # cluster-api api/v1beta1 common_types.go: uninitialized, outdated-revision
    Owned("node.cluster.x-k8s.io/*", NodeTrouble.CLUSTER_API),
    # what drivers have their installers set: efs.csi.aws.com/agent-not-ready, cni.istio.io/not-ready
    Owned("*.csi.*", NodeTrouble.NO_CSI_DRIVER),
    Owned("*/agent-not-ready", NodeTrouble.NO_AGENT),
    Owned("*/not-ready", NodeTrouble.NO_AGENT),
)


def meaning_of(taint: Taint) -> NodeTrouble | None:
    """Return the problem that the taint reports; None for a taint that a person may have set."""
    owned = _owned(taint.key)
    return owned.meaning if owned else None


def is_passing(taint: Taint) -> bool:
    """Whether a healthy new node of the same kind would not have the taint."""
    owned = _owned(taint.key)
    return owned is not None and not owned.lasts


@lru_cache(256)
def _owned(key: str) -> Owned | None:
    return next((owned for owned in OWNED if fnmatchcase(key, owned.keys)), None)


def is_control_plane(node: Node) -> bool:
    """Whether the node has a taint of the control plane."""
    return any(taint.key in CONTROL_PLANE for taint in node.spec.taints)


def taint_cost(taint: Taint) -> int:
    """Return the cost of tolerating this taint; it is higher for the control plane, which should stay free."""
    return 4 if taint.key in CONTROL_PLANE else 2

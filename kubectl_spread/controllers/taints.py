"""Whose a taint is: a person's, who may think again, or a controller's, which sets it anew while its reason lasts."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache

import msgspec

from kubectl_spread.objects.core import Node, Taint

KEYS_KEPT = 256
"""Taints' keys (count) of which is kept whose they are: thousands of nodes carry the same few."""
CONTROL_PLANE = frozenset(("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"))


class Owned(msgspec.Struct, frozen=True):
    """Taints that a controller sets and removes.

    Attributes:
        keys: a pattern, ``*`` for any text.
        meaning: what the node suffers from.
        lasts: whether a new node of the same kind has it too.
    """

    keys: str
    meaning: str
    lasts: bool = False


_KUBERNETES = "node.kubernetes.io/"
_AUTOSCALER = "cluster-autoscaler.kubernetes.io/"
_LEAVES = "an autoscaler is about to delete the node"
_STARTS = "the node is not ready for Pods yet"

OWNED = (
    # api core/v1/well_known_taints.go, set by kube-controller-manager node_lifecycle_controller.go (v1.36)
    Owned(f"{_KUBERNETES}unreachable", "its kubelet does not answer"),
    Owned(f"{_KUBERNETES}not-ready", "it is not ready"),
    Owned(f"{_KUBERNETES}memory-pressure", "it is short of memory"),
    Owned(f"{_KUBERNETES}disk-pressure", "it is short of disk"),
    Owned(f"{_KUBERNETES}pid-pressure", "it is short of process ids"),
    Owned(f"{_KUBERNETES}network-unavailable", "its network is not set up"),
    Owned(f"{_KUBERNETES}out-of-service", "it was shut down"),
    Owned(f"{_KUBERNETES}unschedulable", "it is cordoned"),
    Owned(f"{_KUBERNETES}*", "Kubernetes found something wrong with it"),
    # cloud-provider api/well_known_taints.go: uninitialized, shutdown
    Owned("node.cloudprovider.kubernetes.io/*", "its cloud has not set it up, or has shut it down"),
    # cluster-autoscaler utils/taints/taints.go
    Owned("ToBeDeletedByClusterAutoscaler", _LEAVES),
    Owned("DeletionCandidateOfClusterAutoscaler", _LEAVES),
    Owned(f"startup-taint.{_AUTOSCALER}*", _STARTS),
    Owned(f"ignore-taint.{_AUTOSCALER}*", _STARTS),
    Owned(f"status-taint.{_AUTOSCALER}*", "something is wrong with the node"),
    # karpenter pkg/apis/v1/taints.go: disrupted, unregistered; disruption before v1
    Owned("karpenter.sh/unregistered", "it has not joined yet"),
    Owned("karpenter.sh/*", _LEAVES),
    # cilium operator pkg/nodetaint: agent-not-ready
    Owned("node.cilium.io/*", "Cilium's agent does not run there"),
    # aws-ebs-csi-driver docs/install.md: agent-not-ready
    Owned("ebs.csi.aws.com/*", "the EBS CSI driver does not run there"),
    # aws-node-termination-handler pkg/node/node.go: spot-itn, scheduled-maintenance, rebalance-recommendation
    Owned("aws-node-termination-handler/*", "its machine is about to be taken away"),
    # Google Kubernetes Engine, which sets what is below its own domain: impending-node-termination, gke-quick-remove
    Owned("cloud.google.com/impending-node-termination", "its machine is about to be taken away"),
    Owned("cloud.google.com/gke-quick-remove", _LEAVES),
    Owned("cloud.google.com/*", "Google Kubernetes Engine sets it apart", lasts=True),
    # cluster-api api/v1beta1 common_types.go: uninitialized, outdated-revision
    Owned("node.cluster.x-k8s.io/*", "Cluster API has not set it up, or is replacing it"),
    # what drivers have their installers set: efs.csi.aws.com/agent-not-ready, cni.istio.io/not-ready
    Owned("*.csi.*", "a CSI driver does not run there"),
    Owned("*/agent-not-ready", "an agent that belongs there does not run"),
    Owned("*/not-ready", "an agent that belongs there does not run"),
)
"""Which taints nobody should tolerate or remove by hand; the first entry that covers a key tells."""


def meaning_of(taint: Taint) -> str:
    """Return what the node suffers from by a controller's word; empty for a taint that a person may have set."""
    owned = _owned(taint.key)
    return owned.meaning if owned else ""


def is_passing(taint: Taint) -> bool:
    """Whether a new node of the same kind would not have the taint, once it is in good order."""
    owned = _owned(taint.key)
    return owned is not None and not owned.lasts


@lru_cache(KEYS_KEPT)
def _owned(key: str) -> Owned | None:
    """Return the first entry that covers taints of the key."""
    return next((owned for owned in OWNED if fnmatchcase(key, owned.keys)), None)


def is_control_plane(node: Node) -> bool:
    """Whether the node is tainted as one of the control plane, where only Pods go that say so."""
    return any(taint.key in CONTROL_PLANE for taint in node.spec.taints)


def taint_cost(taint: Taint) -> int:
    """Return what it costs to open a node with this taint; the control plane is kept free for a reason."""
    return 4 if taint.key in CONTROL_PLANE else 2

"""Labels that Kubernetes and cloud providers set on nodes.

Source: api core/v1/well_known_labels.go (v1.36).
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"

# Deprecated label → the label that replaces it.
SUCCESSORS: Mapping[str, str] = {
    BETA_ZONE: ZONE,
    BETA_REGION: REGION,
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/instance-type": INSTANCE_TYPE,
}

WELL_KNOWN_KEYS = frozenset((HOSTNAME, *SUCCESSORS, *SUCCESSORS.values()))

# Patterns of the labels that hold the name of a node's pool.
NODE_POOLS = (
    # kubermatic pkg/provider/cloud/eks: EKSNodeGroupNameLabel
    "eks.amazonaws.com/nodegroup",
    # eksctl pkg/apis/eksctl.io/v1alpha5/types.go: NodeGroupNameLabel
    "alpha.eksctl.io/nodegroup-name",
    # karpenter pkg/apis/v1/labels.go: NodePoolLabelKey; before v1beta1 v1alpha5/labels.go: ProvisionerNameLabelKey
    "karpenter.sh/nodepool",
    "karpenter.sh/provisioner-name",
    # docs.cloud.google.com/kubernetes-engine/docs/concepts/node-pools
    "cloud.google.com/gke-nodepool",
    # cluster-autoscaler cloudprovider/azure/azure_template.go: agentPoolNodeLabelKey, legacyAgentPoolNodeLabelKey
    "kubernetes.azure.com/agentpool",
    "agentpool",
    # digitalocean.com/docs/kubernetes/resources/managed
    "doks.digitalocean.com/node-pool",
    # cluster-api copies the labels of a Machine with this prefix: docs/proposals 20220927-label-sync
    "node.cluster.x-k8s.io/*",
    # kops pkg/apis/kops/instancegroup.go: NodeLabelInstanceGroup
    "kops.k8s.io/instancegroup",
)


@cache
def names_pool(label: str) -> bool:
    """Whether the label holds the name of a node's pool."""
    return any(fnmatchcase(label, pattern) for pattern in NODE_POOLS)

"""Which node group of cluster-autoscaler a node belongs to."""

from __future__ import annotations

import pytest

from kubectl_spread.autoscalers.cluster_autoscaler import decide
from kubectl_spread.autoscalers.decision import Decision, Unreadable, Verdict
from kubectl_spread.autoscalers.node_groups import groups_of_node, node_groups
from kubectl_spread.objects.autoscaling import NodeGroupHealth, NodeGroupStatus
from kubectl_spread.objects.core import Node, NodeSpec, Pod
from kubectl_spread.objects.meta import AnnotatedMeta
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.profile import default_profile
from tests.autoscalers.clusters import node, pod, snapshot_of

ZONES = frozenset({"us-east-1a", "us-east-1b", "a", "b"})
EKS, GKE, AKS = "eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool"
CAPI = "node.cluster.x-k8s.io/pool"
WEB, WEB_ARM = "eks-web-c4c1a2b3-0000-1111-2222-333344445555", "eks-web-arm-90c1a2b3-0000-1111-2222-333344445555"
MIG = "https://www.googleapis.com/compute/v1/projects/p/zones/{}/instanceGroups/gke-c-pool-1-{}-grp"
MIG_A, MIG_B = MIG.format("a", "aaaa1111"), MIG.format("b", "bbbb2222")
MIG_TOO = MIG.format("a", "cccc3333")


def made(labels: dict[str, str], zone: str = "a", provider_id: str = "", **annotations: str) -> Node:
    """Return a node in the zone."""
    own = {f"cluster.x-k8s.io/owner-{key}": value for key, value in annotations.items()}
    labels = {"topology.kubernetes.io/zone": zone, **labels}
    metadata = AnnotatedMeta(name="n", labels=labels, annotations=own)
    return Node(metadata=metadata, spec=NodeSpec(provider_id=provider_id))


@pytest.mark.parametrize(
    ("it", "names", "wanted"),
    [
        (made({EKS: "web"}), [WEB], [WEB]),
        (made({EKS: "web"}), [WEB_ARM, WEB], [WEB]),
        (made({EKS: "web-arm"}), [WEB, WEB_ARM], [WEB_ARM]),
        (made({EKS: "web"}), ["eks-webb-2", "other"], []),
        (made({EKS: "web"}), ["eks-my-web-1c9f", "eks-web-1c9f"], ["eks-web-1c9f"]),
        (made({AKS: "nodes"}), ["aks-nodes-123-vmss", "aks-nodespot-123-vmss"], ["aks-nodes-123-vmss"]),
        (
            made({CAPI: "web"}),
            ["MachineDeployment/default/web-spot", "MachineDeployment/default/web"],
            ["MachineDeployment/default/web"],
        ),
        (made({"anything": "ng-a"}), ["ng-a", "ng"], ["ng-a"]),
        (made({GKE: "pool-1"}, "a"), [MIG_A, MIG_B], [MIG_A]),
        (made({GKE: "pool-1"}, "b"), [MIG_A, MIG_B], [MIG_B]),
        (made({GKE: "pool-1"}, "a"), [MIG_A, MIG_TOO], [MIG_A, MIG_TOO]),
        (made({GKE: "pool-1"}, "a", "gce://p/a/gke-c-pool-1-cccc3333-x1y2"), [MIG_A, MIG_TOO], [MIG_TOO]),
        (made({EKS: "web"}, "us-east-1b"), ["web-us-east-1a", "web-us-east-1b"], ["web-us-east-1b"]),
        (
            made(
                {AKS: "web"},
                provider_id="azure:///subscriptions/s/virtualMachineScaleSets/aks-web-2-vmss/virtualMachines/0",
            ),
            ["aks-web-1-vmss", "aks-web-2-vmss"],
            ["aks-web-2-vmss"],
        ),
        (
            made({CAPI: "x"}, kind="MachineSet", name="web-5d9c"),
            ["MachineDeployment/default/x", "MachineDeployment/default/web"],
            ["MachineDeployment/default/web"],
        ),
        (
            made({CAPI: "x"}, kind="MachineSet", name="gpu-1"),
            ["MachineSet/default/gpu-1"],
            ["MachineSet/default/gpu-1"],
        ),
    ],
)
def test_a_node_is_of_one_group(it: Node, names: list[str], wanted: list[str]) -> None:
    assert groups_of_node(it, names, zones=ZONES) == wanted


def test_the_owner_of_a_machine_set_is_the_group() -> None:
    it = made({}, kind="MachineSet", name="a-set")
    assert groups_of_node(it, ["MachineDeployment/default/web"], owners={"a-set": "web"}) == [
        "MachineDeployment/default/web"
    ]


def test_two_groups_that_fit_a_node_equally_are_not_known() -> None:
    there = node("n1", "a")
    there["metadata"]["labels"][GKE] = "pool-1"
    snapshot = snapshot_of([there, pod("pend")])
    assert node_groups([MIG_A, MIG_TOO], snapshot).unclear == {MIG_A, MIG_TOO}
    full, free = (
        NodeGroupStatus(name=name, health=NodeGroupHealth(cloud_provider_target=1, max_size=most))
        for name, most in ((MIG_A, 1), (MIG_TOO, 3))
    )
    waiting = next(each for each in snapshot.all(Pod) if each.waits)
    found = decide(waiting, Handle.build(snapshot, default_profile(36)), (full, free))
    assert found.decision is Decision.UNKNOWN
    assert [each.verdict for each in found.pools] == [Verdict.REFUSED, Verdict.UNKNOWN]
    assert found.pools[1].reasons == (Unreadable("group", MIG_TOO),)

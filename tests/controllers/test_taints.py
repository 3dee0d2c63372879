"""Whose a taint is, and what is done about it."""

from __future__ import annotations

import pytest

from kubectl_spread.controllers.taints import OWNED, is_passing, meaning_of, taint_cost
from kubectl_spread.diagnosis.fixes.conclusion import SufferingNodes
from kubectl_spread.objects.core import Taint
from kubectl_spread.wording.fixes import left_alone
from tests.build import ZONE, app, node, spread
from tests.diagnosis.fixes.clusters import fixes, search, web

CONTROLLERS = (
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/something-new",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "ToBeDeletedByClusterAutoscaler",
    "startup-taint.cluster-autoscaler.kubernetes.io/gpu-driver",
    "karpenter.sh/disrupted",
    "node.cilium.io/agent-not-ready",
    "ebs.csi.aws.com/agent-not-ready",
    "disk.csi.azure.com/agent-not-ready",
    "cni.istio.io/not-ready",
    "example.com/agent-not-ready",
    "aws-node-termination-handler/spot-itn",
    "cloud.google.com/impending-node-termination",
    "node.cluster.x-k8s.io/outdated-revision",
)
PEOPLES = ("dedicated", "nvidia.com/gpu", "karpenter", "csi/agent")


@pytest.mark.parametrize("key", CONTROLLERS)
def test_a_controllers_taint_is_left_to_it_and_told(key: str) -> None:
    nodes = [node("a1", zone="a"), node("b1", zone="b", taints=[f"{key}:NoSchedule"])]
    found = search([*nodes, web("w", on="a1")], web())
    assert not {"AddToleration", "RemoveTaint"} & {part for fix in found.fixes for part in fix.id.split("+")}
    trouble = meaning_of(Taint(key=key))
    assert trouble is not None
    told = left_alone(SufferingNodes(nodes=("b1",), taints=(f"{key}:NoSchedule",), trouble=trouble))
    assert told in found.left_alone


@pytest.mark.parametrize("key", PEOPLES)
def test_a_persons_taint_can_be_tolerated_or_removed(key: str) -> None:
    constraints = [spread(ZONE, selector=app("web"))]
    nodes = [node("a1", zone="a"), node("b1", zone="b", taints=[f"{key}:NoSchedule"])]
    found = fixes([*nodes, web("w", on="a1")], web(topologySpreadConstraints=constraints))
    assert {"AddToleration", "RemoveTaint"} <= found.keys()
    assert found["RemoveTaint"].cost == 2


def test_what_sets_a_pool_apart_stays_on_its_new_nodes() -> None:
    apart, passing = Taint(key="cloud.google.com/gke-spot"), Taint(key="node.cilium.io/agent-not-ready")
    assert meaning_of(apart)
    assert (is_passing(apart), is_passing(passing), is_passing(Taint(key="dedicated"))) == (False, True, False)
    assert taint_cost(apart) == 2


def test_no_entry_of_the_table_is_hidden_by_one_before_it() -> None:
    """The first that covers a key tells, so a wider pattern must not stand before a narrower one."""
    for entry in OWNED:
        key = entry.keys.replace("*", "x")
        assert meaning_of(Taint(key=key)) == entry.meaning, entry.keys

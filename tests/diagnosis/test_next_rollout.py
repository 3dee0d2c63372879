"""All replicas of a Deployment fit, but not beside those of a next rollout."""

from __future__ import annotations

import pytest

from kubectl_spread.diagnosis import next_rollout as module
from kubectl_spread.diagnosis.findings import RolloutWillStick
from kubectl_spread.diagnosis.next_rollout import next_rollout
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.workloads import Deployment
from kubectl_spread.scheduler.framework import Handles
from kubectl_spread.wording.findings import finding_text
from tests import build
from tests.build import HOSTNAME, Object, app, node, pod, spread
from tests.build_workloads import template, workload

ON_NODES = spread(HOSTNAME, selector=app("web"))
NODES = [*(node(name) for name in ("a", "b", "c")), node("cp", taints=["control-plane=:NoSchedule"])]
EXPLICIT = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


def found(constraint: Object = ON_NODES, nodes: list[Object] = NODES, **spec: object) -> RolloutWillStick | None:
    """Return what is found about three replicas."""
    fields: Object = {"replicas": 3, "strategy": EXPLICIT, **spec}
    described = workload("Deployment", "web", pods=template(constraint, requests={"cpu": "1"}), **fields)
    deployment = convert(described, Deployment)
    return next_rollout(deployment, (deployment,), Handles(build.handle(nodes)))


def test_a_surge_pod_without_a_node_sticks_and_what_lets_it_finish_is_known() -> None:
    finding = found()
    assert finding is not None
    assert (finding.max_unavailable, finding.topology_keys, finding.by_chance) == (1, (HOSTNAME,), False)
    text = finding_text(finding)
    assert "constraint 0 and TaintToleration reject its nodes" in text
    assert "It finishes with maxSurge: 0 and maxUnavailable: 1 in spec.strategy or matchLabelKeys" in text


@pytest.mark.parametrize(
    ("constraint", "spec"),
    [
        ({**ON_NODES, "matchLabelKeys": ["pod-template-hash"]}, {}),
        ({**ON_NODES, "nodeTaintsPolicy": "Honor"}, {}),
        (ON_NODES, {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}),
        (ON_NODES, {"strategy": {"type": "Recreate"}}),
        (ON_NODES, {"paused": True}),
        (ON_NODES, {"replicas": 0}),
        (ON_NODES, {"replicas": 4}),
    ],
    ids=["revisions", "honored", "no surge", "all at once", "paused", "none", "waits already"],
)
def test_nothing_sticks_that_finishes_or_does_not_start(constraint: Object, spec: Object) -> None:
    assert found(constraint, **spec) is None


def test_where_pods_of_others_count_too_no_revision_is_counted_alone() -> None:
    api = pod("api", on="a", labels={"app": "web", "part": "api"}, topologySpreadConstraints=[ON_NODES])
    finding = found(nodes=[*NODES, api], replicas=2)
    assert finding is not None
    assert finding.topology_keys == ()


def test_a_large_one_is_not_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_REPLICAS", 2)
    assert found() is None

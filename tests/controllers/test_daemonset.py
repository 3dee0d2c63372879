"""Which Pods of a DaemonSet a rollout deletes next, and which nodes keep none."""

from __future__ import annotations

import pytest

from kubectl_spread.controllers.daemonset import nodes_without_pod, replaced
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.workloads import DaemonSet
from tests.build import Object, handle, node, pod, typed_pod
from tests.build_workloads import template, workload

READY: Object = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
OLD = {("default", "a"), ("default", "b"), ("default", "c")}


def daemon(name: str, on: str, *, ready: bool = True, ends: bool = False) -> Pod:
    made = pod(name, on=on, status=READY if ready else {"phase": "Running"})
    if ends:
        made["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return typed_pod(made)


@pytest.mark.parametrize(
    ("pods", "most", "going"),
    [
        pytest.param([daemon("a", "n1"), daemon("b", "n2"), daemon("c", "n3")], 1, ["a"], id="one at a time"),
        pytest.param([daemon("a", "n1"), daemon("b", "n2"), daemon("c", "n3")], 2, ["a", "b"], id="two at a time"),
        pytest.param([daemon("a", "n1"), daemon("x", "n2", ready=False)], 1, [], id="a new one is not ready yet"),
        pytest.param([daemon("a", "n1"), daemon("x", "n2", ready=False)], 2, ["a"], id="one more may be missing"),
        pytest.param([daemon("a", "n1"), daemon("b", "n2", ends=True)], 1, [], id="one is being deleted"),
        pytest.param([daemon("a", "n1"), daemon("b", "n2", ready=False)], 1, ["b"], id="an old one is not ready"),
        pytest.param([daemon("a", "n1"), daemon("b", "n2", ready=False)], 2, ["b", "a"], id="one more may go"),
        pytest.param([daemon("a", "n1"), daemon("x", "n1"), daemon("b", "n2")], 1, [], id="two on a node are nobody's"),
        pytest.param([daemon("x", "n1"), daemon("y", "n2")], 1, [], id="all are new"),
    ],
)
def test_a_rollout_replaces_what_is_not_ready_and_others_within_its_limit(
    pods: list[Pod], most: int, going: list[str]
) -> None:
    assert [each.metadata.name for each in replaced(pods, OLD, most=most)] == going


@pytest.mark.parametrize(
    ("fields", "without"),
    [
        pytest.param({}, {"evicting"}, id="of any node"),
        pytest.param({"nodeSelector": {"disk": "ssd"}}, {"plain", "cordoned", "evicting"}, id="of some nodes"),
        pytest.param({"nodeName": "plain"}, {"ssd", "cordoned", "evicting"}, id="of one node"),
        pytest.param({"tolerations": [{"operator": "Exists"}]}, set(), id="that tolerates everything"),
    ],
)
def test_a_taint_that_does_not_evict_lets_a_daemon_stay(fields: Object, without: set[str]) -> None:
    nodes = [
        node("plain"),
        node("ssd", labels={"disk": "ssd"}),
        node("cordoned", taints=["dedicated:NoSchedule"]),
        node("evicting", taints=["dedicated:NoExecute"]),
    ]
    owner = convert(workload("DaemonSet", "web", pods=template(**fields)), DaemonSet)
    assert nodes_without_pod(owner, handle(nodes)) == without

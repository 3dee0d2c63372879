"""Pods that kube-scheduler does not even try: those behind a gate, and those another scheduler decides about."""

import json

import pytest

from tests.controlplane.api import Object
from tests.controlplane.client import Client
from tests.e2e.manifests import ZONE, constraint, match, pod

pytestmark = pytest.mark.e2e

_GATE = "example.com/quota"
_WEB = {"app": "web"}


def test_a_gated_pod_keeps_its_verdict_and_goes_where_we_said_once_ungated(client: Client, namespace: str) -> None:
    beside = [pod(namespace, name, labels=_WEB, spec={"nodeName": name}) for name in ("a1", "b1")]
    client.create_pods([*beside, _web(namespace, schedulingGates=[{"name": _GATE}])])
    item = _why_pending(client, namespace, code=1)
    assert (item["verdict"], item["feasible"], item["heldBy"]) == ("Schedulable", ["c1"], [_GATE])
    client.kubectl(
        "patch",
        "pod",
        "web",
        "-n",
        namespace,
        "--type=json",
        "-p",
        '[{"op": "remove", "path": "/spec/schedulingGates"}]',
    )
    assert client.wait_for_decision(namespace, "web")["spec"]["nodeName"] == "c1"


def test_a_gated_pod_that_fits_nowhere_is_held_and_unschedulable(client: Client, namespace: str) -> None:
    gates = [{"name": _GATE}]
    client.create_pods([_web(namespace, schedulingGates=gates, nodeSelector={ZONE: "nowhere"})])
    item = _why_pending(client, namespace, code=1)
    assert (item["verdict"], item["feasible"], item["heldBy"]) == ("Unschedulable", [], [_GATE])


def test_another_schedulers_pod_has_no_message_of_ours(client: Client, namespace: str) -> None:
    client.create_pods([_web(namespace, schedulerName="volcano", nodeSelector={ZONE: "nowhere"})])
    item = _why_pending(client, namespace, code=3)
    assert (item["verdict"], item["message"]) == ("Incomplete", "")
    assert "OtherScheduler" in {finding["id"] for finding in item["findings"]}


def _web(namespace: str, **spec: object) -> Object:
    """Return a Pod that spreads over zones."""
    spread = [constraint(ZONE, selector=match(**_WEB))]
    return pod(namespace, "web", labels=_WEB, spec={"topologySpreadConstraints": spread, **spec})


def _why_pending(client: Client, namespace: str, *, code: int) -> Object:
    """Return what we say of the Pod, having ended with the code."""
    ended = client.kubectl.run("spread", "why-pending", "web", "-n", namespace, "-o", "json")
    assert ended.returncode == code, ended.stderr
    item: Object
    (item,) = json.loads(ended.stdout)["items"]
    return item

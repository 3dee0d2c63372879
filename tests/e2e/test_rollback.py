"""A rollout that is stuck on a real control plane is undone as printed, and ends as the fix says."""

from __future__ import annotations

import pytest

from tests.controlplane.binaries import Binaries
from tests.controlplane.cluster import control_plane
from tests.e2e.fixes_as_printed import NAME, OPTIONS, emptied, offered, run_as_printed, settle, waits, workload
from tests.e2e.manifests import ZONE, constraint, match, node, pod_spec

pytestmark = pytest.mark.e2e

NODES = [node(f"{zone}1", labels={ZONE: zone}, room={"cpu": "3"}) for zone in "abc"]
LABELS = {"app": NAME}


@pytest.mark.parametrize("labels", [("",), ("", "sdd", "ssd")], ids=["the release before", "two releases before"])
@pytest.mark.parametrize(("surge", "unavailable", "created"), [(1, 0, 0), (0, 1, 1)], ids=["surge", "in place"])
def test_the_rollback_ends_as_it_is_told(
    labels: tuple[str, ...], surge: int, unavailable: int, created: int, binaries: Binaries
) -> None:
    disks = (*labels, "nvme")
    rolling = {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
    with control_plane(OPTIONS, binaries=binaries) as plane, emptied(plane.client(), "back"):
        client = plane.client()
        client.create_nodes(NODES)
        for disk in disks:
            spec = {**pod_spec(), "topologySpreadConstraints": [constraint(ZONE, selector=match(**LABELS))]}
            template = {
                "metadata": {"labels": LABELS},
                "spec": {**spec, "nodeSelector": {"disk": disk} if disk else {}},
            }
            client.apply([workload("Deployment", "back", name=NAME, template=template, replicas=3, strategy=rolling)])
            settle(client, "back")
        before = {each["metadata"]["uid"]: each for each in client.pods("back")}
        pending = next(each["metadata"]["name"] for each in before.values() if waits(each))
        (fix,) = (each for each in offered(client, "back", pending) if each["id"] == "RollBack")
        run_as_printed(client, fix["commands"][0])
        settle(client, "back", quiet_s=3)
        after = {each["metadata"]["uid"]: each for each in client.pods("back")}
        assert (fix["created"], len(after), any(map(waits, after.values()))) == (created, 3, False)
        assert (len(after.keys() - before.keys()), "withoutNode" in fix) == (created, False)

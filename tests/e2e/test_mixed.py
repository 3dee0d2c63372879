"""Pods that ask for volumes, ports, neighbours and images at once: our verdict is the real scheduler's.

We are asked while no scheduler runs; then it starts and takes each Pod once.
"""

from collections.abc import Iterator, Mapping

import pytest

from tests.controlplane.api import Object
from tests.controlplane.binaries import Binaries
from tests.controlplane.client import Client, in_parallel
from tests.controlplane.cluster import WITHOUT_ADMISSION, ControlPlane, Options, control_plane
from tests.controlplane.waiting import wait_for
from tests.e2e.decisions import Decision, decisions_of_all, said_of_all
from tests.e2e.mixed_situations import PRIORITY_CLASSES, PROMISED, ballast, mixed_nodes, mixed_situations

pytestmark = pytest.mark.e2e

SITUATIONS = mixed_situations(200)
NAMES = [situation.name for situation in SITUATIONS]
_BALLAST = "ballast"


@pytest.fixture(scope="module")
def waiting(binaries: Binaries) -> Iterator[ControlPlane]:
    """A control plane without a scheduler, in which every Pod waits for one and claims are bound that can be."""
    options = Options(
        scheduler=False,
        controllers=("persistentvolume-binder-controller",),
        without_admission=(*WITHOUT_ADMISSION, "LimitRanger"),
    )
    with control_plane(options, binaries=binaries) as plane:
        client = plane.client()
        client.create_nodes(mixed_nodes())
        client.create_namespaces([*NAMES, _BALLAST])
        client.apply([*PRIORITY_CLASSES, *(made for situation in SITUATIONS for made in situation.objects)])
        client.create_pods(ballast(_BALLAST))
        client.create_pods(made for situation in SITUATIONS for made in (*situation.beside, situation.asked))
        _promise(client)
        _wait_until_bound(client)
        yield plane


@pytest.fixture(scope="module")
def said(waiting: ControlPlane) -> Mapping[str, Object]:
    """What we say of each Pod before the scheduler has seen it."""
    return said_of_all(waiting.client())


@pytest.fixture(scope="module")
def decisions(waiting: ControlPlane, said: Mapping[str, Object]) -> Mapping[str, Decision]:
    """What the scheduler decides of each Pod, once we have been asked about every one."""
    assert set(said) == set(NAMES)
    waiting.start_scheduler()
    return decisions_of_all(waiting.client())


def test_there_are_enough_of_both(decisions: Mapping[str, Decision]) -> None:
    bound = [name for name, decision in decisions.items() if decision.node_name]
    assert len(bound) >= 50
    assert len(decisions) - len(bound) >= 50


def test_every_requirement_decides_somewhere(said: Mapping[str, Object]) -> None:
    rejecting = {node.get("plugin") for item in said.values() for node in item["nodes"]}
    wanted = {"NodePorts", "VolumeBinding", "PodTopologySpread", "InterPodAffinity", "NodeAffinity"}
    assert rejecting >= wanted | {"NodeUnschedulable", "TaintToleration"}


def test_promised_room_decides_somewhere(said: Mapping[str, Object]) -> None:
    details = [found["detail"] for item in said.values() for node in item["nodes"] for found in node["rejections"]]
    assert sum(detail.startswith("room is kept for") for detail in details) >= 5


@pytest.mark.parametrize("name", NAMES)
def test_the_verdict_is_the_schedulers(
    name: str, said: Mapping[str, Object], decisions: Mapping[str, Decision]
) -> None:
    item, decision = said[name], decisions[name]
    assert item["incomplete"] == []
    assert item["message"] == decision.message
    if decision.node_name:
        assert item["verdict"] == "Schedulable"
        assert decision.node_name in _best(item)
    else:
        assert (item["verdict"], item["feasible"]) == ("Unschedulable", [])


def _best(item: Object) -> list[str]:
    """Return the nodes with the highest score; the scheduler takes any of them."""
    totals = {node["name"]: node["scores"]["total"] for node in item["nodes"] if node["feasible"]}
    return [name for name, total in totals.items() if total == max(totals.values())]


def _promise(client: Client) -> None:
    """Nominate the Pods that wait for room; the scheduler would have done so after preemption."""
    nominated = {situation.name: situation.promised for situation in SITUATIONS if situation.promised}
    in_parallel(
        lambda made: client.patch_status(made, status={"nominatedNodeName": nominated[made["metadata"]["namespace"]]}),
        (made for situation in SITUATIONS for made in situation.beside if made["metadata"]["name"] == PROMISED),
    )


def _wait_until_bound(client: Client) -> None:
    """Wait until every claim that names its volume has it."""

    def all_bound() -> bool:
        claims = client.api.request("GET", "/api/v1/persistentvolumeclaims")["items"]
        return all(claim["status"]["phase"] == "Bound" for claim in claims if "volumeName" in claim["spec"])

    wait_for(all_bound, what="the claims that name their volume", timeout_s=60.0)

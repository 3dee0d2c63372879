"""What `kubectl spread why-pending` says of a Pod, and what the real scheduler then does with it.

We are asked while no scheduler runs; then it starts and takes each Pod once. Nodes and the Pods on them never change.
"""

import json
from collections.abc import Iterator, Mapping

import pytest

from tests.controlplane.api import Object
from tests.controlplane.binaries import Binaries
from tests.controlplane.client import Client, in_parallel
from tests.controlplane.cluster import WITHOUT_ADMISSION, ControlPlane, Options, control_plane
from tests.e2e.decisions import Decision, decisions_of_all, said_of_all, why_pending
from tests.e2e.random_situations import random_situations
from tests.e2e.situations import NAME, SCHEDULER_CONFIG, named_situations, nodes

pytestmark = pytest.mark.e2e

SITUATIONS = [*named_situations(), *random_situations(200)]
NAMES = [situation.name for situation in SITUATIONS]
_ELSEWHERE = "elsewhere"


@pytest.fixture(scope="module")
def waiting(binaries: Binaries) -> Iterator[ControlPlane]:
    """A control plane without a scheduler, in which every situation waits for one."""
    options = Options(
        scheduler=False,
        scheduler_config=SCHEDULER_CONFIG,
        controllers=(),
        without_admission=(*WITHOUT_ADMISSION, "LimitRanger"),
    )
    with control_plane(options, binaries=binaries) as plane:
        client = plane.client()
        client.create_nodes(nodes())
        client.create_namespaces([*NAMES, _ELSEWHERE])
        client.apply(made for situation in SITUATIONS for made in situation.objects)
        client.create_pods(made for situation in SITUATIONS for made in (*situation.beside, situation.asked))
        _end_pods(client)
        yield plane


@pytest.fixture(scope="module")
def said(waiting: ControlPlane) -> Mapping[str, Object]:
    """What we say of each situation's Pod before the scheduler has seen it."""
    return said_of_all(waiting.client(), config=SCHEDULER_CONFIG)


@pytest.fixture(scope="module")
def decisions(waiting: ControlPlane, said: Mapping[str, Object]) -> Mapping[str, Decision]:
    """What the scheduler decides of each situation's Pod, once we have been asked about every one."""
    assert set(said) == set(NAMES)
    waiting.start_scheduler()
    return decisions_of_all(waiting.client())


@pytest.fixture(scope="module")
def said_later(waiting: ControlPlane, decisions: Mapping[str, Decision]) -> Mapping[str, Object]:
    """What we say of each Pod that the scheduler left Pending."""
    assert decisions
    return said_of_all(waiting.client(), config=SCHEDULER_CONFIG)


def test_there_are_enough_of_both(decisions: Mapping[str, Decision]) -> None:
    bound = [name for name, decision in decisions.items() if decision.node_name]
    assert len(bound) >= 40
    assert len(decisions) - len(bound) >= 40


@pytest.mark.parametrize("name", NAMES)
def test_the_verdict_is_the_schedulers(
    name: str, said: Mapping[str, Object], decisions: Mapping[str, Decision]
) -> None:
    item, decision = said[name], decisions[name]
    assert item["incomplete"] == []
    assert item["message"] == decision.message
    if decision.node_name:
        assert item["verdict"] == "Schedulable"
        assert decision.node_name in item["feasible"]
    else:
        assert (item["verdict"], item["feasible"]) == ("Unschedulable", [])


def test_the_pods_left_pending_are_the_unschedulable_ones(
    said_later: Mapping[str, Object], decisions: Mapping[str, Decision]
) -> None:
    assert set(said_later) == {name for name, decision in decisions.items() if not decision.node_name}


def test_the_verdict_on_a_pending_pod_stays(said: Mapping[str, Object], said_later: Mapping[str, Object]) -> None:
    before = {name: _judged(said[name]) for name in said_later}
    assert before == {name: _judged(item) for name, item in said_later.items()}


def test_the_event_of_a_pending_pod_is_reported_as_it_is(
    waiting: ControlPlane, said_later: Mapping[str, Object]
) -> None:
    client = waiting.client()
    reported = {name: item["event"]["message"] for name, item in said_later.items()}
    assert reported == {name: client.failed_scheduling(name, NAME) for name in said_later}


@pytest.mark.parametrize("name", [name for name in NAMES if "-jam" in name or name.endswith("0")])
def test_one_pod_alone_is_told_as_among_all(
    name: str, waiting: ControlPlane, said_later: Mapping[str, Object], decisions: Mapping[str, Decision]
) -> None:
    ended = why_pending(waiting.client(), NAME, "-n", name, config=SCHEDULER_CONFIG)
    if decisions[name].node_name:
        assert ended.returncode == 0, ended.stderr
    else:
        assert (ended.returncode, json.loads(ended.stdout)["items"]) == (1, [_unshared(said_later[name])])


def _end_pods(client: Client) -> None:
    """Give the Pods that are not running the state they are to have; no kubelet would do it."""
    in_parallel(
        lambda made: client.patch_status(made, status={"phase": "Succeeded"}),
        (made for situation in SITUATIONS for made in situation.finished),
    )
    client.delete_pods(made for situation in SITUATIONS for made in situation.terminating)


def _judged(item: Object) -> Object:
    """Return what of a report stays when Pods are bound in other namespaces; the room they leave does not."""
    first_rejections = [
        {field: node.get(field) for field in ("name", "feasible", "plugin", "code", "reasons")}
        for node in item["nodes"]
    ]
    return {**{field: item[field] for field in ("verdict", "message", "feasible")}, "nodes": first_rejections}


def _unshared(item: Object) -> Object:
    """Return a report without the name of the Pod whose explanation it shares."""
    return {name: value for name, value in item.items() if name != "sameAs"}

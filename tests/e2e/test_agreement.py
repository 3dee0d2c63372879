"""What `kubectl spread why-pending` says of a Pod, and what the real scheduler then does with it.

We are asked while no scheduler runs; then it starts and takes each Pod once. Nodes and the Pods on them never change.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from subprocess import CompletedProcess

import pytest

from tests.controlplane.api import Object
from tests.controlplane.binaries import Binaries
from tests.controlplane.client import Client, in_parallel, is_decided, scheduled_condition
from tests.controlplane.cluster import WITHOUT_ADMISSION, ControlPlane, Options, control_plane
from tests.controlplane.waiting import wait_for
from tests.e2e.random_situations import random_situations
from tests.e2e.situations import NAME, SCHEDULER_CONFIG, named_situations, nodes

pytestmark = pytest.mark.e2e

SITUATIONS = [*named_situations(), *random_situations(200)]
NAMES = [situation.name for situation in SITUATIONS]
_ELSEWHERE = "elsewhere"
_DECIDED_S = 60.0
_POST_FILTER = re.compile(r" (no new claims to deallocate, )?preemption: .*")
"""What the PostFilter plugins DynamicResources and DefaultPreemption add to the message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What the scheduler did: the Node it bound the Pod to, or None and its message."""

    node_name: str | None
    message: str


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
    return _said_of_all(waiting.client())


@pytest.fixture(scope="module")
def decisions(waiting: ControlPlane, said: Mapping[str, Object]) -> Mapping[str, Decision]:
    """What the scheduler decides of each situation's Pod, once we have been asked about every one."""
    assert set(said) == set(NAMES)
    waiting.start_scheduler()
    return _decisions(waiting.client())


@pytest.fixture(scope="module")
def said_later(waiting: ControlPlane, decisions: Mapping[str, Decision]) -> Mapping[str, Object]:
    """What we say of each Pod that the scheduler left Pending."""
    assert decisions
    return _said_of_all(waiting.client())


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
    ended = _why_pending(waiting.client(), NAME, "-n", name)
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


def _said_of_all(client: Client) -> Mapping[str, Object]:
    """Return namespace → our report on the Pod in it that has no Node."""
    ended = _why_pending(client, "-A")
    assert (ended.returncode, ended.stderr) == (1, "")
    return {item["namespace"]: item for item in json.loads(ended.stdout)["items"]}


def _why_pending(client: Client, *arguments: str) -> CompletedProcess[str]:
    """Return how the command ended."""
    config = ("--scheduler-config", str(SCHEDULER_CONFIG))
    return client.kubectl.run("spread", "why-pending", *arguments, *config, "-o", "json")


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


def _decisions(client: Client) -> Mapping[str, Decision]:
    """Return namespace → what the scheduler decided, once it has decided everything."""

    def all_decided() -> list[Object] | None:
        asked = [made for made in client.pods() if made["metadata"]["name"] == NAME]
        return asked if all(map(is_decided, asked)) else None

    asked = wait_for(all_decided, what="the scheduler's decisions", timeout_s=_DECIDED_S)
    return {made["metadata"]["namespace"]: _decision(made) for made in asked}


def _decision(asked: Object) -> Decision:
    """Return what became of a Pod; the message without what preemption adds to it."""
    condition = scheduled_condition(asked)
    assert condition is not None
    message = _POST_FILTER.sub("", condition.get("message", ""))
    return Decision(node_name=asked["spec"].get("nodeName"), message=message)

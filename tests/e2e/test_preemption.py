"""Whom we say the scheduler would evict, and whom the real scheduler then evicts.

We are asked while no scheduler runs; then it starts and takes each Pod once. No kubelet ends the Pods it evicts, so
that they stay, terminating, and the Pod waits.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from tests.controlplane.api import STRATEGIC_MERGE_PATCH, Object
from tests.controlplane.binaries import Binaries
from tests.controlplane.client import Client, in_parallel, is_decided
from tests.controlplane.cluster import WITHOUT_ADMISSION, ControlPlane, Options, control_plane
from tests.controlplane.waiting import wait_for
from tests.e2e.decisions import said_of_all
from tests.e2e.manifests import match
from tests.e2e.preemption_situations import PRIORITY_CLASSES, Contest, contests
from tests.e2e.situations import NAME

pytestmark = pytest.mark.e2e

CONTESTS = contests(80)
NAMES = [contest.name for contest in CONTESTS]
_BUDGETS = "/apis/policy/v1/namespaces/{}/poddisruptionbudgets"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the scheduler did for a Pod: the Node it nominated it to, and the Pods it evicts for it."""

    nominated: str
    evicted: frozenset[str]


@pytest.fixture(scope="module")
def waiting(binaries: Binaries) -> Iterator[ControlPlane]:
    """A control plane without a scheduler, in which every Pod waits for one."""
    options = Options(scheduler=False, controllers=(), without_admission=(*WITHOUT_ADMISSION, "LimitRanger"))
    with control_plane(options, binaries=binaries) as plane:
        client = plane.client()
        client.create_nodes(made for contest in CONTESTS for made in contest.nodes)
        client.create_namespaces(NAMES)
        client.apply(PRIORITY_CLASSES)
        client.create_pods(made for contest in CONTESTS for made in (*contest.there, contest.asked))
        for contest in CONTESTS:
            _start(client, contest)
            _protect(client, contest)
        yield plane


@pytest.fixture(scope="module")
def said(waiting: ControlPlane) -> Mapping[str, Object]:
    """What we say of each Pod before the scheduler has seen it."""
    return said_of_all(waiting.client())


@pytest.fixture(scope="module")
def outcomes(waiting: ControlPlane, said: Mapping[str, Object]) -> Mapping[str, Outcome]:
    """What the scheduler does for each Pod that fits nowhere."""
    assert set(said) == set(NAMES)
    waiting.start_scheduler()
    expected = {name: _victims(item["preemption"]) for name, item in said.items()}

    def all_done() -> Mapping[str, Outcome] | None:
        pods = waiting.client().pods()
        found = {name: _outcome([made for made in pods if made["metadata"]["namespace"] == name]) for name in NAMES}
        decided = all(is_decided(made) for made in pods if made["metadata"]["name"] == NAME)
        begun = all(len(found[name].evicted) >= len(expected[name]) for name in NAMES)
        return found if decided and begun else None

    return wait_for(all_done, what="the scheduler's evictions", timeout_s=60.0)


@pytest.fixture(scope="module")
def said_later(waiting: ControlPlane, outcomes: Mapping[str, Outcome]) -> Mapping[str, Object]:
    """What we say of each Pod once the evictions have begun."""
    assert outcomes
    return said_of_all(waiting.client())


def test_there_are_enough_of_each(said: Mapping[str, Object]) -> None:
    preempting = [item["preemption"] for item in said.values() if item["preemption"]]
    assert len(preempting) >= 25
    assert sum(item["verdict"] == "Unschedulable" and not item["preemption"] for item in said.values()) >= 10
    assert any(found["pdbViolations"] for found in preempting)
    assert sum(bool(found["otherNodes"]) for found in preempting) >= 5
    assert not any(found["ties"] for found in preempting)


@pytest.mark.parametrize("name", NAMES)
def test_the_scheduler_evicts_whom_we_name(
    name: str, said: Mapping[str, Object], outcomes: Mapping[str, Outcome]
) -> None:
    preemption = said[name]["preemption"]
    node = preemption["node"] if preemption else ""
    assert outcomes[name] == Outcome(node, _victims(preemption))


@pytest.mark.parametrize("name", NAMES)
def test_a_pod_waits_for_its_victims(
    name: str, said_later: Mapping[str, Object], outcomes: Mapping[str, Outcome]
) -> None:
    if not outcomes[name].nominated:
        assert said_later.get(name, {}).get("nomination") is None
        return
    nomination = said_later[name]["nomination"]
    assert nomination["node"] == outcomes[name].nominated
    assert {pod["name"] for pod in nomination["leaving"]} == outcomes[name].evicted
    assert said_later[name]["preemption"] is None


def _victims(preemption: Object | None) -> frozenset[str]:
    """Return the names of those who would go."""
    return frozenset(pod["name"] for pod in preemption["victims"]) if preemption else frozenset()


def _outcome(pods: list[Object]) -> Outcome:
    """Return what the scheduler did, by the Pods of a namespace."""
    (asked,) = (made for made in pods if made["metadata"]["name"] == NAME)
    evicted = frozenset(made["metadata"]["name"] for made in pods if "deletionTimestamp" in made["metadata"])
    return Outcome(asked["status"].get("nominatedNodeName", ""), evicted)


def _start(client: Client, contest: Contest) -> None:
    """Report the Pods as running since their time; no kubelet would do it."""
    in_parallel(
        lambda made: client.patch_status(
            made, status={"phase": "Running", "startTime": contest.started[made["metadata"]["name"]]}
        ),
        contest.there,
    )


def _protect(client: Client, contest: Contest) -> None:
    """Make the budget, and say what its controller would say of it."""
    if contest.budget is None:
        return
    path = _BUDGETS.format(contest.name)
    spec = {"minAvailable": 1, "selector": match(app="web")}
    client.api.request("POST", path, body={"metadata": {"name": "web"}, "spec": spec})
    status = {"disruptionsAllowed": contest.budget, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    client.api.request("PATCH", f"{path}/web/status", body={"status": status}, content_type=STRATEGIC_MERGE_PATCH)

"""``rebalance --script`` on a real control plane: to its end and again, at a surprise, at a budget that is used up."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import pytest

from tests.controlplane.api import Object
from tests.controlplane.binaries import Binaries
from tests.controlplane.client import Client
from tests.controlplane.cluster import control_plane
from tests.e2e.fixes_as_printed import OPTIONS, emptied, settle, workload
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, node, pod_spec
from tests.e2e.plans_together import DONE, run, run_script, situations

pytestmark = pytest.mark.e2e


@dataclass(frozen=True, kw_only=True)
class Shop:
    """A namespace, and two nodes in each of zones a and b."""

    client: Client
    namespace: str

    def planned(self) -> str:
        """Return the script of the plan."""
        ended = self.client.kubectl.run("spread", "rebalance", "-n", self.namespace, "--script")
        assert ended.returncode == 1, ended.stderr
        return ended.stdout

    def run(self, script: str, **environment: str) -> tuple[int, str]:
        """Return the script's exit code, and what it prints, while kubelets do their work."""
        return run_script(self.client, script, **environment)

    def apply(self, *objects: Object) -> None:
        """Apply objects, and wait until nothing changes."""
        self.client.apply([{**each, "metadata": {**each["metadata"], "namespace": self.namespace}} for each in objects])
        settle(self.client, self.namespace)

    def uneven(self, *objects: Object) -> None:
        """Let workloads be placed before zone c has a node."""
        self.apply(*objects)
        self.client.create_nodes([node(f"c{at}", labels={ZONE: "c"}) for at in (1, 2)])

    def by_zone(self, app: str) -> dict[str, int]:
        """Return zone → the application's Pods (count)."""
        pods = (each for each in self.client.pods(self.namespace) if each["metadata"]["labels"]["app"] == app)
        return dict(Counter(each["spec"]["nodeName"][0] for each in pods))

    def uids(self) -> set[str]:
        """Return what tells its Pods from later ones."""
        return {each["metadata"]["uid"] for each in self.client.pods(self.namespace)}


def web(replicas: int, *, kind: str = "Deployment", name: str = "web", apart: bool = False, **spec: object) -> Object:
    """Return a workload that is spread over zones; with ``apart`` no node has two of its Pods."""
    pods = pod_spec(resources={"requests": {"cpu": "100m"}})
    pods["topologySpreadConstraints"] = [constraint(ZONE, selector=match(app=name))]
    if apart:
        term = {"topologyKey": HOSTNAME, "labelSelector": match(app=name)}
        pods["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    template = {"metadata": {"labels": {"app": name}}, "spec": pods}
    return workload(kind, "", name=name, template=template, replicas=replicas, **spec)


def budget(least: int, *, name: str = "web") -> Object:
    """Return a budget that keeps so many Pods of an application."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"minAvailable": least, "selector": match(app=name)},
    }


@pytest.fixture(scope="module")
def client(binaries: Binaries) -> Iterator[Client]:
    """A control plane of its own."""
    with control_plane(OPTIONS, binaries=binaries) as plane:
        yield plane.client()


@pytest.fixture
def shop(client: Client, request: pytest.FixtureRequest) -> Iterator[Shop]:
    """A namespace of the test's own."""
    namespace = re.sub("[^a-z0-9]+", "-", request.node.name)[-60:].strip("-")
    with emptied(client, namespace):
        client.create_nodes([node(f"{zone}{at}", labels={ZONE: zone}) for zone in "ab" for at in (1, 2)])
        yield Shop(client=client, namespace=namespace)


EVEN = {"a": 2, "b": 2, "c": 2}


def test_it_runs_to_its_end_and_again(shop: Shop) -> None:
    databases = web(4, kind="StatefulSet", name="db", updateStrategy={"type": "OnDelete"})
    shop.uneven(web(6), budget(5), databases, budget(3, name="db"), web(4, name="apart", apart=True))
    script = shop.planned()
    code, printed = shop.run(script)
    assert code == 0, printed
    assert printed.endswith(DONE)
    for name in ("web", "db", "apart"):
        zones = shop.by_zone(name)
        assert max(zones.values()) - min(zones.get(zone, 0) for zone in "abc") <= 1, zones
    before = shop.uids()
    code, again = shop.run(script)
    assert (code, again.count("is evicted already")) == (0, printed.count("evicted "))
    assert shop.uids() == before


def test_it_stops_at_a_budget_and_goes_on_when_it_allows_more(shop: Shop) -> None:
    shop.uneven(web(6), budget(5))
    script = shop.planned()
    shop.apply(budget(6))
    code, printed = shop.run(script, RETRY_SECONDS="5")
    assert code == 1
    assert "is not evicted after 5 seconds: Error from server (TooManyRequests)" in printed
    assert shop.by_zone("web") == {"a": 3, "b": 3}
    shop.apply(budget(5))
    assert shop.run(script)[1].endswith(DONE)
    assert shop.by_zone("web") == EVEN


def test_it_stops_at_a_surprise_and_evicts_nobody(shop: Shop) -> None:
    shop.uneven(web(6))
    script = shop.planned()
    shop.apply(web(7))
    before = shop.uids()
    stopped = f"stopped: the Pods are not spread as planned, by {ZONE}: c has 1 instead of 0; make a new plan\n"
    assert shop.run(script) == (1, stopped)
    assert shop.uids() == before


def test_it_goes_on_where_it_was_interrupted(shop: Shop) -> None:
    """The first Pod is evicted, and nobody waited for the one in its place."""
    shop.uneven(web(6), budget(5))
    script = shop.planned()
    code, _ = shop.run(script.replace("\nwait_ready ", "\nexit 7 # ", 1))
    assert code == 7
    code, printed = shop.run(script)
    assert (code, [line.split()[-1] == "already" for line in printed.splitlines()[:2]]) == (0, [True, False]), printed
    assert shop.by_zone("web") == EVEN


def test_it_stops_where_kubectl_asks_another_server(shop: Shop) -> None:
    shop.uneven(web(6))
    script, kubectl = shop.planned(), shop.client.kubectl
    assert 'ask() { kubectl --context admin "$@"; }' in script.splitlines()
    other = kubectl.home / "other"
    other.write_text(kubectl.kubeconfig.read_text().replace("https://127.0.0.1:", "https://127.0.0.2:"))
    code, printed = shop.run(script, KUBECONFIG=os.fspath(other))
    assert code == 1
    assert printed.startswith("stopped: kubectl asks https://127.0.0.2:")


def change_cordon(shop: Shop) -> None:
    """Cordon a node."""
    shop.client.kubectl("cordon", "a1")


def change_taint(shop: Shop) -> None:
    """Taint a node."""
    shop.client.kubectl("taint", "node", "c2", "dedicated=gpu:NoSchedule")


def change_effect(shop: Shop) -> None:
    """Taint a node so that Pods only prefer others."""
    shop.client.kubectl("taint", "node", "b1", "dedicated=gpu:PreferNoSchedule")


def change_gone(shop: Shop) -> None:
    """Delete a node without Pods."""
    shop.client.kubectl("delete", "node", "c1")


def change_added(shop: Shop) -> None:
    """Add a node to a zone."""
    shop.client.create_nodes([node("c3", labels={ZONE: "c"})])


def change_zone_added(shop: Shop) -> None:
    """Add a node of another zone."""
    shop.client.create_nodes([node("d1", labels={ZONE: "d"})])


def change_label(shop: Shop) -> None:
    """Move a node to another zone."""
    shop.client.kubectl("label", "node", "c2", f"{ZONE}=d", "--overwrite")


def change_ready(shop: Shop) -> None:
    """Let the kubelet of a node be not ready."""
    patch = '{"status":{"conditions":[{"type":"Ready","status":"False"}]}}'
    shop.client.kubectl("patch", "node", "a2", "--subresource=status", "-p", patch)


def change_scaled(shop: Shop) -> None:
    """Create another Pod."""
    shop.client.kubectl("scale", "deployment/web", "--replicas=7", "-n", shop.namespace)
    settle(shop.client, shop.namespace)


def change_moved(shop: Shop) -> None:
    """Delete a Pod, which comes again in zone c."""
    name = next(each["metadata"]["name"] for each in shop.client.pods(shop.namespace))
    shop.client.kubectl("delete", "pod", name, "-n", shop.namespace, "--wait=false")
    settle(shop.client, shop.namespace)


CHANGES = (
    change_cordon,
    change_taint,
    change_effect,
    change_gone,
    change_added,
    change_zone_added,
    change_label,
    change_ready,
    change_scaled,
    change_moved,
)


@pytest.mark.parametrize("change", CHANGES)
def test_it_stops_before_it_evicts_where_the_cluster_has_changed(shop: Shop, change: Callable[[Shop], None]) -> None:
    shop.uneven(web(6))
    script = shop.planned()
    change(shop)
    before = shop.uids()
    code, printed = shop.run(script)
    assert (code, printed.startswith("stopped: "), "; make a new plan" in printed) == (1, True, True), printed
    assert shop.uids() == before


@pytest.mark.parametrize("number", range(2))
def test_evictions_at_the_same_time_restore_both_constraints(client: Client, number: int) -> None:
    outcome = run(client, next(islice(situations(seed=1), number, None)))
    assert outcome.wrong == [], outcome.report["evictions"]

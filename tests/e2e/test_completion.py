"""TAB after `kubectl spread`: kubectl asks our program, which asks the API server."""

from __future__ import annotations

import pytest

from tests.controlplane.client import Client
from tests.e2e.conftest import RIGHTLESS
from tests.e2e.manifests import ZONE, constraint, match, pod

pytestmark = pytest.mark.e2e


def completed(client: Client, *words: str) -> tuple[list[str], str]:
    """Return the candidates and the directive for a line that goes on after ``kubectl spread``."""
    *candidates, directive = client.kubectl("__complete", "spread", *words).splitlines()
    return [candidate.partition("\t")[0] for candidate in candidates], directive


def test_commands_are_completed(client: Client) -> None:
    assert completed(client, "wh") == (["why-pending"], ":4")


def test_files_are_left_to_the_shell(client: Client) -> None:
    assert completed(client, "check", "-f", "") == ([], ":0")


def test_namespaces_are_those_of_the_cluster(client: Client, namespace: str) -> None:
    names, directive = completed(client, "show", "-n", "")
    assert {"default", "kube-system", namespace} <= set(names)
    assert directive == ":4"


def test_contexts_are_those_of_the_kubeconfig(client: Client) -> None:
    assert RIGHTLESS.name in completed(client, "show", "--context", "")[0]


def test_workloads_are_those_of_the_namespace(client: Client, namespace: str) -> None:
    client.kubectl("create", "deployment", "web", "--image=registry.example/web:1", "--replicas=0", "-n", namespace)
    assert completed(client, "show", "-n", namespace, "deploy/") == (["deploy/web"], ":4")
    assert completed(client, "show", f"--namespace={namespace}", "deployment", "w") == (["web"], ":4")


def test_only_pods_that_wait_for_a_node_are_pending(client: Client, namespace: str) -> None:
    spread = constraint("example.com/no-node-has-it", selector=match(app="web"))
    waiting = pod(namespace, "waiting", labels={"app": "web"}, spec={"topologySpreadConstraints": [spread]})
    fitting = constraint(ZONE, selector=match(app="web"))
    bound = pod(namespace, "bound", labels={"app": "web"}, spec={"topologySpreadConstraints": [fitting]})
    client.create_pods([waiting, bound])
    client.wait_for_decision(namespace, "bound")
    assert completed(client, "why-pending", "-n", namespace, "") == (["waiting"], ":4")
    assert completed(client, "show", "-n", namespace, "pod/") == (["pod/bound", "pod/waiting"], ":4")


def test_who_may_list_nothing_is_offered_nothing(client: Client, namespace: str) -> None:
    line = ("why-pending", "--context", RIGHTLESS.name, "-n", namespace, "")
    assert completed(client, *line) == ([], ":4")
    assert "error" not in client.kubectl.run("__complete", "spread", *line).stderr.lower()

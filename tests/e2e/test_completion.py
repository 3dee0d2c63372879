"""TAB after `kubectl spread`: a shell asks kubectl, kubectl our program, and that the API server."""

from __future__ import annotations

import os
import socket
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.bench.measuring import measure
from tests.cluster.kubeconfigs import write_kubeconfig
from tests.controlplane.client import Client
from tests.controlplane.kubectl import Kubectl
from tests.e2e.conftest import RIGHTLESS
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, pod
from tests.terminal import SHELLS, completing

pytestmark = pytest.mark.e2e

BASH_COMPLETION = Path("/usr/share/bash-completion/bash_completion")
"""The functions of the package bash-completion, on which kubectl's script for bash relies."""
GIVES_UP_S = 1.0
WAITS_S = 0.75
"""What waiting may add to what starting two programs takes, where the machine is too busy to do that in the rest."""
ATTEMPTS = 4
TIMES_KUBECTL = 15.0
"""How long a TAB may take, as a multiple of kubectl's own time for Pods: ours starts a second program, in Python."""
LINES = [
    ("kubectl spread why", "kubectl spread why-pending "),
    ("kubectl spread show --problem", "kubectl spread show --problems "),
    ("kubectl spread show --sort-by=sk", "kubectl spread show --sort-by=skew "),
    ("kubectl spread show --context right", "kubectl spread show --context rightless "),
    ("kubectl spread show dep", "kubectl spread show deployment/"),
    ("kubectl spread show -n NAMESPACE deploy/w", "kubectl spread show -n NAMESPACE deploy/web "),
    ("kubectl spread show -n NAMESPACE deployment w", "kubectl spread show -n NAMESPACE deployment web "),
    (
        "kubectl spread show --topology-key topology.kub",
        "kubectl spread show --topology-key topology.kubernetes.io/zone ",
    ),
    ("kubectl spread explain Pinned", "kubectl spread explain PinnedMinimum "),
    ("kubectl spread check -f snap", "kubectl spread check -f snapshot.yaml "),
    ("kubectl spread check -f folder/o", "kubectl spread check -f folder/one.yaml "),
    ("kubectl spread show --from fol", "kubectl spread show --from folder/"),
]
"""Line as typed → line after TAB, where there are a Deployment web, and the files snapshot.yaml and folder/one.yaml."""


_PRESSES = 3


def completed(client: Client, *words: str) -> tuple[list[str], str]:
    """Return the candidates and the directive for a line that goes on after ``kubectl spread``.

    Completion gives up after a second, which a busy machine may need twice: like a person, it then presses TAB again.
    """
    for _ in range(_PRESSES):
        *candidates, directive = client.kubectl("__complete", "spread", *words).splitlines()
        if candidates:
            break
    return [candidate.partition("\t")[0] for candidate in candidates], directive


def test_namespaces_are_those_of_the_cluster(client: Client, namespace: str) -> None:
    names, directive = completed(client, "show", "-n", "")
    assert {"default", "kube-system", namespace} <= set(names)
    assert directive == ":4"


def test_topology_keys_are_the_labels_of_nodes(client: Client) -> None:
    assert set(completed(client, "show", "--topology-key", "")[0]) >= {HOSTNAME, ZONE}
    assert completed(client, "show", f"--topology-key={ZONE[:5]}") == ([ZONE], ":4")


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


@pytest.mark.parametrize("shell", SHELLS)
def test_a_line_goes_on_in_a_shell(shell: str, client: Client, namespace: str, tmp_path: Path) -> None:
    client.kubectl("create", "deployment", "web", "--image=registry.example/web:1", "--replicas=0", "-n", namespace)
    (tmp_path / "snapshot.yaml").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "one.yaml").touch()
    terminal = {"HOME": str(tmp_path), "TERM": "dumb", "INPUTRC": os.devnull, "PS1": "$ "}
    scripts = [f"kubectl completion {shell}"]
    if shell == "bash":
        if not BASH_COMPLETION.exists():
            pytest.skip("the package bash-completion is not installed")
        scripts.insert(0, f"cat {BASH_COMPLETION}")
    with completing(shell, scripts, {**client.kubectl.environment(), **terminal}) as complete:
        lines = [(typed.replace("NAMESPACE", namespace), line.replace("NAMESPACE", namespace)) for typed, line in LINES]
        assert [(typed, complete(typed)) for typed, _ in lines] == lines


@contextmanager
def says_nothing() -> Iterator[str]:
    """Yield the URL of a server that accepts connections and then says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def drops_packets() -> Iterator[str]:
    """Yield a URL at which connections are neither accepted nor refused, as behind a firewall: its queue is full."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):
            waiting = stack.enter_context(socket.socket())
            waiting.settimeout(0)
            waiting.connect_ex(server.getsockname())
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def lies_nowhere() -> Iterator[str]:
    """Yield a URL to which no route leads."""
    yield "http://192.0.2.1:6443"


def completions(kubectl: Kubectl, kubeconfig: Path) -> list[float]:
    """Return how long kubectl takes to complete what a cluster does not tell (seconds), each time."""
    line = ("__complete", "spread", "show", "--kubeconfig", str(kubeconfig), "-n", "")
    times = []
    for _ in range(ATTEMPTS):
        started = time.monotonic()
        assert kubectl(*line) == ":4\n"
        times.append(time.monotonic() - started)
    return times


def gives_up_in_time(kubectl: Kubectl, kubeconfig: Path) -> bool:
    """Return whether a cluster is given up within a second, held against one that refuses at once."""
    refusing = write_kubeconfig(kubeconfig.with_name("refusing"), server="http://127.0.0.1:1")
    slowest_start = max(completions(kubectl, refusing))
    return min(completions(kubectl, kubeconfig)) < max(GIVES_UP_S, slowest_start + WAITS_S)


@pytest.mark.parametrize("hanging", [says_nothing, drops_packets, lies_nowhere])
def test_a_cluster_that_hangs_is_given_up_within_a_second(
    hanging: Callable[[], AbstractContextManager[str]], client: Client, tmp_path: Path
) -> None:
    with hanging() as server:
        kubeconfig = write_kubeconfig(tmp_path / "config", server=server)
        assert gives_up_in_time(client.kubectl, kubeconfig)


def test_a_slow_credential_plugin_is_given_up_within_a_second(client: Client, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    plugin.write_text("#!/bin/sh\necho log in first >&2\nexec sleep 3\n")
    plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
    api_version = "client.authentication.k8s.io/v1"
    user = {"exec": {"apiVersion": api_version, "command": str(plugin), "interactiveMode": "IfAvailable"}}
    kubeconfig = write_kubeconfig(tmp_path / "config", user=user)
    assert gives_up_in_time(client.kubectl, kubeconfig)


def test_it_takes_a_few_times_as_long_as_kubectls_own(client: Client, namespace: str) -> None:
    kubectl = str(client.kubectl.binary)
    commands = {
        "Pods of kubectl": (kubectl, "__complete", "get", "pods", "-n", namespace, ""),
        "commands": (kubectl, "__complete", "spread", ""),
        "Pods": (kubectl, "__complete", "spread", "show", "-n", namespace, "pod/"),
    }
    best = {each.name: each.seconds for each in measure(commands, client.kubectl.environment(), turns=10)}
    ratios = {what: round(seconds / best["Pods of kubectl"], 1) for what, seconds in best.items()}
    assert max(ratios.values()) <= TIMES_KUBECTL, ratios

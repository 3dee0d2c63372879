"""What a live cluster can refuse: each refusal is one clear line on stderr, and never looks like an answer."""

from subprocess import CompletedProcess

import pytest

from tests.controlplane.client import Client
from tests.controlplane.component import free_port
from tests.e2e.conftest import RIGHTLESS

pytestmark = pytest.mark.e2e

_USAGE, _UNDETERMINED = 2, 3

_MANIFEST = """
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers: [{name: main, image: "registry.example/main:1"}]
  topologySpreadConstraints:
  - topologyKey: topology.kubernetes.io/zone
    maxSkew: 1
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {matchLabels: {app: web}}
"""

COMMANDS = pytest.mark.parametrize(
    "command", [("show",), ("show", "deployment/web"), ("why-pending", "web"), ("why-pending",), ("check", "-f", "-")]
)


@COMMANDS
def test_unknown_context(client: Client, command: tuple[str, ...]) -> None:
    ended = _spread(client, *command, "--context", "nowhere")
    assert ended.returncode in {_USAGE, _UNDETERMINED}
    assert '"nowhere"' in _only_line(ended)


@COMMANDS
def test_connection_refused(client: Client, command: tuple[str, ...]) -> None:
    address = f"127.0.0.1:{free_port()}"
    ended = _spread(client, *command, "--server", f"https://{address}")
    assert ended.returncode == _UNDETERMINED
    line = _only_line(ended)
    assert address in line
    assert "refused" in line


@COMMANDS
def test_unknown_token(client: Client, command: tuple[str, ...]) -> None:
    ended = _spread(client, *command, "--token", "no-such-token")
    assert ended.returncode == _UNDETERMINED
    assert "unauthorized" in _only_line(ended).lower()


@COMMANDS
def test_user_without_rights(client: Client, command: tuple[str, ...]) -> None:
    ended = _spread(client, *command, "--context", RIGHTLESS.name)
    assert ended.returncode == _UNDETERMINED
    line = _only_line(ended)
    assert "forbidden" in line.lower()
    assert RIGHTLESS.name in line


@pytest.mark.parametrize("command", [("why-pending", "no-such-pod"), ("show", "pod/no-such-pod")])
def test_no_such_pod(client: Client, namespace: str, command: tuple[str, ...]) -> None:
    ended = _spread(client, *command, "-n", namespace)
    assert ended.returncode in {_USAGE, _UNDETERMINED}
    line = _only_line(ended)
    assert "no-such-pod" in line
    assert "not found" in line


@pytest.mark.parametrize("command", [("why-pending", "web"), ("show", "deployment/web")])
def test_no_such_namespace(client: Client, command: tuple[str, ...]) -> None:
    ended = _spread(client, *command, "-n", "no-such-namespace")
    assert ended.returncode in {_USAGE, _UNDETERMINED}
    line = _only_line(ended)
    assert "no-such-namespace" in line
    assert "not found" in line


def _spread(client: Client, *arguments: str) -> CompletedProcess[str]:
    """Return how `kubectl spread` ended, with a manifest on standard input."""
    return client.kubectl.run("spread", *arguments, stdin=_MANIFEST)


def _only_line(ended: CompletedProcess[str]) -> str:
    """Return the one line on stderr; nothing may be on stdout, which would look like an answer."""
    assert ended.stdout == ""
    lines = ended.stderr.splitlines()
    assert len(lines) == 1, ended.stderr
    return lines[0]

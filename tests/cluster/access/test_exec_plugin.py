"""Credential plugins: what they are told, what they give, how they fail."""

# ruff: noqa: S106 the passwords of these tests open nothing

from __future__ import annotations

import base64
import json
import os
import pty
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme

from kubectl_spread.cluster.net.transport import Request, fetch
from kubectl_spread.errors import ClusterError
from tests.cluster.api_server import ApiServer, Response, status
from tests.cluster.conftest import Connect
from tests.cluster.kubeconfigs import write_kubeconfig

VERSION = Request(path="/version", what="get the version")
API = "client.authentication.k8s.io/v1"

Plugin = Callable[..., Path]


def credential(**status_fields: object) -> str:
    return json.dumps({"apiVersion": API, "kind": "ExecCredential", "status": status_fields})


@pytest.fixture
def plugin(tmp_path: Path, tls_server: ApiServer, authority_pem: bytes) -> Plugin:
    """Return a function that writes a plugin of these shell commands, and a kubeconfig that names it."""

    def write(commands: str, *, cluster: Mapping[str, object] | None = None, **settings: object) -> Path:
        script = tmp_path / "bin" / "login"
        script.parent.mkdir(exist_ok=True)
        script.write_text(f"#!/bin/sh\n{commands}\n")
        script.chmod(0o700)
        trusted = {"certificate-authority-data": base64.b64encode(authority_pem).decode(), **(cluster or {})}
        user = {"exec": {"apiVersion": API, "command": "./bin/login", "interactiveMode": "IfAvailable", **settings}}
        return write_kubeconfig(tmp_path / "config", server=tls_server.url, cluster=trusted, user=user)

    return write


def prints(text: str) -> str:
    """Return the shell command that prints the text."""
    return f"cat <<'EOF'\n{text}\nEOF"


def failure(connecting: Connect, config: Path) -> ClusterError:
    with pytest.raises(ClusterError) as caught:
        connecting(kubeconfig=str(config))
    return caught.value


def test_a_plugins_token_is_sent(tls_server: ApiServer, plugin: Plugin, connecting: Connect) -> None:
    fetch(connecting(kubeconfig=str(plugin(prints(credential(token="from-plugin"))))), VERSION)
    assert tls_server.seen[0].header("Authorization") == "Bearer from-plugin"


def test_a_plugins_certificate_is_shown(
    authority: trustme.CA, tls_server: ApiServer, plugin: Plugin, connecting: Connect
) -> None:
    leaf = authority.issue_cert(common_name="plugged")
    given = credential(
        clientCertificateData=leaf.cert_chain_pems[0].bytes().decode(),
        clientKeyData=leaf.private_key_pem.bytes().decode(),
    )
    fetch(connecting(kubeconfig=str(plugin(prints(given)))), VERSION)
    assert tls_server.seen[0].certificate == "plugged"
    assert "authorization" not in tls_server.seen[0].headers


def test_a_plugin_gets_its_arguments_and_environment(
    tls_server: ApiServer, plugin: Plugin, connecting: Connect
) -> None:
    text = credential(token="$1-$2-$PROFILE").replace('"', '\\"')
    config = plugin(f'echo "{text}"', args=["a", "b c"], env=[{"name": "PROFILE", "value": "p"}, {"name": "EMPTY"}])
    config.write_text(config.read_text().replace("b c", "b_c"))
    fetch(connecting(kubeconfig=str(config)), VERSION)
    assert tls_server.seen[0].header("Authorization") == "Bearer a-b_c-p"


def told(config: Path, connecting: Connect) -> dict[str, object]:
    """Return what the plugin was told of its task."""
    connecting(kubeconfig=str(config))
    info: dict[str, object] = json.loads((config.parent / "told").read_text())
    return info


def test_a_plugin_is_told_of_the_cluster_if_it_wants_to(
    plugin: Plugin, connecting: Connect, tls_server: ApiServer, authority_pem: bytes, tmp_path: Path
) -> None:
    save = f'printf %s "$KUBERNETES_EXEC_INFO" > {tmp_path}/told\n{prints(credential(token="t"))}'
    (tmp_path / "ca.crt").write_bytes(authority_pem)
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    cluster = {
        "certificate-authority": "ca.crt",
        "certificate-authority-data": None,
        "tls-server-name": "127.0.0.1",
        "extensions": [{"name": "other", "extension": 1}, extension],
    }
    info = told(plugin(save, cluster=cluster, provideClusterInfo=True), connecting)
    assert info["apiVersion"] == API
    assert info["spec"] == {
        "interactive": False,
        "cluster": {
            "server": tls_server.url,
            "tls-server-name": "127.0.0.1",
            "certificate-authority-data": base64.b64encode(authority_pem).decode(),
            "config": {"audience": "x"},
        },
    }
    assert told(plugin(save), connecting)["spec"] == {"interactive": False}
    without = told(plugin(save, provideClusterInfo=True), connecting)["spec"]
    assert without["cluster"]["config"] is None  # type: ignore[index] # an object


def test_a_plugin_is_run_again_when_its_token_is_about_to_expire(
    tls_server: ApiServer, plugin: Plugin, connecting: Connect, tmp_path: Path
) -> None:
    count = f'echo >> {tmp_path}/runs\nn=$(wc -l < {tmp_path}/runs | tr -d " ")\n'
    text = credential(token="t$n", expirationTimestamp="2020-01-01T00:00:00Z").replace('"', '\\"')
    connection = connecting(kubeconfig=str(plugin(f'{count}echo "{text}"')))
    fetch(connection, VERSION)
    assert tls_server.seen[0].header("Authorization") == "Bearer t2"


def test_a_plugin_is_run_again_when_its_token_is_refused(
    tls_server: ApiServer, plugin: Plugin, connecting: Connect, tmp_path: Path
) -> None:
    tls_server.answer = lambda seen: (
        Response(body={}) if seen.header("Authorization") == "Bearer t2" else status(401, "Unauthorized")
    )
    count = f'echo >> {tmp_path}/runs\nn=$(wc -l < {tmp_path}/runs | tr -d " ")\n'
    text = credential(token="t$n", expirationTimestamp="2999-01-01T00:00:00Z").replace('"', '\\"')
    connection = connecting(kubeconfig=str(plugin(f'{count}echo "{text}"')))
    fetch(connection, VERSION)
    fetch(connection, VERSION)
    sent = [seen.header("Authorization") for seen in tls_server.seen]
    assert sent == ["Bearer t1", "Bearer t2", "Bearer t2"]


def test_a_plugin_that_is_missing_comes_with_its_hint(plugin: Plugin, connecting: Connect) -> None:
    config = plugin("", command="no-such-login", installHint="Install it:\n  brew install login\x1b[31m")
    error = failure(connecting, config)
    assert error.message == "getting credentials: exec plugin no-such-login: executable not found"
    assert error.hint == "Install it:\n  brew install login[31m"


def test_a_plugin_that_fails_has_said_why(
    plugin: Plugin, connecting: Connect, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    config = plugin("echo 'SSO session has expired' >&2; exit 255", installHint="hint")
    error = failure(connecting, config)
    assert error.message == f"getting credentials: exec plugin {tmp_path}/bin/login: it failed with exit code 255"
    assert error.hint == "hint"
    assert capfd.readouterr() == ("", "SSO session has expired\n")


def test_a_plugin_that_may_not_be_run_is_an_error(plugin: Plugin, connecting: Connect, tmp_path: Path) -> None:
    config = plugin("")
    (tmp_path / "bin" / "login").chmod(0o600)
    assert failure(connecting, config).message.endswith("cannot run it: Permission denied")


def test_a_plugin_with_arguments_that_no_program_can_have_is_an_error(plugin: Plugin, connecting: Connect) -> None:
    assert failure(connecting, plugin("", args=["a\0b"])).message.endswith("cannot run it: embedded null byte")


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("no json", "its output is not an ExecCredential"),
        ("", "its output is not an ExecCredential"),
        ("null", "its output is not an ExecCredential"),
        ("{}", f'it was asked for an ExecCredential of "{API}" and gave kind "" of version ""'),
        (json.dumps({"apiVersion": API, "kind": "Secret", "status": {}}), f'gave kind "Secret" of version "{API}"'),
        (
            json.dumps({"apiVersion": API, "kind": "ExecCredential"}),
            "it returned neither a token nor a client certificate",
        ),
        (credential(token=5), "token: must be a string"),
        (credential(token="t").replace("/v1", "/v1beta1"), f'gave kind "ExecCredential" of version "{API}beta1"'),
        (credential(), "it returned neither a token nor a client certificate"),
        (credential(clientCertificateData="c"), "it returned a client certificate or a key, but not both"),
        (credential(token="t", clientKeyData="k"), "it returned a client certificate or a key, but not both"),
    ],
)
def test_a_plugin_that_prints_nonsense_is_an_error(
    printed: str, reason: str, plugin: Plugin, connecting: Connect
) -> None:
    assert reason in failure(connecting, plugin(prints(printed))).message


def test_a_plugin_that_needs_a_person_says_so(plugin: Plugin, connecting: Connect) -> None:
    config = plugin(prints(credential(token="t")), interactiveMode="Always")
    assert failure(connecting, config).message.endswith("it cannot run without a terminal: standard input is not one")


@contextmanager
def terminal() -> Iterator[None]:
    """Make standard input a terminal, for this program and those that it starts."""
    screen, line = pty.openpty()
    kept, stream = os.dup(0), sys.stdin
    os.dup2(line, 0)
    sys.stdin = os.fdopen(0, closefd=False)
    try:
        yield
    finally:
        sys.stdin = stream
        os.dup2(kept, 0)
        for descriptor in (kept, line, screen):
            os.close(descriptor)


@pytest.mark.parametrize("mode", ["Always", "IfAvailable"])
def test_a_plugin_may_ask_the_person_at_the_terminal(
    *, mode: str, plugin: Plugin, connecting: Connect, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ask = f'test -t 0 && echo "open the browser" >&2\nprintf %s "$KUBERNETES_EXEC_INFO" > {tmp_path}/told'
    config = plugin(f"{ask}\n{prints(credential(token='t'))}", interactiveMode=mode)
    with terminal():
        info = told(config, connecting)
    assert info["spec"] == {"interactive": True}
    assert capfd.readouterr().err == "open the browser\n"


def test_a_plugin_does_not_eat_what_is_piped_in(
    plugin: Plugin, connecting: Connect, capfd: pytest.CaptureFixture[str]
) -> None:
    connecting(kubeconfig=str(plugin(f"echo \"read '$(cat)'\" >&2\n{prints(credential(token='t'))}")))
    assert capfd.readouterr().err == "read ''\n"


def test_a_plugin_that_never_asks_is_told_that_nobody_is_there(
    plugin: Plugin, connecting: Connect, tmp_path: Path
) -> None:
    save = f'printf %s "$KUBERNETES_EXEC_INFO" > {tmp_path}/told\ntest -t 0 || echo >> {tmp_path}/nobody'
    with terminal():
        info = told(plugin(f"{save}\n{prints(credential(token='t'))}", interactiveMode="Never"), connecting)
    assert info["spec"] == {"interactive": False}
    assert (tmp_path / "nobody").exists()


def test_a_plugin_runs_without_standard_input(
    plugin: Plugin, connecting: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    connection = connecting(kubeconfig=str(plugin(prints(credential(token="t")))))
    assert connection.credentials.authorization() == "Bearer t"

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

from kubectl_spread.cluster.transport import Request, fetch
from kubectl_spread.errors import ClusterError
from tests.cluster.api_server import ApiServer, Response, status
from tests.cluster.conftest import Connect
from tests.cluster.kubeconfigs import write_kubeconfig

VERSION = Request(path="/version", what="get the version")
API = "client.authentication.k8s.io/v1"

Plugin = Callable[..., Path]


def credential(**status_fields: object) -> str:
    """Return what a plugin prints."""
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
    """Return the error that connecting ends in."""
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
    assert error.message == "getting credentials: exec plugin no-such-login: cannot run it: No such file or directory"
    assert error.hint == "Install it:\n  brew install login[31m"


def test_a_plugin_that_fails_is_quoted(plugin: Plugin, connecting: Connect, tmp_path: Path) -> None:
    config = plugin("echo 'SSO session has expired' >&2; echo 'run: aws sso login' >&2; exit 255", installHint="hint")
    error = failure(connecting, config)
    assert error.message == (
        f"getting credentials: exec plugin {tmp_path}/bin/login: "
        "process returned 255. SSO session has expired run: aws sso login"
    )
    assert error.hint == "hint"


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("no json", "failed to decode process output"),
        ("null", "NoneType"),
        ("{}", "malformed response. missing key 'apiVersion'"),
        (credential(token=5), "token: must be a string"),
        (credential(token="t").replace("/v1", "/v1beta1"), "does not match"),
        (credential(), "it gave neither a token nor a client certificate"),
        (credential(clientCertificateData="c"), "it gave a client certificate or key, not both"),
        (credential(token="t", clientKeyData="k"), "it gave a client certificate or key, not both"),
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
def terminal(*names: str) -> Iterator[Callable[[], str]]:
    """Make these standard streams a terminal; yield what reads the terminal's screen."""
    screen, line = pty.openpty()
    kept = {name: getattr(sys, name) for name in names}
    streams = [os.fdopen(os.dup(line), "r" if name == "stdin" else "w", closefd=True) for name in names]
    for name, stream in zip(names, streams, strict=True):
        setattr(sys, name, stream)
    try:
        yield lambda: os.read(screen, 1000).decode()
    finally:
        for name, stream in zip(names, streams, strict=True):
            setattr(sys, name, kept[name])
            stream.close()
        os.close(line)
        os.close(screen)


def test_a_plugin_speaks_to_the_person_even_into_a_pager(plugin: Plugin, connecting: Connect, tmp_path: Path) -> None:
    ask = 'echo "open the browser" >&2; test -t 0 && echo "at a terminal" >&2'
    save = f'printf %s "$KUBERNETES_EXEC_INFO" > {tmp_path}/told'
    config = plugin(f"{ask}\n{save}\n{prints(credential(token='t'))}", interactiveMode="Always")
    assert not sys.stdout.isatty()
    with terminal("stdin", "stderr") as screen:
        info = told(config, connecting)
        assert screen().split("\r\n")[:2] == ["open the browser", "at a terminal"]
    assert info["spec"] == {"interactive": True}


def test_a_plugin_does_not_eat_what_is_piped_in(plugin: Plugin, connecting: Connect) -> None:
    config = plugin(f"echo \"read '$(cat)'\" >&2\n{prints(credential(token='t'))}")
    with terminal("stderr") as screen:
        connecting(kubeconfig=str(config))
        assert screen() == "read ''\r\n"


def test_a_plugin_that_never_asks_is_told_that_nobody_is_there(
    plugin: Plugin, connecting: Connect, tmp_path: Path
) -> None:
    save = f'printf %s "$KUBERNETES_EXEC_INFO" > {tmp_path}/told\n{prints(credential(token="t"))}'
    with terminal("stdin", "stderr"):
        info = told(plugin(save, interactiveMode="Never"), connecting)
    assert info["spec"] == {"interactive": False}


def test_a_plugin_that_fails_before_the_persons_eyes_has_said_why(plugin: Plugin, connecting: Connect) -> None:
    config = plugin("echo 'session expired' >&2; exit 1")
    kept = sys.stdin, sys.stdout
    with terminal("stderr") as screen:
        error = failure(connecting, config)
        assert screen() == "session expired\r\n"
    assert error.message.endswith("it failed, for the reason it has just printed")
    assert (sys.stdin, sys.stdout) == kept


def test_a_plugin_runs_without_standard_streams(
    plugin: Plugin, connecting: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(sys, "stderr", None)
    connection = connecting(kubeconfig=str(plugin(prints(credential(token="t")))))
    assert connection.credentials.authorization() == "Bearer t"

"""``-v``: what is told on standard error beside the same answer, and that no secret ever is."""

from __future__ import annotations

import base64
import json
import re
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
import trustme

from tests.cluster.api_server import ApiServer, Response, Seen, serving, status
from tests.cluster.kubeconfigs import write_kubeconfig
from tests.faults.shop import NODES, PODS, SHOP, WHY, Program, Shop, failing
from tests.program import Ended, spread

SECRET = "Xk7-hunter2-Qz9"  # noqa: S105 - of nobody
ENCODED = base64.b64encode(f"jane:{SECRET}".encode()).decode()
API_VERSION = "client.authentication.k8s.io/v1"
OTHERS = ("explain", "completion", "version", "options")  # The commands that read no cluster


@pytest.mark.parametrize("form", [("-v", "1"), ("-v1",), ("-v=1",), ("--v", "1"), ("--v=1",)], ids=" ".join)
def test_the_level_is_given_as_to_kubectl(form: tuple[str, ...]) -> None:
    quiet, told = spread("show", "-A", "--from", SHOP), spread("show", "-A", "--from", SHOP, *form)
    assert (told.code, told.stdout) == (quiet.code, quiet.stdout)
    assert quiet.stderr == ""
    assert told.stderr.splitlines() == [
        f"read {SHOP}: {SHOP.stat().st_size:,} bytes",
        "found 6 nodes, 12 pods, 1 namespace, 4 deployments, 4 replicasets",
        "the rules are those of v1.36, the newest kubelet's release, or newer",
    ]


def test_a_level_that_is_none_is_a_usage_error() -> None:
    ended = spread("show", "--from", SHOP, "-v", "much")
    assert (ended.code, ended.stdout) == (2, "")
    assert "'much' is not a number" in ended.stderr


@pytest.mark.parametrize("level", ["0", "-1"])
def test_no_level_is_no_word(level: str) -> None:
    assert spread("show", "-A", "--from", SHOP, "-v", level).stderr == ""


@pytest.mark.parametrize("command", OTHERS)
def test_what_reads_no_cluster_takes_it_too(command: str) -> None:
    assert "--v " in spread(command, "--help").stdout
    assert spread(command, "-v", "9") == spread(command)


def test_every_file_is_told(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.yaml"):
        (tmp_path / name).write_text(SHOP.read_text(encoding="utf-8"), encoding="utf-8")
    told = spread("show", "-A", "--from", tmp_path, "-v", "1").stderr.splitlines()
    assert [line.split(":")[0] for line in told[:2]] == [f"read {tmp_path / name}" for name in ("a.yaml", "b.yaml")]


@pytest.mark.parametrize(
    ("flags", "how"),
    [(("--kube-version", "v1.34"), "v1.34, from --kube-version"), ((), "v1.36.2, the API server's release")],
    ids=["flag", "server"],
)
def test_how_the_rules_were_chosen_is_told(flags: tuple[str, ...], how: str, program: Program) -> None:
    assert f"the rules are those of {how}\n" in program.run(*WHY, "-v", "1", *flags).stderr


def test_what_a_cluster_holds_is_told(server: ApiServer, program: Program) -> None:
    server.answer = failing(status(403, "Forbidden"), path="/apis/policy/v1/poddisruptionbudgets", forever=True)
    ended = program.run(*WHY, "-v", "1")
    where, what, rules = [line for line in ended.stderr.splitlines() if not line.startswith("GET ")]
    assert ended.code == 1
    assert where == f'the server is {server.url}, of context "main"; the namespace is "shop"'
    found = "6 nodes, 12 pods, 1 namespace, 4 deployments, 4 replicasets, no poddisruptionbudgets \\(forbidden\\)"
    assert re.fullmatch(rf"read {found}: \d+\.\d+ MB in \d+\.\d\d s", what)
    assert rules.startswith("the rules are those of ")


def test_every_request_is_told_on_a_line_of_its_own(server: ApiServer, program: Program) -> None:
    server.answer = failing(status(503, "ServiceUnavailable", "shutting down"), path=NODES)
    lines = program.run(*WHY, "-v", "1").stderr.splitlines()
    requests = [line for line in lines if line.startswith("GET ")]
    form = rf"GET {server.url}/\S+ (200 OK|404 Not Found|503 Service Unavailable) in \d+ milliseconds, \d+ bytes"
    assert all(re.fullmatch(form, line) for line in requests)
    assert len(requests) == len(server.seen)
    assert sum(f"{PODS}?" in line for line in requests) == sum(seen.path == PODS for seen in server.seen)
    assert any(line.endswith("shutting down; trying again in 0.2 s") for line in lines)


@dataclass(frozen=True, slots=True)
class Talker:
    """The shop of a server that repeats to everybody how they have logged in, and forbids them some things."""

    def __call__(self, seen: Seen) -> Response:
        """Return a page, or a refusal, that repeats the credentials."""
        login = seen.header("Authorization")
        if seen.path == "/apis/policy/v1/poddisruptionbudgets":
            return status(403, "Forbidden", f"{login} may not")
        response = Shop()(seen)
        assert isinstance(response.body, dict)
        return replace(response, body=response.body | {"login": login}, headers={"X-Login": login})


@pytest.fixture
def talker(authority: trustme.CA) -> Iterator[ApiServer]:
    """Yield a server that keeps no secret, over TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with serving(Talker(), context) as running:
        yield running


def refuse(code: int, seen: Seen) -> Response:
    """Return a refusal that repeats the credentials."""
    return status(code, "No", f"no, {seen.header('Authorization')}")


def user_with(place: str, folder: Path) -> Mapping[str, object]:
    """Return a user of the kubeconfig whose secret lies in the place."""
    (folder / "token").write_text(SECRET)
    plugin = folder / "plugin"
    credential = {"apiVersion": API_VERSION, "kind": "ExecCredential", "status": {"token": SECRET}}
    plugin.write_text(f"#!/bin/sh\ncat <<END\n{json.dumps(credential)}\nEND\n")
    plugin.chmod(0o755)
    users: dict[str, Mapping[str, object]] = {
        "token": {"token": SECRET},
        "tokenFile": {"tokenFile": str(folder / "token")},
        "password": {"username": "jane", "password": SECRET},
        "exec": {"exec": {"apiVersion": API_VERSION, "command": str(plugin), "interactiveMode": "Never"}},
    }
    return users.get(place, {})


def no_secret(ended: Ended) -> Ended:
    """Return how it ended; it has told nobody the secret."""
    for secret in (SECRET, ENCODED):
        assert secret not in ended.stdout + ended.stderr
    return ended


@pytest.mark.parametrize("place", ["flag", "token", "tokenFile", "password", "exec"])
def test_no_secret_is_told(place: str, talker: ApiServer, authority: trustme.CA, tmp_path: Path) -> None:
    pem = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(pem)
    kubeconfig = tmp_path / "kubeconfig"
    cluster = {"certificate-authority": str(pem)}
    write_kubeconfig(kubeconfig, server=talker.url, namespace="shop", cluster=cluster, user=user_with(place, tmp_path))
    program = Program(kubeconfig, tmp_path)
    flags = ("--token", SECRET) if place == "flag" else ()
    told = no_secret(program.run(*WHY, "-v", "9", *flags))
    assert (told.code, f"GET {talker.url}" in told.stderr) == (1, True)
    sent = {seen.header("Authorization") for seen in talker.seen}
    assert sent == {f"Basic {ENCODED}" if place == "password" else f"Bearer {SECRET}"}
    no_secret(program.run(*WHY, "-o", "json", *flags))
    for code in (400, 401, 403) if place == "token" else (401,):
        talker.answer = partial(refuse, code)
        ended = no_secret(program.run(*WHY, "-v", "9", *flags))
        assert (ended.code, ended.stdout) == (3, "")
        assert "<masked>" in ended.stderr


@pytest.mark.parametrize("port", [None, 1, 99999], ids=["proxy", "no proxy", "no port"])
def test_no_proxys_password_is_told(port: int | None, server: ApiServer, tmp_path: Path) -> None:
    address = f"127.0.0.1:{port}" if port else server.address
    cluster = {"proxy-url": f"http://jane:{SECRET}@{address}"}
    kubeconfig = tmp_path / "kubeconfig"
    write_kubeconfig(kubeconfig, server="http://api.example.com", namespace="shop", cluster=cluster)
    ended = no_secret(Program(kubeconfig, tmp_path).run(*WHY, "-v", "9"))
    assert ended.code == (3 if port else 1)
    assert {seen.header("Proxy-Authorization") for seen in server.seen} == (set() if port else {f"Basic {ENCODED}"})


@pytest.mark.parametrize(
    "content",
    [
        f"users: [{{name: a, user: {{token: {SECRET}",
        f"users: [{{name: a, user: {{token: [{SECRET}]}}}}]",
        f"a: &{SECRET}",
    ],
)
def test_no_secret_of_a_broken_kubeconfig_is_told(content: str, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(content)
    ended = no_secret(Program(kubeconfig, tmp_path).run(*WHY, "-v", "9"))
    assert (ended.code, ended.stdout) == (3, "")


@pytest.mark.parametrize("printed", [f'{{"token": "{SECRET}"', f'{{"status": "{SECRET}"}}', f'["{SECRET}"]', SECRET])
def test_no_secret_of_a_broken_plugin_is_told(printed: str, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    plugin.write_text(f"#!/bin/sh\ncat <<END\n{printed}\nEND\n")
    plugin.chmod(0o755)
    user = {"exec": {"apiVersion": API_VERSION, "command": str(plugin), "interactiveMode": "Never"}}
    kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", user=user)
    ended = no_secret(Program(kubeconfig, tmp_path).run(*WHY, "-v", "9"))
    assert (ended.code, ended.stdout) == (3, "")
    assert "getting credentials: exec plugin" in ended.stderr

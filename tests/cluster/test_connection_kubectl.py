"""kubectl and this program, side by side: the server they reach, and who it believes they are."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trustme

from kubectl_spread.cluster.transport import Request, fetch
from kubectl_spread.errors import SpreadError
from tests.cluster.api_server import ApiServer, Response, Seen, serving
from tests.cluster.conftest import Connect
from tests.cluster.kubeconfigs import write_kubeconfig

KUBECTL = shutil.which("kubectl")
WHO_AM_I = Request(path="/whoami", what="ask who we are")

pytestmark = pytest.mark.skipif(KUBECTL is None, reason="kubectl is not in the PATH")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Two kubeconfigs, each with a server of its own, and flags.

    Attributes:
        users: what each file says of its user.
        clusters: what each file says of its cluster.
        names: the name of cluster, user and context in each file.
        current: whether each file sets current-context.
        flags: flag → values.
    """

    users: Sequence[Mapping[str, object]] = ({"token": "a"}, {"token": "b"})
    clusters: Sequence[Mapping[str, object]] = ({}, {})
    names: Sequence[str] = ("a", "b")
    current: Sequence[bool] = (True, True)
    flags: Mapping[str, Sequence[str]] = field(default_factory=dict)


PLUGIN = {
    "apiVersion": "client.authentication.k8s.io/v1",
    "command": "./login",
    "interactiveMode": "Never",
    "env": [{"name": "TOKEN", "value": "from-plugin"}],
}
IMPERSONATION = {"as": "jane", "as-uid": "7", "as-groups": ["a, b", "c"], "as-user-extra": {"x.io/Y%z": ["1", "2"]}}
CASES = {
    "the first current-context": Case(),
    "the only current-context": Case(current=(False, True)),
    "a context by name": Case(flags={"context": ["b"]}),
    "the first definition of a name": Case(names=("a", "a"), current=(False, True)),
    "cluster and user by name": Case(flags={"cluster": ["b"], "user": ["a"]}),
    "no verification beside an authority": Case(clusters=({"insecure-skip-tls-verify": True}, {})),
    "no verification by flag": Case(flags={"insecure-skip-tls-verify": ["true"]}),
    "no authority": Case(clusters=({"certificate-authority": None}, {})),
    "an authority that is missing": Case(clusters=({"certificate-authority": "gone.crt"}, {})),
    "an unknown context": Case(flags={"context": ["nope"]}),
    "an unknown cluster": Case(flags={"cluster": ["nope"]}),
    "an unknown user": Case(flags={"user": ["nope"]}),
}


@pytest.fixture
def servers(server_context: ssl.SSLContext) -> Iterator[tuple[ApiServer, ApiServer]]:
    """Yield the servers of the first and the second file."""
    with serving(answer, server_context) as first, serving(answer, server_context) as second:
        yield first, second


def answer(_: Seen) -> Response:
    return Response(body={})


@pytest.fixture
def folder(tmp_path: Path, authority: trustme.CA) -> Path:
    """Return the folder of the kubeconfigs, with everything they may name."""
    leaf = authority.issue_cert(common_name="certified")
    (tmp_path / "client.crt").write_bytes(leaf.cert_chain_pems[0].bytes())
    (tmp_path / "client.key").write_bytes(leaf.private_key_pem.bytes())
    (tmp_path / "ca.crt").write_bytes(authority.cert_pem.bytes())
    (tmp_path / "token").write_text("from-file\n")
    login = tmp_path / "login"
    status = '{\\"token\\": \\"$TOKEN\\"}'
    login.write_text(
        '#!/bin/sh\necho "{\\"apiVersion\\": \\"client.authentication.k8s.io/v1\\", '
        f'\\"kind\\": \\"ExecCredential\\", \\"status\\": {status}}}"\n'
    )
    login.chmod(0o700)
    return tmp_path


def identity(seen: Seen) -> Mapping[str, object]:
    """Return what a server can tell of who asks."""
    told = {name: sorted(values) for name, values in seen.headers.items() if name.startswith("impersonate-")}
    return {"certificate": seen.certificate, "authorization": seen.headers.get("authorization"), **told}


def reached(servers: Sequence[ApiServer]) -> Sequence[Sequence[Mapping[str, object]]]:
    """Return what each server has seen, and let it forget."""
    identities = [[identity(seen) for seen in server.seen if seen.path == "/whoami"] for server in servers]
    for server in servers:
        server.seen.clear()
    return identities


def by_kubectl(flags: Mapping[str, Sequence[str]]) -> bool:
    """Ask with kubectl; return whether it got an answer."""
    words = [f"--{name}={value}" for name, values in flags.items() for value in values]
    command = [str(KUBECTL), "get", "--raw", "/whoami", "--request-timeout=10s", *words]
    return subprocess.run(command, capture_output=True, check=False, env=os.environ).returncode == 0


def by_us(connecting: Connect, flags: Mapping[str, Sequence[str]]) -> bool:
    """Ask with this program; return whether it got an answer."""
    repeated = {"as-group": "as_groups", "as-user-extra": "as_user_extra"}
    given: dict[str, object] = {repeated[name]: tuple(flags[name]) for name in flags if name in repeated}
    single = {name.replace("-", "_"): values[0] for name, values in flags.items() if name not in repeated}
    given |= {f"{name}_" if name == "as" else name: value == "true" or value for name, value in single.items()}
    try:
        fetch(connecting(**given), WHO_AM_I)
    except SpreadError:
        return False
    return True


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_both_reach_the_same_server_as_the_same_user(
    *,
    case: Case,
    folder: Path,
    servers: tuple[ApiServer, ApiServer],
    connecting: Connect,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = [
        write_kubeconfig(
            folder / f"config-{number}",
            server=server.url,
            name=case.names[number],
            current=case.current[number],
            cluster={"certificate-authority": "ca.crt", **case.clusters[number]},
            user=case.users[number],
        )
        for number, server in enumerate(servers)
    ]
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(map(str, files)))
    wanted = by_kubectl(case.flags), reached(servers)
    assert (by_us(connecting, case.flags), reached(servers)) == wanted


def test_the_cases_tell_answers_from_failures(folder: Path, servers: tuple[ApiServer, ApiServer]) -> None:
    write_kubeconfig(folder / "config", server=servers[0].url, cluster={"certificate-authority": "ca.crt"})
    assert by_kubectl({"kubeconfig": [str(folder / "config")], "token": ["seen"]})
    assert reached(servers) == [[{"certificate": "", "authorization": ["Bearer seen"]}], []]
    assert not by_kubectl({"kubeconfig": [str(folder / "gone")]})

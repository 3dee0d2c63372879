"""What tests of the way to a cluster share: a clean environment, certificates, servers."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme
from msgspec.structs import replace

from kubectl_spread.cluster.access.client_config import connect
from kubectl_spread.cluster.access.options import ConnectionOptions
from kubectl_spread.cluster.net.connection import API_SERVER, Connection, DownloadLimits
from tests.cluster.api_server import ApiServer, Response, serving

VARIABLES = (
    "KUBECONFIG",
    "KUBERNETES_SERVICE_HOST",
    "KUBERNETES_SERVICE_PORT",
    "KUBERNETES_MASTER",
    "POD_NAMESPACE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let no setting of whoever runs the tests matter, and no file of theirs be found."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="session")
def authority_pem(authority: trustme.CA) -> bytes:
    """Return the authority's certificate."""
    return authority.cert_pem.bytes()


@pytest.fixture(scope="session")
def server_context(authority: trustme.CA) -> ssl.SSLContext:
    """Return the TLS of a server at 127.0.0.1 that asks for a client certificate and goes on without one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "api.example.com").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_OPTIONAL
    return context


@pytest.fixture(scope="session")
def long_ago() -> datetime:
    """Return a time before which every certificate of the tests has expired that is said to have."""
    return datetime(2020, 1, 2, 3, 4, tzinfo=UTC)


def ok(_: object) -> Response:
    """Answer every request with an empty object."""
    return Response(body={})


@pytest.fixture
def server() -> Iterator[ApiServer]:
    """Yield a server that speaks plain HTTP."""
    with serving(ok) as running:
        yield running


@pytest.fixture
def tls_server(server_context: ssl.SSLContext) -> Iterator[ApiServer]:
    with serving(ok, server_context) as running:
        yield running


Connect = Callable[..., Connection]


@pytest.fixture
def limits() -> DownloadLimits:
    """Return what an answer may take; no pause before a retry is waited for."""
    return replace(API_SERVER, sleep=lambda _: None)


@pytest.fixture
def connecting(tmp_path: Path, limits: DownloadLimits) -> Iterator[Connect]:
    """Yield ``connect`` by keywords, with a service account that may be there; what it opened is closed afterwards."""
    opened: list[Connection] = []

    def connect_with(**flags: object) -> Connection:
        options = ConnectionOptions(**flags)  # type: ignore[arg-type] # a typo fails the test
        opened.append(replace(connect(options, service_account=tmp_path / "serviceaccount"), limits=limits))
        return opened[-1]

    yield connect_with
    for connection in opened:
        connection.pool.clear()


@pytest.fixture
def connection(server: ApiServer, connecting: Connect) -> Connection:
    """Return a connection to the server, without credentials."""
    return connecting(server=server.url)

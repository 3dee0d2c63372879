"""The login flow of OpenID Connect."""

from __future__ import annotations

import base64
import json
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from kubectl_spread.cluster.net.transport import Request, fetch
from kubectl_spread.errors import ClusterError
from tests.cluster.api_server import ApiServer, Response, Seen, serving
from tests.cluster.conftest import Connect
from tests.cluster.kubeconfigs import write_kubeconfig

VERSION = Request(path="/version", what="get the version")


def id_token(seconds: float, name: str = "jane") -> str:
    """Return an unsigned token that expires in so many seconds."""
    parts = ({"alg": "none"}, {"sub": name, "exp": int(time.time() + seconds)})
    encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return ".".join((*encoded, "signature"))


VALID, EXPIRED, REFRESHED = id_token(3600), id_token(-10), id_token(3600, "refreshed")


@pytest.fixture
def provider(server_context: ssl.SSLContext) -> Iterator[ApiServer]:
    """Yield an identity provider that hands out the refreshed token."""

    def answer(seen: Seen) -> Response:
        if seen.path == "/token":
            return Response(body={"access_token": "a", "id_token": REFRESHED, "refresh_token": "next"})
        return Response(body={"token_endpoint": f"{running.url}/token"})

    with serving(answer, server_context) as running:
        yield running


def configured(
    config: Path, *, server: ApiServer, provider: ApiServer, authority_pem: bytes, **settings: str | None
) -> str:
    """Write a kubeconfig whose user logs in with the provider, and return its path."""
    authority = base64.b64encode(authority_pem).decode()
    flow = {
        "idp-issuer-url": provider.url,
        "idp-certificate-authority-data": authority,
        "client-id": "kubernetes",
        "refresh-token": "first",
        **settings,
    }
    write_kubeconfig(
        config,
        server=server.url,
        cluster={"certificate-authority-data": authority},
        user={"auth-provider": {"name": "oidc", "config": flow}},
    )
    return str(config)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config"


def test_a_token_that_has_not_expired_is_sent(
    *, tls_server: ApiServer, provider: ApiServer, authority_pem: bytes, connecting: Connect, config: Path
) -> None:
    file = configured(config, server=tls_server, provider=provider, authority_pem=authority_pem, **{"id-token": VALID})
    before = config.read_text()
    fetch(connecting(kubeconfig=file), VERSION)
    assert tls_server.seen[0].header("Authorization") == f"Bearer {VALID}"
    assert provider.seen == []
    assert config.read_text() == before


def test_a_token_that_has_expired_is_refreshed_and_saved(
    *, tls_server: ApiServer, provider: ApiServer, authority_pem: bytes, connecting: Connect, config: Path
) -> None:
    file = configured(
        config, server=tls_server, provider=provider, authority_pem=authority_pem, **{"id-token": EXPIRED}
    )
    fetch(connecting(kubeconfig=file), VERSION)
    assert tls_server.seen[0].header("Authorization") == f"Bearer {REFRESHED}"
    saved = yaml.safe_load(config.read_text())["users"][0]["user"]["auth-provider"]["config"]
    assert (saved["id-token"], saved["refresh-token"]) == (REFRESHED, "next")
    assert "client-secret" not in saved
    assert "idp-certificate-authority" not in saved


def test_a_provider_whose_certificate_nobody_signed_gets_no_secret(
    *, tls_server: ApiServer, provider: ApiServer, authority_pem: bytes, connecting: Connect, config: Path
) -> None:
    settings = {"id-token": EXPIRED, "idp-certificate-authority-data": None}
    file = configured(config, server=tls_server, provider=provider, authority_pem=authority_pem, **settings)
    with pytest.raises(ClusterError) as caught:
        connecting(kubeconfig=file)
    assert caught.value.message.startswith('cannot refresh the OpenID Connect token of user "main": ')
    assert "certificate verify failed" in caught.value.message
    assert caught.value.hint == "log in again"
    assert provider.seen == []


def test_a_token_that_was_never_there_is_fetched_and_saved(
    *, tls_server: ApiServer, provider: ApiServer, authority_pem: bytes, connecting: Connect, config: Path
) -> None:
    file = configured(config, server=tls_server, provider=provider, authority_pem=authority_pem)
    fetch(connecting(kubeconfig=file), VERSION)
    assert tls_server.seen[0].header("Authorization") == f"Bearer {REFRESHED}"
    assert yaml.safe_load(config.read_text())["users"][0]["user"]["auth-provider"]["config"]["id-token"] == REFRESHED


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("refresh-token", "Expected key refresh-token"),
        ("idp-issuer-url", 'the auth-provider of user "main" must have idp-issuer-url'),
        ("client-id", 'the auth-provider of user "main" must have client-id'),
    ],
)
def test_a_login_that_is_incomplete_is_an_error(
    *,
    missing: str,
    message: str,
    tls_server: ApiServer,
    provider: ApiServer,
    authority_pem: bytes,
    connecting: Connect,
    config: Path,
) -> None:
    settings = {"id-token": EXPIRED, missing: None}
    file = configured(config, server=tls_server, provider=provider, authority_pem=authority_pem, **settings)
    with pytest.raises(ClusterError, match=message):
        connecting(kubeconfig=file)


@pytest.mark.parametrize(
    "refusal",
    [
        Response(status=400, body={"error": "invalid_grant"}),
        Response(body={"access_token": "a"}),
        Response(status=500, body=b"oops", content_type="text/plain"),
    ],
)
def test_a_provider_that_refuses_is_an_error(
    *,
    refusal: Response,
    tls_server: ApiServer,
    provider: ApiServer,
    authority_pem: bytes,
    connecting: Connect,
    config: Path,
) -> None:
    answer = provider.answer
    provider.answer = lambda seen: refusal if seen.path == "/token" else answer(seen)
    file = configured(
        config, server=tls_server, provider=provider, authority_pem=authority_pem, **{"id-token": EXPIRED}
    )
    with pytest.raises(ClusterError, match='cannot refresh the OpenID Connect token of user "main"'):
        connecting(kubeconfig=file)


def test_a_provider_that_kubectl_dropped_is_named(connecting: Connect, config: Path) -> None:
    write_kubeconfig(config, user={"auth-provider": {"name": "gcp"}})
    with pytest.raises(ClusterError) as caught:
        connecting(kubeconfig=str(config))
    assert caught.value.message == 'no Auth Provider found for name "gcp"'
    assert "1.26" in caught.value.hint

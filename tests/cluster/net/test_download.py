"""A URL gives its bytes within bounds, and its failures are told in a person's words."""

from __future__ import annotations

import base64
import time

import pytest
from msgspec.structs import replace

from kubectl_spread.cluster.net import download as module
from kubectl_spread.cluster.net.connection import MANIFEST, DownloadLimits
from kubectl_spread.cluster.net.download import download
from kubectl_spread.errors import UnreadableError
from tests.cluster.api_server import ApiServer, Response, in_turn
from tests.cluster.relays import drip, listening, relay, socks5


def refusal(url: str, limits: DownloadLimits = MANIFEST) -> str:
    with pytest.raises(UnreadableError) as raised:
        download(url, limits)
    return str(raised.value)


def test_the_body_is_returned_as_it_is(server: ApiServer) -> None:
    server.answer = lambda _: Response(body=b"a: 1\n" * 100_000, content_type="text/plain")
    assert download(f"{server.url}/a.yaml?ref=main") == b"a: 1\n" * 100_000
    (seen,) = server.seen
    assert (seen.method, seen.path, seen.query) == ("GET", "/a.yaml", {"ref": "main"})
    assert seen.header("Authorization") == ""


def test_redirects_are_followed(server: ApiServer) -> None:
    server.answer = in_turn(Response(status=302, headers={"Location": "/b"}), Response(body=b"b"))
    assert download(f"{server.url}/a") == b"b"


def test_a_password_is_sent_and_not_shown(server: ApiServer) -> None:
    server.answer = in_turn(Response(body=b"a"), Response(status=403))
    url = f"{server.url.replace('//', '//me:s3cret@')}/a"
    assert download(url) == b"a"
    assert server.seen[0].header("Authorization") == f"Basic {base64.b64encode(b'me:s3cret').decode()}"
    assert refusal(url) == "cannot be read: the server answered 403 Forbidden"


def test_a_proxy_of_the_environment_is_used(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url.replace("//", "//me:s3cret@"))
    server.answer = lambda _: Response(body=b"by proxy")
    assert download("http://manifests.invalid/a.yaml") == b"by proxy"
    (seen,) = server.seen
    assert seen.header("Host") == "manifests.invalid"
    assert seen.header("Proxy-Authorization") == f"Basic {base64.b64encode(b'me:s3cret').decode()}"


def test_a_socks_proxy_of_the_environment_is_used_and_looks_up_the_name(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = lambda _: Response(body=b"by SOCKS")
    with relay(server.address, socks5) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"socks5://{proxy.address}")
        assert download("http://manifests.invalid/a.yaml") == b"by SOCKS"
    assert proxy.asked == ["manifests.invalid:80"]


@pytest.mark.parametrize(
    ("proxy", "reason"),
    [
        ("socks5://me:s3cret@127.0.0.1:1", "cannot be read: [Errno 111] Connection refused"),
        ("ftp://me:s3cret@p:1", "cannot be read: the proxy 'ftp://p:1' cannot be used: "),
        ("http://me:s3cret@[", "cannot be read: the proxy 'http://[' cannot be used: it is not a URL"),
    ],
)
def test_a_proxy_that_is_of_no_use_is_named(proxy: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)
    refused = refusal("http://manifests.invalid/a.yaml")
    assert refused.startswith(reason)
    assert "s3cret" not in refused


def test_a_failing_server_is_asked_again(server: ApiServer) -> None:
    server.answer = in_turn(Response(status=503, headers={"Retry-After": "3600"}), Response(body=b"a"))
    assert download(server.url) == b"a"
    assert len(server.seen) == 2


def test_a_server_that_keeps_failing_is_given_up(server: ApiServer) -> None:
    server.answer = lambda _: Response(status=500)
    assert refusal(server.url) == "cannot be read: the server answered 500 Internal Server Error"
    assert len(server.seen) == module.ATTEMPTS


def test_redirects_without_end_are_given_up(server: ApiServer) -> None:
    server.answer = lambda _: Response(status=302, headers={"Location": "/again"})
    assert refusal(server.url) == "cannot be read: too many redirects"


def test_a_redirect_to_something_else_than_http_is_refused(server: ApiServer) -> None:
    server.answer = lambda _: Response(status=302, headers={"Location": "file:///etc/passwd"})
    assert refusal(server.url) == "cannot be read: No host specified."


def test_too_much_is_refused(server: ApiServer) -> None:
    limits = replace(MANIFEST, answer_bytes=2**20)
    server.answer = lambda _: Response(body=bytes(2**20 + 1))
    assert refusal(server.url, limits) == "holds more than 1 MiB"
    server.answer = lambda _: Response(body=bytes(2**20))
    assert len(download(server.url, limits)) == 2**20


def test_too_slow_is_refused(server: ApiServer) -> None:
    server.answer = lambda _: Response(delay_seconds=1)
    start = time.monotonic()
    assert refusal(server.url, replace(MANIFEST, seconds=0.2)) == "cannot be read: no answer in time"
    assert time.monotonic() - start < 1


def test_an_answer_that_drips_is_refused() -> None:
    with listening(drip) as address:
        refused = refusal(f"http://{address}/a", replace(MANIFEST, seconds=0.2))
    assert refused == "cannot be read: the answer takes too long"


def test_an_answer_that_breaks_off_is_refused(server: ApiServer) -> None:
    server.answer = lambda _: Response(body=b"a" * 100, sent_bytes=10)
    assert refusal(server.url) == "cannot be read: the connection was lost"


def test_a_server_nobody_vouches_for_is_refused(tls_server: ApiServer) -> None:
    reason = refusal(tls_server.url)
    assert reason.startswith("cannot be read: ")
    assert "certificate" in reason


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1:1/a", "cannot be read: [Errno 111] Connection refused"),
        ("http://me:secret@[/a", "cannot be read: '[' is not a valid host or port"),
        ("http://me:secret@a:b/c", "cannot be read: "),
        ("http://nowhere.invalid/a", "cannot be read: Failed to resolve 'nowhere.invalid' ("),
    ],
)
def test_no_answer_is_explained(url: str, reason: str) -> None:
    refused = refusal(url)
    assert refused.startswith(reason)
    assert "secret" not in refused

"""Requests that fail: which are tried again, and what the others are called."""

from __future__ import annotations

import gzip
import socket
import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
import trustme
from msgspec.structs import replace
from pytest_mock import MockerFixture

from kubectl_spread.cluster.net import transport
from kubectl_spread.cluster.net.connection import API_SERVER, Connection, DownloadLimits
from kubectl_spread.cluster.net.credentials import Credentials, Issued
from kubectl_spread.cluster.net.failures import StatusError, parse_status
from kubectl_spread.cluster.net.tls import KeyPair
from kubectl_spread.cluster.net.transport import Request, fetch
from kubectl_spread.errors import ClusterError
from tests.cluster.api_server import ApiServer, Response, Seen, in_turn, serving, status
from tests.cluster.conftest import Connect
from tests.cluster.kubeconfigs import write_kubeconfig
from tests.cluster.relays import drip, listening

PODS = Request(path="/api/v1/pods", what="list pods", needs='the RBAC verb "list" on pods')
WHOLE = {"metadata": {"resourceVersion": "1", "continue": "t"}, "items": [{"metadata": {"name": "a"}}]}


@pytest.fixture
def pauses() -> list[float]:
    """Return the pauses between attempts (seconds), none of which is waited for."""
    return []


@pytest.fixture
def limits(pauses: list[float]) -> DownloadLimits:
    """Return what an answer may take."""
    return replace(API_SERVER, sleep=pauses.append)


def failure(connection: Connection, request: Request = PODS) -> ClusterError:
    with pytest.raises(ClusterError) as caught:
        fetch(connection, request)
    return caught.value


def test_gzip_is_asked_for_and_undone(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(Response(body=WHOLE))
    pieces: list[int] = []
    answer = fetch(connection, PODS, pieces.append)
    assert server.seen[0].header("Accept-Encoding") == "gzip"
    assert answer.body == Response(body=WHOLE).content()
    assert answer.metadata.resource_version == "1"
    assert answer.metadata.continue_ == "t"
    assert sum(pieces) == len(answer.body)


def test_gzip_is_not_asked_for_when_compression_is_off(server: ApiServer, connecting: Connect) -> None:
    server.answer = in_turn(Response(body=WHOLE))
    fetch(connecting(server=server.url, disable_compression=True), PODS)
    assert server.seen[0].headers["accept-encoding"] == ["identity"]


def test_requests_say_who_sends_them_and_what_they_accept(server: ApiServer, connection: Connection) -> None:
    fetch(connection, PODS)
    assert server.seen[0].header("User-Agent").startswith("kubectl-spread/")
    assert server.seen[0].header("Accept") == "application/json"
    assert "authorization" not in server.seen[0].headers


def test_the_servers_path_comes_first(server: ApiServer, connecting: Connect) -> None:
    fetch(connecting(server=f"{server.url}/k8s/clusters/c-1/"), PODS)
    assert server.seen[0].path == "/k8s/clusters/c-1/api/v1/pods"


@pytest.mark.parametrize("code", [500, 502, 503, 504])
def test_a_server_in_trouble_is_asked_again(
    code: int, server: ApiServer, connection: Connection, pauses: list[float]
) -> None:
    server.answer = in_turn(status(code, "InternalError"), status(code, "InternalError"), Response(body=WHOLE))
    assert fetch(connection, PODS).metadata.continue_ == "t"
    assert pauses == [0.2, 0.4]


def test_a_server_that_stays_in_trouble_is_given_up(
    server: ApiServer, connection: Connection, pauses: list[float]
) -> None:
    server.answer = in_turn(status(500, "InternalError", "etcdserver: request timed out"))
    error = failure(connection)
    assert error.message == "cannot list pods: the server answered 500 InternalError: etcdserver: request timed out"
    assert error.status == 500
    assert len(server.seen) == 6
    assert pauses == [0.2, 0.4, 0.8, 1.6, 3.2]


def test_a_server_that_is_busy_says_when_to_come_back(
    server: ApiServer, connection: Connection, pauses: list[float]
) -> None:
    server.answer = in_turn(
        status(429, "TooManyRequests", Retry_After="7"), status(429, "TooManyRequests"), Response(body=WHOLE)
    )
    fetch(connection, PODS)
    assert pauses == [7.0, 0.4]


@pytest.mark.parametrize(("timeout", "asked"), [("5s", "7"), ("0", "3600")])
def test_a_server_that_asks_for_more_patience_than_there_is_is_given_up(
    *, timeout: str, asked: str, server: ApiServer, connecting: Connect, pauses: list[float]
) -> None:
    server.answer = in_turn(status(429, "TooManyRequests", "too many requests", Retry_After=asked))
    error = failure(connecting(server=server.url, request_timeout=timeout))
    assert error.message == "cannot list pods: the server answered 429 TooManyRequests: too many requests"
    assert pauses == []


@pytest.mark.parametrize(
    "broken",
    [
        Response(body=WHOLE, sent_bytes=0),
        Response(body=WHOLE, sent_bytes=20),
        Response(body=WHOLE, headers={"Content-Encoding": "gzip"}),
        Response(body=b'{"items": [{"metadata": {}}', announced=False),
        Response(body=b""),
    ],
    ids=["nothing", "part", "not gzip", "cut between values", "empty"],
)
def test_a_broken_answer_is_asked_for_again(
    *, broken: Response, server: ApiServer, connecting: Connect, pauses: list[float]
) -> None:
    server.answer = in_turn(broken, Response(body=WHOLE))
    answer = fetch(connecting(server=server.url, disable_compression=True), PODS)
    assert answer.metadata.continue_ == "t"
    assert len(pauses) == 1


def test_a_gzip_answer_that_is_cut_short_is_asked_for_again(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(Response(body=WHOLE, sent_bytes=30), Response(body=WHOLE))
    assert fetch(connection, PODS).metadata.continue_ == "t"


def test_an_answer_that_stays_broken_is_an_error(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(Response(body=b'{"items": [', announced=False))
    assert failure(connection).message.startswith("cannot list pods: the server's answer is cut short or malformed: ")
    server.answer = in_turn(Response(body=WHOLE, sent_bytes=30))
    assert failure(connection).message.startswith(f"lost the connection to the server {server.address}: IncompleteRead")


def reset(accepted: socket.socket) -> None:
    """Read a little and close with a reset."""
    accepted.recv(10)
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def test_a_connection_that_is_reset_is_made_again(connecting: Connect, pauses: list[float]) -> None:
    with listening(reset) as address:
        error = failure(connecting(server=f"http://{address}"))
    assert error.message == f"lost the connection to the server {address}: Connection reset by peer"
    assert error.hint == "check --server"
    assert len(pauses) == 5


def test_a_refused_connection_is_worded_as_kubectl_does(connecting: Connect, pauses: list[float]) -> None:
    error = failure(connecting(server="http://127.0.0.1:1"))
    assert error.message == (
        "the connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?"
    )
    assert error.what == "list pods"
    assert error.status == 0
    assert pauses == []


def test_an_unknown_host_is_named(connecting: Connect, tmp_path: Path) -> None:
    file = write_kubeconfig(tmp_path / "config", server="http://no.such.host.invalid:6443")
    error = failure(connecting(kubeconfig=str(file)))
    assert error.message == "unable to connect to the server: no such host: no.such.host.invalid:6443"
    assert error.hint == 'check the server of context "main"'


def test_a_host_that_cannot_be_reached_is_named(connecting: Connect, mocker: MockerFixture) -> None:
    mocker.patch("socket.socket.connect", side_effect=OSError(113, "No route to host"))
    error = failure(connecting(server="http://127.0.0.1:1"))
    assert error.message == "unable to connect to the server: 127.0.0.1:1: No route to host"


def test_a_silent_server_is_not_waited_for_beyond_the_request_timeout(
    server: ApiServer, connecting: Connect, pauses: list[float]
) -> None:
    server.answer = in_turn(Response(body=WHOLE, delay_seconds=0.3))
    error = failure(connecting(server=server.url, request_timeout="50ms"))
    assert error.message == f"unable to connect to the server: {server.address} did not answer in time"
    assert error.hint == "allow more with --request-timeout"
    assert pauses == []


def test_a_server_that_drips_is_not_waited_for_beyond_the_request_timeout(connecting: Connect) -> None:
    with listening(drip) as address:
        error = failure(connecting(server=f"http://{address}", request_timeout="200ms"))
    assert error.message == f"unable to connect to the server: {address} did not answer in time"


def test_nobody_waits_for_ever_even_where_nobody_says_how_long(
    server: ApiServer, connection: Connection, limits: DownloadLimits
) -> None:
    server.answer = in_turn(Response(body=WHOLE, delay_seconds=0.3))
    error = failure(replace(connection, limits=replace(limits, seconds=0.05)))
    assert error.message == f"unable to connect to the server: {server.address} did not answer in time"


def test_an_answer_that_fills_the_memory_is_not_taken(
    server: ApiServer, connection: Connection, limits: DownloadLimits, pauses: list[float]
) -> None:
    limits = replace(limits, answer_bytes=20 << 20)
    bomb = gzip.compress(b" " * (100 << 20))
    assert len(bomb) < 200_000
    server.answer = in_turn(Response(body=bomb, headers={"Content-Encoding": "gzip"}))
    pieces: list[int] = []
    with pytest.raises(ClusterError, match="cannot list pods: the server's answer is larger than 20 MiB"):
        fetch(replace(connection, headers=(), limits=limits), PODS, pieces.append)
    assert sum(pieces) <= 20 << 20
    assert max(pieces) <= transport.CHUNK_BYTES
    assert pauses == []


@pytest.mark.parametrize(
    ("date", "seconds"),
    [("Sat, 01 Jan 2000 00:00:00 GMT", 0.2), ("Sat, 01 Jan 2000 00:00:00 -0000", 0.2), ("Sat, 99 Jan", 0.2)],
)
def test_a_moment_that_has_passed_or_is_none_is_no_reason_to_wait(
    *, date: str, seconds: float, server: ApiServer, connection: Connection, pauses: list[float]
) -> None:
    server.answer = in_turn(status(429, "TooManyRequests", Retry_After=date), Response(body=WHOLE))
    fetch(connection, PODS)
    assert pauses == [seconds]


def test_a_busy_server_may_name_the_moment_to_come_back(
    server: ApiServer, connection: Connection, pauses: list[float]
) -> None:
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=50), usegmt=True)
    server.answer = in_turn(status(503, "ServiceUnavailable", Retry_After=moment), Response(body=WHOLE))
    fetch(connection, PODS)
    assert 40 < pauses[0] <= 50


LIST = replace(PODS, lists=("PodList",))


@pytest.mark.parametrize("body", [{"kind": "PodList", "items": None}, {"kind": "PodList"}, {"items": []}], ids=str)
def test_what_calls_itself_the_list_or_has_items_is_taken(
    body: dict[str, object], server: ApiServer, connection: Connection
) -> None:
    server.answer = in_turn(Response(body=body))
    assert fetch(connection, LIST).body == Response(body=body).content()


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({}, "JSON that is not a list"),
        ({"kind": "NodeList", "items": []}, "a NodeList"),
        ({"kind": "Status", "status": "Success"}, "a Status"),
    ],
)
def test_what_is_another_list_is_not_taken_for_an_empty_one(
    body: dict[str, object], found: str, server: ApiServer, connection: Connection
) -> None:
    server.answer = in_turn(Response(body=body))
    error = failure(connection, LIST)
    assert error.message == f"cannot list pods: the server answered with {found}, not a PodList"
    assert error.hint == f"is {server.url} an API server, or a proxy in front of one?"


def test_a_server_that_repeats_the_token_is_not_repeated(server: ApiServer, connection: Connection) -> None:
    server.answer = lambda seen: status(400, "BadRequest", f"what is {seen.header('Authorization')}?")
    error = failure(with_source(connection, Issued(authorization="Bearer s3cr3t")))
    assert error.message == "cannot list pods: the server answered 400 BadRequest: what is Bearer <masked>?"


def test_a_redirect_is_not_followed_and_names_no_secret(server: ApiServer, connection: Connection) -> None:
    with serving(lambda _: Response(body=WHOLE)) as elsewhere:
        target = f"http://user:secret@{elsewhere.address}/login?state=secret"
        server.answer = in_turn(Response(status=302, headers={"Location": target}))
        error = failure(connection)
        assert elsewhere.seen == []
    assert error.message == "cannot list pods: the server redirects to 127.0.0.1"
    assert error.status == 302
    assert "redirects are not followed" in error.hint


@pytest.mark.parametrize(
    ("location", "where"), [("/other", "another path"), ("", "another path"), ("http://[", "no address at all")]
)
def test_a_redirect_to_another_path_is_not_followed_either(
    location: str, where: str, server: ApiServer, connection: Connection
) -> None:
    server.answer = in_turn(Response(status=301, headers={"Location": location}))
    assert failure(connection).message == f"cannot list pods: the server redirects to {where}"
    assert len(server.seen) == 1


def test_a_page_instead_of_json_is_named(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(Response(body=b"<html>Sign in</html>", content_type="text/html; charset=utf-8"))
    error = failure(connection)
    assert error.message == "cannot list pods: the server answered with text/html, not JSON"
    assert error.status == 200
    assert error.hint == f"is {server.url} an API server, or a proxy or login page in front of one?"


def test_an_answer_to_metadata_only_is_json_too(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(Response(body=WHOLE, content_type="application/json;as=PartialObjectMetadataList"))
    assert fetch(connection, PODS).metadata.continue_ == "t"


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (status(400, "BadRequest", "bad"), "cannot list pods: the server answered 400 BadRequest: bad"),
        (
            Response(status=400, body=b"Client sent an HTTP request to an HTTPS server.\n", content_type="text/plain"),
            "cannot list pods: the server answered 400: Client sent an HTTP request to an HTTPS server.",
        ),
        (Response(status=520, body=b"<html>oops</html>"), "cannot list pods: the server answered 520"),
        (status(403, "Forbidden", "pods is forbidden"), "not allowed to list pods (Forbidden): pods is forbidden"),
        (status(401, "Unauthorized", "Unauthorized"), "you must be logged in to the server (Unauthorized)"),
    ],
)
def test_refusals_say_what_the_server_said(
    response: Response, message: str, server: ApiServer, connection: Connection
) -> None:
    server.answer = in_turn(response)
    error = failure(connection)
    assert isinstance(error, StatusError)
    assert error.message == message
    assert error.status == response.status
    assert len(server.seen) == 1


def test_a_refusal_names_the_permission_if_there_is_one(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(status(403, "Forbidden"))
    assert failure(connection).hint == 'needs the RBAC verb "list" on pods'
    assert failure(connection, replace(PODS, needs="")).hint == ""


def test_long_text_that_is_no_status_is_cut() -> None:
    assert len(parse_status(b"x" * 1000).message) == 200
    assert parse_status(b'{"a": "b"}').message == '{"a": "b"}'
    assert parse_status(b'{"kind": "Status", "message": "m", "details": null}').message == "m"


def with_source(connection: Connection, *issued: Issued) -> Connection:
    """Return the connection with credentials that are handed out one after another, the last one for ever."""
    waiting = list(issued)
    return replace(connection, credentials=Credentials(lambda: waiting.pop(0) if len(waiting) > 1 else waiting[0]))


def test_credentials_that_are_refused_are_renewed_once(server: ApiServer, connection: Connection) -> None:
    def answer(seen: Seen) -> Response:
        fresh = seen.header("Authorization") == "Bearer new"
        return Response(body=WHOLE) if fresh else status(401, "Unauthorized")

    server.answer = answer
    renewable = with_source(connection, Issued(authorization="Bearer old"), Issued(authorization="Bearer new"))
    fetch(renewable, PODS)
    fetch(renewable, PODS)
    assert [seen.header("Authorization") for seen in server.seen] == ["Bearer old", "Bearer new", "Bearer new"]


def test_credentials_that_another_request_has_renewed_are_taken() -> None:
    issued = (Issued(authorization=f"Bearer {number}") for number in range(9))
    credentials = Credentials(lambda: next(issued))
    assert credentials.renew("Bearer 0") == "Bearer 1"
    assert credentials.renew("Bearer 0") == "Bearer 1"


def test_credentials_that_stay_refused_are_an_error(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(status(401, "Unauthorized"))
    error = failure(with_source(connection, Issued(authorization="Bearer a"), Issued(authorization="Bearer b")))
    assert error.hint == "the credentials were refused: log in again"
    assert len(server.seen) == 2


def test_a_request_without_credentials_says_so(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(status(401, "Unauthorized"))
    assert failure(connection).hint == "the request carried no credentials: log in, or check the user of the context"


def test_a_server_whose_certificate_nobody_signed_is_not_trusted(tls_server: ApiServer, connecting: Connect) -> None:
    error = failure(connecting(server=tls_server.url))
    assert error.message.startswith("unable to connect to the server: tls: failed to verify certificate: self")
    assert "certificate-authority" in error.hint
    assert tls_server.seen == []


@pytest.fixture
def authority_file(tmp_path: Path, authority_pem: bytes) -> str:
    """Return the path of the authority's certificate."""
    file = tmp_path / "ca.crt"
    file.write_bytes(authority_pem)
    return str(file)


def test_a_certificate_for_another_host_is_not_accepted(
    tls_server: ApiServer, connecting: Connect, authority_file: str
) -> None:
    url = tls_server.url.replace("127.0.0.1", "localhost")
    error = failure(connecting(server=url, certificate_authority=authority_file))
    assert "Hostname mismatch" in error.message
    assert error.hint == "the certificate is for another host: check the server's URL, or use --tls-server-name"


def test_a_certificate_that_has_expired_is_not_accepted(
    authority: trustme.CA, connecting: Connect, authority_file: str, long_ago: datetime
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", not_after=long_ago).configure_cert(context)
    with serving(lambda _: Response(), context) as server:
        error = failure(connecting(server=server.url, certificate_authority=authority_file))
    assert error.message.endswith("certificate has expired")
    assert error.hint == "the server's certificate has to be renewed, or this machine's clock is wrong"


def test_a_server_that_does_not_speak_tls_is_recognised(server: ApiServer, connecting: Connect) -> None:
    error = failure(connecting(server=server.url.replace("http:", "https:")))
    assert error.message == "unable to connect to the server: the server gave an HTTP response to an HTTPS client"


def test_a_server_that_wants_a_client_certificate_says_so(
    authority: trustme.CA, connecting: Connect, authority_file: str
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with serving(lambda _: Response(), context) as server:
        error = failure(connecting(server=server.url, certificate_authority=authority_file))
    assert error.message.startswith("unable to connect to the server: tls: ")
    assert "alert handshake failure" in error.message
    assert error.hint == ""


def test_a_tls_connection_that_breaks_off_is_made_again(connecting: Connect, pauses: list[float]) -> None:
    with listening(lambda accepted: accepted.recv(1000)) as address:
        error = failure(connecting(server=f"https://{address}"))
    assert error.message.startswith(f"lost the connection to the server {address}: ")
    assert len(pauses) == 5


def test_a_client_certificate_that_has_expired_is_named(
    authority: trustme.CA, server: ApiServer, connection: Connection, long_ago: datetime
) -> None:
    server.answer = in_turn(status(401, "Unauthorized"))
    pem = authority.issue_cert(common_name="jane", not_after=long_ago).cert_chain_pems[0].bytes()
    error = failure(with_source(connection, Issued(key_pair=KeyPair(pem, b"", 'user "main"'))))
    assert error.hint == 'the client certificate of user "main" expired on 2020-01-02 03:04 UTC: renew it'


def test_a_proxy_that_is_not_there_is_blamed(connecting: Connect, tmp_path: Path) -> None:
    cluster = {"proxy-url": "http://127.0.0.1:1"}
    file = write_kubeconfig(tmp_path / "config", server="https://api.example.com", cluster=cluster)
    error = failure(connecting(kubeconfig=str(file)))
    assert error.message == "unable to connect to the server through its proxy: Connection refused"
    assert error.hint == "check proxy-url or HTTPS_PROXY"

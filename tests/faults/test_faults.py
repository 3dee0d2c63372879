"""A server in trouble: asked again where that helps, else one clear line and exit code 3; never half an answer."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import trustme

from tests.cluster.api_server import ApiServer, Response, Seen, serving, status
from tests.controlplane.component import free_port
from tests.faults.raw_server import RESET, Said, http, speaking
from tests.faults.shop import BUDGETS, NODES, PODS, TOKEN, Program, Shop, failing, first_page, second_page
from tests.program import Ended

UNDETERMINED = 3
WHOLE_BUT = 1
"""A Pod of the shop is blocked, whatever else could not be had."""

CUT = Response(body=b'{"metadata": {"resourceVersion": "7"}, "items": [{"metadata": {"na')
PAGE = Response(body=b"<html><body>Please log in</body></html>", content_type="text/html; charset=utf-8")
STOPPED = Response(body={"items": []}, sent_bytes=10)
BUSY = status(429, "TooManyRequests", "slow down", Retry_After="1")
EXPIRED = status(410, "Expired", "The provided continue parameter is too old")
OTHER_VERSION = Response(body={"metadata": {"resourceVersion": "8"}, "items": []})
TROUBLE = status(500, "InternalError", "etcdserver: leader changed")
UNAVAILABLE = status(503, "ServiceUnavailable", "apiserver is shutting down")

AT_FIRST = pytest.mark.parametrize("at", [first_page, second_page], ids=["first page", "second page"])


def refused(ended: Ended) -> str:
    """Return the one line of a run that answered nothing."""
    assert ended.code == UNDETERMINED
    assert ended.error.startswith("error: ")
    return ended.error


@AT_FIRST
@pytest.mark.parametrize(
    "fault",
    [CUT, STOPPED, TROUBLE, UNAVAILABLE, BUSY],
    ids=["cut short", "connection closed", "500", "503", "429"],
)
def test_trouble_that_passes_is_not_seen(
    fault: Response, at: Callable[[Seen, str], bool], server: ApiServer, program: Program, whole: str
) -> None:
    server.answer = failing(fault, at=at)
    assert program.run("why-pending") == Ended(WHOLE_BUT, whole, "")


@pytest.mark.parametrize("fault", [EXPIRED, OTHER_VERSION], ids=["410", "another version"])
def test_a_list_that_changes_between_pages_is_begun_again(
    fault: Response, server: ApiServer, program: Program, whole: str
) -> None:
    server.answer = failing(fault, at=second_page)
    assert program.run("why-pending") == Ended(WHOLE_BUT, whole, "")
    assert sum(first_page(seen, PODS) for seen in server.seen) == 2


@AT_FIRST
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (CUT, "cannot list pods in all namespaces: the server's answer is cut short or malformed"),
        (STOPPED, "lost the connection to the server"),
        (PAGE, "the server answered with text/html, not JSON; is http"),
        (status(401, "Unauthorized"), "you must be logged in to the server (Unauthorized)"),
        (status(404, "NotFound", "gone"), "cannot list pods in all namespaces: the server answered 404 NotFound: gone"),
        (EXPIRED, "cannot list pods in all namespaces: the server answered 410 Expired"),
        (status(429, "TooManyRequests", Retry_After="3600"), "the server answered 429 TooManyRequests"),
        (TROUBLE, "the server answered 500 InternalError: etcdserver: leader changed"),
        (UNAVAILABLE, "the server answered 503 ServiceUnavailable: apiserver is shutting down"),
    ],
    ids=["cut short", "connection closed", "HTML", "401", "404", "410", "429", "500", "503"],
)
def test_trouble_that_stays_is_one_clear_line(
    *, fault: Response, said: str, at: Callable[[Seen, str], bool], server: ApiServer, program: Program
) -> None:
    server.answer = failing(fault, at=at, forever=True)
    assert said in refused(program.run("why-pending", "--request-timeout", "1s"))


def test_trouble_that_stays_is_given_up_without_a_timeout_too(server: ApiServer, program: Program) -> None:
    server.answer = failing(UNAVAILABLE, at=second_page, forever=True)
    began = time.monotonic()
    assert "503 ServiceUnavailable" in refused(program.run("why-pending"))
    assert time.monotonic() - began < 15


def test_a_list_that_keeps_changing_between_pages_is_one_clear_line(server: ApiServer, program: Program) -> None:
    server.answer = failing(OTHER_VERSION, at=second_page, forever=True)
    assert "cannot list pods in all namespaces: the list changed" in refused(program.run("why-pending"))


def test_nodes_that_are_forbidden_are_one_clear_line(server: ApiServer, program: Program) -> None:
    server.answer = failing(status(403, "Forbidden", "nodes is forbidden"), path=NODES, forever=True)
    assert "not allowed to list nodes (Forbidden): nodes is forbidden; needs a ClusterRole" in refused(
        program.run("why-pending")
    )


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (status(401, "Unauthorized"), "unauthorized"),
        (status(403, "Forbidden"), "forbidden"),
        (Response(status=404, body=b"404 page not found\n"), "not served by this API server"),
    ],
    ids=["401", "403", "404"],
)
def test_a_group_that_cannot_be_had_is_told(fault: Response, why: str, server: ApiServer, program: Program) -> None:
    server.answer = failing(fault, path=BUDGETS, forever=True)
    ended = program.run("why-pending", "-o", "json")
    told = [missing for missing in ended.item["incomplete"] if missing["what"] == "list poddisruptionbudgets"]
    assert [missing["why"] for missing in told] == [why]


def test_a_busy_server_is_given_the_time_it_asks_for(server: ApiServer, program: Program, whole: str) -> None:
    server.answer = failing(BUSY)
    began = time.monotonic()
    assert program.run("why-pending").stdout == whole
    assert time.monotonic() - began > 1


def test_a_refused_connection_is_one_clear_line(tmp_path: Path) -> None:
    program = Program.for_server(f"http://127.0.0.1:{free_port()}", tmp_path)
    assert "was refused - did you specify the right host or port?" in refused(program.run("why-pending"))


def test_credentials_do_not_follow_a_redirect(authority: trustme.CA, tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    pem = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(pem)
    with serving(Shop(), context) as elsewhere, serving(Shop(), context) as server:
        server.answer = lambda _: Response(status=302, headers={"Location": f"{elsewhere.url}/api/v1/pods?t={TOKEN}"})
        program = Program.for_server(server.url, tmp_path, authority=pem)
        assert "the server redirects to 127.0.0.1" in refused(program.run("why-pending"))
        assert {seen.header("Authorization") for seen in server.seen} == {f"Bearer {TOKEN}"}
        assert elsewhere.seen == []


def test_no_error_shows_the_token(authority: trustme.CA, tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    pem = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(pem)
    with serving(Shop(), context) as server:
        program = Program.for_server(server.url, tmp_path, authority=pem)
        for fault in (CUT, STOPPED, PAGE, TROUBLE, status(401, "Unauthorized"), status(403, "Forbidden")):
            server.answer = failing(fault, path=NODES, forever=True)
            refused(program.run("why-pending", "--request-timeout", "1s"))
        assert {seen.header("Authorization") for seen in server.seen} == {f"Bearer {TOKEN}"}


def spoken(said: Callable[[Response], Said], *, version: str = "HTTP/1.1", times: int = 1) -> Callable[[Seen], Said]:
    """Return the shop of a server that says its Pods in its own way, so many times."""
    shop, left, lock = Shop(page=500), [times], threading.Lock()

    def speak(seen: Seen) -> Said:
        with lock:
            own_way = seen.path == PODS and left[0] > 0
            left[0] -= own_way
        return said(shop(seen)) if own_way else [http(shop(seen), version=version)]

    return speak


def halves(response: Response) -> tuple[bytes, bytes]:
    """Return what goes over the wire, in two parts."""
    sent = http(response)
    return sent[: len(sent) // 2], sent[len(sent) // 2 :]


def test_a_connection_that_is_reset_amid_a_page_is_made_again(tmp_path: Path, whole: str) -> None:
    with speaking(spoken(lambda response: [halves(response)[0], 0.05, RESET])) as url:
        assert Program.for_server(url, tmp_path).run("why-pending") == Ended(WHOLE_BUT, whole, "")


def test_a_connection_that_is_always_reset_amid_a_page_is_one_clear_line(tmp_path: Path) -> None:
    with speaking(spoken(lambda response: [halves(response)[0], 0.05, RESET], times=99)) as url:
        ended = Program.for_server(url, tmp_path).run("why-pending", "--request-timeout", "1s")
    assert "lost the connection to the server" in refused(ended)


def test_a_slow_page_is_waited_for(tmp_path: Path, whole: str) -> None:
    def drip(response: Response) -> Said:
        sent = http(response)
        for begin in range(0, len(sent), 1000):
            yield sent[begin : begin + 1000]
            yield 0.05

    with speaking(spoken(drip)) as url:
        assert Program.for_server(url, tmp_path).run("why-pending") == Ended(WHOLE_BUT, whole, "")


def endless(_: Response) -> Said:
    """Yield a page that begins well and never ends."""
    yield b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"items": ['
    while True:
        yield b" " * 1000
        yield 0.01


@pytest.mark.parametrize("command", ["why-pending", "show"])
def test_a_page_that_never_ends_is_waited_for_as_long_as_said(command: str, tmp_path: Path) -> None:
    with speaking(spoken(endless, times=99)) as url:
        began = time.monotonic()
        ended = Program.for_server(url, tmp_path).run(command, "--request-timeout", "1s")
    assert "did not answer in time; allow more with --request-timeout" in refused(ended)
    assert time.monotonic() - began < 4


def test_a_server_of_the_last_century_is_understood(tmp_path: Path, whole: str) -> None:
    old = "HTTP/1.0"
    with speaking(spoken(lambda response: [http(response, version=old)], version=old)) as url:
        assert Program.for_server(url, tmp_path).run("why-pending") == Ended(WHOLE_BUT, whole, "")


def test_a_page_that_nobody_can_tell_is_cut_short_is_no_answer_either(tmp_path: Path) -> None:
    old = "HTTP/1.0"
    with speaking(spoken(lambda response: [http(response, version=old)[:-400]], version=old, times=99)) as url:
        ended = Program.for_server(url, tmp_path).run("why-pending", "--request-timeout", "1s")
    assert "the server's answer is cut short or malformed" in refused(ended)


@pytest.mark.parametrize("headers", ["X: " + "y" * 100_000 + "\r\n", "X: y\r\n" * 1000], ids=["long", "many"])
def test_headers_without_measure_are_one_clear_line(headers: str, tmp_path: Path) -> None:
    with speaking(spoken(lambda response: [http(response, headers=headers)], times=99)) as url:
        ended = Program.for_server(url, tmp_path).run("why-pending", "--request-timeout", "1s")
    assert "lost the connection to the server" in refused(ended)
    assert "header" in ended.stderr

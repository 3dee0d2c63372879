"""What is told of one request and its reply."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from kubectl_spread.cluster.log import Log
from kubectl_spread.cluster.net.connection import Connection
from kubectl_spread.cluster.net.credentials import Credentials, Issued
from kubectl_spread.cluster.net.transport import Request, fetch
from kubectl_spread.errors import ClusterError
from tests.cluster.api_server import ApiServer, Response, in_turn, status
from tests.cluster.conftest import Connect

PODS = Request(path="/api/v1/pods", what="list pods", query={"limit": "500"})
SECRET = "s3cr3t/t0k3n+"  # noqa: S105 - of nobody


def told(connection: Connection, level: int, request: Request = PODS) -> list[str]:
    """Return the lines told of the request, however it ends; times are all the same."""
    lines: list[str] = []
    source = Credentials(lambda: Issued(authorization=f"Bearer {SECRET}"))
    try:
        fetch(replace(connection, log=Log(lines.append, level), credentials=source), request)
    except ClusterError:
        lines.append("failed")
    assert SECRET not in "".join(lines)
    return [re.sub(r"in \d+ milliseconds", "in 5 milliseconds", line) for line in lines]


@pytest.mark.parametrize("level", [0, 1, 5])
def test_a_request_that_goes_well_is_not_worth_a_line(level: int, connection: Connection) -> None:
    assert told(connection, level) == []


def test_from_level_6_on_a_request_is_a_line(server: ApiServer, connection: Connection) -> None:
    said = f"GET {server.url}/api/v1/pods?limit=500 200 OK in 5 milliseconds, 2 bytes"
    assert told(connection, 6) == [said]
    posted = replace(PODS, body=b"{}")
    assert told(connection, 6, posted) == [said.replace("GET", "POST")]
    server.answer = in_turn(Response(status=799, body=b"{}"))
    assert told(connection, 6) == [said.replace("200 OK", "799"), "failed"]


def test_a_request_without_a_reply_is_a_line_too(connecting: Connect) -> None:
    line, failed = told(connecting(server="http://127.0.0.1:1"), 6)
    assert line.startswith("GET http://127.0.0.1:1/api/v1/pods?limit=500 failed in 5 milliseconds: ")
    assert line.endswith("Connection refused")
    assert failed == "failed"


def test_a_second_attempt_is_worth_a_line(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(status(503, "ServiceUnavailable", "shutting down"), Response(body={}))
    assert told(connection, 1) == [
        "cannot list pods: the server answered 503 ServiceUnavailable: shutting down; trying again in 0.2 s"
    ]


def test_from_level_7_on_headers_are_told_but_secrets_are_not(server: ApiServer, connecting: Connect) -> None:
    headers = {
        "Set-Cookie": f"session={SECRET}",
        "Location": f"http://u:{SECRET}@elsewhere/a?t={SECRET}#{SECRET}",
        "X-Seen": f"Bearer {SECRET}",
    }
    server.answer = in_turn(Response(body={}, headers=headers))
    lines = told(connecting(server=server.url, as_="jane", as_groups=("dev", "ops")), 7)
    asked, answered = lines.index("Request Headers:"), lines.index("Response Headers:")
    assert lines[:asked] == [f"GET {server.url}/api/v1/pods?limit=500"]
    assert {
        "    Authorization: Bearer <masked>",
        "    Accept: application/json",
        "    Impersonate-User: jane",
        "    Impersonate-Group: dev",
        "    Impersonate-Group: ops",
    } <= set(lines[asked:answered])
    assert {
        "    Content-Type: application/json",
        "    Set-Cookie: <masked>",
        "    Location: http://elsewhere/a?<masked>",
        "    X-Seen: Bearer <masked>",
    } <= set(lines[answered:])
    assert not [line for line in lines if "Body" in line]


@pytest.mark.parametrize(("level", "shown"), [(8, 1024), (9, 10240), (10, 10240)])
def test_from_level_8_on_bodies_are_told_as_far_as_one_may_read(
    level: int, shown: int, server: ApiServer, connection: Connection
) -> None:
    body = b'{"said": "' + SECRET.encode() + b"x" * 20_000 + b'"}'
    server.answer = in_turn(Response(body=body))
    lines = told(connection, level, replace(PODS, body=b'{"asked": 1}'))
    assert 'Request Body: {"asked": 1}' in lines
    begin = f'{{"said": "<masked>{"x" * shown}'[:shown]
    whole = len(body) - len(SECRET) + len("<masked>")
    assert lines[-1] == f"Response Body: {begin} [truncated {whole - shown} bytes]"


def test_a_body_that_is_short_is_told_whole(connection: Connection) -> None:
    assert told(connection, 8)[-1] == "Response Body: {}"

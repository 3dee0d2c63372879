"""What is told of one request and its reply."""

from __future__ import annotations

import re

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


def told(connection: Connection, request: Request = PODS) -> list[str]:
    """Return the lines told of the request, however it ends; times are all the same."""
    lines: list[str] = []
    source = Credentials(lambda: Issued(authorization=f"Bearer {SECRET}"))
    try:
        fetch(replace(connection, log=Log(lines.append), credentials=source), request)
    except ClusterError:
        lines.append("failed")
    assert SECRET not in "".join(lines)
    return [re.sub(r"in \d+ milliseconds", "in 5 milliseconds", line) for line in lines]


def test_a_request_is_a_line(server: ApiServer, connection: Connection) -> None:
    said = f"GET {server.url}/api/v1/pods?limit=500 200 OK in 5 milliseconds, 2 bytes"
    assert told(connection) == [said]
    posted = replace(PODS, body=b"{}")
    assert told(connection, posted) == [said.replace("GET", "POST")]
    server.answer = in_turn(Response(status=799, body=b"{}"))
    assert told(connection) == [said.replace("200 OK", "799"), "failed"]


def test_a_request_without_a_reply_is_a_line_too(connecting: Connect) -> None:
    line, failed = told(connecting(server="http://127.0.0.1:1"))
    assert line.startswith("GET http://127.0.0.1:1/api/v1/pods?limit=500 failed in 5 milliseconds: ")
    assert line.endswith("Connection refused")
    assert failed == "failed"


def test_a_second_attempt_is_worth_a_line(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(status(503, "ServiceUnavailable", "shutting down"), Response(body={}))
    assert told(connection)[1] == (
        "cannot list pods: the server answered 503 ServiceUnavailable: shutting down; trying again in 0.2 s"
    )

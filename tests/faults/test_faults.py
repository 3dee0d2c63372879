"""A server that changes between pages, forbids, or is not who it should be; test_table.py has what else goes wrong."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
import trustme

from tests.cluster.api_server import ApiServer, Response, serving, status
from tests.faults.shop import BUDGETS, NODES, PODS, TOKEN, WHY, Program, Shop, failing, first_page, second_page
from tests.program import Ended

UNDETERMINED = 3
WHOLE_BUT = 1
"""A Pod of the shop is blocked, whatever else could not be had."""

CUT = Response(body=b'{"metadata": {"resourceVersion": "7"}, "items": [{"metadata": {"na')
PAGE = Response(body=b"<html><body>Please log in</body></html>", content_type="text/html; charset=utf-8")
STOPPED = Response(body={"items": []}, sent_bytes=10)
OTHER_VERSION = Response(body={"metadata": {"resourceVersion": "8"}, "items": []})
TROUBLE = status(500, "InternalError", "etcdserver: leader changed")


def refused(ended: Ended) -> str:
    """Return the one line of a run that answered nothing."""
    assert ended.code == UNDETERMINED
    assert ended.error.startswith("error: ")
    return ended.error


def test_a_list_that_changes_between_pages_is_begun_again(server: ApiServer, program: Program, whole: str) -> None:
    server.answer = failing(OTHER_VERSION, at=second_page)
    assert program.ask(*WHY) == Ended(WHOLE_BUT, whole, "")
    assert sum(first_page(seen, PODS) for seen in server.seen) == 2


def test_a_list_that_keeps_changing_between_pages_is_one_clear_line(server: ApiServer, program: Program) -> None:
    server.answer = failing(OTHER_VERSION, at=second_page, forever=True)
    assert "cannot list pods in all namespaces: the list changed" in refused(program.ask(*WHY))


def test_nodes_that_are_forbidden_are_one_clear_line(server: ApiServer, program: Program) -> None:
    server.answer = failing(status(403, "Forbidden", "nodes is forbidden"), path=NODES, forever=True)
    assert "not allowed to list nodes (Forbidden): nodes is forbidden; needs a ClusterRole" in refused(
        program.ask(*WHY)
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
    ended = program.ask(*WHY, "-o", "json")
    told = [missing for missing in ended.item["incomplete"] if missing["what"] == "list poddisruptionbudgets"]
    assert [missing["why"] for missing in told] == [why]


def test_pods_that_are_forbidden_half_way_are_not_taken_for_all(server: ApiServer, program: Program) -> None:
    server.answer = failing(status(403, "Forbidden"), at=second_page, forever=True)
    missing = program.ask(*WHY, "-o", "json").item["incomplete"]
    assert ("list pods", "forbidden") in {(each["what"], each["why"]) for each in missing}


def test_a_server_that_nobody_vouches_for_hears_no_credentials(authority: trustme.CA, tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    pem = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(pem)
    with serving(Shop(), context) as server:
        ended = Program.for_server(server.url, tmp_path, authority=pem).ask(*WHY)
        assert server.seen == []
    assert "tls: failed to verify certificate" in refused(ended)


def test_credentials_do_not_follow_a_redirect(authority: trustme.CA, tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    pem = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(pem)
    with serving(Shop(), context) as elsewhere, serving(Shop(), context) as server:
        server.answer = lambda _: Response(status=302, headers={"Location": f"{elsewhere.url}/api/v1/pods?t={TOKEN}"})
        program = Program.for_server(server.url, tmp_path, authority=pem)
        assert "the server redirects to 127.0.0.1" in refused(program.ask(*WHY))
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
            refused(program.ask(*WHY, "--request-timeout", "1s"))
        assert {seen.header("Authorization") for seen in server.seen} == {f"Bearer {TOKEN}"}

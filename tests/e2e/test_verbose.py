"""``-v`` beside kubectl's own on a real API server: the same requests are told, with statuses and without secrets."""

import re

import pytest

from tests.controlplane.client import Client

pytestmark = pytest.mark.e2e

LIST = "/api/v1/nodes?limit=500"


def told(client: Client, *words: str) -> list[str]:
    """Return the lines on standard error of a run of kubectl."""
    return client.kubectl.run(*words).stderr.splitlines()


@pytest.mark.parametrize("form", [("-v=6",), ("-v", "6"), ("--v=6",), ("--v", "6")], ids=" ".join)
def test_a_request_is_a_line_as_with_kubectl(form: tuple[str, ...], client: Client) -> None:
    (theirs,) = [line for line in told(client, "get", "nodes", *form) if LIST in line]
    (ours,) = [line for line in told(client, "spread", "show", *form) if LIST in line]
    (url,) = re.findall(r"https://[^/]+", theirs)
    assert "200 OK" in theirs
    assert re.fullmatch(rf"GET {url}/api/v1/nodes\?\S+ 200 OK in \d+ milliseconds, \d+ bytes", ours)

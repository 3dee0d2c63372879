"""What can go wrong with a page, one row each: asked for again as designed, or one clear line; never half an answer."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import repeat
from pathlib import Path

import pytest

from tests.cluster.api_server import Response, Seen, status
from tests.faults.raw_server import RESET, Said, http, speaking
from tests.faults.shop import PODS, WHY, Program, Shop
from tests.program import Ended

ANSWERED, UNDETERMINED = 1, 3
"""Exit codes: a Pod of the shop is blocked; nothing can be told."""
ALWAYS = 99
ATTEMPTS = 6
SECOND_PAGE = "4"
"""The token that leads to it."""
BOUND_SECONDS = 20
"""For all attempts, on a machine with other things to do."""
IMPATIENT = ("--request-timeout", "2s")

Speak = Callable[[Response], Said]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What happens to the second page of the Pods, and what comes of it.

    Attributes:
        name: what it is.
        says: what the server says in place of the page.
        times: how often, before it says the page.
        words: what the only line on standard error holds; empty where the whole answer is printed.
        requests: how often the page is asked for.
        flags: of the command.
    """

    name: str
    says: Speak
    times: int = ALWAYS
    words: str = ""
    requests: int
    flags: tuple[str, ...] = ()


def instead(response: Response) -> Speak:
    """Return what says this in place of the page."""
    return lambda _: [http(response)]


def half(page: Response) -> bytes:
    """Return the first half of the page."""
    sent = http(page)
    return sent[: len(sent) // 2]


def drip(page: Response) -> Said:
    """Yield the page, bit by bit."""
    sent = http(page)
    for begin in range(0, len(sent), 500):
        yield sent[begin : begin + 500]
        yield 0.05


def endless(_: Response) -> Said:
    """Yield a page that begins well and never ends."""
    yield b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"items": ['
    while True:
        yield b" " * 1000
        yield 0.01


def until(_: Response) -> Said:
    """Yield that the server is busy until a moment from now."""
    moment = datetime.now(UTC) + timedelta(seconds=2)
    yield http(busy(format_datetime(moment, usegmt=True)))


def busy(retry_after: str) -> Response:
    """Return that the server is busy for so long."""
    return status(429, "TooManyRequests", "slow down", Retry_After=retry_after)


def with_token(page: Response, token: str) -> Response:
    """Return the page with the token for the next one."""
    assert isinstance(page.body, dict)
    return Response(body=page.body | {"metadata": page.body["metadata"] | {"continue": token}})


def packed(page: Response, *, cut: int) -> Response:
    """Return the page packed, with so many bytes (count) missing."""
    content = gzip.compress(page.content())
    return Response(body=content[: len(content) - cut], headers={"Content-Encoding": "gzip"})


def chunked(_: Response) -> Said:
    """Yield a page whose second chunk has no length."""
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    yield b'2\r\n{"\r\nzz\r\n'


LOST = "lost the connection to the server 127.0.0.1"
CUT = "cannot list pods in all namespaces: the server's answer is cut short or malformed"
SLOW = "did not answer in time; allow more with --request-timeout"
EXPIRED = status(410, "Expired", "The provided continue parameter is too old")
TROUBLE = status(500, "InternalError", "etcdserver: leader changed")
STOPPING = status(503, "ServiceUnavailable", "apiserver is shutting down")
CUT_SHORT = Response(body=b'{"items": [{"meta')
LOGIN = Response(body=b"<html>Please log in</html>", content_type="text/html; charset=utf-8")

FAULTS = (
    Fault(name="reset amid the page", says=lambda page: [half(page), 0.05, RESET], times=1, requests=2),
    Fault(name="always reset", says=lambda page: [half(page), 0.05, RESET], words=LOST, requests=ATTEMPTS),
    Fault(name="reset without a word", says=lambda _: [RESET], times=1, requests=2),
    Fault(name="closed amid the page", says=lambda page: [half(page)], times=1, requests=2),
    Fault(name="JSON cut short", says=instead(CUT_SHORT), times=2, requests=3),
    Fault(name="JSON always cut short", says=instead(CUT_SHORT), words=CUT, requests=ATTEMPTS),
    Fault(name="empty", says=instead(Response()), times=1, requests=2),
    Fault(name="more than promised", says=lambda page: [http(page) + b" and so on"], requests=1),
    Fault(name="more than promised, which cuts it", says=lambda page: [http(page, length=50)], times=1, requests=2),
    Fault(name="broken chunks", says=chunked, times=1, requests=2),
    Fault(name="packed", says=lambda page: [http(packed(page, cut=0))], requests=1),
    Fault(name="packed and cut", says=lambda page: [http(packed(page, cut=30))], times=1, requests=2),
    Fault(
        name="not packed as it says",
        says=lambda page: [http(replace(page, headers={"Content-Encoding": "gzip"}))],
        times=1,
        requests=2,
    ),
    Fault(name="a login page", says=instead(LOGIN), words="answered with text/html, not JSON; is http", requests=1),
    Fault(
        name="another list",
        says=instead(Response(body={"kind": "NodeList", "metadata": {"resourceVersion": "7"}, "items": []})),
        words="cannot list pods in all namespaces: the server answered with a NodeList, not a PodList",
        requests=1,
    ),
    Fault(
        name="no list",
        says=instead(Response(body={"status": "up"})),
        words="cannot list pods in all namespaces: the server answered with JSON that is not a list",
        requests=1,
    ),
    Fault(
        name="a Status that calls itself a success",
        says=instead(replace(TROUBLE, status=200)),
        words="the server answered with a Status, not a PodList",
        requests=1,
    ),
    Fault(
        name="401",
        says=instead(status(401, "Unauthorized")),
        words="you must be logged in to the server (Unauthorized)",
        requests=1,
    ),
    Fault(name="404", says=instead(status(404, "NotFound")), words="answered 404 NotFound", requests=1),
    Fault(name="410", says=instead(EXPIRED), times=1, requests=2),
    Fault(name="410 twice", says=instead(EXPIRED), times=2, requests=3),
    Fault(name="410 always", says=instead(EXPIRED), words="the server answered 410 Expired", requests=3),
    Fault(name="429", says=instead(busy("1")), times=2, requests=3),
    Fault(name="429 until a moment", says=until, times=1, requests=2),
    Fault(name="429 without a time", says=instead(busy("soon")), times=1, requests=2),
    Fault(
        name="429 for too long",
        says=instead(busy("3600")),
        words="429 TooManyRequests: slow down; the server asks for a pause of 3,600 s",
        requests=1,
    ),
    Fault(name="429 for ever", says=instead(busy("9" * 400)), words="429 TooManyRequests", requests=1),
    Fault(name="500", says=instead(TROUBLE), times=2, requests=3),
    Fault(name="always 500", says=instead(TROUBLE), words="500 InternalError: etcdserver", requests=ATTEMPTS),
    Fault(name="503", says=instead(STOPPING), times=1, requests=2),
    Fault(
        name="a redirect",
        says=instead(Response(status=307, headers={"Location": "http://elsewhere.example/?a=b"})),
        words="cannot list pods in all namespaces: the server redirects to elsewhere.example; redirects are not",
        requests=1,
    ),
    Fault(name="a slow drip", says=drip, requests=1),
    Fault(name="no end", says=endless, words=SLOW, requests=1, flags=IMPATIENT),
    Fault(name="not a word", says=lambda _: [30.0], words=SLOW, requests=1, flags=IMPATIENT),
    Fault(name="HTTP/1.0", says=lambda page: [http(page, version="HTTP/1.0")], requests=1),
    Fault(name="HTTP/1.0, cut", says=lambda page: [http(page, version="HTTP/1.0")[:-400]], times=1, requests=2),
    Fault(
        name="a header without measure",
        says=lambda page: [http(replace(page, headers={"X": "y" * 100_000}))],
        times=1,
        requests=2,
    ),
    Fault(
        name="headers without number",
        says=lambda page: [http(replace(page, headers={f"X-{number}": "y" for number in range(1000)}))],
        times=1,
        requests=2,
    ),
    Fault(
        name="the same token again",
        says=lambda page: [http(with_token(page, SECOND_PAGE))],
        words="cannot list pods in all namespaces: the list has no end: the server repeats the continue token",
        requests=1,
    ),
)


def is_second_page(seen: Seen) -> bool:
    """Whether the request is for the page in which there is trouble."""
    return seen.path == PODS and seen.query.get("continue") == SECOND_PAGE


def troubled(fault: Fault) -> Callable[[Seen], Said]:
    """Return the shop of a server with the fault."""
    shop, left, lock = Shop(), [fault.times], threading.Lock()

    def speak(seen: Seen) -> Said:
        with lock:
            troubled = is_second_page(seen) and left[0] > 0
            left[0] -= troubled
        return fault.says(shop(seen)) if troubled else [http(shop(seen))]

    return speak


@pytest.mark.parametrize("fault", [it for it in FAULTS if it.requests < ATTEMPTS], ids=lambda fault: fault.name)
def test_a_fault(fault: Fault, tmp_path: Path, whole: str) -> None:
    judge(fault, tmp_path, whole)


def test_faults_that_last_for_all_attempts(tmp_path_factory: pytest.TempPathFactory, whole: str) -> None:
    """They are tried at once, because most of their time is spent in pauses."""
    lasting = [fault for fault in FAULTS if fault.requests == ATTEMPTS]
    folders = [tmp_path_factory.mktemp("lasting") for _ in lasting]
    with ThreadPoolExecutor() as pool:
        assert len([*pool.map(judge, lasting, folders, repeat(whole))]) == len(lasting)


def judge(fault: Fault, tmp_path: Path, whole: str) -> None:
    """Assert what comes of the fault."""
    began = time.monotonic()
    with speaking(troubled(fault)) as server:
        ended = Program.for_server(server.url, tmp_path).run(*WHY, *fault.flags)
    assert time.monotonic() - began < BOUND_SECONDS
    if fault.words:
        assert ended.code == UNDETERMINED
        assert ended.error.startswith("error: ")
        assert fault.words in ended.error
    else:
        assert ended == Ended(ANSWERED, whole, "")
    assert sum(map(is_second_page, server.seen)) == fault.requests

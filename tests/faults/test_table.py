"""What can go wrong with a page on the wire, one row each: asked for again, or one clear line; never half an answer.

What the server may say in whole pages is in tests/cluster.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.cluster.api_server import Response, Seen, status
from tests.faults.raw_server import RESET, Said, http, speaking
from tests.faults.shop import PODS, WHY, Program, Shop
from tests.program import Ended

ANSWERED, UNDETERMINED = 1, 3  # Exit codes: a Pod of the shop is blocked; nothing can be told
ALWAYS = 99
SECOND_PAGE = "4"  # The token that leads to it
BOUND_SECONDS = 20  # For all attempts, on a machine with other things to do
IMPATIENT = ("--request-timeout", "2s")

Speak = Callable[[Response], Said]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What happens to the second page of the Pods, and what comes of it."""

    name: str  # what it is
    says: Speak  # what the server says in place of the page
    times: int = ALWAYS  # how often, before it says the page
    words: str = ""  # what the only line on standard error holds; empty where the whole answer is printed
    requests: int  # how often the page is asked for
    flags: tuple[str, ...] = ()  # of the command


def instead(response: Response) -> Speak:
    """Return what says this in place of the page."""
    return lambda _: [http(response)]


def half(page: Response) -> bytes:
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


def busy(retry_after: str) -> Response:
    """Return that the server is busy for so long."""
    return status(429, "TooManyRequests", "slow down", Retry_After=retry_after)


def with_token(page: Response, token: str) -> Response:
    assert isinstance(page.body, dict)
    return Response(body=page.body | {"metadata": page.body["metadata"] | {"continue": token}})


def chunked(_: Response) -> Said:
    """Yield a page whose second chunk has no length."""
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    yield b'2\r\n{"\r\nzz\r\n'


SLOW = "did not answer in time; allow more with --request-timeout"

FAULTS = (
    Fault(name="reset amid the page", says=lambda page: [half(page), 0.05, RESET], times=1, requests=2),
    Fault(name="closed amid the page", says=lambda page: [half(page)], times=1, requests=2),
    Fault(name="more than promised", says=lambda page: [http(page) + b" and so on"], requests=1),
    Fault(name="more than promised, which cuts it", says=lambda page: [http(page, length=50)], times=1, requests=2),
    Fault(name="broken chunks", says=chunked, times=1, requests=2),
    Fault(
        name="429 for too long",
        says=instead(busy("3600")),
        words="429 TooManyRequests: slow down; the server asks for a pause of 3,600 s",
        requests=1,
    ),
    Fault(name="429 for ever", says=instead(busy("9" * 400)), words="429 TooManyRequests", requests=1),
    Fault(name="a slow drip", says=drip, requests=1),
    Fault(name="no end", says=endless, words=SLOW, requests=1, flags=IMPATIENT),
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


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault(fault: Fault, tmp_path: Path, whole: str) -> None:
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

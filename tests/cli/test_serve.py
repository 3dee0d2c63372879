"""``serve``: what show and audit answer at the same moment, from a cluster that is followed, lost and found again."""

from __future__ import annotations

import http.client
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster.api_server import Seen, status
from tests.cluster.watched import Watched
from tests.faults.raw_server import Said, speaking
from tests.faults.raw_server import http as http_answer
from tests.faults.shop import Object, Program, shop_objects
from tests.program import spread

OWN = ("kubectl_spread_stale_seconds", "kubectl_spread_incomplete")
"""The metrics that one command alone does not have, or not with the same value."""
FAST_SECONDS = 2.0  # A tenth of a second on a machine with nothing else to do
MOST_KIB = 2000  # By what thirty answers may make the program larger: nothing, and twice this if they are not freed


@dataclass
class Serving:
    """The program, which serves."""

    process: subprocess.Popen[str]
    port: int

    def get(self, path: str, method: str = "GET") -> tuple[int, str]:
        """Return status and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def metrics(self) -> list[str]:
        """Return the series that show and audit have too."""
        return series(self.get("/metrics")[1])

    def wait_until(self, holds: Callable[[], object]) -> None:
        """Return when it holds."""
        deadline = time.monotonic() + 60
        while not holds():
            assert time.monotonic() < deadline
            assert self.process.poll() is None
            time.sleep(0.2)


@dataclass
class OfShop(Serving):
    """The program, which serves the cluster."""

    cluster: Watched
    program: Program

    def asked(self) -> list[str]:
        """Return the series of show and audit, asked now."""
        both = (self.program.run(command, "-A", "-o", "prom") for command in ("show", "audit"))
        return [line for ended in both for line in series(ended.stdout)]


def series(text: str) -> list[str]:
    """Return the lines of a scrape without comments, and without those that only serve has."""
    return [line for line in text.splitlines() if line[0] != "#" and not line.startswith(OWN)]


def is_cart(each: Object) -> bool:
    """Whether the object is the shop's cart."""
    name: str = each["metadata"]["name"]
    return name.startswith("cart")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[OfShop]:
    cluster = Watched()
    cluster.put(*shop_objects())

    def answer(seen: Seen) -> Said:
        missing = seen.path.endswith("/configmaps/cluster-autoscaler-status")
        return [http_answer(status(404, "NotFound"))] if missing and not cluster.down else cluster(seen)

    with speaking(answer) as server:
        program = Program.for_server(server.url, tmp_path)
        process = program.start("serve", "-A", "--listen", "127.0.0.1:0")
        try:
            assert process.stderr
            line = process.stderr.readline()
            found = re.fullmatch(r"serving on http://127\.0\.0\.1:(\d+)/\n", line)
            assert found, line
            yield OfShop(process, int(found[1]), cluster, program)
        finally:
            process.kill()
            process.communicate()
            cluster.over = cluster.down = True
            cluster.end_watches()


def test_a_scrape_is_what_the_commands_print(served: OfShop) -> None:
    served.wait_until(lambda: served.get("/healthz")[0] == 200)
    assert served.metrics() == served.asked()
    lists = len([seen for seen in served.cluster.seen if "limit" in seen.query])
    began = time.monotonic()
    assert served.metrics()
    assert time.monotonic() - began < FAST_SECONDS
    assert len([seen for seen in served.cluster.seen if "limit" in seen.query]) == lists
    before = served.metrics()
    served.cluster.delete(next(each for each in shop_objects() if each["kind"] == "Pod" and is_cart(each)))
    served.wait_until(lambda: served.metrics() != before)
    assert served.metrics() == served.asked()
    for path, title in (("/", "How Pods are spread"), ("/audit", "What an outage would take")):
        found = served.get(path)
        assert found[0] == 200
        assert title in found[1]
        assert '<a href="/audit">' in found[1]
    assert served.get("/metrics", "HEAD") == (200, "")
    assert served.get("/nothing")[0] == 404


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the size of a process is read from /proc")
def test_what_was_answered_before_is_freed(served: OfShop) -> None:
    cart = next(each for each in shop_objects() if each["kind"] == "Pod" and is_cart(each))
    sizes: list[int] = []
    for number in range(50):
        before = served.metrics()
        served.cluster.put(cart) if number % 2 else served.cluster.delete(cart)
        served.wait_until(lambda before=before: served.metrics() != before)  # type: ignore[misc]
        status = Path(f"/proc/{served.process.pid}/status").read_text()
        sizes += map(int, re.findall(r"VmRSS:\s+(\d+) kB", status))
    assert sizes[-1] - sizes[20] < MOST_KIB


def test_a_lost_server_is_waited_for(served: OfShop) -> None:
    served.wait_until(lambda: served.get("/metrics")[0] == 200)
    before = served.metrics()
    served.cluster.down = True
    served.cluster.end_watches()
    served.wait_until(lambda: "kubectl_spread_stale_seconds 0.0" not in served.get("/metrics")[1])
    assert served.metrics() == before
    served.cluster.delete(next(each for each in shop_objects() if each["kind"] == "Pod" and is_cart(each)))
    served.cluster.down = False
    served.wait_until(lambda: "kubectl_spread_stale_seconds 0.0" in served.get("/metrics")[1])
    served.wait_until(lambda: served.metrics() != before)
    assert served.metrics() == served.asked()


def test_nothing_is_healthy_before_the_cluster_is_read(served: OfShop, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    program = Program.for_server("http://127.0.0.1:1", tmp_path / "other")
    process = program.start("serve", "-A", "--listen", "127.0.0.1:0")
    try:
        assert process.stderr
        served.port = int(process.stderr.readline().rpartition(":")[2].strip("/\n"))
        assert "was refused" in process.stderr.readline()
        assert served.get("/healthz")[0] == served.get("/metrics")[0] == served.get("/")[0] == 503
    finally:
        process.kill()
        process.communicate()


def test_sigterm_ends_it_at_once(served: OfShop) -> None:
    served.wait_until(lambda: served.get("/healthz")[0] == 200)
    began = time.monotonic()
    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(10) == 0
    assert time.monotonic() - began < FAST_SECONDS


@pytest.mark.parametrize("listen", ["8080", "127.0.0.1", "127.0.0.1:", "::1:80", "a:70000", "a:-1", "a:x", ""])
def test_an_address_that_is_none_is_refused(listen: str) -> None:
    ended = spread("serve", "--server", "http://127.0.0.1:1", "--listen", listen)
    assert (ended.code, "--listen" in ended.error) == (2, True)


def test_an_address_that_is_in_use_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = spread("serve", "--server", "http://127.0.0.1:1", "--listen", listen)
    assert (ended.code, ended.error) == (
        3,
        f"error: cannot listen on {listen}: Address already in use; use another --listen",
    )


def test_files_are_not_served() -> None:
    ended = spread("serve", "--from", "examples/shop.yaml")
    assert (ended.code, "serve and --from cannot be used together" in ended.error) == (2, True)

"""Ctrl-C ends the program at once with exit code 130 and without a word, whatever it is doing; SIGTERM as it does."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pytest

from tests.cluster.api_server import Response, serving, status
from tests.cluster.kubeconfigs import write_kubeconfig
from tests.faults.raw_server import speaking
from tests.faults.shop import SHOP, Shop, failing
from tests.faults.test_table import endless
from tests.program import INSTALLED

INTERRUPTED = 128 + signal.SIGINT
BOUND_SECONDS = 3.0  # Half a second on a machine with nothing else to do; what is measured is printed

# Says when the program has told Python what Ctrl-C means: before that it is Python that answers.
STARTED = """
import os, signal
from kubectl_spread.__main__ import main
def tell(*arguments, original=signal.signal):
    original(*arguments)
    os.write(2, b"!")
signal.signal = tell
main()
"""
# A host whose name is being looked up: C code that waits goes on waiting after a signal.
LOOKING_UP = """
import ctypes, os, socket
from kubectl_spread.__main__ import main
def look_up(*_):
    os.write(2, b"!")
    mutex, lock = ctypes.create_string_buffer(64), ctypes.CDLL(None).pthread_mutex_lock
    lock(mutex), lock(mutex)
socket.getaddrinfo = look_up
main()
"""


class Running:
    """The program in the middle of something.

    Args:
        command: with its arguments.
        folder: an empty one.
        stdin: what it reads.
    """

    def __init__(self, command: list[str], folder: Path, *, stdin: int = subprocess.DEVNULL) -> None:
        environment = {"PATH": os.defpath, "HOME": str(folder)}
        self._process = subprocess.Popen(
            command, cwd=Path(__file__).parents[2], env=environment, stdin=stdin, stdout=-1, stderr=-1, bufsize=0
        )

    @property
    def stdout(self) -> IO[bytes]:
        assert self._process.stdout
        return self._process.stdout

    def wait_for_sign(self) -> None:
        """Wait until it has written a character to standard error."""
        assert self._process.stderr
        assert self._process.stderr.read(1) == b"!"

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def told(self, number: signal.Signals) -> tuple[int, bytes, float]:
        """Return (exit code, standard error, seconds) of the end that the signal makes."""
        began = time.monotonic()
        self.send(number)
        code = self._process.wait(30)
        seconds = time.monotonic() - began
        _, errors = self._process.communicate(timeout=30)
        return code, errors, seconds

    def interrupt(self) -> None:
        """Interrupt it, which must end it at once."""
        code, errors, seconds = self.told(signal.SIGINT)
        sys.stdout.write(f"{seconds * 1000:.0f} ms\n")
        assert (code, errors) == (INTERRUPTED, b"")
        assert seconds < BOUND_SECONDS

    def kill(self) -> None:
        """End it for good, and forget it."""
        self._process.kill()
        self._process.communicate()


@contextmanager
def running(command: list[str], folder: Path, *, stdin: int = subprocess.DEVNULL) -> Iterator[Running]:
    """Yield the program, running; it does not outlive the block."""
    program = Running(command, folder, stdin=stdin)
    try:
        yield program
    finally:
        program.kill()


def asking(url: str, folder: Path, **user: object) -> list[str]:
    """Return a command that asks the server."""
    path = write_kubeconfig(folder / "kubeconfig", server=url, namespace="shop", user=user)
    return [str(INSTALLED), "why-pending", "--kubeconfig", str(path)]


def wait_until(holds: Callable[[], object]) -> None:
    """Return when it holds, and a random moment later."""
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(random.random() * 0.2)  # noqa: S311 - any moment will do


@pytest.mark.parametrize("moment", range(12))
def test_at_any_moment(moment: int, tmp_path: Path) -> None:
    command = [sys.executable, "-c", STARTED, "why-pending", "-A", "--from", str(SHOP)]
    with running(command, tmp_path) as program:
        program.wait_for_sign()
        time.sleep(moment * 0.012)
        code, errors, seconds = program.told(signal.SIGINT)
    sys.stdout.write(f"{seconds * 1000:.0f} ms\n")
    # It may have ended before, and when Python takes itself apart it is the system that answers.
    assert code in {INTERRUPTED, -signal.SIGINT, 1}
    assert errors == b""
    assert seconds < BOUND_SECONDS


def test_while_a_connection_is_made(tmp_path: Path) -> None:
    with ExitStack() as stack, socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        for _ in range(3):
            waiting = stack.enter_context(socket.socket())
            waiting.settimeout(0)
            waiting.connect_ex(full.getsockname())
        with running(asking(f"http://127.0.0.1:{full.getsockname()[1]}", tmp_path), tmp_path) as program:
            time.sleep(0.6)
            program.interrupt()


@pytest.mark.parametrize(
    "words", ["show --server http://nowhere.example", f"check -f http://nowhere.example --from {SHOP}"]
)
def test_while_a_name_is_looked_up(words: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", LOOKING_UP, *words.split()]
    with running(command, tmp_path) as program:
        program.wait_for_sign()
        program.interrupt()


def test_while_the_server_says_nothing(tmp_path: Path) -> None:
    with serving(lambda _: Response(delay_seconds=60)) as server, running(asking(server.url, tmp_path), tmp_path) as it:
        wait_until(lambda: server.seen)
        it.interrupt()


def test_while_several_clusters_say_nothing(tmp_path: Path) -> None:
    silent = Response(delay_seconds=60)
    with serving(lambda _: silent) as first, serving(lambda _: silent) as second:
        asked = asking(first.url, tmp_path)
        path = tmp_path / "kubeconfig"
        config = json.loads(path.read_text())
        config["clusters"].append({"name": "other", "cluster": {"server": second.url}})
        config["contexts"].append({"name": "other", "context": {"cluster": "other"}})
        path.write_text(json.dumps(config))
        with running([*asked, "--context", "main,other"], tmp_path) as program:
            wait_until(lambda: first.seen and second.seen)
            program.interrupt()


def test_amid_a_page(tmp_path: Path) -> None:
    with speaking(lambda _: endless(Response())) as server, running(asking(server.url, tmp_path), tmp_path) as program:
        wait_until(lambda: server.seen)
        program.interrupt()


@pytest.mark.parametrize("retry_after", ["50", ""], ids=["as the server says", "of our own"])
def test_while_waiting_to_ask_again(retry_after: str, tmp_path: Path) -> None:
    busy = status(429, "TooManyRequests", Retry_After=retry_after)
    with serving(failing(busy, forever=True)) as server, running(asking(server.url, tmp_path), tmp_path) as program:
        wait_until(lambda: any(seen.path == "/api/v1/pods" for seen in server.seen))
        program.interrupt()


def test_while_a_credential_plugin_runs(tmp_path: Path) -> None:
    plugin, began = tmp_path / "plugin", tmp_path / "began"
    plugin.write_text(f"#!/bin/sh\ntouch {began}\nexec sleep 5\n")
    plugin.chmod(0o755)
    api_version = "client.authentication.k8s.io/v1"
    user = {"apiVersion": api_version, "command": str(plugin), "interactiveMode": "Never"}
    with running(asking("https://127.0.0.1:1", tmp_path, exec=user), tmp_path) as program:
        wait_until(began.exists)
        program.interrupt()


def test_while_standard_input_is_awaited(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    command = [sys.executable, "-c", STARTED, "show", "--from", "-"]
    with os.fdopen(writing, "wb"), os.fdopen(reading, "rb"), running(command, tmp_path, stdin=reading) as program:
        program.wait_for_sign()
        time.sleep(0.5)
        program.interrupt()


def crowded(pods: int) -> dict[str, Any]:
    """Return a cluster with so many Pending Pods (count), each of which takes a while to explain."""
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}

    def node(number: int) -> dict[str, Any]:
        labels = {"zone": f"z{number % 7}", "kubernetes.io/hostname": f"n{number}"}
        room = {"cpu": "1", "memory": "1Gi", "pods": "110"}
        metadata = {"name": f"n{number}", "labels": labels}
        return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": room}}

    def pod(number: int) -> dict[str, Any]:
        metadata = {"name": f"p{number}", "namespace": "default", "labels": {"app": f"a{number}"}}
        constraint = spread | {"labelSelector": {"matchLabels": metadata["labels"]}}
        requests = {"requests": {"cpu": f"{2000 + number}m"}}
        spec = {"containers": [{"name": "c", "resources": requests}], "topologySpreadConstraints": [constraint]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

    return {"apiVersion": "v1", "kind": "List", "items": [*map(node, range(300)), *map(pod, range(pods))]}


def crowd(folder: Path, pods: int) -> str:
    """Return the path of the cluster."""
    path = folder / "cluster.json"
    path.write_text(json.dumps(crowded(pods)))
    return str(path)


@pytest.mark.parametrize("seconds", [0.3, 0.6, 1.0])
def test_while_it_computes(seconds: float, tmp_path: Path) -> None:
    command = [sys.executable, "-c", STARTED, "why-pending", "--from", crowd(tmp_path, pods=400)]
    with running(command, tmp_path) as program:
        program.wait_for_sign()
        time.sleep(seconds)
        program.interrupt()


def test_while_nobody_takes_what_it_prints(tmp_path: Path) -> None:
    command = [str(INSTALLED), "why-pending", "--from", crowd(tmp_path, pods=20), "--fix-budget", "0", "-o", "json"]
    with running(command, tmp_path) as program:
        assert program.stdout.read(1) == b"{"
        time.sleep(0.1)
        program.interrupt()


def test_more_than_once(tmp_path: Path) -> None:
    with serving(lambda _: Response(delay_seconds=60)) as server, running(asking(server.url, tmp_path), tmp_path) as it:
        wait_until(lambda: server.seen)
        it.send(signal.SIGINT)
        it.send(signal.SIGINT)
        it.interrupt()


def test_whoever_started_it_may_say_that_nothing_interrupts_it(tmp_path: Path) -> None:
    with serving(Shop()) as server:
        server.answer = lambda seen: replace(Shop()(seen), delay_seconds=0.2)
        command = ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh", *asking(server.url, tmp_path)]
        with running(command, tmp_path) as program:
            wait_until(lambda: server.seen)
            code, errors, _ = program.told(signal.SIGINT)
    assert (code, errors) == (1, b"")


def test_the_end_that_others_ask_for_is_quiet_too(tmp_path: Path) -> None:
    with serving(lambda _: Response(delay_seconds=60)) as server, running(asking(server.url, tmp_path), tmp_path) as it:
        wait_until(lambda: server.seen)
        code, errors, seconds = it.told(signal.SIGTERM)
    assert (code, errors) == (-signal.SIGTERM, b"")
    assert seconds < BOUND_SECONDS

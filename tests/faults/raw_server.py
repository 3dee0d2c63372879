"""A server that says what a test tells it to, byte by byte: for what no library would send."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from tests.cluster.api_server import Response, Seen

RESET = -1.0  # In place of bytes: end the connection as one does that has crashed

Said = Iterable[bytes | float]  # Bytes to send, seconds to wait, or RESET; the connection ends after the last
Speaker = Callable[[Seen], Said]


@dataclass(frozen=True, slots=True)
class RawServer:
    """A server that keeps every request it has seen."""

    url: str
    seen: list[Seen] = field(default_factory=list)


@contextmanager
def speaking(speaker: Speaker) -> Iterator[RawServer]:
    """Yield a server that answers each connection's only request as the speaker says."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = RawServer(f"http://127.0.0.1:{listening.getsockname()[1]}")

        def speak(seen: Seen) -> Said:
            server.seen.append(seen)
            return speaker(seen)

        threading.Thread(target=_accept, args=(listening, speak), daemon=True).start()
        yield server
        with suppress(OSError):  # wakes the thread that accepts
            listening.shutdown(socket.SHUT_RDWR)


def _accept(listening: socket.socket, speaker: Speaker) -> None:
    """Serve every connection in a thread of its own until the server is closed."""
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            threading.Thread(target=_serve, args=(connection, speaker), daemon=True).start()


def _serve(connection: socket.socket, speaker: Speaker) -> None:
    """Say what is to be said to the request, as long as somebody listens."""
    with connection, suppress(OSError):
        for said in speaker(_request(connection)):
            if isinstance(said, bytes):
                connection.sendall(said)
            elif said == RESET:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            else:
                time.sleep(said)


def _request(connection: socket.socket) -> Seen:
    """Return the request, as far as a speaker needs it."""
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(4096)
        if not piece:
            raise ConnectionError
        head += piece
    method, target, _ = head.decode().split(" ", 2)
    path, _, query = target.partition("?")
    return Seen(method=method, path=path, query=dict(parse_qsl(query)), headers={}, certificate="")


def http(response: Response, *, version: str = "HTTP/1.1", length: int | None = None) -> bytes:
    """Return the response as it goes over the wire; before HTTP/1.1 its end is that of the connection.

    Args:
        response: what to send.
        version: of HTTP.
        length: how much to promise; None for the truth.
    """
    content = response.content()
    headers = {"Content-Type": response.content_type, "Connection": "close", **response.headers}
    if version == "HTTP/1.1":
        headers["Content-Length"] = str(len(content) if length is None else length)
    lines = [f"{version} {response.status} X", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode() + content

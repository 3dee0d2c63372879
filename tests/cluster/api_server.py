"""A small API server on loopback that answers, and fails, as a test tells it to."""

from __future__ import annotations

import gzip
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that has arrived."""

    method: str  # the verb
    path: str  # without the query
    query: Mapping[str, str]  # parameter → value
    headers: Mapping[str, list[str]]  # lower-case name → every value it came with
    certificate: str  # the common name of the client certificate, empty without one
    body: bytes = b""  # what was sent after the headers

    def header(self, name: str) -> str:
        """Return the header's only value, empty when it is absent."""
        (value,) = self.headers.get(name.lower(), [""])
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What to answer."""

    body: object = b""  # bytes as they are, anything else as JSON
    status: int = 200  # HTTP status
    headers: Mapping[str, str] = field(default_factory=dict)  # further headers
    content_type: str = "application/json"  # the media type
    sent_bytes: int | None = None  # how much of the body to send before the connection is closed; None for all of it
    delay_seconds: float = 0  # how long to wait before the answer
    announced: bool = True  # whether Content-Length says how much is to come

    def content(self) -> bytes:
        """Return the body as it is sent."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


Answer = Callable[[Seen], Response]


class _Listening(ThreadingHTTPServer):
    """A server that many may connect to at once; beyond the few it takes by default they would wait a second."""

    daemon_threads = True
    request_queue_size = 128


class ApiServer:
    """A server that keeps every request it has seen.

    Args:
        answer: what to say to a request; may be replaced at any time.
        context: how to speak TLS; None for plain HTTP.
    """

    def __init__(self, answer: Answer, context: ssl.SSLContext | None = None) -> None:
        self.answer = answer
        self.seen: list[Seen] = []
        self._server = _Listening(("127.0.0.1", 0), self._handler())
        if context:
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        self.url = f"{'https' if context else 'http'}://{self.address}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        """Return the class whose objects each serve one connection."""
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def do_GET(self) -> None:
                self.serve(b"")

            def do_POST(self) -> None:
                self.serve(self.rfile.read(int(self.headers["Content-Length"])))

            do_PATCH = do_POST  # noqa: N815 - as the library calls it

            def serve(self, body: bytes) -> None:
                seen = _seen(self, body)
                server.seen.append(seen)
                response = server.answer(seen)
                time.sleep(response.delay_seconds)
                _send(self, seen, response)

            def handle(self) -> None:
                try:
                    super().handle()
                except (ssl.SSLError, ConnectionError):
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def _seen(handler: BaseHTTPRequestHandler, body: bytes) -> Seen:
    url = urlsplit(handler.path)
    return Seen(
        method=handler.command,
        path=url.path,
        query={name: value for name, (value,) in parse_qs(url.query).items()},
        headers={name.lower(): handler.headers.get_all(name, []) for name in handler.headers},
        certificate=_common_name(handler.connection),
        body=body,
    )


def _common_name(connection: object) -> str:
    """Return the common name of the client's certificate, empty without one."""
    shown: Any = connection.getpeercert() if isinstance(connection, ssl.SSLSocket) else None
    names = dict(pair for (pair,) in shown["subject"]) if shown else {}
    return str(names.get("commonName", ""))


def _send(handler: BaseHTTPRequestHandler, seen: Seen, response: Response) -> None:
    """Send the response, or the part of it that is to arrive."""
    content = response.content()
    handler.send_response(response.status)
    handler.send_header("Content-Type", response.content_type)
    if "gzip" in seen.header("Accept-Encoding"):
        content = gzip.compress(content)
        handler.send_header("Content-Encoding", "gzip")
    if response.announced:
        handler.send_header("Content-Length", str(len(content)))
    for name, value in response.headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(content[: response.sent_bytes])
    handler.close_connection = response.sent_bytes is not None or not response.announced


@contextmanager
def serving(answer: Answer, context: ssl.SSLContext | None = None) -> Iterator[ApiServer]:
    """Yield a server that is stopped afterwards."""
    server = ApiServer(answer, context)
    try:
        yield server
    finally:
        server.stop()


def status(code: int, reason: str, message: str = "", *, name: str = "", **headers: str) -> Response:
    """Return a refusal as an API server words it."""
    body = {"kind": "Status", "status": "Failure", "reason": reason, "message": message, "code": code}
    if name:
        body["details"] = {"name": name}
    return Response(status=code, body=body, headers={key.replace("_", "-"): value for key, value in headers.items()})


def in_turn(*responses: Response) -> Answer:
    """Return an answer that gives these responses one after another, the last one for ever."""
    waiting = list(responses)
    return lambda _: waiting.pop(0) if len(waiting) > 1 else waiting[0]

"""The HTTP server of ``serve``; it is apart because only ``serve`` needs the library."""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, AF_INET6
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from kubectl_spread.cli import output

if TYPE_CHECKING:
    from kubectl_spread.commands.serve import Served

REQUEST_SECONDS = 10  # How long a client may take for its request


class Server(ThreadingHTTPServer):
    """Listens on a port, and answers each request in a thread."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, host: str, port: int, served: Served) -> None:
        self.served = served
        self.address_family = AF_INET6 if ":" in host else AF_INET
        super().__init__((host, port), _Handler)

    def handle_error(self, *_: object) -> None:
        """Report a bug in one line, and nothing about clients that go away."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            output.note(f"error: this is a bug in kubectl spread, please report it: {type(error).__name__}: {error}")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = REQUEST_SECONDS
    wbufsize = -1

    def do_GET(self) -> None:
        """Answer."""
        found = cast("Server", self.server).served.answer(urlsplit(self.path).path)
        self.send_response(found.status)
        self.send_header("Content-Type", found.media_type)
        self.send_header("Content-Length", str(len(found.body)))
        self.end_headers()
        self.wfile.write(found.body if self.command == "GET" else b"")

    do_HEAD = do_GET  # noqa: N815 - as the library calls it

    def log_message(self, *_: object) -> None:
        """Log no requests: probes and scrapes come all the time."""

    def version_string(self) -> str:
        """Return the name of the program alone."""
        return "kubectl-spread"

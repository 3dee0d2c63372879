"""Logs requests and responses for ``-v``, without secrets.

Source: client-go transport/round_trippers.go debuggingRoundTripper, rest/request.go truncateBody (v1.36).
"""

from __future__ import annotations

from http import HTTPStatus
from time import monotonic

from urllib3 import HTTPHeaderDict

from kubectl_spread.cluster.log import BODIES, HEADERS, LONG_BODIES, REQUESTS, Log
from kubectl_spread.cluster.net.proxy import without_login

MASKED = "<masked>"
SECRET_HEADERS = frozenset(("authorization", "cookie", "proxy-authorization", "set-cookie"))
SHOWN_BYTES = {BODIES: 1024, LONG_BODIES: 10240}
"""Level → the most bytes of a body that are logged."""


def without_secret(text: bytes, authorization: str) -> bytes:
    """Return the text without the token or password of the header; servers may repeat it."""
    secret = authorization.rpartition(" ")[2].encode()
    return text.replace(secret, MASKED.encode()) if secret else text


class Exchange:
    """Logs one request and its response; the authorization (empty for none) is masked."""

    def __init__(self, log: Log, *, verb: str, url: str, authorization: str) -> None:
        self._log = log
        self._asked = f"{verb} {url}"
        self._authorization = authorization
        self._began = monotonic()

    def begin(self, headers: HTTPHeaderDict, body: bytes) -> None:
        """Log the request."""
        self._write(HEADERS, self._asked, "Request", headers, body)

    def fail(self, error: Exception) -> None:
        """Log that the response is missing or incomplete."""
        self._log.say(REQUESTS, f"{self._asked} failed in {self._milliseconds()} milliseconds: {error}")

    def end(self, status: int, headers: HTTPHeaderDict, body: bytes) -> None:
        """Log the response."""
        known = HTTPStatus(status).phrase if status in set(HTTPStatus) else ""
        text = f"{status} {known}".rstrip()
        took = f"{self._asked} {text} in {self._milliseconds()} milliseconds, {len(body)} bytes"
        self._write(REQUESTS, took, "Response", headers, body)

    def _write(self, level: int, line: str, whose: str, headers: HTTPHeaderDict, body: bytes) -> None:
        """Log the line together with as much of the headers and body as the log's level has."""
        lines = [line]
        if self._log.logs(HEADERS):
            shown = (f"    {name}: {self._mask(name.lower(), value)}" for name, value in headers.iteritems())
            lines += [f"{whose} Headers:", *shown]
        if body and self._log.logs(BODIES):
            limit = SHOWN_BYTES[LONG_BODIES if self._log.logs(LONG_BODIES) else BODIES]
            masked = without_secret(body, self._authorization)
            cut = f" [truncated {len(masked) - limit} bytes]" if len(masked) > limit else ""
            lines.append(f"{whose} Body: {masked[:limit].decode(errors='replace')}{cut}")
        self._log.say(level, *lines)

    def _mask(self, name: str, value: str) -> str:
        if name in SECRET_HEADERS:
            scheme, space, _ = value.partition(" ")
            return f"{scheme} {MASKED}" if space and name.endswith("authorization") else MASKED
        if name == "location":
            # Login, query and fragment may be secret.
            place, mark, _ = value.partition("#")[0].partition("?")
            return f"{without_login(place)}{mark}{MASKED if mark else ''}"
        return without_secret(value.encode("latin-1", "replace"), self._authorization).decode("latin-1")

    def _milliseconds(self) -> int:
        return round((monotonic() - self._began) * 1000)

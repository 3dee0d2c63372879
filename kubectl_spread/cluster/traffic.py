"""One exchange with the API server as ``-v`` tells it: the request, the reply, the time between; never a secret.

Source: client-go transport/round_trippers.go debuggingRoundTripper, rest/request.go truncateBody (v1.36).
"""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from time import monotonic
from urllib.parse import urlsplit

from urllib3 import HTTPHeaderDict

from kubectl_spread.cluster.log import BODIES, HEADERS, LONG_BODIES, REQUESTS, Log

MASKED = "<masked>"
SECRET_HEADERS = frozenset(("authorization", "cookie", "proxy-authorization", "set-cookie"))
SHOWN_BYTES = {BODIES: 1024, LONG_BODIES: 10240}
"""Level → how much of a body is told."""


def without_secret(text: bytes, authorization: str) -> bytes:
    """Return the text without the token or password of the header, which servers may repeat."""
    secret = authorization.rpartition(" ")[2].encode()
    return text.replace(secret, MASKED.encode()) if secret else text


class Exchange:
    """A request that is about to be sent.

    Args:
        log: whom to tell.
        verb: of HTTP.
        url: what is asked.
        authorization: the header that must not be told; empty for none.
    """

    def __init__(self, log: Log, *, verb: str, url: str, authorization: str) -> None:
        self._log = log
        self._asked = f"{verb} {url}"
        self._authorization = authorization
        self._began = monotonic()

    def begin(self, headers: HTTPHeaderDict, body: bytes) -> None:
        """Tell what is sent."""
        if self._log.tells(HEADERS):
            self._log.say(HEADERS, self._asked, "Request Headers:", *self._headers(headers))
        if body:
            self._tell_body("Request", body)

    def fail(self, error: Exception) -> None:
        """Tell that there is no reply, or only part of one."""
        self._log.say(REQUESTS, f"{self._asked} failed in {self._milliseconds()} milliseconds: {error}")

    def end(self, status: int, headers: HTTPHeaderDict, body: bytes) -> None:
        """Tell the reply."""
        if self._log.tells(REQUESTS):
            took = f"in {self._milliseconds()} milliseconds, {len(body)} bytes"
            self._log.say(REQUESTS, f"{self._asked} {status} {_phrase(status)}".rstrip() + f" {took}")
        if self._log.tells(HEADERS):
            self._log.say(HEADERS, "Response Headers:", *self._headers(headers))
        self._tell_body("Response", body)

    def _headers(self, headers: HTTPHeaderDict) -> Iterator[str]:
        """Yield a line for each header."""
        for name, value in headers.iteritems():
            yield f"    {name}: {self._shown(name.lower(), value)}"

    def _shown(self, name: str, value: str) -> str:
        """Return the header's value as it may be told."""
        if name in SECRET_HEADERS:
            scheme, space, _ = value.partition(" ")
            return f"{scheme} {MASKED}" if space and name.endswith("authorization") else MASKED
        if name == "location":
            return _without_query(value)
        return without_secret(value.encode("latin-1", "replace"), self._authorization).decode("latin-1")

    def _tell_body(self, whose: str, body: bytes) -> None:
        """Tell the beginning of a body."""
        if self._log.tells(BODIES):
            limit = SHOWN_BYTES[LONG_BODIES if self._log.tells(LONG_BODIES) else BODIES]
            shown = without_secret(body, self._authorization)
            text = shown[:limit].decode(errors="replace")
            cut = f" [truncated {len(shown) - limit} bytes]" if len(shown) > limit else ""
            self._log.say(BODIES, f"{whose} Body: {text}{cut}")

    def _milliseconds(self) -> int:
        """Return how long ago the request was sent."""
        return round((monotonic() - self._began) * 1000)


def _phrase(status: int) -> str:
    """Return what the status means, empty for one that is not known."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _without_query(url: str) -> str:
    """Return the address that a redirect leads to, without what may be secret in it."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=host, query=MASKED if parts.query else "", fragment="").geturl()

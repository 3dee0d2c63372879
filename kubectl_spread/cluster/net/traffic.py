"""One exchange with the API server as ``-v`` tells it: the request, the reply, the time between; never a secret.

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
"""Level → how much of a body is told."""


def without_secret(text: bytes, authorization: str) -> bytes:
    """Return the text without the token or password of the header, which servers may repeat."""
    secret = authorization.rpartition(" ")[2].encode()
    return text.replace(secret, MASKED.encode()) if secret else text


class Exchange:
    """A request that is about to be sent; its authorization must not be told, empty for none."""

    def __init__(self, log: Log, *, verb: str, url: str, authorization: str) -> None:
        self._log = log
        self._asked = f"{verb} {url}"
        self._authorization = authorization
        self._began = monotonic()

    def begin(self, headers: HTTPHeaderDict, body: bytes) -> None:
        """Tell what is sent."""
        self._tell(HEADERS, self._asked, "Request", headers, body)

    def fail(self, error: Exception) -> None:
        """Tell that there is no reply, or only part of one."""
        self._log.say(REQUESTS, f"{self._asked} failed in {self._milliseconds()} milliseconds: {error}")

    def end(self, status: int, headers: HTTPHeaderDict, body: bytes) -> None:
        """Tell the reply."""
        said = f"{status} {_phrase(status)}".rstrip()
        took = f"{self._asked} {said} in {self._milliseconds()} milliseconds, {len(body)} bytes"
        self._tell(REQUESTS, took, "Response", headers, body)

    def _tell(self, level: int, line: str, whose: str, headers: HTTPHeaderDict, body: bytes) -> None:
        """Tell a line, and what else of a request or response the log tells, with nothing of another between them."""
        lines = [line]
        if self._log.logs(HEADERS):
            shown = (f"    {name}: {self._shown(name.lower(), value)}" for name, value in headers.iteritems())
            lines += [f"{whose} Headers:", *shown]
        if body and self._log.logs(BODIES):
            lines.append(f"{whose} Body: {self._beginning(body)}")
        self._log.say(level, *lines)

    def _shown(self, name: str, value: str) -> str:
        if name in SECRET_HEADERS:
            scheme, space, _ = value.partition(" ")
            return f"{scheme} {MASKED}" if space and name.endswith("authorization") else MASKED
        if name == "location":
            # Without what may be secret in it: login, query and fragment.
            place, mark, _ = value.partition("#")[0].partition("?")
            return f"{without_login(place)}{mark}{MASKED if mark else ''}"
        return without_secret(value.encode("latin-1", "replace"), self._authorization).decode("latin-1")

    def _beginning(self, body: bytes) -> str:
        limit = SHOWN_BYTES[LONG_BODIES if self._log.logs(LONG_BODIES) else BODIES]
        shown = without_secret(body, self._authorization)
        cut = f" [truncated {len(shown) - limit} bytes]" if len(shown) > limit else ""
        return shown[:limit].decode(errors="replace") + cut

    def _milliseconds(self) -> int:
        return round((monotonic() - self._began) * 1000)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""

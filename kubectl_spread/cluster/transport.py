"""One request to an API server, a GET but for dry runs: retried while that may help, checked to be whole JSON.

Redirects are not followed: an API server sends none, and whoever does would be handed our credentials.
"""

from __future__ import annotations

import math
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from time import monotonic, sleep
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from urllib3 import HTTPHeaderDict, Timeout
from urllib3.exceptions import DecodeError as EncodingError
from urllib3.exceptions import HTTPError, ProtocolError, SSLError
from urllib3.exceptions import TimeoutError as TooSlowError

from kubectl_spread.cluster.connection import Connection
from kubectl_spread.cluster.failures import parse_status, refused, unreachable
from kubectl_spread.errors import ClusterError
from kubectl_spread.objects.decoding import DecodeError, ListMeta, decode
from kubectl_spread.objects.meta import Struct

JSON = "application/json"
ATTEMPTS = 6
FIRST_PAUSE = 0.2
"""Seconds before the second attempt; each further pause is twice as long."""
LONGEST_PAUSE = 60.0
"""Seconds; a server that asks for more is not waited for."""
CONNECT_SECONDS = 30.0
IDLE_SECONDS = 70.0
"""Seconds without a byte. kube-apiserver ends a list that takes more than 60 by itself."""
CHUNK_BYTES = 1 << 20
SUCCESS, REDIRECTION = 2, 3
"""The first digit of an HTTP status."""
RETRIED = (429, 500, 502, 503, 504)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to ask.

    Attributes:
        path: on the server, such as ``/api/v1/pods``.
        what: the request in words, such as ``list pods in namespace "shop"``.
        needs: the permission it takes; empty when it takes none.
        query: parameters; empty ones are not sent.
        accept: the media type that is wanted.
        attempts: how often to try.
        body: JSON to POST, of a request that may be repeated without harm; empty for a GET.
    """

    path: str
    what: str
    needs: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    accept: str = JSON
    attempts: int = ATTEMPTS
    body: bytes = b""


class Answer(NamedTuple):
    """What the server sent: the whole JSON document, and its ``metadata`` as far as lists have it."""

    metadata: ListMeta
    body: bytes


class _Head(Struct, frozen=True):
    """A document of which only the metadata is kept; all of it is checked to be JSON."""

    metadata: ListMeta = ListMeta()


@dataclass(frozen=True, slots=True)
class _Reply:
    """An HTTP response that has arrived."""

    status: int
    headers: HTTPHeaderDict
    body: bytes


class _TransientError(Exception):
    """A failure that may be gone the next time.

    Args:
        error: what to report when it is not.
        pause: seconds that the server asks us to wait, 0 when it leaves that to us.
    """

    def __init__(self, error: ClusterError, pause: float = 0) -> None:
        super().__init__(str(error))
        self.error = error
        self.pause = pause


class _Patience:
    """How long and how often to try.

    Args:
        seconds: for all attempts and the pauses between them; None for no limit.
        attempts: how often.
    """

    def __init__(self, seconds: float | None, attempts: int) -> None:
        self._until = math.inf if seconds is None else monotonic() + seconds
        self._attempts = attempts
        self._failed = 0

    def timeout(self) -> Timeout:
        """Return what is left, for one attempt."""
        left = max(self._until - monotonic(), 0.001)
        return Timeout(connect=min(CONNECT_SECONDS, left), read=min(IDLE_SECONDS, left))

    def over(self) -> bool:
        """Whether the time is up."""
        return monotonic() > self._until

    def wait(self, failure: _TransientError) -> None:
        """Pause before the next attempt; raise the failure's error when there is to be none."""
        self._failed += 1
        pause = failure.pause or FIRST_PAUSE * 2 ** (self._failed - 1)
        if self._failed == self._attempts or pause > LONGEST_PAUSE or monotonic() + pause > self._until:
            raise failure.error from failure
        sleep(pause)


def fetch(connection: Connection, request: Request, received: Callable[[int], None] = lambda _: None) -> Answer:
    """Return the server's answer to the request.

    Args:
        connection: whom to ask.
        request: what to ask.
        received: told of every piece that arrives (bytes, uncompressed).

    Raises:
        StatusError: the server refused.
        ClusterError: it could not be reached in time, or what it sent is no JSON.
    """
    call = _Call(connection, request, _Patience(connection.timeout, request.attempts), received)
    while True:
        try:
            return call.attempt()
        except _TransientError as failure:
            call.patience.wait(failure)


def _is_broken_off(error: HTTPError) -> bool:
    """Whether the other side ended the connection before all was said."""
    if isinstance(error, SSLError):
        return isinstance(error.args[0], ssl.SSLEOFError)
    return isinstance(error, ProtocolError | EncodingError)


@dataclass(frozen=True, slots=True)
class _Call:
    """A request on its way."""

    connection: Connection
    request: Request
    patience: _Patience
    received: Callable[[int], None]

    def attempt(self) -> Answer:
        """Return the answer to one attempt."""
        try:
            reply = self._authorized()
        except HTTPError as error:
            failure = unreachable(self.connection, error, what=self.request.what)
            raise _TransientError(failure) if _is_broken_off(error) else failure from error
        if reply.status // 100 == SUCCESS:
            return self._answer(reply)
        raise self._refusal(reply)

    def _authorized(self) -> _Reply:
        """Return the reply; when the server refuses our credentials and there are fresher ones, to those."""
        authorization = self.connection.credentials.authorization()
        reply = self._exchange(authorization)
        if reply.status != HTTPStatus.UNAUTHORIZED:
            return reply
        renewed = self.connection.credentials.renew(authorization)
        return reply if renewed == authorization else self._exchange(renewed)

    def _exchange(self, authorization: str) -> _Reply:
        """Return the reply to the request, all of it."""
        query = urlencode({name: value for name, value in self.request.query.items() if value})
        response = self.connection.pool.urlopen(
            "POST" if self.request.body else "GET",
            f"{self.connection.server}{self.request.path}{'?' if query else ''}{query}",
            body=self.request.body or None,
            headers=self._headers(authorization),
            timeout=self.patience.timeout(),
            retries=False,
            redirect=False,
            preload_content=False,
        )
        pieces = []
        # read1, for stream waits until a chunk is full: a server that drips would outlast the deadline.
        while piece := response.read1(CHUNK_BYTES, decode_content=True):
            pieces.append(piece)
            self.received(len(piece))
            if self.patience.over():
                response.close()
                raise TooSlowError(self.request.path)
        return _Reply(response.status, response.headers, b"".join(pieces))

    def _headers(self, authorization: str) -> HTTPHeaderDict:
        """Return the request's headers."""
        headers = HTTPHeaderDict(self.connection.headers, Accept=self.request.accept)
        if self.request.body:
            headers["Content-Type"] = JSON
        if authorization:
            headers["Authorization"] = authorization
        return headers

    def _answer(self, reply: _Reply) -> Answer:
        """Return what a successful reply holds."""
        media_type = reply.headers.get("Content-Type", JSON)
        if JSON not in media_type:
            raise ClusterError(
                f"cannot {self.request.what}: the server answered with {media_type.partition(';')[0]}, not JSON",
                what=self.request.what,
                status=reply.status,
                hint=f"is {self.connection.server} an API server, or a proxy or login page in front of one?",
            )
        try:
            return Answer(decode(reply.body, _Head).metadata, reply.body)
        except DecodeError as error:
            message = f"cannot {self.request.what}: the server's answer is cut short or malformed: {error}"
            raise _TransientError(ClusterError(message, what=self.request.what, status=reply.status)) from error

    def _refusal(self, reply: _Reply) -> Exception:
        """Return the error for a reply that is no answer."""
        if reply.status // 100 == REDIRECTION:
            return self._redirected(reply)
        error = refused(
            self.connection,
            what=self.request.what,
            needs=self.request.needs,
            status=reply.status,
            said=parse_status(reply.body),
        )
        if reply.status not in RETRIED:
            return error
        asked = reply.headers.get("Retry-After", "")
        return _TransientError(error, float(asked) if asked.isdecimal() else 0)

    def _redirected(self, reply: _Reply) -> ClusterError:
        """Return the error for a reply that sends us elsewhere."""
        target = urlsplit(reply.headers.get("Location", ""))
        return ClusterError(
            f"cannot {self.request.what}: the server redirects to {target.hostname or 'another path'}",
            what=self.request.what,
            status=reply.status,
            hint="redirects are not followed: an API server sends none; is there a login page in front of it?",
        )

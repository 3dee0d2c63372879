"""Sends one request to an API server, and retries it while that may help. Only dry runs are not GETs.

The answer is checked to be complete. Redirects are not followed: an API server sends none, and another server must not
get the credentials.
"""

import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from time import monotonic
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

import msgspec
from msgspec.structs import replace
from urllib3 import BaseHTTPResponse, HTTPHeaderDict, Timeout
from urllib3.exceptions import DecodeError as EncodingError
from urllib3.exceptions import HTTPError, ProtocolError, SSLError
from urllib3.exceptions import TimeoutError as TooSlowError

from kubectl_spread.cluster.net.background import Background
from kubectl_spread.cluster.net.connection import Connection
from kubectl_spread.cluster.net.failures import failure, parse_status, refused, unreachable
from kubectl_spread.errors import ClusterError
from kubectl_spread.objects.decoding import DecodeError, ListMeta, decode
from kubectl_spread.objects.meta import Struct

JSON = "application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"
ATTEMPTS = 6
FIRST_BACKOFF = 0.2  # Seconds before the second attempt; each further pause is twice as long
LONGEST_BACKOFF = 60.0  # Seconds. A server that asks for a longer pause is not asked again.
CONNECT_SECONDS = 30.0
IDLE_SECONDS = 70.0  # Seconds without a byte. kube-apiserver itself ends a list after 60 seconds.
CHUNK_BYTES = 1 << 20
MASKED = b"<masked>"
SUCCESS, REDIRECTION = 2, 3  # The first digit of an HTTP status
RETRIED = (429, 500, 502, 503, 504)
# The query parameter for the meaning of a resourceVersion, and its values.
MATCH, EXACT, NOT_OLDER = "resourceVersionMatch", "Exact", "NotOlderThan"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request to an API server."""

    path: str  # on the server, such as ``/api/v1/pods``
    what: str  # the request in words, such as ``list pods in namespace "shop"``
    needs: str = ""  # the permission for it; empty when it needs none
    query: Mapping[str, str] = {}  # parameters; empty ones are not sent
    accept: str = JSON  # the wanted media types
    attempts: int = ATTEMPTS
    body: bytes = b""  # JSON; the request must be safe to repeat. Empty for a GET.
    patch: str = ""  # the media type of the body of a PATCH; empty for a POST
    lists: tuple[str, ...] = ()  # the kinds of list that the answer may be; empty where it is no list
    goes_on: bool = False  # whether the answer is a watch, to which the server keeps adding


class Response(NamedTuple):
    """The answer of the server."""

    metadata: ListMeta
    body: bytes  # the whole JSON document, or the bytes of the list in Protocol Buffers
    protobuf: bool = False  # whether it is in Protocol Buffers; only if the request asked for that


class _Head(Struct, frozen=True):
    """The kind and metadata of a document; decoding it checks that all of it is JSON."""

    kind: str = ""
    metadata: ListMeta = ListMeta()
    items: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Reply(msgspec.Struct, frozen=True):
    status: int
    headers: HTTPHeaderDict
    body: bytes
    rest: BaseHTTPResponse | None = None


class _TransientError(Exception):
    """A failure after which a retry may succeed.

    ``pause``: seconds to wait, as the server asks; 0 where it does not ask.
    """

    def __init__(self, error: ClusterError, pause: float = 0) -> None:
        super().__init__(str(error))
        self.error = error
        self.pause = pause


def fetch(connection: Connection, request: Request, received: Callable[[int], None] = lambda _: None) -> Response:
    """Return the server's answer to the request.

    The request is sent in another thread, because Ctrl-C cannot interrupt a thread that looks up a host name.
    ``received`` is called with the size of each piece that arrives (bytes, uncompressed).

    Raises:
        StatusError: the server refused.
        ClusterError: it could not be reached in time, or the answer is no JSON.
    """
    return Background(_Call(connection, request, received).answer).result()


@contextmanager
def streaming(connection: Connection, request: Request) -> Iterator[Iterator[bytes]]:
    """Provide the pieces of a watch as they arrive, without retries.

    Raises:
        StatusError: the server refused.
        ClusterError: it could not be reached, or the connection was lost, also while pieces are read.
    """
    call = _Call(connection, replace(request, goes_on=True), lambda _: None)
    with closing(call.open()) as response:
        yield call.pieces(response)


def _parse_retry_after(retry_after: str) -> float:
    """Source: RFC 9110 section 10.2.3: seconds or a date. API servers send numbers; proxies send dates too."""
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        until = parsedate_to_datetime(retry_after)
    except ValueError:
        return 0
    return max((until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0)


class _Call:
    def __init__(self, connection: Connection, request: Request, received: Callable[[int], None]) -> None:
        self.connection = connection
        self.request = request
        self._received = received
        self._until = monotonic() + (connection.limits.seconds if connection.timeout is None else connection.timeout)

    def answer(self) -> Response:
        tried = 0
        while True:
            try:
                return self._attempt()
            except _TransientError as failed:
                pause = failed.pause or FIRST_BACKOFF * 2**tried
                tried += 1
                if tried == self.request.attempts or pause > LONGEST_BACKOFF or monotonic() + pause > self._until:
                    raise failed.error from failed
                self.connection.log.say(f"{failed.error.message}; trying again in {pause:.1f} s")
                self.connection.limits.sleep(pause)

    def _attempt(self) -> Response:
        try:
            reply = self._send_authorized()
        except HTTPError as error:
            unanswered = unreachable(self.connection, error, what=self.request.what)
            broken_off = isinstance(error, ProtocolError | EncodingError)
            if isinstance(error, SSLError):
                broken_off = isinstance(error.args[0], ssl.SSLEOFError)
            raise _TransientError(unanswered) if broken_off else unanswered from error
        if reply.status // 100 == SUCCESS:
            return self._decode(reply)
        raise self._refusal(reply)

    def open(self) -> BaseHTTPResponse:
        try:
            reply = self._send_authorized()
        except HTTPError as error:
            raise unreachable(self.connection, error, what=self.request.what) from error
        if reply.rest is not None:
            return reply.rest
        refusal = self._refusal(reply)
        raise refusal.error if isinstance(refusal, _TransientError) else refusal

    def pieces(self, response: BaseHTTPResponse) -> Iterator[bytes]:
        try:
            while piece := response.read1(CHUNK_BYTES, decode_content=True):
                yield piece
        except HTTPError as error:
            raise unreachable(self.connection, error, what=self.request.what) from error

    def _send_authorized(self) -> _Reply:
        """Send the request; once more if the server refuses the credentials and there are newer ones."""
        authorization = self.connection.credentials.authorization()
        reply = self._send(authorization)
        if reply.status != HTTPStatus.UNAUTHORIZED:
            return reply
        renewed = self.connection.credentials.renew(authorization)
        if renewed == authorization:
            return reply
        self.connection.log.say(f"cannot {self.request.what} (Unauthorized); trying again with new credentials")
        return self._send(renewed)

    def _send(self, authorization: str) -> _Reply:
        query = urlencode({name: value for name, value in self.request.query.items() if value})
        verb = "PATCH" if self.request.patch else "POST" if self.request.body else "GET"
        url = f"{self.connection.server}{self.request.path}{'?' if query else ''}{query}"
        headers = self._headers(authorization)
        began = monotonic()
        try:
            reply = self._receive(verb, url, headers)
        except HTTPError as error:
            self._log(f"{verb} {url} failed", began, f": {error}")
            raise
        known = HTTPStatus(reply.status).phrase if reply.status in set(HTTPStatus) else ""
        self._log(f"{verb} {url} {f'{reply.status} {known}'.rstrip()}", began, f", {len(reply.body)} bytes")
        if reply.status // 100 == SUCCESS:
            return reply
        # Servers may repeat the token or password.
        secret = authorization.rpartition(" ")[2].encode()
        return replace(reply, body=reply.body.replace(secret, MASKED)) if secret else reply

    def _log(self, what: str, began: float, result: str) -> None:
        self.connection.log.say(f"{what} in {round((monotonic() - began) * 1000)} milliseconds{result}")

    def _receive(self, verb: str, url: str, headers: HTTPHeaderDict) -> _Reply:
        left = max(self._until - monotonic(), 0.001)
        response = self.connection.pool.urlopen(
            verb,
            url,
            body=self.request.body or None,
            headers=headers,
            timeout=Timeout(connect=min(CONNECT_SECONDS, left), read=min(IDLE_SECONDS, left)),
            retries=False,
            redirect=False,
            preload_content=False,
        )
        if self.request.goes_on and response.status // 100 == SUCCESS:
            return _Reply(response.status, response.headers, b"", response)
        try:
            return _Reply(response.status, response.headers, b"".join(self._limited_pieces(response)))
        finally:
            response.close()

    def _limited_pieces(self, response: BaseHTTPResponse) -> Iterator[bytes]:
        """Yield the uncompressed body as it arrives, within the limits of size and time."""
        size = 0
        # stream() waits until a chunk is full, so a slow server would outlast the deadline; read1() does not.
        while piece := response.read1(CHUNK_BYTES, decode_content=True):
            size += len(piece)
            if size > self.connection.limits.answer_bytes:
                mebibytes = self.connection.limits.answer_bytes >> 20
                raise failure(self.request.what, f"the server's answer is larger than {mebibytes} MiB")
            if monotonic() > self._until:
                raise TooSlowError(self.request.path)
            yield piece
            self._received(len(piece))

    def _headers(self, authorization: str) -> HTTPHeaderDict:
        headers = HTTPHeaderDict(self.connection.headers, Accept=self.request.accept)
        if self.request.body:
            headers["Content-Type"] = self.request.patch or JSON
        if self.request.goes_on:
            headers["Accept-Encoding"] = "identity"  # compression would delay events
        if authorization:
            headers["Authorization"] = authorization
        return headers

    def _decode(self, reply: _Reply) -> Response:
        media_type = reply.headers.get("Content-Type", JSON)
        protobuf = PROTOBUF in media_type and PROTOBUF in self.request.accept
        if JSON not in media_type and not protobuf:
            hint = f"is {self.connection.server} an API server, or a proxy or login page in front of one?"
            why = f"the server answered with {media_type.partition(';')[0]}, not JSON"
            raise failure(self.request.what, why, status=reply.status, hint=hint)
        try:
            if protobuf:
                from kubectl_spread.objects.protobuf import read_list

                kind, metadata, body = read_list(reply.body)
                head = _Head(kind=kind, metadata=metadata)
            else:
                head, body = decode(reply.body, _Head), reply.body
        except DecodeError as error:
            why = f"the server's answer is cut short or malformed: {error}"
            raise _TransientError(failure(self.request.what, why, status=reply.status)) from error
        is_list = head.kind in self.request.lists if head.kind else head.items is not msgspec.UNSET
        if self.request.lists and not is_list:
            found = f"a {head.kind}" if head.kind else "JSON that is not a list"
            hint = f"is {self.connection.server} an API server, or a proxy in front of one?"
            why = f"the server answered with {found}, not a {self.request.lists[0]}"
            raise failure(self.request.what, why, status=reply.status, hint=hint)
        return Response(head.metadata, body, protobuf)

    def _refusal(self, reply: _Reply) -> Exception:
        if reply.status // 100 == REDIRECTION:
            return self._redirected(reply)
        what, needs, answer = self.request.what, self.request.needs, parse_status(reply.body)
        error = refused(self.connection, what=what, needs=needs, status=reply.status, answer=answer)
        # The server may never reach this version; the caller asks for another one.
        at_one = self.request.query.get("resourceVersion") and self.request.query.get(MATCH) != NOT_OLDER
        if reply.status not in RETRIED or (error.answer.too_new and at_one):
            return error
        pause = error.retry_after = _parse_retry_after(reply.headers.get("Retry-After", ""))
        if pause:
            error.hint = f"the server asks for a pause of {pause:,.0f} s"
        return _TransientError(error, pause)

    def _redirected(self, reply: _Reply) -> ClusterError:
        try:
            target = urlsplit(reply.headers.get("Location", "")).hostname or "another path"
        except ValueError:
            target = "no address at all"
        hint = "redirects are not followed: an API server sends none; is there a login page in front of it?"
        return failure(self.request.what, f"the server redirects to {target}", status=reply.status, hint=hint)

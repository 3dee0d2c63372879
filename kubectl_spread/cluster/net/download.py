"""Downloads a URL given with ``check -f``, within limits of time and size. It is imported only where there is one.

Source: cli-runtime pkg/resource/visitor.go URLVisitor and readHttpWithRetries (v1.36).
"""

import time
from http import HTTPStatus

import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    MaxRetryError,
    NewConnectionError,
    ProtocolError,
    ReadTimeoutError,
)
from urllib3.util import Retry, Timeout, make_headers, parse_url

from kubectl_spread.cluster.net.connection import MANIFEST, DownloadLimits, pool_for
from kubectl_spread.cluster.net.proxy import without_login
from kubectl_spread.errors import ClusterError, UnreadableError

CONNECT_SECONDS = 5.0  # To open the connection
ATTEMPTS = 3  # Requests (count) to a server that answers 5xx

_CHUNK = 2**16


def download(url: str, limits: DownloadLimits = MANIFEST) -> bytes:
    """Return the content of the URL; a user and password in it are sent as basic authentication.

    Raises:
        UnreadableError: there is no answer, an error, or the content is too large.
    """
    deadline = time.monotonic() + limits.seconds
    try:
        with _ask(url, limits) as response:
            if response.status != HTTPStatus.OK:
                raise UnreadableError(f"cannot be read: the server answered {response.status} {response.reason}")
            return _read_body(response, limits, deadline)
    except HTTPError as error:
        raise UnreadableError(f"cannot be read: {_reason(error)}") from error
    except ClusterError as error:  # the proxy cannot be used
        raise UnreadableError(f"cannot be read: {error.message}") from error


def _ask(url: str, limits: DownloadLimits) -> urllib3.BaseHTTPResponse:
    login = parse_url(url).auth  # first: it refuses malformed URLs
    failures = Retry(
        connect=0,
        read=0,
        other=0,
        status=ATTEMPTS - 1,
        status_forcelist=range(500, 600),
        backoff_factor=0.1,
        raise_on_status=False,
        respect_retry_after_header=False,
    )
    return pool_for(url).request(
        "GET",
        url,
        headers=make_headers(basic_auth=login, accept_encoding=True),
        retries=failures,
        timeout=Timeout(connect=CONNECT_SECONDS, read=limits.seconds),
        preload_content=False,
    )


def _read_body(response: urllib3.BaseHTTPResponse, limits: DownloadLimits, deadline: float) -> bytes:
    body = bytearray()
    # stream() waits until a chunk is full, so a slow server would outlast the deadline; read1() does not.
    while piece := response.read1(_CHUNK, decode_content=True):
        body += piece
        if len(body) > limits.answer_bytes:
            raise UnreadableError(f"holds more than {limits.answer_bytes >> 20} MiB")
        if time.monotonic() > deadline:
            raise UnreadableError("cannot be read: the answer takes too long")
    return bytes(body)


def _reason(error: Exception) -> str:
    """Return why there was no answer, without the class names of urllib3."""
    if isinstance(error, MaxRetryError) and error.reason:
        return _reason(error.reason)
    # In urllib3, a refused connection is a timeout too.
    if isinstance(error, ConnectTimeoutError | ReadTimeoutError) and not isinstance(error, NewConnectionError):
        return "no answer in time"
    if isinstance(error, ProtocolError):
        return "the connection was lost"
    return without_login(str(error).rpartition(": ")[2])

"""The bytes behind a URL that ``check -f`` names, within bounds of time and size.

Source: cli-runtime pkg/resource/visitor.go URLVisitor and readHttpWithRetries (v1.36).
"""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import TYPE_CHECKING

from kubectl_spread.cluster.net.limits import MANIFEST, DownloadLimits
from kubectl_spread.cluster.net.proxy import without_login
from kubectl_spread.errors import ClusterError, UnreadableError

if TYPE_CHECKING:
    import urllib3

CONNECT_SECONDS = 5.0
"""How long the connection may take."""
ATTEMPTS = 3
"""How often a server that fails (5xx) is asked."""

_CHUNK = 2**16


def download(url: str, limits: DownloadLimits = MANIFEST) -> bytes:
    """Return what the URL holds; a user and password in it are sent as basic authentication.

    Raises:
        UnreadableError: there is no answer, a bad one, or too much of one.
    """
    from urllib3.exceptions import HTTPError

    deadline = time.monotonic() + limits.seconds
    try:
        with _ask(url, limits) as response:
            if response.status != HTTPStatus.OK:
                raise UnreadableError(f"cannot be read: the server says {response.status} {response.reason}")
            return _body(response, limits, deadline=deadline)
    except HTTPError as error:
        raise UnreadableError(f"cannot be read: {_reason(error)}") from error
    except ClusterError as error:  # its proxy is none that can be used
        raise UnreadableError(f"cannot be read: {error.message}") from error


def _ask(url: str, limits: DownloadLimits) -> urllib3.BaseHTTPResponse:
    from urllib3.util import Retry, Timeout, make_headers, parse_url

    from kubectl_spread.cluster.net.pool import pool_for

    login = parse_url(url).auth
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


def _body(response: urllib3.BaseHTTPResponse, limits: DownloadLimits, *, deadline: float) -> bytes:
    body = bytearray()
    # read1, for stream waits until a chunk is full: a server that drips would outlast the deadline.
    while piece := response.read1(_CHUNK, decode_content=True):
        body += piece
        if len(body) > limits.answer_bytes:
            raise UnreadableError(f"holds more than {limits.answer_bytes >> 20} MiB")
        if time.monotonic() > deadline:
            raise UnreadableError("cannot be read: the answer takes too long")
    return bytes(body)


def _reason(error: Exception) -> str:
    """Return why there was no answer, without the names of urllib3's classes."""
    from urllib3.exceptions import (
        ConnectTimeoutError,
        MaxRetryError,
        NewConnectionError,
        ProtocolError,
        ReadTimeoutError,
    )

    if isinstance(error, MaxRetryError) and error.reason:
        return _reason(error.reason)
    # A refused connection counts among urllib3's time-outs too.
    if isinstance(error, ConnectTimeoutError | ReadTimeoutError) and not isinstance(error, NewConnectionError):
        return "no answer in time"
    if isinstance(error, ProtocolError):
        return "the connection broke off"
    return without_login(str(error).rpartition(": ")[2])

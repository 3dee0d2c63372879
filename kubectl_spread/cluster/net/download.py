"""The bytes behind a URL that ``check -f`` names, within bounds of time and size.

Source: cli-runtime pkg/resource/visitor.go URLVisitor and readHttpWithRetries (v1.36).
"""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import TYPE_CHECKING

from kubectl_spread.cluster.net.proxy import proxy_for

if TYPE_CHECKING:
    import urllib3

MAX_BYTES = 64 * 2**20
"""How large the answer may be."""
PATIENCE_SECONDS = 30.0
"""How long the answer may take, and how long the server may be silent."""
CONNECT_SECONDS = 5.0
"""How long the connection may take."""
ATTEMPTS = 3
"""How often a server that fails (5xx) is asked."""

_CHUNK = 2**16


class UnreadableError(Exception):
    """Why bytes cannot be had, in words that follow the source's name: ``does not exist``."""


def download(url: str) -> bytes:
    """Return what the URL holds; a user and password in it are sent as basic authentication.

    Raises:
        UnreadableError: there is no answer, a bad one, or too much of one.
    """
    from urllib3.exceptions import HTTPError

    deadline = time.monotonic() + PATIENCE_SECONDS
    try:
        with _ask(url) as response:
            if response.status != HTTPStatus.OK:
                raise UnreadableError(f"cannot be read: the server says {response.status} {response.reason}")
            return _body(response, deadline=deadline)
    except HTTPError as error:
        raise UnreadableError(f"cannot be read: {_reason(error)}") from error


def without_password(url: str) -> str:
    """Return the URL as it may be shown: without user and password."""
    scheme, separator, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}"


def _ask(url: str) -> urllib3.BaseHTTPResponse:
    """Return the server's answer, its body unread."""
    from urllib3.util import Retry, Timeout, make_headers, parse_url

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
    return _pool(proxy_for(url, "")).request(
        "GET",
        url,
        headers=make_headers(basic_auth=login, accept_encoding=True),
        retries=failures,
        timeout=Timeout(connect=CONNECT_SECONDS, read=PATIENCE_SECONDS),
        preload_content=False,
    )


def _pool(proxy: str) -> urllib3.PoolManager:
    """Return the connections, through the proxy unless it is empty."""
    import urllib3
    from urllib3.util import make_headers, parse_url

    if not proxy:
        return urllib3.PoolManager()
    return urllib3.ProxyManager(proxy, proxy_headers=make_headers(proxy_basic_auth=parse_url(proxy).auth))


def _body(response: urllib3.BaseHTTPResponse, *, deadline: float) -> bytes:
    """Return the body, which must be neither too large nor too slow."""
    body = bytearray()
    for chunk in response.stream(_CHUNK):
        body += chunk
        if len(body) > MAX_BYTES:
            raise UnreadableError(f"holds more than {MAX_BYTES // 2**20} MiB")
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
    return without_password(str(error).rpartition(": ")[2])

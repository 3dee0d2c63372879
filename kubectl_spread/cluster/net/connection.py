"""How to ask an API server, directly or through its proxy, and what an answer may take of time and memory."""

import ssl
import time
from collections.abc import Callable
from typing import Any

import msgspec
import urllib3
from urllib3.exceptions import LocationParseError, ProxySchemeUnknown
from urllib3.util import make_headers, parse_url

from kubectl_spread.cluster.log import SILENT, Log
from kubectl_spread.cluster.net.credentials import Credentials
from kubectl_spread.cluster.net.proxy import proxy_for, without_login
from kubectl_spread.errors import ClusterError


class DownloadLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How long to wait for an answer, and how much of it to take."""

    seconds: float  # for all attempts and the pauses between them, where no timeout is set
    answer_bytes: int  # the largest size, uncompressed
    sleep: Callable[[float], object] = time.sleep  # waits so many seconds


# 50,000 Pods in one page take two thirds of these bytes.
API_SERVER = DownloadLimits(seconds=600.0, answer_bytes=1 << 30)
MANIFEST = DownloadLimits(seconds=30.0, answer_bytes=64 << 20)  # For a URL given with ``-f``


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    """How to ask an API server."""

    server: str  # its URL, without a slash at the end
    namespace: str
    context: str
    cluster: str = ""  # the cluster's name in the kubeconfig; empty when there is none
    current: bool = True  # whether kubectl asks the same cluster without flags
    # the given kubectl flags that lead to the cluster, each word by itself; none holds a secret
    flags: tuple[str, ...] = ()
    secret_flags: tuple[str, ...] = ()  # the names of the given flags that hold a secret
    pool: urllib3.PoolManager
    credentials: Credentials
    headers: tuple[tuple[str, str], ...]  # of every request; a name may occur twice
    timeout: float | None = None  # seconds that a request may take; None for no limit
    log: Log = SILENT
    limits: DownloadLimits = API_SERVER


CONNECTIONS = 16


def pool_for(
    server: str, *, proxy_url: str = "", tls: ssl.SSLContext | None = None, tls_server_name: str = ""
) -> urllib3.PoolManager:
    """Return the connection pool of the server.

    Without ``tls``, urllib3's defaults apply; without ``tls_server_name``, the certificate must name the URL's host.

    Raises:
        ClusterError: the proxy cannot be used.
    """
    settings: dict[str, Any] = {"maxsize": CONNECTIONS}
    if tls:
        settings["ssl_context"] = tls
        if tls_server_name:
            settings["server_hostname"] = tls_server_name
    proxy = proxy_for(server, proxy_url)
    if not proxy:
        return urllib3.PoolManager(**settings)
    shown = without_login(proxy)
    try:
        url = parse_url(proxy)
        if (url.scheme or "").startswith("socks"):
            from urllib3.contrib.socks import SOCKSProxyManager

            # The proxy looks up the server's name itself, as in Go.
            return SOCKSProxyManager(proxy.replace("socks5://", "socks5h://", 1), **settings)
        headers = make_headers(proxy_basic_auth=url.auth) if url.auth else None
        return urllib3.ProxyManager(proxy, proxy_headers=headers, **settings)
    except LocationParseError as error:  # its text may hold the password
        raise ClusterError(f"the proxy {shown!r} cannot be used: it is not a URL") from error
    except ProxySchemeUnknown as error:
        raise ClusterError(f"the proxy {shown!r} cannot be used: {error}") from error

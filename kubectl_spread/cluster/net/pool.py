"""The urllib3 connection pool of a server, through its proxy if it has one."""

from __future__ import annotations

import ssl
from typing import Any

import urllib3
from urllib3.exceptions import LocationParseError, ProxySchemeUnknown
from urllib3.util import make_headers, parse_url

from kubectl_spread.cluster.net.proxy import proxy_for, without_login
from kubectl_spread.errors import ClusterError

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
        raise ClusterError(f"the proxy {shown!r} is none that can be used: it is no URL") from error
    except ProxySchemeUnknown as error:
        raise ClusterError(f"the proxy {shown!r} is none that can be used: {error}") from error

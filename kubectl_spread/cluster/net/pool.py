"""The urllib3 connections to an API server: TLS, the proxy, nothing above that."""

from __future__ import annotations

import ssl
from typing import Any

import urllib3
from urllib3.exceptions import InsecureRequestWarning, LocationParseError, ProxySchemeUnknown
from urllib3.util import make_headers, parse_url

from kubectl_spread.cluster.access.kubeconfig import Cluster, read_file_or_data
from kubectl_spread.cluster.net import tls
from kubectl_spread.cluster.net.proxy import proxy_for, without_login
from kubectl_spread.errors import ClusterError

CONNECTIONS = 16


def pool_for(server: str, cluster: Cluster, key_pair: tls.KeyPair | None) -> urllib3.PoolManager:
    """Return the connections to the server, through its proxy if it has one.

    Raises:
        ClusterError: a certificate cannot be used, or the proxy is of a kind we do not know.
    """
    settings: dict[str, Any] = {"maxsize": CONNECTIONS}
    if server.startswith("https:"):
        settings["ssl_context"] = _ssl_context(cluster, key_pair)
        if cluster.tls_server_name:
            settings["server_hostname"] = cluster.tls_server_name
    proxy = proxy_for(server, cluster.proxy_url)
    return _proxied(proxy, settings) if proxy else urllib3.PoolManager(**settings)


def _ssl_context(cluster: Cluster, key_pair: tls.KeyPair | None) -> ssl.SSLContext:
    """Return how to speak TLS with the cluster."""
    authority = read_file_or_data(
        path=cluster.certificate_authority, data=cluster.certificate_authority_data, what="certificate-authority"
    )
    insecure = cluster.insecure_skip_tls_verify
    if insecure and authority:
        raise ClusterError(
            "specifying a root certificates file with the insecure flag is not allowed",
            hint="drop certificate-authority or insecure-skip-tls-verify",
        )
    if insecure:
        urllib3.disable_warnings(InsecureRequestWarning)
    return tls.context(authority=authority, insecure=insecure, key_pair=key_pair)


def _proxied(proxy: str, settings: dict[str, Any]) -> urllib3.PoolManager:
    """Return the connections through the proxy."""
    shown = without_login(proxy)
    try:
        url = parse_url(proxy)
        if (url.scheme or "").startswith("socks"):
            return _socks(proxy, settings)
        headers = make_headers(proxy_basic_auth=url.auth) if url.auth else None
        return urllib3.ProxyManager(proxy, proxy_headers=headers, **settings)
    except LocationParseError as error:  # whose text may hold the password
        raise ClusterError(f"the proxy {shown!r} is none that can be used: it is no URL") from error
    except ProxySchemeUnknown as error:
        raise ClusterError(f"the proxy {shown!r} is none that can be used: {error}") from error


def _socks(proxy: str, settings: dict[str, Any]) -> urllib3.PoolManager:
    """Return the connections through a SOCKS proxy, which looks up the server's name itself, as in Go."""
    from urllib3.contrib.socks import SOCKSProxyManager

    return SOCKSProxyManager(proxy.replace("socks5://", "socks5h://", 1), **settings)

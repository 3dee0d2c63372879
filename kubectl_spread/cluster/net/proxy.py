"""Chooses the proxy of a server as Go's HTTP client does.

Source: golang.org/x/net http/httpproxy/proxy.go, which client-go uses unless the kubeconfig names a proxy-url.
"""

import ipaddress
import os
import re
from urllib.parse import SplitResult, urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}

_URL = re.compile(r"([^:@/?#\\]*://)?([^/?#\\]*)(.*)", re.DOTALL)
_HOST = re.compile(r"([^:\[\]]*|\[[^\[\]]*\])(:\d+)?", re.ASCII)


def proxy_for(server: str, proxy_url: str) -> str:
    """Return the URL of the proxy to use, empty for none.

    The cluster's ``proxy-url`` beats the environment; where it is empty, HTTPS_PROXY and NO_PROXY decide.
    """
    target = urlsplit(server)
    found = proxy_url or _variable(f"{target.scheme}_proxy")
    if not found or (not proxy_url and _bypasses(target)):
        return ""
    return found if "://" in found else f"http://{found}"


def without_login(url: str) -> str:
    """Return the URL without user and password.

    A URL may be so malformed that its host cannot be found, for example with a slash in the password. Then everything
    before the last ``@`` is removed.
    """
    scheme, authority, rest = _URL.fullmatch(url).groups("")  # type: ignore[union-attr] # every text matches
    host = authority.rpartition("@")[2]
    return scheme + (f"{host}{rest}" if _HOST.fullmatch(host) else f"{host}{rest}".rpartition("@")[2])


def _variable(name: str) -> str:
    return os.environ.get(name.upper()) or os.environ.get(name) or ""


def _bypasses(target: SplitResult) -> bool:
    """Whether the server is asked without the environment's proxy; a server on this machine always is."""
    host = target.hostname or ""
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    port = target.port or DEFAULT_PORTS[target.scheme]
    entries = (entry.strip().lower() for entry in _variable("no_proxy").split(","))
    return any(_matches(entry, host=host, port=port) for entry in entries if entry)


def _matches(entry: str, *, host: str, port: int) -> bool:
    """Whether an entry of NO_PROXY matches: ``*``, a network, or an address or domain with or without a port."""
    if entry == "*":
        return True
    address = _address(host)
    if "/" in entry:
        try:
            return address is not None and address in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
    whole = ":" not in entry or _address(entry) is not None
    name, _, entry_port = (entry, "", "") if whole else entry.rpartition(":")
    name = name.strip("[]")
    if entry_port not in ("", str(port)):
        return False
    if address is not None:
        return address == _address(name)
    domain = name.removeprefix("*")
    return host.endswith(domain) if domain.startswith(".") else host == domain or host.endswith(f".{domain}")


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None

"""Finds the API server as kubectl does: by flags, else the kubeconfig, else the service account of a Pod.

Credentials are only sent over TLS. Clusters and users of other contexts are not checked.

Source: client-go tools/clientcmd/client_config.go, merged_client_builder.go, validation.go, api/v1/defaults.go (v1.36).
"""

import os
import ssl
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import urllib3
from msgspec.structs import replace
from urllib3.exceptions import InsecureRequestWarning

from kubectl_spread import __version__
from kubectl_spread.cluster.access import kubeconfig
from kubectl_spread.cluster.access.authentication import credentials_for
from kubectl_spread.cluster.access.kubeconfig import NOBODY, Cluster, Exec, Kubeconfig, Selection, User
from kubectl_spread.cluster.access.options import (
    ConnectionOptions,
    apply_flags,
    connection_flags,
    parse_timeout,
    secret_flags,
)
from kubectl_spread.cluster.log import SILENT, Log
from kubectl_spread.cluster.net.connection import Connection, pool_for
from kubectl_spread.cluster.net.proxy import without_login
from kubectl_spread.cluster.net.tls import KeyPair
from kubectl_spread.cluster.net.tls import context as tls_context
from kubectl_spread.errors import ClusterError, UsageError

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")

# The characters that a header's name may have beside letters and digits, without ``%``, which is encoded.
_HEADER_CHARACTERS = "!#$&'*+-.^_`|~"


def connect(options: ConnectionOptions, log: Log = SILENT, *, service_account: Path = SERVICE_ACCOUNT) -> Connection:
    """Return the connection that kubectl would use with these flags; no request is sent.

    Raises:
        ClusterError: there is no cluster, or its kubeconfig, certificates or credentials cannot be used.
        UsageError: a flag has a malformed value.
    """
    timeout = parse_timeout(options.request_timeout)
    selection = apply_flags(_select(options, service_account), options)
    confirm_usable(selection)
    cluster, user = selection.cluster, selection.user
    server = _server_url(cluster.server)
    encoding = () if cluster.disable_compression else (("Accept-Encoding", "gzip"),)
    headers = (("User-Agent", f"kubectl-spread/{__version__}"), *encoding, *_impersonation_headers(user))
    if server.startswith("http:"):
        selection = replace(selection, user=NOBODY)
    credentials = credentials_for(selection, cluster)
    namespace = options.namespace or selection.namespace or _pod_namespace(service_account) or "default"
    log.say(f'the server is {server}, of context "{selection.context}"; the namespace is "{namespace}"')
    tls = _ssl_context(cluster, credentials.key_pair) if server.startswith("https:") else None
    return Connection(
        server=server,
        namespace=namespace,
        context=selection.context,
        cluster=selection.cluster_name,
        current=selection.current and not options.server,
        flags=tuple(connection_flags(options)),
        secret_flags=secret_flags(options),
        pool=pool_for(server, proxy_url=cluster.proxy_url, tls=tls, tls_server_name=cluster.tls_server_name),
        credentials=credentials,
        headers=headers,
        timeout=timeout,
        log=log,
    )


def _select(options: ConnectionOptions, service_account: Path) -> Selection:
    config = kubeconfig.load(options.kubeconfig)
    selection = kubeconfig.select(config, context=options.context, cluster=options.cluster, user=options.user)
    if selection.cluster.server or options.server:
        return selection
    if not selection.context and _in_pod(service_account):
        return _in_cluster(service_account, token=options.token)
    if master := os.environ.get("KUBERNETES_MASTER"):
        return replace(selection, cluster=replace(selection.cluster, server=master))
    raise _no_server(config, selection)


def _no_server(config: Kubeconfig, selection: Selection) -> ClusterError:
    """Return the error without a server; kubectl would try localhost:8080."""
    if not config.paths:
        path = os.environ.get("KUBECONFIG") or kubeconfig.DEFAULT_PATH
        hint = "set KUBECONFIG, or use --kubeconfig or --server"
        return ClusterError(f"no cluster is configured: there is no kubeconfig at {path}", hint=hint)
    if selection.context:
        return ClusterError(f'no cluster is configured: context "{selection.context}" has no server')
    files = ", ".join(map(str, config.paths))
    known = ", ".join(sorted(config.contexts)) or "none"
    hint = f"use --context, or run kubectl config use-context NAME; contexts: {known}"
    return ClusterError(f"no cluster is configured: current-context is not set in {files}", hint=hint)


def _in_pod(service_account: Path) -> bool:
    service = os.environ.get("KUBERNETES_SERVICE_HOST") and os.environ.get("KUBERNETES_SERVICE_PORT")
    return bool(service) and (service_account / "token").is_file()


def _in_cluster(service_account: Path, *, token: str) -> Selection:
    """Source: client-go rest/config.go InClusterConfig; a token given by flag replaces the service account's."""
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    authority = service_account / "ca.crt"
    cluster = Cluster(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        certificate_authority=str(authority) if authority.is_file() else "",
    )
    return Selection(cluster=cluster, user=NOBODY if token else User(token_file=str(service_account / "token")))


def _pod_namespace(service_account: Path) -> str:
    if not _in_pod(service_account):
        return ""
    file = service_account / "namespace"
    return os.environ.get("POD_NAMESPACE") or (file.read_text(encoding="utf-8").strip() if file.is_file() else "")


def _server_url(server: str) -> str:
    """Source: client-go rest/url_utils.go DefaultServerURL; the default scheme is HTTP, as for ``kubectl proxy``."""
    if "://" not in server:
        server = f"http://{server}"
    try:
        parts = urlsplit(server)
        port = parts.port
    except ValueError as error:
        raise ClusterError(f"the server {without_login(server)!r} is not a URL: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or not server.isprintable() or " " in server:
        message = f"host must be a URL or a host:port pair: {without_login(server)!r}"
        raise ClusterError(message, hint="check --server or the kubeconfig")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path.rstrip('/')}"


def _ssl_context(cluster: Cluster, key_pair: KeyPair | None) -> ssl.SSLContext:
    authority = kubeconfig.read_file_or_data(cluster, "certificate_authority")
    insecure = cluster.insecure_skip_tls_verify
    if insecure and authority:
        message = "specifying a root certificates file with the insecure flag is not allowed"
        raise ClusterError(message, hint="drop certificate-authority or insecure-skip-tls-verify")
    if insecure:
        urllib3.disable_warnings(InsecureRequestWarning)
    return tls_context(authority=authority, insecure=insecure, key_pair=key_pair)


def _impersonation_headers(user: User) -> Iterator[tuple[str, str]]:
    """Source: client-go transport/round_trippers.go impersonatingRoundTripper."""
    if not user.as_:
        if user.as_uid or user.as_groups or user.as_user_extra:
            raise UsageError("requesting uid, groups or user-extra without impersonating a user", hint="use --as too")
        return
    yield "Impersonate-User", _header(user.as_)
    if user.as_uid:
        yield "Impersonate-Uid", _header(user.as_uid)
    for group in user.as_groups:
        yield "Impersonate-Group", _header(group)
    for key, values in user.as_user_extra.items():
        for value in values:
            yield f"Impersonate-Extra-{quote(key, safe=_HEADER_CHARACTERS)}", _header(value)


def _header(text: str) -> str:
    """Return the text as a header's value: UTF-8, as in Go."""
    if not text.isprintable():
        raise UsageError(f"cannot impersonate {text!r}: it holds control characters")
    return text.encode().decode("latin-1")


PROXY_SCHEMES = ("http", "https", "socks5")
INTERACTIVE_MODES = ("Never", "IfAvailable", "Always")
# Version of the plugin protocol → its interactive modes.
PLUGIN_MODES = {
    "client.authentication.k8s.io/v1": INTERACTIVE_MODES,
    "client.authentication.k8s.io/v1beta1": (*INTERACTIVE_MODES, ""),
}


def confirm_usable(selection: Selection) -> None:
    """Check the cluster and the user; a ClusterError names the first problem."""
    who = f'user "{selection.user_name}"' if selection.user_name else "the user"
    for problem in _user_problems(selection.user):
        raise ClusterError(f"{who} cannot be used: {problem}")
    cluster, problem = selection.cluster, ""
    if cluster.certificate_authority and cluster.certificate_authority_data:
        problem = "it has both certificate-authority and certificate-authority-data; drop one"
    elif cluster.proxy_url and cluster.proxy_url.partition("://")[0].lower() not in PROXY_SCHEMES:
        problem = f"its proxy-url {without_login(cluster.proxy_url)!r} is not an http, https or socks5 URL"
    if problem:
        which = f'cluster "{selection.cluster_name}"' if selection.cluster_name else "the cluster"
        raise ClusterError(f"{which} cannot be used: {problem}")


def _user_problems(user: User) -> Iterator[str]:
    if user.token and (user.username or user.password):
        yield "it has more than one authentication method, a token and a username; only one is allowed"
    if user.client_certificate and user.client_certificate_data:
        yield "it has both client-certificate and client-certificate-data; drop one"
    if user.client_key and user.client_key_data and (user.client_certificate or user.client_certificate_data):
        yield "it has both client-key and client-key-data; drop one"
    if user.exec:
        if user.auth_provider:
            yield "it has both an auth-provider and an exec plugin; drop one"
        yield from _plugin_problems(user.exec)


def _plugin_problems(plugin: Exec) -> Iterator[str]:
    if not plugin.command:
        yield "its exec plugin has no command"
    if plugin.api_version not in PLUGIN_MODES:
        known = " or ".join(PLUGIN_MODES)
        yield f'its exec plugin {plugin.command} has an invalid apiVersion "{plugin.api_version}", want {known}'
    if any(not variable.name for variable in plugin.env):
        yield f"its exec plugin {plugin.command} has an env variable without a name"
    if plugin.interactive_mode not in PLUGIN_MODES.get(plugin.api_version, ()):
        known = ", ".join(INTERACTIVE_MODES)
        yield f'its exec plugin {plugin.command} has interactiveMode "{plugin.interactive_mode}", want one of: {known}'

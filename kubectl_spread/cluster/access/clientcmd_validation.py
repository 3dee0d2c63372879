"""Refuses what kubectl refuses in the chosen cluster and user before it sends a request.

Clusters and users of other contexts are not checked.

Source: client-go tools/clientcmd/validation.go and api/v1/defaults.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.cluster.access.kubeconfig import Cluster, Exec, Selection, User
from kubectl_spread.cluster.net.proxy import without_login
from kubectl_spread.errors import ClusterError

PROXY_SCHEMES = ("http", "https", "socks5")
INTERACTIVE_MODES = ("Never", "IfAvailable", "Always")
PLUGIN_MODES = {
    "client.authentication.k8s.io/v1": INTERACTIVE_MODES,
    "client.authentication.k8s.io/v1beta1": (*INTERACTIVE_MODES, ""),
}
"""Version of the plugin protocol → its interactive modes."""


def confirm_usable(selection: Selection) -> None:
    """Check the cluster and the user.

    Raises:
        ClusterError: names the first problem.
    """
    who = f'user "{selection.user_name}"' if selection.user_name else "the user"
    which = f'cluster "{selection.cluster_name}"' if selection.cluster_name else "the cluster"
    for problem in _user_problems(selection.user):
        raise ClusterError(f"{who} cannot be used: {problem}")
    for problem in _cluster_problems(selection.cluster):
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
            yield "an auth-provider and an exec plugin do not go together"
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


def _cluster_problems(cluster: Cluster) -> Iterator[str]:
    if cluster.certificate_authority and cluster.certificate_authority_data:
        yield "it has both certificate-authority and certificate-authority-data; drop one"
    if cluster.proxy_url and cluster.proxy_url.partition("://")[0].lower() not in PROXY_SCHEMES:
        yield f"its proxy-url {without_login(cluster.proxy_url)!r} is no URL with http, https or socks5"

"""Chooses among a user's credentials, and refreshes the id-token of OpenID Connect when it has expired.

Source: client-go tools/clientcmd/client_config.go getUserIdentificationPartialConfig and transport/token_source.go
(v1.36): a token file beats a token, even one given by flag, and either beats a credential plugin, as a client
certificate does. plugin/pkg/client/auth/oidc/oidc.go.
"""

import base64
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast

from urllib3.exceptions import HTTPError

from kubectl_spread.cluster.access import kubeconfig
from kubectl_spread.cluster.access.exec_plugin import from_plugin
from kubectl_spread.cluster.net.credentials import Credentials, Issued, bearer
from kubectl_spread.cluster.net.tls import KeyPair
from kubectl_spread.errors import ClusterError

TOKEN_FILE_LIFE = timedelta(minutes=1)


def credentials_for(selection: kubeconfig.Selection, cluster: kubeconfig.Cluster) -> Credentials:
    """Return the user's credentials: the first of token, password, plugin and login flow.

    Raises:
        ClusterError: a file cannot be read, or a plugin or login flow failed.
    """
    user = selection.user
    key_pair = _key_pair(user, selection.user_name)
    if user.token_file:
        return Credentials(partial(_from_token_file, user, key_pair))
    if user.token or user.username or user.password:
        basic = f"Basic {base64.b64encode(f'{user.username}:{user.password}'.encode()).decode()}"
        issued = Issued(authorization=bearer(user.token) if user.token else basic, key_pair=key_pair)
        return Credentials(lambda: issued)
    if user.exec and not key_pair:
        return Credentials(partial(from_plugin, user.exec, cluster))
    if user.auth_provider:
        settings = dict(user.auth_provider.config)
        return Credentials(partial(from_login_flow, selection, settings, key_pair))
    # differs: for a user without credentials, kubectl asks for name and password at the terminal.
    return Credentials(lambda: Issued(key_pair=key_pair))


def _key_pair(user: kubeconfig.User, name: str) -> KeyPair | None:
    certificate = kubeconfig.read_file_or_data(user, "client_certificate")
    if not certificate:
        return None
    key = kubeconfig.read_file_or_data(user, "client_key")
    if not key:
        raise ClusterError(f'user "{name}" has a client certificate but no client-key')
    return KeyPair(certificate, key, f'user "{name}"' if name else "the command line")


def _from_token_file(user: kubeconfig.User, key_pair: KeyPair | None) -> Issued:
    """Return the token that the file has now; it may be replaced at any time."""
    token = ""
    try:
        token = Path(user.token_file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        if not user.token:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise ClusterError(f"unable to read tokenFile {user.token_file}: {reason}") from error
    if not (token or user.token):
        raise ClusterError(f"the tokenFile {user.token_file} is empty")
    expires = datetime.now(UTC) + TOKEN_FILE_LIFE
    return Issued(authorization=bearer(token or user.token), key_pair=key_pair, expires=expires)


REQUIRED = ("idp-issuer-url", "client-id")
# An id-token that expired long ago: the client does not refresh a missing one.
NO_TOKEN_YET = "_.eyJleHAiOjB9._"  # noqa: S105 - it opens nothing


def from_login_flow(selection: kubeconfig.Selection, settings: dict[str, str], key_pair: KeyPair | None) -> Issued:
    """Return the id-token of an OpenID Connect provider, refreshed when it has expired.

    A refresh replaces the tokens in the settings and in the kubeconfig.

    Raises:
        ClusterError: the settings are incomplete, or the refresh fails.
    """
    provider = cast("kubeconfig.AuthProvider", selection.user.auth_provider)
    if provider.name != "oidc":
        hint = "kubectl has none either since 1.26: use the exec credential plugin that took its place"
        raise ClusterError(f'no Auth Provider found for name "{provider.name}"', hint=hint)
    for setting in REQUIRED:
        if not settings.get(setting):
            raise ClusterError(f'the auth-provider of user "{selection.user_name}" must have {setting}')
    current = _refresh(selection.user_name, settings)
    if current != settings:
        settings.update(current)
        kubeconfig.save_auth_provider(cast("Path", selection.user_path), user=selection.user_name, settings=settings)
    return Issued(authorization=bearer(settings["id-token"]), key_pair=key_pair)


def _refresh(name: str, settings: Mapping[str, str]) -> dict[str, str]:
    import certifi
    from kubernetes.client import Configuration
    from kubernetes.config import ConfigException, kube_config

    client: Any = kube_config
    # Without these, the client fails or does not verify the provider's certificate.
    authority = ssl.get_default_verify_paths().cafile or certifi.where()
    defaults = {"id-token": NO_TOKEN_YET, "client-secret": "", "idp-certificate-authority": authority}
    complete = {**defaults, **settings}
    document = {
        "current-context": "",
        "contexts": [{"name": "", "context": {"cluster": "", "user": name}}],
        "clusters": [{"name": "", "cluster": {}}],
        "users": [{"name": name, "user": {"auth-provider": {"name": "oidc", "config": complete}}}],
    }
    try:
        client.KubeConfigLoader(document, config_base_path="").load_and_set(Configuration())
    except (ConfigException, client.oauthlib.oauth2.OAuth2Error, HTTPError, OSError, ValueError, KeyError) as error:
        message = f'cannot refresh the OpenID Connect token of user "{name}": {error}'
        raise ClusterError(message, hint="log in again") from error
    return {key: complete[key] for key in (*settings, "id-token")}

"""The login flow of OpenID Connect: an id-token, which the official client refreshes when it has expired.

Source: client-go plugin/pkg/client/auth/oidc/oidc.go (v1.36).
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from urllib3.exceptions import HTTPError

from kubectl_spread.cluster.access.kubeconfig import AuthProvider, Selection, save_auth_provider
from kubectl_spread.cluster.net.credentials import Issued, bearer
from kubectl_spread.cluster.net.tls import KeyPair
from kubectl_spread.errors import ClusterError

REQUIRED = ("idp-issuer-url", "client-id")
NO_TOKEN_YET = "_.eyJleHAiOjB9._"  # noqa: S105 - it opens nothing
"""An id-token that expired long ago: the client does not refresh a missing one."""


def from_login_flow(selection: Selection, settings: dict[str, str], key_pair: KeyPair | None) -> Issued:
    """Return the id-token of an OpenID Connect provider, refreshed when it has expired.

    A refresh replaces the tokens in the settings and in the kubeconfig.

    Raises:
        ClusterError: the settings are incomplete, or the refresh fails.
    """
    provider = cast("AuthProvider", selection.user.auth_provider)
    if provider.name != "oidc":
        raise ClusterError(
            f'no Auth Provider found for name "{provider.name}"',
            hint="kubectl has none either since 1.26: use the exec credential plugin that took its place",
        )
    for setting in REQUIRED:
        if not settings.get(setting):
            raise ClusterError(f'the auth-provider of user "{selection.user_name}" must have {setting}')
    current = _refresh(selection.user_name, settings)
    if current != settings:
        settings.update(current)
        save_auth_provider(cast("Path", selection.user_path), user=selection.user_name, settings=settings)
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
        raise ClusterError(
            f'cannot refresh the OpenID Connect token of user "{name}": {error}', hint="log in again"
        ) from error
    return {key: complete[key] for key in (*settings, "id-token")}

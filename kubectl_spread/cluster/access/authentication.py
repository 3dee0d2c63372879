"""Chooses among a user's credentials.

Source: client-go tools/clientcmd/client_config.go getUserIdentificationPartialConfig and transport/token_source.go
(v1.36): a token file beats a token, even one given by flag, and either beats a credential plugin, as a client
certificate does.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from kubectl_spread.cluster.access.exec_plugin import from_plugin
from kubectl_spread.cluster.access.kubeconfig import Cluster, Selection, User, read_file_or_data
from kubectl_spread.cluster.access.oidc import from_login_flow
from kubectl_spread.cluster.net.credentials import Credentials, Issued, bearer
from kubectl_spread.cluster.net.tls import KeyPair
from kubectl_spread.errors import ClusterError

TOKEN_FILE_LIFE = timedelta(minutes=1)


def credentials_for(selection: Selection, cluster: Cluster) -> Credentials:
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


def _key_pair(user: User, name: str) -> KeyPair | None:
    certificate = read_file_or_data(
        path=user.client_certificate, data=user.client_certificate_data, what="client-certificate"
    )
    if not certificate:
        return None
    key = read_file_or_data(path=user.client_key, data=user.client_key_data, what="client-key")
    if not key:
        raise ClusterError(f'user "{name}" has a client certificate but no client-key')
    return KeyPair(certificate, key, f'user "{name}"' if name else "the command line")


def _from_token_file(user: User, key_pair: KeyPair | None) -> Issued:
    """Return the token that the file has now; it may be replaced at any time."""
    token = ""
    try:
        token = Path(user.token_file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        if not user.token:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            raise ClusterError(f"unable to read tokenFile {user.token_file}: {reason}") from error
    if not (token or user.token):
        raise ClusterError(f"the tokenFile {user.token_file} is empty")
    expires = datetime.now(UTC) + TOKEN_FILE_LIFE
    return Issued(authorization=bearer(token or user.token), key_pair=key_pair, expires=expires)

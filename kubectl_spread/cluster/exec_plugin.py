"""Credential plugins: programs that print a token or a client certificate.

They are run by the official client, whose import takes longer than a small read and therefore waits for the first
plugin. Its ExecProvider is called directly: the loader above it logs a failure and goes on without credentials.

Source: client-go plugin/pkg/client/auth/exec/exec.go (v1.36), client.authentication.k8s.io/v1.
"""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO, cast

import msgspec

from kubectl_spread.cluster.credentials import Issued, bearer
from kubectl_spread.cluster.kubeconfig import Cluster, Exec, read_file_or_data
from kubectl_spread.cluster.tls import KeyPair
from kubectl_spread.errors import ClusterError
from kubectl_spread.objects.decoding import DecodeError, convert

EXTENSION = "client.authentication.k8s.io/exec"
"""The extension of a cluster that is meant for plugins."""


class _Status(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The status of an ExecCredential."""

    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


def from_plugin(plugin: Exec, cluster: Cluster, key_pair: KeyPair | None) -> Issued:
    """Return what the plugin prints.

    Source: the client's ExecProvider, called directly: its loader logs a plugin's failure and goes on without.
    """
    status = _run(plugin, cluster)
    if not status.token and not status.client_certificate_data:
        raise _plugin_error(plugin, "it gave neither a token nor a client certificate")
    if bool(status.client_certificate_data) != bool(status.client_key_data):
        raise _plugin_error(plugin, "it gave a client certificate or key, not both")
    if status.client_certificate_data:
        certificate, key = status.client_certificate_data.encode(), status.client_key_data.encode()
        key_pair = KeyPair(certificate, key, f"the credential plugin {plugin.command}")
    authorization = bearer(status.token) if status.token else ""
    return Issued(authorization=authorization, key_pair=key_pair, expires=status.expiration_timestamp)


def _run(plugin: Exec, cluster: Cluster) -> _Status:
    """Return the status that the plugin printed."""
    from kubernetes.config import ConfigException, exec_provider, kube_config

    client: Any = exec_provider
    node: Any = kube_config.ConfigNode
    provider = client.ExecProvider(node("exec", _exec_settings(plugin)), None, node("cluster", _cluster_info(cluster)))
    try:
        with _terminal(plugin):
            return convert(provider.run(), _Status)
    except OSError as error:
        raise _plugin_error(plugin, f"cannot run it: {error.strerror}") from error
    except AttributeError as error:  # the client strips a standard error that it did not capture
        raise _plugin_error(plugin, "it failed, for the reason it has just printed") from error
    except (ConfigException, DecodeError, TypeError) as error:
        raise _plugin_error(plugin, str(error).removeprefix("exec: ")) from error


def _plugin_error(plugin: Exec, reason: str) -> ClusterError:
    """Return the error of a plugin, with the hint that its kubeconfig has for those who lack it."""
    text = _without_controls(" ".join(reason.split()))
    hint = _without_controls(plugin.install_hint).strip()
    return ClusterError(f"getting credentials: exec plugin {plugin.command}: {text}", hint=hint)


def _without_controls(text: str) -> str:
    """Return the text without what would steer a terminal."""
    return "".join(character for character in text if character == "\n" or character.isprintable())


def _exec_settings(plugin: Exec) -> dict[str, Any]:
    """Return the plugin's settings as the client reads them."""
    return {
        "apiVersion": plugin.api_version,
        "command": plugin.command,
        "args": list(plugin.args),
        "env": [{"name": variable.name, "value": variable.value} for variable in plugin.env],
        "provideClusterInfo": plugin.provide_cluster_info,
    }


def _cluster_info(cluster: Cluster) -> dict[str, Any]:
    """Return what a plugin may know of the cluster, files embedded."""
    authority = read_file_or_data(
        path=cluster.certificate_authority, data=cluster.certificate_authority_data, what="certificate-authority"
    )
    config = next((held.extension for held in cluster.extensions if held.name == EXTENSION), None)
    info = {
        "server": cluster.server,
        "tls-server-name": cluster.tls_server_name,
        "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify,
        "certificate-authority-data": base64.b64encode(authority).decode(),
        "proxy-url": cluster.proxy_url,
        "config": config,
    }
    return {key: value for key, value in info.items() if value}


class _StandardOutput:
    """Answers the one question that the client asks of standard output."""

    def __init__(self, *, terminal: bool) -> None:
        self._terminal = terminal

    def isatty(self) -> bool:
        """Whether the plugin may speak to a person."""
        return self._terminal


@contextmanager
def _terminal(plugin: Exec) -> Iterator[None]:
    """Let the plugin speak to the person at the terminal, if there is one.

    The client goes by standard output, which says nothing: in front of a pager it is a pipe, while plugins prompt on
    standard error. Standard input goes to the plugin only when it is a terminal: it may be a manifest.
    """
    typing = _is_terminal(sys.stdin)
    if plugin.interactive_mode == "Always" and not typing:
        raise _plugin_error(plugin, "it cannot run without a terminal: standard input is not one")
    attended = plugin.interactive_mode != "Never" and _is_terminal(sys.stderr)
    kept = sys.stdin
    with Path(os.devnull).open(encoding="utf-8") as nothing:
        sys.stdin = kept if typing else nothing
        try:
            with redirect_stdout(cast("TextIO", _StandardOutput(terminal=attended))):
                yield
        finally:
            sys.stdin = kept


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is at the other end; Python has no stream at all for one that was closed before the start."""
    return stream is not None and stream.isatty()

"""Credential plugins: programs that print a token or a client certificate.

A plugin shares our standard error, where it may ask the user to open a browser. It gets our standard input only if that
is a terminal, because it may be a manifest.

Source: client-go plugin/pkg/client/auth/exec/exec.go (v1.36), client.authentication.k8s.io/v1.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
from datetime import datetime
from typing import Any

import msgspec

from kubectl_spread.cluster.access.kubeconfig import Cluster, Exec, read_file_or_data
from kubectl_spread.cluster.net.credentials import Issued, bearer
from kubectl_spread.cluster.net.tls import KeyPair
from kubectl_spread.errors import ClusterError
from kubectl_spread.objects.decoding import DecodeError, decode

EXTENSION = "client.authentication.k8s.io/exec"  # The name of the cluster extension for plugins


class _Status(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


class _ExecCredential(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None


def from_plugin(plugin: Exec, cluster: Cluster) -> Issued:
    """Return the credentials that the plugin prints.

    Raises:
        ClusterError: it cannot be run, failed, or printed no credentials.
    """
    status = _parse(plugin, _run(plugin, cluster))
    if not status.token and not status.client_certificate_data and not status.client_key_data:
        raise _plugin_error(plugin, "it returned neither a token nor a client certificate")
    if bool(status.client_certificate_data) != bool(status.client_key_data):
        raise _plugin_error(plugin, "it returned a client certificate or a key, but not both")
    key_pair = None
    if status.client_certificate_data:
        certificate, key = status.client_certificate_data.encode(), status.client_key_data.encode()
        key_pair = KeyPair(certificate, key, f"the credential plugin {plugin.command}")
    authorization = bearer(status.token) if status.token else ""
    return Issued(authorization=authorization, key_pair=key_pair, expires=status.expiration_timestamp)


def _run(plugin: Exec, cluster: Cluster) -> bytes:
    terminal = sys.stdin is not None and sys.stdin.isatty()  # Python has no stdin where it is closed
    if plugin.interactive_mode == "Always" and not terminal:
        raise _plugin_error(plugin, "it cannot run without a terminal: standard input is not one")
    interactive = terminal and plugin.interactive_mode != "Never"
    environment = {variable.name: variable.value for variable in plugin.env}
    spec: dict[str, Any] = {"interactive": interactive}
    if plugin.provide_cluster_info:
        spec["cluster"] = _cluster_info(cluster)
    info = {"kind": "ExecCredential", "apiVersion": plugin.api_version, "spec": spec}
    environment["KUBERNETES_EXEC_INFO"] = json.dumps(info)
    try:
        ended = subprocess.run(  # noqa: S603 the kubeconfig names the program
            [shutil.which(plugin.command) or plugin.command, *plugin.args],
            env=os.environ | environment,
            stdin=None if interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            check=False,
        )
    except FileNotFoundError as error:
        raise _plugin_error(plugin, "executable not found") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise _plugin_error(plugin, f"cannot run it: {reason}") from error
    if ended.returncode:
        raise _plugin_error(plugin, f"it failed with exit code {ended.returncode}")
    return ended.stdout


def _parse(plugin: Exec, printed: bytes) -> _Status:
    try:
        credential = decode(printed, _ExecCredential)
    except DecodeError as error:
        raise _plugin_error(plugin, f"its output is not an ExecCredential: {error}") from error
    if credential.api_version != plugin.api_version or credential.kind != "ExecCredential":
        found = f'kind "{credential.kind}" of version "{credential.api_version}"'
        raise _plugin_error(plugin, f'it was asked for an ExecCredential of "{plugin.api_version}" and gave {found}')
    return credential.status or _Status()


def _plugin_error(plugin: Exec, reason: str) -> ClusterError:
    text, hint = (
        "".join(character for character in written if character == "\n" or character.isprintable())
        for written in (" ".join(reason.split()), plugin.install_hint)
    )
    return ClusterError(f"getting credentials: exec plugin {plugin.command}: {text}", hint=hint.strip())


def _cluster_info(cluster: Cluster) -> dict[str, Any]:
    authority = read_file_or_data(cluster, "certificate_authority")
    config = next((held.extension for held in cluster.extensions if held.name == EXTENSION), None)
    info = {
        "server": cluster.server,
        "tls-server-name": cluster.tls_server_name,
        "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify,
        "certificate-authority-data": base64.b64encode(authority).decode(),
        "proxy-url": cluster.proxy_url,
        "disable-compression": cluster.disable_compression,
    }
    return {key: value for key, value in info.items() if value} | {"config": config}

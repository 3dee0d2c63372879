"""What the kubeconfigs of `connections` name: certificates, tokens, credential plugins, and a Pod's ServiceAccount."""

# ruff: noqa: S106 the tokens of these tests open nothing

import base64
import json
import os
import string
import time
from collections.abc import Mapping
from pathlib import Path

import trustme

from tests.controlplane.cluster import ControlPlane
from tests.e2e.connections import ALICE, BOB, CAROL, Case

_CREDENTIAL = "client.authentication.k8s.io"
_PAST = "2020-01-01T00:00:00Z"


def _credential(version: str = "v1", **status: str) -> str:
    """Return what a plugin prints."""
    return json.dumps({"apiVersion": f"{_CREDENTIAL}/{version}", "kind": "ExecCredential", "status": status})


def _printing(answer: str) -> str:
    """Return the shell command that prints it; variables in it are the shell's."""
    return f"cat <<EOF\n{answer}\nEOF"


SCRIPTS: Mapping[str, str] = {
    # Called with "--as alic" and SUFFIX=e it is alice.
    "login": f'name=${{2:-bob}}; [ "$1" = --as ] && name=alic$SUFFIX\n{_printing(_credential(token="token-of-$name"))}',
    "old": _printing(_credential("v1beta1", token=BOB.token)),
    "slow": f"sleep ${{PAUSE:-1}}\n{_printing(_credential(token=BOB.token))}",
    "fail": "echo no ticket >&2; exit 3",
    "garbage": "echo hello",
    "nothing": "true",
    "empty-handed": _printing(_credential()),
    "keyless": _printing(_credential(clientCertificateData="-----BEGIN CERTIFICATE-----")),
    "certify": 'cat "${0%/*}/certificate.json"',
    "ask": (
        "printf 'Token: ' >&2; read -r token || { echo nobody >&2; exit 4; }\n"
        f"{_printing(_credential(token='$token'))}"
    ),
    # The first time it gives what is of no use any more.
    "expired": (
        f'[ -e "$STATE" ] || {{ touch "$STATE"; {_printing(_credential(token="gone", expirationTimestamp=_PAST))}\n'
        f"exit; }}\n{_printing(_credential(token=BOB.token))}"
    ),
    "renew": (
        f'[ -e "$STATE" ] || {{ touch "$STATE"; {_printing(_credential(token="gone"))}\n'
        f"exit; }}\n{_printing(_credential(token=BOB.token))}"
    ),
    "informed": (
        r"""user=$(printf %s "$KUBERNETES_EXEC_INFO" | sed -n 's/.*"config": *{"user": *"\([a-z]*\)".*/\1/p')"""
        f"\n{_printing(_credential(token='token-of-$user'))}"
    ),
    "tell": f'printf %s "$KUBERNETES_EXEC_INFO" > "$STATE"\n{_printing(_credential(token=ALICE.token))}',
}
"""Name → the shell commands of a credential plugin."""

# What stands before a command. A mount of its own hides what else there may be of a Pod.
_IN_POD = """
mount -t tmpfs none /run && mkdir -p /var/run/secrets/kubernetes.io &&
ln -s "$0" /var/run/secrets/kubernetes.io/serviceaccount && exec "$@"
"""


def in_pod(folder: Path) -> list[str]:
    """Return what to put before a command that is to find the folder's ServiceAccount where a Pod has it."""
    mounting = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _IN_POD]
    return [*mounting, str(folder / "serviceaccount")]


def without_override() -> list[str]:
    """Return what to put before a command that is to be held to the modes of files."""
    if os.getuid():
        return []
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]


class Authorities:
    """Who vouches for whom: the API server believes the clients of one, and nobody the other."""

    def __init__(self) -> None:
        self.clients = trustme.CA()
        self.strangers = trustme.CA()
        self.carol = _client(self.clients, CAROL, "ops")
        self.stranger = _client(self.strangers, CAROL, "ops")


def _client(authority: trustme.CA, name: str, group: str) -> trustme.LeafCert:
    """Return a client certificate."""
    return authority.issue_cert(f"{name}@example.com", common_name=name, organization_name=group)


def _certificate(leaf: trustme.LeafCert) -> bytes:
    """Return the certificate with all that leads to its authority."""
    return b"".join(pem.bytes() for pem in leaf.cert_chain_pems)


def embedded(content: bytes) -> str:
    """Return the content as a kubeconfig embeds it."""
    return base64.b64encode(content).decode()


def expired_token() -> str:
    """Return an id-token that has expired; nobody looks at its signature before that."""
    parts = ({"alg": "RS256"}, {"sub": "robot", "exp": int(time.time()) - 60})
    return ".".join(
        [*(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts), "x"]
    )


def values(plane: ControlPlane, authorities: Authorities) -> dict[str, str]:
    """Return what the variables of a case stand for, as far as that does not depend on the case."""
    carol, stranger = authorities.carol, authorities.stranger
    return {
        "MAIN": plane.server,
        "MAIN_PORT": plane.server.rpartition(":")[2],
        "CA": embedded(plane.certificate_authority.read_bytes()),
        "OTHER_CA": embedded(authorities.strangers.cert_pem.bytes()),
        "CAROL_CRT": embedded(_certificate(carol)),
        "CAROL_KEY": embedded(carol.private_key_pem.bytes()),
        "STRANGER_CRT": embedded(_certificate(stranger)),
        "STRANGER_KEY": embedded(stranger.private_key_pem.bytes()),
        "EXPIRED": expired_token(),
    }


def write_files(folder: Path, *, plane: ControlPlane, authorities: Authorities, token: str) -> None:
    """Write what kubeconfigs may name, a Pod's ServiceAccount with the token among it."""
    carol, authority = authorities.carol, plane.certificate_authority.read_bytes()
    certified = _credential(
        clientCertificateData=_certificate(carol).decode(), clientKeyData=carol.private_key_pem.bytes().decode()
    )
    contents: Mapping[str, str | bytes] = {
        "ca.crt": authority,
        "other.crt": authorities.strangers.cert_pem.bytes(),
        "carol.crt": _certificate(carol),
        "carol.key": carol.private_key_pem.bytes(),
        "other.key": authorities.stranger.private_key_pem.bytes(),
        "alice.token": f"{ALICE.token}\n",
        "empty": " \n",
        "certificate.json": certified,
        "serviceaccount/token": token,
        "serviceaccount/ca.crt": authority,
        "serviceaccount/namespace": "bank\n",
        **{name: f"#!/bin/sh\n{commands}\n" for name, commands in SCRIPTS.items()},
    }
    for name, content in contents.items():
        _write(folder / name, content.encode() if isinstance(content, str) else content)
    for name in SCRIPTS:
        (folder / name).chmod(0o700)


def write_case(case: Case, folder: Path, variables: Mapping[str, str]) -> None:
    """Write the kubeconfigs of a case."""
    for name, content in case.files.items():
        text = content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False)
        _write(folder / name, string.Template(text).safe_substitute(variables).encode())


def _write(path: Path, content: bytes) -> None:
    """Write a file, its folder included."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)

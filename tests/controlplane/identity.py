"""Who may call the API server: users with tokens, and the kubeconfig that holds one context for each."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class User:
    """A user known by a bearer token; RBAC decides what one without groups may do, which at first is nothing."""

    name: str
    groups: tuple[str, ...] = ()

    @property
    def token(self) -> str:
        """The bearer token, made of the name: the server listens on loopback for the length of a test."""
        return f"token-of-{self.name}"


ADMIN = User(name="admin", groups=("system:masters",))  # May do everything; the control plane's own components use it


def write_tokens(users: Sequence[User], path: Path) -> None:
    """Write the file of --token-auth-file: token, user, uid, groups."""
    path.write_text("".join(f'{user.token},{user.name},{user.name},"{",".join(user.groups)}"\n' for user in users))


def write_kubeconfig(path: Path, *, server: str, certificate_authority: Path, users: Sequence[User]) -> None:
    """Write a kubeconfig with a context for each user, named as the user; the first one is current."""
    cluster = {"server": server, "certificate-authority": str(certificate_authority)}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "loopback", "cluster": cluster}],
        "users": [{"name": user.name, "user": {"token": user.token}} for user in users],
        "contexts": [{"name": user.name, "context": {"cluster": "loopback", "user": user.name}} for user in users],
        "current-context": users[0].name,
    }
    path.write_text(json.dumps(config, indent=2))

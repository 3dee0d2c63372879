"""Reads kubeconfig files as kubectl does: which files count, how they merge, and what the context selects.

Of several files in KUBECONFIG, the first that sets current-context, or defines a name, wins. An explicit file is not
merged with others. Relative paths are relative to their file.

Source: client-go tools/clientcmd/loader.go, client_config.go and api/v1/types.go (v1.36).
"""

import base64
import binascii
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml
from msgspec.structs import replace

from kubectl_spread.cluster.files.sources import read_bounded
from kubectl_spread.cluster.files.yaml_values import YamlError, split
from kubectl_spread.errors import ClusterError, UnreadableError
from kubectl_spread.objects.decoding import DecodeError, convert

DEFAULT_PATH = "~/.kube/config"

T = TypeVar("T")
S = TypeVar("S", bound="_Section")


class _Section(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """A part of a kubeconfig; unused keys are skipped."""


class _Extension(_Section, frozen=True):
    name: str = ""
    extension: Any = None


class Cluster(_Section, frozen=True):
    """An API server's address and how to trust it."""

    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: tuple[_Extension, ...] = ()


class _EnvironmentVariable(_Section, frozen=True):
    name: str = ""
    value: str = ""


class Exec(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A program that prints credentials."""

    command: str = ""
    api_version: str = ""
    args: tuple[str, ...] = ()
    env: tuple[_EnvironmentVariable, ...] = ()
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class AuthProvider(_Section, frozen=True):
    """A login flow that is built into the client."""

    name: str = ""
    config: dict[str, str] = msgspec.field(default_factory=dict)


class User(_Section, frozen=True):
    """A user's credentials, and whom it impersonates."""

    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(name="tokenFile", default="")
    username: str = ""
    password: str = ""
    as_: str = msgspec.field(name="as", default="")
    as_uid: str = ""
    as_groups: tuple[str, ...] = ()
    as_user_extra: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    auth_provider: AuthProvider | None = None
    exec: Exec | None = None


class Context(_Section, frozen=True):
    """A cluster, a user and a namespace, by name."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""


class _Named(_Section, frozen=True):
    """An entry of one of the three lists."""

    name: str = ""
    cluster: Cluster = Cluster()
    user: User = User()
    context: Context = Context()


class _File(_Section, frozen=True):
    api_version: str = msgspec.field(name="apiVersion", default="")
    kind: str = ""
    current_context: str = ""
    clusters: tuple[_Named, ...] = ()
    users: tuple[_Named, ...] = ()
    contexts: tuple[_Named, ...] = ()


NO_CLUSTER = Cluster()
NOBODY = User()


class Kubeconfig(msgspec.Struct, frozen=True):
    """The merged files; everything is empty without a file."""

    paths: tuple[Path, ...]
    current_context: str  # the default context; empty when none is set
    contexts: Mapping[str, Context]
    clusters: Mapping[str, Cluster]  # name → cluster, with absolute paths
    users: Mapping[str, User]  # name → user, with absolute paths
    user_paths: Mapping[str, Path]  # name of a user → the file that defines it


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """What a context selects."""

    context: str = ""  # its name; empty when there is none
    current: bool = True  # whether kubectl without flags asks the same cluster
    namespace: str = ""  # the namespace it sets; empty when it sets none
    cluster: Cluster = NO_CLUSTER  # the cluster; without a server when none is selected
    cluster_name: str = ""  # the cluster's name; empty when the context names none
    user: User = NOBODY
    user_name: str = ""  # the user's name; empty when the context names none
    user_path: Path | None = None  # the file that defines the user, None without a user


def load(explicit: str = "") -> Kubeconfig:
    """Return kubectl's kubeconfig: the explicit file, else those of KUBECONFIG, else that of the home directory.

    Raises:
        ClusterError: a file cannot be read, is no kubeconfig, or was given explicitly and does not exist.
    """
    files = [(path, _read(path)) for path in _paths(explicit)]
    weakest_first = files[::-1]
    return Kubeconfig(
        paths=tuple(path for path, _ in files),
        current_context=next((file.current_context for _, file in files if file.current_context), ""),
        contexts={named.name: named.context for _, file in weakest_first for named in file.contexts},
        clusters={
            named.name: _located(named.cluster, path, ("certificate_authority",))
            for path, file in weakest_first
            for named in file.clusters
        },
        users={named.name: _located_user(named.user, path) for path, file in weakest_first for named in file.users},
        user_paths={named.name: path for path, file in weakest_first for named in file.users},
    )


def select(config: Kubeconfig, *, context: str = "", cluster: str = "", user: str = "") -> Selection:
    """Return what the context selects; a cluster or user given by name replaces the context's.

    Raises:
        ClusterError: one of the names does not exist.
    """
    name = context or config.current_context
    chosen = _named("context", name, config.contexts, default=Context())
    cluster_name, user_name = cluster or chosen.cluster, user or chosen.user
    return Selection(
        context=name,
        current=name == config.current_context and cluster_name == chosen.cluster,
        namespace=chosen.namespace,
        cluster=_named("cluster", cluster_name, config.clusters, default=NO_CLUSTER),
        cluster_name=cluster_name,
        user=_named("user", user_name, config.users, default=NOBODY),
        user_name=user_name,
        user_path=config.user_paths.get(user_name),
    )


def read_file_or_data(section: Cluster | User, field: str) -> bytes:
    """Return the embedded data (base64) of a field such as ``client_key``, else the content of its file.

    It is empty when there is neither.

    Raises:
        ClusterError: the file cannot be read, or the data is not base64.
    """
    path, data, what = getattr(section, field), getattr(section, f"{field}_data"), field.replace("_", "-")
    try:
        if data:
            return base64.b64decode("".join(data.split()), validate=True)
        return Path(path).read_bytes() if path else b""
    except OSError as error:
        raise ClusterError(f"unable to read {what} {path}: {error.strerror}") from error
    except binascii.Error as error:
        raise ClusterError(f"{what}-data is not base64: {error}") from error


def save_auth_provider(path: Path, *, user: str, settings: Mapping[str, str]) -> None:
    """Write the settings of a user's auth provider to its file, as kubectl does after a refresh.

    An identity provider may accept a refresh token only once, so kubectl could not log in without the new one.

    Raises:
        ClusterError: the file cannot be written.
    """
    document = _parse(path)
    for named in document["users"]:
        if named["name"] == user:
            named["user"]["auth-provider"]["config"] = dict(settings)
    target = path.resolve()
    beside = target.with_name(f"{target.name}.new")
    try:
        beside.touch(mode=0o600)
        beside.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
        beside.replace(target)
    except OSError as error:
        raise ClusterError(f"cannot save the refreshed token of user {user!r} in {path}: {error.strerror}") from error


def _paths(explicit: str) -> list[Path]:
    """Return the files to read, the one that wins first; only an explicit one must exist."""
    if explicit:
        return [Path(explicit)]
    listed = os.environ.get("KUBECONFIG", "") or str(Path(DEFAULT_PATH).expanduser())
    # Path.exists raises where a name is too long or its directory cannot be read.
    return [Path(name) for name in dict.fromkeys(listed.split(os.pathsep)) if name and os.path.exists(name)]  # noqa: PTH110 - as the line above says


def _read(path: Path) -> _File:
    try:
        file = convert(_parse(path), _File)
    except DecodeError as error:
        raise ClusterError(f'error loading config file "{path}": {error}') from error
    for problem in _find_problems(file):
        raise ClusterError(f'error loading config file "{path}": {problem}')
    return file


def _find_problems(file: _File) -> Iterator[str]:
    """Yield why a file is no kubeconfig. Source: client-go tools/clientcmd/api/v1/conversion.go."""
    if file.api_version not in ("", "v1") or file.kind not in ("", "Config"):
        yield f'it holds kind "{file.kind}" of version "{file.api_version}", not a Config of v1'
    for section in ("clusters", "users", "contexts"):
        names = Counter(each.name for each in getattr(file, section))
        yield from (f'duplicate name "{name}" in {section}' for name, times in names.items() if times > 1)


def _parse(path: Path) -> Any:  # noqa: ANN401 any YAML
    """Return the file's plain values; of an empty file, an empty mapping."""
    try:
        with path.open("rb") as file:
            document = next(split(read_bounded(file).decode()), None)
        values = document.values() if document else None
    except OSError as error:
        raise ClusterError(f'error loading config file "{path}": {error.strerror}') from error
    except (UnreadableError, YamlError, UnicodeDecodeError) as error:
        raise ClusterError(f'error loading config file "{path}": {error}') from error
    return {} if values is None else values


def _located_user(user: User, path: Path) -> User:
    located = _located(user, path, ("client_certificate", "client_key", "token_file"))
    if user.exec is None or not os.path.dirname(user.exec.command):  # noqa: PTH120 pathlib drops the dot of ./plugin
        return located
    command = str(path.absolute().parent / user.exec.command)
    return replace(located, exec=replace(user.exec, command=command))


def _located(section: S, path: Path, fields: tuple[str, ...]) -> S:
    folder = path.absolute().parent
    return replace(
        section, **{field: str(folder / getattr(section, field)) for field in fields if getattr(section, field)}
    )


def _named(what: str, name: str, known: Mapping[str, T], *, default: T) -> T:
    if name and name not in known:
        names = ", ".join(sorted(known)) or "none"
        raise ClusterError(f'{what} "{name}" does not exist', hint=f"the kubeconfig has these {what}s: {names}")
    return known.get(name, default)

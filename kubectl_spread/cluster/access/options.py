"""kubectl's connection flags, and how they override a kubeconfig.

Source: cli-runtime genericclioptions/config_flags.go, client-go tools/clientcmd/client_config.go (v1.36).
"""

import re
from collections.abc import Iterator, Mapping
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from kubectl_spread.cluster.access.kubeconfig import Selection
from kubectl_spread.cluster.net.proxy import without_login
from kubectl_spread.errors import UsageError

SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
LONGEST_SECONDS = 2**63 / 1e9  # Go counts a duration in nanoseconds, in 64 bits
# 25 days. A socket counts its timeout in milliseconds, in 32 bits; a longer one is no limit.
ENDLESS_SECONDS = 2**31 / 1000

# Possessive quantifiers: backtracking over thousands of digits would take too long.
_GO_DURATION = re.compile(r"[+-]?(?:(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:ns|us|µs|ms|s|m|h))++")

_NAMES = (
    *("kubeconfig", "context", "cluster", "user", "server", "tls_server_name", "insecure_skip_tls_verify"),
    *("certificate_authority", "client_certificate", "client_key", "username", "as_", "as_uid"),
)
# Field → flag that printed commands carry; the name of a file is no secret.
CARRIED: Mapping[str, str] = {
    **{name: f"--{name.rstrip('_').replace('_', '-')}" for name in _NAMES},
    "as_groups": "--as-group",
    "as_user_extra": "--as-user-extra",
}

# Fields that override those of the same name of the kubeconfig's user.
OF_USER = ("token", "username", "password", "client_certificate", "client_key", "as_", "as_uid", "as_groups")

T = TypeVar("T", bound=msgspec.Struct)


class ConnectionOptions(msgspec.Struct, frozen=True, kw_only=True):
    """kubectl's connection flags; an empty value means not given. ``cache_dir`` is accepted and not used."""

    kubeconfig: str = ""
    context: str = ""
    cluster: str = ""
    user: str = ""
    namespace: str = ""
    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    client_certificate: str = ""
    client_key: str = ""
    token: str = ""
    username: str = ""
    password: str = ""
    as_: str = ""
    as_uid: str = ""
    as_groups: tuple[str, ...] = ()
    as_user_extra: tuple[str, ...] = ()
    request_timeout: str = "0"
    cache_dir: str = ""
    disable_compression: bool = False


def connection_flags(options: ConnectionOptions) -> Iterator[str]:
    """Yield the flags, without secrets, with which kubectl reaches the same cluster as the same user; word by word."""
    for field, flag in CARRIED.items():
        value = getattr(options, field)
        if isinstance(value, bool):
            yield from [flag] * value
        else:
            for each in (value,) if isinstance(value, str) else value:
                yield from (flag, without_login(each) if field == "server" else each) if each else ()


def secret_flags(options: ConnectionOptions) -> tuple[str, ...]:
    """Return the names of the given flags whose values are secret."""
    return tuple(f"--{name}" for name in ("token", "password") if getattr(options, name))


def parse_timeout(text: str) -> float | None:
    """Return the seconds of ``--request-timeout``; None for no limit.

    Raises:
        UsageError: it is neither a number of seconds nor a number with a unit.

    Source: client-go tools/clientcmd/config.go ParseTimeout, Go time.ParseDuration.
    """
    seconds = None
    if re.fullmatch(r"[+-]?[0-9]+", text):
        seconds = float(text)
    elif _GO_DURATION.fullmatch(text):
        parts = re.findall(r"([0-9.]+)([a-zµ]+)", text)
        seconds = sum(float(number) * SECONDS[unit] for number, unit in parts) * (-1 if text[0] == "-" else 1)
    if seconds is None or seconds > LONGEST_SECONDS:
        hint = "want a number of seconds, or a number with a unit (1s, 2m, 3h)"
        raise UsageError(f"invalid timeout value {text!r}", hint=hint)
    return seconds if 0 < seconds < ENDLESS_SECONDS else None


def apply_flags(selection: Selection, options: ConnectionOptions) -> Selection:
    """Return the selection with the values of the flags."""
    cluster, user = selection.cluster, selection.user
    if options.server or options.tls_server_name:
        cluster = replace(cluster, tls_server_name=options.tls_server_name)
    if options.insecure_skip_tls_verify or options.certificate_authority:
        cluster = replace(
            cluster,
            insecure_skip_tls_verify=options.insecure_skip_tls_verify,
            certificate_authority=options.certificate_authority,
            certificate_authority_data="",
        )
    if options.client_certificate:
        user = replace(user, client_certificate_data="")
    if options.client_key:
        user = replace(user, client_key_data="")
    values: dict[str, tuple[str, ...]] = {}
    for pair in options.as_user_extra:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise UsageError(f"invalid --as-user-extra {pair!r}", hint="want key=value")
        values[key] = (*values.get(key, ()), value)
    given = {field: getattr(options, field) for field in OF_USER}
    user = _with(user, **given, as_user_extra={**user.as_user_extra, **values})
    cluster = _with(cluster, server=options.server, disable_compression=options.disable_compression)
    return replace(selection, cluster=cluster, user=user)


def _with(section: T, **fields: object) -> T:
    return replace(section, **{name: value for name, value in fields.items() if value})

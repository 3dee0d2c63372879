"""Connection flags: their values, and what they replace."""

# ruff: noqa: S106 the passwords of these tests open nothing

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_spread.cluster.access.kubeconfig import Cluster, Selection, User
from kubectl_spread.cluster.access.options import (
    ConnectionOptions,
    apply_flags,
    connection_flags,
    parse_timeout,
    secret_flags,
)
from kubectl_spread.errors import UsageError

CLUSTER = Cluster(
    server="https://kubeconfig",
    tls_server_name="kubeconfig",
    certificate_authority="/kubeconfig",
    certificate_authority_data="data",
)
USER = User(
    token="token",
    token_file="/token",
    client_certificate_data="data",
    client_key_data="data",
    as_="somebody",
    as_groups=("old",),
    as_user_extra={"old": ("1",)},
)


def overridden_by(**flags: object) -> tuple[Cluster, User]:
    options = ConnectionOptions(**flags)  # type: ignore[arg-type] # a typo fails the test
    selection = apply_flags(Selection(cluster=CLUSTER, user=USER), options)
    return selection.cluster, selection.user


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", None),
        ("0s", None),
        ("-1s", None),
        ("-5", None),
        ("5", 5.0),
        ("1s", 1.0),
        ("2m", 120.0),
        ("1h30m", 5400.0),
        ("1.5s", 1.5),
        (".5s", 0.5),
        ("500ms", 0.5),
        ("250us", 0.00025),
        ("500h", 1.8e6),
        ("1000h", None),
        ("9000000000", None),
    ],
)
def test_timeouts_are_read_as_go_does(text: str, seconds: float | None) -> None:
    assert parse_timeout(text) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5x",
        "s",
        "1d",
        "five",
        "1 s",
        "1.5",
        "9" * 400,
        "9" * 400 + "h",
        "9s" * 9000 + "9" * 9000 + "d",
        "1e9s",
        "\u0663",
        "\u0663s",
    ],
)
def test_a_malformed_timeout_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="invalid timeout value"):
        parse_timeout(text)


@pytest.mark.parametrize(
    ("flags", "cluster", "user"),
    [
        ({}, {}, {}),
        ({"server": "https://flag"}, {"server": "https://flag", "tls_server_name": ""}, {}),
        ({"server": "a", "tls_server_name": "flag"}, {"server": "a", "tls_server_name": "flag"}, {}),
        (
            {"certificate_authority": "/flag"},
            {"certificate_authority": "/flag", "certificate_authority_data": "", "insecure_skip_tls_verify": False},
            {},
        ),
        (
            {"insecure_skip_tls_verify": True},
            {"certificate_authority": "", "certificate_authority_data": "", "insecure_skip_tls_verify": True},
            {},
        ),
        ({"disable_compression": True}, {"disable_compression": True}, {}),
        ({"token": "flag"}, {}, {"token": "flag"}),
        ({"client_certificate": "/c"}, {}, {"client_certificate": "/c", "client_certificate_data": ""}),
        ({"client_key": "/k"}, {}, {"client_key": "/k", "client_key_data": ""}),
        ({"as_": "jane", "as_uid": "7"}, {}, {"as_": "jane", "as_uid": "7"}),
        ({"as_groups": ("a", "b")}, {}, {"as_groups": ("a", "b")}),
        (
            {"as_user_extra": ("k=1", "k=2", "x=y=z", "e=")},
            {},
            {"as_user_extra": {"old": ("1",), "k": ("1", "2"), "x": ("y=z",), "e": ("",)}},
        ),
        ({"as_user_extra": ("old=2",)}, {}, {"as_user_extra": {"old": ("2",)}}),
        ({"username": "jane", "password": "secret"}, {}, {"username": "jane", "password": "secret"}),
    ],
    ids=str,
)
def test_what_flags_replace(flags: dict[str, object], cluster: dict[str, object], user: dict[str, object]) -> None:
    assert overridden_by(**flags) == (replace(CLUSTER, **cluster), replace(USER, **user))


@pytest.mark.parametrize("pair", ["novalue", "=value", ""])
def test_a_malformed_extra_is_a_usage_error(pair: str) -> None:
    with pytest.raises(UsageError, match="invalid --as-user-extra"):
        overridden_by(as_="jane", as_user_extra=(pair,))


def test_the_flags_that_were_given_lead_kubectl_there_without_secrets() -> None:
    options = ConnectionOptions(
        kubeconfig="my config",
        context="prod",
        namespace="shop",
        server="https://me:secret@10.0.0.1",
        insecure_skip_tls_verify=True,
        token="secret",
        username="me",
        password="secret",
        as_="admin",
        as_groups=("a", "b"),
        request_timeout="5s",
    )
    assert [*connection_flags(options)] == [
        *("--kubeconfig", "my config", "--context", "prod", "--server", "https://10.0.0.1"),
        *("--insecure-skip-tls-verify", "--username", "me", "--as", "admin", "--as-group", "a", "--as-group", "b"),
    ]
    assert secret_flags(options) == ("--token", "--password")
    assert ([*connection_flags(ConnectionOptions())], secret_flags(ConnectionOptions())) == ([], ())


def test_every_flag_is_carried_or_known_not_to_choose_the_cluster() -> None:
    secret = {"token", "password"}
    # Commands name the namespace themselves.
    others = {"namespace", "request_timeout", "cache_dir", "disable_compression"}
    names = [name for name in ConnectionOptions.__struct_fields__ if name not in secret | others]
    switches = {"insecure_skip_tls_verify": True, "as_groups": ("x",), "as_user_extra": ("x",)}
    for name in names:
        options = ConnectionOptions(**{name: switches.get(name, "x")})  # type: ignore[arg-type] # as its type is
        assert next(connection_flags(options)).startswith("--" + name.strip("_").replace("_", "-").removesuffix("s"))

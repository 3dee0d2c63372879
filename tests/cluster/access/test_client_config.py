"""Where a connection leads, who asks and in whose name."""

# ruff: noqa: S106 the passwords of these tests open nothing

from __future__ import annotations

import base64
import builtins
import os
import ssl
from collections.abc import Mapping
from pathlib import Path

import pytest
import trustme

from kubectl_spread.cluster.access.client_config import connect
from kubectl_spread.cluster.access.options import ConnectionOptions
from kubectl_spread.cluster.net.connection import Connection
from kubectl_spread.cluster.net.transport import Request, fetch
from kubectl_spread.errors import ClusterError, SpreadError, UsageError
from tests.cluster.api_server import ApiServer, Response, Seen, serving, status
from tests.cluster.conftest import Connect
from tests.cluster.kubeconfigs import write_kubeconfig

PLUGIN = {"apiVersion": "client.authentication.k8s.io/v1", "command": "login", "interactiveMode": "Never"}
VERSION = Request(path="/version", what="get the version")


def failure(**flags: object) -> SpreadError:
    """Return the error that these flags end in."""
    with pytest.raises(SpreadError) as caught:
        connect(ConnectionOptions(**flags))  # type: ignore[arg-type] # a typo fails the test
    return caught.value


def asked(connection: Connection, server: ApiServer) -> Seen:
    """Return a request as the server sees it."""
    fetch(connection, VERSION)
    return server.seen[-1]


def encoded(pem: bytes) -> str:
    return base64.b64encode(pem).decode()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config"


@pytest.fixture
def trusted(tls_server: ApiServer, authority_pem: bytes) -> Mapping[str, object]:
    """Return what a kubeconfig says of the TLS server beside its URL."""
    assert tls_server.url.startswith("https:")
    return {"certificate-authority-data": encoded(authority_pem)}


@pytest.fixture
def client(authority: trustme.CA) -> trustme.LeafCert:
    """Return a client certificate for the user jane."""
    return authority.issue_cert(common_name="jane")


# Where it leads


def test_without_kubeconfig_the_error_says_what_to_set() -> None:
    error = failure()
    assert error.message == "no cluster is configured: there is no kubeconfig at ~/.kube/config"
    assert error.hint == "set KUBECONFIG, or use --kubeconfig or --server"


def test_a_kubeconfig_variable_that_leads_nowhere_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/no/such/file")
    assert failure().message == "no cluster is configured: there is no kubeconfig at /no/such/file"


def test_without_current_context_the_error_lists_the_contexts(config: Path) -> None:
    write_kubeconfig(config, current=False)
    error = failure(kubeconfig=str(config))
    assert error.message == f"no cluster is configured: current-context is not set in {config}"
    assert error.hint == "use --context, or run kubectl config use-context NAME; contexts: main"


def test_a_file_without_contexts_says_so(config: Path) -> None:
    config.write_text("{}")
    assert failure(kubeconfig=str(config)).hint.endswith("contexts: none")


def test_a_context_without_server_is_an_error(config: Path) -> None:
    write_kubeconfig(config, server="")
    assert failure(kubeconfig=str(config)).message == 'no cluster is configured: context "main" has no server'


def test_a_server_is_enough(server: ApiServer, connecting: Connect) -> None:
    connection = connecting(server=server.url)
    assert (connection.context, connection.namespace, connection.timeout) == ("", "default", None)
    assert asked(connection, server).path == "/version"


def test_the_context_leads_to_server_and_namespace(server: ApiServer, connecting: Connect, config: Path) -> None:
    write_kubeconfig(config, server=server.url, namespace="shop")
    connection = connecting(kubeconfig=str(config), request_timeout="5s")
    assert (connection.server, connection.context, connection.namespace) == (server.url, "main", "shop")
    assert connection.timeout == 5


def test_flags_beat_the_context(server: ApiServer, connecting: Connect, config: Path) -> None:
    write_kubeconfig(config, namespace="shop")
    connection = connecting(kubeconfig=str(config), server=server.url, namespace="other")
    assert (connection.server, connection.namespace) == (server.url, "other")


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("api.example.com", "http://api.example.com"),
        ("api.example.com:8080", "http://api.example.com:8080"),
        ("https://api.example.com/", "https://api.example.com"),
        ("https://api.example.com/k8s/c-1//", "https://api.example.com/k8s/c-1"),
        ("https://user:secret@api.example.com:6443?x=y#z", "https://api.example.com:6443"),
        ("https://[fd00::1]:6443", "https://[fd00::1]:6443"),
    ],
)
def test_servers_are_completed(given: str, url: str, connecting: Connect) -> None:
    assert connecting(server=given).server == url


def test_a_server_without_scheme_is_asked_by_http_whatever_is_said_of_tls(
    server: ApiServer, trusted: Mapping[str, object], connecting: Connect, config: Path
) -> None:
    write_kubeconfig(config, cluster=trusted, user={"token": "abc"})
    seen = asked(connecting(kubeconfig=str(config), server=server.address), server)
    assert "authorization" not in seen.headers


@pytest.mark.parametrize(
    "given", ["ftp://api", "https://a b", "https://", "https://a:port", "https://[::1", "https://a:99999"]
)
def test_what_is_no_server_is_an_error(given: str) -> None:
    error = failure(server=given)
    assert isinstance(error, ClusterError)
    assert repr(given) in error.message


def test_without_a_kubeconfig_a_variable_may_name_the_server(
    connecting: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBERNETES_MASTER", "http://master:1")
    assert connecting().server == "http://master:1"
    assert connecting(server="http://flag:1").server == "http://flag:1"


# In a Pod


@pytest.fixture
def pod(tls_server: ApiServer, authority_pem: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the folder of the service account, beside which the server runs."""
    host, _, port = tls_server.address.partition(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    (folder / "token").write_text("pod-token\n")
    (folder / "ca.crt").write_bytes(authority_pem)
    (folder / "namespace").write_text("kube-system")
    return folder


@pytest.mark.usefixtures("pod")
def test_in_a_pod_its_service_account_asks(tls_server: ApiServer, connecting: Connect) -> None:
    connection = connecting()
    assert (connection.server, connection.namespace) == (tls_server.url, "kube-system")
    assert asked(connection, tls_server).header("Authorization") == "Bearer pod-token"


@pytest.mark.usefixtures("pod")
def test_in_a_pod_a_token_by_flag_asks(tls_server: ApiServer, connecting: Connect) -> None:
    assert asked(connecting(token="flag"), tls_server).header("Authorization") == "Bearer flag"


@pytest.mark.usefixtures("pod")
def test_in_a_pod_a_kubeconfig_comes_first_and_the_pods_namespace_last(connecting: Connect, config: Path) -> None:
    write_kubeconfig(config, server="https://kubeconfig")
    connection = connecting(kubeconfig=str(config))
    assert (connection.server, connection.namespace) == ("https://kubeconfig", "kube-system")
    write_kubeconfig(config, namespace="shop")
    assert connecting(kubeconfig=str(config)).namespace == "shop"


@pytest.mark.usefixtures("pod")
def test_in_a_pod_a_variable_beats_the_namespace_file(connecting: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POD_NAMESPACE", "from-variable")
    assert connecting().namespace == "from-variable"


def test_in_a_pod_files_may_be_missing(pod: Path, connecting: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    (pod / "ca.crt").unlink()
    (pod / "namespace").unlink()
    connection = connecting()
    assert connection.server.startswith("https://[fd00::1]:")
    assert connection.namespace == "default"
    (pod / "token").unlink()
    assert failure().message.startswith("no cluster is configured")


# Who asks


@pytest.mark.parametrize(
    ("user", "header"),
    [
        ({}, ""),
        ({"token": "abc"}, "Bearer abc"),
        ({"username": "jane", "password": "s:cret"}, f"Basic {encoded(b'jane:s:cret')}"),
        ({"password": "secret"}, f"Basic {encoded(b':secret')}"),
        ({"token": "abc", "exec": {**PLUGIN, "command": "never-run"}}, "Bearer abc"),
    ],
)
def test_static_credentials_are_sent(
    *,
    user: Mapping[str, object],
    header: str,
    tls_server: ApiServer,
    trusted: Mapping[str, object],
    connecting: Connect,
    config: Path,
) -> None:
    write_kubeconfig(config, server=tls_server.url, cluster=trusted, user=user)
    assert asked(connecting(kubeconfig=str(config)), tls_server).header("Authorization") == header


def test_static_credentials_need_no_import_of_the_client(
    tls_server: ApiServer,
    trusted: Mapping[str, object],
    connecting: Connect,
    config: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    imported = builtins.__import__

    def without_client(name: str, *args: object) -> object:
        assert not name.startswith("kubernetes"), "the client takes longer to import than a small read"
        return imported(name, *args)  # type: ignore[arg-type] # handed through

    monkeypatch.setattr(builtins, "__import__", without_client)
    write_kubeconfig(config, server=tls_server.url, cluster=trusted, user={"token": "abc"})
    asked(connecting(kubeconfig=str(config)), tls_server)


def test_credentials_are_never_sent_without_tls(server: ApiServer, connecting: Connect, config: Path) -> None:
    user = {"token": "abc", "as": "jane", "client-certificate": "/no/such/file"}
    write_kubeconfig(config, server=server.url, user=user)
    seen = asked(connecting(kubeconfig=str(config)), server)
    assert "authorization" not in seen.headers
    assert seen.header("Impersonate-User") == "jane"


def test_a_token_file_is_read_again_and_beats_a_token(
    tls_server: ApiServer, trusted: Mapping[str, object], connecting: Connect, config: Path
) -> None:
    token = config.parent / "token"
    token.write_text("first\n")
    write_kubeconfig(config, server=tls_server.url, cluster=trusted, user={"token": "fallback", "tokenFile": "token"})
    connection = connecting(kubeconfig=str(config))
    assert asked(connection, tls_server).header("Authorization") == "Bearer first"
    token.write_text("second\n")
    tls_server.answer = lambda seen: (
        Response(body={}) if seen.header("Authorization") == "Bearer second" else status(401, "Unauthorized")
    )
    assert asked(connection, tls_server).header("Authorization") == "Bearer second"
    token.unlink()
    connection = connecting(kubeconfig=str(config))
    assert connection.credentials.authorization() == "Bearer fallback"


def test_a_token_file_that_is_missing_is_named(config: Path) -> None:
    write_kubeconfig(config, user={"tokenFile": "gone"})
    assert failure(kubeconfig=str(config)).message.startswith(f"unable to read tokenFile {config.parent / 'gone'}: ")


@pytest.mark.parametrize("token", ["a\nb", "tökèn", "a\x00"])
def test_a_token_that_no_header_can_hold_is_an_error_that_does_not_show_it(token: str, config: Path) -> None:
    write_kubeconfig(config, user={"token": token})
    assert failure(kubeconfig=str(config)).message == "the bearer token contains characters that are not allowed"


def test_a_client_certificate_may_be_embedded(
    *, client: trustme.LeafCert, tls_server: ApiServer, trusted: Mapping[str, object], connecting: Connect, config: Path
) -> None:
    certificate = b"".join(pem.bytes() for pem in client.cert_chain_pems)
    user = {"client-certificate-data": encoded(certificate), "client-key-data": encoded(client.private_key_pem.bytes())}
    write_kubeconfig(config, server=tls_server.url, cluster=trusted, user=user)
    assert asked(connecting(kubeconfig=str(config)), tls_server).certificate == "jane"


def test_certificates_may_be_files_of_flags(
    client: trustme.LeafCert, tls_server: ApiServer, authority_pem: bytes, connecting: Connect, tmp_path: Path
) -> None:
    files = {
        "certificate_authority": authority_pem,
        "client_certificate": client.cert_chain_pems[0].bytes(),
        "client_key": client.private_key_pem.bytes(),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    flags = {name: str(tmp_path / name) for name in files}
    seen = asked(connecting(server=tls_server.url, token="abc", **flags), tls_server)
    assert (seen.certificate, seen.header("Authorization")) == ("jane", "Bearer abc")


@pytest.mark.parametrize("flag", ["certificate_authority", "client_certificate"])
def test_a_certificate_file_that_is_missing_is_named(flag: str) -> None:
    error = failure(server="https://a:1", **{flag: "/no/such.crt"})
    assert error.message == f"unable to read {flag.replace('_', '-')} /no/such.crt: No such file or directory"


def test_a_certificate_without_key_is_an_error(client: trustme.LeafCert, config: Path) -> None:
    user = {"client-certificate-data": encoded(client.cert_chain_pems[0].bytes())}
    write_kubeconfig(config, user=user)
    assert failure(kubeconfig=str(config)).message == 'user "main" has a client certificate but no client-key'


def test_a_key_of_another_certificate_is_an_error(
    client: trustme.LeafCert, authority: trustme.CA, config: Path
) -> None:
    user = {
        "client-certificate-data": encoded(client.cert_chain_pems[0].bytes()),
        "client-key-data": encoded(authority.issue_cert(common_name="joe").private_key_pem.bytes()),
    }
    write_kubeconfig(config, user=user)
    message = failure(kubeconfig=str(config)).message
    assert message.startswith('the client certificate and key of user "main" cannot be used: ')


def test_credentials_that_are_refused_are_those_of_the_context(
    tls_server: ApiServer, trusted: Mapping[str, object], connecting: Connect, config: Path
) -> None:
    tls_server.answer = lambda _: status(401, "Unauthorized")
    write_kubeconfig(config, server=tls_server.url, cluster=trusted, user={"token": "abc"})
    with pytest.raises(ClusterError) as caught:
        fetch(connecting(kubeconfig=str(config)), VERSION)
    assert caught.value.hint == 'the credentials of context "main" were refused: log in again'


# Whom to trust


def test_a_server_that_nobody_vouches_for_may_be_asked_on_demand(tls_server: ApiServer, connecting: Connect) -> None:
    assert asked(connecting(server=tls_server.url, insecure_skip_tls_verify=True), tls_server).path == "/version"


def test_an_authority_and_no_verification_do_not_go_together(trusted: Mapping[str, object], config: Path) -> None:
    write_kubeconfig(config, cluster={**trusted, "insecure-skip-tls-verify": True})
    message = "specifying a root certificates file with the insecure flag is not allowed"
    assert failure(kubeconfig=str(config)).message == message


def test_an_authority_that_is_no_certificate_is_an_error(config: Path) -> None:
    write_kubeconfig(config, cluster={"certificate-authority-data": encoded(b"nonsense")})
    assert failure(kubeconfig=str(config)).message.startswith("unable to load root certificates")


def test_the_certificate_may_be_for_another_name(
    tls_server: ApiServer, trusted: Mapping[str, object], connecting: Connect, config: Path
) -> None:
    url = tls_server.url.replace("127.0.0.1", "localhost")
    write_kubeconfig(config, server=url, cluster={**trusted, "tls-server-name": "api.example.com"})
    assert asked(connecting(kubeconfig=str(config)), tls_server).path == "/version"
    write_kubeconfig(config, server=url, cluster={**trusted, "tls-server-name": "other.example.com"})
    with pytest.raises(ClusterError, match="Hostname mismatch"):
        fetch(connecting(kubeconfig=str(config)), VERSION)


def test_a_servers_own_certificate_is_authority_enough(
    authority: trustme.CA, connecting: Connect, config: Path
) -> None:
    leaf = authority.issue_cert("127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    leaf.configure_cert(context)
    with serving(lambda _: Response(body={}), context) as server:
        trusted = {"certificate-authority-data": encoded(leaf.cert_chain_pems[0].bytes())}
        write_kubeconfig(config, server=server.url, cluster=trusted)
        assert asked(connecting(kubeconfig=str(config)), server).path == "/version"


# By way of whom


def test_a_proxy_is_asked_to_connect_with_its_own_password_only(
    server: ApiServer, connecting: Connect, config: Path
) -> None:
    proxy = f"http://user:pass@{server.address}"
    write_kubeconfig(config, server="http://api.example.com", cluster={"proxy-url": proxy})
    seen = asked(connecting(kubeconfig=str(config)), server)
    assert seen.header("Host") == "api.example.com"
    assert seen.header("Proxy-Authorization") == f"Basic {encoded(b'user:pass')}"


@pytest.mark.parametrize(
    ("proxy", "message"),
    [
        ("ftp://p:1", "cluster \"main\" cannot be used: its proxy-url 'ftp://p:1' is not an http, https or socks5 URL"),
        ("p:1", "cluster \"main\" cannot be used: its proxy-url 'p:1' is not an http, https or socks5 URL"),
        ("http://[", "the proxy 'http://[' cannot be used"),
        ("ftp://user:pass@p:1", "cluster \"main\" cannot be used: its proxy-url 'ftp://p:1' is not an http"),
        ("http://user:pass/word@bad host", "the proxy 'http://bad host' cannot be used"),
        ("http://user:pass@p:99999", "the proxy 'http://p:99999' cannot be used"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_an_error(proxy: str, message: str, config: Path) -> None:
    write_kubeconfig(config, cluster={"proxy-url": proxy})
    said = failure(kubeconfig=str(config)).message
    assert said.startswith(message)
    assert "pass" not in said


def test_a_socks_proxy_that_nobody_listens_at_is_named(connecting: Connect, config: Path) -> None:
    write_kubeconfig(config, server="https://api.example.com", cluster={"proxy-url": "socks5://127.0.0.1:1"})
    with pytest.raises(ClusterError, match=r"through its proxy: .*127\.0\.0\.1:1.* refused"):
        fetch(connecting(kubeconfig=str(config)), VERSION)


# What is refused at once


@pytest.mark.parametrize(
    ("user", "problem"),
    [
        ({"token": "t", "password": "p"}, "it has more than one authentication method"),
        ({"client-certificate": "c", "client-certificate-data": "Yw=="}, "it has both client-certificate and"),
        ({"client-certificate": "c", "client-key": "k", "client-key-data": "aw=="}, "it has both client-key and"),
        (
            {"exec": PLUGIN, "auth-provider": {"name": "oidc"}},
            "it has both an auth-provider and an exec plugin; drop one",
        ),
        ({"exec": {**PLUGIN, "command": ""}}, "its exec plugin has no command"),
        ({"exec": {**PLUGIN, "apiVersion": "v2"}}, 'its exec plugin login has an invalid apiVersion "v2"'),
        ({"exec": {**PLUGIN, "env": [{"value": "v"}]}}, "its exec plugin login has an env variable without a name"),
        ({"exec": {**PLUGIN, "interactiveMode": None}}, 'its exec plugin login has interactiveMode ""'),
        ({"exec": {**PLUGIN, "interactiveMode": "Maybe"}}, 'its exec plugin login has interactiveMode "Maybe"'),
    ],
)
def test_a_user_that_kubectl_refuses_is_refused(user: Mapping[str, object], problem: str, config: Path) -> None:
    write_kubeconfig(config, user=user)
    assert failure(kubeconfig=str(config)).message.startswith(f'user "main" cannot be used: {problem}')


def test_what_nobody_asks_for_may_be_broken(
    connecting: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = write_kubeconfig(tmp_path / "b", name="broken", user={"exec": {}}, cluster={"proxy-url": "ftp://p"})
    good = write_kubeconfig(tmp_path / "a", server="https://good")
    monkeypatch.setenv("KUBECONFIG", f"{good}{os.pathsep}{broken}")
    assert connecting().server == "https://good"
    assert failure(context="broken").message.startswith('user "broken" cannot be used')


def test_the_first_version_of_the_plugins_protocol_needs_no_mode(config: Path) -> None:
    plugin = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "no-such-login"}
    write_kubeconfig(config, user={"exec": plugin})
    assert failure(kubeconfig=str(config)).message.endswith("executable not found")


def test_an_authority_embedded_and_named_is_refused(config: Path) -> None:
    write_kubeconfig(config, cluster={"certificate-authority": "ca", "certificate-authority-data": "Y2E="})
    said = failure(kubeconfig=str(config)).message
    assert said == (
        'cluster "main" cannot be used: it has both certificate-authority and certificate-authority-data; drop one'
    )


def test_a_client_certificate_keeps_a_plugin_from_running(
    *, client: trustme.LeafCert, tls_server: ApiServer, trusted: Mapping[str, object], connecting: Connect, config: Path
) -> None:
    user = {
        "client-certificate-data": encoded(client.cert_chain_pems[0].bytes()),
        "client-key-data": encoded(client.private_key_pem.bytes()),
        "exec": {**PLUGIN, "command": "never-run"},
    }
    write_kubeconfig(config, server=tls_server.url, cluster=trusted, user=user)
    assert asked(connecting(kubeconfig=str(config)), tls_server).certificate == "jane"


def test_an_empty_token_file_is_an_error_unless_there_is_a_token(connecting: Connect, config: Path) -> None:
    empty = config.parent / "token"
    empty.write_text(" \n")
    write_kubeconfig(config, user={"tokenFile": "token"})
    assert failure(kubeconfig=str(config)).message == f"the tokenFile {empty} is empty"
    write_kubeconfig(config, user={"tokenFile": "token", "token": "abc"})
    assert connecting(kubeconfig=str(config)).credentials.authorization() == "Bearer abc"


# In whose name


def test_nobody_is_impersonated_unasked(server: ApiServer, connection: Connection) -> None:
    assert not [name for name in asked(connection, server).headers if name.startswith("impersonate")]


def test_the_kubeconfig_may_ask_to_impersonate(server: ApiServer, connecting: Connect, config: Path) -> None:
    user = {
        "as": "jané",
        "as-uid": "7",
        "as-groups": ["a, b", "c"],
        "as-user-extra": {"example.com/Rôle%x": ["one", "two"]},
    }
    write_kubeconfig(config, server=server.url, user=user)
    headers = asked(connecting(kubeconfig=str(config)), server).headers
    assert [value.encode("latin-1").decode() for value in headers["impersonate-user"]] == ["jané"]
    assert headers["impersonate-uid"] == ["7"]
    assert headers["impersonate-group"] == ["a, b", "c"]
    assert headers["impersonate-extra-example.com%2fr%c3%b4le%25x"] == ["one", "two"]


def test_flags_may_ask_to_impersonate(server: ApiServer, connecting: Connect) -> None:
    flags = {"as_": "joe", "as_groups": ("g",), "as_user_extra": ("scope=dev",)}
    headers = asked(connecting(server=server.url, **flags), server).headers
    assert headers["impersonate-user"] == ["joe"]
    assert headers["impersonate-group"] == ["g"]
    assert headers["impersonate-extra-scope"] == ["dev"]
    assert "impersonate-uid" not in headers


@pytest.mark.parametrize("flags", [{"as_uid": "7"}, {"as_groups": ("g",)}, {"as_user_extra": ("a=b",)}])
def test_groups_without_a_user_are_an_error(flags: Mapping[str, object]) -> None:
    error = failure(server="http://a", **flags)
    assert isinstance(error, UsageError)
    assert error.message == "requesting uid, groups or user-extra without impersonating a user"


def test_a_name_that_would_break_out_of_its_header_is_an_error() -> None:
    assert isinstance(failure(server="http://a", as_="jane\r\nImpersonate-Group: system:masters"), UsageError)

"""Which proxy stands before a server."""

from __future__ import annotations

import pytest

from kubectl_spread.cluster.net.proxy import proxy_for, without_login


def test_without_settings_there_is_none() -> None:
    assert proxy_for("https://api.example.com", "") == ""


@pytest.mark.parametrize(
    ("variable", "server", "proxy"),
    [
        ("HTTPS_PROXY", "https://api.example.com", "http://p:1"),
        ("https_proxy", "https://api.example.com", "http://p:1"),
        ("HTTP_PROXY", "http://api.example.com", "http://p:1"),
        ("HTTP_PROXY", "https://api.example.com", ""),
        ("ALL_PROXY", "https://api.example.com", ""),
    ],
)
def test_the_environment_names_a_proxy_by_scheme(
    *, variable: str, server: str, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "http://p:1")
    assert proxy_for(server, "") == proxy


def test_capitals_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://capitals")
    monkeypatch.setenv("https_proxy", "http://small")
    assert proxy_for("https://api.example.com", "") == "http://capitals"


def test_a_proxy_without_scheme_speaks_http(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "p:3128")
    assert proxy_for("https://api.example.com", "") == "http://p:3128"


def test_the_kubeconfigs_proxy_beats_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://environment")
    monkeypatch.setenv("NO_PROXY", "*")
    assert proxy_for("https://127.0.0.1:6443", "http://kubeconfig") == "http://kubeconfig"


@pytest.mark.parametrize("server", ["https://localhost:6443", "https://127.0.0.9", "https://[::1]:6443"])
def test_this_machine_is_asked_directly(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://p:1")
    assert proxy_for(server, "") == ""


@pytest.mark.parametrize(
    ("no_proxy", "server", "direct"),
    [
        ("*", "https://api.example.com", True),
        ("example.com", "https://api.example.com", True),
        ("example.com", "https://example.com", True),
        ("EXAMPLE.com", "https://api.example.com", True),
        (".example.com", "https://api.example.com", True),
        (".example.com", "https://example.com", False),
        ("*.example.com", "https://api.example.com", True),
        ("ample.com", "https://example.com", False),
        ("other, ,example.com", "https://api.example.com", True),
        ("example.com:6443", "https://api.example.com:6443", True),
        ("example.com:6443", "https://api.example.com", False),
        ("example.com:443", "https://api.example.com", True),
        ("10.0.0.1", "https://10.0.0.1:6443", True),
        ("10.0.0.1:6443", "https://10.0.0.1:6443", True),
        ("10.0.0.1:443", "https://10.0.0.1:6443", False),
        ("10.0.0.2", "https://10.0.0.1", False),
        ("10.0.0.0/8", "https://10.1.2.3", True),
        ("10.0.0.0/8", "https://11.1.2.3", False),
        ("10.0.0.0/8", "https://ten.example.com", False),
        ("10.0.0.0/99", "https://10.1.2.3", False),
        ("fd00::1", "https://[fd00::1]:6443", True),
        ("[fd00::1]:6443", "https://[fd00::1]:6443", True),
        ("[fd00::1]", "https://[fd00::1]:6443", False),
    ],
)
def test_exceptions_are_read_as_go_does(
    *, no_proxy: str, server: str, direct: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://p:1")
    monkeypatch.setenv("NO_PROXY", no_proxy)
    assert (proxy_for(server, "") == "") is direct


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.com/a", "https://example.com/a"),
        ("https://me:s3cret@example.com:1/a?b#c", "https://example.com:1/a?b#c"),
        ("https://me@here:s3cret@example.com", "https://example.com"),
        ("https://me:s3cret@[fd00::1]:6443/a@b", "https://[fd00::1]:6443/a@b"),
        ("https://h/a@b/c", "https://h/a@b/c"),
        ("https://h?a=b@c", "https://h?a=b@c"),
        ("https://me:s3cret@h/a@b/c?to=https://d", "https://h/a@b/c?to=https://d"),
        ("h:80/a@b", "h:80/a@b"),
        ("", ""),
    ],
)
def test_a_url_is_shown_without_its_login(url: str, shown: str) -> None:
    assert without_login(url) == shown


@pytest.mark.parametrize(
    "url",
    [
        "me:s3cret@h",
        "me:s3cret://x@h",
        "https://me:s3cret/word@h",
        "https://me:s3cret?word@h",
        "https://me:s3cret#word@bad host",
        "https://me:s3cret\\word@h",
        "bad scheme://me:s3cret@h",
        "https://me:s3cret@[",
        "https://me:s3\ncret@h",
    ],
)
def test_however_malformed_a_url_is_its_password_is_not_shown(url: str) -> None:
    assert "cret" not in without_login(url)

"""Which kubeconfig files count, and what they say together."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
import yaml

from kubectl_spread.cluster.access.kubeconfig import User, load, read_file_or_data, save_auth_provider, select
from kubectl_spread.errors import ClusterError
from tests.cluster.kubeconfigs import write_kubeconfig


def listed(*files: Path) -> str:
    """Return the value of KUBECONFIG for these files."""
    return os.pathsep.join(map(str, files))


def test_without_any_file_everything_is_empty() -> None:
    config = load()
    assert config.paths == ()
    assert select(config).cluster.server == ""


def test_the_file_in_the_home_directory_is_the_default() -> None:
    write_kubeconfig(Path.home() / ".kube" / "config", server="https://home")
    assert select(load()).cluster.server == "https://home"


def test_the_first_current_context_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [
        write_kubeconfig(tmp_path / "none", name="n", server="https://n", current=False),
        write_kubeconfig(tmp_path / "a", name="a", server="https://a"),
        write_kubeconfig(tmp_path / "b", name="b", server="https://b"),
    ]
    monkeypatch.setenv("KUBECONFIG", listed(*files))
    selection = select(load())
    assert (selection.context, selection.cluster.server) == ("a", "https://a")
    assert select(load(), context="b").cluster.server == "https://b"


def test_the_first_definition_of_a_name_wins_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = write_kubeconfig(tmp_path / "a", server="https://a", current=False, user={"token": "ta"})
    second = write_kubeconfig(
        tmp_path / "b", server="https://b", namespace="nb", cluster={"tls-server-name": "nb"}, user={"as": "somebody"}
    )
    monkeypatch.setenv("KUBECONFIG", listed(first, second))
    selection = select(load())
    assert selection.cluster.server == "https://a"
    assert selection.cluster.tls_server_name == ""
    assert (selection.user.token, selection.user.as_) == ("ta", "")
    assert selection.namespace == ""
    assert selection.user_path == first


def test_missing_files_and_empty_entries_of_the_list_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_kubeconfig(tmp_path / "a")
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'gone'}{os.pathsep}{os.pathsep}{file}{os.pathsep}{file}")
    assert load().paths == (file,)


def test_an_explicit_file_is_not_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "a", name="a")))
    assert list(load(str(write_kubeconfig(tmp_path / "b", name="b"))).contexts) == ["b"]


def test_an_explicit_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r'error loading config file ".*/gone": No such file or directory'):
        load(str(tmp_path / "gone"))


def test_relative_paths_are_relative_to_their_own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = write_kubeconfig(tmp_path / "one" / "config", cluster={"certificate-authority": "pki/ca.crt"})
    user = {
        "client-certificate": "c.pem",
        "client-key": "/etc/k.pem",
        "tokenFile": "../token",
        "exec": {"apiVersion": "v1", "command": "./bin/login"},
    }
    two = write_kubeconfig(tmp_path / "two" / "config", name="two", user=user)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", listed(one.relative_to(tmp_path), two))
    selection = select(load(), user="two")
    assert selection.cluster.certificate_authority == str(tmp_path / "one/pki/ca.crt")
    assert selection.user.client_certificate == str(tmp_path / "two/c.pem")
    assert selection.user.client_key == "/etc/k.pem"
    assert selection.user.token_file == str(tmp_path / "two/../token")
    assert selection.user.exec is not None
    assert selection.user.exec.command == str(tmp_path / "two/bin/login")


def test_a_plugin_without_a_folder_is_looked_up_in_the_path(tmp_path: Path) -> None:
    user = {"exec": {"apiVersion": "v1", "command": "aws"}}
    selection = select(load(str(write_kubeconfig(tmp_path / "a", user=user))))
    assert selection.user.exec is not None
    assert selection.user.exec.command == "aws"


@pytest.mark.parametrize("what", ["context", "cluster", "user"])
def test_an_unknown_name_is_named_beside_the_known_ones(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = (write_kubeconfig(tmp_path / "b", name="bee"), write_kubeconfig(tmp_path / "a", name="ant"))
    monkeypatch.setenv("KUBECONFIG", listed(*files))
    with pytest.raises(ClusterError) as caught:
        select(load(), **{what: "nope"})
    assert caught.value.message == f'{what} "nope" does not exist'
    assert caught.value.hint == f"the kubeconfig has these {what}s: ant, bee"


def test_an_unknown_name_without_known_ones_says_so() -> None:
    with pytest.raises(ClusterError) as caught:
        select(load(), context="nope")
    assert caught.value.hint == "the kubeconfig has these contexts: none"


def test_a_current_context_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("current-context: gone\n")
    with pytest.raises(ClusterError, match='context "gone" does not exist'):
        select(load(str(file)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: b: c\n", "mapping values are not allowed"),
        ("[1, 2]\n", "must be a mapping"),
        ("contexts: {a: b}\n", "contexts: must be a list"),
        ("users: [{name: u, user: {token: 5}}]\n", r"users\[0\].user.token: must be a string"),
        ("users: [{name: u}, {name: u}]\n", 'duplicate name "u" in users'),
        ("kind: Pod\n", 'it holds kind "Pod" of version "", not a Config of v1'),
        ("apiVersion: v2\nkind: Config\n", 'it holds kind "Config" of version "v2"'),
        (b"\xff\xfe", "codec can't decode"),
    ],
)
def test_a_malformed_file_is_named_with_the_place(text: str | bytes, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "broken"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ClusterError, match=rf'error loading config file ".*/broken": .*{reason}'):
        load(str(file))


def test_a_folder_is_no_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path))
    with pytest.raises(ClusterError, match="Is a directory"):
        load()


def test_an_empty_file_is_an_empty_kubeconfig(tmp_path: Path) -> None:
    file = tmp_path / "empty"
    file.write_text("")
    config = load(str(file))
    assert (config.paths, config.contexts) == ((file,), {})


def test_nulls_and_unknown_keys_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("users: [{name: u, user: {exec: null, color: red, auth-provider: {name: gcp, config: null}}}]\n")
    selection = select(load(str(file)), user="u")
    assert selection.user.exec is None
    assert selection.user.auth_provider is not None
    assert selection.user.auth_provider.config == {}


def test_times_stay_text(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("users: [{name: u, user: {auth-provider: {name: x, config: {expiry: 2020-01-01T00:00:00Z}}}}]\n")
    provider = select(load(str(file)), user="u").user.auth_provider
    assert provider is not None
    assert provider.config == {"expiry": "2020-01-01T00:00:00Z"}


def test_embedded_data_beats_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("from the file")
    both = User(client_key=str(file), client_key_data="ZnJvbSB0\naGUgZGF0YQ==")
    assert read_file_or_data(both, "client_key") == b"from the data"
    assert read_file_or_data(User(client_key=str(file)), "client_key") == b"from the file"
    assert read_file_or_data(User(), "client_key") == b""


def test_data_that_is_not_base64_is_named() -> None:
    with pytest.raises(ClusterError, match="client-key-data is not base64"):
        read_file_or_data(User(client_key_data="!"), "client_key")


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ClusterError, match="unable to read client-key /no/such: No such file or directory"):
        read_file_or_data(User(client_key="/no/such"), "client_key")


PROVIDER = {"auth-provider": {"name": "oidc", "config": {"id-token": "old", "client-id": "c"}}}


def test_refreshed_tokens_are_saved_and_nothing_else_changes(tmp_path: Path) -> None:
    file = write_kubeconfig(tmp_path / "real", user=PROVIDER)
    config = yaml.safe_load(file.read_text())
    config["users"].append({"name": "other", "user": {"token": "t"}})
    file.write_text(yaml.safe_dump(config))
    link = tmp_path / "link"
    link.symlink_to(file)
    before = yaml.safe_load(file.read_text())
    save_auth_provider(link, user="main", settings={"id-token": "new", "client-id": "c"})
    after = yaml.safe_load(file.read_text())
    before["users"][0]["user"]["auth-provider"]["config"]["id-token"] = "new"
    assert {key: value for key, value in before.items() if value is not None} == {
        key: value for key, value in after.items() if value is not None
    }
    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "link", "real"]


def test_tokens_that_cannot_be_saved_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_kubeconfig(tmp_path / "config", user=PROVIDER)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(ClusterError, match=r"cannot save the refreshed token of user 'main' in .*: Permission denied"):
        save_auth_provider(file, user="main", settings={"id-token": "new"})

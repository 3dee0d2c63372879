"""Completion as people meet it: TAB in their shells, and the script that kubectl runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from kubectl_spread.cli import application
from kubectl_spread.cli.completion import KUBECTL, SCRIPTS, CompletionFlags, completion
from kubectl_spread.errors import SpreadError, UsageError
from tests.cluster.kubeconfigs import write_kubeconfig
from tests.terminal import SECONDS, SHELLS, completing, terminal

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sysconfig.get_path("scripts"))
LINES = [
    ("kubectl-spread sh", "kubectl-spread show "),
    ("kubectl-spread show --sort-by sk", "kubectl-spread show --sort-by skew "),
    ("kubectl-spread show --sort-by=sk", "kubectl-spread show --sort-by=skew "),
    ("kubectl-spread audit --fail-on Maj", "kubectl-spread audit --fail-on Majority "),
    ("kubectl-spread show -l 'app in (a, b)' --probl", "kubectl-spread show -l 'app in (a, b)' --problems "),
    ("kubectl-spread show dep", "kubectl-spread show deployment/"),
    ("kubectl-spread check -f snap", "kubectl-spread check -f snapshot.yaml "),
    ("kubectl-spread check --filename=snap", "kubectl-spread check --filename=snapshot.yaml "),
    ("kubectl-spread show --sort-by snap", "kubectl-spread show --sort-by snap"),
]
"""Line as typed → line after TAB, in a folder that holds snapshot.yaml."""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment with the programs of this one, and a home with snapshot.yaml."""
    (tmp_path / "snapshot.yaml").touch()
    path = os.pathsep.join([str(PROGRAMS), os.defpath])
    return {"PATH": path, "HOME": str(tmp_path), "TERM": "dumb", "INPUTRC": os.devnull, "PS1": "$ "}


def run(*command: str | Path, env: dict[str, str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Return how a command ended and what it printed."""
    return subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, check=False, timeout=SECONDS)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_line_goes_on_in_a_shell(shell: str, environment: dict[str, str]) -> None:
    with completing(shell, [f"kubectl-spread completion {shell}"], environment) as complete:
        assert [(typed, complete(typed)) for typed, _ in LINES] == LINES


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_scripts_that_ship_are_those_that_are_printed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    completion(CompletionFlags(shell=name))
    text = (ROOT / "completions" / SCRIPTS[name]).read_text()
    assert capsys.readouterr() == (text, "")
    assert text.startswith("#")


def test_the_script_for_kubectl_is_the_default_and_executable(environment: dict[str, str]) -> None:
    script = ROOT / "completions" / KUBECTL
    assert run(PROGRAMS / "kubectl-spread", "completion", env=environment).stdout == script.read_text()
    assert os.access(script, os.X_OK)


def test_nobody_completes_for_an_unknown_shell(environment: dict[str, str]) -> None:
    ended = run(PROGRAMS / "kubectl-spread", "completion", "tcsh", env=environment)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "error: no completion for 'tcsh'; must be one of: kubectl, bash, zsh, fish, powershell\n"


@pytest.fixture
def installed(tmp_path: Path, environment: dict[str, str]) -> Path:
    """Return a folder at the front of PATH that holds the plugin, as krew's does."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "kubectl-spread").symlink_to(PROGRAMS / "kubectl-spread")
    environment["PATH"] = f"{folder}{os.pathsep}{os.defpath}"
    return folder


def test_the_script_is_installed_beside_the_plugin(installed: Path, environment: dict[str, str]) -> None:
    ended = run("kubectl-spread", "completion", "--install", env=environment)
    script = installed / KUBECTL
    assert (ended.returncode, ended.stdout) == (0, f"wrote {script}\n")
    assert run(script, "ver", env=environment).stdout.startswith("version\tPrint")


def test_a_second_installation_replaces_the_first(
    installed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(installed))
    (installed / KUBECTL).write_text("old")
    completion(CompletionFlags(install=True))
    assert capsys.readouterr().out == f"replaced a file that differed: {installed / KUBECTL}\n"
    assert (installed / KUBECTL).read_text() == (ROOT / "completions" / KUBECTL).read_text()
    completion(CompletionFlags(install=True))
    assert capsys.readouterr().out == f"wrote {installed / KUBECTL}\n"


def test_a_folder_that_cannot_be_written_is_named(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(installed))
    (installed / KUBECTL).mkdir()
    with pytest.raises(SpreadError, match=f"cannot write {installed / KUBECTL}: "):
        completion(CompletionFlags(install=True))


def test_a_plugin_that_is_not_on_path_has_no_place_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="kubectl-spread is not on PATH"):
        completion(CompletionFlags(install=True))


def test_on_windows_there_is_no_script_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Windows")
    with pytest.raises(UsageError, match="kubectl runs no shell script on Windows"):
        completion(CompletionFlags(install=True))


def test_only_kubectls_script_is_installed() -> None:
    with pytest.raises(UsageError, match="--install works only for kubectl, not for bash"):
        completion(CompletionFlags(shell="bash", install=True))  # noqa: S604 - the name of a shell, not one that runs


def test_the_script_finds_the_plugin_beside_it_before_path(
    installed: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    script = shutil.copy(ROOT / "completions" / KUBECTL, other)
    assert run(script, "ver", env=environment).stdout.startswith("version\t")
    (other / "kubectl-spread").write_text("#!/bin/sh\nprintf '[%s]' beside \"$@\"\n")
    (other / "kubectl-spread").chmod(0o755)
    assert run(script, "ver", "", env=environment).stdout == "[beside][__complete][ver][]"
    assert (installed / "kubectl-spread").exists()


def test_the_script_offers_nothing_when_the_plugin_fails(environment: dict[str, str]) -> None:
    environment["PATH"] = os.defpath
    ended = run(ROOT / "completions" / KUBECTL, "", env=environment)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, ":4\n", "")


def test_the_installed_program_needs_no_script(environment: dict[str, str]) -> None:
    assert run(PROGRAMS / KUBECTL, "show", "-o", "y", env=environment).stdout == "yaml\n:4\n"


def test_a_credential_plugin_that_talks_is_not_heard(environment: dict[str, str], tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    plugin.write_text("#!/bin/sh\necho log in first >&2\nread answer\nexit 1\n")
    plugin.chmod(0o755)
    api_version = "client.authentication.k8s.io/v1"
    user = {"exec": {"apiVersion": api_version, "command": str(plugin), "interactiveMode": "IfAvailable"}}
    kubeconfig = write_kubeconfig(tmp_path / "config", user=user)
    command = [sys.executable, "-m", "kubectl_spread", "__complete", "show", "--kubeconfig", str(kubeconfig), "-n", ""]
    with terminal(command, environment) as keys:
        assert keys.wait_for(r"(?s)^(.*):4\r?\n") == ""


def test_help_names_the_command_but_not_the_hidden_entry() -> None:
    names = [command.name for command in application().registered_commands]
    assert "completion" in names
    assert not any("__" in str(name) for name in names)

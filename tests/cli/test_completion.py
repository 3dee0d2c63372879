"""Completion as people meet it: TAB in their shells, and the script that kubectl runs."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from kubectl_spread.cli import app
from kubectl_spread.cli.completion import KUBECTL, SCRIPTS, CompletionFlags, completion
from kubectl_spread.errors import SpreadError, UsageError
from tests.cluster.kubeconfigs import write_kubeconfig

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sysconfig.get_path("scripts"))
SECONDS = 20.0
INTERACTIVE = {
    "bash": ("bash --norc --noprofile -i", 'bind -x \'"\\C-g": printf "<%s>\\n" "$READLINE_LINE"\''),
    "zsh": (
        "zsh -f -i",
        "autoload -U compinit; compinit -u -D; shown() print -r \"<$BUFFER>\"; zle -N shown; bindkey '^G' shown",
    ),
}
"""Shell → how to start it, and how to make control-G print the line as it stands."""
LINES = [
    ("kubectl-spread sh", "kubectl-spread show "),
    ("kubectl-spread show --sort-by sk", "kubectl-spread show --sort-by skew "),
    ("kubectl-spread show --sort-by=sk", "kubectl-spread show --sort-by=skew "),
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


class Terminal:
    """A shell at a terminal."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def type(self, text: str) -> None:
        """Type the text."""
        os.write(self._descriptor, text.encode())

    def wait_for(self, pattern: str) -> str:
        """Return the first group of what the shell is to print.

        Raises:
            AssertionError: it has not printed it in time; the text is what it did print.
        """
        shown = ""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            if select.select([self._descriptor], [], [], 0.1)[0]:
                shown += os.read(self._descriptor, 65536).decode(errors="replace")
                if match := re.search(pattern, shown):
                    return match[1]
        raise AssertionError(f"no {pattern} in {shown!r}")


@contextmanager
def terminal(command: Sequence[str], env: dict[str, str]) -> Iterator[Terminal]:
    """Run a shell at a terminal of its own, in its home, until the block ends."""
    controller, end = pty.openpty()
    shell = subprocess.Popen(
        command, env=env, cwd=env["HOME"], stdin=end, stdout=end, stderr=end, start_new_session=True
    )
    os.close(end)
    try:
        yield Terminal(controller)
    finally:
        shell.kill()
        shell.wait()
        os.close(controller)


@pytest.mark.parametrize("shell", INTERACTIVE)
def test_a_line_goes_on_in_a_shell(shell: str, environment: dict[str, str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    command, shows_line = INTERACTIVE[shell]
    with terminal(command.split(), environment) as keys:
        keys.type(f"{shows_line}; source <(kubectl-spread completion {shell}); echo rea''dy\n")
        keys.wait_for("(ready)")
        for typed, expected in LINES:
            keys.type(f"{typed}\t\x07")
            assert keys.wait_for("<([^>]*)>\r?\n") == expected
            keys.type("\x15")


@pytest.mark.parametrize(("typed", "expected"), [(line, after.rstrip()) for line, after in LINES[:-1]])
def test_a_line_goes_on_in_fish(typed: str, expected: str, environment: dict[str, str]) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    script = f'kubectl-spread completion fish | source; complete -C "{typed}"'
    ended = run("fish", "--no-config", "-c", script, env=environment, cwd=Path(environment["HOME"]))
    assert ended.stdout.partition("\n")[0].partition("\t")[0] == expected.rpartition(" ")[2]
    assert ended.stderr == ""


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
    assert capsys.readouterr().out == f"wrote {installed / KUBECTL}\n"
    assert (installed / KUBECTL).read_text() == (ROOT / "completions" / KUBECTL).read_text()


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
    with pytest.raises(UsageError, match="--install is for kubectl alone, not bash"):
        completion(CompletionFlags(shell="bash", install=True))


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
    names = [command.name for command in app.registered_commands]
    assert "completion" in names
    assert not any("__" in str(name) for name in names)

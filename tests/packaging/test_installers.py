"""The wheel and the sdist, installed as people do: pip, pipx and uv, each into an environment that is thrown away."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

from kubectl_spread import __version__
from tests.controlplane.binaries import build_binaries
from tests.packaging.conftest import Release

pytestmark = pytest.mark.e2e


def run(*command: str | Path, env: Mapping[str, str] = os.environ) -> str:
    """Return what a command printed that has to end well."""
    ended = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of commands of an environment that holds pipx and uv."""
    folder = tmp_path_factory.mktemp("tools")
    return with_pip(folder, "pipx", "uv")


def with_pip(folder: Path, *what: str | Path) -> Path:
    """Return the folder of commands of a new environment into which pip has installed something."""
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "pip", "install", "--quiet", "--no-compile", *what)
    return folder / "bin"


def with_pipx(folder: Path, wheel: Path, tools: Path) -> Path:
    """Return the folder into which pipx puts the wheel's commands."""
    places = {"PIPX_HOME": str(folder / "home"), "PIPX_BIN_DIR": str(folder / "bin")}
    run(tools / "pipx", "install", "--python", sys.executable, wheel, env={**os.environ, **places})
    return folder / "bin"


def with_uv(folder: Path, wheel: Path, tools: Path) -> Path:
    """Return the folder into which uv puts the wheel's commands."""
    places = {"UV_TOOL_DIR": str(folder / "home"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    run(tools / "uv", "tool", "install", "--python", sys.executable, wheel, env={**os.environ, **places})
    return folder / "bin"


def check(commands: Path, home: Path) -> None:
    """Fail unless kubectl runs what was installed, and completes it."""
    path = os.pathsep.join([str(commands), str(build_binaries().kubectl.parent), os.defpath])
    environment = {"PATH": path, "HOME": str(home)}
    assert run("kubectl", "spread", "version", env=environment).startswith(f"kubectl-spread v{__version__}\n")
    assert run("kubectl", "__complete", "spread", "show", "--sort-by", "sk", env=environment) == "skew\n:4\n"


def test_pip_installs_the_wheel(release: Release, tmp_path: Path) -> None:
    check(with_pip(tmp_path, release.wheel), tmp_path)


def test_pip_installs_the_sdist(release: Release, tmp_path: Path) -> None:
    check(with_pip(tmp_path, release.sdist), tmp_path)


def test_pipx_installs_the_wheel(release: Release, tools: Path, tmp_path: Path) -> None:
    check(with_pipx(tmp_path, release.wheel, tools), tmp_path)


def test_uv_installs_the_wheel(release: Release, tools: Path, tmp_path: Path) -> None:
    check(with_uv(tmp_path, release.wheel, tools), tmp_path)

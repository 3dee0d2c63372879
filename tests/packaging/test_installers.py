"""The wheel and the sdist, each installed by pip into an environment that is thrown away."""

from __future__ import annotations

import json
import os
import re
import subprocess
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


def with_pip(folder: Path, *what: str | Path) -> Path:
    """Return the folder of commands of a new environment into which pip has installed something."""
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "pip", "install", "--quiet", "--no-compile", *what)
    return folder / "bin"


def check(commands: Path, home: Path) -> None:
    """Fail unless kubectl runs what was installed, and completes it."""
    path = os.pathsep.join([str(commands), str(build_binaries().kubectl.parent), os.defpath])
    environment = {"PATH": path, "HOME": str(home)}
    assert run("kubectl", "spread", "version", env=environment).startswith(f"kubectl-spread v{__version__}\n")
    image = (Path(__file__).parents[2] / "deploy/Dockerfile").read_text(encoding="utf-8")
    program, *words = (json.loads(found) for found in re.findall(r"^(?:ENTRYPOINT|CMD) (.*)$", image, re.MULTILINE))
    served = run(commands / program[0], *program[1:], *words[0], "--help", env=environment)
    assert served.startswith("Follow a cluster and serve")
    assert run("kubectl", "__complete", "spread", "show", "--sort-by", "sk", env=environment) == "skew\n:4\n"


def test_pip_installs_the_wheel(release: Release, tmp_path: Path) -> None:
    check(with_pip(tmp_path, release.wheel), tmp_path)


def test_pip_installs_the_sdist(release: Release, tmp_path: Path) -> None:
    check(with_pip(tmp_path, release.sdist), tmp_path)

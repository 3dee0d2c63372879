"""Packages of npm, installed once into a cache outside the tree."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.gobuild import cache_dir

_TIMEOUT_S = 300
_TRIES = 3


def installed(packages: Mapping[str, str]) -> Path:
    """Return a folder whose node_modules hold the packages.

    Args:
        packages: name → exact version.

    Raises:
        AssertionError: npm is missing or cannot install them; the text is what it said.
    """
    pins = [f"{name}@{version}" for name, version in sorted(packages.items())]
    folder = cache_dir() / f"npm-{hashlib.sha256(' '.join(pins).encode()).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            _install(pins, folder)
            (folder / "complete").touch()
    return folder


def _install(pins: list[str], folder: Path) -> None:
    """Install the packages, without what they would run.

    A download that breaks off can leave half a package behind with exit code 0. `npm ls` sees it; another try mends it.
    """
    npm = shutil.which("npm")
    assert npm, "npm is not on PATH"
    install = (npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact", *pins)
    for _ in range(_TRIES):
        shutil.rmtree(folder / "node_modules", ignore_errors=True)
        (folder / "package-lock.json").unlink(missing_ok=True)
        (folder / "package.json").write_text('{"private": true}\n')
        for command in (install, (npm, "ls", "--all")):
            ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
            if ended.returncode:
                break
        else:
            return
    raise AssertionError(ended.stdout + ended.stderr)

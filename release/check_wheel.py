"""Runs the tests against the wheel: ``python -m release.check_wheel [options of pytest]``.

The wheel is built and installed into an environment of its own. The tests run from a copy of the tree without the
modules of the package, so whatever they import or start is what others install.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

from release.build import build_wheel
from release.tree import ROOT, copy_tree

PACKAGE = "kubectl_spread"
ENVIRONMENT = ROOT / "build" / "wheel-venv"
TESTS = ("-q", "-m", "not e2e", "-n", "auto", "--dist", "worksteal")


def main() -> None:
    """End as the tests end."""
    with tempfile.TemporaryDirectory(prefix="wheel-") as name:
        folder = Path(name)
        python = _install(build_wheel(folder / "dist", os.environ))
        copy_tree(folder / "tree", without_package=PACKAGE)
        sys.exit(_tested(python, folder / "tree", sys.argv[1:]))


def _install(wheel: Path) -> Path:
    """Return the Python of a new environment with the wheel and what its tests need."""
    venv.create(ENVIRONMENT, clear=True, with_pip=True)
    python = ENVIRONMENT / "bin" / "python"
    options = ("--quiet", "--disable-pip-version-check")
    subprocess.run([python, "-m", "pip", "install", *options, f"{wheel}[dev]"], check=True)  # noqa: S603 our own
    return python


def _tested(python: Path, tree: Path, options: Sequence[str]) -> int:
    """Return how the tests ended, after making sure of what they test."""
    where: Sequence[str | Path] = [python, "-c", f"import {PACKAGE}; print({PACKAGE}.__file__)"]
    found = subprocess.run(where, cwd=tree, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603 - the program is ours to name
    if not Path(found).is_relative_to(ENVIRONMENT):
        sys.exit(f"error: the tests would import {found}, not the wheel")
    return subprocess.run([python, "-m", "pytest", *TESTS, *options], cwd=tree, check=False).returncode  # noqa: S603 - the program is ours to name


if __name__ == "__main__":
    main()

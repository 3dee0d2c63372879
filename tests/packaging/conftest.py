"""A release, built once for the session as `make dist` builds it, from a copy of the tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from release.tree import ROOT, copy_tree

PYTHON = ROOT / "build" / "release-venv" / "bin" / "python"
EPOCH = "1700000000"


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """What was built."""

    archive: Path  # what krew downloads
    manifest: Path  # what krew reads
    folder: Path  # the archive, unpacked
    wheel: Path  # what pip installs
    sdist: Path  # what the wheel was made of
    wheel_program: Path  # the program as the wheel installs it


Build = Callable[[], Path]


@pytest.fixture(scope="session")
def build(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Build from a new copy of the tree, and return the folder of what was built; that takes half a minute."""
    if "e2e" not in pytestconfig.option.markexpr:
        pytest.skip("builds a release: make e2e")
    environment_ready = str(PYTHON.parents[1].relative_to(ROOT) / ".ready")
    subprocess.run(["make", environment_ready], cwd=ROOT, check=True)  # noqa: S607 - whichever is on PATH
    tree = tmp_path_factory.mktemp("tree")
    copy_tree(tree)

    def build_copy() -> Path:
        folder = tmp_path_factory.mktemp("release")
        shutil.copytree(tree, folder / "tree")
        environment = {"PATH": os.defpath, "HOME": str(folder), "SOURCE_DATE_EPOCH": EPOCH}
        command: list[str | Path] = [PYTHON, "-m", "release.build", "--output", folder / "dist"]
        subprocess.run(command, cwd=folder / "tree", env=environment, check=True)
        return folder / "dist"

    return build_copy


@pytest.fixture(scope="session")
def release(build: Build, tmp_path_factory: pytest.TempPathFactory) -> Release:
    built = build()
    (archive,), (wheel,), (sdist,) = (
        built.glob(name) for name in ("kubectl-spread-v*.tar.gz", "*.whl", "kubectl_spread-*.tar.gz")
    )
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return Release(
        archive=archive,
        manifest=built / "spread.yaml",
        folder=folder,
        wheel=wheel,
        sdist=sdist,
        wheel_program=PYTHON.with_name("kubectl-spread"),
    )

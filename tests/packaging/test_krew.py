"""What krew makes of a release: its validator accepts the manifest, and it installs and uninstalls."""

from __future__ import annotations

import os
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from kubectl_spread import __version__
from release.manifest import TAG, TEMPLATE, render
from tests import gobuild
from tests.bench.startup import NODE_AND_POD
from tests.controlplane.binaries import build_binaries
from tests.packaging.conftest import Build, Release

pytestmark = pytest.mark.e2e

PENDING = NODE_AND_POD.replace("nodeName: a1", "nodeSelector: {disk: fast}")


SCRIPT = "kubectl_complete-spread"


@pytest.fixture(scope="session")
def commands(build: Build) -> dict[str, Path]:  # noqa: ARG001 - asks, by way of build, whether anything may be built
    """Return krew and its validator, built from their module."""
    names = ("krew", "validate-krew-manifest")
    return gobuild.build(
        name="krew",
        sources=Path(__file__).parent / "go" / "krew",
        release=None,
        packages={name: f"sigs.k8s.io/krew/cmd/{name}" for name in names},
        ldflags="-s -w",
    )


@dataclass(frozen=True, slots=True)
class Home:
    """Someone's home with kubectl and krew, and nothing else of this machine but its system."""

    folder: Path  # the home
    path: str  # where its commands are

    @property
    def installed(self) -> Path:
        """Where krew puts commands."""
        return self.folder / "krew" / "bin"

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        """Return how a command ended and what it printed."""
        environment = {"PATH": self.path, "HOME": str(self.folder), "KREW_ROOT": str(self.folder / "krew")}
        git = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        return subprocess.run(
            command,
            env={**environment, **git},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def __call__(self, *command: str | Path) -> str:
        """Return what a command printed that has to end well."""
        ended = self.run(*command)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout


@pytest.fixture
def home(commands: dict[str, Path], tmp_path: Path) -> Home:
    """Return a home in which kubectl finds krew, and krew a default index without plugins."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "kubectl-krew").symlink_to(commands["krew"])
    path = os.pathsep.join([str(tmp_path / "krew" / "bin"), str(folder), str(build_binaries().kubectl.parent)])
    made = Home(tmp_path, os.pathsep.join([path, os.defpath]))
    made("git", "init", "-q", "krew/index/default")
    return made


def test_the_validator_accepts_the_manifest(release: Release, commands: dict[str, Path], home: Home) -> None:
    ended = home.run(commands["validate-krew-manifest"], "-skip-install", "-manifest", release.manifest)
    assert (ended.returncode, ended.stdout) == (0, "")
    assert "no overlapping spec.platform[].selector" in ended.stderr


def test_the_validator_accepts_the_manifest_of_all_platforms(
    release: Release, commands: dict[str, Path], home: Home
) -> None:
    for system in ("linux", "darwin", "windows"):
        for arch in ("amd64", "arm64"):
            (home.folder / f"kubectl-spread-{TAG}-{system}-{arch}.tar.gz").symlink_to(release.archive)
    manifest = home.folder / "spread.yaml"
    manifest.write_text(render(TEMPLATE.read_text(), tag=TAG, archives=home.folder))
    assert manifest.read_text().count("- selector:") == 6
    validator: list[str | Path] = [commands["validate-krew-manifest"], "-skip-install", "-manifest", manifest]
    assert home.run(*validator).returncode == 0
    manifest.write_text(manifest.read_text().replace("arch: arm64", "arch: amd64"))
    assert "overlapping platform selectors found" in home.run(*validator).stderr


def test_krew_installs_an_archive_and_kubectl_runs_it(release: Release, home: Home) -> None:
    (home.folder / "pending.yaml").write_text(PENDING)
    home("kubectl", "krew", "install", "--manifest", release.manifest, "--archive", release.archive)
    assert home("kubectl", "spread", "version").startswith(f"kubectl-spread v{__version__}\n")
    assert "topology.kubernetes.io/zone" in home("kubectl", "spread", "show", "--from", "pending.yaml")
    explained = home.run("kubectl", "spread", "why-pending", "--from", "pending.yaml")
    assert (explained.returncode, explained.stderr) == (1, "")
    assert "didn't match Pod's node affinity/selector" in explained.stdout
    script = home.installed / SCRIPT
    assert home("kubectl", "spread", "completion", "--install") == f"wrote {script}\n"
    assert home("kubectl", "__complete", "spread", "show", "--sort-by", "sk") == "skew\n:4\n"
    home("kubectl", "krew", "uninstall", "spread")
    assert [file.name for file in home.installed.iterdir()] == [script.name]


def test_krew_refuses_an_archive_that_is_not_the_manifests(release: Release, home: Home) -> None:
    other = home.folder / "other.tar.gz"
    with tarfile.open(other, "w:gz") as tar:
        tar.add(release.manifest, "LICENSE")
    ended = home.run("kubectl", "krew", "install", "--manifest", release.manifest, "--archive", other)
    assert ended.returncode == 1
    assert "checksum does not match" in ended.stderr

"""What krew makes of a release: its validator accepts the manifest, and it installs, upgrades and uninstalls."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from kubectl_spread import __version__
from release.manifest import TAG, TEMPLATE, render
from tests import gobuild
from tests.bench.startup import NODE_AND_POD
from tests.controlplane.binaries import build_binaries
from tests.packaging.conftest import Build, Release

pytestmark = pytest.mark.e2e

PENDING = NODE_AND_POD.replace("nodeName: a1", "nodeSelector: {disk: fast}")
EARLIER = "v0.0.1"
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
    """Someone's home with kubectl and krew, and nothing else of this machine but its system.

    Attributes:
        folder: the home.
        path: where its commands are.
    """

    folder: Path
    path: str

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


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing about it."""

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - as the base class names it
        """Print nothing."""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder on loopback until the block ends; yield its URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@dataclass(frozen=True, slots=True)
class Index:
    """An index of plugins, and the releases to which its manifest leads.

    Attributes:
        home: whose git makes it.
        folder: the index.
        published: what is served.
        url: where it is served.
    """

    home: Home
    folder: Path
    published: Path
    url: str

    def publish(self, archive: Path, tag: str) -> None:
        """Release an archive under a tag, and say so in the index."""
        place = self.published / "releases" / "download" / tag
        place.mkdir(parents=True)
        shutil.copy(archive, place / archive.name.replace(TAG, tag))
        manifest = self.folder / "plugins" / "spread.yaml"
        manifest.parent.mkdir(exist_ok=True)
        manifest.write_text(render(TEMPLATE.read_text(), tag=tag, archives=place, repository=self.url))
        self._git("add", "plugins")
        self._git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", tag)

    def _git(self, *arguments: str) -> None:
        """Run git in the index."""
        self.home("git", "-C", self.folder, *arguments)


@pytest.fixture
def index(home: Home) -> Iterator[Index]:
    """Yield an index without plugins."""
    published = home.folder / "published"
    published.mkdir()
    home("git", "init", "-q", "index")
    with serving(published) as url:
        yield Index(home, home.folder / "index", published, url)


def test_krew_upgrades_to_what_its_index_has_newer(release: Release, home: Home, index: Index) -> None:
    index.publish(release.archive, EARLIER)
    shutil.rmtree(home.folder / "krew" / "index" / "default")
    home("kubectl", "krew", "index", "add", "default", index.folder)
    home("kubectl", "krew", "install", "spread")
    home("kubectl", "spread", "completion", "--install")
    link = home.installed / "kubectl-spread"
    assert link.resolve().parent.name == EARLIER
    index.publish(release.archive, TAG)
    ended = home.run("kubectl", "krew", "upgrade", "spread")
    assert (ended.returncode, "Upgraded plugin: spread" in ended.stderr) == (0, True)
    assert link.resolve().parent.name == TAG
    assert [folder.name for folder in (home.folder / "krew" / "store" / "spread").iterdir()] == [TAG]
    assert home("kubectl", "__complete", "spread", "ver").startswith("version\t")
    home("kubectl", "krew", "uninstall", "spread")
    assert not link.is_symlink()


def test_the_validator_installs_what_was_published(
    release: Release, commands: dict[str, Path], home: Home, index: Index
) -> None:
    index.publish(release.archive, TAG)
    ended = home.run(commands["validate-krew-manifest"], "-manifest", index.folder / "plugins" / "spread.yaml")
    assert ended.returncode == 0, ended.stderr
    assert "all 1 spec.platforms installed fine" in ended.stderr

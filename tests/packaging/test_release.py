"""The built release: what is in the archive, that it works anywhere, and that krew installs it."""

from __future__ import annotations

import base64
import hashlib
import os
import ssl
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import trustme

from kubectl_spread import __version__
from kubectl_spread.cli import formats
from release.licences import LIBRARIES
from release.tree import ROOT
from tests.bench.measuring import measure
from tests.bench.startup import NODE_AND_POD, empty_cluster
from tests.cluster.api_server import ApiServer, serving
from tests.cluster.kubeconfigs import write_kubeconfig
from tests.packaging.conftest import Build, Release

pytestmark = pytest.mark.e2e

PLUGIN = """#!/bin/sh
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"issued"}}'
"""
AT_MOST_OF_WHEEL = 1.25
MEGABYTES = 20


def run(*command: str | Path, path: str = os.defpath, home: Path) -> subprocess.CompletedProcess[str]:
    """Return how a command ended and what it printed, in an environment without a Python of its own."""
    environment = {"PATH": path, "HOME": str(home), "KREW_ROOT": str(home / "krew")}
    return subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, check=False, timeout=120)


def written(text: str, path: Path) -> Path:
    """Return the path, where the text now is."""
    path.write_text(text)
    return path


def names(release: Release) -> set[str]:
    with tarfile.open(release.archive) as tar:
        return set(tar.getnames())


def test_two_builds_are_the_same(release: Release, build: Build) -> None:
    again = build() / release.archive.name
    assert hashlib.sha256(again.read_bytes()).hexdigest() == hashlib.sha256(release.archive.read_bytes()).hexdigest()


def test_krew_can_unpack_it(release: Release) -> None:
    with tarfile.open(release.archive) as tar:
        assert all(entry.isreg() or entry.isdir() for entry in tar)
    assert not any(".." in name or name.startswith("/") for name in names(release))


def test_licences_and_completion_lie_beside_the_program(release: Release) -> None:
    assert {"LICENSE", "THIRD-PARTY-LICENSES.txt", "kubectl-spread", "kubectl_complete-spread"} <= names(release)
    script = (release.folder / "kubectl_complete-spread").read_text()
    assert script == (ROOT / "completions" / "kubectl_complete-spread").read_text()
    licences = (release.folder / "THIRD-PARTY-LICENSES.txt").read_text()
    assert all(f"\n{name} " in licences for name in ("Python", "kubernetes", "msgspec", "pyinstaller", "typer"))


def test_everything_in_it_has_a_licence(release: Release) -> None:
    licences = (release.folder / "THIRD-PARTY-LICENSES.txt").read_text()
    frozen = {Path(name).parts[1].partition(".")[0] for name in names(release) if name.startswith("_internal/")}
    pythons = {
        name for name in frozen if name in sys.stdlib_module_names or name.startswith(("_sysconfig", "libpython"))
    }
    others = frozen - pythons - LIBRARIES.keys() - {"kubectl_spread", f"python{sys.version_info.major}"}
    owners = {owner for name in others for owner in packages_distributions()[name]}
    assert {name for name in owners if f"\n{name} " not in licences} == set()
    assert all(LIBRARIES[name] in licences for name in frozen & LIBRARIES.keys())


def test_the_whole_program_is_in_it(release: Release) -> None:
    sources = (path.relative_to(ROOT).with_suffix(".pyc") for path in (ROOT / "kubectl_spread").rglob("*.py"))
    assert {f"_internal/{path.as_posix()}" for path in sources} - names(release) == set()


@pytest.mark.parametrize("output", formats.names_for(formats.SHOW))
def test_it_prints_in_every_format(output: str, release: Release, tmp_path: Path) -> None:
    if output.endswith("="):
        output += str(written("{.kind}", tmp_path / "template")) if "file" in output else "{.kind}"
    snapshot = written(NODE_AND_POD, tmp_path / "snapshot.yaml")
    ended = run(release.folder / "kubectl-spread", "show", "--from", snapshot, "-o", output, home=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout


def test_what_is_never_used_is_left_out(release: Release) -> None:
    folders = {tuple(Path(name).parts[1:]) for name in names(release)}
    packages = {folder[0] for folder in folders if folder}
    assert {"kubectl_spread", "kubernetes", "typer"} <= packages
    assert packages & {"rich", "pygments", "setuptools", "pip", "tests", "pytest", "aiohttp", "tkinter"} == set()
    assert len([folder for folder in folders if folder[:3] == ("kubernetes", "client", "models")]) <= 2
    assert release.archive.stat().st_size < MEGABYTES * 1e6


def test_it_runs_through_a_link_without_python(release: Release, tmp_path: Path) -> None:
    link = tmp_path / "bin" / "kubectl-spread"
    link.parent.mkdir()
    link.symlink_to(release.folder / "kubectl-spread")
    ended = run("kubectl-spread", "version", path=str(link.parent), home=tmp_path)
    assert ended.stdout.startswith(f"kubectl-spread v{__version__}\n")
    assert run(link, "completion", "fish", path="", home=tmp_path).stdout.startswith("# Completes")
    assert run(link, "completion", "--install", path=f"{link.parent}:{os.defpath}", home=tmp_path).returncode == 0
    ended = run(link.with_name("kubectl_complete-spread"), "show", "--sort-by", "sk", home=tmp_path)
    assert ended.stdout == "skew\n:4\n"


@pytest.fixture
def tls_server() -> Iterator[tuple[ApiServer, str]]:
    """Yield an empty cluster that speaks TLS, and its authority's certificate in base64."""
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with serving(empty_cluster, context) as server:
        yield server, base64.b64encode(authority.cert_pem.bytes()).decode()


def test_it_holds_what_credential_plugins_take(
    release: Release, tls_server: tuple[ApiServer, str], tmp_path: Path
) -> None:
    server, authority = tls_server
    plugin = tmp_path / "plugin"
    plugin.write_text(PLUGIN)
    plugin.chmod(0o755)
    api_version = "client.authentication.k8s.io/v1"
    kubeconfig = write_kubeconfig(
        tmp_path / "config",
        server=server.url,
        cluster={"certificate-authority-data": authority},
        user={"exec": {"apiVersion": api_version, "command": str(plugin), "interactiveMode": "Never"}},
    )
    ended = run(release.folder / "kubectl-spread", "show", "--kubeconfig", kubeconfig, home=tmp_path)
    assert ended.stderr.startswith("No workloads with topology spread constraints found")
    assert {seen.header("Authorization") for seen in server.seen} == {"Bearer issued"}


def test_it_holds_what_login_flows_take(release: Release, tmp_path: Path) -> None:
    expired = base64.urlsafe_b64encode(b'{"exp": 1}').decode().rstrip("=")
    settings = {"id-token": f"e30.{expired}.c", "refresh-token": "r", "idp-issuer-url": "https://127.0.0.1:1"}
    user = {"auth-provider": {"name": "oidc", "config": {**settings, "client-id": "c"}}}
    kubeconfig = write_kubeconfig(tmp_path / "config", user=user)
    ended = run(release.folder / "kubectl-spread", "show", "--kubeconfig", kubeconfig, home=tmp_path)
    assert ended.stderr.startswith("error: cannot refresh the OpenID Connect token of user")
    assert "Connection refused" in ended.stderr


def test_it_starts_as_fast_as_the_wheel(release: Release, tmp_path: Path) -> None:
    snapshot = written(NODE_AND_POD, tmp_path / "snapshot.yaml")
    for arguments in (("--help",), ("show", "--from", str(snapshot))):
        commands = {
            "wheel": (str(release.wheel_program), *arguments),
            "archive": (str(release.folder / "kubectl-spread"), *arguments),
        }
        measured = measure(commands, {"PATH": os.defpath, "HOME": str(tmp_path)}, turns=15)
        best = {each.name: each.cpu_seconds for each in measured}
        assert best["archive"] / best["wheel"] <= AT_MOST_OF_WHEEL

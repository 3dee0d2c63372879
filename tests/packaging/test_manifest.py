"""The manifest, held against krew's own rules.

Source: krew pkg/index/validation/validate.go, cmd/validate-krew-manifest (v0.5.0).
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from release import manifest as manifests
from release.manifest import TAG, render, write_manifest
from release.tree import ROOT

Manifest: TypeAlias = dict[str, Any]
TEMPLATE = manifests.TEMPLATE.read_text()
PLACEHOLDER = "https://github.com/kubectl-spread/kubectl-spread"
PLATFORMS = {(system, arch) for system in ("linux", "darwin", "windows") for arch in ("amd64", "arm64")}
COLUMNS = 80


def archive_name(system: str, arch: str) -> str:
    """Return what the archive of a platform is called."""
    return f"kubectl-spread-{TAG}-{system}-{arch}.tar.gz"


@pytest.fixture
def archives(tmp_path: Path) -> Path:
    """Return a folder with an archive for each platform, no two alike."""
    for system, arch in PLATFORMS:
        (tmp_path / archive_name(system, arch)).write_text(f"{system} {arch}")
    return tmp_path


@pytest.fixture
def manifest(archives: Path) -> Manifest:
    """Return the manifest of a whole release."""
    document: Manifest = yaml.safe_load(render(TEMPLATE, tag=TAG, archives=archives))
    return document


def platform(entry: Manifest) -> tuple[str, str]:
    labels = entry["selector"]["matchLabels"]
    assert labels.keys() == {"os", "arch"}
    return labels["os"], labels["arch"]


def test_the_texts_fit(manifest: Manifest) -> None:
    spec = manifest["spec"]
    assert spec["shortDescription"].strip()
    assert "\n" not in spec["shortDescription"]
    assert max(map(len, spec["description"].splitlines())) <= COLUMNS
    assert spec["homepage"].startswith("https://")


def test_the_address_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(re.findall(r"https://github\.com/[\w-]+/kubectl-spread", (ROOT / "SECURITY.md").read_text())) == {
        PLACEHOLDER
    }
    assert project["urls"]["Homepage"] == PLACEHOLDER
    assert all(url.startswith(PLACEHOLDER) for url in project["urls"].values())


def test_each_platform_has_its_own_archive(manifest: Manifest, archives: Path) -> None:
    for entry in manifest["spec"]["platforms"]:
        name = archive_name(*platform(entry))
        assert entry["uri"] == f"{manifest['spec']['homepage']}/releases/download/{TAG}/{name}"
        assert entry["sha256"] == hashlib.sha256((archives / name).read_bytes()).hexdigest()


def test_programs_are_named_as_their_platform_wants(manifest: Manifest) -> None:
    names = {platform(entry): entry["bin"] for entry in manifest["spec"]["platforms"]}
    assert {name for (system, _), name in names.items() if system == "windows"} == {"kubectl-spread.exe"}
    assert {name for (system, _), name in names.items() if system != "windows"} == {"kubectl-spread"}


def test_all_files_are_installed(manifest: Manifest) -> None:
    assert all("files" not in entry for entry in manifest["spec"]["platforms"])


def test_where_the_releases_are_stands_once_in_the_template(archives: Path) -> None:
    assert TEMPLATE.count("://") == 1
    spec = yaml.safe_load(render(TEMPLATE, tag=TAG, archives=archives))["spec"]
    assert spec["homepage"] == PLACEHOLDER


def test_where_the_releases_are_can_be_said(
    archives: Path, monkeypatch: pytest.MonkeyPatch, manifest: Manifest
) -> None:
    monkeypatch.setattr("sys.argv", ["manifest", str(archives), "--repository", "https://git.example/a/b"])
    manifests.main()
    written = yaml.safe_load((archives / "spread.yaml").read_text())
    assert written == yaml.safe_load(yaml.safe_dump(manifest).replace(PLACEHOLDER, "https://git.example/a/b"))


def test_what_was_not_built_is_not_in_it(tmp_path: Path) -> None:
    (tmp_path / archive_name("linux", "arm64")).touch()
    spec = yaml.safe_load(render(TEMPLATE, tag=TAG, archives=tmp_path))["spec"]
    assert [platform(entry) for entry in spec["platforms"]] == [("linux", "arm64")]


def test_archives_of_another_release_do_not_count(archives: Path) -> None:
    with pytest.raises(ValueError, match=r"no archive of v9\.9\.9 in "):
        render(TEMPLATE, tag="v9.9.9", archives=archives)


def test_it_is_written_beside_the_archives(archives: Path) -> None:
    write_manifest(archives)
    assert (archives / "spread.yaml").read_text() == render(TEMPLATE, tag=TAG, archives=archives)

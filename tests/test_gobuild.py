"""Building Go programs, with a Go of our own: what is asked of it, what is kept, what is said when it fails."""

from __future__ import annotations

import json
import os
import stat
import zipfile
from pathlib import Path

import pytest

from tests import gobuild
from tests.gobuild import RELEASES, BuildError, build, cache_dir, kubernetes_requirements

GO = """#!/bin/sh
echo "$@" >> "$LOG"
case "$*" in
  version) echo "go version ${GO_VERSION:-1.26}" ;;
  "mod download"*)
    if [ -n "$DOWNLOADED" ]; then echo "$DOWNLOADED"; exit 1; fi
    echo '{"GoMod": "the.mod"}' ;;
  "env GOVERSION") echo "go1.26.8" ;;
  "mod edit"*) echo '{"Module": {"Path": "k"}, "Go": "1.26.0", "Require": [
    {"Path": "k8s.io/api", "Version": "v0.0.0"}, {"Path": "a.example/z", "Version": "v1.2.3"},
    {"Path": "k8s.io/apimachinery", "Version": "v0.0.0"}]}' ;;
  build*)
    if [ -n "$FAIL" ]; then echo "line of code is wrong" >&2; exit 1; fi
    while [ "$1" != "-o" ]; do shift; done
    mkdir -p "$(dirname "$2")"; cat *.go > "$2" ;;
esac
"""


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a Go in front that writes down what it is asked, and a cache beside it; return where it writes."""
    program = tmp_path / "path" / "go"
    program.parent.mkdir()
    program.write_text(GO, encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("KUBECTL_SPREAD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    return tmp_path / "log"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Return a folder with a program, and files for some releases."""
    folder = tmp_path / "asker"
    files = {"main.go": "main", "since-1.34/moved.go": "since 1.34", "since-1.36/moved.go": "since 1.36"}
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def built(sources: Path, release: str | None = "1.36", **options: str) -> Path:
    """Return the program that was built."""
    return build(name="asker", sources=sources, release=release, packages={"asker": "."}, **options)["asker"]


def builds(log: Path) -> int:
    """Return how often Go was asked to build (count)."""
    return sum(line.startswith("build") for line in log.read_text(encoding="utf-8").splitlines())


def test_a_program_is_built_once(sources: Path, log: Path) -> None:
    first = built(sources)
    assert first.is_file()
    assert built(sources) == first
    assert builds(log) == 1


@pytest.mark.parametrize("change", ["sources", "release", "flags", "Go"])
def test_what_decides_about_a_program_makes_it_another(
    change: str, sources: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = built(sources)
    if change == "sources":
        (sources / "main.go").write_text("changed", encoding="utf-8")
    if change == "Go":
        monkeypatch.setenv("GO_VERSION", "1.27")
    release = "1.35" if change == "release" else "1.36"
    second = built(sources, release, ldflags="-s" if change == "flags" else "")
    assert second != first
    assert first.is_file()
    assert builds(log) == 2


@pytest.mark.parametrize(
    ("release", "moved"), [("1.33", ""), ("1.34", "since 1.34"), ("1.35", "since 1.34"), ("1.37", "since 1.36")]
)
def test_the_newest_files_that_are_not_newer_than_the_release(sources: Path, release: str, moved: str) -> None:
    assert built(sources, release).read_text(encoding="utf-8") == f"main{moved}"


def test_the_module_requires_what_was_published_with_the_release() -> None:
    version = RELEASES["1.36"]
    staging = f"v0.{version.removeprefix('1.')}"
    assert kubernetes_requirements("1.36").splitlines() == [
        "go 1.26.0",
        "",
        f"require k8s.io/kubernetes v{version}",
        "",
        f"replace k8s.io/api => k8s.io/api {staging}",
        f"replace k8s.io/apimachinery => k8s.io/apimachinery {staging}",
    ]


def test_a_program_with_its_own_module_asks_for_no_release(sources: Path, log: Path) -> None:
    (sources / "go.mod").write_text("module own\n", encoding="utf-8")
    program = built(sources, None)
    assert (program.parents[1] / "src" / "go.mod").read_text(encoding="utf-8") == "module own\n"
    assert "mod download" not in log.read_text(encoding="utf-8")


def test_a_program_on_a_release_of_another_module(sources: Path) -> None:
    program = built(sources, "1.34.2", module="a.example/z")
    assert program.read_text(encoding="utf-8") == "mainsince 1.34"
    required = (program.parents[1] / "src" / "go.mod").read_text(encoding="utf-8").splitlines()[-1]
    assert required == "require a.example/z v1.34.2"


@pytest.mark.parametrize(("asked", "copied"), [("1.26.10", True), ("1.27.0", False)])
def test_a_module_that_asks_for_a_later_patch_release_of_go_is_built_from_a_copy(
    asked: str, sources: Path, tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch, *, copied: bool
) -> None:
    with zipfile.ZipFile(tmp_path / "module.zip", "w") as archive:
        archive.writestr("a.example/z@v1.34.2/pkg/z.go", "code")
    error = f"a.example/z@v1.34.2 requires go >= {asked} (running go 1.26.8; GOTOOLCHAIN=local)"
    monkeypatch.setenv("DOWNLOADED", json.dumps({"Error": error, "Zip": str(tmp_path / "module.zip")}))
    folder = built(sources, "1.34.2", module="a.example/z").parents[1]
    assert (folder / "a.example" / "z@v1.34.2" / "pkg" / "z.go").is_file() is copied
    assert ("replace a.example/z => " in (folder / "src" / "go.mod").read_text(encoding="utf-8")) is copied
    assert ("mod edit -go=1.26.8" in log.read_text(encoding="utf-8")) is copied


def test_a_program_that_does_not_compile_leaves_nothing_behind(
    sources: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIL", "yes")
    with pytest.raises(BuildError, match="line of code is wrong") as raised:
        built(sources)
    assert str(raised.value).startswith("go build ")
    monkeypatch.delenv("FAIL")
    assert built(sources).is_file()
    assert builds(log) == 2


def test_only_the_end_of_a_long_complaint_is_told() -> None:
    assert gobuild._end([str(number) for number in range(100)]).splitlines() == [str(n) for n in range(80, 100)]  # noqa: SLF001 - no command of ours complains for long


def test_a_release_that_is_not_built(sources: Path) -> None:
    with pytest.raises(BuildError, match=r"release 1\.20 is not one of 1\.33"):
        built(sources, "1.20")


def test_without_go_there_is_a_word_about_it(sources: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(BuildError, match="Go is not installed"):
        built(sources)


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"KUBECTL_SPREAD_CACHE": "own"}, "own"),
        ({"KUBECTL_SPREAD_CACHE": "own", "XDG_CACHE_HOME": "shared"}, "own"),
        ({"XDG_CACHE_HOME": "shared"}, "shared/kubectl-spread"),
        ({}, "home/.cache/kubectl-spread"),
    ],
    ids=str,
)
def test_where_programs_are_kept(variables: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KUBECTL_SPREAD_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ({"HOME": "home"} | variables).items():
        monkeypatch.setenv(name, value)
    assert cache_dir() == Path(folder)


def test_releases_are_patch_releases_of_their_minor_one() -> None:
    assert all(patch.startswith(f"{minor}.") for minor, patch in RELEASES.items())
    assert json.dumps(sorted(RELEASES)) == json.dumps(list(RELEASES))

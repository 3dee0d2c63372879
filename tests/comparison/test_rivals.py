"""A plugin by others is built once from its module, or absent with what Go said; a stand-in for Go takes the calls."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.comparison.rivals import RIVALS, AbsentError, Rival, at_hand, located
from tests.comparison.tools import Answer, Question, ask

PENDING = Question(namespace="shop", pod="web", pending=True, manifest=Path("pod.json"), scheduler_config=None)
BUILDS = """#!/bin/sh
echo "$@" >> "{folder}/calls"
case "$1" in
mod) printf '%s' '{downloaded}' ;;
build) printf '#!/bin/sh\\necho "$@"; exit 1\\n' > "$4"; chmod +x "$4" ;;
esac
"""
REFUSES = """#!/bin/sh
printf '%s' '{"Error": "not found\\n\\tserver response: gone"}'
exit 1
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose ``bin`` is searched first, and whose ``cache`` is the cache."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.defpath}")
    monkeypatch.setenv("KUBECTL_SPREAD_CACHE", str(tmp_path / "cache"))
    return tmp_path


def _stand_in(folder: Path, script: str, *, name: str = "go") -> None:
    """Let a script be a command, `go` unless another is named."""
    program = folder / "bin" / name
    program.write_text(script)
    program.chmod(0o755)


MODULES = [rival for rival in RIVALS if rival.module]


@pytest.mark.parametrize("rival", MODULES, ids=lambda rival: rival.name)
def test_a_module_is_downloaded_at_its_version_and_built_once(folder: Path, rival: Rival) -> None:
    module = folder / "module"
    module.mkdir()
    (module / "main.go").write_text("package main\n")
    _stand_in(folder, BUILDS.format(folder=folder, downloaded=json.dumps({"Dir": str(module)})))
    tool = [located(rival), located(rival)][1]
    downloaded, built = (folder / "calls").read_text().splitlines()
    assert downloaded == f"mod download -json {rival.module}@{rival.version}"
    assert built.endswith(f" {rival.package}")
    answer = ask(tool, PENDING, environment={"PATH": os.defpath})
    assert answer.text.split() == [*rival.arguments(PENDING)]
    assert tool.name == f"{rival.name} {rival.version}"


BUILDS_THERE = """#!/bin/sh
test -f program || exit 1
test "$1" = build || exit 1
while [ "$1" != --target-dir ] && [ "$1" != -o ]; do shift; done
made="$2"
if [ "$1" = --target-dir ]; then mkdir -p "$2/release"; made="$2/release/made"; fi
cp program "$made"
chmod +x "$made"
"""


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)
def test_a_clone_is_built_at_the_version(folder: Path, rival: Rival, monkeypatch: pytest.MonkeyPatch) -> None:
    clone = folder / "clones" / rival.repository
    clone.mkdir(parents=True)
    git = ("git", "-c", "user.name=n", "-c", "user.email=e", "-C", str(clone))
    (clone / "program").write_text("#!/bin/sh\necho the version\n")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "m"), ("tag", rival.version)):
        subprocess.run((*git, *command), check=True)
    (clone / "program").write_text("#!/bin/sh\necho newer\n")
    subprocess.run((*git, "commit", "-qam", "newer"), check=True)
    for builder in ("go", "cargo"):
        _stand_in(folder, BUILDS_THERE, name=builder)
    monkeypatch.setenv("KUBECTL_SPREAD_CLONES", str(folder / "clones"))
    assert ask(located(rival), PENDING, environment={"PATH": os.defpath}).text == "the version\n"


def test_what_is_no_module_takes_a_clone(folder: Path) -> None:
    (rust,) = (rival for rival in RIVALS if not rival.module)
    _stand_in(folder, BUILDS_THERE)
    with pytest.raises(AbsentError, match=f"there is no clone of {rust.repository}"):
        located(rust)


def test_of_what_is_absent_the_reason_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _stand_in(folder, REFUSES)
    first = RIVALS[0]
    assert at_hand([first]) == {}
    assert capsys.readouterr().err == f"{first.name} {first.version} is not at hand: server response: gone\n"


def test_a_module_that_is_refused_is_absent_with_the_reason(folder: Path) -> None:
    _stand_in(folder, REFUSES)
    with pytest.raises(AbsentError, match=r"^server response: gone$"):
        located(RIVALS[0])


def test_without_go_every_plugin_is_absent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder / "bin"))
    with pytest.raises(AbsentError, match="Go is not installed"):
        located(RIVALS[0])


@pytest.mark.parametrize(
    ("name", "answer", "pending"),
    [
        ("why-pending", Answer("", 0), False),
        ("why-pending", Answer("", 1), True),
        ("why-pending", Answer("", 3), None),
        ("can-schedule", Answer("", 0), False),
        ("can-schedule", Answer("", 1), True),
        ("can-schedule", Answer("", 2), None),
        ("topology", Answer("web", 0), None),
        ("cluster-capacity", Answer("The cluster can schedule 0 instance(s) of the pod.", 0), True),
        ("cluster-capacity", Answer("The cluster can schedule 52 instance(s) of the pod.", 0), False),
        ("cluster-capacity", Answer("The cluster can schedule 10 instance(s) of the pod.", 0), False),
        ("cluster-capacity", Answer("no such flag", 1), None),
    ],
)
def test_decisions_are_read_as_the_plugins_document_them(name: str, answer: Answer, *, pending: bool | None) -> None:
    (rival,) = (rival for rival in RIVALS if rival.name == name)
    assert rival.says_pending(answer) is pending

"""Directories that kubectl builds: what is run, and what its failures are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.cluster.files.kustomize import build
from kubectl_spread.errors import ManifestError
from tests.program import kubectl

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: i}]}\n"


def failure(directory: str, environment: dict[str, str]) -> str:
    """Return what is said of a directory that cannot be built."""
    with pytest.raises(ManifestError) as raised:
        build(directory, environment)
    (problem,) = raised.value.problems
    return f"{problem}; {raised.value.hint}" if raised.value.hint else str(problem)


def test_what_kubectl_prints_is_read(tmp_path: Path) -> None:
    kubectl(tmp_path, f'test "$*" = "kustomize -- overlay" && printf "{POD}"'.replace("\n", "\\n"))
    (document,) = build("overlay", {"PATH": f"{tmp_path}:/bin:/usr/bin"})
    assert (document.source, document.number, document.kind) == ("overlay", 1, "Pod")


def test_the_kubectl_that_runs_the_plugin_comes_first(tmp_path: Path) -> None:
    chosen, other = tmp_path / "chosen", tmp_path / "other"
    for folder in (chosen, other):
        folder.mkdir()
    program = kubectl(chosen, f'printf "{POD}"'.replace("\n", "\\n"))
    kubectl(other, "exit 9")
    assert build(".", {"KUBECTL_PATH": str(program), "PATH": f"{other}:/bin"})


def test_without_kubectl_there_is_another_way(tmp_path: Path) -> None:
    said = failure("overlay", {"PATH": str(tmp_path)})
    assert said.startswith("overlay: cannot be built: there is no kubectl to run; ")
    assert "kustomize build DIR | kubectl spread check -f -" in said


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'error: no kustomization\nfile' >&2; exit 1", "no kustomization file"),
        ("exit 7", "kubectl kustomize ended with code 7"),
    ],
)
def test_what_kubectl_refuses(tmp_path: Path, script: str, why: str) -> None:
    kubectl(tmp_path, script)
    assert failure("overlay", {"PATH": f"{tmp_path}:/bin"}) == f"overlay: cannot be built: {why}"


def test_a_program_that_cannot_be_run(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    assert failure("o", {"KUBECTL_PATH": missing}) == f"o: cannot be built: {missing}: No such file or directory"


def test_what_is_built_must_be_objects(tmp_path: Path) -> None:
    kubectl(tmp_path, "echo nothing")
    assert "must be a mapping" in failure("overlay", {"PATH": f"{tmp_path}:/bin:/usr/bin"})

"""Plugins for kubectl by others, built from their published Go modules at pinned versions into the cache.

A plugin that cannot be had here, or does not compile, is absent: nothing is said of it but what its documentation says.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.comparison.tools import Answer, Question, Tool
from tests.gobuild import cache_dir

_LONGEST_S = 1800.0


class AbsentError(Exception):
    """Why a plugin is not at hand: the last line of what Go said."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Rival:
    """A plugin and how it is asked.

    Attributes:
        name: as krew's index has it.
        module: Go module, as its go.mod declares it.
        version: the version that is built.
        package: of the command, below the module.
        arguments: the question → arguments of the program.
        says_pending: the answer → whether the Pod is without a Node, by its documented exit codes or words.
    """

    name: str
    module: str
    version: str
    package: str
    arguments: Callable[[Question], Sequence[str]]
    says_pending: Callable[[Answer], bool | None]


RIVALS = (
    Rival(
        name="why-pending",
        module="github.com/sairohithg/kubectl-why-pending",
        version="v0.4.0",
        package=".",
        arguments=lambda question: (question.pod, "-n", question.namespace, "--no-color"),
        says_pending=lambda answer: {0: False, 1: True}.get(answer.code),
    ),
    Rival(
        name="can-schedule",
        module="github.com/ronaknnathani/kubectl-can-schedule",
        version="v0.1.3",
        package="./cmd/kubectl-can_schedule",
        arguments=lambda question: ("-f", str(question.manifest), "-n", question.namespace),
        says_pending=lambda answer: {0: False, 1: True}.get(answer.code),
    ),
    Rival(
        name="topology",
        module="github.com/bmcstdio/kubectl-topology",
        version="v0.1.0",
        package=".",
        arguments=lambda question: ("pod", "-n", question.namespace),
        says_pending=lambda _: None,
    ),
    Rival(
        name="cluster-capacity",
        module="sigs.k8s.io/cluster-capacity",
        version="v0.29.0",
        package="./cmd/cluster-capacity",
        arguments=lambda question: ("--podspec", str(question.manifest), "--verbose"),
        says_pending=lambda answer: "schedule 0 instance" in answer.text if "instance" in answer.text else None,
    ),
)


def located(rival: Rival) -> Tool:
    """Return a plugin as a tool, building it when the cache lacks it.

    Raises:
        AbsentError: its module cannot be had, or it does not compile.
    """
    folder = cache_dir() / f"rivals-{rival.name}-{rival.version}"
    binary = folder / "bin" / rival.name
    if not binary.exists():
        _build(rival, folder=folder, binary=binary)
    return Tool(
        name=f"{rival.name} {rival.version}",
        command=lambda question: (str(binary), *rival.arguments(question)),
        says_pending=lambda _, answer: rival.says_pending(answer),
    )


def _build(rival: Rival, *, folder: Path, binary: Path) -> None:
    """Build in a copy of the module: `go install` refuses modules that replace others, as those on Kubernetes do."""
    downloaded = json.loads(_go("mod", "download", "-json", f"{rival.module}@{rival.version}", cwd=cache_dir()))
    sources = folder / "src"
    shutil.rmtree(sources, ignore_errors=True)
    # Go keeps its modules read-only; contents alone are copied.
    shutil.copytree(downloaded["Dir"], sources, copy_function=shutil.copyfile)
    binary.parent.mkdir(exist_ok=True)
    _go("build", "-trimpath", "-o", str(binary), rival.package, cwd=sources)


def _go(*arguments: str, cwd: Path) -> str:
    """Return what a go command prints."""
    cwd.mkdir(parents=True, exist_ok=True)
    try:
        run = subprocess.run(
            ("go", *arguments),  # noqa: S607 - whichever Go there is
            cwd=cwd,
            env={**os.environ, "GOWORK": "off"},
            capture_output=True,
            text=True,
            timeout=_LONGEST_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise AbsentError("Go is not installed") from error
    if run.returncode:
        raise AbsentError(_last_line(run.stdout, run.stderr))
    return run.stdout


def _last_line(stdout: str, stderr: str) -> str:
    """Return the last line that says why a command failed; `go mod download -json` says it on stdout."""
    said = json.loads(stdout)["Error"] if stdout.startswith("{") else stderr
    return str(said).strip().splitlines()[-1].strip()

"""Plugins for kubectl by others, built at pinned versions into the cache, from clones or as Go modules.

Clones are looked for in $KUBECTL_SPREAD_CLONES/OWNER/NAME, else in the folder ``clones`` of the cache. A plugin that
cannot be had here, or does not compile, is absent: nothing is said of it but what its documentation says.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.comparison.tools import Answer, Question, Tool
from tests.gobuild import cache_dir

_LONGEST_S = 1800.0
_SPELT = {"go": "Go"}


class AbsentError(Exception):
    """Why a plugin is not at hand: the last line of what was said by whoever was to bring or build it."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Rival:
    """A plugin and how it is asked.

    Attributes:
        name: as krew's index has it.
        repository: on GitHub, OWNER/NAME.
        version: the tag or commit that is built.
        package: of the command, below the Go module; empty where it is written in Rust.
        module: Go module, as its go.mod declares it; empty where it is none.
        arguments: the question → arguments of the program.
        says_pending: the answer → whether the Pod is without a Node, by its documented exit codes or words.
    """

    name: str
    repository: str
    version: str
    package: str = ""
    module: str = ""
    arguments: Callable[[Question], Sequence[str]]
    says_pending: Callable[[Answer], bool | None]


RIVALS = (
    Rival(
        name="why-pending",
        repository="SaiRohithGuntupally/kubectl-why-pending",
        module="github.com/sairohithg/kubectl-why-pending",
        version="v0.5.1",
        package=".",
        arguments=lambda question: (question.pod, "-n", question.namespace, "--no-color"),
        says_pending=lambda answer: {0: False, 1: True}.get(answer.code),
    ),
    Rival(
        name="can-schedule",
        repository="ronaknnathani/kubectl-can-schedule",
        module="github.com/ronaknnathani/kubectl-can-schedule",
        version="v0.1.3",
        package="./cmd/kubectl-can_schedule",
        arguments=lambda question: ("-f", str(question.manifest), "-n", question.namespace),
        says_pending=lambda answer: {0: False, 1: True}.get(answer.code),
    ),
    Rival(
        name="topology",
        repository="bmcstdio/kubectl-topology",
        module="github.com/bmcstdio/kubectl-topology",
        version="v0.1.1",
        package="./cmd/kubectl-topology",
        arguments=lambda question: ("pod", "-n", question.namespace),
        says_pending=lambda _: None,
    ),
    Rival(
        name="topology-skew",
        repository="watawuwu/kubectl-topology-skew",
        version="v0.2.3",
        arguments=lambda question: ("deployment", "-n", question.namespace),
        says_pending=lambda _: None,
    ),
    Rival(
        name="cluster-capacity",
        repository="kubernetes-sigs/cluster-capacity",
        module="sigs.k8s.io/cluster-capacity",
        version="3cb0ea289",
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


def at_hand(rivals: Sequence[Rival] = RIVALS) -> Mapping[Rival, Tool]:
    """Return the plugins that are at hand; of each other one it is said on stderr why it is not."""
    found = {}
    for rival in rivals:
        try:
            found[rival] = located(rival)
        except AbsentError as error:
            sys.stderr.write(f"{rival.name} {rival.version} is not at hand: {error}\n")
    return found


def _build(rival: Rival, *, folder: Path, binary: Path) -> None:
    """Build in a copy of the sources: `go install` refuses modules that replace others, as those on Kubernetes do."""
    sources = folder / "src"
    shutil.rmtree(sources, ignore_errors=True)
    _bring(rival, sources)
    binary.parent.mkdir(parents=True, exist_ok=True)
    if rival.package:
        _run("go", "build", "-trimpath", "-o", str(binary), rival.package, cwd=sources)
        return
    _run("cargo", "build", "--release", "--locked", "--target-dir", str(folder / "target"), cwd=sources)
    (made,) = (
        path for path in (folder / "target" / "release").iterdir() if path.is_file() and os.access(path, os.X_OK)
    )
    shutil.copy(made, binary)


def _bring(rival: Rival, sources: Path) -> None:
    """Make a copy of a plugin's sources."""
    clone = Path(os.environ.get("KUBECTL_SPREAD_CLONES") or cache_dir() / "clones") / rival.repository
    if clone.is_dir():
        _run("git", "clone", "--quiet", str(clone), str(sources), cwd=clone)
        _run("git", "checkout", "--quiet", rival.version, cwd=sources)
        return
    if not rival.module:
        raise AbsentError(f"there is no clone of {rival.repository}")
    downloaded = json.loads(_run("go", "mod", "download", "-json", f"{rival.module}@{rival.version}", cwd=cache_dir()))
    # Go keeps its modules read-only; contents alone are copied.
    shutil.copytree(downloaded["Dir"], sources, copy_function=shutil.copyfile)


def _run(*command: str, cwd: Path) -> str:
    """Return what a command prints that brings or builds."""
    cwd.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "GOWORK": "off"}
    try:
        run = subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=_LONGEST_S, check=False
        )
    except FileNotFoundError as error:
        raise AbsentError(f"{_SPELT.get(command[0], command[0])} is not installed") from error
    if run.returncode:
        raise AbsentError(_last_line(run.stdout, run.stderr))
    return run.stdout


def _last_line(stdout: str, stderr: str) -> str:
    """Return the last line that says why a command failed; `go mod download -json` says it on stdout."""
    said = json.loads(stdout)["Error"] if stdout.startswith("{") else stderr
    return (str(said).strip().splitlines() or [""])[-1].strip()

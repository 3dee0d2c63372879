"""The program as a user runs it: in this process for speed, or as the installed command."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import jsonschema
import msgspec
import pytest
import typer
from typer.testing import CliRunner

from kubectl_spread.cli import COMMANDS, PROGRAM, add_missing_command, application
from kubectl_spread.commands.source import Source
from kubectl_spread.contract.any_report import AnyReport
from kubectl_spread.render.structured import in_json

Values: TypeAlias = dict[str, Any]

INSTALLED = Path(sys.executable).with_name("kubectl-spread")


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    code: int  # its exit code
    stdout: str  # what it answered
    stderr: str  # what it said besides
    shown: str = field(default="", compare=False)  # both, as a terminal has them; empty for the installed command

    @cached_property
    def report(self) -> Values:
        """What ``-o json`` printed, which the schema that ships allows."""
        return valid(json.loads(self.stdout))

    @property
    def items(self) -> list[Values]:
        """The report's items."""
        found: list[Values] = self.report["items"]
        return found

    @property
    def item(self) -> Values:
        (found,) = self.items
        return found

    @property
    def error(self) -> str:
        """The only line on standard error, of a run that answered nothing."""
        assert self.stdout == ""
        (line,) = self.stderr.splitlines()
        return line


def spread(*words: str | Path, stdin: str | bytes = b"", env: Mapping[str, str | None] | None = None) -> Ended:
    """Return how ``kubectl spread`` with these words ends; what it does not catch is raised.

    ``env``: variables (None: removed) while it runs.
    """
    ordered = add_missing_command([str(word) for word in words])
    program = _program(*ordered[:1]) if ordered[:1] and ordered[0] in COMMANDS else _program()
    with CliRunner().isolation(input=stdin, env=env) as written:
        with pytest.raises(SystemExit) as ended:
            program(args=[*ordered], prog_name=PROGRAM)
        sys.stdout.flush()
        sys.stderr.flush()
        stdout, stderr, shown = (each.getvalue().decode().replace("\r\n", "\n") for each in written)
    assert isinstance(ended.value.code, int)
    return Ended(ended.value.code, stdout, stderr, shown)


@cache
def _program(*command: str) -> Callable[..., None]:
    """Return what runs a command line that begins with this command; with none, any other."""
    return typer.main.get_command(application(command)).main


def printed_in(columns: int, *words: str | Path, rows: int = 24) -> str:
    """Return what ``kubectl spread`` prints on a terminal of that size, without colors."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kubectl_spread.cli.output.terminal_size", lambda _: (columns, rows))
        return spread(*words).shown


@contextmanager
def answers_kept() -> Iterator[None]:
    """Let the commands compute each answer about files once, in however many ways this block prints it."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("audit", "check", "rebalance", "show", "simulate", "why_pending"):
            module = import_module(f"kubectl_spread.commands.{name}")
            patch.setattr(module, name, _keeping(getattr(module, name)))
        yield


def _keeping(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command, which answers no question twice; nothing that it is asked comes by standard input."""
    kept: list[tuple[object, Any]] = []

    def answer(source: Source, *asked: object, **more: object) -> Any:  # noqa: ANN401 - what the command returns
        question = source.name, asked, {name: value for name, value in more.items() if name not in {"stdin", "say"}}
        known = [found for other, found in kept if other == question]
        if not known:
            known = [command(source, *asked, **more)]
            kept.append((question, known[0]))
        return known[0]

    return answer


def installed(*words: str | Path, stdin: str | None = None, program: tuple[str | Path, ...] = (INSTALLED,)) -> Ended:
    """Return how the installed command ends."""
    run = subprocess.run([*program, *words], input=stdin, capture_output=True, text=True, check=False, timeout=60)
    return Ended(run.returncode, run.stdout, run.stderr)


def valid(report: Values) -> Values:
    """Return the report, which the schema that ships must allow."""
    _validator().validate(report)
    return report


def encoded(report: AnyReport) -> Values:
    """Return the report as programs read it, which the schema that ships must allow."""
    return valid(json.loads(msgspec.json.encode(in_json(report))))


@cache
def _validator() -> jsonschema.Draft202012Validator:
    """Return what holds reports against the schema that ships."""
    schema = files("kubectl_spread").joinpath("schema", "report.v1alpha2.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(schema))


def kubectl(folder: Path, script: str) -> Path:
    """Return a program of that name that runs the script."""
    program = folder / "kubectl"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def listed(path: Path, objects: Iterable[object]) -> Path:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*objects]}), encoding="utf-8")
    return path

"""The program as a user runs it: in this process for speed, or as the installed command."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import jsonschema
import msgspec
from typer.testing import CliRunner

from kubectl_spread.cli import PROGRAM, add_missing_command, application
from kubectl_spread.render.outline.any_report import AnyReport

Values: TypeAlias = dict[str, Any]

INSTALLED = Path(sys.executable).with_name("kubectl-spread")


@dataclass(frozen=True)
class Ended:
    """How a run ended.

    Attributes:
        code: its exit code.
        stdout: what it answered.
        stderr: what it said besides.
    """

    code: int
    stdout: str
    stderr: str

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
        """The only item."""
        (found,) = self.items
        return found

    @property
    def error(self) -> str:
        """The only line on standard error, of a run that answered nothing."""
        assert self.stdout == ""
        (line,) = self.stderr.splitlines()
        return line


def spread(*words: str | Path, stdin: str | bytes = b"") -> Ended:
    """Return how ``kubectl spread`` with these words ends; what it does not catch is raised."""
    ordered = add_missing_command([str(word) for word in words])
    ended = CliRunner().invoke(application(ordered), ordered, input=stdin, catch_exceptions=False, prog_name=PROGRAM)
    return Ended(ended.exit_code, ended.stdout, ended.stderr)


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
    return valid(json.loads(msgspec.json.encode(report)))


@cache
def _validator() -> jsonschema.Draft202012Validator:
    """Return what holds reports against the schema that ships."""
    schema = files("kubectl_spread").joinpath("schema", "report.v1alpha1.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(schema))


def kubectl(folder: Path, script: str) -> Path:
    """Return a program of that name that runs the script."""
    program = folder / "kubectl"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return program

"""``check`` as workflow commands of GitHub Actions, which shows them beside the files of a pull request.

Source: docs.github.com/actions/reference/workflows-and-actions/workflow-commands; actions/toolkit core/src/command.ts.
"""

from __future__ import annotations

from kubectl_spread.contract.check import CheckReport
from kubectl_spread.diagnosis.findings import Severity
from kubectl_spread.render.annotations import Annotation, annotations_of

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_IN_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY = _IN_MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def to_github(report: CheckReport) -> str:
    """Return a command for each thing that is wrong; empty where all is well."""
    return "".join(f"{_command(annotation)}\n" for annotation in annotations_of(report))


def _command(annotation: Annotation) -> str:
    properties = {
        "file": annotation.file,
        "line": str(annotation.line) if annotation.file and annotation.line else "",
        "title": annotation.rule,
    }
    given = ",".join(f"{name}={value.translate(_IN_PROPERTY)}" for name, value in properties.items() if value)
    return f"::{COMMANDS[annotation.severity]} {given}::{annotation.message.translate(_IN_MESSAGE)}"

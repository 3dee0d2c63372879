"""What is wrong with manifests, each with its place: for tools that show it beside the file, as GitHub Actions does.

Source: docs.github.com/actions/reference/workflows-and-actions/workflow-commands; actions/toolkit core/src/command.ts.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import UNSET, Struct

from kubectl_spread.contract.check import CheckItem, CheckReport
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.findings import Severity
from kubectl_spread.diagnosis.fixes.shell import command_line
from kubectl_spread.render.cells import clean
from kubectl_spread.render.outline.check import check_sentence, subject_of
from kubectl_spread.wording.check import edit_line, fix_sentence
from kubectl_spread.wording.findings import finding_text
from kubectl_spread.wording.incomplete import entries


class Annotation(Struct, frozen=True):
    """One thing that is wrong, or worth knowing, as a sentence.

    ``rule``: the finding, the verdict, ``Invalid`` or ``Warning``. ``path``: empty where the whole manifest is meant.
    """

    rule: str
    severity: Severity
    message: str
    item: CheckItem
    path: str = ""

    @property
    def subject(self) -> str:
        """The manifest, as people name it."""
        return subject_of(self.item)

    @property
    def file(self) -> str:
        """The file; empty where there is none."""
        return "" if self.item.origin is UNSET else self.item.origin.file

    @property
    def line(self) -> int:
        """The line in the file, counted from 1; 0 where it is not known."""
        origin = self.item.origin
        return 0 if origin is UNSET else origin.lines.get(self.path, origin.line)


def annotations_of(report: CheckReport) -> Iterator[Annotation]:
    """Yield everything that is to be said, manifest by manifest; nothing of those that are all right."""
    for item in report.items:
        for error in item.refusals:
            message = clean(str(error))
            yield Annotation(item.verdict.value, Severity.ERROR, message, item, error.field)
        for warning in item.warnings:
            message = clean(f"{warning.field}: {warning.message}")
            yield Annotation("Warning", Severity.WARNING, message, item, warning.field)
        yield from _verdict(item, report.metadata.connection_flags)
        for finding in item.findings:
            yield Annotation(finding.id, finding.severity, clean(finding_text(finding)), item, finding.path)


def _verdict(item: CheckItem, flags: Sequence[str]) -> Iterator[Annotation]:
    """Yield what becomes of the manifest, where that is not what it asks for."""
    subject = subject_of(item)
    if item.failed_create is not None and not item.refusals:
        yield Annotation(item.verdict.value, Severity.ERROR, clean(f"{subject}: {check_sentence(item)}"), item)
    elif (item.stuck and item.nodes) or item.jam or item.held_by:
        fixes = (
            fix_sentence(it, [*map(edit_line, it.edits), *(command_line(command, flags) for command in it.commands)])
            for it in item.fixes
        )
        decided = []
        if item.autoscaler is not UNSET:
            from kubectl_spread.wording.autoscalers import decision_text  # Most clusters have no autoscaler.

            decided = [decision_text(item.autoscaler)]
        sentence = clean(" ".join((f"{subject}: {check_sentence(item)}", *decided, *islice(fixes, 1))))
        path = next(iter(item.blamed_paths), "")
        yield Annotation(Verdict.UNSCHEDULABLE.value, Severity.ERROR, sentence, item, path)
    for gap in entries(item.incomplete):
        sentence = clean(f"{subject}: {gap.what} ({gap.why}): {gap.consequence}.")
        yield Annotation(Verdict.INCOMPLETE.value, Severity.WARNING, sentence, item)


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

"""The texts that tools show beside a manifest."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.diagnosis.fixes.change import ManifestEdit
from kubectl_spread.wording.entry import DEFINITION, Entry, EntryKind

WARNING = Entry(
    kind=EntryKind.FINDING,
    name="Warning",
    summary="the API server accepts the manifest and warns of a field",
    meaning="The field is deprecated, or what it says has another effect than it seems to have.",
    when="Where the API server would send a warning along with its answer.",
    action="Change the field as the message says.",
    link=DEFINITION,
)
"""What the API server says of what it accepts."""


def fix_sentence(summary: str, steps: Sequence[str]) -> str:
    """Return a fix as a sentence: what it does, then what to write or to run."""
    return f"Fix: {summary} ({'; '.join(steps)})."


def edit_line(edit: ManifestEdit) -> str:
    """Return a change of a manifest in one line."""
    written = " ".join(line.strip() for line in edit.after.splitlines())
    where = f"line {edit.line}" if edit.line else f"document {edit.document}, {edit.path}"
    return f"{where}: {written or 'remove it'}"

"""``kubectl spread explain``."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_spread.cli import output
from kubectl_spread.cli.flags import Flags, LogFlags, StructuredOutput
from kubectl_spread.errors import UsageError

if TYPE_CHECKING:
    from kubectl_spread.render.json_fields import JsonField

EPILOG = """
\b
Examples:
  kubectl spread explain                   # all names except the fields of -o json
  kubectl spread explain PinnedMinimum     # a finding: what it means and what to do
  kubectl spread explain RaiseMaxSkew      # a fix: what it changes
  kubectl spread explain minDomains        # a field of a constraint
  kubectl spread explain headroom          # a column of a table
  kubectl spread explain replicas          # a field of -o json
"""


class ExplainFlags(Flags):
    """The flags of ``explain`` alone."""

    name: Annotated[str, typer.Argument(metavar="[FINDING | FIX | STATUS | FIELD | COLUMN]")] = ""


def explain(flags: ExplainFlags, printing: StructuredOutput, _: LogFlags) -> None:
    """Explain a finding, fix, status, field or column. It reads nothing from a cluster."""
    from kubectl_spread.render.text.explain import entries_text, fields_text, listed_text, values_of
    from kubectl_spread.render.text.screen import Screen
    from kubectl_spread.wording.reference import entries, entries_named, similar_names

    found = entries_named(flags.name) if flags.name else entries()
    fields: Sequence[JsonField] = ()
    if not found:
        from kubectl_spread.render.json_fields import fields_named

        fields = fields_named(flags.name)
    if not found and not fields:
        near = similar_names(flags.name)
        hint = f"did you mean {' or '.join(near)}?" if near else "kubectl spread explain lists all entries"
        raise UsageError(f"no entry is named {flags.name!r}", hint=hint)
    screen = Screen(width=output.terminal_size(sys.stdout)[0])
    text = entries_text(found, screen) if flags.name else listed_text(found, screen)
    told = output.structured(values_of(found, fields), printing.output)
    output.write(told or text or fields_text(fields, screen))

"""``kubectl spread explain``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kubectl_spread.cli import output
from kubectl_spread.cli.flags import Flags, LogFlags, StructuredOutput
from kubectl_spread.errors import UsageError

EPILOG = """
\b
Examples:
  kubectl spread explain                   # everything there is to explain, one line each
  kubectl spread explain PinnedMinimum     # a finding: what it means and what to do
  kubectl spread explain RaiseMaxSkew      # a fix: what it changes
  kubectl spread explain minDomains        # a field of a constraint
  kubectl spread explain headroom          # a column of a table
"""


class ExplainFlags(Flags):
    """The flags of ``explain`` alone."""

    name: Annotated[str, typer.Argument(metavar="[FINDING | FIX | STATUS | FIELD | COLUMN]")] = ""


def explain(flags: ExplainFlags, printing: StructuredOutput, _: LogFlags) -> None:
    """Explain a finding, a fix, a status, a field or a column, from what ships with this plugin: nothing is read."""
    from kubectl_spread import reference
    from kubectl_spread.render.text.explain import entries_text, listed_text, values_of
    from kubectl_spread.render.text.screen import Screen

    found = reference.entries_named(flags.name) if flags.name else reference.ENTRIES
    if not found:
        near = reference.similar_names(flags.name)
        hint = f"did you mean {' or '.join(near)}?" if near else "kubectl spread explain lists what there is"
        raise UsageError(f"nothing to explain is named {flags.name!r}", hint=hint)
    screen = Screen(width=output.terminal_width(sys.stdout))
    text = entries_text(found, screen) if flags.name else listed_text(found, screen)
    output.write(output.structured(values_of(found), printing.output) or text)

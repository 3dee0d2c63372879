"""``kubectl spread options``."""

from __future__ import annotations

from kubectl_spread.cli import output
from kubectl_spread.cli.flags import LogFlags

EPILOG = """
\b
Examples:
  kubectl spread options                   # flags that every command takes which reads a cluster
"""


def options(_: LogFlags) -> None:
    """List the flags that every command takes which reads a cluster: where it is, what is meant, whose rules apply."""
    from kubectl_spread.cli.help import shared_help

    output.write(shared_help() + "\n")

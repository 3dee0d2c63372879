"""``kubectl spread options``."""

from kubectl_spread.cli import output
from kubectl_spread.cli.flags import LogFlags

EPILOG = """
\b
Examples:
  kubectl spread options                   # list the shared flags
"""


def options(_: LogFlags) -> None:
    """List flags shared by all commands that read a cluster."""
    from kubectl_spread.cli.help import shared_help

    output.write(shared_help() + "\n")

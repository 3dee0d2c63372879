"""``kubectl spread version``."""

import platform

from kubectl_spread import __version__
from kubectl_spread.cli import output
from kubectl_spread.cli.flags import LogFlags, StructuredOutput

EPILOG = """
\b
Examples:
  kubectl spread version                   # as text
  kubectl spread version -o json           # as JSON
"""


def version(printing: StructuredOutput, _: LogFlags) -> None:
    """Print the version of this plugin and the kube-scheduler releases it supports."""
    from kubectl_spread.release import PROVED_MINORS

    releases = [f"v1.{minor}" for minor in PROVED_MINORS]
    values = {
        "clientVersion": {"gitVersion": f"v{__version__}", "pythonVersion": platform.python_version()},
        "schedulerReleases": releases,
    }
    text = f"kubectl-spread v{__version__}\nmirrors kube-scheduler {releases[0]} to {releases[-1]}\n"
    output.write(output.structured(values, printing.output) or text)

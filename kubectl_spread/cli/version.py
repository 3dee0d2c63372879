"""``kubectl spread version``."""

from __future__ import annotations

from kubectl_spread import __version__
from kubectl_spread.cli import output
from kubectl_spread.cli.flags import LogFlags


def version(_: LogFlags) -> None:
    """Print the version of this plugin and the releases of kube-scheduler it mirrors."""
    from kubectl_spread.scheduler.profile import PROVED_MINORS

    mirrored = f"v1.{PROVED_MINORS[0]} to v1.{PROVED_MINORS[-1]}"
    output.write(f"kubectl-spread v{__version__}\nmirrors kube-scheduler {mirrored}\n")

"""Which cluster was read, and what commands that are printed need to reach it."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.wording.words import enumerated


def read_from(context: str, cluster: str, server: str) -> str:
    """Return which cluster was read, where kubectl without flags asks another one.

    Args:
        context: the context's name; empty when there is none.
        cluster: the name of the cluster in the kubeconfig; empty when there is none.
        server: the API server's URL.
    """
    named = [f"{what} {name}" for what, name in (("context", context), ("cluster", cluster)) if name]
    return f"Read from {', '.join((*named, server))}: not the current context."


def files_name_no_cluster(source: str) -> str:
    """Return that commands name no cluster, for files do not say in which context they were read."""
    return f"Read from {'standard input' if source == '-' else source}: add --context to the commands."


def secrets_left_out(flags: Sequence[str]) -> str:
    """Return which flags commands need that are not printed, for their values are secret."""
    return f"Add {enumerated(flags)} to the commands: secrets are not printed."

"""Which cluster was read, and what commands that are printed need to reach it."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.wording.words import enumerated


def read_from(context: str, cluster: str, server: str) -> str:
    """Return which cluster was read, where kubectl without flags asks another one; empty names are left out."""
    named = [f"{what} {name}" for what, name in (("context", context), ("cluster", cluster)) if name]
    return f"Read from {', '.join((*named, server))}, which is not the current context."


def taken_from(taken_at: str, context: str, cluster: str, server: str) -> str:
    """Return when and where the snapshot was taken that was read; each is empty where its file does not say it."""
    named = [f"{what} {name}" for what, name in (("context", context), ("cluster", cluster)) if name]
    place = ", ".join(filter(None, (*named, server)))
    return " ".join(("Snapshot", *(("of", taken_at) if taken_at else ()), *(("from", place) if place else ()))) + "."


FILES_NAME_NO_CLUSTER = "Add --context NAME to every kubectl below: the file does not name its cluster."


def left_out(flags: Sequence[str], *, snapshot: bool) -> str:
    """Return which flags commands need that are not printed: they are secret, or a snapshot does not hold them."""
    why = "the snapshot was taken with them" if snapshot else "secrets are not printed"
    return f"Add {enumerated(flags)} to every kubectl below: {why}."

"""Objects as they are named on a command line: ``TYPE/NAME``, or a TYPE and names."""

from __future__ import annotations

from kubectl_spread.errors import UsageError
from kubectl_spread.objects import kinds
from kubectl_spread.wording.words import did_you_mean


def parse_names(arguments: tuple[str, ...]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return (kind, names) of ``TYPE/NAME``..., ``TYPE NAME...`` or ``TYPE``; kinds in lower case.

    Raises:
        UsageError: a TYPE is unknown, or the forms are mixed.
    """
    if not arguments:
        return "", ()
    if any("/" in argument for argument in arguments):
        if not all("/" in argument for argument in arguments):
            raise UsageError(
                "there is no need to specify a resource type as a separate argument when passing arguments in"
                " resource/name form",
                hint="use TYPE/NAME or TYPE NAME, not both",
            )
        return "", tuple(_named(*argument.split("/", 1)) for argument in arguments)
    kind = _kind(arguments[0])
    return kind, tuple((kind, name) for name in arguments[1:])


def _named(word: str, name: str) -> tuple[str, str]:
    if not name:
        raise UsageError("arguments in resource/name form must have a single resource and name")
    return _kind(word), name


def _kind(word: str) -> str:
    """Return the kind a TYPE means, in lower case; a TYPE of another API is taken as it stands when it is one word.

    Raises:
        UsageError: the TYPE has no Pods.
    """
    kind = kinds.named(word)
    if kind is None and word.lower() in CUSTOM_WORKLOADS:
        return CUSTOM_WORKLOADS[word.lower()]
    if kind is None or not (kind.makes_pods or kind is kinds.POD):
        known = (*kinds.WORKLOAD_KINDS, kinds.POD)
        near = (
            ""
            if kind
            else did_you_mean(word.lower(), {name for kind in known for name in (kind.singular, kind.plural)})
        )
        hint = near or f"use one of {', '.join(kind.plural for kind in known)}"
        raise UsageError(f'the server doesn\'t have a resource type "{word}" that makes Pods', hint=hint)
    return kind.singular


CUSTOM_WORKLOADS = {"rollout": "rollout", "rollouts": "rollout", "ro": "rollout"}
"""TYPEs of other APIs that are named often enough to be accepted."""

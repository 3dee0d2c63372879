"""Objects as they are named on a command line: by TYPE and name, by name alone, and with a namespace or without."""

from __future__ import annotations

import msgspec

from kubectl_spread.errors import UsageError
from kubectl_spread.objects import kinds
from kubectl_spread.wording.words import did_you_mean

TYPES = (*kinds.WORKLOAD_KINDS, kinds.POD)
EVERYTHING = "all"
"""kubectl's word for workloads of every TYPE."""
CUSTOM_WORKLOADS = {"rollout": "rollout", "rollouts": "rollout", "ro": "rollout"}
"""TYPEs of other APIs that are named often enough to be accepted."""


class Named(msgspec.Struct, frozen=True):
    """The objects that are named.

    Attributes:
        kinds: the kinds that are wanted, in lower case; empty for all.
        names: (kind, name) of each object; the kind is empty where any is meant.
        namespace: where they are; empty where that is not said.
        otherwise: what is meant where there is none there: what stands before the name may be a TYPE of another API.
    """

    kinds: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    namespace: str = ""
    otherwise: Named | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The objects as ``deployment/web``; a name alone where it may be a Pod's."""
        return tuple(name if kind in {"", kinds.POD.singular} else f"{kind}/{name}" for kind, name in self.names)


def parse_names(arguments: tuple[str, ...]) -> Named:
    """Return what is named by ``[[NAMESPACE/]TYPE/]NAME``..., ``NAMESPACE/NAME``..., ``TYPE[,TYPE] [NAME...]``.

    Raises:
        UsageError: a TYPE is unknown, or the forms are mixed.
    """
    if arguments in {(), (EVERYTHING,)}:
        return Named()
    if not any("/" in argument for argument in arguments) and (types := _types(arguments[0])):
        return Named(types, tuple((kind, name) for name in arguments[1:] for kind in types))
    if any("/" not in argument and _types(argument) for argument in arguments):
        raise UsageError(
            "there is no need to specify a resource type as a separate argument when passing arguments in"
            " resource/name form",
            hint="use TYPE/NAME or TYPE NAME, not both",
        )
    namespaces, names = zip(*map(_named, arguments), strict=True)
    if len(set(namespaces)) > 1:
        raise UsageError("the objects are in several namespaces", hint="name those of one namespace at a time")
    (namespace,) = set(namespaces)
    custom = tuple((namespace.lower(), name) for kind, name in names if not kind)
    of_type = Named(names=custom) if namespace and len(custom) == len(names) else None
    return Named(names=names, namespace=namespace, otherwise=of_type)


def names_type(word: str) -> bool:
    """Whether the word is ``TYPE``, ``TYPE/NAME`` or ``NAMESPACE/NAME``."""
    return "/" in word or all(map(_is_type, word.split(",")))


def near_type(word: str) -> str:
    """Return the question whether a TYPE is meant; empty where none is near."""
    return did_you_mean(word.lower(), {name for kind in TYPES for name in (kind.singular, kind.plural)})


def _named(argument: str) -> tuple[str, tuple[str, str]]:
    """Return (namespace, (kind, name)) of one object; namespace and kind are empty where they are not said."""
    *before, name = argument.split("/")
    if not (name and all(before)):
        raise UsageError("arguments in resource/name form must have a single resource and name")
    if len(before) == 1 and not _is_type(before[0]) and not near_type(before[0]):
        # A namespace has no dots, a TYPE with its group has.
        custom, dot, _ = before[0].partition(".")
        return ("", (custom.lower(), name)) if dot else (custom, ("", name))
    if len(before) > len(("NAMESPACE", "TYPE")):
        raise UsageError(f"{argument!r} names nothing", hint="want [NAMESPACE/]TYPE/NAME")
    return "".join(before[:-1]), (_kind(before[-1], custom=True) if before else "", name)


def _types(word: str) -> tuple[str, ...]:
    """Return the kinds of ``TYPE[,TYPE]``; empty where no part is a TYPE.

    Raises:
        UsageError: some are TYPEs and others not.
    """
    parts = word.split(",")
    return tuple(dict.fromkeys(map(_kind, parts))) if any(map(_is_type, parts)) else ()


def _is_type(word: str) -> bool:
    name = word.partition(".")[0]
    return name.lower() in CUSTOM_WORKLOADS or kinds.named(name) is not None


def _kind(word: str, *, custom: bool = False) -> str:
    """Return the kind a TYPE means, in lower case.

    Args:
        word: the TYPE.
        custom: whether a TYPE of another API, which may own Pods, is taken as it stands unless it is misspelt.

    Raises:
        UsageError: the TYPE has no Pods.
    """
    kind = kinds.named(word)
    if kind is None and (known := CUSTOM_WORKLOADS.get(word.lower().partition(".")[0])):
        return known
    if custom and kind is None and not _is_type(word) and not near_type(word):
        return word.lower().partition(".")[0]
    if kind not in TYPES:
        hint = ("" if kind else near_type(word)) or f"use one of {', '.join(each.plural for each in TYPES)}"
        raise UsageError(f'the server doesn\'t have a resource type "{word}" that makes Pods', hint=hint)
    return kind.singular

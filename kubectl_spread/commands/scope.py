"""Which objects a command is about, and how they are named on a command line: by TYPE, name and namespace."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec

from kubectl_spread.controllers.workloads import OwnedPods, workloads
from kubectl_spread.errors import ClusterError, UsageError
from kubectl_spread.labels import EVERYTHING, Selector
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Kind
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.words import LIST, did_you_mean, enumerated

TYPES = (*kinds.WORKLOAD_KINDS, kinds.POD)
ALL_TYPES = "all"  # kubectl's word for workloads of every TYPE
# TYPEs of other APIs that are accepted because they are common.
CUSTOM_WORKLOADS = {"rollout": "rollout", "rollouts": "rollout", "ro": "rollout"}


class Named(msgspec.Struct, frozen=True):
    """The objects that are named."""

    kinds: tuple[str, ...] = ()  # in lower case; empty for all
    names: tuple[tuple[str, str], ...] = ()  # (kind, name) of each object; the kind is empty where any is meant
    namespace: str = ""
    # what is meant where that namespace has none: ``X/NAME`` may name a TYPE of another API
    otherwise: Named | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The objects as ``deployment/web``; only the name of those that may be Pods."""
        return tuple(name if kind in {"", kinds.POD.singular} else f"{kind}/{name}" for kind, name in self.names)


def parse_names(arguments: tuple[str, ...]) -> Named:
    """Return what is named by ``[[NAMESPACE/]TYPE/]NAME``..., ``NAMESPACE/NAME``..., ``TYPE[,TYPE] [NAME...]``.

    UsageError if a TYPE is unknown, or the forms are mixed.
    """
    if arguments in {(), (ALL_TYPES,)}:
        return Named()
    if not any("/" in argument for argument in arguments) and (types := _parse_types(arguments[0])):
        return Named(types, tuple((kind, name) for name in arguments[1:] for kind in types))
    if any("/" not in argument and _parse_types(argument) for argument in arguments):
        raise UsageError(
            "there is no need to specify a resource type as a separate argument when passing arguments in"
            " resource/name form",
            hint="use TYPE/NAME or TYPE NAME, not both",
        )
    namespaces, names = zip(*map(_parse_name, arguments), strict=True)
    if len(set(namespaces)) > 1:
        raise UsageError("the objects are in several namespaces", hint="name those of one namespace at a time")
    (namespace,) = set(namespaces)
    custom = tuple((namespace.lower(), name) for kind, name in names if not kind)
    of_type = Named(names=custom) if namespace and len(custom) == len(names) else None
    return Named(names=names, namespace=namespace, otherwise=of_type)


def names_type(word: str) -> bool:
    """Whether the word is ``TYPE[,TYPE]``, ``TYPE/NAME`` or ``NAMESPACE/NAME``."""
    return "/" in word or all(map(_is_type, word.split(",")))


def near_type(word: str) -> str:
    """Return "did you mean" with the TYPE that is most like the word; empty where none is like it."""
    return did_you_mean(word.lower(), {name for kind in TYPES for name in (kind.singular, kind.plural)})


def _parse_name(argument: str) -> tuple[str, tuple[str, str]]:
    """Return (namespace, (kind, name)) of one object; namespace and kind are empty where they are not given."""
    *before, name = argument.split("/")
    if not (name and all(before)):
        raise UsageError("arguments in resource/name form must have a single resource and name")
    if len(before) == 1 and not _is_type(before[0]) and not near_type(before[0]):
        # A namespace has no dots, a TYPE with its group has.
        custom, dot, _ = before[0].partition(".")
        return ("", (custom.lower(), name)) if dot else (custom, ("", name))
    if len(before) > len(("NAMESPACE", "TYPE")):
        raise UsageError(f"{argument!r} names no object", hint="want [NAMESPACE/]TYPE/NAME")
    return "".join(before[:-1]), (_parse_type(before[-1], custom=True) if before else "", name)


def _parse_types(word: str) -> tuple[str, ...]:
    """Return the kinds of ``TYPE[,TYPE]``; empty where no part is a TYPE."""
    parts = word.split(",")
    return tuple(dict.fromkeys(map(_parse_type, parts))) if any(map(_is_type, parts)) else ()


def _is_type(word: str) -> bool:
    name = word.partition(".")[0]
    return name.lower() in CUSTOM_WORKLOADS or kinds.named(name) is not None


def _parse_type(word: str, *, custom: bool = False) -> str:
    """Return the kind of a TYPE, in lower case; with ``custom``, also of an unknown TYPE that is like no known one."""
    kind = kinds.named(word)
    if kind is None and (known := CUSTOM_WORKLOADS.get(word.lower().partition(".")[0])):
        return known
    if custom and kind is None and not _is_type(word) and not near_type(word):
        return word.lower().partition(".")[0]
    if kind not in TYPES:
        hint = ("" if kind else near_type(word)) or f"use one of {', '.join(each.plural for each in TYPES)}"
        raise UsageError(f'the server doesn\'t have a resource type "{word}" that makes Pods', hint=hint)
    return kind.singular


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """Which objects a command is about, kinds in lower case, names as ``deployment/web`` or ``web``; empty for all."""

    namespace: str
    selector: Selector = EVERYTHING
    kinds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def wants(self, kind: str) -> bool:
        """Whether the scope has workloads of the kind."""
        return not self.kinds or kind.lower() in self.kinds

    def covers(self, namespace: str) -> bool:
        """Whether the scope has objects of the namespace."""
        return self.namespace in {"", namespace}

    def selects(self, workload: OwnedPods) -> bool:
        """Whether the workload is in the namespace, and its labels or those of any of its Pods match."""
        own = workload.owner.metadata.labels if workload.owner else {}
        matches = self.selector.matches
        selected = self.selector.empty or matches(own) or any(matches(pod.metadata.labels) for pod in workload.pods)
        return selected and self.covers(workload.namespace)


def namespaces_with_pods(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the names of the namespaces that have Pods, sorted."""
    return tuple(sorted({pod.metadata.namespace for pod in snapshot.all(Pod)}))


def not_found(what: str, scope: Scope, elsewhere: Iterable[str], *, near: str = "") -> ClusterError:
    """Return the error for ``pods "web-0"``, which does not exist; ``elsewhere``: namespaces that have such an object.

    ``near``: "did you mean" with another name; empty for none.
    """
    namespaces = ", ".join(sorted(elsewhere))
    hint = f"there is one in namespace {namespaces}: use -n" if namespaces else near or "check the name, or use -n"
    return ClusterError(f'{what} not found in namespace "{scope.namespace}"', what=what, status=404, hint=hint)


def absent_workload(named: str, scope: Scope, there: Iterable[OwnedPods]) -> ClusterError:
    """Return the error for a workload that does not exist, named as ``deployment/web`` or by its name alone."""
    found = [(str(each.ref) if "/" in named else each.ref.name, each.namespace) for each in there]
    here = {name for name, namespace in found if scope.covers(namespace)}
    what = named if "/" in named else f'workload "{named}"'
    near = did_you_mean(named, here) or ("" if "/" in named else near_type(named))
    return not_found(what, scope, {namespace for name, namespace in found if name == named}, near=near)


def kind_of_named(name: str, scope: Scope, snapshot: Snapshot) -> str:
    """Return the kind in lower case of the one workload or Pod of this name, empty for none; UsageError for several."""
    each = (workload.ref for workload in workloads(snapshot) if scope.covers(workload.namespace))
    found = {ref.kind.lower() for ref in each if ref.name == name}
    found |= {kind.singular for kind in TYPES if snapshot.get(kind.struct, scope.namespace, name)}
    if len(found) > 1:
        several = enumerated([f"{kind}/{name}" for kind in sorted(found)])
        raise UsageError(f'"{name}" is the name of {several}', hint="use TYPE/NAME")
    return next(iter(found), "")


def unseen(what: str, meant: Collection[Kind | None], snapshot: Snapshot) -> ClusterError | None:
    """Return the error for an object that may exist because one of its possible kinds is unread; None where none is."""
    for unread in snapshot.inventory.unread:
        if unread.kind in meant:
            read = f"{LIST}{unread.kind.plural}"
            return ClusterError(f"cannot tell whether {what} exists: {read} ({unread.why})", what=read)
    return None


def nothing_found(scope: Scope, what: str, elsewhere: Sequence[str]) -> str:
    """Return the note for an empty answer, with the namespaces that have Pods."""
    if not scope.namespace:
        return f"No {what} found."
    others = [namespace for namespace in elsewhere if namespace != scope.namespace]
    near = did_you_mean(scope.namespace, others) if len(others) == len(elsewhere) else ""
    found = (
        f"No {what} found in {scope.namespace} namespace.",
        near[:1].upper() + near[1:],
        f"Namespaces with Pods: {', '.join(others)}." if others else "",
    )
    return " ".join(filter(None, found))

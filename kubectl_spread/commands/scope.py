"""Which objects a command is about: a namespace or all, a label selector, names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec

from kubectl_spread.commands.arguments import TYPES, near_type
from kubectl_spread.controllers.workloads import OwnedPods, workloads
from kubectl_spread.errors import ClusterError, UsageError
from kubectl_spread.labels import EVERYTHING, Selector
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import Kind
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.words import LIST, did_you_mean, enumerated


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked about.

    Attributes:
        namespace: the namespace; empty for all.
        selector: the labels that are wanted.
        kinds: the kinds of workloads that are wanted, in lower case; empty for all.
        names: the objects that are wanted, as ``deployment/web`` or by name alone; empty for all.
    """

    namespace: str
    selector: Selector = EVERYTHING
    kinds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def wants(self, kind: str) -> bool:
        """Whether workloads of the kind are meant."""
        return not self.kinds or kind.lower() in self.kinds

    def covers(self, namespace: str) -> bool:
        """Whether objects of the namespace are meant."""
        return self.namespace in {"", namespace}

    def selects(self, workload: OwnedPods) -> bool:
        """Whether the workload is meant: it lies there, and its own labels match, or those of any of its Pods."""
        own = workload.owner.metadata.labels if workload.owner else {}
        matches = self.selector.matches
        selected = self.selector.empty or matches(own) or any(matches(pod.metadata.labels) for pod in workload.pods)
        return selected and self.covers(workload.namespace)


def namespaces_with_pods(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the namespaces that hold Pods, by name."""
    return tuple(sorted({pod.metadata.namespace for pod in snapshot.all(Pod)}))


def not_found(what: str, scope: Scope, elsewhere: Iterable[str], *, near: str = "") -> ClusterError:
    """Return the error for an object that was named and does not exist.

    Args:
        what: the object, such as ``pods "web-0"``.
        scope: where it was looked for.
        elsewhere: the namespaces in which there is one of that name.
        near: the question whether another is meant; empty for none.
    """
    namespaces = ", ".join(sorted(elsewhere))
    hint = f"there is one in namespace {namespaces}: use -n" if namespaces else near or "check the name, or use -n"
    return ClusterError(f'{what} not found in namespace "{scope.namespace}"', what=what, status=404, hint=hint)


def absent_workload(named: str, scope: Scope, there: Iterable[OwnedPods]) -> ClusterError:
    """Return the error for a workload, as ``deployment/web`` or by its name alone, that is none of these."""
    found = [(str(each.ref) if "/" in named else each.ref.name, each.namespace) for each in there]
    here = {name for name, namespace in found if scope.covers(namespace)}
    what = named if "/" in named else f'workload "{named}"'
    near = did_you_mean(named, here) or ("" if "/" in named else near_type(named))
    return not_found(what, scope, {namespace for name, namespace in found if name == named}, near=near)


def kind_of_named(name: str, scope: Scope, snapshot: Snapshot) -> str:
    """Return the kind, in lower case, of the one workload or Pod that has the name; empty where none has.

    Raises:
        UsageError: several have it.
    """
    each = (workload.ref for workload in workloads(snapshot) if scope.covers(workload.namespace))
    found = {ref.kind.lower() for ref in each if ref.name == name}
    found |= {kind.singular for kind in TYPES if snapshot.get(kind.struct, scope.namespace, name)}
    if len(found) > 1:
        several = enumerated([f"{kind}/{name}" for kind in sorted(found)])
        raise UsageError(f'"{name}" is the name of {several}', hint="use TYPE/NAME")
    return next(iter(found), "")


def unseen(what: str, meant: Collection[Kind | None], snapshot: Snapshot) -> ClusterError | None:
    """Return the error for an object that may exist, since one of the kinds meant was not read; None where all were."""
    for unread in snapshot.inventory.unread:
        if unread.kind in meant:
            read = f"{LIST}{unread.kind.plural}"
            return ClusterError(f"cannot tell whether {what} exists: {read} ({unread.why})", what=read)
    return None


def nothing_found(scope: Scope, what: str, elsewhere: Sequence[str]) -> str:
    """Return what to tell a person whose question has an empty answer."""
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

"""Which objects a command is about: a namespace or all, a label selector, names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from kubectl_spread.controllers.workloads import OwnedPods
from kubectl_spread.errors import ClusterError
from kubectl_spread.labels import EVERYTHING, Selector
from kubectl_spread.objects.core import Pod
from kubectl_spread.snapshot import Snapshot
from kubectl_spread.wording.words import did_you_mean


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked about.

    Attributes:
        namespace: the namespace; empty for all.
        selector: the labels that are wanted.
        names: the objects that are wanted, as they were named; empty for all.
    """

    namespace: str
    selector: Selector = EVERYTHING
    names: tuple[str, ...] = ()

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

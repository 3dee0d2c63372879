"""``show --watch``: what ``show`` answers now, and again whenever that is no longer so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import ShowAnswer, ShowOptions, show
from kubectl_spread.commands.source import Followed, Source, SourceWithin
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.snapshot import Inventory

if TYPE_CHECKING:
    from kubectl_spread.cluster.reads import Read


class WatchedSource(SourceWithin):
    """A cluster that is read once and from then on kept up with: whoever reads again has what is there by then.

    The server's release and how many Pods there are decide what is read, and stay as they were found.

    Args:
        source: where the cluster is read from.
        say: hears in one line that it is lost, and that it is back.
    """

    def __init__(self, source: Source, say: Callable[[str], object]) -> None:
        super().__init__(source)
        self._say = say
        self._version: str | None = None
        self._pods: int | None = None
        self._followed: Followed | None = None

    def version(self) -> str:
        """Return what the server said of itself.

        Raises:
            ClusterError: it does not answer.
        """
        if self._version is None:
            self._version = self._source.version()
        return self._version

    def count_pods(self, namespace: str = "") -> int:
        """Return how many Pods the cluster had at first, or how many a namespace has.

        Raises:
            ClusterError: the server does not answer.
        """
        if namespace:
            return self._source.count_pods(namespace)
        if self._pods is None:
            self._pods = self._source.count_pods()
        return self._pods

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return what there is now of what was asked for first.

        Raises:
            ClusterError: a list that is needed cannot be had, or may not be watched.
            UsageError: files cannot be watched.
        """
        if self._followed is None:
            self._followed = self._source.watch(reads, self._say)
        return self._followed.inventory()

    def wait(self) -> None:
        """Return when something that was read has changed.

        Raises:
            ClusterError: a right was withdrawn.
        """
        if self._followed is not None:
            self._followed.wait()


def follow(
    source: Source, scope: Scope, options: ShowOptions, scheduler: SchedulerOptions, *, say: Callable[[str], object]
) -> Iterator[ShowAnswer[SkewReport]]:
    """Yield the answer now and whenever it has changed, without end.

    Workloads that are named have to exist now; their rows go when they do.

    Args:
        source: where the cluster is read from.
        scope: which objects are meant.
        options: what is asked.
        scheduler: whose rules apply.
        say: hears in one line that the server is lost, and that it is back.

    Raises:
        ClusterError: as for ``show``, or a list may not be watched.
        UsageError: files cannot be watched.
    """
    watched = WatchedSource(source, say)
    first = replace(options, at_once=True)
    answer = show(watched, scope, first, scheduler)
    yield answer
    later = replace(first, may_be_gone=True)
    while True:
        watched.wait()
        previous, answer = answer, show(watched, scope, later, scheduler)
        if _said(answer) != _said(previous):
            yield answer


def _said(answer: ShowAnswer[SkewReport]) -> tuple[object, ...]:
    """Return what an answer says, whatever versions it rests on."""
    return answer.report.items, answer.report.incomplete

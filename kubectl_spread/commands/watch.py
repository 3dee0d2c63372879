"""``show --watch``: the answer of ``show`` now, and again whenever it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import ShowAnswer, ShowOptions, show
from kubectl_spread.commands.source import Followed, Source
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.snapshot import Inventory

if TYPE_CHECKING:
    from kubectl_spread.cluster.reads import Read


class WatchedSource:
    """A cluster that is read once and then kept up to date: each further read returns what is there by then.

    The server's release and the number of Pods decide what is read; they stay as first found.

    Args:
        source: the cluster.
        say: takes one line when the server is lost, and one when it is back.
    """

    def __init__(self, source: Source, say: Callable[[str], object]) -> None:
        self.namespace, self.server, self.name = source.namespace, source.server, source.name
        self.access, self.log = source.access, source.log
        self.version, self.count_pods, self.watch = cache(source.version), cache(source.count_pods), source.watch
        self._say = say
        self._followed: Followed | None = None

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return what there is now of the lists that the first call asked for.

        Raises:
            ClusterError: a list that is needed cannot be had, or may not be watched.
            UsageError: files cannot be watched.
        """
        if self._followed is None:
            self._followed = self.watch(reads, self._say)
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
    """Yield the answer now and whenever it changes, without end.

    Named workloads must exist now; when they are deleted later, so are their rows.

    Args:
        source: the cluster.
        scope: which objects are meant.
        options: what is asked.
        scheduler: whose rules apply.
        say: takes one line when the server is lost, and one when it is back.

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
        # The versions that an answer rests on change all the time.
        if (answer.report.items, answer.report.incomplete) != (previous.report.items, previous.report.incomplete):
            yield answer

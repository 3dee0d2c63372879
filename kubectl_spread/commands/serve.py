"""``serve``: the answers of ``show`` and ``audit`` about a cluster that is followed, as metrics and pages."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from http import HTTPStatus
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

import msgspec
from msgspec import UnsetType
from msgspec.structs import replace

from kubectl_spread.commands import read_sets
from kubectl_spread.commands.audit import AuditOptions, audit
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import ShowOptions, WatchedSource, show
from kubectl_spread.commands.source import ClusterSource
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.errors import ClusterError, SpreadError
from kubectl_spread.render.html import to_html
from kubectl_spread.render.prometheus import STALE, exposition, families, family, missing
from kubectl_spread.snapshot import Inventory, together

if TYPE_CHECKING:
    from kubectl_spread.cluster.api.informer import Informer
    from kubectl_spread.cluster.reads import Read

MOST_STALE = 60.0  # How long (seconds) the cluster may be out of reach before ``/healthz`` fails
# How old (seconds) an answer may become where nothing has changed: an autoscaler's objects are read, not followed.
UNFOLLOWED = 30.0
RETRY = 5.0  # The pause (seconds) between two attempts to read the cluster for the first time
PAGES = {"show": "/", "audit": "/audit"}  # Name of a page → its path
PATHS = (*PAGES.values(), "/metrics", "/healthz")


class Response(msgspec.Struct, frozen=True):
    """What a path is answered with."""

    body: bytes
    media_type: str = "text/plain; charset=utf-8"
    status: HTTPStatus = HTTPStatus.OK


class _Source(WatchedSource):
    """The cluster, of which the lists of ``audit`` are followed and all others are read when they are asked for."""

    FOLLOWED = read_sets.for_moving()

    def __init__(self, source: ClusterSource, say: Callable[[str], object]) -> None:
        super().__init__(source, say)
        # An upgrade of the server brings other rules.
        self.version = source.version
        self._connection = source.connection
        self.informer: Informer = source.watch(self.FOLLOWED, say)

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return what there is now; ClusterError if a list that is not followed cannot be had."""
        kinds = {each.kind for each in self.FOLLOWED}
        asked = {each.kind for each in reads} & kinds
        others = [each for each in reads if each.kind not in kinds]
        now, names = self.informer.inventory(), {kind.name for kind in asked}
        followed = replace(
            now,
            objects={name: objects for name, objects in now.objects.items() if name in names},
            unread=tuple(each for each in now.unread if each.kind in asked),
        )
        # A source continues at the version of its first read, which is old by now.
        return together(followed, ClusterSource(self._connection, progress=None).read(others)) if others else followed


class Served:
    """What is served of a cluster; several threads may ask at once.

    ``say`` takes one line when the cluster cannot be read, is lost and is back.
    """

    def __init__(
        self, source: ClusterSource, scope: Scope, scheduler: SchedulerOptions, say: Callable[[str], object]
    ) -> None:
        self._cluster, self._scope, self._scheduler, self._say = source, scope, scheduler, say
        self._lock = threading.Lock()
        self._source: _Source | None = None
        self._bodies: Mapping[str, Callable[[], bytes]] = {}
        self._outdated, self._until = True, inf
        self._error = "the cluster was not read yet"

    def follow(self, pause: Callable[[float], object], *, retry: float = RETRY) -> None:
        """Follow the cluster without end, begin again where a right was withdrawn; ``pause`` waits (seconds)."""
        while True:
            try:
                source = _Source(ClusterSource(self._cluster.connection, progress=None), self._say)
                self._source, self._outdated = source, True
                while True:
                    pause(1)
                    source.informer.check()
            except ClusterError as error:
                self._error, self._source = error.message, None
                self._say(f"{error.message}; trying again until it works")
            pause(retry)

    @property
    def stale(self) -> float:
        """How long (seconds) the cluster is out of reach; endless before it was read."""
        source = self._source
        return source.informer.lost_for if source else inf

    def answer(self, path: str) -> Response:
        """Return what the path is answered with."""
        if path == "/healthz":
            if self.stale > MOST_STALE:
                return _failed(self._error if self._source is None else f"out of reach for {self.stale:.0f} seconds")
            return Response(b"ok\n")
        if path not in PATHS:
            return _failed(f"there are {', '.join(PATHS)}", HTTPStatus.NOT_FOUND)
        try:
            found = self._now()[path]()
        except SpreadError as error:
            return _failed(error.message)
        if path != "/metrics":
            return Response(found, "text/html; charset=utf-8")
        stale = exposition([family(STALE, [(self.stale, {})])]).encode()
        return Response(found + stale, "text/plain; version=0.0.4; charset=utf-8")

    def _now(self) -> Mapping[str, Callable[[], bytes]]:
        """Return path → what makes its body once: of the cluster as it is now, or was before it was lost."""
        with self._lock:
            source = self._source
            if source is None:
                raise ClusterError(self._error)
            self._outdated = source.informer.take_change() or self._outdated or monotonic() > self._until
            if self._outdated:
                try:
                    self._evaluate(source)
                except ClusterError:
                    if not self._bodies or not self.stale:
                        raise
            return self._bodies

    def _evaluate(self, source: _Source) -> None:
        shown = show(source, self._scope, ShowOptions(read="all"), self._scheduler).report
        audited = audit(source, self._scope, AuditOptions(), self._scheduler).report
        gaps = dict.fromkeys((*shown.incomplete, *audited.incomplete))
        metrics = (*families(shown), *families(audited), missing(replace(shown, incomplete=tuple(gaps))))
        self._bodies = {
            "/": cache(lambda: to_html(shown, links=PAGES).encode()),
            "/audit": cache(lambda: to_html(audited, links=PAGES).encode()),
            "/metrics": cache(lambda: exposition(metrics).encode()),
        }
        self._outdated = False
        decided = any(not isinstance(item.autoscaler, UnsetType) for item in shown.items)
        self._until = monotonic() + UNFOLLOWED if decided else inf
        # What was evaluated before refers to itself, and the program collects garbage rarely.
        gc.collect()


def _failed(why: str, status: HTTPStatus = HTTPStatus.SERVICE_UNAVAILABLE) -> Response:
    return Response(f"{why}\n".encode(), status=status)

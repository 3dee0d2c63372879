"""``serve``: the answers of ``show`` and ``audit`` about a cluster that is followed, as metrics and pages."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from http import HTTPStatus
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

import msgspec
from msgspec import UnsetType
from msgspec.structs import replace

from kubectl_spread.cluster.net.background import Background
from kubectl_spread.commands import read_sets
from kubectl_spread.commands.audit import AuditOptions, audit
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import ShowOptions, WatchedSource, show
from kubectl_spread.commands.source import ClusterSource
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.diagnosis.skew import Detail
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
PATIENCE = 5.0  # How long (seconds) a request waits for the cluster to be evaluated before it gets the last answers
RETRY = 5.0  # The pause (seconds) between two attempts to read the cluster for the first time
PAGES = {"show": "/", "audit": "/audit"}  # Name of a page → its path
FOLLOWED = read_sets.for_moving()
PATHS = (*PAGES.values(), "/metrics", "/healthz")


class Response(msgspec.Struct, frozen=True):
    """What a path is answered with."""

    body: bytes
    media_type: str = "text/plain; charset=utf-8"
    status: HTTPStatus = HTTPStatus.OK


class _Moment(WatchedSource):
    """The followed cluster at one moment, on which several answers rest: what is read again is the same."""

    def __init__(self, source: ClusterSource, informer: Informer, say: Callable[[str], object]) -> None:
        super().__init__(source, say)
        self._inventory = informer.inventory()
        # A source continues at the version of its first read, which is old by now.
        self._others = cache(ClusterSource(source.connection, progress=None).read)

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return what was there; ClusterError if a list that is not followed cannot be had."""
        kinds = {each.kind for each in FOLLOWED}
        asked = {each.kind for each in reads} & kinds
        others = tuple(each for each in reads if each.kind not in kinds)
        now, names = self._inventory, {kind.name for kind in asked}
        followed = replace(
            now,
            objects={name: objects for name, objects in now.objects.items() if name in names},
            unread=tuple(each for each in now.unread if each.kind in asked),
        )
        return together(followed, self._others(others)) if others else followed


class _Answers(msgspec.Struct, frozen=True):
    """What was answered about one moment."""

    began: float  # when the evaluation began (of the monotonic clock)
    until: float  # how long they hold where nothing changes
    bodies: Mapping[str, Callable[[], bytes]]  # path → what makes its body, once


class Served:
    """What is served of a cluster; several threads may ask at once.

    ``say`` takes one line when the cluster cannot be read, is lost and is back.
    """

    def __init__(
        self, source: ClusterSource, scope: Scope, scheduler: SchedulerOptions, say: Callable[[str], object]
    ) -> None:
        self._cluster, self._scope, self._scheduler, self._say = source, scope, scheduler, say
        self._lock = threading.Lock()
        self._informer: Informer | None = None
        self._outdated, self._began = True, -inf
        self._running: Background[_Answers] | None = None
        self._answers: _Answers | None = None
        self._error = "the cluster was not read yet"

    def follow(self, pause: Callable[[float], object], *, retry: float = RETRY) -> None:
        """Follow the cluster without end, begin again where a right was withdrawn; ``pause`` waits (seconds)."""
        while True:
            try:
                informer = ClusterSource(self._cluster.connection, progress=None).watch(FOLLOWED, self._say)
                self._informer, self._outdated = informer, True
                while True:
                    pause(1)
                    informer.check()
            except ClusterError as error:
                self._error, self._informer = error.message, None
                self._say(f"{error.message}; trying again until it works")
            pause(retry)

    @property
    def lost_for(self) -> float:
        """How long (seconds) the cluster is out of reach; endless before it was read."""
        informer = self._informer
        return informer.lost_for if informer else inf

    def answer(self, path: str) -> Response:
        """Return what the path is answered with."""
        if path == "/healthz":
            if self.lost_for > MOST_STALE:
                why = self._error if self._informer is None else f"out of reach for {self.lost_for:.0f} seconds"
                return _failed(why)
            return Response(b"ok\n")
        if path not in PATHS:
            return _failed(f"there are {', '.join(PATHS)}", HTTPStatus.NOT_FOUND)
        try:
            answers, age = self._now()
            found = answers.bodies[path]()
        except SpreadError as error:
            return _failed(error.message)
        if path != "/metrics":
            return Response(found, "text/html; charset=utf-8")
        stale = exposition([family(STALE, [(max(self.lost_for, age), {})])]).encode()
        return Response(found + stale, "text/plain; version=0.0.4; charset=utf-8")

    def _now(self) -> tuple[_Answers, float]:
        """Return the answers and how much older (seconds) than the cluster they are.

        They are those about the cluster as it is now if they can be had in time, or else the last ones.

        Raises:
            ClusterError: there are none yet, or they cannot be had although the server answers.
        """
        asked = monotonic()
        while True:
            with self._lock:
                if self._informer is None:
                    raise ClusterError(self._error)
                if self._is_lost(asked) and self._answers:
                    return self._answers, 0.0
                self._outdated = self._informer.take_change() or self._outdated
                current = not (self._outdated or self._running)
                if self._answers and (self._answers.began >= asked or (current and monotonic() < self._answers.until)):
                    return self._answers, 0.0
                if self._running is None:
                    self._outdated, self._began = False, monotonic()
                    self._running = Background(partial(self._evaluate, self._informer, self._began))
                running, answers = self._running, self._answers
            if not running.ends_within(max(asked + PATIENCE - monotonic(), 0)):
                if answers is None:
                    raise ClusterError("the cluster is evaluated for the first time: ask again in a minute")
                return answers, monotonic() - answers.began

    def _is_lost(self, asked: float) -> bool:
        """Keep what has been evaluated; return whether the last answers stand in for it: the server is lost.

        Raises:
            ClusterError: it was evaluated for a request of then, and cannot be had although the server answers.
        """
        ended = self._running
        if ended is None or not ended.ends_within(0):
            return False
        self._running = None
        try:
            self._answers = ended.result()
        except ClusterError:
            self._outdated = True
            lost = self._answers is not None and self.lost_for > 0
            if self._began >= asked and not lost:
                raise
            return lost
        return False

    def _evaluate(self, informer: Informer, began: float) -> _Answers:
        moment = _Moment(ClusterSource(self._cluster.connection, progress=None), informer, self._say)
        ask = partial(show, moment, self._scope, scheduler=self._scheduler)
        shown = ask(ShowOptions(read="all", detail=Detail.NODES)).report
        audited = audit(moment, self._scope, AuditOptions(), self._scheduler).report
        gaps = dict.fromkeys((*shown.incomplete, *audited.incomplete))
        metrics = exposition((*families(shown), *families(audited), missing(replace(shown, incomplete=tuple(gaps)))))
        decided = any(not isinstance(item.autoscaler, UnsetType) for item in shown.items)
        bodies = {
            "/": _once(lambda: to_html(ask(ShowOptions(read="all")).report, links=PAGES)),
            "/audit": _once(lambda: to_html(audited, links=PAGES)),
            "/metrics": _once(lambda: metrics),
        }
        # What was evaluated before refers to itself, and the program collects garbage rarely.
        gc.collect()
        return _Answers(began=began, until=monotonic() + UNFOLLOWED if decided else inf, bodies=bodies)


def _once(text: Callable[[], str]) -> Callable[[], bytes]:
    """Return what makes the text for the first request, while others wait, and then returns it."""
    lock, made = threading.Lock(), cache(text)

    def body() -> bytes:
        with lock:
            return made().encode()

    return body


def _failed(why: str, status: HTTPStatus = HTTPStatus.SERVICE_UNAVAILABLE) -> Response:
    return Response(f"{why}\n".encode(), status=status)

"""Keeps the objects of a cluster up to date: lists them once, then watches each kind on its own connection.

A watch that ends continues from the last version. Where the server no longer has that version, a new list replaces all
objects, so that deleted ones disappear. Objects are never counted from events: a repeated event changes nothing.

Source: client-go tools/cache/reflector.go, apimachinery pkg/apis/meta/v1/watch.go (v1.36); KEP-956 watch bookmarks.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from http import HTTPStatus
from math import ceil
from time import monotonic, sleep
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.cluster.api.reader import read, watch_request
from kubectl_spread.cluster.net.connection import Connection
from kubectl_spread.cluster.net.failures import Status, StatusError, failure, refused
from kubectl_spread.cluster.net.transport import RETRIED, streaming
from kubectl_spread.cluster.reads import Read
from kubectl_spread.errors import ClusterError
from kubectl_spread.objects.decoding import DecodeError, ListMeta, decode
from kubectl_spread.objects.meta import KubernetesObject, Struct
from kubectl_spread.snapshot import Inventory

# The server ends a watch after this time, and a new one continues: a proxy may have dropped it silently.
WATCH_SECONDS = 300
LONGEST_REQUESTED = 60.0  # The longest pause (seconds) that the server may ask for
OPENING_SECONDS = 10.0  # How long to wait for the first answers to the watches
REFUSALS = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)

Key: TypeAlias = tuple[str, str]
Say: TypeAlias = Callable[[str], object]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The times and limits of an informer; all but the last in seconds."""

    first_backoff: float = 0.25  # the pause before the second attempt; each further pause is twice as long
    longest_backoff: float = 8.0  # the longest pause between two attempts
    lost: float = 1.0  # how long nothing works before it is reported; many connections end and are restored sooner
    short: float = 1.0  # a watch that ends sooner has failed
    refused: float = 30.0  # how long a starting API server, which has not read the roles yet, may refuse requests
    calm: float = 0.1  # how long to wait for further changes after a change
    answer: float = 1.0  # the shortest time from the end of one answer to the beginning of the next
    tick: float = 0.2  # the interval of checks whether the server is lost
    max_event_bytes: int = 1 << 24  # of one event; the largest object in etcd has a tenth of it


DEFAULT_SETTINGS = Settings()


class _Event(Struct, frozen=True):
    type: str
    object: msgspec.Raw


class _Versioned(Struct, frozen=True):
    metadata: ListMeta = ListMeta()


class Informer:
    """The objects of a cluster, kept up to date.

    Args:
        connection: the API server.
        reads: lists to follow, no two of one kind.
        listed: the result of these lists. Kinds that could not be read stay unread.
        say: takes one line when the server is lost, and one when it is back.
        settings: times and limits.
        stop: ends all requests and pauses when it is set.

    Raises:
        ClusterError: a list may be read but not watched.
    """

    def __init__(
        self,
        connection: Connection,
        reads: Sequence[Read],
        listed: Inventory,
        *,
        say: Say,
        settings: Settings = DEFAULT_SETTINGS,
        stop: threading.Event | None = None,
    ) -> None:
        self._first = listed
        self._settings = settings
        self._news = _News(say, settings, stop or threading.Event())
        followed = [_narrow(wanted, listed) for wanted in reads if wanted.kind.name in listed.objects]
        self._reflectors = [_Reflector(connection, wanted, listed, self._news) for wanted in followed]
        until = monotonic() + OPENING_SECONDS
        for reflector in self._reflectors:
            reflector.tried.wait(max(until - monotonic(), 0))
        self._news.changed.clear()
        self._news.raise_error()

    def inventory(self) -> Inventory:
        """Return what there is now."""
        now = [(reflector.wanted.kind, *reflector.store.list()) for reflector in self._reflectors]
        return Inventory(
            {kind.name: objects for kind, objects, _ in now},
            {kind.plural: version for kind, _, version in now},
            self._first.unread,
            within=self._first.within,
        )

    @property
    def lost_for(self) -> float:
        """How long (seconds) some list cannot be followed; 0 while all are."""
        return self._news.lost_for()

    def check(self) -> None:
        """Report when the server is lost and when it is back; ClusterError if a right was withdrawn."""
        self._news.report()
        self._news.raise_error()

    def take_change(self) -> bool:
        """Return whether something has changed since the last call."""
        changed = self._news.changed.is_set()
        self._news.changed.clear()
        return changed

    def wait(self) -> None:
        """Return when something has changed since the last call, and not too soon after it.

        Meanwhile, report when the server is lost and when it is back.

        Raises:
            ClusterError: a right was withdrawn.
        """
        due = monotonic() + self._settings.answer
        self._news.report()
        while not self._news.changed.wait(self._settings.tick) and not self._news.stopped.is_set():
            self._news.report()
        sleep(max(self._settings.calm, due - monotonic()))
        self._news.changed.clear()
        self._news.raise_error()


def _narrow(wanted: Read, inventory: Inventory) -> Read:
    """Return the list that was read: that of the fallback where all namespaces are forbidden."""
    namespace = wanted.fallback if inventory.refused(wanted.kind) else wanted.namespace
    return replace(wanted, namespace=namespace, fallback="", required=True)


class _News:
    """What the reflectors report, from several threads."""

    def __init__(self, say: Say, settings: Settings, stopped: threading.Event) -> None:
        self.settings = settings
        self.changed = threading.Event()  # set when an object has changed or a reflector has failed
        self.stopped = stopped  # set when the reflectors must end
        self._say = say
        self._lock = threading.Lock()
        self._lost: dict[str, tuple[float, ClusterError]] = {}
        self._reported_lost = False
        self._error: BaseException | None = None

    def lose(self, what: str, error: ClusterError, *, since: float) -> None:
        """Note what cannot be watched since when (monotonic seconds), and why."""
        with self._lock:
            self._lost[what] = since, error

    def find(self, what: str) -> None:
        with self._lock:
            self._lost.pop(what, None)

    def lost_for(self) -> float:
        with self._lock:
            return max((monotonic() - since for since, _ in self._lost.values()), default=0)

    def report(self) -> None:
        """Report that the server is lost if it has been for long, and when it is back after that."""
        with self._lock:
            lost = [error for since, error in self._lost.values() if monotonic() - since >= self.settings.lost]
            over = self._reported_lost and not self._lost
        if lost and not self._reported_lost:
            self._say(f"{lost[0].message}; trying again until it works")
            self._reported_lost = True
        elif over:
            self._say("the server answers again")
            self._reported_lost = False

    def fail(self, error: BaseException) -> None:
        self._error = self._error or error
        self.changed.set()

    def raise_error(self) -> None:
        if self._error:
            self.stopped.set()
            raise self._error


class _Store:
    """The objects of one kind, which several threads may use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._objects: dict[Key, KubernetesObject] = {}
        self.version = ""

    def list(self) -> tuple[tuple[KubernetesObject, ...], str]:
        with self._lock:
            return tuple(self._objects[key] for key in sorted(self._objects)), self.version

    def replace(self, objects: Iterable[KubernetesObject], version: str) -> bool:
        listed = {each.key: each for each in objects}
        with self._lock:
            changed = listed != self._objects
            self._objects, self.version = listed, version
        return changed

    def update(self, key: Key, now: KubernetesObject | None, version: str) -> bool:
        """Store an object, or remove it (None); return whether it has changed."""
        with self._lock:
            before, self.version = self._objects.pop(key, None), version
            if now is not None:
                self._objects[key] = now
        return before != now


class _Reflector:
    """Keeps the objects of one list up to date, in its own thread; ``tried``: set after the first attempt to watch."""

    def __init__(self, connection: Connection, wanted: Read, listed: Inventory, news: _News) -> None:
        self._connection = connection
        self._news = news
        self._request = watch_request(wanted)
        self._stale = False
        self._opened = False
        self._failures = 0
        self._failing_since = 0.0
        self._refused_since: float | None = None
        self.wanted = wanted
        self.store = _Store()
        self.tried = threading.Event()
        self._take(listed)
        threading.Thread(target=self._run, daemon=True).start()

    def _take(self, listed: Inventory) -> None:
        kind = self.wanted.kind
        if self.store.replace(listed.objects[kind.name], listed.resource_versions.get(kind.plural, "")):
            self._news.changed.set()

    def _run(self) -> None:
        try:
            while not self._news.stopped.is_set():
                self._follow_once()
        except BaseException as error:  # noqa: BLE001 wait() raises it
            self._news.fail(error)
        finally:
            self.tried.set()

    def _follow_once(self) -> None:
        """List again where that is needed, watch until the watch ends, and pause if it failed."""
        try:
            if self._stale:
                self._take(read(self._connection, [self.wanted]))
                self._stale = False
            self._watch()
        except StatusError as error:
            # 410 Gone among them: the version that the watch began at is compacted.
            self._stale = self._stale or error.status not in (*RETRIED, *REFUSALS)
            self._back_off(error, at_least=min(error.retry_after, LONGEST_REQUESTED))
        except DecodeError as error:
            self._stale = True
            self._back_off(failure(self._request.what, f"the server's answer is not valid: {error}"))
        except ClusterError as error:
            self._back_off(error)

    def _watch(self) -> None:
        seconds = min(WATCH_SECONDS, ceil(self._connection.timeout or WATCH_SECONDS))
        query = {**self._request.query, "resourceVersion": self.store.version, "timeoutSeconds": str(seconds)}
        with streaming(self._connection, replace(self._request, query=query)) as pieces:
            began = monotonic()
            self._refused_since = None
            self._opened = True
            self._news.find(self._request.what)
            self.tried.set()
            try:
                for line in _lines(pieces, self._news.settings.max_event_bytes):
                    self._take_event(decode(line, _Event))
                    self._failures = 0
            finally:
                if monotonic() - began >= self._news.settings.short:
                    self._failures = 0
        if monotonic() - began < self._news.settings.short:
            raise failure(self._request.what, "the server closes it at once")

    def _take_event(self, event: _Event) -> None:
        if event.type == "ERROR":
            request, answer = self._request, decode(bytes(event.object), Status)
            raise refused(self._connection, what=request.what, needs=request.needs, status=answer.code, answer=answer)
        version = decode(bytes(event.object), _Versioned).metadata.resource_version
        if not version:
            raise DecodeError("an event without a version")
        if event.type == "BOOKMARK":
            self.store.version = version
            return
        found: KubernetesObject = decode(bytes(event.object), self.wanted.kind.struct)
        if event.type not in {"ADDED", "MODIFIED", "DELETED"}:
            raise DecodeError(f"an event of type {event.type!r}")
        if self.store.update(found.key, None if event.type == "DELETED" else found, version):
            self._news.changed.set()

    def _back_off(self, error: ClusterError, *, at_least: float = 0) -> None:
        """Wait (seconds) before the next attempt; raise the error where there is none."""
        if error.status in REFUSALS:
            # A starting server refuses requests until it has read the roles.
            self._refused_since = self._refused_since or monotonic()
            if not self._opened or monotonic() - self._refused_since > self._news.settings.refused:
                raise error
        if not self._failures:
            self._failing_since = monotonic()
        self._failures += 1
        self._news.lose(self._request.what, error, since=self._failing_since)
        settings = self._news.settings
        pause = max(min(settings.first_backoff * 2 ** (self._failures - 1), settings.longest_backoff), at_least)
        self._connection.log.say(f"{error.message}; trying again in {pause:.1f} s")
        self.tried.set()
        self._news.stopped.wait(pause)


def _lines(pieces: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    begun: list[bytes] = []
    for piece in pieces:
        *ends, rest = piece.split(b"\n")
        for end in ends:
            yield b"".join((*begun, end))
            begun = []
        begun.append(rest)
        if sum(map(len, begun)) > max_bytes:
            raise DecodeError(f"an event is larger than {max_bytes >> 20} MiB")

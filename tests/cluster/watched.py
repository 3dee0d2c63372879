"""A cluster on loopback that can be watched: every change has a version, and a watch begins after any of them.

It answers one request a connection, and does worse where a test asks for that.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kubectl_spread.objects.kinds import BY_API, KINDS, Kind
from tests.cluster.api_server import Response, Seen, status
from tests.faults.raw_server import RESET, Said, http, speaking

Object = dict[str, Any]
Fault = Callable[[Seen], Said]

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
FIRST_VERSION = 100
_FORBIDDEN = status(403, "Forbidden", "no")
EXPIRED = status(410, "Expired", "too old resource version: 1 (7)")


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one object."""

    version: int  # the cluster's after it
    kind: Kind  # of the object
    type: str  # ``ADDED``, ``MODIFIED``, ``DELETED`` or ``BOOKMARK``
    object: Object  # as it is after the change

    def line(self) -> bytes:
        return json.dumps({"type": self.type, "object": self.object}).encode() + b"\n"


class Watched:
    """The cluster.

    Attributes:
        seen: the requests, in the order of their arrival.
        faults: kind's plural → what watches of it meet, one after another, in place of what they ask for.
        down: whether every connection is broken off.
        refused: paths of lists that nobody may have.
        over: whether it is no longer served.
    """

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.faults: dict[str, list[Fault]] = {}
        self.down = False
        self.refused: set[str] = set()
        self.over = False
        self._state = threading.Condition()
        self._version = FIRST_VERSION
        self._oldest = FIRST_VERSION
        self._objects: dict[tuple[Kind, str, str], Object] = {}
        self._changes: list[Change] = []
        self._generation = 0

    def put(self, *objects: Object) -> None:
        """Create the objects, or replace those of their names."""
        for each in objects:
            kind, key = _place(each)
            self._change(kind, key, "MODIFIED" if key in self._objects else "ADDED", each)

    def delete(self, each: Object) -> None:
        kind, key = _place(each)
        self._change(kind, key, "DELETED", each)

    def bookmark(self, kind: Kind) -> None:
        """Tell those who watch the kind how far they have come."""
        bare = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {}}
        self._change(kind, (kind, "", ""), "BOOKMARK", bare)

    def end_watches(self) -> None:
        """End every watch, as a server does from time to time."""
        with self._state:
            self._generation += 1
            self._state.notify_all()

    def compact(self) -> None:
        """Forget how it became what it is: a watch that begins earlier has expired."""
        with self._state:
            self._oldest = self._version

    def watches(self, kind: Kind) -> list[Seen]:
        """Return the watches of a kind that were asked for."""
        return [seen for seen in list(self.seen) if "watch" in seen.query and seen.path.endswith(f"/{kind.plural}")]

    def lists(self, kind: Kind) -> list[Seen]:
        """Return the lists of a kind that were asked for."""
        return [seen for seen in list(self.seen) if "limit" in seen.query and seen.path.endswith(f"/{kind.plural}")]

    def __call__(self, seen: Seen) -> Said:
        """Say what the request asks for."""
        self.seen.append(seen)
        if self.down:
            return [RESET]
        if seen.path == "/version":
            return [http(Response(body={"gitVersion": "v1.36.2"}))]
        kind = next(kind for kind in KINDS if seen.path.endswith(f"/{kind.plural}"))
        if "watch" not in seen.query:
            return [http(_FORBIDDEN if seen.path in self.refused else self._listed(kind))]
        waiting = self.faults.get(kind.plural)
        return waiting.pop(0)(seen) if waiting else self.watch(kind, int(seen.query["resourceVersion"]))

    def watch(self, kind: Kind, version: int) -> Iterator[bytes | float]:
        """Yield what changes of a kind after the version, until watches are ended."""
        if version < self._oldest:
            yield http(EXPIRED)
            return
        generation = self._generation
        yield HEAD
        told = 0
        while generation == self._generation and not self.down:
            with self._state:
                if len(self._changes) == told:
                    self._state.wait(0.05)
                fresh = self._changes[told:]
                told += len(fresh)
            yield from (change.line() for change in fresh if change.kind is kind and change.version > version)

    def _listed(self, kind: Kind) -> Response:
        with self._state:
            items = [
                each
                for (of_kind, *_), each in sorted(self._objects.items(), key=lambda it: it[0][1:])
                if of_kind is kind
            ]
            metadata = {"resourceVersion": str(self._version)}
        return Response(body={"kind": f"{kind.name}List", "metadata": metadata, "items": items})

    def _change(self, kind: Kind, key: tuple[Kind, str, str], what: str, each: Object) -> None:
        """Let a change happen and be told."""
        with self._state:
            self._version += 1
            now = {**each, "metadata": {**each["metadata"], "resourceVersion": str(self._version)}}
            if what == "DELETED" and self._objects.pop(key, None) is None:
                return
            if what in {"ADDED", "MODIFIED"}:
                self._objects[key] = now
            self._changes.append(Change(self._version, kind, what, now))
            self._state.notify_all()


def _place(each: Object) -> tuple[Kind, tuple[Kind, str, str]]:
    """Return the object's kind, and that with its namespace and name."""
    kind = BY_API[each["apiVersion"], each["kind"]]
    return kind, (kind, each["metadata"].get("namespace", ""), each["metadata"]["name"])


@contextmanager
def watched() -> Iterator[tuple[Watched, str]]:
    """Yield a cluster without objects, and the URL of its server."""
    cluster = Watched()
    with speaking(cluster) as server:
        try:
            yield cluster, server.url
        finally:
            cluster.over = cluster.down = True
            cluster.end_watches()


def refusing(response: Response) -> Fault:
    """Return a fault: the response in place of a watch."""
    return lambda _: [http(response)]


def saying(*said: bytes | float) -> Fault:
    """Return a fault: a watch that begins, says this and ends."""
    return lambda _: [HEAD, *said]


def event(what: str, each: Object) -> bytes:
    return json.dumps({"type": what, "object": each}).encode() + b"\n"


def expired() -> bytes:
    """Return the line by which a server says that a version has expired."""
    return event("ERROR", EXPIRED.body)  # type: ignore[arg-type] # an object, as status makes it

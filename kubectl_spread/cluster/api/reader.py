"""Reads lists and objects of an API server: several lists at once, page by page, long ones in Protocol Buffers.

One page is decoded while the next one arrives; no more pages are held as bytes. The first list is read at the newest
version, without a resourceVersion: a cached list may be stale and ignores the limit. The other lists are read at the
version of its first page. The Pods of single nodes are lists of that version or a newer one, eight at a time: for
exactly one version, a server walks all Pods.

Source: client-go tools/pager/pager.go, apimachinery pkg/apis/meta/v1/types.go ListOptions (v1.36).
"""

import gc
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from kubectl_spread.cluster.api.interning import Interning
from kubectl_spread.cluster.api.resource_version import (
    UNKNOWN_MATCH,
    SharedVersion,
    is_comparable,
    is_unavailable,
    may_be_newer,
)
from kubectl_spread.cluster.log import Progress
from kubectl_spread.cluster.net.background import Background
from kubectl_spread.cluster.net.connection import Connection
from kubectl_spread.cluster.net.failures import Status, StatusError, decoded, failure
from kubectl_spread.cluster.net.transport import EXACT, JSON, MATCH, NOT_OLDER, PROTOBUF, Request, Response, fetch
from kubectl_spread.cluster.reads import Read, describe_counts, version_order, whole_namespaces, widen_versions
from kubectl_spread.errors import ClusterError, UsageError
from kubectl_spread.objects.decoding import DecodeError, ListMeta
from kubectl_spread.objects.kinds import AUTOSCALER_KINDS, NODE, POD, Kind
from kubectl_spread.objects.meta import KubernetesObject, ObjectMeta, Struct
from kubectl_spread.snapshot import Inventory, Unread

if TYPE_CHECKING:
    from kubectl_spread.objects.protobuf import ListDecoder

PAGE_OBJECTS = 500
NODES_AT_ONCE = 8  # Nodes (count) whose Pods are listed at once
TIMES_BEGUN = 3  # How often a reading starts when its lists expire; the last time, each list has its own version
TICK_SECONDS = 0.1
METADATA_LIST = "PartialObjectMetadataList"
METADATA_ONLY = f"application/json;as={METADATA_LIST};g=meta.k8s.io;v=v1,{JSON}"
PROTOBUF_OR_JSON = f"{PROTOBUF},{JSON}"
PROTOBUF_KINDS = (NODE, POD)
# From so many objects after the first page on, decoding Protocol Buffers saves time (measured: 200).
PROTOBUF_OBJECTS = 500
# HTTP status → why a list that is not required is unread.
UNREAD = {401: "unauthorized", 403: "forbidden", 404: "not served by this API server"}

T = TypeVar("T")


class ObjectList(Struct, Generic[T], frozen=True):
    """A page of a list."""

    metadata: ListMeta = ListMeta()
    items: tuple[T, ...] = ()


class _Version(Struct, frozen=True):
    git_version: str = ""


class _Found(msgspec.Struct, frozen=True):
    """The result of one read."""

    objects: tuple[KubernetesObject, ...] | None = ()  # the objects; None where nothing could be read
    resource_version: str = ""  # the version of the list; empty for one object
    unread: Unread | None = None  # why objects are missing; None where none are


def read(
    connection: Connection, reads: Sequence[Read], *, resource_version: str = "", progress: Progress | None = None
) -> Inventory:
    """Return what was read, all lists at one version (empty: the newest); an object in several reads is there once.

    An object that does not exist is no error. A read whose version expires starts again, the last time without a
    common version; the inventory has the version of each list.

    Raises:
        ClusterError: a required list may not be read, or the server cannot be reached or understood.
        UsageError: a namespace or name is invalid.
    """
    versions = [SharedVersion(reads, resource_version), *(SharedVersion(reads) for _ in range(TIMES_BEGUN - 2))]
    try:
        for version in versions:
            try:
                return _read_at(version, connection, reads, progress)
            except StatusError as error:
                if not is_unavailable(error):
                    raise
                connection.log.say(f"{error.message}; beginning again")
        return _read_at(SharedVersion(), connection, reads, progress)
    finally:
        if progress:
            progress.close()


def _read_at(
    version: SharedVersion, connection: Connection, reads: Sequence[Read], progress: Progress | None
) -> Inventory:
    began = monotonic()
    reading = _Reading(connection, version)
    finished: SimpleQueue[Background[_Found]] = SimpleQueue()
    tasks = {Background(partial(reading.read_at_version, wanted), finished): wanted for wanted in reads}
    with _without_garbage_collection():
        try:
            _wait(tasks, finished, reading, progress)
        finally:
            reading.stop()
        inventory = _inventory([(wanted, task.result()) for task, wanted in tasks.items()])
    megabytes, seconds = reading.received_bytes / 1e6, monotonic() - began
    connection.log.say(f"read {describe_counts(inventory)}: {megabytes:,.1f} MB in {seconds:.2f} s")
    return inventory


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Exclude the objects from garbage collection, now and later: none of them refers to itself.

    A list that another thread reads for a watch is left to the collector.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


def count(connection: Connection, kind: Kind, *, namespace: str = "") -> tuple[int, str]:
    """Return how many objects the kind has, by listing one of them, and the version; (0, "") where that is forbidden.

    Raises:
        ClusterError: the server cannot be reached or understood.
    """
    wanted = Read(kind, namespace)
    total, limit, continue_ = 0, 1, ""
    asked = set()
    while continue_ not in asked:
        asked.add(continue_)
        query = {"limit": str(limit), "continue": continue_}
        try:
            page = _metadata_page(connection, wanted, query=query)
        except StatusError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            return 0, ""
        total += len(page.items)
        continue_, limit = page.metadata.continue_, PAGE_OBJECTS
        if page.metadata.remaining_item_count is not None or not continue_:
            return total + (page.metadata.remaining_item_count or 0), page.metadata.resource_version
    raise _endless(wanted)


def list_metadata(
    connection: Connection,
    kind: Kind,
    *,
    namespace: str = "",
    field_selector: str = "",
    limit: int = PAGE_OBJECTS,
    timeout: float = 2,
) -> tuple[ObjectMeta, ...]:
    """Return the metadata of some objects for completion: from the server's cache, without retries.

    An empty namespace means all. ``timeout``: seconds.

    Raises:
        ClusterError: as for ``read``.
    """
    query = {"limit": str(limit), "resourceVersion": "0", "fieldSelector": field_selector}
    page = _metadata_page(replace(connection, timeout=timeout), Read(kind, namespace), query=query, attempts=1)
    return tuple(item.metadata for item in page.items[:limit])


def server_version(connection: Connection) -> str:
    """Return the server's release, such as ``v1.36.2``; empty where it is forbidden.

    Raises:
        ClusterError: the server cannot be reached or understood.
    """
    request = Request(path="/version", what="get the server's version")
    try:
        return decoded(fetch(connection, request).body, _Version, what=request.what).git_version
    except StatusError as error:
        if error.status not in UNREAD:
            raise
        return ""


class _Reading:
    def __init__(self, connection: Connection, version: SharedVersion) -> None:
        self._connection = connection
        self._version = version
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self.objects = 0
        self.received_bytes = 0

    def stop(self) -> None:
        self._stopped.set()

    def read_at_version(self, wanted: Read) -> _Found:
        try:
            return self.read(replace(wanted, resource_version=self._version.version_for(wanted)))
        finally:
            self._version.publish(wanted, "")

    def read(self, wanted: Read) -> _Found:
        if wanted.on_nodes:
            return self._on_nodes(wanted)
        try:
            return self._get(wanted) if wanted.name else self._list(wanted)
        except StatusError as error:
            if error.status == HTTPStatus.NOT_FOUND and wanted.name and error.answer.details.name == wanted.name:
                return _Found()
            if wanted.fallback and error.status == HTTPStatus.FORBIDDEN:
                narrowed = self.read(replace(wanted, namespace=wanted.fallback, fallback="", required=False))
                if narrowed.objects is None:
                    raise
                return replace(narrowed, unread=_unread(wanted, error))
            if error.status == HTTPStatus.NOT_FOUND and wanted.kind.older_versions:
                return self.read(replace(wanted, kind=wanted.kind.older))
            if wanted.required or error.status not in UNREAD:
                raise
            # A cluster without the kinds of an autoscaler does not have that autoscaler.
            of_autoscaler = any(wanted.kind.name == kind.name for kind in AUTOSCALER_KINDS)
            absent = error.status == HTTPStatus.NOT_FOUND and of_autoscaler
            return _Found() if absent else _Found(None, unread=_unread(wanted, error))

    def _on_nodes(self, wanted: Read) -> _Found:
        waiting: SimpleQueue[str] = SimpleQueue()
        for name in wanted.on_nodes:
            waiting.put(name)
        workers = [Background(partial(self._read_waiting, wanted, waiting)) for _ in range(NODES_AT_ONCE)]
        try:
            found = [each for worker in workers for each in worker.result()]
        except BaseException:
            self.stop()
            raise
        objects = tuple(pod for each in found for pod in each.objects or ())
        return _Found(objects, max((each.resource_version for each in found), key=version_order, default=""))

    def _read_waiting(self, wanted: Read, waiting: SimpleQueue[str]) -> list[_Found]:
        found = []
        while not self._stopped.is_set():
            try:
                selector = f"spec.nodeName={waiting.get_nowait()}"
            except Empty:
                break
            found.append(self.read(replace(wanted, on_nodes=(), not_older=True, field_selector=selector)))
        return found

    def _get(self, wanted: Read) -> _Found:
        path = f"{_path(wanted)}/{_segment(wanted.name, 'resource name')}"
        answer = self._fetch(Request(path=path, what=_what(wanted), needs=_needs(wanted, "get")))
        found: KubernetesObject = decoded(answer.body, wanted.kind.struct, what=_what(wanted))
        self._add(objects=1)
        return _Found((found,))

    def _list(self, wanted: Read) -> _Found:
        try:
            return self._walk(wanted)
        except StatusError as error:
            if not wanted.resource_version or error.status not in UNKNOWN_MATCH:
                raise
        return self._walk(replace(wanted, resource_version=""))

    def _walk(self, wanted: Read) -> _Found:
        decoding = _Decoding(wanted)
        objects: list[KubernetesObject] = []
        resource_version = ""
        for answer in self._pages(wanted):
            self._version.publish(wanted, answer.metadata.resource_version)
            items = decoding.items(answer)
            objects += items
            self._add(objects=len(items))
            if resource_version not in ("", answer.metadata.resource_version):
                # Treated as an expired list.
                what = _what(wanted)
                message = f"cannot {what}: the list changed from one page to the next"
                raise StatusError(message, answer=Status(), what=what, status=HTTPStatus.GONE, hint="try again")
            resource_version = answer.metadata.resource_version
        decoding.end()
        return _Found(tuple(objects), resource_version)

    def _pages(self, wanted: Read) -> Iterator[Response]:
        """Yield the pages of a list; the next one is already requested."""
        coming: Background[Response] | None = self._page(wanted, "")
        protobuf, asked = False, set()
        while coming:
            answer = coming.result()
            continue_ = answer.metadata.continue_
            again = continue_ in asked
            asked.add(continue_)
            more = continue_ and not again and not self._stopped.is_set()
            is_long = (answer.metadata.remaining_item_count or 0) >= PROTOBUF_OBJECTS
            protobuf = protobuf or (is_long and wanted.kind in PROTOBUF_KINDS)
            coming = self._page(wanted, continue_, protobuf=protobuf) if more else None
            yield answer
            if again:
                raise _endless(wanted)

    def _page(self, wanted: Read, continue_: str, *, protobuf: bool = False) -> Background[Response]:
        request = _list_request(wanted, continue_)
        return Background(partial(self._fetch, replace(request, accept=PROTOBUF_OR_JSON) if protobuf else request))

    def _fetch(self, request: Request) -> Response:
        return fetch(self._connection, request, lambda received: self._add(received_bytes=received))

    def _add(self, *, objects: int = 0, received_bytes: int = 0) -> None:
        with self._lock:
            self.objects += objects
            self.received_bytes += received_bytes


class _Decoding:
    """Decodes the pages of a list, in JSON or Protocol Buffers; objects share equal parts."""

    def __init__(self, wanted: Read) -> None:
        self._wanted = wanted
        self._interning = Interning()
        self._protobuf: ListDecoder[KubernetesObject] | None = None

    def items(self, answer: Response) -> tuple[KubernetesObject, ...]:
        struct = self._wanted.kind.struct
        if not answer.protobuf:
            page_type: Any = ObjectList
            page = decoded(answer.body, page_type[struct], what=_what(self._wanted))
            return tuple(map(self._interning.intern, page.items))
        if self._protobuf is None:
            from kubectl_spread.objects.protobuf import ListDecoder

            self._protobuf = ListDecoder(struct)
        try:
            return self._protobuf.items(answer.body)
        except DecodeError as error:
            raise failure(_what(self._wanted), f"the server's answer is not valid: {error}") from error

    def end(self) -> None:
        if self._protobuf is not None:
            self._protobuf.forget()


def _wait(
    tasks: dict[Background[_Found], Read],
    finished: SimpleQueue[Background[_Found]],
    reading: _Reading,
    progress: Progress | None,
) -> None:
    pending = dict(tasks)
    while pending:
        try:
            task = finished.get(timeout=TICK_SECONDS)
        except Empty:
            pass
        else:
            task.result()
            del pending[task]
        if progress and pending:
            kinds = dict.fromkeys(wanted.kind.plural for wanted in pending.values())
            progress.reading(kinds=kinds, objects=reading.objects, received_bytes=reading.received_bytes)


def _inventory(results: Sequence[tuple[Read, _Found]]) -> Inventory:
    objects: dict[str, dict[tuple[str, str], KubernetesObject]] = {}
    versions: dict[str, dict[str, None]] = {}
    unread: dict[Unread, None] = {}
    comparable: set[str] = set()
    newest: dict[str, str] = {}
    for wanted, found in results:
        if found.unread:
            unread[Unread(wanted.kind, found.unread.why, found.unread.namespace)] = None
        if found.objects is None:
            continue
        of_kind = objects.setdefault(wanted.kind.name, {})
        of_kind.update({held.key: held for held in found.objects})
        plural, version = wanted.kind.plural, found.resource_version
        if version and may_be_newer(wanted):
            newest[plural] = max(newest.get(plural, ""), version, key=version_order)
        elif version:
            versions.setdefault(plural, {})[version] = None
            if is_comparable(wanted):
                comparable.add(version)
    texts = {plural: " and ".join(listed) for plural, listed in versions.items()}
    return Inventory(
        {kind: tuple(held.values()) for kind, held in objects.items()},
        texts | {plural: widen_versions(texts.get(plural, ""), version) for plural, version in newest.items()},
        tuple(unread),
        apart=len(comparable) > 1,
        within=whole_namespaces(wanted for wanted, found in results if found.objects is not None),
    )


def _unread(wanted: Read, refusal: StatusError) -> Unread:
    return Unread(wanted.kind, UNREAD[refusal.status], wanted.namespace)


def _endless(wanted: Read) -> ClusterError:
    why = "the list has no end: the server repeats the continue token"
    return failure(_what(wanted), why, hint="is there a proxy in front of the API server?")


def watch_request(wanted: Read) -> Request:
    """Return the request to watch a list, still without a resourceVersion."""
    query = {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "labelSelector": wanted.label_selector,
        "fieldSelector": wanted.field_selector,
    }
    return Request(path=_path(wanted), what=_what(wanted, "watch"), needs=_needs(wanted, "watch"), query=query)


def _list_request(wanted: Read, continue_: str) -> Request:
    version = "" if continue_ else wanted.resource_version
    query = {
        # A further page would be of exactly one version, without the index.
        "limit": "" if wanted.not_older else str(PAGE_OBJECTS),
        "continue": continue_,
        "resourceVersion": version,
        MATCH: version and (NOT_OLDER if wanted.not_older else EXACT),
        "labelSelector": wanted.label_selector,
        "fieldSelector": wanted.field_selector,
    }
    lists = (f"{wanted.kind.name}List",)
    return Request(path=_path(wanted), what=_what(wanted), needs=_needs(wanted, "list"), query=query, lists=lists)


def _metadata_page(
    connection: Connection, wanted: Read, *, query: dict[str, str], attempts: int | None = None
) -> ObjectList[KubernetesObject]:
    whole = _list_request(wanted, "")
    request = replace(whole, query=query, accept=METADATA_ONLY, lists=(*whole.lists, METADATA_LIST))
    request = replace(request, attempts=attempts or request.attempts)
    return decoded(fetch(connection, request).body, ObjectList[KubernetesObject], what=request.what)


def _path(wanted: Read) -> str:
    return wanted.kind.path(_segment(wanted.namespace, "namespace"))


def _segment(name: str, what: str) -> str:
    """Source: apimachinery pkg/api/validation/path/name.go IsValidPathSegmentName."""
    if name in (".", "..") or "/" in name or "%" in name:
        raise UsageError(f'invalid {what} "{name}"', hint="it may not be . or .. and may not contain / or %")
    return quote(name)


def _what(wanted: Read, verb: str = "list") -> str:
    where = wanted.kind.within(wanted.namespace)
    if wanted.name:
        return f'get {wanted.kind.singular} "{wanted.name}"{where}'
    return f"{verb} {wanted.kind.plural}{where or (' in all namespaces' if wanted.kind.namespaced else '')}"


def _needs(wanted: Read, verb: str) -> str:
    where = wanted.kind.within(wanted.namespace)
    role = f"a Role{where}" if where else "a ClusterRole"
    group = wanted.kind.group or '""'
    return f"{role} with the rule {{apiGroups: [{group}], resources: [{wanted.kind.plural}], verbs: [{verb}]}}"

"""The bytes that ``-f`` and ``--from`` name: files, directories, standard input and URLs.

Source: cli-runtime pkg/resource/visitor.go FileVisitor and ExpandPathsToFileVisitors (v1.36).
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec.structs import replace

from kubectl_spread.errors import ManifestProblem, UnreadableError

STANDARD_INPUT = "standard input"
SUFFIXES = (".json", ".yaml", ".yml", ".json.gz", ".yaml.gz", ".yml.gz")
"""What the names of manifests in a directory end in."""
MOST_OF_MANIFESTS = 64 * 2**20
"""Bytes that manifests or a configuration may have in one source."""
MOST_OF_A_CLUSTER = 4 * 2**30
"""Bytes that one source of a cluster may have: ten times those of the largest that Kubernetes supports."""

_GZIP = b"\x1f\x8b"
_CHUNK = 2**20
# Pods that differ by their names alone pack to a hundredth and a half of that; zeros pack to a thousandth.
_MOST_PACKED = 300
_LEAST_BOUND = 64 * 2**20


class Input(msgspec.Struct, frozen=True):
    """What one source holds.

    Attributes:
        source: the file, URL or ``standard input``, as a person would name it.
        content: the bytes, unpacked, in UTF-8 unless a missing byte order mark hid what they are in.
        listed: whether it was found in a directory rather than named.
    """

    source: str
    content: bytes
    listed: bool = False


def read_inputs(
    sources: Sequence[str], *, recursive: bool, urls: bool, stdin: BinaryIO | None, most: int = MOST_OF_MANIFESTS
) -> Iterator[Input | ManifestProblem]:
    """Yield what each source holds, or why it cannot be read; the files of a directory in the order of their names.

    ``most``: bytes that one source may hold, unpacked. Where URLs are not to be fetched, one is a problem.
    """
    for source in sources:
        if os.path.isdir(source):  # noqa: PTH112 - Path.is_dir raises where a name is too long or locked away
            yield from _read_directory(source, recursive=recursive, most=most)
        else:
            yield _read(source, urls=urls, stdin=stdin, most=most)


def _read(source: str, *, urls: bool, stdin: BinaryIO | None, most: int) -> Input | ManifestProblem:
    if source.startswith(("http://", "https://")):
        return _fetched(source, urls=urls, most=most)
    name = STANDARD_INPUT if source == "-" else as_text(source)
    try:
        content = _read_stdin(stdin, most) if source == "-" else _read_file(source, most)
        return Input(name, _decoded(content, most))
    except UnreadableError as error:
        return ManifestProblem(name or '""', str(error))


def _fetched(url: str, *, urls: bool, most: int) -> Input | ManifestProblem:
    """Return what a URL holds; most commands fetch none, and do without what that takes."""
    from kubectl_spread.cluster.net.background import Background
    from kubectl_spread.cluster.net.download import download
    from kubectl_spread.cluster.net.proxy import without_login

    name = without_login(url)
    if not urls:
        return ManifestProblem(name, "is a URL: a cluster is read from files")
    try:
        # Ctrl-C does not reach a thread that waits for a host's name to be looked up.
        return Input(name, _decoded(Background(partial(download, url)).result(), most))
    except UnreadableError as error:
        return ManifestProblem(name, str(error))


def as_text(path: str) -> str:
    """Return a path as a report can carry it: bytes in it that are no text are escaped."""
    return path.encode("utf-8", "backslashreplace").decode()


def _read_stdin(stdin: BinaryIO | None, most: int) -> bytes:
    if stdin is None:
        raise UnreadableError("is closed")
    try:
        return bounded(stdin, most)
    except OSError as error:
        raise _unreadable(error) from error


def _read_file(path: str, most: int) -> bytes:
    """Return the bytes of a file, or what a pipe brings: a shell's ``<(...)`` is one."""
    try:
        with Path(path).open("rb") as file:
            return bounded(file, most)
    except (OSError, ValueError) as error:
        raise _unreadable(error) from error


def bounded(stream: BinaryIO | gzip.GzipFile, most: int = MOST_OF_MANIFESTS) -> bytes:
    """Return what the stream brings until it ends.

    Raises:
        UnreadableError: it does not end within so many bytes.
    """
    if _is_device(stream) and stream.read(1):
        raise UnreadableError("is a device, not a file")
    # BytesIO hands out what it has collected without another copy.
    collected = io.BytesIO()
    while chunk := stream.read(_CHUNK):
        collected.write(chunk)
        if collected.tell() > most:
            raise UnreadableError(f"holds more than {most // 2**20} MiB")
    return collected.getvalue()


def _is_device(stream: BinaryIO | gzip.GzipFile) -> bool:
    """Whether the stream is a disk, or something like ``/dev/zero`` that never ends; a terminal is neither."""
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except OSError:
        return False
    return stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not stream.isatty())


def _unreadable(error: OSError | ValueError) -> UnreadableError:
    if isinstance(error, FileNotFoundError):
        return UnreadableError("does not exist")
    return UnreadableError(f"cannot be read: {getattr(error, 'strerror', None) or error}")


def _read_directory(directory: str, *, recursive: bool, most: int) -> Iterator[Input | ManifestProblem]:
    """Yield the manifests in a directory; one without any is a problem."""
    failures: list[OSError] = []
    paths = sorted(_manifests(directory, recursive=recursive, failures=failures))
    yield from (ManifestProblem(str(failure.filename), str(_unreadable(failure))) for failure in failures)
    for path in paths:
        found = _read_listed(str(path), most)
        yield replace(found, listed=True) if isinstance(found, Input) else found
    if not paths and not failures:
        deeper = "" if recursive else " (-R looks into its directories)"
        yield ManifestProblem(directory, f"holds no file whose name ends in {', '.join(SUFFIXES)}{deeper}")


def _read_listed(path: str, most: int) -> Input | ManifestProblem:
    """Return what a file in a directory holds; a pipe there that nobody fills would be waited for without end."""
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 - as above
        return ManifestProblem(path, "is not a file")
    return _read(path, urls=False, stdin=None, most=most)


def _manifests(directory: str, *, recursive: bool, failures: list[OSError]) -> Iterator[Path]:
    """Yield the paths of the manifests in a directory; what cannot be listed is added to the failures.

    os.walk recurses with every directory until Python 3.12, so it is asked for one at a time.
    """
    waiting = [directory]
    while waiting:
        for parent, children, names in islice(os.walk(waiting.pop(), onerror=failures.append), 1):
            yield from (Path(parent, name) for name in names if name.endswith(SUFFIXES))
            paths = (os.path.join(parent, child) for child in children if recursive)  # noqa: PTH118 - walked as they are
            waiting.extend(path for path in paths if not os.path.islink(path))  # noqa: PTH114 - Path.is_symlink may raise


def _decoded(content: bytes, most: int) -> bytes:
    """Return the content unpacked, and in UTF-8 without byte order mark.

    Source: visitor.go FileVisitor.Visit, which knows the marks of UTF-8 and UTF-16 (v1.36).
    """
    if content.startswith(_GZIP):
        content = _unpacked(content, most)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return content.decode("utf-16").encode()
        except UnicodeError as error:
            raise UnreadableError("begins as UTF-16 but is not") from error
    return content.removeprefix(codecs.BOM_UTF8)


def _unpacked(content: bytes, most: int) -> bytes:
    """Return what a gzip file holds, which must not be out of all proportion to its size."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            return bounded(file, min(most, max(_LEAST_BOUND, _MOST_PACKED * len(content))))
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableError(f"is a damaged gzip file: {error}") from error

"""Reads the sources of ``-f`` and ``--from``: files, directories, standard input and URLs.

Source: cli-runtime pkg/resource/visitor.go FileVisitor and ExpandPathsToFileVisitors (v1.36).
"""

from __future__ import annotations

import codecs
import io
import os
import stat
import zlib
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec
from msgspec.structs import replace

from kubectl_spread.errors import UnreadableError
from kubectl_spread.manifest_problem import ManifestProblem

if TYPE_CHECKING:
    from gzip import GzipFile

STANDARD_INPUT = "standard input"
SUFFIXES = (".json", ".yaml", ".yml", ".json.gz", ".yaml.gz", ".yml.gz")  # The suffixes of manifests in a directory
MOST_OF_MANIFESTS = 64 * 2**20  # The most bytes of one source of manifests or configuration
# The most bytes of one source of a cluster: ten times the largest cluster that Kubernetes supports.
MOST_OF_A_CLUSTER = 4 * 2**30

_GZIP = b"\x1f\x8b"
_CHUNK = 2**20
# gzip reduces Pods that differ only by name to 1/150, and zeros to 1/1000.
_MOST_PACKED = 300
_LEAST_BOUND = 64 * 2**20


class Input(msgspec.Struct, frozen=True):
    """The content of one source."""

    source: str  # the file, URL or ``standard input``
    content: bytes  # the uncompressed bytes, in UTF-8 unless they have another encoding without a byte order mark
    listed: bool = False  # whether it is from a directory and was not named itself


def read_inputs(
    sources: Sequence[str], *, recursive: bool, urls: bool, stdin: BinaryIO | None, most: int = MOST_OF_MANIFESTS
) -> Iterator[Input | ManifestProblem]:
    """Yield the content of each source, or why it cannot be read; the files of a directory sorted by name.

    ``most``: the most uncompressed bytes of a source. Without ``urls``, a URL is a problem.
    """
    for source in sources:
        if os.path.isdir(source):  # noqa: PTH112 - Path.is_dir raises where a name is too long or locked away
            yield from _read_directory(source, recursive=recursive, most=most)
        else:
            yield _read(source, urls=urls, stdin=stdin, most=most)


def _read(source: str, *, urls: bool, stdin: BinaryIO | None, most: int) -> Input | ManifestProblem:
    if source.startswith(("http://", "https://")):
        return _download(source, urls=urls, most=most)
    name = STANDARD_INPUT if source == "-" else as_text(source)
    if source == "-" and stdin is None:
        return ManifestProblem(name, "is closed")
    try:
        with nullcontext(stdin) if stdin and source == "-" else Path(source).open("rb") as stream:
            content = read_bounded(stream, most)
        return Input(name, _decode(content, most))
    except UnreadableError as error:
        return ManifestProblem(name or '""', str(error))
    except (OSError, ValueError) as error:
        return ManifestProblem(name or '""', _unreadable(error))


def _download(url: str, *, urls: bool, most: int) -> Input | ManifestProblem:
    from kubectl_spread.cluster.net.background import Background
    from kubectl_spread.cluster.net.download import download
    from kubectl_spread.cluster.net.proxy import without_login

    name = without_login(url)
    if not urls:
        return ManifestProblem(name, "is a URL, not a file")
    try:
        # Ctrl-C cannot interrupt a thread that looks up a host name.
        return Input(name, _decode(Background(partial(download, url)).result(), most))
    except UnreadableError as error:
        return ManifestProblem(name, str(error))


def as_text(path: str) -> str:
    """Return the path as text; bytes that are not UTF-8 are escaped."""
    return path.encode("utf-8", "backslashreplace").decode()


def read_bounded(stream: BinaryIO | GzipFile, most: int = MOST_OF_MANIFESTS) -> bytes:
    """Return all bytes of the stream; UnreadableError if it has more than ``most`` bytes, or is a device."""
    if _is_device(stream) and stream.read(1):
        raise UnreadableError("is a device, not a file")
    # BytesIO returns its content without another copy.
    collected = io.BytesIO()
    while chunk := stream.read(_CHUNK):
        collected.write(chunk)
        if collected.tell() > most:
            raise UnreadableError(f"holds more than {most // 2**20} MiB")
    return collected.getvalue()


def _is_device(stream: BinaryIO | GzipFile) -> bool:
    """Whether the stream is a disk or an endless device such as ``/dev/zero``, and no terminal."""
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except OSError:
        return False
    return stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not stream.isatty())


def _unreadable(error: OSError | ValueError) -> str:
    reason = getattr(error, "strerror", None) or error
    return "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {reason}"


def _read_directory(directory: str, *, recursive: bool, most: int) -> Iterator[Input | ManifestProblem]:
    """Yield the manifests in a directory; a directory without manifests is a problem."""
    failures: list[OSError] = []
    paths = sorted(_find_manifests(directory, recursive=recursive, failures=failures))
    yield from (ManifestProblem(str(failure.filename), _unreadable(failure)) for failure in failures)
    for path in paths:
        if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 - as above
            yield ManifestProblem(str(path), "is not a file")  # a pipe that nobody writes to would block
            continue
        found = _read(str(path), urls=False, stdin=None, most=most)
        yield replace(found, listed=True) if isinstance(found, Input) else found
    if not paths and not failures:
        deeper = "" if recursive else " (-R reads its subdirectories too)"
        yield ManifestProblem(directory, f"holds no file whose name ends in {', '.join(SUFFIXES)}{deeper}")


def _find_manifests(directory: str, *, recursive: bool, failures: list[OSError]) -> Iterator[Path]:
    """Before Python 3.12, os.walk recurses into each directory, so it walks one directory at a time here."""
    waiting = [directory]
    while waiting:
        for parent, children, names in islice(os.walk(waiting.pop(), onerror=failures.append), 1):
            yield from (Path(parent, name) for name in names if name.endswith(SUFFIXES))
            paths = (os.path.join(parent, child) for child in children if recursive)  # noqa: PTH118 - walked as they are
            waiting.extend(path for path in paths if not os.path.islink(path))  # noqa: PTH114 - Path.is_symlink may raise


def _decode(content: bytes, most: int) -> bytes:
    """Source: visitor.go FileVisitor.Visit, which knows the marks of UTF-8 and UTF-16 (v1.36)."""
    if content.startswith(_GZIP):
        content = _uncompress(content, most)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return content.decode("utf-16").encode()
        except UnicodeError as error:
            raise UnreadableError("begins as UTF-16 but is not") from error
    return content.removeprefix(codecs.BOM_UTF8)


def _uncompress(content: bytes, most: int) -> bytes:
    """Return the content of a gzip file, which may not be too large for the size of the file."""
    from gzip import GzipFile

    try:
        with GzipFile(fileobj=io.BytesIO(content)) as file:
            return read_bounded(file, min(most, max(_LEAST_BOUND, _MOST_PACKED * len(content))))
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableError(f"is a damaged gzip file: {error}") from error

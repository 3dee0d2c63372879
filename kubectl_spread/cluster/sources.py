"""The bytes that ``-f`` and ``--from`` name: files, directories, standard input and URLs.

Source: cli-runtime pkg/resource/visitor.go FileVisitor and ExpandPathsToFileVisitors (v1.36).
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

from kubectl_spread.cluster.background import Background
from kubectl_spread.cluster.download import UnreadableError, download, without_password
from kubectl_spread.errors import Problem

STANDARD_INPUT = "standard input"
SUFFIXES = (".json", ".yaml", ".yml", ".json.gz", ".yaml.gz", ".yml.gz")
"""What the names of manifests in a directory end in."""
MAX_UNPACKED = 4 * 2**30
"""Bytes that a gzip file may hold."""

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Input:
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
    sources: Sequence[str], *, recursive: bool, urls: bool, stdin: BinaryIO | None
) -> Iterator[Input | Problem]:
    """Yield what each source holds, or why it cannot be read; the files of a directory in the order of their names.

    Args:
        sources: files, directories, ``-`` for standard input, URLs.
        recursive: whether directories within directories are read.
        urls: whether URLs are fetched; a URL is a problem otherwise.
        stdin: standard input; None when there is none.
    """
    for source in sources:
        if source and Path(source).is_dir():
            yield from _read_directory(source, recursive=recursive)
        else:
            yield _read(source, urls=urls, stdin=stdin)


def _read(source: str, *, urls: bool, stdin: BinaryIO | None) -> Input | Problem:
    """Return what a source holds that is not a directory."""
    remote = source.startswith(("http://", "https://"))
    name = without_password(source) if remote else STANDARD_INPUT if source == "-" else source
    try:
        if not remote:
            content = _read_stdin(stdin) if source == "-" else _read_file(source)
        elif urls:
            # Ctrl-C does not reach a thread that waits for a host's name to be looked up.
            content = Background(partial(download, source)).result()
        else:
            return Problem(name, "is a URL: a cluster is read from files")
        return Input(name, _decoded(content))
    except UnreadableError as error:
        return Problem(name or '""', str(error))


def _read_stdin(stdin: BinaryIO | None) -> bytes:
    """Return all of standard input."""
    if stdin is None:
        raise UnreadableError("is closed")
    try:
        return stdin.read()
    except OSError as error:
        raise _unreadable(error) from error


def _read_file(path: str) -> bytes:
    """Return the bytes of a file."""
    try:
        with Path(path).open("rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise _unreadable(error) from error


def _unreadable(error: OSError | ValueError) -> UnreadableError:
    """Return why a file could not be read; a ValueError means a path that no file can have."""
    if isinstance(error, FileNotFoundError):
        return UnreadableError("does not exist")
    return UnreadableError(f"cannot be read: {getattr(error, 'strerror', None) or error}")


def _read_directory(directory: str, *, recursive: bool) -> Iterator[Input | Problem]:
    """Yield the manifests in a directory; one without any is a problem."""
    failures: list[OSError] = []
    paths = sorted(_manifests(directory, recursive=recursive, failures=failures))
    yield from (Problem(str(failure.filename), str(_unreadable(failure))) for failure in failures)
    for path in paths:
        found = _read(str(path), urls=False, stdin=None)
        yield replace(found, listed=True) if isinstance(found, Input) else found
    if not paths and not failures:
        deeper = "" if recursive else " (-R looks into its directories)"
        yield Problem(directory, f"holds no file whose name ends in {', '.join(SUFFIXES)}{deeper}")


def _manifests(directory: str, *, recursive: bool, failures: list[OSError]) -> Iterator[Path]:
    """Yield the paths of the manifests in a directory; what cannot be listed is added to the failures."""
    for parent, children, names in os.walk(directory, onerror=failures.append):
        yield from (Path(parent, name) for name in names if name.endswith(SUFFIXES))
        if not recursive:
            children.clear()


def _decoded(content: bytes) -> bytes:
    """Return the content unpacked, and in UTF-8 without byte order mark.

    Source: visitor.go FileVisitor.Visit, which knows the marks of UTF-8 and UTF-16 (v1.36).
    """
    if content.startswith(_GZIP):
        content = _unpacked(content)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return content.decode("utf-16").encode()
        except UnicodeError as error:
            raise UnreadableError("begins as UTF-16 but is not") from error
    return content.removeprefix(codecs.BOM_UTF8)


def _unpacked(content: bytes) -> bytes:
    """Return what a gzip file holds."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            unpacked = file.read(MAX_UNPACKED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableError(f"is a damaged gzip file: {error}") from error
    if len(unpacked) > MAX_UNPACKED:
        raise UnreadableError(f"holds more than {MAX_UNPACKED // 2**20} MiB once unpacked")
    return unpacked

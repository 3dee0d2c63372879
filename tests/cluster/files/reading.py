"""Reads files as ``check -f`` does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from kubectl_spread.cluster.files.documents import Document
from kubectl_spread.cluster.files.manifests import documents_of
from kubectl_spread.cluster.files.sources import read_inputs


def read_documents(
    sources: Sequence[str], *, recursive: bool = False, stdin: BinaryIO | None = None
) -> tuple[Document, ...]:
    """Return the objects of the sources in order."""
    return documents_of(read_inputs(sources, recursive=recursive, urls=True, stdin=stdin))

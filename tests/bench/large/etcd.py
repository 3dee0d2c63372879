"""What etcd stores, read and written beside the API server, by etcd's JSON over HTTP."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable

import urllib3

from tests.bench.large.copies import Entry, batches
from tests.controlplane.api import ApiError, Object

_MOST_OPERATIONS = 128
_LARGEST_BYTES = 1_000_000  # What etcd takes in one transaction unless told otherwise; it refuses requests of 1.5 MiB


class Etcd:
    """An etcd that listens at an address."""

    def __init__(self, url: str) -> None:
        """Connect on the first request."""
        self._url = url
        self._pool = urllib3.PoolManager(retries=False, timeout=60.0)

    def entry(self, key: str) -> Entry:
        """Return what is stored under a key, which must exist."""
        (found,) = self._post("/v3/kv/range", {"key": _text(key.encode())})["kvs"]
        return b64decode(found["key"]), b64decode(found["value"])

    def put(self, entries: Iterable[Entry]) -> None:
        """Store all entries."""
        for batch in batches(entries, largest_bytes=_LARGEST_BYTES, most=_MOST_OPERATIONS):
            puts = [{"requestPut": {"key": _text(key), "value": _text(value)}} for key, value in batch]
            self._post("/v3/kv/txn", {"success": puts})

    def _post(self, path: str, body: Object) -> Object:
        """Return what etcd answers.

        Raises:
            ApiError: it refused.
        """
        answer = self._pool.request("POST", f"{self._url}{path}", body=json.dumps(body))
        if answer.status >= 300:
            raise ApiError(status=answer.status, message=answer.data.decode(errors="replace"))
        decoded: Object = json.loads(answer.data)
        return decoded


def _text(value: bytes) -> str:
    """Return bytes as they stand in etcd's JSON."""
    return b64encode(value).decode()

"""How to ask an API server, and what an answer may take of time and memory."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec
import urllib3

from kubectl_spread.cluster.log import SILENT, Log
from kubectl_spread.cluster.net.credentials import Credentials


class DownloadLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How long to wait for an answer, and how much of it to take.

    Attributes:
        seconds: for all attempts and the pauses between them, where no timeout is set.
        answer_bytes: the largest size, uncompressed.
        sleep: waits so many seconds.
    """

    seconds: float
    answer_bytes: int
    sleep: Callable[[float], object] = time.sleep


API_SERVER = DownloadLimits(seconds=600.0, answer_bytes=1 << 30)
"""50,000 Pods in one page take two thirds of these bytes."""
MANIFEST = DownloadLimits(seconds=30.0, answer_bytes=64 << 20)
"""For a URL given with ``-f``."""


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    """How to ask an API server.

    Attributes:
        server: its URL, without a slash at the end.
        cluster: the cluster's name in the kubeconfig; empty when there is none.
        current: whether kubectl asks the same cluster without flags.
        flags: the given kubectl flags that lead to the cluster, each word by itself; none holds a secret.
        secret_flags: the names of the given flags that hold a secret.
        headers: of every request; a name may occur twice.
        timeout: seconds that a request may take; None for no limit.
    """

    server: str
    namespace: str
    context: str
    cluster: str = ""
    current: bool = True
    flags: tuple[str, ...] = ()
    secret_flags: tuple[str, ...] = ()
    pool: urllib3.PoolManager
    credentials: Credentials
    headers: tuple[tuple[str, str], ...]
    timeout: float | None = None
    log: Log = SILENT
    limits: DownloadLimits = API_SERVER

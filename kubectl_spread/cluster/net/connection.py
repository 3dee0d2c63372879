"""An API server, and all that a request to it needs."""

from __future__ import annotations

import msgspec
import urllib3

from kubectl_spread.cluster.log import SILENT, Log
from kubectl_spread.cluster.net.credentials import Credentials
from kubectl_spread.cluster.net.limits import API_SERVER, DownloadLimits


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    """How to ask an API server.

    Attributes:
        server: its URL, without a slash at the end.
        cluster: the cluster's name in the kubeconfig; empty when there is none.
        current: whether kubectl asks the same cluster without flags.
        flags: kubectl's flags that were given and lead there, each word by itself; none holds a secret.
        secret_flags: the names of those given that hold one.
        headers: further headers of every request, a name may come twice: who we are, and whom we impersonate.
        timeout: seconds that a request may take, None where nobody has set a limit.
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

"""The credentials that a connection sends, renewed when they expire or are refused."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import msgspec

from kubectl_spread.cluster.net.tls import KeyPair
from kubectl_spread.errors import ClusterError

EXPIRY_MARGIN = timedelta(seconds=10)


class Issued(msgspec.Struct, frozen=True, kw_only=True):
    """Credentials that a source issued."""

    authorization: str = ""  # the Authorization header; empty for none
    key_pair: KeyPair | None = None  # the client certificate; None for none
    expires: datetime | None = None  # when to ask the source again; None for never


class Credentials:
    """The credentials of a connection, which several threads may use."""

    def __init__(self, source: Callable[[], Issued]) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._issued = source()

    @property
    def key_pair(self) -> KeyPair | None:
        """The client certificate; the connection keeps the first one."""
        return self._issued.key_pair

    def authorization(self) -> str:
        """Return the current Authorization header; empty for none."""
        with self._lock:
            expires = self._issued.expires
            if expires is not None and datetime.now(UTC) > expires - EXPIRY_MARGIN:
                self._issued = self._source()
            return self._issued.authorization

    def renew(self, rejected: str) -> str:
        """Return the header to use instead of one that the server refused; the same when there is no other."""
        with self._lock:
            if self._issued.authorization == rejected:
                self._issued = self._source()
            return self._issued.authorization


def bearer(token: str) -> str:
    """Return the header for a token.

    Raises:
        ClusterError: the token does not fit in a header; the message does not show it.
    """
    token = token.strip()
    if not token.isascii() or not token.isprintable():
        raise ClusterError("the bearer token contains characters that are not allowed")
    return f"Bearer {token}"

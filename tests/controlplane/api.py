"""The API server asked directly: one JSON document a request, over connections that stay open."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3

MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"

CONNECTIONS = 8  # Requests that can be under way at once; more wait for a connection

Object = dict[str, Any]  # A Kubernetes object, or part of one, as JSON has it


class ApiError(Exception):
    """An answer of the API server other than 2xx."""

    def __init__(self, *, status: int, message: str) -> None:
        """Keep the HTTP status for tests to look at."""
        super().__init__(f"{status}: {message}")
        self.status = status


class Api:
    """A user's connection to an API server; threads may share it."""

    def __init__(self, server: str, *, certificate_authority: Path, token: str) -> None:
        """Connect on the first request."""
        self._server = server
        self._pool = urllib3.PoolManager(
            ca_certs=str(certificate_authority),
            maxsize=CONNECTIONS,
            block=True,
            retries=False,
            timeout=30.0,
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json", "User-Agent": "control-plane"},
        )

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, object] | None = None,
        content_type: str = "application/json",
        query: Mapping[str, str] | None = None,
    ) -> Object:
        """Return the object that the server answers with.

        Raises:
            ApiError: the server refused.
        """
        url = f"{self._server}{path}"
        if query:
            url += f"?{urlencode(query)}"
        headers = {**self._pool.headers, "Content-Type": content_type}
        answer = self._pool.request(method, url, body=json.dumps(body) if body else None, headers=headers)
        if answer.status >= 300:
            raise ApiError(status=answer.status, message=answer.data.decode(errors="replace"))
        decoded: Object = json.loads(answer.data)
        return decoded

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()


def is_healthy(url: str, *, certificate_authority: Path | None = None) -> bool:
    """Return whether a component answers its health check with 200; one that wrote no certificate yet does not."""
    if certificate_authority and not certificate_authority.exists():
        return False
    with urllib3.PoolManager(ca_certs=certificate_authority and str(certificate_authority)) as pool:
        try:
            return pool.request("GET", url, retries=False, timeout=2.0).status == 200
        except urllib3.exceptions.HTTPError:
            return False

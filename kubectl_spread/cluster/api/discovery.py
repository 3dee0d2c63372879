"""Which kinds an API server serves, by its discovery documents.

Source: apimachinery pkg/apis/meta/v1/types.go APIResourceList, APIGroup (v1.36).
"""

import re
from collections.abc import Mapping
from http import HTTPStatus

import msgspec

from kubectl_spread.cluster.net.connection import Connection
from kubectl_spread.cluster.net.failures import StatusError, decoded
from kubectl_spread.cluster.net.transport import Request, fetch
from kubectl_spread.objects.meta import Struct

_GROUP_AND_VERSION = re.compile(r"([a-z0-9]([a-z0-9.-]*[a-z0-9])?)/[a-z0-9]+", re.ASCII)


class Resource(Struct, frozen=True):
    """A resource of an API; ``name`` is its plural, with a slash for a subresource."""

    name: str = ""
    kind: str = ""
    namespaced: bool = False


class _Version(Struct, frozen=True):
    group_version: str = ""


class _Document(Struct, frozen=True):
    """Of a version of a group: its resources. Of a group: its versions."""

    resources: tuple[Resource, ...] = ()
    versions: tuple[_Version, ...] = ()


class Discovered(msgspec.Struct, frozen=True):
    """What an API server serves of a group and version."""

    resources: Mapping[str, Resource] = {}  # kind → resource
    versions: tuple[str, ...] = ()  # the apiVersions of the group that are served, if the version itself is not


def discover(connection: Connection, api_version: str) -> Discovered | None:
    """Return what the server serves of an apiVersion such as ``ray.io/v1``; None where that may not be read.

    Raises:
        ClusterError: the server cannot be reached or understood.
    """
    if not (match := _GROUP_AND_VERSION.fullmatch(api_version)):
        return Discovered()
    try:
        found = _read(connection, api_version)
        if found is not None:
            return Discovered({each.kind: each for each in found.resources if "/" not in each.name})
        group = _read(connection, match[1])
        return Discovered(versions=tuple(each.group_version for each in group.versions) if group else ())
    except StatusError as error:
        if error.status not in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            raise
        return None


def _read(connection: Connection, of: str) -> _Document | None:
    request = Request(path=f"/apis/{of}", what=f"get the kinds of {of}")
    try:
        return decoded(fetch(connection, request).body, _Document, what=request.what)
    except StatusError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
        return None

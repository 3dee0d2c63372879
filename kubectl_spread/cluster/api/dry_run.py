"""What an API server would make of an object, without making it: the only request that is no read.

Source: api meta/v1 CreateOptions.DryRun; apimachinery pkg/api/errors/errors.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import msgspec

from kubectl_spread.cluster.net.connection import Connection
from kubectl_spread.cluster.net.failures import StatusCause, StatusError
from kubectl_spread.cluster.net.transport import Request, fetch
from kubectl_spread.errors import ClusterError
from kubectl_spread.objects.decoding import DecodeError, Plain, decode
from kubectl_spread.objects.kinds import Kind, KubernetesObject

FIELD_MANAGER = "kubectl-spread"
UNAUTHORIZED_WORDS = "cannot create resource"
"""What tells a 403 of RBAC from one of admission."""
JUDGED = (HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY)
"""The answers that are about the object."""


class DryRun(msgspec.Struct, frozen=True):
    """What the server says.

    Attributes:
        obj: the object as it would store it; None where it would not.
        impossible: why it could not be asked; empty where it could.
    """

    obj: KubernetesObject | None = None
    causes: tuple[StatusCause, ...] = ()
    impossible: str = ""


def create(connection: Connection, kind: Kind, namespace: str, values: Mapping[str, Plain]) -> DryRun:
    """Return what the server would make of the object; where one of its name exists, of one like it.

    Raises:
        ClusterError: the server cannot be reached or understood.
    """
    try:
        return _post(connection, kind, namespace, values)
    except StatusError as error:
        if error.status != HTTPStatus.CONFLICT:
            raise
    found = values.get("metadata")
    metadata = dict(found) if isinstance(found, dict) else {}
    metadata["generateName"] = f"{metadata.pop('name', '')}-"
    return _post(connection, kind, namespace, {**values, "metadata": metadata})


def _post(connection: Connection, kind: Kind, namespace: str, values: Mapping[str, Plain]) -> DryRun:
    """Return what the server would make of the object.

    Raises:
        StatusError: the server refuses for a reason other than the object.
        ClusterError: it cannot be reached or understood.
    """
    where = f' in namespace "{namespace}"' if kind.namespaced else ""
    request = Request(
        path=kind.path(namespace),
        what=f"create {kind.singular} as a dry run{where}",
        needs=f'the RBAC verb "create" on {f"{kind.plural}.{kind.group}".rstrip(".")}{where}',
        query={"dryRun": "All", "fieldManager": FIELD_MANAGER},
        body=msgspec.json.encode(values),
    )
    try:
        answer = fetch(connection, request)
    except StatusError as error:
        return _refusal(error)
    try:
        return DryRun(obj=decode(answer.body, kind.struct))
    except DecodeError as error:
        what = request.what
        raise ClusterError(f"cannot {what}: the server's answer makes no sense: {error}", what=what) from error


def _refusal(error: StatusError) -> DryRun:
    """Return why the server would not store the object, or could not be asked.

    Raises:
        StatusError: it is about something else.
    """
    said = error.said
    if error.status == HTTPStatus.NOT_FOUND and said.details.kind == "namespaces":
        return DryRun(impossible=said.message)
    if error.status == HTTPStatus.FORBIDDEN and UNAUTHORIZED_WORDS in said.message:
        return DryRun(impossible=f"{error.message}; {error.hint}")
    if error.status not in JUDGED:
        raise error
    # Without causes the server's words are the one thing that is wrong.
    return DryRun(causes=said.details.causes or (StatusCause(reason=said.reason, message=said.message),))

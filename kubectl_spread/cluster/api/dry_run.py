"""Dry runs: what the API server would store. They are the only requests that are not reads.

Source: api meta/v1 CreateOptions.DryRun; apimachinery pkg/api/errors/errors.go (v1.36).
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from http import HTTPStatus
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from kubectl_spread.cluster.net.connection import Connection
from kubectl_spread.cluster.net.failures import StatusCause, StatusError, decoded
from kubectl_spread.cluster.net.transport import Request, fetch
from kubectl_spread.objects.decoding import plain
from kubectl_spread.objects.kinds import KINDS, Kind
from kubectl_spread.objects.meta import KubernetesObject, Plain

FIELD_MANAGER = "kubectl-spread"
KUBECTL = "kubectl"  # The field manager of ``kubectl apply --server-side``
UNAUTHORIZED_WORDS = re.compile("cannot (create|patch) resource")  # Tells a 403 of RBAC from one of admission
# The statuses of answers about the object.
JUDGED = (HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY)


class PatchType(StrEnum):
    """The media type of a patch."""

    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


class Patch(msgspec.Struct, frozen=True, kw_only=True):
    """A change of an object."""

    values: Mapping[str, Plain]  # the patch, or the applied configuration
    type: PatchType = PatchType.STRATEGIC
    force: bool = False  # whether an apply takes over fields of other managers


class DryRun(msgspec.Struct, frozen=True):
    """The result of a dry run."""

    obj: KubernetesObject | None = None  # the object as the server would store it; None where it refuses it
    values: Plain = None  # the same as plain values
    causes: tuple[StatusCause, ...] = ()  # why the server refuses it
    impossible: str = ""  # why the server could not be asked; empty where it could


def create(connection: Connection, kind: Kind, namespace: str, values: Mapping[str, Plain]) -> DryRun:
    """Return the result for a new object; where its name exists, for one with another name.

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
    request = Request(
        path=kind.path(namespace),
        what=f"create {kind.singular} as a dry run{kind.within(namespace)}",
        needs=_needs("create", kind, namespace),
        # The fields of Kubernetes' own kinds are checked here.
        query={"dryRun": "All", "fieldManager": FIELD_MANAGER, "fieldValidation": "" if kind in KINDS else "Strict"},
        body=msgspec.json.encode(values),
    )
    return _send(connection, kind, request)


def patch(connection: Connection, kind: Kind, namespace: str, name: str, change: Patch) -> DryRun:
    """Return the result for a change of an existing object.

    Raises:
        StatusError: the server refuses for a reason other than the object.
        ClusterError: the server cannot be reached or understood.
    """
    applies = change.type is PatchType.APPLY
    request = Request(
        path=f"{kind.path(namespace)}/{quote(name, safe='')}",
        what=f'patch {kind.singular} "{name}" as a dry run{kind.within(namespace)}',
        needs=_needs("patch", kind, namespace),
        query={
            "dryRun": "All",
            # An apply does not change fields of other managers without force.
            "fieldManager": KUBECTL if applies else FIELD_MANAGER,
            "force": "true" if change.force else "",
        },
        body=msgspec.json.encode(change.values),
        patch=change.type,
    )
    return _send(connection, kind, request)


def stored(connection: Connection, kind: Kind, namespace: str, name: str) -> Plain:
    """Return the object with all of its fields; None where it may not be read alone, or is gone.

    Raises:
        ClusterError: the server cannot be reached or understood.
    """
    path, what = f"{kind.path(namespace)}/{quote(name, safe='')}", f'{kind.singular} "{name}"{kind.within(namespace)}'
    request = Request(path=path, what=f"get {what}", needs=_needs("get", kind, namespace))
    try:
        return plain(fetch(connection, request).body)
    except StatusError as error:
        if error.status not in {HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND}:
            raise
        return None


def _needs(verb: str, kind: Kind, namespace: str) -> str:
    return f'the RBAC verb "{verb}" on {f"{kind.plural}.{kind.group}".rstrip(".")}{kind.within(namespace)}'


def _send(connection: Connection, kind: Kind, request: Request) -> DryRun:
    try:
        found = fetch(connection, request)
        return DryRun(obj=decoded(found.body, kind.struct, what=request.what), values=plain(found.body))
    except StatusError as error:
        answer = error.answer
        if error.status == HTTPStatus.NOT_FOUND and answer.details.kind == "namespaces":
            return DryRun(impossible=answer.message)
        if error.status == HTTPStatus.FORBIDDEN and UNAUTHORIZED_WORDS.search(answer.message):
            return DryRun(impossible=f"{error.message}; {error.hint}")
        conflicts = error.status == HTTPStatus.CONFLICT and answer.details.causes
        if error.status not in JUDGED and not conflicts:
            raise
    # Without causes, the message is the only error.
    causes = answer.details.causes or (StatusCause(reason=answer.reason, message=answer.message),)
    # Below the first line, the server prints a difference of Go objects.
    return DryRun(causes=tuple(replace(each, message=each.message.partition("\n")[0]) for each in causes))

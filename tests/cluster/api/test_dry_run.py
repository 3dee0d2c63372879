"""Objects created as a dry run: what is asked, and what the answers mean."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from kubectl_spread.cluster.api.dry_run import DryRun, Patch, PatchType, create, patch, stored
from kubectl_spread.cluster.net.connection import Connection
from kubectl_spread.cluster.net.failures import StatusCause
from kubectl_spread.errors import ClusterError
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import DEPLOYMENT, NODE, POD
from tests.build import Object, pod
from tests.cluster.api_server import ApiServer, Response, in_turn, status

STORED = Response(status=201, body=pod("web", priority=0))
EXISTS = status(409, "AlreadyExists", 'pods "web" already exists', name="web")
NO_RIGHT = 'deployments.apps is forbidden: User "u" cannot create resource "deployments" in API group "apps"'


def refusal(code: int, message: str, *causes: Object, kind: str = "") -> Response:
    body = {"kind": "Status", "reason": "Invalid", "message": message, "details": {"kind": kind, "causes": [*causes]}}
    return Response(status=code, body=body)


def asked(connection: Connection) -> DryRun:
    """Return what the server says of a Deployment."""
    return create(connection, DEPLOYMENT, "shop", {"metadata": {"name": "web"}})


def test_it_is_a_dry_run(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(STORED)
    said = create(connection, POD, "shop", pod("web"))
    (seen,) = server.seen
    assert (seen.method, seen.path) == ("POST", "/api/v1/namespaces/shop/pods")
    assert seen.query == {"dryRun": "All", "fieldManager": "kubectl-spread"}
    assert seen.header("Content-Type") == "application/json"
    assert isinstance(said.obj, Pod)
    assert said.obj.spec.priority == 0
    assert (said.causes, said.impossible) == ((), "")


def test_the_object_is_sent_as_it_stands(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(STORED)
    described: Object = {"metadata": {"name": "web"}, "spec": {"unknown": [1, None, "x"]}}
    create(connection, DEPLOYMENT, "shop", described)
    assert json.loads(server.seen[0].body) == described


def test_fields_of_a_custom_kind_are_checked_by_the_server(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(Response(status=201, body={"metadata": {"name": "ray"}}))
    create(connection, replace(POD, api_version="ray.io/v1", plural="rayclusters"), "shop", {})
    assert server.seen[0].path == "/apis/ray.io/v1/namespaces/shop/rayclusters"
    assert server.seen[0].query["fieldValidation"] == "Strict"


def test_of_a_kind_without_namespaces(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(status(403, "Forbidden", NO_RIGHT))
    assert create(connection, NODE, "", {}).impossible.endswith('; needs the RBAC verb "create" on nodes')
    assert server.seen[0].path == "/api/v1/nodes"


def test_where_one_of_the_name_exists_another_is_asked_for(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(EXISTS, STORED)
    assert create(connection, POD, "shop", pod("web")).obj is not None
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    ("values", "metadata"),
    [
        ({"metadata": {"name": "web", "labels": {"a": "b"}}}, {"generateName": "web-", "labels": {"a": "b"}}),
        ({}, {"generateName": "-"}),
    ],
    ids=str,
)
def test_another_name_is_left_to_the_server(
    server: ApiServer, connection: Connection, values: Object, metadata: Object
) -> None:
    server.answer = in_turn(EXISTS, STORED)
    create(connection, POD, "shop", values)
    assert json.loads(server.seen[1].body)["metadata"] == metadata


CAUSE = {"reason": "FieldValueInvalid", "message": "Invalid value: 0", "field": "spec.replicas"}


@pytest.mark.parametrize(
    ("answer", "causes"),
    [
        (refusal(422, "is invalid", CAUSE), [StatusCause(**CAUSE)]),
        (refusal(422, "is invalid"), [StatusCause(reason="Invalid", message="is invalid")]),
        (refusal(403, "exceeded quota"), [StatusCause(reason="Invalid", message="exceeded quota")]),
        (refusal(400, "webhook denied"), [StatusCause(reason="Invalid", message="webhook denied")]),
    ],
    ids=["causes", "no causes", "admission", "webhook"],
)
def test_what_the_server_refuses(
    server: ApiServer, connection: Connection, answer: Response, causes: Sequence[StatusCause]
) -> None:
    server.answer = in_turn(answer)
    assert asked(connection) == DryRun(causes=tuple(causes))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (status(403, "Forbidden", NO_RIGHT), 'needs the RBAC verb "create" on deployments.apps in namespace "shop"'),
        (refusal(404, 'namespaces "shop" not found', kind="namespaces"), 'namespaces "shop" not found'),
    ],
    ids=["no right", "no namespace"],
)
def test_what_the_server_cannot_be_asked(server: ApiServer, connection: Connection, answer: Response, why: str) -> None:
    server.answer = in_turn(answer)
    said = asked(connection)
    assert (said.obj, said.causes) == (None, ())
    assert why in said.impossible


@pytest.mark.parametrize(
    "answer",
    [
        status(404, "NotFound", "the server could not find the requested resource"),
        status(401, "Unauthorized"),
        status(500, "InternalError"),
        Response(body={"metadata": {"name": 5}}),
        EXISTS,
    ],
    ids=["not served", "unauthorized", "broken", "senseless", "always taken"],
)
def test_what_is_no_answer_about_the_object(server: ApiServer, connection: Connection, answer: Response) -> None:
    server.answer = in_turn(answer)
    with pytest.raises(ClusterError, match=r"Unauthorized|create deployment as a dry run"):
        asked(connection)


@pytest.mark.parametrize(
    ("change", "media", "query"),
    [
        (
            Patch(values={"spec": {"replicas": None}}),
            "application/strategic-merge-patch+json",
            {"dryRun": "All", "fieldManager": "kubectl-spread"},
        ),
        (
            Patch(values={"spec": {}}, type=PatchType.APPLY, force=True),
            "application/apply-patch+yaml",
            {"dryRun": "All", "fieldManager": "kubectl", "force": "true"},
        ),
    ],
)
def test_a_patch_is_a_dry_run_too(
    server: ApiServer, connection: Connection, change: Patch, media: str, query: dict[str, str]
) -> None:
    server.answer = in_turn(STORED)
    said = patch(connection, POD, "shop", "web", change)
    (seen,) = server.seen
    assert (seen.method, seen.path, seen.query) == ("PATCH", "/api/v1/namespaces/shop/pods/web", query)
    assert (seen.header("Content-Type"), json.loads(seen.body)) == (media, change.values)
    assert said.values == STORED.body


def test_conflicts_with_other_managers_are_causes(server: ApiServer, connection: Connection) -> None:
    cause = {
        "reason": "FieldManagerConflict",
        "message": 'conflict with "hpa" using apps/v1',
        "field": ".spec.replicas",
    }
    server.answer = in_turn(refusal(409, "Apply failed with 1 conflict", cause))
    said = patch(connection, DEPLOYMENT, "shop", "web", Patch(values={}, type=PatchType.APPLY))
    assert [(each.field, each.reason) for each in said.causes] == [(".spec.replicas", "FieldManagerConflict")]


def test_without_the_right_to_patch_it_is_impossible(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(refusal(403, NO_RIGHT.replace("create", "patch")))
    assert "cannot patch" in patch(connection, DEPLOYMENT, "shop", "web", Patch(values={})).impossible


def test_the_difference_below_a_message_is_left_out(server: ApiServer, connection: Connection) -> None:
    cause = {"reason": "FieldValueForbidden", "message": "Forbidden: no changes\n@@ -1 +1 @@\n-x", "field": "spec"}
    server.answer = in_turn(refusal(422, 'Pod "web" is invalid', cause))
    said = create(connection, POD, "shop", pod("web"))
    assert [each.message for each in said.causes] == ["Forbidden: no changes"]


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        (Response(body={"kind": "Pod", "spec": {"dnsPolicy": "None"}}), {"kind": "Pod", "spec": {"dnsPolicy": "None"}}),
        (refusal(403, 'pods "web" is forbidden: User "u" cannot get resource "pods"'), None),
        (refusal(404, 'pods "web" not found'), None),
    ],
)
def test_what_is_patched_is_read_with_all_of_its_fields(
    server: ApiServer, connection: Connection, answer: Response, read: Object | None
) -> None:
    server.answer = in_turn(answer)
    assert stored(connection, POD, "shop", "web") == read
    (seen,) = server.seen
    assert (seen.method, seen.path) == ("GET", "/api/v1/namespaces/shop/pods/web")


def test_any_other_trouble_in_reading_what_is_patched_is_an_error(server: ApiServer, connection: Connection) -> None:
    server.answer = in_turn(*[refusal(500, "etcd is down")] * 9)
    with pytest.raises(ClusterError, match='cannot get pod "web" in namespace "shop"'):
        stored(connection, POD, "shop", "web")

"""The API server's own record: the program has read, has asked for dry runs, and has done nothing else.

Every control plane looks at its record when it ends; here are a few commands that are always in one.
"""

import json
from collections import Counter

import pytest

from tests.controlplane.api import Object
from tests.controlplane.audit import Asked, count_requests, not_read, of_the_program
from tests.controlplane.client import Client
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.waiting import wait_for
from tests.e2e.manifests import ZONE, constraint, match, pod, pod_spec

pytestmark = pytest.mark.e2e

_COMMANDS = (
    ("show", "-A"),
    ("show",),
    ("show", "pod/keeps-a-secret", "--full"),
    ("why-pending", "-A"),
    ("why-pending", "keeps-a-secret"),
    ("check", "-f", "-"),
    ("check", "-f", "-", "--dry-run=server"),
)
_VAULT = "vault"
_SECRET: Object = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "key", "namespace": _VAULT},
    "stringData": {"key": "k"},
}
_KEEPER = pod(
    _VAULT,
    "keeps-a-secret",
    labels={"app": "keeps"},
    spec={
        "nodeSelector": {"vault": "yes"},
        "imagePullSecrets": [{"name": "key"}],
        "volumes": [{"name": "key", "secret": {"secretName": "key"}}],
        "topologySpreadConstraints": [constraint(ZONE, selector=match(app="keeps"))],
        **pod_spec(envFrom=[{"secretRef": {"name": "key"}}]),
    },
)
"""A Pod that takes a Secret in every way there is, and cannot be scheduled."""


@pytest.fixture(scope="module")
def asked(plane: ControlPlane, client: Client) -> Counter[Asked]:
    """What was asked of the control plane, with a few commands more."""
    before = count_requests(plane.audit_log)
    client.create_namespaces([_VAULT])
    client.apply([_SECRET])
    client.create_pods([_KEEPER])
    for command in _COMMANDS:
        ended = client.kubectl.run("spread", *command, "-n", _VAULT, stdin=json.dumps(_KEEPER))
        assert ended.returncode in {0, 1}, ended.stderr

    def dry_run_is_recorded() -> Counter[Asked] | None:
        now = count_requests(plane.audit_log)
        return now if any(each.dry_run for each in now - before) else None

    return wait_for(dry_run_is_recorded, what="the record of the last command")


def test_the_program_has_only_read(asked: Counter[Asked]) -> None:
    assert not_read(asked) == []
    ours = {(each.verb, each.resource) for each in of_the_program(asked)}
    assert {("get", "/version"), ("list", "nodes"), ("list", "pods"), ("patch", "pods")} <= ours


def test_what_is_no_read_would_be_seen() -> None:
    asked = {
        Asked("kubectl-spread/1", "delete", "pods", dry_run=False),
        Asked("kubectl-spread/1", "create", "pods", dry_run=False),
        Asked("kubectl-spread/1", "list", "secrets", dry_run=False),
        Asked("kubectl-spread/1", "get", "/metrics", dry_run=False),
    }
    others = {Asked("kubectl/1", "delete", "pods", dry_run=False)}
    assert set(not_read(Counter(asked | others))) == asked


def test_the_records_know_what_others_have_written(asked: Counter[Asked]) -> None:
    assert asked[Asked(agent="control-plane", verb="create", resource="pods", dry_run=False)]

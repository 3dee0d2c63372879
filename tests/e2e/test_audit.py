"""The API servers' own records of the session: the program has read, has asked for dry runs, and has done nothing else.

It comes last, and looks back on whatever ran before it, in every control plane; a few commands of its own are always
among them.
"""

import json
import re
from collections import Counter

import pytest

from kubectl_spread.objects.kinds import KINDS
from tests.controlplane.api import Object
from tests.controlplane.audit import ENDED, Asked, count_requests, of_the_program
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
_READS = {"get", "list", "watch"}
_TRIES = {"create", "patch"}
"""What is asked as a dry run only."""
_ABOUT_THE_SERVER = re.compile(r"/version|/apis/[^/]+(/[^/]+)?")
"""Its version, and the kinds of one API group: for custom resources."""

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
    """What was asked of all control planes so far, with a few commands more."""
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

    return ENDED + wait_for(dry_run_is_recorded, what="the record of the last command")


def test_the_program_has_only_read(asked: Counter[Asked]) -> None:
    kinds = {kind.plural for kind in KINDS}
    ours = of_the_program(asked)
    assert {each.verb for each in ours} <= {*_READS, *_TRIES}
    assert all(each.dry_run for each in ours if each.verb in _TRIES)
    read = {(each.verb, each.resource) for each in ours if each.verb in _READS}
    of_the_server = {asked for asked in read if asked[1] not in kinds}
    assert ("get", "/version") in of_the_server
    assert all(verb == "get" and _ABOUT_THE_SERVER.fullmatch(path) for verb, path in of_the_server), of_the_server
    assert {("list", "nodes"), ("list", "pods"), ("patch", "pods")} <= {(each.verb, each.resource) for each in ours}


def test_nobody_s_secrets_were_asked_for(asked: Counter[Asked]) -> None:
    assert "secrets" in {each.resource for each in asked}
    assert "secrets" not in {each.resource for each in of_the_program(asked)}


def test_the_records_know_what_others_have_written(asked: Counter[Asked]) -> None:
    assert asked[Asked(agent="control-plane", verb="create", resource="pods", dry_run=False)]

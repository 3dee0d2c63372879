"""A large cluster's Pods are read node by node as a real API server answers from its index: at no version exactly."""

import json
from collections.abc import Iterator
from io import BytesIO
from urllib.parse import parse_qs, urlsplit

import pytest

from kubectl_spread.cluster.access.client_config import connect
from kubectl_spread.cluster.access.options import ConnectionOptions
from kubectl_spread.commands.check import CheckOptions, check
from kubectl_spread.commands.read_sets import WHOLE_CLUSTER_PODS
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import ShowOptions, show
from kubectl_spread.commands.source import ClusterSource, ReadMode
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.commands.why_pending import why_pending
from kubectl_spread.contract.check import CheckItem
from kubectl_spread.contract.pending import PendingItem
from kubectl_spread.diagnosis.evaluation import Verdict
from tests.controlplane.audit import read_audit_log
from tests.controlplane.binaries import Binaries
from tests.controlplane.client import Client
from tests.controlplane.cluster import ControlPlane, Options, control_plane
from tests.e2e.manifests import ZONE, constraint, match, node, pod, pod_spec

pytestmark = pytest.mark.e2e

_SHOP, _OTHER = "shop", "other"
_TAINT = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}
_ALL_OF_IT = pod_spec(resources={"requests": {"cpu": "16"}})
_NODES = [f"n{number:02}" for number in range(12)]
_EVEN = {"topologySpreadConstraints": [constraint(ZONE, selector=match(app="web"))]}


class Many(ClusterSource):
    """A cluster that says it has many Pods."""

    def count_pods(self, namespace: str = "") -> int:
        """Return more than there are, but in a namespace."""
        return super().count_pods(namespace) + (0 if namespace else WHOLE_CLUSTER_PODS)


@pytest.fixture(scope="module")
def plane(binaries: Binaries) -> Iterator[ControlPlane]:
    """A cluster in which Pods of another namespace fill all nodes but those that are tainted."""
    with control_plane(Options(scheduler=False, controllers=()), binaries=binaries) as running:
        client: Client = running.client()
        client.create_namespaces([_SHOP, _OTHER])
        client.create_nodes(
            [
                *(node(name, labels={ZONE: "a"}) for name in _NODES),
                *(node(f"shut-{number}", labels={ZONE: "b"}, taints=[_TAINT]) for number in range(3)),
            ]
        )
        client.create_pods(pod(_OTHER, f"big-{name}", spec={**_ALL_OF_IT, "nodeName": name}) for name in _NODES)
        client.create_pods([pod(_SHOP, "waits", labels={"app": "web"}, spec={**_EVEN, **_ALL_OF_IT})])
        yield running


def _source(plane: ControlPlane) -> Many:
    return Many(connect(ConnectionOptions(kubeconfig=str(plane.kubeconfig))), progress=None)


def _explained(plane: ControlPlane, read: ReadMode) -> PendingItem:
    scope = Scope(namespace=_SHOP, names=("waits",))
    (item,) = why_pending(_source(plane), scope, SchedulerOptions(), read=read).report.items
    return item


def _checked(plane: ControlPlane, read: ReadMode) -> CheckItem:
    manifest = BytesIO(json.dumps(pod(_SHOP, "comes", labels={"app": "web"}, spec={**_EVEN, **_ALL_OF_IT})).encode())
    asked = CheckOptions(filenames=("-",), namespace=_SHOP, read=read)
    (item,) = check(_source(plane), asked, SchedulerOptions(), stdin=manifest).report.items
    return item


def test_a_manifest_is_answered_as_the_pod_that_waits(plane: ControlPlane) -> None:
    staged, whole, waits = _checked(plane, "auto"), _checked(plane, "all"), _explained(plane, "auto")
    assert (staged.verdict, staged.summary) == (Verdict.UNSCHEDULABLE, whole.summary)
    assert (staged.conflict, staged.core_of) == (waits.conflict, waits.core_of)
    assert staged.constraints == whole.constraints
    assert staged.message == waits.message == whole.message


def test_the_answers_are_the_same_and_no_node_is_asked_for_at_exactly_one_version(plane: ControlPlane) -> None:
    staged, whole = _explained(plane, "auto"), _explained(plane, "all")
    assert (staged.verdict, staged.summary) == (Verdict.UNSCHEDULABLE, whole.summary)
    assert staged.constraints == whole.constraints
    show(_source(plane), Scope(namespace=_SHOP), ShowOptions(), SchedulerOptions())
    uris = [urlsplit(record["requestURI"]) for record in read_audit_log(plane.audit_log)]
    queries = [parse_qs(uri.query) for uri in uris if uri.path == "/api/v1/pods"]
    of_nodes = [query for query in queries if query.get("fieldSelector", [""])[0].startswith("spec.nodeName=")]
    assert {query["fieldSelector"][0] for query in of_nodes} >= {f"spec.nodeName={name}" for name in _NODES}
    assert {query["resourceVersionMatch"][0] for query in of_nodes} == {"NotOlderThan"}
    assert not any("limit" in query for query in of_nodes)

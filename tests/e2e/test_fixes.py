"""Every form of command that is printed, run as printed on a real control plane: the scheduler then binds the Pod."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pytest

from tests.controlplane.api import Object
from tests.controlplane.binaries import Binaries
from tests.controlplane.client import Client, is_decided
from tests.controlplane.cluster import control_plane
from tests.controlplane.waiting import wait_for
from tests.e2e.fixes_as_printed import OPTIONS, WORKLOADS, emptied, offered, run_as_printed, workload
from tests.e2e.manifests import ZONE, constraint, match, node, pod, pod_spec

pytestmark = pytest.mark.e2e

NAMESPACE = "incident"
_APP = {"app": "web", "group": "shop"}
"""What the Pods in question carry: ``app`` is what their owner selects, ``group`` what their constraint counts."""
_BESIDE = {"group": "shop"}
_TAINT = {"key": "maintenance", "value": "firmware", "effect": "NoSchedule"}
_BY_ZONE = {"topologySpreadConstraints": [constraint(ZONE, selector=match(group="shop"))]}
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, kw_only=True)
class Incident:
    """A cluster in which a Pod stays Pending, and the class of the fix whose commands are run."""

    fix: str = ""  # the class; empty for the first that is printed with a command
    kind: str = "Deployment"  # of the Pod's owner; ``Pod`` for none
    spec: Object  # what the Pods' spec adds
    container: Object  # what their container adds
    owner: Object  # what the owner's spec adds
    nodes: tuple[Object, ...]  # the cluster
    beside: tuple[Object, ...]  # the Pods there are, besides the owner's own
    deleted: tuple[str, ...] = ()  # the names of those that are being deleted, and that no kubelet lets go


def _incident(
    fix: str = "",
    *,
    kind: str = "Deployment",
    spec: Object | None = None,
    container: Object | None = None,
    owner: Object | None = None,
    nodes: Sequence[Object] | None = None,
    beside: Mapping[str, str] | Sequence[Object] | None = None,
    deleted: Sequence[str] = (),
) -> Incident:
    """Return an incident: unless said otherwise, zones a and b are crowded, and zone c is tainted."""
    crowded = {"on-a": "a1", "on-b": "b1"} if beside is None else beside
    pods = (
        [pod(NAMESPACE, name, labels=_BESIDE, spec={"nodeName": place}) for name, place in crowded.items()]
        if isinstance(crowded, Mapping)
        else crowded
    )
    return Incident(
        fix=fix,
        kind=kind,
        spec=_BY_ZONE if spec is None else spec,
        container=container or {},
        owner=owner or {},
        nodes=tuple(_zones(taints=[_TAINT]) if nodes is None else nodes),
        beside=tuple(pods),
        deleted=tuple(deleted),
    )


def _zones(*, taints: Sequence[Object] = (), unschedulable: bool = False) -> list[Object]:
    """Return one node in each of the zones a, b and c, the last as given."""
    last = node("c1", labels={ZONE: "c"}, taints=taints, unschedulable=unschedulable)
    return [node("a1", labels={ZONE: "a"}), node("b1", labels={ZONE: "b"}), last]


def _spread(key: str = ZONE, **fields: object) -> Object:
    """Return a spec of one constraint; ``group`` is selected unless ``fields`` say otherwise."""
    return {"topologySpreadConstraints": [constraint(key, **{"selector": match(group="shop"), **fields})]}  # type: ignore[arg-type] # any field, by the builder's own names


def _requests(**amounts: str) -> Object:
    """Return what a container requests."""
    return {"resources": {"requests": amounts}}


def _holder(name: str, *, grace_s: int = 0, **container: object) -> Object:
    """Return a Pod on node n that nobody owns; without a grace period it needs no kubelet to be gone."""
    spec = {**pod_spec(**container), "nodeName": "n", "terminationGracePeriodSeconds": grace_s}
    return pod(NAMESPACE, name, spec=spec)


_ANTI: Object = {"podAntiAffinity": {_REQUIRED: [{"labelSelector": match(group="shop"), "topologyKey": ZONE}]}}
_NOT_C: Object = {
    "nodeAffinity": {
        _REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "NotIn", "values": ["c"]}]}]}
    }
}
_SMALL = node("n", room={"cpu": "2"})
_SILENT: Object = {**_SMALL, "status": {**_SMALL["status"], "conditions": [{"type": "Ready", "status": "Unknown"}]}}
_PORT: Object = {"ports": [{"containerPort": 80, "hostPort": 80}]}
_BIG = _requests(cpu="1500m")

INCIDENTS = {
    "first fix of a Deployment": _incident(),
    "first fix of a StatefulSet": _incident(kind="StatefulSet"),
    "first fix of a Job": _incident(kind="Job"),
    "first fix of a bare Pod": _incident(kind="Pod"),
    "Deployment, maxSkew": _incident("RaiseMaxSkew"),
    "Deployment, ScheduleAnyway": _incident("MakeSoft"),
    "Deployment, toleration": _incident("AddToleration"),
    "Deployment, selector": _incident(
        "FixSelector",
        spec=_spread(selector=match(app="cart")),
        beside=[
            pod(NAMESPACE, f"cart-{name}-{i}", labels={"app": "cart"}, spec={"nodeName": name})
            for name in ("a1", "b1")
            for i in range(2)
        ],
    ),
    "Deployment, key": _incident("FixTopologyKey", spec=_spread("topology.kubernetes.io/zones"), nodes=_zones()),
    "Deployment, nodes ruled out": _incident(
        "HonorAffinity",
        spec={**_spread(nodeAffinityPolicy="Ignore"), "affinity": _NOT_C},
        nodes=_zones(),
    ),
    "StatefulSet, minDomains": _incident(
        "LowerMinDomains",
        kind="StatefulSet",
        spec=_spread(minDomains=5),
        nodes=_zones(),
        beside={"on-a": "a1", "on-b": "b1", "on-c": "c1"},
    ),
    "StatefulSet, OnDelete": _incident(
        "RaiseMaxSkew", kind="StatefulSet", owner={"updateStrategy": {"type": "OnDelete"}}
    ),
    "bare ReplicaSet, maxSkew": _incident("RaiseMaxSkew", kind="ReplicaSet"),
    "ReplicationController, maxSkew": _incident("RaiseMaxSkew", kind="ReplicationController"),
    "DaemonSet, requests": _incident(
        "LowerRequests",
        kind="DaemonSet",
        spec={},
        container=_BIG,
        nodes=[_SMALL],
        beside=[_holder("holder", **_requests(cpu="1"))],
    ),
    "DaemonSet OnDelete, host port": _incident(
        "ChangeHostPort",
        kind="DaemonSet",
        spec={},
        container=_PORT,
        owner={"updateStrategy": {"type": "OnDelete"}},
        nodes=[_SMALL],
        beside=[_holder("holder", **_PORT)],
    ),
    "Job, maxSkew": _incident("RaiseMaxSkew", kind="Job"),
    "CronJob, maxSkew": _incident("RaiseMaxSkew", kind="CronJob"),
    "bare Pod, maxSkew": _incident("RaiseMaxSkew", kind="Pod"),
    "bare Pod, toleration": _incident("AddToleration", kind="Pod"),
    "bare Pod, node affinity": _incident(
        "RelaxNodeSelector",
        kind="Pod",
        spec={
            "affinity": {
                "nodeAffinity": {
                    _REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [{"key": "ssd", "operator": "Exists"}]}]}
                }
            }
        },
        beside=(),
    ),
    "Deployment, nodeSelector": _incident("RelaxNodeSelector", spec={"nodeSelector": {"disk": "ssd"}}, beside=()),
    "Deployment, anti-affinity": _incident("RelaxPodAffinity", spec={"affinity": _ANTI}),
    "cordon": _incident("Uncordon", nodes=_zones(unschedulable=True)),
    "taint": _incident("RemoveTaint"),
    "label": _incident(
        "LabelNode",
        nodes=[*_zones(taints=[_TAINT]), node("c2", labels={"failure-domain.beta.kubernetes.io/zone": "c"})],
    ),
    "room": _incident(
        "MovePod", spec={}, container=_BIG, nodes=[_SMALL], beside=[_holder("holder", **_requests(cpu="1"))]
    ),
    "room behind a Pod that is stuck": _incident(
        "MovePod",
        spec={},
        container=_BIG,
        nodes=[_SILENT],
        beside=[_holder("holder", grace_s=30, **_requests(cpu="1"))],
        deleted=["holder"],
    ),
    "two changes": _incident(
        "Uncordon+LowerRequests",
        spec={},
        container=_requests(cpu="3"),
        nodes=[node("n", room={"cpu": "2"}, unschedulable=True)],
        beside=(),
    ),
}


@pytest.fixture(scope="module")
def administrator(binaries: Binaries) -> Iterator[Client]:
    """An administrator of a control plane whose Nodes come and go."""
    with control_plane(OPTIONS, binaries=binaries) as running:
        yield running.client()


@pytest.fixture
def empty(administrator: Client) -> Iterator[Client]:
    """The administrator of an empty cluster, which is emptied again."""
    with emptied(administrator, NAMESPACE):
        yield administrator
    administrator.kubectl("delete", "namespace", NAMESPACE)


@pytest.mark.parametrize("name", INCIDENTS)
def test_the_printed_commands_let_the_pod_in(empty: Client, name: str) -> None:
    incident = INCIDENTS[name]
    pending = _set_up(empty, incident)
    fixes = offered(empty, NAMESPACE, pending)
    fix = next(fix for fix in fixes if incident.fix == fix["id"] or (not incident.fix and fix["commands"]))
    before = _places(empty)
    for command in fix["commands"]:
        run_as_printed(empty, command)
    if incident.kind == "CronJob":
        empty.kubectl("create", "job", "next", "--from=cronjob/web", "-n", NAMESPACE)
    named = {*fix["feasible"], *fix.get("newRevision", ())}
    # Of several, only the first can be held to what was said before it was there; it may not be seen first.
    wait_for(
        lambda: named & {place for _, place in _places(empty).items() - before.items()},
        what=f"a Pod on {sorted(named)} after {fix['commands']}",
    )


def test_every_form_of_command_is_run() -> None:
    """Read off the incidents above, so that none is lost: one for each kind of owner and each change of a node."""
    kinds = {incident.kind for incident in INCIDENTS.values()}
    assert kinds == {*WORKLOADS, "Pod"}
    assert {"Uncordon", "RemoveTaint", "LabelNode", "MovePod"} <= {incident.fix for incident in INCIDENTS.values()}


def test_an_owner_we_do_not_know_is_named_with_the_field(empty: Client) -> None:
    rollout = {"apiVersion": "example.com/v1", "kind": "Rollout", "name": "web", "uid": "1", "controller": True}
    owned = pod(NAMESPACE, "web-0", labels=_APP, spec=_BY_ZONE)
    owned["metadata"]["ownerReferences"] = [rollout]
    pending = _set_up(empty, _incident(kind="Pod"), asked=owned)
    (fix,) = (fix for fix in offered(empty, NAMESPACE, pending) if fix["id"] == "RaiseMaxSkew")
    assert fix["commands"] == []
    assert "spec.topologySpreadConstraints[0].maxSkew in the template of rollout/web" in fix["starts"]


def _set_up(client: Client, incident: Incident, *, asked: Object | None = None) -> str:
    """Return the name of the Pending Pod, once everything else is on its node."""
    client.create_nodes(incident.nodes)
    client.create_pods(incident.beside)
    client.mark_running(NAMESPACE)
    client.delete_pods([client.pod(NAMESPACE, name) for name in incident.deleted])
    client.apply([asked or _owner(incident)])
    if incident.kind == "CronJob":
        client.kubectl("create", "job", "now", "--from=cronjob/web", "-n", NAMESPACE)
    return wait_for(lambda: _pending(client), what="a Pod that finds no Node")


def _pending(client: Client) -> str | None:
    """Return the name of a Pod that the scheduler has refused, None before there is one."""
    refused = (each for each in client.pods(NAMESPACE) if is_decided(each) and "nodeName" not in each["spec"])
    return next((str(each["metadata"]["name"]) for each in refused), None)


def _places(client: Client) -> Mapping[str, str]:
    """Return UID → node of the Pods in question that are bound."""
    pods = (each for each in client.pods(NAMESPACE) if each["metadata"].get("labels", {}).get("app") == "web")
    return {each["metadata"]["uid"]: each["spec"]["nodeName"] for each in pods if "nodeName" in each["spec"]}


def _owner(incident: Incident) -> Object:
    """Return what makes the Pod: its owner, or the Pod itself."""
    spec = {**pod_spec(**incident.container), **incident.spec}
    template: Object = {"metadata": {"labels": _APP}, "spec": spec}
    return workload(incident.kind, NAMESPACE, name="web", template=template, **incident.owner)

"""What `kubectl spread check` says of a manifest, and what controllers and scheduler then do with it.

We are asked first; then the manifest is applied, and its Pods are compared with what was said: as many on nodes, and as
many in each domain, or within the range that ties were said to leave open.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from subprocess import CompletedProcess

import pytest

from kubectl_spread.apiserver.admission import mutated, refusals
from kubectl_spread.apiserver.creation import prepared
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import convert
from kubectl_spread.scheduler.profile import default_profile
from kubectl_spread.snapshot import Inventory, Snapshot
from tests.controlplane.api import ApiError, Object
from tests.controlplane.binaries import KUBERNETES_RELEASE, Binaries
from tests.controlplane.client import Client, is_decided
from tests.controlplane.cluster import ControlPlane, Options, control_plane
from tests.controlplane.identity import User
from tests.controlplane.waiting import wait_for
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, node, pod_spec

pytestmark = pytest.mark.e2e

RACK = "example.com/rack"
WEB = match(app="web")
READER = User(name="reader")  # May read everything and create nothing

_TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
_DECIDED_S = 60.0


@dataclass(frozen=True, kw_only=True)
class Situation:
    """A workload to check and then to apply."""

    name: str  # of its namespace
    constraints: Sequence[Object]  # its topology spread constraints
    replicas: int = 6  # how many are asked for, by --replicas and then by the manifest
    kind: str = "Deployment"  # its kind
    spec: Mapping[str, object] = field(default_factory=dict)  # further fields of the Pods' spec
    container: Mapping[str, object] = field(default_factory=dict)  # further fields of their container
    # how many Pods of the same labels are on which nodes already
    beside: Mapping[str, int] = field(default_factory=dict)
    fields: Mapping[str, object] = field(default_factory=dict)  # further fields of the workload's spec

    def __str__(self) -> str:
        """Return its name."""
        return self.name


def hard(key: str, **fields: object) -> Object:
    """Return a constraint on the Pods of the application, which must hold."""
    return constraint(key, selector=WEB, **fields)


def soft(key: str, **fields: object) -> Object:
    """Return a constraint on the Pods of the application, which should hold."""
    return constraint(key, selector=WEB, whenUnsatisfiable="ScheduleAnyway", **fields)


REQUESTS = {"resources": {"requests": {"cpu": "5"}}}  # Three Pods fit on a node of 16 CPUs
NEW_REVISION = {"matchLabelKeys": ["pod-template-hash"]}

SITUATIONS = [
    Situation(name="zones", constraints=[hard(ZONE)], replicas=7),
    Situation(name="zones-crowded", constraints=[hard(ZONE)], replicas=5, beside={"a1": 2, "b1": 1}),
    Situation(name="zones-honoured", constraints=[hard(ZONE, nodeTaintsPolicy="Honor")], replicas=8),
    Situation(name="zones-jammed", constraints=[hard(ZONE)], replicas=9, spec={"nodeSelector": {RACK: "1"}}),
    Situation(name="hosts-jammed", constraints=[hard(HOSTNAME)], replicas=12),
    Situation(name="zones-skewed", constraints=[hard(ZONE, maxSkew=3)], replicas=7),
    Situation(name="domains-missing", constraints=[hard(ZONE, minDomains=5)], replicas=8),
    Situation(name="racks-and-zones", constraints=[hard(ZONE), hard(RACK)], replicas=10),
    Situation(
        name="luck",
        constraints=[hard(ZONE), hard(RACK)],
        replicas=2,
        spec={
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": ["a1", "a2", "b1"]}]}
                        ]
                    }
                }
            }
        },
    ),
    Situation(name="soft-zones", constraints=[soft(ZONE), soft(HOSTNAME)], replicas=9),
    Situation(name="full", constraints=[soft(ZONE)], replicas=40, container=REQUESTS),
    Situation(name="revisions", constraints=[hard(ZONE, **NEW_REVISION)], replicas=6, beside={"a1": 5}),
    Situation(
        name="affine",
        constraints=[hard(ZONE)],
        replicas=6,
        spec={
            "affinity": {
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": HOSTNAME, "labelSelector": WEB}]
                }
            }
        },
    ),
    Situation(
        name="ordinals",
        kind="StatefulSet",
        constraints=[hard(HOSTNAME)],
        replicas=8,
        fields={"serviceName": "web", "podManagementPolicy": "Parallel"},
    ),
    Situation(
        name="completions",
        kind="Job",
        constraints=[hard(ZONE)],
        replicas=5,
        spec={"restartPolicy": "Never"},
        fields={"completionMode": "Indexed", "completions": 5, "parallelism": 5, "backoffLimit": 1},
    ),
]


@pytest.fixture(scope="module")
def plane(binaries: Binaries) -> Iterator[ControlPlane]:
    """A whole control plane with two nodes in each of three zones, and a seventh behind a taint in a fourth."""
    with control_plane(Options(users=(READER,)), binaries=binaries) as running:
        labels = {f"{zone}{rack}": {ZONE: zone, RACK: rack} for zone in "abc" for rack in "12"}
        nodes = [node(name, labels=own) for name, own in labels.items()]
        tainted = node("d1", labels={ZONE: "d", RACK: "1"}, taints=[_TAINT])
        client = running.client()
        client.create_nodes([*nodes, tainted])
        client.kubectl("create", "clusterrole", "reader", "--verb=get,list", "--resource=*.*")
        client.kubectl("create", "clusterrolebinding", "reader", "--clusterrole=reader", f"--user={READER.name}")
        yield running


@pytest.fixture(scope="module")
def client(plane: ControlPlane) -> Client:
    """An administrator of this module's control plane."""
    return plane.client()


@pytest.mark.parametrize("situation", SITUATIONS, ids=str)
def test_the_pods_lie_as_we_said(client: Client, situation: Situation) -> None:
    namespace = situation.name
    _clear(client)
    client.create_namespaces([namespace])
    client.create_pods(_beside(situation))
    manifest = _manifest(situation)
    item = _checked(client, manifest, "--replicas", str(situation.replicas))
    client.apply([_with_replicas(manifest, situation.replicas)])
    pods = _decided(client, namespace, situation.replicas)
    _compare_jam(item, placed=sum("nodeName" in pod["spec"] for pod in pods))
    _compare_domains(client, item, namespace)


def test_daemons_go_to_the_nodes_we_named(client: Client) -> None:
    """One node is tainted, and one has no room left."""
    _clear(client)
    client.create_namespaces(["daemons"])
    hog = {"resources": {"requests": {"cpu": "15"}}}
    client.create_pods([_object("v1", "Pod", "hog", "daemons", spec={**pod_spec(**hog), "nodeName": "b1"})])
    daemon_set = Situation(name="daemons", kind="DaemonSet", constraints=[], container=REQUESTS)
    item = _checked(client, _manifest(daemon_set))
    assert (item["replicas"], item["jam"]["nodes"]) == (6, ["b1"])
    client.apply([_manifest(daemon_set)])
    pods = _decided(client, "daemons", 6)
    assert {pod["spec"].get("nodeName") for pod in pods} == {each["node"] for each in item["placements"]} | {None}


def test_what_was_not_applied_does_not_exist(client: Client) -> None:
    client.create_namespaces(["untouched"])
    situation = Situation(name="untouched", constraints=[hard(ZONE)])
    _checked(client, _manifest(situation), "--dry-run=server")
    assert client.kubectl("get", "all", "-n", "untouched", "-o", "name") == ""


def test_a_rollout_goes_as_we_said(client: Client) -> None:
    client.create_namespaces(["rolling"])
    everywhere = hard(ZONE, nodeTaintsPolicy="Honor", **NEW_REVISION)
    situation = Situation(name="rolling", constraints=[everywhere], replicas=6)
    manifest = _with_replicas(_manifest(situation), 6)
    client.apply([manifest])
    _rolled_out(client, "rolling")
    manifest["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.example/main:2"
    item = _checked(client, manifest)
    assert (item["rollout"]["strategy"], item["rollout"]["running"], item["rollout"]["replaced"]) == (
        "RollingUpdate",
        6,
        6,
    )
    assert (item["jam"], len(item["placements"])) == (None, 6)
    client.apply([manifest])
    _rolled_out(client, "rolling")
    new = [pod for pod in _living(client, "rolling") if pod["spec"]["containers"][0]["image"].endswith(":2")]
    assert len(new) == 6
    assert _by_zone(client, new) == _domains(item["after"][0])


def test_a_rollout_that_jams_leaves_its_last_pods_pending(client: Client) -> None:
    """Old Pods hold every node, and only one may go before a new one is there."""
    client.create_namespaces(["stuck"])
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    situation = Situation(name="stuck", constraints=[hard(HOSTNAME)], replicas=6, fields={"strategy": strategy})
    manifest = _with_replicas(_manifest(situation), 6)
    client.apply([manifest])
    _rolled_out(client, "stuck")
    # A new Pod may go beside an old one only where the spread allows; with anti-affinity it may not.
    anti = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": HOSTNAME, "labelSelector": WEB}]}
    manifest["spec"]["template"]["spec"]["affinity"] = {"podAntiAffinity": anti}
    item = _checked(client, manifest)
    assert (item["jam"]["replica"], item["placements"]) == (1, [])
    client.apply([manifest])
    waiting = wait_for(
        lambda: [pod for pod in _living(client, "stuck") if is_decided(pod) and "nodeName" not in pod["spec"]],
        what="a new Pod that cannot be scheduled",
    )
    assert len(waiting) == 1


@pytest.mark.parametrize(
    "situation",
    [
        SITUATIONS[0],
        SITUATIONS[3],
        next(each for each in SITUATIONS if each.kind == "StatefulSet"),
        next(each for each in SITUATIONS if each.kind == "Job"),
    ],
    ids=str,
)
def test_a_dry_run_says_what_we_say_without(client: Client, situation: Situation) -> None:
    namespace = f"dry-{situation.name}"
    client.create_namespaces([namespace])
    manifest = _in_namespace(_manifest(situation), namespace)
    ours = _checked(client, manifest, "--replicas", "9")
    theirs = _checked(client, manifest, "--replicas", "9", "--dry-run=server")
    assert theirs == ours
    client.apply([_with_replicas(manifest, 1)])
    existing = _checked(client, manifest, "--replicas", "9", "--dry-run=server")
    assert (existing["validation"], existing["incomplete"]) == ([], [])


def test_a_dry_run_brings_the_servers_own_words(client: Client) -> None:
    manifest = _manifest(Situation(name="default", constraints=[hard(ZONE, maxSkew=0)]))
    ours, theirs = (_checked(client, manifest, *dry) for dry in ((), ("--dry-run=server",)))
    assert theirs["validation"] == ours["validation"] != []


def test_a_dry_run_finds_pods_that_admission_refuses(client: Client) -> None:
    manifest = _manifest(Situation(name="default", constraints=[], spec={"priorityClassName": "none"}))
    ours, theirs = (_checked(client, manifest, *dry) for dry in ((), ("--dry-run=server",)))
    assert (ours["verdict"], theirs["verdict"]) == ("FailedCreate", "FailedCreate")
    refusals = ours["failedCreate"]["refusals"]
    assert [(error["field"], error["reason"]) for error in refusals] == [
        ("spec.template.spec.priorityClassName", "Forbidden")
    ]
    assert theirs["failedCreate"]["message"].endswith(refusals[0]["message"])


def test_a_custom_kind_is_refused_until_its_definition_is_installed(client: Client) -> None:
    template = {"spec": {"containers": [{"name": "main", "image": "registry.example/main:1"}]}}
    ray = _object("ray.io/v1", "RayCluster", "ray", "default", spec={"head": {"template": template}})
    applied = client.kubectl.run("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(ray))
    (error,) = _checked(client, ray)["validation"]
    assert 'no matches for kind "RayCluster" in version "ray.io/v1"' in error["message"]
    assert 'no matches for kind "RayCluster" in version "ray.io/v1"' in applied.stderr
    open_ended = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"head": open_ended}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": "ray.io", "scope": "Namespaced", "versions": [version]}
    definition = _object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "rayclusters.ray.io", "")
    names = {"kind": "RayCluster", "plural": "rayclusters"}
    client.apply([{**definition, "spec": {**spec, "names": names}}])
    wait_for(lambda: _checked(client, ray)["verdict"] == "Schedulable" or None, what="the kind to be served")
    misspelt = _object("ray.io/v1", "RayCluster", "ray", "default", spec={"head": {"template": template}, "hed": 1})
    (error,) = _checked(client, misspelt, "--dry-run=server")["validation"]
    assert 'unknown field "spec.hed"' in error["message"]


def test_a_dry_run_that_is_not_allowed_is_told(client: Client) -> None:
    manifest = _manifest(Situation(name="default", constraints=[hard(ZONE)]))
    arguments = ("--context", READER.name, "--dry-run=server")
    ended = _run(client, manifest, *arguments)
    assert ended.returncode == 3
    (item,) = json.loads(ended.stdout)["items"]
    assert item["verdict"] == "Incomplete"
    assert "create" in item["incomplete"][0]["why"]


def test_a_limit_range_makes_pods_larger(client: Client) -> None:
    client.create_namespaces(["limited"])
    limits = [{"type": "Container", "default": {"cpu": "6"}}]
    client.apply([_object("v1", "LimitRange", "limits", "limited", spec={"limits": limits})])
    situation = Situation(name="limited", constraints=[hard(HOSTNAME, maxSkew=9)], replicas=14)
    manifest = _manifest(situation)
    item = _checked(client, manifest, "--replicas", "14")
    assert _checked(client, manifest, "--replicas", "14", "--dry-run=server") == item
    assert item["jam"] is not None
    client.apply([_with_replicas(manifest, 14)])
    pods = _decided(client, "limited", 14)
    _compare_jam(item, placed=sum("nodeName" in pod["spec"] for pod in pods))


ADMITTED: Mapping[str, Object] = {
    "nothing": {},
    "limit": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "2", "memory": "1Gi"}}}]},
    "request": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"memory": "1Gi"}}}]},
    "init": {"initContainers": [{"name": "i", "image": "i"}]},
    "priority": {"priorityClassName": "low"},
    "system": {"priorityClassName": "system-cluster-critical"},
    "runtime": {"runtimeClassName": "kata", "nodeSelector": {"disk": "fast"}},
    "tolerant": {"tolerations": [{"operator": "Exists"}]},
    "own": {"tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Equal", "value": "x"}]},
    "keyed": {"topologySpreadConstraints": [hard(ZONE, matchLabelKeys=["app2", "absent"])]},
    "ports": {"hostNetwork": True, "containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80}]}]},
    "affine": {
        "affinity": {
            "podAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 1,
                        "podAffinityTerm": {"topologyKey": ZONE, "labelSelector": WEB, "matchLabelKeys": ["app2"]},
                    }
                ]
            }
        }
    },
}
REFUSED: Mapping[str, Object] = {
    "no class": {"priorityClassName": "none"},
    "priority": {"priorityClassName": "low", "priority": 7},
    "policy": {"preemptionPolicy": "Never"},
    "no runtime": {"runtimeClassName": "none"},
    "overhead": {"runtimeClassName": "kata", "overhead": {"cpu": "3"}},
    "selector": {"runtimeClassName": "kata", "nodeSelector": {"kata": "no"}},
}


@pytest.fixture(scope="module")
def known(client: Client) -> Iterator[Snapshot]:
    """The objects of admission, as the server lists them."""
    client.create_namespaces(["admission"])
    scheduling = {"nodeSelector": {"kata": "yes"}, "tolerations": [{"key": "kata", "operator": "Exists"}]}
    cpu = {"type": "Container", "default": {"cpu": "3"}, "min": {"memory": "64Mi"}}
    disk = {"type": "Container", "max": {"ephemeral-storage": "9Gi"}}
    made = [
        _object("v1", "LimitRange", "cpu", "admission", spec={"limits": [cpu]}),
        _object("v1", "LimitRange", "disk", "admission", spec={"limits": [disk]}),
        _object("scheduling.k8s.io/v1", "PriorityClass", "low", value=-5, preemptionPolicy="Never"),
        _object("scheduling.k8s.io/v1", "PriorityClass", "usual", value=10, globalDefault=True),
        _object(
            "node.k8s.io/v1",
            "RuntimeClass",
            "kata",
            handler="kata",
            overhead={"podFixed": {"cpu": "250m", "memory": "128Mi"}},
            scheduling=scheduling,
        ),
    ]
    client.apply(made)
    listed = {
        kind.name: tuple(convert(item, kind.struct) for item in client.api.request("GET", kind.path())["items"])
        for kind in (kinds.LIMIT_RANGE, kinds.PRIORITY_CLASS, kinds.RUNTIME_CLASS)
    }
    yield Snapshot.build(Inventory(listed, dict.fromkeys(("limitranges", "priorityclasses", "runtimeclasses"), "1")))
    client.kubectl("delete", "priorityclass", "usual")


@pytest.mark.parametrize("name", ADMITTED)
def test_admission_writes_what_the_server_writes(client: Client, known: Snapshot, name: str) -> None:
    asked = _pod(ADMITTED[name])
    stored = convert(_dry_run(client, asked), Pod).spec
    profile = default_profile(int(KUBERNETES_RELEASE.partition(".")[2]))
    ours = prepared(mutated(convert(asked, Pod), known, profile), profile.release).spec
    assert set(ours.tolerations) == set(stored.tolerations)
    for attribute in stored.__struct_fields__:
        if attribute not in {"tolerations", "containers", "init_containers"}:
            assert getattr(ours, attribute) == getattr(stored, attribute), attribute
    for field_name in ("containers", "init_containers"):
        pairs = zip(getattr(ours, field_name), getattr(stored, field_name), strict=True)
        assert [(a.resources, a.ports) for a, _ in pairs] == [
            (b.resources, b.ports) for b in getattr(stored, field_name)
        ]


@pytest.mark.parametrize("name", REFUSED)
def test_admission_refuses_what_the_server_refuses(client: Client, known: Snapshot, name: str) -> None:
    asked = _pod(REFUSED[name])
    with pytest.raises(ApiError) as refused:
        _dry_run(client, asked)
    (ours,) = refusals(convert(asked, Pod), known)
    said = json.loads(str(refused.value).partition(": ")[2])["message"]
    assert said == f'pods "asked" is forbidden: {ours.message}'


def _pod(spec: Mapping[str, object]) -> Object:
    """Return a Pod in the namespace where admission has something to say."""
    labels = {"app": "web", "app2": "x"}
    return _object("v1", "Pod", "asked", "admission", labels=labels, spec={**pod_spec(), **spec})


def _dry_run(client: Client, pod: Object) -> Object:
    """Return the Pod as the server would store it."""
    path = "/api/v1/namespaces/admission/pods"
    return client.api.request("POST", path, body=pod, query={"dryRun": "All"})


def _object(
    api_version: str, kind: str, name: str, namespace: str = "", *, labels: Object | None = None, **fields: object
) -> Object:
    """Return an object."""
    metadata = {"name": name, "labels": labels or {}, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def _manifest(situation: Situation) -> Object:
    """Return the workload, without a word on how many replicas it has."""
    spec = {**pod_spec(**situation.container), **situation.spec}
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {**spec, "topologySpreadConstraints": [*situation.constraints]},
    }
    api_version = "batch/v1" if situation.kind == "Job" else "apps/v1"
    selector = {} if situation.kind == "Job" else {"selector": WEB}
    fields = {**selector, "template": template, **situation.fields}
    return _object(api_version, situation.kind, "web", situation.name, spec=fields)


def _with_replicas(manifest: Object, replicas: int) -> Object:
    """Return the workload with so many replicas; a Job says it otherwise."""
    if manifest["kind"] == "Job":
        return manifest
    return {**manifest, "spec": {**manifest["spec"], "replicas": replicas}}


def _in_namespace(manifest: Object, namespace: str) -> Object:
    """Return the workload in another namespace."""
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": namespace}}


def _beside(situation: Situation) -> list[Object]:
    """Return the Pods that are on nodes before the workload comes."""
    return [
        _object(
            "v1",
            "Pod",
            f"beside-{on}-{number}",
            situation.name,
            labels={"app": "web"},
            spec={**pod_spec(), "nodeName": on},
        )
        for on, count in situation.beside.items()
        for number in range(count)
    ]


def _run(client: Client, manifest: Object, *arguments: str) -> CompletedProcess[str]:
    """Return how the command ended."""
    return client.kubectl.run("spread", "check", "-f", "-", "-o", "json", *arguments, stdin=json.dumps(manifest))


def _checked(client: Client, manifest: Object, *arguments: str) -> Object:
    """Return what we say of the manifest."""
    ended = _run(client, manifest, *arguments)
    assert (ended.returncode in {0, 1}, ended.stderr) == (True, "")
    item: Object
    (item,) = json.loads(ended.stdout)["items"]
    return item


def _clear(client: Client) -> None:
    """Remove all workloads and Pods, so that what ties does not depend on what was there before."""
    at_once = ("--all", "--all-namespaces", "--force", "--grace-period=0", "--wait=false")
    client.kubectl("delete", "deployments,statefulsets,daemonsets,replicasets,jobs", *at_once)

    def empty() -> bool:
        # A controller that has not seen its workload go yet makes Pods anew.
        client.kubectl("delete", "pods", *at_once)
        return not client.pods()

    wait_for(empty, what="an empty cluster")


def _living(client: Client, namespace: str) -> list[Object]:
    """Return the Pods that the workload made and that are not being deleted."""
    return [
        pod
        for pod in client.pods(namespace)
        if "ownerReferences" in pod["metadata"] and "deletionTimestamp" not in pod["metadata"]
    ]


def _decided(client: Client, namespace: str, replicas: int) -> list[Object]:
    """Return the workload's Pods once there are as many as are wanted and the scheduler has decided about each."""

    def all_decided() -> list[Object] | None:
        pods = _living(client, namespace)
        return pods if len(pods) == replicas and all(map(is_decided, pods)) else None

    return wait_for(all_decided, what=f"decisions about the Pods of {namespace}", timeout_s=_DECIDED_S)


def _rolled_out(client: Client, namespace: str) -> None:
    """Return once the Deployment runs as it is meant to."""

    def done() -> bool:
        client.mark_running(namespace)
        ended = client.kubectl.run("rollout", "status", "deployment/web", "-n", namespace, "--watch=false")
        return "successfully rolled out" in ended.stdout

    wait_for(done, what=f"the rollout in {namespace}", timeout_s=_DECIDED_S)


def _compare_jam(item: Object, *, placed: int) -> None:
    """Assert that as many Pods are on nodes as we said."""
    jam = item["jam"]
    if jam is None:
        assert placed == item["replicas"]
        return
    latest = jam.get("replicaMax", jam["replica"])
    assert jam["replica"] - 1 <= placed <= (item["replicas"] if latest is None else latest - 1)


def _compare_domains(client: Client, item: Object, namespace: str) -> None:
    """Assert that each domain holds as many Pods as we said, or within the range."""
    labels = _node_labels(client)
    pods = [pod for pod in client.pods(namespace) if "nodeName" in pod["spec"]]
    for constraint_ in item["after"]:
        own = [pod for pod in pods if _counts(constraint_, pod, item)]
        actual = Counter(labels[pod["spec"]["nodeName"]].get(constraint_["topologyKey"]) for pod in own)
        ranges = {
            r["value"]: (r["minimum"], r["maximum"]) for r in item["ranges"] if r["constraint"] == constraint_["index"]
        }
        for value, matching in _domains(constraint_).items():
            fewest, most = ranges.get(value, (matching, matching))
            assert fewest <= actual[value] <= most, (constraint_["topologyKey"], value)


def _counts(constraint_: Object, pod: Object, item: Object) -> bool:
    """Whether the constraint counts the Pod: one keyed by the revision counts the workload's own."""
    keyed = "pod-template-hash" in constraint_["selector"]
    assert item["kind"] == "Deployment" or not keyed
    return not keyed or "ownerReferences" in pod["metadata"]


def _domains(constraint_: Object) -> Mapping[str, int]:
    """Return domain → matching Pods, of those that are counted."""
    return {domain["value"]: domain["matching"] for domain in constraint_["domains"] if domain["eligible"]}


def _by_zone(client: Client, pods: Sequence[Object]) -> Mapping[str, int]:
    """Return zone → Pods in it."""
    labels = _node_labels(client)
    return Counter(labels[pod["spec"]["nodeName"]][ZONE] for pod in pods)


def _node_labels(client: Client) -> Mapping[str, Mapping[str, str]]:
    """Return node's name → its labels."""
    nodes = client.api.request("GET", "/api/v1/nodes")["items"]
    return {node["metadata"]["name"]: node["metadata"]["labels"] for node in nodes}

"""What a user may list decides what is answered: the documented ClusterRole is enough, and no lacking right misleads.

No scheduler runs: Pods stay Pending, and what is said of them with all rights stands beside what is said with fewer.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from subprocess import CompletedProcess
from typing import NamedTuple

import pytest
import yaml

from kubectl_spread.commands import read_sets
from kubectl_spread.objects import kinds
from kubectl_spread.objects.kinds import KINDS, Kind
from tests.autoscalers.clusters import pool
from tests.controlplane.api import Object
from tests.controlplane.audit import read_audit_log
from tests.controlplane.binaries import Binaries
from tests.controlplane.client import Client
from tests.controlplane.cluster import ControlPlane, Options, control_plane
from tests.controlplane.identity import User
from tests.controlplane.waiting import wait_for
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, node, pod, pod_spec

pytestmark = pytest.mark.e2e

_REQUIRED = (kinds.NODE, kinds.POD)
_OPTIONAL = [kind for kind in KINDS if kind not in _REQUIRED]

READER = User(name="reader")  # Has exactly the documented ClusterRole
OF_ONE_NAMESPACE = User(name="of-one-namespace")  # Has the same rules in the shop alone
WITH_NODES = User(name="with-nodes")  # Has the documented Role in the shop, and the right to list Nodes
LACKING = {kind: User(name=f"without-{kind.plural}") for kind in KINDS}
"""Each has the documented ClusterRole without one kind."""

_STATUS = "cluster-autoscaler-status"
MOST_FOR_AUTOSCALERS = 2  # Requests (count) that a cluster without an autoscaler pays for them
_ALL = "ClusterRole/kubectl-spread"
_SHOP, _BANK = "shop", "bank"
_TERM = {"topologyKey": HOSTNAME, "labelSelector": match(app="db"), "namespaceSelector": match(team=_BANK)}
_NEAR = {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_TERM]}}}
_OWN_MANIFEST = pod(_SHOP, "new", labels={"app": "new"})
_TRUE_WITH_FEWER = {"Schedulable": {"Schedulable", "Incomplete"}, "Unschedulable": {"Unschedulable", "Incomplete"}}
_DEFAULTED = {"new", "keeps", "nearby", "ranked", "boxed", "acting"}
"""Manifests that can be scheduled, and take the default constraints."""
_CLAIMING = {"keeps", "far"}
_UNDECIDED: Mapping[Kind, set[str]] = {
    kinds.NAMESPACE: {"nearby"},
    kinds.DEPLOYMENT: {"spread"},
    **dict.fromkeys((kinds.SERVICE, kinds.REPLICA_SET, kinds.STATEFUL_SET), _DEFAULTED),
    kinds.REPLICATION_CONTROLLER: _DEFAULTED,
    **dict.fromkeys((kinds.PERSISTENT_VOLUME_CLAIM, kinds.PERSISTENT_VOLUME, kinds.STORAGE_CLASS), _CLAIMING),
    **dict.fromkeys((kinds.CSI_NODE, kinds.CSI_DRIVER, kinds.CSI_STORAGE_CAPACITY), _CLAIMING),
    kinds.VOLUME_ATTACHMENT: {"keeps"},
    kinds.LIMIT_RANGE: {*_DEFAULTED, "spread"},
    kinds.RESOURCE_QUOTA: {*_DEFAULTED, "spread"},
    kinds.SERVICE_ACCOUNT: {"acting"},
    kinds.PRIORITY_CLASS: {"ranked"},
    kinds.RUNTIME_CLASS: {"boxed"},
}
"""Kind → manifests of which `check` does not say without it whether they can be scheduled."""
_TELL_OF_WORKLOADS = {*kinds.WORKLOAD_KINDS, kinds.SERVICE}
_HARD_DEFAULTS: Object = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "pluginConfig": [
                {
                    "name": "PodTopologySpread",
                    "args": {"defaultingType": "List", "defaultConstraints": [constraint(ZONE, selector=None)]},
                }
            ]
        }
    ],
}


class _Shown(NamedTuple):
    """What `show` says: (workload, topology key, constraint) → status, and what could not be had."""

    rows: Mapping[tuple[str, str, int], str]
    missing: set[str]


@pytest.fixture(scope="module")
def audit_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server records who asked for what."""
    return tmp_path_factory.mktemp("audit") / "log"


@pytest.fixture(scope="module")
def plane(binaries: Binaries, audit_log: Path) -> Iterator[ControlPlane]:
    """A control plane without scheduler, with users of different rights and a shop whose Pods are Pending."""
    users = (READER, OF_ONE_NAMESPACE, WITH_NODES, *LACKING.values())
    with control_plane(Options(users=users, scheduler=False, audit_log=audit_log), binaries=binaries) as running:
        client = running.client()
        client.create_nodes([node("a1", labels={ZONE: "a"}), node("b1", labels={ZONE: "b"}, unschedulable=True)])
        client.apply([*_namespaces(), *_rights(), *_storage(), *_workloads(), *_admission()])
        client.create_pods([*_bound(), *_pending()])
        wait_for(lambda: any("web-" in each["metadata"]["name"] for each in client.pods(_SHOP)), what="web's Pod")
        yield running


@pytest.fixture(scope="module")
def client(plane: ControlPlane) -> Client:
    """An administrator."""
    return plane.client()


@pytest.fixture(scope="module")
def whole(client: Client) -> Mapping[str, Object]:
    """Pod of the shop → what is said of it with all rights."""
    return _explained(client, READER)


@pytest.fixture(scope="module")
def checked(client: Client) -> Mapping[str, Object]:
    """Manifest → what is said of it with all rights."""
    return _checked(client, READER)


@pytest.fixture(scope="module")
def shown(client: Client) -> _Shown:
    """What is shown with all rights."""
    return _show(client, READER)


@pytest.fixture(scope="module")
def hard_defaults(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A scheduler's configuration with a hard default constraint."""
    path = tmp_path_factory.mktemp("scheduler") / "config.json"
    path.write_text(json.dumps(_HARD_DEFAULTS))
    return str(path)


def test_the_role_names_the_kinds_that_are_read_and_lets_them_be_listed() -> None:
    rules = _rules(_ALL)
    granted = {(group, name) for rule in rules for group in rule["apiGroups"] for name in rule["resources"]}
    assert granted == {(kind.group, kind.plural) for kind in KINDS}
    of_config_maps = [rule for rule in rules if rule["resources"] == [kinds.CONFIG_MAP.plural]]
    assert [(rule["verbs"], rule["resourceNames"]) for rule in of_config_maps] == [(["get"], [_STATUS])]
    others = [rule for rule in rules if rule not in of_config_maps]
    assert {tuple(rule["verbs"]) for rule in others} == {("list",), ("list", "watch")}


def test_the_role_lets_what_show_reads_be_watched() -> None:
    rules = [rule for rule in _rules(_ALL) if "watch" in rule["verbs"]]
    watched = {(group, name) for rule in rules for group in rule["apiGroups"] for name in rule["resources"]}
    assert watched == {
        (read.kind.group, read.kind.plural) for read in (*read_sets.everything(""), *read_sets.for_moving())
    }


COMMANDS = pytest.mark.parametrize(
    "command",
    [("show", "-A"), ("show", "deployment/web"), ("why-pending",), ("why-pending", "-A"), ("check", "-f", "-")],
    ids=" ".join,
)


@COMMANDS
def test_the_role_is_enough(client: Client, command: Sequence[str]) -> None:
    ended = _spread(client, READER, *command, "-o", "json")
    report = json.loads(ended.stdout)
    assert report["items"]
    assert "forbidden" not in ended.stdout + ended.stderr
    assert "Incomplete" not in ended.stdout


@COMMANDS
def test_nothing_but_lists_is_asked_for(client: Client, audit_log: Path, command: Sequence[str]) -> None:
    before = len(_requests(audit_log))
    _spread(client, READER, *command)
    asked = _requests(audit_log)[before:]
    about_objects = [request for request in asked if "objectRef" in request]
    assert about_objects
    about_status = [request for request in about_objects if request["objectRef"]["resource"] == kinds.CONFIG_MAP.plural]
    assert {(request["verb"], request["objectRef"]["name"]) for request in about_status} <= {("get", _STATUS)}
    assert {request["verb"] for request in about_objects if request not in about_status} == {"list"}
    assert {request["objectRef"]["resource"] for request in about_objects} <= {kind.plural for kind in KINDS}
    assert {request["requestURI"] for request in asked if "objectRef" not in request} == {"/version"}
    missing = [
        request["objectRef"]["resource"]
        for request in asked
        if request["responseStatus"]["code"] == HTTPStatus.NOT_FOUND
    ]
    assert len(missing) == len({*missing}) <= MOST_FOR_AUTOSCALERS
    assert {*missing} <= {kinds.CONFIG_MAP.plural, kinds.NODE_POOL.plural}
    assert {request["responseStatus"]["code"] for request in asked} <= {200, HTTPStatus.NOT_FOUND}


@pytest.mark.parametrize("kind", _OPTIONAL, ids=lambda kind: kind.plural)
def test_without_a_kind_nothing_untrue_is_said(client: Client, whole: Mapping[str, Object], kind: Kind) -> None:
    _assert_true_with_fewer(_explained(client, LACKING[kind]), whole, what=f"list {kind.plural}")


@pytest.mark.parametrize(
    "kind",
    [kinds.SERVICE, kinds.REPLICA_SET, kinds.STATEFUL_SET, kinds.REPLICATION_CONTROLLER],
    ids=lambda kind: kind.plural,
)
def test_hard_defaults_are_not_counted_by_half_a_selector(client: Client, hard_defaults: str, kind: Kind) -> None:
    configured = ("--scheduler-config", hard_defaults)
    whole = _explained(client, READER, *configured)
    replica = next(name for name in whole if name.startswith("web-"))
    assert (whole[replica]["verdict"], whole["served"]["verdict"]) == ("Schedulable", "Unschedulable")
    partial = _explained(client, LACKING[kind], *configured)
    _assert_true_with_fewer(partial, whole, what=f"list {kind.plural}")
    assert (partial[replica]["verdict"], partial["served"]["verdict"]) == ("Incomplete", "Incomplete")


@pytest.mark.parametrize(
    ("name", "verdict", "needed"),
    [
        ("uneven", "Unschedulable", []),
        ("bound", "Unschedulable", [kinds.PERSISTENT_VOLUME_CLAIM, kinds.PERSISTENT_VOLUME, kinds.CSI_NODE]),
        ("waits", "Schedulable", [kinds.PERSISTENT_VOLUME_CLAIM, kinds.PERSISTENT_VOLUME, kinds.STORAGE_CLASS]),
        ("waits", "Schedulable", [kinds.CSI_NODE, kinds.CSI_DRIVER, kinds.CSI_STORAGE_CAPACITY]),
        ("waits", "Schedulable", [kinds.VOLUME_ATTACHMENT]),
        ("near", "Schedulable", [kinds.NAMESPACE]),
        ("plain", "Schedulable", [kinds.SERVICE]),
    ],
)
def test_a_pod_that_needs_a_kind_is_told_that_it_was_not_judged(
    client: Client, whole: Mapping[str, Object], name: str, verdict: str, needed: Sequence[Kind]
) -> None:
    assert whole[name]["verdict"] == verdict
    for kind in needed:
        ended = _spread(client, LACKING[kind], "why-pending", name)
        assert (kind, ended.returncode) == (kind, 3)
        assert f"incomplete: list {kind.plural} (forbidden): " in ended.stdout


@pytest.mark.parametrize("kind", _OPTIONAL, ids=lambda kind: kind.plural)
def test_without_a_kind_check_calls_nothing_what_it_is_not(
    client: Client, checked: Mapping[str, Object], kind: Kind
) -> None:
    partial = _checked(client, LACKING[kind])
    _assert_true_with_fewer(partial, checked, what=f"list {kind.plural}")
    undecided = {name for name, item in partial.items() if item["verdict"] == "Incomplete"}
    assert undecided == _UNDECIDED.get(kind, set())


@pytest.mark.parametrize("kind", _OPTIONAL, ids=lambda kind: kind.plural)
def test_without_a_kind_show_says_what_it_cannot_see(client: Client, shown: _Shown, kind: Kind) -> None:
    partial = _show(client, LACKING[kind])
    for row in shown.rows.keys() & partial.rows.keys():
        assert partial.rows[row] in {shown.rows[row], "Incomplete"}, row
    if shown.rows.keys() != partial.rows.keys():
        assert f"list {kind.plural}" in partial.missing
    assert partial.missing == ({f"list {kind.plural}"} if kind in _TELL_OF_WORKLOADS else set())


def test_a_workload_that_cannot_be_seen_is_not_called_missing(client: Client) -> None:
    ended = _spread(client, LACKING[kinds.DEPLOYMENT], "show", "deployment/idle")
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "cannot tell whether deployment/idle exists: list deployments (forbidden)" in ended.stderr


@pytest.mark.parametrize("kind", _REQUIRED, ids=lambda kind: kind.plural)
@pytest.mark.parametrize(
    "command",
    [("show", "-A"), ("show", "deployment/web"), ("why-pending", "-A"), ("check", "-f", "-")],
    ids=" ".join,
)
def test_without_nodes_or_pods_there_is_one_clear_line(client: Client, kind: Kind, command: Sequence[str]) -> None:
    ended = _spread(client, LACKING[kind], *command)
    assert (ended.returncode, ended.stdout) == (3, "")
    (line,) = ended.stderr.splitlines()
    assert f"not allowed to list {kind.plural}" in line
    assert f'ClusterRole with the rule {{apiGroups: [""], resources: [{kind.plural}], verbs: [list]}}' in line


@pytest.mark.parametrize("command", [("show",), ("show", "deployment/web"), ("why-pending",), ("check", "-f", "-")])
def test_without_nodes_the_rule_that_lacks_is_named(client: Client, command: Sequence[str]) -> None:
    ended = _spread(client, OF_ONE_NAMESPACE, *command)
    assert (ended.returncode, ended.stdout) == (3, "")
    (line,) = ended.stderr.splitlines()
    assert "not allowed to list" in line
    if command[0] != "check":
        assert "list nodes" in line
        assert 'ClusterRole with the rule {apiGroups: [""], resources: [nodes], verbs: [list]}' in line


def test_pods_of_one_namespace_are_enough_to_say_what_is_certain(client: Client, whole: Mapping[str, Object]) -> None:
    partial = _explained(client, WITH_NODES)
    assert partial.keys() == whole.keys()
    for name, item in partial.items():
        assert item["verdict"] in _TRUE_WITH_FEWER[whole[name]["verdict"]]
        assert "list pods" in {missing["what"] for missing in item["incomplete"]}
    assert {name for name, item in partial.items() if item["verdict"] == "Unschedulable"} == {"uneven", "crowded"}
    assert whole["squeezed"]["verdict"] == "Unschedulable"


def test_pods_of_one_namespace_are_enough_to_show_how_they_lie(client: Client) -> None:
    ended = _spread(client, WITH_NODES, "show", "deployment/even", "-o", "json")
    (row,) = json.loads(ended.stdout)["items"]
    assert row["status"] == "Incomplete"
    assert "Pods of other namespaces" in row["statusReason"]
    assert {domain["value"]: domain["matching"] for domain in row["constraint"]["domains"]} == {"a": 1, "b": 1}


def test_the_role_of_one_namespace_names_what_a_namespace_holds(client: Client) -> None:
    granted = {name for rule in _rules("Role/kubectl-spread") for name in rule["resources"]}
    wanted = {read.kind for read in read_sets.everything(_SHOP, pending=True) if read.namespace}
    assert granted == {kind.plural for kind in wanted - {*kinds.AUTOSCALER_KINDS}} | {"pods"}
    told = {missing["what"] for item in _explained(client, WITH_NODES).values() for missing in item["incomplete"]}
    assert "list pods" in told
    assert not told & {f"list {plural}" for plural in granted - {"pods"}}


@pytest.mark.parametrize("command", [("why-pending", "-A"), ("check", "-f", "-")], ids=" ".join)
def test_pods_of_one_namespace_are_not_enough_for_all(client: Client, command: Sequence[str]) -> None:
    ended = _spread(client, WITH_NODES, *command)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "not allowed to list pods in all namespaces" in ended.stderr
    assert 'ClusterRole with the rule {apiGroups: [""], resources: [pods], verbs: [list]}' in ended.stderr


def test_the_decision_of_an_autoscaler_names_what_may_not_be_read(binaries: Binaries) -> None:
    lacking = (kinds.CONFIG_MAP, kinds.MACHINE_DEPLOYMENT, kinds.NODE_POOL, kinds.NODE_CLAIM, kinds.DAEMON_SET)
    users = (READER, *(LACKING[kind] for kind in lacking))
    with control_plane(Options(users=users, scheduler=False), binaries=binaries) as running:
        client = running.client()
        client.create_nodes([node("a1", labels={ZONE: "a", read_sets.KARPENTER_LABEL: "default"})])
        client.apply([*_namespaces(), *_rights()])
        image = {"name": "c", "image": "registry.k8s.io/autoscaling/cluster-autoscaler:v1.34.0"}
        huge = pod_spec(resources={"requests": {"cpu": "900"}})
        client.create_pods(
            [pod(_SHOP, "ca", spec={"nodeName": "a1", "containers": [image]}), pod(_SHOP, "huge", spec=huge)]
        )

        def summary(lacks: Kind | None = None) -> str:
            item = _explained(client, LACKING[lacks] if lacks else READER)["huge"]
            assert item["verdict"] == "Unschedulable"
            return str(item["autoscaler"]["summary"])

        client.apply([_node_groups()])
        unknown = "What cluster-autoscaler does is not known: its node template is not known"
        assert summary() == f"{unknown}."
        assert summary(kinds.MACHINE_DEPLOYMENT) == f"{unknown}; MachineDeployments could not be read."
        assert summary(kinds.CONFIG_MAP).endswith("not known: its node groups could not be read.")
        client.apply(map(_definition, (kinds.NODE_POOL, kinds.NODE_CLAIM)))
        client.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        client.apply([pool("default", "a")])
        new_node = "Karpenter: nothing that was read forbids a new node from NodePool default (zone a)."
        rules = "The rules of Karpenter 1.14 apply, because its release is not known."
        assert summary() == f"{new_node} Not considered: the node groups in cluster-autoscaler's status. {rules}"
        for lacks, sentence in (
            (kinds.NODE_CLAIM, " NodeClaims could not be read, "),
            (kinds.DAEMON_SET, " Not all DaemonSets could be read, "),
        ):
            assert summary(lacks).startswith(new_node)
            assert sentence in summary(lacks)
        assert summary(kinds.NODE_POOL) == f"{unknown}. Not considered: Karpenter, whose NodePools could not be read."
        client.kubectl("delete", "configmap", _STATUS, "-n", read_sets.STATUS_NAMESPACE)
        assert summary(kinds.NODE_POOL) == "What Karpenter does is not known: its NodePools could not be read."


def _node_groups() -> Object:
    """Return the status of cluster-autoscaler with one group that has no node."""
    group = {"name": "ng-a", "health": {"status": "Healthy", "cloudProviderTarget": 0, "maxSize": 3}}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"namespace": read_sets.STATUS_NAMESPACE, "name": _STATUS},
        "data": {"status": json.dumps({"autoscalerStatus": "Running", "nodeGroups": [group]})},
    }


def _definition(kind: Kind) -> Object:
    """Return a CustomResourceDefinition that accepts any object of a kind without namespace."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{kind.group}"},
        "spec": {
            "group": kind.group,
            "scope": "Cluster",
            "names": {"kind": kind.name, "plural": kind.plural},
            "versions": [version],
        },
    }


def _rules(name: str) -> Sequence[Object]:
    """Return the rules of a role that the documentation asks for."""
    page = (Path(__file__).parents[2] / "docs/rights.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    roles = {(each["kind"], each["metadata"]["name"]): each for block in blocks for each in yaml.safe_load_all(block)}
    rules: Sequence[Object] = roles[name.partition("/")[0], name.partition("/")[2]]["rules"]
    return rules


def _spread(client: Client, user: User, *arguments: str, manifest: Object = _OWN_MANIFEST) -> CompletedProcess[str]:
    """Return how `kubectl spread` of a user ended, of the shop unless said, with a manifest on standard input."""
    where = () if "-A" in arguments else ("-n", _SHOP)
    context = ("--context", user.name)
    return client.kubectl.run("spread", *arguments, *where, *context, stdin=json.dumps(manifest))


def _checked(client: Client, user: User) -> Mapping[str, Object]:
    """Return manifest → what `check` says of it to a user."""
    manifest = {"apiVersion": "v1", "kind": "List", "items": [*_manifests()]}
    ended = _spread(client, user, "check", "-f", "-", "-o", "json", manifest=manifest)
    assert ended.stdout, ended.stderr
    return {item["name"]: item for item in json.loads(ended.stdout)["items"]}


def _show(client: Client, user: User) -> _Shown:
    """Return what `show` says to a user of all workloads, under default constraints too."""
    ended = _spread(client, user, "show", "-A", "--defaults", "-o", "json")
    report = json.loads(ended.stdout)
    rows = {
        (str(item["workload"]), item["constraint"]["topologyKey"], item["constraint"]["index"]): item["status"]
        for item in report["items"]
    }
    return _Shown(rows, {missing["what"] for missing in report["incomplete"]})


def _explained(client: Client, user: User, *flags: str) -> Mapping[str, Object]:
    """Return Pod of the shop → what why-pending says of it to a user."""
    ended = _spread(client, user, "why-pending", *flags, "-o", "json")
    assert ended.stdout, ended.stderr
    return {item["name"]: item for item in json.loads(ended.stdout)["items"]}


def _assert_true_with_fewer(partial: Mapping[str, Object], whole: Mapping[str, Object], *, what: str) -> None:
    """Assert that all that is said of Pods is so, and that each verdict that is not given says what was not read."""
    assert partial.keys() == whole.keys()
    for name, item in partial.items():
        assert item["verdict"] in _TRUE_WITH_FEWER[whole[name]["verdict"]], name
        assert _rejections(item) <= _rejections(whole[name]), name
        told = {missing["what"] for missing in item["incomplete"]}
        assert told == {what} if item["verdict"] == "Incomplete" else told <= {what}, name


def _rejections(item: Object) -> set[tuple[str, str]]:
    """Return (node, plugin) of every rejection."""
    return {(each["name"], rejection["plugin"]) for each in item["nodes"] for rejection in each.get("rejections", ())}


def _requests(audit_log: Path) -> list[Object]:
    """Return what the program has asked for as the reader; kubectl itself may ask for more."""
    return [
        request
        for request in read_audit_log(audit_log)
        if request["user"]["username"] == READER.name and request["userAgent"].startswith("kubectl-spread/")
    ]


def _namespaces() -> Iterator[Object]:
    """Yield the namespaces, each labelled with its name as its team."""
    for name in (_SHOP, _BANK):
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": name}}}


def _rights() -> Iterator[Object]:
    """Yield what gives each user its rights."""
    yield from _granting(_rules(_ALL), READER)
    for kind, user in LACKING.items():
        yield from _granting([_without(kind, rule) for rule in _rules(_ALL)], user)
    yield from _granting(_rules(_ALL), OF_ONE_NAMESPACE, namespace=_SHOP)
    yield from _granting(_rules("Role/kubectl-spread"), WITH_NODES, namespace=_SHOP)
    yield from _granting(_rules("ClusterRole/kubectl-spread-nodes"), WITH_NODES)


def _without(kind: Kind, rule: Object) -> Object:
    """Return the rule without the kind; one without any resource is not valid, so a made-up one is left."""
    left = [name for name in rule["resources"] if (kind.group, kind.plural) != (rule["apiGroups"][0], name)]
    return {**rule, "resources": left or ["nothing"]}


def _granting(rules: Sequence[Object], user: User, *, namespace: str = "") -> Iterator[Object]:
    """Yield a role of these rules and its binding to a user, in one namespace or (empty) all."""
    prefix = "" if namespace else "Cluster"
    metadata = {"name": user.name, "namespace": namespace} if namespace else {"name": user.name}
    api = "rbac.authorization.k8s.io"
    common = {"apiVersion": f"{api}/v1", "metadata": metadata}
    yield {**common, "kind": f"{prefix}Role", "rules": [*rules]}
    yield {
        **common,
        "kind": f"{prefix}RoleBinding",
        "roleRef": {"apiGroup": api, "kind": f"{prefix}Role", "name": user.name},
        "subjects": [{"apiGroup": api, "kind": "User", "name": user.name}],
    }


def _storage() -> Iterator[Object]:
    """Yield a claim that is bound to a volume in a zone without nodes, and one that waits for its Pod."""
    yield {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "late"},
        "provisioner": "disk.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    yield {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "far"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "csi": {"driver": "disk.example.com", "volumeHandle": "far"},
            "claimRef": {"namespace": _SHOP, "name": "bound"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [_in_zone("z")]}},
        },
    }
    yield _claim("bound", volumeName="far", storageClassName="")
    yield _claim("waits", storageClassName="late")


def _in_zone(zone: str) -> Object:
    """Return a term that wants a zone."""
    return {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}


def _claim(name: str, **spec: object) -> Object:
    """Return a claim of the shop, marked as its binder would mark it."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"namespace": _SHOP, "name": name, "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec},
    }


def _workloads() -> Iterator[Object]:
    """Yield a Service of the application web, its Deployment, one without Pods, and one of which one is to come."""
    service = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
    yield {"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": _SHOP, "name": "web"}, "spec": service}
    yield _deployment("web", replicas=1, spec={})
    yield _deployment("idle", replicas=0, spec={})
    yield _deployment("even", replicas=1, spec={"topologySpreadConstraints": [_evenly("even")]})


def _deployment(name: str, *, replicas: int, spec: Object) -> Object:
    """Return a Deployment of the shop."""
    template = {"metadata": {"labels": {"app": name}}, "spec": {**pod_spec(), **spec}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"namespace": _SHOP, "name": name},
        "spec": {"replicas": replicas, "selector": match(app=name), "template": template},
    }


def _evenly(name: str) -> Object:
    """Return a hard constraint on the zones of an application's Pods."""
    return constraint(ZONE, selector=match(app=name))


def _bound() -> Iterator[Object]:
    """Yield the Pods that are on nodes: two uneven and two of no revision of web in zone a, one even one in each."""
    for number in range(2):
        yield pod(_SHOP, f"uneven-{number}", labels={"app": "uneven"}, spec={"nodeName": "a1"})
        yield pod(_SHOP, f"old-{number}", labels={"app": "web"}, spec={"nodeName": "a1"})
    for name in ("a1", "b1"):
        yield pod(_SHOP, f"even-{name}", labels={"app": "even"}, spec={"nodeName": name})
    yield pod(_SHOP, "large", spec={"nodeName": "a1", **_asking(cpu="5")})
    yield pod(_BANK, "large", labels={"app": "db"}, spec={"nodeName": "a1", **_asking(cpu="5")})


def _pending() -> Iterator[Object]:
    """Yield a Pod of the shop for each thing that can be in the way."""
    yield pod(_SHOP, "plain")
    yield pod(_SHOP, "served", labels={"app": "web"})
    yield pod(_SHOP, "uneven", labels={"app": "uneven"}, spec={"topologySpreadConstraints": [_evenly("uneven")]})
    yield pod(_SHOP, "crowded", spec=_asking(cpu="12"))
    yield pod(_SHOP, "squeezed", spec=_asking(cpu="8"))
    for name in ("bound", "waits"):
        yield pod(_SHOP, name, spec=_claiming(name))
    yield pod(_SHOP, "near", spec=_NEAR)


def _manifests() -> Iterator[Object]:
    """Yield a manifest for each kind that decides about what is yet to be created."""
    yield _OWN_MANIFEST
    for name, claim in (("keeps", "waits"), ("far", "bound")):
        yield pod(_SHOP, name, spec=_claiming(claim))
    yield pod(_SHOP, "nearby", spec=_NEAR)
    yield pod(_SHOP, "ranked", spec={"priorityClassName": "important"})
    yield pod(_SHOP, "boxed", spec={"runtimeClassName": "box"})
    yield pod(_SHOP, "acting", spec={"serviceAccountName": "actor"})
    yield _deployment("spread", replicas=1, spec={"topologySpreadConstraints": [_evenly("spread")]})


def _admission() -> Iterator[Object]:
    """Yield what decides whether the server takes new Pods, and what it writes into them."""
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"namespace": _SHOP, "name": "actor"}}
    yield {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "important"}, "value": 9}
    yield {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "box"}, "handler": "box"}


def _claiming(claim: str) -> Object:
    """Return the spec of a Pod that uses a claim."""
    return {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]}


def _asking(**requests: str) -> Object:
    """Return the spec of a Pod that requests this."""
    return pod_spec(resources={"requests": requests})

"""Workloads of every kind scaled up by one on a real control plane: the Pod we said, and the one that came.

Each workload has a namespace of its own, with LimitRanges, quotas, policies that change Pods, and volumes. While all is
quiet we are asked; then each is scaled up, and what appears is compared with what was said: every field that the
scheduler reads, where it goes, and whether it is created at all.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import asdict, replace

from kubectl_spread import quantity
from kubectl_spread.controllers.daemonset import pinned_to
from kubectl_spread.controllers.injected_fields import TOPOLOGY_PREFIX
from kubectl_spread.controllers.next_pod import NextPod, next_pod
from kubectl_spread.controllers.workloads import workloads
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import AUTOSCALER_KINDS, KINDS
from kubectl_spread.scheduler.profile import default_profile
from tests.build import snapshot
from tests.controlplane.api import CONNECTIONS, Object
from tests.controlplane.client import Client, in_parallel, is_decided
from tests.controlplane.cluster import WORKLOAD_CONTROLLERS, Options
from tests.controlplane.waiting import wait_for
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, node

OPTIONS = Options(
    controllers=(
        *WORKLOAD_CONTROLLERS,
        "replicationcontroller-controller",
        "ephemeral-volume-controller",
        "persistentvolume-binder-controller",
        "resourcequota-controller",
    )
)
LATE = "late"  # A node that comes when all else is done, for the Pods of DaemonSets
NAME = "web"
MERGE_PATCH = "application/merge-patch+json"
_SETTLED_S = 90.0
_QUIET_S = 3.0
_PATHS: Mapping[str, str] = {
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments/web",
    "ReplicaSet": "/apis/apps/v1/namespaces/{}/replicasets/web",
    "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets/web",
    "ReplicationController": "/api/v1/namespaces/{}/replicationcontrollers/web",
    "Job": "/apis/batch/v1/namespaces/{}/jobs/web",
}
_API: Mapping[str, str] = {"ReplicationController": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}


@dataclass(frozen=True, kw_only=True)
class Situation:
    """One workload with what surrounds it."""

    namespace: str  # of its own
    kind: str  # the workload's
    inject: str  # which policy changes its Pods; empty for none
    made: Object  # the workload
    beside: Sequence[Object]  # what is made before it
    shrinks: bool  # whether it is made one larger first, so that a claim is left behind

    @property
    def replicas(self) -> int:
        """How many Pods it has before it is scaled up (count)."""
        spec = self.made["spec"]
        return int(spec.get("replicas", spec.get("parallelism", 1)))


@dataclass(kw_only=True)
class Outcome:
    """What was said of a situation and what came of it."""

    situation: Situation  # the situation
    said: NextPod  # the next Pod
    rows: Sequence[Object]  # what ``show`` says of it
    checked: Object | None  # what ``check`` says of the workload with one replica more
    came: Object | None = None  # the Pod that appeared; None where none did
    pending: Object | None = None  # what ``why-pending`` says of it; None where it is bound or never came
    refused: str = ""  # the message of the event FailedCreate; empty where there is none
    differences: list[str] = field(default_factory=list)


def shared() -> Iterator[Object]:
    """Yield what all situations share: classes, and policies that change the Pods of labelled namespaces."""
    yield {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
        "preemptionPolicy": "Never",
    }
    yield {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "sandbox"},
        "handler": "sandbox",
        "overhead": {"podFixed": {"cpu": "100m"}},
        "scheduling": {"nodeSelector": {"sandbox": "yes"}},
    }
    for name, expression in INJECTIONS.items():
        yield from _policy(name, expression)


INJECTIONS = {
    "toleration": (
        '[JSONPatch{op: "add", path: "/spec/tolerations/-", value: Object.spec.tolerations'
        '{key: "dedicated", operator: "Exists"}}]'
    ),
    "label": '[JSONPatch{op: "add", path: "/metadata/labels/mesh", value: "on"}]',
    "selector": (
        'has(object.spec.nodeSelector) ? [JSONPatch{op: "add", path: "/spec/nodeSelector/disk", value: "ssd"}]'
        ' : [JSONPatch{op: "add", path: "/spec/nodeSelector", value: {"disk": "ssd"}}]'
    ),
    # An API server panics at a list of objects as the value.
    "constraint": (
        'has(object.spec.topologySpreadConstraints) ? [] : [JSONPatch{op: "add", path:'
        ' "/spec/topologySpreadConstraints", value: []}, JSONPatch{op: "add",'
        ' path: "/spec/topologySpreadConstraints/-", value: Object.spec.topologySpreadConstraints{'
        'maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule", labelSelector:'
        ' Object.spec.topologySpreadConstraints.labelSelector{matchLabels: {"app": "web"}}}}]'
    ),
    "sidecar": (
        '[JSONPatch{op: "add", path: "/spec/containers/-", value: Object.spec.containers{name: "mesh",'
        ' image: "registry.example/mesh:1", resources: Object.spec.containers.resources{requests: {"cpu": "150m"}}}}]'
    ),
}
"""What a policy changes → the patch in CEL."""


def _policy(name: str, expression: str) -> Iterator[Object]:
    """Yield a policy and its binding."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    yield {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"inject": name}},
                "resourceRules": [rule],
            },
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}],
        },
    }
    yield {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name},
    }


def nodes() -> Iterator[Object]:
    """Yield large nodes in three zones, one of them tainted."""
    room = {"cpu": "2k", "memory": "4Ti", "pods": "5000"}
    for name, zone, labels in (
        ("a1", "a", {"sandbox": "yes", "disk": "ssd"}),
        ("a2", "a", {"disk": "hdd"}),
        ("b1", "b", {"sandbox": "yes", "disk": "ssd"}),
    ):
        yield node(name, labels={ZONE: zone, **labels}, room=room)
    taint = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
    yield node("c1", labels={ZONE: "c", "disk": "ssd"}, room=room, taints=[taint])


def situations(count: int, seed: int = 1) -> Sequence[Situation]:
    """Return so many situations, the same for the same seed."""
    return [_situation(f"next-{number}", random.Random(f"{seed}/{number}")) for number in range(count)]  # noqa: S311 - no secret


def _situation(namespace: str, rng: random.Random) -> Situation:
    """Return one."""
    kinds = ["Deployment"] * 4 + ["ReplicaSet", "StatefulSet", "StatefulSet", "StatefulSet", "Job", "Job"]
    kind = rng.choice([*kinds, "ReplicationController", "DaemonSet", "CronJob"])
    replicas = rng.randint(1, 4)
    claims = kind == "StatefulSet" and rng.random() < 0.5
    pods = _template(rng, kind)
    made = _workload(kind, namespace, pods, replicas, rng)
    beside = [*_admission(namespace, kind, replicas, rng)]
    if claims:
        data: Object = {"accessModes": ["ReadWriteOnce"], "storageClassName": namespace}
        data |= {"resources": {"requests": {"storage": "1Gi"}}}
        made["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": data}]
        beside.append(_storage_class(namespace))
        beside += [_volume(f"{namespace}-{n}", rng.choice("aabc")) for n in range(replicas + rng.randint(0, 2))]
    return Situation(
        namespace=namespace,
        kind=kind,
        inject=rng.choice(["", "", "", *INJECTIONS]),
        made=made,
        beside=beside,
        shrinks=claims and rng.random() < 0.5,
    )


def _template(rng: random.Random, kind: str) -> Object:
    """Return a template of the application web."""
    own = [*_constraints(rng)]
    container: Object = {"name": "main", "image": "registry.example/main:1"}
    if rng.random() < 0.5:
        asked = {"cpu": rng.choice(["100m", "1", "9k"])} if rng.random() < 0.3 else {"memory": "64Mi"}
        container["resources"] = {rng.choice(["requests", "limits"]): asked}
    if rng.random() < 0.1:
        container["ports"] = [{"containerPort": 8080, "hostPort": 8080}] if kind != "DaemonSet" else []
    spec: Object = {"containers": [container], "terminationGracePeriodSeconds": 0, "topologySpreadConstraints": own}
    if rng.random() < 0.25:
        spec["runtimeClassName"] = rng.choice(["sandbox", "sandbox", "gone"])
    if rng.random() < 0.25:
        spec["priorityClassName"] = rng.choice(["high", "high", "gone"])
    if rng.random() < 0.15:
        spec["nodeSelector"] = {"disk": "ssd"}
    if rng.random() < 0.15:
        spec["affinity"] = {"podAntiAffinity": _apart(rng)}
    if kind in {"Job", "CronJob"}:
        spec["restartPolicy"] = "Never"
    return {"metadata": {"labels": {"app": NAME}}, "spec": spec}


def _apart(rng: random.Random) -> Object:
    """Return anti-affinity to the Pods of the application."""
    term: Object = {"topologyKey": HOSTNAME, "labelSelector": match(app=NAME)}
    if rng.random() < 0.5:
        term["matchLabelKeys"] = ["pod-template-hash"]
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def _constraints(rng: random.Random) -> Iterator[Object]:
    """Yield up to two constraints."""
    for key in rng.sample([ZONE, HOSTNAME], rng.choice([0, 1, 1, 2])):
        fields: Object = {"maxSkew": rng.choice([1, 1, 2])}
        if rng.random() < 0.3:
            fields["whenUnsatisfiable"] = "ScheduleAnyway"
        elif rng.random() < 0.15:
            fields["minDomains"] = 4
        if rng.random() < 0.4:
            keys = ["pod-template-hash", "batch.kubernetes.io/job-name", "apps.kubernetes.io/pod-index", "app"]
            fields["matchLabelKeys"] = [rng.choice(keys)]
        if rng.random() < 0.3:
            fields["nodeTaintsPolicy"] = "Honor"
        if rng.random() < 0.2:
            fields["nodeAffinityPolicy"] = "Ignore"
        yield constraint(key, selector=match(app=rng.choice([NAME, NAME, NAME, "other"])), **fields)


def _workload(kind: str, namespace: str, pods: Object, replicas: int, rng: random.Random) -> Object:
    """Return a workload of that kind."""
    spec: Object = {"selector": match(app=NAME), "template": pods, "replicas": replicas}
    if kind == "ReplicationController":
        spec["selector"] = {"app": NAME}
    elif kind == "StatefulSet":
        spec |= {"serviceName": NAME, "podManagementPolicy": rng.choice(["Parallel", "OrderedReady"])}
        spec["ordinals"] = {"start": rng.choice([0, 0, 3])}
    elif kind == "DaemonSet":
        del spec["replicas"]
    elif kind in {"Job", "CronJob"}:
        indexed = {"completionMode": "Indexed"} if rng.random() < 0.5 else {}
        spec = {"template": pods, "parallelism": replicas, "completions": 50, **indexed}
        if kind == "CronJob":
            spec = {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": spec}}
    return {
        "apiVersion": _API.get(kind, "apps/v1"),
        "kind": kind,
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": spec,
    }


def _admission(namespace: str, kind: str, replicas: int, rng: random.Random) -> Iterator[Object]:
    """Yield what admission reads in the namespace."""
    if rng.random() < 0.35:
        item: Object = {"type": "Container", "defaultRequest": {"cpu": rng.choice(["10m", "9k"])}}
        item["default"] = {"memory": "128Mi"}
        if rng.random() < 0.2:
            item["max"] = {"memory": "32Mi"}
            item["default"] = {"memory": "32Mi"}
        yield _in(namespace, "LimitRange", "limits", {"limits": [item]})
    if rng.random() < 0.2 and kind != "DaemonSet":
        yield _in(namespace, "ResourceQuota", "quota", {"hard": {"pods": str(replicas + rng.choice([0, 5]))}})


def _in(namespace: str, kind: str, name: str, spec: Object) -> Object:
    """Return an object of the core API."""
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def _storage_class(name: str) -> Object:
    """Return a class whose volumes are there already."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def _volume(name: str, zone: str) -> Object:
    """Return a volume that can be used in one zone."""
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": name.rpartition("-")[0],
            "local": {"path": "/data"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
    }


def run(client: Client, asked: Sequence[Situation]) -> Sequence[Outcome]:
    """Return what was said of each situation, and what came of it; nobody else uses the cluster."""
    client.create_nodes(nodes())
    client.apply(shared())
    labelled = ({"metadata": {"name": s.namespace, "labels": {"inject": s.inject or "nothing"}}} for s in asked)
    in_parallel(lambda made: client.api.request("POST", "/api/v1/namespaces", body=made), labelled)
    _await_policies(client)
    client.apply(made for situation in asked for made in situation.beside)
    client.apply(_enlarged(situation) if situation.shrinks else situation.made for situation in asked)
    _settle(client)
    _scale(client, [(s, s.replicas) for s in asked if s.shrinks or s.kind == "CronJob"])
    _settle(client)
    before = {pod["metadata"]["uid"] for pod in client.pods()}
    outcomes = _said(client, asked)
    _scale(client, [(s, s.replicas + 1) for s in asked])
    _settle(client, deletions=False)
    _came(client, [outcome for outcome in outcomes if outcome.situation.kind != "DaemonSet"], before)
    client.create_nodes([node(LATE, labels={ZONE: "a", "disk": "ssd", "sandbox": "yes"})])
    _settle(client, deletions=False)
    _came(client, [outcome for outcome in outcomes if outcome.situation.kind == "DaemonSet"], before)
    for outcome in outcomes:
        outcome.differences += _differences(outcome)
    return outcomes


def _enlarged(situation: Situation) -> Object:
    """Return the workload with one replica more."""
    spec = situation.made["spec"]
    return {**situation.made, "spec": {**spec, "replicas": situation.replicas + 1}}


def _await_policies(client: Client) -> None:
    """Wait until every policy changes Pods."""
    for name in INJECTIONS:
        space = f"probe-{name}"
        client.api.request("POST", "/api/v1/namespaces", body={"metadata": {"name": space, "labels": {"inject": name}}})
        asked = {
            "metadata": {"name": "p", "labels": {"app": NAME}},
            "spec": {"containers": [{"name": "m", "image": "i"}]},
        }

        def active(space: str = space, asked: Object = asked) -> bool:
            query = {"dryRun": "All"}
            path = f"/api/v1/namespaces/{space}/pods"
            made = client.api.request("POST", path, body=asked, query=query)
            return any(
                word in json.dumps(made["spec"] | made["metadata"]["labels"])
                for word in ("dedicated", "mesh", "ssd", "maxSkew")
            )

        wait_for(active, what=f"the policy {name}", timeout_s=30)


def _scale(client: Client, asked: Sequence[tuple[Situation, int]]) -> None:
    """Give each workload so many replicas; a CronJob runs, and a DaemonSet waits for a node."""
    replicas = {situation.namespace: wanted for situation, wanted in asked}

    def scale(situation: Situation) -> None:
        space = situation.namespace
        if situation.kind == "CronJob":
            client.kubectl("create", "job", f"manual-{time.monotonic_ns()}", "--from=cronjob/web", "-n", space)
        elif situation.kind in _PATHS:
            named = "parallelism" if situation.kind == "Job" else "replicas"
            path = _PATHS[situation.kind].format(space)
            client.api.request("PATCH", path, body={"spec": {named: replicas[space]}}, content_type=MERGE_PATCH)

    with ThreadPoolExecutor(CONNECTIONS) as threads:
        list(threads.map(scale, [situation for situation, _ in asked]))


def _settle(client: Client, *, deletions: bool = True) -> None:
    """Let everything come to rest: Pods that are bound run, and those that are deleted go."""
    state: object = None
    since = begun = time.monotonic()
    while time.monotonic() - since < _QUIET_S and time.monotonic() - begun < _SETTLED_S:
        client.mark_running()
        if deletions:
            client.confirm_deletions()
        pods = client.pods()
        now = sorted((pod["metadata"]["uid"], is_decided(pod), pod["status"]["phase"]) for pod in pods)
        if now != state:
            state, since = now, time.monotonic()
        time.sleep(0.3)


def _said(client: Client, asked: Sequence[Situation]) -> Sequence[Outcome]:
    """Return what we say of each situation."""
    plurals = ",".join(kind.plural for kind in KINDS if kind not in AUTOSCALER_KINDS)
    listed = json.loads(client.kubectl("get", "-A", "-o", "json", plurals))["items"]
    cluster, profile = snapshot([_with_room(each) for each in listed]), default_profile()
    found = {each.namespace: next_pod(each, cluster, profile) for each in workloads(cluster)}
    rows = json.loads(client.kubectl("spread", "show", "-A", "--defaults", "-o", "json"))["items"]
    manifests = [_scaled(situation) for situation in asked if situation.kind in _PATHS]
    # Where the Pods go is compared, not what would help.
    command = ("spread", "check", "-f", "-", "-o", "json", "--fix-budget", "0")
    ended = client.kubectl.run(*command, stdin="\n---\n".join(map(json.dumps, manifests)))
    checked = {item["namespace"]: item for item in json.loads(ended.stdout)["items"]}
    outcomes = []
    for situation in asked:
        said = found[situation.namespace]
        assert said is not None
        own = [row for row in rows if row["namespace"] == situation.namespace]
        outcomes.append(Outcome(situation=situation, said=said, rows=own, checked=checked.get(situation.namespace)))
    return outcomes


def _with_room(listed: Object) -> Object:
    """Return the object; a Job wants one Pod more, as it will once it is scaled up."""
    if listed["kind"] != "Job":
        return listed
    return {**listed, "spec": {**listed["spec"], "parallelism": listed["spec"]["parallelism"] + 1}}


def _scaled(situation: Situation) -> Object:
    """Return the workload's manifest with one replica more."""
    named = "parallelism" if situation.kind == "Job" else "replicas"
    return {**situation.made, "spec": {**situation.made["spec"], named: situation.replicas + 1}}


def _came(client: Client, outcomes: Sequence[Outcome], before: set[str]) -> None:
    """Add to each outcome the Pod that came, or why none did."""
    listed = client.pods()
    new = [pod for pod in listed if pod["metadata"]["uid"] not in before]
    asked = ("spread", "why-pending", "-A", "--fix-budget=1", "-o", "json")
    pending = json.loads(client.kubectl.run(*asked).stdout)["items"]
    events = client.api.request("GET", "/api/v1/events", query={"fieldSelector": "reason=FailedCreate"})["items"]
    for outcome in outcomes:
        space, kind = outcome.situation.namespace, outcome.situation.kind
        own = [pod for pod in new if pod["metadata"]["namespace"] == space]
        if kind == "DaemonSet":
            own = [pod for pod in own if LATE in json.dumps(pod["spec"].get("affinity", {}))]
        if kind == "StatefulSet" and not own:
            # One after another: the one that waits for a node keeps all others from coming.
            said = outcome.said.pod.metadata.name
            own = [pod for pod in listed if (pod["metadata"]["namespace"], pod["metadata"]["name"]) == (space, said)]
        outcome.came = min(own, key=_in_turn, default=None)
        name = outcome.came["metadata"]["name"] if outcome.came else ""
        outcome.pending = next((i for i in pending if (i["namespace"], i["name"]) == (space, name)), None)
        told = [event["message"] for event in events if event["metadata"]["namespace"] == space]
        outcome.refused = told[-1] if told and outcome.came is None else ""


def _in_turn(pod: Object) -> tuple[bool, str]:
    """Return what is least for the Pod of a run that was placed first: a CronJob's come all at once."""
    return "nodeName" not in pod["spec"], pod["metadata"]["name"]


def _differences(outcome: Outcome) -> Iterator[str]:
    """Yield where we were wrong; nothing where we were right."""
    if outcome.came is None:
        if not outcome.refused:
            yield "no Pod came, and no event says why"
        elif not outcome.said.refusals:
            yield f"refused, and we did not say so: {outcome.refused}"
    elif outcome.said.refusals:
        yield f"created, and we said that it is refused: {outcome.said.refusals[0]}"
    else:
        yield from _fields(outcome)
    if outcome.situation.kind != "DaemonSet":
        yield from _verdicts(outcome)


def _fields(outcome: Outcome) -> Iterator[str]:
    """Yield the fields in which the Pod that came is another than the one we said."""
    came = convert(outcome.came, Pod)
    said = outcome.said.pod
    if outcome.situation.kind == "DaemonSet":
        said = pinned_to(said, LATE)
    ours, theirs = _read_by_scheduler(said, came), _read_by_scheduler(came, came)
    for name, value in theirs.items():
        if ours[name] != value:
            yield f"{name}: said {ours[name]}, came {value}"


def _read_by_scheduler(pod: Pod, came: Pod) -> Mapping[str, Any]:
    """Return what the scheduler reads of the Pod, in one spelling; a run of a CronJob is named as the one that came."""
    run_labels = {key: came.metadata.labels[key] for key in came.metadata.labels if "job-name" in key or "uid" in key}
    labels = {k: v for k, v in pod.metadata.labels.items() if not (k in run_labels or k.startswith(TOPOLOGY_PREFIX))}
    spec = replace(
        pod.spec,
        node_name="",
        tolerations=tuple(sorted(pod.spec.tolerations, key=str)),
        volumes=tuple(volume for volume in pod.spec.volumes if volume.restricts_nodes),
    )
    text = json.dumps(_plain(spec))
    for key, value in run_labels.items():
        if own := pod.metadata.labels.get(key):
            text = text.replace(f'"{own}"', f'"{value}"')
    return {"labels": labels, **json.loads(text)}


def _plain(value: Any, name: str = "") -> Any:  # noqa: ANN401 - whatever a spec holds
    """Return the value as JSON has it, quantities in one spelling."""
    if hasattr(value, "__struct_fields__"):
        return {key: _plain(each, key) for key, each in asdict(value).items()}
    if isinstance(value, dict):
        amounts = name in {"requests", "limits", "overhead"}
        return {key: str(quantity.parse(each)) if amounts else _plain(each) for key, each in sorted(value.items())}
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value


def _verdicts(outcome: Outcome) -> Iterator[str]:
    """Yield where show, check or why-pending contradict what became of the Pod."""
    for name, says in _SAYS.items():
        if told := says(outcome):
            yield f"{name}: {told}"


def _bound_to(outcome: Outcome) -> str:
    """Return the node of the Pod that came; empty where it has none."""
    return str(outcome.came["spec"].get("nodeName", "")) if outcome.came else ""


def _show(outcome: Outcome) -> str:
    """Return how the rows of show are wrong."""
    bound, jobs = _bound_to(outcome), outcome.situation.kind == "Job"
    for row in outcome.rows:
        status = row["status"]
        if jobs:
            # As show was asked the Job was full and wanted no more, unless its first Pods were refused already. Its row
            # is that of a Pod that waits, if one does: then the Pod that comes, which is alike, waits too.
            if row["next"] or (bound and status in {"Blocked", "Unschedulable"}):
                return f"{status} {row['next']} of a Job that is full"
        elif outcome.came is None:
            # A row is about the Pods that wait, before those that may come.
            waits = bool(row["pending"]) and status in {"Blocked", "Unschedulable"}
            if status not in {"FailedCreate", "NoDomains"} and not waits:
                return f"{status}, and the Pod is refused: {outcome.refused}"
        elif bound and bound not in row["next"]:
            return f"{status}, next {row['next']}, and the Pod went to {bound}"
        elif not bound and row["next"]:
            return f"{status}, next {row['next']}, and the Pod went nowhere"
    if not bound and outcome.came is not None and not jobs and outcome.rows:
        statuses = {row["status"] for row in outcome.rows}
        if not statuses & {"Blocked", "Unschedulable", "NoDomains"}:
            return f"{sorted(statuses)}, and the Pod went nowhere"
    return ""


def _check(outcome: Outcome) -> str:
    """Return how check is wrong."""
    item, bound = outcome.checked, _bound_to(outcome)
    if item is None:
        return ""
    refused = bool(item["validation"] or item.get("failedCreate"))
    if outcome.came is None:
        return "" if refused else f"{item['verdict']}, and the Pod is refused: {outcome.refused}"
    if refused:
        return f"refused: {item['validation']} {item.get('failedCreate')}, and the Pod came"
    if bound:
        said = f"{item['verdict']}, feasible {item['feasible']}: {item['summary']} {item['rollout']}"
        return "" if bound in item["feasible"] else f"{said}, and the Pod went to {bound}"
    return "" if item["verdict"] == "Unschedulable" or item["jam"] else f"{item['verdict']}, and the Pod went nowhere"


def _why_pending(outcome: Outcome) -> str:
    """Return how why-pending is wrong."""
    if outcome.came is None or _bound_to(outcome):
        return ""
    verdict = outcome.pending["verdict"] if outcome.pending else "not asked"
    return "" if verdict == "Unschedulable" else f"{verdict}, and the Pod went nowhere"


_SAYS: Mapping[str, Callable[[Outcome], str]] = {"show": _show, "check": _check, "why-pending": _why_pending}

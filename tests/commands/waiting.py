"""Workloads of every kind in generated clusters, and the Pod that each waits with, as the API server stores it."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tests.build import Object
from tests.build_storage import claim, storage_class
from tests.conformance.generate import cases

NAME = "asked"
HASH = "5d8f7c9b4"
GONE = ("nodeName", "priority", "schedulingGates", "schedulerName")
"""Fields that no template may have, or that make somebody else decide."""
OWNERS = {"ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController"}


@dataclass(frozen=True, slots=True)
class Situation:
    """A workload of one Pod, which waits for a node."""

    cluster: list[Object]  # everything but the workload and its Pod
    owner: Object  # the workload, or the Pod itself where nothing owns it
    beside: list[Object]  # what its controllers have made but the Pod
    pod: Object  # the Pod, as the API server stores it

    @property
    def namespace(self) -> str:
        """Where the workload lives."""
        found: str = self.owner["metadata"]["namespace"]
        return found

    @property
    def named(self) -> str:
        """The workload as kubectl takes it."""
        return f"{self.owner['kind'].lower()}/{NAME}"


def reference(owner: Object, name: str = NAME) -> Object:
    """Return the reference to what manages a Pod or a ReplicaSet."""
    return {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": name, "uid": name, "controller": True}


def workload(kind: str, namespace: str, template: Object, **spec: object) -> Object:
    group = {"Job": "batch/v1", "CronJob": "batch/v1", "ReplicationController": "v1"}.get(kind, "apps/v1")
    metadata = {"name": NAME, "namespace": namespace, "uid": NAME}
    return {"apiVersion": group, "kind": kind, "metadata": metadata, "spec": {"template": template, **spec}}


def made(template: Object, owner: Object, name: str, labels: Mapping[str, str]) -> Object:
    metadata = {"name": name, "namespace": owner["metadata"]["namespace"], "uid": name}
    metadata |= {"labels": {**template["metadata"]["labels"], **labels}, "ownerReferences": [reference(owner)]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": copy.deepcopy(template["spec"])}


def replica_set(namespace: str, template: Object) -> tuple[Object, list[Object], Object]:
    """Return a ReplicaSet and its Pod."""
    owner = workload("ReplicaSet", namespace, template, replicas=1, selector=matching(template))
    return owner, [], made(template, owner, f"{NAME}-00001", {})


def replication_controller(namespace: str, template: Object) -> tuple[Object, list[Object], Object]:
    """Return a ReplicationController and its Pod."""
    owner = workload("ReplicationController", namespace, template, replicas=1, selector=template["metadata"]["labels"])
    return owner, [], made(template, owner, f"{NAME}-00001", {})


def deployment(namespace: str, template: Object) -> tuple[Object, list[Object], Object]:
    """Return a Deployment with its ReplicaSet, and the Pod of that."""
    owner = workload("Deployment", namespace, template, replicas=1, selector=matching(template))
    labels = {**template["metadata"]["labels"], "pod-template-hash": HASH}
    hashed = {**template, "metadata": {"labels": labels}}
    below = workload("ReplicaSet", namespace, hashed, replicas=1, selector={"matchLabels": labels})
    below["metadata"] |= {"name": f"{NAME}-{HASH}", "uid": f"{NAME}-{HASH}", "ownerReferences": [reference(owner)]}
    below["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "1"}
    pod = made(hashed, below, f"{NAME}-{HASH}-00001", {})
    pod["metadata"]["ownerReferences"] = [reference(below, below["metadata"]["name"])]
    return owner, [below], pod


def stateful_set(namespace: str, template: Object) -> tuple[Object, list[Object], Object]:
    """Return a StatefulSet and its first Pod."""
    owner = workload("StatefulSet", namespace, template, replicas=1, serviceName="s", selector=matching(template))
    owner["status"] = {"currentRevision": f"{NAME}-1", "updateRevision": f"{NAME}-1"}
    labels = {"statefulset.kubernetes.io/pod-name": f"{NAME}-0", "apps.kubernetes.io/pod-index": "0"}
    pod = made(template, owner, f"{NAME}-0", {**labels, "controller-revision-hash": f"{NAME}-1"})
    pod["spec"] |= {"hostname": f"{NAME}-0", "subdomain": "s"}
    return owner, [], pod


def job(namespace: str, template: Object) -> tuple[Object, list[Object], Object]:
    once = {**template, "spec": {**template["spec"], "restartPolicy": "Never"}}
    owner = workload("Job", namespace, once, parallelism=1, completions=1)
    labels = {
        f"{prefix}{name}": NAME for prefix in ("", "batch.kubernetes.io/") for name in ("controller-uid", "job-name")
    }
    stored = {**once, "metadata": {"labels": {**template["metadata"]["labels"], **labels}}}
    selector = {"matchLabels": {"batch.kubernetes.io/controller-uid": NAME}}
    live = workload("Job", namespace, stored, parallelism=1, completions=1, selector=selector)
    return owner, [live], made(stored, owner, f"{NAME}-00001", {})


def cron_job(namespace: str, template: Object) -> tuple[Object, list[Object], Object]:
    """Return a CronJob with the Job of a run, and the Pod of that."""
    once = {**template, "spec": {**template["spec"], "restartPolicy": "Never"}}
    owner = workload("CronJob", namespace, template)
    owner["spec"] = {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": once}}}
    _, (run,), pod = job(namespace, template)
    name = f"{NAME}-00000000"
    run["metadata"] |= {"name": name, "uid": name, "ownerReferences": [reference(owner)]}
    pod["metadata"] |= {"name": f"{name}-00001", "ownerReferences": [reference(run, name)]}
    return owner, [run], pod


def bare_pod(namespace: str, template: Object) -> tuple[Object, list[Object], Object]:
    """Return a Pod that nothing owns, twice."""
    metadata = {**template["metadata"], "name": NAME, "namespace": namespace}
    owner: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    return owner, [], copy.deepcopy(owner)


KINDS: tuple[Callable[[str, Object], tuple[Object, list[Object], Object]], ...] = (
    replica_set,
    deployment,
    stateful_set,
    job,
    cron_job,
    replication_controller,
    bare_pod,
)


def matching(template: Object) -> Object:
    """Return the selector of a template's own labels."""
    return {"matchLabels": template["metadata"]["labels"]}


def runtime_class(dice: random.Random, pod: Object) -> Iterator[Object]:
    """Yield a RuntimeClass; its overhead, nodeSelector and tolerations are written into the Pod."""
    selector = {} if dice.random() < 0.6 else {"disk": "ssd"}
    toleration = {"key": "dedicated", "operator": "Exists"}
    scheduling = {"nodeSelector": selector, "tolerations": [toleration]}
    overhead = {"podFixed": {"cpu": "300m"}}
    metadata = {"name": "boxed"}
    own = pod["spec"].get("nodeSelector", {})
    if any(own.get(key, value) != value for key, value in selector.items()):
        return
    pod["spec"] |= {"runtimeClassName": "boxed", "overhead": overhead["podFixed"]}
    pod["spec"]["nodeSelector"] = {**own, **selector}
    pod["spec"]["tolerations"] = [*pod["spec"].get("tolerations", ()), toleration]
    yield {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": metadata,
        "handler": "boxed",
        "overhead": overhead,
        "scheduling": scheduling,
    }


def priority_class(dice: random.Random, pod: Object) -> Iterator[Object]:
    """Yield the PriorityClass of all Pods that name none; the Pod has its priority."""
    value = dice.choice((0, 5, 2000))
    policy = dice.choice(("PreemptLowerPriority", "Never"))
    pod["spec"] |= {"priorityClassName": "usual", "priority": value, "preemptionPolicy": policy}
    metadata = {"name": "usual"}
    head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": metadata}
    yield {**head, "value": value, "globalDefault": True, "preemptionPolicy": policy}


def limit_range(dice: random.Random, pod: Object) -> Iterator[Object]:
    """Yield a LimitRange; what it gives by default is written into the containers that ask for none."""
    given = {"cpu": dice.choice(("250m", "2"))}
    limit = {"type": "Container", "defaultRequest": given, "default": {"cpu": "64"}}
    for container in (*pod["spec"]["containers"], *pod["spec"].get("initContainers", ())):
        resources = container.setdefault("resources", {})
        own = {**resources.get("requests", {})}
        limits = {**resources.get("limits", {})}
        container["resources"] = {
            "requests": {**given, **{name: limits[name] for name in limits}, **own},
            "limits": {"cpu": "64", **limits},
        }
    metadata = {"name": "usual", "namespace": pod["metadata"]["namespace"]}
    yield {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": {"limits": [limit]}}


def quota(dice: random.Random, pod: Object) -> Iterator[Object]:
    """Yield a ResourceQuota that leaves room."""
    hard = {"pods": str(dice.randint(50, 60))}
    metadata = {"name": "wide", "namespace": pod["metadata"]["namespace"]}
    kind = {"apiVersion": "v1", "kind": "ResourceQuota"}
    yield {**kind, "metadata": metadata, "spec": {"hard": hard}, "status": {"hard": hard, "used": {"pods": "1"}}}


def daemons(situation: Situation, bound: Iterable[str], waiting: Iterable[str]) -> tuple[Object, list[Object]]:
    """Return a DaemonSet of the same template, and its Pods on nodes and for nodes."""
    template = {"metadata": situation.pod["metadata"], "spec": copy.deepcopy(situation.pod["spec"])}
    template["metadata"] = {"labels": situation.pod["metadata"]["labels"]}
    for name in ("affinity", "nodeSelector", "priority", "preemptionPolicy", "overhead"):
        template["spec"].pop(name, None)
    owner = workload("DaemonSet", situation.namespace, template, selector=matching(template))
    on = [made(template, owner, f"on-{name}", {}) for name in bound]
    for each, name in zip(on, bound, strict=True):
        each["spec"]["nodeName"] = name
    pods = [made(template, owner, f"for-{name}", {}) for name in waiting]
    for each, name in zip(pods, waiting, strict=True):
        field = {"key": "metadata.name", "operator": "In", "values": [name]}
        required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        each["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
        each["spec"]["tolerations"] = [*each["spec"].get("tolerations", ()), *OF_DAEMONS]
    return owner, [*on, *pods]


def assuming(situation: Situation) -> Situation:
    """Return the situation in which the Pods of the cluster are not bound yet: their volumes are being made there."""
    nodes = {each["metadata"]["name"] for each in situation.cluster if each["kind"] == "Node"}
    cluster = [storage_class("made-there"), *situation.cluster]
    for at, each in enumerate(cluster):
        on = each["spec"].get("nodeName") if each["kind"] == "Pod" else None
        if on not in nodes or "deletionTimestamp" in each["metadata"]:
            continue
        namespace, name = each["metadata"].get("namespace", "default"), f"of-{each['metadata']['name']}"
        volume = {"name": "made", "persistentVolumeClaim": {"claimName": name}}
        spec = {key: value for key, value in each["spec"].items() if key != "nodeName"}
        cluster[at] = {**each, "spec": {**spec, "volumes": [*spec.get("volumes", ()), volume]}}
        chosen = {"volume.kubernetes.io/selected-node": str(on)}
        cluster.append(claim(name, namespace=namespace, class_name="made-there", annotations=chosen))
    return replace(situation, cluster=cluster)


OF_DAEMONS = [
    {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": effect}
    for what, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
]
"""What the DaemonSet controller writes into its Pods."""


def refusing(situation: Situation) -> Iterator[Object]:
    """Yield each of what refuses any Pod of the situation: a quota that is spent, a bound that it does not keep."""
    metadata = {"name": "narrow", "namespace": situation.namespace}
    # Pods that are being deleted may go, and still there is no room.
    spent = {"hard": {"pods": "0"}, "used": {"pods": "9"}}
    yield {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {}}, "status": spent}
    bound = {"type": "Pod", "min": {"ephemeral-storage": "1Ti"}}
    yield {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": {"limits": [bound]}}


ADMISSIONS = (runtime_class, priority_class, limit_range, quota)
EVICTED_AFTER = [
    {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for what in ("not-ready", "unreachable")
]
"""What the API server writes into every Pod."""


def situations(*, seed: int, count: int) -> Iterator[Situation]:
    """Yield so many workloads with labels and hard constraints, of every kind in turn."""
    dice = random.Random(seed)  # noqa: S311 - nothing secret
    found = 0
    for case in cases(suite="spread", minor=36, seed=seed, count=count * 3):
        pod = case["pod"]
        constraints = pod["spec"].get("topologySpreadConstraints", ())
        hard = any(each.get("whenUnsatisfiable") == "DoNotSchedule" for each in constraints)
        if not pod["metadata"].get("labels") or not hard or case.get("config"):
            continue
        yield _situation(case["objects"], pod, number=found, dice=dice)
        found += 1
        if found == count:
            return


def _situation(objects: list[Object], pod: Object, *, number: int, dice: random.Random) -> Situation:
    """Return the workload whose template is the Pod."""
    namespace = pod["metadata"].get("namespace", "default")
    spec = {key: value for key, value in pod["spec"].items() if key not in GONE}
    template = {"metadata": {"labels": pod["metadata"]["labels"]}, "spec": spec}
    owner, beside, waits = KINDS[number % len(KINDS)](namespace, template)
    cluster = [_as_outlived(each) for each in objects if each["kind"] not in OWNERS]
    for admission in ADMISSIONS:
        if dice.random() < 0.4:
            written = list(admission(dice, waits))
            cluster += written
            if written and admission is runtime_class:
                _in_templates([owner, *beside], "boxed")
    waits["spec"]["tolerations"] = [*waits["spec"].get("tolerations", ()), *EVICTED_AFTER]
    return Situation(cluster, owner, beside, waits)


def _as_outlived(given: Object) -> Object:
    """Return the object; of a Pod on the node that is gone, nothing says that it runs: that node would be missing."""
    return given | {"status": {}} if given.get("spec", {}).get("nodeName") == "node-gone" else given


def _in_templates(objects: list[Object], runtime: str) -> None:
    """Name the RuntimeClass in what makes the Pod."""
    for each in objects:
        at = each["spec"].get("jobTemplate", each)["spec"]
        spec = at["template"]["spec"] if "template" in at else at
        spec["runtimeClassName"] = runtime

"""Generated Pending Pods on a real control plane whose first fix is run as it is printed, and what came of everybody.

Workloads of every kind run on nodes that are then cordoned and tainted; one of them wants more Pods than find a node.
Its controller and everybody else's run, and kubelets are played, so that what a command sets off goes to its end.
"""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from kubectl_spread.wording.fixes import OVERTAKEN
from tests.controlplane.api import MERGE_PATCH, Object
from tests.controlplane.client import Client, is_decided
from tests.controlplane.cluster import WORKLOAD_CONTROLLERS, Options
from tests.diagnosis.fixes.dressed import MARKS, TAINTS
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, node, pod, pod_spec

OPTIONS = Options(controllers=(*WORKLOAD_CONTROLLERS, "replicationcontroller-controller"))
NAME = "web"
WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController")
_LABELS = {"app": NAME, "group": "shop"}
"""What the Pods in question carry: ``app`` is what their owner selects, ``group`` what their constraint counts."""
_API: Mapping[str, str] = {"ReplicationController": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}
_QUIET_S = 1.0
_QUIET_AFTER_S = 2.0
_SETTLED_S = 90.0
_COMMAND_S = 120.0
_BY_FORCE = "--grace-period=0 --force"
_PAUSE_S = 0.1


@dataclass(frozen=True, kw_only=True)
class Situation:
    """A cluster in which a workload grows until a Pod stays Pending."""

    namespace: str  # of its own
    kind: str  # what makes the Pods in question; ``Pod`` for nobody
    nodes: Sequence[Object]  # the cluster
    beside: Sequence[Object]  # what runs there
    small: Object | None  # the workload as all its Pods find a node; None where it comes later
    closed: Mapping[str, Object]  # node → what of its spec changes then
    asked: Object  # the workload as it stays Pending


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of the first fix."""

    situation: Situation  # the situation
    fix: Object  # as it is reported
    wrong: Sequence[str]  # what is worse than before, or no better; empty where all is well


def workload(kind: str, namespace: str, *, name: str, template: Object, **spec: object) -> Object:
    """Return what makes such Pods, or one of them.

    Args:
        kind: of the owner; ``Pod`` for none.
        namespace: where.
        name: the owner's, and what its Pods carry as ``app``.
        template: labels and spec of the Pods.
        **spec: what the owner's spec adds.
    """
    if kind == "Pod":
        return pod(namespace, f"{name}-0", labels=template["metadata"]["labels"], spec=template["spec"])
    made: Object = {**_selected(kind, name), **spec, "template": template}
    if kind in {"Job", "CronJob"}:
        made["template"] = {**template, "spec": {**template["spec"], "restartPolicy": "Never"}}
    if kind == "CronJob":
        made = {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": made}}
    metadata = {"namespace": namespace, "name": name}
    return {"apiVersion": _API.get(kind, "apps/v1"), "kind": kind, "metadata": metadata, "spec": made}


def _selected(kind: str, name: str) -> Object:
    """Return by what the owner knows its Pods."""
    if kind in {"Job", "CronJob"}:
        return {}
    if kind == "ReplicationController":
        return {"selector": {"app": name}}
    return {"selector": match(app=name), **({"serviceName": name} if kind == "StatefulSet" else {})}


def situations(seed: int) -> Iterator[Situation]:
    """Yield situations without end, the same for the same seed."""
    number = 0
    while True:
        yield _situation(f"printed-{number}", random.Random(f"{seed}/{number}"))  # noqa: S311 - no secret
        number += 1


def _situation(namespace: str, rng: random.Random) -> Situation:
    """Return one."""
    kind = rng.choice([*WORKLOADS, "Deployment", "Deployment", "StatefulSet", "Pod"])
    nodes = [
        node(f"{zone}{number}", labels={ZONE: zone, "disk": rng.choice(["ssd", "hdd"])}, room={"cpu": "3"})
        for zone in "abc"
        for number in range(1, rng.choice([2, 3]))
    ]
    names = [each["metadata"]["name"] for each in nodes]
    template = _template(rng)
    runs, more = rng.randint(0, 3), rng.randint(1, 3)
    return Situation(
        namespace=namespace,
        kind=kind,
        nodes=nodes,
        beside=[_beside(rng, namespace, number) for number in range(rng.randint(1, 3))],
        small=None if kind in {"Pod", "CronJob", "DaemonSet"} else _sized(kind, namespace, template, runs),
        closed=_closed(rng, names),
        asked=_sized(kind, namespace, template, runs + more),
    )


def _template(rng: random.Random) -> Object:
    """Return a template of the Pods in question."""
    container: Object = {"resources": {"requests": {"cpu": rng.choice(["100m", "1", "1", "2500m"])}}}
    if rng.random() < 0.15:
        container["ports"] = [{"containerPort": 80, "hostPort": 80}]
    spec = pod_spec(**container)
    spec["topologySpreadConstraints"] = [
        constraint(key, selector=match(group="shop"), maxSkew=rng.choice([1, 1, 2]), **_policies(rng))
        for key in rng.sample([ZONE, HOSTNAME], rng.choice([0, 1, 1, 1, 2]))
    ]
    if rng.random() < 0.2:
        spec["nodeSelector"] = {"disk": "ssd"}
    if rng.random() < 0.15:
        term = {"topologyKey": rng.choice([ZONE, HOSTNAME]), "labelSelector": match(app=NAME)}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return {"metadata": {"labels": _LABELS}, "spec": spec}


def _policies(rng: random.Random) -> Object:
    """Return what else a constraint says."""
    fields: Object = {}
    if rng.random() < 0.15:
        fields["nodeTaintsPolicy"] = "Honor"
    if rng.random() < 0.15:
        fields["minDomains"] = rng.choice([3, 4])
    if rng.random() < 0.15:
        fields["matchLabelKeys"] = ["pod-template-hash"]
    return fields


def _beside(rng: random.Random, namespace: str, number: int) -> Object:
    """Return what runs already: small or large, counted or not, and sometimes not to be disturbed."""
    name = f"beside-{number}"
    container: Object = {"resources": {"requests": {"cpu": rng.choice(["100m", "1", "2"])}}}
    if rng.random() < 0.1:
        container["ports"] = [{"containerPort": 80, "hostPort": 80}]
    labels = {"app": name, **({"group": "shop"} if rng.random() < 0.6 else {})}
    marks = rng.choice(MARKS) if rng.random() < 0.2 else {}
    template: Object = {"metadata": {"labels": labels, "annotations": marks}, "spec": pod_spec(**container)}
    kind = rng.choice(["Deployment", "Deployment", "StatefulSet", "Job", "DaemonSet", "Pod"])
    return workload(kind, namespace, name=name, template=template, **_size(kind, rng.randint(1, 4)))


def _sized(kind: str, namespace: str, template: Object, replicas: int) -> Object:
    """Return the workload in question with so many Pods."""
    return workload(kind, namespace, name=NAME, template=template, **_size(kind, replicas))


def _size(kind: str, replicas: int) -> Object:
    """Return the fields by which such an owner has so many Pods; a Job fails with its first Pod."""
    if kind in {"Job", "CronJob"}:
        return {"parallelism": max(replicas, 1), "completions": 50, "backoffLimit": 0}
    return {} if kind in {"DaemonSet", "Pod"} else {"replicas": replicas}


def _closed(rng: random.Random, names: Sequence[str]) -> Mapping[str, Object]:
    """Return what closes nodes for new Pods: mostly controllers, whose taints nobody else may remove."""
    if rng.random() < 0.6:
        return {name: _tainted(rng.choice(TAINTS)) for name in rng.sample(names, len(names) - 1)}
    ways = ({"unschedulable": True}, _tainted("maintenance"), _tainted(rng.choice(TAINTS)))
    return {name: rng.choice(ways) for name in names}


def _tainted(key: str) -> Object:
    """Return a node's spec with the taint."""
    return {"taints": [{"key": key, "value": "x", "effect": "NoSchedule"}]}


def run(client: Client, situation: Situation) -> Outcome | None:
    """Return what came of the first fix; None where no Pod is Pending, or its first fix has no command.

    Nobody else uses the cluster, which is empty before and after.
    """
    with emptied(client, situation.namespace):
        set_up(client, situation)
        fix = _first_fix(client, situation.namespace)
        if fix is None:
            return None
        before = client.pods(situation.namespace)
        for command in fix["commands"]:
            run_as_printed(client, command)
        if situation.kind == "CronJob":
            client.kubectl("create", "job", f"{NAME}-next", f"--from=cronjob/{NAME}", "-n", situation.namespace)
        wrong = _settled_wrongs(client, situation, before, sure=OVERTAKEN not in fix["starts"])
        return Outcome(situation=situation, fix=fix, wrong=wrong)


@contextmanager
def emptied(client: Client, namespace: str) -> Iterator[None]:
    """Fill a namespace for the length of a block; then no Pod is left of it, and no Node."""
    client.create_namespaces([namespace])
    try:
        yield
    finally:
        kubectl = client.kubectl
        kubectl("delete", "deploy,rs,rc,sts,ds,job,cj", "--all", "-n", namespace, "--wait=false", "--cascade=orphan")
        kubectl("delete", "pod", "--all", "-n", namespace, "--force", "--grace-period=0")
        kubectl("delete", "node", "--all", "--wait=false")


def set_up(client: Client, situation: Situation) -> None:
    """Bring the situation about, in its order."""
    client.create_nodes(situation.nodes)
    client.apply([*situation.beside, *([situation.small] if situation.small else [])])
    settle(client, situation.namespace)
    for name, spec in situation.closed.items():
        client.api.request("PATCH", f"/api/v1/nodes/{name}", body={"spec": spec}, content_type=MERGE_PATCH)
    client.apply([situation.asked])
    if situation.kind == "CronJob":
        client.kubectl("create", "job", f"{NAME}-now", f"--from=cronjob/{NAME}", "-n", situation.namespace)
    settle(client, situation.namespace)


def settle(client: Client, namespace: str, *, quiet_s: float = _QUIET_S) -> None:
    """Play the kubelets until nothing has changed for a while, and the scheduler has decided on every Pod."""
    state: object = None
    undecided = False
    since = begun = time.monotonic()
    while (undecided or time.monotonic() - since < quiet_s) and time.monotonic() - begun < _SETTLED_S:
        client.act_as_kubelets()
        pods = client.pods(namespace)
        now = sorted((each["metadata"]["uid"], is_decided(each), each["status"]["phase"]) for each in pods)
        undecided = not all(map(is_decided, pods))
        if now != state:
            state, since = now, time.monotonic()
        time.sleep(_PAUSE_S)


def _first_fix(client: Client, namespace: str) -> Object | None:
    """Return the first fix of the first Pod in question that is Pending, None where none has a command and helps."""
    pending = sorted(each["metadata"]["name"] for each in client.pods(namespace) if is_asked(each) and waits(each))
    fixes = offered(client, namespace, pending[0]) if pending else ()
    helps = fixes and "inVain" not in fixes[0]
    return fixes[0] if helps and fixes[0]["commands"] else None


def offered(client: Client, namespace: str, name: str) -> Sequence[Object]:
    """Return what is offered for a Pending Pod."""
    ended = client.kubectl.run("spread", "why-pending", name, "-n", namespace, "-o", "json")
    assert ended.returncode == 1, ended.stderr
    (item,) = json.loads(ended.stdout)["items"]
    fixes: Sequence[Object] = item["fixes"]
    return fixes


def run_as_printed(client: Client, command: str) -> None:
    """Run a command as a person would paste it; what it waits for, such as a Pod's end, kubelets that are played do."""
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(shell, command, client.kubectl.environment())
        # A deletion by force waits for no kubelet: it is for Pods whose own does not answer.
        while not running.done():
            if _BY_FORCE not in command:
                client.act_as_kubelets()
            time.sleep(_PAUSE_S)
    ended = running.result()
    assert ended.returncode == 0, f"{command}\n{ended.stdout}{ended.stderr}"


def shell(command: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Return how the shell's command ended."""
    typed = ("/bin/bash", "-o", "pipefail", "-c", command)
    return subprocess.run(typed, env=environment, capture_output=True, text=True, timeout=_COMMAND_S, check=False)


def _settled_wrongs(client: Client, situation: Situation, before: Sequence[Object], *, sure: bool) -> Sequence[str]:
    """Return what is wrong once all is quiet; a Pod that was refused is tried again within ten seconds.

    Where the fix is not ``sure`` to help, as it says itself, it is not wrong that it gained nothing.
    """
    deadline = time.monotonic() + _SETTLED_S
    while True:
        settle(client, situation.namespace, quiet_s=_QUIET_AFTER_S)
        wrong = [*_wrongs(before, client.pods(situation.namespace), sure=sure), *failed(client, situation.namespace)]
        if not wrong or time.monotonic() > deadline:
            return wrong


def _wrongs(before: Sequence[Object], after: Sequence[Object], *, sure: bool) -> Iterator[str]:
    """Yield what is worse than before, by what makes the Pods, or no better for those in question."""
    ran, runs = (Counter(maker(each) for each in pods if not waits(each)) for pods in (before, after))
    waited, waiting = (Counter(maker(each) for each in pods if waits(each)) for pods in (before, after))
    # Who waited too may have been quicker to take the room: kube-scheduler's queue decides between them.
    outrun = any(waiting[who] < waited[who] and runs[who] > ran[who] for who in waited.keys() - {NAME})
    if runs[NAME] < ran[NAME] + sure and not outrun:
        yield f"{runs[NAME]} Pods of {NAME} have a node, {ran[NAME]} before"
    for who in sorted(waiting):
        # A Deployment that grows for its rollout may have a Pod more that waits, while more run than before.
        if who != NAME and waiting[who] > waited[who]:
            yield f"{waiting[who]} Pods of {who} are Pending, {waited[who]} before"


def failed(client: Client, namespace: str) -> Iterator[str]:
    """Yield the Jobs of which a Pod has failed."""
    for job in client.api.request("GET", f"/apis/batch/v1/namespaces/{namespace}/jobs")["items"]:
        if job["status"].get("failed"):
            yield f"job/{job['metadata']['name']} failed"


def maker(made: Object) -> str:
    """Return the name of what the Pod belongs to."""
    app: str = made["metadata"]["labels"]["app"]
    return app


def is_asked(made: Object) -> bool:
    """Whether it is a Pod in question."""
    return maker(made) == NAME


def waits(made: Object) -> bool:
    """Whether the Pod has no node."""
    return "nodeName" not in made["spec"]

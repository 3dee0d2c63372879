"""What ``check`` and ``simulate --apply`` say of a manifest, and what ``kubectl apply`` makes of it.

On a real control plane a workload is applied and gets a history: applied again, patched, scaled, paused, restarted,
stuck or orphaned. Then a manifest is drawn. Both commands are asked about it, it is applied, and controllers and
kube-scheduler do their part.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct

from kubectl_spread.apiserver.quantities import as_stored
from kubectl_spread.apiserver.strategic_merge import MergeError
from kubectl_spread.commands import read_sets
from kubectl_spread.commands.simulate import Naming, SimulateOptions, given_steps
from kubectl_spread.commands.source import FileSource
from kubectl_spread.commands.view import SchedulerOptions, look
from kubectl_spread.controllers.templates import template_of
from kubectl_spread.errors import ManifestError
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import BY_API, Workload
from kubectl_spread.objects.meta import KubernetesObject
from kubectl_spread.objects.template_rest import UNKNOWN
from kubectl_spread.simulation.cluster_state import ClusterState
from kubectl_spread.simulation.outcomes import simulate
from tests.build import ZONE, Object, app, node, spread
from tests.build_workloads import laid_over, template, workload
from tests.controlplane.client import Client
from tests.controlplane.cluster import WITHOUT_ADMISSION
from tests.e2e import simulated
from tests.e2e.fixes_as_printed import emptied
from tests.e2e.simulated import Playing
from tests.program import Ended
from tests.program import spread as asked_of

KINDS = (
    *("Deployment", "Deployment", "Deployment", "StatefulSet", "StatefulSet", "DaemonSet", "DaemonSet"),
    *("ReplicaSet", "Job", "CronJob", "Pod"),
)
OPTIONS = replace(
    simulated.OPTIONS,
    controllers=(*simulated.OPTIONS.controllers, "serviceaccount-controller"),
    without_admission=tuple(name for name in WITHOUT_ADMISSION if name != "ServiceAccount"),
)
"""Each namespace gets a ServiceAccount, and each Pod a volume with its token, as in a real cluster."""
_QUIET_S = 2.0
_READ = "nodes,namespaces,pods,deploy,rs,sts,ds,jobs,cj,rc,controllerrevisions"


class Applied(Struct, frozen=True):
    """A step of a history: a manifest that is applied."""

    manifest: Object


Done = Applied | Sequence[str]  # A step of a history: that, or arguments of kubectl, with `{ref}` for the workload


class Pair(Struct, frozen=True, kw_only=True):
    """A live object with its history, and a manifest."""

    name: str  # which kind, what was done to it, and what changes
    nodes: Sequence[Object]  # of the cluster
    history: Sequence[Done]  # what is done first
    manifests: Sequence[Object]  # what is applied in the end, in one file


class Counts(Struct, frozen=True):
    """Pods (count) that were there and stay, that came and have a node, and that wait for one."""

    kept: int
    made: int
    waiting: int


def drawn(seed: int) -> Pair:
    """Return a pair."""
    dice = random.Random(seed)  # noqa: S311 - nothing secret
    kind = dice.choice(KINDS)
    nodes = [
        node(f"{zone}{n}", zone=zone, allocatable={"cpu": str(dice.choice((1, 2))), "pods": "20"})
        for zone in "abc"
        for n in range(dice.choice((1, 1, 2)))
    ]
    fields: Object = {"cpu": "500m", "skew": dice.random() < 0.6, "replicas": dice.randint(1, 4)}
    parts = dice.sample(sorted(_PARTS), dice.choice((0, 1, 2)))
    fields |= {"spec": dice.choice(_STRATEGIES.get(kind, ({},)))}
    fields |= {"parts": {part: dice.choice(_PARTS[part]) for part in parts}}
    words = []
    history: list[Done] = [Applied(_workload(kind, fields))]
    known = sorted(_histories(kind))
    for word in dice.sample(known, min(dice.choice((1, 1, 2)), len(known))):
        words.append(word)
        history += [
            Applied(_workload(kind, _changed(fields, _CHANGES[each.removeprefix("apply:")], dice)))
            if isinstance(each, str)
            else each
            for each in _histories(kind)[word]
        ]
    history.sort(key=lambda done: (done in _ORPHANS, done == _ORPHANS[-1]))
    change = dice.choice(sorted(_CHANGES))
    again = _changed(fields, _CHANGES[change], dice)
    return Pair(
        name=f"{seed}-{kind}-{'+'.join(words)}-{change}",
        nodes=nodes,
        history=history,
        manifests=[_workload(kind, again)],
    )


def _changed(fields: Object, change: Object, dice: random.Random) -> Object:
    """Return the fields after a change; ``parts`` names some of which the value is drawn, or that go."""
    found = {**fields, **{key: value for key, value in change.items() if key != "parts"}}
    parts = {**fields["parts"]}
    for part in change.get("parts", ()):
        parts.pop(part, None)
        if dice.random() < 0.7:
            parts[part] = dice.choice(_PARTS[part])
    return {**found, "parts": parts}


def counting(seed: int) -> Pair:
    """Return a file of workloads that count each other, for an empty cluster."""
    dice = random.Random(seed)  # noqa: S311 - nothing secret
    nodes = [node(f"{zone}1", zone=zone, allocatable={"cpu": "4", "pods": "20"}) for zone in "abc"]
    number = dice.randint(2, 5)
    manifests = []
    for n in range(number):
        kind = dice.choice(("Deployment", "Deployment", "StatefulSet", "ReplicaSet", "Pod"))
        fields: Object = {"cpu": dice.choice(("500m", "1")), "skew": True, "replicas": dice.randint(1, 2), "parts": {}}
        made = _workload(kind, fields, name=f"w{n}", group="x")
        spec = made["spec"] if kind == "Pod" else made["spec"]["template"]["spec"]
        if dice.random() < 0.5:
            spec["nodeSelector"] = {ZONE: dice.choice("abc")}
            spec["topologySpreadConstraints"][0]["nodeAffinityPolicy"] = "Ignore"
        if n + 1 < number and dice.random() < 0.4:
            near = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"one": f"w{n + 1}"}}}
            spec["affinity"] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}}
        manifests.append(made)
    idle = _workload("Deployment", {"cpu": "0", "skew": False, "replicas": 0, "parts": {}}, name="idle")
    return Pair(name=f"counting-{seed}", nodes=nodes, history=[Applied(idle)], manifests=manifests)


def _workload(kind: str, fields: Object, *, name: str = "web", group: str = "") -> Object:
    labels = {"app": group or name, "one": name}
    pods = template(
        *([spread(ZONE, selector=app(group or name))] if fields["skew"] else []),
        requests={"cpu": fields["cpu"]},
        image=fields.get("image", "app:1"),
        labels=labels,
        **({"restartPolicy": "Never"} if kind in {"Job", "CronJob"} else {}),
    )
    for part in fields["parts"].values():
        _add(pods["spec"], part)
    _add(pods["spec"], fields.get("pod", {}))
    if kind == "Pod":
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "labels": labels},
            "spec": pods["spec"],
        }
    number: Object = {"replicas": fields["replicas"], **fields.get("spec", {})}
    if kind == "DaemonSet":
        number.pop("replicas")
    elif kind in {"Job", "CronJob"}:
        number = {"parallelism": fields["replicas"], "completions": 20, **fields.get("job", {})}
    if kind == "StatefulSet":
        number["serviceName"] = "s"
    if kind == "CronJob":
        jobs = {"spec": {"template": pods, **number}}
        made = workload(kind, name, schedule="0 0 1 1 *", jobTemplate=jobs)
        del made["spec"]["selector"], made["spec"]["template"], made["status"]
        return made
    made = workload(kind, name, pods=pods, **number)
    made.pop("status", None)
    made["spec"]["selector"] = {"matchLabels": {"one": name}}
    if kind == "Job":
        del made["spec"]["selector"]
    return made


def _add(spec: Object, part: Object) -> None:
    """Add what a part of a template says, to the Pod or to its first container."""
    for key, value in part.items():
        if key in {"env", "ports", "volumeMounts", "args"}:
            spec["containers"][0][key] = value
        elif isinstance(value, list):
            spec[key] = [*spec.get(key, []), *value]
        else:
            spec[key] = value


def _soft(**fields: Any) -> Object:  # noqa: ANN401 - any field of a constraint
    return spread(ZONE, soft=True, selector=app("web"), **fields)


_PARTS: Mapping[str, Sequence[Object]] = {
    "env": (
        {"env": [{"name": "A", "value": "1"}]},
        {"env": [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}]},
        {
            "env": [
                {"name": "A", "value": "2"},
                {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            ]
        },
    ),
    "ports": (
        {"ports": [{"containerPort": 80}]},
        {"ports": [{"containerPort": 80, "protocol": "UDP"}, {"containerPort": 80, "name": "web"}]},
        {"ports": [{"containerPort": 81, "hostPort": 81}]},
    ),
    "volumes": (
        {"volumes": [{"name": "v", "emptyDir": {}}]},
        {"volumes": [{"name": "v", "configMap": {"name": "c"}}, {"name": "w", "emptyDir": {"medium": "Memory"}}]},
        {"volumes": [{"name": "v", "hostPath": {"path": "/v"}}], "volumeMounts": [{"name": "v", "mountPath": "/v"}]},
    ),
    "tolerations": (
        {"tolerations": [{"key": "t", "operator": "Exists"}]},
        {"tolerations": [{"key": "u", "operator": "Exists"}, {"key": "t", "value": "1", "effect": "NoSchedule"}]},
    ),
    "constraints": (
        {"topologySpreadConstraints": [_soft()]},
        {"topologySpreadConstraints": [_soft(maxSkew=2)]},
        {"topologySpreadConstraints": [spread("kubernetes.io/hostname", maxSkew=2, selector=app("web"))]},
    ),
    "selector": ({"nodeSelector": {ZONE: "a"}}, {"nodeSelector": {ZONE: "b"}}),
    "others": (
        {"hostAliases": [{"ip": "10.0.0.1", "hostnames": ["h"]}], "imagePullSecrets": [{"name": "s"}]},
        {"imagePullSecrets": [{"name": "r"}, {"name": "s"}], "terminationGracePeriodSeconds": 5},
        {"args": ["--a", "--b"]},
    ),
}
"""Fields of templates that are merged each by a rule of its own: lists by name, by port, as a whole, as a set."""
_STRATEGIES: Mapping[str, Sequence[Object]] = {
    "Deployment": (
        {},
        {},
        {"strategy": {"type": "Recreate"}},
        {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}},
    ),
    "StatefulSet": (
        {},
        {"podManagementPolicy": "Parallel"},
        {"updateStrategy": {"type": "OnDelete"}},
        {"updateStrategy": {"rollingUpdate": {"partition": 1}}},
    ),
    "DaemonSet": (
        {},
        {"updateStrategy": {"type": "OnDelete"}},
        {"updateStrategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}},
    ),
}
_ORPHAN = ("delete", "{ref}", "--cascade=orphan")
_ORPHANS = (_ORPHAN, ("delete", "rs", "--all", "--cascade=orphan"))
_SCALE = ("scale", "{ref}", "--replicas=3")


def _patch(**spec: Any) -> Done:  # noqa: ANN401 - any field of a Pod
    return (
        *("patch", "{ref}", "--type=strategic", "-p"),
        json.dumps({"spec": {"template": {"spec": spec}}}),
    )


def _container(**fields: Any) -> Done:  # noqa: ANN401 - any field of a container
    return _patch(containers=[{"name": "main", **fields}])


_ROLLING: Mapping[str, Sequence[Done | str]] = {
    "env-by-hand": (_container(env=[{"name": "BY_HAND", "value": "1"}]),),
    "port-by-hand": (_container(ports=[{"containerPort": 90}]),),
    "volume-by-hand": (_patch(volumes=[{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}]),),
    "toleration-by-hand": (_patch(tolerations=[{"key": "h", "operator": "Exists"}]),),
    "constraint-by-hand": (_patch(topologySpreadConstraints=[_soft(maxSkew=3)]),),
    "selector-by-hand": (_patch(nodeSelector={ZONE: "c"}),),
    "restarted": (("rollout", "restart", "{ref}"),),
    "rolled": ("apply:env",),
    "larger-once": ("apply:larger",),
    "stuck": ("apply:too-large",),
    "forgotten": (("annotate", "{ref}", "kubectl.kubernetes.io/last-applied-configuration-"),),
}
"""What is done to workloads that roll out: ``apply:`` names a change that is applied."""


def _histories(kind: str) -> Mapping[str, Sequence[Done | str]]:
    idle: Mapping[str, Sequence[Done | str]] = {"idle": ()}
    orphaned = {"orphaned": (_ORPHAN,)}
    match kind:
        case "Deployment":
            paused = {"paused": (("rollout", "pause", "{ref}"),)}
            return {**idle, **orphaned, "orphaned-twice": _ORPHANS, **_ROLLING, **paused, "scaled": (_SCALE,)}
        case "StatefulSet":
            return {**idle, **orphaned, **_ROLLING, "scaled": (_SCALE,), "orphaned-again": (_ORPHAN,)}
        case "DaemonSet":
            return {**idle, **orphaned, **_ROLLING, "orphaned-again": (_ORPHAN,)}
        case "ReplicaSet":
            templates = {key: value for key, value in _ROLLING.items() if key != "restarted"}
            return {**idle, **orphaned, **templates, "scaled": (_SCALE,)}
        case _:
            return idle


_CHANGES: Mapping[str, Object] = {
    "same": {},
    "env": {"pod": {"env": [{"name": "A", "value": "9"}]}},
    "image": {"image": "app:2"},
    "larger": {"cpu": "900m"},
    "too-large": {"cpu": "8"},
    "more": {"replicas": 6},
    "fewer": {"replicas": 1, "job": {"parallelism": 1}},
    "spread": {"skew": True},
    "suspended": {"job": {"suspend": True}},
    "recreated": {"spec": {"strategy": {"type": "Recreate"}}},
    **{f"other-{part}": {"parts": (part,)} for part in _PARTS},
    "other-parts": {"parts": (*_PARTS,)},
}


class Said(Struct, frozen=True, kw_only=True):
    """What is said of a manifest before it is applied."""

    check: Ended  # the items of ``check``
    by_server: Ended  # the same, where the server was asked for a dry run
    simulated: Ended  # how ``simulate --apply`` ended
    offline: Sequence[Ended]  # how both end, asked of a snapshot; empty where they were not
    # what the manifests make of the objects that live; None where one cannot be merged
    objects: Sequence[KubernetesObject] | None
    orders: Sequence[Counts]  # what becomes of Pods in each order; empty where it is refused


def differences(client: Client, pair: Pair, namespace: str, *, offline: bool = False) -> tuple[list[str], int]:
    """Return where what is said and what comes part, and how many answers were Incomplete.

    The cluster is empty before and after.
    """
    with emptied(client, namespace), TemporaryDirectory() as folder:
        playing = Playing(client, namespace)
        client.create_nodes(pair.nodes)
        client.kubectl("wait", "--for=create", "serviceaccount/default", "-n", namespace, "--timeout=30s")
        file = Path(folder, "manifest.json")
        for done in pair.history:
            if isinstance(done, Applied):
                _apply(client, namespace, [done.manifest], file)
            else:
                ref = f"{pair.manifests[0]['kind'].lower()}/web"
                client.kubectl.run(*(ref if word == "{ref}" else word for word in done), "-n", namespace)
            playing.settle(_QUIET_S)
        _write(file, pair.manifests)
        said = _said(client, file, pair.manifests, namespace, Path(folder), offline=offline)
        before = _active(playing)
        accepted = _apply(client, namespace, pair.manifests, file)
        objects = _stored(client, pair.manifests, namespace)
        playing.settle(_QUIET_S)
        found = [*_verdicts(said, accepted=accepted), *_offline(said)]
        found += _of_objects(said, objects) if accepted else ()
        if accepted and all(item["verdict"] not in {"Invalid", "Incomplete"} for item in said.check.items):
            found += _compared(said, before, _active(playing))
    ended = (said.check, *said.offline[:1])
    unsure = [item for each in ended for item in each.items if item["verdict"] == "Incomplete"]
    return found, len(unsure)


def _said(
    client: Client, file: Path, manifests: Sequence[Object], namespace: str, folder: Path, *, offline: bool
) -> Said:
    asked = ("-n", namespace, "-o", "json")
    live = ("--kubeconfig", client.kubectl.kubeconfig, *asked)
    check = ("check", "-f", file)
    simulate_it = ("simulate", "--apply", file)
    cluster, snapshot = folder / "cluster.json", folder / "snapshot.json"
    cluster.write_text(client.kubectl("get", _READ, "-A", "-o", "json", "--show-managed-fields"))
    held: list[Ended] = []
    if offline:
        asked_of("snapshot", "-o", snapshot, "--kubeconfig", client.kubectl.kubeconfig)
        held = [asked_of(*words, "--from", snapshot, *asked) for words in (check, simulate_it)]
    there = json.loads(cluster.read_text())["items"]
    wanted = [{**each, "metadata": {**each["metadata"], "namespace": namespace}} for each in manifests]
    objects: list[KubernetesObject] | None
    try:
        objects = [laid_over(each, there) for each in wanted]
    except MergeError:
        objects = None
    return Said(
        check=asked_of(*check, *live),
        by_server=asked_of(*check, "--dry-run=server", *live),
        simulated=asked_of(*simulate_it, *live),
        offline=held,
        objects=objects,
        orders=orders_of(cluster, file, namespace),
    )


def orders_of(cluster: Path, file: Path, namespace: str) -> Sequence[Counts]:
    """Return what the simulation makes of the Pods of the namespace, in each order."""
    view = look(FileSource([str(cluster)], stdin=None), read_sets.for_moving(), SchedulerOptions()).settled
    options = SimulateOptions(steps=(("apply", str(file)),), namespace=namespace)
    naming = Naming(view, options)
    try:
        steps = [*map(naming.step, given_steps(options, None))]
    except ManifestError:
        return ()

    def seen(state: ClusterState, _: int) -> Counts:
        there = [each for key, each in state.pods.items() if key[0] == namespace and not each.finished]
        new = {each.key for each in there if state.born.get(each.key, (-1, 0))[0] >= 0}
        bound = [each.key in new for each in there if each.spec.node_name and not each.terminating]
        return Counts(bound.count(False), bound.count(True), sum(not each.spec.node_name for each in there))

    return [order.seen for order in simulate(view.handles, steps, seen).after(0)]


def _write(file: Path, manifests: Sequence[Object]) -> None:
    # A namespace that is not named is that of the command.
    items = [
        {**each, "metadata": {k: v for k, v in each["metadata"].items() if k != "namespace"}} for each in manifests
    ]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


def _apply(client: Client, namespace: str, manifests: Sequence[Object], file: Path) -> bool:
    _write(file, manifests)
    return client.kubectl.run("apply", "-f", str(file), "-n", namespace).returncode == 0


def _stored(client: Client, manifests: Sequence[Object], namespace: str) -> Sequence[KubernetesObject]:
    names = [f"{each['kind'].lower()}/{each['metadata']['name']}" for each in manifests]
    listed = json.loads(client.kubectl.run("get", *names, "-n", namespace, "-o", "json").stdout or "{}")
    found = listed.get("items", [listed] if listed else [])
    return [convert(each, BY_API[each["apiVersion"], each["kind"]].struct) for each in found]


def _active(playing: Playing) -> Mapping[str, Object]:
    ended = ("Failed", "Succeeded")
    pods = playing.pods()
    there = [p for p in pods if "deletionTimestamp" not in p["metadata"] and p["status"].get("phase") not in ended]
    return {pod["metadata"]["uid"]: pod for pod in there}


def _of_objects(said: Said, stored: Sequence[KubernetesObject]) -> Iterator[str]:
    """Yield in which fields that are read the merged objects differ from those that kubectl leaves."""
    if said.objects is None or len(stored) != len(said.objects):
        return
    for ours, theirs in zip(said.objects, stored, strict=True):
        left, right = _kept(ours), _kept(theirs)
        for field in left:
            # A digest may say that a part is not known, of kinds that do not roll out.
            if left[field] != right[field] and not (field == "rest" and UNKNOWN in str(left[field])):
                yield f"{field}: merged {json.dumps(left[field])}, stored {json.dumps(right[field])}"


def _kept(obj: KubernetesObject) -> Object:
    """Return what is read of an object, as the API server defaults it; of a Pod without what admission adds."""
    if isinstance(obj, Pod):
        return {
            "image": obj.spec.containers[0].image,
            "constraints": as_stored(obj.spec.topology_spread_constraints),
        }
    assert isinstance(obj, Workload)
    made = template_of(obj)
    found: Object = {
        "labels": {**made.metadata.labels} if obj.__class__.__name__ != "Job" else {},
        "template": as_stored(made.spec),
        "rest": made.rest,
    }
    for field in ("replicas", "paused", "parallelism", "completions", "suspend"):
        value = getattr(obj.spec, field, None)
        found[field] = 1 if field == "replicas" and value is None and hasattr(obj.spec, field) else value
    return found


def _verdicts(said: Said, *, accepted: bool) -> Iterator[str]:
    """Yield where verdicts come part: of what is refused, and of an API server that is asked."""
    refused = [any(item["verdict"] == "Invalid" for item in ended.items) for ended in (said.check, said.by_server)]
    if refused != [not accepted] * 2:
        yield f"refused: {refused[0]}, by a dry run: {refused[1]}, applied: {accepted}"
    for one, other in zip(said.check.items, said.by_server.items, strict=True):
        for field in ("verdict", "pending"):
            if one[field] != other[field] and not {"Incomplete", "Invalid"} & {one["verdict"], other["verdict"]}:
                yield f"{field}: {one[field]}, by a dry run {other[field]}"


def _compared(said: Said, before: Mapping[str, Object], after: Mapping[str, Object]) -> Iterator[str]:
    """Yield where Pods come out otherwise than was said; before and after by UID."""
    check = said.check.items
    (step,) = said.simulated.report["steps"]
    ranges = [each["range"] for each in step["pending"]]
    least, most = (sum(each[n] for each in ranges) for n in (0, 1))
    bound = {uid for uid, pod in after.items() if pod["spec"].get("nodeName")}
    came = Counts(len(bound & before.keys()), len(bound - before.keys()), len(after) - len(bound))
    if not least <= came.waiting <= most:
        yield f"Pending: simulate {least}..{most}, came {came.waiting}"
    pending, placed = sum(item["pending"] for item in check), sum(len(item["placements"]) for item in check)
    waited = any(not pod["spec"].get("nodeName") for pod in before.values())
    # What is said of a CronJob is said of its next run.
    if any(item["kind"] == "CronJob" for item in check):
        return
    # Refused Pods are placed as if they were accepted.
    refused = any(item["verdict"] == "FailedCreate" for item in check)
    # Pods that nothing controls wait besides those of the manifests.
    about = [item["workload"] for item in check]
    low, high = (sum(each["range"][n] for each in step["pending"] if each["workload"] in about) for n in (0, 1))
    if not (refused or low <= pending <= high):
        yield f"Pending: check {pending}, simulate {low}..{high}"
    if not (refused or waited or most or came.made == placed):
        yield f"new Pods on nodes: check {placed}, came {came.made}"
    for field in () if waited else Counts.__struct_fields__:
        numbers = [getattr(order, field) for order in said.orders]
        if not min(numbers) <= getattr(came, field) <= max(numbers):
            yield f"{field}: simulated {min(numbers)}..{max(numbers)}, came {getattr(came, field)}"


def _offline(said: Said) -> Iterator[str]:
    """Yield where what is said of a snapshot is neither the same nor Incomplete."""
    if not said.offline:
        return
    check, simulated = said.offline
    for live, held in zip(said.check.items, check.items, strict=True):
        same = all(live[field] == held[field] for field in ("verdict", "pending", "placements"))
        if not same and held["verdict"] != "Incomplete":
            yield f"offline: {held['verdict']}, {held['pending']}; live: {live['verdict']}, {live['pending']}"
    if bool(said.simulated.stdout) != bool(simulated.stdout):
        yield f"offline: {simulated.stderr}; live: {said.simulated.stderr}"
    elif simulated.stdout and not simulated.report["incomplete"]:
        pending = [each.report["steps"][0]["pending"] for each in (said.simulated, simulated)]
        if [item["range"] for item in pending[0]] != [item["range"] for item in pending[1]]:
            yield f"offline: Pending {pending[1]}; live: {pending[0]}"

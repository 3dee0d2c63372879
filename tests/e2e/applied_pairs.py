"""What ``check`` and ``simulate --apply`` say of a manifest, and what ``kubectl apply`` makes of it.

On a real control plane a workload is applied and gets a history: scaled, patched, paused or orphaned. Then a manifest
is drawn. Both commands are asked about it, it is applied, and controllers and kube-scheduler do their part.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from tests.build import ZONE, Object, app, node, spread
from tests.build_workloads import template, workload
from tests.controlplane.client import Client
from tests.e2e.fixes_as_printed import emptied
from tests.e2e.simulated import Playing

KINDS = ("Deployment", "Deployment", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job")
_ENV_PATCH = {
    "spec": {"template": {"spec": {"containers": [{"name": "main", "env": [{"name": "BY_HAND", "value": "1"}]}]}}}
}
_QUIET_S = 2.0


class Pair(Struct, frozen=True, kw_only=True):
    """A live object with its history, and a manifest.

    Attributes:
        name: which kind, what was done to it, and what changes.
        nodes: of the cluster.
        first: what is applied first.
        history: what is done then: arguments of kubectl.
        manifests: what is applied in the end, in one file.
    """

    name: str
    nodes: Sequence[Object]
    first: Object
    history: Sequence[Sequence[str]]
    manifests: Sequence[Object]


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
    done, history = dice.choice([*_HISTORIES[kind].items()])
    change, changed = dice.choice([*_CHANGES.items()])
    again = {**fields, **changed}
    return Pair(
        name=f"{seed}-{kind}-{done}-{change}",
        nodes=nodes,
        first=_workload(kind, fields),
        history=history,
        manifests=[_workload(kind, again)],
    )


def counting(seed: int) -> Pair:
    """Return a file of workloads that count each other, for an empty cluster."""
    dice = random.Random(seed)  # noqa: S311 - nothing secret
    nodes = [node(f"{zone}1", zone=zone, allocatable={"cpu": "4", "pods": "20"}) for zone in "abc"]
    number = dice.randint(2, 5)
    manifests = []
    for n in range(number):
        fields: Object = {"cpu": dice.choice(("500m", "1")), "skew": True, "replicas": dice.randint(1, 2)}
        made = _workload("Deployment", fields, name=f"w{n}", group="x")
        spec = made["spec"]["template"]["spec"]
        if dice.random() < 0.5:
            spec["nodeSelector"] = {ZONE: dice.choice("abc")}
            spec["topologySpreadConstraints"][0]["nodeAffinityPolicy"] = "Ignore"
        if n + 1 < number and dice.random() < 0.4:
            near = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"one": f"w{n + 1}"}}}
            spec["affinity"] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}}
        manifests.append(made)
    idle = _workload("Deployment", {"cpu": "0", "skew": False, "replicas": 0}, name="idle")
    return Pair(name=f"counting-{seed}", nodes=nodes, first=idle, history=(), manifests=manifests)


def _workload(kind: str, fields: Object, *, name: str = "web", group: str = "") -> Object:
    labels = {"app": group or name, "one": name}
    pods = template(
        *([spread(ZONE, selector=app(group or name))] if fields["skew"] else []),
        requests={"cpu": fields["cpu"]},
        image=fields.get("image", "app:1"),
        labels=labels,
        **({"restartPolicy": "Never"} if kind == "Job" else {}),
    )
    pods["spec"]["containers"][0] |= fields.get("container", {})
    number: Object = {"replicas": fields["replicas"]}
    if kind == "DaemonSet":
        number = {}
    elif kind == "Job":
        number = {"parallelism": fields["replicas"], "completions": 20, **fields.get("job", {})}
    if kind == "StatefulSet":
        number["serviceName"] = "s"
    made = workload(kind, name, pods=pods, **number)
    made.pop("status", None)
    made["spec"]["selector"] = {"matchLabels": {"one": name}}
    if kind == "Job":
        del made["spec"]["selector"]
    return made


_PATCH = ("patch", "{ref}", "--type=strategic", "-p", json.dumps(_ENV_PATCH))
_ORPHAN = ("delete", "{ref}", "--cascade=orphan")
_SCALE = ("scale", "{ref}", "--replicas=3")
_RESTART = ("rollout", "restart", "{ref}")
_EVERY: Mapping[str, Sequence[Sequence[str]]] = {"idle": (), "orphaned": (_ORPHAN,)}
_HISTORIES: Mapping[str, Mapping[str, Sequence[Sequence[str]]]] = {
    "Deployment": {
        **_EVERY,
        "scaled": (_SCALE,),
        "patched": (_PATCH,),
        "paused": (("rollout", "pause", "{ref}"),),
        "restarted": (_RESTART,),
    },
    "StatefulSet": {
        **_EVERY,
        "scaled": (("scale", "{ref}", "--replicas=3"),),
        "restarted": (("rollout", "restart", "{ref}"),),
    },
    "DaemonSet": {"idle": (), "restarted": (("rollout", "restart", "{ref}"),)},
    "ReplicaSet": {**_EVERY, "scaled": (("scale", "{ref}", "--replicas=3"),)},
    "Job": {"idle": ()},
}
_CHANGES: Mapping[str, Object] = {
    "same": {},
    "env": {"container": {"env": [{"name": "A", "value": "1"}]}},
    "image": {"image": "app:2"},
    "larger": {"cpu": "900m"},
    "too-large": {"cpu": "8"},
    "more": {"replicas": 6},
    "fewer": {"replicas": 1, "job": {"parallelism": 1}},
    "spread": {"skew": True},
    "suspended": {"job": {"suspend": True}},
}


def differences(client: Client, pair: Pair, namespace: str) -> list[str]:
    """Return where what is said and what comes part; the cluster is empty before and after."""
    with emptied(client, namespace), TemporaryDirectory() as folder:
        playing = Playing(client, namespace)
        client.create_nodes(pair.nodes)
        kind = pair.first["kind"].lower()
        _write(Path(folder, "first.json"), [pair.first])
        client.kubectl("apply", "-f", f"{folder}/first.json", "-n", namespace)
        playing.settle(_QUIET_S)
        for arguments in pair.history:
            client.kubectl(
                *(word.format(ref=f"{kind}/web") if word == "{ref}" else word for word in arguments), "-n", namespace
            )
            playing.settle(_QUIET_S)
        file = Path(folder, "manifest.json")
        _write(file, pair.manifests)
        asked = ("-n", namespace, "-o", "json")
        check = json.loads(client.kubectl.run("spread", "check", "-f", str(file), *asked).stdout)["items"]
        simulated = client.kubectl.run("spread", "simulate", "--apply", str(file), *asked)
        before = {pod["metadata"]["uid"]: pod for pod in _active(playing)}
        applied = _apply(client, namespace, pair.manifests, file)
        playing.settle(_QUIET_S)
        after = {pod["metadata"]["uid"]: pod for pod in _active(playing)}
    return [*_compared(check, simulated.stdout, accepted=applied, before=before, after=after)]


def _write(file: Path, manifests: Sequence[Object]) -> None:
    # A namespace that is not named is that of the command.
    items = [
        {**each, "metadata": {k: v for k, v in each["metadata"].items() if k != "namespace"}} for each in manifests
    ]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


def _apply(client: Client, namespace: str, manifests: Sequence[Object], file: Path) -> bool:
    _write(file, manifests)
    return client.kubectl.run("apply", "-f", str(file), "-n", namespace).returncode == 0


def _active(playing: Playing) -> Sequence[Object]:
    ended = ("Failed", "Succeeded")
    pods = playing.pods()
    return [p for p in pods if "deletionTimestamp" not in p["metadata"] and p["status"].get("phase") not in ended]


def _compared(
    check: Sequence[Object],
    simulated: str,
    *,
    accepted: bool,
    before: Mapping[str, Object],
    after: Mapping[str, Object],
) -> list[str]:
    refused = any(item["verdict"] == "Invalid" for item in check)
    if refused or not accepted:
        return [] if refused != accepted else [f"refused: {refused}, applied: {accepted}"]
    found = []
    waiting = sum(not pod["spec"].get("nodeName") for pod in after.values())
    said = sum(item["pending"] for item in check)
    (step,) = json.loads(simulated)["steps"]
    least = sum(each["range"][0] for each in step["pending"])
    most = sum(each["range"][1] for each in step["pending"])
    if not least <= waiting <= most:
        found.append(f"Pending: simulate {least}..{most}, came {waiting}")
    if not least <= said <= most:
        found.append(f"Pending: check {said}, simulate {least}..{most}")
    new = sum(bool(pod["spec"].get("nodeName")) for uid, pod in after.items() if uid not in before)
    waited = any(not pod["spec"].get("nodeName") for pod in before.values())
    placed = sum(len(item["placements"]) for item in check)
    if not waited and not most and new != placed:
        found.append(f"new Pods on nodes: check {placed}, came {new}")
    return found


def run(client: Client, seeds: Sequence[int], draw: Callable[[int], Pair] = drawn) -> int:
    """Print where pairs part; return how many did (count)."""
    failed = 0
    for seed in seeds:
        pair = draw(seed)
        found = differences(client, pair, f"pair-{draw.__name__}-{seed}")
        failed += bool(found)
        print(pair.name, "; ".join(found) or "as said", flush=True)  # noqa: T201 - a proof prints
    return failed

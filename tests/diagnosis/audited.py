"""Small clusters, and what the definitions of an audit give for them, computed from the manifests alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from random import Random
from typing import Any

from tests.build import HOSTNAME, ZONE, Object, app, node, object_of, pod, spread
from tests.build_workloads import controller, workload

RACK = "example.com/rack"
OWNERS = ("ReplicaSet", "StatefulSet", "Deployment", "Rollout", "DaemonSet", "Job", "")
RISKS = ("Outage", "BelowBudget", "Majority", "Uneven", "Unavoidable", "Unprotected", "OK")
CUSTOM = {"controller": True, "apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout"}


def cluster(seed: int) -> list[Object]:
    """Return nodes, workloads, Pods and budgets drawn by chance."""
    random = Random(seed)  # noqa: S311 - drawn to test with
    nodes = [*_nodes(random)]
    objects = list(nodes)
    for number in range(random.randint(1, 5)):
        objects += _workload(f"w{number}", random, [each["metadata"]["name"] for each in nodes])
    for each in nodes:
        if random.random() < 0.4:
            cpu = random.choice(("1", "3", "4"))
            objects.append(
                pod(f"filler-{each['metadata']['name']}", on=each["metadata"]["name"], requests={"cpu": cpu})
            )
    return objects


def _nodes(random: Random) -> Iterator[Object]:
    for number in range(random.randint(1, 8)):
        racks = {RACK: random.choice("xy")} if random.random() < 0.7 else {}
        pool = {"pool": "gpu"} if random.random() < 0.2 else {"pool": "any"}
        yield node(
            f"n{number}",
            zone=random.choice(("a", "b", "c", None)) if random.random() < 0.9 else "d",
            labels=racks | pool,
            taints=["dedicated=db:NoSchedule"] if random.random() < 0.15 else (),
            allocatable={"cpu": "4", "pods": random.choice(("2", "6", "110"))},
            unschedulable=random.random() < 0.1,
        )


def _spec(name: str, random: Random) -> dict[str, Any]:
    spec: dict[str, Any] = {"requests": {"cpu": random.choice(("0", "1", "2"))}}
    if random.random() < 0.3:
        spec["nodeSelector"] = {"pool": "any"}
    if random.random() < 0.3:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    spec["topologySpreadConstraints"] = [
        spread(key, selector=app(name if random.random() < 0.8 else "other"), soft=random.random() < 0.5)
        for key in (ZONE, HOSTNAME, RACK)
        if random.random() < 0.25
    ]
    if random.random() < 0.4:
        term = {"topologyKey": random.choice((ZONE, HOSTNAME)), "labelSelector": app(random.choice((name, "other")))}
        field, terms = "required", dict[str, Any](term)
        if random.random() < 0.5:
            field, terms = "preferred", {"weight": 1, "podAffinityTerm": term}
        spec["affinity"] = {"podAntiAffinity": {f"{field}DuringSchedulingIgnoredDuringExecution": [terms]}}
    return spec


def _workload(name: str, random: Random, nodes: Sequence[str]) -> Iterator[Object]:
    kind, spec, number = random.choice(OWNERS), _spec(name, random), random.randint(0, 6)
    made = pod("", labels={"app": name}, **spec)
    template = {"metadata": {"labels": {"app": name}}, "spec": made["spec"]}
    owner: Object | None = controller(kind, name) if kind else None
    if kind == "Rollout":
        owner = {**CUSTOM, "name": name, "uid": name}
    elif kind == "Deployment":
        owner = controller("ReplicaSet", f"{name}-h")
        above = controller("Deployment", name)
        yield _with_selector(workload("ReplicaSet", f"{name}-h", pods=template, owner=above, replicas=number), name)
    if kind and kind != "Rollout":
        replicas: dict[str, Any] = {} if kind in {"DaemonSet", "Job"} else {"replicas": number}
        yield _with_selector(workload(kind, name, pods=template, **replicas), name)
    places = random.sample(nodes, random.randint(1, len(nodes)))
    for ordinal in range(number):
        on = random.choice(places) if random.random() < 0.9 else ""
        status = {"phase": "Succeeded"} if random.random() < 0.05 else {"phase": "Running" if on else "Pending"}
        gone = random.random() < 0.1
        labels = {"app": name}
        yield pod(f"{name}-{ordinal}", on=on, labels=labels, owner=owner, status=status, terminating=gone, **spec)
    if random.random() < 0.4:
        rule = random.choice(({"minAvailable": random.randint(1, 4)}, {"maxUnavailable": 1}, {"minAvailable": "60%"}))
        yield object_of("PodDisruptionBudget", name, spec={**rule, "selector": app(name)})


def _with_selector(made: Object, name: str) -> Object:
    made["spec"]["selector"] = app(name)
    return made


def wanted(objects: Sequence[Object]) -> dict[str, Any]:
    """Return workload → what the definitions give of it."""
    nodes = {each["metadata"]["name"]: each for each in objects if each["kind"] == "Node"}
    pods = [each for each in objects if each["kind"] == "Pod" and each["status"].get("phase") != "Succeeded"]
    used: Counter[str] = Counter()
    held: Counter[str] = Counter()
    for each in pods:
        if on := each["spec"].get("nodeName"):
            held[on] += 1
            used[on] += _cpu(each)
    free = {
        name: (4 - used[name], int(each["status"]["allocatable"]["pods"]) - held[name]) for name, each in nodes.items()
    }
    found = {}
    for name in sorted({each["metadata"]["labels"].get("app", "") for each in pods} - {""}):
        own = [each for each in pods if each["metadata"]["labels"].get("app") == name]
        (owner,) = own[0]["metadata"].get("ownerReferences", [None])
        kind = owner["kind"] if owner else ""
        kind = "Deployment" if kind == "ReplicaSet" and owner["name"] != name else kind
        there = [each for each in own if each["spec"].get("nodeName") and "deletionTimestamp" not in each["metadata"]]
        if kind in {"", "DaemonSet", "Job"} or len(there) < 2:
            continue
        found[f"{kind.lower()}/{name}"] = _of_workload(kind, name, there, objects, nodes, free)
    return found


def _cpu(each: Object) -> int:
    return int(each["spec"]["containers"][0]["resources"]["requests"].get("cpu", 0))


def _of_workload(
    kind: str,
    name: str,
    there: Sequence[Object],
    objects: Sequence[Object],
    nodes: Mapping[str, Object],
    free: Mapping[str, tuple[int, int]],
) -> dict[str, Any]:
    spec, desired = there[0]["spec"], _desired(kind, name, objects)
    open_nodes = [each for each, made in nodes.items() if _fits(spec, made)]
    own = [each["topologyKey"] for each in spec["topologySpreadConstraints"]]
    keys = {}
    for key in dict.fromkeys((ZONE, HOSTNAME, *own)):
        at = {
            each: made["metadata"]["labels"][key] for each, made in nodes.items() if key in made["metadata"]["labels"]
        }
        counts = Counter(at[each["spec"]["nodeName"]] for each in there if each["spec"]["nodeName"] in at)
        usable = {*counts, *(at[each] for each in open_nodes if each in at)}
        loss = max(counts.values(), default=0)
        worst = [value for value, number in counts.items() if number == loss]
        fair = ceil(len(there) / len(usable)) if usable else 0
        held_by = _held_by(kind, key, spec, name)
        risk = "OK"
        if loss == len(there):
            risk = "Outage"
        elif loss and len(there) - loss < desired:
            risk = "BelowBudget"
        elif loss > len(there) / 2:
            risk = "Majority"
        elif loss > fair and key != HOSTNAME:
            risk = "Uneven"
        if risk != "OK":
            moved = 0
            for value in usable - {*worst}:
                room = sum(_capacity(spec, *free[each]) for each in open_nodes if at.get(each) == value)
                moved += min(room, max(loss - 1 - counts[value], 0))
            risk = risk if moved >= len(worst) else "Unavoidable"
        elif len(usable) > 1 and not held_by - {"default"}:
            risk = "Unprotected"
        keys[key] = {
            "usable": sorted(usable),
            "domains": sorted(counts.items()),
            "loss": loss,
            "worst": sorted(worst) if loss else [],
            "fair": fair,
            "heldBy": held_by,
            "risk": risk,
        }
    risks = [each["risk"] for each in keys.values()]
    return {"pods": len(there), "keys": keys, "risk": min(risks, key=RISKS.index)}


def _fits(spec: Object, made: Object) -> bool:
    tolerates = bool(spec.get("tolerations"))
    labels = made["metadata"]["labels"].items()
    if made["spec"].get("unschedulable") or (made["spec"]["taints"] and not tolerates):
        return False
    return bool(spec.get("nodeSelector", {}).items() <= labels)


def _capacity(spec: Object, cpu: int, pods: int) -> int:
    wants = _cpu({"spec": spec})
    return max(min(pods, cpu // wants if wants else pods), 0)


def _held_by(kind: str, key: str, spec: Object, name: str) -> set[str]:
    found = set()
    for each in spec["topologySpreadConstraints"]:
        if each["topologyKey"] == key and each["labelSelector"] == app(name):
            found.add("hard" if each["whenUnsatisfiable"] == "DoNotSchedule" else "soft")
    # The selector of defaults comes from the owner; nothing knows that of a custom one.
    if not spec["topologySpreadConstraints"] and kind != "Rollout" and key in {ZONE, HOSTNAME}:
        found.add("default")
    apart = spec.get("affinity", {}).get("podAntiAffinity", {})
    for field, terms in apart.items():
        for term in (each.get("podAffinityTerm", each) for each in terms):
            if term["topologyKey"] == key and term["labelSelector"] == app(name):
                found.add("antiAffinity" if field.startswith("required") else "preferredAntiAffinity")
    return found


def _desired(kind: str, name: str, objects: Sequence[Object]) -> int:
    budgets = [each for each in objects if each["kind"] == "PodDisruptionBudget" and each["metadata"]["name"] == name]
    if not budgets:
        return 0
    rule = budgets[0]["spec"]
    if isinstance(rule.get("minAvailable"), int):
        return int(rule["minAvailable"])
    owner = [each for each in objects if each["kind"] == kind and each["metadata"]["name"] == name]
    if not owner:
        return 0
    replicas = int(owner[0]["spec"]["replicas"])
    return max(replicas - 1, 0) if "maxUnavailable" in rule else ceil(replicas * 0.6)

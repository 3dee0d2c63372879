"""Deployments applied, changed by hand and applied again: the object that real ``kubectl apply`` leaves is ours.

Each pair is drawn by a seed: a manifest that is applied, what somebody then changes by hand, and another manifest. What
lives is read, we merge, kubectl applies: what we keep of the object is compared, and the digest of the rest.

``python -m tests.soak kubectl-apply --count 60 --seed 1``
"""

import argparse
import json
import sys
from collections.abc import Mapping
from copy import deepcopy
from random import Random
from typing import Any, TypeAlias, cast

from kubectl_spread.apiserver.quantities import as_stored
from kubectl_spread.apiserver.strategic_merge import MergeError
from kubectl_spread.apiserver.validation import validate
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.meta import LAST_APPLIED
from kubectl_spread.objects.workloads import Deployment, RollingUpdate
from kubectl_spread.release import Release
from tests.build_workloads import laid_over
from tests.controlplane.cluster import Options, control_plane
from tests.controlplane.kubectl import Kubectl

Object: TypeAlias = dict[str, Any]
_KEYS = ("topology.kubernetes.io/zone", "kubernetes.io/hostname")


def manifest(random: Random, name: str) -> Object:
    """Return a Deployment that an API server takes, of few values."""
    spec: Object = {"selector": {"matchLabels": {"app": name}}, "template": template(random, name)}
    fields: Mapping[str, Any] = {
        "replicas": random.randint(0, 3),
        "paused": random.random() < 0.5,
        "minReadySeconds": random.randint(0, 2),
        "strategy": random.choice(
            [{"type": "Recreate"}, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": random.randint(1, 2)}}]
        ),
    }
    spec |= {field: value for field, value in fields.items() if random.random() < 0.5}
    labels = {key: random.choice("xy") for key in "ab" if random.random() < 0.4}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default", "labels": labels},
        "spec": spec,
    }


def template(random: Random, name: str) -> Object:
    """Return a Pod template."""
    constraints = [
        {
            "topologyKey": key,
            "maxSkew": random.randint(1, 2),
            "whenUnsatisfiable": when,
            "labelSelector": {"matchLabels": {"app": name}},
            **({"minDomains": 2} if when == "DoNotSchedule" and random.random() < 0.3 else {}),
            **({"nodeTaintsPolicy": "Honor"} if random.random() < 0.3 else {}),
        }
        for key in _KEYS
        for when in ("DoNotSchedule", "ScheduleAnyway")
        if random.random() < 0.4
    ]
    random.shuffle(constraints)
    kinds: list[Object] = [{"emptyDir": {}}, {"configMap": {"name": "c"}}]
    volumes: list[Object] = [
        {"name": volume, **random.choice(kinds)} for volume in random.sample(["v", "w"], random.randint(0, 2))
    ]
    spec: Object = {
        "containers": [
            container(random, each, volumes) for each in random.sample(["main", "side"], random.randint(1, 2))
        ],
        "topologySpreadConstraints": constraints,
        "volumes": volumes,
        "nodeSelector": {key: random.choice("xy") for key in ("disk", "pool") if random.random() < 0.4},
        "tolerations": [{"key": key, "operator": "Exists"} for key in random.sample(["t", "u"], random.randint(0, 2))],
        "hostAliases": [{"ip": f"10.0.0.{n}", "hostnames": ["h"]} for n in random.sample([1, 2], random.randint(0, 2))],
    }
    spec = {field: value for field, value in spec.items() if field == "containers" or random.random() < 0.7}
    if "volumes" not in spec:
        for each in spec["containers"]:
            each.pop("volumeMounts", None)
    return {"metadata": {"labels": {"app": name}}, "spec": spec}


def container(random: Random, name: str, volumes: list[Object]) -> Object:
    """Return a container."""
    found: Object = {
        "image": f"registry.example/{random.choice(['a', 'b'])}:1",
        "env": [{"name": key, "value": random.choice("xy")} for key in random.sample("ABC", random.randint(0, 3))],
        "ports": [{"containerPort": port} for port in random.sample([80, 81], random.randint(0, 2))],
        "resources": {"requests": {"cpu": random.choice(["100m", "0.2"])}},
        "volumeMounts": [{"name": each["name"], "mountPath": f"/{each['name']}"} for each in volumes],
    }
    return {
        "name": name,
        **{field: value for field, value in found.items() if field == "image" or random.random() < 0.6},
    }


def by_hand(random: Random, live: Object, other: Object) -> Object:
    """Return what lives with some fields as another manifest has them."""
    changed = deepcopy(live)
    for place, source in (
        (changed["spec"], other["spec"]),
        (changed["spec"]["template"]["spec"], other["spec"]["template"]["spec"]),
    ):
        for field in source:
            if field not in {"selector", "template", "volumes", "containers"} and random.random() < 0.4:
                place[field] = source[field]
    return changed


def kept(obj: Deployment) -> Object:
    """Return what we keep of a Deployment, as the API server defaults it."""
    spec, at_once = obj.spec, obj.spec.strategy.rolling_update or RollingUpdate()
    rolls = obj.spec.strategy.type != "Recreate"
    return {
        "labels": obj.metadata.labels,
        "replicas": spec.replicas_wanted,
        "paused": spec.paused,
        "surge": rolls and (at_once.max_surge or "25%", at_once.max_unavailable or "25%"),
        "template": as_stored(spec.template.spec),
        "rest": spec.template.rest,
    }


def outcome(kubectl: Kubectl, random: Random, name: str) -> str:
    """Return what was wrong with one pair; empty for nothing, and for what both refuse."""
    first, second, third = (manifest(random, name) for _ in range(3))
    if kubectl.run("apply", "-f", "-", stdin=json.dumps(first)).returncode:
        return ""
    live = json.loads(kubectl("get", "deployment", name, "-o", "json"))
    if random.random() < 0.8:
        change = [{"op": "replace", "path": "/spec", "value": by_hand(random, live, second)["spec"]}]
        kubectl.run("patch", "deployment", name, "--type=json", "-p", json.dumps(change))
    if random.random() < 0.1:
        kubectl("annotate", "deployment", name, f"{LAST_APPLIED}-")
    live = json.loads(kubectl("get", "deployment", name, "-o", "json"))
    try:
        ours = laid_over(third, [live])
        refused = [str(error) for error in validate(ours, Release(36))]
    except MergeError as error:
        ours, refused = None, [str(error)]
    ended = kubectl.run("apply", "-f", "-", stdin=json.dumps(third))
    if refused or ended.returncode:
        both = bool(refused) == bool(ended.returncode)
        return "" if both else f"refused by us: {refused}; kubectl: {ended.returncode} {ended.stderr}"
    after = convert(json.loads(kubectl("get", "deployment", name, "-o", "json")), Deployment)
    left, right = kept(cast("Deployment", ours)), kept(after)
    wrong = {key: (left[key], right[key]) for key in left if left[key] != right[key]}
    return "\n  ".join(["differs", *map(json.dumps, (wrong, live, third))]) if wrong else ""


def main() -> int:
    """Apply pairs; return 1 where we were wrong about any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    wrong = 0
    with control_plane(Options(scheduler=False, controllers=())) as plane:
        kubectl = plane.client().kubectl
        for number in range(asked.count):
            random = Random(f"{asked.seed}/{number}")  # noqa: S311 - drawn to test with, not to keep a secret
            if said := outcome(kubectl, random, f"web-{number}"):
                wrong += 1
                sys.stdout.write(f"{number}: {said}\n")
    sys.stdout.write(f"{asked.count} pairs: wrong about {wrong}\n")
    return int(bool(wrong))

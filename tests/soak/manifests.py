"""Manifests with broken fields: refused by `check` exactly where a real API server refuses them?

Each is drawn by a seed: a sound object of which a field is misspelt, or has a value of another type. kubectl applies
them to a real control plane as a dry run under strict validation. Refused are manifests: where the API server takes one
and none of its Pods, both sides take it here. What is wrong in itself is in tests/e2e/test_validation.py.
"""

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import yaml

from kubectl_spread.commands.applying import review_of
from kubectl_spread.commands.manifests import ManifestSources, read_manifests
from kubectl_spread.errors import ManifestError
from kubectl_spread.release import Release
from kubectl_spread.snapshot import Inventory, Snapshot
from tests.apiserver.validation.situations import changed, sound, template_pointer
from tests.build import pod
from tests.controlplane.api import Object
from tests.controlplane.cluster import Options, control_plane
from tests.controlplane.kubectl import Kubectl

WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController", "Job", "CronJob")
_AT_ONCE = 100
# Keys that are no fields: which ones there may be is validation.
_RESOURCES = ("cpu", "memory", "requests.cpu", "storage", "a")
_CREATED = re.compile(r"^\S+/(\S+) created \(server dry run\)$", re.MULTILINE)

# What the sound objects do not say, for nothing that is checked reads it, but a server decodes.
_UNREAD: Object = {
    "env": [{"name": "A", "value": "b"}, {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
    "readinessProbe": {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 5},
    "securityContext": {"runAsUser": 1000, "capabilities": {"drop": ["ALL"]}},
    "command": ["/bin/true"],
}
_OTHERS: Sequence[Object] = (
    {
        "apiVersion": "v1",
        "kind": "Service",
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]},
    },
    {"apiVersion": "v1", "kind": "ConfigMap", "data": {"key": "value"}, "immutable": True},
    {"apiVersion": "v1", "kind": "ServiceAccount", "automountServiceAccountToken": False},
    {"apiVersion": "v1", "kind": "LimitRange", "spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}}]}},
    {"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": {"requests.cpu": "10"}}},
    {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    },
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1000, "globalDefault": False},
    {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "provisioner": "example.com/csi",
        "parameters": {"a": "b"},
    },
    {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    },
    {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "spec": {"podSelector": {"matchLabels": {"app": "web"}}, "policyTypes": ["Ingress"]},
    },
)

Spot: TypeAlias = tuple[Any, Any]  # A mapping or list of the object, and a key or index in it


@dataclass(frozen=True, kw_only=True, slots=True)
class Broken:
    """A manifest that may be broken."""

    number: int  # of the series
    fault: str  # what was done to it
    kind: str  # of the object
    made: Object  # the object, of a name of its own


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What both sides make of a manifest: whether they refuse it, and why."""

    broken: Broken
    ours: str
    theirs: bool


def manifests(count: int, *, seed: int) -> Iterator[Broken]:
    """Yield a series of manifests that depends on its seed alone."""
    for number in range(count):
        rng = Random(f"{seed} {number}")  # noqa: S311 - drawn to test with, not to keep a secret
        kind = rng.choice(("Pod", "Pod", *WORKLOADS, "other"))
        fault = rng.choice(tuple(_FAULTS))
        made = deepcopy(rng.choice(_OTHERS)) if kind == "other" else _rich(kind)
        made.setdefault("metadata", {})["name"] = f"m-{number}"
        made = _FAULTS[fault](made, rng)
        made["metadata"] = (
            {**made["metadata"], "name": f"m-{number}"} if isinstance(made["metadata"], dict) else made["metadata"]
        )
        yield Broken(number=number, fault=fault, kind=made["kind"], made=made)


def outcomes(broken: Sequence[Broken], kubectl: Kubectl) -> Iterator[Outcome]:
    """Yield what both sides make of the manifests."""
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, len(broken), _AT_ONCE):
            some = broken[start : start + _AT_ONCE]
            created = _created(some, kubectl, Path(folder, str(start)))
            for each in some:
                yield Outcome(broken=each, ours=_refused(each, Path(folder)), theirs=f"m-{each.number}" not in created)


def _created(broken: Sequence[Broken], kubectl: Kubectl, folder: Path) -> frozenset[str]:
    """Return the names of the objects that a real API server would create."""
    folder.mkdir()
    for each in broken:
        (folder / f"{each.number}.yaml").write_text(yaml.safe_dump(each.made), encoding="utf-8")
    ended = kubectl.run("apply", "--dry-run=server", "--validate=strict", "-n", "default", "-f", str(folder))
    return frozenset(_CREATED.findall(ended.stdout))


def _refused(broken: Broken, folder: Path) -> str:
    """Return why `check` refuses the manifest itself; empty where it does not."""
    path = folder / "manifest.yaml"
    path.write_text(yaml.safe_dump_all([broken.made, pod("bystander")]), encoding="utf-8")
    try:
        (manifest, *_), problems = read_manifests(
            ManifestSources(filenames=(str(path),), namespace="default"), stdin=None
        )
    except ManifestError as error:
        return str(error)
    if problems:  # what is left is the bystander
        return "; ".join(map(str, problems))
    empty = Snapshot.build(Inventory({}))
    return "; ".join(map(str, review_of(manifest, empty, empty, Release()).errors))


def _rich(kind: str) -> Object:
    """Return a sound object of the kind that says more than is read."""
    made = sound(kind)
    root = "" if kind == "Pod" else template_pointer(kind)
    changes = {f"{root}/spec/containers/0/{field}": value for field, value in _UNREAD.items()}
    return changed(made, {**changes, f"{root}/spec/terminationGracePeriodSeconds": 10, f"{root}/spec/hostname": "web"})


def _spots(values: object, *, leaves: bool) -> Iterator[Spot]:
    """Yield every place in the object, or only those that hold no further ones, but for what names the object."""
    entries = values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
    for key, value in entries:
        if key not in {"apiVersion", "kind", "metadata"} and not (leaves and isinstance(value, dict | list)):
            yield values, key
        yield from _spots(value, leaves=leaves)


def _misspelt(made: Object, rng: Random) -> Object:
    """Return the object with a key misspelt."""
    spots = [(parent, key) for parent, key in _spots(made, leaves=False) if isinstance(key, str)]
    parent, key = rng.choice([(parent, key) for parent, key in spots if key not in _RESOURCES])
    place = rng.randrange(len(key))
    shorter, longer = key[:place] + key[place + 1 :], key[:place] + key[place] + key[place:]
    wrong = rng.choice((shorter, longer, f"{key.lower()}s"))
    parent[wrong] = parent.pop(key)
    return made


def _wrong_type(made: Object, rng: Random) -> Object:
    """Return the object with a value of another type."""
    parent, key = rng.choice(list(_spots(made, leaves=rng.random() < 0.8)))
    values: Sequence[object] = ("text", 7, True, 1.5, {}, [])
    parent[key] = rng.choice([value for value in values if type(value) is not type(parent[key])])
    return made


_FAULTS: Mapping[str, Callable[[Object, Random], Object]] = {"misspelt": _misspelt, "wrong type": _wrong_type}


def wrong(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Yield so many manifests about which both sides differ."""
    broken = list(manifests(count, seed=seed))
    with control_plane(Options(scheduler=False, controllers=())) as plane:
        for each in outcomes(broken, plane.client().kubectl):
            about = each.broken
            seen.update((about.fault, *[f"{about.fault} that the API server refuses"] * each.theirs))
            if bool(each.ours) != each.theirs:
                made = yaml.safe_dump(about.made, default_flow_style=True, width=10_000).strip()
                yield f"{about.number} {about.fault} {about.kind}: ours {each.ours or 'takes it'}\n{made}"

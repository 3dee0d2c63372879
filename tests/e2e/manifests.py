"""Kubernetes objects as the API server takes them, with only what a test is about left to say."""

from collections.abc import Mapping, Sequence

from tests.controlplane.api import Object

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"

_ROOM = {"cpu": "16", "memory": "64Gi", "pods": "250"}


def node(
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Object] = (),
    unschedulable: bool = False,
    room: Mapping[str, str] | None = None,
) -> Object:
    """Return a Node that is ready, labelled with its hostname; ``room`` adds to or replaces what it can hold."""
    spec: Object = {"taints": [*taints], "unschedulable": unschedulable}
    allocatable = {**_ROOM, **(room or {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, **(labels or {})}},
        "spec": spec,
        "status": {
            "capacity": allocatable,
            "allocatable": allocatable,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(namespace: str, name: str, *, labels: Mapping[str, str] | None = None, spec: Object | None = None) -> Object:
    """Return a Pod of one container that requests nothing; ``spec`` adds to its spec."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": namespace, "name": name, "labels": dict(labels or {})},
        "spec": {**pod_spec(), **(spec or {})},
    }


def pod_spec(**container: object) -> Object:
    """Return the spec of a Pod of one container, such as ``resources`` or ``ports`` added to the container."""
    return {
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "main", "image": "registry.example/main:1", **container}],
    }


def constraint(key: str, *, selector: Object | None, **fields: object) -> Object:
    """Return a topology spread constraint, DoNotSchedule with maxSkew 1 unless ``fields`` say otherwise."""
    common = {"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", **fields}
    return common if selector is None else {**common, "labelSelector": selector}


def match(**labels: str) -> Object:
    """Return a label selector of matchLabels."""
    return {"matchLabels": labels}

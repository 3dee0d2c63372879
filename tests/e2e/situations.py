"""A fixed set of Nodes, and many Pods on them that the scheduler binds or refuses, each in a namespace of its own.

Nothing a Pod does reaches another namespace: what it requests is more than any Node has or drowns in the room there is,
each extended resource and host port belongs to one situation, and no affinity looks past its namespace. So it does not
matter in which order the scheduler takes them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from tests.controlplane.api import Object
from tests.e2e.manifests import ZONE, node, pod, pod_spec

NAME = "asked"  # The Pod of a situation; the situation's name is that of its namespace

FOLDER = Path(__file__).parent / "agreement"
SCHEDULER_CONFIG = FOLDER / "scheduler-config.yaml"  # The profiles that the Pods of the situations name

RACK = "example.com/rack"
DISK = "disktype"

_ENDLESS = {"cpu": "10000", "memory": "10Ti", "pods": "1000"}
_WEB = {"app": "web"}
_CLUSTER_WIDE = {"PersistentVolume", "PriorityClass"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Situation:
    """One Pod without a Node, and what surrounds it."""

    name: str
    asked: Object
    objects: tuple[Object, ...]  # Services, claims and volumes, made before the Pods
    beside: tuple[Object, ...]  # Pods on Nodes; the next two hold those of them that are not running
    terminating: tuple[Object, ...]
    finished: tuple[Object, ...]


@cache
def nodes() -> Sequence[Object]:
    """Return the Nodes of nodes.yaml."""
    described: Sequence[Object] = yaml.safe_load((FOLDER / "nodes.yaml").read_text())
    return [_node(**description) for description in described]


def named_situations() -> Sequence[Situation]:
    """Return the situations of situations.yaml."""
    described: Mapping[str, Object] = yaml.safe_load((FOLDER / "situations.yaml").read_text())
    return [situation(name, **description) for name, description in described.items() if not name.startswith(".")]


def situation(
    name: str,
    *,
    spec: Object | None = None,
    container: Object | None = None,
    labels: Mapping[str, str] = _WEB,
    beside: Sequence[Object] = (),
    objects: Sequence[Object] = (),
) -> Situation:
    """Return a situation from its description, which situations.yaml explains."""
    groups = [_beside(name, number=number, **group) for number, group in enumerate(beside)]
    return Situation(
        name=name,
        asked=pod(name, NAME, labels=labels, spec={**pod_spec(**(container or {})), **(spec or {})}),
        objects=tuple(_in_namespace(name, made) for made in objects),
        beside=_flat(pods for _, pods in groups),
        terminating=_flat(pods for state, pods in groups if state == "Terminating"),
        finished=_flat(pods for state, pods in groups if state == "Succeeded"),
    )


def _beside(
    situation_name: str,
    *,
    number: int,
    nodes: Sequence[str],
    labels: Mapping[str, str] = _WEB,
    state: str = "Running",
    namespace: str | None = None,
    spec: Object | None = None,
    container: Object | None = None,
) -> tuple[str, Sequence[Object]]:
    """Return the state of a group of Pods, and one of them for each Node named."""
    common = {**pod_spec(**(container or {})), **(spec or {})}
    pods = [
        pod(namespace or situation_name, f"p{number}-{index}", labels=labels, spec={**common, "nodeName": node_name})
        for index, node_name in enumerate(nodes)
    ]
    return state, pods


def _node(
    *,
    name: str,
    disk: str,
    zone: str | None = None,
    rack: str | None = None,
    taints: Sequence[Object] = (),
    unschedulable: bool = False,
    room: Mapping[str, int] | None = None,
) -> Object:
    """Return a Node with the labels that are given, and with room without end but for what is given."""
    labels = {key: value for key, value in {ZONE: zone, RACK: rack, DISK: disk}.items() if value}
    allocatable = {**_ENDLESS, **{resource: str(amount) for resource, amount in (room or {}).items()}}
    return node(name, labels=labels, taints=taints, unschedulable=unschedulable, room=allocatable)


def _in_namespace(namespace: str, described: Object) -> Object:
    """Return an object in the namespace, where its kind has one."""
    if described["kind"] in _CLUSTER_WIDE:
        return described
    return {**described, "metadata": {**described["metadata"], "namespace": namespace}}


def _flat(groups: Iterable[Sequence[Object]]) -> tuple[Object, ...]:
    """Return the Pods of all groups."""
    return tuple(made for group in groups for made in group)

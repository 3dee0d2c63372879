"""Which node group of cluster-autoscaler a node belongs to. A node belongs to one group.

The signs, from the surest to the least: the provider's ID or Cluster API's owner names the group, a label has its name,
or the group's name is made from that of the node's pool. The pool's name may be found in the names of other groups
(``web`` in ``eks-web-spot-1c9f``): the one that adds least to it is meant.

Source: cluster-autoscaler cloudprovider NodeGroupForNode of aws, azure (azure_scale_set.go), gce (gce_reference.go),
clusterapi (clusterapi_controller.go), 1.30 to 1.34.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import msgspec

from kubectl_spread.objects import autoscaling
from kubectl_spread.objects.core import Node
from kubectl_spread.objects.well_known_labels import ZONE, names_pool
from kubectl_spread.snapshot import Snapshot

OWNER_KIND = "cluster.x-k8s.io/owner-kind"
OWNER_NAME = "cluster.x-k8s.io/owner-name"
_ZONES = re.compile(r"/zones/([^/]+)/")
# How the name of a managed instance group of GKE ends; its instances are named by what is before it.
_MANAGED_GROUP = "-grp"


class NodeGroups(msgspec.Struct, frozen=True):
    """The nodes of each group, as far as they can be told."""

    names: Sequence[str]  # of the groups
    nodes: Mapping[str, Sequence[Node]]  # group → its nodes
    unclear: frozenset[str]  # groups that a node fits as well as another group: which nodes are theirs is not known


def node_groups(names: Sequence[str], snapshot: Snapshot) -> NodeGroups:
    """Return which nodes belong to the groups of these names; made once for a snapshot."""
    made: NodeGroups | None = vars(snapshot).get("node_groups")
    if made is None or made.names != names:
        made = vars(snapshot)["node_groups"] = _told_apart(names, snapshot)
    return made


def _told_apart(names: Sequence[str], snapshot: Snapshot) -> NodeGroups:
    zones = {node.metadata.labels[ZONE] for node in snapshot.nodes.values() if ZONE in node.metadata.labels}
    owners = {each.metadata.name: each.metadata.controller_key[2] for each in snapshot.all(autoscaling.MachineSet)}
    nodes: dict[str, list[Node]] = defaultdict(list)
    unclear: set[str] = set()
    for node in snapshot.nodes.values():
        best = groups_of_node(node, names, zones=frozenset(zones), owners=owners)
        for name in best:
            nodes[name].append(node)
        if len(best) > 1:
            unclear.update(best)
    return NodeGroups(names=names, nodes=nodes, unclear=frozenset(unclear))


def groups_of_node(
    node: Node, names: Iterable[str], *, zones: frozenset[str] = frozenset(), owners: Mapping[str, str] | None = None
) -> Sequence[str]:
    """Return the groups to which the node belongs by the surest sign: several where it fits them equally.

    Args:
        node: any.
        names: of the groups.
        zones: all zones of the cluster; a group with one of them in its name has nodes there alone.
        owners: MachineSet → its MachineDeployment.
    """
    surest: list[str] = []
    least = None
    for name in names:
        distance = _distance(node, name, zones, owners or {})
        if distance is None or (least is not None and distance > least):
            continue
        surest = [*surest, name] if distance == least else [name]
        least = distance
    return surest


def _distance(node: Node, group: str, zones: frozenset[str], owners: Mapping[str, str]) -> int | None:
    """Return how far the node is from the group: 0 if it names the group itself, None if it is of another."""
    labels = node.metadata.labels
    if _names(node, group, owners) or group in labels.values():
        return 0
    pools = {value for key, value in labels.items() if value and names_pool(key)}
    fitting = (_beside_pool(group, pool) for pool in pools)
    left = min((each for each in fitting if each is not None), key=lambda each: len(_words(each)), default=None)
    if left is None:
        return None
    zone = _zone_of(left, zones)
    return None if zone and labels.get(ZONE, zone) != zone else 1 + len(_words(left))


def _names(node: Node, group: str, owners: Mapping[str, str]) -> bool:
    """Whether the provider's ID or Cluster API's owner of the node names the group."""
    own = group.rpartition("/")[2]
    parts = node.spec.provider_id.casefold().split("/")
    if own.casefold() in parts[3:]:
        return True
    if own.endswith(_MANAGED_GROUP) and parts[-1].startswith(own.removesuffix(_MANAGED_GROUP) + "-"):
        return True
    owner = node.metadata.annotations.get(OWNER_NAME, "")
    if not owner or node.metadata.annotations.get(OWNER_KIND) != "MachineSet":
        return False
    return own in {owner, owners.get(owner) or owner.rpartition("-")[0]}


@cache
def _beside_pool(group: str, pool: str) -> str | None:
    """Return what the group's name has beside that of the pool, such as ``eks--1c9f``; None if it lacks that."""
    found = re.search(rf"(?:^|[/-])({re.escape(pool)})(?:-|$)", group)
    return group[: found.start(1)] + group[found.end(1) :] if found else None


def _words(name: str) -> list[str]:
    return [word for word in re.split("[/-]", name) if word]


@cache
def _zone_of(name: str, zones: frozenset[str]) -> str:
    """Return the zone in the name; empty for none."""
    path = _ZONES.search(name)
    if path is not None:
        return path[1]
    said = (zone for zone in zones if re.search(rf"(?:^|[/-]){re.escape(zone)}(?:[/-]|$)", name))
    return max(said, key=len, default="")

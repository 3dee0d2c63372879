"""Nodes: where they stand, what they are called, what they keep away and what they hold."""

from tests.conformance.ingredients.draft import HOSTNAME, RACK, REGION, ZONE, Draft, Object

_ZONES = ("zone-a", "zone-b", "zone-c", "zone-d")
_RACKS = ("rack-1", "rack-2", "rack-3", "rack-4", "rack-5")
_SIZES = {1: 0.5, 2: 1, 3: 4, 4: 4, 5: 4, 6: 4, 8: 3, 10: 2, 12: 1, 40: 0.1}
_TAINTS = (
    ("dedicated", "db"),
    ("dedicated", "gpu"),
    ("maintenance", "true"),
    ("level", "3"),
    ("level", "abc"),
    ("empty", ""),
    ("node.kubernetes.io/not-ready", ""),
)
_EFFECTS = {"NoSchedule": 3, "PreferNoSchedule": 2, "NoExecute": 1}
_CPU = ("2", "4", "4", "8", "1900m", "3.5", "64", "3920000u")
_MEMORY = ("4Gi", "8Gi", "8Gi", "16e9", "3.5Gi", "256Gi", "2147483648")
_PODS = ("110", "110", "110", "4", "2")
_SCARCE = {"example.com/gpu": ("0", "1", "2", "8"), "hugepages-2Mi": ("64Mi", "128Mi"), "ephemeral-storage": ("2Gi",)}
_IMAGES = ("registry/web:v1", "registry/db:v1", "registry/cache:latest", "registry/side@sha256:0a1b")
_MEBIBYTE = 1024 * 1024


def cluster(draft: Draft) -> None:
    """Add the nodes, in as many zones and racks as this cluster has."""
    dice = draft.dice
    zones = _ZONES[: dice.choice((1, 2, 3, 3, 4))]
    racks = _RACKS[: dice.randint(1, len(_RACKS))]
    missing = dice.choice((0, 0, 0, 0, 0.2))
    for i in range(dice.weighted(_SIZES)):
        places = {ZONE: dice.choice(zones), RACK: dice.choice(racks), HOSTNAME: f"node-{i}", REGION: "region-1"}
        labels = {key: value for key, value in places.items() if not dice.chance(missing)}
        draft.nodes.append(_node(f"node-{i}", labels))


def _node(name: str, labels: dict[str, str]) -> Object:
    """Return a node that takes anything."""
    room = {"cpu": "64", "memory": "256Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": name, "labels": labels},
        "spec": {},
        "status": {"allocatable": room, "capacity": dict(room)},
    }


def odd_labels(draft: Draft, node: Object) -> None:
    """Let the hostname differ from the name, or a label be there with an empty value."""
    labels = node["metadata"]["labels"]
    labels.update(draft.dice.choice(({HOSTNAME: "host.example.com"}, {RACK: ""}, {ZONE: ""}, {HOSTNAME: "node-0"})))


def hardware_labels(draft: Draft, node: Object) -> None:
    """Label what node affinity asks for: a disk, and a number that need not be one."""
    node["metadata"]["labels"]["disk"] = draft.dice.choice(("ssd", "ssd", "hdd", ""))
    if draft.dice.chance(0.8):
        node["metadata"]["labels"]["gen"] = draft.dice.choice(("1", "3", "7", "007", "1.5", "abc", ""))


def taints(draft: Draft, node: Object) -> None:
    """Taint the node once or twice, with every effect; a key and effect stand there only once."""
    chosen: dict[tuple[str, str], Object] = {}
    for key, value in draft.dice.some(_TAINTS, least=1, most=2):
        effect = draft.dice.weighted(_EFFECTS)
        chosen[key, effect] = {"key": key, "effect": effect, **({"value": value} if value else {})}
    node["spec"].setdefault("taints", []).extend(chosen.values())


def cordon(draft: Draft, node: Object) -> None:
    """Cordon the node; the taint follows a moment later."""
    node["spec"]["unschedulable"] = True
    if draft.dice.chance(0.7):
        taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
        node["spec"].setdefault("taints", []).append(taint)


def small(draft: Draft, node: Object) -> None:
    """Let the node hold only so much, in any way a quantity can be written."""
    dice = draft.dice
    room = node["status"]["allocatable"]
    room.update(cpu=dice.choice(_CPU), memory=dice.choice(_MEMORY), pods=dice.choice(_PODS))


def scarce_resources(draft: Draft, node: Object) -> None:
    """Give the node devices, huge pages, or little disk."""
    for resource in draft.dice.some(list(_SCARCE), least=1):
        node["status"]["allocatable"][resource] = draft.dice.choice(_SCARCE[resource])


def just_added(_draft: Draft, node: Object) -> None:
    """Let the kubelet not have said yet what the node has."""
    node["status"] = {}


def images(draft: Draft, node: Object) -> None:
    """Let the node hold images, of one size everywhere."""
    held = draft.dice.some(_IMAGES, least=1)
    node["status"]["images"] = [
        {"names": [name], "sizeBytes": (5 + 300 * _IMAGES.index(name)) * _MEBIBYTE} for name in held
    ]

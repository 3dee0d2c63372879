"""Pods that ask for several things at once: volumes, ports, neighbours, images, drawn by a fixed seed.

As in `situations`, nothing a Pod does reaches another one: each has a namespace, a port and a StorageClass of its own.
On every Node so much is requested from the start that what the Pods add changes no score.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from tests.controlplane.api import Object
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, node, pod, pod_spec
from tests.e2e.situations import NAME, RACK

PROMISED = "promised"  # A Pod that was promised room on a Node and will never get it: its nodeSelector suits no Node
URGENT = "urgent"
LOW = "low"
PRIORITY_CLASSES: Sequence[Object] = [
    {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        "preemptionPolicy": "Never",
    }
    for name, value in ((URGENT, 1000), (LOW, -10))
]
"""None of them preempts, so what is on the Nodes stays there."""

_SEED = "mixed requirements"
_ENDLESS = {"cpu": "10000", "memory": "10Ti", "pods": "2000"}
_BALLAST = {"cpu": "30", "memory": "40Gi"}
_IMAGES = {"registry.example/big:1": 900_000_000, "registry.example/small:1": 120_000_000}
_PLACES: Mapping[str, tuple[str | None, str | None]] = {
    "m1": ("a", "r1"),
    "m2": ("a", "r2"),
    "m3": ("b", "r3"),
    "m4": ("b", "r3"),
    "m5": ("c", "r4"),
    "m6": ("c", None),
    "m7": (None, "r5"),
}
"""Node → its zone and rack."""
_KEYS = (ZONE, ZONE, HOSTNAME, HOSTNAME, RACK)
_WEB = {"app": "web"}


@dataclass(slots=True)
class Mixed:
    """A Pod in the making, and what is made before it."""

    number: int  # which; it decides everything
    rng: Random
    asked: Object  # the Pod
    objects: list[Object] = field(default_factory=list)  # claims, volumes and classes
    beside: list[Object] = field(default_factory=list)  # Pods on Nodes, and the promised one
    promised: str | None = None  # the Node that one waits for

    @property
    def name(self) -> str:
        """The situation, and its namespace."""
        return f"mixed-{self.number}"

    @property
    def port(self) -> int:
        """The host port that is nobody else's."""
        return 20000 + self.number

    def some_nodes(self, *, most: int) -> list[str]:
        """Return some of the Nodes."""
        return self.rng.sample(sorted(_PLACES), k=self.rng.randint(1, most))


def mixed_nodes() -> list[Object]:
    """Return Nodes in three zones, one with a taint, one cordoned; images are on two of them."""
    made = []
    for name, (zone, rack) in _PLACES.items():
        labels = {key: value for key, value in ((ZONE, zone), (RACK, rack)) if value}
        taints = [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}] if name == "m4" else []
        one = node(name, labels=labels, taints=taints, unschedulable=name == "m6", room=_ENDLESS)
        if name in {"m1", "m5"}:
            one["status"]["images"] = [{"names": [image], "sizeBytes": size} for image, size in _IMAGES.items()]
        made.append(one)
    return made


def ballast(namespace: str) -> list[Object]:
    """Return a Pod for each Node that requests a little of it."""
    spec = pod_spec(resources={"requests": _BALLAST})
    return [pod(namespace, f"on-{name}", spec={**spec, "nodeName": name}) for name in _PLACES]


def mixed_situations(count: int) -> list[Mixed]:
    """Return the first situations of an endless fixed series."""
    return [_situation(number) for number in range(count)]


def _situation(number: int) -> Mixed:
    """Return a situation that depends on its number alone."""
    rng = Random(f"{_SEED} {number}")  # noqa: S311 - drawn to test with, not to keep a secret
    mixed = Mixed(number=number, rng=rng, asked={})
    mixed.asked = pod(mixed.name, NAME, labels=_WEB)
    if rng.random() < 0.5:
        mixed.beside += _neighbours(mixed, mixed.some_nodes(most=4))
    for require in dict.fromkeys(rng.sample(_REQUIREMENTS, k=rng.choice((2, 3, 3, 4)))):
        require(mixed)
    return mixed


def _neighbours(mixed: Mixed, nodes: Sequence[str], **spec: object) -> list[Object]:
    """Return a Pod of the same application on each of the Nodes."""
    first = len(mixed.beside)
    return [
        pod(mixed.name, f"p{first + index}", labels=_WEB, spec={**pod_spec(), **spec, "nodeName": name})
        for index, name in enumerate(nodes)
    ]


def _spread(mixed: Mixed) -> None:
    """Spread over one or two keys."""
    keys = dict.fromkeys(mixed.rng.sample(_KEYS, k=2))
    mixed.asked["spec"]["topologySpreadConstraints"] = [
        constraint(key, selector=match(**_WEB), nodeTaintsPolicy=mixed.rng.choice(("Honor", "Ignore"))) for key in keys
    ]
    mixed.beside += _neighbours(mixed, mixed.some_nodes(most=3))


def _host_port(mixed: Mixed) -> None:
    """Take a port that other Pods have on some Nodes, perhaps on another address or by another protocol."""
    rng = mixed.rng
    mixed.asked["spec"]["containers"][0]["ports"] = [_port(mixed.port, rng)]
    containers = pod_spec(ports=[_port(mixed.port, rng)])["containers"]
    mixed.beside += _neighbours(mixed, mixed.some_nodes(most=5), containers=containers)


def _port(number: int, rng: Random) -> Object:
    """Return a port of the Node."""
    address = rng.choice((None, None, "127.0.0.1", "10.0.0.1"))
    port: Object = {"containerPort": number, "hostPort": number, "protocol": rng.choice(("TCP", "TCP", "TCP", "UDP"))}
    return {**port, "hostIP": address} if address else port


def _pod_affinity(mixed: Mixed) -> None:
    """Want to be near others of the application."""
    mixed.asked["spec"].setdefault("affinity", {})["podAffinity"] = _required(mixed.rng)


def _pod_anti_affinity(mixed: Mixed) -> None:
    """Refuse to be near others of the application."""
    mixed.asked["spec"].setdefault("affinity", {})["podAntiAffinity"] = _required(mixed.rng)
    mixed.beside += _neighbours(mixed, mixed.some_nodes(most=3))


def _refused_by_others(mixed: Mixed) -> None:
    """Find others of the application that refuse company."""
    mixed.beside += _neighbours(mixed, mixed.some_nodes(most=3), affinity={"podAntiAffinity": _required(mixed.rng)})


def _required(rng: Random) -> Object:
    """Return a required term."""
    term = {"topologyKey": rng.choice(_KEYS), "labelSelector": match(**_WEB)}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def _local_volume(mixed: Mixed) -> None:
    """Mount a claim that waits for a Pod, with local volumes on some Nodes."""
    _volume_class(mixed)
    _claim(mixed, "data")
    for name in mixed.some_nodes(most=3):
        mixed.objects.append(_volume(mixed, name, size=mixed.rng.choice(("1Gi", "10Gi"))))


def _bound_claim(mixed: Mixed) -> None:
    """Mount a claim that has a local volume."""
    _volume_class(mixed)
    (name,) = mixed.some_nodes(most=1)
    volume = _volume(mixed, name, size="10Gi", suffix="-bound")
    volume["spec"]["claimRef"] = {"namespace": mixed.name, "name": "bound"}
    mixed.objects.append(volume)
    _claim(mixed, "bound", volume=volume["metadata"]["name"])


def _volume_class(mixed: Mixed) -> None:
    """Make the situation's own StorageClass, once."""
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": mixed.name},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    if storage_class not in mixed.objects:
        mixed.objects.append(storage_class)


def _claim(mixed: Mixed, name: str, *, volume: str | None = None) -> None:
    """Make a claim and mount it."""
    spec: Object = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": mixed.name,
        "resources": {"requests": {"storage": "5Gi"}},
    }
    mixed.objects.append(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"namespace": mixed.name, "name": name},
            "spec": {**spec, "volumeName": volume} if volume else spec,
        }
    )
    volumes = mixed.asked["spec"].setdefault("volumes", [])
    volumes.append({"name": name, "persistentVolumeClaim": {"claimName": name}})


def _volume(mixed: Mixed, node_name: str, *, size: str, suffix: str = "") -> Object:
    """Return a local volume on the Node."""
    expression = {"key": HOSTNAME, "operator": "In", "values": [node_name]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{mixed.name}-{node_name}{suffix}"},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": mixed.name,
            "persistentVolumeReclaimPolicy": "Retain",
            "local": {"path": "/data"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}},
        },
    }


def _image(mixed: Mixed) -> None:
    """Run an image that some Nodes have."""
    mixed.asked["spec"]["containers"][0]["image"] = mixed.rng.choice(sorted(_IMAGES))


def _tolerate(mixed: Mixed) -> None:
    """Tolerate the taint, or the cordon."""
    mixed.asked["spec"]["tolerations"] = [
        mixed.rng.choice(
            (
                {"key": "dedicated", "operator": "Exists"},
                {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"},
            )
        )
    ]


def _node_affinity(mixed: Mixed) -> None:
    """Want some zones only."""
    expression = {"key": ZONE, "operator": mixed.rng.choice(("In", "NotIn")), "values": ["b", "c"]}
    affinity = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    }
    mixed.asked["spec"].setdefault("affinity", {})["nodeAffinity"] = affinity


def _promised(mixed: Mixed) -> None:
    """Meet a Pod that was promised room, which only those as urgent must leave it."""
    spec = {
        **pod_spec(ports=[{"containerPort": mixed.port, "hostPort": mixed.port}]),
        "nodeSelector": {"example.com/nowhere": "yes"},
        "priorityClassName": mixed.rng.choice((URGENT, LOW)),
        "affinity": {"podAntiAffinity": _required(mixed.rng)} if mixed.rng.random() < 0.5 else {},
    }
    mixed.beside.append(pod(mixed.name, PROMISED, labels=_WEB, spec=spec))
    (mixed.promised,) = mixed.some_nodes(most=1)


def _priority(mixed: Mixed) -> None:
    """Be more urgent than others, or less."""
    mixed.asked["spec"]["priorityClassName"] = mixed.rng.choice((URGENT, LOW))


_REQUIREMENTS: Sequence[Callable[[Mixed], None]] = (
    _spread,
    _spread,
    _host_port,
    _host_port,
    _pod_affinity,
    _pod_anti_affinity,
    _refused_by_others,
    _local_volume,
    _bound_claim,
    _image,
    _tolerate,
    _node_affinity,
    _promised,
    _promised,
    _priority,
)

"""What the large cluster consists of: its Nodes, the apps of its teams, and the Pods of those.

Names have a fixed width: of objects that are alike the first is made through the API server, and the others are copies
of its stored bytes in which a name takes the place of one as long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle

from tests.controlplane.api import Object
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match

ZONES = 3
RACK = "example.com/rack"
RACK_NODES = 50
POOL = "example.com/pool"
TEAM = "app.kubernetes.io/part-of"
TAINT = {"key": "dedicated", "value": "batch", "effect": "NoSchedule"}
_CORDONED = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
NODE_CPU = 16
CONTAINERS = ("main", "proxy")
APPS_OF_TEAM = 12
_SHARES = (0.2, 0.6, 1.0, 1.4, 1.8, 1.0)
"""Of the mean: how many Pods one app after another has."""
_UNEVEN_APP, _UNEVEN_PODS = 25, 6
"""Of so many apps one has so many Pods in one zone before the others get theirs."""
_VARIABLES = 10
_IMAGES = 25
_WHEN = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
_MOUNTED = "/var/run/secrets/kubernetes.io/serviceaccount"


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """How large the cluster is."""

    nodes: int = 5_000
    apps: int = 500
    pods: int = 50_000


@dataclass(frozen=True, slots=True)
class NodePlace:
    """One Node of the cluster, known by its number: one in 20 is tainted, one in 100 cordoned."""

    number: int

    @property
    def name(self) -> str:
        """The Node's name."""
        return f"node-{self.number:05}"

    @property
    def zone(self) -> str:
        """The zone it is in."""
        return f"zone-{self.number % ZONES}"

    @property
    def rack(self) -> str:
        """The rack it is in; all Nodes of a rack are in one zone."""
        return f"rack-{self.number % ZONES + self.number // (ZONES * RACK_NODES) * ZONES:03}"

    @property
    def tainted(self) -> bool:
        """Whether it is kept for batch work."""
        return self.number % 20 == 7

    @property
    def cordoned(self) -> bool:
        """Whether somebody has cordoned it."""
        return self.number % 100 == 13

    @property
    def alike(self) -> tuple[str, bool, bool]:
        """What Nodes have in common that differ in names alone."""
        return self.zone, self.tainted, self.cordoned


@dataclass(frozen=True, slots=True)
class Marks:
    """What no other Pod of an app has, known by the Pod's number."""

    number: int

    @property
    def token_volume(self) -> str:
        """The volume that the ServiceAccount's token comes in."""
        return f"kube-api-access-{self.number:05}"

    @property
    def ip(self) -> str:
        """The Pod's address."""
        return f"10.64.{100 + self.number // 100}.{100 + self.number % 100}"

    @property
    def started(self) -> datetime:
        """When it was started."""
        return _WHEN + timedelta(seconds=self.number)

    def container_id(self, container: str) -> str:
        """Return the ID that the runtime gave a container."""
        return f"containerd://{container:x>32}{self.number:032x}"


@dataclass(frozen=True, slots=True)
class App:
    """A Deployment of a team, known by its number."""

    number: int
    pods: int

    @property
    def namespace(self) -> str:
        """The team's namespace."""
        return f"team-{self.number // APPS_OF_TEAM:02}"

    @property
    def name(self) -> str:
        """The name of its Deployment."""
        return f"app-{self.number:04}"

    @property
    def hash(self) -> str:
        """Its pod-template-hash."""
        return f"{self.number * 7919 + 1_000_000_007:010}"

    @property
    def labels(self) -> Object:
        """The labels of its Pods that its selector asks for."""
        return {"app.kubernetes.io/name": self.name, TEAM: self.namespace}

    @property
    def revision(self) -> str:
        """The name of its ReplicaSet."""
        return f"{self.name}-{self.hash}"

    def pod_name(self, number: int) -> str:
        """Return the name of one of its Pods."""
        return f"{self.revision}-{number:05}"


def node_places(size: Size) -> Sequence[NodePlace]:
    """Return all Nodes."""
    return [NodePlace(number) for number in range(size.nodes)]


def apps(size: Size) -> Sequence[App]:
    """Return all apps; the last has what is left."""
    mean = size.pods / size.apps
    pods = [round(mean * _SHARES[number % len(_SHARES)]) for number in range(size.apps - 1)]
    return [App(number, of_app) for number, of_app in enumerate([*pods, size.pods - sum(pods)])]


def placements(size: Size) -> Iterator[tuple[App, Sequence[NodePlace]]]:
    """Yield each app with the Nodes of its Pods: even over zones, Nodes of a zone in turn, none tainted or cordoned."""
    usable = [place for place in node_places(size) if not place.tainted and not place.cordoned]
    in_turn = [cycle([place for place in usable if place.number % ZONES == zone]) for zone in range(ZONES)]
    for app in apps(size):
        crowded = _UNEVEN_PODS if app.number % _UNEVEN_APP == _UNEVEN_APP - 1 else 0
        zones = [0 if number < crowded else (app.number + number) % ZONES for number in range(app.pods)]
        yield app, [next(in_turn[zone]) for zone in zones]


def node(place: NodePlace) -> Object:
    """Return a Node as its kubelet and a cloud describe it."""
    taints = [TAINT] * place.tainted + [_CORDONED] * place.cordoned
    room = {"cpu": str(NODE_CPU), "memory": "64Gi", "ephemeral-storage": "200Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": place.name, "labels": _node_labels(place), "annotations": {"csi.example/id": place.name}},
        "spec": {
            "taints": taints,
            "unschedulable": place.cordoned,
            "providerID": f"example:///{place.zone}/{place.name}",
        },
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": [_condition(kind) for kind in ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")],
            "addresses": [{"type": "Hostname", "address": place.name}],
            "images": [_image(number) for number in range(_IMAGES)],
            "nodeInfo": _NODE_INFO,
        },
    }


def _node_labels(place: NodePlace) -> Object:
    """Return the labels of a Node."""
    return {
        HOSTNAME: place.name,
        ZONE: place.zone,
        RACK: place.rack,
        POOL: "batch" if place.tainted else "general",
        "topology.kubernetes.io/region": "region-1",
        "node.kubernetes.io/instance-type": "general-16",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
    }


def _condition(kind: str) -> Object:
    """Return a condition of a Node that is well."""
    status, reason = ("True", "KubeletReady") if kind == "Ready" else ("False", f"KubeletHasNo{kind}")
    times = {"lastHeartbeatTime": _written(_WHEN), "lastTransitionTime": _written(_WHEN)}
    return {"type": kind, "status": status, "reason": reason, "message": f"kubelet reports {reason}", **times}


def _image(number: int) -> Object:
    """Return an image that a Node has."""
    name = f"registry.example/platform/image-{number:04}"
    return {"names": [f"{name}@sha256:{number:064x}", f"{name}:1.{number}.0"], "sizeBytes": 50_000_000 + number}


_NODE_INFO = {
    "architecture": "amd64",
    "bootID": "0b3c8a1e-5d57-4b7c-9a55-3e0f6f6d7a10",
    "containerRuntimeVersion": "containerd://2.1.4",
    "kernelVersion": "6.12.0-generic",
    "kubeProxyVersion": "",
    "kubeletVersion": "v1.36.2",
    "machineID": "ec2f4d8f1f3b4f0cbf1b5c9a8f0e7d61",
    "operatingSystem": "linux",
    "osImage": "Linux 24.04 LTS",
    "systemUUID": "ec2f4d8f-1f3b-4f0c-bf1b-5c9a8f0e7d61",
}


def deployment(app: App) -> Object:
    """Return the Deployment of an app, its rollout long over."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {**_owned(app), "name": app.name, "annotations": {"deployment.kubernetes.io/revision": "1"}},
        "spec": {"replicas": app.pods, "selector": match(**app.labels), "template": template(app)},
        "status": _status(app) | {"updatedReplicas": app.pods},
    }


def replica_set(app: App, *, owner: str) -> Object:
    """Return the one ReplicaSet of an app, whose Deployment has the given UID."""
    labels = {**app.labels, "pod-template-hash": app.hash}
    made = template(app)
    reference = _reference("Deployment", app.name, owner)
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            **_owned(app),
            "name": app.revision,
            "labels": labels,
            "annotations": {"deployment.kubernetes.io/revision": "1"},
            "ownerReferences": [reference],
        },
        "spec": {
            "replicas": app.pods,
            "selector": match(**labels),
            "template": {**made, "metadata": {**made["metadata"], "labels": labels}},
        },
        "status": _status(app) | {"fullyLabeledReplicas": app.pods},
    }


def pod(app: App, place: NodePlace, *, owner: str) -> Object:
    """Return the first Pod of an app on its Node; the ReplicaSet has the given UID."""
    made = template(app)
    marks = Marks(0)
    metadata = {
        **made["metadata"],
        **_owned(app),
        "name": app.pod_name(0),
        "generateName": f"{app.revision}-",
        "labels": {**app.labels, "pod-template-hash": app.hash},
        "ownerReferences": [_reference("ReplicaSet", app.revision, owner)],
    }
    spec = {**_with_token(made["spec"], marks), "nodeName": place.name}
    status = _pod_status(spec, marks)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def _with_token(spec: Object, marks: Marks) -> Object:
    """Return a spec into which the API server has written where the ServiceAccount's token is."""
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    ]
    volume = {"name": marks.token_volume, "projected": {"sources": sources}}
    mount = {"name": marks.token_volume, "mountPath": _MOUNTED, "readOnly": True}
    containers = [{**each, "volumeMounts": [*each["volumeMounts"], mount]} for each in spec["containers"]]
    return {**spec, "serviceAccountName": "default", "containers": containers, "volumes": [*spec["volumes"], volume]}


def template(app: App) -> Object:
    """Return the Pod template of an app: even over zones by force, over hosts and (every third app) racks by wish."""
    selector = match(**app.labels)
    wishes = (HOSTNAME, RACK) if app.number % 3 == 2 else (HOSTNAME,)
    soft = [constraint(key, selector=selector, whenUnsatisfiable="ScheduleAnyway") for key in wishes]
    return {
        "metadata": {"labels": app.labels, "annotations": {"checksum/config": f"{app.number:064x}"}},
        "spec": {
            "containers": [
                _container(name, app, cpu=cpu) for name, cpu in zip(CONTAINERS, ("800m", "50m"), strict=True)
            ],
            "volumes": [
                {"name": "config", "configMap": {"name": f"{app.name}-config"}},
                {"name": "scratch", "emptyDir": {}},
            ],
            "terminationGracePeriodSeconds": 30,
            "topologySpreadConstraints": [constraint(ZONE, selector=selector), *soft],
        },
    }


def _container(name: str, app: App, *, cpu: str) -> Object:
    """Return a container with the variables and probes that real ones have."""
    probe = {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 10, "failureThreshold": 3}
    return {
        "name": name,
        "image": f"registry.example/{app.namespace}/{app.name}-{name}:1.0.{app.number}",
        "env": [
            {"name": f"{name.upper()}_SETTING_{number:02}", "value": f"value-{number:02}-of-{app.name}-{'x' * 20}"}
            for number in range(_VARIABLES)
        ],
        "ports": [{"name": "http", "containerPort": 8080 if name == "main" else 9090}],
        "resources": {"requests": {"cpu": cpu, "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
        "livenessProbe": probe,
        "readinessProbe": probe,
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/app"},
            {"name": "scratch", "mountPath": "/var/scratch"},
        ],
        "securityContext": {"runAsNonRoot": True, "readOnlyRootFilesystem": True},
    }


def _owned(app: App) -> Object:
    """Return where the objects of an app are, and what marks them."""
    return {"namespace": app.namespace, "labels": app.labels}


def _reference(kind: str, name: str, uid: str) -> Object:
    """Return the reference to a controller."""
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid}
    return {**owner, "controller": True, "blockOwnerDeletion": True}


def _status(app: App) -> Object:
    """Return what the statuses of a Deployment and of a ReplicaSet have in common."""
    return {"replicas": app.pods, "readyReplicas": app.pods, "availableReplicas": app.pods, "observedGeneration": 1}


def _pod_status(spec: Object, marks: Marks) -> Object:
    """Return the status of a Pod that runs and is ready."""
    kinds = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    when = _written(marks.started)
    return {
        "phase": "Running",
        "qosClass": "Burstable",
        "startTime": when,
        "hostIP": "10.1.2.3",
        "hostIPs": [{"ip": "10.1.2.3"}],
        "podIP": marks.ip,
        "podIPs": [{"ip": marks.ip}],
        "conditions": [{"type": kind, "status": "True", "lastTransitionTime": when} for kind in kinds],
        "containerStatuses": [_container_status(container, marks) for container in spec["containers"]],
    }


def _container_status(container: Object, marks: Marks) -> Object:
    """Return the status of a container that runs."""
    image = container["image"]
    return {
        "name": container["name"],
        "image": image,
        "imageID": f"{image}@sha256:{7:064x}",
        "containerID": marks.container_id(container["name"]),
        "ready": True,
        "started": True,
        "restartCount": 0,
        "state": {"running": {"startedAt": _written(marks.started)}},
        "allocatedResources": container["resources"]["requests"],
        "resources": container["resources"],
    }


def _written(when: datetime) -> str:
    """Return a time as Kubernetes writes it."""
    return f"{when:%Y-%m-%dT%H:%M:%SZ}"

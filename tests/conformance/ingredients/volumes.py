"""Volumes: claims in every state, the volumes behind them, storage classes, drivers and how much a node can attach."""

from collections.abc import Callable

from tests.conformance.ingredients.draft import HOSTNAME, REGION, ZONE, Dice, Draft, Object

_DRIVER = "csi.example.com"
_CRASHES_SINCE = 37
_ZONES = ("zone-a", "zone-b", "zone-a__zone-b", "zone-c")
_CLASSES: tuple[Object, ...] = (
    {"metadata": {"name": "immediate"}, "provisioner": _DRIVER, "volumeBindingMode": "Immediate"},
    {"metadata": {"name": "late"}, "provisioner": _DRIVER, "volumeBindingMode": "WaitForFirstConsumer"},
    {
        "metadata": {"name": "late-zoned"},
        "provisioner": _DRIVER,
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": ["zone-a", "zone-c"]}]}],
    },
    {
        "metadata": {"name": "local"},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    },
)
_IN_TREE: tuple[Object, ...] = (
    {"awsElasticBlockStore": {"volumeID": "vol-1"}},
    {"gcePersistentDisk": {"pdName": "disk-1"}},
    {"gcePersistentDisk": {"pdName": "disk-1", "readOnly": True}},
    {"iscsi": {"targetPortal": "10.0.0.9", "iqn": "iqn.2001-04.com.example:disk", "lun": 0}},
    {"rbd": {"monitors": ["10.0.0.7"], "image": "image-1", "pool": "rbd"}},
    {"emptyDir": {}},
    {"configMap": {"name": "settings"}},
)


_SOURCES: tuple[tuple[float, Object], ...] = (
    (8, {"csi": {"driver": _DRIVER}}),
    (1, {"awsElasticBlockStore": {"volumeID": "aws://zone-a/vol-2"}}),
    (1, {"gcePersistentDisk": {"pdName": "disk-2"}}),
    (1, {"azureDisk": {"kind": "Managed", "diskName": "disk-3", "diskURI": "/subscriptions/1/disks/disk-3"}}),
    (1, {"nfs": {"server": "10.0.0.8", "path": "/data"}}),
)


def bound_claim(draft: Draft, pod: Object) -> None:
    """Mount a claim that has a volume, which only some nodes may reach."""
    name = _mount(draft, pod)
    claim = _claim(draft, name, pod=pod, class_name=draft.dice.choice(("immediate", "late", "local")))
    claim["spec"]["volumeName"] = f"pv-{name}"
    claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    claim["status"] = {"phase": "Bound"}
    if draft.dice.chance(0.95):
        volume = _volume(draft, f"pv-{name}", class_name=claim["spec"]["storageClassName"])
        volume["spec"]["claimRef"] = _reference(claim)
        volume["status"] = {"phase": "Bound"}
        draft.add_once(volume)


def unbound_claim(draft: Draft, pod: Object) -> None:
    """Mount a claim without a volume, and put some volumes there that might serve it."""
    name = _mount(draft, pod)
    class_name = draft.dice.weighted({"late": 4, "late-zoned": 3, "local": 4, "immediate": 1, "unknown": 0.5})
    claim = _claim(draft, name, pod=pod, class_name=class_name)
    claim["status"] = {"phase": "Pending"}
    draft.dice.weighted(_WISHES)(draft, claim)
    for i in range(draft.dice.choice((0, 1, 2, 3))):
        volume = _volume(draft, f"pv-{name}-{i}", class_name=class_name)
        volume["status"] = {"phase": "Available"}
        draft.dice.weighted(_CANDIDATES)(volume, claim)
        draft.add_once(volume)


def missing_claim(_draft: Draft, pod: Object) -> None:
    """Mount a claim that does not exist."""
    _add_volume(pod, {"persistentVolumeClaim": {"claimName": "claim-gone"}})


def ephemeral_claim(draft: Draft, pod: Object) -> None:
    """Mount a claim made for the Pod, which may not be there yet or belong to somebody else."""
    template = {"accessModes": ["ReadWriteOnce"], "storageClassName": "late", "resources": _size(draft.dice)}
    _add_volume(pod, {"ephemeral": {"volumeClaimTemplate": {"spec": template}}}, name="scratch")
    if draft.dice.chance(0.8):
        claim = _claim(draft, f"{pod['metadata']['name']}-scratch", pod=pod, class_name="late")
        uid = pod["metadata"]["uid"] if draft.dice.chance(0.9) else "somebody-else"
        owner = {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": uid, "controller": True}
        claim["metadata"]["ownerReferences"] = [owner]


def inline_volume(draft: Draft, pod: Object) -> None:
    """Mount a disk without a claim, which may be attached elsewhere already."""
    _add_volume(pod, dict(draft.dice.choice(_IN_TREE)))


def attachments(draft: Draft, _pod: Object) -> None:
    """Let volumes be attached to nodes, some of which no Pod uses any more."""
    for i, name in enumerate(draft.dice.some(draft.node_names(), least=1)):
        source = {"persistentVolumeName": f"pv-attached-{i}"}
        attachment = _storage("VolumeAttachment", f"attached-{i}")
        attachment["spec"] = {"attacher": _DRIVER, "nodeName": name, "source": source}
        attachment["status"] = {"attached": draft.dice.chance(0.8)}
        draft.add_once(attachment)
        volume = _volume(draft, f"pv-attached-{i}", class_name="late")
        volume["status"] = {"phase": "Released"}
        draft.add_once(volume)


def attach_limits(draft: Draft, _pod: Object) -> None:
    """Say how many volumes the nodes can attach, where the driver is installed."""
    for name in draft.node_names():
        if draft.dice.chance(0.8):
            driver: Object = {"name": _DRIVER, "nodeID": name, "topologyKeys": None}
            if draft.dice.chance(0.8):
                driver["allocatable"] = {"count": draft.dice.choice((0, 1, 2, 30))}
            drivers = [driver] if draft.dice.chance(0.9) else []
            if draft.dice.chance(0.3):
                drivers.append({"name": "ebs.csi.aws.com", "nodeID": name, "allocatable": {"count": 1}})
            draft.add_once(_storage("CSINode", name, spec={"drivers": drivers}))


def storage_capacity(draft: Draft, _pod: Object) -> None:
    """Let the driver publish how much room it has in each zone."""
    draft.add_once(_storage("CSIDriver", _DRIVER, spec={"attachRequired": True, "storageCapacity": True}))
    for i, zone in enumerate(draft.dice.some(("zone-a", "zone-b", "zone-c"), least=1)):
        capacity = _storage("CSIStorageCapacity", f"capacity-{i}")
        capacity["metadata"]["namespace"] = "default"
        capacity["nodeTopology"] = {"matchLabels": {ZONE: zone}}
        capacity["storageClassName"] = draft.dice.choice(("late", "late", "late-zoned"))
        capacity["capacity"] = draft.dice.choice(("1Gi", "10Gi", "100Gi"))
        draft.add_once(capacity)


def driver_required(draft: Draft, _pod: Object) -> None:
    """Keep Pods off nodes without the driver, which schedulers obey from 1.37 on."""
    spec = {"attachRequired": True, "preventPodSchedulingIfMissing": True}
    draft.add_once(_storage("CSIDriver", _DRIVER, spec=spec))


def _mount(draft: Draft, pod: Object) -> str:
    """Mount a claim and return its name; sometimes one that another Pod has too."""
    own = f"claim-{pod['metadata']['name']}-{len(pod['spec'].get('volumes', ()))}"
    name = own if draft.dice.chance(0.6) else f"shared-{draft.dice.randint(0, 1)}"
    _add_volume(pod, {"persistentVolumeClaim": {"claimName": name}})
    return name


def _add_volume(pod: Object, source: Object, *, name: str = "") -> None:
    """Add a volume to the Pod."""
    volumes = pod["spec"].setdefault("volumes", [])
    volumes.append({"name": name or f"volume-{len(volumes)}", **source})


def _claim(draft: Draft, name: str, *, pod: Object, class_name: str) -> Object:
    """Return a claim of the Pod's namespace, with its storage class; one that is there already stays as it is."""
    dice = draft.dice
    modes = dice.choice((["ReadWriteOnce"], ["ReadWriteOnce"], ["ReadOnlyMany"], ["ReadWriteOncePod"]))
    namespace = pod["metadata"]["namespace"]
    claim: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace, "uid": f"{namespace}-{name}"},
        "spec": {"accessModes": modes, "storageClassName": class_name, "resources": _size(dice)},
    }
    claim["spec"]["volumeMode"] = "Filesystem"
    draft.add_once(claim)
    for one in _CLASSES:
        draft.add_once({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "reclaimPolicy": "Delete", **one})
    return claim


def _volume(draft: Draft, name: str, *, class_name: str) -> Object:
    """Return a volume, which may be reached from everywhere, from some zones or from one node."""
    spec: Object = {
        "capacity": {"storage": draft.dice.choice(("1Gi", "5Gi", "20Gi"))},
        "accessModes": draft.dice.choice((["ReadWriteOnce", "ReadOnlyMany"], ["ReadWriteOncePod"])),
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": class_name,
        "volumeMode": "Filesystem" if draft.dice.chance(0.95) else "Block",
        **_source(draft.dice, name),
    }
    volume: Object = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name, "uid": name}}
    volume["spec"] = spec
    draft.dice.weighted(_REACHES)(draft, volume)
    return volume


def _source(dice: Dice, name: str) -> Object:
    """Return what is behind a volume: mostly the driver, sometimes one of the disks Kubernetes once knew by itself."""
    weights = [weight for weight, _ in _SOURCES]
    source = dict(dice.choices([source for _, source in _SOURCES], weights=weights)[0])
    return {"csi": {**source["csi"], "volumeHandle": name}} if "csi" in source else source


def _everywhere(_draft: Draft, _volume: Object) -> None:
    """Leave the volume to every node."""


def _labelled(draft: Draft, volume: Object) -> None:
    """Label the volume with its zones, the old way."""
    volume["metadata"]["labels"] = {ZONE: draft.dice.choice(_ZONES)}
    if draft.dice.chance(0.3):
        volume["metadata"]["labels"][REGION] = draft.dice.choice(("region-1", "region-2"))


def _zoned(draft: Draft, volume: Object) -> None:
    """Let the volume be reached from some zones."""
    zones = draft.dice.some(("zone-a", "zone-b", "zone-c"), least=1, most=2)
    volume["spec"]["nodeAffinity"] = _only(ZONE, zones)


def _local(draft: Draft, volume: Object) -> None:
    """Let the volume be reached from one node."""
    volume["spec"]["nodeAffinity"] = _only(HOSTNAME, [draft.dice.choice(draft.node_names())])


def _only(key: str, values: list[str]) -> Object:
    """Return a volume's node affinity."""
    expression = {"key": key, "operator": "In", "values": values}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}


def _no_wish(_draft: Draft, _claim: Object) -> None:
    """Take any volume."""


def _labelled_volume(_draft: Draft, claim: Object) -> None:
    """Take only a volume with a label."""
    claim["spec"]["selector"] = {"matchLabels": {"tier": "fast"}}


def _block_device(_draft: Draft, claim: Object) -> None:
    """Take only a block device."""
    claim["spec"]["volumeMode"] = "Block"


def _old_class(draft: Draft, claim: Object) -> None:
    """Name the class the way it was once named; 1.37 crashes on such claims where a driver publishes its capacity."""
    if draft.minor >= _CRASHES_SINCE:
        return
    name = claim["spec"].pop("storageClassName")
    claim["metadata"]["annotations"] = {"volume.beta.kubernetes.io/storage-class": name}


def _selected_node(draft: Draft, claim: Object) -> None:
    """Be promised to a node already."""
    chosen = draft.dice.choice(draft.node_names())
    claim["metadata"]["annotations"] = {"volume.kubernetes.io/selected-node": chosen}


_WISHES: dict[Callable[[Draft, Object], None], float] = {
    _no_wish: 12,
    _labelled_volume: 1,
    _block_device: 1,
    _old_class: 1,
    _selected_node: 1,
}


def _free(_volume: Object, _claim: Object) -> None:
    """Belong to nobody."""


def _promised(volume: Object, claim: Object) -> None:
    """Be meant for the claim, which does not say so."""
    volume["spec"]["claimRef"] = _reference(claim)


def _promised_away(volume: Object, _claim: Object) -> None:
    """Be meant for somebody else."""
    volume["spec"]["claimRef"] = {"kind": "PersistentVolumeClaim", "namespace": "third", "name": "theirs"}


def _fast(volume: Object, _claim: Object) -> None:
    """Have the label some claims look for."""
    volume["metadata"].setdefault("labels", {})["tier"] = "fast"


def _leaving(volume: Object, _claim: Object) -> None:
    """Be about to be deleted."""
    volume["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"


_CANDIDATES: dict[Callable[[Object, Object], None], float] = {
    _free: 12,
    _promised: 1,
    _promised_away: 1,
    _fast: 2,
    _leaving: 0.5,
}

_REACHES: dict[Callable[[Draft, Object], None], float] = {_everywhere: 3, _labelled: 2, _zoned: 2, _local: 2}


def _storage(kind: str, name: str, **fields: Object) -> Object:
    """Return an object of the storage API."""
    return {"apiVersion": "storage.k8s.io/v1", "kind": kind, "metadata": {"name": name}, **fields}


def _reference(claim: Object) -> Object:
    """Return what a volume says of the claim it belongs to."""
    identity = {key: claim["metadata"][key] for key in ("namespace", "name", "uid")}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **identity}


def _size(dice: Dice) -> Object:
    """Return how much a claim asks for."""
    return {"requests": {"storage": dice.choice(("1Gi", "4Gi", "10Gi"))}}

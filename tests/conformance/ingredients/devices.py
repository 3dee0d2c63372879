"""Devices of dynamic resource allocation: classes, slices, claims, and extended resources that stand for devices."""

from tests.conformance.ingredients.draft import Draft, Object

_API = "resource.k8s.io/v1"
_DRIVER = "gpu.example.com"
_RESOURCE = "example.com/gpu"
_CLASS_RESOURCE = "deviceclass.resource.kubernetes.io/gpu"
_GROUPS_SINCE = 36


def offers(draft: Draft, _pod: Object) -> None:
    """Let drivers offer devices, most of them on one node each, and classes name them; one class may be missing."""
    for name in ("gpu", "fast"):
        if draft.dice.chance(0.9):
            draft.add_once(_device_class(draft, name))
    for name in draft.node_names():
        if draft.dice.chance(0.6):
            draft.add_once(_slice(draft, f"on-{name}", {"nodeName": name}))
    if draft.dice.chance(0.15):
        draft.add_once(_slice(draft, "anywhere", {"allNodes": True}))
    if draft.dice.chance(0.15):
        reach = {"nodeSelector": _node_selector(draft.dice.choice(draft.node_names()))}
        draft.add_once(_slice(draft, "somewhere", reach))


def taken(draft: Draft, _pod: Object) -> None:
    """Let other claims have some of the devices."""
    slices = [each for each in draft.others if each["kind"] == "ResourceSlice"]
    for number, each in enumerate(draft.dice.some(slices, least=min(1, len(slices)))):
        devices = draft.dice.some(each["spec"]["devices"], least=1)
        results = [_result(each, device["name"]) for device in devices]
        draft.add_once(_claim(draft, f"taken-{number}", "gpu", allocation={"devices": {"results": results}}))


def claims(draft: Draft, pod: Object) -> None:
    """Let the Pod claim devices: those that another Pod has too, some that are free, or none that exist."""
    entries = pod["spec"].setdefault("resourceClaims", [])
    for number in range(draft.dice.choice((1, 1, 2))):
        name = f"claim-{number}"
        if draft.dice.chance(0.95):
            draft.add_once(_claim(draft, name, draft.dice.choice(("gpu", "fast")), allocation=_allocation(draft)))
        entries.append({"name": f"c{number}", "resourceClaimName": name})


def claim_of_its_own(draft: Draft, pod: Object) -> None:
    """Let the Pod have a claim that was made for it; rarely it is not made yet, belongs to another or is not needed."""
    entries = pod["spec"].setdefault("resourceClaims", [])
    entries.append({"name": "own", "resourceClaimTemplateName": "devices"})
    if draft.dice.chance(0.05):
        return
    status: Object = {"name": "own"}
    if draft.dice.chance(0.95):
        status["resourceClaimName"] = "own-x"
        made = _claim(draft, "own-x", draft.dice.choice(("gpu", "gpu", "fast")))
        owner = pod["metadata"]["name"] if draft.dice.chance(0.95) else "another"
        uid = f"{pod['metadata']['namespace']}/{owner}"
        pod["metadata"]["uid"] = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        made["metadata"]["ownerReferences"] = [
            {"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": uid, "controller": True}
        ]
        made["metadata"]["namespace"] = pod["metadata"]["namespace"]
        draft.add_once(made)
    pod.setdefault("status", {})["resourceClaimStatuses"] = [status]


def extended_resource(draft: Draft, pod: Object) -> None:
    """Let the Pod ask for devices by an extended resource, which some nodes' device plugins may offer too."""
    if draft.minor == _GROUPS_SINCE - 1:
        draft.gates["DRAExtendedResource"] = draft.dice.chance(0.7)
    name = draft.dice.weighted({_RESOURCE: 4, _CLASS_RESOURCE: 1})
    for node in draft.nodes:
        if name == _RESOURCE and draft.dice.chance(0.3):
            node["status"]["allocatable"][name] = draft.dice.choice(("0", "1", "2"))
    count = draft.dice.choice(("1", "1", "2", "3"))
    resources = pod["spec"]["containers"][0].setdefault("resources", {})
    for part in ("requests", "limits"):
        resources.setdefault(part, {})[name] = count


def scheduling_group(draft: Draft, pod: Object) -> None:
    """Let the Pod be scheduled with others: no filter minds that."""
    if draft.minor >= _GROUPS_SINCE:
        pod["spec"]["schedulingGroup"] = {"podGroupName": "train"}
    else:
        pod["spec"]["workloadRef"] = {"name": "training", "podGroup": "workers"}


def _device_class(draft: Draft, name: str) -> Object:
    """Return a class, whose devices an extended resource may stand for; the fast ones are few."""
    expression = f"device.driver == '{_DRIVER}'"
    if name == "fast":
        expression += f" && device.attributes['{_DRIVER}'].fast"
    spec: Object = {"selectors": [{"cel": {"expression": expression}}]}
    if name == "gpu" and draft.dice.chance(0.8):
        spec["extendedResourceName"] = _RESOURCE
    return {"apiVersion": _API, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def _slice(draft: Draft, name: str, reach: Object) -> Object:
    """Return a slice of some devices that nodes reach; rarely the pool lacks another slice."""
    devices = [
        {"name": f"d{n}", "attributes": {"fast": {"bool": draft.dice.chance(0.4)}}}
        for n in range(draft.dice.choice((0, 1, 1, 2, 4)))
    ]
    pool = {"name": name, "generation": 1, "resourceSliceCount": 2 if draft.dice.chance(0.03) else 1}
    spec = {"driver": _DRIVER, "pool": pool, "devices": devices, **reach}
    return {"apiVersion": _API, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}


def _claim(draft: Draft, name: str, device_class: str, *, allocation: Object | None = None) -> Object:
    """Return a claim."""
    metadata: Object = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    if draft.dice.chance(0.02):
        metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/waits"]}
    status = {"allocation": allocation} if allocation else {}
    requests = [] if draft.dice.chance(0.04) else [_request(draft, device_class)]
    spec = {"devices": {"requests": requests}}
    return {"apiVersion": _API, "kind": "ResourceClaim", "metadata": metadata, "spec": spec, "status": status}


def _request(draft: Draft, device_class: str) -> Object:
    """Return what a claim asks for: some devices of the class, all, or the first of two alternatives."""
    if draft.dice.chance(0.15):
        firsts = [
            {"name": each, "deviceClassName": each, "allocationMode": "ExactCount", "count": draft.dice.choice((1, 2))}
            for each in ("fast", "gpu")
        ]
        return {"name": "r", "firstAvailable": firsts}
    exactly: Object = {"deviceClassName": device_class, "allocationMode": "All"}
    if draft.dice.chance(0.85):
        exactly |= {"allocationMode": "ExactCount", "count": draft.dice.choice((1, 1, 2, 3))}
    return {"name": "r", "exactly": exactly}


def _allocation(draft: Draft) -> Object | None:
    """Return where the devices of a claim are, None for a claim that has none yet."""
    if draft.dice.chance(0.6):
        return None
    node = draft.dice.choice(draft.node_names())
    result = {"request": "r", "driver": _DRIVER, "pool": "elsewhere", "device": "d0"}
    allocation: Object = {"devices": {"results": [result]}}
    if draft.dice.chance(0.9):
        allocation["nodeSelector"] = _node_selector(node)
    return allocation


def _node_selector(name: str) -> Object:
    """Return what selects a node by its name."""
    field = {"key": "metadata.name", "operator": "In", "values": [name]}
    return {"nodeSelectorTerms": [{"matchFields": [field]}]}


def _result(each: Object, device: str) -> Object:
    """Return that a claim has a device."""
    spec = each["spec"]
    return {"request": "r", "driver": spec["driver"], "pool": spec["pool"]["name"], "device": device}

"""Resources: requests in every spelling, init containers, sidecars, overhead, the Pod's own requests, extended ones."""

from tests.conformance.ingredients.draft import Dice, Draft, Object

_CPU = ("100m", "250m", "500m", "1", "1500m", "1.5", "2", "0.1", "1e0", "1234567n", "+.5")
_MEMORY = ("64Mi", "128Mi", "1Gi", "0.5Gi", "1.5Gi", "500M", "1e9", "1e3", "2Gi", "128974848", "0", "1Ki", "1500m")
_LARGE = {"cpu": ("4", "7", "32", "65"), "memory": ("6Gi", "12Gi", "300Gi")}
_DEVICES = {"example.com/gpu": ("1", "2", "3"), "hugepages-2Mi": ("2Mi", "64Mi", "96Mi")}


def requests(draft: Draft, pod: Object) -> None:
    """Let every container request something; now and then limits stand beside it."""
    for container in pod["spec"]["containers"]:
        container["resources"] = _resources(draft.dice)


def large_request(draft: Draft, pod: Object) -> None:
    """Request more than small nodes have, and some more than any; not where the Pod's own requests set the bound."""
    if "resources" in pod["spec"]:
        return
    resource = draft.dice.choice(list(_LARGE))
    _request(pod["spec"]["containers"][0], {resource: draft.dice.choice(_LARGE[resource])})


def devices(draft: Draft, pod: Object) -> None:
    """Request an extended resource or huge pages, whose limits equal their requests, or much disk."""
    dice = draft.dice
    container = pod["spec"]["containers"][0]
    if dice.chance(0.3):
        _request(container, {"ephemeral-storage": dice.choice(("1Gi", "3Gi", "200Gi"))})
        return
    resource = dice.choice(list(_DEVICES))
    amount = {resource: dice.choice(_DEVICES[resource])}
    _request(container, amount | {"cpu": "100m"})
    container["resources"].setdefault("limits", {}).update(amount)


def more_containers(draft: Draft, pod: Object) -> None:
    """Add containers beside the first."""
    for i in range(draft.dice.randint(1, 2)):
        pod["spec"]["containers"].append(_container(draft.dice, f"more-{i}"))


def init_containers(draft: Draft, pod: Object) -> None:
    """Add init containers; the restartable ones among them are sidecars and stay."""
    chosen = [_container(draft.dice, f"init-{i}") for i in range(draft.dice.randint(1, 3))]
    for container in chosen:
        if draft.dice.chance(0.5):
            container["restartPolicy"] = "Always"
    pod["spec"]["initContainers"] = chosen


def overhead(draft: Draft, pod: Object) -> None:
    """Add what the runtime class costs."""
    pod["spec"]["runtimeClassName"] = "sandbox"
    pod["spec"]["overhead"] = {"cpu": draft.dice.choice(_CPU), "memory": draft.dice.choice(_MEMORY)}


def pod_level_resources(draft: Draft, pod: Object) -> None:
    """Request for the Pod as a whole, never less than its containers can add up to; limits stand only beside all of it.

    Where they stand beside a part, the API server would have added what the containers request.
    """
    requested = {"cpu": draft.dice.choice(("13", "16500m", "20")), "memory": draft.dice.choice(("13Gi", "16e9"))}
    if draft.dice.chance(0.2):
        pod["spec"]["resources"] = {"requests": requested, "limits": dict(requested)}
    else:
        pod["spec"]["resources"] = {"requests": dict(draft.dice.some(list(requested.items()), least=1))}


def resized(draft: Draft, pod: Object) -> None:
    """Let a bound Pod be in the middle of a resize: asked for, allocated and actual differ."""
    statuses = []
    for container in pod["spec"]["containers"]:
        container["resources"] = _resources(draft.dice)
        status: Object = {"name": container["name"], "ready": True, "restartCount": 0}
        if draft.dice.chance(0.8):
            status["allocatedResources"] = _resources(draft.dice)["requests"]
        if draft.dice.chance(0.8):
            status["resources"] = {"requests": _resources(draft.dice)["requests"]}
        statuses.append(status)
    pod.setdefault("status", {})["containerStatuses"] = statuses


def pod_level_resized(draft: Draft, pod: Object) -> None:
    """Let a bound Pod be in the middle of a resize of its own requests."""
    pod_level_resources(draft, pod)
    status = pod.setdefault("status", {})
    if draft.dice.chance(0.8):
        status["allocatedResources"] = {"cpu": draft.dice.choice(("12", "14", "17500m")), "memory": "14Gi"}
    if draft.dice.chance(0.8):
        status["resources"] = {"requests": {"cpu": draft.dice.choice(("12", "14", "19")), "memory": "15Gi"}}


def _container(dice: Dice, name: str) -> Object:
    """Return a container with requests."""
    image = dice.choice(("registry/side@sha256:0a1b", "registry/cache", "registry/db:v1"))
    return {"name": name, "image": image, "resources": _resources(dice)}


def _resources(dice: Dice) -> Object:
    """Return requests for cpu, memory or both, and maybe limits that are the same."""
    drawn = {"cpu": dice.choice(_CPU), "memory": dice.choice(_MEMORY)}
    requested = dict(dice.some(list(drawn.items()), least=1))
    return {"requests": requested, "limits": dict(requested)} if dice.chance(0.25) else {"requests": requested}


def _request(container: Object, amounts: Object) -> None:
    """Raise what a container requests, dropping the limits of what changes."""
    resources = container.setdefault("resources", {})
    resources.setdefault("requests", {}).update(amounts)
    for resource in amounts:
        resources.get("limits", {}).pop(resource, None)

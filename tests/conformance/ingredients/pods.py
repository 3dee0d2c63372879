"""Pods: the one to be placed and those that are there, in every state a Pod can be in."""

from tests.conformance.ingredients.draft import NAMESPACES, POD_LABELS, Dice, Draft, Object

_STATES = {"running": 14, "starting": 3, "terminating": 3, "finished": 2, "unbound": 2, "lost": 1}


def incoming(draft: Draft) -> Object:
    """Return the Pod to be placed."""
    labels = {**_labels(draft.dice), "app": "web"} if draft.dice.chance(0.9) else _labels(draft.dice)
    namespace = draft.dice.weighted({"default": 9, "other": 1})
    return _pod("incoming", namespace=namespace, labels=labels)


def existing(draft: Draft, number: int) -> Object:
    """Return a Pod that is there already: mostly bound and running, mostly in the namespace of the incoming one."""
    dice = draft.dice
    home = draft.pod["metadata"]["namespace"]
    namespace = home if dice.chance(0.85) else dice.choice(list(NAMESPACES))
    pod = _pod(f"pod-{number}", namespace=namespace, labels=_labels(dice) if dice.chance(0.95) else {})
    _STATE_OF[dice.weighted(_STATES)](draft, pod)
    return pod


def _pod(name: str, *, namespace: str, labels: dict[str, str]) -> Object:
    """Return a Pod with one container that asks for nothing."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "uid": f"{namespace}-{name}", "labels": labels},
        "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "main", "image": "registry/web:v1"}]},
    }


def _labels(dice: Dice) -> dict[str, str]:
    """Return labels of a Pod; `app` is nearly always there."""
    keys = [key for key in POD_LABELS if dice.chance(0.95 if key == "app" else 0.5)]
    return {key: dice.choice(POD_LABELS[key]) for key in keys}


def _running(draft: Draft, pod: Object) -> None:
    """Bound, and more often to the first nodes than to the last: what is even is of no interest."""
    names = draft.node_names()
    pod["spec"]["nodeName"] = names[int(len(names) * draft.dice.random() ** 2.5)]
    pod["status"] = {"phase": "Running"}


def _starting(draft: Draft, pod: Object) -> None:
    """Bound, but no container runs yet: it counts."""
    _running(draft, pod)
    pod["status"] = {"phase": "Pending"}


def _terminating(draft: Draft, pod: Object) -> None:
    _running(draft, pod)
    pod["metadata"].update(deletionTimestamp="2026-01-02T03:04:05Z", deletionGracePeriodSeconds=30)


def _finished(draft: Draft, pod: Object) -> None:
    _running(draft, pod)
    pod["status"] = {"phase": draft.dice.choice(("Succeeded", "Failed"))}


def _unbound(_draft: Draft, pod: Object) -> None:
    pod["status"] = {"phase": "Pending"}


def _lost(_draft: Draft, pod: Object) -> None:
    """Bound to a node that is gone."""
    pod["spec"]["nodeName"] = "node-gone"
    pod["status"] = {"phase": "Running"}


_STATE_OF = {
    "running": _running,
    "starting": _starting,
    "terminating": _terminating,
    "finished": _finished,
    "unbound": _unbound,
    "lost": _lost,
}


def node_name(draft: Draft, pod: Object) -> None:
    """Ask for one node by its name; it need not exist."""
    pod["spec"]["nodeName"] = draft.dice.choice([*draft.node_names(), "node-gone"])


def other_scheduler(_draft: Draft, pod: Object) -> None:
    """Ask for a scheduler that is not configured."""
    pod["spec"]["schedulerName"] = "my-scheduler"

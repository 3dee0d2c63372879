"""Priorities: who is evicted for whom, what protects Pods from that, and Pods that wait for promised room."""

from tests.conformance.ingredients.draft import Draft, Object

_PROTECTED = (("default", "web"), ("default", "db"), ("other", "web"), ("default", "cache"))
"""Namespace and application of Pods that a budget may protect."""
_PRIORITIES = (-10, 0, 0, 5, 5, 100)


def priority(draft: Draft, pod: Object) -> None:
    """Give the Pod a priority."""
    pod["spec"]["priority"] = draft.dice.choice(_PRIORITIES)


def nominated(draft: Draft, pod: Object) -> None:
    """Take the Pod off its node and nominate it, to that node or another one, sometimes one that is gone."""
    there = pod["spec"].pop("nodeName", draft.dice.choice(draft.node_names()))
    node = there if draft.dice.chance(0.7) else draft.dice.choice([*draft.node_names(), "node-gone"])
    pod["status"] = {"phase": "Pending", "nominatedNodeName": node}


def still_nominated(_draft: Draft, pod: Object) -> None:
    """Leave the nomination in the status of a Pod that is on its node by now."""
    if "nodeName" in pod["spec"]:
        pod["status"] = {"phase": "Running", "nominatedNodeName": pod["spec"]["nodeName"]}


def gated(_draft: Draft, pod: Object) -> None:
    """Hold a Pod back that has no node yet; from 1.37 on its nomination counts all the same."""
    if "nodeName" not in pod["spec"]:
        pod["spec"]["schedulingGates"] = [{"name": "example.com/quota"}]


def foreign(_draft: Draft, pod: Object) -> None:
    """Leave the Pod to another scheduler, whose nominations this one does not know."""
    pod["spec"]["schedulerName"] = "my-scheduler"


def started(draft: Draft, pod: Object) -> None:
    """Let the Pod have started at a time that no other Pod shares, so that no choice hangs on it."""
    number = len(draft.pods)
    start = f"2026-01-01T{draft.dice.randint(0, 23):02}:{draft.dice.randint(0, 59):02}:{number:02}Z"
    pod.setdefault("status", {})["startTime"] = start


def never_preempting(_draft: Draft, pod: Object) -> None:
    """Leave the others alone."""
    pod["spec"]["preemptionPolicy"] = "Never"


def urgent(draft: Draft, pod: Object) -> None:
    """Be more important than most."""
    pod["spec"]["priority"] = draft.dice.choice((5, 100, 1000))


def budgets(draft: Draft, _pod: Object) -> None:
    """Protect some of the Pods by budgets, not all of which allow for one less; no Pod has two."""
    for number, (namespace, app) in enumerate(draft.dice.some(_PROTECTED, least=1)):
        status: Object = {"disruptionsAllowed": draft.dice.choice((0, 0, 1, 2))}
        if draft.dice.chance(0.2):
            status["disruptedPods"] = (
                {draft.dice.choice(draft.pods)["metadata"]["name"]: "2026-01-02T03:04:05Z"} if draft.pods else {}
            )
        budget: Object = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"}
        budget["metadata"] = {"name": f"budget-{number}", "namespace": namespace}
        budget["spec"] = {"selector": {"matchLabels": {"app": app}} if draft.dice.chance(0.9) else {}}
        budget["status"] = status
        draft.add_once(budget)


def evicted_for_it(draft: Draft, pod: Object) -> None:
    """Wait for Pods that the scheduler evicts from a node for this one, some of which are still there."""
    name = draft.dice.choice([*draft.node_names(), "node-gone"])
    pod["status"] = {"phase": "Pending", "nominatedNodeName": name}
    for other in draft.pods:
        if other["spec"].get("nodeName") == name and draft.dice.chance(0.5):
            reason = draft.dice.choice(("PreemptionByScheduler", "EvictionByEvictionAPI"))
            other["metadata"].update(deletionTimestamp="2026-01-02T03:04:05Z", deletionGracePeriodSeconds=30)
            other.setdefault("status", {})["conditions"] = [
                {"type": "DisruptionTarget", "status": "True", "reason": reason}
            ]

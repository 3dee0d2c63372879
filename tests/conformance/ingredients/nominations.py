"""Pods that wait for room the scheduler has promised them on a node, and the priorities that decide who minds."""

from tests.conformance.ingredients.draft import Draft, Object

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

"""A case while it is being written, the dice that decide, and the words all ingredients share."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

Object = dict[str, Any]
T = TypeVar("T")

NAMESPACES: Mapping[str, Mapping[str, str]] = {
    "default": {"team": "a"},
    "other": {"team": "b", "env": "prod"},
    "third": {},
}
"""Namespace → its labels, beside the one every namespace has."""

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
HOSTNAME = "kubernetes.io/hostname"
RACK = "example.com/rack"

POD_LABELS: Mapping[str, Sequence[str]] = {
    "app": ("web", "web", "web", "web", "db", "cache"),
    "tier": ("front", "back", ""),
    "pod-template-hash": ("5d9c", "7f4b"),
    "version": ("1", "2"),
}
"""Label of a Pod → the values it may have."""


class Dice(random.Random):
    """A random source that reads like the sentence it stands in; the same seed gives the same case everywhere."""

    def chance(self, probability: float) -> bool:
        """Decide with a probability between 0 and 1."""
        return self.random() < probability

    def some(self, of: Sequence[T], *, least: int = 0, most: int | None = None) -> list[T]:
        """Return a few different ones, in their order; never more than there are."""
        upper = min(len(of), len(of) if most is None else most)
        count = self.randint(min(least, upper), upper)
        return [of[i] for i in sorted(self.sample(range(len(of)), count))]

    def weighted(self, of: Mapping[T, float]) -> T:
        """Return one of the keys, as likely as its value says."""
        return self.choices(list(of), weights=list(of.values()))[0]


@dataclass(slots=True)
class Draft:
    """A case in the making; what an ingredient adds, a later one may build on."""

    dice: Dice
    minor: int  # the minor release of Kubernetes 1 the case is for
    nodes: list[Object] = field(default_factory=list)  # the nodes, in the order of their names
    pods: list[Object] = field(default_factory=list)  # the Pods that are there already
    others: list[Object] = field(default_factory=list)  # every other object
    pod: Object = field(default_factory=dict)  # the Pod to be placed
    config: Object | None = None  # a KubeSchedulerConfiguration, None for the default one
    gates: dict[str, bool] = field(default_factory=dict)  # feature gates that differ from the release's defaults

    def node_names(self) -> list[str]:
        """Return the names of the nodes."""
        return [node["metadata"]["name"] for node in self.nodes]

    def add_once(self, added: Object) -> None:
        """Add an object unless one of its kind, namespace and name is there."""
        if identity(added) not in {identity(there) for there in self.others}:
            self.others.append(added)


Ingredient = Callable[[Draft, Object], None]
"""Gives a node or a Pod one more trait, and the draft whatever objects that needs."""


def identity(value: Object) -> tuple[str, str, str]:
    """Return kind, namespace and name."""
    return value["kind"], value["metadata"].get("namespace", ""), value["metadata"]["name"]


def selector(dice: Dice) -> Object:
    """Return a label selector for Pods: any operator, any number of terms, rarely none at all."""
    if dice.chance(0.05):
        return {}
    chosen: Object = {}
    if dice.chance(0.75):
        keys = dice.some(list(POD_LABELS), least=1, most=2) if dice.chance(0.2) else ["app"]
        chosen["matchLabels"] = {key: dice.choice(POD_LABELS[key]) for key in keys}
    if not chosen or dice.chance(0.15):
        chosen["matchExpressions"] = [_expression(dice) for _ in range(dice.choice((1, 1, 2)))]
    return chosen


def _expression(dice: Dice) -> Object:
    """Return one term of a label selector."""
    key = dice.choice(("app", "app", "app", "tier", "version", "absent"))
    operator = dice.choice(("In", "In", "In", "NotIn", "Exists", "DoesNotExist"))
    if operator not in ("In", "NotIn"):
        return {"key": key, "operator": operator}
    values = sorted(set(POD_LABELS.get(key, ("x",))))
    return {"key": key, "operator": operator, "values": dice.some(values, least=1)}


def with_match_label_keys(draft: Draft, term: Object, *, pod: Object, chance: float) -> None:
    """Give a term with a selector matchLabelKeys the way the API server stores them.

    From 1.34 on it merges them into the selector of a Pod it creates; a Pod that is older than the upgrade has them
    unmerged.
    """
    chosen = term.get("labelSelector")
    if chosen is None or not draft.dice.chance(chance):
        return
    used = {*chosen.get("matchLabels", {}), *(one["key"] for one in chosen.get("matchExpressions", ()))}
    free = [key for key in ("pod-template-hash", "version", "absent") if key not in used]
    keys = draft.dice.some(free, least=1)
    if not keys:
        return
    term["matchLabelKeys"] = keys
    labels = pod["metadata"]["labels"]
    merged = [{"key": key, "operator": "In", "values": [labels[key]]} for key in keys if key in labels]
    if draft.minor >= 34 and merged and draft.dice.chance(0.5):
        chosen["matchExpressions"] = [*chosen.get("matchExpressions", ()), *merged]

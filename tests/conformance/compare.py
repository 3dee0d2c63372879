"""Where an answer departs from what kube-scheduler decided."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, unique
from typing import Any

Answer = Mapping[str, Any]


@unique
class Aspect(Enum):
    """What the two say different things about."""

    FIRST = "first rejection"
    ALONE = "filter alone"
    SCORE = "score"
    EVICTION = "eviction"
    CHOICE = "node to be emptied"


_DEVICES = "DynamicResources"
_FOLLOWING = frozenset((Aspect.SCORE.value, Aspect.EVICTION.value, Aspect.CHOICE.value))


@dataclass(frozen=True, slots=True, order=True)
class Point:
    """One thing both answer: a node's first rejection, one filter on one node, one score of one node.

    The plugin of a first rejection is part of the answer, so here it is empty.
    """

    aspect: str
    node: str
    plugin: str


@dataclass(frozen=True, slots=True)
class Difference:
    """One point at which the answers part; None stands for nothing said."""

    point: Point
    want: str | None
    have: str | None

    def __str__(self) -> str:
        where = " ".join(filter(None, (self.point.node, self.point.plugin, self.point.aspect)))
        return f"{where}: kube-scheduler says {self.want or 'nothing'}, the answer says {self.have or 'nothing'}"


def differences(want: Answer, answer: Answer) -> list[Difference]:
    """Return where an answer departs from the recorded one, ordered by aspect, node and plugin.

    Compared are the first rejection of every node, every filter alone, every score and every eviction; reasons as sets.
    Of the nodes that are ``undecided`` in the answer DynamicResources may say what it likes, and what follows is not
    compared: scores, and who has to go.
    """
    wanted, given = _points(want), _points(answer)
    undecided = frozenset(answer.get("undecided", ()))
    return [
        Difference(point, wanted.get(point), given.get(point))
        for point in sorted(wanted.keys() | given.keys())
        if wanted.get(point) != given.get(point) and not (undecided and _left_open(point, wanted.get(point), undecided))
    ]


def _left_open(point: Point, wanted: str | None, undecided: frozenset[str]) -> bool:
    """Whether the answer does not claim to know the point."""
    if point.aspect in _FOLLOWING:
        return True
    rejected = point.plugin == _DEVICES or (wanted or "").startswith(f"{_DEVICES} ")
    return point.node in undecided and rejected


def _points(answer: Answer) -> dict[Point, str]:
    """Return everything an answer says, in one spelling."""
    first = {Point(Aspect.FIRST.value, node, ""): _spelled(said) for node, said in answer["nodes"].items()}
    alone = {
        Point(Aspect.ALONE.value, node, plugin): _spelled(said)
        for plugin, nodes in (answer.get("each") or {}).items()
        for node, said in nodes.items()
    }
    scores = {
        Point(Aspect.SCORE.value, node, plugin): str(score)
        for node, plugins in (answer.get("scores") or {}).items()
        for plugin, score in plugins.items()
    }
    return first | alone | scores | _evictions(answer.get("preemption"))


def _evictions(preemption: Answer | None) -> dict[Point, str]:
    """Return who has to go from which node, and the node that is chosen."""
    if preemption is None:
        return {}
    evictions = {
        Point(Aspect.EVICTION.value, node, ""): f"{' '.join(found['victims'])}, {found['violations']} of them protected"
        for node, found in preemption["candidates"].items()
    }
    return evictions | {Point(Aspect.CHOICE.value, "", ""): preemption["chosen"]}


def _spelled(said: Mapping[str, Any]) -> str:
    """Return a rejection, or Success, in one spelling: the order of its reasons says nothing."""
    reasons = ", ".join(sorted(set(said.get("reasons") or ())))
    return " ".join(filter(None, (said.get("plugin"), said["code"], reasons and f"({reasons})")))

"""Evictions played on kube-scheduler's framework, ties broken at random: where those that come instead land."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.build import Object, handle
from tests.conformance.answer import Case
from tests.conformance.record import ask
from tests.rebalance.brute_force import Excess, excess

NOWHERE = ""
"""Where a Pod lands that cannot be scheduled."""


@dataclass(slots=True)
class Replay:
    """A list of evictions, played one after another.

    Attributes:
        name: the cluster and the luck.
        objects: the cluster as it is: kind and name → object; all of one namespace.
        evicted: names of the Pods that go, in order.
        chance: breaks ties.
        landings: where the Pod in place of each evicted one went at first.
        waiting: the Pods that have no node.
    """

    name: str
    objects: dict[tuple[str, str], Object]
    evicted: Sequence[str]
    chance: random.Random
    landings: list[str] = field(default_factory=list)
    waiting: list[Object] = field(default_factory=list)
    _gone: int = 0
    _queue: list[Object] = field(default_factory=list)
    _has_changed: bool = False

    def question(self) -> Object | None:
        """Return what the scheduler is asked next; None at the end. Who has no node waits until all are evicted."""
        if not self._queue and self._gone < len(self.evicted):
            self._queue.append(self._again(self.evicted[self._gone]))
            self._gone += 1
        if not self._queue and self._has_changed:
            self._queue, self.waiting, self._has_changed = self.waiting, [], False
        if not self._queue:
            return None
        return {"id": self.name, "objects": list(self.objects.values()), "pod": self._queue[0]}

    def _again(self, name: str) -> Object:
        """Evict a Pod, and return the one in its place."""
        pod = self.objects.pop(("Pod", name))
        owner = next(iter(pod["metadata"].get("ownerReferences", ())), {"kind": ""})
        metadata = {**pod["metadata"], "name": name if owner["kind"] == "StatefulSet" else f"{name}-again"}
        spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
        metadata["uid"] = f"{self.name}/{self._gone}"
        return {**pod, "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}

    def land(self, answer: Case) -> None:
        """Put the Pod that was asked about where the scheduler puts it."""
        pod = self._queue.pop(0)
        totals = {name: scores["total"] for name, scores in (answer.get("scores") or {}).items()}
        best = sorted(name for name, total in totals.items() if total == max(totals.values()))
        node = self.chance.choice(best) if best else NOWHERE
        self.landings.append(node)
        if not node:
            self.waiting.append(pod)
            return
        placed = {**pod, "spec": {**pod["spec"], "nodeName": node}, "status": {"phase": "Running"}}
        self.objects["Pod", pod["metadata"]["name"]] = placed
        self._has_changed = True

    def ends(self) -> Excess:
        """Return by how much each constraint is exceeded as things are."""
        return excess(handle([*self.objects.values()]))


def replay(objects: Sequence[Object], evicted: Sequence[str], *, name: str) -> Replay:
    """Return evictions that are to be played.

    Args:
        objects: the cluster.
        evicted: the Pods that go, in order.
        name: the cluster and the luck, by which ties are broken.
    """
    by_name: Mapping[tuple[str, str], Object] = {(each["kind"], each["metadata"]["name"]): each for each in objects}
    return Replay(name, dict(by_name), tuple(evicted), random.Random(name))  # noqa: S311 - no secret


def play(program: Path, replays: Sequence[Replay]) -> None:
    """Play each to its end, side by side.

    Args:
        program: the oracle.
        replays: what is to be played.
    """
    while going := [(each, question) for each in replays if (question := each.question())]:
        for (each, _), answer in zip(going, ask(program, [question for _, question in going]), strict=True):
            each.land(answer)

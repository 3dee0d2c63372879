"""Evictions played on kube-scheduler's framework, ties broken at random: where those that come instead land."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby
from pathlib import Path

from kubectl_spread.contract.rebalance import RebalanceReport
from tests.build import Object, handle
from tests.conformance.answer import Case
from tests.conformance.record import ask
from tests.rebalance.brute_force import Excess, excess

NOWHERE = ""  # Where a Pod lands that cannot be scheduled


@dataclass(slots=True)
class Replay:
    """A list of evictions, played one after another; steps of several at the same time."""

    name: str  # the cluster and the luck
    objects: dict[tuple[str, str], Object]  # the cluster as it is: kind and name → object; all of one namespace
    evicted: Sequence[Sequence[str]]  # names of the Pods that go, in order, step by step
    chance: random.Random  # breaks ties
    # where the Pod in place of each evicted one went at first; of a step of several, in its end
    landings: list[str] = field(default_factory=list)
    # the Pods that have no node, and their places in the order
    waiting: list[tuple[int, Object]] = field(default_factory=list)
    _steps: int = 0
    _queue: list[tuple[int, Object]] = field(default_factory=list)
    _has_changed: bool = False
    _again_asked: bool = False

    def question(self) -> Object | None:
        """Return what the scheduler is asked next; None at the end.

        Who has no node waits until all are evicted, or where several go at the same time, until these are.
        """
        if not self._queue and self._has_changed and (self._steps == len(self.evicted) or self._was_together):
            self._queue, self.waiting, self._has_changed = self.waiting, [], False
            self._again_asked = True
        if not self._queue and self._steps < len(self.evicted):
            names = self.evicted[self._steps]
            self._queue = [(len(self.landings) + at, self._again(name)) for at, name in enumerate(names)]
            self.landings += [NOWHERE] * len(names)
            self._steps += 1
            self._again_asked = False
        if not self._queue:
            return None
        return {"id": self.name, "objects": list(self.objects.values()), "pod": self._queue[0][1]}

    @property
    def _was_together(self) -> bool:
        return self._steps > 0 and len(self.evicted[self._steps - 1]) > 1

    def _again(self, name: str) -> Object:
        """Evict a Pod, and return the one in its place."""
        pod = self.objects.pop(("Pod", name))
        owner = next(iter(pod["metadata"].get("ownerReferences", ())), {"kind": ""})
        metadata = {**pod["metadata"], "name": name if owner["kind"] == "StatefulSet" else f"{name}-again"}
        spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
        metadata["uid"] = f"{self.name}/{name}"
        return {**pod, "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}

    def land(self, answer: Case) -> None:
        """Put the Pod that was asked about where the scheduler puts it."""
        at, pod = self._queue.pop(0)
        totals = {name: scores["total"] for name, scores in (answer.get("scores") or {}).items()}
        best = sorted(name for name, total in totals.items() if total == max(totals.values()))
        node = self.chance.choice(best) if best else NOWHERE
        if not node:
            self.waiting.append((at, pod))
            return
        if self._was_together or not self._again_asked:
            self.landings[at] = node
        placed = {**pod, "spec": {**pod["spec"], "nodeName": node}, "status": {"phase": "Running"}}
        self.objects["Pod", pod["metadata"]["name"]] = placed
        self._has_changed = True

    def ends(self) -> Excess:
        """Return by how much each constraint is exceeded as things are."""
        return excess(handle([*self.objects.values()]))


def steps_of(report: RebalanceReport) -> Sequence[Sequence[str]]:
    """Return the Pods that a plan evicts, step by step."""
    steps = groupby(
        report.evictions, key=lambda each: (each.together, each.wave if each.together is True else each.order)
    )
    return [[each.pod for each in made] for _, made in steps]


def replay(objects: Sequence[Object], evicted: Sequence[Sequence[str]], *, name: str) -> Replay:
    """Return evictions that are to be played.

    Args:
        objects: the cluster.
        evicted: the Pods that go, in order, step by step.
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


def at_once(program: Path, objects: Sequence[Object], *, most: int, lucks: int, name: str) -> Sequence[Sequence[str]]:
    """Return the sets of Pods after whose eviction at the same time all have a node, and all constraints hold.

    Args:
        program: the oracle.
        objects: the cluster.
        most: the Pods of a set (count).
        lucks: the replays of each set, with other ties (count).
        name: the cluster, by which ties are broken.
    """
    pods = [each["metadata"]["name"] for each in objects if each["kind"] == "Pod"]
    sets = [chosen for number in range(1, most + 1) for chosen in combinations(pods, number)]
    for luck in range(lucks):
        played = [replay(objects, [chosen], name=f"{name}/{luck}/{chosen}") for chosen in sets]
        play(program, played)
        sets = [
            chosen
            for chosen, each in zip(sets, played, strict=True)
            if not each.waiting and not any(each.ends().values())
        ]
    return sets

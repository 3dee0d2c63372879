"""The descheduler's plugin for topology spread, asked about the same clusters as ``rebalance``, and both replayed.

Both lists of evictions are played on kube-scheduler's framework, one eviction after another, ties broken at random; the
descheduler, which evicts without waiting for a Pod to land, may fare worse in a cluster.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from tests import gobuild
from tests.comparison.imbalances import Imbalance
from tests.conformance.record import oracle
from tests.rebalance.replay import Replay, play, replay, steps_of
from tests.soak.rebalance import RELEASE, report_of

NAME, VERSION = "descheduler", "v0.36.0"  # The program, and the version that its go.mod requires
TIES = 3  # Replays (count) of one list of evictions, each with other luck
PASSES = 3  # Times (count) the descheduler is asked about a cluster: what it evicts varies, the fewest count
BATCH = 100  # Clusters (count) whose replays go on side by side


class End(Struct, frozen=True):
    """What a list of evictions came to, at worst."""

    evictions: int  # how many there are (count)
    waited: int  # Pods that found no node when they came (count)
    unplaced: int  # those that have none in the end (count)
    beyond: int  # by how much all constraints exceed maxSkew in the end (Pods)


class Compared(Struct, frozen=True):
    """One cluster."""

    name: str  # the cluster's
    beyond: int  # by how much all constraints exceed maxSkew before (Pods)
    ours: End  # what the plan came to
    theirs: End  # what the descheduler's evictions came to

    def flaws(self) -> Iterator[str]:
        """Yield what is wrong with the plan beside the descheduler's evictions."""
        ours, theirs = self.ours, self.theirs
        if ours.waited:
            yield f"{self.name}: {ours.waited} Pods of the plan find no node"
        if not theirs.waited and theirs.beyond <= ours.beyond and ours.evictions > theirs.evictions:
            yield f"{self.name}: {ours.evictions} evictions to {ours.beyond}, {theirs.evictions} to {theirs.beyond}"
        if not theirs.waited and theirs.beyond < ours.beyond:
            yield f"{self.name}: the plan ends {ours.beyond} beyond maxSkew, the descheduler {theirs.beyond}"
        if ours.evictions and ours.beyond >= self.beyond:
            yield f"{self.name}: {ours.evictions} evictions for nothing"


def program() -> Path:
    """Return the program that runs the plugin, built if it must be.

    Raises:
        BuildError: its module cannot be had, or Go is missing.
    """
    sources = Path(__file__).parent / "go" / NAME
    return gobuild.build(name=NAME, sources=sources, release=None, packages={NAME: "."}, ldflags="-s -w")[NAME]


def evicted(asked: Sequence[Imbalance]) -> Sequence[Sequence[str]]:
    """Return for each cluster the Pods that the descheduler evicts, by name; the shortest of several answers."""
    lines = [json.dumps({"id": each.name, "objects": [*each.objects]}) + "\n" for each in asked for _ in range(PASSES)]
    run = subprocess.run([program()], input="".join(lines), capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    if failed := [answer["error"] for answer in answers if answer.get("error")]:
        raise ValueError(failed[0])
    names = [[name.partition("/")[2] for name in answer["evictions"]] for answer in answers]
    return [min(names[at : at + PASSES], key=len) for at in range(0, len(names), PASSES)]


def compare(every: Sequence[Imbalance]) -> Iterator[Compared]:
    """Yield what came of each cluster."""
    for first in range(0, len(every), BATCH):
        yield from _compared(every[first : first + BATCH])


def _compared(some: Sequence[Imbalance]) -> Iterator[Compared]:
    """Yield what came of some clusters, whose replays go on side by side."""
    plans = [steps_of(report_of(each.objects)) for each in some]
    alone = [[[name] for name in names] for names in evicted(some)]
    both = [*zip(some, plans, strict=True), *zip(some, alone, strict=True)]
    played = [_replays(each, names) for each, names in both]
    play(oracle(RELEASE), [each for replays in played for each in replays])
    for at, each in enumerate(some):
        before = sum(replay(each.objects, (), name=each.name).ends().values())
        yield Compared(each.name, before, _end(played[at]), _end(played[at + len(some)]))


def _replays(about: Imbalance, names: Sequence[Sequence[str]]) -> Sequence[Replay]:
    """Return a list of evictions as it is to be played."""
    return [replay(about.objects, names, name=f"{about.name}/{luck}") for luck in range(TIES)]


def _end(replays: Sequence[Replay]) -> End:
    """Return the worst end of one list of evictions."""
    evictions = sum(map(len, replays[0].evicted))
    return End(
        evictions=evictions,
        waited=max(each.landings[:evictions].count("") for each in replays),
        unplaced=max(len(each.waiting) for each in replays),
        beyond=max(sum(each.ends().values()) for each in replays),
    )


_COUNTED: Mapping[str, Callable[[Compared, End, End], int]] = {
    "Pods evicted": lambda _, own, __: own.evictions,
    "clusters in which the other tool needs fewer evictions for an equally good result": lambda _, own, other: (
        not other.waited and other.beyond <= own.beyond and other.evictions < own.evictions
    ),
    "clusters in which Pods wait for a node": lambda _, own, __: own.waited > 0,
    "Pods without a node in the end": lambda _, own, __: own.unplaced,
    "clusters beyond maxSkew in the end": lambda _, own, __: own.beyond > 0,
    "of these, clusters that the other tool brings within maxSkew": lambda _, own, other: (
        own.beyond > 0 and not other.beyond + other.waited
    ),
    "clusters in which evictions gain nothing": lambda each, own, _: own.evictions > 0 and own.beyond >= each.beyond,
}
"""What the table says of a side → whether it is so in a cluster, or how often: of the cluster, the side, the other."""


def figures(found: Sequence[Compared]) -> Mapping[str, tuple[int, int]]:
    """Return what the table says → of the descheduler, and of the plans (counts)."""
    return {
        what: (
            sum(count(each, each.theirs, each.ours) for each in found),
            sum(count(each, each.ours, each.theirs) for each in found),
        )
        for what, count in _COUNTED.items()
    }


def table(compared: Mapping[str, Sequence[Compared]]) -> str:
    """Return a row for each thing that is counted, two columns for each sort of clusters, in Markdown."""
    counted = {what: figures(clusters) for what, clusters in compared.items()}
    sides = (f"descheduler {VERSION}", "`kubectl spread`")
    headings = ("", *(f"{side}, {what}" for what in counted for side in sides))
    rows = [[name, *(str(number) for each in counted.values() for number in each[name])] for name in _COUNTED]
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)

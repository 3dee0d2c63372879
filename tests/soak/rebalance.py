"""No plan of ``rebalance`` is worse than trying all orders, and the real scheduler does what each plan says.

``python -m tests.soak rebalance [--seed 1] [--small 500] [--count 1000]`` holds so many small clusters against trying
every order of evictions, and replays the plans of so many larger ones on kube-scheduler's framework, ties broken at
random: every Pod that comes finds a node, one of those that were named, and every constraint ends as was said.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from kubectl_spread.commands.rebalance import RebalanceOptions, rebalance
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.report import RebalanceReport
from tests.build import Object, handle
from tests.commands.memory import Memory
from tests.conformance.answer import Case
from tests.conformance.record import ask, oracle
from tests.rebalance.brute_force import cluster, excess, fewest

RELEASE = "1.36"
TIES = 3
"""Replays (count) of one plan, each with other luck."""
BATCH = 200
"""Clusters (count) whose replays go on side by side."""


def main() -> int:
    """Print what parted and how much was compared; return 1 where anything parted."""
    arguments = _arguments()
    seeds = range(arguments.seed, arguments.seed + arguments.small)
    wrong, skipped = _held_against_all_orders(seeds)
    sys.stdout.write(f"{len(seeds) - skipped} small clusters tried in all orders: {len(wrong)} differ\n")
    found = list(replayed(range(arguments.seed, arguments.seed + arguments.count)))
    evictions = sum(len(each.report.evictions) for each in found)
    broken = [f"{each.name}: {said}" for each in found for said in each.wrong]
    sys.stdout.write(
        f"{len(found)} replays of {evictions} evictions on kube-scheduler {RELEASE}: {len(broken)} differ\n"
    )
    sys.stdout.writelines(f"{said}\n" for said in (*wrong, *broken))
    return int(bool(wrong or broken))


def _arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak rebalance")
    parser.add_argument("--seed", type=int, default=1, help="the first cluster")
    parser.add_argument("--small", type=int, default=500, help="clusters in which all orders are tried")
    parser.add_argument("--count", type=int, default=1000, help="clusters whose plans are replayed")
    return parser.parse_args()


def report_of(objects: Sequence[Object]) -> RebalanceReport:
    """Return the plan for a cluster."""
    return rebalance(Memory(objects), Scope(namespace=""), RebalanceOptions(), SchedulerOptions())


def _held_against_all_orders(seeds: Iterable[int]) -> tuple[list[str], int]:
    """Return where another order is better, and how many clusters were too large to try all."""
    wrong, skipped = [], 0
    for seed in seeds:
        objects = cluster(seed)
        report = report_of(objects)
        beyond = sum(max(0, item.skew_after - item.constraint.max_skew) for item in report.items)
        best = fewest(handle(objects), most_states=5_000)
        skipped += best is None
        if best not in {None, (beyond, len(report.evictions))}:
            wrong.append(
                f"cluster {seed}: {len(report.evictions)} evictions leave {beyond} Pods too many, best is {best}"
            )
    return wrong, skipped


@dataclass(slots=True)
class Replay:
    """One plan, played on the real scheduler.

    Attributes:
        name: the cluster and the luck.
        objects: the cluster as it is: kind, namespace and name → object.
        report: the plan.
        chance: breaks ties.
        wrong: what went otherwise than planned.
    """

    name: str
    objects: dict[tuple[str, str], Object]
    report: RebalanceReport
    chance: random.Random
    at: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to evict, or no point in going on."""
        return bool(self.wrong) or self.at == len(self.report.evictions)

    def question(self) -> Case:
        """Evict the next Pod, and return what the scheduler is asked about the one in its place."""
        pod = self.objects.pop(("Pod", self.report.evictions[self.at].pod))
        again = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
        suffix = "" if pod["metadata"]["ownerReferences"][0]["kind"] == "StatefulSet" else "-again"
        metadata = {**pod["metadata"], "name": pod["metadata"]["name"] + suffix, "uid": f"{self.name}/{self.at}"}
        made = {**pod, "metadata": metadata, "spec": again, "status": {"phase": "Pending"}}
        return {"id": self.name, "objects": list(self.objects.values()), "pod": made}

    def land(self, asked: Case, answer: Case) -> None:
        """Put the Pod where the scheduler puts it, and note what was not said."""
        eviction = self.report.evictions[self.at]
        totals = {name: scores["total"] for name, scores in (answer.get("scores") or {}).items()}
        self.at += 1
        if not totals:
            self.wrong.append(f"eviction {self.at}, {eviction.pod}: no node {answer.get('error', '')}")
            return
        best = sorted(name for name, total in totals.items() if total == max(totals.values()))
        node = self.chance.choice(best)
        if node not in eviction.lands:
            self.wrong.append(f"eviction {self.at}, {eviction.pod} lands on {node}, not among {eviction.lands}")
        pod = asked["pod"]
        placed = {**pod, "spec": {**pod["spec"], "nodeName": node}, "status": {"phase": "Running"}}
        self.objects["Pod", pod["metadata"]["name"]] = placed

    def judge_the_end(self) -> None:
        """Note the constraints that end otherwise than the plan says."""
        ends = excess(handle([*self.objects.values()]))
        for item in self.report.items:
            beyond = ends.get((item.namespace, str(item.workload), item.constraint.index), 0)
            if beyond > max(0, item.skew_after - item.constraint.max_skew):
                self.wrong.append(f"{item.workload} constraint {item.constraint.index} ends {beyond} beyond maxSkew")


def replayed(seeds: range) -> Iterator[Replay]:
    """Yield the replays of each cluster's plan, played to their ends."""
    program = oracle(RELEASE)
    for first in range(seeds.start, seeds.stop, BATCH):
        replays = [each for seed in range(first, min(first + BATCH, seeds.stop)) for each in _replays(seed)]
        while going := [each for each in replays if not each.is_over]:
            asked = [dict(each.question()) for each in going]
            for each, question, answer in zip(going, asked, ask(program, asked), strict=True):
                each.land(question, answer)
        for each in replays:
            each.judge_the_end()
        yield from replays


def _replays(seed: int) -> Iterator[Replay]:
    """Yield the replays of one cluster's plan."""
    objects = cluster(seed, most_nodes=14, most_pods=14)
    report = report_of(objects)
    for luck in range(TIES):
        by_name = {(each["kind"], each["metadata"]["name"]): each for each in objects}
        yield Replay(f"cluster {seed}/{luck}", by_name, report, random.Random(f"{seed}/{luck}"))  # noqa: S311 - no secret


if __name__ == "__main__":
    raise SystemExit(main())

"""No plan of ``rebalance`` is worse than trying all orders, and the real scheduler does what each plan says.

Small clusters are held against trying every order of evictions, and the plans of larger ones are replayed on
kube-scheduler's framework, ties broken at random: every Pod that comes finds a node, one of those that were named, and
every constraint ends as was said, and as ``show`` says of the cluster then.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

from kubectl_spread.commands.rebalance import RebalanceOptions, rebalance
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import ShowOptions, show
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.rebalance import RebalanceReport
from kubectl_spread.diagnosis.remaining_skew import RebalanceVerdict
from kubectl_spread.diagnosis.statuses import SpreadStatus
from tests.build import Object, handle
from tests.commands.memory import Memory
from tests.conformance.record import oracle
from tests.rebalance.brute_force import cluster, fewest
from tests.rebalance.replay import Replay, play, replay, steps_of

RELEASE = "1.36"
TIES = 3  # Replays (count) of one plan, each with other luck
BATCH = 200  # Clusters (count) whose replays go on side by side
SMALL_PODS, MOST_STATES = 5, 3_000
"""Pods of a workload in a small cluster, and the states after which it is given up (counts)."""


DONE = (RebalanceVerdict.PLANNED, RebalanceVerdict.BALANCED)
BROKEN = (SpreadStatus.VIOLATED, SpreadStatus.UNEVEN)


def wrong(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Yield where a plan is worse than another order, or parts from what kube-scheduler does."""
    yield from _held_against_all_orders(seed, count // 2, seen)
    for played, report in replayed(range(seed, seed + count)):
        seen["replays"] += 1
        seen["evictions"] += len(report.evictions)
        yield from (f"{played.name}: {said}" for said in parted(played, report))


def report_of(objects: Sequence[Object]) -> RebalanceReport:
    """Return the plan for a cluster."""
    return rebalance(Memory(objects), Scope(namespace=""), RebalanceOptions(), SchedulerOptions()).report


def _held_against_all_orders(first: int, number: int, seen: Counter[str]) -> Iterator[str]:
    """Yield where another order is better, in so many clusters that are small enough to try all."""
    small = ((seed, cluster(seed, most_pods=SMALL_PODS)) for seed in itertools.count(first))
    tried = ((seed, objects, fewest(handle(objects), most_states=MOST_STATES)) for seed, objects in small)
    for seed, objects, best in itertools.islice((each for each in tried if each[2] is not None), number):
        seen["tried in all orders"] += 1
        report = report_of(objects)
        beyond = sum(max(0, item.skew_after - item.constraint.max_skew) for item in report.items)
        if best != (beyond, len(report.evictions)):
            yield f"cluster {seed}: {len(report.evictions)} evictions leave {beyond} Pods too many, best is {best}"


def parted(played: Replay, report: RebalanceReport) -> Iterator[str]:
    """Yield what went otherwise than planned."""
    for eviction, node in zip(report.evictions, played.landings, strict=False):
        if node not in eviction.lands:
            where = f"lands on {node}" if node else "cannot be scheduled"
            yield f"eviction {eviction.order}, {eviction.pod}: the Pod in its place {where}, not among {eviction.lands}"
    ends = played.ends()
    for item in report.items:
        beyond = ends.get((item.namespace, str(item.workload), item.constraint.index), 0)
        if beyond > max(0, item.skew_after - item.constraint.max_skew):
            yield f"{item.workload} constraint {item.constraint.index} ends {beyond} beyond maxSkew"
    yield from _contradicted([*played.objects.values()], report)


def _contradicted(objects: Sequence[Object], report: RebalanceReport) -> Iterator[str]:
    """Yield of what ``show`` says in the end that it does not hold, though the plan said that it would."""
    found = show(Memory(objects), Scope(namespace=""), ShowOptions(), SchedulerOptions()).report.items
    rows = {(each.namespace, str(each.workload), each.constraint.index): each for each in found}
    for item in report.items:
        row = rows[item.namespace, str(item.workload), item.constraint.index]
        if item.verdict in DONE and (row.status in BROKEN or row.constraint.skew > row.constraint.max_skew):
            yield f"{item.workload} constraint {item.constraint.index} is {item.verdict}, then {row.status}"


def replayed(seeds: range) -> Iterator[tuple[Replay, RebalanceReport]]:
    """Yield the replays of each cluster's plan, played to their ends."""
    program = oracle(RELEASE)
    for first in range(seeds.start, seeds.stop, BATCH):
        every = [each for seed in range(first, min(first + BATCH, seeds.stop)) for each in _replays(seed)]
        play(program, [each for each, _ in every])
        yield from every


def _replays(seed: int) -> Iterator[tuple[Replay, RebalanceReport]]:
    """Yield the replays of one cluster's plan."""
    objects = cluster(seed, most_nodes=14, most_pods=14)
    report = report_of(objects)
    for luck in range(TIES):
        yield replay(objects, steps_of(report), name=f"cluster {seed}/{luck}"), report

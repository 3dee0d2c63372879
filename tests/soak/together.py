"""No constraint is called Impossible where evicting up to three Pods at the same time restores all of them.

The sets are played on kube-scheduler's framework, ties broken at random, and so is what the plan says instead.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

from tests.build import HOSTNAME, ZONE, handle
from tests.conformance.record import oracle
from tests.rebalance.brute_force import cluster, excess
from tests.rebalance.replay import at_once, play, replay, steps_of
from tests.soak.rebalance import DONE, RELEASE, TIES, parted, report_of

KEYS = ((ZONE, HOSTNAME), (HOSTNAME, ZONE))
MOST_TOGETHER = 3  # The Pods of a set (count)


def wrong(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Yield where a set of evictions at the same time is better than the plan, or the plan goes otherwise than said."""
    program = oracle(RELEASE)
    every = ((number, cluster(number, most_pods=7, keys=KEYS)) for number in itertools.count(seed))
    broken = ((number, objects) for number, objects in every if any(excess(handle(objects)).values()))
    for number, objects in itertools.islice(broken, count):
        report = report_of(objects)
        verdicts = {item.verdict for item in report.items}
        seen["clusters"] += 1
        seen["planned together"] += any(each.together is True for each in report.evictions)
        if not verdicts <= {*DONE}:
            seen[f"not restored: {'/'.join(sorted(verdicts - {*DONE}))}"] += 1
            if sets := at_once(program, objects, most=MOST_TOGETHER, lucks=TIES, name=f"cluster {number}"):
                yield f"cluster {number} is {sorted(verdicts)}, and these at once restore all: {sets[0]}"
        played = [replay(objects, steps_of(report), name=f"cluster {number}/{luck}") for luck in range(TIES)]
        play(program, played)
        for each in played:
            yield from (f"cluster {number}: {said}" for said in parted(each, report))
            yield from (f"cluster {number}: {pod['metadata']['name']} stays Pending" for _, pod in each.waiting)

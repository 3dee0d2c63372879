"""The proofs that are only more seeds of what ``make test`` and ``make e2e`` hold: each yields what is wrong.

A proof is asked for so many from a seed on, and counts what it saw.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from kubectl_spread.commands.manifests import tables
from tests.conformance.record import ask, oracle
from tests.controlplane.cluster import control_plane
from tests.counted.wrong import wrong_facts
from tests.diagnosis.fixes.claims import with_fix
from tests.diagnosis.fixes.dressed import dressed, forbidden
from tests.diagnosis.fixes.test_oracle import RELEASE, feasible
from tests.e2e import (
    applied_pairs,
    competing,
    fixes_as_printed,
    next_pods,
    plans_as_printed,
    plans_together,
    sampled,
    simulated,
)
from tests.e2e.simulated_scenarios import SCENARIOS
from tests.merging.compare import differences, upstream
from tests.merging.triples import triples
from tests.scheduler.situations import PLUGINS, disagreements, situations

WORKLOADS_AT_ONCE = 75  # On one control plane (count): a quota or a volume is soon in place for so many


def counted(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Count again the numbers and names of conclusions about small clusters."""
    for number in range(seed, seed + count):
        seen["clusters"] += 1
        yield from (f"seed {number}: {fact}" for fact in wrong_facts(number))


def plugins(_seed: int, _count: int, seen: Counter[str]) -> Iterator[str]:
    """Put every situation of every plugin to kube-scheduler itself."""
    asked = [situation for plugin in PLUGINS for situation in situations(plugin)]
    seen["situations"] += len(asked)
    yield from disagreements(asked)


def merges(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Merge objects as upstream's own functions do."""
    drawn = [*triples(seed, count, tables())]
    answers = upstream(drawn)
    seen["triples"] += len(drawn)
    seen["triples that upstream cannot merge"] += sum("error" in answer for answer in answers)
    for triple, theirs, ours in differences(drawn, answers):
        yield f"{json.dumps(triple)}\n  upstream {json.dumps(theirs)}\n  ours     {json.dumps(ours)}"


def fixes(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Offer Pending Pods no fix that kube-scheduler refutes, and none that must never be offered."""
    pending = [*dressed(seed=seed, count=count)]
    seen["Pods"] += len(pending)
    seen["fixes left alone"] += sum(len(each.found.left_alone) for each in pending)
    claims = [(each, fix) for each in pending for fix in each.claims]
    cases = [{**with_fix(each.case, fix), "id": f"{each.case['id']} {fix.summary}"} for each, fix in claims]
    for case, (each, fix), answer in zip(cases, claims, ask(oracle(RELEASE), cases), strict=True):
        seen[fix.id] += 1
        if "error" in answer or feasible(answer) != frozenset(fix.feasible):
            yield f"{case['id']}: {answer.get('error') or sorted(feasible(answer))}"
        if why := forbidden(each.case, fix):
            yield f"{each.case['id']}: {why}"


def first_fixes(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Run first fixes as printed, controllers running: nobody is worse off for them."""
    with control_plane(fixes_as_printed.OPTIONS) as plane:
        client = plane.client()
        asked = fixes_as_printed.situations(seed)
        for outcome in islice(filter(None, (fixes_as_printed.run(client, each) for each in asked)), count):
            fix, about = outcome.fix, outcome.situation
            seen.update((fix["id"], about.kind))
            for wrong in outcome.wrong:
                yield "\n  ".join((f"{about.namespace} {about.kind}: {wrong}", fix["summary"], *fix["commands"]))


def company(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Run first fixes as printed where several workloads wait: each gets as many Pods as was promised."""
    with control_plane(competing.OPTIONS) as plane:
        for outcome in islice(competing.outcomes(plane.client(), seed), count):
            seen.update((outcome.fix["id"], "situations"))
            seen["Pending Pods"] += outcome.pending
            seen["gained"] += sum(outcome.gained.values())
            seen["wide"] += sum(most - least for least, most in outcome.promised.values())
            for wrong in outcome.wrong:
                yield "\n  ".join((wrong, outcome.fix["summary"], *outcome.fix["commands"]))


def plans(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Run plans as printed, controllers running: they go as they say."""
    with control_plane(fixes_as_printed.OPTIONS) as plane:
        client = plane.client()
        asked = plans_as_printed.situations(seed)
        for outcome in islice(filter(None, (plans_as_printed.run(client, each) for each in asked)), count):
            seen.update(outcome.situation.kinds)
            seen["evictions"] += len(outcome.report["evictions"])
            seen["waves"] += outcome.waves
            yield from (f"{outcome.situation.namespace}: {wrong}" for wrong in outcome.wrong)


def together(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Run the scripts of plans with evictions at the same time: all Pods have a node then, and constraints hold."""
    with control_plane(fixes_as_printed.OPTIONS) as plane:
        client = plane.client()
        for each in islice(plans_together.situations(seed), count):
            outcome = plans_together.run(client, each)
            seen.update(outcome.situation.kinds)
            seen["evictions"] += len(outcome.report["evictions"])
            seen["together"] += sum(bool(each.get("together")) for each in outcome.report["evictions"])
            yield from (f"{outcome.situation.namespace}: {wrong}" for wrong in outcome.wrong)


def soft_placement(_seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Place softly on many nodes, of which kube-scheduler scores only some: Pods go where was said."""
    with control_plane(fixes_as_printed.OPTIONS) as plane:
        client = plane.client()
        for name in sampled.SHAPES:
            seen["runs"] += count
            yield from sampled.placements(client, name, count)
            if name in sampled.PLANS:
                yield from sampled.plans(client, name, 1 + count // 10)


def scenarios(_seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Do every scenario of simulate so often."""
    with control_plane(simulated.OPTIONS) as plane:
        client = plane.client()
        client.apply(simulated.PRIORITIES)
        for number in range(count):
            for name, scenario in SCENARIOS.items():
                outcome = simulated.run(client, scenario, f"{name}-{number}")
                seen["scenarios"] += 1
                seen["within the ranges"] += outcome.strict
                seen.update(f"steps {told}" for told in outcome.verdicts if "said" not in told)
                yield from (f"{name}: {difference}" for difference in outcome.differences)


def applied(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Apply manifests to what lives, and files of workloads that count each other."""
    with control_plane(applied_pairs.OPTIONS) as plane:
        client = plane.client()
        for draw, many in ((applied_pairs.drawn, count), (applied_pairs.counting, count // 5)):
            for number in range(seed, seed + many):
                offline = draw is applied_pairs.drawn and number % 3 == 0
                pair = draw(number)
                wrong, unsure = applied_pairs.differences(
                    client, pair, f"pair-{draw.__name__}-{number}", offline=offline
                )
                seen.update((draw.__name__, *["Incomplete"] * unsure))
                yield from (f"{pair.name}: {each}" for each in wrong)


def scaled_up(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Scale workloads up by one: the next Pod is as was said."""
    asked = next_pods.situations(count, seed)
    for begin in range(0, len(asked), WORKLOADS_AT_ONCE):
        with control_plane(next_pods.OPTIONS) as plane:
            for outcome in next_pods.run(plane.client(), asked[begin : begin + WORKLOADS_AT_ONCE]):
                about = outcome.situation
                seen[_became(outcome)] += 1
                yield from (f"{about.namespace} {about.kind} {about.inject}: {each}" for each in outcome.differences)


def _became(outcome: next_pods.Outcome) -> str:
    """Return what became of the Pod."""
    if outcome.came is None:
        return "refused" if outcome.refused else "absent"
    return "bound" if outcome.came["spec"].get("nodeName") else "Pending"

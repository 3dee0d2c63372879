"""Clusters and manifests that are almost right: an answer or one clear error, never a traceback."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any, TypeAlias

from tests.hostile.poison import MANIFESTS, WAREHOUSE, objects_in
from tests.program import Ended, spread

Step: TypeAlias = str | int

REPLACEMENTS: tuple[Any, ...] = (
    *(None, "", "x", "m", "500m", "1e3", "1Zi", "-5", "100%", "\x1b[2J", "no such thing", "99999999999999999999"),
    *("Pod", "ReplicaSet", "warehouse", "n01", "topology.kubernetes.io/zone", "NoSchedule", "Honor", "ScheduleAnyway"),
    *(0, -1, 1, 3, 2**40, 1.5, True, [], {}, [None], [{}], ["a", "b"], {"": ""}, {"a": 1}, {"matchLabels": {}}),
    {"matchExpressions": [{"key": "a", "operator": "In", "values": []}]},
)


CLUSTER, WANTED = objects_in(WAREHOUSE), objects_in(MANIFESTS)


def places(value: object, *before: Step) -> Iterator[tuple[Step, ...]]:
    """Yield the path of everything below the value."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, below in entries:
        yield (*before, step)
        yield from places(below, *before, step)


def broken(objects: list[Any], random: Random) -> list[Any]:
    """Return the objects with up to four values gone or replaced, mostly by values of the same type."""
    changed = copy.deepcopy(objects)
    for _ in range(random.randint(1, 4)):
        *way, last = random.choice(list(places(changed)))
        parent: Any = changed
        for step in way:
            parent = parent[step]
        alike = [each for each in REPLACEMENTS if type(each) is type(parent[last])]
        if random.random() < 0.2 and len(way) > 0:
            del parent[last]
        else:
            parent[last] = copy.deepcopy(random.choice(alike if alike and random.random() < 0.9 else REPLACEMENTS))
    return changed


def as_list(objects: list[Any]) -> str:
    """Return the objects as one JSON document."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})


def ask_every_command(seed: int) -> None:
    """Ask every command about a cluster and manifests that are almost right."""
    random = Random(seed)  # noqa: S311 - no secret
    cluster = as_list(broken(CLUSTER, random))
    wanted = as_list(broken(random.sample(WANTED, 3), random))
    for words, stdin in (
        (("show", "-A", "--defaults", "--from", "-"), cluster),
        (("why-pending", "-A", "--fix-budget", "0.2", "--from", "-"), cluster),
        (("check", "-f", str(MANIFESTS), "--fix-budget", "0.2", "--from", "-"), cluster),
        (("check", "-f", "-", "--fix-budget", "0.2", "--from", WAREHOUSE), wanted),
    ):
        output = random.choice(("json", "wide"))
        is_answer_or_error(spread(*words, "-o", output, stdin=stdin), structured=output == "json")


def is_answer_or_error(ended: Ended, *, structured: bool) -> None:
    """Check that there is a report the schema allows, or nothing but errors."""
    if ended.code == 3 and not ended.stdout:
        assert all(line.startswith("error: ") for line in ended.stderr.splitlines())
        assert ended.stderr
        return
    assert ended.code in {0, 1, 3}
    if structured:
        assert ended.report["apiVersion"] == "spread.kubectl.dev/v1alpha2"
    else:
        assert "\x1b" not in ended.stdout

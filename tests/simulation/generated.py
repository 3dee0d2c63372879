"""Small clusters, each made from a seed: workloads spread over zones or hosts, with and without room and budgets."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.simulate import SimulateOptions, simulate
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.form import to_form
from kubectl_spread.contract.simulate import SimulateReport
from kubectl_spread.diagnosis.step_changes import SimulatedStep
from tests.build import HOSTNAME, ZONE, Object, app, node, object_of, pod, spread
from tests.commands.memory import Memory
from tests.rebalance.lying import web

ZONES = "abc"
ALONE = "alone"  # A Pod that nothing manages


def cluster(seed: int) -> list[Object]:
    """Return a cluster of three to nine nodes; its workloads are named web-0, web-1..., and want the Pods they have."""
    drawn = random.Random(seed)  # noqa: S311 - no secret
    nodes = [f"{zone}{number}" for zone in ZONES for number in range(drawn.randint(1, 3))]
    objects = [node(name, zone=name[0], allocatable={"cpu": str(drawn.randint(4, 12))}) for name in nodes]
    for number in range(drawn.randint(1, 3)):
        objects += _workload(f"web-{number}", nodes, drawn)
    return [*objects, pod(ALONE, on=nodes[0], status={"phase": "Running"})]


def _workload(name: str, nodes: Sequence[str], drawn: random.Random) -> list[Object]:
    """Return a ReplicaSet with its Pods anywhere, and perhaps a budget."""
    lie = Counter(drawn.choice(nodes) for _ in range(drawn.randint(2, 7)))
    constraint = spread(
        drawn.choice((ZONE, HOSTNAME)),
        selector=app(name),
        maxSkew=drawn.randint(1, 3),
        soft=drawn.random() < 0.25,
        nodeTaintsPolicy=drawn.choice(("Ignore", "Honor")),
    )
    made = web(lie, constraint, name=name, labels={"app": name}, requests={"cpu": drawn.choice(("500m", "1"))})
    budget = object_of("PodDisruptionBudget", name, spec={"selector": app(name), "maxUnavailable": drawn.randint(0, 2)})
    return [*made, budget] if drawn.random() < 0.5 else made


def steps_for(seed: int, objects: Sequence[Object]) -> list[str]:
    """Return two steps about the nodes and workloads of the cluster."""
    drawn = random.Random(seed)  # noqa: S311 - no secret
    nodes = [each["metadata"]["name"] for each in objects if each["kind"] == "Node"]
    scaled = f"scale replicaset/web-0={drawn.randint(0, 9)}"
    about_nodes = [f"{verb} {drawn.choice(nodes)}" for verb in ("drain", "cordon", "lose", "add-node")]
    return drawn.sample([*about_nodes, f"lose {ZONE}={drawn.choice(ZONES)}", scaled, "delete pod/web-0-0"], k=2)


def report_of(objects: Sequence[Object], *steps: str, **options: Any) -> SimulateReport:  # noqa: ANN401 - as for options
    """Return what becomes of the cluster; steps as ``drain a1``."""
    given = tuple((verb, value) for verb, value in (step.split(" ") for step in steps))
    return simulate(Memory(objects), Scope(namespace=""), SimulateOptions(steps=given, **options), SchedulerOptions())


def forms(report: SimulateReport) -> tuple[Any, ...]:
    """Return the steps as JSON has them."""
    steps: tuple[Any, ...] = to_form(report.steps)
    return steps


def wanted(objects: Sequence[Object], steps: Sequence[str]) -> Mapping[str, int]:
    """Return ReplicaSet's name → how many Pods it wants once the steps are done (count)."""
    found = {each["metadata"]["name"]: each["spec"]["replicas"] for each in objects if each["kind"] == "ReplicaSet"}
    scaled = (step.removeprefix("scale replicaset/").split("=") for step in steps if step.startswith("scale"))
    return found | {name: int(number) for name, number in scaled}


def there(step: SimulatedStep) -> Mapping[str, int]:
    """Return workload's name → its Pods that count or wait for a node (count)."""
    waiting = {each.workload.name: each.count for each in step.pending}
    return {i.workload.name: sum(i.after.values()) + waiting.get(i.workload.name, 0) for i in step.items}

"""Nodes that are full, Pods of every priority on them, and one that comes before some of these; drawn by a fixed seed.

Each situation has Nodes of its own, to which its Pod is bound by a label, so that nobody else's Pods can be evicted for
it. No two Pods have started at the same time, so that the scheduler has no choice among equals.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from tests.controlplane.api import Object
from tests.e2e.manifests import HOSTNAME, constraint, match, node, pod, pod_spec
from tests.e2e.situations import NAME

GROUP = "example.com/group"
PRIORITIES = {"low": -10, "mid": 5, "high": 100}
PRIORITY_CLASSES: Sequence[Object] = [
    {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": PRIORITIES.get(name, 100),
        "preemptionPolicy": "Never" if name == "never" else "PreemptLowerPriority",
    }
    for name in (*PRIORITIES, "never")
]
_SEED = "preemption"
_WEB = {"app": "web"}
_ROOM = {"cpu": "8", "memory": "64Gi", "pods": "20"}


@dataclass(slots=True)
class Contest:
    """A Pod, and those it may come before."""

    number: int  # which; it decides everything
    rng: Random
    asked: Object  # the Pod
    nodes: list[Object] = field(default_factory=list)  # where it may go
    there: list[Object] = field(default_factory=list)  # the Pods on these Nodes
    started: dict[str, str] = field(default_factory=dict)  # Pod's name → when it started
    budget: int | None = None  # how many of the application's Pods may be evicted; None for no budget

    @property
    def name(self) -> str:
        """The situation, its namespace, and the value of its Nodes' label."""
        return f"contest-{self.number}"

    @property
    def port(self) -> int:
        """The host port that some of its Pods have."""
        return 20000 + self.number


def contests(count: int) -> list[Contest]:
    """Return the first situations of an endless fixed series."""
    return [_contest(number) for number in range(count)]


def _contest(number: int) -> Contest:
    """Return a situation that depends on its number alone."""
    rng = Random(f"{_SEED} {number}")  # noqa: S311 - drawn to test with, not to keep a secret
    contest = Contest(number=number, rng=rng, asked={})
    contest.asked = pod(contest.name, NAME, labels=_WEB, spec={"nodeSelector": {GROUP: contest.name}})
    contest.asked["spec"]["priorityClassName"] = rng.choice(("mid", "high", "high", "high", "high", "never"))
    contest.budget = rng.choice((None, None, 0, 1))
    for letter in "abc"[: rng.randint(1, 3)]:
        _fill(contest, f"{contest.name}-{letter}")
    rng.choice(_DEMANDS)(contest)
    return contest


def _fill(contest: Contest, name: str) -> None:
    """Make a Node and put Pods on it, often until it is full."""
    rng = contest.rng
    taints = [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}] if rng.random() < 0.1 else []
    contest.nodes.append(node(name, labels={GROUP: contest.name}, room=_ROOM, taints=taints))
    left = 8
    while left > 0 and len(contest.there) < 30:
        cpu = min(left, rng.choice((1, 2, 2, 3, 4)))
        _put(contest, name, cpu=cpu)
        left -= cpu


def _put(contest: Contest, node_name: str, *, cpu: int) -> None:
    """Put a Pod on the Node."""
    rng, number = contest.rng, len(contest.there)
    ports = (
        [{"containerPort": 80, "hostPort": contest.port}]
        if rng.random() < 0.3 and not _has_port(contest, node_name)
        else []
    )
    spec = pod_spec(resources={"requests": {"cpu": str(cpu)}}, ports=ports)
    if priority := rng.choice(("low", "low", "mid", "high", None, None)):
        spec["priorityClassName"] = priority
    labels = {"app": rng.choice(("web", "other"))}
    made = pod(contest.name, f"p{number}", labels=labels, spec={**spec, "nodeName": node_name})
    contest.there.append(made)
    contest.started[f"p{number}"] = f"2026-01-01T{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{number:02}Z"


def _has_port(contest: Contest, node_name: str) -> bool:
    """Whether a Pod on the Node has the port already, which the kubelet gives but once."""
    return any(
        made["spec"]["nodeName"] == node_name and made["spec"]["containers"][0]["ports"] for made in contest.there
    )


def _cpu(contest: Contest) -> None:
    """Ask for much of a Node."""
    cpu = contest.rng.choice(("2", "4", "6"))
    contest.asked["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}


def _port_taken(contest: Contest) -> None:
    """Ask for the port."""
    contest.asked["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": contest.port}]
    contest.asked["spec"]["containers"][0]["resources"] = {"requests": {"cpu": contest.rng.choice(("1", "3"))}}


def _spread(contest: Contest) -> None:
    """Be spread over the Nodes, and ask for a little."""
    contest.asked["spec"]["topologySpreadConstraints"] = [constraint(HOSTNAME, selector=match(**_WEB))]
    contest.asked["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}


def _apart(contest: Contest) -> None:
    """Be alone of its application on a Node, and ask for a little."""
    term = {"topologyKey": HOSTNAME, "labelSelector": match(**_WEB)}
    contest.asked["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    contest.asked["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}


_DEMANDS: Sequence[Callable[[Contest], None]] = (_cpu, _cpu, _port_taken, _spread, _apart)

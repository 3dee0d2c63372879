"""The situations that tools are asked about: Nodes, a Deployment, and what there is to say once it was scheduled.

Six Nodes lie in three zones unless a situation leaves some out: n1 and n2 in east, n3, n4 in west, n5, n6 in north.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.controlplane.api import Object
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, node, pod_spec

DEPLOYMENT = "web"
SPREADING = "spreading"
"""A scheduler profile whose default constraint is maxSkew 1 over zones, DoNotSchedule."""

_WEB = {"app": DEPLOYMENT}
_SELECTOR = match(**_WEB)
_HOME = {"n1": "east", "n2": "east", "n3": "west", "n4": "west", "n5": "north", "n6": "north"}
_DEDICATED = ({"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},)
_POOL = "example.com/pool"


@dataclass(frozen=True, kw_only=True, slots=True)
class Situation:
    """One Deployment on a cluster, and what a good answer about it holds."""

    name: str
    nodes: tuple[Object, ...]
    revisions: tuple[Object, ...]
    """The Deployment's specs, applied one after another once the scheduler has decided on each."""
    decision: str
    """What the scheduler decides about the newest revision, as the table says it."""
    cause: str
    """A regular expression that a line of the answer matches when it names what is to blame."""
    counts: Mapping[str, int]
    """Domain → matching Pods of the newest revision once the scheduler is done; empty where no domain is counted."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """Pod → its Node: Pods with the same label that nothing owns."""
    profile: bool = False
    """Whether the Pods ask for the profile that has default constraints."""

    @property
    def pending(self) -> bool:
        """Whether a Pod is left without a Node."""
        return "Pending" in self.decision


def situations() -> Sequence[Situation]:
    """Return all situations in the order of the table."""
    return (*_pinned(), *_counted_otherwise(), *_misunderstood(), *_silent())


def _pinned() -> Sequence[Situation]:
    """Return those where the domain with the fewest Pods takes none."""
    zones = constraint(ZONE, selector=_SELECTOR)
    even = {"east": 1, "west": 1, "north": 0}
    return (
        Situation(
            name="The zone with the fewest Pods is tainted",
            nodes=_nodes(tainted=("north",)),
            revisions=(_deployment(3, zones),),
            decision="1 of 3 Pending",
            cause="north.*dedicated",
            counts=even,
        ),
        Situation(
            name="The nodes of a zone are cordoned",
            nodes=_nodes(cordoned=("north",)),
            revisions=(_deployment(3, zones),),
            decision="1 of 3 Pending",
            cause="north.*(cordoned|unschedulable)",
            counts=even,
        ),
        Situation(
            name="A default constraint of the cluster, and a tainted zone",
            nodes=_nodes(tainted=("north",)),
            revisions=(_deployment(3, schedulerName=SPREADING),),
            decision="1 of 3 Pending",
            cause="north.*dedicated",
            counts=even,
            profile=True,
        ),
    )


def _counted_otherwise() -> Sequence[Situation]:
    """Return those where a field of the constraint says which Pods or Nodes count."""
    pools = {"east": "blue", "west": "blue"}
    return (
        Situation(
            name="matchLabelKeys during a rollout",
            nodes=_nodes(tainted=("north",)),
            revisions=(
                _deployment(3, nodeSelector={ZONE: "east"}),
                _deployment(3, constraint(ZONE, selector=_SELECTOR, matchLabelKeys=["pod-template-hash"])),
            ),
            decision="1 of 3 Pending",
            cause="north.*dedicated",
            counts={"east": 1, "west": 1, "north": 0},
        ),
        Situation(
            name="nodeTaintsPolicy Honor, and a tainted zone",
            nodes=_nodes(tainted=("north",)),
            revisions=(_deployment(4, constraint(ZONE, selector=_SELECTOR, nodeTaintsPolicy="Honor")),),
            decision="4 of 4 bound",
            cause="north.*not counted",
            counts={"east": 2, "west": 2},
        ),
        Situation(
            name="nodeAffinityPolicy Ignore, and a nodeSelector",
            nodes=_nodes(pools=pools),
            revisions=(
                _deployment(
                    3,
                    constraint(ZONE, selector=_SELECTOR, nodeAffinityPolicy="Ignore"),
                    nodeSelector={_POOL: "blue"},
                ),
            ),
            decision="1 of 3 Pending",
            cause=f"north.*([Nn]ode ?[Ss]elector|[Aa]ffinity|{_POOL})",
            counts={"east": 1, "west": 1, "north": 0},
        ),
    )


def _misunderstood() -> Sequence[Situation]:
    """Return those where constraints ask for what the cluster does not have."""
    return (
        Situation(
            name="minDomains is larger than the number of domains",
            nodes=_nodes(without=("north",)),
            revisions=(_deployment(3, constraint(ZONE, selector=_SELECTOR, minDomains=3)),),
            decision="1 of 3 Pending",
            cause="minDomains",
            counts={"east": 1, "west": 1},
        ),
        Situation(
            name="Two constraints that together leave no node",
            nodes=_nodes(without=("north",))[:3],
            revisions=(_deployment(1, constraint(ZONE, selector=_SELECTOR), constraint(HOSTNAME, selector=_SELECTOR)),),
            decision="1 of 1 Pending",
            cause="zone.*hostname|hostname.*zone",
            counts={"east": 3, "west": 2},
            beside={"p1": "n1", "p2": "n1", "p3": "n2", "p4": "n3", "p5": "n3"},
        ),
        Situation(
            name="A topology key that no node has",
            nodes=_nodes(),
            revisions=(_deployment(1, constraint(f"{ZONE}s", selector=_SELECTOR)),),
            decision="1 of 1 Pending",
            cause="missing required label|no node (has|carries)",
            counts={},
        ),
        Situation(
            name="Too little CPU on every node, and an even spread",
            nodes=_nodes(),
            revisions=(
                _deployment(
                    1,
                    constraint(ZONE, selector=_SELECTOR),
                    **pod_spec(resources={"requests": {"cpu": "100"}}),
                ),
            ),
            decision="1 of 1 Pending",
            cause="[Ii]nsufficient cpu",
            counts={"east": 0, "west": 0, "north": 0},
        ),
    )


def _silent() -> Sequence[Situation]:
    """Return those where every Pod is bound and the spread is not what was meant."""
    soft = constraint(ZONE, selector=_SELECTOR, whenUnsatisfiable="ScheduleAnyway")
    return (
        Situation(
            name="A selector that does not match its own Pods",
            nodes=_nodes(),
            revisions=(_deployment(3, constraint(ZONE, selector=match(app="wbe"))),),
            decision="3 of 3 bound",
            cause="selector.* does not match",
            counts={"east": 0, "west": 0, "north": 0},
        ),
        Situation(
            name="A preference that is not met",
            nodes=_nodes(tainted=("west", "north")),
            revisions=(_deployment(3, soft),),
            decision="3 of 3 bound",
            cause="Uneven|[Ss]kew (is )?3",
            counts={"east": 3, "west": 0, "north": 0},
        ),
    )


def _nodes(
    *,
    tainted: Sequence[str] = (),
    cordoned: Sequence[str] = (),
    without: Sequence[str] = (),
    pools: Mapping[str, str] | None = None,
) -> tuple[Object, ...]:
    """Return the Nodes, but for those of the zones ``without``; ``pools`` gives the Nodes of a zone a label."""
    return tuple(
        node(
            name,
            labels={ZONE: zone, **({_POOL: pools[zone]} if pools and zone in pools else {})},
            taints=_DEDICATED if zone in tainted else (),
            unschedulable=zone in cordoned,
        )
        for name, zone in _HOME.items()
        if zone not in without
    )


def _deployment(replicas: int, *constraints: Object, **spec: object) -> Object:
    """Return the spec of a Deployment that makes all its new Pods at once; ``spec`` adds to that of the Pods."""
    return {
        "replicas": replicas,
        "selector": _SELECTOR,
        "strategy": {"rollingUpdate": {"maxSurge": replicas, "maxUnavailable": 0}},
        "template": {
            "metadata": {"labels": _WEB},
            "spec": {**pod_spec(), "topologySpreadConstraints": [*constraints], **spec},
        },
    }

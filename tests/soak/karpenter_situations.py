"""Clusters with Karpenter in which one Pod has no node: a function for each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.controlplane.api import Object
from tests.e2e.fixes_as_printed import NAME, workload
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, node, pod_spec

CAPACITY = "karpenter.sh/capacity-type"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
TEAM = "example.com/team"
RACK = "example.com/rack"
STARTING = {"key": "example.com/starting", "effect": "NoSchedule"}
GPU = {"key": "gpu", "value": "true", "effect": "NoSchedule"}
NODE_CLASS: Object = {
    "apiVersion": "karpenter.kwok.sh/v1alpha1",
    "kind": "KWOKNodeClass",
    "metadata": {"name": "default"},
}
MACHINES: Mapping[str, Mapping[str, str]] = {
    "m.large": {"cpu": "2", "memory": "8Gi"},
    "m.xlarge": {"cpu": "4", "memory": "16Gi"},
    "m.2xlarge": {"cpu": "8", "memory": "32Gi"},
    "g.large": {"cpu": "2", "memory": "8Gi", "nvidia.com/gpu": "1"},
}
"""The instance types that every NodePool offers, in zones a to d; those with a GPU only in zone a."""


@dataclass(frozen=True, kw_only=True)
class Situation:
    """A Deployment that grows by one Pod for which there is no node."""

    decision: str  # what Karpenter does about that Pod, as `why-pending` has to report it
    nodes: Sequence[Object] = ()  # those that Karpenter did not create
    pools: Sequence[Object]  # the NodePools, and what they refer to
    spec: Object = field(default_factory=dict)  # what the spec of its Pods has beyond one container
    cpu: str = "1"  # what that container requests
    gpus: int = 0  # GPUs (count) that it requests
    runs: int = 2  # Pods (count) that run before; Karpenter may create nodes for them
    starting: str = ""  # the condition of the NodeClaim for these Pods when the next comes; empty where they all run
    later: Sequence[Object] = ()  # what is applied after that
    finding: str = ""  # what `show` reports before the Pod comes; empty for nothing
    fix: str = ""  # which of the printed changes is made; empty for none
    # what is applied where no change of the Pod helps and somebody has to follow the printed advice
    remedy: Sequence[Object] = ()

    def deployment(self, namespace: str, replicas: int) -> Object:
        """Return the Deployment with so many Pods."""
        gpus = {"nvidia.com/gpu": str(self.gpus)} if self.gpus else {}
        resources = {"requests": {"cpu": self.cpu, **gpus}, "limits": gpus}
        spec = {**pod_spec(resources=resources), **self.spec}
        template = {"metadata": {"labels": {"app": NAME}}, "spec": spec}
        return workload("Deployment", namespace, name=NAME, template=template, replicas=replicas)


def instance_types() -> str:
    """Return the instance types in kwok's format."""
    sold = [(zone, how, price) for zone in "abcd" for how, price in (("on-demand", 2.0), ("spot", 1.0))]
    return json.dumps(
        [
            {
                "name": name,
                "architecture": "amd64",
                "operatingSystems": ["linux"],
                "resources": resources,
                "offerings": [
                    {
                        "Price": price * int(resources["cpu"]),
                        "Requirements": [one_of(ZONE, zone), one_of(CAPACITY, how)],
                    }
                    for zone, how, price in sold
                    if zone == "a" or "nvidia.com/gpu" not in resources
                ],
            }
            for name, resources in MACHINES.items()
        ]
    )


def one_of(key: str, *values: str) -> Object:
    """Return a requirement."""
    return {"key": key, "operator": "In", "values": [*values]}


def small() -> Object:
    """Return the requirement of machines that are as large as one Pod."""
    return one_of(INSTANCE_TYPE, "m.large")


def large() -> Object:
    """Return the requirement of the largest machines."""
    return one_of(INSTANCE_TYPE, "m.2xlarge")


def pool(
    name: str = "default",
    zones: str = "ab",
    *requirements: Object,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Object] = (),
    startup_taints: Sequence[Object] = (),
    node_class: str = "default",
    **spec: object,
) -> Object:
    """Return a NodePool in these zones, any for none, whose nodes stay; ``spec`` has its limits or weight."""
    template: Object = {
        "metadata": {"labels": {**(labels or {})}},
        "spec": {
            "expireAfter": "Never",
            "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": node_class},
            "requirements": [
                *([one_of(ZONE, *zones)] if zones else []),
                *(requirements or [one_of(CAPACITY, "on-demand")]),
            ],
            "taints": [*taints],
            "startupTaints": [*startup_taints],
        },
    }
    stays = {"consolidateAfter": "Never", "budgets": [{"nodes": "0"}]}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"disruption": stays, "template": template, **spec},
    }


def spread(*keys: str, **fields: object) -> Object:
    """Return a spec with constraints on these keys, the zone for none."""
    return {"topologySpreadConstraints": [constraint(k, selector=match(app=NAME), **fields) for k in keys or (ZONE,)]}


def small_nodes(zones: str = "ab", cpu: str = "1") -> Sequence[Object]:
    """Return a node in each zone, as large as one Pod unless told otherwise."""
    return [node(f"n{number}", labels={ZONE: zone}, room={"cpu": cpu}) for number, zone in enumerate(zones, 1)]


def full_zones() -> Situation:
    """Both zones are full, and either may come."""
    return Situation(decision="NewNode", nodes=small_nodes(), pools=[pool()], spec=spread())


def emptied_zone() -> Situation:
    """A zone of the pool has no node."""
    return Situation(
        decision="NewNode", nodes=small_nodes(), pools=[pool(zones="abc")], spec=spread(), finding="EmptyPool"
    )


def heavier_pool() -> Situation:
    """Two pools can, and one has more weight."""
    pools = [pool("zeta"), pool("alpha", weight=50)]
    return Situation(decision="NewNode", nodes=small_nodes(), pools=pools, spec=spread())


def pool_in_each_zone() -> Situation:
    """Each zone has a pool of its own."""
    pools = [pool(f"pool-{zone}", zone) for zone in "abc"]
    return Situation(decision="NewNode", nodes=small_nodes("ac"), pools=pools, spec=spread(), finding="EmptyPool")


def tolerated_taint() -> Situation:
    """The zone with the fewest Pods comes from a tainted pool, and the Pod tolerates the taint."""
    pools = [pool(), pool("gpu", "c", taints=[GPU])]
    spec = {**spread(), "tolerations": [{"key": "gpu", "operator": "Exists"}]}
    return Situation(decision="NewNode", nodes=small_nodes(), pools=pools, spec=spec, finding="EmptyPool")


def capacity_types() -> Situation:
    """The constraint spreads over capacity types, of which one has no node."""
    nodes = [node("n1", labels={ZONE: "a", CAPACITY: "on-demand"}, room={"cpu": "1"})]
    both = pool("default", "ab", one_of(CAPACITY, "on-demand", "spot"))
    return Situation(decision="NewNode", nodes=nodes, pools=[both], spec=spread(CAPACITY), runs=1, finding="EmptyPool")


def racks() -> Situation:
    """The constraint spreads over a label that only pools set."""
    nodes = [node("n1", labels={ZONE: "a", RACK: "r1"}, room={"cpu": "1"})]
    pools = [pool("first", labels={RACK: "r1"}), pool("second", labels={RACK: "r2"})]
    return Situation(decision="NewNode", nodes=nodes, pools=pools, spec=spread(RACK), runs=1, finding="EmptyPool")


def node_on_its_way() -> Situation:
    """A node that was created for another Pod has room, and is not there yet."""
    slow = {**NODE_CLASS, "metadata": {"name": "slow"}, "spec": {"nodeRegistrationDelay": "20s"}}
    pools = [slow, pool("default", "a", large(), node_class="slow")]
    return Situation(decision="ExistingNode", pools=pools, spec=spread(), runs=1, starting="Launched")


def starting_node() -> Situation:
    """A node has room, and a taint that goes when it has started."""
    pools = [pool("default", "a", large(), startup_taints=[STARTING])]
    return Situation(decision="ExistingNode", pools=pools, spec=spread(), runs=1, starting="Registered")


def tainted_pool() -> Situation:
    """The zone that holds the minimum comes only from a pool whose taint the Pod does not tolerate."""
    pools = [pool(), pool("gpu", "c", taints=[GPU])]
    return Situation(
        decision="Refused", nodes=small_nodes(), pools=pools, spec=spread(), finding="PhantomDomain", fix="HonorTaints"
    )


def tainted_pool_and_own_zones() -> Situation:
    """The same, and the Pod is then kept to the other zones."""
    pools = [pool("web", "abd"), pool("gpu", "c", taints=[{**GPU, "effect": "NoExecute"}])]
    return Situation(
        decision="Refused",
        nodes=small_nodes("abd"),
        pools=pools,
        spec=spread(),
        runs=3,
        finding="PhantomDomain",
        fix="RequireZones",
    )


def tainted_pool_that_comes_later() -> Situation:
    """Karpenter creates the nodes, then somebody adds the pool."""
    return Situation(
        decision="Refused",
        pools=[pool("default", "ab", small())],
        later=[pool("gpu", "c", taints=[GPU])],
        spec=spread(),
        finding="PhantomDomain",
        fix="HonorTaints",
    )


def pool_of_another_team() -> Situation:
    """The zone that holds the minimum comes only from a pool that the Pod does not select."""
    pools = [pool("red", labels={TEAM: "red"}), pool("blue", "c", labels={TEAM: "blue"})]
    nodes = [
        {**n, "metadata": {**n["metadata"], "labels": {**n["metadata"]["labels"], TEAM: "red"}}} for n in small_nodes()
    ]
    spec = {**spread(), "nodeSelector": {TEAM: "red"}}
    return Situation(
        decision="Refused", nodes=nodes, pools=pools, spec=spec, finding="PhantomDomain", fix="RequireZones"
    )


def zone_without_a_pool() -> Situation:
    """The zone that holds the minimum has a full node, and no pool offers it."""
    full = node("full", labels={ZONE: "c"}, room={"cpu": "100m"})
    return Situation(
        decision="Refused", nodes=[*small_nodes(), full], pools=[pool()], spec=spread(), fix="RequireZones"
    )


def soft_and_hard() -> Situation:
    """The soft constraint is dropped, and the hard one still refuses."""
    hard = spread()["topologySpreadConstraints"]
    soft = spread(HOSTNAME, whenUnsatisfiable="ScheduleAnyway")["topologySpreadConstraints"]
    pools = [pool(), pool("gpu", "c", taints=[GPU])]
    return Situation(
        decision="Refused",
        nodes=small_nodes(),
        pools=pools,
        spec={"topologySpreadConstraints": [*soft, *hard]},
        finding="PhantomDomain",
        fix="HonorTaints",
    )


def limit_reached() -> Situation:
    """The pool's nodes have all that its limit allows."""
    return Situation(
        decision="Refused",
        pools=[pool("default", "ab", small(), limits={"cpu": "4"})],
        spec=spread(),
        cpu="1500m",
        remedy=[pool("default", "ab", small(), limits={"cpu": "8"})],
    )


def pool_without_node_class() -> Situation:
    """A pool that is not Ready does not count; the other does not offer what the Pod selects."""
    pools = [pool("lost", "ab", labels={TEAM: "red"}, node_class="none"), pool("other", "ab")]
    spec = {**spread(), "nodeSelector": {TEAM: "red"}}
    return Situation(decision="Refused", pools=pools, spec=spec, runs=0, finding="PhantomDomain")


def selected_by_hostname() -> Situation:
    """Karpenter leaves Pods alone that select a node by its name."""
    return Situation(decision="Refused", pools=[pool()], spec={**spread(), "nodeSelector": {HOSTNAME: "n9"}}, runs=0)


def instance_types_spread() -> Situation:
    """The constraint spreads over instance types."""
    nodes = [node("n1", labels={ZONE: "a", INSTANCE_TYPE: "m.large"}, room={"cpu": "1"})]
    pools = [pool("default", "ab", one_of(INSTANCE_TYPE, "m.large", "m.xlarge"))]
    return Situation(
        decision="NewNode", nodes=nodes, pools=pools, spec=spread(INSTANCE_TYPE), runs=1, finding="EmptyPool"
    )


def no_zone_left() -> Situation:
    """Anti-affinity keeps the Pods apart in zones, and none is left."""
    term = {"topologyKey": ZONE, "labelSelector": match(app=NAME)}
    spec = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    return Situation(decision="Refused", nodes=small_nodes(), pools=[pool()], spec=spec)


def machine_sold_in_one_zone() -> Situation:
    """Karpenter picks one of two zones at random, and the machine is sold in one of them."""
    return Situation(decision="ByChance", pools=[pool()], spec=spread(), gpus=1, runs=0)


def fixed_pool() -> Situation:
    """A pool of a fixed size brings no node for a Pod, and its zone does not count."""
    pools = [pool(), pool("fixed", "c", replicas=0)]
    return Situation(decision="NewNode", nodes=small_nodes(), pools=pools, spec=spread())


def too_few_kinds_of_machines() -> Situation:
    """The pool requires more instance types than are large enough."""
    kinds = {"key": INSTANCE_TYPE, "operator": "Exists", "minValues": 2}
    return Situation(decision="Refused", pools=[pool("default", "ab", kinds)], spec=spread(), cpu="5", runs=0)


SITUATIONS: Sequence[Callable[[], Situation]] = (
    full_zones,
    emptied_zone,
    heavier_pool,
    pool_in_each_zone,
    tolerated_taint,
    capacity_types,
    racks,
    node_on_its_way,
    starting_node,
    tainted_pool,
    tainted_pool_and_own_zones,
    tainted_pool_that_comes_later,
    pool_of_another_team,
    zone_without_a_pool,
    soft_and_hard,
    limit_reached,
    pool_without_node_class,
    selected_by_hostname,
    instance_types_spread,
    no_zone_left,
    machine_sold_in_one_zone,
    fixed_pool,
    too_few_kinds_of_machines,
)

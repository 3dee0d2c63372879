"""Reports for pages: of a whole large cluster, and of one where somebody chose the names to do harm."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kubectl_spread.contract.evaluation import NodeReport, Rejection
from kubectl_spread.contract.pending import PendingItem, PendingReport
from kubectl_spread.contract.report import Metadata
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.causes import NoNodes
from kubectl_spread.diagnosis.domains import BypassedNode, ConstraintDiagnosis, Domain
from kubectl_spread.diagnosis.evaluation import Conclusion, Verdict
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, FilterRequirement
from tests.build import HOSTNAME, ZONE

LARGE = Metadata(
    version="0.1.0",
    server="https://10.0.0.1:6443",
    kube_version="v1.36",
    kube_version_from="server",
    source="prod-eu",
    resource_versions={"nodes": "81723", "pods": "81724"},
)
ZONES = ("eu-central-1a", "eu-central-1b", "eu-central-1c")
TIGHT = 3  # Of that many nodes, one has no CPU left


def large_report(*, nodes: int, pods_per_node: int, items: int = 1) -> PendingReport:
    """Return why Pods wait in a cluster of many nodes, with a constraint on zones and one on nodes.

    Args:
        nodes: how many there are.
        pods_per_node: the matching Pods on each, in the first two zones twice as many in all as in the third.
        items: how many Pods wait, each with a template of its own.
    """
    names = [f"ip-10-{n // 65536}-{n // 256 % 256}-{n % 256}.eu-central-1.compute.internal" for n in range(nodes)]
    return PendingReport(metadata=LARGE, items=tuple(_item(f"web-{n}", names, pods_per_node) for n in range(items)))


def _item(name: str, names: Sequence[str], pods: int) -> PendingItem:
    """Return why one Pod waits there."""
    on_zones, on_nodes = _on_zones(names[:-3], pods), _on_nodes(names, pods)
    missing = tuple(BypassedNode(name=each, reason="MissingTopologyKey", key=ZONE) for each in names[-3:])
    return PendingItem(
        namespace="shop",
        name=name,
        workload=WorkloadRef(kind="Deployment", name=name),
        verdict=Verdict.UNSCHEDULABLE,
        conclusion=Conclusion(cause=NoNodes()),
        message=f"0/{len(names)} nodes are available: {len(names)} node(s) didn't match.",
        feasible=(),
        nodes=tuple(_node(number, each) for number, each in enumerate(names)),
        constraints=(msgspec.structs.replace(on_zones, bypassed_nodes=missing), on_nodes),
        conflict=(ConstraintRequirement(0), FilterRequirement("NodeResourcesFit")),
        scheduler_name="default-scheduler",
    )


def _node(number: int, name: str) -> NodeReport:
    """Return what became of a node: of each there is something of its own to say where room is short."""
    spread = Rejection(
        plugin="PodTopologySpread",
        code="Unschedulable",
        reasons=("node(s) didn't match pod topology spread constraints",),
        detail=f"constraint on {ZONE}",
    )
    room = Rejection(
        plugin="NodeResourcesFit",
        code="Unschedulable",
        reasons=("Insufficient cpu",),
        detail=f"wants 4 cpu, {number % 4000}m are free",
    )
    rejections = (room,) if number % TIGHT == 2 else (spread,)
    return NodeReport(
        name=name,
        feasible=False,
        plugin=rejections[0].plugin,
        code="Unschedulable",
        reasons=rejections[0].reasons,
        rejections=rejections,
    )


def _on_zones(names: Sequence[str], pods: int) -> ConstraintDiagnosis:
    """Return the constraint on zones, whose third holds half of what the others do."""
    domains = []
    counts = {
        zone: dict.fromkeys(names[number::3], pods if number < 2 else pods // 2) for number, zone in enumerate(ZONES)
    }
    least = min(sum(by_node.values()) for by_node in counts.values())
    for zone, by_node in counts.items():
        domains.append(_domain(zone, by_node, least))
    return _constraint(0, ZONE, tuple(domains), least)


def _on_nodes(names: Sequence[str], pods: int) -> ConstraintDiagnosis:
    domains = tuple(_domain(name, {name: pods + number % 2}, pods) for number, name in enumerate(names))
    return _constraint(1, HOSTNAME, domains, pods)


def _domain(value: str, by_node: dict[str, int], least: int) -> Domain:
    """Return a domain that holds the Pods on its nodes."""
    matching = sum(by_node.values())
    return Domain(
        value=value,
        nodes=tuple(by_node),
        eligible=True,
        matching=matching,
        by_node=by_node,
        skew=matching - least,
        skew_if_placed=matching - least + 1,
        allowed=matching == least,
    )


def _constraint(index: int, key: str, domains: tuple[Domain, ...], least: int) -> ConstraintDiagnosis:
    return ConstraintDiagnosis(
        index=index,
        topology_key=key,
        max_skew=1,
        min_domains=1,
        when_unsatisfiable="DoNotSchedule",
        selector="app=web",
        self_match=True,
        default=False,
        global_minimum=least,
        minimum_domains=tuple(domain.value for domain in domains if domain.matching == least),
        domains=domains,
        bypassed_nodes=(),
    )

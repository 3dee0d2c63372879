"""Changes of what else the Pod requires of a node, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kubectl_spread.diagnosis.fixes import demands
from kubectl_spread.diagnosis.fixes.proposals import Proposal
from kubectl_spread.wording.words import enumerated


def _require_zones(fix: demands.RequireZones) -> str:
    return f"keep the Pod to zone{'s' * (len(fix.zones) > 1)} {enumerated(fix.zones)} by node affinity"


def _add_toleration(fix: demands.AddToleration) -> str:
    return f"tolerate the taint {fix.taint}"


def _relax_node_selector(fix: demands.RelaxNodeSelector) -> str:
    if fix.label is None:
        return "only prefer the nodes that the required node affinity names"
    return f"drop {'='.join(fix.label)} from the nodeSelector"


def _lower_requests(fix: demands.LowerRequests) -> str:
    whose = "the Pod" if fix.container is None else f"container {fix.container}"
    return f"lower the {fix.resource} request of {whose} to {fix.quantity}"


def _relax_pod_affinity(fix: demands.RelaxPodAffinity) -> str:
    return f"only prefer the {fix.field} to Pods {fix.selector} in the same {fix.topology_key}"


def _change_host_port(fix: demands.ChangeHostPort) -> str:
    return f"drop the host port {fix.port}/{fix.protocol} of container {fix.container}"


TEXTS: Mapping[type[Proposal], Callable[..., str]] = {
    demands.RequireZones: _require_zones,
    demands.AddToleration: _add_toleration,
    demands.RelaxNodeSelector: _relax_node_selector,
    demands.LowerRequests: _lower_requests,
    demands.RelaxPodAffinity: _relax_pod_affinity,
    demands.ChangeHostPort: _change_host_port,
}
"""Change → its text; of changes of constraints also by their topology keys."""
CAUTIONS: Mapping[type[Proposal], str] = {
    demands.AddToleration: "the nodes are reserved on purpose: make sure that this Pod belongs there",
}
"""Change → what to know before it is made."""

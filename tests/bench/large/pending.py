"""The Pods of the large cluster that wait: twenty, of eighteen causes, in the namespaces of five teams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tests.bench.large.contents import NODE_CPU, POOL, RACK, TAINT, TEAM, ZONES
from tests.controlplane.api import Object
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, pod, pod_spec

ON_ALL_NODES = "wants-a-large-gap"
"""What it asks an empty node has, and every node has Pods: all of them have to be read."""
ON_FEW_NODES = "wants-a-large-gap-in-a-rack"
"""The same of the nodes of one rack."""
NAMESPACE = "team-00"
"""Where these two are."""
_GAP = {"requests": {"cpu": str(NODE_CPU - 4)}}
_IN_A_RACK = {RACK: "rack-010"}


def pending_pods() -> Sequence[Object]:
    """Return the Pods that wait, those of a kind in one namespace."""
    made = (_by_resources(), _by_nodes(), _by_spread("team-02"), _by_other_pods(), _by_nobody())
    return [
        pod(f"team-{team:02}", name, labels={"app": name.rstrip("-0123456789"), TEAM: f"team-{team:02}"}, spec=spec)
        for team, specs in enumerate(made)
        for name, spec in specs
    ]


def _by_resources() -> Iterator[tuple[str, Object]]:
    """Yield what asks for more than there is."""
    yield ON_ALL_NODES, pod_spec(resources=_GAP)
    yield ON_FEW_NODES, {**pod_spec(resources=_GAP), "nodeSelector": _IN_A_RACK}
    yield "larger-than-any-node", pod_spec(resources={"requests": {"cpu": str(NODE_CPU * 4)}})
    yield "wants-a-device", pod_spec(resources={"limits": {"example.com/accelerator": "1"}})


def _by_nodes() -> Iterator[tuple[str, Object]]:
    """Yield what the labels, taints and volumes of nodes rule out."""
    batch: Mapping[str, object] = {
        "nodeSelector": {POOL: "batch"},
        "tolerations": [{"key": TAINT["key"], "operator": "Exists"}],
    }
    yield "nowhere-by-label", {"nodeSelector": {POOL: "turbo"}}
    yield "not-tolerating", {"nodeSelector": {POOL: "batch"}}
    yield "larger-than-its-pool", {**pod_spec(resources={"requests": {"cpu": "20"}}), **batch}
    yield "claims-what-is-missing", {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "gone"}}]}


def _by_spread(team: str) -> Iterator[tuple[str, Object]]:
    """Yield what constraints keep out; the team has an app with too many Pods in the first zone."""
    of_team = match(**{TEAM: team})
    misspelt = constraint("topology.kubernetes.io/zones", selector=of_team)
    yield "misspelt-key", {"topologySpreadConstraints": [misspelt]}
    unreachable = constraint(ZONE, selector=of_team, minDomains=ZONES + 1)
    yield from ((f"too-few-zones-{replica}", {"topologySpreadConstraints": [unreachable]}) for replica in range(3))
    full = constraint(ZONE, selector=of_team, nodeAffinityPolicy="Ignore")
    yield "kept-to-a-full-zone", {"nodeSelector": {ZONE: "zone-0"}, "topologySpreadConstraints": [full]}
    even = constraint(ZONE, selector=of_team)
    yield "even-and-large", {**pod_spec(resources=_GAP), "topologySpreadConstraints": [even]}


def _by_other_pods() -> Iterator[tuple[str, Object]]:
    """Yield what Pods near by keep out, or would have to let in."""
    nobody = {"topologyKey": ZONE, "labelSelector": match(app="nobody")}
    yield "near-nobody", {"affinity": {"podAffinity": _required(nobody)}}
    of_any_team = {"matchExpressions": [{"key": TEAM, "operator": "Exists"}]}
    anybody = {"topologyKey": HOSTNAME, "namespaceSelector": {}, "labelSelector": of_any_team}
    yield "away-from-everybody", {"affinity": {"podAntiAffinity": _required(anybody)}, "nodeSelector": _IN_A_RACK}


def _required(term: Object) -> Object:
    """Return an affinity of one term that must hold."""
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def _by_nobody() -> Iterator[tuple[str, Object]]:
    """Yield what the scheduler has not tried, or what fits and is not bound yet."""
    yield "gated", {"schedulingGates": [{"name": "example.com/quota"}]}
    yield "of-another-scheduler", {"schedulerName": "batch-scheduler"}
    yield "just-made", {}
    yield "just-made-in-a-rack", {"nodeSelector": _IN_A_RACK}

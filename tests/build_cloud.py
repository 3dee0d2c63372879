"""A cluster as a cloud has it: thirty nodes with long names in three zones and three node pools, and Pods that wait."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.build import HOSTNAME, ZONE, Object, node, pod, spread
from tests.build_workloads import revision, workload

REGION, NAMESPACE, NAME, HASH = "eu-central-1", "payments", "checkout-frontend", "6d8f9c7b5"
POOLS = (*["general"] * 7, "spot", "spot", "gpu")  # The pool of each node of a zone
TAINTS = {"spot": "example.com/spot=true:NoSchedule", "gpu": "nvidia.com/gpu=present:NoSchedule"}
LABELS = {"app.kubernetes.io/name": NAME}
SELECTOR: Object = {"matchLabels": LABELS}
ON_ZONES, ON_NODES = spread(ZONE, selector=SELECTOR), spread(HOSTNAME, selector=SELECTOR)
POOL = "eks.amazonaws.com/nodegroup"


def node_name(here: str) -> str:
    """Return the name of a node; ``here`` is the last letter of its zone, and its number there."""
    number = int(here[1:])
    return f"ip-10-0-{'abc'.index(here[0]) * 64 + number}-{17 + 13 * number}.{REGION}.compute.internal"


def nodes(*, taints: Mapping[str, str], cordoned: str, full: Mapping[str, str]) -> Iterator[Object]:
    """Yield the nodes, and Pods of others on them; the arguments are those of ``cloud``."""
    for zone in "abc":
        for number, pool in enumerate(POOLS):
            here = f"{zone}{number}"
            yield node(
                node_name(here),
                zone=f"{REGION}{zone}",
                labels={POOL: pool, "topology.kubernetes.io/region": REGION},
                taints=[*filter(None, (TAINTS.get(pool), taints.get(zone)))],
                unschedulable=here in cordoned.split(),
            )
            if cpu := full.get(here):
                yield pod(f"batch-{here}", namespace="batch", on=node_name(here), requests={"cpu": cpu})


def cloud(
    *constraints: Object,
    running: str,
    pending: int = 1,
    taints: Mapping[str, str] | None = None,
    cordoned: str = "",
    full: Mapping[str, str] | None = None,
    message: str = "",
    **spec: Any,  # noqa: ANN401 - any field of the spec, by the API's name
) -> Iterator[Object]:
    """Yield the nodes, and a Deployment of which some Pods run and some wait.

    Args:
        constraints: of its Pods.
        running: where they run, as ``a0 b3``.
        pending: how many wait.
        taints: zone → a taint of all its nodes.
        cordoned: nodes, as ``running``.
        full: node → the CPU that others request there.
        message: what the scheduler says of those that wait.
        **spec: further fields of the template's spec.
    """
    yield from nodes(taints=taints or {}, cordoned=cordoned, full=full or {})
    of = {
        "namespace": NAMESPACE,
        "requests": {"cpu": "500m", "memory": "1Gi"},
        "topologySpreadConstraints": [*constraints],
        **spec,
    }
    places = [*map(node_name, running.split()), *[""] * pending]
    template = {"metadata": {"labels": LABELS}, "spec": pod("", **of)["spec"]}
    deployment = workload("Deployment", NAME, pods=template, namespace=NAMESPACE, replicas=len(places))
    yield {**deployment, "spec": {**deployment["spec"], "selector": SELECTOR}}
    made = revision(NAME, 1, pods=template, hash_=HASH)
    labels = made["metadata"]["labels"]
    yield {
        **made,
        "metadata": {**made["metadata"], "namespace": NAMESPACE},
        "spec": {**made["spec"], "selector": {"matchLabels": labels}},
    }
    refused = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    waits = {"phase": "Pending", "conditions": [refused] if message else []}
    owner = {"kind": "ReplicaSet", "apiVersion": "apps/v1", "name": f"{NAME}-{HASH}"}
    for number, place in enumerate(places):
        status = {"phase": "Running"} if place else waits
        yield pod(f"{NAME}-{HASH}-x{number:02}bz", on=place, labels=labels, owner=owner, status=status, **of)

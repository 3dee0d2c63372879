"""Clusters with an autoscaler, as objects of the API."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from kubectl_spread.autoscalers.decision import AutoscalerDecision
from kubectl_spread.autoscalers.karpenter.provisioner import new_scheduler
from kubectl_spread.autoscalers.karpenter.scheduler import solve
from kubectl_spread.objects.autoscaling import InstanceTypeSpec
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import BY_API
from kubectl_spread.objects.meta import KubernetesObject
from kubectl_spread.scheduler.profile import default_profile
from kubectl_spread.snapshot import Inventory, Snapshot

Object = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
POOL = "karpenter.sh/nodepool"


def snapshot_of(objects: Iterable[Object]) -> Snapshot:
    """Return the cluster with these objects; those of kinds that nobody reads are left out."""
    found: dict[str, list[KubernetesObject]] = defaultdict(list)
    for each in objects:
        kind = BY_API.get((each["apiVersion"], each["kind"]))
        if kind is not None:
            found[kind.name].append(msgspec.convert(each, kind.struct))
    return Snapshot.build(Inventory({name: tuple(held) for name, held in found.items()}))


def decided(
    objects: Sequence[Object], types: Sequence[Object] | None, *, release: tuple[int, ...] = (1, 14), name: str = "pend"
) -> AutoscalerDecision:
    """Return what Karpenter decides about the Pod of that name; types as kwok's file has them, None for unknown."""
    snapshot = snapshot_of(objects)
    specs = None if types is None else tuple(msgspec.convert(types, list[InstanceTypeSpec]))
    pod = next(pod for pod in snapshot.all(Pod) if pod.metadata.name == name)
    return solve(pod, new_scheduler(snapshot, default_profile(36), specs=specs, release=release))


def pool(name: str, zones: Sequence[str] = (), **more: Any) -> Object:  # noqa: ANN401
    """Return a NodePool whose class is ``all``; ``taints``, ``labels``, ``requirements`` go into its template."""
    wanted = [{"key": ZONE, "operator": "In", "values": [*zones]}] if zones else []
    template = {
        "metadata": {"labels": more.pop("labels", {})},
        "spec": {
            "nodeClassRef": {
                "group": "karpenter.k8s.aws",
                "kind": "EC2NodeClass",
                "name": more.pop("node_class", "all"),
            },
            "requirements": [*wanted, *more.pop("requirements", ())],
            "taints": more.pop("taints", []),
        },
    }
    ready = {"conditions": [{"type": "Ready", "status": more.pop("ready", "True"), "message": "why not"}]}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name, **more.pop("metadata", {})},
        "spec": {"template": template, **more},
        "status": ready,
    }


def node_class(zones: Sequence[str], name: str = "all") -> Object:
    """Return an EC2NodeClass with a subnet in each zone."""
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": name},
        "status": {"subnets": [{"zone": zone} for zone in zones]},
    }


def node(name: str, zone: str, of_pool: str = "", *, cpu: str = "4", **spec: Any) -> Object:  # noqa: ANN401
    """Return a Node of a pool, or of none, with that much room."""
    labels = {ZONE: zone, "kubernetes.io/hostname": name, "node.kubernetes.io/instance-type": "m.xlarge"}
    offers = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**labels, **({POOL: of_pool} if of_pool else {})}},
        "spec": {"providerID": f"kwok://{name}", **spec},
        "status": {"capacity": offers, "allocatable": offers},
    }


def pod(name: str, on: str = "", *, cpu: str = "1", **spec: Any) -> Object:  # noqa: ANN401
    """Return a Pod with the label app=web."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": "web"}},
        "spec": {
            "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}],
            **({"nodeName": on} if on else {}),
            **spec,
        },
        "status": {"phase": "Running" if on else "Pending"},
    }


def spread(**more: Any) -> list[Object]:  # noqa: ANN401
    """Return a constraint over zones with maxSkew 1 on app=web, changed as said."""
    return [
        {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
            **more,
        }
    ]


def instance_types(zones: Sequence[str], cpu: str = "4") -> list[Object]:
    """Return one instance type, on sale in the zones."""
    sold: list[Mapping[str, Any]] = [
        {"Requirements": [{"key": ZONE, "operator": "In", "values": [zone]}]} for zone in zones
    ]
    return [
        {
            "name": "m.xlarge",
            "architecture": "amd64",
            "operatingSystems": ["linux"],
            "resources": {"cpu": cpu, "memory": "16Gi"},
            "offerings": sold,
        }
    ]

"""Karpenter beside a control plane: its provider kwok makes Nodes without machines, and a test plays their kubelets."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests import gobuild
from tests.controlplane.api import MERGE_PATCH, Object
from tests.controlplane.client import Client
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.component import Component, free_port
from tests.controlplane.waiting import wait_for

_SOURCES = Path(__file__).parent / "go" / "karpenter"
_PACKAGE = "sigs.k8s.io/karpenter"
VERSION = (_SOURCES / "go.mod").read_text(encoding="utf-8").partition(f"{_PACKAGE} v")[2].split()[0]
"""The release that is built; from 1.14.3 on it requires a newer Go than Kubernetes 1.36."""
_READY = {"type": "Ready", "status": "True", "reason": "KubeletReady"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Karpenter:
    """Where the programs are: the controller, and the one that prints its CustomResourceDefinitions."""

    controller: Path
    crds: Path


def build_karpenter() -> Karpenter:
    """Return Karpenter with its provider kwok, built if the cache lacks it.

    Raises:
        gobuild.BuildError: the module cannot be downloaded, or Go is missing.
    """
    built = gobuild.build(
        name="karpenter",
        sources=_SOURCES,
        release=None,
        packages={"karpenter": f"{_PACKAGE}/kwok", "crds": "."},
        ldflags=f"-s -w -X {_PACKAGE}/pkg/operator.Version={VERSION}",
    )
    return Karpenter(controller=built["karpenter"], crds=built["crds"])


def install_crds(client: Client, karpenter: Karpenter) -> None:
    """Create the CustomResourceDefinitions; return once the API server serves NodePools and their node classes."""
    printed = subprocess.run([karpenter.crds], check=True, capture_output=True, text=True).stdout
    client.apply(map(json.loads, printed.splitlines()))
    client.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")


def start_karpenter(plane: ControlPlane, karpenter: Karpenter, instance_types: Path) -> Component:
    """Return the controller once its caches are filled; it ends with the control plane.

    Args:
        plane: the cluster, with the CustomResourceDefinitions.
        karpenter: the programs.
        instance_types: the machines that can be had, in kwok's format.
    """
    port = free_port()
    environment = {
        "KUBECONFIG": str(plane.kubeconfig),
        "INSTANCE_TYPES_FILE_PATH": str(instance_types),
        "DISABLE_LEADER_ELECTION": "true",
        "SYSTEM_NAMESPACE": "kube-system",
        "METRICS_PORT": "0",
        "HEALTH_PROBE_PORT": str(port),
    }
    return plane.start_beside([karpenter.controller], health=f"http://127.0.0.1:{port}/readyz", environment=environment)


def act_as_machines(client: Client) -> None:
    """Report new Nodes as Ready, and do what `Client.act_as_kubelets` does for Pods."""
    for node in nodes(client):
        if not any(each["type"] == "Ready" for each in node["status"].get("conditions", ())):
            path = f"/api/v1/nodes/{node['metadata']['name']}/status"
            client.api.request("PATCH", path, body={"status": {"conditions": [_READY]}}, content_type=MERGE_PATCH)
    client.act_as_kubelets()


def nodes(client: Client) -> Sequence[Object]:
    """Return the Nodes."""
    listed: Sequence[Object] = client.api.request("GET", "/api/v1/nodes")["items"]
    return listed


def node_claims(client: Client) -> Sequence[Object]:
    """Return the NodeClaims."""
    listed: Sequence[Object] = client.api.request("GET", "/apis/karpenter.sh/v1/nodeclaims")["items"]
    return listed


def wait_for_pools(client: Client) -> None:
    """Return once Karpenter has decided of every NodePool, as it is now, whether it is Ready."""

    def decided() -> bool:
        pools = client.api.request("GET", "/apis/karpenter.sh/v1/nodepools")["items"]
        return all(_is_decided(each) for each in pools)

    wait_for(decided, what="NodePools that are Ready or not")


def _is_decided(pool: Object) -> bool:
    conditions = pool.get("status", {}).get("conditions", ())
    ready = next((each for each in conditions if each["type"] == "Ready"), {"status": "Unknown"})
    current = ready.get("observedGeneration", 0) == pool["metadata"]["generation"]
    return ready["status"] != "Unknown" and current
